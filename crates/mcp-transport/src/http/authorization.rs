//! Signs the requests to one server, and handles responses that require authorization.
//!
//! An [`Authorizer`] provides the tokens. A request that was refused with 401 or 403 was not executed, so the same
//! bytes may be sent again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_proto::DeliveryFault;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use url::Url;

use super::body::bounded_body;
use super::delivery_faults::FinalRefusal;
use super::endpoint::{HttpEndpoint, RequestParts};
use super::http_target::{HeaderName, SecretHeader};

/// Maximum number of times that one request is sent.
pub const MAX_SENDS: u32 = 4;

/// Maximum size of the body of a refusal, in bytes, and time limit for reading it.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of `WWW-Authenticate` headers per response, and maximum size of each in bytes.
const MAX_CHALLENGES: usize = 16;
const MAX_CHALLENGE_BYTES: usize = 8 * 1024;
/// Maximum length of a nonce, in bytes.
const MAX_NONCE_BYTES: usize = 1024;

/// Signs the requests to one server, and handles refusals.
///
/// Called for every request to the server's own origin and for no other. Its futures delay only their own request and
/// may be dropped.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Returns headers for a request to `url`, which always has the server's origin. Waits for a token refresh that is
    /// due. The headers replace others of the same name. Without headers, the request is sent unsigned.
    ///
    /// # Errors
    /// Returns [`SigningRefusal`] if the request must not be sent. The caller treats it like a refusal with 401.
    async fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal>;

    /// Handles a response with 401, or with 403 and `insufficient_scope`. May wait for the user.
    async fn on_challenge(&self, challenge: AuthChallenge) -> ChallengeOutcome;

    /// Reports the nonce of a response that is no refusal, if it has one. The nonce of a refusal is in its
    /// [`AuthChallenge`].
    fn on_response(&self, dpop_nonce: Option<&str>);
}

impl fmt::Debug for dyn Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

/// Headers that authorize a request.
#[derive(Debug, Clone, Default)]
pub struct RequestSignature {
    /// Headers `Authorization` and `DPoP`.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Generation of the token, so that two calls refused with the same token cause one refresh.
    pub generation: u64,
}

/// The reason why a request must not be sent, as a message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SigningRefusal(pub String);

/// A response that requires authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthChallenge {
    /// Status code of the response, 401 or 403.
    pub status: u16,
    /// Values of the `WWW-Authenticate` headers. Untrusted.
    pub www_authenticate: Vec<String>,
    /// Value of the `DPoP-Nonce` header.
    pub dpop_nonce: Option<String>,
    /// [`RequestSignature::generation`] of the refused request.
    pub generation: u64,
    /// Number of times that this request was sent again. At `MAX_SENDS - 1` it is not sent again, whatever the
    /// verdict.
    pub attempt: u32,
    /// Method of the JSON-RPC message. Empty if there was none.
    pub operation: String,
}

/// The reaction to a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengeOutcome {
    /// The request is signed and sent again.
    Again,
    /// The request has failed, with this message for the user.
    Stop(String),
}

/// Signs and sends a request, and repeats this as long as the authorizer requests it. `again` counts the repetitions
/// across redirects.
///
/// # Errors
/// Returns [`DeliveryFault`] if signing fails or no response is received.
pub(super) async fn send(
    endpoint: &HttpEndpoint,
    authorizer: &Arc<dyn Authorizer>,
    parts: &RequestParts,
    url: &Url,
    again: &mut u32,
) -> Result<Response, DeliveryFault> {
    loop {
        let signed =
            authorizer.sign(parts.method.as_str(), url).await.map_err(|SigningRefusal(words)| unsigned_fault(words))?;
        let mut request = endpoint.request(parts, url.clone());
        for (name, value) in &signed.headers {
            request.headers_mut().insert(name, value.value().clone());
        }
        let response = endpoint.execute_with_timeout(request).await?;
        let nonce = valid_nonce(response.headers());
        if !is_challenge(&response, &parts.method) {
            authorizer.on_response(nonce.as_deref());
            return Ok(response);
        }
        // The body is read at once, because the user may take minutes and the connection is free for other requests
        // meanwhile.
        let mut response = with_read_body(response).await;
        let is_last = *again + 1 >= MAX_SENDS;
        // The user is not asked for more permissions for a request that will not be sent again.
        let verdict = if is_last && response.status() == StatusCode::FORBIDDEN {
            ChallengeOutcome::Again
        } else {
            let challenge = AuthChallenge {
                status: response.status().as_u16(),
                www_authenticate: challenges(response.headers()).collect(),
                dpop_nonce: nonce,
                generation: signed.generation,
                attempt: *again,
                operation: operation_name(parts),
            };
            endpoint.signal_authorizer_wait();
            authorizer.on_challenge(challenge).await
        };
        let words = match verdict {
            ChallengeOutcome::Again if is_last => {
                format!("the server refused it {MAX_SENDS} times, each time signed anew")
            }
            ChallengeOutcome::Again => {
                *again += 1;
                continue;
            }
            ChallengeOutcome::Stop(words) => words,
        };
        response.extensions_mut().insert(FinalRefusal(words));
        return Ok(response);
    }
}

/// Represents an unsigned request as one refused with 401: both require a sign-in.
fn unsigned_fault(words: String) -> DeliveryFault {
    DeliveryFault::Status { code: StatusCode::UNAUTHORIZED.as_u16(), error: None, text: words, challenge: None }
}

fn is_challenge(response: &Response, method: &Method) -> bool {
    match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // No additional permissions are requested to end a session.
        StatusCode::FORBIDDEN if *method != Method::DELETE => {
            challenges(response.headers()).any(|challenge| challenge.contains("insufficient_scope"))
        }
        _ => false,
    }
}

fn challenges(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().take(MAX_CHALLENGES);
    values
        .filter(|value| value.len() <= MAX_CHALLENGE_BYTES)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into())
}

fn valid_nonce(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("dpop-nonce")?.to_str().ok()?;
    (1..=MAX_NONCE_BYTES).contains(&value.len()).then(|| value.to_owned())
}

/// Returns the response with its body read, up to a limit.
async fn with_read_body(mut response: Response) -> Response {
    let read = tokio::time::timeout(REFUSAL_TIMEOUT, bounded_body(&mut response, MAX_REFUSAL_BYTES));
    let body = read.await.ok().and_then(Result::ok).unwrap_or_default();
    let mut whole = http::Response::new(body);
    *whole.status_mut() = response.status();
    *whole.headers_mut() = std::mem::take(response.headers_mut());
    whole.into()
}

fn operation_name(parts: &RequestParts) -> String {
    #[derive(Deserialize)]
    struct OperationName {
        method: Option<String>,
    }
    let message = parts.body.as_ref().and_then(|body| serde_json::from_slice::<OperationName>(body).ok());
    message.and_then(|message| message.method).unwrap_or_default()
}
