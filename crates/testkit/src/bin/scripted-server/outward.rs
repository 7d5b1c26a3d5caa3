//! Misbehavior that tries to connect to hosts, each through the proxy in the environment and directly by a socket.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::peer::{PeerRequest, ScriptedPeer};

/// Environment variable that contains the hosts with ports, separated by spaces.
const HOSTS_TO_REACH_VARIABLE: &str = "REACH_HOSTS";
/// Timeout of one connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of bytes that are read from a response.
const MAX_RESPONSE_BYTES: u64 = 4096;

pub(crate) fn connect_to_hosts(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let hosts = std::env::var(HOSTS_TO_REACH_VARIABLE).unwrap_or_default();
    let tried = |host: &str| {
        let through = connect_through_proxy(host).unwrap_or_else(|error| format!("failed: {error}"));
        (host.to_owned(), json!({ "proxy": through, "socket": connect_to_host(host).is_ok() }))
    };
    let results: Map<String, Value> = hosts.split_whitespace().map(tried).collect();
    peer.send_text_result(request, &Value::Object(results).to_string())
}

fn connect_to_host(to: &str) -> io::Result<TcpStream> {
    let address = to.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
    stream.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    Ok(stream)
}

/// Returns the proxy's response to a CONNECT request, and all data that the host sends after it.
fn connect_through_proxy(host: &str) -> io::Result<String> {
    let proxy = std::env::var("HTTPS_PROXY").map_err(io::Error::other)?;
    let mut stream = connect_to_host(proxy.strip_prefix("http://").unwrap_or(&proxy))?;
    write!(stream, "CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_string(&mut answer)?;
    Ok(answer)
}
