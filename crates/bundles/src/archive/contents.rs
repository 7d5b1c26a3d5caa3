//! Reads the entries of an archive: parses the central directory, and compares it with the local headers.

use std::collections::BTreeMap;
use std::fs::File;

use super::names::{self, UniquePaths};
use super::records::{self, CentralEntry, EntryHeader, FLAG_UTF8, FLAGS_ENCRYPTED, LOCAL_HEADER_LENGTH};
use super::trailer::CentralDirectory;
use super::{ArchiveFile, ArchiveRefusal, PathProblem, read_at};
use crate::BundleError;
use crate::limits::{
    MAX_ARCHIVE_ENTRIES, MAX_CENTRAL_DIRECTORY_BYTES, MAX_COMPRESSION_RATIO, MAX_PATH_BYTES, MAX_UNPACKED_BYTES,
    MAX_UNPACKED_FILE_BYTES, MIN_RATIO_CHECK_SIZE,
};

const METHOD_STORED: u16 = 0;
const METHOD_DEFLATE: u16 = 8;
/// Bits of a Unix mode that contain the file type. The next constants are the values of these bits that are accepted.
const MODE_TYPE_MASK: u32 = 0o170_000;
const MODE_TYPE_FILE: u32 = 0o100_000;
const MODE_TYPE_FOLDER: u32 = 0o040_000;
const MODE_SETUID_SETGID: u32 = 0o6000;
const MODE_OWNER_EXECUTE: u32 = 0o100;
/// Bit that marks a folder in the DOS attributes, which are the lower half of an entry's external attributes.
const DOS_ATTRIBUTE_FOLDER: u32 = 0x10;

/// Files and folders in an archive, as its central directory lists them.
pub(super) struct ArchiveContents {
    pub(super) files: BTreeMap<String, ArchiveFile>,
    pub(super) folders: Vec<String>,
}

/// Reads the central directory and all local headers, without unpacking data. Refuses archives that exceed a limit,
/// contain a path or kind of entry that is not allowed, or have contradicting headers.
pub(super) fn read_archive_contents(file: &File, directory: &CentralDirectory) -> Result<ArchiveContents, BundleError> {
    if usize::from(directory.entries) > MAX_ARCHIVE_ENTRIES || directory.size > MAX_CENTRAL_DIRECTORY_BYTES {
        return Err(ArchiveRefusal::TooManyEntries.into());
    }
    let bytes = read_at(file, directory.at, usize::try_from(directory.size).unwrap_or(usize::MAX))?;
    let mut entries = records::parse_central_directory(&bytes, directory.entries)?;
    let (mut names, mut kinds) = (UniquePaths::default(), Vec::new());
    for entry in &entries {
        let (path, kind) = check_central_entry(entry)?;
        names.add(&path, kind == EntryKind::Folder)?;
        kinds.push((entry.local_at, path, kind));
    }
    check_declared_sizes(&entries, directory.at)?;
    entries.sort_by_key(|entry| entry.local_at);
    kinds.sort_by_key(|(local_at, ..)| *local_at);

    let mut contents = ArchiveContents { files: BTreeMap::new(), folders: Vec::new() };
    let mut at = 0;
    for (entry, (_, path, kind)) in entries.iter().zip(kinds) {
        let (data_at, next) = check_local_header(file, entry, &path, at, directory.at)?;
        at = next;
        let EntryKind::File { executable } = kind else {
            contents.folders.push(path);
            continue;
        };
        let EntryHeader { method, crc, packed, size, .. } = entry.header;
        let (packed, size, is_deflated) = (packed.into(), size.into(), method == METHOD_DEFLATE);
        let found = ArchiveFile { path: path.clone(), size, executable, packed, crc, is_deflated, data_at };
        contents.files.insert(path, found);
    }
    check_no_gap_between_entries(at, directory.at)?;
    Ok(contents)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File { executable: bool },
    Folder,
}

/// Checks the header of an entry in the central directory. Returns the path and kind of the entry, or the reason why it
/// may not be unpacked.
fn check_central_entry(entry: &CentralEntry) -> Result<(String, EntryKind), ArchiveRefusal> {
    let header = &entry.header;
    let written = String::from_utf8_lossy(&header.name).into_owned();
    let is_utf8 = if header.flags & FLAG_UTF8 == 0 { header.name.is_ascii() } else { !written.contains('\u{fffd}') };
    let refuse_path = |problem| ArchiveRefusal::Path { path: written.chars().take(MAX_PATH_BYTES).collect(), problem };
    if !is_utf8 {
        return Err(refuse_path(PathProblem::NotUtf8));
    }
    let path = written.strip_suffix('/').unwrap_or(&written).to_owned();
    if let Some(problem) = names::path_problem(&path) {
        return Err(refuse_path(problem));
    }
    if header.is_zip64 {
        return Err(ArchiveRefusal::Zip64);
    }
    if header.has_other_name {
        return Err(ArchiveRefusal::SecondName(path));
    }
    if header.flags & FLAGS_ENCRYPTED != 0 {
        return Err(ArchiveRefusal::Encrypted(path));
    }
    if !matches!(header.method, METHOD_STORED | METHOD_DEFLATE) {
        return Err(ArchiveRefusal::Method { path, method: header.method });
    }
    if header.method == METHOD_STORED && header.packed != header.size {
        return Err(ArchiveRefusal::SizeDiffers(path));
    }
    let kind = entry_kind(entry, &path, path.len() != written.len())?;
    Ok((path, kind))
}

