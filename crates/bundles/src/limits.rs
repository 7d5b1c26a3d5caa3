//! Limits for bundles. Larger bundles are refused before they use memory or disk space.

/// Maximum size of a bundle file, in bytes.
pub const MAX_ARCHIVE_BYTES: u64 = 512 << 20;
/// Maximum number of files and folders in a bundle.
pub const MAX_ARCHIVE_ENTRIES: usize = 10_000;
/// Maximum unpacked size of one file in a bundle, in bytes.
pub const MAX_UNPACKED_FILE_BYTES: u64 = 256 << 20;
/// Maximum total unpacked size of a bundle, in bytes.
pub const MAX_UNPACKED_BYTES: u64 = 512 << 20;
/// Maximum ratio of the unpacked size to the compressed size, of a file or a bundle.
pub const MAX_COMPRESSION_RATIO: u64 = 200;
/// Minimum unpacked size, in bytes, of files for which [`MAX_COMPRESSION_RATIO`] is checked. A smaller one may be
/// harmless although its ratio is higher, for instance if it consists of a single repeated letter.
pub const MIN_RATIO_CHECK_SIZE: u64 = 1 << 20;
/// Maximum size in bytes of `manifest.json`, and of each file of translations.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// Maximum length of a path in a bundle, in bytes.
pub const MAX_PATH_BYTES: usize = 1024;
/// Maximum length of a file or folder name, in bytes. No common file system allows more.
pub const MAX_PATH_COMPONENT_BYTES: usize = 255;
/// Maximum number of components of a path in a bundle.
pub const MAX_PATH_DEPTH: usize = 64;
/// Maximum size of the central directory, in bytes.
pub const MAX_CENTRAL_DIRECTORY_BYTES: u64 = 32 << 20;
