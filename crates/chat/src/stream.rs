//! A streaming reply: deltas are gathered, sent to the page together, and added to the item.

use std::collections::HashMap;

use domain::item::{Append, ReplyPart};
use models::{Delta, TokenUse};

/// The deltas of one reply.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Deltas that were not sent yet.
    pending: Vec<Append>,
    /// Number of parts, and the kind of the last one.
    parts: usize,
    last: Option<Kind>,
    /// Part of each tool use, by its id.
    uses: HashMap<String, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    ToolUse,
}

impl Pieces {
    /// Adds a delta. `tool` returns the server and tool for a name that the model uses. Returns the usage so far, if
    /// the delta contains it.
    pub(super) fn take(&mut self, delta: Delta, tool: impl Fn(&str) -> Option<(String, String)>) -> Option<TokenUse> {
        match delta {
            Delta::Text(text) => {
                let part = self.part(Kind::Text);
                match self.pending.last_mut() {
                    Some(Append::Text { part: last, text: before }) if *last == part => before.push_str(&text),
                    _ => self.pending.push(Append::Text { part, text }),
                }
            }
            Delta::Thinking(text) => {
                let part = self.part(Kind::Thinking);
                match self.pending.last_mut() {
                    Some(Append::Thinking { part: last, text: before }) if *last == part => before.push_str(&text),
                    _ => self.pending.push(Append::Thinking { part, text }),
                }
            }
            Delta::ToolUseBegan { id, name } => {
                self.last = None;
                let part = self.part(Kind::ToolUse);
                self.uses.insert(id.clone(), part);
                let (server, tool) = tool(&name).unzip();
                self.pending.push(Append::ToolUse { part, id, key: name, server, tool });
            }
            Delta::ToolUseArguments { id, text } => {
                let part = self.uses.get(&id).copied()?;
                match self.pending.last_mut() {
                    Some(Append::Arguments { part: last, text: before }) if *last == part => before.push_str(&text),
                    _ => self.pending.push(Append::Arguments { part, text }),
                }
            }
            Delta::Usage(usage) => return Some(usage),
            Delta::Ended(_) => {}
        }
        None
    }

    fn part(&mut self, kind: Kind) -> usize {
        if self.last != Some(kind) {
            self.last = Some(kind);
            self.parts += 1;
        }
        self.parts - 1
    }

    /// Returns `true` if there are deltas to send.
    pub(super) const fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Removes and returns the deltas to send.
    pub(super) fn told(&mut self) -> Vec<Append> {
        std::mem::take(&mut self.pending)
    }
}

/// Adds deltas to the parts of a reply, in the same way as the page.
pub(super) fn apply(parts: &mut Vec<ReplyPart>, pieces: &[Append]) {
    for piece in pieces {
        match piece {
            Append::Text { part, text } => match parts.get_mut(*part) {
                Some(ReplyPart::Text { text: before }) => before.push_str(text),
                _ => parts.push(ReplyPart::Text { text: text.clone() }),
            },
            Append::Thinking { part, text } => match parts.get_mut(*part) {
                Some(ReplyPart::Thinking { text: before, .. }) => before.push_str(text),
                _ => parts.push(ReplyPart::Thinking { text: text.clone(), opaque: None }),
            },
            Append::ToolUse { id, key, server, tool, .. } => parts.push(ReplyPart::ToolUse {
                id: id.clone(),
                key: key.clone(),
                server: server.clone(),
                tool: tool.clone(),
                arguments: String::new(),
                opaque: None,
            }),
            Append::Arguments { part, text } => {
                if let Some(ReplyPart::ToolUse { arguments, .. }) = parts.get_mut(*part) {
                    arguments.push_str(text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(deltas: Vec<Delta>) -> Pieces {
        let mut pieces = Pieces::default();
        for delta in deltas {
            pieces.take(delta, |key| key.split_once("__").map(|(a, b)| (a.to_owned(), b.to_owned())));
        }
        pieces
    }

    #[test]
    fn pieces_of_one_part_are_told_together_and_come_to_the_whole() {
        let deltas = vec![
            Delta::Thinking("h".into()),
            Delta::Thinking("m".into()),
            Delta::Text("I ".into()),
            Delta::Text("look".into()),
            Delta::ToolUseBegan { id: "1".into(), name: "a__b".into() },
            Delta::ToolUseBegan { id: "2".into(), name: "search_tools".into() },
            Delta::ToolUseArguments { id: "1".into(), text: "{\"x\"".into() },
            Delta::ToolUseArguments { id: "1".into(), text: ":1}".into() },
            Delta::ToolUseArguments { id: "2".into(), text: "{}".into() },
            Delta::Text("done".into()),
        ];
        let mut pieces = taken(deltas);
        let told = pieces.told();
        assert_eq!(told.len(), 7, "adjacent deltas of a part are merged: {told:?}");
        assert!(!pieces.is_pending(), "deltas are returned once");
        let mut parts = Vec::new();
        apply(&mut parts, &told);
        let used = |id: &str, key: &str, of: Option<(&str, &str)>, arguments: &str| ReplyPart::ToolUse {
            id: id.into(),
            key: key.into(),
            server: of.map(|(server, _)| server.to_owned()),
            tool: of.map(|(_, tool)| tool.to_owned()),
            arguments: arguments.into(),
            opaque: None,
        };
        let whole = [
            ReplyPart::Thinking { text: "hm".into(), opaque: None },
            ReplyPart::Text { text: "I look".into() },
            used("1", "a__b", Some(("a", "b")), "{\"x\":1}"),
            used("2", "search_tools", None, "{}"),
            ReplyPart::Text { text: "done".into() },
        ];
        assert_eq!(parts, whole, "each delta is added to its part");
    }

    #[test]
    fn what_belongs_to_no_use_is_left_out() {
        let pieces = taken(vec![Delta::ToolUseArguments { id: "9".into(), text: "{}".into() }]);
        assert!(!pieces.is_pending(), "arguments of an unknown use are dropped");
    }
}
