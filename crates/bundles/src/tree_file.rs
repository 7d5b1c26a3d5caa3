//! The list of an unpacked bundle's files, kept beside its folder, so that a change can be named. It needs no protection: it counts only where its
//! own hash is the one that was approved. Callers: `unpack` writes it, `folder` reads it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::Tree;

/// What the name of the list ends with, behind that of the folder.
const SUFFIX: &str = ".tree.json";
/// The largest list that is read, in bytes: the longest paths of as many files as a bundle may have.
const MAX_TREE_FILE: u64 = 16 << 20;

fn place_of(folder: &Path) -> PathBuf {
    let mut place = folder.as_os_str().to_owned();
    place.push(SUFFIX);
    place.into()
}

/// The name of the folder that a file of this name lists; none if it is no such file.
pub(crate) fn folder_of_tree_file(name: &str) -> Option<&str> {
    name.strip_suffix(SUFFIX)
}

/// Keeps the list of the files in `folder`. Whoever was killed on the way has left the folder unfinished, too.
pub(crate) fn write_tree_file(folder: &Path, tree: &Tree) -> io::Result<()> {
    fs::write(place_of(folder), serde_json::to_vec(tree)?)
}

/// The list that was kept, if its hash is this one.
pub(crate) fn read_tree_file(folder: &Path, tree_hash: &str) -> Option<Tree> {
    let mut bytes = Vec::new();
    File::open(place_of(folder)).ok()?.take(MAX_TREE_FILE).read_to_end(&mut bytes).ok()?;
    let tree: Tree = serde_json::from_slice(&bytes).ok()?;
    (tree.hash() == tree_hash).then_some(tree)
}

/// Removes the list with its folder. One that stays is removed with other leftovers.
pub(crate) fn remove_tree_file(folder: &Path) {
    let _ = fs::remove_file(place_of(folder));
}
