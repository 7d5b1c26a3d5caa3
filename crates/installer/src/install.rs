//! The installation itself, and its end.

use std::path::Path;

use bundles::BundleError;
use host::Host;
use host::view::ServerView;
use ports::SecretKept;
use ports::server_config::{Installed, ServerOrigin};
use registry::Freshness;

use crate::{
    InstallDraft, InstallError, InstallOffer, InstallOrigin, InstallPreview, InstallSource, Installer, NotInstallable,
    blocking, bundle_file,
};

impl Installer {
    /// Installs a server as it was previewed: unpacks it if it is a bundle, and adds it, stopped and without any approval.
    ///
    /// # Errors
    /// As [`preview`](Self::preview); [`InstallError::Stale`] if what results has another hash than the one that was shown; or if it can't be
    /// unpacked or added. Nothing stays then of what was unpacked for it.
    pub async fn install(&self, host: &Host, draft: &InstallDraft, hash: &str) -> Result<SecretKept, InstallError> {
        let preview = self.preview(host, draft, Freshness::Now).await?;
        if preview.hash.as_str() != hash {
            return Err(InstallError::Stale);
        }
        let InstallPreview { offer: InstallOffer { source, origin, .. }, server, .. } = preview;
        // Held from here on, so that no other installation unpacks the same bundle meanwhile.
        let setup = host.begin_setup().await?;
        let file = match origin {
            InstallOrigin::Bundle(file) => file,
            InstallOrigin::Registry(_) => {
                let InstallSource::Registry { name, version: Some(version), target: Some(target) } = source else {
                    return Err(NotInstallable::NotChosen.into());
                };
                let registry = self.catalog().await?.address().as_str().to_owned();
                let origin = ServerOrigin::Registry { registry, name, version, target };
                return Ok(setup.add_installed(server, origin).await?);
            }
        };
        let root = self.bundles_folder().await?;
        let (name, version) = (file.bundle.manifest.name.clone(), file.bundle.manifest.version.clone());
        let (sha256, folder) = (file.bundle.archive.sha256().to_owned(), folder_name(&file.folder));
        // What no server uses may have been changed since it was unpacked.
        if !setup.servers().iter().any(|server| uses(server, &folder, &file.folder)) {
            let (root, unused) = (root.clone(), file.folder.clone());
            match blocking(move || bundles::remove(&root, &unused)).await {
                Ok(()) | Err(BundleError::NotInstalled) => {}
                Err(error) => return Err(InstallError::Unpack(error)),
            }
        }
        let (unpacked, is_new) = bundle_file::unpack(*file, root.clone()).await?;
        let origin = ServerOrigin::Bundle { name, version, sha256, tree: unpacked.tree.hash(), folder };
        let added = setup.add_installed(server, origin).await;
        if added.is_err() && is_new {
            // That it was not added says more than that something is left.
            drop(blocking(move || bundles::remove(&root, &unpacked.folder)).await);
        }
        Ok(added?)
    }

    /// Removes a server, and the folder of the bundle that it was installed from, if no other server uses that.
    ///
    /// # Errors
    /// As [`host::Setup::remove`]; or if the server was removed and the folder could not be.
    pub async fn remove(&self, host: &Host, server: &str) -> Result<(), InstallError> {
        let setup = host.begin_setup().await?;
        let installed = setup.installed(server).cloned();
        setup.remove(server).await?;
        let Some(Installed { origin: ServerOrigin::Bundle { folder, .. }, .. }) = installed else { return Ok(()) };
        let root = self.bundles_folder().await?;
        let place = root.join(&folder);
        // Held so that nobody installs the same bundle meanwhile.
        let setup = host.begin_setup().await?;
        if setup.servers().iter().any(|other| uses(other, &folder, &place)) {
            return Ok(());
        }
        let removed = blocking(move || bundles::remove(&root, &place)).await;
        drop(setup);
        match removed {
            // Somebody else removed it.
            Err(BundleError::NotInstalled) | Ok(()) => Ok(()),
            Err(error) => Err(InstallError::NotRemoved(error)),
        }
    }
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns true if a server was installed from the bundle in this folder, or names the folder in its settings.
fn uses(server: &ServerView, name: &str, folder: &Path) -> bool {
    if let Some(Installed { origin: ServerOrigin::Bundle { folder, .. }, .. }) = &server.installed
        && folder == name
    {
        return true;
    }
    let Some(stdio) = server.config.as_stdio() else { return false };
    let path = folder.to_string_lossy();
    let texts = [&stdio.command].into_iter().chain(&stdio.args).chain(stdio.env.values());
    let names_it = texts.into_iter().any(|text| text.contains(&*path));
    let folders = stdio.sandbox.iter().flat_map(|sandbox| &sandbox.folders).map(|folder| &folder.path);
    names_it || stdio.cwd.iter().chain(folders).any(|place| place.starts_with(folder))
}
