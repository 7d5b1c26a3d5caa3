//! Where a server was installed from. The host keeps it beside the settings; `installer` makes it and acts on it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One of the packages or remotes that a version of a server has in a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallTarget {
    /// A program that is started on this computer.
    Package {
        /// Its number in the description, from 1.
        number: usize,
    },
    /// A server that runs elsewhere.
    Remote {
        /// Its number in the description, from 1.
        number: usize,
    },
}

/// Where a server was installed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ServerOrigin {
    /// A registry.
    Registry {
        /// The address of the registry.
        registry: String,
        /// `namespace/name`.
        name: String,
        /// The exact version.
        version: String,
        /// The package or remote.
        target: InstallTarget,
        /// Its files, if the package is a bundle.
        #[serde(default)]
        files: Option<BundleFiles>,
    },
    /// A bundle.
    Bundle {
        /// The name in its manifest.
        name: String,
        /// The version in its manifest.
        version: String,
        /// Its files.
        files: BundleFiles,
    },
}

impl ServerOrigin {
    /// The version that was installed.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Registry { version, .. } | Self::Bundle { version, .. } => version,
        }
    }

    /// The files of the bundle that was unpacked for it, if it is one.
    #[must_use]
    pub fn files(&self) -> Option<&BundleFiles> {
        match self {
            Self::Registry { files, .. } => files.as_ref(),
            Self::Bundle { files, .. } => Some(files),
        }
    }
}

/// A bundle, and where it was unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BundleFiles {
    /// The SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// The hash over its unpacked files, in hexadecimal digits.
    pub tree: String,
    /// The folder that it was unpacked to, by its name below the folder of bundles.
    pub folder: String,
    /// The author's name, as its manifest says it; empty if it says none. None if that was not recorded.
    #[serde(default)]
    pub author: Option<String>,
}

/// What was filled in when a server was installed, for when a newer version takes its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilledIn {
    /// The values of its inputs, by key, without secret ones.
    pub values: BTreeMap<String, Vec<String>>,
    /// The names of the variables or headers that the installation set. Others are the user's own.
    pub names: BTreeSet<String>,
}

/// What is known of the installation of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Installed {
    /// Where it is from.
    pub origin: ServerOrigin,
    /// True if its command or its address was changed since then.
    pub changed: bool,
    /// What was filled in. Values of headers are among it, so the page does not get it.
    #[serde(skip)]
    pub filled_in: FilledIn,
}
