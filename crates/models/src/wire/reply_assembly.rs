//! Assembles a model's answer from its streamed events, within limits.

use serde_json::{Map, Value};

use crate::{MessagePart, ModelError, ModelMessage, ModelReply, ReplyDelta, Role, StopReason, TokenUsage};

/// Maximum size of the text and tool arguments of a reply in bytes.
pub(super) const MAX_REPLY_BYTES: usize = 16 << 20;
/// Maximum number of parts of a reply, which is far more than any model generates.
const MAX_REPLY_PARTS: usize = 1_024;

/// A part of a reply to which later events may add content.
enum PartialReplyPart {
    Text(String),
    Thinking {
        text: String,
        opaque: Option<Value>,
    },
    ToolUse {
        key: u64,
        id: String,
        name: String,
        arguments: String,
        whole: Option<Map<String, Value>>,
        opaque: Option<Value>,
    },
}

/// Collects the events of a streamed reply, and builds the complete reply from them.
pub(super) struct ReplyAssembly {
    pieces: Vec<PartialReplyPart>,
    deltas: Vec<ReplyDelta>,
    size: usize,
    model: String,
    usage: TokenUsage,
    stop: Option<StopReason>,
}

impl ReplyAssembly {
    pub(super) fn new(model: String) -> Self {
        Self { pieces: Vec::new(), deltas: Vec::new(), size: 0, model, usage: TokenUsage::default(), stop: None }
    }

