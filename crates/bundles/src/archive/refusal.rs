//! Reasons for refusing an archive or a path in it.

use foreign::escape_invisible;

use crate::limits::{
    MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES, MAX_COMPRESSION_RATIO, MAX_UNPACKED_BYTES, MAX_UNPACKED_FILE_BYTES,
};

/// Reason why an archive is not opened or unpacked. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveRefusal {
    /// The file doesn't end with the records of a ZIP archive.
    #[error("this is not a ZIP archive, or its end is missing")]
    NotAZip,
    /// The archive file is larger than the limit.
    #[error("the file is larger than {} MB", MAX_ARCHIVE_BYTES >> 20)]
    ArchiveTooLarge,
    /// The archive is followed by data that is not a signature.
    #[error("there is data after the end of the archive")]
    TrailingData,
    /// The archive has a ZIP comment that is not a signature.
    #[error("the archive has a comment, which a bundle has no use for")]
    Comment,
    /// The archive has ZIP64 records, which nothing within the limits needs.
    #[error("the archive uses ZIP64, which no bundle within the limits needs")]
    Zip64,
    /// The archive is split into several parts.
    #[error("the archive is split into several parts")]
    SeveralDisks,
    /// The archive has more entries than the limit.
    #[error("there are more than {MAX_ARCHIVE_ENTRIES} files and folders")]
    TooManyEntries,
    /// The end record contains a wrong position, size or number of entries of the central directory.
    #[error("the archive's directory does not match its end record")]
    Directory,
    /// Some bytes of the file belong to no entry and no record.
    #[error("{bytes} bytes at {at} belong to no file of the directory")]
    HiddenData {
        /// Offset of the first hidden byte in the file.
        at: u64,
        /// Number of consecutive hidden bytes from this offset.
        bytes: u64,
    },
    /// The data of this entry overlaps with that of another.
    #[error("{} overlaps with another file", displayed_path(.0))]
    Overlap(String),
    /// The local header of this entry differs from its header in the central directory.
    #[error("{}: the header before the data differs from the directory", displayed_path(.0))]
    HeadersDiffer(String),
    /// This entry has a second name in an extra field. Some programs would unpack the entry under that name.
    #[error("{} has a second name in an extra field", displayed_path(.0))]
    SecondName(String),
    /// This entry is encrypted, as a flag in its header states.
    #[error("{} is encrypted", displayed_path(.0))]
    Encrypted(String),
    /// The compression method of an entry is neither stored nor deflate.
    #[error("{} is packed by method {method}; only stored and deflate are read", displayed_path(.path))]
    Method {
        /// Path of the compressed entry in the archive.
        path: String,
        /// Number of the entry's compression method in the ZIP specification.
        method: u16,
    },
    /// The path of an entry must not be unpacked.
    #[error("{}: {problem}", displayed_path(.path))]
    Path {
        /// Path of the entry, as written in the archive.
        path: String,
        /// Reason for which the path is not allowed.
        problem: PathProblem,
    },
    /// This entry is a link, a device or another special file.
    #[error("{} is a link, a device or another special file", displayed_path(.0))]
    SpecialFile(String),
    /// This file has a set-user-ID or set-group-ID bit.
    #[error("{} would run with the rights of its owner or group", displayed_path(.0))]
    SetUserId(String),
    /// This entry is a folder with content, or its name and attributes disagree about its kind.
    #[error("{} is a file by its name and a folder by its attributes, or the other way round", displayed_path(.0))]
    KindDiffers(String),
    /// Two entries of the archive have this path.
    #[error("{} occurs twice", displayed_path(.0))]
    Duplicate(String),
    /// These two paths are the same on some file systems.
    #[error("{} and {} are the same on some systems", displayed_path(.0), displayed_path(.1))]
    EquivalentPaths(String, String),
    /// This path is used for both a file and a folder.
    #[error("{} is a file and a folder", displayed_path(.0))]
    FileAndFolder(String),
    /// This file is larger than the limit.
    #[error("{} is larger than {} MB", displayed_path(.0), MAX_UNPACKED_FILE_BYTES >> 20)]
    FileTooLarge(String),
    /// The total unpacked size of the archive is larger than the limit.
    #[error("the bundle unpacks to more than {} MB", MAX_UNPACKED_BYTES >> 20)]
    UnpackedTooLarge,
    /// The compression ratio of this file is higher than
    /// [`MAX_COMPRESSION_RATIO`](crate::limits::MAX_COMPRESSION_RATIO).
    #[error("{} is packed to less than one {MAX_COMPRESSION_RATIO}th of its size", displayed_path(.0))]
    Ratio(String),
    /// The compression ratio of the whole archive is higher than
    /// [`MAX_COMPRESSION_RATIO`](crate::limits::MAX_COMPRESSION_RATIO).
    #[error("the bundle is packed to less than one {MAX_COMPRESSION_RATIO}th of its size")]
    TotalRatio,
    /// The unpacked size of this file differs from the declared one, or bytes remain after its compressed data.
    #[error("{} unpacks to a different size than the directory records", displayed_path(.0))]
    SizeDiffers(String),
    /// The data of this file can't be unpacked.
    #[error("the data of {} is damaged", displayed_path(.0))]
    Damaged(String),
    /// The content of this file has another checksum than declared.
    #[error("the checksum of {} is wrong", displayed_path(.0))]
    Checksum(String),
    /// The archive has no file with this path.
    #[error("there is no file {}", displayed_path(.0))]
    MissingFile(String),
}

/// Reason why the path of an archive entry is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The path of the entry, or one of the path's components, is empty.
    #[error("a part of the path is empty")]
    Empty,
    /// The path of the entry is too long, or has too many components.
    #[error("the path is too long or too deep")]
    TooLong,
    /// The path of the entry is not UTF-8, or has non-ASCII characters although the entry's flags don't declare UTF-8.
    #[error("the path is not in UTF-8")]
    NotUtf8,
    /// The path of the entry is absolute, such as `/etc/passwd`.
    #[error("the path is absolute")]
    Absolute,
    /// The path of the entry contains a backslash, which is a separator on Windows.
    #[error("the path has a backslash")]
    Backslash,
    /// The path of the entry contains a component `.` or `..`.
    #[error("the path has a part . or ..")]
    Dots,
    /// The path of the entry contains a colon, which marks drives and streams on Windows.
    #[error("the path has a colon")]
    Colon,
    /// The path of the entry contains control characters.
    #[error("the path has control characters")]
    Control,
    /// The path of the entry contains a device name of Windows.
    #[error("the path has a name that Windows reserves")]
    Reserved,
    /// A component of the entry's path ends with a dot or a space, which Windows removes.
    #[error("a part of the path ends with a dot or a space")]
    TrailingDotOrSpace,
}

/// Returns a path for display in a message, escaped and truncated to 200 characters.
fn displayed_path(path: &str) -> String {
    let mut text: String = escape_invisible(path).chars().take(200).collect();
    if path.chars().count() > 200 {
        text.push('…');
    }
    text
}
