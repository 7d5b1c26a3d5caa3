//! A bundle file, and the folder to which it is unpacked.

use std::path::{Path, PathBuf};

use bundles::{Bundle, BundleEnvironment, BundleError, BundlePlan, Platform, UnpackedBundle};

use crate::{InstallError, NotInstallable, run_blocking};

/// An opened bundle file that is not unpacked yet.
#[derive(Debug)]
pub struct BundleFile {
    /// Path of the opened bundle file.
    pub path: PathBuf,
    /// The opened bundle: its archive and manifest.
    pub bundle: Bundle,
    /// Folder to which an installation unpacks the bundle.
    pub folder: PathBuf,
}

impl BundleFile {
    /// Opens a bundle file, which an installation will unpack to a folder below `root`.
    ///
    /// # Errors
    /// Returns [`InstallError::Bundle`] if the file is not a bundle or is refused.
    pub async fn open(path: &Path, root: &Path) -> Result<Self, InstallError> {
        let file = path.to_owned();
        let bundle = run_blocking(move || Bundle::open(&file)).await;
        let bundle = bundle.map_err(|cause| InstallError::Bundle { file: path.to_owned(), cause })?;
        Ok(Self { path: path.to_owned(), folder: bundle.unpacked_folder(root), bundle })
    }

    /// Returns the install plan of the bundle, with the command that will run it in its folder.
    ///
    /// # Errors
    /// Returns [`InstallError::NotInstallable`] if the bundle can't run on this computer, and [`InstallError::NoHome`]
    /// if the home folder is unknown.
    pub fn plan(&self) -> Result<BundlePlan, InstallError> {
        let home = std::env::home_dir().ok_or(InstallError::NoHome)?;
        let platform = match std::env::consts::OS {
            "windows" => Platform::Windows,
            "macos" => Platform::MacOs,
            _ => Platform::Linux,
        };
        let place = BundleEnvironment {
            platform,
            folder: self.folder.clone(),
            desktop: home.join("Desktop"),
            documents: home.join("Documents"),
            downloads: home.join("Downloads"),
            home,
            node: None,
            python: None,
        };
        Ok(bundles::plan(&self.bundle, &place).map_err(NotInstallable::Bundle)?)
    }
}

/// Unpacks a bundle file. Returns the unpacked bundle, and `true` if its folder did not exist before. If its folder
/// contains changed files and no server uses it, the folder is replaced.
pub(crate) async fn unpack_bundle_file(
    file: BundleFile,
    root: PathBuf,
    is_unused: bool,
) -> Result<(UnpackedBundle, bool), InstallError> {
    let unpacked = run_blocking(move || {
        let is_new = std::fs::symlink_metadata(&file.folder).is_err();
        match bundles::unpack(&file.bundle, &root) {
            Err(BundleError::FilesDiffer(_) | BundleError::FolderDiffers(_)) if is_unused => {
                bundles::remove_bundle(&root, &file.folder)?;
                Ok((bundles::unpack(&file.bundle, &root)?, true))
            }
            unpacked => Ok((unpacked?, is_new)),
        }
    });
    unpacked.await.map_err(InstallError::Unpack)
}
