//! The choice of what to install: its source, and one of a server's packages and remotes.

use std::path::PathBuf;

pub use ports::server_config::InstallTarget;
use registry::{PackageInstall, PlanError, RegistryEntry, plan_package, plan_remote};
use serde::{Deserialize, Serialize};

/// The source of a server to install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallSource {
    /// A server in the registry.
    Registry {
        /// Name in the registry, as `namespace/name`.
        name: String,
        /// Version; the newest by default.
        #[serde(default)]
        version: Option<String>,
        /// Package or remote; may be omitted if there is only one.
        #[serde(default)]
        target: Option<InstallTarget>,
    },
    /// A bundle (`.mcpb` or `.dxt`).
    Bundle {
        /// Absolute path of the file.
        path: PathBuf,
        /// Expected SHA-256 in hexadecimal, if known.
        #[serde(default)]
        sha256: Option<String>,
    },
}

/// A package or remote of a server; each of them provides the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallChoice {
    /// Identifier in an [`InstallSource`].
    pub target: InstallTarget,
    /// `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another kind of package; `streamable-http` or `sse` for a remote.
    pub kind: String,
    /// Name of the package, or address of the remote.
    pub identifier: String,
    /// Version of the package, if it is not part of the identifier.
    pub version: Option<String>,
    /// Reason why it can't be installed, if any.
    pub problem: Option<String>,
    /// Bundle that is downloaded for it, if it is a bundle.
    pub download: Option<InstallDownload>,
}

/// A bundle that is downloaded for a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallDownload {
    /// HTTPS URL of the bundle.
    pub url: String,
    /// Expected SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Returns the packages and remotes of a server: at most `registry::server_json::MAX_TARGETS` of each.
#[must_use]
pub fn choices(entry: &RegistryEntry) -> Vec<InstallChoice> {
    let server = &entry.server;
    let packages = server.packages.iter().zip(1..).map(|(package, number)| {
        let (problem, download) = match plan_package(server, package) {
            Ok(PackageInstall::Plan(_)) => (None, None),
            Ok(PackageInstall::Bundle(bundle)) => {
                (None, Some(InstallDownload { url: bundle.url, sha256: bundle.sha256 }))
            }
            Err(problem) => (Some(problem_text(&problem)), None),
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
        problem: plan_remote(server, remote).err().as_ref().map(problem_text),
        download: None,
    });
    packages.chain(remotes).collect()
}

fn problem_text(problem: &PlanError) -> String {
    problem.to_string()
}
