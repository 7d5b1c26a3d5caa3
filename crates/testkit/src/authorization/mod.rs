//! Scripted authorization server, and an MCP server that requires its tokens, for valid and invalid OAuth flows. The
//! authorization endpoint redirects immediately, without a user. Both servers record all requests.

mod authorize;
mod issued;
mod leaks;
mod metadata;
mod protected;
mod register;
mod script;
mod token;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use leaks::find_leaked_credentials;
pub use protected::ProtectedServer;
pub use script::{
    AuthorizationBehaviour, AuthorizationMetadataLocation, AuthorizationScript, DpopBehaviour, IssParameter,
    ProtectedScript, RefreshBehaviour, RefusalBehaviour, ResourceMetadataLocation,
};
use serde_json::{Value, json};

use crate::http::{HttpRequest, HttpResponder, HttpServer};
use issued::IssuedCredentials;

/// Scripted authorization server on loopback. It stops when its last clone is dropped.
#[derive(Clone)]
pub struct AuthorizationServer {
    server: Arc<HttpServer>,
    state: Arc<AuthorizationServerState>,
}

/// State of the authorization server: its script, and the credentials that it issued.
pub(crate) struct AuthorizationServerState {
    script: Mutex<AuthorizationScript>,
    issued: Mutex<IssuedCredentials>,
}

impl AuthorizationServerState {
    fn script(&self) -> MutexGuard<'_, AuthorizationScript> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn issued(&self) -> MutexGuard<'_, IssuedCredentials> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuthorizationServer {
    /// Starts an authorization server on a free loopback port.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start(script: AuthorizationScript) -> Self {
        let state = Arc::new(AuthorizationServerState { script: Mutex::new(script), issued: Mutex::default() });
        let answering = Arc::clone(&state);
        let server = HttpServer::start(move |request, answer| {
            let state = Arc::clone(&answering);
            async move { respond(&state, &request, answer).await }
        })
        .await;
        Self { server: Arc::new(server), state }
    }

    /// Returns the issuer identifier of the server: its origin, followed by the script's path.
    pub fn issuer(&self) -> String {
        self.server.url(&self.state.script().path)
    }

    /// Changes the script for all later requests.
    pub fn set(&self, change: impl FnOnce(&mut AuthorizationScript)) {
        change(&mut self.state.script());
    }

    /// Returns all recorded requests, in order.
    pub fn received_requests(&self) -> Vec<HttpRequest> {
        self.server.received_requests()
    }

    /// Returns the number of requests to this path, with any query.
    pub fn count(&self, path: &str) -> usize {
        self.received_requests().iter().filter(|request| request.path_without_query() == path).count()
    }

    /// Returns the forms of the token requests with this grant type.
    pub fn token_requests(&self, grant_type: &str) -> Vec<Vec<(String, String)>> {
        let posts = self
            .received_requests()
            .into_iter()
            .filter(|request| request.path_without_query() == self.endpoint_path("/token"));
        posts
            .map(|request| request.form())
            .filter(|form| parameter_value(form, "grant_type") == Some(grant_type))
            .collect()
    }

    /// Returns the query parameters of all authorization requests.
    pub fn authorization_queries(&self) -> Vec<Vec<(String, String)>> {
        let gets = self
            .received_requests()
            .into_iter()
            .filter(|request| request.path_without_query() == self.endpoint_path("/authorize"));
        gets.map(|request| request.query()).collect()
    }

    /// Invalidates all access tokens issued so far. Refresh tokens stay valid.
    pub fn invalidate_access_tokens(&self) {
        self.state.issued().access.values_mut().for_each(|token| token.is_ended = true);
    }

    /// Invalidates all access and refresh tokens issued so far.
    pub fn invalidate_all_tokens(&self) {
        self.invalidate_access_tokens();
        self.state.issued().refresh.values_mut().for_each(|token| token.is_ended = true);
    }

    /// Returns the number of valid access tokens and the number of valid refresh tokens.
    pub fn valid_token_counts(&self) -> (usize, usize) {
        let issued = self.state.issued();
        let access = issued.access.values().filter(|token| token.is_valid()).count();
        (access, issued.refresh.values().filter(|token| !token.is_ended).count())
    }

