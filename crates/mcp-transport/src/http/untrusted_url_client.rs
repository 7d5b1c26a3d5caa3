//! Requests to addresses that come from a server and not from the user: metadata, client registration, tokens.
//!
//! Such an address must not lead to this computer or into the user's private network. IP addresses are checked when the
//! URL is parsed, in every notation. Host names are checked when they are resolved for a connection, so DNS rebinding
//! has no effect.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use foreign::is_public;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Origin, Url};

use super::{client, delivery_faults};

/// Maximum response size and timeout of one request of an [`UntrustedUrlClient`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntrustedUrlLimits {
    /// Maximum size of the response body, in bytes.
    pub bytes: usize,
    /// Timeout of the whole request, up to the last byte of the response.
    pub time: Duration,
}

/// Error of an [`UntrustedUrlClient`] request. The error messages contain only scheme, host and port of the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedUrlError {
    /// The address of the URL is not allowed. No request was sent.
    #[error("{address} is not contacted: {cause}")]
    Refused {
        /// Scheme, host and port of the refused URL.
        address: String,
        /// Reason for the refusal, with advice for the user.
        cause: String,
    },
    /// The host name has no address, or the connection failed. No request was sent.
    #[error("{address} could not be reached: {cause}")]
    Unreachable {
        /// Scheme, host and port of the requested URL.
        address: String,
        /// Error of the connection attempt.
        cause: String,
    },
    /// The connection failed before the end of the response.
    #[error("the answer of {address} broke off: {cause}")]
    Lost {
        /// Scheme, host and port of the requested URL.
        address: String,
        /// Message of the HTTP client about the broken connection.
        cause: String,
    },
    /// The response is larger than [`UntrustedUrlLimits::bytes`].
    #[error("the answer of {address} is larger than {bytes} bytes")]
    TooLarge {
        /// Scheme, host and port of the requested URL.
        address: String,
        /// Size limit in bytes that the response exceeded.
        bytes: usize,
    },
    /// The request exceeded [`UntrustedUrlLimits::time`].
    #[error("{address} did not answer within {} s", time.as_secs_f32())]
    TooSlow {
        /// Scheme, host and port of the requested URL.
        address: String,
        /// Time limit that the request exceeded.
        time: Duration,
    },
    /// The HTTP client could not be created because TLS is unavailable on this system.
    #[error("no connection can be made on this system: {cause}")]
    Unavailable {
        /// Error of the TLS library.
        cause: String,
    },
}

/// HTTP client for URLs that a server named, which checks their addresses. Follows no redirects. Clones share
/// connections.
#[derive(Clone)]
pub struct UntrustedUrlClient {
    shared: Arc<UntrustedUrlClientState>,
}

struct UntrustedUrlClientState {
    /// Hosts that the user entered, which are allowed even in private networks.
    named: Vec<Host<String>>,
    proxy: Matcher,
    clients: [OnceLock<Result<Client, String>>; 4],
}

/// Route of a connection to a host: direct or through a proxy, with or without a check that its addresses are public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionRoute {
    /// Direct connection, for which only public addresses of the host are used.
    Guarded,
    /// Connection to a public host through the system's proxy.
    Proxy,
    /// Connection to a host that the user entered, directly or through the system's proxy.
    Named,
    /// Connection to a loopback host of this computer that the user entered.
    Local,
}

impl UntrustedUrlClient {
    /// Creates an HTTP client that refuses hosts in private networks, unless the user entered them. `named` are the
    /// origins that the user entered, such as those of the server and of a configured issuer. Their hosts are allowed
    /// with any port.
    ///
    /// If a system proxy is configured, the proxy resolves host names. The client then also resolves them itself and
    /// checks the addresses before the request, which DNS rebinding could bypass. Names that this computer cannot
    /// resolve are refused.
    pub fn for_public_hosts_and(named: Vec<Origin>) -> UntrustedUrlClient {
        UntrustedUrlClient::with_proxy(named, Matcher::from_system())
    }

