//! Sources of a server to install, and the choice among its packages and remotes.

use std::path::PathBuf;

pub use ports::server_config::InstallTarget;
use registry::{PackageInstall, PlanError, RegistryEntry, plan_package, plan_remote};
use serde::{Deserialize, Serialize};

/// Source from which a server is installed: an entry of the registry, or a bundle file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallSource {
    /// The server is installed from an entry of the selected registry.
    Registry {
        /// Name of the server in the registry, as `namespace/name`.
        name: String,
        /// Version of the server to install. `None` for the newest.
        #[serde(default)]
        version: Option<String>,
        /// Package or remote to use. May be `None` if the server has only one.
        #[serde(default)]
        target: Option<InstallTarget>,
    },
    /// The server is installed from a bundle file (`.mcpb` or `.dxt`) of the user.
    Bundle {
        /// Absolute path of the bundle file.
        path: PathBuf,
        /// Expected SHA-256 of the bundle file in hexadecimal. `None` to accept any bundle.
        #[serde(default)]
        sha256: Option<String>,
    },
}

/// A package or remote of a registry's server. Each of them provides the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallChoice {
    /// Identifier of the package or remote for an [`InstallSource`].
    pub target: InstallTarget,
    /// Kind of the package: `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another one. For a remote: `streamable-http` or
    /// `sse`.
    pub kind: String,
    /// Name of the package, or URL of the remote.
    pub identifier: String,
    /// Version of the package, unless it is part of the identifier.
    pub version: Option<String>,
    /// Reason why this choice can't be installed, or `None` if it can.
    pub problem: Option<String>,
    /// Bundle to download, if the package is a bundle.
    pub download: Option<InstallDownload>,
}

/// Bundle that must be downloaded to install a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallDownload {
    /// HTTPS URL of the bundle.
    pub url: String,
    /// Expected SHA-256 of the bundle, in hexadecimal.
    pub sha256: String,
}

/// Returns the packages and remotes of a registry's server. There are at most `registry::server_json::MAX_TARGETS` of
/// each.
#[must_use]
pub fn install_choices(entry: &RegistryEntry) -> Vec<InstallChoice> {
    let server = &entry.server;
    let packages = server.packages.iter().zip(1..).map(|(package, number)| {
        let (problem, download) = match plan_package(server, package) {
            Ok(PackageInstall::Plan(_)) => (None, None),
            Ok(PackageInstall::Bundle(bundle)) => {
                (None, Some(InstallDownload { url: bundle.url, sha256: bundle.sha256 }))
            }
            Err(problem) => (Some(plan_error_text(&problem)), None),
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
        problem: plan_remote(server, remote).err().as_ref().map(plan_error_text),
        download: None,
    });
    packages.chain(remotes).collect()
}

fn plan_error_text(problem: &PlanError) -> String {
    problem.to_string()
}
