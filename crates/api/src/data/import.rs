//! Import of servers from the settings of other apps, and export in their formats.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ConfigProblem, Sandbox, ToolFilter};
pub use other_apps::{
    ExportOmissions, ImportNote, ImportNoteKind, ImportOrigin, ImportPlace, ImportPlaceholder, ImportStatus,
    ImportedValueKind, OmittedSetting, ProjectServers, SecretPlace,
};

/// Settings files to search for servers. By default, those of all known apps in the home folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSource {
    /// Identifier of the one app whose settings are searched, or `None` to search those of all known apps.
    #[serde(default)]
    pub app: Option<String>,
    /// Project folder to search instead of the home folder, or `None`. The folder must be shared with a server as a
    /// root.
    #[serde(default)]
    pub project: Option<String>,
    /// Absolute path of the folder that replaces `${workspaceFolder}` in the user's settings, or `None` if the user has
    /// not chosen one. In a project's files, the reference stands for the project folder.
    #[serde(default)]
    pub workspace: Option<String>,
}

/// Request that refers to a project folder, which may contain settings files that define servers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ProjectFolder {
    /// Path of the project folder, which must be shared with a server as a root.
    pub folder: String,
}

/// Settings files of other apps in a project folder. They may define servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ProjectFiles {
    /// Paths of the files, relative to the folder.
    pub files: Vec<String>,
}

/// Projects whose settings files define servers that the user has not seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
pub struct UnseenProjects {
    /// Unseen projects, in the order of their paths.
    pub projects: Vec<ProjectServers>,
}

/// Project whose servers the user has seen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SeenProject {
    /// Path of the project folder, which must be shared with a server as a root.
    pub folder: String,
    /// Hash of the settings files, as in [`ProjectServers::hash`].
    pub hash: String,
}

/// Servers that a search of other apps' settings found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidates {
    /// Names of the apps whose settings were searched, in a fixed order.
    pub searched_apps: Vec<String>,
    /// Apps whose settings define servers, in a fixed order.
    pub apps: Vec<ImportApp>,
    /// `true` if a server that can be imported refers to the folder that is open in its app, so that the user has to
    /// choose [`ImportSource::workspace`].
    pub needs_workspace: bool,
    /// Files that could not be read or parsed, with line, column and cause.
    pub problems: Vec<ConfigProblem>,
}

/// App, such as another MCP host, whose settings define servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ImportApp {
    /// Identifier of the app, as in [`ImportSource::app`].
    pub id: String,
    /// Name of the app as its vendor writes it.
    pub name: String,
    /// Settings files of the app that were read.
    pub files: Vec<ImportFile>,
    /// Servers of the app. A server that several apps define is only listed for the first of them.
    pub servers: Vec<ImportCandidate>,
}

/// Settings file of an app, with the number of servers in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ImportFile {
    /// Absolute path of the file.
    pub path: String,
    /// Number of servers in the file.
    pub servers: u32,
}

/// Server found in the settings of another app. Does not contain the values of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportCandidate {
    /// Hash over the configuration that the import would create, without its secrets, and over the place where the
    /// server was found. The server is imported only if this hash is still the same at the time of the import.
    pub id: String,
    /// Suggested name, unique among the configured servers.
    pub name: String,
    /// Settings files in which the server was found.
    pub origins: Vec<ImportOrigin>,
    /// Transport: `stdio`, `http` or `sse`.
    pub transport: String,
    /// Command line of a local server, or URL of a remote server.
    pub target: String,
    /// Working directory of a local server, if the other app's settings contain one.
    pub folder: Option<String>,
    /// Sandbox of a local server, if the file contains one in Drawbridge's format.
    pub sandbox: Option<Sandbox>,
    /// OAuth client of a remote server, if the other app's settings contain one.
    pub sign_in: Option<ImportSignIn>,
    /// Environment variables of a local server.
    pub env: Vec<ImportedValue>,
    /// HTTP headers of a remote server.
    pub headers: Vec<ImportedValue>,
    /// Result of comparing the candidate with the configured servers.
    pub status: ImportStatus,
    /// Placeholders in the command, the URL or the sign-in settings that the user has to replace.
    pub placeholders: Vec<ImportPlaceholder>,
    /// `true` if the server is disabled in the other app.
    pub is_disabled: bool,
    /// Filter for the tools that the other app offers to its model. Drawbridge would offer the same tools. `None` for
    /// all tools.
    pub tools: Option<ToolFilter>,
    /// Notes about the import, such as settings that are not imported, or the reason why the server can't be imported.
    pub notes: Vec<ImportNote>,
}

