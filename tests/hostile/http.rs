//! Tests of remote servers that misbehave, in which a script controls every byte. The criterion is the same as for
//! local servers. Cases of the attack list are named by their X number.

mod bodies;
mod floods;
mod opening;
mod proxies;
mod redirects;
mod secure;
mod slow;
mod two;

use std::io;

use ports::server_config::{HttpConfig, ServerConfig};
use serde_json::Value;
use testkit::http::{HttpRequest, HttpResponder, HttpServer, ordinary};

const LEGACY_REVISION: &str = "2025-11-25";
const MODERN_REVISION: &str = "2026-07-28";

fn remote_server(url: String) -> ServerConfig {
    HttpConfig { url, ..HttpConfig::default() }.into()
}

/// Starts an HTTP server that responds correctly to all requests except tool calls, to which `script` responds.
async fn server_misbehaving_in_calls<F, A>(revision: &'static str, script: F) -> HttpServer
where
    F: Fn(Value, HttpResponder) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    server_misbehaving_in_method("tools/call", revision, script).await
}

/// Starts an HTTP server that responds correctly to all requests except those with one method, to which `script`
/// responds.
async fn server_misbehaving_in_method<F, A>(method: &'static str, revision: &'static str, script: F) -> HttpServer
where
    F: Fn(Value, HttpResponder) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    HttpServer::start(move |request: HttpRequest, answer| async move {
        if request.rpc_method() == method {
            script(request.json(), answer).await
        } else {
            ordinary::respond(revision, &request, answer).await
        }
    })
    .await
}

/// Returns the response of a correct server to a tool call.
fn correct_call_response(request: &Value) -> Value {
    ordinary::response_message(LEGACY_REVISION, request)
}
