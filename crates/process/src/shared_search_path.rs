//! A search path that is read once for everything that looks for programs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::command::ServerCommand;
use crate::programs::{CommandNotFound, SearchPath, SearchPathSource};

/// A cached [`SearchPath`], read from the login shell when it is first needed. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct SharedSearchPath {
    /// The search path with the time at which it was read, or `None` until then. The lock is held during the read, so
    /// that only one login shell runs at a time.
    latest: Arc<Mutex<Option<(SearchPath, Instant)>>>,
}

impl From<SearchPath> for SharedSearchPath {
    fn from(path: SearchPath) -> Self {
        Self { latest: Arc::new(Mutex::new(Some((path, Instant::now())))) }
    }
}

impl SharedSearchPath {
    /// Returns the search path. It is read, within at most five seconds, if that has not happened within `max_age`.
    /// `None` accepts any age.
    pub async fn get(&self, max_age: Option<Duration>) -> SearchPath {
        let mut latest = self.latest.lock().await;
        match &*latest {
            Some((path, at)) if max_age.is_none_or(|age| at.elapsed() <= age) => path.clone(),
            _ => read_again(&mut latest).await,
        }
    }

    /// Searches for the program of a command. The login shell is asked for the search path once for all commands, and
    /// again if a program is not found, since the program may be newly installed. Returns the search path too.
    pub async fn find(&self, command: &ServerCommand) -> (SearchPath, Result<PathBuf, CommandNotFound>) {
        let mut latest = self.latest.lock().await;
        if let Some((path, _)) = &*latest
            && let Ok(program) = path.resolve(command)
        {
            return (path.clone(), Ok(program));
        }
        let path = read_again(&mut latest).await;
        let found = path.resolve(command);
        (path, found)
    }
}

/// Reads the search path. One of the login shell is not replaced if the login shell can't be read again.
async fn read_again(latest: &mut Option<(SearchPath, Instant)>) -> SearchPath {
    let read = SearchPath::read().await;
    let path = match latest.take() {
        Some((old, _)) if old.source == SearchPathSource::LoginShell && read.source != SearchPathSource::LoginShell => {
            old
        }
        _ => read,
    };
    *latest = Some((path.clone(), Instant::now()));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn known_search_path_is_not_read_again_within_its_maximum_age() {
        const HOUR: Duration = Duration::from_secs(3600);
        let source = SearchPathSource::Process { reason: "known".to_owned() };
        let known = SearchPath { directories: vec!["/nowhere".into()], source };
        let shared = SharedSearchPath::from(known.clone()).clone();
        tokio::time::advance(HOUR).await;
        assert_eq!(shared.get(None).await, known, "any age is accepted");
        assert_eq!(shared.get(Some(HOUR)).await, known, "it is not older than an hour");
    }
}
