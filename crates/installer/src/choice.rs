//! What can be installed: where it is, and which of a server's packages and remotes it is.

use std::path::PathBuf;

pub use ports::server_config::InstallTarget;
use registry::{PackageInstall, PlanError, RegistryEntry, plan_package, plan_remote};
use serde::{Deserialize, Serialize};

/// A server to install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallSource {
    /// A server of the registry.
    Registry {
        /// `namespace/name`.
        name: String,
        /// The version; the newest if none.
        #[serde(default)]
        version: Option<String>,
        /// The package or remote; the only one if none.
        #[serde(default)]
        target: Option<InstallTarget>,
    },
    /// A bundle (`.mcpb` or `.dxt`).
    Bundle {
        /// The absolute path of its file.
        path: PathBuf,
        /// The SHA-256 that it must have, if that is known, in hexadecimal digits.
        #[serde(default)]
        sha256: Option<String>,
    },
}

/// One of the packages and remotes of a server, any of which is the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallChoice {
    /// What it is called in an [`InstallSource`].
    pub target: InstallTarget,
    /// `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another kind of package; `streamable-http` or `sse` of a remote.
    pub kind: String,
    /// The package's name, or the address.
    pub identifier: String,
    /// The package's version, if it is not in the identifier.
    pub version: Option<String>,
    /// Why it can't be installed, if it can't be.
    pub problem: Option<String>,
    /// The bundle that is downloaded for it, if it is one.
    pub download: Option<InstallDownload>,
}

/// A bundle that is downloaded when this is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallDownload {
    /// The URL, https.
    pub url: String,
    /// The SHA-256 that the file must have, in hexadecimal digits.
    pub sha256: String,
}

/// The packages and remotes of a server: at most `registry::server_json::MAX_TARGETS` of each.
#[must_use]
pub fn choices(entry: &RegistryEntry) -> Vec<InstallChoice> {
    let server = &entry.server;
    let packages = server.packages.iter().zip(1..).map(|(package, number)| {
        let (problem, download) = match plan_package(server, package) {
            Ok(PackageInstall::Plan(_)) => (None, None),
            Ok(PackageInstall::Bundle(bundle)) => {
                (None, Some(InstallDownload { url: bundle.url, sha256: bundle.sha256 }))
            }
            Err(problem) => (Some(in_words(&problem)), None),
        };
        InstallChoice {
            target: InstallTarget::Package { number },
            kind: package.registry_type.clone(),
            identifier: package.identifier.clone(),
            version: package.version.clone(),
            problem,
            download,
        }
    });
    let remotes = server.remotes.iter().zip(1..).map(|(remote, number)| InstallChoice {
        target: InstallTarget::Remote { number },
        kind: remote.kind.clone(),
        identifier: remote.url.clone().unwrap_or_default(),
        version: None,
        problem: plan_remote(server, remote).err().as_ref().map(in_words),
        download: None,
    });
    packages.chain(remotes).collect()
}

fn in_words(problem: &PlanError) -> String {
    problem.to_string()
}