/// Determines the kind of an archive entry. Uses the Unix mode in its attributes even if the entry was created on
/// another system, since other programs would apply that mode.
fn entry_kind(entry: &CentralEntry, path: &str, is_named_folder: bool) -> Result<EntryKind, ArchiveRefusal> {
    let mode = entry.attributes >> 16;
    let is_folder = match mode & MODE_TYPE_MASK {
        0 => is_named_folder || entry.attributes & DOS_ATTRIBUTE_FOLDER != 0,
        MODE_TYPE_FILE => false,
        MODE_TYPE_FOLDER => true,
        _ => return Err(ArchiveRefusal::SpecialFile(path.to_owned())),
    };
    if is_folder != is_named_folder || is_folder && entry.header.size != 0 {
        return Err(ArchiveRefusal::KindDiffers(path.to_owned()));
    }
    if is_folder {
        return Ok(EntryKind::Folder);
    }
    if mode & MODE_SETUID_SETGID != 0 {
        return Err(ArchiveRefusal::SetUserId(path.to_owned()));
    }
    Ok(EntryKind::File { executable: mode & MODE_OWNER_EXECUTE != 0 })
}

/// Checks that the sizes in the central directory are within the limits. `packed_at_most` is the maximum total size of
/// the compressed data, in bytes.
fn check_declared_sizes(entries: &[CentralEntry], packed_at_most: u64) -> Result<(), ArchiveRefusal> {
    let mut all = 0;
    for CentralEntry { header, .. } in entries {
        let (size, packed) = (u64::from(header.size), u64::from(header.packed));
        let path = || String::from_utf8_lossy(&header.name).into_owned();
        if size > MAX_UNPACKED_FILE_BYTES {
            return Err(ArchiveRefusal::FileTooLarge(path()));
        }
        if size > MIN_RATIO_CHECK_SIZE && size > packed * MAX_COMPRESSION_RATIO {
            return Err(ArchiveRefusal::Ratio(path()));
        }
        all += size;
    }
    if all > MAX_UNPACKED_BYTES {
        return Err(ArchiveRefusal::UnpackedTooLarge);
    }
    if all > MIN_RATIO_CHECK_SIZE && all > packed_at_most * MAX_COMPRESSION_RATIO {
        Err(ArchiveRefusal::TotalRatio)
    } else {
        Ok(())
    }
}

/// Checks that the local header of an entry matches the central directory, and that it begins at the offset `at`, where
/// the previous entry ends. Returns the offsets of the entry's data and of the next entry.
fn check_local_header(
    file: &File,
    entry: &CentralEntry,
    path: &str,
    at: u64,
    end: u64,
) -> Result<(u64, u64), BundleError> {
    let local_at = u64::from(entry.local_at);
    if local_at < at {
        return Err(ArchiveRefusal::Overlap(path.to_owned()).into());
    }
    check_no_gap_between_entries(at, local_at)?;
    let differ = || ArchiveRefusal::HeadersDiffer(path.to_owned());
    let names_at = local_at + LOCAL_HEADER_LENGTH as u64;
    if names_at > end {
        return Err(ArchiveRefusal::Directory.into());
    }
    let fixed = read_at(file, local_at, LOCAL_HEADER_LENGTH)?;
    let fixed = <[u8; LOCAL_HEADER_LENGTH]>::try_from(fixed).map_err(|_| differ())?;
    let lengths = records::local_header_lengths(&fixed).ok_or_else(differ)?;
    let data_at = names_at + (lengths.0 + lengths.1) as u64;
    let data_end = data_at + u64::from(entry.header.packed);
    if data_end > end {
        return Err(ArchiveRefusal::Overlap(path.to_owned()).into());
    }
    let rest = read_at(file, names_at, lengths.0 + lengths.1)?;
    let local = records::parse_local_header(&fixed, &rest, lengths);
    if local.is_zip64 {
        return Err(ArchiveRefusal::Zip64.into());
    }
    let header = &entry.header;
    if header.has_data_descriptor() {
        // A value in the local header may be zero if a data descriptor after the data contains the checksum and sizes.
        let may_be = |local: u32, central: u32| local == 0 || local == central;
        let are_equal = may_be(local.crc, header.crc)
            && may_be(local.packed, header.packed)
            && may_be(local.size, header.size)
            && EntryHeader { crc: header.crc, packed: header.packed, size: header.size, ..local } == *header;
        let behind = read_at(file, data_end, usize::try_from((end - data_end).min(16)).unwrap_or_default())?;
        let length = records::data_descriptor_length(&behind, header).filter(|_| are_equal).ok_or_else(differ)?;
        return Ok((data_at, data_end + length));
    }
    if local == *header { Ok((data_at, data_end)) } else { Err(differ().into()) }
}

fn check_no_gap_between_entries(at: u64, next: u64) -> Result<(), ArchiveRefusal> {
    match next.checked_sub(at) {
        Some(0) => Ok(()),
        Some(bytes) => Err(ArchiveRefusal::HiddenData { at, bytes }),
        None => Err(ArchiveRefusal::Directory),
    }
}
