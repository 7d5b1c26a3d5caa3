//! Functions that create all HTTP clients of the app. No other module creates one.

use reqwest::dns::Resolve;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};

use super::HttpLimits;
use super::untrusted_url_client::ConnectionRoute;

/// Interval of keep-alive probes on an idle connection to a server.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);
/// Time to wait for the response to a keep-alive probe, after which the connection counts as lost.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(15);

/// Timeout of connecting to an MCP server, or to an address that an MCP server named, including the TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Timeout of connecting to a model provider, a registry or the update server.
const SERVICE_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Value of `User-Agent` in requests to model providers, registries and the update server.
const USER_AGENT: &str = concat!("drawbridge/", env!("CARGO_PKG_VERSION"));

/// Creates the HTTP client of one server. No other server shares its connections.
///
/// Compression is off, because proxies and servers buffer events to compress them better.
///
/// # Errors
/// Returns the error of [`ClientBuilder::build`] if TLS is unavailable on this system.
pub(super) fn client_for_server(server: &Url, limits: &HttpLimits) -> Result<Client, reqwest::Error> {
    let builder = base_client_builder()
        .connect_timeout(limits.connect)
        .tcp_keepalive(KEEP_ALIVE_INTERVAL)
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .http2_keep_alive_timeout(KEEP_ALIVE_TIMEOUT);
    // A proxy cannot reach a server that listens on a loopback address of this computer.
    if is_loopback_url(server) { builder.no_proxy().build() } else { builder.build() }
}

/// Creates an HTTP client for URLs that a server named. `guard` is the DNS resolver for [`ConnectionRoute::Guarded`].
///
/// # Errors
/// Returns the error of [`ClientBuilder::build`] if TLS is unavailable on this system.
pub(super) fn client_for_untrusted_urls(
    way: ConnectionRoute,
    guard: Arc<dyn Resolve>,
) -> Result<Client, reqwest::Error> {
    let builder = base_client_builder().connect_timeout(CONNECT_TIMEOUT);
    match way {
        ConnectionRoute::Guarded => builder.no_proxy().dns_resolver(guard).build(),
        ConnectionRoute::Local => builder.no_proxy().build(),
        ConnectionRoute::Proxy | ConnectionRoute::Named => builder.build(),
    }
}

/// Creates an HTTP client for model providers. Uses the system's proxy unless the provider is local. Follows no
/// redirects, and has no timeout for the whole request.
///
/// # Errors
/// Returns the error of [`ClientBuilder::build`] if TLS is unavailable on this system.
pub fn client_for_models(is_local: bool) -> Result<Client, reqwest::Error> {
    client_for_service(is_local)
}

/// Creates an HTTP client for registries of MCP servers, with the settings of [`client_for_models`].
///
/// # Errors
/// Returns the error of [`ClientBuilder::build`] if TLS is unavailable on this system.
pub fn client_for_registries(is_local: bool) -> Result<Client, reqwest::Error> {
    client_for_service(is_local)
}

/// Creates an HTTP client for the server with the app's updates, with the settings of [`client_for_models`].
///
/// # Errors
/// Returns the error of [`ClientBuilder::build`] if TLS is unavailable on this system.
pub fn client_for_updates(is_local: bool) -> Result<Client, reqwest::Error> {
    client_for_service(is_local)
}

fn client_for_service(is_local: bool) -> Result<Client, reqwest::Error> {
    let builder = base_client_builder()
        .connect_timeout(SERVICE_CONNECT_TIMEOUT)
        .tcp_keepalive(KEEP_ALIVE_INTERVAL)
        .user_agent(USER_AGENT);
    if is_local { builder.no_proxy().build() } else { builder.build() }
}

#[allow(clippy::disallowed_methods, reason = "the one place that makes HTTP clients")]
fn base_client_builder() -> ClientBuilder {
    Client::builder().redirect(Policy::none()).referer(false).no_gzip().no_brotli().no_deflate().no_zstd()
}

/// Returns `true` if the URL's host is a loopback address or a name of one, with or without a final dot. Requests to
/// such a host must not be sent to a proxy, and it does not count as public.
pub(super) fn is_loopback_url(url: &Url) -> bool {
    url.host().is_some_and(|host| match host {
        Host::Domain(name) => foreign::is_loopback(&Host::Domain(name.strip_suffix('.').unwrap_or(name))),
        Host::Ipv4(_) | Host::Ipv6(_) => foreign::is_loopback(&host),
    })
}
