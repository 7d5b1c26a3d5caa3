//! Closes a session: posts the last messages and DELETE, and delivers the remaining events to the owner.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::Method;
use tokio::time::timeout;

use super::{ExchangeKind, StreamableDriver};
use crate::http::endpoint::HttpRequestParts;
use crate::http::headers::{self, SessionHeaders};

/// Timeout of posting the last messages, which is part of [`HttpLimits::close`](crate::http::HttpLimits::close).
const LAST_MESSAGES_POST_TIMEOUT: Duration = Duration::from_millis(500);

impl StreamableDriver<'_> {
    /// Closes the session, and ends it at the server with DELETE. Meanwhile delivers the remaining events to the owner,
    /// which may take longer.
    pub(super) async fn shut_down(mut self) {
        self.core.close_session();
        // A closed session needs no responses to its pending requests.
        let open: Vec<u64> =
            self.exchanges.iter().filter(|(_, e)| !matches!(e.kind, ExchangeKind::Message)).map(|(n, _)| *n).collect();
        for exchange in open {
            self.finish_exchange(exchange);
        }
        self.blocking_exchange = None;
        self.post_queued_messages();
        self.core.emit_remaining_events();

        let goodbye = self.session_id.as_ref().map(|session| {
            let headers =
                headers::delete_request_headers(SessionHeaders { session: Some(session), revision: self.revision() });
            HttpRequestParts { method: Method::DELETE, url: self.url.clone(), headers, body: None }
        });
        let StreamableDriver { core, mut work, endpoint, limits, .. } = self;
        let last = timeout(limits.close, async {
            let _ = timeout(LAST_MESSAGES_POST_TIMEOUT, async { while work.next().await.is_some() {} }).await;
            if let Some(parts) = goodbye {
                // 405 means that the server does not support DELETE. Other failures have no consequence either.
                let _ = endpoint.send(parts).await;
            }
        });
        core.deliver_remaining_events_while(last).await;
    }
}
