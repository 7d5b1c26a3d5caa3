//! The steps of an update, one after the other, each when it is told to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use semver::Version;
use serde::Serialize;
use url::Url;

use crate::fetch::{Fetcher, ReleaseAddress, UpdateLimits};
use crate::installation::Installation;
use crate::manifest::{Announcement, Manifest, Release};
use crate::refusal::{Refusal, RefusalKind};
use crate::signature::ReleaseKey;

/// Where releases are announced, and the key that signs them. Both are built in.
#[derive(Debug, Clone)]
pub struct Channel {
    /// The address of the manifest.
    pub address: ReleaseAddress,
    /// The project's public key.
    pub key: ReleaseKey,
}

/// Puts the files of a release in place of the present ones.
pub trait Install: Send + Sync {
    /// Installs a file whose signature and version fit.
    ///
    /// # Errors
    /// In words, if the files could not be put in place.
    fn install(
        &self,
        manifest: Url,
        release: &Release,
        file: Vec<u8>,
    ) -> impl Future<Output = Result<(), String>> + Send;
}

/// Is told whenever [`UpdateReport::step`] has changed.
pub type Progress<'a> = &'a (dyn Fn(UpdateReport) + Send + Sync);

/// What Settings shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateReport {
    /// The version that runs.
    pub version: String,
    /// How it was installed.
    pub installation: Installation,
    /// Whether this build can check for updates.
    pub can_update: bool,
    /// Where the update is.
    pub step: UpdateStep,
}

/// How far an update is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateStep {
    /// Nothing was asked yet.
    Idle,
    /// The address of the releases is asked.
    Checking,
    /// There is nothing newer.
    Current,
    /// There is a newer version. Nothing of it is here.
    Found {
        /// What is announced.
        release: Announcement,
    },
    /// Its file is coming.
    Downloading {
        /// What is announced.
        release: Announcement,
        /// How many bytes of it have come.
        received: u64,
    },
    /// Its file is here, and signed by the project as this version.
    Downloaded {
        /// What is announced.
        release: Announcement,
    },
    /// It is put in place.
    Installing {
        /// What is announced.
        release: Announcement,
    },
    /// The next start is of this version.
    Installed {
        /// What was announced.
        release: Announcement,
    },
    /// The last step failed.
    Refused {
        /// What it is about.
        kind: RefusalKind,
        /// Why, in words.
        cause: String,
        /// What is announced, if that step can be tried again.
        release: Option<Announcement>,
    },
}

#[derive(Debug)]
struct State {
    step: UpdateStep,
    release: Option<Release>,
    file: Option<Vec<u8>>,
    /// A step is going on.
    is_busy: bool,
}

/// The updates of this program.
#[derive(Debug)]
pub struct Updates {
    version: Version,
    installation: Installation,
    /// What this build and this installation can be updated from, if it can.
    source: Option<Source>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Source {
    fetcher: Fetcher,
    key: ReleaseKey,
    platform: String,
}

/// The most changes of [`UpdateStep::Downloading`] that are told of one download.
const MOST_TOLD: u64 = 100;

impl Updates {
    /// Asks nobody yet. Without a channel, and for an installation that something else updates, it never will.
    ///
    /// # Errors
    /// [`Refusal::Build`] if connections can't be made on this system.
    pub fn new(
        version: Version,
        installation: Installation,
        channel: Option<Channel>,
        limits: UpdateLimits,
    ) -> Result<Self, Refusal> {
        let platform = installation.platform(std::env::consts::OS, std::env::consts::ARCH);
        let source = match (channel, platform) {
            (Some(Channel { address, key }), Some(platform)) => {
                Some(Source { fetcher: Fetcher::new(address, limits)?, key, platform })
            }
            _ => None,
        };
        let state = State { step: UpdateStep::Idle, release: None, file: None, is_busy: false };
        Ok(Self { version, installation, source, state: Mutex::new(state) })
    }

    /// What Settings shows.
    #[must_use]
    pub fn report(&self) -> UpdateReport {
        let (can_update, step) = (self.source.is_some(), self.state().step.clone());
        UpdateReport { version: self.version.to_string(), installation: self.installation, can_update, step }
    }

    /// Asks whether there is a newer version. What was downloaded before is dropped.
    ///
    /// # Errors
    /// Why what is announced is not taken; also in the report.
    pub async fn check(&self, progress: Progress<'_>) -> Result<(), Refusal> {
        let turn = self.begin(|_| Ok(((), UpdateStep::Checking)), progress)?;
        let found = self.look(turn.source).await;
        let outcome = found.map(|release| {
            let step = match &release {
                Some(release) => UpdateStep::Found { release: release.announcement.clone() },
                None => UpdateStep::Current,
            };
            Outcome { step, release, file: None }
        });
        self.end(outcome, None, progress)
    }

