//! The servers whose words are in each conversation: a simple label, and no verdict. Callers: `owner/provenance.rs`.

use domain::history::Reading;
use indexmap::IndexMap;

/// The most conversations of which it is known. What is not known is not trusted: calls of a model ask.
const MAX_CONVERSATIONS: usize = 1_000;
/// The most servers that are told of one conversation.
const MAX_SERVERS: usize = 64;
/// The most contents of one server that are told of one conversation.
const MAX_READINGS: usize = 16;

/// The servers whose words are in one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// The servers, in the order in which their words came.
    pub servers: Vec<String>,
    /// True if all that was in it before is accounted for.
    pub is_whole: bool,
    /// The contents that were read from them.
    pub readings: Vec<Reading>,
}

/// The servers whose words are in each conversation.
#[derive(Debug, Default)]
pub(in crate::owner) struct ConversationLabels(IndexMap<String, Label>);

impl ConversationLabels {
    /// The label of a conversation, as far as it is known.
    pub(in crate::owner) fn of(&self, conversation: &str) -> Option<&Label> {
        self.0.get(conversation)
    }

    /// Notes that something of these servers is in a conversation, and with `is_whole`, that nothing of others was in it
    /// before. Whether that says something new.
    pub(in crate::owner) fn add(&mut self, conversation: &str, servers: &[String], is_whole: bool) -> bool {
        let label = self.label_of(conversation);
        label.is_whole |= is_whole;
        let before = label.servers.len();
        for server in servers {
            if label.servers.len() < MAX_SERVERS && !label.servers.contains(server) {
                label.servers.push(server.clone());
            }
        }
        label.servers.len() > before
    }

    fn label_of(&mut self, conversation: &str) -> &mut Label {
        if !self.0.contains_key(conversation) && self.0.len() >= MAX_CONVERSATIONS {
            self.0.shift_remove_index(0);
        }
        self.0.entry(conversation.to_owned()).or_default()
    }

    /// Notes what was read in a conversation. Of each server at most [`MAX_READINGS`] are kept, and among them one that may hold
    /// what somebody else wrote, if there was any.
    pub(in crate::owner) fn add_readings(&mut self, conversation: &str, readings: &[Reading]) {
        let label = self.label_of(conversation);
        for new in readings {
            let same = |own: &Reading| own.server == new.server && own.kind == new.kind && own.name == new.name;
            if let Some(own) = label.readings.iter_mut().find(|own| same(own)) {
                own.open_world |= new.open_world;
                continue;
            }
            if label.readings.iter().filter(|own| own.server == new.server).count() >= MAX_READINGS {
                let spare = |own: &Reading| own.server == new.server && !own.is_open();
                let Some(at) = label.readings.iter().position(spare).filter(|_| new.is_open()) else { continue };
                label.readings.remove(at);
            }
            label.readings.push(new.clone());
        }
    }

    /// The servers whose words may have led to a model's call of one of `server`'s tools. None: nothing of others is in the
    /// conversation. What is not known counts as the words of somebody.
    pub(in crate::owner) fn before_call(&self, conversation: &str, server: &str) -> Option<Vec<String>> {
        let Some(label) = self.of(conversation) else { return Some(Vec::new()) };
        let others: Vec<String> = label.servers.iter().filter(|other| *other != server).cloned().collect();
        (!others.is_empty() || !label.is_whole).then_some(others)
    }
}

#[cfg(test)]
mod tests {
    use domain::history::ReadingKind;

    use super::*;

    #[test]
    fn words_of_others_count_and_so_does_what_is_not_known() {
        let mut labels = ConversationLabels::default();
        assert_eq!(labels.before_call("c", "b"), Some(Vec::new()), "X09: of what is not known, the worst is assumed");
        assert!(!labels.add("c", &[], true), "a conversation begins with nothing in it");
        assert_eq!(labels.before_call("c", "b"), None, "then nothing led to a call");
        assert!(labels.add("c", &["b".into()], false), "words of b are new in it");
        assert_eq!(labels.before_call("c", "b"), None, "a server's own words are no other's");
        assert!(labels.add("c", &["a".into(), "b".into()], false), "words of a are new in it");
        assert!(!labels.add("c", &["a".into()], false), "and the second time they are not");
        assert_eq!(labels.before_call("c", "b"), Some(vec!["a".to_owned()]), "X09: those of another server count");
        labels.add("old", &["b".into()], false);
        assert_eq!(labels.before_call("old", "b"), Some(Vec::new()), "X09: what else is in an old one is not known");
    }

    #[test]
    fn of_many_contents_those_that_others_may_have_written_are_kept() {
        let mut labels = ConversationLabels::default();
        let tool = |n: usize| Reading::new("a", ReadingKind::Tool, &n.to_string());
        let tools: Vec<Reading> = (0..MAX_READINGS + 5).map(tool).collect();
        labels.add_readings("c", &tools);
        let readings =
            |labels: &ConversationLabels| labels.of("c").map(|label| label.readings.clone()).unwrap_or_default();
        assert_eq!(readings(&labels).len(), MAX_READINGS, "no more than can be told");
        labels.add_readings("c", &[Reading::new("a", ReadingKind::Resource, "file:///x")]);
        assert_eq!(readings(&labels).len(), MAX_READINGS, "nor then");
        assert!(readings(&labels).iter().any(Reading::is_open), "S26: one that counts replaces one that does not");
        labels.add_readings("c", &[Reading { open_world: true, ..tool(3) }]);
        assert!(readings(&labels).iter().any(|own| own.name == "3" && own.open_world), "S26: and a mark is added");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_was_forgotten_is_not_trusted() {
        let mut labels = ConversationLabels::default();
        let servers: Vec<String> = (0..MAX_SERVERS + 5).map(|n| n.to_string()).collect();
        labels.add("first", &servers, true);
        assert_eq!(labels.of("first").map(|l| l.servers.len()), Some(MAX_SERVERS), "no more servers than can be read");
        for n in 0..MAX_CONVERSATIONS {
            labels.add(&n.to_string(), &[], true);
        }
        assert_eq!(labels.of("first"), None, "the oldest is forgotten");
        assert!(labels.before_call("first", "b").is_some(), "and is not trusted then");
    }
}
