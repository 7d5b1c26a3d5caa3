//! Labels of conversations with the servers whose content they contain, and data flow settings of servers. Used by
//! `host/src/owner/flow_settings.rs` and `host/src/owner/provenance.rs`.

mod labels;

pub use labels::DataFlowLabel;
pub use labels::DataFlowLabels;

use std::collections::{BTreeMap, BTreeSet};

use domain::StoreError;
use domain::consent_request::ConsentRequestOrigin;
use domain::data_flow::{DataFlow, MAX_TOOL_SETTINGS};
use domain::history::ReadContent;

use super::{CallOrigin, HostClosed, ServerError};

/// Data flow settings of servers, by server name.
pub type DataFlowSettings = BTreeMap<String, DataFlow>;

/// Data from which the host determines if a model's call may depend on untrusted content of servers.
#[derive(Default)]
pub struct DataFlowTable {
    /// Servers whose content models have read, by conversation.
    pub labels: DataFlowLabels,
    /// Data flow settings by server name. A server without an entry has the default settings.
    pub flows: DataFlowSettings,
    /// Number of changes of `flows` that are being written to disk.
    pub pending_changes: usize,
}

/// Error of changing the data flow settings of a server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DataFlowError {
    /// No server has this name.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The maximum number of tools with a setting of their own is exceeded.
    #[error("at most {MAX_TOOL_SETTINGS} tools can have individual settings")]
    TooMany,
    /// The data flow settings or the audit entry of the change can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl DataFlowTable {
    /// Returns the data flow settings of a server, or the default settings if the server has none.
    pub fn data_flow_of(&self, server: &str) -> DataFlow {
        self.flows.get(server).cloned().unwrap_or_default()
    }

    /// Returns the servers whose content is known to be in a conversation.
    pub fn label_of(&self, conversation: &str) -> DataFlowLabel {
        self.labels.label(conversation).cloned().unwrap_or_default()
    }

    /// Replaces the data flow settings by those read from the file. Returns the names of servers whose settings
    /// changed.
    pub fn replace(&mut self, now: DataFlowSettings) -> Vec<String> {
        let before = std::mem::replace(&mut self.flows, now);
        let servers: BTreeSet<&String> = before.keys().chain(self.flows.keys()).collect();
        servers.into_iter().filter(|name| before.get(*name) != self.flows.get(*name)).cloned().collect()
    }

    /// Returns the records of a server's content that a model has read in a conversation and that make its further
    /// calls of the same server require consent.
    fn untrusted_read_contents(&self, conversation: &str, server: &str, is_remote: bool) -> Vec<ReadContent> {
        let Some(label) = self.labels.label(conversation) else { return Vec::new() };
        let flow = self.data_flow_of(server).same_server;
        let may_require = |own: &&ReadContent| own.server == server && flow.requires_consent_after(own, is_remote);
        label.read_contents.iter().filter(may_require).cloned().collect()
    }

    /// Returns `true` if untrusted content may have caused the call: a model makes the call after it has read content
    /// of another server, or content of this server that the server's data flow settings treat as untrusted, or an MCP
    /// app makes the call and its page may contact other hosts.
    pub fn follows_untrusted_content(&self, origin: &CallOrigin, server: &str, is_remote: bool) -> bool {
        match origin {
            CallOrigin::User { .. } | CallOrigin::CommandLine => false,
            CallOrigin::App { reaches_other_hosts, .. } => *reaches_other_hosts,
            CallOrigin::Model { conversation } => {
                self.labels.other_servers_before_call(conversation, server).is_some()
                    || !self.untrusted_read_contents(conversation, server, is_remote).is_empty()
            }
        }
    }

    /// Returns the origin of a call as displayed in its consent request.
    pub fn consent_origin_of_call(&self, origin: &CallOrigin, server: &str, is_remote: bool) -> ConsentRequestOrigin {
        match origin {
            CallOrigin::User { conversation } => ConsentRequestOrigin::User { conversation: conversation.clone() },
            CallOrigin::CommandLine => ConsentRequestOrigin::User { conversation: None },
            CallOrigin::App { conversation, tool, reaches_other_hosts } => ConsentRequestOrigin::App {
                conversation: conversation.clone(),
                tool: tool.clone(),
                reaches_other_hosts: *reaches_other_hosts,
            },
            CallOrigin::Model { conversation } => ConsentRequestOrigin::Model {
                conversation: conversation.clone(),
                untrusted_servers: self.labels.other_servers_before_call(conversation, server).unwrap_or_default(),
                same_server_readings: self.untrusted_read_contents(conversation, server, is_remote),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::history::ReadContentKind;

    use super::*;

    #[test]
    fn call_by_a_model_that_read_content_of_another_server_is_untrusted() {
        let mut table = DataFlowTable::default();
        table.labels.add("c", &["other".to_owned()], true);
        let model = CallOrigin::Model { conversation: "c".to_owned() };
        assert!(
            table.follows_untrusted_content(&model, "s", false),
            "X09: content of another server may have caused the call"
        );
        let user = CallOrigin::User { conversation: Some("c".to_owned()) };
        assert!(!table.follows_untrusted_content(&user, "s", false), "the user's own call is trusted");
        let ConsentRequestOrigin::Model { untrusted_servers: after, .. } =
            table.consent_origin_of_call(&model, "s", false)
        else {
            panic!("a model calls")
        };
        assert_eq!(after, ["other"], "the origin names the other server");
    }

    #[test]
    fn open_world_content_of_the_same_server_counts_as_untrusted() {
        let mut table = DataFlowTable::default();
        table.labels.add("c", &["s".to_owned()], true);
        let model = CallOrigin::Model { conversation: "c".to_owned() };
        assert!(
            !table.follows_untrusted_content(&model, "s", false),
            "content of the same server doesn't count as another's"
        );
        let closed = ReadContent::new("s", ReadContentKind::Tool, "list");
        table.labels.add_read_contents("c", &[closed]);
        assert!(
            !table.follows_untrusted_content(&model, "s", false),
            "the output of a local tool without a hint doesn't count"
        );
        assert!(table.follows_untrusted_content(&model, "s", true), "S26: a remote server always counts as open-world");
        let open = ReadContent { open_world: true, ..ReadContent::new("s", ReadContentKind::Tool, "search") };
        table.labels.add_read_contents("c", &[open]);
        assert!(table.follows_untrusted_content(&model, "s", false), "S26: a tool with `openWorldHint` counts");
        let ConsentRequestOrigin::Model { same_server_readings: read, .. } =
            table.consent_origin_of_call(&model, "s", false)
        else {
            panic!("a model calls")
        };
        assert_eq!(
            read.iter().map(|own| own.name.as_str()).collect::<Vec<_>>(),
            ["search"],
            "the origin names the content"
        );
    }

    #[test]
    fn app_that_reaches_other_hosts_is_untrusted() {
        let table = DataFlowTable::default();
        let app = |reaches_other_hosts| CallOrigin::App {
            conversation: None,
            tool: "show-map".to_owned(),
            reaches_other_hosts,
        };
        assert!(table.follows_untrusted_content(&app(true), "s", false), "another host may have caused the call");
        assert!(
            !table.follows_untrusted_content(&app(false), "s", true),
            "the page only has content of its own server"
        );
        let shown = table.consent_origin_of_call(&app(true), "s", false);
        assert!(
            matches!(&shown, ConsentRequestOrigin::App { tool, .. } if tool == "show-map"),
            "the origin should name the tool of the app: {shown:?}"
        );
    }

    #[test]
    fn servers_with_changed_data_flow_are_reported_once() {
        let mut table = DataFlowTable::default();
        let file = |names: &[&str]| {
            names.iter().map(|name| ((*name).to_owned(), DataFlow::default())).collect::<DataFlowSettings>()
        };
        assert_eq!(table.replace(file(&["a", "b"])), ["a", "b"], "added servers are reported");
        assert_eq!(table.replace(file(&["b", "c"])), ["a", "c"], "removed and added servers are reported");
        assert!(table.replace(file(&["b", "c"])).is_empty(), "nothing changed");
    }
}
