//! An unpacked bundle as a whole: whether its folder still has the files that were approved, and no others.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use foreign::visible;

use crate::limits::{MAX_DEPTH, MAX_ENTRIES, MAX_FILE, MAX_UNPACKED};
use crate::tree::{Hashed, HashingWriter, Tree, is_executable};
use crate::tree_file::read_tree_file;

/// The most folders below an unpacked one. Those around a file need no entry of their own in an archive.
const MAX_FOLDERS: usize = MAX_ENTRIES * MAX_DEPTH;
/// What uv makes beside the code of a server at its first start, if the bundle has none of its own: the packages that it loads, and which
/// ones these are. No hash of a bundle covers them, as its plan says.
const MADE_BY_UV: [&str; 2] = [".venv", "uv.lock"];
/// The most threads that read files; more of them wait for the same disk.
const MAX_THREADS: usize = 4;

/// Why a folder is not the unpacked bundle that it was. The texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderChange {
    /// A file has other content, or may be run and could not before, or the other way round.
    #[error("{} has changed since the bundle was unpacked", visible(.0))]
    Changed(String),
    /// A file is gone.
    #[error("{} is missing", visible(.0))]
    Missing(String),
    /// A file is there that the bundle does not have.
    #[error("{} is no file of the bundle; it was added later", visible(.0))]
    Added(String),
    /// Its files are others, and which ones the bundle had is not known any more.
    #[error("its files are not those that were unpacked")]
    Differs,
    /// There is a link, a pipe, a device, or a name that no bundle can have.
    #[error("{} is a link, a device, or has a name that no bundle can have", visible(.0))]
    NotAFile(String),
    /// There are more files or bytes than a bundle may have.
    #[error("it holds more than a bundle may")]
    TooLarge,
    /// It can't be read.
    #[error("{} can't be read: {}", visible(.0), visible(.1))]
    Unreadable(String, String),
}

/// Compares all files below `folder` with the hash of the tree that was unpacked there ([`Tree::hash`]), to be called before each start. A server
/// that writes beside its own code changes its folder, too. Blocks: it reads every byte, within [`limits`](crate::limits).
///
/// Empty folders are not compared: no code comes from them. Neither is what uv makes at the first start. What was found is never kept for the next time: size, time and inode of a file
/// can be what they were with other content, since whoever may write a file may set its times, too.
///
/// # Errors
/// If a file was added, removed or changed, which is named, or one can't be read.
pub fn verify_folder(folder: &Path, tree_hash: &str) -> Result<(), FolderChange> {
    let was = read_tree_file(folder, tree_hash);
    let found = files_below(folder, was.as_ref())?;
    let (next, tree) = (AtomicUsize::new(0), Mutex::new(Tree::default()));
    let work = || -> Result<(), FolderChange> {
        while let Some(file) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            let content = file.read()?;
            let mut tree = tree.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tree.add(&file.path, content, file.executable);
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
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
    Err(was.and_then(|was| first_change(&was, &tree)).unwrap_or(FolderChange::Differs))
}

/// The first file that differs.
fn first_change(was: &Tree, now: &Tree) -> Option<FolderChange> {
    let gone_or_changed = was.files.iter().find_map(|(path, file)| match now.files.get(path) {
        None => Some(FolderChange::Missing(path.clone())),
        Some(found) if found != file => Some(FolderChange::Changed(path.clone())),
        Some(_) => None,
    });
    let added = || now.files.keys().find(|path| !was.files.contains_key(*path));
    gone_or_changed.or_else(|| added().cloned().map(FolderChange::Added))
}

struct FoundFile {
    /// As in a tree.
    path: String,
    place: PathBuf,
    size: u64,
    executable: bool,
}

impl FoundFile {
    /// Reads it as long as it was when it was found.
    fn read(&self) -> Result<Hashed, FolderChange> {
        let failed = |error: io::Error| unreadable(&self.path, &error);
        let file = File::open(&self.place).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(FolderChange::NotAFile(self.path.clone()));
        }
        let mut sink = HashingWriter::new(io::sink());
        let read = io::copy(&mut file.take(self.size + 1), &mut sink).map_err(failed)?;
        if read == self.size { Ok(sink.finish()) } else { Err(FolderChange::Changed(self.path.clone())) }
    }
}

/// All files below a folder, behind no link, but what uv makes beside these files.
fn files_below(folder: &Path, was: Option<&Tree>) -> Result<Vec<FoundFile>, FolderChange> {
    let is_left_out = |path: &str| MADE_BY_UV.contains(&path) && was.is_some_and(|tree| !tree.has(path));
    let failed = |path: &str, error: io::Error| unreadable(path, &error);
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
            if is_left_out(&path) {
                continue;
            }
            // Of the entry itself, and not of what a link leads to.
            let facts: Metadata = entry.metadata().map_err(|error| failed(&path, error))?;
            if facts.is_dir() {
                folders += 1;
                if folders > MAX_FOLDERS || depth > MAX_DEPTH {
                    return Err(FolderChange::TooLarge);
                }
                pending.push((entry.path(), path, depth + 1));
            } else if facts.is_file() {
                let size = facts.len();
                bytes = bytes.saturating_add(size);
                if files.len() == MAX_ENTRIES || size > MAX_FILE || bytes > MAX_UNPACKED {
                    return Err(FolderChange::TooLarge);
                }
                files.push(FoundFile { path, place: entry.path(), size, executable: is_executable(&facts) });
            } else {
                return Err(FolderChange::NotAFile(path));
            }
        }
    }
    Ok(files)
}

fn unreadable(path: &str, error: &io::Error) -> FolderChange {
    FolderChange::Unreadable(path.to_owned(), error.to_string())
}
