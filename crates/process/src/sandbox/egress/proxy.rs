//! The proxy of one server: handles CONNECT and requests for `http` URLs, and connects to the hosts that the user
//! named.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::HostPattern;
use super::byte_counting_stream::{ByteCountingStream, TrafficCounter};
use super::hosts::Destination;
use super::ledger::{EgressLedger, OpenConnection};
use super::resolve::{self, ConnectFault, LookupFunction};

/// Maximum number of concurrent connections of one server. Further ones wait until another one ends.
const MAX_PROXY_CONNECTIONS: usize = 64;
/// Maximum size of a request's first line and headers, in bytes.
const MAX_REQUEST_HEAD_BYTES: usize = 32 * 1024;
/// Maximum number of headers in one request.
const MAX_PROXY_REQUEST_HEADERS: usize = 100;
/// Maximum number of activity lines about connections that the receiver has not read. The proxy waits if there are
/// more.
const MAX_QUEUED_ACTIVITY_LINES: usize = 32;
/// Delay after a failed `accept`, for instance if no file descriptor is free.
const PROXY_ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);
/// Headers that concern only the connection to the proxy. Removed from forwarded messages.
const PROXY_HEADERS: [&str; 4] = ["keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate"];

/// Time limits for the phases of a connection through the proxy.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProxyTimeouts {
    /// Maximum time from the beginning of a server's request to the end of its headers.
    head: Duration,
    /// Maximum time to connect to the host after its name was resolved.
    connect: Duration,
    /// Maximum time without any byte in either direction of a connection.
    idle: Duration,
}

impl ProxyTimeouts {
    const DEFAULT: ProxyTimeouts = ProxyTimeouts {
        head: Duration::from_secs(15),
        connect: Duration::from_secs(15),
        idle: Duration::from_secs(600),
    };
}

/// A running egress proxy. Dropping it closes all its connections.
#[derive(Debug)]
pub(crate) struct EgressProxy {
    ledger: Arc<EgressLedger>,
    /// Receiver of activity lines, or `None` once [`EgressProxy::take_activity_lines`] has returned it.
    lines: Option<mpsc::Receiver<String>>,
    _task: AbortOnDropHandle<()>,
}

impl EgressProxy {
    /// Starts a proxy that forwards connections on the listener to these hosts.
    pub(crate) fn start(listener: TcpListener, hosts: Vec<HostPattern>) -> EgressProxy {
        EgressProxy::start_with(listener, hosts, resolve::resolve_with_system, ProxyTimeouts::DEFAULT)
    }

    fn start_with(
        listener: TcpListener,
        hosts: Vec<HostPattern>,
        lookup: LookupFunction,
        times: ProxyTimeouts,
    ) -> EgressProxy {
        let ledger = Arc::new(EgressLedger::default());
        let proxy = Arc::new(ProxyState { hosts, lookup, times, ledger: Arc::clone(&ledger) });
        let (sender, lines) = mpsc::channel(MAX_QUEUED_ACTIVITY_LINES);
        let proxy_ledger = Arc::clone(&ledger);
        let task = tokio::spawn(async move {
            tokio::join!(accept_connections(listener, proxy), forward_activity_lines(&proxy_ledger, sender));
        });
        EgressProxy { ledger, lines: Some(lines), _task: AbortOnDropHandle::new(task) }
    }

    /// Returns the receiver of activity lines on the first call, then `None`.
    pub(crate) fn take_activity_lines(&mut self) -> Option<mpsc::Receiver<String>> {
        self.lines.take()
    }

    /// Returns the activity lines about events that were not yet reported to the receiver.
    pub(crate) fn remaining_activity_lines(&self) -> Vec<String> {
        self.ledger.take_activity_lines()
    }
}

/// State that all connections of one server's egress proxy share.
struct ProxyState {
    hosts: Vec<HostPattern>,
    lookup: LookupFunction,
    times: ProxyTimeouts,
    ledger: Arc<EgressLedger>,
}

