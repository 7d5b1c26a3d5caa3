//! Correct MCP server with the tool `echo`. Tests change one response of it to simulate a single fault.

use std::io;

use serde_json::{Value, json};

use super::{HttpRequest, HttpResponder};
use crate::forbidden_url;

/// Returns the definition of the tool `echo`.
pub fn echo_tool() -> Value {
    let mut tool = json!({
        "name": "echo",
        "description": "Returns the given text.",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } }
    });
    forbidden_url::add_forbidden_url_to_definition(&mut tool);
    tool
}

fn ordinary_tools() -> Vec<Value> {
    [Some(echo_tool()), forbidden_url::tool_with_forbidden_url()].into_iter().flatten().collect()
}

/// Returns the result of a request in this protocol revision, or `None` if the revision does not have its method.
pub fn rpc_result(revision: &str, message: &Value) -> Option<Value> {
    let is_modern = revision >= "2026";
    let mut server = json!({ "name": "scripted", "version": "1" });
    forbidden_url::add_forbidden_url_to_definition(&mut server);
    let mut result = match message["method"].as_str()? {
        "server/discover" if is_modern => {
            json!({ "supportedVersions": [revision], "capabilities": { "tools": {} }, "serverInfo": server })
        }
        "initialize" if !is_modern => {
            json!({ "protocolVersion": revision, "capabilities": { "tools": {} }, "serverInfo": server })
        }
        "ping" => json!({}),
        "tools/list" => json!({ "tools": ordinary_tools() }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }] }),
        _ => return None,
    };
    forbidden_url::add_forbidden_url_to_result(revision, &mut result);
    if is_modern {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    Some(result)
}

/// Returns the response to a request: its result, or an error for an unknown method.
pub fn response_message(revision: &str, request: &Value) -> Value {
    match rpc_result(revision, request) {
        Some(result) => json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }),
        None => json!({
            "jsonrpc": "2.0", "id": request["id"],
            "error": { "code": -32601, "message": "there is no such method" }
        }),
    }
}

/// Responds to a request like a correct Streamable HTTP server without session ids and streams.
///
/// # Errors
/// Returns an error if the client has disconnected.
pub async fn respond(revision: &str, request: &HttpRequest, mut answer: HttpResponder) -> io::Result<()> {
    let body = request.json();
    match request.method.as_str() {
        "POST" if body.get("id").is_none() || body.get("method").is_none() => answer.status(202).await,
        "POST" if rpc_result(revision, &body).is_none() => {
            let status = if revision >= "2026" { 404 } else { 400 };
            let error = response_message(revision, &body).to_string();
            answer.respond(status, "content-type: application/json\r\n", error.as_bytes()).await
        }
        "POST" => answer.json(&response_message(revision, &body)).await,
        _ => answer.status(405).await,
    }
}
