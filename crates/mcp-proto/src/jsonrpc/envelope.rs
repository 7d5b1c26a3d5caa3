//! Finds the top-level members of a JSON-RPC message in the same pass that validates its JSON.

use super::json_scanner::{JsonScanner, QuotedString};
use super::value_spans::LargeValueSpanRecorder;

/// Raw JSON values of those members of a message that JSON-RPC defines. Other members are ignored.
#[derive(Debug, Default)]
pub(super) struct MessageEnvelope<'a> {
    pub(super) jsonrpc: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<&'a str>,
    pub(super) params: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    /// Positions of large values in the `result` member of the message.
    pub(super) large: LargeValueSpanRecorder,
    /// Name of a JSON-RPC member that occurs twice in the message, or `None`.
    pub(super) duplicate: Option<&'static str>,
}

impl<'a> MessageEnvelope<'a> {
    /// Parses the JSON text of one message. Returns `None` if it is not an object, is invalid JSON or exceeds a limit.
    pub(super) fn parse(text: &'a str) -> Option<MessageEnvelope<'a>> {
        let mut scan = JsonScanner::new(text);
        let mut envelope = MessageEnvelope::default();
        let mut more = scan.open_container(b'{', b'}')?;
        while more {
            let key = scan.consume_key()?;
            let name = jsonrpc_member_name(key);
            let value = if name == Some("result") {
                scan.consume_value_with_recorder(&mut envelope.large)
            } else {
                scan.consume_value()
            }?;
            if let Some(name) = name {
                envelope.set_member(name, value);
            }
            more = scan.consume_separator(b'}')?;
        }
        scan.is_at_end().then_some(envelope)
    }

    fn set_member(&mut self, name: &'static str, value: &'a str) {
        let slot = match name {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            _ => &mut self.error,
        };
        if slot.replace(value).is_some() {
            self.duplicate = Some(name);
        }
    }
}

/// Returns the name of the JSON-RPC member that `key` spells after unescaping, or `None` for any other key.
fn jsonrpc_member_name(key: QuotedString<'_>) -> Option<&'static str> {
    // Longer than any key of the envelope, even with each letter written as \uXXXX.
    let key = if key.len() <= 64 { key.unescape() } else { None };
    ["jsonrpc", "id", "method", "params", "result", "error"].into_iter().find(|name| key.as_deref() == Some(name))
}
