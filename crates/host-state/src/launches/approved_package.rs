//! The last approved version of a server's package. Used by `host/src/owner/packages.rs`.

use domain::Millis;
use launches::packages::PackageVersion;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// The last approved version of a server's package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedPackage {
    /// Hash of the server's settings: another command under the same name loads a different package.
    pub config: Hash,
    /// Version that the user approved.
    pub version: PackageVersion,
    /// Time of the last look-up.
    #[serde(default)]
    pub looked_up: Millis,
    /// Version found by a later look-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<PackageVersion>,
    /// Newer version that the user declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<PackageVersion>,
}

impl ApprovedPackage {
    /// Returns `true` if a start requires consent for a version found since. Different files of the same version always
    /// require it; a newer version requires it if the user starts the server and has not declined it.
    pub fn is_outdated(&self, by_user: bool) -> bool {
        self.newer
            .as_ref()
            .is_some_and(|newer| self.version.is_replaced_by(newer) || by_user && self.declined.as_ref() != Some(newer))
    }

    /// Returns the version as last offered by the registry.
    pub fn known_version(&self) -> &PackageVersion {
        self.newer.as_ref().filter(|newer| self.version.is_replaced_by(newer)).unwrap_or(&self.version)
    }
}
