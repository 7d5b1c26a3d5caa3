//! Downloads the manifest and the file of a release over HTTPS, bounded in time and size.

use std::time::Duration;

use mcp_transport::http::{client_for_updates, innermost_cause};
use reqwest::header::LOCATION;
use reqwest::{Client, Response, StatusCode};
use url::{Host, Url};

use crate::refusal::UpdateRefusal;

/// Maximum number of redirects that are followed for one request. Downloads from GitHub's releases have two.
const MAX_UPDATE_REDIRECTS: usize = 5;
/// Suffix of the URL of a manifest's signature, after the URL of the manifest. Tauri's bundler uses it for file names.
const SIGNATURE_FILE_SUFFIX: &str = ".sig";

/// Limits of time and size for requests to the server that publishes Drawbridge's releases.
#[derive(Debug, Clone, Copy)]
pub struct UpdateLimits {
    /// Timeout of the requests for the manifest and for its signature, each. Default: 30 s.
    pub manifest_time: Duration,
    /// Maximum size of the manifest and of its signature, each, in bytes. Default: 128 KiB.
    pub manifest_bytes: usize,
    /// Maximum time without new data while the file of a release is downloaded. Default: 30 s.
    pub idle_time: Duration,
}

impl Default for UpdateLimits {
    fn default() -> Self {
        Self { manifest_time: Duration::from_secs(30), manifest_bytes: 128 * 1024, idle_time: Duration::from_secs(30) }
    }
}

/// URL of the release manifest. Its scheme is `https`, or in tests `http` with a loopback address.
#[derive(Debug, Clone)]
pub struct ReleaseManifestUrl(Url);

impl ReleaseManifestUrl {
    /// Parses the URL of the release manifest.
    ///
    /// # Errors
    /// Returns [`UpdateRefusal::Build`] if it is not a URL, or the connection would not be encrypted.
    pub fn parse(text: &str) -> Result<Self, UpdateRefusal> {
        let url = Url::parse(text)
            .map_err(|error| UpdateRefusal::Build(format!("the address of its releases can't be read: {error}")))?;
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_loopback(&url) => Ok(Self(url)),
            _ => Err(UpdateRefusal::Build("the address of its releases is not https".to_owned())),
        }
    }

    /// Returns the URL of the release manifest.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }

    fn signature_url(&self) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{SIGNATURE_FILE_SUFFIX}", self.0.path()));
        url
    }

    fn allows_download_from(&self, url: &Url) -> bool {
        url.scheme() == "https" || url.origin() == self.0.origin()
    }
}

/// HTTP client that downloads the manifest and files of Drawbridge's releases.
#[derive(Debug)]
pub(crate) struct ReleaseFetcher {
    address: ReleaseManifestUrl,
    client: Client,
    limits: UpdateLimits,
}

impl ReleaseFetcher {
    pub(crate) fn new(address: ReleaseManifestUrl, limits: UpdateLimits) -> Result<Self, UpdateRefusal> {
        let client = client_for_updates(is_loopback(&address.0));
        let client = client.map_err(|error| UpdateRefusal::Build(innermost_cause(&error).to_string()))?;
        Ok(Self { address, client, limits })
    }

    /// Downloads the manifest and its signature, and returns them without verifying the signature. Returns `None` if
    /// the server responds with status 204, which means that there is no manifest. An attacker who can block the
    /// response could cause that as well.
    pub(crate) async fn download_manifest(&self) -> Result<Option<(Vec<u8>, String)>, UpdateRefusal> {
        let Some(manifest) = self.download_manifest_or_signature(self.address.0.clone()).await? else {
            return Ok(None);
        };
        let signature = self.download_manifest_or_signature(self.address.signature_url()).await?.unwrap_or_default();
        // Invalid UTF-8 is not a signature, and fails verification.
        Ok(Some((manifest, String::from_utf8_lossy(&signature).into_owned())))
    }

