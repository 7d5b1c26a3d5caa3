//! Misbehaviors that send too many messages or too much output.

use std::io::{self, Write};

use serde_json::json;

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::processes;

pub(crate) fn send_many_log_messages(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(200_000) {
        let data = json!({"level": "info", "logger": "flood", "data": format!("message {number}")});
        peer.notify("notifications/message", data)?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_progress_notifications(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let token = request.progress_token();
    let total = peer.count(200_000);
    for number in 1..=total {
        let params = json!({"progressToken": token, "progress": number, "total": total, "message": "on and on"});
        peer.notify("notifications/progress", params)?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_list_changes(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for _ in 0..peer.count(200_000) {
        peer.notify("notifications/tools/list_changed", json!({}))?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn print_many_invalid_lines(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(200_000) {
        peer.write_line(format!("[debug] this is no message, number {number}").as_bytes())?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_malformed_requests(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(20_000) {
        peer.send(&json!({"jsonrpc": "2.0", "id": format!("bad-{number}"), "method": 42}))?;
    }
    peer.flush()?;
    processes::wait_for_ever()
}

pub(crate) fn send_many_unknown_responses(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(200_000) {
        peer.send(&json!({"jsonrpc": "2.0", "id": 1_000_000 + number, "result": {}}))?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_elicitation_requests(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(500) {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let params = json!({"message": format!("Question {number}"), "requestedSchema": schema});
        peer.send_request(&format!("form-{number}"), "elicitation/create", params)?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_sampling_requests(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(50_000) {
        let message = json!({"role": "user", "content": {"type": "text", "text": format!("Question {number}")}});
        let params = json!({"messages": [message], "maxTokens": 100});
        peer.send_request(&format!("sample-{number}"), "sampling/createMessage", params)?;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn send_many_pings(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    for number in 0..peer.count(20_000) {
        peer.send_request(&format!("ping-{number}"), "ping", json!({}))?;
    }
    peer.flush()?;
    processes::wait_for_ever()
}

pub(crate) fn flood_stderr_without_newline(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let chunk = [b'e'; 64 * 1024];
    let mut err = io::stderr().lock();
    let mut left = peer.bytes(1_000_000_000);
    while left > 0 {
        let now = left.min(chunk.len());
        err.write_all(&chunk[..now])?;
        left -= now;
    }
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn flood_stderr_with_lines(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let mut err = io::BufWriter::new(io::stderr().lock());
    for number in 0..peer.count(200_000) {
        writeln!(err, "warning number {number}")?;
    }
    err.flush()?;
    peer.send_text_result(request, "after the flood")
}

pub(crate) fn print_invalid_text_on_stderr(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    io::stderr().write_all(b"caf\xe9 \x1b[2Jcleared\r\n\x07bell\n")?;
    peer.send_text_result(request, "after the garbage")
}