    /// Removes and returns the deltas that were added since the last call.
    pub(super) fn drain_deltas(&mut self) -> std::vec::Drain<'_, ReplyDelta> {
        self.deltas.drain(..)
    }

    /// Adds `by` bytes to the size of the reply. Returns an error if the size or the number of parts exceeds its limit.
    pub(super) fn add_to_reply_size(&mut self, by: usize) -> Result<(), ModelError> {
        self.size += by;
        let is_small = self.size <= MAX_REPLY_BYTES && self.pieces.len() <= MAX_REPLY_PARTS;
        if is_small { Ok(()) } else { Err(ModelError::TooLarge { limit: MAX_REPLY_BYTES }) }
    }

    /// Appends text to the reply.
    pub(super) fn append_text(&mut self, more: &str) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        self.add_to_reply_size(more.len())?;
        match self.pieces.last_mut() {
            Some(PartialReplyPart::Text(text)) => text.push_str(more),
            _ => self.pieces.push(PartialReplyPart::Text(more.to_owned())),
        }
        self.deltas.push(ReplyDelta::Text(more.to_owned()));
        Ok(())
    }

    /// Appends text to the reasoning.
    pub(super) fn append_thinking(&mut self, more: &str) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        self.add_to_reply_size(more.len())?;
        match self.pieces.last_mut() {
            Some(PartialReplyPart::Thinking { text, opaque: None }) => text.push_str(more),
            _ => self.pieces.push(PartialReplyPart::Thinking { text: more.to_owned(), opaque: None }),
        }
        self.deltas.push(ReplyDelta::Thinking(more.to_owned()));
        Ok(())
    }

    /// Stores an opaque value of the provider that belongs to reasoning: with the last part of the reply, if that is
    /// reasoning without such a value, and else as a new reasoning part without text.
    pub(super) fn attach_opaque_data_to_last_reasoning(&mut self, value: Value) -> Result<(), ModelError> {
        self.add_to_reply_size(value.to_string().len())?;
        match self.pieces.last_mut() {
            Some(PartialReplyPart::Thinking { opaque: opaque @ None, .. }) => *opaque = Some(value),
            _ => self.pieces.push(PartialReplyPart::Thinking { text: String::new(), opaque: Some(value) }),
        }
        Ok(())
    }

    /// Stores an opaque value of the provider that belongs to reasoning, as a separate reasoning part without text.
    pub(super) fn push_reasoning_with_opaque_data_only(&mut self, value: Value) -> Result<(), ModelError> {
        self.add_to_reply_size(value.to_string().len())?;
        self.pieces.push(PartialReplyPart::Thinking { text: String::new(), opaque: Some(value) });
        Ok(())
    }

    /// Stores an opaque value of the provider with the first reasoning part, for an API that does not mark where
    /// reasoning ends.
    pub(super) fn attach_opaque_data_to_first_reasoning(&mut self, value: Value) -> Result<(), ModelError> {
        self.add_to_reply_size(value.to_string().len())?;
        let first = self.pieces.iter_mut().find_map(|piece| match piece {
            PartialReplyPart::Thinking { opaque, .. } => Some(opaque),
            _ => None,
        });
        match first {
            Some(opaque) => *opaque = Some(value),
            None => self.pieces.insert(0, PartialReplyPart::Thinking { text: String::new(), opaque: Some(value) }),
        }
        Ok(())
    }

    /// Adds a tool call without arguments to the reply. `key` identifies the call in later events. A missing or
    /// repeated `id` is replaced by one that is unique, because the tool result refers to it.
    pub(super) fn begin_tool_use(
        &mut self,
        key: u64,
        id: String,
        name: String,
        opaque: Option<Value>,
    ) -> Result<(), ModelError> {
        let is_free = |new_id: &str| {
            !new_id.is_empty()
                && !self
                    .pieces
                    .iter()
                    .any(|piece| matches!(piece, PartialReplyPart::ToolUse { id, .. } if id == new_id))
        };
        let mut id = id;
        while !is_free(&id) {
            id = format!("call_{}_{:08x}", self.pieces.len(), fastrand::u32(..));
        }
        self.add_to_reply_size(id.len() + name.len() + opaque.as_ref().map_or(0, |value| value.to_string().len()))?;
        self.deltas.push(ReplyDelta::ToolUseBegan { id: id.clone(), name: name.clone() });
        self.pieces.push(PartialReplyPart::ToolUse { key, id, name, arguments: String::new(), whole: None, opaque });
        Ok(())
    }

    /// Returns `true` if the reply contains a tool call.
    pub(super) fn uses_tools(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, PartialReplyPart::ToolUse { .. }))
    }

    /// Returns a key for the next tool call that no other tool call of the reply has.
    pub(super) const fn next_tool_use_key(&self) -> u64 {
        self.pieces.len() as u64
    }

    /// Appends JSON text to the arguments of the tool call with this key.
    pub(super) fn append_arguments(&mut self, piece_key: u64, more: &str) -> Result<(), ModelError> {
        if more.is_empty() {
            return Ok(());
        }
        self.add_to_reply_size(more.len())?;
        let found = self.pieces.iter_mut().rev().find_map(|piece| match piece {
            PartialReplyPart::ToolUse { key, id, arguments, .. } if *key == piece_key => Some((id, arguments)),
            _ => None,
        });
        let Some((id, arguments)) = found else {
            return Err(ModelError::Unreadable { cause: "arguments refer to an unknown tool call".to_owned() });
        };
        arguments.push_str(more);
        self.deltas.push(ReplyDelta::ToolUseArguments { id: id.clone(), text: more.to_owned() });
        Ok(())
    }

    /// Sets the complete arguments of the latest tool call, in place of fragments.
    pub(super) fn set_arguments(&mut self, given: Map<String, Value>) -> Result<(), ModelError> {
        let text = Value::Object(given.clone()).to_string();
        self.add_to_reply_size(text.len())?;
        if let Some(PartialReplyPart::ToolUse { id, whole, .. }) = self.pieces.last_mut() {
            *whole = Some(given);
            self.deltas.push(ReplyDelta::ToolUseArguments { id: id.clone(), text });
        }
        Ok(())
    }

    /// Sets the identifier of the model that replies, as the provider reports it.
    pub(super) fn set_model(&mut self, name: &str) {
        if !name.is_empty() && name.len() <= 256 {
            name.clone_into(&mut self.model);
        }
    }

    /// Sets the reason why the reply ended.
    pub(super) fn set_stop_reason(&mut self, stop: StopReason) {
        self.stop = Some(stop);
    }

    /// Applies `change` to the token usage, and adds a [`ReplyDelta::Usage`] if the usage changed.
    pub(super) fn change_token_usage(&mut self, change: impl FnOnce(&mut TokenUsage)) {
        let before = self.usage;
        change(&mut self.usage);
        if self.usage != before {
            self.deltas.push(ReplyDelta::Usage(self.usage));
        }
    }

    /// Builds the complete reply from all parts, and returns it.
    pub(super) fn finish(&mut self) -> Result<ModelReply, ModelError> {
        let uses_tools = self.uses_tools();
        let stop = match self.stop.take() {
            None | Some(StopReason::EndTurn) if uses_tools => StopReason::ToolUse,
            None => StopReason::EndTurn,
            Some(stop) => stop,
        };
        let mut parts = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces.drain(..) {
            match piece {
                PartialReplyPart::Text(text) => parts.push(MessagePart::Text(text)),
                PartialReplyPart::Thinking { text, opaque } => parts.push(MessagePart::Thinking { text, opaque }),
                // The token limit was reached before the first argument: the call is incomplete, not empty.
                PartialReplyPart::ToolUse { arguments, whole: None, .. }
                    if stop == StopReason::MaxTokens && arguments.trim().is_empty() => {}
                PartialReplyPart::ToolUse { id, name, arguments, whole, opaque, .. } => {
                    match whole.or_else(|| parse_arguments(&arguments)) {
                        Some(arguments) => parts.push(MessagePart::ToolUse { id, name, arguments, opaque }),
                        // The call is incomplete, and the stop reason says so.
                        None if stop != StopReason::ToolUse => {}
                        None => return Err(ModelError::BadArguments { tool: name }),
                    }
                }
            }
        }
        let message = ModelMessage { role: Role::Assistant, parts };
        Ok(ModelReply { message, stop, usage: self.usage, model: std::mem::take(&mut self.model) })
    }
}