/// State of one connection from the server to the proxy.
#[derive(Default)]
struct ProxyConnectionState {
    tunnel: Mutex<Option<ProxyTunnel>>,
    /// Task that drives the connection to the host of the latest `http` request.
    upstream: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// An accepted CONNECT request, and the connection to its host.
struct ProxyTunnel {
    client: OnUpgrade,
    upstream: ByteCountingStream,
    open: OpenConnection,
}

type Body = BoxBody<Bytes, hyper::Error>;

async fn forward_activity_lines(ledger: &EgressLedger, lines: mpsc::Sender<String>) {
    loop {
        for line in ledger.next_activity_lines().await {
            if lines.send(line).await.is_err() {
                return;
            }
        }
    }
}

async fn accept_connections(listener: TcpListener, proxy: Arc<ProxyState>) {
    let room = Arc::new(Semaphore::new(MAX_PROXY_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection of a server to its proxy failed");
                sleep(PROXY_ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        let proxy = Arc::clone(&proxy);
        connections.spawn(async move {
            proxy.serve(stream).await;
            drop(place);
        });
    }
}

impl ProxyState {
    /// Serves one connection from the server until it ends or is idle for too long.
    async fn serve(&self, stream: TcpStream) {
        let traffic = Arc::new(TrafficCounter::default());
        let stream = ByteCountingStream::new(stream, Arc::clone(&traffic));
        let client = ProxyConnectionState::default();
        let serving = async {
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.times.head)
                .max_header_size(MAX_REQUEST_HEAD_BYTES)
                .max_headers(MAX_PROXY_REQUEST_HEADERS)
                .serve_connection(TokioIo::new(stream), service_fn(|request| self.handle_request(request, &client)))
                .with_upgrades();
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection of a server to its proxy broke off");
            }
            let tunnel = client.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(tunnel) = tunnel {
                tunnel.run().await;
            }
        };
        tokio::select! {
            () = serving => {}
            () = wait_until_idle(&traffic, self.times.idle) => {}
        }
    }

    async fn handle_request(
        &self,
        request: Request<Incoming>,
        client: &ProxyConnectionState,
    ) -> Result<Response<Body>, Infallible> {
        let answered = if request.method() == Method::CONNECT {
            self.connect(request, client).await
        } else {
            self.forward(request, client).await
        };
        Ok(answered.unwrap_or_else(|refused| refused))
    }

    async fn connect(
        &self,
        request: Request<Incoming>,
        client: &ProxyConnectionState,
    ) -> Result<Response<Body>, Response<Body>> {
        let named = request.uri().authority().and_then(|authority| Some((authority.host(), authority.port_u16()?)));
        let destination = named.and_then(|(host, port)| Destination::new(host, port));
        let destination =
            destination.ok_or_else(|| bad_request("CONNECT needs a host and a port, as in example.com:443"))?;
        let (upstream, open) = self.connect_if_allowed(&destination).await?;
        let tunnel = ProxyTunnel { client: hyper::upgrade::on(request), upstream, open };
        *client.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
        Ok(Response::new(empty_body()))
    }

    async fn forward(
        &self,
        request: Request<Incoming>,
        client: &ProxyConnectionState,
    ) -> Result<Response<Body>, Response<Body>> {
        let (mut head, body) = request.into_parts();
        if head.uri.scheme_str() != Some("http") {
            return Err(bad_request("this proxy accepts CONNECT, and requests for http URLs"));
        }
        let named = head.uri.authority().map(|authority| (authority.host(), authority.port_u16().unwrap_or(80)));
        let destination = named.and_then(|(host, port)| Destination::new(host, port));
        let destination = destination.ok_or_else(|| bad_request("the URL names no host"))?;
        // The user name and password of the URL are dropped, since they are not part of the host.
        let authority = destination.to_string();
        let host = HeaderValue::from_str(authority.strip_suffix(":80").unwrap_or(&authority));
        let host = host.map_err(|_| bad_request("the URL names no host"))?;
        let (upstream, open) = self.connect_if_allowed(&destination).await?;
        remove_hop_by_hop_headers(&mut head.headers);
        head.headers.insert(HOST, host);
        head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        let path = head.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        head.uri = Uri::from(path);
        head.version = http::Version::HTTP_11;
        let failed = |error: &hyper::Error| {
            self.ledger.record_unreachable(&destination, &error.to_string());
            unreachable_response(&destination, &error.to_string())
        };
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(upstream)).await;
        let (mut sender, connection) = handshake.map_err(|error| failed(&error))?;
        let task = tokio::spawn(async move {
            let _open = open;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection of a proxy broke off");
            }
        });
        // The previous task's request has been answered, so the task can be dropped.
        *client.upstream.lock().unwrap_or_else(PoisonError::into_inner) = Some(AbortOnDropHandle::new(task));
        let response = sender.send_request(Request::from_parts(head, body)).await.map_err(|error| failed(&error))?;
        let (mut head, body) = response.into_parts();
        remove_hop_by_hop_headers(&mut head.headers);
        Ok(Response::from_parts(head, body.boxed()))
    }

    /// Connects to a destination if one of the hosts that the server may contact permits it. Otherwise returns an HTTP
    /// response that tells the server the reason.
    async fn connect_if_allowed(
        &self,
        destination: &Destination,
    ) -> Result<(ByteCountingStream, OpenConnection), Response<Body>> {
        let opened = async {
            let addresses = resolve::resolve_to_allowed_addresses(&self.hosts, destination, self.lookup).await?;
            let connecting = timeout(self.times.connect, TcpStream::connect(addresses.as_slice())).await;
            let cause = |error: io::Error| ConnectFault::Unreachable(error.to_string());
            connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(cause)
        };
        match opened.await {
            Ok(stream) => {
                let open = self.ledger.record_opened(destination);
                Ok((ByteCountingStream::new(stream, open.traffic_counter()), open))
            }
            Err(ConnectFault::Refused { cause, add }) => {
                self.ledger.record_refused(destination, &cause, &add);
                let words = format!(
                    "Drawbridge refused {destination}: {cause}. To allow it, add {add} to the hosts of this server's sandbox.\n"
                );
                Err(text_response(StatusCode::FORBIDDEN, words))
            }
            Err(ConnectFault::Unreachable(cause)) => {
                self.ledger.record_unreachable(destination, &cause);
                Err(unreachable_response(destination, &cause))
            }
        }
    }
}