    async fn download_manifest_or_signature(&self, url: Url) -> Result<Option<Vec<u8>>, UpdateRefusal> {
        let limit = self.limits.manifest_bytes;
        let get = async {
            let mut response = self.get(url).await?;
            if response.status() == StatusCode::NO_CONTENT {
                return Ok(None);
            }
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(|error| to_unreachable_refusal(&error))? {
                if body.len() + piece.len() > limit {
                    return Err(UpdateRefusal::ManifestTooLarge(limit));
                }
                body.extend_from_slice(&piece);
            }
            Ok(Some(body))
        };
        let time = self.limits.manifest_time;
        tokio::time::timeout(time, get).await.unwrap_or(Err(UpdateRefusal::TooSlow(time.as_secs())))
    }

    /// Downloads the file of a release, which must have exactly `size` bytes. Calls `on_bytes` repeatedly with the
    /// number of bytes that were received so far.
    pub(crate) async fn download_file(
        &self,
        url: Url,
        size: u64,
        mut on_bytes: impl FnMut(u64),
    ) -> Result<Vec<u8>, UpdateRefusal> {
        let time = self.limits.idle_time;
        let slow = || UpdateRefusal::TooSlow(time.as_secs());
        if !self.address.allows_download_from(&url) {
            return Err(UpdateRefusal::Redirect(displayed_url_origin(&url)));
        }
        let mut response = tokio::time::timeout(time, self.get(url)).await.map_err(|_| slow())??;
        let mut file = Vec::new();
        loop {
            let piece = tokio::time::timeout(time, response.chunk()).await.map_err(|_| slow())?;
            let Some(piece) = piece.map_err(|error| to_unreachable_refusal(&error))? else {
                break;
            };
            file.extend_from_slice(&piece);
            if file.len() as u64 > size {
                return Err(UpdateRefusal::Size(size));
            }
            on_bytes(file.len() as u64);
        }
        if file.len() as u64 == size { Ok(file) } else { Err(UpdateRefusal::Size(size)) }
    }

    async fn get(&self, mut url: Url) -> Result<Response, UpdateRefusal> {
        for _ in 0..=MAX_UPDATE_REDIRECTS {
            let answer = self.client.get(url.clone()).send().await;
            let response = answer.map_err(|error| to_unreachable_refusal(&error))?;
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            if !status.is_redirection() {
                return Err(UpdateRefusal::Failed(status.as_u16()));
            }
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let to = location.and_then(|location| url.join(location).ok());
            let to = to.ok_or_else(|| UpdateRefusal::Redirect("to no address".to_owned()))?;
            if !self.address.allows_download_from(&to) {
                return Err(UpdateRefusal::Redirect(displayed_url_origin(&to)));
            }
            url = to;
        }
        Err(UpdateRefusal::Redirect(format!("more than {MAX_UPDATE_REDIRECTS} times")))
    }
}

/// Returns the scheme, host and port of the URL to which a request is redirected, for an error message.
fn displayed_url_origin(url: &Url) -> String {
    if url.origin().is_tuple() {
        format!("to {}", url.origin().ascii_serialization())
    } else {
        "to an address that is not https".to_owned()
    }
}

fn to_unreachable_refusal(error: &reqwest::Error) -> UpdateRefusal {
    UpdateRefusal::Unreachable(innermost_cause(error).to_string())
}

/// Returns `true` if the host of a URL is a loopback address. Unlike `foreign::is_loopback`, returns `false` for names
/// such as `localhost`, since only tests use `http`.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_requires_https_or_loopback() {
        for good in ["https://releases.example/latest.json", "http://127.0.0.1:8080/latest.json"] {
            assert!(ReleaseManifestUrl::parse(good).is_ok(), "{good}");
        }
        for bad in ["http://releases.example/latest.json", "http://localhost/latest.json", "file:///latest.json", ""] {
            assert!(ReleaseManifestUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn signature_url_is_next_to_the_manifest() {
        let address = ReleaseManifestUrl::parse("https://releases.example/a/latest.json?x=1").unwrap();
        assert_eq!(address.signature_url().as_str(), "https://releases.example/a/latest.json.sig?x=1");
    }
}
