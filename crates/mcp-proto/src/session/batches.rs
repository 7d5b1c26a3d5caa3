//! Batches of 2025-03-26: requests received in one batch are answered in one batch.

use std::time::Instant;

use crate::jsonrpc::{IncomingMessage, InvalidMessage, InvalidMessageCause, OutgoingMessage, RpcError, code};

use super::{CallError, Session, StreamOrigin};

/// A batch of requests from the server, some of which have no response yet.
#[derive(Debug, Default)]
pub(super) struct PendingBatchResponse {
    missing: usize,
    responses: Vec<OutgoingMessage>,
}

impl Session {
    pub(super) fn process_received_batch(
        &mut self,
        messages: Vec<Result<IncomingMessage, InvalidMessage>>,
        origin: StreamOrigin,
        now: Instant,
    ) {
        let allowed = self.facts.as_ref().is_some_and(|facts| facts.revision.has_batches());
        let limit = self.config.limits.batch;
        if !allowed || messages.len() > limit {
            let cause =
                if allowed { InvalidMessageCause::BatchTooLong(limit) } else { InvalidMessageCause::BatchNotAllowed };
            return self.reject_received_batch(messages, &cause, now);
        }
        self.last_batch += 1;
        let batch = self.last_batch;
        // The batch itself counts as one missing response until all its messages are processed.
        self.batches.insert(batch, PendingBatchResponse { missing: 1, responses: Vec::new() });
        for message in messages {
            match message {
                Ok(message) => self.process_received_message(message, origin.clone(), Some(batch), now),
                Err(invalid) => self.on_invalid_message(invalid, Some(batch), now),
            }
        }
        self.record_batch_response(Some(batch), None);
    }

    /// Rejects a received batch: calls whose responses are in it fail immediately, and requests in it are answered with
    /// an error.
    fn reject_received_batch(
        &mut self,
        messages: Vec<Result<IncomingMessage, InvalidMessage>>,
        cause: &InvalidMessageCause,
        now: Instant,
    ) {
        self.report_protocol_anomaly(cause.to_string(), None);
        for message in messages {
            match message {
                Ok(IncomingMessage::Response { id, .. }) => {
                    let invalid = InvalidMessage {
                        cause: cause.clone(),
                        id: Some(id.clone()),
                        peer_request: None,
                        answer: true,
                        excerpt: String::new(),
                    };
                    self.fail_client_request(&id, CallError::Unreadable(Box::new(invalid)), now);
                }
                Ok(IncomingMessage::Request { id, .. })
                    if self.accepts_server_requests() && !self.is_server_request_open(&id) =>
                {
                    self.send_server_request_response(
                        id,
                        None,
                        Err(RpcError::new(code::INVALID_REQUEST, cause.to_string())),
                    );
                }
                _ => {}
            }
        }
    }

    /// Makes a batch of requests from the server wait for one more response. Has no effect if `batch` is `None`.
    pub(super) fn expect_another_batch_response(&mut self, batch: Option<u64>) {
        if let Some(batch) = batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.missing += 1;
        }
    }

    /// Records the client's response to one request of a batch, or `None` if the request gets no response. When no
    /// response is missing any more, sends all of them as one batch.
    pub(super) fn record_batch_response(&mut self, id: Option<u64>, response: Option<OutgoingMessage>) {
        let Some(id) = id else { return };
        let Some(batch) = self.batches.get_mut(&id) else { return };
        batch.missing -= 1;
        batch.responses.extend(response);
        if batch.missing == 0
            && let Some(batch) = self.batches.swap_remove(&id)
            && !batch.responses.is_empty()
        {
            self.send_response(OutgoingMessage::batch(batch.responses));
        }
    }
}
