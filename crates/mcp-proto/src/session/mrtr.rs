//! Multi-round-trip requests: a result that requests input, and the repetition of the request with that input
//! (`basic/patterns/mrtr`, 2026-07-28).

use std::time::Instant;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::jsonrpc::{JsonObjectWriter, escape_and_truncate};
use crate::types::Map;

use super::request_encoding::parse_server_request;
use super::results::{self, InputRequest};
use super::server_requests::ServerRequestSource;
use super::{CallError, CallId, ServerRequest, Session, meta};

/// Input that the server requested from the user in one `input_required` result, and the user's responses so far.
pub(super) struct RequestedInputs {
    answers: IndexMap<String, Option<Value>>,
    /// Opaque `requestState` of the server, echoed byte for byte. Omitted from debug output because it may be secret.
    state: Option<String>,
}

impl std::fmt::Debug for RequestedInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").field("keys", &self.answers.len()).finish_non_exhaustive()
    }
}

impl RequestedInputs {
    /// Writes the user's input into the parameters of the repeated request. Includes `requestState` only if the latest
    /// result had one.
    pub(super) fn write(&self, params: &mut JsonObjectWriter<'_>) {
        if !self.answers.is_empty() {
            params.put("inputResponses", &self.answers);
        }
        if let Some(state) = &self.state {
            params.put("requestState", state);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequiredResult {
    input_requests: Option<IndexMap<String, InputRequest>>,
    request_state: Option<String>,
}

impl Session {
    /// Processes an `input_required` result of a call: reports the requests in it to the session's caller.
    pub(super) fn on_input_required_result(&mut self, id: CallId, body: Map, bytes: usize, now: Instant) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.rounds += 1;
        if call.rounds > self.config.limits.mrtr_rounds {
            return self.end_call(id, Err(CallError::TooManyRounds));
        }
        let (state, requests) = match self.parse_input_required_result(body, bytes) {
            Ok(round) => round,
            Err(cause) => return self.end_call(id, Err(CallError::BadAnswer { cause })),
        };
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.clock.on_activity(now);
        let answers = requests.keys().map(|key| (key.clone(), None)).collect();
        call.inputs = Some(RequestedInputs { answers, state });
        if requests.is_empty() {
            return self.send_call_request(id);
        }
        let each = bytes / requests.len();
        for (key, server_request) in requests {
            self.report_server_request(
                ServerRequestSource::Round { call: id, key },
                Some(id),
                vec![id],
                (server_request, each),
                now,
            );
        }
    }

    /// Decodes the `requestState` and the requests of an `input_required` result. Returns an error if any request is
    /// invalid, so that no request reaches the user.
    #[allow(clippy::type_complexity)]
    fn parse_input_required_result(
        &self,
        body: Map,
        bytes: usize,
    ) -> Result<(Option<String>, IndexMap<String, ServerRequest>), String> {
        let InputRequiredResult { input_requests, request_state } = results::deserialize_object(body)?;
        let limits = &self.config.limits;
        if let Some(state) = &request_state
            && state.len() > limits.request_state_bytes
        {
            return Err(format!(
                "requestState has {} bytes; at most {} are allowed",
                state.len(),
                limits.request_state_bytes
            ));
        }
        let requests = input_requests.unwrap_or_default();
        if requests.is_empty() && request_state.is_none() {
            return Err("an input_required result without inputRequests and requestState".into());
        }
        if !requests.is_empty() && !self.has_room_for_server_requests(requests.len(), bytes) {
            return Err("too many or too large requests for input are open".into());
        }
        let offered = meta::capabilities_in_revision(&self.config.capabilities, self.revision());
        let mut parsed = IndexMap::with_capacity(requests.len());
        for (key, InputRequest { method, params }) in requests {
            let server_request = parse_server_request(&method, params.unwrap_or_default(), &offered)
                .map_err(|error| format!("inputRequests.{}: {}", escape_and_truncate(&key, 80), error.message))?;
            parsed.insert(key, server_request);
        }
        Ok((request_state, parsed))
    }

    /// Processes the response to one request of an `input_required` result. `None` is a refusal, which ends the call
    /// because the protocol has no response for it.
    pub(super) fn on_input_answered(&mut self, id: CallId, key: &str, answer: Option<Value>) {
        let Some(answer) = answer else { return self.end_call(id, Err(CallError::Refused)) };
        let Some(inputs) = self.calls.get_mut(&id).and_then(|call| call.inputs.as_mut()) else { return };
        if let Some(slot) = inputs.answers.get_mut(key) {
            *slot = Some(answer);
        }
        if inputs.answers.values().all(Option::is_some) {
            self.send_call_request(id);
        }
    }
}
