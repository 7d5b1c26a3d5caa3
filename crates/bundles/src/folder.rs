//! Verifies that the folder of an unpacked bundle contains exactly the approved files.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use foreign::escape_invisible;

use crate::limits::{
    MAX_ARCHIVE_ENTRIES, MAX_MANIFEST_BYTES, MAX_PATH_DEPTH, MAX_UNPACKED_BYTES, MAX_UNPACKED_FILE_BYTES,
};
use crate::tree::{ContentDigest, FileTree, HashingWriter, MANIFEST_FILE, is_executable};
use crate::tree_file::read_tree_file;

/// Maximum number of folders below the folder of an unpacked bundle. It exceeds [`MAX_ARCHIVE_ENTRIES`], since an
/// archive need not have entries for the parent folders of its files.
const MAX_BUNDLE_FOLDERS: usize = MAX_ARCHIVE_ENTRIES * MAX_PATH_DEPTH;
/// Paths that uv creates next to a server's code at its first start, unless the bundle contains them: the folder of
/// installed packages, and the file with their versions. Each path is paired with `true` if it is a folder. The hash of
/// a bundle does not cover them, and the install plan of a uv server warns about that.
const UV_CREATED_PATHS: [(&str, bool); 2] = [(".venv", true), ("uv.lock", false)];
/// Maximum number of threads that read the files of a bundle. More threads would only wait for the disk.
const MAX_READER_THREADS: usize = 4;

/// The first difference between a folder and the bundle that was unpacked to it. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderChange {
    /// The content or executable bit of this file was changed.
    #[error("{} has changed since the bundle was unpacked", escape_invisible(.0))]
    Changed(String),
    /// This file of the bundle is missing in the folder.
    #[error("{} is missing", escape_invisible(.0))]
    Missing(String),
    /// This file in the folder is not part of the bundle.
    #[error("{} is not a file of the bundle; it was added later", escape_invisible(.0))]
    Added(String),
    /// The folder differs from the unpacked bundle. The list of the original files is missing, so it is unknown which
    /// file was changed.
    #[error("its files are not those that were unpacked")]
    Differs,
    /// This entry of the folder is a link, a pipe or a device, or has a name that no bundle can contain.
    #[error("{} is a link, a device, or has a name that no bundle can have", escape_invisible(.0))]
    NotAFile(String),
    /// The folder contains more files or bytes than a bundle may contain.
    #[error("its contents exceed the limits of bundles")]
    TooLarge,
    /// The file or folder with this path can't be read, for the reason in the second field.
    #[error("{} can't be read: {}", escape_invisible(.0), escape_invisible(.1))]
    Unreadable(String, String),
}

