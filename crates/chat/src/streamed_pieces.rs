//! Deltas of a streaming reply: gathered, sent to the page together, and added to the item of the reply.

use std::collections::HashMap;

use domain::item::{ReplyAppend, ReplyPart};
use models::{ReplyDelta, TokenUsage};

/// Accumulates the deltas of a streaming reply until they are sent to the page.
#[derive(Debug, Default)]
pub(super) struct ReplyDeltaBuffer {
    /// Deltas that were not sent to the page yet.
    pending: Vec<ReplyAppend>,
    /// Number of parts that the reply has so far.
    parts: usize,
    last: Option<StreamedPartKind>,
    /// Index of the part that contains each tool call, by the id of the tool call.
    uses: HashMap<String, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamedPartKind {
    Text,
    Thinking,
    ToolUse,
}

impl ReplyDeltaBuffer {
    /// Adds a delta of the model's reply. `tool` returns the names of the server and the tool that belong to a tool
    /// key. Returns the token usage so far, if the delta contains it.
    pub(super) fn add_delta(
        &mut self,
        delta: ReplyDelta,
        tool: impl Fn(&str) -> Option<(String, String)>,
    ) -> Option<TokenUsage> {
        match delta {
            ReplyDelta::Text(text) => {
                let part = self.begin_or_continue_part(StreamedPartKind::Text);
                match self.pending.last_mut() {
                    Some(ReplyAppend::Text { part: last, text: before }) if *last == part => before.push_str(&text),
                    _ => self.pending.push(ReplyAppend::Text { part, text }),
                }
            }
            ReplyDelta::Thinking(text) => {
                let part = self.begin_or_continue_part(StreamedPartKind::Thinking);
                match self.pending.last_mut() {
                    Some(ReplyAppend::Thinking { part: last, text: before }) if *last == part => before.push_str(&text),
                    _ => self.pending.push(ReplyAppend::Thinking { part, text }),
                }
            }
            ReplyDelta::ToolUseBegan { id, name } => {
                self.last = None;
                let part = self.begin_or_continue_part(StreamedPartKind::ToolUse);
                self.uses.insert(id.clone(), part);
                let (server, tool) = tool(&name).unzip();
                self.pending.push(ReplyAppend::ToolUse { part, id, tool_key: name, server, tool });
            }
            ReplyDelta::ToolUseArguments { id, text } => {
                let part = self.uses.get(&id).copied()?;
                match self.pending.last_mut() {
                    Some(ReplyAppend::Arguments { part: last, text: before }) if *last == part => {
                        before.push_str(&text)
                    }
                    _ => self.pending.push(ReplyAppend::Arguments { part, text }),
                }
            }
            ReplyDelta::Usage(usage) => return Some(usage),
            ReplyDelta::Ended(_) => {}
        }
        None
    }

    fn begin_or_continue_part(&mut self, kind: StreamedPartKind) -> usize {
        if self.last != Some(kind) {
            self.last = Some(kind);
            self.parts += 1;
        }
        self.parts - 1
    }

    /// Returns `true` if there are deltas that were not sent to the page.
    pub(super) const fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Removes and returns the deltas that were not sent to the page.
    pub(super) fn take_pending(&mut self) -> Vec<ReplyAppend> {
        std::mem::take(&mut self.pending)
    }
}

/// Adds deltas to the parts of a reply, in the same way as the page does.
pub(super) fn append_deltas_to_parts(parts: &mut Vec<ReplyPart>, pieces: &[ReplyAppend]) {
    for piece in pieces {
        match piece {
            ReplyAppend::Text { part, text } => match parts.get_mut(*part) {
                Some(ReplyPart::Text { text: before }) => before.push_str(text),
                _ => parts.push(ReplyPart::Text { text: text.clone() }),
            },
            ReplyAppend::Thinking { part, text } => match parts.get_mut(*part) {
                Some(ReplyPart::Thinking { text: before, .. }) => before.push_str(text),
                _ => parts.push(ReplyPart::Thinking { text: text.clone(), opaque: None }),
            },
            ReplyAppend::ToolUse { id, tool_key, server, tool, .. } => parts.push(ReplyPart::ToolUse {
                id: id.clone(),
                tool_key: tool_key.clone(),
                server: server.clone(),
                tool: tool.clone(),
                arguments: String::new(),
                opaque: None,
            }),
            ReplyAppend::Arguments { part, text } => {
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

    fn buffer_with_deltas(deltas: Vec<ReplyDelta>) -> ReplyDeltaBuffer {
        let mut pieces = ReplyDeltaBuffer::default();
        for delta in deltas {
            pieces.add_delta(delta, |key| key.split_once("__").map(|(a, b)| (a.to_owned(), b.to_owned())));
        }
        pieces
    }

    #[test]
    fn adjacent_deltas_are_merged_and_add_up_to_the_whole() {
        let deltas = vec![
            ReplyDelta::Thinking("h".into()),
            ReplyDelta::Thinking("m".into()),
            ReplyDelta::Text("I ".into()),
            ReplyDelta::Text("look".into()),
            ReplyDelta::ToolUseBegan { id: "1".into(), name: "a__b".into() },
            ReplyDelta::ToolUseBegan { id: "2".into(), name: "search_tools".into() },
            ReplyDelta::ToolUseArguments { id: "1".into(), text: "{\"x\"".into() },
            ReplyDelta::ToolUseArguments { id: "1".into(), text: ":1}".into() },
            ReplyDelta::ToolUseArguments { id: "2".into(), text: "{}".into() },
            ReplyDelta::Text("done".into()),
        ];
        let mut pieces = buffer_with_deltas(deltas);
        let taken = pieces.take_pending();
        assert_eq!(taken.len(), 7, "adjacent deltas of a part are merged: {taken:?}");
        assert!(!pieces.has_pending(), "deltas are returned once");
        let mut parts = Vec::new();
        append_deltas_to_parts(&mut parts, &taken);
        let used = |id: &str, tool_key: &str, of: Option<(&str, &str)>, arguments: &str| ReplyPart::ToolUse {
            id: id.into(),
            tool_key: tool_key.into(),
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
    fn arguments_of_an_unknown_tool_use_are_dropped() {
        let pieces = buffer_with_deltas(vec![ReplyDelta::ToolUseArguments { id: "9".into(), text: "{}".into() }]);
        assert!(!pieces.has_pending(), "arguments of an unknown use are dropped");
    }
}
