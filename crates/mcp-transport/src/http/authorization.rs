//! Adds authorization headers to the requests to one server, and handles responses that require authorization.
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

use super::body::read_bounded_body;
use super::delivery_faults::AuthorizerRefusalMessage;
use super::endpoint::{HttpEndpoint, HttpRequestParts};
use super::http_target::{HeaderName, SecretHeader};

/// Maximum number of times that one HTTP request is sent, including the first.
pub const MAX_SENDS_PER_REQUEST: u32 = 4;

/// Maximum number of bytes that are read from the body of a 401 or 403 response.
const MAX_REFUSAL_BODY_BYTES: usize = 64 * 1024;
/// Timeout of reading the body of a 401 or 403 response.
const REFUSAL_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of `WWW-Authenticate` headers that are read from one response.
const MAX_AUTH_CHALLENGES: usize = 16;
/// Maximum size in bytes of a `WWW-Authenticate` header. Larger ones are ignored.
const MAX_AUTH_CHALLENGE_BYTES: usize = 8 * 1024;
/// Maximum length of a DPoP nonce, in bytes. Longer ones are ignored.
const MAX_DPOP_NONCE_BYTES: usize = 1024;

/// Adds authorization headers to the requests to one server, and handles its 401 and 403 responses.
///
/// Called for every request to the server's own origin and for no other. Each returned future delays only one request,
/// and may be dropped.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Returns the authorization headers of a request to `url`, which always has the server's origin. Renews the token
    /// first if that is due. The returned headers replace others of the same name. Without headers, the request is sent
    /// unsigned.
    ///
    /// # Errors
    /// Returns [`SigningRefusal`] if the request must not be sent. The caller treats this like a 401 response.
    async fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal>;

    /// Handles a response with 401, or with 403 and `insufficient_scope`. May wait for the user, for instance to sign
    /// in.
    async fn on_challenge(&self, challenge: AuthChallenge) -> ChallengeOutcome;

    /// Receives the DPoP nonce of a response that is not passed to [`Authorizer::on_challenge`], or `None` if the
    /// response has no nonce. The nonce of a refused request is in its [`AuthChallenge`].
    fn on_response(&self, dpop_nonce: Option<&str>);
}

impl fmt::Debug for dyn Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

/// Headers that authorize one request, and the generation number of the token in them.
#[derive(Debug, Clone, Default)]
pub struct RequestSignature {
    /// Headers `Authorization` and, for bound tokens, `DPoP`.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Number that increases with each new token, so that the refusals of two requests with the same token cause a
    /// single refresh.
    pub generation: u64,
}

/// Reason why a request must not be sent, as a message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SigningRefusal(pub String);

/// A response with which the server refused a request because its authorization is missing or insufficient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthChallenge {
    /// Status code of the response, 401 or 403.
    pub status: u16,
    /// Values of the `WWW-Authenticate` headers. Untrusted.
    pub www_authenticate: Vec<String>,
    /// Value of the `DPoP-Nonce` header, or `None` if absent.
    pub dpop_nonce: Option<String>,
    /// [`RequestSignature::generation`] of the headers with which the refused request was sent.
    pub generation: u64,
    /// Number of times that this request was already sent again. At `MAX_SENDS_PER_REQUEST - 1`, the driver does not
    /// send it again, even if the outcome is [`ChallengeOutcome::Again`].
    pub attempt: u32,
    /// JSON-RPC method of the refused message, such as `tools/call`. Empty if the HTTP request contains no message.
    pub operation: String,
}

/// Decision of an [`Authorizer`] on a request that the server refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengeOutcome {
    /// The HTTP driver must sign the refused request with the current token, and send it again.
    Again,
    /// The HTTP driver must report the refused request as failed, with this message for the user.
    Stop(String),
}