    /// Returns every secret issued so far: client secrets, codes, access tokens and refresh tokens.
    pub fn secrets(&self) -> Vec<String> {
        self.state.issued().secrets()
    }

    fn endpoint_path(&self, name: &str) -> String {
        format!("{}{name}", self.state.script().path)
    }
}

/// Responds to a request. The origin in the metadata is that of the request's `Host` header.
async fn respond(state: &AuthorizationServerState, request: &HttpRequest, mut answer: HttpResponder) -> io::Result<()> {
    let script = state.script().clone();
    let origin = format!("http://{}", request.header("host").unwrap_or_default());
    let issuer = format!("{origin}{}", script.path);
    let path = request.path_without_query();
    if let Some(status) = script.down {
        return answer.status(status).await;
    }
    if let Some((status, to)) = script.redirects.get(path) {
        return answer.respond(*status, &format!("location: {to}\r\n"), b"").await;
    }
    if let Some(document) = metadata::metadata_document_at(&script, &origin, path) {
        tokio::time::sleep(Duration::from_millis(script.delay_ms)).await;
        return answer.json(&document).await;
    }
    match (request.method.as_str(), path.strip_prefix(script.path.as_str()).unwrap_or_default()) {
        ("GET", "/authorize") => authorize::respond_to_authorization(state, &script, &issuer, request, answer).await,
        ("POST", "/token") => {
            tokio::time::sleep(Duration::from_millis(script.delay_ms)).await;
            token::respond_to_token_request(state, &script, &issuer, request, answer).await
        }
        ("POST", "/register") if script.registration => {
            register::respond_to_registration(state, &script, request, answer).await
        }
        ("POST", "/revoke") if script.revocation => {
            let form = request.form();
            if !script.revokes_access && parameter_value(&form, "token_type_hint") == Some("access_token") {
                return respond_with_error(
                    answer,
                    400,
                    "unsupported_token_type",
                    "access tokens end by themselves",
                    "",
                )
                .await;
            }
            state.issued().revoke(parameter_value(&form, "token").unwrap_or_default());
            answer.status(200).await
        }
        ("POST", "/_test/script") => answer.status(change_script(state, request)).await,
        _ => answer.status(404).await,
    }
}

/// Replaces members of the script by those in the body of a request, for tests in other processes. Returns the HTTP
/// status of the response.
fn change_script(state: &AuthorizationServerState, request: &HttpRequest) -> u16 {
    match script::merge_script_changes(&*state.script(), &request.json()) {
        Some(script) => {
            *state.script() = script;
            200
        }
        None => 400,
    }
}

/// Returns the value of a parameter of a form body or a URL query, or `None` if the parameter is absent.
pub fn parameter_value<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parameters.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// Sends an OAuth error response (RFC 6749 section 5.2).
async fn respond_with_error(
    mut answer: HttpResponder,
    status: u16,
    error: &str,
    why: &str,
    headers: &str,
) -> io::Result<()> {
    let body = json!({ "error": error, "error_description": why });
    let headers = format!("content-type: application/json\r\n{headers}");
    answer.respond(status, &headers, body.to_string().as_bytes()).await
}

/// Returns a random text that begins with `kind`, which makes recorded requests easier to read.
fn random_text_with_prefix(kind: &str) -> String {
    let rest: String = std::iter::repeat_with(fastrand::alphanumeric).take(24).collect();
    format!("{kind}-{rest}")
}

/// Splits a scope string into single scopes.
fn split_scope(scope: &str) -> Vec<String> {
    scope.split_whitespace().map(str::to_owned).collect()
}

/// Serializes recorded requests for a test in another process.
fn recorded_requests_json(requests: &[HttpRequest]) -> Value {
    let one = |request: &HttpRequest| {
        json!({ "method": request.method, "path": request.path, "head": request.head,
                "body": String::from_utf8_lossy(&request.body) })
    };
    requests.iter().map(one).collect()
}
