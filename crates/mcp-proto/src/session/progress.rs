//! Progress of calls (`basic/utilities/progress`).

use std::time::Instant;

use serde::Deserialize;

use crate::jsonrpc::RequestId;
use crate::types::Map;

use super::{Session, SessionEvent, results};

/// How much of a progress message is kept: it is one line beside a bar.
const MESSAGE: usize = 4096;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    progress_token: RequestId,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Session {
    /// The token of a call is its id on the wire: unique, and gone when the call has ended.
    pub(super) fn progressed(&mut self, params: Map, now: Instant) {
        let Params { progress_token, progress, total, message } = match results::read(params) {
            Ok(params) => params,
            Err(cause) => return self.anomaly(format!("progress that does not fit: {cause}"), None),
        };
        let RequestId::Number(token) = progress_token else { return };
        let found = self.calls.iter_mut().find(|(_, call)| call.wire == Some(token) && call.request.may_ask_back());
        let Some((id, call)) = found else { return };
        let id = *id;
        if call.progress.is_some_and(|before| progress <= before) {
            if !std::mem::replace(&mut call.complained, true) {
                self.anomaly("progress that does not grow was ignored".into(), Some(progress_token));
            }
            return;
        }
        call.progress = Some(progress);
        call.clock.alive(now);
        let message = message.map(|message| message.chars().take(MESSAGE).collect());
        self.events.push(SessionEvent::Progress { call: id, progress, total, message });
    }
}
