//! Import of servers from the settings of other apps.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ConfigProblem, Sandbox, ToolFilter};
pub use other_apps::{
    ImportNote, ImportNoteKind, ImportOrigin, ImportPlace, ImportPlaceholder, ImportStatus, ImportedValueKind,
};

/// Settings to search for servers. Without a member: all known apps in the home folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSource {
    /// Identifier of the only app to search.
    #[serde(default)]
    pub app: Option<String>,
    /// Project folder whose files are searched instead. Must be one of the folders that a server may know of.
    #[serde(default)]
    pub project: Option<String>,
}

/// Folder that may be a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ProjectFolder {
    /// Path of the folder. Must be one of the folders that a server may know of.
    pub folder: String,
}

/// Files of a project that may define servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectFiles {
    /// Paths relative to the folder. The files were not read.
    pub files: Vec<String>,
}

/// Servers found in the settings of other apps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidates {
    /// Names of the apps that were searched, in the order of the table of apps.
    pub looked_for: Vec<String>,
    /// Apps with servers, in the order of the table of apps.
    pub apps: Vec<ImportApp>,
    /// Files that could not be read, with line, column and cause.
    pub problems: Vec<ConfigProblem>,
}

/// App whose settings define servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportApp {
    /// Identifier of the app, as used in [`ImportSource`].
    pub id: String,
    /// Name of the app as its vendor writes it.
    pub name: String,
    /// Settings files that were read.
    pub files: Vec<ImportFile>,
    /// Servers of the app. A server that several apps define is listed only in the first one.
    pub servers: Vec<ImportCandidate>,
}

/// Settings file of an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportFile {
    /// Absolute path of the file.
    pub path: String,
    /// Number of servers in the file.
    pub servers: u32,
}

/// Server of another app. Secret values of variables and headers are not included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidate {
    /// Hash of the resulting configuration, without the values of secrets, and of its location. A candidate is imported
    /// only if its hash is unchanged.
    pub id: String,
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Locations at which the server was found.
    pub origins: Vec<ImportOrigin>,
    /// Transport: `stdio`, `http` or `sse`.
    pub transport: String,
    /// Command on one line, or URL.
    pub target: String,
    /// Working directory of a local server, if its app specifies one.
    pub folder: Option<String>,
    /// Sandbox of a local server, if its app specifies one in Drawbridge's format.
    pub sandbox: Option<Sandbox>,
    /// OAuth client of a remote server, if its app specifies one.
    pub sign_in: Option<ImportSignIn>,
    /// Environment variables of a local server.
    pub env: Vec<ImportedValue>,
    /// HTTP headers of a remote server.
    pub headers: Vec<ImportedValue>,
    /// Relation to the configured servers.
    pub status: ImportStatus,
    /// Placeholders in the command, the URL or the sign-in settings, which the user has to replace.
    pub placeholders: Vec<ImportPlaceholder>,
    /// `true` if the server is disabled in the other app.
    pub off: bool,
    /// Tools that the app offers to its model and that would be offered here too, or `None` for all.
    pub tools: Option<ToolFilter>,
    /// Settings that are not imported, or the reason why the server can't be imported.
    pub notes: Vec<ImportNote>,
}

/// OAuth client that an app uses to sign in to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportSignIn {
    /// Client identifier at the authorization server.
    pub client_id: Option<String>,
    /// `true` if there is a client secret, which is stored in the keychain.
    pub has_secret: bool,
    /// Issuer of the authorization server.
    pub issuer: Option<String>,
    /// Scopes to request, or empty for the scopes that the server requires.
    pub scopes: Vec<String>,
}

/// Variable or header of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedValue {
    /// Name of the variable or header.
    pub name: String,
    /// Kind of the value: secret, plain text or reference.
    pub kind: ImportedValueKind,
    /// `true` if the user has to enter the value after the import.
    pub to_enter: bool,
}

/// Request to import servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportServers {
    /// Source with which the candidates were listed.
    pub source: ImportSource,
    /// Identifiers of the selected candidates.
    pub ids: Vec<String>,
}

/// Outcomes of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportedServers {
    /// Outcome for each selected candidate, in the order of the request.
    pub outcomes: Vec<ImportOutcome>,
}

/// Outcome for one selected candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportOutcome {
    /// Identifier of the candidate.
    pub id: String,
    /// Name of the imported server in the settings, or `None` if it was not imported.
    pub name: Option<String>,
    /// Reason why the secrets are stored only until Drawbridge exits, if they are.
    pub only_this_run: Option<String>,
    /// Reason why the server was not imported.
    pub problem: Option<String>,
}
