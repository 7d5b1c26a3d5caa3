//! Installation of servers from a registry or a bundle: search, plan, preview and upgrade.
//!
//! All texts of publishers are sanitized for display and bounded in size where they are read. Their claims are not
//! verified.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{HttpKind, Sandbox, ServerOrigin};
pub use installer::{InstallChoice, InstallContainment, InstallDownload, InstallSource, InstallTarget};
pub use installs::{InputKind, InputProblem, PlanInput};

/// Search request for the registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySearch {
    /// Text to search for in server names, at most 200 bytes. An empty text matches all servers.
    #[serde(default)]
    pub text: String,
    /// [`RegistryPage::next_cursor`] of the previous page.
    #[serde(default)]
    pub cursor: Option<String>,
    /// `true` to query the registry even if a cached response is less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Page of the registry's list, with the latest version of each server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryPage {
    /// Latest version of each server on this page.
    pub servers: Vec<RegistryListing>,
    /// Number of entries that were skipped because they can't be parsed.
    pub unreadable: u32,
    /// Cursor of the next page, or `None` if this is the last one.
    pub next_cursor: Option<String>,
    /// Registry that responded, with the time of the response.
    pub answer: RegistryAnswer,
}

/// Origin of a registry response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAnswer {
    /// Base URL of the registry.
    pub registry: String,
    /// Time of the response, in milliseconds since 1970.
    pub fetched: u64,
    /// `true` if this is the cached response of the time `fetched`.
    pub from_cache: bool,
    /// Reason why the registry could not be reached, if a request failed.
    pub offline: Option<String>,
}

/// Version of a server as the registry lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryListing {
    /// Name of the server in the registry, `namespace/name`.
    pub name: String,
    /// Title chosen by the publisher, not verified. Never displayed without `name`.
    pub title: Option<String>,
    /// Description of the server from the publisher.
    pub description: Option<String>,
    /// Version of the server, as the publisher writes it.
    pub version: String,
    /// Account or domain that owns the name.
    pub publisher: RegistryPublisher,
    /// Status of the version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status from the registry.
    pub status_message: Option<String>,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
    /// `true` if the registry marks it as the latest version.
    pub is_latest: bool,
    /// Home page as claimed by the publisher.
    pub website_url: Option<String>,
    /// URL of the source repository as claimed by the publisher.
    pub repository_url: Option<String>,
}

/// Account or domain that owns the name of a server. No statement about the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RegistryPublisher {
    /// Kind of the owner.
    pub kind: PublisherKind,
    /// Name of the account or domain.
    pub name: String,
    /// `true` if the registry verifies the owner of the name. Known only of the official registry.
    pub checked: bool,
}

/// Kind of the owner of a server name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PublisherKind {
    /// Account on the platform GitHub.
    GithubAccount,
    /// Holder of a DNS domain.
    Domain,
}

/// Status of a version in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RegistryStatus {
    /// The version can be installed.
    Active,
    /// The version can be installed, but should no longer be used.
    Deprecated,
    /// The version was removed, mostly because of spam or malware, and can't be installed.
    Deleted,
    /// The registry returned a status unknown to this version of Drawbridge.
    Unknown,
}

/// Reference to a server of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryServerName {
    /// Name of the server in the registry, `namespace/name`.
    pub name: String,
    /// Version of the server, or `None` for the latest.
    #[serde(default)]
    pub version: Option<String>,
    /// `true` to query the registry even if a cached response is less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Version of a registry server, and a list of its other versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryServer {
    /// Requested version of the server.
    pub listing: RegistryListing,
    /// Packages and remotes by which it can be installed.
    pub choices: Vec<InstallChoice>,
    /// All versions, newest first.
    pub versions: Vec<RegistryVersion>,
    /// Reason why the other versions could not be listed, if they could not.
    pub versions_problem: Option<String>,
    /// Registry that responded, with the time of the response.
    pub answer: RegistryAnswer,
}

/// Entry in the list of a server's versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryVersion {
    /// Version as the publisher writes it.
    pub version: String,
    /// Status of the version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status from the registry.
    pub status_message: Option<String>,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// Server that could be installed. Nothing is unpacked, started or approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallOffer {
    /// Source for the following commands, with the exact version, the chosen target or the SHA-256 of the bundle, so
    /// that nothing else can be installed.
    pub source: InstallSource,
    /// Origin of the server.
    pub origin: InstallOrigin,
    /// Packages and remotes to choose from. Empty for a bundle.
    pub choices: Vec<InstallChoice>,
    /// Configuration that would be set up, or `None` if no target is chosen or it can't be installed.
    pub plan: Option<InstallPlan>,
    /// Reason why the chosen target can't be installed, if it can't.
    pub problem: Option<String>,
}

/// Origin of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum InstallOrigin {
    /// Server listed by a registry.
    Registry {
        /// Entry of the registry.
        listing: RegistryListing,
        /// Registry that responded, with the time of the response.
        answer: RegistryAnswer,
        /// Downloaded bundle, if the chosen package is one. Its hash matches the one in the registry.
        bundle: Option<OfferedBundle>,
    },
    /// Bundle in a local file that the user selected.
    Bundle(OfferedBundle),
}

/// Bundle to install. All members except the hash, the sizes and the folder are claims of the publisher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfferedBundle {
    /// Name of the bundle's file.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Member `name` of the manifest, which identifies other versions of the same bundle.
    pub name: String,
    /// Member `display_name` of the manifest.
    pub title: Option<String>,
    /// Version as the publisher writes it.
    pub version: String,
    /// Description of the server from the manifest.
    pub description: String,
    /// Name of the author.
    pub author: String,
    /// Description of the signature. Signatures are never verified and imply nothing about safety.
    pub signature: String,
    /// Folder that the bundle is unpacked to.
    pub folder: String,
    /// Number of files in the bundle.
    pub files: u32,
    /// Unpacked size in bytes.
    pub unpacked_bytes: u64,
    /// Sentences about the members of the manifest that are not supported.
    pub warnings: Vec<String>,
}