/// Checks that the files below `folder` have the hash that the unpacked files had ([`FileTree::hash`]). Must be called
/// before each start of the server. Also fails if the server itself has written files next to its code. Blocks: reads
/// every byte, within [`limits`](crate::limits).
///
/// Empty folders and the files that uv creates at the first start are not compared. Results are never cached, because a
/// process that can write a file can also restore its size and times.
///
/// # Errors
/// Returns a [`FolderChange`] that names the file that was added, removed or changed, or that can't be read.
pub fn verify_folder(folder: &Path, tree_hash: &str) -> Result<(), FolderChange> {
    let was = read_tree_file(folder, tree_hash);
    let own = |path: &str| was.as_ref().is_some_and(|tree| tree.contains(path));
    let runs_by_uv = is_uv_server(folder);
    let found = list_files(folder, |path, is_folder| {
        runs_by_uv && UV_CREATED_PATHS.contains(&(path, is_folder)) && !own(path)
    })?;
    let (next, tree) = (AtomicUsize::new(0), Mutex::new(FileTree::default()));
    let work = || -> Result<(), FolderChange> {
        while let Some(file) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            let content = file.read()?;
            let mut tree = tree.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tree.add(&file.path, content, file.executable);
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_READER_THREADS);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        others.into_iter().fold(own, |result, other| match other.join() {
            Ok(done) => result.and(done),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let tree = tree.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if tree.hash() == tree_hash {
        return Ok(());
    }
    Err(was.and_then(|was| first_difference(&was, &tree)).unwrap_or(FolderChange::Differs))
}

/// Returns the first difference between `was`, the list of the unpacked files, and `now`, the list of the current
/// files.
fn first_difference(was: &FileTree, now: &FileTree) -> Option<FolderChange> {
    let removed_or_changed = was.files.iter().find_map(|(path, file)| match now.files.get(path) {
        None => Some(FolderChange::Missing(path.clone())),
        Some(found) if found != file => Some(FolderChange::Changed(path.clone())),
        Some(_) => None,
    });
    let added = || now.files.keys().find(|path| !was.files.contains_key(*path));
    removed_or_changed.or_else(|| added().cloned().map(FolderChange::Added))
}

struct BundleFolderFile {
    /// Path of the file, relative to the bundle's folder, with slashes as in a [`FileTree`].
    path: String,
    disk_path: PathBuf,
    size: u64,
    executable: bool,
}

impl BundleFolderFile {
    /// Reads the file and returns its hash. Fails if its size differs from the size when the folder was listed.
    fn read(&self) -> Result<ContentDigest, FolderChange> {
        let failed = |error: io::Error| unreadable_change(&self.path, &error);
        let file = File::open(&self.disk_path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(FolderChange::NotAFile(self.path.clone()));
        }
        let mut sink = HashingWriter::new(io::sink());
        let read = io::copy(&mut file.take(self.size + 1), &mut sink).map_err(failed)?;
        if read == self.size { Ok(sink.finish()) } else { Err(FolderChange::Changed(self.path.clone())) }
    }
}

/// Returns `true` if the manifest in the folder of an unpacked bundle declares a uv server. The caller also verifies
/// the hash of that manifest.
fn is_uv_server(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(MANIFEST_FILE)) else { return false };
    let manifest: Option<serde_json::Value> = serde_json::from_reader(file.take(MAX_MANIFEST_BYTES)).ok();
    manifest.is_some_and(|manifest| manifest["server"]["type"] == "uv")
}

/// Lists all files below a folder, without following links. Skips each path for which `is_omitted` returns `true`. The
/// second argument of `is_omitted` is `true` for a folder.
fn list_files(folder: &Path, is_omitted: impl Fn(&str, bool) -> bool) -> Result<Vec<BundleFolderFile>, FolderChange> {
    let failed = |path: &str, error: io::Error| unreadable_change(path, &error);
    let root = fs::symlink_metadata(folder).map_err(|error| failed("the bundle's folder", error))?;
    if !root.is_dir() {
        return Err(FolderChange::NotAFile("the bundle's folder".to_owned()));
    }
    let (mut files, mut bytes, mut folders) = (Vec::new(), 0_u64, 1_usize);
    let mut pending = vec![(folder.to_owned(), String::new(), 0_usize)];
    while let Some((place, path, depth)) = pending.pop() {
        for entry in fs::read_dir(&place).map_err(|error| failed(&path, error))? {
            let entry = entry.map_err(|error| failed(&path, error))?;
            let name = entry.file_name();
            let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let Some(path) = name.to_str().map(below) else {
                return Err(FolderChange::NotAFile(below(&name.to_string_lossy())));
            };
            // The metadata of the entry itself, not of a link's target.
            let facts: Metadata = entry.metadata().map_err(|error| failed(&path, error))?;
            if is_omitted(&path, facts.is_dir()) {
                continue;
            }
            if facts.is_dir() {
                folders += 1;
                if folders > MAX_BUNDLE_FOLDERS || depth > MAX_PATH_DEPTH {
                    return Err(FolderChange::TooLarge);
                }
                pending.push((entry.path(), path, depth + 1));
            } else if facts.is_file() {
                let size = facts.len();
                bytes = bytes.saturating_add(size);
                if files.len() == MAX_ARCHIVE_ENTRIES || size > MAX_UNPACKED_FILE_BYTES || bytes > MAX_UNPACKED_BYTES {
                    return Err(FolderChange::TooLarge);
                }
                files.push(BundleFolderFile { path, disk_path: entry.path(), size, executable: is_executable(&facts) });
            } else {
                return Err(FolderChange::NotAFile(path));
            }
        }
    }
    Ok(files)
}

fn unreadable_change(path: &str, error: &io::Error) -> FolderChange {
    FolderChange::Unreadable(path.to_owned(), error.to_string())
}
