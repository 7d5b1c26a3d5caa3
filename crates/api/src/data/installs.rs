//! Servers of a registry or a bundle: what is found, what would be set up, and its installation. All texts of publishers are safe to print and
//! bounded where they are read; they stay claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{HttpKind, Sandbox, ServerOrigin};
pub use installer::{InstallChoice, InstallContainment, InstallDownload, InstallSource, InstallTarget};
pub use installs::{InputKind, InputProblem, PlanInput};

/// Words to search the registry for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySearch {
    /// Text to find in the names of servers, at most 200 bytes. An empty text finds all servers.
    #[serde(default)]
    pub text: String,
    /// [`RegistryPage::next_cursor`] of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Asks the registry even if an answer is kept that is not an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// A page of what the registry lists, each server in its newest version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryPage {
    /// The newest version of each server on this page.
    pub servers: Vec<RegistryListing>,
    /// How many entries can't be read, and are left out.
    pub unreadable: u32,
    /// For the next page; none if this is the last one.
    pub next_cursor: Option<String>,
    /// The registry that answered, and the time of its answer.
    pub answer: RegistryAnswer,
}

/// Where an answer of a registry is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAnswer {
    /// The address of the registry.
    pub registry: String,
    /// When the registry answered, in milliseconds since 1970.
    pub fetched: u64,
    /// True if this is a cached answer from `fetched`.
    pub from_cache: bool,
    /// The reason why the registry could not be reached, if it was asked and did not answer.
    pub offline: Option<String>,
}

/// A version of a server that a registry lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryListing {
    /// The name of the server in the registry, `namespace/name`.
    pub name: String,
    /// A name for people, which nobody checked. It is never shown without `name`.
    pub title: Option<String>,
    /// The publisher's description of the server.
    pub description: Option<String>,
    /// The version of the server, as the publisher writes it.
    pub version: String,
    /// Who may publish under the name.
    pub publisher: RegistryPublisher,
    /// Whether it is offered.
    pub status: RegistryStatus,
    /// Why it has this status.
    pub status_message: Option<String>,
    /// When it was published, in milliseconds since 1970.
    pub published_at: Option<u64>,
    /// True if the registry holds it for the newest version.
    pub is_latest: bool,
    /// Its home page, as the publisher says.
    pub website_url: Option<String>,
    /// Where its source is, as the publisher says.
    pub repository_url: Option<String>,
}

/// Who may publish under a server's name. It says nothing of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RegistryPublisher {
    /// What the name stands for.
    pub kind: PublisherKind,
    /// The account, or the domain.
    pub name: String,
    /// True if the registry lets nobody else publish under it. Of others than the official one that is not known.
    pub checked: bool,
}

/// What may publish under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PublisherKind {
    /// An account on GitHub.
    GithubAccount,
    /// Whoever controls a domain.
    Domain,
}

/// Whether a version is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RegistryStatus {
    /// It is.
    Active,
    /// It is, and should not be used any more.
    Deprecated,
    /// It was taken out, mostly for spam or malware. It can't be installed.
    Deleted,
    /// It has a status that this version of Drawbridge does not know.
    Unknown,
}

/// A server of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryServerName {
    /// `namespace/name`.
    pub name: String,
    /// The version; the newest if none.
    #[serde(default)]
    pub version: Option<String>,
    /// Asks the registry even if an answer is kept that is not an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// A server of the registry in one version, and its other versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryServer {
    /// The version that was asked for.
    pub listing: RegistryListing,
    /// How it can be installed.
    pub choices: Vec<InstallChoice>,
    /// All versions, the newest first.
    pub versions: Vec<RegistryVersion>,
    /// Why the other versions are not known, if they are not.
    pub versions_problem: Option<String>,
    /// The registry that answered, and the time of its answer.
    pub answer: RegistryAnswer,
}

/// A version of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryVersion {
    /// The version.
    pub version: String,
    /// Whether it is offered.
    pub status: RegistryStatus,
    /// Why it has this status.
    pub status_message: Option<String>,
    /// When it was published, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// A server as it could be installed. Nothing is unpacked, started or approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallOffer {
    /// The source by which to go on: with the exact version, the chosen target, or the bundle's SHA-256, so that nothing else is installed.
    pub source: InstallSource,
    /// Where it comes from.
    pub origin: InstallOrigin,
    /// The packages and remotes to choose from; none of a bundle.
    pub choices: Vec<InstallChoice>,
    /// What would be set up; none while nothing is chosen, or if it can't be installed.
    pub plan: Option<InstallPlan>,
    /// Why it can't be installed as it is chosen, if it can't be.
    pub problem: Option<String>,
}

/// Where a server comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum InstallOrigin {
    /// A registry.
    Registry {
        /// What it lists.
        listing: RegistryListing,
        /// The registry that answered, and the time of its answer.
        answer: RegistryAnswer,
        /// The bundle that was downloaded, if the chosen package is one. It has the hash that the registry lists.
        bundle: Option<OfferedBundle>,
    },
    /// A bundle in a file of the user's.
    Bundle(OfferedBundle),
}

/// A bundle. All but the hash, the sizes and the folder is what its publisher says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfferedBundle {
    /// The name of its file.
    pub file: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is said to do.
    pub description: String,
    /// Its author.
    pub author: String,
    /// How it is signed, in words. A signature is never checked, and says nothing about safety.
    pub signature: String,
    /// The folder that it is unpacked to.
    pub folder: String,
    /// How many files are in it.
    pub files: u32,
    /// How many bytes they have when unpacked.
    pub unpacked_bytes: u64,
    /// What of it is not used, in sentences.
    pub warnings: Vec<String>,
}

