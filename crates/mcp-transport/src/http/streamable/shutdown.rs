//! Closes a session: sends the last messages and DELETE, and hands the remaining events to the owner.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::Method;
use tokio::time::timeout;

use super::{ExchangeKind, StreamableDriver};
use crate::http::endpoint::RequestParts;
use crate::http::headers::{self, SessionHeaders};

/// Time limit for the last messages, which counts against that for closing.
const LAST_MESSAGES_TIMEOUT: Duration = Duration::from_millis(500);

impl StreamableDriver<'_> {
    /// Closes the session, ends it at the server, and hands over the remaining events. Only the handover waits for the
    /// owner.
    pub(super) async fn end(mut self) {
        self.core.close_session();
        // The responses of pending requests are not needed any more.
        let open: Vec<u64> =
            self.exchanges.iter().filter(|(_, e)| !matches!(e.kind, ExchangeKind::Message)).map(|(n, _)| *n).collect();
        for exchange in open {
            self.finish(exchange);
        }
        self.gate = None;
        self.pump_messages();
        self.core.emit_remaining();

        let goodbye = self.session_id.as_ref().map(|session| {
            let headers = headers::delete_headers(SessionHeaders { session: Some(session), revision: self.revision() });
            RequestParts { method: Method::DELETE, url: self.url.clone(), headers, body: None }
        });
        let StreamableDriver { core, mut work, endpoint, limits, .. } = self;
        let last = timeout(limits.close, async {
            let _ = timeout(LAST_MESSAGES_TIMEOUT, async { while work.next().await.is_some() {} }).await;
            if let Some(parts) = goodbye {
                // 405 means that the server ends sessions by itself. Other failures have no consequence either.
                let _ = endpoint.send(parts).await;
            }
        });
        core.deliver_while_closing(last).await;
    }
}
