//! Installs previewed servers, and removes them.

use std::path::{Path, PathBuf};

use bundles::{BundleError, BundlesLock};
use host::view::ServerView;
use host::{Host, ReplacedServer, ServerError, ServerSetup, SetupError};
use ports::SecretPersistence;
use ports::server_config::{BundleFiles, ServerOrigin};
use registry::CachePolicy;

use crate::{
    BundleFile, InstallDraft, InstallError, InstallOffer, InstallPreview, InstallSource, Installer, NotInstallable,
    bundle_file, run_blocking,
};

impl Installer {
    /// Installs a server exactly as its preview shows it: unpacks it if it is a bundle, and adds it to the settings.
    /// The server is not started, and has no approvals.
    ///
    /// # Errors
    /// Returns the errors of [`preview`](Self::preview), [`InstallError::Stale`] if the result has another hash than
    /// the approved one, and other errors if the server can't be unpacked or added. Files that were unpacked for it are
    /// removed then.
    pub async fn install(
        &self,
        host: &Host,
        draft: &InstallDraft,
        hash: &str,
    ) -> Result<SecretPersistence, InstallError> {
        let draft = InstallDraft { upgrades: None, ..draft.clone() };
        let preview = self.recompute_approved_preview(host, &draft, hash).await?;
        self.set_up_previewed_server(host, preview).await
    }

    /// Removes a server. If it was installed from a bundle that no other server uses, also removes the folder of the
    /// bundle.
    ///
    /// # Errors
    /// Returns the errors of [`host::ServerSetup::remove`], and [`InstallError::NotRemoved`] if the server was removed
    /// and the folder could not be.
    pub async fn remove(&self, host: &Host, server: &str) -> Result<(), InstallError> {
        let setup = host.begin_setup().await?;
        let origin = setup.installation_info(server).map(|installed| installed.origin.clone());
        setup.remove(server).await?;
        match origin {
            Some(origin) => {
                let _held = self.lock_bundles_if_from_bundle(&origin).await?;
                self.remove_unused_bundle(host, &origin).await
            }
            None => Ok(()),
        }
    }

    /// Computes the preview of a draft again. Returns it if it has the hash `hash`, which the user approved, or
    /// [`InstallError::Stale`].
    pub(crate) async fn recompute_approved_preview(
        &self,
        host: &Host,
        draft: &InstallDraft,
        hash: &str,
    ) -> Result<InstallPreview, InstallError> {
        let preview = self.preview(host, draft, CachePolicy::Now).await?;
        if preview.hash.as_str() == hash { Ok(preview) } else { Err(InstallError::Stale) }
    }

    /// Unpacks the bundle of a preview, and adds the server to the settings.
    pub(crate) async fn set_up_previewed_server(
        &self,
        host: &Host,
        preview: InstallPreview,
    ) -> Result<SecretPersistence, InstallError> {
        let InstallPreview { offer: InstallOffer { source, origin, .. }, server, filled_in, upgraded, .. } = preview;
        let file = origin.into_bundle();
        let replaced = upgraded.map(|installed| ReplacedServer { config: installed.config, origin: installed.origin });
        let is_bundle = file.is_some() || replaced.as_ref().is_some_and(|was| was.origin.files().is_some());
        // Locked from here on, so that no other process or task unpacks or removes the same bundle.
        let _held = if is_bundle { Some(self.lock_bundles().await?) } else { None };
        let setup = host.begin_reloaded_setup().await?;
        let path = file.as_ref().map(|file| file.path.clone());
        let name = file.as_ref().map(|file| file.bundle.manifest.name.clone());
        let version = file.as_ref().map(|file| file.bundle.manifest.version.clone());
        let unpacked = match file {
            Some(file) => Some(self.unpack(file, &setup).await?),
            None => None,
        };
        let files = unpacked.as_ref().map(|unpacked| unpacked.files.clone());
        let origin = match (source, files, name, version) {
            (InstallSource::Registry { name, version: Some(version), target: Some(target) }, files, ..) => {
                let registry = self.catalog().await?.address().as_str().to_owned();
                ServerOrigin::Registry { registry, name, version, target, files }
            }
            (InstallSource::Bundle { .. }, Some(files), Some(name), Some(version)) => {
                ServerOrigin::Bundle { name, version, files }
            }
            _ => return Err(NotInstallable::NotChosen.into()),
        };
        let put = match &replaced {
            Some(was) => setup.upgrade(server, was, origin, filled_in).await,
            None => setup.add_installed(server, origin, filled_in).await,
        };
        drop(setup);
        match (&put, unpacked, replaced) {
            (Err(_), Some(UnpackedInstallBundle { files, folder, root, is_new: true }), _) => {
                // The setup's error is returned even if the files can't be removed. Despite the error, the setup may
                // have written settings that refer to the files, which are then left in place.
                let setup = host.begin_reloaded_setup().await?;
                if !setup.servers().iter().any(|server| uses_bundle_folder(server, &files.folder, &folder)) {
                    drop(run_blocking(move || bundles::remove_bundle(&root, &folder)).await);
                }
            }
            (Ok(_), _, Some(replaced)) => {
                if let Err(error) = self.remove_unused_bundle(host, &replaced.origin).await {
                    tracing::warn!(%error, "the files of the version before could not be removed");
                }
            }
            _ => {}
        }
        if let (Ok(_), Some(path)) = (&put, path) {
            self.remove_download(path).await;
        }
        match put {
            Err(SetupError::Server(ServerError::Changed(_))) => Err(InstallError::Stale),
            put => Ok(put?),
        }
    }

