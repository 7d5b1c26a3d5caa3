//! A browser of a few lines: it gets a page, and sees where it is sent to. Plain HTTP only.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::{Position, Url};

/// The most of an answer that is read, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

/// What a page answered.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The head as it came.
    pub head: String,
    /// The body as it came.
    pub body: String,
}

impl Page {
    /// Where it redirects to.
    pub fn location(&self) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then_some(value.trim())
        })
    }
}

/// Gets a page, and does not follow where it redirects to.
///
/// # Errors
/// If nobody answers there, or with something that is no HTTP.
pub async fn get(url: &str) -> io::Result<Page> {
    send(url, "GET", "", "").await
}

/// Sends a request with further headers (each line with its CR LF), `Host` among them if it is to be another.
///
/// # Errors
/// If nobody answers there, or with something that is no HTTP.
pub async fn send(url: &str, method: &str, headers: &str, body: &str) -> io::Result<Page> {
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
    // Who closes at once may do so roughly; what came before counts.
    let _ = stream.take(MAX_ANSWER).read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| wrong("the answer has no end of its head"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| wrong("no status"))?;
    Ok(Page { status, head: head.to_owned(), body: body.to_owned() })
}

/// Goes to a page as a user does who is signed in already: to where it redirects at once, and no further.
///
/// # Errors
/// If one of the two can't be got, or the first redirects nowhere.
pub async fn sign_in(url: &str) -> io::Result<Page> {
    let page = get(url).await?;
    let nowhere = || io::Error::new(io::ErrorKind::InvalidData, format!("{url} redirects nowhere: {}", page.status));
    get(page.location().ok_or_else(nowhere)?).await
}
