//! Reading a request: its head and a body of known length.

use std::io;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// The longest head and the longest body that are read.
const MAX_HEAD: usize = 256 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;

/// What a client sent.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// GET, POST, DELETE.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The head as it came.
    pub head: String,
    /// The body as it came.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header; the first, if there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The path without its query.
    pub fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The parameters of the query, decoded.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// The parameters of a body that is a form, decoded.
    pub fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(&self.body).into_owned().collect()
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The JSON-RPC method in the body; empty if there is none.
    pub fn rpc_method(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// The next request; none if the client has gone.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > MAX_HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut first = head.split(' ');
    let mut request = Request {
        method: first.next().unwrap_or_default().to_owned(),
        path: first.next().unwrap_or_default().to_owned(),
        head: head.clone(),
        body: bytes.split_off(end),
    };
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    if length > MAX_BODY {
        return Ok(None);
    }
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(request))
}
