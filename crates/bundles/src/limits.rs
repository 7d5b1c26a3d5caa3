//! The bounds within which bundles are read. What goes beyond them is refused before memory or disk is spent on it.

/// The largest bundle file, in bytes.
pub const MAX_ARCHIVE: u64 = 512 << 20;
/// The most files and folders in a bundle.
pub const MAX_ENTRIES: usize = 10_000;
/// The largest file in a bundle, in bytes.
pub const MAX_FILE: u64 = 256 << 20;
/// The most that a bundle unpacks to, in bytes.
pub const MAX_UNPACKED: u64 = 512 << 20;
/// How many times larger than its packed form a file or a bundle may be.
pub const MAX_RATIO: u64 = 200;
/// The size in bytes from which [`MAX_RATIO`] counts; smaller files may consist of one letter.
pub const RATIO_FROM: u64 = 1 << 20;
/// The largest `manifest.json`, and the largest file of translations, in bytes.
pub const MAX_MANIFEST: u64 = 1 << 20;
/// The longest path in a bundle, in bytes.
pub const MAX_PATH: usize = 1024;
/// The longest name of a file or folder, in bytes. No usual file system takes more.
pub const MAX_NAME: usize = 255;
/// The most folders around a file.
pub const MAX_DEPTH: usize = 64;
/// The largest central directory, in bytes.
pub const MAX_DIRECTORY: u64 = 32 << 20;
