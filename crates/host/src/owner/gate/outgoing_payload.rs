//! Description of a payload that an approval authorizes. Used by `gate.rs` and by decisions on consent requests.
//!
//! The audit entry of an approval has the hash that the consent request showed, so that the user finds the entry by it.
//! That hash covers the whole displayed payload. What the user enters in a form or chooses from folders is not part of
//! it: a hash of a short entry would allow guessing the entry offline.

use credentials::sign_in::EnteredClient;
use mcp_proto::session::ClientResponse;
use mcp_proto::types::CreateMessageParams;
use policy::Hash;
use serde_json::json;
use server_requests::sampling::{SamplingState, sampling_request_hash};

use super::{client_credentials_hash, response_hash, sign_in_url_hash, url_hash};
use crate::owner::state::{PendingRequest, consent_kind, consent_subject, payload_text, sampling_subject};

/// A payload that an approval authorizes: its description for the audit log, and the hash that the gate compares.
#[derive(Clone)]
pub(in crate::owner) struct OutgoingPayload {
    pub(in crate::owner) kind: &'static str,
    pub(in crate::owner) subject: String,
    pub(in crate::owner) content: Option<String>,
    /// Hash that the sent payload must have. Unlike the hash in the audit log, it includes what the user entered.
    pub(super) payload_hash: Hash,
}

impl OutgoingPayload {
    /// Describes the payload of a consent request for a call, start or connection, as it is displayed.
    pub(in crate::owner) fn displayed(pending: &PendingRequest) -> Self {
        let body = &pending.view.body;
        Self {
            kind: consent_kind(body),
            subject: consent_subject(body),
            content: payload_text(body),
            payload_hash: pending.view.hash.clone(),
        }
    }

    /// Describes a sampling request that is sent to a model.
    pub(in crate::owner) fn model_request(request: &CreateMessageParams, state: &SamplingState) -> Self {
        Self {
            kind: "sampling",
            subject: sampling_subject(request, None, state),
            content: Some(policy::canonical_json(&json!(request))),
            payload_hash: sampling_request_hash(request, state),
        }
    }

    /// Describes the response to a server's request, with the content that the user entered or the option that the user
    /// chose. `content` is the response's text for the audit log.
    pub(in crate::owner) fn response(
        pending: &PendingRequest,
        subject: String,
        content: Option<String>,
        answer: &ClientResponse,
    ) -> Self {
        Self { kind: consent_kind(&pending.view.body), subject, content, payload_hash: response_hash(answer) }
    }

    /// Describes a URL that the browser opens.
    pub(in crate::owner) fn url(pending: &PendingRequest, url: &str) -> Self {
        Self { payload_hash: url_hash(url), ..Self::displayed(pending) }
    }

    /// Describes an authorization URL that the browser opens.
    pub(in crate::owner) fn sign_in_url(pending: &PendingRequest, url: &str) -> Self {
        Self { payload_hash: sign_in_url_hash(url), ..Self::displayed(pending) }
    }

    /// Describes client credentials that the user entered for a sign-in.
    pub(in crate::owner) fn client_credentials(pending: &PendingRequest, client: &EnteredClient) -> Self {
        Self { payload_hash: client_credentials_hash(client), ..Self::displayed(pending) }
    }
}
