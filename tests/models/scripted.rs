//! A server that sends exact bytes, for behaviour that the fake provider does not have.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Sends a head and this body in pieces to the first client, and returns its address.
pub(crate) async fn sends(pieces: Vec<Vec<u8>>, then: AfterPieces) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = asked(&listener).await;
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
            AfterPieces::Close => {}
            AfterPieces::Wait => {
                // Until the client closes the connection.
                let _ = tokio::time::timeout(Duration::from_secs(60), socket.read(&mut [0; 64])).await;
            }
            AfterPieces::Repeat(piece) => while socket.write_all(&piece).await.is_ok() {},
            AfterPieces::Drip(piece, times, last) => {
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

/// Behaviour of the server after the last piece.
pub(crate) enum AfterPieces {
    /// Closes the connection at once.
    Close,
    /// Sends nothing more and keeps the connection open.
    Wait,
    /// Sends these bytes repeatedly, without end.
    Repeat(Vec<u8>),
    /// Sends the first bytes once a second and this many times, then the last bytes.
    Drip(Vec<u8>, u32, Vec<u8>),
}

/// Accepts a request, refuses it, and returns its body.
pub(crate) async fn takes() -> (String, JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let taken = tokio::spawn(async move {
        let (mut socket, taken) = asked(&listener).await;
        socket.write_all(&answer(500, "")).await.unwrap();
        taken.body
    });
    (url, taken)
}

/// A request in the form in which it was received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    /// Null if it has none.
    pub(crate) body: Value,
}

/// Responds to each request as `answers` specifies, and records all of them.
pub(crate) async fn serves(
    answers: impl Fn(&ReceivedRequest) -> (Duration, Vec<u8>) + Send + Sync + 'static,
) -> ScriptedServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (kept, answers) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answers));
    let own = Arc::clone(&kept);
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let (kept, answers) = (Arc::clone(&own), Arc::clone(&answers));
            tokio::spawn(async move {
                let Some(taken) = request(&mut socket).await else { return };
                kept.lock().unwrap().push(taken.clone());
                let (after, bytes) = answers(&taken);
                // sleep: a slow provider.
                tokio::time::sleep(after).await;
                let _ = socket.write_all(&bytes).await;
            });
        }
    });
    ScriptedServer { address, kept }
}

/// A running server as [`serves`] starts it, with the requests that it received.
pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    kept: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl ScriptedServer {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the bodies of the requests to this path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Value> {
        self.kept.lock().unwrap().iter().filter(|taken| taken.path == path).map(|taken| taken.body.clone()).collect()
    }
}

/// Returns a response with a status and this body.
pub(crate) fn answer(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// Accepts the first request that does not query Ollama's loaded models. Those queries get a 404.
async fn asked(listener: &TcpListener) -> (TcpStream, ReceivedRequest) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        let Some(taken) = request(&mut socket).await else { continue };
        if !["/api/ps", "/api/show"].contains(&taken.path.as_str()) {
            return (socket, taken);
        }
        let _ = socket.write_all(&answer(404, "")).await;
    }
}

async fn request(socket: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut came = Vec::new();
    loop {
        let mut piece = vec![0; 64 << 10];
        let length = socket.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        came.extend_from_slice(&piece[..length]);
        let Some(head) = came.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&came[..head]).into_owned();
        let length = text.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if came.len() >= head + 4 + length.unwrap_or(0_usize) {
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = serde_json::from_slice(&came[head + 4..]).unwrap_or_default();
            return Some(ReceivedRequest { path, body });
        }
    }
}

/// Begins a response, and signals when the client has closed the connection.
pub(crate) async fn begins(piece: Vec<u8>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let gone = tokio::spawn(async move {
        let (mut socket, _) = asked(&listener).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(&[head.as_bytes(), &piece].concat()).await.unwrap();
        while socket.read(&mut [0; 64]).await.is_ok_and(|length| length > 0) {}
    });
    (url, gone)
}