/// OAuth client that another app uses to sign in to a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportSignIn {
    /// Client identifier at the authorization server, or `None` if the other app's settings contain none.
    pub client_id: Option<String>,
    /// `true` if the other app's settings contain a client secret. The import stores it in the keychain.
    pub has_secret: bool,
    /// Issuer identifier of the authorization server, if the other app's settings contain one.
    pub issuer: Option<String>,
    /// Scopes to request. If empty, the scopes that the server requires are requested.
    pub scopes: Vec<String>,
}

/// Environment variable or header of an import candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedValue {
    /// Name of the variable or header.
    pub name: String,
    /// Kind of the value: secret, plain text or reference.
    pub kind: ImportedValueKind,
    /// `true` if the user has to enter the value after the import.
    pub requires_input: bool,
    /// Place from which the import can take the value, or `None`. Its value is not used before the user chooses so.
    pub source: Option<ImportedValueSource>,
}

/// Place of a value that the other app's settings only refer to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ImportedValueSource {
    /// The environment that Drawbridge was started with.
    Environment {
        /// Names of the environment variables that the value refers to.
        variables: Vec<String>,
    },
    /// A file of environment variables (`envFile`), to which the other app's settings refer.
    File {
        /// Path of the file as in the other app's settings, safe to print.
        path: String,
    },
}

/// Choice of the user to take a value from its source, as in [`ImportedValue::source`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct TakenValue {
    /// Identifier of the candidate, as in [`ImportCandidate::id`].
    pub id: String,
    /// Name of the variable or header.
    pub name: String,
}

/// Request to import servers that an earlier search found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportServers {
    /// Search whose results were shown to the user.
    pub source: ImportSource,
    /// Identifiers of the selected candidates.
    pub ids: Vec<String>,
    /// Values to take from their sources. All others are left to the user.
    #[serde(default)]
    pub taken: Vec<TakenValue>,
}

/// Outcomes of an import, one for each selected candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
pub struct ImportedServers {
    /// Outcome for each selected candidate, in the order of the request.
    pub outcomes: Vec<ImportOutcome>,
}

/// Outcome of the import of one selected candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportOutcome {
    /// Identifier of the candidate, as in [`ImportCandidate::id`].
    pub id: String,
    /// Name of the imported server in the settings, or `None` if it was not imported.
    pub name: Option<String>,
    /// Reason why the secrets are stored only until Drawbridge exits, or `None` if the keychain stores them.
    pub only_this_run: Option<String>,
    /// Names of the variables and headers whose values were taken from their sources.
    pub taken: Vec<String>,
    /// Names of the environment variables that are not set, so that the user has to enter the values that refer to
    /// them.
    pub unset: Vec<String>,
    /// Reason why the server was not imported, or `None` if it was.
    pub problem: Option<String>,
}

/// Request to write one server in a format of other apps or as an install link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ExportServer {
    /// Name of the server in the settings.
    pub server: String,
    /// Format of the exported text.
    pub form: ServerExportForm,
}

/// Format in which one server is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerExportForm {
    /// JSON with an object `mcpServers`, as in the settings of most apps.
    McpServers,
    /// JSON with objects `servers` and `inputs`, as in the settings of VS Code.
    VsCode,
    /// Link that adds the server to Drawbridge.
    Link,
    /// Markdown with that link, for a README.
    LinkMarkdown,
}

/// One server in a format of other apps or as an install link. Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ExportedServer {
    /// JSON, link or Markdown, for copying.
    pub text: String,
    /// Values and settings that the text omits.
    pub omissions: ExportOmissions,
}
