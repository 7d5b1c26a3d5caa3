//! Misbehaviors with lists that are endless, very long or inconsistent.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::ordinary::{INVALID_PARAMS, list_result, tools};
use crate::peer::{PeerRequest, ScriptedPeer};

pub(crate) fn repeat_one_cursor_endlessly(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let result = list_result(peer, json!({"tools": tools(), "nextCursor": "again"}));
    peer.send_result(request, result)
}

pub(crate) fn return_new_cursors_endlessly(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let page: u64 = request.params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or_default();
    let tools = json!([{"name": format!("tool-{page}"), "inputSchema": {"type": "object"}}]);
    let result = list_result(peer, json!({"tools": tools, "nextCursor": (page + 1).to_string()}));
    peer.send_result(request, result)
}

pub(crate) fn list_many_tools(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let tools: Vec<Value> = (0..peer.count(20_000))
        .map(|number| {
            json!({
                "name": format!("tool-{number}"),
                "description": format!("Does the thing number {number}"),
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            })
        })
        .collect();
    let result = list_result(peer, json!({ "tools": tools }));
    peer.send_result(request, result)
}

/// Lists two tools on two pages. The cursor of the first list request is refused, and later cursors are accepted.
pub(crate) fn reject_first_cursor(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    static LIST_REQUEST_COUNT: AtomicUsize = AtomicUsize::new(0);
    let tool = |number: usize| json!({"name": format!("tool-{number}"), "inputSchema": {"type": "object"}});
    match request.params["cursor"].as_str() {
        None => {
            let reading = LIST_REQUEST_COUNT.fetch_add(1, Ordering::Relaxed);
            let result = list_result(peer, json!({"tools": [tool(1)], "nextCursor": reading.to_string()}));
            peer.send_result(request, result)
        }
        Some("0") => peer.send_error(request, INVALID_PARAMS, "the cursor is no longer known"),
        Some(_) => {
            let result = list_result(peer, json!({"tools": [tool(2)]}));
            peer.send_result(request, result)
        }
    }
}
