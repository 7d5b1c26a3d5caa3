//! Misbehaviors with JSON messages that are not correct responses.

use std::io;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::peer::{PeerRequest, ScriptedPeer};

pub(crate) fn never_respond(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    Ok(())
}

fn send_result_with_id(peer: &mut ScriptedPeer, id: Value, text: &str) -> io::Result<()> {
    let result = peer.with_required_result_members(json!({"content": [{"type": "text", "text": text}]}));
    peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

pub(crate) fn respond_with_unused_id(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    send_result_with_id(peer, json!(987_654_321), "not for you")
}

pub(crate) fn respond_with_unused_id_first(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    respond_with_unused_id(peer, request)?;
    peer.send_text_result(request, "for you")
}

/// Sends a response with the id of the previous tool call, followed by the correct response.
pub(crate) fn respond_with_previous_id_first(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    static PREVIOUS_REQUEST_ID: Mutex<Value> = Mutex::new(Value::Null);
    let mut last = PREVIOUS_REQUEST_ID.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_null() {
        // No tool was called before, so the id of the preceding request is used.
        *last = json!(request.id.as_i64().unwrap_or_default() - 1);
    }
    send_result_with_id(peer, last.clone(), "not for you")?;
    *last = request.id.clone();
    peer.send_text_result(request, "for you")
}

/// Responds with the id that the client's next request will have.
pub(crate) fn respond_with_next_id(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    send_result_with_id(peer, json!(request.id.as_i64().unwrap_or_default() + 1), "not for you")
}

/// Responds with the id as a string instead of a number, or as a number instead of a string.
pub(crate) fn respond_with_id_of_other_type(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let id = match &request.id {
        Value::String(text) => text.parse::<i64>().map_or_else(|_| json!(1), |number| json!(number)),
        other => json!(other.to_string()),
    };
    send_result_with_id(peer, id, "not for you")
}

pub(crate) fn respond_with_float_id(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{}.0,"result":{{"content":[]}}}}"#, request.id);
    peer.write_line(line.as_bytes())
}

pub(crate) fn respond_with_null_id(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    send_result_with_id(peer, Value::Null, "not for you")
}

pub(crate) fn respond_twice(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.send_text_result(request, "first")?;
    peer.send_text_result(request, "second")
}

pub(crate) fn respond_with_two_ids(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{0},"id":{0},"result":{{"content":[]}}}}"#, request.id);
    peer.write_line(line.as_bytes())
}

pub(crate) fn respond_with_wrong_result_type(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.send_result(request, json!({"content": 42, "tools": "none", "protocolVersion": []}))
}

pub(crate) fn respond_with_error(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.send_error(request, -32000, "the harbour is closed")
}

pub(crate) fn respond_with_result_and_error(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let error = json!({"code": 1, "message": "no"});
    peer.send(&json!({"jsonrpc": "2.0", "id": request.id, "result": {"content": []}, "error": error}))
}

pub(crate) fn respond_with_wrong_jsonrpc_version(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.send(&json!({"jsonrpc": "1.0", "id": request.id, "result": {"content": []}}))
}

pub(crate) fn respond_in_batch(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let result = peer.with_required_result_members(json!({"content": [{"type": "text", "text": "from a batch"}]}));
    let log =
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "batched"}});
    peer.send(&json!([log, {"jsonrpc": "2.0", "id": request.id, "result": result}]))
}

pub(crate) fn send_unknown_notification_first(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.notify("notifications/made_up", json!({"anything": [1, 2, 3]}))?;
    peer.send_text_result(request, "after an unknown notification")
}
