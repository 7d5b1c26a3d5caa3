//! File with the list of an unpacked bundle's files, stored next to its folder to find out which file was changed. It
//! needs no protection, since it is used only if its hash is the approved one. Written by `unpack`, read by `folder`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::FileTree;

/// Suffix of the file name under which a bundle's list of files is stored, after the name of the bundle's folder.
const TREE_FILE_SUFFIX: &str = ".tree.json";
/// Maximum number of bytes that are read from the file with a bundle's list of files.
const MAX_TREE_FILE_BYTES: u64 = 16 << 20;

fn tree_file_path(folder: &Path) -> PathBuf {
    let mut place = folder.as_os_str().to_owned();
    place.push(TREE_FILE_SUFFIX);
    place.into()
}

/// Returns the name of the bundle folder to which the list of files with the file name `name` belongs, or `None` if
/// `name` is not the file name of such a list.
pub(crate) fn folder_of_tree_file(name: &str) -> Option<&str> {
    name.strip_suffix(TREE_FILE_SUFFIX)
}

/// Stores the list of the files in `folder`. The write need not be atomic: if the process is killed meanwhile, the
/// folder is incomplete as well, and is removed later.
pub(crate) fn write_tree_file(folder: &Path, tree: &FileTree) -> io::Result<()> {
    fs::write(tree_file_path(folder), serde_json::to_vec(tree)?)
}

/// Returns the stored list of the files in `folder`, or `None` if it is missing or its hash is not `tree_hash`.
pub(crate) fn read_tree_file(folder: &Path, tree_hash: &str) -> Option<FileTree> {
    let mut bytes = Vec::new();
    File::open(tree_file_path(folder)).ok()?.take(MAX_TREE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let tree: FileTree = serde_json::from_slice(&bytes).ok()?;
    (tree.hash() == tree_hash).then_some(tree)
}

/// Removes the list of the files in `folder`. If that fails, [`remove_leftovers`](crate::remove_leftovers) removes it
/// later.
pub(crate) fn remove_tree_file(folder: &Path) {
    let _ = fs::remove_file(tree_file_path(folder));
}
