//! Serves Streamable HTTP without sessions, with a thread for each connection and a single write for each response.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread;

use memchr::memmem;

use super::ResponseForm;
use super::answers::ServerState;

/// Maximum size of the request line and headers of a request, in bytes.
const MAX_REQUEST_HEAD_BYTES: usize = 64 * 1024;

/// Serves Streamable HTTP on this port until the process is killed.
pub(super) fn serve(port: u16, answers: ResponseForm, server: &ServerState) -> io::Result<()> {
    listen_and_serve(port, || {
        let mut server = server.clone();
        let mut lines = Vec::new();
        move |body: &[u8], out: &mut Vec<u8>| {
            lines.clear();
            server.append_response_to_message(body, &mut lines);
            append_response_for_lines(&lines, answers, out);
        }
    })
}

/// Responds to the first POST like [`serve`], and to every later POST on any connection with the bytes of that
/// response.
pub(super) fn serve_repeated_response(port: u16, answers: ResponseForm, server: &ServerState) -> io::Result<()> {
    let answer = Arc::new(OnceLock::<Vec<u8>>::new());
    listen_and_serve(port, || {
        let (mut server, answer) = (server.clone(), Arc::clone(&answer));
        move |body: &[u8], out: &mut Vec<u8>| {
            let answer = answer.get_or_init(|| {
                let (mut lines, mut response) = (Vec::new(), Vec::new());
                server.append_response_to_message(body, &mut lines);
                append_response_for_lines(&lines, answers, &mut response);
                response
            });
            out.extend_from_slice(answer);
        }
    })
}

fn listen_and_serve<A: FnMut(&[u8], &mut Vec<u8>) + Send + 'static>(
    port: u16,
    answerer: impl Fn() -> A,
) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "http://{}/mcp", listener.local_addr()?)?;
    stdout.flush()?;
    for stream in listener.incoming() {
        let (stream, answer) = (stream?, answerer());
        // Errors of a connection are reported by the client.
        thread::spawn(move || serve_connection(stream, answer));
    }
    Ok(())
}

fn serve_connection(mut stream: TcpStream, mut answer: impl FnMut(&[u8], &mut Vec<u8>)) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut read, mut out) = (Vec::with_capacity(16 * 1024), Vec::new());
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let head = loop {
            if let Some(end) = memmem::find(&read, b"\r\n\r\n") {
                break end + 4;
            }
            let length = stream.read(&mut chunk)?;
            if length == 0 || read.len() > MAX_REQUEST_HEAD_BYTES {
                return Ok(());
            }
            read.extend_from_slice(&chunk[..length]);
        };
        let (post, length) = parse_request_head(&read[..head]);
        while read.len() < head + length {
            let length = stream.read(&mut chunk)?;
            if length == 0 {
                return Ok(());
            }
            read.extend_from_slice(&chunk[..length]);
        }
        out.clear();
        if post {
            answer(&read[head..head + length], &mut out);
        } else {
            out.extend_from_slice(b"HTTP/1.1 405 Method Not Allowed\r\nallow: POST\r\ncontent-length: 0\r\n\r\n");
        }
        stream.write_all(&out)?;
        read.drain(..head + length);
    }
}

/// Parses the request line and headers of a request. Returns `true` if it is a POST, and the length of its body in
/// bytes.
fn parse_request_head(head: &[u8]) -> (bool, usize) {
    let text = String::from_utf8_lossy(head);
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    (head.starts_with(b"POST "), length.unwrap_or(0))
}

/// Appends an HTTP response that contains these JSON-RPC lines. If there are no lines, appends a response with the
/// status `202 Accepted`.
fn append_response_for_lines(lines: &[u8], answers: ResponseForm, out: &mut Vec<u8>) {
    let several = memchr::memchr_iter(b'\n', lines).nth(1).is_some();
    if lines.is_empty() {
        out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    } else if answers == ResponseForm::Json && !several {
        append_http_response(&lines[..lines.len() - 1], ResponseForm::Json, out);
    } else {
        let mut events = Vec::with_capacity(lines.len() + 32);
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            events.extend_from_slice(b"event: message\ndata: ");
            events.extend_from_slice(line);
            events.extend_from_slice(b"\n\n");
        }
        append_http_response(&events, ResponseForm::Sse, out);
    }
}

fn append_http_response(body: &[u8], answers: ResponseForm, out: &mut Vec<u8>) {
    let length = body.len();
    // Writing to a Vec cannot fail.
    let _ = match answers {
        ResponseForm::Json => {
            write!(out, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
        }
        // The length of a stream is unknown, so there is no `content-length`.
        ResponseForm::Sse => write!(
            out,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{length:x}\r\n"
        ),
    };
    out.extend_from_slice(body);
    if answers == ResponseForm::Sse {
        out.extend_from_slice(b"\r\n0\r\n\r\n");
    }
}
