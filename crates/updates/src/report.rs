//! The state of updates, as shown in Settings. The page has the same types in `ui/src/lib/platform/platform.ts`.

use serde::Serialize;

use crate::manifest::ReleaseAnnouncement;
use crate::refusal::RefusalKind;

/// The state of updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateReport {
    /// Version of the running program.
    pub version: String,
    /// Source of newer versions.
    pub source: UpdateSource,
    /// Progress of the update.
    pub step: UpdateStep,
}

/// The source of newer versions for this installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateSource {
    /// The project's releases, which Drawbridge installs itself.
    Releases {
        /// Id of the key that signs them.
        key: String,
    },
    /// The system's package manager.
    PackageManager,
    /// The source of the Flatpak.
    Flatpak,
    /// The source of the snap.
    Snap,
    /// None: updates are not part of this build.
    NotInBuild,
    /// None: the way of installation is unknown, so the program can't be replaced.
    UnknownInstallation,
    /// None: the embedded configuration is invalid.
    Unusable {
        /// Description of the cause.
        cause: String,
    },
}

/// The progress of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateStep {
    /// Nothing has been checked yet.
    Idle,
    /// The releases are being checked.
    Checking,
    /// There is no newer version.
    Current,
    /// There is a newer version, which has not been downloaded.
    Found {
        /// Announcement of the release.
        release: ReleaseAnnouncement,
    },
    /// The file is being downloaded.
    Downloading {
        /// Announcement of the release.
        release: ReleaseAnnouncement,
        /// Number of bytes received so far.
        received: u64,
    },
    /// The file is being verified and put in place.
    Installing {
        /// Announcement of the release.
        release: ReleaseAnnouncement,
    },
    /// The new version is installed, and runs from the next start.
    Installed {
        /// Announcement of the release.
        release: ReleaseAnnouncement,
    },
    /// The last step failed.
    Refused {
        /// Kind of the failure.
        kind: RefusalKind,
        /// Description of the cause.
        cause: String,
        /// Announcement of the release, if the step can be tried again.
        release: Option<ReleaseAnnouncement>,
    },
}