    fn with_proxy(named: Vec<Origin>, proxy: Matcher) -> UntrustedUrlClient {
        let host = |origin| if let Origin::Tuple(_, host, _) = origin { Some(host) } else { None };
        let named = named.into_iter().filter_map(host).collect();
        UntrustedUrlClient { shared: Arc::new(UntrustedUrlClientState { named, proxy, clients: Default::default() }) }
    }

    /// Sends a request and reads the whole response. Any HTTP status is a success.
    ///
    /// Only `https` is allowed, and `http` for a loopback host that the user entered.
    ///
    /// # Errors
    /// Returns [`UntrustedUrlError::Refused`] if the address is not allowed, and another [`UntrustedUrlError`] if no
    /// complete response is received within the limits.
    pub async fn send(
        &self,
        request: http::Request<Vec<u8>>,
        limit: UntrustedUrlLimits,
    ) -> Result<http::Response<Vec<u8>>, UntrustedUrlError> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string()).map_err(|error| UntrustedUrlError::Refused {
            address: "the address".to_owned(),
            cause: format!("it cannot be read: {error}"),
        })?;
        let address = url.origin().ascii_serialization();
        let slow = UntrustedUrlError::TooSlow { address: address.clone(), time: limit.time };
        let exchange = async {
            let way = self.shared.choose_route(&url, &address).await?;
            let mut request = reqwest::Request::new(head.method, url);
            *request.headers_mut() = head.headers;
            *request.body_mut() = (!body.is_empty()).then(|| body.into());
            send_within_limit(self.shared.client_for_route(way)?, request, &address, limit.bytes).await
        };
        tokio::time::timeout(limit.time, exchange).await.unwrap_or(Err(slow))
    }
}

impl fmt::Debug for UntrustedUrlClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UntrustedUrlClient").field("named", &self.shared.named).finish_non_exhaustive()
    }
}

impl UntrustedUrlClientState {
    /// Chooses the route of a connection to `url`. Returns an error if the address of `url` is not allowed.
    async fn choose_route(&self, url: &Url, address: &str) -> Result<ConnectionRoute, UntrustedUrlError> {
        let refused = |cause: &str| UntrustedUrlError::Refused { address: address.to_owned(), cause: cause.to_owned() };
        let Some(host) = url.host().map(|host| host.to_owned()) else { return Err(refused("it names no host")) };
        let is_named = self.named.contains(&host);
        let is_local = is_named && client::is_loopback_url(url);
        match url.scheme() {
            "https" => {}
            "http" if is_local => {}
            "http" => return Err(refused("it is not encrypted; the authorization server must offer https")),
            _ => return Err(refused("it is no web address")),
        }
        if is_named {
            return Ok(if is_local { ConnectionRoute::Local } else { ConnectionRoute::Named });
        }
        let name = match &host {
            Host::Domain(_) if client::is_loopback_url(url) => return Err(refused(PRIVATE_ADDRESS_MESSAGE)),
            Host::Domain(name) => name,
            Host::Ipv4(literal) if is_public((*literal).into()) => {
                return Ok(self.proxy_route_or(url, ConnectionRoute::Guarded));
            }
            Host::Ipv6(literal) if is_public((*literal).into()) => {
                return Ok(self.proxy_route_or(url, ConnectionRoute::Guarded));
            }
            Host::Ipv4(_) | Host::Ipv6(_) => return Err(refused(PRIVATE_ADDRESS_MESSAGE)),
        };
        let way = self.proxy_route_or(url, ConnectionRoute::Guarded);
        if way == ConnectionRoute::Proxy {
            match resolve_host_addresses(name).await {
                Ok(addresses) if addresses.iter().all(|address| is_public(*address)) => {}
                Ok(_) => return Err(refused(PRIVATE_ADDRESS_MESSAGE)),
                Err(cause) => {
                    return Err(refused(&format!(
                        "a proxy is in between, so its name has to be looked up here first, which failed ({cause}); \
                         if you trust it, enter it as the issuer in the server's settings"
                    )));
                }
            }
        }
        Ok(way)
    }

    fn proxy_route_or(&self, url: &Url, otherwise: ConnectionRoute) -> ConnectionRoute {
        let uri = url.as_str().parse::<Uri>();
        if uri.is_ok_and(|uri| self.proxy.intercept(&uri).is_some()) { ConnectionRoute::Proxy } else { otherwise }
    }

