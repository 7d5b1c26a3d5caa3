//! Parsers of the records of a ZIP archive, according to APPNOTE 6.3.10 (sections 4.3.7, 4.3.9, 4.3.12 and 4.3.16).
//! They check only the format.

use super::ArchiveRefusal;

pub(super) const END_RECORD_LENGTH: usize = 22;
pub(super) const LOCAL_HEADER_LENGTH: usize = 30;
/// Length in bytes of the ZIP64 end of central directory locator.
pub(super) const ZIP64_LOCATOR_LENGTH: usize = 20;
const CENTRAL_HEADER_LENGTH: usize = 46;

const END_RECORD_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
pub(super) const ZIP64_LOCATOR_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
const CENTRAL_HEADER_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
const LOCAL_HEADER_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
const DATA_DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";

/// Id of the ZIP64 extra field, which contains 64-bit sizes.
const ZIP64_EXTRA_FIELD_ID: u16 = 0x0001;
/// Id of Info-ZIP's extra field with a Unicode path, which some programs use instead of the name in the header.
const UNICODE_PATH_EXTRA_FIELD_ID: u16 = 0x7075;
/// Flag of an entry whose checksum and sizes are in a data descriptor after its data.
pub(super) const FLAG_DATA_DESCRIPTOR: u16 = 1 << 3;
/// Flag of an entry whose name is encoded in UTF-8.
pub(super) const FLAG_UTF8: u16 = 1 << 11;
/// Flags of an encrypted entry: encryption, strong encryption, and a masked central directory.
pub(super) const FLAGS_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;

/// The end of central directory record of a ZIP archive, which contains the position of the central directory.
pub(super) struct EndOfCentralDirectoryRecord {
    pub(super) entries: u16,
    pub(super) directory_size: u32,
    pub(super) directory_at: u32,
    pub(super) comment: u16,
    /// Set if the archive is split over several disks.
    pub(super) is_split: bool,
}

impl EndOfCentralDirectoryRecord {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < END_RECORD_LENGTH || bytes[..4] != END_RECORD_SIGNATURE {
            return None;
        }
        let (disk, directory_disk, here, entries) =
            (read_u16(bytes, 4), read_u16(bytes, 6), read_u16(bytes, 8), read_u16(bytes, 10));
        Some(Self {
            entries,
            directory_size: read_u32(bytes, 12),
            directory_at: read_u32(bytes, 16),
            comment: read_u16(bytes, 20),
            is_split: disk != 0 || directory_disk != 0 || here != entries,
        })
    }

    /// Returns `true` if the archive has ZIP64 records, since a value of this record is at its maximum.
    pub(super) fn is_zip64(&self) -> bool {
        self.entries == u16::MAX || self.directory_size == u32::MAX || self.directory_at == u32::MAX
    }
}

/// Values that both the central and the local header of a ZIP entry contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryHeader {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u32,
    pub(super) size: u32,
    pub(super) name: Vec<u8>,
    pub(super) is_zip64: bool,
    /// Set if an extra field contains a second name of the entry.
    pub(super) has_other_name: bool,
}

/// Header of an entry in the central directory.
pub(super) struct CentralEntry {
    pub(super) header: EntryHeader,
    pub(super) attributes: u32,
    pub(super) local_at: u32,
}

/// Parses the whole central directory. Fails unless `bytes` contain exactly `entries` headers.
pub(super) fn parse_central_directory(mut bytes: &[u8], entries: u16) -> Result<Vec<CentralEntry>, ArchiveRefusal> {
    let mut headers = Vec::with_capacity(entries.into());
    for _ in 0..entries {
        if bytes.len() < CENTRAL_HEADER_LENGTH || bytes[..4] != CENTRAL_HEADER_SIGNATURE {
            return Err(ArchiveRefusal::Directory);
        }
        let (name, extra, comment) = (read_length(bytes, 28), read_length(bytes, 30), read_length(bytes, 32));
        let end = CENTRAL_HEADER_LENGTH + name + extra + comment;
        if bytes.len() < end {
            return Err(ArchiveRefusal::Directory);
        }
        let header = EntryHeader::read(&bytes[8..], &bytes[CENTRAL_HEADER_LENGTH..], name, extra);
        let local_at = read_u32(bytes, 42);
        let is_zip64 = header.is_zip64 || local_at == u32::MAX;
        if read_u16(bytes, 34) != 0 {
            return Err(ArchiveRefusal::SeveralDisks);
        }
        headers.push(CentralEntry {
            header: EntryHeader { is_zip64, ..header },
            attributes: read_u32(bytes, 38),
            local_at,
        });
        bytes = &bytes[end..];
    }
    if bytes.is_empty() { Ok(headers) } else { Err(ArchiveRefusal::Directory) }
}

/// Returns the lengths, in bytes, of the name and of the extra fields that follow a local header, or `None` if the
/// header does not begin with the signature of local headers.
pub(super) fn local_header_lengths(fixed: &[u8; LOCAL_HEADER_LENGTH]) -> Option<(usize, usize)> {
    (fixed[..4] == LOCAL_HEADER_SIGNATURE).then(|| (read_length(fixed, 26), read_length(fixed, 28)))
}

/// Parses a local header and the name and extra fields after it, whose lengths [`local_header_lengths`] returned.
pub(super) fn parse_local_header(
    fixed: &[u8; LOCAL_HEADER_LENGTH],
    rest: &[u8],
    (name, extra): (usize, usize),
) -> EntryHeader {
    EntryHeader::read(&fixed[6..], rest, name, extra)
}

/// Returns the length, in bytes, of the data descriptor at the beginning of `bytes`, or `None` if its values differ
/// from those in `header`.
pub(super) fn data_descriptor_length(bytes: &[u8], header: &EntryHeader) -> Option<u64> {
    let expected = [header.crc, header.packed, header.size].map(u32::to_le_bytes).concat();
    if bytes.starts_with(&DATA_DESCRIPTOR_SIGNATURE) && bytes[4..].starts_with(&expected) {
        Some(16)
    } else {
        bytes.starts_with(&expected).then_some(12)
    }
}

impl EntryHeader {
    /// Parses the fields that both kinds of header contain. `from_flags` are the bytes of the header from its flags on,
    /// and `rest` the name and extra fields after the header, with their lengths `name` and `extra`.
    fn read(from_flags: &[u8], rest: &[u8], name: usize, extra: usize) -> Self {
        let (packed, size) = (read_u32(from_flags, 12), read_u32(from_flags, 16));
        let has = |expected: u16| extra_field_ids(&rest[name..name + extra]).any(|id| id == expected);
        Self {
            flags: read_u16(from_flags, 0),
            method: read_u16(from_flags, 2),
            crc: read_u32(from_flags, 8),
            packed,
            size,
            name: rest[..name].to_vec(),
            is_zip64: has(ZIP64_EXTRA_FIELD_ID) || packed == u32::MAX || size == u32::MAX,
            has_other_name: has(UNICODE_PATH_EXTRA_FIELD_ID),
        }
    }

    pub(super) fn has_data_descriptor(&self) -> bool {
        self.flags & FLAG_DATA_DESCRIPTOR != 0
    }
}

/// Returns the ids of the fields in the extra data of a ZIP header.
fn extra_field_ids(mut extra: &[u8]) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let id = (extra.len() >= 4).then(|| read_u16(extra, 0))?;
        extra = extra.get(4 + read_length(extra, 2)..).unwrap_or_default();
        Some(id)
    })
}

fn read_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn read_length(bytes: &[u8], at: usize) -> usize {
    usize::from(read_u16(bytes, at))
}
