//! HTTP exchanges with the server: a POST with its response, or a GET with its event stream. Each step is a future that
//! the driver's task polls, so the driver reads from the server only as fast as its owner accepts events.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_proto::DeliveryFault;
use reqwest::header::HeaderValue;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::body::read_bounded_body;
use super::delivery_faults::{self, HttpErrorResponse};
use super::endpoint::{
    FollowedRedirect, HttpEndpoint, HttpRequestParts, HttpResponse, ResponseMediaType, media_type,
    unusable_media_type_fault,
};
use super::headers::SESSION_ID_HEADER;
use super::sse::{EventStreamEnd, EventStreamFault, SseEvent, SseEvents};

/// Maximum size in bytes of a response body that is read and discarded only so that its connection can be reused.
const MAX_DISCARDED_BODY_BYTES: usize = 64 * 1024;

/// Boxed future that completes with the next step of an HTTP exchange.
pub(super) type ExchangeFuture = Pin<Box<dyn Future<Output = ExchangeStep> + Send>>;

/// Event stream in the body of a response.
pub(super) type BoxedSseEvents = Box<SseEvents<reqwest::Error>>;

/// Result of one step of an HTTP exchange.
pub(super) struct ExchangeStep {
    /// Number by which the driver identifies the HTTP exchange.
    pub(super) exchange: u64,
    pub(super) moved: Option<FollowedRedirect>,
    /// Value of the response's `Mcp-Session-Id` header, or `None` if absent.
    pub(super) session: Option<HeaderValue>,
    pub(super) what: ExchangeEvent,
}

/// Outcome of one step of an HTTP exchange.
pub(super) enum ExchangeEvent {
    /// The server accepted a posted notification or response.
    Accepted,
    /// The complete body of a JSON response arrived.
    Body(Bytes),
    /// Events of an event stream, and the stream itself unless it has ended. `opened` is set for the first events of a
    /// stream.
    Events { opened: bool, events: Vec<SseEvent>, next: Result<BoxedSseEvents, EventStreamEnd<reqwest::Error>> },
    /// The server responded with an error status.
    Refused(HttpErrorResponse),
    /// The request failed, or the response was not usable.
    Failed(DeliveryFault),
    /// The event stream stayed open until the deadline of [`drain_stream_until`].
    Expired,
    /// The server did not accept the message in time. Contains the future that continues to wait for the HTTP response.
    Late(ExchangeFuture),
    /// The request waits for the authorizer, which may wait for the user. Contains the future that continues the
    /// request.
    AwaitsAuthorizer(ExchangeFuture),
}

impl ExchangeStep {
    fn new(exchange: u64, what: ExchangeEvent) -> ExchangeStep {
        ExchangeStep { exchange, moved: None, session: None, what }
    }
}

/// Posts a request and reads its response or the first events of its stream.
pub(super) fn post_request(
    exchange: u64,
    endpoint: HttpEndpoint,
    parts: HttpRequestParts,
    limit: usize,
) -> ExchangeFuture {
    if endpoint.signs_requests() {
        let (endpoint, authorizer_signal) = endpoint.with_authorizer_wait_signal();
        return poll_until_authorizer_waits(
            exchange,
            authorizer_signal,
            Box::pin(send_and_read_response(exchange, endpoint, parts, limit)),
        );
    }
    Box::pin(send_and_read_response(exchange, endpoint, parts, limit))
}

/// Polls `work` until it completes, or until `authorizer_signal` fires because `work` waits for the authorizer. Then
/// returns [`ExchangeEvent::AwaitsAuthorizer`].
fn poll_until_authorizer_waits(
    exchange: u64,
    authorizer_signal: Arc<Notify>,
    mut work: ExchangeFuture,
) -> ExchangeFuture {
    Box::pin(async move {
        tokio::select! {
            biased;
            step = &mut work => step,
            () = authorizer_signal.notified() => ExchangeStep::new(exchange, ExchangeEvent::AwaitsAuthorizer(work)),
        }
    })
}

async fn send_and_read_response(
    exchange: u64,
    endpoint: HttpEndpoint,
    parts: HttpRequestParts,
    limit: usize,
) -> ExchangeStep {
    match endpoint.send(parts).await {
        Ok(answer) => read_response(exchange, answer, limit).await,
        Err(fault) => ExchangeStep::new(exchange, ExchangeEvent::Failed(fault)),
    }
}

/// Posts a notification or a response, and fails if the server does not accept it within the timeout `within`.
pub(super) fn post_message(
    exchange: u64,
    endpoint: HttpEndpoint,
    parts: HttpRequestParts,
    within: Duration,
) -> ExchangeFuture {
    Box::pin(async move {
        let sent = if endpoint.signs_requests() {
            // Each attempt to send the message has its own timeout, which excludes the time that the user takes to sign
            // in.
            match endpoint.with_send_timeout(within).send(parts).await {
                Ok(answer) => timeout(within, check_response_status(exchange, answer)).await,
                Err(fault) => Ok(ExchangeStep::new(exchange, ExchangeEvent::Failed(fault))),
            }
        } else {
            timeout(within, post_and_check_status(exchange, endpoint, parts)).await
        };
        sent.unwrap_or_else(|_| {
            ExchangeStep::new(exchange, ExchangeEvent::Failed(delivery_faults::timeout_fault(within)))
        })
    })
}

/// Posts a request whose JSON-RPC response arrives on the GET stream (HTTP+SSE). If the server does not accept the
/// request in time, completes with [`ExchangeEvent::Late`], since servers may delay the HTTP response until they have
/// sent the result.
pub(super) fn post_message_answered_on_stream(
    exchange: u64,
    endpoint: HttpEndpoint,
    parts: HttpRequestParts,
    within: Duration,
) -> ExchangeFuture {
    wait_until_accepted_or_late(exchange, Box::pin(post_and_check_status(exchange, endpoint, parts)), within)
}

