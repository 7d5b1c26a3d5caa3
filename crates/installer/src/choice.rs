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
    /// An entry of the registry that is in use.
    Registry {
        /// Name of the server in the registry, as `namespace/name`.
        name: String,
        /// Version of the server to install. `None` for the newest.
        #[serde(default)]
        version: Option<String>,
        /// Package or remote endpoint to use. May be `None` if the server has only one.
        #[serde(default)]
        target: Option<InstallTarget>,
    },
    /// A bundle file (`.mcpb` or `.dxt`) on the user's disk.
    Bundle {
        /// Absolute path of the bundle file.
        path: PathBuf,
        /// Expected SHA-256 of the bundle file in hexadecimal. `None` to accept any bundle.
        #[serde(default)]
        sha256: Option<String>,
    },
}

/// A package or remote endpoint of a server in the registry. Each provides the server, and the user chooses one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallChoice {
    /// Identifies this package or remote endpoint in an [`InstallSource`].
    pub target: InstallTarget,
    /// Kind of the package: `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another one. For a remote endpoint, its transport:
    /// `streamable-http` or `sse`.
    pub kind: String,
    /// Name of the package, or URL of the remote endpoint.
    pub identifier: String,
    /// Version of the package, unless it is part of the identifier.
    pub version: Option<String>,
    /// Reason why this choice can't be installed, or `None` if it can.
    pub problem: Option<String>,
    /// The bundle to download, if the package is one.
    pub download: Option<InstallDownload>,
}

/// A bundle that has to be downloaded before the server can be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallDownload {
    /// HTTPS URL of the bundle.
    pub url: String,
    /// Expected SHA-256 of the bundle, in hexadecimal.
    pub sha256: String,
}

/// Returns the packages and remote endpoints of a server in the registry, at most
/// `registry::server_json::MAX_INSTALL_TARGETS` of each.
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
