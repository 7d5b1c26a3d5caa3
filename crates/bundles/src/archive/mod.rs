//! The archive of a bundle: a ZIP file, opened only if it has exactly one interpretation. Used by
//! [`Bundle`](crate::Bundle).
//!
//! The records are parsed here rather than by a ZIP library. The `zip` crate compares the two headers of an entry
//! only on demand, finds the central directory by searching (and tries an earlier end record if one doesn't fit),
//! accepts data before the first entry, and keeps the last of several entries with the same name. Enforcing the rules
//! below would require a second parser of the same records anyway. So there is only one, strict and limited to what
//! bundles need; inflating is left to `flate2`.
//!
//! Strict means that each byte of the file belongs to exactly one entry, to the central directory, to the end record,
//! or to a signature after it. Entries are contiguous from the first byte on, so nothing can hide a second directory,
//! a prefix, or overlapping entries. Refused are ZIP64, which nothing within the [limits](crate::limits) needs,
//! compression methods other than stored and deflate, encryption, links, and paths that a file system could mistake
//! for another path.

mod contents;
mod entry_data;
mod names;
mod records;
mod refusal;
mod trailer;

pub use refusal::{ArchiveRefusal, PathProblem};

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use installs::BundleSignature;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::BundleError;
use crate::limits::MAX_ARCHIVE_BYTES;
use crate::tree::{FileTree, HashingWriter};

/// Metadata of a file in an archive, whose content [`Archive::read`] returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveFile {
    /// Path of the file below the bundle's folder, with slashes.
    pub path: String,
    /// Size of the file's unpacked content, in bytes.
    pub size: u64,
    /// Set if the file's owner may execute it.
    pub executable: bool,
    #[serde(skip)]
    packed: u64,
    #[serde(skip)]
    crc: u32,
    #[serde(skip)]
    is_deflated: bool,
    #[serde(skip)]
    data_at: u64,
}

/// An archive whose structure, paths and sizes were checked when it was opened. The data of a file is checked when it
/// is read.
#[derive(Debug)]
pub struct Archive {
    file: File,
    size: u64,
    sha256: String,
    files: BTreeMap<String, ArchiveFile>,
    folders: Vec<String>,
    signature: BundleSignature,
}

impl Archive {
    /// Opens an archive, checks its structure and reads it once to compute its hash. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Io`] if the file can't be read, and [`BundleError::Refused`] if the archive is not
    /// allowed.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        let cant_open = |cause| BundleError::io("the bundle can't be opened", cause);
        // Opening a pipe would block until it has a writer.
        if !std::fs::metadata(path).map_err(cant_open)?.is_file() {
            return Err(BundleError::io("the bundle can't be opened", io::Error::other("it is not a file")));
        }
        let file = File::open(path).map_err(cant_open)?;
        let size = file.metadata().map_err(cant_open)?.len();
        if size > MAX_ARCHIVE_BYTES {
            return Err(ArchiveRefusal::ArchiveTooLarge.into());
        }
        let (end, signature) = trailer::read_trailer(&file, size)?;
        let contents = contents::read_archive_contents(&file, &end)?;
        let sha256 = hash_file(&file, size)?;
        Ok(Self { file, size, sha256, files: contents.files, folders: contents.folders, signature })
    }

    /// Returns the SHA-256 of the archive file in hexadecimal, which identifies the bundle.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the size of the archive file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the signature block after the archive, which is not verified.
    #[must_use]
    pub fn signature(&self) -> &BundleSignature {
        &self.signature
    }

    /// Returns the files in the archive, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &ArchiveFile> {
        self.files.values()
    }

    /// Returns the file with this path, or `None` if the archive has no such file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&ArchiveFile> {
        self.files.get(path)
    }

    /// Returns the paths of those folders that have an entry of their own in the archive.
    pub(crate) fn folders(&self) -> &[String] {
        &self.folders
    }

    /// Unpacks a file of at most `max` bytes and returns its content. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Refused`] if the file doesn't exist or is damaged, [`BundleError::TooLargeToRead`] if it
    /// is larger than `max`, and [`BundleError::Io`] if reading fails.
    pub fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, BundleError> {
        let file = self.file(path).ok_or_else(|| ArchiveRefusal::MissingFile(path.to_owned()))?;
        if file.size > max {
            return Err(BundleError::TooLargeToRead { path: path.to_owned(), max });
        }
        let mut content = Vec::new();
        entry_data::unpack_entry(&self.file, file, &mut content)?;
        Ok(content)
    }

    /// Unpacks a file of the archive and writes its content to `sink`.
    pub(crate) fn copy(&self, file: &ArchiveFile, sink: &mut dyn io::Write) -> Result<(), BundleError> {
        entry_data::unpack_entry(&self.file, file, sink)
    }

    /// Copies the archive file to `sink`, and returns the SHA-256 of the copied bytes.
    pub(crate) fn copy_archive(&self, sink: &mut dyn io::Write) -> Result<String, BundleError> {
        let cant_copy = |cause| BundleError::io("the bundle can't be copied", cause);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(cant_copy)?;
        let mut sink = HashingWriter::new(sink);
        // Copies up to one byte more than the recorded size, so that the hash differs if the file has grown.
        io::copy(&mut file.take(self.size + 1), &mut sink).map_err(cant_copy)?;
        Ok(sink.finish().sha256)
    }

    /// Returns the list of all files with the hashes of their content, for which it unpacks them without writing them
    /// to disk. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Refused`] if a file is damaged, and [`BundleError::Io`] if reading fails.
    pub fn file_tree(&self) -> Result<FileTree, BundleError> {
        let mut tree = FileTree::default();
        for file in self.files() {
            let mut sink = HashingWriter::new(io::sink());
            self.copy(file, &mut sink)?;
            tree.add(&file.path, sink.finish(), file.executable && cfg!(unix));
        }
        Ok(tree)
    }
}

fn hash_file(mut file: &File, size: u64) -> Result<String, BundleError> {
    let cant_read = |cause| BundleError::io("the bundle can't be read", cause);
    let mut hash = Sha256::new();
    file.seek(SeekFrom::Start(0)).map_err(cant_read)?;
    let read = io::copy(&mut file.take(size + 1), &mut hash).map_err(cant_read)?;
    if read == size { Ok(format!("{:x}", hash.finalize())) } else { Err(BundleError::Changed) }
}

/// Reads `length` bytes at offset `at` of a file.
fn read_at(mut file: &File, at: u64, length: usize) -> Result<Vec<u8>, BundleError> {
    let mut bytes = vec![0; length];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
    read.map_err(|cause| BundleError::io("the bundle can't be read", cause))?;
    Ok(bytes)
}

/// Returns `true` if an entry of an archive may have this path: it does not lead out of the folder to which the archive
/// is unpacked, and is valid on all systems.
pub(crate) fn is_safe_path(path: &str) -> bool {
    names::path_problem(path).is_none()
}
