//! Steps of an update, each of which the caller starts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use semver::Version;
use tokio::sync::Notify;

use crate::fetch::{ReleaseFetcher, ReleaseManifestUrl, UpdateLimits};
use crate::installation::Installation;
use crate::manifest::{Release, ReleaseAnnouncement, ReleaseManifest};
use crate::refusal::UpdateRefusal;
use crate::report::{UpdateReport, UpdateSource, UpdateStep};
use crate::signature::ReleasePublicKey;

/// Maximum number of times that the progress of one download is reported.
const MAX_PROGRESS_REPORTS: u64 = 100;

/// Source of releases that was set when this build was made: the manifest's URL, and the public key that verifies
/// manifests.
#[derive(Debug, Clone)]
pub struct UpdateChannel {
    /// URL of the release manifest.
    pub address: ReleaseManifestUrl,
    /// Public key of the project, which verifies release manifests.
    pub key: ReleasePublicKey,
}

impl UpdateChannel {
    /// Parses the URL and the key that were set when this build was made. Returns `None` if either is missing or empty.
    ///
    /// # Errors
    /// Returns [`UpdateRefusal::Build`] if they are invalid.
    pub fn from_build_settings(address: Option<&str>, key: Option<&str>) -> Result<Option<Self>, UpdateRefusal> {
        let given = |value: Option<&str>| value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned);
        let (Some(address), Some(key)) = (given(address), given(key)) else { return Ok(None) };
        Ok(Some(Self { address: ReleaseManifestUrl::parse(&address)?, key: ReleasePublicKey::parse(&key)? }))
    }
}

/// Replaces the installed desktop app by the file of a release. The shell implements it with Tauri's updater.
pub trait ReleaseInstaller: Send + Sync {
    /// Verifies that the project has signed `file` as the version of `release`, and installs it.
    ///
    /// # Errors
    /// Returns the [`UpdateRefusal`] if the file is not accepted or could not be installed.
    fn install(&self, release: &Release, file: Vec<u8>) -> impl Future<Output = Result<(), UpdateRefusal>> + Send;
}

/// Callback that is called with the state of the updates whenever [`UpdateReport::step`] changes.
pub type ProgressCallback<'a> = &'a (dyn Fn(UpdateReport) + Send + Sync);

/// Checks for updates of the desktop app and installs them.
#[derive(Debug)]
pub struct Updater {
    version: Version,
    source: UpdateReleaseSource,
    state: Mutex<UpdateState>,
    /// Notification by which [`Updater::stop_download`] stops the download that is running.
    stop: Notify,
}

#[derive(Debug)]
enum UpdateReleaseSource {
    Releases(ReleaseFeed),
    /// Another source provides newer versions, or there is none, so Drawbridge does not install them itself.
    Other(UpdateSource),
}

#[derive(Debug)]
struct ReleaseFeed {
    fetcher: ReleaseFetcher,
    key: ReleasePublicKey,
    platform: String,
}

#[derive(Debug)]
struct UpdateState {
    step: UpdateStep,
    release: Option<Release>,
    /// Set while a check, download or installation is running, so that no second one starts.
    is_busy: bool,
}

impl Updater {
    /// Creates an updater, without sending a request. If `channel` contains no channel, or Drawbridge does not update
    /// this kind of installation itself, [`check`](Self::check) and [`install`](Self::install) send none either.
    #[must_use]
    pub fn new(
        version: Version,
        installation: Installation,
        channel: Result<Option<UpdateChannel>, UpdateRefusal>,
        limits: UpdateLimits,
    ) -> Self {
        let source = UpdateReleaseSource::new(installation, channel, limits);
        let state = UpdateState { step: UpdateStep::Idle, release: None, is_busy: false };
        Self { version, source, state: Mutex::new(state), stop: Notify::new() }
    }

