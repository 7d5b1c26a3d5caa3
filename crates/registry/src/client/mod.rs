//! HTTP client for the registry API, version 0.1. Used only by [`crate::RegistryCatalog`].
//!
//! Responses are bounded in time and size. Redirects are followed only within the origin of the registry, so that the
//! header is not sent to other origins.

mod address;
mod error;

use std::time::Duration;

use mcp_transport::http::{client_for_registries, innermost_cause};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use url::Url;

pub use address::{OFFICIAL_REGISTRY, RegistryAddress, RegistryHeader};
pub use error::RegistryError;

pub(crate) use address::{RegistryRequest, is_loopback};

/// Maximum number of redirects that are followed for one request.
const MAX_REQUEST_REDIRECTS: usize = 3;

/// Limits of time and size for requests to a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryLimits {
    /// Timeout of a request, up to the last byte of the response. Default: 30 s.
    pub time: Duration,
    /// Maximum size of the body of a response, in bytes. Default: 4 MiB.
    pub bytes: usize,
    /// Maximum number of pages of changes that one refresh reads. Default: 100.
    pub pages: usize,
}

impl Default for RegistryLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), bytes: 4 * 1024 * 1024, pages: 100 }
    }
}

/// HTTP client for one registry. Clones share connections.
#[derive(Debug, Clone)]
pub struct RegistryClient {
    address: RegistryAddress,
    header: Option<RegistryHeader>,
    client: Client,
    limits: RegistryLimits,
}

impl RegistryClient {
    /// Creates a client for a registry. Sends no request.
    ///
    /// # Errors
    /// Returns [`RegistryError::Unavailable`] if TLS is unavailable on this system.
    pub fn new(
        address: RegistryAddress,
        header: Option<RegistryHeader>,
        limits: RegistryLimits,
    ) -> Result<Self, RegistryError> {
        let client = client_for_registries(address.is_loopback());
        let client = client.map_err(|error| RegistryError::Unavailable { cause: displayed_cause(&error) })?;
        Ok(Self { address, header, client, limits })
    }

    /// Returns the address of the registry that receives the requests.
    #[must_use]
    pub fn address(&self) -> &RegistryAddress {
        &self.address
    }

    pub(crate) fn limits(&self) -> RegistryLimits {
        self.limits
    }

    /// Sends a request to the registry, and returns the body of the response. `what` describes the requested data in
    /// error messages.
    pub(crate) async fn get(&self, request: &RegistryRequest, what: &str) -> Result<Vec<u8>, RegistryError> {
        let url = self.address.url(request)?;
        let slow = RegistryError::TooSlow { address: self.displayed_address(), limit: self.limits.time };
        tokio::time::timeout(self.limits.time, self.get_following_redirects(url, what)).await.unwrap_or(Err(slow))
    }

    async fn get_following_redirects(&self, mut url: Url, what: &str) -> Result<Vec<u8>, RegistryError> {
        for _ in 0..=MAX_REQUEST_REDIRECTS {
            let request = self.client.get(url.clone()).header(ACCEPT, "application/json");
            let request = self.with_header(request, &url);
            let response = request.send().await.map_err(|error| self.unreachable_error(&error))?;
            if !response.status().is_redirection() {
                return self.read_body(response, what).await;
            }
            url = self.redirect_target(&url, response.headers())?;
        }
        Err(RegistryError::Redirect {
            address: self.displayed_address(),
            to: format!("more than {MAX_REQUEST_REDIRECTS} times"),
        })
    }

    /// Adds the registry's header to a request, if `url` has the registry's origin.
    pub(crate) fn with_header(&self, request: RequestBuilder, url: &Url) -> RequestBuilder {
        match &self.header {
            Some(RegistryHeader { name, value }) if url.origin() == self.address.origin() => {
                request.header(name, value.clone())
            }
            _ => request,
        }
    }

    fn redirect_target(&self, from: &Url, headers: &HeaderMap) -> Result<Url, RegistryError> {
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let to = location.and_then(|location| from.join(location).ok());
        match to {
            Some(to) if to.origin() == from.origin() && to.username().is_empty() && to.password().is_none() => Ok(to),
            Some(to) if to.origin().is_tuple() => {
                let to = format!("to {}", to.origin().ascii_serialization());
                Err(RegistryError::Redirect { address: self.displayed_address(), to })
            }
            _ => Err(RegistryError::Redirect { address: self.displayed_address(), to: "to no address".to_owned() }),
        }
    }

    async fn read_body(&self, mut response: Response, what: &str) -> Result<Vec<u8>, RegistryError> {
        let status = response.status();
        let address = self.displayed_address();
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(RegistryError::NotFound { address, what: what.to_owned() }),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                return Err(RegistryError::Refused { address, status: status.as_u16() });
            }
            _ => {
                let retry = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
                let retry = retry.filter(|text| text.len() < 8 && text.bytes().all(|b| b.is_ascii_digit()));
                return Err(RegistryError::Failed {
                    address,
                    status: status.as_u16(),
                    retry: retry.map(str::to_owned),
                });
            }
        }
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_page = content_type.is_some_and(|value| value.to_ascii_lowercase().starts_with("text/html"));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable_error(&error))? {
            if body.len() + chunk.len() > self.limits.bytes {
                return Err(RegistryError::TooLarge { address, limit: self.limits.bytes });
            }
            body.extend_from_slice(&chunk);
        }
        if self.header.as_ref().is_some_and(|header| header.occurs_in(&body)) {
            return Err(RegistryError::RepeatsHeader { address });
        }
        if is_page || body.trim_ascii_start().starts_with(b"<") {
            return Err(RegistryError::WebPage { address });
        }
        Ok(body)
    }

    fn unreachable_error(&self, error: &reqwest::Error) -> RegistryError {
        RegistryError::Unreachable { address: self.displayed_address(), cause: displayed_cause(error) }
    }

    pub(crate) fn displayed_address(&self) -> String {
        self.address.to_string()
    }
}

/// Returns the message of the innermost source of an error, escaped for display.
pub(crate) fn displayed_cause(error: &reqwest::Error) -> String {
    foreign::escape_invisible(&innermost_cause(error).to_string()).into_owned()
}
