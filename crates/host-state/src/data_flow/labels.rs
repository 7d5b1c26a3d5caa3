//! Labels of conversations: the servers whose content each conversation contains. A label does not classify the
//! content. Used by `host/src/owner/provenance.rs`.

use domain::history::ReadContent;
use indexmap::IndexMap;

/// Maximum number of labeled conversations. A conversation without a label is untrusted, so that calls of its model
/// require consent.
const MAX_LABELED_CONVERSATIONS: usize = 1_000;
/// Maximum number of servers in the label of a conversation.
const MAX_SERVERS_PER_LABEL: usize = 64;
/// Maximum number of records of one server's content in a label.
const MAX_READ_CONTENTS_PER_SERVER: usize = 16;

/// Data flow label of one conversation: the servers whose content the conversation contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataFlowLabel {
    /// Servers whose content the conversation contains, in order of first appearance.
    pub servers: Vec<String>,
    /// Set if the label lists all servers with content in the conversation, including content that is older than the
    /// label.
    pub is_whole: bool,
    /// Records of the servers' content that models have read in the conversation.
    pub read_contents: Vec<ReadContent>,
}

/// Data flow labels of conversations, by identifier of the conversation.
#[derive(Debug, Default)]
pub struct DataFlowLabels(IndexMap<String, DataFlowLabel>);

impl DataFlowLabels {
    /// Returns the label of a conversation, if it has one.
    pub fn label(&self, conversation: &str) -> Option<&DataFlowLabel> {
        self.0.get(conversation)
    }

    /// Adds servers to the label of a conversation. The caller sets `is_whole` if no other server has content in the
    /// conversation. Returns `true` if a server was added.
    pub fn add(&mut self, conversation: &str, servers: &[String], is_whole: bool) -> bool {
        let label = self.label_mut(conversation);
        label.is_whole |= is_whole;
        let before = label.servers.len();
        for server in servers {
            if label.servers.len() < MAX_SERVERS_PER_LABEL && !label.servers.contains(server) {
                label.servers.push(server.clone());
            }
        }
        label.servers.len() > before
    }

    /// Returns the label of a conversation, and creates it if it doesn't exist yet.
    fn label_mut(&mut self, conversation: &str) -> &mut DataFlowLabel {
        if !self.0.contains_key(conversation) && self.0.len() >= MAX_LABELED_CONVERSATIONS {
            self.0.shift_remove_index(0);
        }
        self.0.entry(conversation.to_owned()).or_default()
    }

    /// Adds records of the servers' content that a model has read to the label of the conversation. At most
    /// [`MAX_READ_CONTENTS_PER_SERVER`] are stored per server. If the content of one record may contain third-party
    /// text, at least one such record is stored.
    pub fn add_read_contents(&mut self, conversation: &str, read_contents: &[ReadContent]) {
        let label = self.label_mut(conversation);
        for new in read_contents {
            let same = |own: &ReadContent| own.server == new.server && own.kind == new.kind && own.name == new.name;
            if let Some(own) = label.read_contents.iter_mut().find(|own| same(own)) {
                own.open_world |= new.open_world;
                continue;
            }
            if label.read_contents.iter().filter(|own| own.server == new.server).count() >= MAX_READ_CONTENTS_PER_SERVER
            {
                let spare = |own: &ReadContent| own.server == new.server && !own.may_contain_third_party_text();
                let Some(at) =
                    label.read_contents.iter().position(spare).filter(|_| new.may_contain_third_party_text())
                else {
                    continue;
                };
                label.read_contents.remove(at);
            }
            label.read_contents.push(new.clone());
        }
    }

    /// Returns the servers other than `server` whose content may have caused a model's call of one of `server`'s tools,
    /// or `None` if the conversation contains no content of other servers. Unknown content counts as content of other
    /// servers.
    pub fn other_servers_before_call(&self, conversation: &str, server: &str) -> Option<Vec<String>> {
        let Some(label) = self.label(conversation) else { return Some(Vec::new()) };
        let others: Vec<String> = label.servers.iter().filter(|other| *other != server).cloned().collect();
        (!others.is_empty() || !label.is_whole).then_some(others)
    }
}

#[cfg(test)]
mod tests {
    use domain::history::ReadContentKind;

    use super::*;

    #[test]
    fn content_of_other_servers_and_unknown_labels_are_untrusted() {
        let mut labels = DataFlowLabels::default();
        assert_eq!(
            labels.other_servers_before_call("c", "b"),
            Some(Vec::new()),
            "X09: a conversation without a label is untrusted"
        );
        assert!(!labels.add("c", &[], true), "no server is added to a new conversation");
        assert_eq!(labels.other_servers_before_call("c", "b"), None, "an empty conversation is trusted");
        assert!(labels.add("c", &["b".into()], false), "the server b is added");
        assert_eq!(
            labels.other_servers_before_call("c", "b"),
            None,
            "content of the same server doesn't count as another's"
        );
        assert!(labels.add("c", &["a".into(), "b".into()], false), "the server a is added");
        assert!(!labels.add("c", &["a".into()], false), "a known server is not added again");
        assert_eq!(
            labels.other_servers_before_call("c", "b"),
            Some(vec!["a".to_owned()]),
            "X09: content of another server counts"
        );
        labels.add("old", &["b".into()], false);
        assert_eq!(
            labels.other_servers_before_call("old", "b"),
            Some(Vec::new()),
            "X09: earlier content of an old conversation is unknown"
        );
    }

    #[test]
    fn open_world_contents_are_retained_within_the_bound() {
        let mut labels = DataFlowLabels::default();
        let tool = |n: usize| ReadContent::new("a", ReadContentKind::Tool, &n.to_string());
        let tools: Vec<ReadContent> = (0..MAX_READ_CONTENTS_PER_SERVER + 5).map(tool).collect();
        labels.add_read_contents("c", &tools);
        let read_contents =
            |labels: &DataFlowLabels| labels.label("c").map(|label| label.read_contents.clone()).unwrap_or_default();
        assert_eq!(read_contents(&labels).len(), MAX_READ_CONTENTS_PER_SERVER, "the number is limited");
        labels.add_read_contents("c", &[ReadContent::new("a", ReadContentKind::Resource, "file:///x")]);
        assert_eq!(read_contents(&labels).len(), MAX_READ_CONTENTS_PER_SERVER, "the number stays limited");
        assert!(
            read_contents(&labels).iter().any(ReadContent::may_contain_third_party_text),
            "S26: open content replaces closed content"
        );
        labels.add_read_contents("c", &[ReadContent { open_world: true, ..tool(3) }]);
        assert!(
            read_contents(&labels).iter().any(|own| own.name == "3" && own.open_world),
            "S26: the open-world flag is updated"
        );
    }

    #[test]
    fn labels_are_bounded_and_dropped_labels_are_untrusted() {
        let mut labels = DataFlowLabels::default();
        let servers: Vec<String> = (0..MAX_SERVERS_PER_LABEL + 5).map(|n| n.to_string()).collect();
        labels.add("first", &servers, true);
        assert_eq!(
            labels.label("first").map(|l| l.servers.len()),
            Some(MAX_SERVERS_PER_LABEL),
            "the number of servers is limited"
        );
        for n in 0..MAX_LABELED_CONVERSATIONS {
            labels.add(&n.to_string(), &[], true);
        }
        assert_eq!(labels.label("first"), None, "the oldest label is dropped");
        assert!(
            labels.other_servers_before_call("first", "b").is_some(),
            "a dropped label makes its conversation untrusted"
        );
    }
}
