//! Progress of calls (`basic/utilities/progress`).

use std::time::Instant;

use serde::Deserialize;

use crate::jsonrpc::{RawJson, RequestId};

use super::request_table::RequestPurpose;
use super::{Session, SessionEvent};

/// Maximum length in bytes of the text in a progress notification. Longer texts are truncated.
const MAX_PROGRESS_MESSAGE_BYTES: usize = 4096;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams {
    progress_token: RequestId,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Session {
    /// Processes a progress notification. The progress token of a call is its JSON-RPC id, which is unique and becomes
    /// invalid when the call ends.
    pub(super) fn on_progress_notification(&mut self, params: Option<&RawJson>, now: Instant) {
        let ProgressParams { progress_token, progress, total, message } = match parse_progress_params(params) {
            Ok(params) => params,
            Err(cause) => {
                return self.report_protocol_anomaly(format!("an invalid progress notification: {cause}"), None);
            }
        };
        let RequestId::Number(token) = progress_token else { return };
        // A call that continues as a task keeps its token after the response.
        let found = match self.wire.purpose(token) {
            Some(RequestPurpose::Call(id)) => Some(id),
            _ => self.calls.iter().find(|(_, call)| call.token == Some(token)).map(|(id, _)| *id),
        };
        let Some(id) = found else { return };
        let Some(call) = self.calls.get_mut(&id).filter(|call| call.request.may_request_input()) else { return };
        if call.progress.is_some_and(|before| progress <= before) {
            if !std::mem::replace(&mut call.reported_progress_anomaly, true) {
                self.report_protocol_anomaly(
                    "a progress notification without an increase was ignored".into(),
                    Some(progress_token),
                );
            }
            return;
        }
        call.progress = Some(progress);
        call.progressed += 1;
        let count = call.progressed;
        call.clock.on_activity(now);
        // Copies the beginning of a long message, so that the rest is not retained.
        let message = message.map(|message| match message.floor_char_boundary(MAX_PROGRESS_MESSAGE_BYTES) {
            all if all == message.len() => message,
            some => message[..some].to_owned(),
        });
        self.events.push(SessionEvent::Progress { call: id, count, progress, total, message });
    }
}

fn parse_progress_params(params: Option<&RawJson>) -> Result<ProgressParams, String> {
    let params = params.ok_or("it has no params")?;
    serde_json::from_str(params.get()).map_err(|error| error.to_string())
}
