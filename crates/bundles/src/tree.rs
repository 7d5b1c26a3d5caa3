//! The files of an unpacked bundle, with the hashes of their contents.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use foreign::visible;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeFile {
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// True if its owner may run it.
    pub executable: bool,
}

/// The files of a bundle, by path with slashes. Whoever installs a bundle keeps it, to compare with later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree {
    /// The files.
    pub files: BTreeMap<String, TreeFile>,
}

/// How a file on disk differs from its tree. The text is safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeChange {
    /// It is not there, or can't be read.
    #[error("{} is missing", visible(.0))]
    Missing(String),
    /// It is a link or a folder, or lies behind a link.
    #[error("{} is a link or no file", visible(.0))]
    NotAFile(String),
    /// Its content, or whether it may be run, is another.
    #[error("{} has changed", visible(.0))]
    Changed(String),
    /// The tree has no such file.
    #[error("{} is no file of the bundle", visible(.0))]
    Unknown(String),
}

impl Tree {
    /// One hash for all: the SHA-256 of a line for each file with its hash, `x` or `-`, and its path.
    ///
    /// Paths in bundles have no line breaks, so two trees never have the same lines.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, file) in &self.files {
            let mode = if file.executable { 'x' } else { '-' };
            hash.update(format!("{} {mode} {path}\n", file.sha256));
        }
        format!("{:x}", hash.finalize())
    }

    /// Returns true if there is a file of this path, or one below it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_below =
            |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.files.keys().any(|file| is_below(file))
    }

    pub(crate) fn add(&mut self, path: &str, content: Hashed, executable: bool) {
        let Hashed { sha256, size } = content;
        self.files.insert(path.to_owned(), TreeFile { sha256, size, executable });
    }
}

/// Compares files below `folder` with the tree: before each start those in [`BundlePlan::watched`](crate::BundlePlan::watched), or all of
/// `tree.files.keys()`. Files that were added are not looked at, since programs write caches beside their code; [`crate::verify_folder`] does. Blocks.
///
/// # Errors
/// The first difference.
pub fn verify_tree<'p>(
    folder: &Path,
    tree: &Tree,
    paths: impl IntoIterator<Item = &'p String>,
) -> Result<(), TreeChange> {
    for path in paths {
        let expected = tree.files.get(path).ok_or_else(|| TreeChange::Unknown(path.clone()))?;
        if on_disk(folder, path)? != *expected {
            return Err(TreeChange::Changed(path.clone()));
        }
    }
    Ok(())
}

/// The file as it is on disk, not behind any link below the folder.
fn on_disk(folder: &Path, path: &str) -> Result<TreeFile, TreeChange> {
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
    let Hashed { sha256, size } = sink.finish();
    Ok(TreeFile { sha256, size, executable })
}

#[cfg(unix)]
pub(crate) fn is_executable(facts: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    facts.permissions().mode() & 0o100 != 0
}

/// Where files have no such bit, a tree has none either.
#[cfg(not(unix))]
pub(crate) fn is_executable(_facts: &Metadata) -> bool {
    false
}

/// Hashes what is written through it.
pub(crate) struct HashingWriter<W> {
    sink: W,
    hash: Sha256,
    size: u64,
}

/// What went through a [`HashingWriter`].
pub(crate) struct Hashed {
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, hash: Sha256::new(), size: 0 }
    }

    pub(crate) fn finish(self) -> Hashed {
        Hashed { sha256: format!("{:x}", self.hash.finalize()), size: self.size }
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
