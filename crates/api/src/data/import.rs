//! Servers of other apps: what is found in their settings, and which of it is imported.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ConfigProblem;
pub use other_apps::{ImportNote, ImportNoteKind, ImportOrigin, ImportPlace, ImportPlaceholder, ImportStatus, ImportedValueKind};

/// Where to look for servers of other apps: everywhere if nothing is named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSource {
    /// Only in this app, by its id.
    #[serde(default)]
    pub app: Option<String>,
}

/// The servers of other apps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidates {
    /// The names of the apps that were looked for, in the order of the table of apps.
    pub looked_for: Vec<String>,
    /// The apps that have any, in the order of the table of apps.
    pub apps: Vec<ImportApp>,
    /// Files that could not be read, with the line, the column and the cause.
    pub problems: Vec<ConfigProblem>,
}

/// An app whose settings have servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportApp {
    /// The app's id, as [`ImportSource`] takes it.
    pub id: String,
    /// The app's name as its maker writes it.
    pub name: String,
    /// The settings files that were read.
    pub files: Vec<ImportFile>,
    /// The servers that are found in it first. One that other apps have, too, stands only here.
    pub servers: Vec<ImportCandidate>,
}

/// A settings file of an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportFile {
    /// The absolute path.
    pub path: String,
    /// How many servers are in it.
    pub servers: u32,
}

/// A server of another app. No value of a variable or header is in it that is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidate {
    /// A hash over what would be set up but the values of secrets, and over where it was found. Only what still has it is imported.
    pub id: String,
    /// The name it would get; free among the user's servers.
    pub name: String,
    /// Where it was found.
    pub origins: Vec<ImportOrigin>,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The command on one line, or the URL.
    pub target: String,
    /// The environment variables of a local server.
    pub env: Vec<ImportedValue>,
    /// The HTTP headers of a remote server.
    pub headers: Vec<ImportedValue>,
    /// How it stands to the servers that are set up.
    pub status: ImportStatus,
    /// Texts in its command, its address or its sign-in that the user has to replace before it works.
    pub placeholders: Vec<ImportPlaceholder>,
    /// True if the server is turned off in the other app.
    pub off: bool,
    /// Tools that would be denied, as its app does.
    pub denied_tools: Vec<String>,
    /// The only tools that its app gives to a model; all if empty. Drawbridge does not limit them.
    pub exposed_tools: Vec<String>,
    /// Settings that are not imported, or the reason why the server can't be.
    pub notes: Vec<ImportNote>,
}

/// A variable or header of a server that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedValue {
    /// The name of the variable or header.
    pub name: String,
    /// Whether the value is a secret, plain text or a reference.
    pub kind: ImportedValueKind,
    /// True if the user has to enter the value after the import.
    pub to_enter: bool,
}

/// Servers to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportServers {
    /// The source of the list that they were picked from.
    pub source: ImportSource,
    /// The ids of the picked candidates.
    pub ids: Vec<String>,
}

/// The outcomes of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportedServers {
    /// One for each picked id, in the order of the request.
    pub outcomes: Vec<ImportOutcome>,
}

/// The outcome of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportOutcome {
    /// The picked id.
    pub id: String,
    /// Its name here, if it was imported.
    pub name: Option<String>,
    /// Why its secrets are kept only until Drawbridge is closed, if they are.
    pub only_this_run: Option<String>,
    /// Why it was not imported.
    pub problem: Option<String>,
}
