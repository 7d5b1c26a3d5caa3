//! Resolution of symbolic links in paths, for rules that match paths. Paths are provided by models and servers, and may
//! be on a file system that doesn't respond. Therefore they are resolved on separate threads, with a short timeout.
//! Used by `host/src/owner/path_links.rs`.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Maximum time to resolve the links in all paths of one tool call.
const RESOLVE_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of threads that resolve links concurrently. While all of them hang, further paths are not resolved.
const MAX_RESOLVING_THREADS: usize = 4;
/// Maximum length, in bytes, of a path whose links are resolved.
const MAX_PATH_BYTES: usize = 4_096;

static RESOLVING_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Permit to run one thread that resolves links. Released on drop.
struct ResolvingThreadPermit;

impl ResolvingThreadPermit {
    fn try_acquire() -> Option<Self> {
        let more = |now: usize| (now < MAX_RESOLVING_THREADS).then_some(now + 1);
        RESOLVING_THREADS.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self)
    }
}

impl Drop for ResolvingThreadPermit {
    fn drop(&mut self) {
        RESOLVING_THREADS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Map from a path to the same path with all symbolic links resolved, or to `None` if it can't be resolved.
pub type LinkTargets = HashMap<String, Option<String>>;

/// Resolves the symbolic links in these paths on separate threads. Paths that are not resolved within
/// half a second are missing in the result.
pub async fn resolve_links(paths: BTreeSet<String>) -> LinkTargets {
    let following = tokio::task::spawn_blocking(move || {
        resolve_path_links(&paths.iter().map(String::as_str).collect(), RESOLVE_TIMEOUT, resolve_path)
    });
    following.await.unwrap_or_default()
}

/// Resolves the symbolic links in each path by calling `follow` on a separate thread. Paths that are not resolved
/// within `patience` are missing in the result.
fn resolve_path_links(paths: &BTreeSet<&str>, patience: Duration, follow: fn(&Path) -> Option<PathBuf>) -> LinkTargets {
    let mut known = LinkTargets::new();
    let whole: Vec<String> =
        paths.iter().filter(|path| path.len() <= MAX_PATH_BYTES).map(|&path| path.to_owned()).collect();
    let place = if whole.is_empty() { None } else { ResolvingThreadPermit::try_acquire() };
    let Some(place) = place else { return known };
    let (sender, receiver) = mpsc::sync_channel(whole.len());
    let follow_all = move || {
        let _place = place;
        for path in whole {
            let real = follow(Path::new(&path)).and_then(|real| canonical_path_text(&real));
            if sender.send((path, real)).is_err() {
                break;
            }
        }
    };
    if std::thread::Builder::new().name("links".to_owned()).spawn(follow_all).is_err() {
        return known;
    }
    // clock: deadline for receiving from a thread through a std channel.
    let end = Instant::now() + patience;
    // clock: remaining time until that deadline.
    while let Ok((path, real)) = receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
        known.insert(path, real);
    }
    known
}

/// Returns the path with all symbolic links resolved. If the path does not exist, resolves the links in those of its
/// ancestors that exist. Returns `None` if that fails.
fn resolve_path(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let (mut left, mut rest) = (path.to_owned(), Vec::new());
    loop {
        match left.canonicalize() {
            Ok(real) => return Some(rest.iter().rev().fold(real, |real, name| real.join(name))),
            // If the path is a dangling link, writing to it would create the link's target, so the location is unknown.
            Err(error) if error.kind() == ErrorKind::NotFound && left.symlink_metadata().is_err() => {
                match left.components().next_back() {
                    Some(Component::Normal(name)) => rest.push(name.to_owned()),
                    _ => return None,
                }
                left.pop();
            }
            Err(_) => return None,
        }
    }
}

/// Returns the path as text, without the `\\?\` prefix that Windows adds to canonical paths.
fn canonical_path_text(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let bare = text.strip_prefix(r"\\?\").filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    Some(bare.unwrap_or(text).to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn symlinks_are_resolved_also_for_missing_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("safe")).unwrap();
        std::fs::create_dir(root.join("secret")).unwrap();
        std::fs::write(root.join("secret/key"), "k").unwrap();
        symlink(root.join("secret"), root.join("safe/link")).unwrap();
        symlink(root.join("nothing"), root.join("safe/dangling")).unwrap();
        let real = |path: &str| resolve_path(&root.join(path));
        let at = |path: &str| Some(root.join(path));
        for (path, expected) in [
            ("safe/link/key", at("secret/key")),
            ("safe/link", at("secret")),
            ("safe//./link/../key", at("key")),
            ("safe/../secret/key", at("secret/key")),
            ("safe/new/file", at("safe/new/file")),
            ("safe/link/new", at("secret/new")),
            ("safe/dangling", None),
            ("safe/dangling/x", None),
            ("safe/new/../x", None),
            ("secret/key/x", None),
        ] {
            assert_eq!(real(path), expected, "{path}");
        }
        assert_eq!(
            resolve_path(Path::new("relative")),
            None,
            "a relative path depends on the server's working directory"
        );
    }

    #[test]
    fn hanging_path_resolution_is_bounded_in_time_and_threads() {
        fn resolve_without_end(path: &Path) -> Option<PathBuf> {
            while path.ends_with("hangs") {
                std::thread::park();
            }
            Some(path.to_owned())
        }
        let (short, long) = (Duration::from_secs(2), Duration::from_secs(60));
        let facts = resolve_path_links(&BTreeSet::from(["/a", "/hangs", "/z"]), short, resolve_without_end);
        let expected = LinkTargets::from([("/a".to_owned(), Some("/a".to_owned()))]);
        assert_eq!(facts, expected, "paths resolved before the hang are known, the others are not");
        while RESOLVING_THREADS.load(Ordering::Acquire) < MAX_RESOLVING_THREADS {
            resolve_path_links(&BTreeSet::from(["/hangs"]), Duration::ZERO, resolve_without_end);
        }
        // Measured in real time, since the timeout applies to a real thread.
        let began = Instant::now();
        let facts = resolve_path_links(&BTreeSet::from(["/a"]), long, resolve_without_end);
        assert_eq!(facts, LinkTargets::new(), "no path is resolved while the threads hang");
        assert!(began.elapsed() < long, "the call doesn't wait for the timeout");
        assert_eq!(
            resolve_path_links(&BTreeSet::new(), long, resolve_without_end),
            facts,
            "no paths require no thread"
        );
        assert_eq!(
            canonical_path_text(Path::new(r"\\?\C:\a")).as_deref(),
            Some(r"C:\a"),
            "the prefix of a Windows drive is removed"
        );
        assert_eq!(
            canonical_path_text(Path::new(r"\\?\UNC\a")).as_deref(),
            Some(r"\\?\UNC\a"),
            "the prefix of a share is retained"
        );
    }
}
