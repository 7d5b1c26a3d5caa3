//! A server as parsed from an entry, before its name is assigned and its secrets are separated.

use std::collections::BTreeSet;

use mcp_proto::Revision;
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig, ToolFilter};

use crate::notes::ImportNotes;

/// A server as parsed, before its name is assigned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerCandidate {
    pub(crate) name: Option<String>,
    pub(crate) config: StdioConfig,
    /// Address of a remote server.
    pub(crate) remote: Option<HttpConfig>,
    pub(crate) revision: Option<Revision>,
    /// Tools that the app offers to its model.
    pub(crate) tools: ToolFilter,
    pub(crate) notes: ImportNotes,
    /// Set if the transport is not supported.
    pub(crate) unknown: bool,
    pub(crate) extras: EntryExtras,
}

/// Parts of an entry that have no place in a [`ServerConfig`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EntryExtras {
    /// Set if the app does not start the server.
    pub(crate) off: bool,
    /// Variables and headers that the entry only names. Their value here is a reference to an environment variable.
    pub(crate) named_only: BTreeSet<String>,
    /// Names whose values are stored in the app's keychain.
    pub(crate) in_keychain: BTreeSet<String>,
    /// Path of a file with further variables.
    pub(crate) env_file: Option<String>,
    /// Values for which the app prompts the user.
    pub(crate) inputs: Vec<AppInput>,
    /// Set if the entry does not name its transport.
    pub(crate) untyped: bool,
    /// Set if the entry comes from an install link.
    pub(crate) by_link: bool,
}

/// A value for which an app prompts the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppInput {
    /// Identifier that values refer to.
    pub(crate) id: String,
    /// Set if the app masks the input.
    pub(crate) password: bool,
    /// Set if a command of the app supplies the value instead of the user.
    pub(crate) command: bool,
}

impl ServerCandidate {
    pub(crate) fn config(&self) -> ServerConfig {
        let transport = match &self.remote {
            Some(remote) => ServerTransport::Http(remote.clone()),
            None => ServerTransport::Stdio(self.config.clone()),
        };
        ServerConfig { transport, revision: self.revision, tools: self.tools.clone() }
    }
}
