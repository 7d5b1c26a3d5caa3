//! The one place that makes HTTP clients.

use reqwest::dns::Resolve;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};

use super::HttpLimits;
use super::outside::Way;

/// How often a silent connection is checked, and how long its answer may take.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_ANSWER: Duration = Duration::from_secs(15);

/// How long connecting to an address that a server named may take, TLS included.
const CONNECT: Duration = Duration::from_secs(15);

/// How long connecting to a provider of models or to a registry may take.
const CONNECT_NAMED: Duration = Duration::from_secs(10);
/// What Drawbridge tells providers of models, registries and the address of its releases of itself.
const USER_AGENT: &str = concat!("drawbridge/", env!("CARGO_PKG_VERSION"));

/// A client for one server: its connections are used again and shared with no other.
///
/// No compression, because proxies and servers then hold back events to compress more at once.
///
/// # Errors
/// If TLS cannot be set up on this system.
pub(super) fn build(server: &Url, limits: &HttpLimits) -> Result<Client, reqwest::Error> {
    let builder = plain()
        .connect_timeout(limits.connect)
        .tcp_keepalive(KEEP_ALIVE)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .http2_keep_alive_timeout(KEEP_ALIVE_ANSWER);
    // A proxy cannot reach what listens on this machine only.
    if is_loopback(server) { builder.no_proxy().build() } else { builder.build() }
}

/// A client for addresses that a server named. `guard` looks names up for [`Way::Guarded`].
///
/// # Errors
/// If TLS cannot be set up on this system.
pub(super) fn outside(way: Way, guard: Arc<dyn Resolve>) -> Result<Client, reqwest::Error> {
    let builder = plain().connect_timeout(CONNECT);
    match way {
        Way::Guarded => builder.no_proxy().dns_resolver(guard).build(),
        Way::Local => builder.no_proxy().build(),
        Way::Proxy | Way::Named => builder.build(),
    }
}

/// A client for providers of models: with the system's proxy, or for what runs on this computer without one. Redirects are not
/// followed, and no answer is given up for how long it takes in all.
///
/// # Errors
/// If TLS cannot be set up on this system.
pub fn for_models(is_local: bool) -> Result<Client, reqwest::Error> {
    named_by_user(is_local)
}

/// A client for registries of MCP servers, as [`for_models`].
///
/// # Errors
/// If TLS cannot be set up on this system.
pub fn for_registries(is_local: bool) -> Result<Client, reqwest::Error> {
    named_by_user(is_local)
}

/// A client for releases of the app, as [`for_models`].
///
/// # Errors
/// If TLS cannot be set up on this system.
pub fn for_updates(is_local: bool) -> Result<Client, reqwest::Error> {
    named_by_user(is_local)
}

fn named_by_user(is_local: bool) -> Result<Client, reqwest::Error> {
    let builder = plain().connect_timeout(CONNECT_NAMED).tcp_keepalive(KEEP_ALIVE).user_agent(USER_AGENT);
    if is_local { builder.no_proxy().build() } else { builder.build() }
}

#[allow(clippy::disallowed_methods, reason = "the one place that makes HTTP clients")]
fn plain() -> ClientBuilder {
    Client::builder().redirect(Policy::none()).referer(false).no_gzip().no_brotli().no_deflate().no_zstd()
}

pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
