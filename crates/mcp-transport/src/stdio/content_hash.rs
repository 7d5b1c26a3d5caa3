//! The hash of a launch file's content, of which large files are read once: [`launch_files`](super::launch_files) looks at them several
//! times for each start.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use aws_lc_rs::digest::{Context, SHA256};

/// The bytes that are read at a time.
const PART: usize = 64 * 1024;

/// Opens a file to read it; a pipe without waiting for its writer.
pub(super) fn opened(real: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::fcntl::OFlag::O_NONBLOCK.bits());
    options.open(real)
}

/// The SHA-256 of a file's content in hexadecimal digits. None if it is larger than `most` bytes, no file, or can't be read.
pub(super) fn content_hash(real: &Path, most: u64) -> Option<String> {
    let file = opened(real).ok()?;
    let facts = file.metadata().ok()?;
    // A pipe that was put in its place would have its reader wait.
    if !facts.is_file() || facts.len() > most {
        return None;
    }
    let key = cache::Key::of(&facts);
    if let Some(known) = key.as_ref().and_then(cache::find) {
        return Some(known);
    }
    let hash = hashed(&file, most)?;
    if let Some(key) =
        key.filter(|key| file.metadata().ok().and_then(|facts| cache::Key::of(&facts)).as_ref() == Some(key))
    {
        cache::keep(key, &hash);
    }
    Some(hash)
}

/// Reads the whole file. It may grow meanwhile.
fn hashed(file: &File, most: u64) -> Option<String> {
    let (mut context, mut read, mut part) = (Context::new(&SHA256), 0_u64, vec![0; PART]);
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

/// Hashes by what the system says of a file. The status change time is part of that, which no program can set. A write through a
/// mapping that was there before may move it only when the system writes the page out, seconds later; whoever can do that can as
/// well write after any check.
#[cfg(unix)]
mod cache {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::VecDeque;

    /// The most files that are remembered; those that were read first are forgotten first.
    const KEPT: usize = 256;
    /// File systems count time in steps: what was changed so short a while ago may change again with the same time.
    const SETTLED: Duration = Duration::from_secs(2);

    static HASHES: Mutex<VecDeque<(Key, String)>> = Mutex::new(VecDeque::new());

    /// Tells one state of one file from all others.
    #[derive(PartialEq, Eq)]
    pub(super) struct Key {
        place: (u64, u64),
        bytes: u64,
        modified: (i64, i64),
        status_changed: (i64, i64),
    }

    impl Key {
        /// None if the file was changed a moment ago.
        pub(super) fn of(facts: &Metadata) -> Option<Key> {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let settled = since.checked_sub(SETTLED)?.as_secs();
            let key = Key {
                place: (facts.dev(), facts.ino()),
                bytes: facts.size(),
                modified: (facts.mtime(), facts.mtime_nsec()),
                status_changed: (facts.ctime(), facts.ctime_nsec()),
            };
            u64::try_from(facts.ctime()).is_ok_and(|changed| changed < settled).then_some(key)
        }
    }

    fn hashes() -> MutexGuard<'static, VecDeque<(Key, String)>> {
        HASHES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(key: &Key) -> Option<String> {
        hashes().iter().find(|(known, _)| known == key).map(|(_, hash)| hash.clone())
    }

    pub(super) fn keep(key: Key, hash: &str) {
        let mut hashes = hashes();
        hashes.retain(|(known, _)| known.place != key.place);
        if hashes.len() >= KEPT {
            hashes.pop_front();
        }
        hashes.push_back((key, hash.to_owned()));
    }
}

/// Without a status change time a program can hide that it wrote to a file, so nothing is remembered.
#[cfg(not(unix))]
mod cache {
    #[derive(PartialEq, Eq)]
    pub(super) enum Key {}

    impl Key {
        pub(super) const fn of(_: &std::fs::Metadata) -> Option<Key> {
            None
        }
    }

    pub(super) fn find(key: &Key) -> Option<String> {
        match *key {}
    }

    pub(super) fn keep(key: Key, _: &str) {
        match key {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::{Duration, Instant, SystemTime};

    use super::*;

    fn sha256(bytes: &[u8]) -> String {
        aws_lc_rs::digest::digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The system's status change time can't be set, so a file has to become as old as is needed.
    fn settle(file: &Path) {
        let start = Instant::now();
        while cache::Key::of(&file.metadata().unwrap()).is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "it settles");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[test]
    fn s06_a_file_is_read_once_and_again_when_it_changed_whatever_its_dates_say() {
        let ground = tempfile::tempdir().unwrap();
        let file = ground.path().join("program");
        std::fs::write(&file, "one").unwrap();
        assert!(cache::Key::of(&file.metadata().unwrap()).is_none(), "what is new is not remembered");
        settle(&file);
        let first = content_hash(&file, 10).unwrap();
        let key = || cache::Key::of(&file.metadata().unwrap());
        assert_eq!(key().as_ref().and_then(cache::find), Some(first.clone()), "then it is");
        let modified = file.metadata().unwrap().modified().unwrap();
        std::fs::write(&file, "two").unwrap();
        let times = std::fs::FileTimes::new().set_modified(modified).set_accessed(SystemTime::now());
        File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
        assert_eq!(file.metadata().unwrap().modified().unwrap(), modified, "the date is forged");
        let second = content_hash(&file, 10).unwrap();
        assert_ne!(second, first, "it is read anew at once");
        settle(&file);
        assert_eq!(content_hash(&file, 10), Some(second), "and later");
    }

    #[test]
    fn a_file_that_is_too_large_has_no_hash() {
        let ground = tempfile::tempdir().unwrap();
        let file = ground.path().join("program");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(content_hash(&file, 9), None, "one byte too much");
        assert_eq!(content_hash(&file, 10), Some(sha256(b"0123456789")), "all of it counts");
        let large = vec![7; PART * 2 + 1];
        std::fs::write(&file, &large).unwrap();
        assert_eq!(content_hash(&file, u64::MAX - 1), Some(sha256(&large)), "in several parts");
    }
}
