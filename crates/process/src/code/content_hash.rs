//! Hash of the content of a file that decides what a command runs. [`launch_files`](super::launch_files) hashes each
//! such file several times per start. Small files are read each time. For a large file, the hash is cached and used
//! again as long as the file's metadata prove that the file is unchanged.

#[cfg(target_os = "linux")]
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use aws_lc_rs::digest::{Context, SHA256};

use crate::open_file::open_without_blocking;

/// Size of the read buffer, in bytes.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Maximum size, in bytes, of a file that is hashed each time, because that takes no longer than checking if it
/// changed.
const MAX_UNCACHED_FILE_BYTES: u64 = 64 * 1024;

/// Returns the SHA-256 of a file's content in hexadecimal digits, or `None` if the file is larger than `most` bytes,
/// not a regular file, or unreadable.
pub(super) fn content_hash(real: &Path, most: u64) -> Option<String> {
    let file = open_without_blocking(real).ok()?;
    let facts = file.metadata().ok()?;
    // The file may have been replaced by a pipe, and reading a pipe would block.
    if !facts.is_file() || facts.len() > most {
        return None;
    }
    if facts.len() <= MAX_UNCACHED_FILE_BYTES {
        return hash_file(&file, most);
    }
    let key = cache::FileFingerprint::from_metadata(&facts);
    if let Some(known) = key.as_ref().and_then(cache::find_cached) {
        return Some(known);
    }
    // Checked before the read, because a later write changes the file's times.
    let key = key.filter(|_| cache::has_no_writers(&file));
    let hash = hash_file(&file, most)?;
    if let Some(key) = key.filter(|key| {
        file.metadata().ok().and_then(|facts| cache::FileFingerprint::from_metadata(&facts)).as_ref() == Some(key)
    }) {
        cache::cache_hash(key, &hash);
    }
    Some(hash)
}