/// What an installation would set up, with blanks for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPlan {
    /// A name for it that no server has yet.
    pub name: String,
    /// The command or the address.
    pub target: PlannedTarget,
    /// What the user fills in.
    pub inputs: Vec<PlanInput>,
    /// The keys of secret inputs that the keychain can't keep: their values stand in the settings file and on the command line.
    pub exposed_secrets: Vec<String>,
    /// What to look at, in sentences.
    pub notes: Vec<String>,
    /// Whether it can have a sandbox.
    pub containment: InstallContainment,
    /// The sandbox that is proposed.
    pub sandbox: Option<Sandbox>,
}

/// The command or the address of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlannedTarget {
    /// A local program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<Vec<PlannedPart>>,
        /// Variables of its environment, by name.
        env: BTreeMap<String, Vec<PlannedPart>>,
    },
    /// A remote server.
    Http {
        /// Its address.
        url: Vec<PlannedPart>,
        /// The transport.
        kind: HttpKind,
        /// Headers of each request, by name.
        headers: BTreeMap<String, Vec<PlannedPart>>,
    },
}

/// A piece of a text with blanks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlannedPart {
    /// Text as it is.
    Text(String),
    /// The value of the input with this key.
    Input(String),
}

/// A server as it is wanted. Values of secret inputs go to the keychain when it is installed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallDraft {
    /// [`InstallOffer::source`].
    pub source: InstallSource,
    /// The user's name for it.
    pub name: String,
    /// The values of the inputs, by key. One that is not in it has its default.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
    /// The sandbox; none if it may reach all that its user may. Not for an upgrade, which keeps what the server has.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    /// The installed server whose place it takes, by the user's name for it; none if it is a new one.
    #[serde(default)]
    pub upgrades: Option<String>,
}

/// What would be set up, exactly, or why nothing can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallPreview {
    /// What is wrong with values of inputs, by key.
    pub input_problems: BTreeMap<String, InputProblem>,
    /// What else is wrong: the name is taken, the address can't be used.
    pub problem: Option<String>,
    /// The server that would be set up; none if anything is wrong.
    pub server: Option<PreviewedServer>,
    /// The server whose place it takes, as it is set up now.
    pub before: Option<PreviewedServer>,
    /// A hash over all that would be set up, with the values of secrets, and over where it comes from; none if anything is wrong.
    pub hash: Option<String>,
}

/// A server that would be set up. Secrets for the keychain are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PreviewedServer {
    /// A local program.
    Stdio {
        /// The program.
        command: String,
        /// Where that is found on this computer now; none if it is not, or is still to be unpacked.
        found_at: Option<String>,
        /// Its arguments, each as it is passed.
        args: Vec<String>,
        /// Variables set beside the allow-listed ones.
        env: BTreeMap<String, Vec<PreviewedPart>>,
        /// What it may reach; none if all that its user may.
        sandbox: Option<Sandbox>,
    },
    /// A remote server.
    Http {
        /// Its address.
        url: String,
        /// The transport.
        kind: HttpKind,
        /// What is sent with each request.
        headers: BTreeMap<String, Vec<PreviewedPart>>,
    },
}

/// A piece of the value of a variable or header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PreviewedPart {
    /// Text that lies in the settings file.
    Text(String),
    /// A secret that goes to the keychain.
    Secret,
    /// The value of a header that stays as it is. It is not shown, as it may be a key.
    Kept,
}

/// A server to install as it was previewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The server.
    pub draft: InstallDraft,
    /// [`InstallPreview::hash`]. If anything else would result by now, nothing is installed.
    pub hash: String,
    /// True if the user agreed that a running server is stopped for its upgrade.
    #[serde(default)]
    pub stop: bool,
}

/// The servers that were installed from the registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct InstalledVersions {
    /// Asks the registry even if answers are kept that are not an hour old.
    #[serde(default)]
    pub refresh: bool,
}

/// What the registry says of installed servers by now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VersionReports {
    /// One for each server that was installed from a registry, in the order of the settings file.
    pub servers: Vec<VersionReport>,
}

/// What the registry says of an installed server by now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VersionReport {
    /// The user's name for it.
    pub server: String,
    /// Its name in the registry.
    pub registry_name: String,
    /// The installed version.
    pub version: String,
    /// Whether that is still offered.
    pub status: RegistryStatus,
    /// Why it has this status.
    pub status_message: Option<String>,
    /// A newer version.
    pub newer: Option<NewerVersion>,
    /// Why nothing newer is known, if it could not be looked for.
    pub problem: Option<String>,
}

/// A version that is newer than the installed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NewerVersion {
    /// The version.
    pub version: String,
    /// When it was published, in milliseconds since 1970.
    pub published_at: Option<u64>,
}

/// Another version of an installed server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct UpgradeSource {
    /// The user's name for the installed server.
    pub server: String,
    /// Where the other version is; none for the newest that the registry lists of what was installed.
    #[serde(default)]
    pub source: Option<InstallSource>,
}

/// Another version of an installed server, as it could be put in its place. Nothing is unpacked, stopped or approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UpgradeOffer {
    /// The version that is offered.
    pub offer: InstallOffer,
    /// Where the installed one is from.
    pub installed: ServerOrigin,
    /// The inputs that keep what they are now unless another value is entered, by key, with their values. A secret has none here, and what goes into
    /// a header neither.
    pub kept: BTreeMap<String, Option<Vec<String>>>,
    /// True if the server would be stopped.
    pub running: bool,
}
