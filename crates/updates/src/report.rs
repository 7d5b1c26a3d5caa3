//! State of Drawbridge's updates, for the settings page, which has the same types in `ui/src/lib/platform/platform.ts`.

use serde::Serialize;

use crate::manifest::ReleaseAnnouncement;
use crate::refusal::RefusalKind;

/// State of the desktop app's updates: the running version, the source of newer ones, and the update in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateReport {
    /// Version of the running app, as text for display.
    pub version: String,
    /// Source from which this installation gets newer versions.
    pub source: UpdateSource,
    /// State of the current check, download or installation.
    pub step: UpdateStep,
}

/// Source from which this installation gets newer versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateSource {
    /// The project publishes releases, which Drawbridge itself installs.
    Releases {
        /// Identifier of the key that verifies the signatures of releases.
        key: String,
    },
    /// The package manager of the system, which installed the app, provides newer versions.
    PackageManager,
    /// The remote from which the Flatpak was installed provides newer versions.
    Flatpak,
    /// The store from which the snap was installed provides newer versions.
    Snap,
    /// No source, because this build has no update settings.
    NotInBuild,
    /// No source, because the kind of installation is unknown, so that the app can't be replaced.
    UnknownInstallation,
    /// No source, because the update settings of the build are invalid.
    Unusable {
        /// Reason why the update settings are invalid.
        cause: String,
    },
}

/// State of an update, from the check to the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateStep {
    /// Drawbridge has not checked for updates since it was started.
    Idle,
    /// Drawbridge is checking for a newer release.
    Checking,
    /// The running version of Drawbridge is the newest one.
    Current,
    /// A newer version was found and is not downloaded yet.
    Found {
        /// Release that can be downloaded and installed.
        release: ReleaseAnnouncement,
    },
    /// The file of the new release is being downloaded.
    Downloading {
        /// Release that is being downloaded.
        release: ReleaseAnnouncement,
        /// Number of bytes of the release's file that were received so far.
        received: u64,
    },
    /// The file of the new release is being verified and installed.
    Installing {
        /// Release that is being installed.
        release: ReleaseAnnouncement,
    },
    /// The new version is installed. It is used from the next start of Drawbridge.
    Installed {
        /// Release that was installed.
        release: ReleaseAnnouncement,
    },
    /// The last step of an update failed or was refused.
    Refused {
        /// Kind of the failure, from which the settings page chooses a text.
        kind: RefusalKind,
        /// Human-readable cause of the failure.
        cause: String,
        /// Announcement of the release, if its installation can be retried.
        release: Option<ReleaseAnnouncement>,
    },
}
