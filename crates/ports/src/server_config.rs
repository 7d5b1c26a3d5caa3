//! The configuration of a server: its entry in `mcp.json`.

mod address;
mod auth;
mod auth_field_values;
mod hashes;
mod import_note;
mod named_secrets;
mod new_server;
mod sandbox;
mod server_origin;
mod tool_filter;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcp_proto::Revision;
use serde::{Deserialize, Serialize};

pub use address::{HttpConfig, HttpKind, header_problem, server_url_problem};
pub use auth::{AuthConfig, AuthIdentityProvider, GrantType};
pub use auth_field_values::{AuthField, AuthFieldValue};
pub use hashes::{address_hash, config_hash, grant_hash, path_to_json, stdio_hash};
pub use import_note::{ImportNote, ImportNoteKind, ImportPlace};
pub use new_server::{NewServer, ValuePart};
pub use sandbox::{
    AccessMode, AllowedFolder, HostPattern, NetworkAccess, SandboxConfig, access_mode_name as access_word,
};
pub use server_origin::{BundleFiles, FilledInputs, InstallTarget, InstallationInfo, ServerOrigin};
pub use tool_filter::ToolFilter;

/// A server as configured in `mcp.json`, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The user's name for the server: unique, 1 to 64 characters, no control characters.
    pub name: String,
    /// Command or URL of the server, and its other settings.
    pub config: ServerConfig,
}

/// The configuration of a server, without its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Transport over which Drawbridge contacts the server.
    pub transport: ServerTransport,
    /// Protocol revision that must be used, or `None` to negotiate it.
    pub revision: Option<Revision>,
    /// Filter for the tools that are available to models.
    pub tools: ToolFilter,
    /// `true` if the server starts together with Drawbridge, once its start is approved for all times.
    pub autostart: bool,
}

/// The way in which Drawbridge contacts a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// The server is a local program, contacted over its standard input and output.
    Stdio(StdioConfig),
    /// The server is remote, contacted over HTTP.
    Http(HttpConfig),
}

/// The command of a local server, with its environment and sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// Name of the program, looked up on the search path, or its path.
    pub command: String,
    /// Arguments of the program, each passed to it unchanged.
    pub args: Vec<String>,
    /// Environment variables in addition to those that are passed on from Drawbridge's environment.
    pub env: BTreeMap<String, String>,
    /// Working directory of the server, or `None` for the default.
    pub cwd: Option<PathBuf>,
    /// Access rights of the server in its sandbox, or `None` to run it with all rights of the user.
    pub sandbox: Option<SandboxConfig>,
}

/// A server that was found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedServer {
    /// Suggested name of the server, which is valid and not in use.
    pub name: String,
    /// Configuration of the server as parsed from the text.
    pub config: ServerConfig,
    /// Notes for the user: placeholders to fill in, unknown keys, reasons why the server is unusable.
    pub notes: Vec<ImportNote>,
    /// Names of variables or headers whose values are secrets, including those still to be entered. These values belong
    /// in the keychain.
    pub secrets: Vec<String>,
    /// Set if the server can be added: it has a valid command or URL. It may contain placeholders.
    pub usable: bool,
}

/// A problem with a settings file or pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{}{}{message}", file.as_deref().map(|f| format!("{f}: ")).unwrap_or_default(), line.map(|l| format!("line {l}: ")).unwrap_or_default())]
pub struct ConfigProblem {
    /// Path of the settings file, or `None` for pasted text.
    pub file: Option<String>,
    /// Number of the line with the problem, from 1, or `None` if it is unknown.
    pub line: Option<u32>,
    /// Number of the column with the problem, from 1, or `None` if it is unknown.
    pub column: Option<u32>,
    /// Message that describes the problem and the expected content.
    pub message: String,
}

impl Default for ServerConfig {
    fn default() -> Self {
        StdioConfig::default().into()
    }
}

impl From<StdioConfig> for ServerConfig {
    fn from(config: StdioConfig) -> Self {
        Self {
            transport: ServerTransport::Stdio(config),
            revision: None,
            tools: ToolFilter::default(),
            autostart: true,
        }
    }
}

impl From<HttpConfig> for ServerConfig {
    fn from(config: HttpConfig) -> Self {
        Self { transport: ServerTransport::Http(config), revision: None, tools: ToolFilter::default(), autostart: true }
    }
}

impl ServerConfig {
    /// Returns the server's command or address as one line of text: program and arguments, or the URL.
    #[must_use]
    pub fn command_line(&self) -> String {
        match &self.transport {
            ServerTransport::Stdio(config) => config.command_line(),
            ServerTransport::Http(config) => config.url.clone(),
        }
    }

    /// Returns the command of a local server, or `None` for a remote one.
    #[must_use]
    pub const fn as_stdio(&self) -> Option<&StdioConfig> {
        match &self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// Returns the command of a local server for modification, or `None` for a remote one.
    pub const fn as_stdio_mut(&mut self) -> Option<&mut StdioConfig> {
        match &mut self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// Returns the address of a remote server, or `None` for a local one.
    #[must_use]
    pub const fn as_http(&self) -> Option<&HttpConfig> {
        match &self.transport {
            ServerTransport::Stdio(_) => None,
            ServerTransport::Http(config) => Some(config),
        }
    }

    /// Returns the reason why the configuration is invalid, or `None` if it is valid. Doesn't check that the program
    /// exists, which is checked when it starts.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let problem = match &self.transport {
            ServerTransport::Stdio(config) => config.problem(),
            ServerTransport::Http(config) => config.problem(),
        };
        problem.or_else(|| self.tools.problem())
    }

    /// Returns `true` if the configurations differ only in the tools that are available to models or in whether the
    /// server starts with Drawbridge, so that a running server need not be stopped.
    #[must_use]
    pub fn differs_without_restart(&self, other: &Self) -> bool {
        self.starts_same_server_as(other) && (&self.tools, self.autostart) != (&other.tools, other.autostart)
    }

    /// Returns `true` if both configurations start the same server: transport and revision are equal. The tools that
    /// are offered to models have no effect on a start, nor has the time of the start.
    #[must_use]
    pub fn starts_same_server_as(&self, other: &Self) -> bool {
        (&self.transport, self.revision) == (&other.transport, other.revision)
    }
}

impl StdioConfig {
    fn problem(&self) -> Option<String> {
        if self.command.trim().is_empty() {
            return Some("the program to start is missing".to_owned());
        }
        let variables = self.env.iter().flat_map(|(name, value)| [name, value]);
        let texts = std::iter::once(&self.command).chain(&self.args).chain(variables);
        let folder = self.cwd.as_ref().map(|folder| folder.to_string_lossy());
        if texts.map(String::as_str).chain(folder.as_deref()).any(|text| text.contains('\0')) {
            return Some("it contains a NUL character, which no program accepts".to_owned());
        }
        self.sandbox.as_ref().and_then(SandboxConfig::problem)
    }

    /// Returns program and arguments on one line, with quotes that separate the arguments. For display only: no shell
    /// executes it.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut line = quote_command_word(&self.command);
        for argument in &self.args {
            line.push(' ');
            line.push_str(&quote_command_word(argument));
        }
        line
    }
}

/// Quotes a word of a text such as [`StdioConfig::command_line`] if it has blanks or other signs, so that the text of
/// different words is different. For display only: no shell executes it.
#[must_use]
pub fn quote_command_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
