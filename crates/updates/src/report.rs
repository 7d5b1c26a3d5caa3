//! What Settings shows of updates. The page has the same shapes in `ui/src/lib/platform/platform.ts`.

use serde::Serialize;

use crate::manifest::Announcement;
use crate::refusal::RefusalKind;

/// What Settings shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateReport {
    /// The version that runs.
    pub version: String,
    /// Where newer versions come from.
    pub source: UpdateSource,
    /// Where the update is.
    pub step: UpdateStep,
}

/// Where newer versions of this installation come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UpdateSource {
    /// From the project's releases, which Drawbridge installs itself.
    Releases {
        /// The number of the key that signs them.
        key: String,
    },
    /// From the system's package manager.
    PackageManager,
    /// From where the Flatpak came from.
    Flatpak,
    /// From where the snap came from.
    Snap,
    /// From nowhere: updates are not part of this build.
    NotInBuild,
    /// From nowhere: how this copy was installed is not known, so nothing can take its place.
    UnknownInstallation,
    /// From nowhere: what was built in can't be used.
    Unusable {
        /// Why, in words.
        cause: String,
    },
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
    /// Its file is checked and put in place.
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
        /// What is announced, if it can be tried again.
        release: Option<Announcement>,
    },
}
