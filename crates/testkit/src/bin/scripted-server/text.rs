//! Misbehaviours with lines that are broken or unusual as text.

use std::io;

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::processes;

const CHUNK: usize = 64 * 1024;

pub(crate) fn banner(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.line(b"*** Welcome to scripted-server ***")?;
    peer.line(b"[info] loading 3 plugins")?;
    peer.line(b"Server running on stdio")
}

pub(crate) fn blank_lines(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(b"\n\r\n  \n\n")?;
    peer.text_result(request, "after blank lines")
}

pub(crate) fn over_long(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request.id);
    long(peer, &start, r#""}]}}"#)
}

pub(crate) fn over_long_id_last(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let end = format!(r#""}}]}},"jsonrpc":"2.0","id":{}}}"#, request.id);
    long(peer, r#"{"result":{"content":[{"type":"text","text":""#, &end)
}

fn long(peer: &mut ScriptedPeer, start: &str, end: &str) -> io::Result<()> {
    let length = peer.bytes(16 * 1024 * 1024 + 1);
    peer.raw(start.as_bytes())?;
    fill(peer, length.saturating_sub(start.len() + end.len()))?;
    peer.line(end.as_bytes())
}

pub(crate) fn no_newline(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request.id).as_bytes(),
    )?;
    let length = peer.bytes(1_000_000_000);
    fill(peer, length)?;
    peer.flush()?;
    processes::wait_for_ever()
}

fn fill(peer: &mut ScriptedPeer, length: usize) -> io::Result<()> {
    let chunk = [b'x'; CHUNK];
    let mut left = length;
    while left > 0 {
        let now = left.min(CHUNK);
        peer.raw(&chunk[..now])?;
        left -= now;
    }
    Ok(())
}

/// Sends a tool result whose text consists of these bytes.
fn text(peer: &mut ScriptedPeer, request: &PeerRequest, bytes: &[u8]) -> io::Result<()> {
    let complete = if peer.is_modern() { r#""resultType":"complete","# } else { "" };
    let start =
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{complete}"content":[{{"type":"text","text":""#, request.id);
    peer.raw(start.as_bytes())?;
    peer.raw(bytes)?;
    peer.line(br#""}]}}"#)
}

pub(crate) fn invalid_utf8(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    text(peer, request, b"caf\xe9 \xff\xfe")
}

pub(crate) fn nul_bytes(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    text(peer, request, b"a\0b")
}

pub(crate) fn lone_surrogate(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    text(peer, request, br"half \ud83d of it")
}

pub(crate) fn bom(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(b"\xef\xbb\xbf")?;
    text(peer, request, b"after a byte order mark")
}

pub(crate) fn crlf(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let complete = if peer.is_modern() { r#""resultType":"complete","# } else { "" };
    let content = r#"[{"type":"text","text":"crlf"}]"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{complete}"content":{content}}}}}"#, request.id);
    peer.raw(line.as_bytes())?;
    peer.raw(b"\r\n")
}

pub(crate) fn number_array(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":{{"all":[0"#, request.id)
            .as_bytes(),
    )?;
    let mut left = peer.count(7_000_000).saturating_sub(1);
    let zeros = b",0".repeat(left.min(CHUNK));
    while left > 0 {
        let now = left.min(CHUNK);
        peer.raw(&zeros[..now * 2])?;
        left -= now;
    }
    peer.line(b"]}}}")
}

pub(crate) fn deep(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let levels = peer.count(200);
    peer.raw(
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":"#, request.id).as_bytes(),
    )?;
    peer.raw("[".repeat(levels).as_bytes())?;
    peer.raw("]".repeat(levels).as_bytes())?;
    peer.line(b"}}")
}

pub(crate) fn drip(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, request.id);
    for byte in line.bytes() {
        peer.raw(&[byte])?;
        peer.flush()?;
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    peer.line(b"")
}

pub(crate) fn half_line(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"cont"#, request.id).as_bytes())?;
    peer.flush()?;
    std::process::exit(4)
}

pub(crate) fn lsp_header(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    peer.raw(b"Content-Length: 42\r\n\r\n")?;
    peer.text_result(request, "after headers")
}

pub(crate) fn http_text(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}\r\n")
}

pub(crate) fn escapes(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let tricky = "\u{1b}[2J\u{1b}]8;;http://example.test\u{7}link\u{1b}]8;;\u{7}\r\u{202e}evil";
    let data = serde_json::json!({"level": "error", "data": tricky});
    peer.notify("notifications/message", data)?;
    peer.text_result(request, tricky)
}
