//! MCP server that requires access tokens of the scripted authorization server.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::metadata::override_members;
use super::script::{DpopBehaviour, ProtectedScript, RefusalBehaviour, ResourceMetadataLocation};
use super::{AuthorizationServer, random_text_with_prefix, recorded_requests_json, script, split_scope, token};
use crate::http::{HttpRequest, HttpResponder, HttpServer, ordinary};

/// Path of the MCP endpoint, and so the end of the resource identifier.
const MCP_ENDPOINT_PATH: &str = "/mcp";
const WELL_KNOWN_METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
/// Path of the protected resource metadata if only the `WWW-Authenticate` header contains its URL.
const METADATA_PATH_NAMED_ONLY_IN_HEADER: &str = "/where/nobody/looks";

/// Maximum number of recorded requests that the server returns to a test in another process.
const MAX_REPORTED_REQUESTS: usize = 1_000;

/// MCP server on loopback that requires access tokens and offers the tool `echo`. The server stops when this value is
/// dropped.
pub struct ProtectedServer {
    server: HttpServer,
    state: Arc<ProtectedServerState>,
}

struct ProtectedServerState {
    script: Mutex<ProtectedScript>,
    /// Authorization servers whose tokens the server accepts.
    issuers: Mutex<Vec<AuthorizationServer>>,
    /// Number of requests with a valid token, counted to refuse every second one.
    request_count: AtomicUsize,
}

