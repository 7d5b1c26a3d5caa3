//! The reasons for refusing a bundle.

use foreign::visible;

use crate::limits::{MAX_ARCHIVE, MAX_ENTRIES, MAX_FILE, MAX_RATIO, MAX_UNPACKED};

/// The reason why an archive is not read or unpacked. The texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveRefusal {
    /// The file doesn't end like a ZIP archive.
    #[error("this is not a ZIP archive, or its end is missing")]
    NotAZip,
    /// The file is too large.
    #[error("the file is larger than {} MB", MAX_ARCHIVE >> 20)]
    ArchiveTooLarge,
    /// The archive is followed by data that is not a signature.
    #[error("there is data behind the end of the archive")]
    TrailingData,
    /// The archive has a comment that is not a signature.
    #[error("the archive has a comment, which a bundle has no use for")]
    Comment,
    /// The archive has ZIP64 records, which nothing within the limits needs.
    #[error("the archive uses ZIP64, which no bundle within the limits needs")]
    Zip64,
    /// The archive is split into several parts.
    #[error("the archive is split into several parts")]
    SeveralDisks,
    /// The archive has too many entries.
    #[error("there are more than {MAX_ENTRIES} files and folders")]
    TooManyEntries,
    /// The central directory contradicts the end record in position, length or number of entries.
    #[error("the archive's directory does not match its end record")]
    Directory,
    /// Some bytes belong to no entry: before the first one, between two, or before the directory.
    #[error("{bytes} bytes at {at} belong to no file of the directory")]
    HiddenData {
        /// Offset of the bytes.
        at: u64,
        /// Number of the hidden bytes.
        bytes: u64,
    },
    /// Two entries of the archive overlap.
    #[error("{} overlaps with another file", displayed_path(.0))]
    Overlap(String),
    /// The local header contradicts the directory.
    #[error("{}: the header before the data differs from the directory", displayed_path(.0))]
    HeadersDiffer(String),
    /// An extra field contains a second name, under which other programs would unpack the entry.
    #[error("{} has a second name in an extra field", displayed_path(.0))]
    OtherName(String),
    /// The entry is encrypted.
    #[error("{} is encrypted", displayed_path(.0))]
    Encrypted(String),
    /// The compression method is neither stored nor deflate.
    #[error("{} is packed by method {method}; only stored and deflate are read", displayed_path(.path))]
    Method {
        /// Path of the entry.
        path: String,
        /// Number of the compression method.
        method: u16,
    },
    /// The path can't be unpacked safely.
    #[error("{}: {problem}", displayed_path(.path))]
    Path {
        /// Path of the entry.
        path: String,
        /// Problem with the path.
        problem: PathProblem,
    },
    /// The entry is a link, a device or another special file.
    #[error("{} is a link, a device or another special file", displayed_path(.0))]
    Special(String),
    /// The file has a set-user-ID or set-group-ID bit.
    #[error("{} would run with the rights of its owner or group", displayed_path(.0))]
    SetUserId(String),
    /// A folder has content, or the name and the attributes disagree about the kind of the entry.
    #[error("{} is a file by its name and a folder by its attributes, or the other way round", displayed_path(.0))]
    KindDiffers(String),
    /// Two entries have the same path.
    #[error("{} is there twice", displayed_path(.0))]
    Duplicate(String),
    /// Two paths are equal on some systems.
    #[error("{} and {} are the same on some systems", displayed_path(.0), displayed_path(.1))]
    Twins(String, String),
    /// A path is both a file and a folder.
    #[error("{} is a file and a folder", displayed_path(.0))]
    FileAndFolder(String),
    /// A file is too large.
    #[error("{} is larger than {} MB", displayed_path(.0), MAX_FILE >> 20)]
    FileTooLarge(String),
    /// The total unpacked size is too large.
    #[error("the bundle unpacks to more than {} MB", MAX_UNPACKED >> 20)]
    UnpackedTooLarge,
    /// The compression ratio of a file is implausibly high.
    #[error("{} is packed to less than one {MAX_RATIO}th of its size", displayed_path(.0))]
    Ratio(String),
    /// The compression ratio of the bundle is implausibly high.
    #[error("the bundle is packed to less than one {MAX_RATIO}th of its size")]
    RatioOfAll,
    /// The data unpacks to another size than declared, or is followed by unused data.
    #[error("{} unpacks to a different size than the directory records", displayed_path(.0))]
    SizeDiffers(String),
    /// The data can't be unpacked.
    #[error("the data of {} is damaged", displayed_path(.0))]
    Damaged(String),
    /// The checksum is wrong.
    #[error("the checksum of {} is wrong", displayed_path(.0))]
    Checksum(String),
    /// The requested file doesn't exist.
    #[error("there is no file {}", displayed_path(.0))]
    NoFile(String),
}

/// The problem with a path in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The path or a part of it is empty.
    #[error("a part of the path is empty")]
    Empty,
    /// The path is too long or too deep.
    #[error("the path is too long or too deep")]
    TooLong,
    /// The path is not UTF-8, or not marked as UTF-8.
    #[error("the path is not in UTF-8")]
    NotUtf8,
    /// The path is absolute.
    #[error("the path is absolute")]
    Absolute,
    /// The path contains a backslash, which is a separator on Windows.
    #[error("the path has a backslash")]
    Backslash,
    /// The path contains a part `.` or `..`.
    #[error("the path has a part . or ..")]
    Dots,
    /// The path contains a colon, which marks drives and streams on Windows.
    #[error("the path has a colon")]
    Colon,
    /// The path contains control characters.
    #[error("the path has control characters")]
    Control,
    /// The path contains a device name of Windows.
    #[error("the path has a name that Windows reserves")]
    Reserved,
    /// A part ends with a dot or a space, which Windows drops.
    #[error("a part of the path ends with a dot or a space")]
    TrailingDotOrSpace,
}

/// Returns a path for a message, truncated to 200 characters.
fn displayed_path(path: &str) -> String {
    let mut text: String = visible(path).chars().take(200).collect();
    if path.chars().count() > 200 {
        text.push('…');
    }
    text
}
