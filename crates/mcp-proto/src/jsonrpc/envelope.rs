//! The members of a message, found in the one pass that checks it.

use super::scan::{Quoted, Scan};

/// The members that JSON-RPC knows, unparsed. Others are passed over.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) jsonrpc: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<&'a str>,
    pub(super) params: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
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
            let value = scan.value()?;
            envelope.put(key, value);
            more = scan.more(b'}')?;
        }
        scan.is_done().then_some(envelope)
    }

    fn put(&mut self, key: Quoted<'_>, value: &'a str) {
        // No key of the envelope is longer, even if each letter is written as \uXXXX.
        let key = if key.len() <= 64 { key.plain() } else { None };
        let (name, slot) = match key.as_deref().unwrap_or_default() {
            "jsonrpc" => ("jsonrpc", &mut self.jsonrpc),
            "id" => ("id", &mut self.id),
            "method" => ("method", &mut self.method),
            "params" => ("params", &mut self.params),
            "result" => ("result", &mut self.result),
            "error" => ("error", &mut self.error),
            _ => return,
        };
        if slot.replace(value).is_some() {
            self.duplicate = Some(name);
        }
    }
}
