//! Unpacks bundles, either completely or not at all, and removes unpacked bundles.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::folder::verify_folder;
use crate::tree::{FileTree, HashingWriter, verify_tree};
use crate::tree_file::{folder_of_tree_file, remove_tree_file, write_tree_file};
use crate::{Archive, ArchiveFile, Bundle, BundleError};

/// Prefix of the names of temporary folders, which contain partially unpacked or partially removed bundles.
const UNFINISHED_FOLDER_PREFIX: &str = ".unfinished-";
/// Number of hexadecimal digits of the bundle's hash in the name of its folder.
const HASH_PREFIX_LENGTH: usize = 16;
/// Maximum length in bytes of the bundle's name in the name of its folder.
const MAX_FOLDER_NAME_BYTES: usize = 64;

/// A bundle that was unpacked to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackedBundle {
    /// Folder with the files of the bundle, to be used as
    /// [`BundleEnvironment::folder`](crate::BundleEnvironment::folder).
    pub folder: PathBuf,
    /// List of the files in the folder with their hashes. The installer stores at least its hash, in a place to which
    /// the server can't write.
    pub tree: FileTree,
}

impl Bundle {
    /// Returns the folder below `root` to which this bundle is unpacked. Its name consists of the bundle's name and the
    /// first digits of its hash.
    #[must_use]
    pub fn unpacked_folder(&self, root: &Path) -> PathBuf {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String =
            self.manifest.name.chars().map(|c| if is_plain(c) { c.to_ascii_lowercase() } else { '-' }).collect();
        let name = name[..name.len().min(MAX_FOLDER_NAME_BYTES)].trim_matches('-');
        let name = if name.is_empty() { "bundle" } else { name };
        root.join(format!("{name}-{}", &self.archive.sha256()[..HASH_PREFIX_LENGTH]))
    }
}

/// Unpacks a bundle to [`Bundle::unpacked_folder`]. Blocks for as long as the disk takes for a few hundred megabytes.
///
/// The archive is copied first, so that exactly the bytes with the hash that the user saw are unpacked. Files get
/// only their content and the owner's executable bit from the archive: no owner, no time, no other mode. A bundle
/// that is already unpacked is compared with its archive and left unchanged.
///
/// # Errors
///
/// Returns [`BundleError::Changed`] if the file has changed since it was opened, [`BundleError::Refused`] if its data
/// is damaged, [`BundleError::Io`] if the disk fails, and [`BundleError::FilesDiffer`] or
/// [`BundleError::FolderDiffers`] if the bundle is already unpacked with other content. After an error, no new folder
/// remains on disk.
pub fn unpack(bundle: &Bundle, root: &Path) -> Result<UnpackedBundle, BundleError> {
    let folder = bundle.unpacked_folder(root);
    if fs::symlink_metadata(&folder).is_ok() {
        let tree = bundle.archive.file_tree()?;
        verify_tree(&folder, &tree, tree.files.keys()).map_err(BundleError::FilesDiffer)?;
        // An added file could be loaded instead of one that the bundle needs.
        verify_folder(&folder, &tree.hash()).map_err(BundleError::FolderDiffers)?;
        return Ok(UnpackedBundle { folder, tree });
    }
    let cant_make = |cause| BundleError::io("the folder for bundles can't be made", cause);
    create_folder(root).map_err(cant_make)?;
    // Removed with its contents wherever this function returns.
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED_FOLDER_PREFIX).tempdir_in(root).map_err(cant_make)?;
    let copy = unfinished.path().join("archive");
    let mut file = File::create_new(&copy).map_err(cant_make)?;
    if bundle.archive.copy_archive(&mut file)? != bundle.archive.sha256() {
        return Err(BundleError::Changed);
    }
    drop(file);
    let archive = Archive::open(&copy)?;
    if archive.sha256() != bundle.archive.sha256() {
        return Err(BundleError::Changed);
    }
    let files = unfinished.path().join("files");
    let tree = unpack_files(&archive, &files)?;
    let cant_place = |cause| BundleError::io("the folder of the bundle can't be moved to its final path", cause);
    write_tree_file(&folder, &tree).map_err(cant_place)?;
    fs::rename(&files, &folder).map_err(cant_place)?;
    Ok(UnpackedBundle { folder, tree })
}