impl ProtectedServerState {
    /// Returns `true` if the server refuses a request with HTTP status 401 although its token is valid.
    fn refuses_request(&self, refusing: RefusalBehaviour, request: &HttpRequest) -> bool {
        match refusing {
            RefusalBehaviour::Unauthorized | RefusalBehaviour::Nonces => true,
            RefusalBehaviour::EverySecond => self.request_count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2),
            RefusalBehaviour::Streams => request.method == "GET",
            RefusalBehaviour::Nothing | RefusalBehaviour::InsufficientScope | RefusalBehaviour::Status(_) => false,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProtectedServer {
    /// Starts a server that accepts the tokens of these authorization servers.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start(script: ProtectedScript, issuers: &[&AuthorizationServer]) -> Self {
        let issuers = issuers.iter().map(|&issuer| issuer.clone()).collect();
        let state = Arc::new(ProtectedServerState {
            script: Mutex::new(script),
            issuers: Mutex::new(issuers),
            request_count: AtomicUsize::default(),
        });
        let answering = Arc::clone(&state);
        let record: Arc<Mutex<Vec<HttpRequest>>> = Arc::default();
        let server = HttpServer::start(move |request, answer| {
            let (state, record) = (Arc::clone(&answering), Arc::clone(&record));
            async move {
                {
                    let mut record = lock(&record);
                    if record.len() < MAX_REPORTED_REQUESTS {
                        record.push(request.clone());
                    }
                }
                respond(&state, &record, &request, answer).await
            }
        })
        .await;
        Self { server, state }
    }

    /// Returns the URL of the MCP endpoint, which is also the resource identifier.
    pub fn url(&self) -> String {
        self.server.url(MCP_ENDPOINT_PATH)
    }

    /// Changes the script for all later requests.
    pub fn set(&self, change: impl FnOnce(&mut ProtectedScript)) {
        change(&mut lock(&self.state.script));
    }

    /// Replaces the authorization servers that the metadata lists and whose tokens the server accepts.
    pub fn set_issuers(&self, issuers: &[&AuthorizationServer]) {
        *lock(&self.state.issuers) = issuers.iter().map(|&issuer| issuer.clone()).collect();
    }

    /// Returns all recorded requests, in order.
    pub fn received_requests(&self) -> Vec<HttpRequest> {
        self.server.received_requests()
    }

    /// Returns the recorded requests whose body has this JSON-RPC method.
    pub fn requests_with_method(&self, method: &str) -> Vec<HttpRequest> {
        self.received_requests().into_iter().filter(|request| request.rpc_method() == method).collect()
    }
}

async fn respond(
    state: &ProtectedServerState,
    record: &Mutex<Vec<HttpRequest>>,
    request: &HttpRequest,
    mut answer: HttpResponder,
) -> io::Result<()> {
    let script = lock(&state.script).clone();
    let issuers = lock(&state.issuers).clone();
    let origin = format!("http://{}", request.header("host").unwrap_or_default());
    let path = request.path_without_query();
    let metadata = match script.metadata {
        ResourceMetadataLocation::Header => Some(METADATA_PATH_NAMED_ONLY_IN_HEADER.to_owned()),
        ResourceMetadataLocation::WellKnown => Some(format!("{WELL_KNOWN_METADATA_PATH}{MCP_ENDPOINT_PATH}")),
        ResourceMetadataLocation::Root => Some(WELL_KNOWN_METADATA_PATH.to_owned()),
        _ => None,
    };
    if request.method == "GET" && metadata.as_deref() == Some(path) {
        return answer.json(&metadata_document(&script, &issuers, &origin)).await;
    }
    match (request.method.as_str(), path) {
        ("POST", "/_test/script") => {
            let changed = script::merge_script_changes(&script, &request.json());
            let status = if changed.is_some() { 200 } else { 400 };
            changed.into_iter().for_each(|changed| *lock(&state.script) = changed);
            answer.status(status).await
        }
        ("GET", "/_test/requests") => {
            let all = json!({
                "server": recorded_requests_json(&lock(record)),
                "issuers": issuers.iter().map(|issuer| recorded_requests_json(&issuer.received_requests())).collect::<Vec<_>>(),
            });
            answer.json(&all).await
        }
        (_, MCP_ENDPOINT_PATH) => {
            respond_if_token_is_accepted(state, &script, &issuers, &origin, request, answer).await
        }
        _ => match issuers.first().filter(|_| script.metadata == ResourceMetadataLocation::SameOrigin) {
            Some(issuer) => super::respond(&issuer.state, request, answer).await,
            None => answer.status(404).await,
        },
    }
}

fn metadata_document(script: &ProtectedScript, issuers: &[AuthorizationServer], origin: &str) -> serde_json::Value {
    let issuers: Vec<String> = issuers.iter().map(AuthorizationServer::issuer).collect();
    let mut document = json!({ "resource": format!("{origin}{MCP_ENDPOINT_PATH}"), "authorization_servers": issuers });
    if let Some(scopes) = &script.scopes {
        document["scopes_supported"] = json!(scopes);
    }
    crate::forbidden_url::add_forbidden_url_to_metadata(&mut document);
    override_members(&mut document, &script.overrides);
    document
}

async fn respond_if_token_is_accepted(
    state: &ProtectedServerState,
    script: &ProtectedScript,
    issuers: &[AuthorizationServer],
    origin: &str,
    request: &HttpRequest,
    mut answer: HttpResponder,
) -> io::Result<()> {
    if let RefusalBehaviour::Status(status) = script.refusing {
        return answer.status(status).await;
    }
    let url = format!("{origin}{MCP_ENDPOINT_PATH}");
    let is_bound = issuers.iter().any(|issuer| issuer.state.script().dpop != DpopBehaviour::Off);
    let scheme = if is_bound { "DPoP" } else { "Bearer" };
    let is_let_in = script.allows_anonymous && request.header("authorization").is_none();
    let held = match authorized_scopes(script, issuers, request, &url) {
        _ if is_let_in => Vec::new(),
        Ok(held) if !state.refuses_request(script.refusing, request) => held,
        other => {
            let refused = other.err().unwrap_or_else(|| match script.refusing {
                RefusalBehaviour::Nonces => {
                    RequestRefusal { error: "use_dpop_nonce", nonce: Some(random_text_with_prefix("nonce")) }
                }
                _ => RequestRefusal { error: "invalid_token", nonce: None },
            });
            return respond_unauthorized(script, origin, scheme, refused, answer).await;
        }
    };
    if let Some((status, to)) = &script.redirect {
        return answer.respond(*status, &format!("location: {to}\r\n"), b"").await;
    }
    if let Some(pause) = script.changes_ms.filter(|_| request.method == "GET") {
        return send_list_changes(state, Duration::from_millis(pause), answer).await;
    }
    let body = request.json();
    let tool = body["params"]["name"].as_str().filter(|_| body["method"] == "tools/call").unwrap_or_default();
    let needed = script.tool_scopes.get(tool).map(String::as_str).unwrap_or_default();
    let has_all = split_scope(needed).iter().all(|word| held.contains(word));
    if !tool.is_empty() && (script.refusing == RefusalBehaviour::InsufficientScope || !has_all) {
        let header = www_authenticate_header(
            script,
            origin,
            scheme,
            "insufficient_scope",
            Some(needed).filter(|scope| !scope.is_empty()),
        );
        return answer.respond(403, &header, b"").await;
    }
    ordinary::respond(&script.revision, request, answer).await
}

/// Sends a `tools/list_changed` notification after each `pause`, until the client closes the stream or the script
/// refuses streams.
async fn send_list_changes(state: &ProtectedServerState, pause: Duration, mut answer: HttpResponder) -> io::Result<()> {
    answer.event_stream().await?;
    while lock(&state.script).refusing != RefusalBehaviour::Streams {
        tokio::time::sleep(pause).await;
        answer.event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await?;
    }
    Ok(())
}

struct RequestRefusal {
    error: &'static str,
    nonce: Option<String>,
}

/// Returns the scopes of the request's token, or the refusal if the token is missing or not valid for this server.
fn authorized_scopes(
    script: &ProtectedScript,
    issuers: &[AuthorizationServer],
    request: &HttpRequest,
    url: &str,
) -> Result<Vec<String>, RequestRefusal> {
    let refused = |error| RequestRefusal { error, nonce: None };
    let given = request.header("authorization").ok_or_else(|| refused(""))?;
    let (scheme, presented) = given.split_once(' ').ok_or_else(|| refused("invalid_request"))?;
    for issuer in issuers {
        let mut issued = issuer.state.issued();
        let Some(found) = issued.access.get(presented).cloned() else { continue };
        let is_for_this = !script.checks_audience
            || script.metadata == ResourceMetadataLocation::SameOrigin
            || found.grant.resource.as_deref() == Some(url);
        let scheme_fits = if found.is_bound { scheme == "DPoP" } else { scheme == "Bearer" };
        if !found.is_valid() || !is_for_this || !scheme_fits {
            return Err(refused("invalid_token"));
        }
        if found.is_bound {
            let script = issuer.state.script().clone();
            token::check_dpop_proof(&mut issued, &script, request, url).map_err(|(_, error, _)| {
                match error.as_str() {
                    "use_dpop_nonce" => RequestRefusal { error: "use_dpop_nonce", nonce: issued.nonce.clone() },
                    _ => refused("invalid_dpop_proof"),
                }
            })?;
        }
        return Ok(split_scope(&found.grant.scope));
    }
    Err(refused("invalid_token"))
}

async fn respond_unauthorized(
    script: &ProtectedScript,
    origin: &str,
    scheme: &str,
    refused: RequestRefusal,
    mut answer: HttpResponder,
) -> io::Result<()> {
    let mut header = www_authenticate_header(script, origin, scheme, refused.error, script.challenge_scope.as_deref());
    if let Some(nonce) = refused.nonce {
        header.push_str(&format!("dpop-nonce: {nonce}\r\n"));
    }
    answer.respond(401, &header, b"").await
}

fn www_authenticate_header(
    script: &ProtectedScript,
    origin: &str,
    scheme: &str,
    error: &str,
    scope: Option<&str>,
) -> String {
    let metadata = match &script.metadata {
        ResourceMetadataLocation::Header => Some(format!("{origin}{METADATA_PATH_NAMED_ONLY_IN_HEADER}")),
        ResourceMetadataLocation::HeaderNames(url) => Some(url.clone()),
        _ => None,
    };
    let named = [
        ("error", Some(error).filter(|error| !error.is_empty())),
        ("scope", scope),
        ("resource_metadata", metadata.as_deref()),
    ];
    let parameters: Vec<String> =
        named.into_iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", value?))).collect();
    format!("www-authenticate: {scheme} {}\r\n", parameters.join(", "))
}