/// Parses tool arguments as an object. Empty text counts as no arguments.
fn parse_arguments(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() { Some(Map::new()) } else { serde_json::from_str(text).ok() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn size_of_assembled_reply_is_bounded() {
        let mut assembly = ReplyAssembly::new("m".into());
        let piece = "x".repeat(1 << 20);
        for _ in 0..16 {
            assembly.append_text(&piece).unwrap();
        }
        let refused = assembly.append_text("x");
        assert_eq!(refused, Err(ModelError::TooLarge { limit: MAX_REPLY_BYTES }), "one byte more than 16 MiB");
        let mut assembly = ReplyAssembly::new("m".into());
        let begun = (0..5_000).try_for_each(|key| assembly.begin_tool_use(key, String::new(), String::new(), None));
        assert_eq!(begun, Err(ModelError::TooLarge { limit: MAX_REPLY_BYTES }), "the number of parts is limited");
    }

    #[test]
    fn tool_use_ids_are_unique() {
        let ids = || {
            let mut assembly = ReplyAssembly::new("m".into());
            for (key, id) in [(0, ""), (1, "same"), (2, "same"), (3, "")] {
                assembly.begin_tool_use(key, id.into(), "look".into(), None).unwrap();
                assembly.append_arguments(key, "{}").unwrap();
            }
            let delta_ids: Vec<String> = assembly
                .drain_deltas()
                .filter_map(|delta| match delta {
                    ReplyDelta::ToolUseBegan { id, .. } | ReplyDelta::ToolUseArguments { id, .. } => Some(id),
                    _ => None,
                })
                .collect();
            let whole = assembly.finish().unwrap().message;
            let ids: Vec<String> = whole.tool_uses().map(|used| used.0.to_owned()).collect();
            let pairs: Vec<String> = ids.iter().flat_map(|id| [id.clone(), id.clone()]).collect();
            assert_eq!(delta_ids, pairs, "deltas contain the same identifiers");
            ids
        };
        let (first, second) = (ids(), ids());
        assert_eq!(
            (first[1].as_str(), second[1].as_str()),
            ("same", "same"),
            "a valid identifier of the provider is used"
        );
        let mut all = [first, second].concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 7, "generated identifiers are unique across answers: {all:?}");
    }

    #[test]
    fn unparsable_tool_arguments_fail_the_reply_or_are_dropped() {
        let with = |arguments: &str, stop: StopReason| {
            let mut assembly = ReplyAssembly::new("m".into());
            assembly.begin_tool_use(0, "1".into(), "look".into(), None).unwrap();
            assembly.append_arguments(0, arguments).unwrap();
            assembly.set_stop_reason(stop);
            assembly.finish()
        };
        let bad = Err(ModelError::BadArguments { tool: "look".into() });
        for broken in ["{\"a\":", "[1]", "\"text\"", "nonsense"] {
            assert_eq!(with(broken, StopReason::ToolUse), bad, "{broken} is not an object");
        }
        let cut = with("{\"a\":", StopReason::MaxTokens).unwrap();
        assert!(cut.message.parts.is_empty(), "an incomplete call is dropped: {cut:?}");
        assert_eq!(cut.stop, StopReason::MaxTokens, "the stop reason is reported");
        let cut = with("", StopReason::MaxTokens).unwrap();
        assert!(cut.message.parts.is_empty(), "a call without any argument text is dropped: {cut:?}");
        let empty = with("", StopReason::ToolUse).unwrap();
        assert_eq!(empty.message.tool_uses().count(), 1, "empty arguments are valid");
    }
}
