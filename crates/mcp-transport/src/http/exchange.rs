//! Exchanges with the server, a POST with its response or a GET stream, as futures that the driver's task polls itself.
//! So a response wakes that task once, and the server is read only as fast as its data is accepted.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_proto::DeliveryFault;
use reqwest::header::HeaderValue;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::endpoint::{Answer, Endpoint, Media, Moved, Parts, bounded_body, media, unusable};
use super::fault::{self, Refusal};
use super::headers::SESSION_ID;
use super::sse::{End, Event, Events, StreamFault};

/// Maximum size of an unused body that is read so that its connection can be reused, in bytes.
const UNNEEDED_BYTES: usize = 64 * 1024;

/// The future of an exchange's next step.
pub(super) type Work = Pin<Box<dyn Future<Output = Step> + Send>>;

/// The event stream of a response.
pub(super) type Stream = Box<Events<reqwest::Error>>;

/// The result of one step of an exchange.
pub(super) struct Step {
    /// Number of the exchange.
    pub(super) exchange: u64,
    pub(super) moved: Option<Moved>,
    /// Session ID, if the response contained one.
    pub(super) session: Option<HeaderValue>,
    pub(super) what: What,
}

pub(super) enum What {
    /// A notification or a response was accepted.
    Accepted,
    /// A complete response body.
    Body(Bytes),
    /// Events, and the stream unless it has ended.
    Events { opened: bool, events: Vec<Event>, next: Result<Stream, End<reqwest::Error>> },
    /// A response with an error status.
    Refused(Refusal),
    /// No usable response was received.
    Failed(DeliveryFault),
    /// The time limit for reading the stream after the response has expired.
    Expired,
    /// The message was not accepted in time. Contains the continuation.
    Late(Work),
    /// The request waits for the authorizer, and so possibly for the user. Contains the continuation.
    Asks(Work),
}

impl Step {
    fn plain(exchange: u64, what: What) -> Step {
        Step { exchange, moved: None, session: None, what }
    }
}

/// Posts a request and reads its response.
pub(super) fn request(exchange: u64, endpoint: Endpoint, parts: Parts, limit: usize) -> Work {
    if endpoint.is_signed() {
        let (endpoint, asks) = endpoint.telling();
        return telling(exchange, asks, Box::pin(answered(exchange, endpoint, parts, limit)));
    }
    Box::pin(answered(exchange, endpoint, parts, limit))
}

/// Polls `work` until it completes or waits for the authorizer.
fn telling(exchange: u64, asks: Arc<Notify>, mut work: Work) -> Work {
    Box::pin(async move {
        tokio::select! {
            biased;
            step = &mut work => step,
            () = asks.notified() => Step::plain(exchange, What::Asks(work)),
        }
    })
}

async fn answered(exchange: u64, endpoint: Endpoint, parts: Parts, limit: usize) -> Step {
    match endpoint.send(parts).await {
        Ok(answer) => read_answer(exchange, answer, limit).await,
        Err(fault) => Step::plain(exchange, What::Failed(fault)),
    }
}

/// Posts a notification or a response.
pub(super) fn message(exchange: u64, endpoint: Endpoint, parts: Parts, within: Duration) -> Work {
    Box::pin(async move {
        let sent = if endpoint.is_signed() {
            // Each sending has its own time limit, which excludes the time that the user takes.
            match endpoint.each_within(within).send(parts).await {
                Ok(answer) => timeout(within, taken(exchange, answer)).await,
                Err(fault) => Ok(Step::plain(exchange, What::Failed(fault))),
            }
        } else {
            timeout(within, accepted(exchange, endpoint, parts)).await
        };
        sent.unwrap_or_else(|_| Step::plain(exchange, What::Failed(fault::late(within))))
    })
}

/// Posts a request whose response is sent on another stream. If it is not accepted in time, this is reported and the
/// exchange continues: the server may delay the HTTP response until it has answered.
pub(super) fn answered_elsewhere(exchange: u64, endpoint: Endpoint, parts: Parts, within: Duration) -> Work {
    still_late(exchange, Box::pin(accepted(exchange, endpoint, parts)), within)
}

