//! Unpacks the data of an entry, bounded by its declared size.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::{ArchiveFile, ArchiveRefusal};
use crate::BundleError;

const COPY_BUFFER_BYTES: usize = 64 << 10;

/// Unpacks an entry to `sink`. Fails as soon as the content exceeds the size that the central directory declares.
pub(super) fn unpack_entry(file: &File, entry: &ArchiveFile, sink: &mut dyn Write) -> Result<(), BundleError> {
    let packed = BufReader::with_capacity(COPY_BUFFER_BYTES, FileRange { file, at: entry.data_at, left: entry.packed });
    if entry.is_deflated {
        let mut data = DeflateDecoder::new(packed);
        copy_and_verify(&mut data, entry, sink)?;
        let is_used_up = data.total_in() == entry.packed;
        if is_used_up { Ok(()) } else { Err(ArchiveRefusal::SizeDiffers(entry.path.clone()).into()) }
    } else {
        copy_and_verify(&mut { packed }, entry, sink)
    }
}

fn copy_and_verify(data: &mut dyn Read, entry: &ArchiveFile, sink: &mut dyn Write) -> Result<(), BundleError> {
    let mut buffer = vec![0; COPY_BUFFER_BYTES];
    let (mut size, mut crc) = (0, Crc::new());
    loop {
        let read = match data.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) if is_deflate_error(&cause) => return Err(ArchiveRefusal::Damaged(entry.path.clone()).into()),
            Err(cause) => return Err(BundleError::io("the bundle can't be read", cause)),
        };
        size += read as u64;
        if size > entry.size {
            return Err(ArchiveRefusal::SizeDiffers(entry.path.clone()).into());
        }
        crc.update(&buffer[..read]);
        sink.write_all(&buffer[..read]).map_err(|cause| BundleError::io("a file can't be written", cause))?;
    }
    if size != entry.size {
        return Err(ArchiveRefusal::SizeDiffers(entry.path.clone()).into());
    }
    if crc.sum() == entry.crc { Ok(()) } else { Err(ArchiveRefusal::Checksum(entry.path.clone()).into()) }
}

fn is_deflate_error(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Reader of the bytes `at..at + left` of a file.
struct FileRange<'f> {
    file: &'f File,
    at: u64,
    left: u64,
}

impl Read for FileRange<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if length == 0 {
            return Ok(0);
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let read = self.file.read(&mut buffer[..length])?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}
