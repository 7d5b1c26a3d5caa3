//! Minimal HTTP/1.1 server whose responses a test controls byte by byte. Each connection is closed after one response.

pub mod ordinary;
mod request;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use request::HttpRequest;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Maximum number of requests that the server records.
const MAX_RECORDED_REQUESTS: usize = 10_000;

/// Scripted HTTP/1.1 server on loopback. The server stops when this value is dropped.
#[derive(Debug)]
pub struct HttpServer {
    /// Address on which the server listens.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    accepting: JoinHandle<()>,
}

impl HttpServer {
    /// Starts a server that calls `script` for each request. Errors of the script are ignored, since a client may
    /// disconnect at any time.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start<F, A>(script: F) -> Self
    where
        F: Fn(HttpRequest, HttpResponder) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), script).await
    }

    /// Starts a server at this address, for example to restart one that was stopped.
    ///
    /// # Panics
    /// Panics if the address is in use.
    pub async fn start_at<F, A>(address: SocketAddr, script: F) -> Self
    where
        F: Fn(HttpRequest, HttpResponder) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap_or_else(|e| panic!("{address} cannot be used: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("a listener has no address: {e}"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, recorded) = (Arc::new(script), Arc::clone(&requests));
        let accepting = tokio::spawn(async move {
            // Dropping the set closes the connections when the server stops.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                connections.spawn(serve_connection(stream, Arc::clone(&script), Arc::clone(&recorded)));
            }
        });
        Self { address, requests, accepting }
    }

    /// Returns the URL of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the recorded requests in the order of arrival.
    pub fn received_requests(&self) -> Vec<HttpRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of requests whose body has this JSON-RPC method.
    pub fn count(&self, method: &str) -> usize {
        self.received_requests().iter().filter(|request| request.rpc_method() == method).count()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve_connection<F, A>(mut stream: TcpStream, script: Arc<F>, requests: Arc<Mutex<Vec<HttpRequest>>>)
where
    F: Fn(HttpRequest, HttpResponder) -> A,
    A: Future<Output = io::Result<()>>,
{
    // A connection without a valid HTTP request is ignored.
    let Ok(Some(request)) = request::read(&mut stream).await else { return };
    {
        let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() < MAX_RECORDED_REQUESTS {
            requests.push(request.clone());
        }
    }
    let _ = script(request, HttpResponder { stream }).await;
}

/// Pending response to a request. Dropping it closes the connection.
#[derive(Debug)]
pub struct HttpResponder {
    stream: TcpStream,
}

impl HttpResponder {
    /// Writes bytes to the connection without changes.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends a complete response with this status, these additional headers (each ending in CR LF) and this body.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn respond(&mut self, status: u16, headers: &str, body: &[u8]) -> io::Result<()> {
        let head =
            format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        self.write_raw(head.as_bytes()).await?;
        self.write_raw(body).await?;
        self.stream.shutdown().await
    }

    /// Sends a response with this HTTP status and without a body.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn status(&mut self, status: u16) -> io::Result<()> {
        self.respond(status, "", b"").await
    }

    /// Sends a response with status 200 and a JSON body.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn json(&mut self, body: &Value) -> io::Result<()> {
        self.respond(200, "content-type: application/json\r\n", body.to_string().as_bytes()).await
    }

    /// Starts an SSE stream, which ends when the connection is closed.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn event_stream(&mut self) -> io::Result<()> {
        self.write_raw(b"HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n").await
    }

    /// Sends a message as an event of the SSE stream.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub async fn event(&mut self, message: &Value) -> io::Result<()> {
        self.write_raw(format!("data: {message}\n\n").as_bytes()).await
    }

    /// Responds to a CONNECT request like a proxy, and copies bytes in both directions until both sides have closed
    /// their connection.
    ///
    /// # Errors
    /// Returns an error if the server can't be reached or one of the connections fails.
    pub async fn tunnel(mut self, to: SocketAddr) -> io::Result<()> {
        let mut server = TcpStream::connect(to).await?;
        self.write_raw(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
        tokio::io::copy_bidirectional(&mut self.stream, &mut server).await.map(|_| ())
    }

    /// Keeps the connection open without sending anything, until the client closes it.
    ///
    /// # Errors
    /// Returns an error if the connection fails.
    pub async fn hang_until_closed(&mut self) -> io::Result<()> {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let mut one = [0];
            match self.stream.try_read(&mut one) {
                Ok(0) => return Ok(()),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
    }
}