/// Configuration that an installation would set up, with inputs for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPlan {
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Command or URL of the server.
    pub target: PlannedTarget,
    /// Inputs that the user fills in.
    pub inputs: Vec<PlanInput>,
    /// Keys of secret inputs that can't be stored in the keychain. Their values appear in the settings file and on the
    /// command line.
    pub exposed_secrets: Vec<String>,
    /// Sentences that the user should read.
    pub notes: Vec<String>,
    /// Availability of a sandbox.
    pub containment: InstallContainment,
    /// Suggested sandbox of the server.
    pub sandbox: Option<Sandbox>,
}

/// Command or URL of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlannedTarget {
    /// Local server that is started with a command.
    Stdio {
        /// Program of the command.
        command: String,
        /// Arguments of the command, each in parts.
        args: Vec<Vec<PlannedPart>>,
        /// Environment variables, by name.
        env: BTreeMap<String, Vec<PlannedPart>>,
    },
    /// Remote server that is reached at a URL.
    Http {
        /// URL of the server, in parts.
        url: Vec<PlannedPart>,
        /// HTTP transport of the server.
        kind: HttpKind,
        /// Headers of each request, by name.
        headers: BTreeMap<String, Vec<PlannedPart>>,
    },
}

/// Part of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlannedPart {
    /// Literal text without placeholders.
    Text(String),
    /// Value of the input with this key.
    Input(String),
}

/// Server to install with the user's inputs. Values of secret inputs are stored in the keychain at the installation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallDraft {
    /// Source of the offer, [`InstallOffer::source`].
    pub source: InstallSource,
    /// Name of the server in the settings.
    pub name: String,
    /// Values of the inputs, by key. Missing inputs have their default.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
    /// Sandbox of the server, or `None` for unrestricted access. Ignored in an upgrade, which keeps the server's
    /// sandbox.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    /// Name of the installed server to replace, or `None` for a new server.
    #[serde(default)]
    pub upgrades: Option<String>,
}

/// Exact configuration that would be set up, or the problems that prevent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPreview {
    /// Problems of the inputs' values, by key.
    pub input_problems: BTreeMap<String, InputProblem>,
    /// Other problem, such as a name that is taken or a URL that can't be used.
    pub problem: Option<String>,
    /// Server that would be set up, or `None` if there is a problem.
    pub server: Option<PreviewedServer>,
    /// Current configuration of the server to replace.
    pub before: Option<PreviewedServer>,
    /// Hash of the resulting configuration, including the values of secrets, and of its origin, or `None` if there is a
    /// problem.
    pub hash: Option<String>,
}

/// Server that would be set up. Secrets that go to the keychain are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PreviewedServer {
    /// Local server that is started with a command.
    Stdio {
        /// Program of the command.
        command: String,
        /// Path of the program on this computer, or `None` if it was not found or is not unpacked yet.
        found_at: Option<String>,
        /// Arguments as passed to the program.
        args: Vec<String>,
        /// Environment variables, in addition to the allow-listed ones.
        env: BTreeMap<String, Vec<PreviewedPart>>,
        /// Sandbox of the server, or `None` for unrestricted access.
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

/// Part of the value of a variable or header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PreviewedPart {
    /// Text that is stored in the settings file.
    Text(String),
    /// Secret that is stored in the keychain.
    Secret,
    /// Existing value of a header that does not change. Not displayed, because it may be a key.
    Kept,
}

/// Server to install exactly as previewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// Server with the user's inputs.
    pub draft: InstallDraft,
    /// Hash of the preview, [`InstallPreview::hash`]. Nothing is installed if the result would differ.
    pub hash: String,
    /// `true` if the user agreed to stop the running server for its upgrade.
    #[serde(default)]
    pub stop: bool,
}

/// Request for the versions of the servers that were installed from a registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct InstalledVersions {
    /// `true` to query the registry even if cached responses are less than an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// Current registry information on the installed servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VersionReports {
    /// Report for each server that was installed from a registry, in the order of the settings file.
    pub servers: Vec<VersionReport>,
}

/// Current registry information on an installed server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VersionReport {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the server in the registry.
    pub registry_name: String,
    /// Version that is installed.
    pub version: String,
    /// Status of the installed version in the registry.
    pub status: RegistryStatus,
    /// Explanation of the status from the registry.
    pub status_message: Option<String>,
    /// Newer version, if there is one.
    pub newer: Option<NewerVersion>,
    /// Reason why the registry could not be queried, if it could not.
    pub problem: Option<String>,
}

/// Version that is newer than the installed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NewerVersion {
    /// Version as the publisher writes it.
    pub version: String,
    /// Time of publication, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// Another version of an installed server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct UpgradeSource {
    /// Name of the installed server in the settings.
    pub server: String,
    /// Source of the other version, or `None` for the latest one in the registry.
    #[serde(default)]
    pub source: Option<InstallSource>,
}

/// Another version of an installed server that could replace it. Nothing is unpacked, stopped or approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UpgradeOffer {
    /// Version that could be installed.
    pub offer: InstallOffer,
    /// Origin of the installed version.
    pub installed: ServerOrigin,
    /// Inputs that keep their current value unless the user enters another one, by key. The value is `None` for secrets
    /// and header values.
    pub kept: BTreeMap<String, Option<Vec<String>>>,
    /// `true` if the server is running and would be stopped.
    pub running: bool,
}
