//! Why a bundle is refused.

use foreign::visible;

use crate::limits::{MAX_ARCHIVE, MAX_ENTRIES, MAX_FILE, MAX_RATIO, MAX_UNPACKED};

/// The reason why an archive is not read or not unpacked. The texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not end as a ZIP archive does.
    #[error("this is not a ZIP archive, or its end is missing")]
    NotAZip,
    /// The file is too large.
    #[error("the file is larger than {} MB", MAX_ARCHIVE >> 20)]
    ArchiveTooLarge,
    /// Something follows the archive that is not a signature.
    #[error("there is data behind the end of the archive")]
    TrailingData,
    /// It has a comment that is not a signature.
    #[error("the archive has a comment, which a bundle has no use for")]
    Comment,
    /// It has ZIP64 records, which nothing below the limits needs.
    #[error("the archive uses ZIP64, which no bundle within the limits needs")]
    Zip64,
    /// It is a part of an archive.
    #[error("the archive is split into several parts")]
    SeveralDisks,
    /// It has too many entries.
    #[error("there are more than {MAX_ENTRIES} files and folders")]
    TooManyEntries,
    /// The central directory is not where, as long, or of as many entries as the end says.
    #[error("the archive's directory is not what its end says")]
    Directory,
    /// Bytes that belong to no entry: before the first, between two, or before the directory.
    #[error("{bytes} bytes at {at} belong to no file of the directory")]
    HiddenData {
        /// Where they begin.
        at: u64,
        /// How many they are.
        bytes: u64,
    },
    /// Two entries share bytes.
    #[error("{} overlaps with another file", shown(.0))]
    Overlap(String),
    /// The header before the data says something else than the directory.
    #[error("{}: the header before the data differs from the directory", shown(.0))]
    HeadersDiffer(String),
    /// An extra field has a second name, under which other programs would unpack it.
    #[error("{} has a second name in an extra field", shown(.0))]
    OtherName(String),
    /// It is encrypted.
    #[error("{} is encrypted", shown(.0))]
    Encrypted(String),
    /// It is packed in a way other than stored or deflate.
    #[error("{} is packed by method {method}; only stored and deflate are read", shown(.path))]
    Method {
        /// The path.
        path: String,
        /// The number of the method.
        method: u16,
    },
    /// The path can't be unpacked safely.
    #[error("{}: {problem}", shown(.path))]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: PathProblem,
    },
    /// It is a link, a device or another special file.
    #[error("{} is a link, a device or another special file", shown(.0))]
    Special(String),
    /// It would run with the rights of its owner or group.
    #[error("{} would run with the rights of its owner or group", shown(.0))]
    SetUserId(String),
    /// A folder has content of its own, or its kind contradicts its name.
    #[error("{} is a file by its name and a folder by its attributes, or the other way round", shown(.0))]
    KindDiffers(String),
    /// A path is there twice.
    #[error("{} is there twice", shown(.0))]
    Duplicate(String),
    /// Two paths are one on some systems.
    #[error("{} and {} are the same on some systems", shown(.0), shown(.1))]
    Twins(String, String),
    /// A path is a file and a folder.
    #[error("{} is a file and a folder", shown(.0))]
    FileAndFolder(String),
    /// A file is too large.
    #[error("{} is larger than {} MB", shown(.0), MAX_FILE >> 20)]
    FileTooLarge(String),
    /// All files together are too large.
    #[error("the bundle unpacks to more than {} MB", MAX_UNPACKED >> 20)]
    UnpackedTooLarge,
    /// A file is packed too tightly to be meant.
    #[error("{} is packed to less than one {MAX_RATIO}th of its size", shown(.0))]
    Ratio(String),
    /// The bundle is packed too tightly to be meant.
    #[error("the bundle is packed to less than one {MAX_RATIO}th of its size")]
    RatioOfAll,
    /// The data unpacks to another size than the directory says, or is not used up.
    #[error("{} unpacks to another size than the directory says", shown(.0))]
    SizeDiffers(String),
    /// The data can't be unpacked.
    #[error("the data of {} is damaged", shown(.0))]
    Damaged(String),
    /// The checksum is another.
    #[error("the checksum of {} is wrong", shown(.0))]
    Checksum(String),
    /// A file that was asked for is not there.
    #[error("there is no file {}", shown(.0))]
    NoFile(String),
}

/// What is wrong with a path in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// It is empty or has an empty part.
    #[error("a part of the path is empty")]
    Empty,
    /// It is too long or too deep.
    #[error("the path is too long or too deep")]
    TooLong,
    /// It is not UTF-8, or is not marked as such.
    #[error("the path is not in UTF-8")]
    NotUtf8,
    /// It begins at the root.
    #[error("the path is absolute")]
    Absolute,
    /// It has a backslash, which is a separator on Windows.
    #[error("the path has a backslash")]
    Backslash,
    /// It leads out of its folder, or stays where it is.
    #[error("the path has a part . or ..")]
    Dots,
    /// It has a colon, as drives and streams on Windows have.
    #[error("the path has a colon")]
    Colon,
    /// It has control characters.
    #[error("the path has control characters")]
    Control,
    /// It is a device on Windows.
    #[error("the path has a name that Windows reserves")]
    Reserved,
    /// A part ends with a dot or a space, which Windows drops.
    #[error("a part of the path ends with a dot or a space")]
    TrailingDotOrSpace,
}

/// A path for a message, no longer than a line or two.
fn shown(path: &str) -> String {
    let mut text: String = visible(path).chars().take(200).collect();
    if path.chars().count() > 200 {
        text.push('…');
    }
    text
}