    /// Downloads what was found, and checks its signature and the version in it.
    ///
    /// # Errors
    /// Why it is not taken; also in the report.
    pub async fn download(&self, progress: Progress<'_>) -> Result<(), Refusal> {
        let begin = |state: &mut State| {
            let release = state.release.clone().filter(|_| state.file.is_none()).ok_or(Refusal::NotReady)?;
            let step = UpdateStep::Downloading { release: release.announcement.clone(), received: 0 };
            Ok((release, step))
        };
        let turn = self.begin(begin, progress)?;
        let release = turn.with;
        let announcement = release.announcement.clone();
        let size = announcement.size;
        let mut told = 0;
        let on_bytes = |received: u64| {
            let part = received.saturating_mul(MOST_TOLD) / size.max(1);
            if part > told {
                told = part;
                self.state().step = UpdateStep::Downloading { release: announcement.clone(), received };
                progress(self.report());
            }
        };
        let file = turn.source.fetcher.file(release.url.clone(), size, on_bytes).await;
        let outcome = file.and_then(|file| {
            turn.source.key.verify_file(&file, &release.signature, &release.version)?;
            let step = UpdateStep::Downloaded { release: release.announcement.clone() };
            Ok(Outcome { step, release: Some(release.clone()), file: Some(file) })
        });
        self.end(outcome, Some(release), progress)
    }

    /// Installs what was downloaded. The next start is of the new version.
    ///
    /// # Errors
    /// Why it is not installed; also in the report.
    pub async fn install(&self, install: &impl Install, progress: Progress<'_>) -> Result<(), Refusal> {
        let begin = |state: &mut State| {
            let (Some(release), Some(file)) = (state.release.clone(), state.file.take()) else {
                return Err(Refusal::NotReady);
            };
            let step = UpdateStep::Installing { release: release.announcement.clone() };
            Ok(((release, file), step))
        };
        let turn = self.begin(begin, progress)?;
        let (release, file) = turn.with;
        let manifest = turn.source.fetcher.address().url().clone();
        let installed = install.install(manifest, &release, file).await.map_err(Refusal::Install);
        let step = UpdateStep::Installed { release: release.announcement.clone() };
        self.end(installed.map(|()| Outcome { step, release: None, file: None }), Some(release), progress)
    }

    async fn look(&self, source: &Source) -> Result<Option<Release>, Refusal> {
        let (bytes, signature) = source.fetcher.manifest().await?;
        // Nothing of it is read before.
        source.key.verify_manifest(&bytes, &signature)?;
        Manifest::read(&bytes)?.newer_than(&self.version, &source.platform)
    }

    fn begin<T>(
        &self,
        begin: impl FnOnce(&mut State) -> Result<(T, UpdateStep), Refusal>,
        progress: Progress<'_>,
    ) -> Result<Turn<'_, T>, Refusal> {
        let source = self.source.as_ref().ok_or(Refusal::NotHere)?;
        let with = {
            let mut state = self.state();
            if state.is_busy {
                return Err(Refusal::NotReady);
            }
            let (with, step) = begin(&mut state)?;
            (state.is_busy, state.step) = (true, step);
            with
        };
        progress(self.report());
        Ok(Turn { source, with })
    }

    /// Ends a step. After a failure `again` can be downloaded once more.
    fn end(
        &self,
        outcome: Result<Outcome, Refusal>,
        again: Option<Release>,
        progress: Progress<'_>,
    ) -> Result<(), Refusal> {
        let result = {
            let mut state = self.state();
            state.is_busy = false;
            match outcome {
                Ok(Outcome { step, release, file }) => {
                    (state.step, state.release, state.file) = (step, release, file);
                    Ok(())
                }
                Err(refusal) => {
                    let release = again.as_ref().map(|release| release.announcement.clone());
                    state.step = UpdateStep::Refused { kind: refusal.kind(), cause: refusal.to_string(), release };
                    (state.release, state.file) = (again, None);
                    Err(refusal)
                }
            }
        };
        progress(self.report());
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a step has come to.
struct Outcome {
    step: UpdateStep,
    /// What can be downloaded or installed next.
    release: Option<Release>,
    /// Its file, if it is here.
    file: Option<Vec<u8>>,
}

/// What one step works with.
struct Turn<'a, T> {
    source: &'a Source,
    with: T,
}