/// Signs and sends a request, and repeats both while the authorizer returns [`ChallengeOutcome::Again`]. `again` is the
/// number of times that the request was already sent again, also before a redirect, and is increased.
///
/// # Errors
/// Returns [`DeliveryFault`] if signing fails or no response is received.
pub(super) async fn sign_and_send(
    endpoint: &HttpEndpoint,
    authorizer: &Arc<dyn Authorizer>,
    parts: &HttpRequestParts,
    url: &Url,
    again: &mut u32,
) -> Result<Response, DeliveryFault> {
    loop {
        let signed = authorizer
            .sign(parts.method.as_str(), url)
            .await
            .map_err(|SigningRefusal(words)| fault_of_signing_error(words))?;
        let mut request = endpoint.build_request(parts, url.clone());
        for (name, value) in &signed.headers {
            request.headers_mut().insert(name, value.value().clone());
        }
        let response = endpoint.execute_with_timeout(request).await?;
        let nonce = parse_dpop_nonce(response.headers());
        if !is_auth_challenge(&response, &parts.method) {
            authorizer.on_response(nonce.as_deref());
            return Ok(response);
        }
        // The body is read now, since the user may take minutes and other requests can use the connection meanwhile.
        let mut response = buffer_refusal_body(response).await;
        let is_last = *again + 1 >= MAX_SENDS_PER_REQUEST;
        // The user is not asked for more scopes if the request will not be sent again.
        let verdict = if is_last && response.status() == StatusCode::FORBIDDEN {
            ChallengeOutcome::Again
        } else {
            let challenge = AuthChallenge {
                status: response.status().as_u16(),
                www_authenticate: challenge_header_values(response.headers()).collect(),
                dpop_nonce: nonce,
                generation: signed.generation,
                attempt: *again,
                operation: rpc_method_of_request(parts),
            };
            endpoint.signal_authorizer_wait();
            authorizer.on_challenge(challenge).await
        };
        let words = match verdict {
            ChallengeOutcome::Again if is_last => {
                format!("the server refused it {MAX_SENDS_PER_REQUEST} times, each time signed anew")
            }
            ChallengeOutcome::Again => {
                *again += 1;
                continue;
            }
            ChallengeOutcome::Stop(words) => words,
        };
        response.extensions_mut().insert(AuthorizerRefusalMessage(words));
        return Ok(response);
    }
}

/// Returns a fault with status 401 for a request that the authorizer did not sign, since both require a sign-in.
/// `words` is the message for the user.
fn fault_of_signing_error(words: String) -> DeliveryFault {
    DeliveryFault::Status { code: StatusCode::UNAUTHORIZED.as_u16(), error: None, text: words, challenge: None }
}

fn is_auth_challenge(response: &Response, method: &Method) -> bool {
    match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // Ending a session is not worth a request for more scopes.
        StatusCode::FORBIDDEN if *method != Method::DELETE => {
            challenge_header_values(response.headers()).any(|challenge| challenge.contains("insufficient_scope"))
        }
        _ => false,
    }
}

fn challenge_header_values(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().take(MAX_AUTH_CHALLENGES);
    values
        .filter(|value| value.len() <= MAX_AUTH_CHALLENGE_BYTES)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into())
}

fn parse_dpop_nonce(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("dpop-nonce")?.to_str().ok()?;
    (1..=MAX_DPOP_NONCE_BYTES).contains(&value.len()).then(|| value.to_owned())
}

/// Reads the body of a response into memory, and returns the response with this body, which is empty if it is larger
/// than [`MAX_REFUSAL_BODY_BYTES`] or cannot be read in time.
async fn buffer_refusal_body(mut response: Response) -> Response {
    let read = tokio::time::timeout(REFUSAL_BODY_TIMEOUT, read_bounded_body(&mut response, MAX_REFUSAL_BODY_BYTES));
    let body = read.await.ok().and_then(Result::ok).unwrap_or_default();
    let mut whole = http::Response::new(body);
    *whole.status_mut() = response.status();
    *whole.headers_mut() = std::mem::take(response.headers_mut());
    whole.into()
}

fn rpc_method_of_request(parts: &HttpRequestParts) -> String {
    #[derive(Deserialize)]
    struct RpcMethodField {
        method: Option<String>,
    }
    let message = parts.body.as_ref().and_then(|body| serde_json::from_slice::<RpcMethodField>(body).ok());
    message.and_then(|message| message.method).unwrap_or_default()
}
