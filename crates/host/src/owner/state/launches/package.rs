//! The version of a server's package that was approved last. Caller: `owner/packages.rs`.

use domain::Millis;
use launches::packages::PackageVersion;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// The version of a server's package that was approved last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::owner) struct ApprovedPackage {
    /// Over the server's settings: another command under the same name loads another package.
    pub(in crate::owner) config: Hash,
    pub(in crate::owner) version: PackageVersion,
    /// When it was looked up last.
    #[serde(default)]
    pub(in crate::owner) looked_up: Millis,
    /// The version that a later look-up found in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::owner) newer: Option<PackageVersion>,
    /// A newer one that the user did not want.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::owner) declined: Option<PackageVersion>,
}

impl ApprovedPackage {
    /// Tells if a start has to ask about what was found since. Other files under the same version always ask; a newer version
    /// asks a user who starts the server, unless they declined it.
    pub(in crate::owner) fn is_outdated(&self, by_user: bool) -> bool {
        self.newer
            .as_ref()
            .is_some_and(|newer| self.version.is_replaced_by(newer) || by_user && self.declined.as_ref() != Some(newer))
    }

    /// The version as the registry was seen to offer it last.
    pub(in crate::owner) fn known(&self) -> &PackageVersion {
        self.newer.as_ref().filter(|newer| self.version.is_replaced_by(newer)).unwrap_or(&self.version)
    }
}
