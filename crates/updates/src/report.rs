//! State of Drawbridge's updates, for the settings page, which has the same types in `ui/src/lib/platform/platform.ts`.

use serde::Serialize;

use crate::manifest::ReleaseAnnouncement;
use crate::refusal::UpdateRefusalKind;

/// State of the desktop app's updates: the running version, the source of newer versions, and the current step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateReport {
    /// Version of the running app, as text for display.
    pub version: String,
    /// Source from which this installation gets newer versions.
    pub source: UpdateSource,
    /// State of the check, download or installation that is running or was the last one.
    pub step: UpdateStep,
}

/// Source from which this installation gets newer versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateSource {
    /// The releases of the project, which Drawbridge downloads and installs itself.
    Releases {
        /// Identifier of the project's public key, which verifies the signatures of releases.
        key: String,
    },
    /// The operating system's package manager, by which Drawbridge was installed.
    PackageManager,
    /// The Flatpak remote from which Drawbridge was installed.
    Flatpak,
    /// The store from which the snap was installed.
    Snap,
    /// None, because this build was made without a manifest URL or a public key.
    NotInBuild,
    /// None, because it is unknown how Drawbridge was installed, so that it can't be replaced.
    UnknownInstallation,
    /// None, because the manifest URL or the public key of this build is invalid.
    Unusable {
        /// Reason why the URL or the key is invalid.
        cause: String,
    },
}

/// State of an update, from the check to the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateStep {
    /// Drawbridge has not checked for updates since it was started.
    Idle,
    /// A check for a newer release is running.
    Checking,
    /// The last check found no release that is newer than the running version.
    Current,
    /// The last check found a newer release, which is not downloaded yet.
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
    /// The new release is installed. It runs from the next start of Drawbridge.
    Installed {
        /// Release that was installed.
        release: ReleaseAnnouncement,
    },
    /// The last check, download or installation failed or was refused.
    Refused {
        /// Kind of the failure, by which the settings page chooses a text.
        kind: UpdateRefusalKind,
        /// Human-readable cause of the failure.
        cause: String,
        /// The release, if the user can try again to install it, otherwise `None`.
        release: Option<ReleaseAnnouncement>,
    },
}
