//! Parser of HTTP requests whose body has a known length.

use std::io;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Maximum size of the request line with all headers, in bytes.
const MAX_REQUEST_HEAD_BYTES: usize = 256 * 1024;
const MAX_REQUEST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// HTTP request that a scripted server received.
#[derive(Debug, Clone, Default)]
pub struct HttpRequest {
    /// HTTP method, such as `GET`, `POST` or `DELETE`.
    pub method: String,
    /// Path including the query.
    pub path: String,
    /// Request line and headers as received, including line breaks.
    pub head: String,
    /// Body of the request as received.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the first value of the header `name`, or `None` if the request has no such header. The case of `name` is
    /// ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// Returns the path without its query.
    pub fn path_without_query(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Returns the decoded parameters of the query.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// Returns the decoded parameters of a form body.
    pub fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(&self.body).into_owned().collect()
    }

    /// Returns the body as JSON, or null if it is not valid JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the JSON-RPC method in the body, or an empty string if the body has none.
    pub fn rpc_method(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// Reads the next request. Returns `None` if the client has disconnected or the request exceeds a limit.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<HttpRequest>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > MAX_REQUEST_HEAD_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut first = head.split(' ');
    let mut request = HttpRequest {
        method: first.next().unwrap_or_default().to_owned(),
        path: first.next().unwrap_or_default().to_owned(),
        head: head.clone(),
        body: bytes.split_off(end),
    };
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    if length > MAX_REQUEST_BODY_BYTES {
        return Ok(None);
    }
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(request))
}
