//! Installation of servers from a registry or a bundle: search, plan, preview and upgrade.
//!
//! Texts from publishers are sanitized for display and limited in size. Their claims are not verified.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{HttpKind, Sandbox, ServerOrigin};
pub use installer::{InstallChoice, InstallContainment, InstallDownload, InstallSource, InstallTarget};
pub use installs::{
    BundleSignature, InputKind, InputProblem, InstallNote, ManifestValueType, ManifestWarning, PlanInput, PlanPlace,
};

/// Request to search the registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySearch {
    /// Text to search for in server names, at most 200 bytes. An empty text matches all servers.
    #[serde(default)]
    pub text: String,
    /// Cursor from [`RegistryPage::next_cursor`] of the previous page, or `None` for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
    /// `true` to send a request to the registry even if a cached response is less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Page of servers in the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryPage {
    /// Latest version of each server on this page.
    pub servers: Vec<RegistryListing>,
    /// Number of servers that were skipped because their entry can't be parsed.
    pub unreadable: u32,
    /// Cursor of the next page, or `None` if this is the last one.
    pub next_cursor: Option<String>,
    /// Origin of the response that contains the page.
    pub answer: RegistryAnswer,
}

/// Origin and age of a registry response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAnswer {
    /// Base URL of the registry.
    pub registry: String,
    /// Time at which the response was received, in milliseconds since 1970.
    pub fetched_at: u64,
    /// `true` if this response is from the cache.
    pub from_cache: bool,
    /// Reason why the registry could not be reached, or `None` if no request failed.
    pub offline_reason: Option<String>,
}

/// Version of a server, as listed in the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryListing {
    /// Name of the server in the registry, in the form `namespace/name`.
    pub name: String,
    /// Title chosen by the publisher, not verified. Must be displayed together with `name`.
    pub title: Option<String>,
    /// Description of the server from the publisher.
    pub description: Option<String>,
    /// Version of the server, as the publisher writes it.
    pub version: String,
    /// Account or domain that owns the server's namespace.
    pub publisher: RegistryPublisher,
    /// Status of the version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status, from the registry.
    pub status_message: Option<String>,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
    /// `true` if the registry lists this version as the latest.
    pub is_latest: bool,
    /// URL of the home page, as claimed by the publisher.
    pub website_url: Option<String>,
    /// URL of the source repository as claimed by the publisher.
    pub repository_url: Option<String>,
}

/// Account or domain that owns the namespace in a server's name. The ownership implies nothing about the server's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct RegistryPublisher {
    /// Kind of the owner: a GitHub account or a domain.
    pub kind: PublisherKind,
    /// Name of the account or domain.
    pub name: String,
    /// `true` if the registry verifies the ownership of namespaces, which is known only of the official registry.
    pub checked: bool,
}

/// Kind of the owner of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PublisherKind {
    /// Account on GitHub.
    GithubAccount,
    /// Holder of a DNS domain.
    Domain,
}

/// Status of a version in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RegistryStatus {
    /// The version can be installed.
    Active,
    /// The version can be installed, but its publisher advises against it.
    Deprecated,
    /// The version was removed, usually as spam or malware, and can't be installed.
    Deleted,
    /// Status that this version of Drawbridge does not know.
    Unknown,
}

/// Reference to a server in the registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryServerName {
    /// Name of the server in the registry, in the form `namespace/name`.
    pub name: String,
    /// Version of the server, or `None` for the latest.
    #[serde(default)]
    pub version: Option<String>,
    /// `true` to send a request to the registry even if a cached response is less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Version of a server in the registry, with the list of all its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryServer {
    /// Requested version of the server.
    pub listing: RegistryListing,
    /// Packages and remotes of the version, of which the user selects one to install.
    pub choices: Vec<InstallChoice>,
    /// All versions of the server in the registry, newest first.
    pub versions: Vec<RegistryVersion>,
    /// Reason why the list of versions could not be requested, or `None` if it could.
    pub versions_problem: Option<String>,
    /// Origin of the response that contains the version.
    pub answer: RegistryAnswer,
}

