//! Requests to one server: adds common headers and follows redirects.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_proto::DeliveryFault;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Client, Method, Request, Response};
use tokio::sync::Notify;
use url::Url;

use super::authorization::{self, Authorizer};
use super::{HttpTarget, delivery_faults, redirects};

/// Media type of a response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseMediaType {
    Json,
    EventStream,
    Other,
}

/// HTTP client, headers and authorizer for all requests to one server. Clones share the client.
#[derive(Clone)]
pub(super) struct HttpEndpoint {
    pub(super) client: Client,
    /// Headers that every request contains: those that the user configured, and `User-Agent`.
    common: Arc<HeaderMap>,
    /// Authorizer that signs the requests to the server, or `None` if they are sent unsigned.
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Timeout of each attempt to send a signed request, up to the beginning of its response, or `None` for no timeout.
    send_timeout: Option<Duration>,
    /// Notified when a request waits for the authorizer, which may wait for the user.
    authorizer_signal: Option<Arc<Notify>>,
}

/// Method, URL, headers and body of one HTTP request.
pub(super) struct HttpRequestParts {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Option<Bytes>,
}

/// A response with any status code, including errors.
pub(super) struct HttpResponse {
    pub(super) response: Response,
    /// Redirects that were followed, or `None` if the requested URL itself responded.
    pub(super) moved: Option<FollowedRedirect>,
}

/// Result of following one or more redirects of a request.
#[derive(Debug, Clone)]
pub(super) struct FollowedRedirect {
    pub(super) to: Url,
    /// Set if all followed redirects were permanent (301 or 308).
    pub(super) permanent: bool,
}

impl HttpEndpoint {
    /// Creates the endpoint of a server. `agent` is the value of `User-Agent`. Also returns the configured headers that
    /// were dropped because the protocol reserves them.
    pub(super) fn new(client: Client, target: &HttpTarget, agent: &str) -> (HttpEndpoint, Vec<HeaderName>) {
        let mut common = HeaderMap::new();
        let mut refused = Vec::new();
        if let Ok(agent) = HeaderValue::from_str(agent)
            && !agent.is_empty()
        {
            common.insert(USER_AGENT, agent);
        }
        for (name, value) in &target.headers {
            if is_reserved_header(name) {
                refused.push(name.clone());
            } else {
                common.insert(name, value.value().clone());
            }
        }
        // A configured `Authorization` header disables the authorizer.
        let authorizer = target.authorizer.clone().filter(|_| !common.contains_key(AUTHORIZATION));
        (
            HttpEndpoint { client, common: Arc::new(common), authorizer, send_timeout: None, authorizer_signal: None },
            refused,
        )
    }

    /// Sends a request, and follows redirects within the server's origin.
    ///
    /// # Errors
    /// Returns [`DeliveryFault`] if no response is received or a redirect must not be followed.
    pub(super) async fn send(&self, parts: HttpRequestParts) -> Result<HttpResponse, DeliveryFault> {
        let mut moved: Option<FollowedRedirect> = None;
        let mut again = 0;
        for _ in 0..=redirects::MAX_REDIRECTS {
            let url = moved.as_ref().map_or(&parts.url, |moved| &moved.to);
            let response = match &self.authorizer {
                None => self.execute(self.build_request(&parts, url.clone())).await?,
                // Boxed, so that unsigned requests have smaller futures.
                Some(authorizer) => {
                    Box::pin(authorization::sign_and_send(self, authorizer, &parts, url, &mut again)).await?
                }
            };
            let status = response.status();
            if !status.is_redirection() {
                return Ok(HttpResponse { response, moved });
            }
            let location = response.headers().get(LOCATION);
            match redirects::redirect_target(url, status, location, parts.body.is_some()) {
                Ok(Some(to)) => {
                    let permanent = matches!(status.as_u16(), 301 | 308);
                    let permanent = permanent && moved.as_ref().is_none_or(|moved| moved.permanent);
                    moved = Some(FollowedRedirect { to, permanent });
                }
                Ok(None) => return Ok(HttpResponse { response, moved }),
                Err(cause) => return Err(DeliveryFault::Redirected { cause }),
            }
        }
        Err(DeliveryFault::Redirected { cause: format!("more than {} redirects in a row", redirects::MAX_REDIRECTS) })
    }

    /// Returns `true` if an authorizer signs the requests, so that they may wait for a token refresh or the user.
    pub(super) fn signs_requests(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Returns the endpoint with a timeout for each attempt to send a signed request.
    pub(super) fn with_send_timeout(mut self, within: Duration) -> HttpEndpoint {
        self.send_timeout = Some(within);
        self
    }

    /// Returns the endpoint and a notification that fires when one of its requests waits for the authorizer.
    pub(super) fn with_authorizer_wait_signal(mut self) -> (HttpEndpoint, Arc<Notify>) {
        let authorizer_signal = Arc::new(Notify::new());
        self.authorizer_signal = Some(Arc::clone(&authorizer_signal));
        (self, authorizer_signal)
    }

    pub(super) fn signal_authorizer_wait(&self) {
        if let Some(authorizer_signal) = &self.authorizer_signal {
            authorizer_signal.notify_one();
        }
    }

    pub(super) async fn execute_with_timeout(&self, request: Request) -> Result<Response, DeliveryFault> {
        let Some(within) = self.send_timeout else { return self.execute(request).await };
        match tokio::time::timeout(within, self.execute(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(delivery_faults::timeout_fault(within)),
        }
    }

    async fn execute(&self, request: Request) -> Result<Response, DeliveryFault> {
        self.client.execute(request).await.map_err(|error| delivery_faults::fault_of_send_error(&error))
    }

    pub(super) fn build_request(&self, parts: &HttpRequestParts, url: Url) -> Request {
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

/// Returns `true` for a header that only the protocol or the HTTP connection may set, so that a configured one is
/// ignored.
fn is_reserved_header(name: &HeaderName) -> bool {
    let name_text = name.as_str();
    [ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING].contains(name)
        || matches!(name_text, "last-event-id" | "keep-alive" | "upgrade" | "te" | "trailer")
        || name_text.starts_with("mcp-")
}

/// Returns the media type according to the `Content-Type` header.
pub(super) fn media_type(headers: &HeaderMap) -> ResponseMediaType {
    let Some(value) = headers.get(CONTENT_TYPE) else { return ResponseMediaType::Other };
    let value = value.as_bytes();
    let value = value.split(|byte| *byte == b';').next().unwrap_or(value).trim_ascii();
    if value.eq_ignore_ascii_case(b"application/json") {
        ResponseMediaType::Json
    } else if value.eq_ignore_ascii_case(b"text/event-stream") {
        ResponseMediaType::EventStream
    } else {
        ResponseMediaType::Other
    }
}

/// Returns the error for a response that is neither JSON nor an event stream.
pub(super) fn unusable_media_type_fault(response: &Response) -> DeliveryFault {
    let status = response.status().as_u16();
    let cause = match response.headers().get(CONTENT_TYPE) {
        Some(kind) => {
            let kind = delivery_faults::displayed_server_text(&String::from_utf8_lossy(kind.as_bytes()));
            format!("the answer (status {status}) is {kind}, neither JSON nor an event stream")
        }
        None => format!("the answer (status {status}) has no Content-Type, so it is neither JSON nor an event stream"),
    };
    DeliveryFault::Unusable { cause }
}
