//! Correct behavior of the server, which applies where no misbehavior is selected.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::forbidden_url;

use crate::options::DiscoverReaction;
use crate::peer::{PeerRequest, ScriptedPeer};

const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

pub(crate) fn respond(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let modern = peer.is_stateless();
    match request.method.as_str() {
        // Notifications and responses of the client need no response.
        _ if request.id.is_null() || request.method.is_empty() => Ok(()),
        "server/discover" if modern => {
            let result = list_result(
                peer,
                json!({
                    "supportedVersions": [peer.options.revision],
                    "capabilities": capabilities(),
                    "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
                }),
            );
            peer.send_result(request, result)
        }
        "server/discover" => match peer.options.probe {
            DiscoverReaction::Error => peer.send_error(request, METHOD_NOT_FOUND, "Method not found"),
            DiscoverReaction::Silence => Ok(()),
            DiscoverReaction::Exit => std::process::exit(1),
        },
        "initialize" if !modern => {
            let result = json!({
                "protocolVersion": peer.options.revision,
                "capabilities": capabilities(),
                "serverInfo": server_info(),
            });
            peer.send_result(request, result)
        }
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if !modern => {
            peer.send_result(request, json!({}))
        }
        "tools/list" => {
            let result = list_result(peer, json!({"tools": tools()}));
            peer.send_result(request, result)
        }
        "prompts/list" => {
            let mut prompt = json!({"name": "greet", "description": "Says hello"});
            forbidden_url::add_forbidden_url_to_definition(&mut prompt);
            let result = list_result(peer, json!({ "prompts": [prompt] }));
            peer.send_result(request, result)
        }
        "prompts/get" => {
            let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
            let result = peer.with_required_result_members(json!({"messages": [message]}));
            peer.send_result(request, result)
        }
        "resources/list" => {
            let mut resource = json!({"uri": "test://one", "name": "one"});
            forbidden_url::add_forbidden_url_to_definition(&mut resource);
            let result = list_result(peer, json!({ "resources": [resource] }));
            peer.send_result(request, result)
        }
        "resources/templates/list" => {
            let result = list_result(peer, json!({"resourceTemplates": []}));
            peer.send_result(request, result)
        }
        "resources/read" => {
            let contents = json!([{"uri": request.params["uri"], "mimeType": "text/plain", "text": "one"}]);
            let result = list_result(peer, json!({"contents": contents}));
            peer.send_result(request, result)
        }
        "tools/call" => call_tool(peer, request),
        method => peer.send_error(request, METHOD_NOT_FOUND, &format!("no method {method}")),
    }
}

fn call_tool(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let arguments = &request.params["arguments"];
    match request.params["name"].as_str() {
        Some("echo") => {
            let text = arguments["text"].as_str().unwrap_or_default();
            peer.send_text_result(request, text)
        }
        Some("environment") => {
            let environment = testkit::processes::process_environment().to_string();
            peer.send_text_result(request, &environment)
        }
        Some("wait") => respond_after_delay(peer, request, arguments["milliseconds"].as_u64().unwrap_or_default()),
        name => peer.send_error(request, INVALID_PARAMS, &format!("no tool {name:?}")),
    }
}

/// Responds after this time, and sends a progress notification every 50 ms until then.
fn respond_after_delay(peer: &mut ScriptedPeer, request: &PeerRequest, milliseconds: u64) -> io::Result<()> {
    let steps = milliseconds.div_ceil(50);
    for step in 1..=steps {
        std::thread::sleep(Duration::from_millis(50));
        let token = request.progress_token();
        if !token.is_null() {
            let message = format!("step {step} of {steps}");
            peer.notify(
                "notifications/progress",
                json!({"progressToken": token, "progress": step, "total": steps, "message": message}),
            )?;
            peer.flush()?;
        }
    }
    peer.send_text_result(request, "waited")
}

/// Returns the definitions of the tools that the server lists without `--reply`.
pub(crate) fn tools() -> Value {
    let mut tools = vec![
        json!({
            "name": "echo",
            "description": "Returns the text",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }),
        json!({
            "name": "environment",
            "description": "Returns the server's variables, folder, open descriptors and process group as JSON",
            "inputSchema": {"type": "object"},
        }),
        json!({
            "name": "wait",
            "description": "Waits, with progress",
            "inputSchema": {"type": "object", "properties": {"milliseconds": {"type": "integer"}}},
        }),
    ];
    tools.iter_mut().for_each(forbidden_url::add_forbidden_url_to_definition);
    tools.extend(forbidden_url::tool_with_forbidden_url());
    json!(tools)
}

/// Returns `result` with the additional members of list results in 2026-07-28, if the server supports this revision.
pub(crate) fn list_result(peer: &ScriptedPeer, result: Value) -> Value {
    let mut result = peer.with_required_result_members(result);
    if peer.is_stateless() {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result
}

fn capabilities() -> Value {
    json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true}, "logging": {}})
}

fn server_info() -> Value {
    let mut server = json!({"name": "scripted-server", "version": env!("CARGO_PKG_VERSION")});
    forbidden_url::add_forbidden_url_to_definition(&mut server);
    server
}
