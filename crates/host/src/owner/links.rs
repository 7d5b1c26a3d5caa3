//! Where the links on a path lead, for rules on paths. Paths come from models and servers, and one may lie on a file system that
//! does not answer, so they are followed beside the owner's turns, on threads of their own, which are waited for only shortly.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use policy::PathFacts;
use ports::server_config::ServerConfig;
use serde_json::{Map, Value};

use super::Owner;

/// How long is waited until all paths of a call are followed.
const PATIENCE: Duration = Duration::from_millis(500);
/// The most threads that follow links at a time. While so many hang, nothing is waited for.
const MAX_THREADS: usize = 4;
/// The longest path that is followed, in bytes.
const MAX_PATH: usize = 4_096;

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Gives its thread's place back, however that ends.
struct Place;

impl Place {
    fn taken() -> Option<Self> {
        let more = |now: usize| (now < MAX_THREADS).then_some(now + 1);
        THREADS.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Where these paths lead. Some may stay unknown.
pub(super) async fn follow(paths: BTreeSet<String>) -> PathFacts {
    let following =
        tokio::task::spawn_blocking(move || followed(&paths.iter().map(String::as_str).collect(), PATIENCE, real_path));
    following.await.unwrap_or_else(|_| PathFacts::Here(HashMap::new()))
}

/// What is known of the paths in a call before they are followed. Those of a remote server are not this computer's.
pub(super) fn not_followed(config: &ServerConfig) -> PathFacts {
    if config.as_stdio().is_none() { PathFacts::Elsewhere } else { PathFacts::Here(HashMap::new()) }
}

impl Owner {
    /// The paths in a call of a tool that rules ask about, if they are this computer's.
    pub(super) fn paths_in_call(&self, server: &str, tool: &str, arguments: &Map<String, Value>) -> BTreeSet<String> {
        let is_local = self.servers.records.get(server).is_some_and(|record| record.config.as_stdio().is_some());
        if !is_local {
            return BTreeSet::new();
        }
        self.permissions.policy.paths_in_call(server, tool, arguments).into_iter().map(str::to_owned).collect()
    }
}

/// Follows paths with `follow`. What takes too long stays unknown.
fn followed(paths: &BTreeSet<&str>, patience: Duration, follow: fn(&Path) -> Option<PathBuf>) -> PathFacts {
    let mut known: HashMap<String, Option<String>> = HashMap::new();
    let whole: Vec<String> = paths.iter().filter(|path| path.len() <= MAX_PATH).map(|&path| path.to_owned()).collect();
    let place = if whole.is_empty() { None } else { Place::taken() };
    let Some(place) = place else { return PathFacts::Here(known) };
    let (tell, told) = mpsc::sync_channel(whole.len());
    let follow_all = move || {
        let _place = place;
        for path in whole {
            let real = follow(Path::new(&path)).and_then(|real| shown(&real));
            if tell.send((path, real)).is_err() {
                break;
            }
        }
    };
    if std::thread::Builder::new().name("links".to_owned()).spawn(follow_all).is_err() {
        return PathFacts::Here(known);
    }
    // clock: a thread is waited for, by a channel of std.
    let end = Instant::now() + patience;
    // clock: the same wait.
    while let Ok((path, real)) = told.recv_timeout(end.saturating_duration_since(Instant::now())) {
        known.insert(path, real);
    }
    PathFacts::Here(known)
}

/// A path with every link followed. Of one that is not there yet: where it would be. None where that can't be said.
fn real_path(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let (mut left, mut rest) = (path.to_owned(), Vec::new());
    loop {
        match left.canonicalize() {
            Ok(real) => return Some(rest.iter().rev().fold(real, |real, name| real.join(name))),
            // A link that leads to nothing would be written through.
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

/// As text, without the prefix that Windows puts before the letter of a drive.
fn shown(path: &Path) -> Option<String> {
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
    fn links_are_followed_and_what_is_not_there_yet_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("safe")).unwrap();
        std::fs::create_dir(root.join("secret")).unwrap();
        std::fs::write(root.join("secret/key"), "k").unwrap();
        symlink(root.join("secret"), root.join("safe/link")).unwrap();
        symlink(root.join("nothing"), root.join("safe/dangling")).unwrap();
        let real = |path: &str| real_path(&root.join(path));
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
        assert_eq!(real_path(Path::new("relative")), None, "a relative path is of the server's own folder");
    }

    #[test]
    fn what_hangs_is_waited_for_only_shortly_and_only_so_often() {
        fn hangs(path: &Path) -> Option<PathBuf> {
            while path.ends_with("hangs") {
                std::thread::park();
            }
            Some(path.to_owned())
        }
        let (short, long) = (Duration::from_secs(2), Duration::from_secs(60));
        let facts = followed(&BTreeSet::from(["/a", "/hangs", "/z"]), short, hangs);
        let expected = PathFacts::Here([("/a".to_owned(), Some("/a".to_owned()))].into());
        assert_eq!(facts, expected, "what was found before it hangs is known, and the rest is not");
        while THREADS.load(Ordering::Acquire) < MAX_THREADS {
            followed(&BTreeSet::from(["/hangs"]), Duration::ZERO, hangs);
        }
        // The clock is the point here: the whole minute goes by for whoever waits.
        let began = Instant::now();
        let facts = followed(&BTreeSet::from(["/a"]), long, hangs);
        assert_eq!(facts, PathFacts::Here(HashMap::new()), "nothing is followed");
        assert!(began.elapsed() < long, "and nothing is waited for");
        assert_eq!(followed(&BTreeSet::new(), long, hangs), facts, "without paths, nothing to do");
        assert_eq!(shown(Path::new(r"\\?\C:\a")).as_deref(), Some(r"C:\a"), "a drive of Windows");
        assert_eq!(shown(Path::new(r"\\?\UNC\a")).as_deref(), Some(r"\\?\UNC\a"), "a share stays");
    }
}