    async fn unpack(&self, file: BundleFile, setup: &ServerSetup) -> Result<UnpackedInstallBundle, InstallError> {
        let root = self.bundles_folder().await?;
        let (sha256, folder) = (file.bundle.archive.sha256().to_owned(), folder_name(&file.folder));
        let author = Some(foreign::escape_invisible(&file.bundle.manifest.author.name).into_owned());
        // Files that no server uses may have been changed since they were unpacked.
        let is_unused = !setup.servers().iter().any(|server| uses_bundle_folder(server, &folder, &file.folder));
        let (unpacked, is_new) = bundle_file::unpack_bundle_file(file, root.clone(), is_unused).await?;
        let files = BundleFiles { sha256, tree: unpacked.tree.hash(), folder, author };
        Ok(UnpackedInstallBundle { files, folder: unpacked.folder, root, is_new })
    }

    async fn lock_bundles_if_from_bundle(&self, origin: &ServerOrigin) -> Result<Option<BundlesLock>, InstallError> {
        match origin.files() {
            Some(_) => Ok(Some(self.lock_bundles().await?)),
            None => Ok(None),
        }
    }

    /// Removes the folder of the bundle from which `origin` says that a server was installed, unless another server
    /// uses it. The caller must have the lock of the folder of bundles.
    async fn remove_unused_bundle(&self, host: &Host, origin: &ServerOrigin) -> Result<(), InstallError> {
        let (Some(files), Some(place)) = (origin.files(), self.bundle_folder(origin).await?) else { return Ok(()) };
        let setup = host.begin_reloaded_setup().await?;
        if setup.servers().iter().any(|other| uses_bundle_folder(other, &files.folder, &place)) {
            return Ok(());
        }
        let root = self.bundles_folder().await?;
        let removed = run_blocking(move || bundles::remove_bundle(&root, &place)).await;
        drop(setup);
        match removed {
            // Another process or task has already removed the folder.
            Err(BundleError::NotInstalled) | Ok(()) => Ok(()),
            Err(error) => Err(InstallError::NotRemoved(error)),
        }
    }
}

/// A bundle that was unpacked for an installation.
struct UnpackedInstallBundle {
    files: BundleFiles,
    folder: PathBuf,
    root: PathBuf,
    /// Set if this installation has created the bundle's folder.
    is_new: bool,
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns `true` if a server was installed from the bundle in `folder`, whose name is `name`, or if the server's
/// settings contain the path of the folder.
fn uses_bundle_folder(server: &ServerView, name: &str, folder: &Path) -> bool {
    let is_from = server
        .installed
        .as_ref()
        .and_then(|installed| installed.origin.files())
        .is_some_and(|files| files.folder == name);
    is_from || server.config.refers_to_folder(folder)
}
