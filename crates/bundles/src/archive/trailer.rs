//! The end of an archive: the end of central directory record, and an optional signature.

use std::fs::File;

use installs::BundleSignature;

use super::records::{END_RECORD_LENGTH, EndOfCentralDirectoryRecord, ZIP64_LOCATOR_LENGTH, ZIP64_LOCATOR_SIGNATURE};
use super::{ArchiveRefusal, read_at};
use crate::BundleError;
use crate::signature::{self, MAX_SIGNATURE_BLOCK_BYTES};

/// Position and size of the central directory in the file.
pub(super) struct CentralDirectory {
    pub(super) at: u64,
    pub(super) size: u64,
    pub(super) entries: u16,
}

/// Reads the end record, which must be at the end of the file or directly before a signature block. Refuses an archive
/// with any comment except a signature block, since the comment could contain another end record, which other programs
/// would use.
pub(super) fn read_trailer(file: &File, size: u64) -> Result<(CentralDirectory, BundleSignature), BundleError> {
    let longest = (ZIP64_LOCATOR_LENGTH + END_RECORD_LENGTH + MAX_SIGNATURE_BLOCK_BYTES) as u64;
    let tail_at = size.saturating_sub(longest);
    let tail = read_at(file, tail_at, usize::try_from(size - tail_at).unwrap_or(usize::MAX))?;
    let (archive, block) = signature::split_signature_block(&tail);
    let end_at = archive.len().checked_sub(END_RECORD_LENGTH).ok_or(ArchiveRefusal::NotAZip)?;
    let Some(end) = EndOfCentralDirectoryRecord::read(&archive[end_at..]) else {
        return Err(missing_end_record_reason(archive).into());
    };
    match block {
        // Version 2.1.2 of the official packer leaves the length of the comment at 0, later ones set it.
        Some(block) if end.comment != 0 && usize::from(end.comment) != block.len() => {
            return Err(ArchiveRefusal::Comment.into());
        }
        None if end.comment != 0 => return Err(ArchiveRefusal::Comment.into()),
        _ => {}
    }
    let has_locator = end_at >= ZIP64_LOCATOR_LENGTH
        && archive[end_at - ZIP64_LOCATOR_LENGTH..].starts_with(&ZIP64_LOCATOR_SIGNATURE);
    if has_locator || end.is_zip64() {
        return Err(ArchiveRefusal::Zip64.into());
    }
    if end.is_split {
        return Err(ArchiveRefusal::SeveralDisks.into());
    }
    let (at, directory_size) = (u64::from(end.directory_at), u64::from(end.directory_size));
    if at + directory_size != tail_at + end_at as u64 {
        return Err(misplaced_central_directory_reason(at + directory_size, tail_at + end_at as u64).into());
    }
    Ok((CentralDirectory { at, size: directory_size, entries: end.entries }, signature::parse_signature(block)))
}

/// Returns the reason why an archive does not end with an end record: it has a comment or other data after the record,
/// or no such record at all.
fn missing_end_record_reason(archive: &[u8]) -> ArchiveRefusal {
    let mut ends =
        (0..archive.len()).rev().filter_map(|at| Some((at, EndOfCentralDirectoryRecord::read(&archive[at..])?)));
    match ends.next() {
        Some((at, end)) if at + END_RECORD_LENGTH + usize::from(end.comment) == archive.len() => {
            ArchiveRefusal::Comment
        }
        Some(_) => ArchiveRefusal::TrailingData,
        None => ArchiveRefusal::NotAZip,
    }
}

/// Returns the reason why the end record, at the offset `end_at`, does not directly follow the central directory.
fn misplaced_central_directory_reason(directory_end: u64, end_at: u64) -> ArchiveRefusal {
    match end_at.checked_sub(directory_end) {
        Some(bytes) => ArchiveRefusal::HiddenData { at: directory_end, bytes },
        None => ArchiveRefusal::Directory,
    }
}