    fn client_for_route(&self, way: ConnectionRoute) -> Result<&Client, UntrustedUrlError> {
        let made = self.clients[way as usize].get_or_init(|| {
            client::client_for_untrusted_urls(way, Arc::new(PublicAddressResolver))
                .map_err(|error| delivery_faults::root_cause_message(&error))
        });
        made.as_ref().map_err(|cause| UntrustedUrlError::Unavailable { cause: cause.clone() })
    }
}

async fn send_within_limit(
    client: &Client,
    request: reqwest::Request,
    address: &str,
    most: usize,
) -> Result<http::Response<Vec<u8>>, UntrustedUrlError> {
    let address = || address.to_owned();
    let mut response = client.execute(request).await.map_err(|error| untrusted_url_send_error(&error, address()))?;
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| UntrustedUrlError::Lost {
            address: address(),
            cause: delivery_faults::root_cause_message(&error),
        })?;
        let Some(chunk) = chunk else { break };
        if body.len() + chunk.len() > most {
            return Err(UntrustedUrlError::TooLarge { address: address(), bytes: most });
        }
        body.extend_from_slice(&chunk);
    }
    let mut whole = http::Response::new(body);
    *whole.status_mut() = response.status();
    *whole.headers_mut() = std::mem::take(response.headers_mut());
    Ok(whole)
}

fn untrusted_url_send_error(error: &reqwest::Error, address: String) -> UntrustedUrlError {
    let cause = delivery_faults::root_cause_message(error);
    if cause == PRIVATE_ADDRESS_MESSAGE {
        UntrustedUrlError::Refused { address, cause }
    } else if error.is_connect() || error.is_builder() {
        UntrustedUrlError::Unreachable { address, cause }
    } else {
        UntrustedUrlError::Lost { address, cause }
    }
}

const PRIVATE_ADDRESS_MESSAGE: &str = "it leads to this computer or into a private network, and you did not name it; \
                       if you trust it, enter it as the issuer in the server's settings";

/// DNS resolver that returns only the public addresses of a host.
struct PublicAddressResolver;

#[derive(Debug, thiserror::Error)]
#[error("{PRIVATE_ADDRESS_MESSAGE}")]
struct NoPublicAddressError;

impl Resolve for PublicAddressResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let mut addresses = resolve_host_addresses(name.as_str()).await?;
            addresses.retain(|address| is_public(*address));
            if addresses.is_empty() {
                return Err(NoPublicAddressError.into());
            }
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| (address, 0).into()));
            Ok(addresses)
        })
    }
}

async fn resolve_host_addresses(name: &str) -> std::io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn host_names_are_checked_before_a_proxy_is_used() {
        let proxy = Matcher::builder().all("http://127.0.0.1:9").build();
        let named = Url::parse("https://named.example").unwrap();
        let client = UntrustedUrlClient::with_proxy(vec![named.origin()], proxy);
        let way = async |url: &str| client.shared.choose_route(&Url::parse(url).unwrap(), url).await;
        assert_eq!(way("https://1.1.1.1/").await, Ok(ConnectionRoute::Proxy), "public addresses must use the proxy");
        assert_eq!(
            way("https://named.example/").await,
            Ok(ConnectionRoute::Named),
            "named hosts must keep their route"
        );
        for url in ["https://localhost/", "https://10.0.0.1/", "https://no-such-name.invalid/"] {
            let refused = way(url).await;
            assert!(
                matches!(refused, Err(UntrustedUrlError::Refused { .. })),
                "X47: {url} must not be sent to the proxy: {refused:?}"
            );
        }
    }

    #[tokio::test]
    async fn names_of_private_addresses_are_rejected_at_resolution() {
        // Resolves the name directly, since the client refuses it earlier.
        let looked_up = PublicAddressResolver.resolve("localhost".parse().unwrap()).await;
        let cause = looked_up.err().map(|error| error.to_string());
        assert_eq!(
            cause.as_deref(),
            Some(PRIVATE_ADDRESS_MESSAGE),
            "X47: a name of this computer must not be resolved"
        );
    }
}
