//! A call's request with the hash of what it sends. It can't change without losing the hash, so that the gate, which needs the hash
//! again when the request leaves, makes it anew only after a change. Its callers are `owner/calls.rs` and `owner/gate.rs`.

use std::borrow::Cow;

use mcp_proto::session::ClientRequest;
use offers::definitions::Definition;
use policy::Hash;
use serde_json::{Map, Value};

/// The request of a call that has not been sent.
pub(in crate::owner) struct CallRequest {
    request: ClientRequest,
    hashed: Option<Hashed>,
}

/// The hash of a call of a tool.
struct Hashed {
    /// The hash of the tool's definition that the other one rests on.
    definition: Hash,
    call: Hash,
}

impl CallRequest {
    pub(in crate::owner) const fn new(request: ClientRequest) -> Self {
        Self { request, hashed: None }
    }

    pub(in crate::owner) const fn get(&self) -> &ClientRequest {
        &self.request
    }

    pub(in crate::owner) fn into_inner(self) -> ClientRequest {
        self.request
    }

    /// The arguments, if it calls a tool.
    const fn arguments(&self) -> Option<&Map<String, Value>> {
        match &self.request {
            ClientRequest::CallTool { arguments, .. } => Some(arguments),
            _ => None,
        }
    }

    /// Calls the tool with other arguments. Returns false if they are the same or it calls no tool.
    pub(in crate::owner) fn change_arguments(&mut self, changed: &Map<String, Value>) -> bool {
        let ClientRequest::CallTool { arguments, .. } = &mut self.request else { return false };
        if arguments == changed {
            return false;
        }
        self.hashed = None;
        arguments.clone_from(changed);
        true
    }

    /// Hashes what it sends to a tool of this definition. Returns the hash and the arguments as canonical JSON; `None` if it calls no tool.
    pub(in crate::owner) fn hash(&mut self, definition: &Definition) -> Option<(Hash, String)> {
        let (call, sent) = definition.call_hash(self.arguments()?);
        self.hashed = Some(Hashed { definition: definition.approval.clone(), call: call.clone() });
        Some((call, sent))
    }

    /// The hash of what it sends to a tool of this definition; `None` if it calls no tool. It is made again unless neither
    /// has changed.
    pub(in crate::owner) fn current_hash(&self, definition: &Definition) -> Option<Cow<'_, Hash>> {
        match &self.hashed {
            Some(hashed) if hashed.definition == definition.approval => Some(Cow::Borrowed(&hashed.call)),
            _ => Some(Cow::Owned(definition.call_hash(self.arguments()?).0)),
        }
    }
}
