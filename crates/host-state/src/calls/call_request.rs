//! The request of a call, with a cached hash of its payload. The gate checks the hash when the request is sent. Changes
//! of the request discard the cached hash, so that it is recomputed only after a change. Used by
//! `host/src/owner/calls.rs` and `host/src/owner/gate.rs`.

use std::borrow::Cow;

use domain::call::CallId;
use mcp_proto::session::ClientRequest;
use offers::definitions::DefinitionDigest;
use policy::Hash;
use serde_json::{Map, Value};

/// The request of a call that was not sent yet, with the cached hash of its payload.
pub struct CallRequest {
    request: ClientRequest,
    /// Id of an earlier call that the user repeats with this request, if any.
    repeats: Option<CallId>,
    hashed: Option<ToolCallHash>,
}

/// Cached hash of a tool call.
struct ToolCallHash {
    /// [`DefinitionDigest::grant_hash`] of the tool when `call` was computed. If the tool has another one now, `call`
    /// is computed again.
    grant_hash: Hash,
    /// Hash of the call's payload: the tool's definition and the arguments.
    call: Hash,
}

impl CallRequest {
    /// Creates a request without a cached hash. `repeats` is the id of an earlier call that the user repeats with it.
    pub const fn new(request: ClientRequest, repeats: Option<CallId>) -> Self {
        Self { request, repeats, hashed: None }
    }

    /// Returns the id of the earlier call that the user repeats with this request, if any.
    pub fn repeats(&self) -> Option<&str> {
        self.repeats.as_deref()
    }

    /// Returns a reference to the request without consuming it.
    pub const fn get(&self) -> &ClientRequest {
        &self.request
    }

    /// Consumes the value, and returns the request for sending it.
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

    /// Replaces the arguments of a tool call. Returns `false` if the new arguments are equal to the old ones or the
    /// request is not a tool call.
    pub fn change_arguments(&mut self, changed: &Map<String, Value>) -> bool {
        let ClientRequest::CallTool { arguments, .. } = &mut self.request else { return false };
        if arguments == changed {
            return false;
        }
        self.hashed = None;
        arguments.clone_from(changed);
        true
    }

    /// Computes and caches the hash of a tool call's payload, which includes the tool's definition. Returns the hash
    /// and the arguments as canonical JSON, or `None` if the request is not a tool call.
    pub fn call_hash_and_arguments(&mut self, definition: &DefinitionDigest) -> Option<(Hash, String)> {
        let (call, sent) = definition.call_hash(self.arguments()?);
        self.hashed = Some(ToolCallHash { grant_hash: definition.grant_hash.clone(), call: call.clone() });
        Some((call, sent))
    }

    /// Returns the hash of a tool call's payload, which includes the tool's definition, or `None` if the request is not
    /// a tool call. Computes the hash only if the arguments or the definition have changed since it was cached.
    pub fn current_hash(&self, definition: &DefinitionDigest) -> Option<Cow<'_, Hash>> {
        match &self.hashed {
            Some(hashed) if hashed.grant_hash == definition.grant_hash => Some(Cow::Borrowed(&hashed.call)),
            _ => Some(Cow::Owned(definition.call_hash(self.arguments()?).0)),
        }
    }
}
