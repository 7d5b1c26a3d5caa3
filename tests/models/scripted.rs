//! HTTP server that sends exact bytes, for behaviour that the fake provider does not have.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Starts a server that sends the headers of a response and these pieces of its body to the first client, and then acts
/// as `then` says. Returns its URL.
pub(crate) async fn serve_response_pieces(pieces: Vec<Vec<u8>>, then: AfterResponsePieces) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = accept_request(&listener).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        if socket.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        for piece in pieces {
            if socket.write_all(&piece).await.is_err() {
                return;
            }
            let _ = socket.flush().await;
        }
        match then {
            AfterResponsePieces::Close => {}
            AfterResponsePieces::Wait => {
                // Waits until the client closes the connection.
                let _ = tokio::time::timeout(Duration::from_secs(60), socket.read(&mut [0; 64])).await;
            }
            AfterResponsePieces::Repeat(piece) => while socket.write_all(&piece).await.is_ok() {},
            AfterResponsePieces::Drip(piece, times, last) => {
                for _ in 0..times {
                    if socket.write_all(&piece).await.is_err() {
                        return;
                    }
                    // sleep: a slow provider.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                let _ = socket.write_all(&last).await;
            }
        }
    });
    url
}

/// Behaviour of the server after it has sent the last piece of its response.
pub(crate) enum AfterResponsePieces {
    /// Closes the connection at once.
    Close,
    /// Keeps the connection open without sending anything.
    Wait,
    /// Sends these bytes repeatedly until the client closes the connection.
    Repeat(Vec<u8>),
    /// Sends the first bytes this many times, once a second, and then the last bytes.
    Drip(Vec<u8>, u32, Vec<u8>),
}

/// Starts a server that responds to its first request with an error. Returns its URL, and a task whose result is the
/// body of that request.
pub(crate) async fn capture_request() -> (String, JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let taken = tokio::spawn(async move {
        let (mut socket, taken) = accept_request(&listener).await;
        socket.write_all(&http_response(500, "")).await.unwrap();
        taken.body
    });
    (url, taken)
}

/// HTTP request that a [`ScriptedServer`] received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    /// Body as JSON. `null` if the request has none.
    pub(crate) body: Value,
}

/// Starts a server that records each request. For each, `respond` returns the bytes of the response and the delay
/// before it.
pub(crate) async fn start_scripted_server(
    respond: impl Fn(&ReceivedRequest) -> (Duration, Vec<u8>) + Send + Sync + 'static,
) -> ScriptedServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (requests, respond) = (Arc::new(Mutex::new(Vec::new())), Arc::new(respond));
    let own = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let (requests, respond) = (Arc::clone(&own), Arc::clone(&respond));
            tokio::spawn(async move {
                let Some(taken) = read_request(&mut socket).await else { return };
                requests.lock().unwrap().push(taken.clone());
                let (after, bytes) = respond(&taken);
                // sleep: a slow provider.
                tokio::time::sleep(after).await;
                let _ = socket.write_all(&bytes).await;
            });
        }
    });
    ScriptedServer { address, requests }
}

/// HTTP server started by [`start_scripted_server`], with the requests that it has received.
pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl ScriptedServer {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the JSON bodies of the requests with this path.
    pub(crate) fn request_bodies(&self, path: &str) -> Vec<Value> {
        self.requests
            .lock()
            .unwrap()
            .iter()
            .filter(|taken| taken.path == path)
            .map(|taken| taken.body.clone())
            .collect()
    }
}

/// Returns the bytes of an HTTP response with this status and body.
pub(crate) fn http_response(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// Accepts connections until a request arrives that does not ask for the state or the details of Ollama's models, and
/// returns it. Responds to those queries with 404.
async fn accept_request(listener: &TcpListener) -> (TcpStream, ReceivedRequest) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        let Some(taken) = read_request(&mut socket).await else { continue };
        if !["/api/ps", "/api/show"].contains(&taken.path.as_str()) {
            return (socket, taken);
        }
        let _ = socket.write_all(&http_response(404, "")).await;
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut received = Vec::new();
    loop {
        let mut piece = vec![0; 64 << 10];
        let length = socket.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        received.extend_from_slice(&piece[..length]);
        let Some(head) = received.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&received[..head]).into_owned();
        let length = text.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if received.len() >= head + 4 + length.unwrap_or(0_usize) {
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = serde_json::from_slice(&received[head + 4..]).unwrap_or_default();
            return Some(ReceivedRequest { path, body });
        }
    }
}

/// Starts a server that sends only the beginning of a response. Returns its URL, and a task that ends when the client
/// has closed the connection.
pub(crate) async fn serve_partial_response(piece: Vec<u8>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let closed = tokio::spawn(async move {
        let (mut socket, _) = accept_request(&listener).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(&[head.as_bytes(), &piece].concat()).await.unwrap();
        while socket.read(&mut [0; 64]).await.is_ok_and(|length| length > 0) {}
    });
    (url, closed)
}
