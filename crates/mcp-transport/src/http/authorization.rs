//! Signing the requests to one server, and what a refusal for want of authorization leads to.
//!
//! Who signs is not known here: an [`Authorizer`] has the tokens. A request refused with 401 or 403 was not carried
//! out, so the same bytes may be sent again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_proto::DeliveryFault;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use url::Url;

use super::endpoint::{Endpoint, Parts, bounded_body};
use super::fault;
use super::target::{HeaderName, SecretHeader};

/// The most sendings of one request.
pub const MOST_SENDINGS: u32 = 4;

/// The most that is read of the body of a refusal, in bytes, and how long that may take.
const REFUSAL_BYTES: usize = 64 * 1024;
const REFUSAL_TIME: Duration = Duration::from_secs(5);
/// The most `WWW-Authenticate` headers of one answer that are looked at, and the most bytes of each.
const CHALLENGES: usize = 16;
const CHALLENGE_BYTES: usize = 8 * 1024;
/// The longest nonce, in bytes.
const NONCE_BYTES: usize = 1024;

/// Signs the requests to one server, and decides what a refusal means.
///
/// It is asked for every request to the server's own origin and for no other. What it waits for keeps only that
/// request waiting; dropping its futures gives up.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Headers for a request to `url`, which is always of the server's own origin. Waits for a renewal that is due.
    /// They are sent instead of headers of the same name. Without any, the request goes out unsigned.
    ///
    /// # Errors
    /// If the request must not be sent. Its sender learns of it as of a refusal with 401.
    async fn sign(&self, method: &str, url: &Url) -> Result<Signed, Stop>;

    /// The server said 401, or 403 with `insufficient_scope`. May wait for the user.
    async fn challenged(&self, challenge: Challenge) -> Verdict;

    /// The nonce of an answer, if it has one. Those of refusals are in their [`Challenge`] instead.
    fn answered(&self, dpop_nonce: Option<&str>);
}

impl fmt::Debug for dyn Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

/// What a request is signed with.
#[derive(Debug, Clone, Default)]
pub struct Signed {
    /// `Authorization`, `DPoP`.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Which token was used, so that two calls refused with the same one lead to one renewal.
    pub generation: u64,
}

/// Why a request must not be sent, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stop(pub String);

/// A refusal for want of authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// 401 or 403.
    pub status: u16,
    /// Each `WWW-Authenticate` header. Hostile text.
    pub www_authenticate: Vec<String>,
    /// `DPoP-Nonce`.
    pub dpop_nonce: Option<String>,
    /// The [`Signed::generation`] that the refused request was sent with.
    pub generation: u64,
    /// How often this request was already sent again. At `MOST_SENDINGS - 1` it is not sent again, whatever the verdict.
    pub attempt: u32,
    /// The method of the JSON-RPC message; empty if there was none.
    pub operation: String,
}

/// What follows from a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The request is signed anew and sent again.
    Again,
    /// The request has failed, for this reason in words for the user.
    Stop(String),
}

/// Stands in an answer that is the last word on its request, with the words for the user. It travels inside the
/// response, so that whoever reads refusals need not know of it.
#[derive(Debug, Clone)]
pub(super) struct Stopped(pub(super) String);

/// Signs and sends a request, and again as long as the authorizer says so. `again` counts over all redirects.
///
/// # Errors
/// If no answer came.
pub(super) async fn send(
    endpoint: &Endpoint,
    authorizer: &Arc<dyn Authorizer>,
    parts: &Parts,
    url: &Url,
    again: &mut u32,
) -> Result<Response, DeliveryFault> {
    loop {
        let signed = authorizer.sign(parts.method.as_str(), url).await.map_err(|Stop(words)| unsigned(words))?;
        let mut request = endpoint.request(parts, url.clone());
        for (name, value) in &signed.headers {
            request.headers_mut().insert(name, value.value().clone());
        }
        let response = endpoint.execute_in_time(request).await?;
        let nonce = nonce(response.headers());
        if !is_challenge(&response, &parts.method) {
            authorizer.answered(nonce.as_deref());
            return Ok(response);
        }
        // Read at once: the user may take minutes, and the connection is free for others meanwhile.
        let mut response = detached(response).await;
        let is_last = *again + 1 >= MOST_SENDINGS;
        // More rights are not asked of the user for what will not be sent.
        let verdict = if is_last && response.status() == StatusCode::FORBIDDEN {
            Verdict::Again
        } else {
            let challenge = Challenge {
                status: response.status().as_u16(),
                www_authenticate: challenges(response.headers()).collect(),
                dpop_nonce: nonce,
                generation: signed.generation,
                attempt: *again,
                operation: operation(parts),
            };
            endpoint.tell_that_it_asks();
            authorizer.challenged(challenge).await
        };
        let words = match verdict {
            Verdict::Again if is_last => format!("the server refused it {MOST_SENDINGS} times, each time signed anew"),
            Verdict::Again => {
                *again += 1;
                continue;
            }
            Verdict::Stop(words) => words,
        };
        response.extensions_mut().insert(Stopped(words));
        return Ok(response);
    }
}

/// What was not even sent ends as what was refused: both need a sign-in.
fn unsigned(words: String) -> DeliveryFault {
    DeliveryFault::Status { code: StatusCode::UNAUTHORIZED.as_u16(), error: None, text: words, challenge: None }
}

fn is_challenge(response: &Response, method: &Method) -> bool {
    match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // Nobody is asked for more rights so that a session may end.
        StatusCode::FORBIDDEN if *method != Method::DELETE => {
            challenges(response.headers()).any(|challenge| challenge.contains("insufficient_scope"))
        }
        _ => false,
    }
}

fn challenges(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().take(CHALLENGES);
    values.filter(|value| value.len() <= CHALLENGE_BYTES).map(|value| String::from_utf8_lossy(value.as_bytes()).into())
}

fn nonce(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("dpop-nonce")?.to_str().ok()?;
    (1..=NONCE_BYTES).contains(&value.len()).then(|| value.to_owned())
}

/// The answer with its body read, as far as that is of use.
async fn detached(mut response: Response) -> Response {
    let read = tokio::time::timeout(REFUSAL_TIME, bounded_body(&mut response, REFUSAL_BYTES));
    let body = read.await.ok().and_then(Result::ok).unwrap_or_default();
    let mut whole = http::Response::new(body);
    *whole.status_mut() = response.status();
    *whole.headers_mut() = std::mem::take(response.headers_mut());
    whole.into()
}

fn operation(parts: &Parts) -> String {
    #[derive(Deserialize)]
    struct Message {
        method: Option<String>,
    }
    let message = parts.body.as_ref().and_then(|body| serde_json::from_slice::<Message>(body).ok());
    message.and_then(|message| message.method).unwrap_or_default()
}

/// The words of the last verdict, before what the server said itself.
pub(super) fn with_words(Stopped(words): &Stopped, said: &str) -> String {
    let words = fault::shown(words);
    if said.is_empty() { words } else { format!("{words} (the server: {said})") }
}
