//! Writes ZIP archives, including invalid ones that no library writes.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// An entry of a ZIP archive, with the values to write into its headers.
#[derive(Clone)]
pub(crate) struct ZipEntry {
    pub(crate) name: Vec<u8>,
    /// Name in the local header, if it differs from that in the central directory.
    pub(crate) local_name: Option<Vec<u8>>,
    pub(crate) data: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) size: u32,
    /// Size in the local header, if it differs from that in the central directory.
    pub(crate) local_size: Option<u32>,
    pub(crate) attributes: u32,
    pub(crate) extra: Vec<u8>,
    /// Set if a data descriptor with checksum and sizes follows the data. `true` if it begins with the optional
    /// signature.
    pub(crate) descriptor: Option<bool>,
    /// Offset of another entry's data, for an entry that exists only in the central directory.
    pub(crate) shares: Option<u32>,
}

const FLAG_UTF8: u16 = 1 << 11;

pub(crate) fn crc32(content: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    crc.sum()
}

impl ZipEntry {
    pub(crate) fn file(name: &str, content: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        Self { data: encoder.finish().unwrap(), method: 8, ..Self::stored(name, content) }
    }

    pub(crate) fn stored(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            local_name: None,
            data: content.to_vec(),
            flags: FLAG_UTF8,
            method: 0,
            crc: crc32(content),
            size: content.len() as u32,
            local_size: None,
            attributes: 0o100_644 << 16,
            extra: Vec::new(),
            descriptor: None,
            shares: None,
        }
    }

    pub(crate) fn folder(name: &str) -> Self {
        Self { attributes: 0o040_755 << 16 | 0x10, ..Self::stored(name, b"") }
    }

    pub(crate) fn mode(self, mode: u32) -> Self {
        Self { attributes: mode << 16, ..self }
    }

    fn flags(&self) -> u16 {
        self.flags | if self.descriptor.is_some() { 1 << 3 } else { 0 }
    }

    fn header(&self, is_local: bool) -> Vec<u8> {
        let name = self.local_name.as_ref().filter(|_| is_local).unwrap_or(&self.name);
        let mut sizes = [self.crc, self.data.len() as u32, self.size];
        if is_local && self.descriptor.is_some() {
            sizes = [0; 3];
        }
        if let Some(size) = self.local_size.filter(|_| is_local) {
            sizes[2] = size;
        }
        let mut bytes = Vec::new();
        bytes.extend(20_u16.to_le_bytes());
        bytes.extend(self.flags().to_le_bytes());
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(sizes.map(u32::to_le_bytes).concat());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend((self.extra.len() as u16).to_le_bytes());
        if !is_local {
            bytes.extend([0; 6]);
            bytes.extend(self.attributes.to_le_bytes());
            // Placeholder for the offset, which `Zip` fills in.
            bytes.extend([0; 4]);
        }
        bytes.extend(name);
        bytes.extend(&self.extra);
        bytes
    }

    pub(crate) fn local_header(&self) -> Vec<u8> {
        let mut bytes = [b"PK\x03\x04".to_vec(), self.header(true), self.data.clone()].concat();
        if let Some(has_signature) = self.descriptor {
            bytes.extend(if has_signature { &b"PK\x07\x08"[..] } else { b"" });
            bytes.extend([self.crc, self.data.len() as u32, self.size].map(u32::to_le_bytes).concat());
        }
        bytes
    }

    pub(crate) fn central_header(&self, local_at: u32) -> Vec<u8> {
        let mut bytes = [b"PK\x01\x02\x14\x03".to_vec(), self.header(false)].concat();
        bytes[42..46].copy_from_slice(&local_at.to_le_bytes());
        bytes
    }
}

/// A ZIP archive to write, possibly an invalid one.
#[derive(Clone, Default)]
pub(crate) struct Zip {
    pub(crate) entries: Vec<ZipEntry>,
    /// Bytes before the first entry, which the offsets take into account.
    pub(crate) prefix: Vec<u8>,
    /// Bytes between the last entry and the central directory.
    pub(crate) gap: Vec<u8>,
    /// Bytes between the central directory and the end record.
    pub(crate) before_end: Vec<u8>,
    /// Number of entries in the end record, if it is not the actual number.
    pub(crate) count: Option<u16>,
    pub(crate) comment: Vec<u8>,
    /// Bytes at the end of the file.
    pub(crate) suffix: Vec<u8>,
}

impl Zip {
    pub(crate) fn with_entries(entries: impl IntoIterator<Item = ZipEntry>) -> Self {
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn add_entry(mut self, entry: ZipEntry) -> Self {
        self.entries.push(entry);
        self
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.prefix.clone();
        let mut directory = Vec::new();
        for entry in &self.entries {
            directory.extend(entry.central_header(entry.shares.unwrap_or(bytes.len() as u32)));
            if entry.shares.is_none() {
                bytes.extend(entry.local_header());
            }
        }
        bytes.extend(&self.gap);
        let at = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(&self.before_end);
        bytes.extend(end_record(self.count.unwrap_or(self.entries.len() as u16), directory.len() as u32, at));
        let comment_at = bytes.len() - 2;
        bytes[comment_at..].copy_from_slice(&(self.comment.len() as u16).to_le_bytes());
        bytes.extend(&self.comment);
        bytes.extend(&self.suffix);
        bytes
    }
}

/// Returns an end record without a comment, as bytes.
pub(crate) fn end_record(count: u16, directory_size: u32, directory_at: u32) -> Vec<u8> {
    let mut bytes = b"PK\x05\x06\0\0\0\0".to_vec();
    bytes.extend([count, count].map(u16::to_le_bytes).concat());
    bytes.extend([directory_size, directory_at].map(u32::to_le_bytes).concat());
    bytes.extend([0, 0]);
    bytes
}
