//! The list of an unpacked bundle's files, stored next to its folder, so that a change can be attributed to a file.
//! It needs no protection: it counts only if its own hash is the approved one. Written by `unpack`, read by `folder`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::FileTree;

/// Suffix of the list's file name, after the name of the folder.
const TREE_FILE_SUFFIX: &str = ".tree.json";
/// Maximum size of a list that is read, in bytes.
const MAX_TREE_FILE: u64 = 16 << 20;

fn tree_file_path(folder: &Path) -> PathBuf {
    let mut place = folder.as_os_str().to_owned();
    place.push(TREE_FILE_SUFFIX);
    place.into()
}

/// Returns the name of the folder that a file with this name lists, or `None` if it is not a list.
pub(crate) fn listed_folder_name(name: &str) -> Option<&str> {
    name.strip_suffix(TREE_FILE_SUFFIX)
}

/// Stores the list of the files in `folder`. If the process is killed in between, the folder is still unfinished as
/// well.
pub(crate) fn write_tree_file(folder: &Path, tree: &FileTree) -> io::Result<()> {
    fs::write(tree_file_path(folder), serde_json::to_vec(tree)?)
}

/// Returns the stored list if it has this hash.
pub(crate) fn read_tree_file(folder: &Path, tree_hash: &str) -> Option<FileTree> {
    let mut bytes = Vec::new();
    File::open(tree_file_path(folder)).ok()?.take(MAX_TREE_FILE).read_to_end(&mut bytes).ok()?;
    let tree: FileTree = serde_json::from_slice(&bytes).ok()?;
    (tree.hash() == tree_hash).then_some(tree)
}

/// Removes the list along with its folder. If that fails, it is removed with other leftovers later.
pub(crate) fn remove_tree_file(folder: &Path) {
    let _ = fs::remove_file(tree_file_path(folder));
}