    /// Returns the state of the updates, for the settings page.
    #[must_use]
    pub fn report(&self) -> UpdateReport {
        let source = match &self.source {
            UpdateReleaseSource::Releases(releases) => UpdateSource::Releases { key: releases.key.id().to_owned() },
            UpdateReleaseSource::Other(other) => other.clone(),
        };
        UpdateReport { version: self.version.to_string(), source, step: self.state().step.clone() }
    }

    /// Checks for a newer release. Its result replaces that of an earlier check.
    ///
    /// # Errors
    /// Returns the [`UpdateRefusal`]. It is also in the report, except for [`UpdateRefusal::NotHere`] and
    /// [`UpdateRefusal::NotReady`].
    pub async fn check(&self, progress: ProgressCallback<'_>) -> Result<(), UpdateRefusal> {
        let (turn, releases, ()) = self.begin(|_| Ok(((), UpdateStep::Checking)), progress)?;
        let found = self.find_release(releases).await;
        let outcome = found.map(|release| match release {
            Some(release) => (UpdateStep::Found { release: release.announcement.clone() }, Some(release)),
            None => (UpdateStep::Current, None),
        });
        turn.end(outcome, None, progress)
    }

    /// Downloads the release `version`, which the last check must have found, and installs it with `installer`. It runs
    /// from the next start of Drawbridge.
    ///
    /// # Errors
    /// Returns [`UpdateRefusal::NotReady`] if the last check did not find this version, [`UpdateRefusal::Stopped`]
    /// after [`Updater::stop_download`], or otherwise the reason for the failure, which is also in the report.
    pub async fn install(
        &self,
        version: &str,
        install: &impl ReleaseInstaller,
        progress: ProgressCallback<'_>,
    ) -> Result<(), UpdateRefusal> {
        let begin = |state: &mut UpdateState| {
            let release = state.release.clone().filter(|release| release.announcement.version == version);
            let release = release.ok_or(UpdateRefusal::NotReady)?;
            let step = UpdateStep::Downloading { release: release.announcement.clone(), received: 0 };
            Ok((release, step))
        };
        let (mut turn, releases, release) = self.begin(begin, progress)?;
        let announcement = release.announcement.clone();
        turn.before = Some(UpdateStep::Found { release: announcement.clone() });
        let file = tokio::select! {
            file = self.download(releases, &release, progress) => file,
            () = self.stop.notified() => Err(UpdateRefusal::Stopped),
        };
        let outcome = match file {
            Err(UpdateRefusal::Stopped) => {
                // Dropping the guard restores the previous state.
                drop(turn);
                progress(self.report());
                return Err(UpdateRefusal::Stopped);
            }
            Err(refusal) => Err(refusal),
            Ok(file) => {
                self.state().step = UpdateStep::Installing { release: announcement.clone() };
                progress(self.report());
                let installed = install.install(&release, file).await;
                installed.map(|()| (UpdateStep::Installed { release: announcement }, None))
            }
        };
        turn.end(outcome, Some(release), progress)
    }

    /// Stops the download that is running, if there is one. An installation can't be stopped.
    pub fn stop_download(&self) {
        self.stop.notify_waiters();
    }

    async fn find_release(&self, releases: &ReleaseFeed) -> Result<Option<Release>, UpdateRefusal> {
        let Some((bytes, signature)) = releases.fetcher.download_manifest().await? else { return Ok(None) };
        // The signature is verified before anything is parsed.
        releases.key.verify_manifest(&bytes, &signature)?;
        ReleaseManifest::parse_verified(&bytes)?.release_newer_than(&self.version, &releases.platform)
    }

    async fn download(
        &self,
        releases: &ReleaseFeed,
        release: &Release,
        progress: ProgressCallback<'_>,
    ) -> Result<Vec<u8>, UpdateRefusal> {
        let ReleaseAnnouncement { size, .. } = release.announcement;
        let mut reported = 0;
        let on_bytes = |received: u64| {
            let part = received.saturating_mul(MAX_PROGRESS_REPORTS) / size.max(1);
            if part > reported {
                reported = part;
                self.state().step = UpdateStep::Downloading { release: release.announcement.clone(), received };
                progress(self.report());
            }
        };
        releases.fetcher.download_file(release.url.clone(), size, on_bytes).await
    }

