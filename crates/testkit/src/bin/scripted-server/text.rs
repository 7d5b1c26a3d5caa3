//! Misbehaviors with output lines that are invalid or unusual text.

use std::io;

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::processes;

const FILLER_CHUNK_BYTES: usize = 64 * 1024;

pub(crate) fn print_banner(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.write_line(b"*** Welcome to scripted-server ***")?;
    peer.write_line(b"[info] loading 3 plugins")?;
    peer.write_line(b"Server running on stdio")
}

pub(crate) fn print_blank_lines(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(b"\n\r\n  \n\n")?;
    peer.send_text_result(request, "after blank lines")
}

pub(crate) fn respond_with_overlong_line(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request.id);
    send_long_line(peer, &start, r#""}]}}"#)
}

pub(crate) fn respond_with_overlong_line_id_last(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let end = format!(r#""}}]}},"jsonrpc":"2.0","id":{}}}"#, request.id);
    send_long_line(peer, r#"{"result":{"content":[{"type":"text","text":""#, &end)
}

fn send_long_line(peer: &mut ScriptedPeer, start: &str, end: &str) -> io::Result<()> {
    let length = peer.bytes(16 * 1024 * 1024 + 1);
    peer.write_raw(start.as_bytes())?;
    write_filler(peer, length.saturating_sub(start.len() + end.len()))?;
    peer.write_line(end.as_bytes())
}

pub(crate) fn respond_without_newline(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request.id).as_bytes(),
    )?;
    let length = peer.bytes(1_000_000_000);
    write_filler(peer, length)?;
    peer.flush()?;
    processes::wait_for_ever()
}

fn write_filler(peer: &mut ScriptedPeer, length: usize) -> io::Result<()> {
    let chunk = [b'x'; FILLER_CHUNK_BYTES];
    let mut left = length;
    while left > 0 {
        let now = left.min(FILLER_CHUNK_BYTES);
        peer.write_raw(&chunk[..now])?;
        left -= now;
    }
    Ok(())
}

/// Sends a tool result whose text consists of these bytes.
fn send_text_bytes(peer: &mut ScriptedPeer, request: &PeerRequest, bytes: &[u8]) -> io::Result<()> {
    let complete = if peer.is_stateless() { r#""resultType":"complete","# } else { "" };
    let start =
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{complete}"content":[{{"type":"text","text":""#, request.id);
    peer.write_raw(start.as_bytes())?;
    peer.write_raw(bytes)?;
    peer.write_line(br#""}]}}"#)
}

pub(crate) fn respond_with_invalid_utf8(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    send_text_bytes(peer, request, b"caf\xe9 \xff\xfe")
}

pub(crate) fn respond_with_nul_bytes(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    send_text_bytes(peer, request, b"a\0b")
}

pub(crate) fn respond_with_lone_surrogate(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    send_text_bytes(peer, request, br"half \ud83d of it")
}

pub(crate) fn respond_after_byte_order_mark(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(b"\xef\xbb\xbf")?;
    send_text_bytes(peer, request, b"after a byte order mark")
}

pub(crate) fn respond_with_crlf(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let complete = if peer.is_stateless() { r#""resultType":"complete","# } else { "" };
    let content = r#"[{"type":"text","text":"crlf"}]"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{complete}"content":{content}}}}}"#, request.id);
    peer.write_raw(line.as_bytes())?;
    peer.write_raw(b"\r\n")
}

pub(crate) fn respond_with_long_number_array(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":{{"all":[0"#, request.id)
            .as_bytes(),
    )?;
    let mut left = peer.count(7_000_000).saturating_sub(1);
    let zeros = b",0".repeat(left.min(FILLER_CHUNK_BYTES));
    while left > 0 {
        let now = left.min(FILLER_CHUNK_BYTES);
        peer.write_raw(&zeros[..now * 2])?;
        left -= now;
    }
    peer.write_line(b"]}}}")
}

pub(crate) fn respond_with_deep_nesting(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let levels = peer.count(200);
    peer.write_raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":"#, request.id).as_bytes(),
    )?;
    peer.write_raw("[".repeat(levels).as_bytes())?;
    peer.write_raw("]".repeat(levels).as_bytes())?;
    peer.write_line(b"}}")
}

pub(crate) fn respond_byte_by_byte(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, request.id);
    for byte in line.bytes() {
        peer.write_raw(&[byte])?;
        peer.flush()?;
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    peer.write_line(b"")
}

pub(crate) fn respond_with_half_line_and_exit(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"cont"#, request.id).as_bytes())?;
    peer.flush()?;
    std::process::exit(4)
}

pub(crate) fn respond_with_lsp_header(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.write_raw(b"Content-Length: 42\r\n\r\n")?;
    peer.send_text_result(request, "after headers")
}

pub(crate) fn respond_as_http_server(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.write_raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}\r\n")
}

pub(crate) fn respond_with_terminal_escapes(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let tricky = "\u{1b}[2J\u{1b}]8;;http://example.test\u{7}link\u{1b}]8;;\u{7}\r\u{202e}evil";
    let data = serde_json::json!({"level": "error", "data": tricky});
    peer.notify("notifications/message", data)?;
    peer.send_text_result(request, tricky)
}
