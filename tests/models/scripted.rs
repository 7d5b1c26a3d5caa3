//! A server that sends exactly these bytes, for what no decent provider does.

use std::time::Duration;

use serde_json::Value;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Sends a head and this body to the first who asks, in these pieces, and gives its address.
pub(crate) async fn sends(pieces: Vec<Vec<u8>>, then: Then) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 64 << 10];
        let _ = socket.read(&mut request).await;
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
            Then::Close => {}
            Then::Wait => {
                // Until the other end goes away.
                let _ = tokio::time::timeout(Duration::from_secs(60), socket.read(&mut request)).await;
            }
            Then::Repeat(piece) => while socket.write_all(&piece).await.is_ok() {},
        }
    });
    url
}

/// What comes after the pieces.
pub(crate) enum Then {
    /// The end.
    Close,
    /// Nothing.
    Wait,
    /// This, for ever.
    Repeat(Vec<u8>),
}

/// Takes one request, refuses it, and gives its body.
pub(crate) async fn takes() -> (String, JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let taken = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let body = body(&mut socket).await;
        let answer = "HTTP/1.1 500 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        socket.write_all(answer.as_bytes()).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    });
    (url, taken)
}

async fn body(socket: &mut TcpStream) -> Vec<u8> {
    let mut came = Vec::new();
    loop {
        let mut piece = vec![0; 64 << 10];
        let length = socket.read(&mut piece).await.unwrap();
        assert!(length > 0, "the request ends too early");
        came.extend_from_slice(&piece[..length]);
        let Some(head) = came.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&came[..head]).to_lowercase();
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse::<usize>().unwrap();
        if came.len() >= head + 4 + length {
            return came.split_off(head + 4);
        }
    }
}

/// Begins an answer, and tells when the other end has gone away.
pub(crate) async fn begins(piece: Vec<u8>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let gone = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        body(&mut socket).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(&[head.as_bytes(), &piece].concat()).await.unwrap();
        while socket.read(&mut [0; 64]).await.is_ok_and(|length| length > 0) {}
    });
    (url, gone)
}
