//! Servers of a registry or a bundle: what is found, what would be set up, and its installation. All texts of publishers are safe to print and
//! bounded where they are read; they stay claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{HttpKind, Sandbox};
pub use installs::{InputKind, InputProblem, PlanInput};

/// Words to search the registry for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySearch {
    /// What names contain, at most 200 bytes; all servers if empty.
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
    /// The servers.
    pub servers: Vec<RegistryListing>,
    /// How many entries can't be read, and are left out.
    pub unreadable: u32,
    /// For the next page; none if this is the last one.
    pub next_cursor: Option<String>,
    /// Who answered, and when.
    pub answer: RegistryAnswer,
}

/// Where an answer of a registry is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAnswer {
    /// The address of the registry.
    pub registry: String,
    /// When it answered, in milliseconds since 1970.
    pub fetched: u64,
    /// True if it did not answer now: what is shown was kept since then.
    pub from_cache: bool,
    /// Why it could not be asked now, if that was tried.
    pub offline: Option<String>,
}

/// A version of a server that a registry lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryListing {
    /// `namespace/name`.
    pub name: String,
    /// A name for people, which nobody checked. It is never shown without `name`.
    pub title: Option<String>,
    /// What the publisher says that it does.
    pub description: Option<String>,
    /// The version.
    pub version: String,
    /// Who may publish under the name, in words, such as `the GitHub account alice`.
    pub publisher: String,
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
    /// Who answered, and when.
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

/// One of the packages and remotes of a server, any of which is the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
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
    /// The bundle that has to be downloaded by hand, if it is one.
    pub download: Option<InstallDownload>,
}

/// A bundle to download and to install from its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct InstallDownload {
    /// The URL, https.
    pub url: String,
    /// The SHA-256 that the file must have, in hexadecimal digits.
    pub sha256: String,
}

/// One of the packages or remotes that a version of a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum InstallTarget {
    /// A program that is started on this computer.
    Package {
        /// Its number in the description, from 1.
        number: u32,
    },
    /// A server that runs elsewhere.
    Remote {
        /// Its number in the description, from 1.
        number: u32,
    },
}

/// A server to install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
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
        path: String,
        /// The SHA-256 that it must have, if that is known, in hexadecimal digits.
        #[serde(default)]
        sha256: Option<String>,
    },
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
#[serde(tag = "from", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum InstallOrigin {
    /// A registry.
    Registry {
        /// What it lists.
        listing: RegistryListing,
        /// Who answered, and when.
        answer: RegistryAnswer,
    },
    /// A bundle. All but the hash, the sizes and the folder is what its publisher says.
    Bundle {
        /// The name of its file.
        file: String,
        /// The SHA-256 of the file, in hexadecimal digits.
        sha256: String,
        /// The size of the file in bytes.
        bytes: u64,
        /// Its name.
        name: String,
        /// Its name for people.
        title: Option<String>,
        /// Its version.
        version: String,
        /// What it is said to do.
        description: String,
        /// Its author.
        author: String,
        /// How it is signed, in words. A signature is never checked, and says nothing about safety.
        signature: String,
        /// The folder that it is unpacked to.
        folder: String,
        /// How many files are in it.
        files: u32,
        /// How many bytes they have when unpacked.
        unpacked_bytes: u64,
        /// What of it is not used, in sentences.
        warnings: Vec<String>,
    },
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

/// Whether what is installed can have a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum InstallContainment {
    /// It can.
    Possible,
    /// It is a container, which holds it as far as its arguments let it.
    Container,
    /// It runs elsewhere. What is sent to it goes to whoever runs it.
    Remote,
    /// No sandbox works on this computer.
    Impossible {
        /// Why.
        cause: String,
    },
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
    /// The sandbox; none if it may reach all that its user may.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
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
}

/// A server to install as it was previewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The server.
    pub draft: InstallDraft,
    /// [`InstallPreview::hash`]. If anything else would result by now, nothing is installed.
    pub hash: String,
}
