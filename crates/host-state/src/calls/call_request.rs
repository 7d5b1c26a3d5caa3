//! The request of a call with the hash of its payload. Changes discard the hash, so that the gate, which checks the
//! hash when the request is sent, recomputes it only after a change. Used by `host/src/owner/calls.rs` and
//! `host/src/owner/gate.rs`.

use std::borrow::Cow;

use mcp_proto::session::ClientRequest;
use offers::definitions::Definition;
use policy::Hash;
use serde_json::{Map, Value};

/// The request of a call that has not been sent.
pub struct CallRequest {
    request: ClientRequest,
    hashed: Option<ToolCallHash>,
}

/// The hash of a tool call.
struct ToolCallHash {
    /// Hash of the tool's definition that the call hash depends on.
    definition: Hash,
    call: Hash,
}

impl CallRequest {
    /// Creates a request whose payload was not hashed yet.
    pub const fn new(request: ClientRequest) -> Self {
        Self { request, hashed: None }
    }

    /// Returns a reference to the request.
    pub const fn get(&self) -> &ClientRequest {
        &self.request
    }

    /// Returns the request, for sending.
    pub fn into_inner(self) -> ClientRequest {
        self.request
    }

    /// Returns the arguments, if the request calls a tool.
    const fn arguments(&self) -> Option<&Map<String, Value>> {
        match &self.request {
            ClientRequest::CallTool { arguments, .. } => Some(arguments),
            _ => None,
        }
    }

    /// Replaces the arguments. Returns `false` if they are equal or the request calls no tool.
    pub fn change_arguments(&mut self, changed: &Map<String, Value>) -> bool {
        let ClientRequest::CallTool { arguments, .. } = &mut self.request else { return false };
        if arguments == changed {
            return false;
        }
        self.hashed = None;
        arguments.clone_from(changed);
        true
    }

    /// Hashes the payload for a tool with this definition. Returns the hash and the arguments as canonical JSON, or
    /// `None` if the request calls no tool.
    pub fn hash(&mut self, definition: &Definition) -> Option<(Hash, String)> {
        let (call, sent) = definition.call_hash(self.arguments()?);
        self.hashed = Some(ToolCallHash { definition: definition.approval.clone(), call: call.clone() });
        Some((call, sent))
    }

    /// Returns the hash of the payload for a tool with this definition, or `None` if the request calls no tool.
    /// Recomputed only if either has changed.
    pub fn current_hash(&self, definition: &Definition) -> Option<Cow<'_, Hash>> {
        match &self.hashed {
            Some(hashed) if hashed.definition == definition.approval => Some(Cow::Borrowed(&hashed.call)),
            _ => Some(Cow::Owned(definition.call_hash(self.arguments()?).0)),
        }
    }
}
