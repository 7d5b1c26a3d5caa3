//! The last approved version of the package that a server loads. Used by `host/src/owner/packages.rs`.

use domain::Millis;
use launches::packages::PackageVersion;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// The last approved version of a server's package, and newer versions found since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedPackage {
    /// Hash of the server's settings. The approval doesn't apply to other settings, since another command loads a
    /// different package.
    pub config: Hash,
    /// Version of the package that the user approved.
    pub version: PackageVersion,
    /// Time at which the package was last looked up in its registry.
    #[serde(default)]
    pub looked_up: Millis,
    /// Newer or changed version that a later look-up found, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<PackageVersion>,
    /// Newer version that the user declined, or `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<PackageVersion>,
}

impl ApprovedPackage {
    /// Returns `true` if starting the server requires consent because the registry now has another version. Other files
    /// for the same version always require consent. A newer version requires it if the user starts the server and has
    /// not declined that version.
    pub fn is_outdated(&self, by_user: bool) -> bool {
        self.newer
            .as_ref()
            .is_some_and(|newer| self.version.is_replaced_by(newer) || by_user && self.declined.as_ref() != Some(newer))
    }

    /// Returns the approved version or, if a look-up found other files for the same version, that version with the new
    /// files.
    pub fn known_version(&self) -> &PackageVersion {
        self.newer.as_ref().filter(|newer| self.version.is_replaced_by(newer)).unwrap_or(&self.version)
    }
}
