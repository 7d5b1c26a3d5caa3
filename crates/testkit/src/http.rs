//! An HTTP/1.1 server of a few lines, where a test decides every byte that is answered. Each answer ends its connection.

pub mod ordinary;
mod request;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use request::Request;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The most requests that are kept to be looked at.
const MAX_KEPT: usize = 10_000;

/// The server; it is gone when this is dropped.
#[derive(Debug)]
pub struct HttpServer {
    /// Where it listens.
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    accepting: JoinHandle<()>,
}

impl HttpServer {
    /// Starts a server that answers each request as `script` says. What the script returns is of no meaning: a client may
    /// leave at any time.
    ///
    /// # Panics
    /// If there is no free port.
    pub async fn start<F, A>(script: F) -> Self
    where
        F: Fn(Request, Answer) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), script).await
    }

    /// The same at a certain address, to come back where another was.
    ///
    /// # Panics
    /// If the address is taken.
    pub async fn start_at<F, A>(address: SocketAddr, script: F) -> Self
    where
        F: Fn(Request, Answer) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap_or_else(|e| panic!("{address} cannot be used: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("a listener has no address: {e}"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, kept) = (Arc::new(script), Arc::clone(&seen));
        let accepting = tokio::spawn(async move {
            // The connections end with the server.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                connections.spawn(serve(stream, Arc::clone(&script), Arc::clone(&kept)));
            }
        });
        Self { address, seen, accepting }
    }

    /// The URL of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request so far, in the order in which they came.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests had a body with this JSON-RPC method.
    pub fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|request| request.rpc_method() == method).count()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve<F, A>(mut stream: TcpStream, script: Arc<F>, seen: Arc<Mutex<Vec<Request>>>)
where
    F: Fn(Request, Answer) -> A,
    A: Future<Output = io::Result<()>>,
{
    // A client that says nothing intelligible is gone, or is none.
    let Ok(Some(request)) = request::read(&mut stream).await else { return };
    {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_KEPT {
            seen.push(request.clone());
        }
    }
    let _ = script(request, Answer { stream }).await;
}

/// What a request is answered with. Dropping it ends the connection.
#[derive(Debug)]
pub struct Answer {
    stream: TcpStream,
}

impl Answer {
    /// Writes bytes as they are.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// A whole answer: status, further headers (each line with its CR LF), body.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn whole(&mut self, status: u16, headers: &str, body: &[u8]) -> io::Result<()> {
        let head =
            format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        self.raw(head.as_bytes()).await?;
        self.raw(body).await?;
        self.stream.shutdown().await
    }

    /// An answer without a body.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn status(&mut self, status: u16) -> io::Result<()> {
        self.whole(status, "", b"").await
    }

    /// A JSON answer.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn json(&mut self, body: &Value) -> io::Result<()> {
        self.whole(200, "content-type: application/json\r\n", body.to_string().as_bytes()).await
    }

    /// Begins an event stream that ends with the connection.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn event_stream(&mut self) -> io::Result<()> {
        self.raw(b"HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n").await
    }

    /// An event with this message.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn event(&mut self, message: &Value) -> io::Result<()> {
        self.raw(format!("data: {message}\n\n").as_bytes()).await
    }

    /// Answers a CONNECT as a proxy does: from here on, bytes go to that address and back until one side ends.
    ///
    /// # Errors
    /// If either side is gone.
    pub async fn tunnel(mut self, to: SocketAddr) -> io::Result<()> {
        let mut server = TcpStream::connect(to).await?;
        self.raw(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
        tokio::io::copy_bidirectional(&mut self.stream, &mut server).await.map(|_| ())
    }

    /// Says no more, and keeps the connection open until the client closes it.
    ///
    /// # Errors
    /// If the client has gone.
    pub async fn hang(&mut self) -> io::Result<()> {
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
