//! The members of a message, found in the one pass that checks it.

use super::scan::{Quoted, Scan};
use super::spans::Spans;

/// The members that JSON-RPC knows, unparsed. Others are passed over.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) jsonrpc: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<&'a str>,
    pub(super) params: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    /// What is large in the result.
    pub(super) large: Spans,
    /// One that stands there twice.
    pub(super) duplicate: Option<&'static str>,
}

impl<'a> Envelope<'a> {
    /// Reads `text`, if it is an object, valid JSON as a whole, and within the bounds.
    pub(super) fn of(text: &'a str) -> Option<Envelope<'a>> {
        let mut scan = Scan::new(text);
        let mut envelope = Envelope::default();
        let mut more = scan.enter(b'{', b'}')?;
        while more {
            let key = scan.key()?;
            let name = member(key);
            let value = if name == Some("result") { scan.value_recorded(&mut envelope.large) } else { scan.value() }?;
            if let Some(name) = name {
                envelope.put(name, value);
            }
            more = scan.more(b'}')?;
        }
        scan.is_done().then_some(envelope)
    }

    fn put(&mut self, name: &'static str, value: &'a str) {
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

/// Which of the members that JSON-RPC knows this is.
fn member(key: Quoted<'_>) -> Option<&'static str> {
    // No key of the envelope is longer, even if each letter is written as \uXXXX.
    let key = if key.len() <= 64 { key.plain() } else { None };
    ["jsonrpc", "id", "method", "params", "result", "error"].into_iter().find(|name| key.as_deref() == Some(name))
}
