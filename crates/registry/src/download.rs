//! Downloads bundles that a registry lists, bounded in time and size, and checks their hash before they are opened.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foreign::is_public;
use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode};
use sha2::{Digest as _, Sha256};
use tempfile::TempPath;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;
use url::{Host, Url};

use crate::BundleDownload;
use crate::catalog::RegistryCatalog;
use crate::client::{RegistryClient, displayed_cause, is_loopback};
use crate::plan::is_sha256;

/// Maximum number of redirects of one download. Release pages of code hosts redirect to another host, which may
/// redirect again.
const MAX_DOWNLOAD_REDIRECTS: usize = 5;
/// Prefix of the file names of incomplete downloads.
const UNFINISHED_DOWNLOAD_PREFIX: &str = ".unfinished-";

/// Limits of time and size for the download of one bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownloadLimits {
    /// Maximum time for the whole download of a bundle. Default: 15 min.
    pub time: Duration,
    /// Maximum time without data during a download. Default: 30 s.
    pub idle_time: Duration,
    /// Maximum size of the bundle in bytes. Default: 512 MiB, the limit of `bundles`.
    pub bytes: u64,
}

impl Default for DownloadLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(15 * 60), idle_time: Duration::from_secs(30), bytes: 512 << 20 }
    }
}

/// Error of a bundle download. Messages are escaped for display, and contain only scheme, host and port of an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// The registry entry has no valid SHA-256 of the bundle, so the download could not be checked.
    #[error("the bundle has no SHA-256, so the download could not be verified; the publisher has to add it")]
    NoHash,
    /// The address of the bundle, or the target of a redirect, is not allowed.
    #[error("the bundle is not downloaded from {address}: {cause}")]
    Address {
        /// Scheme, host and port of the address, or a description if it has none.
        address: String,
        /// Reason why the download address is not allowed.
        cause: String,
    },
    /// The download was redirected more often than allowed.
    #[error("{address} redirects more than {MAX_DOWNLOAD_REDIRECTS} times; contact the publisher")]
    Redirects {
        /// Scheme, host and port of the address that the registry lists, at which the redirects began.
        address: String,
    },
    /// The HTTP client could not be created because TLS is unavailable.
    #[error("no connection can be made on this system: {cause}")]
    Unavailable {
        /// Message of the TLS library, which could not be initialized.
        cause: String,
    },
    /// The host doesn't respond, or the connection failed before the whole file was received.
    #[error("the bundle could not be downloaded from {address}: {cause}; check the network, and try again")]
    Unreachable {
        /// Scheme, host and port of the unreachable server.
        address: String,
        /// Message of the connection error, without the URL.
        cause: String,
    },
    /// A server responded to the download with an error status.
    #[error("{address} does not provide the bundle (status {status}); try again later, or contact the publisher")]
    Failed {
        /// Scheme, host and port of the server that reported the error.
        address: String,
        /// HTTP status of the response, such as 404.
        status: u16,
    },
    /// The download took longer than one of its time limits.
    #[error("{address} took longer than {} s; try again later", .limit.as_secs_f32())]
    TooSlow {
        /// Scheme, host and port of the server that was too slow.
        address: String,
        /// The time limit that was exceeded.
        limit: Duration,
    },
    /// The bundle is larger than the limit.
    #[error("the bundle at {address} is larger than {limit} bytes; it is not installed")]
    TooLarge {
        /// Scheme, host and port of the server that sent the bundle.
        address: String,
        /// Maximum size of the bundle in bytes.
        limit: u64,
    },
    /// The downloaded file has another hash than the registry entry.
    #[error("{address} provides another file than the one in the registry: its SHA-256 is {found}; do not use it")]
    WrongHash {
        /// Scheme, host and port of the server that sent the bundle.
        address: String,
        /// SHA-256 of the downloaded bundle, in hexadecimal.
        found: String,
    },
    /// The bundle can't be written to disk. Contains the cause.
    #[error("the bundle can't be written to the disk: {0}")]
    Disk(String),
}

impl RegistryCatalog {
    /// Downloads a bundle to the existing folder `folder`, as a file named by its hash. The file appears only when it
    /// is complete and has the expected hash. Its content is not parsed. After an error, no file remains.
    ///
    /// Only HTTPS is used, also after redirects. HTTP is allowed if both the registry and the address are on this
    /// computer. Addresses of this computer or of a private network are refused, except for the registry's own host.
    /// The header of the registry is sent only to its origin.
    ///
    /// # Errors
    /// Returns [`DownloadError`] if the entry has no valid hash, the address is not allowed, the download fails or
    /// exceeds the limits, or the file has another hash.
    pub async fn download(
        &self,
        bundle: &BundleDownload,
        folder: &Path,
        limits: DownloadLimits,
    ) -> Result<PathBuf, DownloadError> {
        let sha256 = bundle.sha256.to_ascii_lowercase();
        if !is_sha256(&sha256) {
            return Err(DownloadError::NoHash);
        }
        let url = Url::parse(&bundle.url).map_err(|error| DownloadError::Address {
            address: "its address".to_owned(),
            cause: format!("it can't be read: {error}"),
        })?;
        let slow = DownloadError::TooSlow { address: displayed_origin(&url), limit: limits.time };
        let download = BundleTransfer { registry: &self.registry, limits, sha256 };
        timeout(limits.time, download.run(url, folder)).await.unwrap_or(Err(slow))
    }
}

