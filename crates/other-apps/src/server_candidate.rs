//! A server as parsed from an entry, before its name is assigned and its secrets are separated.

use std::collections::BTreeSet;

use mcp_proto::Revision;
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig, ToolFilter};

use crate::notes::ImportNotes;
use crate::variables::{ReferenceTarget, ValueReference};

/// A server as parsed from an entry of an app's settings or a link, before it gets a unique name and its secrets are
/// separated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerCandidate {
    pub(crate) name: Option<String>,
    pub(crate) config: StdioConfig,
    /// Settings of a remote server, or `None` for a local one.
    pub(crate) remote: Option<HttpConfig>,
    pub(crate) revision: Option<Revision>,
    /// Allow list and deny list of tools, which determine the tools that the other app offers to its model.
    pub(crate) tools: ToolFilter,
    /// Set if the server does not start together with Drawbridge.
    pub(crate) starts_by_hand: bool,
    pub(crate) notes: ImportNotes,
    /// Set if the entry specifies a transport that Drawbridge does not support.
    pub(crate) has_unsupported_transport: bool,
    pub(crate) extras: EntryExtras,
}

/// Data in a server's entry that a [`ServerConfig`] has no field for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EntryExtras {
    /// Set if the server is disabled in the other app.
    pub(crate) disabled: bool,
    /// Names of variables and headers for which the entry contains no value, but only a name. In the candidate, their
    /// value is a reference to an environment variable.
    pub(crate) names_without_value: BTreeSet<String>,
    /// Names of variables whose values are stored in the other app's keychain.
    pub(crate) in_keychain: BTreeSet<String>,
    /// Path of an environment file, if the entry refers to one. It contains further variables.
    pub(crate) env_file: Option<String>,
    /// Values for which the other app prompts the user.
    pub(crate) inputs: Vec<AppInput>,
    /// Set if the server's entry does not specify a transport.
    pub(crate) lacks_transport: bool,
    /// Set if the entry was read from an install link.
    pub(crate) is_from_link: bool,
}

/// A value for which an app prompts the user, as in VS Code's `inputs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppInput {
    /// Identifier by which values refer to the input.
    pub(crate) id: String,
    /// Set if the other app hides the value while the user enters it.
    pub(crate) password: bool,
    /// Set if the other app obtains the value by running a command, without a prompt.
    pub(crate) command: bool,
}

impl EntryExtras {
    /// Returns `true` if a reference stands for a password for which the other app prompts the user.
    pub(crate) fn is_password(&self, reference: &ValueReference) -> bool {
        match &reference.target {
            ReferenceTarget::Input(id) => self.inputs.iter().any(|input| input.password && input.id == *id),
            _ => false,
        }
    }
}

impl ServerCandidate {
    pub(crate) fn config(&self) -> ServerConfig {
        let transport = match &self.remote {
            Some(remote) => ServerTransport::Http(remote.clone()),
            None => ServerTransport::Stdio(self.config.clone()),
        };
        let autostart = !self.starts_by_hand;
        ServerConfig { transport, revision: self.revision, tools: self.tools.clone(), autostart }
    }
}