/// Entry in the list of a server's versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryVersion {
    /// Version of the server, as the publisher writes it.
    pub version: String,
    /// Status of the version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status, from the registry.
    pub status_message: Option<String>,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// Server that the user can install, with its install plan. Nothing is unpacked, started or approved yet.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallOffer {
    /// Source to use in the following requests. It contains the exact version and the selected target, or the SHA-256
    /// of the bundle, so that the installed server is the offered one.
    pub source: InstallSource,
    /// Origin of the server: a registry or a bundle file.
    pub origin: InstallOrigin,
    /// Packages and remotes to choose from. Empty for a bundle.
    pub choices: Vec<InstallChoice>,
    /// Configuration that would be added, or `None` if no target is selected or it can't be installed.
    pub plan: Option<InstallPlan>,
    /// Reason why the selected target can't be installed, or `None` if it can.
    pub problem: Option<String>,
}

/// Origin of a server to install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum InstallOrigin {
    /// Server in a registry.
    Registry {
        /// Version of the server in the registry.
        listing: RegistryListing,
        /// Origin of the registry response that contains the listing.
        answer: RegistryAnswer,
        /// Downloaded bundle, if the selected package is one. Its hash was verified against the registry.
        bundle: Option<OfferedBundle>,
    },
    /// Bundle in a file that the user selected.
    Bundle(OfferedBundle),
}

/// Bundle to install. The hash, the sizes and the folder are determined by Drawbridge, and all other members are claims
/// of the publisher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfferedBundle {
    /// Name of the bundle's file.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Member `name` of the manifest. Other versions of the bundle have the same name.
    pub name: String,
    /// Member `display_name` of the manifest.
    pub title: Option<String>,
    /// Version of the bundle, as the publisher writes it.
    pub version: String,
    /// Description of the server from the manifest.
    pub description: String,
    /// Name of the author, as in the manifest.
    pub author: String,
    /// Signature of the bundle, which is not verified.
    pub signature: BundleSignature,
    /// Folder into which the bundle would be unpacked.
    pub folder: String,
    /// Number of files in the bundle.
    pub files: u32,
    /// Size of the unpacked bundle in bytes.
    pub unpacked_bytes: u64,
    /// Warnings about parts of the manifest that Drawbridge does not use.
    pub warnings: Vec<ManifestWarning>,
}

/// Configuration that an installation would add, with the inputs that the user has to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPlan {
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Command or URL of the server, with placeholders.
    pub target: PlannedTarget,
    /// Inputs of the plan that the user fills in.
    pub inputs: Vec<PlanInput>,
    /// Keys of secret inputs that can't be stored in the keychain, because they are part of an argument or the URL.
    /// Their values are stored in the settings file.
    pub exposed_secrets: Vec<String>,
    /// Notes that the user should read before the installation.
    pub notes: Vec<InstallNote>,
    /// Result of determining if the server can run in a sandbox, with the reason if it can't.
    pub containment: InstallContainment,
    /// Suggested sandbox of the server, or `None` if it can't run in one.
    pub sandbox: Option<Sandbox>,
}

/// Command or URL in an install plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlannedTarget {
    /// Local server that is started with a command.
    Stdio {
        /// Program that the command runs.
        command: String,
        /// Arguments of the command. Each is a sequence of parts.
        args: Vec<Vec<PlannedPart>>,
        /// Environment variables, by name. Each value is a sequence of parts.
        env: BTreeMap<String, Vec<PlannedPart>>,
    },
    /// Remote server that is reached at a URL.
    Http {
        /// URL of the server, as a sequence of parts.
        url: Vec<PlannedPart>,
        /// HTTP transport of the server.
        kind: HttpKind,
        /// Headers of each request, by name. Each value is a sequence of parts.
        headers: BTreeMap<String, Vec<PlannedPart>>,
    },
}

/// Part of a text in an install plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlannedPart {
    /// Literal text without a placeholder.
    Text(String),
    /// Key of an input, whose value is inserted here.
    Input(String),
}

/// Server to install, with the user's values of the inputs. Secret values are stored in the keychain when the server is
/// installed.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallDraft {
    /// Source of the server, from [`InstallOffer::source`].
    pub source: InstallSource,
    /// Name of the server in the settings.
    pub name: String,
    /// Values of the inputs, by key. An omitted input has its default value.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
    /// Sandbox of the server, or `None` to run it with all rights of the user. Ignored in an upgrade, which keeps the
    /// sandbox of the installed server.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    /// Name of the installed server to upgrade, or `None` to add a server.
    #[serde(default)]
    pub upgrades: Option<String>,
}