struct BundleTransfer<'r> {
    registry: &'r RegistryClient,
    limits: DownloadLimits,
    sha256: String,
}

impl BundleTransfer<'_> {
    async fn run(&self, url: Url, folder: &Path) -> Result<PathBuf, DownloadError> {
        let (response, address) = self.request_bundle(url).await?;
        if response.content_length().is_some_and(|bytes| bytes > self.limits.bytes) {
            return Err(DownloadError::TooLarge { address, limit: self.limits.bytes });
        }
        let within = folder.to_owned();
        let (file, unfinished) = run_blocking(move || {
            Ok(tempfile::Builder::new()
                .prefix(UNFINISHED_DOWNLOAD_PREFIX)
                .suffix(".mcpb")
                .tempfile_in(within)?
                .into_parts())
        })
        .await?;
        self.write_and_verify(response, File::from_std(file), address).await?;
        let path = folder.join(format!("{}.mcpb", self.sha256));
        let place = path.clone();
        run_blocking(move || TempPath::persist(unfinished, place).map_err(|error| error.error)).await?;
        Ok(path)
    }

    /// Sends the request for the bundle, and follows redirects. Returns the response that contains the bundle, and the
    /// address that sent it.
    async fn request_bundle(&self, mut url: Url) -> Result<(Response, String), DownloadError> {
        let first = displayed_origin(&url);
        for _ in 0..=MAX_DOWNLOAD_REDIRECTS {
            let address = displayed_origin(&url);
            if let Some(cause) = self.address_refusal_reason(&url) {
                return Err(DownloadError::Address { address, cause: cause.to_owned() });
            }
            let client = mcp_transport::http::client_for_registries(is_loopback(&url));
            let client = client.map_err(|error| DownloadError::Unavailable { cause: displayed_cause(&error) })?;
            let request = self.registry.with_header(client.get(url.clone()), &url);
            let response = self.with_timeout(request.send(), &address).await?;
            match response.status() {
                StatusCode::OK => return Ok((response, address)),
                status if !status.is_redirection() => {
                    return Err(DownloadError::Failed { address, status: status.as_u16() });
                }
                _ => {}
            }
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let to = location.and_then(|location| url.join(location).ok());
            url = to.ok_or(DownloadError::Address { address, cause: "it redirects to no address".to_owned() })?;
        }
        Err(DownloadError::Redirects { address: first })
    }

    /// Returns the reason why a download address is not allowed, or `None` if it is allowed.
    fn address_refusal_reason(&self, url: &Url) -> Option<&'static str> {
        let registry = self.registry.address();
        let is_of_registry = registry.host() == url.host();
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(url) && registry.is_loopback() => {}
            _ => return Some("only https:// is accepted"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Some("it contains a user name or password");
        }
        let is_private = match url.host() {
            Some(Host::Ipv4(address)) => !is_public(address.into()),
            Some(Host::Ipv6(address)) => !is_public(address.into()),
            Some(Host::Domain(_)) => is_loopback(url),
            None => true,
        };
        (is_private && !is_of_registry).then_some("it leads to this computer or into a private network")
    }

    /// Writes the body of `response` to `file`, and checks that the downloaded bytes have the expected hash.
    async fn write_and_verify(
        &self,
        mut response: Response,
        mut file: File,
        address: String,
    ) -> Result<(), DownloadError> {
        let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
        while let Some(chunk) = self.with_timeout(response.chunk(), &address).await? {
            bytes += chunk.len() as u64;
            if bytes > self.limits.bytes {
                return Err(DownloadError::TooLarge { address, limit: self.limits.bytes });
            }
            hash.update(&chunk);
            file.write_all(&chunk).await.map_err(disk_error)?;
        }
        let found = format!("{:x}", hash.finalize());
        if found != self.sha256 {
            return Err(DownloadError::WrongHash { address, found });
        }
        file.sync_all().await.map_err(disk_error)
    }

    async fn with_timeout<T>(
        &self,
        step: impl Future<Output = Result<T, reqwest::Error>>,
        address: &str,
    ) -> Result<T, DownloadError> {
        match timeout(self.limits.idle_time, step).await {
            Ok(done) => done.map_err(|error| DownloadError::Unreachable {
                address: address.to_owned(),
                cause: displayed_cause(&error),
            }),
            Err(_) => Err(DownloadError::TooSlow { address: address.to_owned(), limit: self.limits.idle_time }),
        }
    }
}

fn displayed_origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

async fn run_blocking<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, DownloadError> {
    match tokio::task::spawn_blocking(act).await {
        Ok(done) => done.map_err(disk_error),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn disk_error(error: io::Error) -> DownloadError {
    DownloadError::Disk(error.to_string())
}