    fn begin<T>(
        &self,
        begin: impl FnOnce(&mut UpdateState) -> Result<(T, UpdateStep), UpdateRefusal>,
        progress: ProgressCallback<'_>,
    ) -> Result<(RunningUpdateStep<'_>, &ReleaseFeed, T), UpdateRefusal> {
        let UpdateReleaseSource::Releases(releases) = &self.source else { return Err(UpdateRefusal::NotHere) };
        let (turn, with) = {
            let mut state = self.state();
            if state.is_busy {
                return Err(UpdateRefusal::NotReady);
            }
            let (with, step) = begin(&mut state)?;
            let before = std::mem::replace(&mut state.step, step);
            state.is_busy = true;
            (RunningUpdateStep { updates: self, before: Some(before) }, with)
        };
        progress(self.report());
        Ok((turn, releases, with))
    }

    fn state(&self) -> MutexGuard<'_, UpdateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UpdateReleaseSource {
    fn new(
        installation: Installation,
        channel: Result<Option<UpdateChannel>, UpdateRefusal>,
        limits: UpdateLimits,
    ) -> Self {
        let other = match installation {
            Installation::SystemPackage => Some(UpdateSource::PackageManager),
            Installation::Flatpak => Some(UpdateSource::Flatpak),
            Installation::Snap => Some(UpdateSource::Snap),
            _ => None,
        };
        if let Some(other) = other {
            return Self::Other(other);
        }
        let releases = channel.and_then(|channel| {
            let Some(UpdateChannel { address, key }) = channel else { return Ok(Err(UpdateSource::NotInBuild)) };
            let platform = installation.manifest_platform_key(std::env::consts::OS, std::env::consts::ARCH);
            let Some(platform) = platform else { return Ok(Err(UpdateSource::UnknownInstallation)) };
            Ok(Ok(ReleaseFeed { fetcher: ReleaseFetcher::new(address, limits)?, key, platform }))
        });
        match releases {
            Ok(Ok(releases)) => Self::Releases(releases),
            Ok(Err(other)) => Self::Other(other),
            Err(refusal) => Self::Other(UpdateSource::Unusable { cause: refusal.to_string() }),
        }
    }
}

/// Guard of a running check, download or installation. If it is dropped before [`RunningUpdateStep::end`] is called,
/// for instance because the future was dropped, it restores the state `before`.
struct RunningUpdateStep<'a> {
    updates: &'a Updater,
    before: Option<UpdateStep>,
}

impl RunningUpdateStep<'_> {
    /// Ends the check, download or installation: with a new state and the release that can be installed now, or with a
    /// failure. After a failure, the user can try again to install the release `again`.
    fn end(
        mut self,
        outcome: Result<(UpdateStep, Option<Release>), UpdateRefusal>,
        again: Option<Release>,
        progress: ProgressCallback<'_>,
    ) -> Result<(), UpdateRefusal> {
        self.before = None;
        let (updates, result) = (self.updates, outcome.as_ref().map(|_| ()).map_err(Clone::clone));
        {
            let mut state = updates.state();
            state.is_busy = false;
            (state.step, state.release) = outcome.unwrap_or_else(|refusal| {
                let release = again.as_ref().map(|release| release.announcement.clone());
                let (kind, cause) = (refusal.kind(), refusal.to_string());
                (UpdateStep::Refused { kind, cause, release }, again)
            });
        }
        progress(updates.report());
        result
    }
}

impl Drop for RunningUpdateStep<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            let mut state = self.updates.state();
            (state.step, state.is_busy) = (before, false);
        }
    }
}