/// Exact configuration that would be added, or the problems that prevent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPreview {
    /// Problems of the input values, by key of the input.
    pub input_problems: BTreeMap<String, InputProblem>,
    /// Problem that does not belong to an input, such as a name that is already in use or an invalid URL. `None` if
    /// there is none.
    pub problem: Option<String>,
    /// Configuration that would be added, or `None` if there is a problem.
    pub server: Option<PreviewedServer>,
    /// Current configuration of the server to upgrade, or `None` if a server would be added.
    pub before: Option<PreviewedServer>,
    /// Hash of the resulting configuration, including secret values, and of its source. `None` if there is a problem.
    pub hash: Option<String>,
}

/// Configuration that would be added, with secrets masked that the keychain would store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PreviewedServer {
    /// Local server that is started with a command.
    Stdio {
        /// Program that the command runs.
        command: String,
        /// Path of the program on this computer, or `None` if it was not found or is part of a bundle that is not
        /// unpacked yet.
        found_at: Option<String>,
        /// Arguments as passed to the program.
        args: Vec<String>,
        /// Environment variables that are set in addition to the allow-listed ones of Drawbridge.
        env: BTreeMap<String, Vec<PreviewedPart>>,
        /// Sandbox of the server, or `None` if it would run with all rights of the user.
        sandbox: Option<Sandbox>,
    },
    /// Remote server that is reached at a URL.
    Http {
        /// URL of the server.
        url: String,
        /// HTTP transport of the server.
        kind: HttpKind,
        /// Headers of each request, by name.
        headers: BTreeMap<String, Vec<PreviewedPart>>,
    },
}

/// Part of the value of a variable or header in a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PreviewedPart {
    /// Text that the settings file would contain.
    Text(String),
    /// Secret that the keychain would store.
    Secret,
    /// Header value of the installed server that the upgrade keeps. Not displayed, because it may be an API key.
    Kept,
}

/// Request to install a server exactly as shown in a preview.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallServer {
    /// Server to install, with the user's values of the inputs.
    pub draft: InstallDraft,
    /// Hash from [`InstallPreview::hash`]. Nothing is installed if the configuration would differ.
    pub hash: String,
    /// `true` if the user agreed that a running server is stopped for its upgrade.
    #[serde(default)]
    pub stop_running: bool,
}

/// Request to list newer versions of the servers that were installed from a registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ListNewerVersions {
    /// `true` to send requests to the registry even if cached responses are less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Reports on newer versions of the installed servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct VersionReports {
    /// Report for each server that was installed from a registry, in the order of the settings file.
    pub servers: Vec<VersionReport>,
}

/// Report on newer versions of an installed server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VersionReport {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the server in the registry.
    pub registry_name: String,
    /// Installed version, as the publisher writes it.
    pub version: String,
    /// Status of the installed version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status, from the registry.
    pub status_message: Option<String>,
    /// Newer version in the registry, or `None` if there is none.
    pub newer: Option<NewerVersion>,
    /// Reason why the registry could not be queried, or `None` if it could.
    pub problem: Option<String>,
}

/// Version that is newer than the installed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NewerVersion {
    /// Newer version of the server, as the publisher writes it.
    pub version: String,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// Request for the install plan of another version of an installed server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct UpgradeSource {
    /// Name of the installed server in the settings.
    pub server: String,
    /// Source of the version, or `None` for the latest version in the registry.
    #[serde(default)]
    pub source: Option<InstallSource>,
}

/// Other version of an installed server, with its install plan. Nothing is unpacked, stopped or approved yet.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeOffer {
    /// Install plan for the other version.
    pub offer: InstallOffer,
    /// Origin of the installed version.
    pub installed: ServerOrigin,
    /// Inputs that keep their current value if the user enters none, by key. The value is `None` for secrets and header
    /// values, which are not displayed.
    pub current_values: BTreeMap<String, Option<Vec<String>>>,
    /// `true` if the server is running and would be stopped for the upgrade.
    pub running: bool,
}
