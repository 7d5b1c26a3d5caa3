//! Minimal browser for plain HTTP, which requests a page and follows one redirect.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::{Position, Url};

/// Maximum number of bytes that are read from a response.
const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;

/// HTTP response that the minimal browser received for a page.
#[derive(Debug, Clone, Default)]
pub struct BrowserPage {
    /// HTTP status of the response.
    pub status: u16,
    /// Status line and headers as received.
    pub head: String,
    /// Body of the response, with invalid UTF-8 replaced.
    pub body: String,
}

impl BrowserPage {
    /// Returns the value of the `Location` header, or `None` if there is none.
    pub fn location(&self) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then_some(value.trim())
        })
    }
}

/// Requests a page without following redirects.
///
/// # Errors
/// Returns an error if the connection fails or the response is not HTTP.
pub async fn get(url: &str) -> io::Result<BrowserPage> {
    send(url, "GET", "", "").await
}

/// Sends a request with additional headers, each ending in CR LF. A `Host` header among them replaces the default one.
///
/// # Errors
/// Returns an error if the connection fails or the response is not HTTP.
pub async fn send(url: &str, method: &str, headers: &str, body: &str) -> io::Result<BrowserPage> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{url}: {what}"));
    let parsed = Url::parse(url).map_err(|_| wrong("no URL"))?;
    let host = parsed.host_str().filter(|_| parsed.scheme() == "http").ok_or_else(|| wrong("no http URL"))?;
    let port = parsed.port().unwrap_or(80);
    let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let target = &parsed[Position::BeforePath..Position::AfterQuery];
    let names_host = headers.to_ascii_lowercase().contains("host:");
    let host = if names_host { String::new() } else { format!("host: {host}:{port}\r\n") };
    let head = format!(
        "{method} {target} HTTP/1.1\r\n{host}connection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut bytes = Vec::new();
    // A server that closes the connection immediately may reset it. The data received before is parsed.
    let _ = stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| wrong("the answer has no end of its head"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| wrong("no status"))?;
    Ok(BrowserPage { status, head: head.to_owned(), body: body.to_owned() })
}

/// Opens a page like the browser of a signed-in user: follows the page's redirect, and returns the target page.
///
/// # Errors
/// Returns an error if one of the pages can't be loaded or the first one does not redirect.
pub async fn sign_in(url: &str) -> io::Result<BrowserPage> {
    let page = get(url).await?;
    let nowhere = || io::Error::new(io::ErrorKind::InvalidData, format!("{url} redirects nowhere: {}", page.status));
    get(page.location().ok_or_else(nowhere)?).await
}
