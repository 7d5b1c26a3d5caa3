//! Conversion of sandboxes and limits between the host's types and the API types.

use host::SandboxStartError;
use host::view::{
    LaunchFile as HostFile, LaunchFileState, LaunchFileWriter, ResolvedSandbox, SandboxOffer as HostOffer,
    SandboxPreview,
};
use launches::sandbox::SandboxPlanError;
use ports::server_config::{AccessMode, AllowedFolder, HostPattern, NetworkAccess, SandboxConfig};

use super::arguments::parse_consent_request_id;
use super::{Api, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// Reports the files and hosts that a server could access in its sandbox. If the sandbox can't be set up, the report
/// contains the reason.
pub(super) async fn sandbox_report(api: &Api, server: String) -> Result<SandboxReport, ApiError> {
    Ok(match api.host.plan_sandbox(server).await {
        Ok(SandboxPreview { plan, missing }) => {
            let missing = missing.iter().map(ToString::to_string).collect();
            SandboxReport { plan: Some(sandbox_plan_view(plan)), problem: None, cause: None, missing }
        }
        Err(SandboxPlanError::NoSandbox) => {
            SandboxReport { plan: None, problem: None, cause: None, missing: Vec::new() }
        }
        Err(error) => {
            SandboxReport { plan: None, problem: Some(error.to_string()), cause: error.problem(), missing: Vec::new() }
        }
    })
}

/// Returns a sandbox proposal for the server whose start waits for consent, and the access that the server would have
/// in that sandbox.
pub(super) async fn propose_sandbox(api: &Api, r: ProposeSandbox) -> Result<SandboxOffer, ApiError> {
    let network = r.network.map(to_network_access).transpose()?;
    Ok(match api.host.offer_sandbox(parse_consent_request_id(&r.id)?, network).await? {
        HostOffer::Possible { sandbox, preview } => SandboxOffer::Possible {
            sandbox: sandbox_view(sandbox),
            plan: sandbox_plan_view(preview.plan),
            missing: preview.missing.iter().map(ToString::to_string).collect(),
        },
        HostOffer::Container => SandboxOffer::Container,
        HostOffer::BroadFolder { folder } => SandboxOffer::BroadFolder { folder: folder.display().to_string() },
        HostOffer::Impossible { sandbox, error } => SandboxOffer::Impossible {
            sandbox: sandbox_view(sandbox),
            problem: error.to_string(),
            cause: error.problem(),
        },
    })
}

/// Adds a sandbox to the settings of the server whose start waits for consent, and requests consent to the start with
/// the sandbox.
pub(super) async fn add_sandbox_to_server(api: &Api, r: AddSandbox) -> Result<EmptyObject, ApiError> {
    let sandbox = to_sandbox_config(r.sandbox)?;
    api.host.move_start_into_sandbox(parse_consent_request_id(&r.id)?, r.hash, sandbox).await?;
    Ok(EmptyObject {})
}

impl From<SandboxStartError> for ApiError {
    fn from(error: SandboxStartError) -> Self {
        match error {
            SandboxStartError::Request(error) => error.into(),
            SandboxStartError::Setup(error) => error.into(),
        }
    }
}

/// Returns the resource usage and the limits of a server.
pub(super) async fn resource_limits_usage(api: &Api, server: String) -> Result<LimitsUsage, ApiError> {
    let used = api.host.limits_usage(server.clone()).await?;
    used.ok_or_else(|| errors::not_found_error(&format!("server \"{server}\"")))
}

/// Converts sandbox settings from the API type to the host's type. The host canonicalizes the folders later.
///
/// # Errors
/// Returns [`ErrorCode::Invalid`] if a host pattern can't be parsed.
pub(super) fn to_sandbox_config(sandbox: Sandbox) -> Result<SandboxConfig, ApiError> {
    let folder = |SandboxFolder { path, access }| {
        let access = match access {
            FolderAccess::Read => AccessMode::Read,
            FolderAccess::Write => AccessMode::Write,
        };
        AllowedFolder { path: path.into(), access }
    };
    let network = to_network_access(sandbox.network)?;
    Ok(SandboxConfig { folders: sandbox.folders.into_iter().map(folder).collect(), network })
}

/// Converts the network access of a sandbox from the API type to the host's type.
///
/// # Errors
/// Returns [`ErrorCode::Invalid`] if a host pattern can't be parsed.
fn to_network_access(network: SandboxNetwork) -> Result<NetworkAccess, ApiError> {
    Ok(match network {
        SandboxNetwork::FilesOnly => NetworkAccess::None,
        SandboxNetwork::Full => NetworkAccess::Full,
        SandboxNetwork::NamedHosts { hosts } => {
            let hosts = hosts.iter().map(|host| host.parse::<HostPattern>()).collect::<Result<_, _>>();
            NetworkAccess::Hosts(hosts.map_err(|error| ApiError::new(ErrorCode::Invalid, error.to_string()))?)
        }
    })
}

fn sandbox_network_view(network: NetworkAccess) -> SandboxNetwork {
    match network {
        NetworkAccess::None => SandboxNetwork::FilesOnly,
        NetworkAccess::Full => SandboxNetwork::Full,
        NetworkAccess::Hosts(hosts) => {
            SandboxNetwork::NamedHosts { hosts: hosts.iter().map(ToString::to_string).collect() }
        }
    }
}

pub(super) fn sandbox_view(sandbox: SandboxConfig) -> Sandbox {
    Sandbox {
        folders: sandbox.folders.into_iter().map(sandbox_folder_view).collect(),
        network: sandbox_network_view(sandbox.network),
    }
}

fn sandbox_folder_view(AllowedFolder { path, access }: AllowedFolder) -> SandboxFolder {
    let access = match access {
        AccessMode::Read => FolderAccess::Read,
        AccessMode::Write => FolderAccess::Write,
    };
    SandboxFolder { path: path.display().to_string(), access }
}

/// Converts a file that determines what a server's command runs. `changed` lists the paths of files that have changed
/// since the last approval.
pub(super) fn launch_file_view(file: &HostFile, changed: &[std::path::PathBuf]) -> LaunchFile {
    LaunchFile {
        path: file.path.display().to_string(),
        leads_to: (file.real != file.path).then(|| file.real.display().to_string()),
        bytes: file.bytes(),
        hash: match &file.state {
            LaunchFileState::Content(hash) => Some(hash.clone()),
            LaunchFileState::SizeAndTimes(_) => None,
        },
        role: file.role,
        changed: changed.contains(&file.path),
    }
}

pub(super) fn sandbox_plan_view(plan: ResolvedSandbox) -> SandboxPlan {
    let shown = |paths: Vec<std::path::PathBuf>| paths.into_iter().map(|path| path.display().to_string()).collect();
    SandboxPlan {
        mechanism: plan.mechanism.name().to_owned(),
        folders: plan.reach.folders.into_iter().map(sandbox_folder_view).collect(),
        program: shown(plan.reach.program),
        system: shown(plan.reach.system),
        home: plan.reach.home.display().to_string(),
        hidden: shown(plan.reach.hidden),
        network: sandbox_network_view(plan.network),
        limits: plan.limits,
    }
}

pub(super) fn launch_file_writer_view(
    LaunchFileWriter { server, file, folder }: LaunchFileWriter,
) -> LaunchFileWriteAccess {
    LaunchFileWriteAccess { server, file: file.display().to_string(), folder: folder.display().to_string() }
}
