//! List of the files in an unpacked bundle, with the hashes of their contents.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use foreign::escape_invisible;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Name of the manifest at the root of each bundle.
pub(crate) const MANIFEST_FILE: &str = "manifest.json";

/// Hash, size and executable bit of a file in an unpacked bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileTreeEntry {
    /// SHA-256 of the file's content, in hexadecimal.
    pub sha256: String,
    /// Size of the unpacked file, in bytes.
    pub size: u64,
    /// Set if the owner of the file may execute it.
    pub executable: bool,
}

/// List of the files in an unpacked bundle. It is stored when the bundle is installed, to detect later changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileTree {
    /// Files of the bundle, by path with slashes.
    pub files: BTreeMap<String, FileTreeEntry>,
}

/// Difference between a file on disk and a bundle's [`FileTree`]. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeChange {
    /// This file of the bundle is missing or can't be read.
    #[error("{} is missing", escape_invisible(.0))]
    Missing(String),
    /// This path, which is a file in the bundle, is a link or a folder on disk, or one of its parent folders is a link.
    #[error("{} is a link or no file", escape_invisible(.0))]
    NotAFile(String),
    /// The content or executable bit of this file was changed.
    #[error("{} has changed", escape_invisible(.0))]
    Changed(String),
    /// The list of the bundle's files contains no file with this path.
    #[error("{} is not a file of the bundle", escape_invisible(.0))]
    Unknown(String),
}

impl FileTree {
    /// Returns a hash of the list of files: the SHA-256 of the text that has one line for each file, with the hash of
    /// its content, `x` if it is executable or else `-`, and its path.
    ///
    /// Paths in bundles contain no line breaks, so two different lists never have the same lines.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, file) in &self.files {
            let mode = if file.executable { 'x' } else { '-' };
            hash.update(format!("{} {mode} {path}\n", file.sha256));
        }
        format!("{:x}", hash.finalize())
    }

    /// Returns `true` if `path` is a file of the bundle, or a folder that contains one.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let is_below =
            |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.files.keys().any(|file| is_below(file))
    }

    pub(crate) fn add(&mut self, path: &str, content: ContentDigest, executable: bool) {
        let ContentDigest { sha256, size } = content;
        self.files.insert(path.to_owned(), FileTreeEntry { sha256, size, executable });
    }
}

/// Checks that the files in `paths` are on disk below `folder` as they are in the list `tree`. Before each start,
/// `paths` are those in [`BundlePlan::watched`](crate::BundlePlan::watched). Other files are ignored, since programs
/// write caches next to their code; [`crate::verify_folder`] detects added files. Blocks.
///
/// # Errors
/// Returns a [`TreeChange`] for the first file that differs.
pub fn verify_tree<'p>(
    folder: &Path,
    tree: &FileTree,
    paths: impl IntoIterator<Item = &'p String>,
) -> Result<(), TreeChange> {
    for path in paths {
        let expected = tree.files.get(path).ok_or_else(|| TreeChange::Unknown(path.clone()))?;
        if read_disk_file(folder, path)? != *expected {
            return Err(TreeChange::Changed(path.clone()));
        }
    }
    Ok(())
}

/// Reads and hashes the file `path` in `folder`. Fails if the file or one of its parent folders below `folder` is a
/// link.
fn read_disk_file(folder: &Path, path: &str) -> Result<FileTreeEntry, TreeChange> {
    let missing = |_| TreeChange::Missing(path.to_owned());
    let mut place = folder.to_owned();
    for (at, part) in path.split('/').enumerate() {
        place.push(part);
        let kind = fs::symlink_metadata(&place).map_err(missing)?.file_type();
        let is_last = at == path.matches('/').count();
        if is_last && !kind.is_file() || !is_last && !kind.is_dir() {
            return Err(TreeChange::NotAFile(path.to_owned()));
        }
    }
    let mut file = File::open(&place).map_err(missing)?;
    let executable = is_executable(&file.metadata().map_err(missing)?);
    let mut sink = HashingWriter::new(io::sink());
    io::copy(&mut file, &mut sink).map_err(missing)?;
    let ContentDigest { sha256, size } = sink.finish();
    Ok(FileTreeEntry { sha256, size, executable })
}

#[cfg(unix)]
pub(crate) fn is_executable(facts: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    facts.permissions().mode() & 0o100 != 0
}

/// Returns `false`, since files have no executable bit on this operating system.
#[cfg(not(unix))]
pub(crate) fn is_executable(_facts: &Metadata) -> bool {
    false
}

/// A writer that forwards bytes to another writer, and computes their hash and number.
pub(crate) struct HashingWriter<W> {
    sink: W,
    hash: Sha256,
    size: u64,
}

/// Hash and size of the bytes that a [`HashingWriter`] received.
pub(crate) struct ContentDigest {
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, hash: Sha256::new(), size: 0 }
    }

    pub(crate) fn finish(self) -> ContentDigest {
        ContentDigest { sha256: format!("{:x}", self.hash.finalize()), size: self.size }
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