/// Returns the path of the folder `name` directly below `root`, or `None` if the name contains other path components.
#[must_use]
pub fn direct_subfolder(root: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(only)), None) if only == name => Some(root.join(name)),
        _ => None,
    }
}

/// Removes the folder of an unpacked bundle, and the list of its files. Blocks.
///
/// # Errors
/// Returns [`BundleError::NotInstalled`] if `folder` is not directly below `root`, and [`BundleError::Io`] if it can't
/// be removed.
pub fn remove_bundle(root: &Path, folder: &Path) -> Result<(), BundleError> {
    let is_below = folder.parent() == Some(root) && folder.file_name().is_some();
    if !is_below || !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Err(BundleError::NotInstalled);
    }
    let cant_remove = |cause| BundleError::io("the bundle can't be removed", cause);
    // Renamed first: a partially removed folder must not be mistaken for an installed bundle.
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED_FOLDER_PREFIX).tempdir_in(root).map_err(cant_remove)?;
    fs::rename(folder, unfinished.path().join("files")).map_err(cant_remove)?;
    remove_tree_file(folder);
    unfinished.close().map_err(cant_remove)
}

/// Returns the names of the folders directly below `root` that contain unpacked bundles. Blocks.
///
/// # Errors
/// Returns [`BundleError::Io`] if the root exists and can't be read.
pub fn unpacked_folders(root: &Path) -> Result<Vec<String>, BundleError> {
    let cant_read = |cause| BundleError::io("the folder for bundles can't be read", cause);
    let entries = match fs::read_dir(root) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cant_read)?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let name = entry.map_err(cant_read)?.file_name();
        let listed = name.to_str().and_then(folder_of_tree_file).and_then(|name| direct_subfolder(root, name));
        // A folder without a list of files was not created by this crate.
        if let Some(folder) = listed.filter(|folder| fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir())) {
            folders.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(folders)
}

/// Removes the temporary folders and the lists of files that remain because a process was killed while it unpacked or
/// removed a bundle. The caller must have the [`BundlesLock`](crate::BundlesLock), so that no other process is doing
/// either. Blocks.
///
/// # Errors
/// Returns [`BundleError::Io`] if the root can't be read, or something can't be removed.
pub fn remove_leftovers(root: &Path) -> Result<(), BundleError> {
    let cant_remove = |cause| BundleError::io("files of an unfinished installation can't be removed", cause);
    let entries = match fs::read_dir(root) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(cant_remove)?,
    };
    for entry in entries {
        let entry = entry.map_err(cant_remove)?;
        let (kind, name) = (entry.file_type().map_err(cant_remove)?, entry.file_name());
        let name = name.to_string_lossy();
        if kind.is_dir() && name.starts_with(UNFINISHED_FOLDER_PREFIX) {
            fs::remove_dir_all(entry.path()).map_err(cant_remove)?;
        } else if kind.is_file() && folder_of_tree_file(&name).is_some_and(|folder| !root.join(folder).is_dir()) {
            fs::remove_file(entry.path()).map_err(cant_remove)?;
        }
    }
    Ok(())
}

/// Unpacks all files of an archive into a new folder, and returns their list. Paths in an [`Archive`] never lead out of
/// the folder.
fn unpack_files(archive: &Archive, folder: &Path) -> Result<FileTree, BundleError> {
    let cant_make = |cause| BundleError::io("a folder of the bundle can't be made", cause);
    create_folder(folder).map_err(cant_make)?;
    for path in archive.folders() {
        create_folder(&folder.join(path)).map_err(cant_make)?;
    }
    let mut tree = FileTree::default();
    for file in archive.files() {
        let place = folder.join(&file.path);
        create_folder(place.parent().unwrap_or(folder)).map_err(cant_make)?;
        let opened = create_new_file(&place, file)
            .map_err(|cause| BundleError::io("a file of the bundle can't be made", cause))?;
        let mut sink = HashingWriter::new(opened);
        archive.copy(file, &mut sink)?;
        tree.add(&file.path, sink.finish(), file.executable && cfg!(unix));
    }
    Ok(tree)
}

#[cfg(unix)]
fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

#[cfg(not(unix))]
fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// Creates the file on disk to which a file of an archive is unpacked. Fails if the path exists, so that no file is
/// overwritten and no link is followed.
fn create_new_file(path: &Path, file: &ArchiveFile) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if file.executable { 0o755 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = file;
    options.open(path)
}
