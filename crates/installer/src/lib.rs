//! Installs servers from a registry (`registry`) or a bundle (`bundles`), and imports servers of other apps
//! (`other-apps`). Used by `api` for the page, and by `cli`.
//!
//! - [`InstallSource`] to [`InstallOffer`]: finds a server, and returns its origin and its plan with inputs
//! - [`InstallDraft`] to [`InstallPreview`]: computes what exactly would be set up, and a hash of it
//! - [`Installer::install`]: unpacks and adds the server, if the result has the approved hash; [`Installer::remove`]
//!   removes it with its files
//! - [`Installer::version_reports`]: the registry's current status of installed versions
//! - [`Installer::offer_upgrade`] and [`Installer::upgrade`]: replaces an installed server with a newer version, in
//!   the same steps
//! - [`Installer::clean_up_after_killed_process`]: removes what a killed process left
//! - [`RegistryChoice`] and [`Installer::set_registry`]: the registry that is used
//! - [`imports`]: servers in the settings of other apps; [`projects`]: shared folders that define servers
//!
//! Each step reads its source again and keeps no state, so an approval depends on the hash alone. Nothing is started,
//! approved or replaced, and if a server can't be added, none of its files remain.

mod bridge;
mod bundle_file;
mod choice;
mod containment;
mod downloads;
mod error;
pub mod imports;
mod install;
mod newer;
mod offer;
mod preview;
pub mod projects;
mod registry_choice;
mod upgrade;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bundles::BundlesLock;
use host::Host;
use ports::CacheFiles;
use ports::time::SystemClock;
use process::SearchPath;
use process::sandbox::sandbox_support::SandboxSupport;
use registry::{
    CacheLimits, RegistryAddress, RegistryCache, RegistryCatalog, RegistryClient, RegistryHeader, RegistryLimits,
};
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::Instant;

pub use bundles::BUNDLE_EXTENSIONS;

pub use bundle_file::BundleFile;
pub use choice::{InstallChoice, InstallDownload, InstallSource, InstallTarget, install_choices};
pub use containment::InstallContainment;
pub use error::{InstallError, NotInstallable};
pub use newer::{NewerVersion, VersionReport};
pub use offer::{InstallOffer, InstallOrigin, publisher_verification_text};
pub use preview::{InstallDraft, InstallPreview};
pub use registry_choice::{ActiveRegistry, NewRegistryHeader, RegistryChoice};
pub use upgrade::UpgradeOffer;

use registry_choice::OpenRegistry;

/// Function that opens the registry at an address, together with its cache. Blocks.
type CatalogOpener =
    dyn Fn(RegistryAddress, Option<RegistryHeader>) -> Result<RegistryCatalog, InstallError> + Send + Sync;

/// Installs, upgrades and removes servers. Clones share the open registry.
#[derive(Clone)]
pub struct Installer {
    shared: Arc<InstallerState>,
}

struct InstallerState {
    open_registry_catalog: Box<CatalogOpener>,
    data_folder: PathBuf,
    registry: RegistryChoice,
    /// The registry that was used last, with its cache.
    open: Mutex<Option<OpenRegistry>>,
    computer: OnceCell<PathAndSandboxSupport>,
    /// Time at which the registry's changes were last read, or `None` if they were not read since the start. Locked
    /// while they are read, so that only one task reads them.
    last_changes_read: Mutex<Option<Instant>>,
}

/// The search path for programs and the sandbox mechanism of this computer, which are determined once.
struct PathAndSandboxSupport {
    path: SearchPath,
    means: SandboxSupport,
}

impl fmt::Debug for Installer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Installer").field("data_folder", &self.shared.data_folder).finish_non_exhaustive()
    }
}

impl Installer {
    /// Creates an installer. Bundles are unpacked below `data_folder`. The registry is opened when it is first used, in
    /// a blocking task, since opening it would delay the desktop app's window.
    #[must_use]
    pub fn new(
        data_folder: PathBuf,
        registry: RegistryChoice,
        open_registry_catalog: impl Fn(RegistryAddress, Option<RegistryHeader>) -> Result<RegistryCatalog, InstallError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let (open, computer, last_changes_read) = Default::default();
        let open_registry_catalog = Box::new(open_registry_catalog);
        Self {
            shared: Arc::new(InstallerState {
                open_registry_catalog,
                data_folder,
                registry,
                open,
                computer,
                last_changes_read,
            }),
        }
    }

