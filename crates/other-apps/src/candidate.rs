//! A server as an entry describes it, before its name is settled and its secrets are found.

use std::collections::BTreeSet;

use mcp_proto::Revision;
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig};

use crate::notes::Notes;

/// A server as it was found, before its name is settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) name: Option<String>,
    pub(crate) config: StdioConfig,
    /// Where it is, if it is not started here.
    pub(crate) remote: Option<HttpConfig>,
    pub(crate) revision: Option<Revision>,
    pub(crate) notes: Notes,
    /// Its transport is not known here.
    pub(crate) unknown: bool,
    pub(crate) extras: Extras,
}

/// The parts of an entry that no [`ServerConfig`] has a place for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// The app does not start it.
    pub(crate) off: bool,
    /// Tools that the app keeps from its model.
    pub(crate) denied_tools: Vec<String>,
    /// The only tools that the app offers to its model; all if empty.
    pub(crate) exposed_tools: Vec<String>,
    /// Variables and headers that the entry only names. Their value here is a reference to a variable of the environment.
    pub(crate) named_only: BTreeSet<String>,
    /// Those of them whose values the app has in its keychain.
    pub(crate) in_keychain: BTreeSet<String>,
    /// A file with more variables.
    pub(crate) env_file: Option<String>,
    /// Values that the app asks its user for.
    pub(crate) inputs: Vec<Input>,
    /// The entry does not name its transport.
    pub(crate) untyped: bool,
    /// It stands in an install link.
    pub(crate) by_link: bool,
}

/// A value that an app asks its user for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// The name by which values refer to it.
    pub(crate) id: String,
    /// The app hides it while the user types it.
    pub(crate) password: bool,
    /// A command of the app gives it, and no user.
    pub(crate) command: bool,
}

impl Candidate {
    pub(crate) fn config(&self) -> ServerConfig {
        let transport = match &self.remote {
            Some(remote) => ServerTransport::Http(remote.clone()),
            None => ServerTransport::Stdio(self.config.clone()),
        };
        ServerConfig { transport, revision: self.revision }
    }
}