impl ProxyTunnel {
    /// Copies bytes between the server and the host in both directions until both ends are closed.
    async fn run(self) {
        let ProxyTunnel { client, mut upstream, open } = self;
        let ended = match client.await {
            Ok(client) => copy_bidirectional(&mut TokioIo::new(client), &mut upstream).await.map(drop),
            Err(error) => Err(io::Error::other(error)),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a tunnel of a proxy broke off");
        }
        drop(open);
    }
}

/// Returns once no byte has been transferred over a connection for the duration `limit`.
async fn wait_until_idle(traffic: &TrafficCounter, limit: Duration) {
    let mut before = None;
    loop {
        let now = Some((traffic.bytes_read(), traffic.bytes_written()));
        if now == before {
            return;
        }
        before = now;
        sleep(limit).await;
    }
}

/// Removes hop-by-hop headers from a message.
fn remove_hop_by_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
    for name in PROXY_HEADERS {
        headers.remove(name);
    }
}

fn bad_request(cause: &str) -> Response<Body> {
    text_response(StatusCode::BAD_REQUEST, format!("Drawbridge: {cause}.\n"))
}

fn unreachable_response(destination: &Destination, cause: &str) -> Response<Body> {
    text_response(StatusCode::BAD_GATEWAY, format!("Drawbridge could not reach {destination}: {cause}.\n"))
}

fn text_response(status: StatusCode, words: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(words)).map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn empty_body() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
