//! One POST with its answer, or one GET stream, as futures that the driver's task runs itself. So an answer
//! wakes that task once, and what is not taken from it is not read from the server.

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

/// The most that is read of a body which nobody needs, so that its connection can be used again, in bytes.
const UNNEEDED_BYTES: usize = 64 * 1024;

/// Something that an exchange waits for.
pub(super) type Work = Pin<Box<dyn Future<Output = Step> + Send>>;

/// The stream of an answer.
pub(super) type Stream = Box<Events<reqwest::Error>>;

/// What has come.
pub(super) struct Step {
    /// Which exchange.
    pub(super) exchange: u64,
    pub(super) moved: Option<Moved>,
    /// The session id, if the answer carried one.
    pub(super) session: Option<HeaderValue>,
    pub(super) what: What,
}

pub(super) enum What {
    /// A notification or a response was accepted.
    Accepted,
    /// The answer in one piece.
    Body(Bytes),
    /// Events, and the stream unless it has ended.
    Events { opened: bool, events: Vec<Event>, next: Result<Stream, End<reqwest::Error>> },
    /// The status is no success.
    Refused(Refusal),
    /// No answer that can be used.
    Failed(DeliveryFault),
    /// The time to read what follows an answer is over.
    Expired,
    /// The server takes its time to accept it; this is what goes on.
    Late(Work),
    /// It waits for the authorizer, and so perhaps for the user; this is what goes on.
    Asks(Work),
}

impl Step {
    fn plain(exchange: u64, what: What) -> Step {
        Step { exchange, moved: None, session: None, what }
    }
}

/// Posts a request.
pub(super) fn request(exchange: u64, endpoint: Endpoint, parts: Parts, limit: usize) -> Work {
    if endpoint.is_signed() {
        let (endpoint, asks) = endpoint.telling();
        return telling(exchange, asks, Box::pin(answered(exchange, endpoint, parts, limit)));
    }
    Box::pin(answered(exchange, endpoint, parts, limit))
}

/// Goes on, until it waits for the authorizer.
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

/// Posts what has no answer: a notification or a response.
pub(super) fn message(exchange: u64, endpoint: Endpoint, parts: Parts, within: Duration) -> Work {
    Box::pin(async move {
        let sent = if endpoint.is_signed() {
            // The user's time is not the server's, so that each sending has its own.
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

/// Posts a request whose answer comes on another stream. When it is not accepted in time, that is told and it
/// goes on: the server may hold it open until it has answered.
pub(super) fn answered_elsewhere(exchange: u64, endpoint: Endpoint, parts: Parts, within: Duration) -> Work {
    still_late(exchange, Box::pin(accepted(exchange, endpoint, parts)), within)
}

/// Waits on for what was late.
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
        // Whatever it says, it was accepted.
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
            // That it is open is told before its first event.
            let stream = Box::new(Events::new(Box::pin(response.bytes_stream()), limit));
            What::Events { opened: true, events: Vec::new(), next: Ok(stream) }
        } else {
            What::Failed(unusable(&response))
        };
        Step { exchange, moved, session: None, what }
    })
}

/// Reads on.
pub(super) fn more(exchange: u64, stream: Stream) -> Work {
    Box::pin(async move { Step::plain(exchange, batch(stream, false).await) })
}

/// Reads on for a while: the answer has come, but the connection can only be used again after the end.
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

/// Why no more events come, in words.
pub(super) fn end_cause(end: &End<reqwest::Error>) -> String {
    match end {
        End::Ended => "the server ended the stream".to_owned(),
        End::Broken(StreamFault::Body(error)) => format!("the stream broke off: {}", fault::root(error)),
        End::Broken(StreamFault::Unreadable(cause)) => format!("the stream cannot be read: {cause}"),
    }
}