/// Waits until the server has accepted a posted message. Completes with [`ExchangeEvent::Late`] if that takes longer
/// than `within`.
pub(super) fn wait_until_accepted_or_late(exchange: u64, mut work: ExchangeFuture, within: Duration) -> ExchangeFuture {
    Box::pin(async move {
        match timeout(within, &mut work).await {
            Ok(step) => step,
            Err(_) => ExchangeStep::new(exchange, ExchangeEvent::Late(work)),
        }
    })
}

async fn post_and_check_status(exchange: u64, endpoint: HttpEndpoint, parts: HttpRequestParts) -> ExchangeStep {
    match endpoint.send(parts).await {
        Ok(answer) => check_response_status(exchange, answer).await,
        Err(fault) => ExchangeStep::new(exchange, ExchangeEvent::Failed(fault)),
    }
}

async fn check_response_status(exchange: u64, answer: HttpResponse) -> ExchangeStep {
    let HttpResponse { mut response, moved } = answer;
    if !response.status().is_success() {
        let what = ExchangeEvent::Refused(delivery_faults::read_error_response(response).await);
        return ExchangeStep { exchange, moved, session: None, what };
    }
    if media_type(response.headers()) != ResponseMediaType::EventStream {
        // The server has accepted the message. The body of its response has no meaning.
        let _ = read_bounded_body(&mut response, MAX_DISCARDED_BODY_BYTES).await;
    }
    ExchangeStep { exchange, moved, session: None, what: ExchangeEvent::Accepted }
}

/// Opens an event stream with a GET request after the delay `pause`.
pub(super) fn open_event_stream(
    exchange: u64,
    endpoint: HttpEndpoint,
    parts: HttpRequestParts,
    limit: usize,
    pause: Duration,
) -> ExchangeFuture {
    Box::pin(async move {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let HttpResponse { response, moved } = match endpoint.send(parts).await {
            Ok(answer) => answer,
            Err(fault) => return ExchangeStep::new(exchange, ExchangeEvent::Failed(fault)),
        };
        let what = if !response.status().is_success() {
            ExchangeEvent::Refused(delivery_faults::read_error_response(response).await)
        } else if media_type(response.headers()) == ResponseMediaType::EventStream {
            // The open stream is reported before its first event.
            let stream = Box::new(SseEvents::new(Box::pin(response.bytes_stream()), limit));
            ExchangeEvent::Events { opened: true, events: Vec::new(), next: Ok(stream) }
        } else {
            ExchangeEvent::Failed(unusable_media_type_fault(&response))
        };
        ExchangeStep { exchange, moved, session: None, what }
    })
}

/// Waits for the next events of an open event stream.
pub(super) fn read_next_events(exchange: u64, stream: BoxedSseEvents) -> ExchangeFuture {
    Box::pin(async move { ExchangeStep::new(exchange, read_event_batch(stream, false).await) })
}

/// Reads the rest of an event stream that has already delivered its response, until it ends or the time `until` is
/// reached. The connection can be reused only after the end of the stream.
pub(super) fn drain_stream_until(exchange: u64, stream: BoxedSseEvents, until: Instant) -> ExchangeFuture {
    Box::pin(async move {
        let read = timeout_at(until, read_event_batch(stream, false)).await;
        ExchangeStep::new(exchange, read.unwrap_or(ExchangeEvent::Expired))
    })
}

async fn read_response(exchange: u64, answer: HttpResponse, limit: usize) -> ExchangeStep {
    let HttpResponse { mut response, moved } = answer;
    let session = response.headers().get(SESSION_ID_HEADER).cloned();
    let status = response.status();
    let what = if !status.is_success() {
        ExchangeEvent::Refused(delivery_faults::read_error_response(response).await)
    } else {
        match media_type(response.headers()) {
            ResponseMediaType::Json => match read_bounded_body(&mut response, limit).await {
                Ok(body) => ExchangeEvent::Body(body),
                Err(fault) => ExchangeEvent::Failed(fault),
            },
            ResponseMediaType::EventStream => {
                read_event_batch(Box::new(SseEvents::new(Box::pin(response.bytes_stream()), limit)), true).await
            }
            ResponseMediaType::Other if matches!(status.as_u16(), 202 | 204) => {
                let cause = format!("the server took the request (status {status}) and gave no answer");
                ExchangeEvent::Failed(DeliveryFault::Unusable { cause })
            }
            ResponseMediaType::Other => ExchangeEvent::Failed(unusable_media_type_fault(&response)),
        }
    };
    ExchangeStep { exchange, moved, session, what }
}

async fn read_event_batch(mut stream: BoxedSseEvents, opened: bool) -> ExchangeEvent {
    let (events, end) = stream.next_batch().await;
    ExchangeEvent::Events { opened, events, next: end.map_or(Ok(stream), Err) }
}

/// Returns a message that explains why the stream ended.
pub(super) fn stream_end_text(end: &EventStreamEnd<reqwest::Error>) -> String {
    match end {
        EventStreamEnd::Ended => "the server ended the stream".to_owned(),
        EventStreamEnd::Broken(EventStreamFault::Body(error)) => {
            format!("the stream broke off: {}", delivery_faults::root_cause_message(error))
        }
        EventStreamEnd::Broken(EventStreamFault::Unreadable(cause)) => format!("the stream cannot be read: {cause}"),
    }
}
