//! Servers of other apps: what is found in their settings, and which of it is imported.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ConfigProblem, Sandbox};
pub use other_apps::{
    ImportNote, ImportNoteKind, ImportOrigin, ImportPlace, ImportPlaceholder, ImportStatus, ImportedValueKind,
};

/// Where to look for servers of other apps: in the home folder if nothing is named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSource {
    /// Only in this app, by its id.
    #[serde(default)]
    pub app: Option<String>,
    /// Only in the files of this project: one of the folders that a server may know of.
    #[serde(default)]
    pub project: Option<String>,
}

/// A folder that may be a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ProjectFolder {
    /// One of the folders that a server may know of.
    pub folder: String,
}

/// The files with servers in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectFiles {
    /// Their paths below the folder. They were not read.
    pub files: Vec<String>,
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
    /// The working folder of a local server, if its app names one.
    pub folder: Option<String>,
    /// What a local server may reach, if its app says so in Drawbridge's own form.
    pub sandbox: Option<Sandbox>,
    /// The client to sign in to a remote server as, if its app has one.
    pub sign_in: Option<ImportSignIn>,
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

/// The client that an app signs in to a server as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportSignIn {
    /// The id by which the authorization server knows the client.
    pub client_id: Option<String>,
    /// True if there is a client secret, which goes to the keychain.
    pub has_secret: bool,
    /// The authorization server.
    pub issuer: Option<String>,
    /// The scopes to ask for; what the server says is needed if empty.
    pub scopes: Vec<String>,
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
    /// The id of the candidate.
    pub id: String,
    /// Its name here, if it was imported.
    pub name: Option<String>,
    /// Why its secrets are kept only until Drawbridge is closed, if they are.
    pub only_this_run: Option<String>,
    /// Why it was not imported.
    pub problem: Option<String>,
}
