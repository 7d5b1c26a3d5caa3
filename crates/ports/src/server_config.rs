//! The configuration of a server: its entry in `mcp.json`.

mod address;
mod auth;
mod auth_terms;
mod hashes;
mod named_secrets;
mod new_server;
mod sandbox;
mod server_origin;
mod tool_filter;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcp_proto::Revision;
use serde::{Deserialize, Serialize};

pub use address::{HttpConfig, HttpKind, header_problem, url_problem};
pub use auth::{AuthConfig, AuthIdentityProvider, GrantType};
pub use auth_terms::{AuthField, AuthTerm};
pub use hashes::{address_hash, config_hash, definition_hash, path_json, stdio_hash};
pub use new_server::{NewServer, ValuePart};
pub use sandbox::{AccessMode, AllowedFolder, HostPattern, NetworkAccess, SandboxConfig, access_name as access_word};
pub use server_origin::{BundleFiles, FilledInputs, InstallTarget, InstallationInfo, ServerOrigin};
pub use tool_filter::ToolFilter;

/// A server of `mcp.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The user's name for the server: unique, 1 to 64 characters, no control characters.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
}

/// The configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Transport to the server.
    pub transport: ServerTransport,
    /// Protocol revision to use exclusively, or `None` to negotiate it.
    pub revision: Option<Revision>,
    /// Tools that are offered to models.
    pub tools: ToolFilter,
}

/// The transport to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A local program with pipes.
    Stdio(StdioConfig),
    /// A remote server at a URL.
    Http(HttpConfig),
}

/// The command of a local server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// Name or path of the program.
    pub command: String,
    /// Arguments, each passed unchanged.
    pub args: Vec<String>,
    /// Environment variables in addition to the allow-listed ones.
    pub env: BTreeMap<String, String>,
    /// Working directory, if set.
    pub cwd: Option<PathBuf>,
    /// Access rights of the sandbox, or `None` to run with all rights of the user.
    pub sandbox: Option<SandboxConfig>,
}

/// A server that was found in pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedServer {
    /// Suggested name: valid, and not taken.
    pub name: String,
    /// Configuration of the server.
    pub config: ServerConfig,
    /// Remarks for the user: placeholders to fill in, unknown keys, reasons why the server is unusable.
    pub notes: Vec<String>,
    /// Names of variables or headers whose values are secrets, including those still to be entered. They belong in the
    /// keychain.
    pub secrets: Vec<String>,
    /// Set if the server can be added: it has a valid command or URL. Placeholders don't matter.
    pub usable: bool,
}

/// A problem with a settings file or pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{}{}{message}", file.as_deref().map(|f| format!("{f}: ")).unwrap_or_default(), line.map(|l| format!("line {l}: ")).unwrap_or_default())]
pub struct ConfigProblem {
    /// Path of the file, or `None` for pasted text.
    pub file: Option<String>,
    /// Line of the problem, from 1.
    pub line: Option<u32>,
    /// Column of the problem, from 1.
    pub column: Option<u32>,
    /// Description of the content and the expectation.
    pub message: String,
}

impl Default for ServerConfig {
    fn default() -> Self {
        StdioConfig::default().into()
    }
}

impl From<StdioConfig> for ServerConfig {
    fn from(config: StdioConfig) -> Self {
        Self { transport: ServerTransport::Stdio(config), revision: None, tools: ToolFilter::default() }
    }
}

impl From<HttpConfig> for ServerConfig {
    fn from(config: HttpConfig) -> Self {
        Self { transport: ServerTransport::Http(config), revision: None, tools: ToolFilter::default() }
    }
}

impl ServerConfig {
    /// Returns the target on one line: program and arguments, or the URL.
    #[must_use]
    pub fn command_line(&self) -> String {
        match &self.transport {
            ServerTransport::Stdio(config) => config.command_line(),
            ServerTransport::Http(config) => config.url.clone(),
        }
    }

    /// Returns the command of a local server.
    #[must_use]
    pub const fn as_stdio(&self) -> Option<&StdioConfig> {
        match &self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// Returns the command of a local server, for modification.
    pub const fn as_stdio_mut(&mut self) -> Option<&mut StdioConfig> {
        match &mut self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// Returns the address of a remote server.
    #[must_use]
    pub const fn as_http(&self) -> Option<&HttpConfig> {
        match &self.transport {
            ServerTransport::Stdio(_) => None,
            ServerTransport::Http(config) => Some(config),
        }
    }

    /// Returns the reason why the configuration is invalid, or `None` if it is valid. The existence of a program is
    /// only checked when it starts.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let problem = match &self.transport {
            ServerTransport::Stdio(config) => config.problem(),
            ServerTransport::Http(config) => config.problem(),
        };
        problem.or_else(|| self.tools.problem())
    }

    /// Returns `true` if the configurations differ in nothing but the tools that are offered to models, so that a
    /// running server need not be stopped.
    #[must_use]
    pub fn differs_in_tools_only(&self, other: &Self) -> bool {
        self.starts_as(other) && self.tools != other.tools
    }

    /// Returns `true` if both configurations start the same server: transport and revision are equal. The tools that
    /// are offered to models have no effect on a start.
    #[must_use]
    pub fn starts_as(&self, other: &Self) -> bool {
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
            return Some("there is a NUL character in it, which no program takes".to_owned());
        }
        self.sandbox.as_ref().and_then(SandboxConfig::problem)
    }

    /// Returns program and arguments on one line, quoted so that arguments are distinguishable. For display only: a
    /// shell never executes it.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut line = quote(&self.command);
        for argument in &self.args {
            line.push(' ');
            line.push_str(&quote(argument));
        }
        line
    }
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
