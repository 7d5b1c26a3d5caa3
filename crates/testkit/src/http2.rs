//! Scripted server that supports only HTTP/2 over TLS, for tests of the HTTP client.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::http::HttpRequest;
use crate::tls::TlsIdentity;

/// Response of the server to one request, or a fault in its place.
#[derive(Debug, Clone, PartialEq)]
pub enum Http2Reply {
    /// Response with this HTTP status and without a body.
    Status(u16),
    /// Response with status 200 and this JSON body.
    Json(Value),
    /// Resets the stream of the request instead of responding.
    Reset,
    /// Closes the whole connection instead of responding.
    Cut,
    /// Response with status 200 and a JSON body that does not end.
    Endless,
    /// Response with status 200 and this number of headers of 8 KiB each.
    Headers(usize),
}

/// Scripted HTTP/2 server on loopback. It stops when this is dropped.
#[derive(Debug)]
pub struct Http2Server {
    /// Address on which the server listens.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    connections: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

struct Http2ServerState<F> {
    script: F,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    connections: Arc<AtomicUsize>,
}

impl Http2Server {
    /// Starts a server with the certificate `identity` that responds to each request as `script` determines.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start<F>(identity: &TlsIdentity, script: F) -> Self
    where
        F: Fn(&HttpRequest) -> Http2Reply + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap_or_else(|e| panic!("no free port: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("a listener has no address: {e}"));
        let acceptor = identity.acceptor(&[b"h2"]);
        let shared = Arc::new(Http2ServerState { script, requests: Arc::default(), connections: Arc::default() });
        let (requests, connections) = (Arc::clone(&shared.requests), Arc::clone(&shared.connections));
        let accepting = tokio::spawn(async move {
            let mut tasks = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while tasks.try_join_next().is_some() {}
                tasks.spawn(serve_connection(client, acceptor.clone(), Arc::clone(&shared)));
            }
        });
        Self { address, requests, connections, accepting }
    }

    /// Returns the URL of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// Returns the number of connections that completed an HTTP/2 handshake.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of requests whose body has this JSON-RPC method.
    pub fn count(&self, method: &str) -> usize {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().filter(|request| request.rpc_method() == method).count()
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve_connection<F>(client: TcpStream, acceptor: TlsAcceptor, shared: Arc<Http2ServerState<F>>)
where
    F: Fn(&HttpRequest) -> Http2Reply + Send + Sync + 'static,
{
    // A client that rejects the certificate or the protocol disconnects.
    let Ok(client) = acceptor.accept(client).await else { return };
    let Ok(mut connection) = h2::server::handshake(client).await else { return };
    shared.connections.fetch_add(1, Ordering::Relaxed);
    let cut = Arc::new(Notify::new());
    let mut streams = JoinSet::new();
    loop {
        while streams.try_join_next().is_some() {}
        tokio::select! {
            accepted = connection.accept() => {
                let Some(Ok((request, respond))) = accepted else { return };
                streams.spawn(serve_stream(request, respond, Arc::clone(&shared), Arc::clone(&cut)));
            }
            () = cut.notified() => return,
        }
    }
}

async fn serve_stream<F>(
    request: http::Request<RecvStream>,
    respond: SendResponse<Bytes>,
    shared: Arc<Http2ServerState<F>>,
    cut: Arc<Notify>,
) -> Result<(), h2::Error>
where
    F: Fn(&HttpRequest) -> Http2Reply,
{
    let request = read_request(request).await?;
    let reply = (shared.script)(&request);
    shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    send_reply(reply, respond, &cut).await
}

/// Reads an HTTP/2 request and converts it to the type for HTTP/1.1.
async fn read_request(request: http::Request<RecvStream>) -> Result<HttpRequest, h2::Error> {
    let (parts, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(chunk) = stream.data().await {
        let chunk = chunk?;
        stream.flow_control().release_capacity(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
    let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
    let headers =
        parts.headers.iter().map(|(name, value)| format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes())));
    let head = format!("{method} {path} HTTP/2\r\n{}\r\n", headers.collect::<String>());
    Ok(HttpRequest { method, path, head, body })
}

async fn send_reply(reply: Http2Reply, mut respond: SendResponse<Bytes>, cut: &Notify) -> Result<(), h2::Error> {
    let mut head = http::Response::new(());
    head.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    match reply {
        Http2Reply::Status(status) => {
            *head.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            respond.send_response(head, true)?;
        }
        Http2Reply::Json(body) => respond.send_response(head, false)?.send_data(body.to_string().into(), true)?,
        Http2Reply::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
        Http2Reply::Cut => cut.notify_one(),
        Http2Reply::Headers(count) => {
            let value = http::HeaderValue::from_static(LONG_HEADER_VALUE);
            for number in 0..count {
                if let Ok(name) = http::HeaderName::try_from(format!("x-{number}")) {
                    head.headers_mut().insert(name, value.clone());
                }
            }
            respond.send_response(head, true)?;
        }
        Http2Reply::Endless => {
            let mut stream = respond.send_response(head, false)?;
            loop {
                stream.reserve_capacity(CHUNK_OF_SPACES.len());
                let Some(room) = poll_fn(|cx| stream.poll_capacity(cx)).await else { return Ok(()) };
                stream.send_data(Bytes::from_static(&CHUNK_OF_SPACES[..room?.min(CHUNK_OF_SPACES.len())]), false)?;
            }
        }
    }
    Ok(())
}

static CHUNK_OF_SPACES: [u8; 16 * 1024] = [b' '; 16 * 1024];
/// Header value of 8 KiB, which [`Http2Reply::Headers`] repeats.
const LONG_HEADER_VALUE: &str = match std::str::from_utf8(&[b'a'; 8 * 1024]) {
    Ok(text) => text,
    Err(_) => "",
};
