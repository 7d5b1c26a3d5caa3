//! Where a server was installed from. The host keeps it beside the settings; `installer` makes it and acts on it.

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
    },
    /// A bundle.
    Bundle {
        /// The name in its manifest.
        name: String,
        /// The version in its manifest.
        version: String,
        /// The SHA-256 of its file, in hexadecimal digits.
        sha256: String,
        /// The hash over its unpacked files, in hexadecimal digits.
        tree: String,
        /// The folder that it was unpacked to, by its name below the folder of bundles.
        folder: String,
    },
}

/// What is known of the installation of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Installed {
    /// Where it is from.
    pub origin: ServerOrigin,
    /// True if its command or its address was changed since then.
    pub changed: bool,
}