/// Continues to wait for a late message.
pub(super) fn still_late(exchange: u64, mut work: Work, within: Duration) -> Work {
    Box::pin(async move {
        match timeout(within, &mut work).await {
            Ok(step) => step,
            Err(_) => Step::plain(exchange, What::Late(work)),
        }
    })
}

async fn accepted(exchange: u64, endpoint: Endpoint, parts: Parts) -> Step {
    match endpoint.send(parts).await {
        Ok(answer) => taken(exchange, answer).await,
        Err(fault) => Step::plain(exchange, What::Failed(fault)),
    }
}

async fn taken(exchange: u64, answer: Answer) -> Step {
    let Answer { mut response, moved } = answer;
    if !response.status().is_success() {
        let what = What::Refused(fault::refusal(response).await);
        return Step { exchange, moved, session: None, what };
    }
    if media(response.headers()) != Media::EventStream {
        // The message was accepted, whatever the body contains.
        let _ = bounded_body(&mut response, UNNEEDED_BYTES).await;
    }
    Step { exchange, moved, session: None, what: What::Accepted }
}

/// Opens a stream after a pause.
pub(super) fn stream(exchange: u64, endpoint: Endpoint, parts: Parts, limit: usize, pause: Duration) -> Work {
    Box::pin(async move {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let Answer { response, moved } = match endpoint.send(parts).await {
            Ok(answer) => answer,
            Err(fault) => return Step::plain(exchange, What::Failed(fault)),
        };
        let what = if !response.status().is_success() {
            What::Refused(fault::refusal(response).await)
        } else if media(response.headers()) == Media::EventStream {
            // The open stream is reported before its first event.
            let stream = Box::new(Events::new(Box::pin(response.bytes_stream()), limit));
            What::Events { opened: true, events: Vec::new(), next: Ok(stream) }
        } else {
            What::Failed(unusable(&response))
        };
        Step { exchange, moved, session: None, what }
    })
}

/// Reads the next events of a stream.
pub(super) fn more(exchange: u64, stream: Stream) -> Work {
    Box::pin(async move { Step::plain(exchange, batch(stream, false).await) })
}

/// Reads the stream until `until`: the response was received, but the connection can be reused only after the end of
/// the stream.
pub(super) fn rest(exchange: u64, stream: Stream, until: Instant) -> Work {
    Box::pin(async move {
        let read = timeout_at(until, batch(stream, false)).await;
        Step::plain(exchange, read.unwrap_or(What::Expired))
    })
}

async fn read_answer(exchange: u64, answer: Answer, limit: usize) -> Step {
    let Answer { mut response, moved } = answer;
    let session = response.headers().get(SESSION_ID).cloned();
    let status = response.status();
    let what = if !status.is_success() {
        What::Refused(fault::refusal(response).await)
    } else {
        match media(response.headers()) {
            Media::Json => match bounded_body(&mut response, limit).await {
                Ok(body) => What::Body(body),
                Err(fault) => What::Failed(fault),
            },
            Media::EventStream => batch(Box::new(Events::new(Box::pin(response.bytes_stream()), limit)), true).await,
            Media::Other if matches!(status.as_u16(), 202 | 204) => {
                let cause = format!("the server took the request (status {status}) and gave no answer");
                What::Failed(DeliveryFault::Unusable { cause })
            }
            Media::Other => What::Failed(unusable(&response)),
        }
    };
    Step { exchange, moved, session, what }
}

async fn batch(mut stream: Stream, opened: bool) -> What {
    let (events, end) = stream.next_batch().await;
    What::Events { opened, events, next: end.map_or(Ok(stream), Err) }
}

/// Returns a message that explains why the stream ended.
pub(super) fn end_cause(end: &End<reqwest::Error>) -> String {
    match end {
        End::Ended => "the server ended the stream".to_owned(),
        End::Broken(StreamFault::Body(error)) => format!("the stream broke off: {}", fault::root(error)),
        End::Broken(StreamFault::Unreadable(cause)) => format!("the stream cannot be read: {cause}"),
    }
}