/// Hashes the whole file, or returns `None` on an error or if it grows beyond `most` bytes meanwhile.
fn hash_file(file: &File, most: u64) -> Option<String> {
    let (mut context, mut read, mut part) = (Context::new(&SHA256), 0_u64, vec![0; READ_BUFFER_BYTES]);
    let mut file = file.take(most + 1);
    loop {
        match file.read(&mut part) {
            Ok(0) => break,
            Ok(bytes) => {
                read += bytes as u64;
                context.update(part.get(..bytes)?);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    (read <= most).then(|| context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Cache of hashes, keyed by file metadata. No program can set the status change time. But a write through a shared
/// mapping updates it only if it is the first write to its page since the page was written back. So a hash is cached
/// only if no process has the file open for writing when it is read: each later mapping begins with a write that
/// updates the time.
#[cfg(target_os = "linux")]
mod cache {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::VecDeque;
    pub(super) use crate::platform::has_no_writers;

    /// Maximum number of cached hashes of files. The oldest hash is evicted first.
    const MAX_CACHED_HASHES: usize = 256;
    /// Minimum age of the last change of a file whose hash is cached. Timestamps have a coarse resolution, so a file
    /// that was changed more recently may change again within the same timestamp.
    const MIN_CACHEABLE_FILE_AGE: Duration = Duration::from_secs(2);

    static HASH_CACHE: Mutex<VecDeque<(FileFingerprint, String)>> = Mutex::new(VecDeque::new());

    /// Metadata that identify a file and the state of its content. Key of the file's hash in the cache.
    #[derive(PartialEq, Eq)]
    pub(super) struct FileFingerprint {
        place: (u64, u64),
        bytes: u64,
        modified: (i64, i64),
        status_changed: (i64, i64),
    }

    impl FileFingerprint {
        /// Returns the fingerprint of a file with this metadata, or `None` if the file was changed within the last
        /// [`MIN_CACHEABLE_FILE_AGE`].
        pub(super) fn from_metadata(facts: &Metadata) -> Option<FileFingerprint> {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let settled = since.checked_sub(MIN_CACHEABLE_FILE_AGE)?.as_secs();
            let key = FileFingerprint {
                place: (facts.dev(), facts.ino()),
                bytes: facts.size(),
                modified: (facts.mtime(), facts.mtime_nsec()),
                status_changed: (facts.ctime(), facts.ctime_nsec()),
            };
            u64::try_from(facts.ctime()).is_ok_and(|changed| changed < settled).then_some(key)
        }
    }

    fn lock_hash_cache() -> MutexGuard<'static, VecDeque<(FileFingerprint, String)>> {
        HASH_CACHE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find_cached(key: &FileFingerprint) -> Option<String> {
        lock_hash_cache().iter().find(|(known, _)| known == key).map(|(_, hash)| hash.clone())
    }

    pub(super) fn cache_hash(key: FileFingerprint, hash: &str) {
        let mut hashes = lock_hash_cache();
        hashes.retain(|(known, _)| known.place != key.place);
        if hashes.len() >= MAX_CACHED_HASHES {
            hashes.pop_front();
        }
        hashes.push_back((key, hash.to_owned()));
    }
}

/// Replacement without a cache, for systems without a status change time or leases: a program could hide a write to a
/// file.
#[cfg(not(target_os = "linux"))]
mod cache {
    #[derive(PartialEq, Eq)]
    pub(super) enum FileFingerprint {}

    impl FileFingerprint {
        pub(super) const fn from_metadata(_: &std::fs::Metadata) -> Option<FileFingerprint> {
            None
        }
    }

    pub(super) const fn has_no_writers(_: &std::fs::File) -> bool {
        false
    }

    pub(super) fn find_cached(key: &FileFingerprint) -> Option<String> {
        match *key {}
    }

    pub(super) fn cache_hash(key: FileFingerprint, _: &str) {
        match key {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, unsafe_code)]

    use std::os::fd::AsRawFd as _;
    use std::time::{Duration, Instant, SystemTime};

    use nix::libc;

    use super::*;

    fn sha256(bytes: &[u8]) -> String {
        aws_lc_rs::digest::digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Waits until the last change of the file is old enough for the cache. A test can't set the status change time.
    fn wait_until_hash_is_cacheable(file: &Path) {
        let start = Instant::now();
        while cache::FileFingerprint::from_metadata(&file.metadata().unwrap()).is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "the file must become old enough for the cache");
            // sleep: polls the file's age, since no event reports it.
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A shared memory mapping of a file, through which the file is changed without a system call.
    struct SharedMapping {
        start: *mut u8,
        bytes: usize,
    }

    impl SharedMapping {
        fn map_file(file: &Path) -> Self {
            let file = File::options().read(true).write(true).open(file).unwrap();
            let bytes = usize::try_from(file.metadata().unwrap().len()).unwrap();
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: the kernel chooses the address of the mapping.
            let start =
                unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
            assert_ne!(start, libc::MAP_FAILED, "the file can be mapped");
            Self { start: start.cast(), bytes }
        }

        fn write(&self, byte: u8) {
            // SAFETY: the mapping is larger than one byte and valid until it is dropped.
            unsafe { self.start.write_volatile(byte) };
        }
    }

    impl Drop for SharedMapping {
        fn drop(&mut self) {
            // SAFETY: `start` and `bytes` are those of the mapping, and no reference to it remains.
            unsafe { libc::munmap(self.start.cast(), self.bytes) };
        }
    }

    #[test]
    fn s06_write_through_a_mapping_is_detected_with_unchanged_times() {
        let ground = tempfile::tempdir().unwrap();
        for bytes in [100, usize::try_from(MAX_UNCACHED_FILE_BYTES).unwrap() + 1] {
            let file = ground.path().join(bytes.to_string());
            std::fs::write(&file, vec![b'a'; bytes]).unwrap();
            let mapping = SharedMapping::map_file(&file);
            mapping.write(b'b');
            wait_until_hash_is_cacheable(&file);
            let first = content_hash(&file, u64::MAX - 1).unwrap();
            let key = || cache::FileFingerprint::from_metadata(&file.metadata().unwrap());
            assert!(
                key().as_ref().and_then(cache::find_cached).is_none(),
                "the hash of a mapped file must not be cached"
            );
            mapping.write(b'c');
            let second = content_hash(&file, u64::MAX - 1).unwrap();
            assert_ne!(second, first, "a file of {bytes} bytes must be read again");
            assert_eq!(second, sha256(&std::fs::read(&file).unwrap()), "the hash must match the current content");
        }
    }

    #[test]
    fn s06_large_file_is_read_once_and_again_after_a_change_with_equal_times() {
        let ground = tempfile::tempdir().unwrap();
        let file = ground.path().join("program");
        let large = |byte: u8| vec![byte; usize::try_from(MAX_UNCACHED_FILE_BYTES).unwrap() + 1];
        std::fs::write(&file, large(1)).unwrap();
        assert!(
            cache::FileFingerprint::from_metadata(&file.metadata().unwrap()).is_none(),
            "the hash of a new file must not be cached"
        );
        wait_until_hash_is_cacheable(&file);
        let most = u64::MAX - 1;
        let first = content_hash(&file, most).unwrap();
        let key = || cache::FileFingerprint::from_metadata(&file.metadata().unwrap());
        if cache::has_no_writers(&File::open(&file).unwrap()) {
            assert_eq!(
                key().as_ref().and_then(cache::find_cached),
                Some(first.clone()),
                "the hash of a settled file must be cached"
            );
        }
        let modified = file.metadata().unwrap().modified().unwrap();
        std::fs::write(&file, large(2)).unwrap();
        let times = std::fs::FileTimes::new().set_modified(modified).set_accessed(SystemTime::now());
        File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
        assert_eq!(file.metadata().unwrap().modified().unwrap(), modified, "the modification time must be restored");
        let second = content_hash(&file, most).unwrap();
        assert_ne!(second, first, "the changed file must be read again immediately");
        wait_until_hash_is_cacheable(&file);
        assert_eq!(content_hash(&file, most), Some(second), "the hash must stay the same once the file has settled");
    }

    #[test]
    fn file_above_the_size_limit_has_no_hash() {
        let ground = tempfile::tempdir().unwrap();
        let file = ground.path().join("program");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(content_hash(&file, 9), None, "a file beyond the limit must not be hashed");
        assert_eq!(content_hash(&file, 10), Some(sha256(b"0123456789")), "a file of exactly the limit must be hashed");
        let large = vec![7; READ_BUFFER_BYTES * 2 + 1];
        std::fs::write(&file, &large).unwrap();
        assert_eq!(
            content_hash(&file, u64::MAX - 1),
            Some(sha256(&large)),
            "a file larger than the buffer must be hashed"
        );
    }
}