    /// Returns the folder to which bundles are unpacked, with symbolic links resolved if it exists, since a sandbox
    /// contains a bundle only under the real path.
    ///
    /// # Errors
    /// Returns [`InstallError::DataFolder`] if the data folder is a relative path and the current folder doesn't exist.
    pub async fn bundles_folder(&self) -> Result<PathBuf, InstallError> {
        let folder = self.shared.data_folder.clone();
        let root = run_blocking(move || bundles_folder(&folder)).await;
        root.map_err(|cause| InstallError::DataFolder(cause.to_string()))
    }

    pub(crate) fn data_folder(&self) -> &Path {
        &self.shared.data_folder
    }

    /// Removes the files that remain of a process that was killed while it installed or removed a server, and completes
    /// its records of installations. Called when the app starts. Does nothing while another process is installing a
    /// server.
    pub async fn clean_up_after_killed_process(&self, host: &Host) {
        if let Err(error) = self.try_clean_up_after_killed_process(host).await {
            tracing::warn!(%error, "files of an unfinished installation could not be removed");
        }
    }

    async fn try_clean_up_after_killed_process(&self, host: &Host) -> Result<(), InstallError> {
        let (root, downloads) = (self.bundles_folder().await?, self.downloads_folder());
        let locked = root.clone();
        let held = run_blocking(move || {
            downloads::remove_expired_downloads(&downloads)
                .map_err(|cause| InstallError::DataFolder(cause.to_string()))?;
            let lock = locked.is_dir().then(|| BundlesLock::try_acquire(&locked).map_err(InstallError::Locked));
            lock.transpose()
        });
        match held.await? {
            // Another process holds the lock because it is installing a server.
            Some(None) => Ok(()),
            Some(Some(held)) => {
                let setup = host.begin_reloaded_setup().await?;
                setup.resolve_pending_installations().await?;
                let recorded = setup.recorded_bundle_folders().await?;
                let configs: Vec<_> = setup.servers().iter().map(|server| server.config.clone()).collect();
                let removed = run_blocking(move || {
                    let (_held, _setup) = (held, setup);
                    bundles::remove_leftovers(&root)?;
                    let Some(recorded) = recorded else { return Ok(()) };
                    let unused = bundles::unpacked_folders(&root)?.into_iter().filter(|name| !recorded.contains(name));
                    let mut unused = unused.map(|name| root.join(name));
                    unused.try_for_each(|folder| match configs.iter().any(|config| config.refers_to_folder(&folder)) {
                        true => Ok(()),
                        false => bundles::remove_bundle(&root, &folder),
                    })
                });
                removed.await.map_err(InstallError::NotRemoved)
            }
            // No bundle was ever installed here.
            None => Ok(host.begin_reloaded_setup().await?.resolve_pending_installations().await?),
        }
    }

    /// Locks the folder of unpacked bundles against changes by other processes.
    pub(crate) async fn lock_bundles(&self) -> Result<BundlesLock, InstallError> {
        let root = self.bundles_folder().await?;
        run_blocking(move || BundlesLock::acquire(&root)).await.map_err(InstallError::Locked)
    }

    pub(crate) async fn lock_time_of_last_changes_read(&self) -> MutexGuard<'_, Option<Instant>> {
        self.shared.last_changes_read.lock().await
    }

    async fn path_and_sandbox_support(&self) -> &PathAndSandboxSupport {
        let find = || async {
            let path = SearchPath::read().await;
            PathAndSandboxSupport { means: SandboxSupport::find(&path).await, path }
        };
        self.shared.computer.get_or_init(find).await
    }
}

/// Opens the registry at an address, with a cache in `files`. The header is sent with each request. Blocks.
///
/// # Errors
/// Returns [`InstallError::Registry`] if TLS is unavailable, and [`InstallError::Store`] if the cache can't be read.
pub fn open_registry_catalog(
    address: RegistryAddress,
    header: Option<RegistryHeader>,
    files: Arc<dyn CacheFiles>,
) -> Result<RegistryCatalog, InstallError> {
    let registry = RegistryClient::new(address, header, RegistryLimits::default())?;
    let cache = RegistryCache::open(files, CacheLimits::default())?;
    Ok(RegistryCatalog::new(registry, Arc::new(cache), Arc::new(SystemClock)))
}

fn bundles_folder(data_folder: &Path) -> io::Result<PathBuf> {
    // On Windows, this would yield a path form that many programs can't read.
    let real = if cfg!(unix) { data_folder.canonicalize().ok() } else { None };
    Ok(real.map_or_else(|| std::path::absolute(data_folder), Ok)?.join(host::BUNDLES_FOLDER_NAME))
}

/// Runs a function that blocks in Tokio's pool for blocking tasks, and returns its result.
async fn run_blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(act).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
