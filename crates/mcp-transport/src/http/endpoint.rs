//! Requests to one server: what stands in all of them, redirects, and bodies within bounds.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcp_proto::DeliveryFault;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Client, Method, Request, Response};
use tokio::sync::Notify;
use url::Url;

use super::authorization::{self, Authorizer};
use super::{HttpTarget, fault, redirects};

/// The media types of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    EventStream,
    Other,
}

/// What stands in every request to one server. Copies share it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) client: Client,
    /// Headers of the user and the name of the client.
    common: Arc<HeaderMap>,
    /// Who signs the requests.
    authorizer: Option<Arc<dyn Authorizer>>,
    /// How long an answer to one sending of a signed request may take to begin.
    each: Option<Duration>,
    /// Told when a request has to wait for the authorizer, and so perhaps for the user.
    asks: Option<Arc<Notify>>,
}

/// One request.
pub(super) struct Parts {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Option<Bytes>,
}

/// An answer, whatever its status.
pub(super) struct Answer {
    pub(super) response: Response,
    /// Where it came from, if redirects were followed.
    pub(super) moved: Option<Moved>,
}

/// Redirects that were followed.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    pub(super) to: Url,
    /// Whether all of them were permanent.
    pub(super) permanent: bool,
}

impl Endpoint {
    /// `agent`: what the client calls itself. Headers that the user may not set are left out and returned.
    pub(super) fn new(client: Client, target: &HttpTarget, agent: &str) -> (Endpoint, Vec<HeaderName>) {
        let mut common = HeaderMap::new();
        let mut refused = Vec::new();
        if let Ok(agent) = HeaderValue::from_str(agent)
            && !agent.is_empty()
        {
            common.insert(USER_AGENT, agent);
        }
        for (name, value) in &target.headers {
            if is_ours(name) {
                refused.push(name.clone());
            } else {
                common.insert(name, value.value().clone());
            }
        }
        // What the user set goes before.
        let authorizer = target.authorizer.clone().filter(|_| !common.contains_key(AUTHORIZATION));
        (Endpoint { client, common: Arc::new(common), authorizer, each: None, asks: None }, refused)
    }

    /// Sends a request, and again where a redirect within the origin leads.
    ///
    /// # Errors
    /// If no answer came.
    pub(super) async fn send(&self, parts: Parts) -> Result<Answer, DeliveryFault> {
        let mut moved: Option<Moved> = None;
        let mut again = 0;
        for _ in 0..=redirects::MOST {
            let url = moved.as_ref().map_or(&parts.url, |moved| &moved.to);
            let response = match &self.authorizer {
                None => self.execute(self.request(&parts, url.clone())).await?,
                // In a box, so that requests without one are no larger for it.
                Some(authorizer) => Box::pin(authorization::send(self, authorizer, &parts, url, &mut again)).await?,
            };
            let status = response.status();
            if !status.is_redirection() {
                return Ok(Answer { response, moved });
            }
            let location = response.headers().get(LOCATION);
            match redirects::next(url, status, location, parts.body.is_some()) {
                Ok(Some(to)) => {
                    let permanent = matches!(status.as_u16(), 301 | 308);
                    let permanent = permanent && moved.as_ref().is_none_or(|moved| moved.permanent);
                    moved = Some(Moved { to, permanent });
                }
                Ok(None) => return Ok(Answer { response, moved }),
                Err(cause) => return Err(DeliveryFault::Redirected { cause }),
            }
        }
        Err(DeliveryFault::Redirected { cause: format!("more than {} redirects in a row", redirects::MOST) })
    }

    /// Whether answers may have to wait for a renewal or for the user.
    pub(super) fn is_signed(&self) -> bool {
        self.authorizer.is_some()
    }

    /// The same, with a bound on each sending of a signed request.
    pub(super) fn each_within(mut self, within: Duration) -> Endpoint {
        self.each = Some(within);
        self
    }

    /// The same, and what tells when a request has to wait for the authorizer.
    pub(super) fn telling(mut self) -> (Endpoint, Arc<Notify>) {
        let asks = Arc::new(Notify::new());
        self.asks = Some(Arc::clone(&asks));
        (self, asks)
    }

    pub(super) fn tell_that_it_asks(&self) {
        if let Some(asks) = &self.asks {
            asks.notify_one();
        }
    }

    pub(super) async fn execute_in_time(&self, request: Request) -> Result<Response, DeliveryFault> {
        let Some(within) = self.each else { return self.execute(request).await };
        match tokio::time::timeout(within, self.execute(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(fault::late(within)),
        }
    }

    async fn execute(&self, request: Request) -> Result<Response, DeliveryFault> {
        self.client.execute(request).await.map_err(|error| fault::sending(&error))
    }

    pub(super) fn request(&self, parts: &Parts, url: Url) -> Request {
        let mut request = Request::new(parts.method.clone(), url);
        let headers = request.headers_mut();
        headers.clone_from(&self.common);
        for (name, value) in &parts.headers {
            headers.insert(name, value.clone());
        }
        *request.body_mut() = parts.body.clone().map(Into::into);
        request
    }
}

/// Headers that belong to the protocol or to the connection.
fn is_ours(name: &HeaderName) -> bool {
    let name_text = name.as_str();
    [ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING].contains(name)
        || matches!(name_text, "last-event-id" | "keep-alive" | "upgrade" | "te" | "trailer")
        || name_text.starts_with("mcp-")
}

/// What an answer says that it is.
pub(super) fn media(headers: &HeaderMap) -> Media {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Media::Other };
    let value = value.as_bytes();
    let value = value.split(|byte| *byte == b';').next().unwrap_or(value).trim_ascii();
    if value.eq_ignore_ascii_case(b"application/json") {
        Media::Json
    } else if value.eq_ignore_ascii_case(b"text/event-stream") {
        Media::EventStream
    } else {
        Media::Other
    }
}

/// Why an answer cannot be read that is neither JSON nor an event stream.
pub(super) fn unusable(response: &Response) -> DeliveryFault {
    let status = response.status().as_u16();
    let cause = match response.headers().get(CONTENT_TYPE) {
        Some(kind) => {
            let kind = fault::shown(&String::from_utf8_lossy(kind.as_bytes()));
            format!("the answer (status {status}) is {kind}, neither JSON nor an event stream")
        }
        None => format!("the answer (status {status}) has no Content-Type, so it is neither JSON nor an event stream"),
    };
    DeliveryFault::Unusable { cause }
}

/// Reads a whole body. One that came in one piece is not copied.
///
/// # Errors
/// If it breaks off or is larger than `limit`.
pub(super) async fn bounded_body(response: &mut Response, limit: usize) -> Result<Bytes, DeliveryFault> {
    let too_large = || DeliveryFault::Unusable { cause: format!("the answer is larger than {limit} bytes") };
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut chunk = async || response.chunk().await.map_err(|error| fault::body(&error));
    let Some(first) = chunk().await? else { return Ok(Bytes::new()) };
    let Some(second) = chunk().await? else {
        return if first.len() > limit { Err(too_large()) } else { Ok(first) };
    };
    let mut body = BytesMut::with_capacity(announced.unwrap_or(first.len() + second.len()));
    let mut next = Some(second);
    body.extend_from_slice(&first);
    while let Some(more) = next {
        if body.len() + more.len() > limit {
            return Err(too_large());
        }
        body.extend_from_slice(&more);
        next = chunk().await?;
    }
    Ok(body.freeze())
}
