//! How a server is set up: its entry in `mcp.json`.

mod address;
mod auth;
mod auth_terms;
mod hashes;
mod named_secrets;
mod new_server;
mod origin;
mod sandbox;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcp_proto::Revision;
use serde::{Deserialize, Serialize};

pub use address::{HttpConfig, HttpKind, header_problem, url_problem};
pub use auth::{AuthConfig, AuthIdentityProvider, Grant};
pub use auth_terms::{AuthField, AuthTerm};
pub use hashes::{address_hash, config_hash, definition_hash, path_in_json, stdio_hash};
pub use new_server::{NewServer, ValuePart};
pub use origin::{BundleFiles, FilledIn, InstallTarget, Installed, ServerOrigin};
pub use sandbox::{Access, Folder, HostPattern, Network, SandboxConfig, word as access_word};

/// One server of `mcp.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The user's own name for it; unique, not empty, at most 64 characters, no control characters.
    pub name: String,
    /// How it is reached.
    pub config: ServerConfig,
}

/// How a server is reached, and what is known of it beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// How it is reached.
    pub transport: ServerTransport,
    /// The revision to speak with it and no other; none to find out.
    pub revision: Option<Revision>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A local program that is started.
    Stdio(StdioConfig),
    /// A URL.
    Http(HttpConfig),
}

/// How a local server is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program, a name to be found or a path.
    pub command: String,
    /// Its arguments, each as it is passed.
    pub args: Vec<String>,
    /// Variables set beside the allow-listed ones.
    pub env: BTreeMap<String, String>,
    /// The folder it starts in.
    pub cwd: Option<PathBuf>,
    /// What it may reach; none if all that its user may.
    pub sandbox: Option<SandboxConfig>,
}

/// One server in pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The name it would get: usable, and not taken.
    pub name: String,
    /// How it would be reached.
    pub config: ServerConfig,
    /// What to look at, in words: placeholders to fill in, keys that are not understood, why it can't be used.
    pub notes: Vec<String>,
    /// Variables or headers whose values are secrets, or are to be typed and then are: they belong into the keychain.
    pub secrets: Vec<String>,
    /// Whether it can be added: it has a command or a URL that can be used. Placeholders are noted and do not count.
    pub usable: bool,
}

/// What is wrong with a settings file or pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{}{}{message}", file.as_deref().map(|f| format!("{f}: ")).unwrap_or_default(), line.map(|l| format!("line {l}: ")).unwrap_or_default())]
pub struct ConfigProblem {
    /// The file, or nothing for pasted text.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// What is there and what was expected.
    pub message: String,
}

impl Default for ServerConfig {
    fn default() -> Self {
        StdioConfig::default().into()
    }
}

impl From<StdioConfig> for ServerConfig {
    fn from(config: StdioConfig) -> Self {
        Self { transport: ServerTransport::Stdio(config), revision: None }
    }
}

impl From<HttpConfig> for ServerConfig {
    fn from(config: HttpConfig) -> Self {
        Self { transport: ServerTransport::Http(config), revision: None }
    }
}

impl ServerConfig {
    /// What is reached, on one line: program and arguments, or the URL.
    #[must_use]
    pub fn command_line(&self) -> String {
        match &self.transport {
            ServerTransport::Stdio(config) => config.command_line(),
            ServerTransport::Http(config) => config.url.clone(),
        }
    }

    /// The command of a local server.
    #[must_use]
    pub const fn as_stdio(&self) -> Option<&StdioConfig> {
        match &self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// The command of a local server, to change.
    pub const fn as_stdio_mut(&mut self) -> Option<&mut StdioConfig> {
        match &mut self.transport {
            ServerTransport::Stdio(config) => Some(config),
            ServerTransport::Http(_) => None,
        }
    }

    /// Where a remote server is.
    #[must_use]
    pub const fn as_http(&self) -> Option<&HttpConfig> {
        match &self.transport {
            ServerTransport::Stdio(_) => None,
            ServerTransport::Http(config) => Some(config),
        }
    }

    /// Why it can't be used, in words; nothing if it can. Whether a program is there is found out when it is started.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match &self.transport {
            ServerTransport::Stdio(config) => config.problem(),
            ServerTransport::Http(config) => config.problem(),
        }
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

    /// Program and arguments on one line, quoted so that each argument can be told apart. For showing; it is never run by a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut line = quoted(&self.command);
        for argument in &self.args {
            line.push(' ');
            line.push_str(&quoted(argument));
        }
        line
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
