//! The source from which a server was installed. The host stores it alongside the settings. The crate `installer`
//! creates and uses it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The part of a registry's server description that was installed: a package or a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallTarget {
    /// A package of the server, which runs on this computer.
    Package {
        /// Position of the package in the registry's description of the server, from 1.
        number: usize,
    },
    /// A remote server, which runs elsewhere.
    Remote {
        /// Position of the remote in the registry's description of the server, from 1.
        number: usize,
    },
}

/// The source from which a server was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ServerOrigin {
    /// The server was installed from a registry.
    Registry {
        /// URL of the registry that lists the server.
        registry: String,
        /// Name of the server, as `namespace/name`.
        name: String,
        /// Version of the server that was installed from the registry.
        version: String,
        /// The package or remote that was installed.
        target: InstallTarget,
        /// Unpacked files, if the package is a bundle, or else `None`.
        #[serde(default)]
        files: Option<BundleFiles>,
    },
    /// The server was installed from a bundle.
    Bundle {
        /// Name of the server in the bundle's manifest.
        name: String,
        /// Version of the server in the bundle's manifest.
        version: String,
        /// The bundle's files, which were unpacked.
        files: BundleFiles,
    },
}

impl ServerOrigin {
    /// Returns the version that was installed from the source.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Registry { version, .. } | Self::Bundle { version, .. } => version,
        }
    }

    /// Returns the unpacked files of the server's bundle, or `None` if it was not installed from one.
    #[must_use]
    pub fn files(&self) -> Option<&BundleFiles> {
        match self {
            Self::Registry { files, .. } => files.as_ref(),
            Self::Bundle { files, .. } => Some(files),
        }
    }
}

/// The hash of an installed bundle, and the folder with its unpacked files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BundleFiles {
    /// SHA-256 of the bundle file, in hexadecimal.
    pub sha256: String,
    /// Hash over all unpacked files of the bundle, in hexadecimal.
    pub tree: String,
    /// Name of the folder with the unpacked files, below the folder of bundles.
    pub folder: String,
    /// Name of the bundle's author in the manifest, empty if the manifest contains none, or `None` if it was not
    /// recorded.
    #[serde(default)]
    pub author: Option<String>,
}

/// Values that the user entered during the installation of a server. An upgrade uses them again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilledInputs {
    /// Values of the inputs by key, without secrets.
    pub values: BTreeMap<String, Vec<String>>,
    /// Names of the variables or headers that the installation set. All others were added by the user.
    pub names: BTreeSet<String>,
}

/// The source of a server's installation, and the values that the user entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallationInfo {
    /// Source from which the server was installed.
    pub origin: ServerOrigin,
    /// Set if the command or address of the server has changed since its installation.
    pub changed: bool,
    /// Values that were entered during the installation. They may contain header values, so they are not sent to the
    /// page.
    #[serde(skip)]
    pub filled_in: FilledInputs,
}
