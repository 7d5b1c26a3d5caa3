//! S24: tests of sandboxed servers with named hosts, as real processes: they can connect only through the proxy, and do
//! not start where that can't be enforced.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use process::sandbox::{NetworkAccess, ResolvedSandbox, SandboxError, SandboxSettings};
use process::{SearchPath, ServerCommand, SpawnError, spawn};

use crate::finished::FinishedServer;
use crate::test_user_home::{TestUserHome, run_python, search_path_per_sandbox_mechanism, shell_command};

/// Starts an HTTP server on this computer. Returns its port, and a counter of the connections to it.
fn start_http_host() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\nreached");
        }
    });
    (port, connections)
}

fn sandbox_with_hosts(ground: &TestUserHome, hosts: &[String]) -> SandboxSettings {
    let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
    SandboxSettings { network: NetworkAccess::Hosts(hosts), ..ground.sandbox(false) }
}

/// Returns a search path that contains bubblewrap, or `None` if bubblewrap does not work on this computer.
async fn bubblewrap_search_path() -> Option<SearchPath> {
    search_path_per_sandbox_mechanism()
        .await
        .into_iter()
        .find_map(|(name, path)| (name == "bubblewrap").then_some(path))
}

/// Python script that tries all ways to connect to a port of this computer.
const CONNECT_SCRIPT: &str = r#"
import os, socket, sys, urllib.request
named, other, around = PORTS
def tried(name, way):
    try:
        print(name, way() or "works", file=sys.stderr)
    except urllib.error.HTTPError as error:
        print(name, error.code, error.read().decode().strip(), file=sys.stderr)
    except Exception as error:
        print(name, "fails", file=sys.stderr)
def opened(url):
    return urllib.request.urlopen(url, timeout=5).read().decode()
def tunnel(to):
    stream = socket.create_connection(("127.0.0.1", 3128), 5)
    stream.sendall(f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n".encode())
    return stream.recv(12).decode()
tried("named", lambda: opened(f"http://localhost:{named}/"))
tried("tunnel", lambda: tunnel(f"localhost:{named}"))
tried("other", lambda: opened(f"http://localhost:{other}/"))
tried("other-tunnel", lambda: tunnel(f"127.0.0.1:{named}"))
tried("socket", lambda: socket.create_connection(("127.0.0.1", int(named)), 5))
tried("socket-6", lambda: socket.create_connection(("::1", int(named)), 5))
for address in around.split():
    tried("around", lambda: socket.create_connection((address, int(other)), 5))
tried("datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
tried("lookup", lambda: socket.gethostbyname("example.com"))
tried("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tried("program", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
print("interfaces", " ".join(name for _, name in socket.if_nameindex()), file=sys.stderr)
print("routes", len(open("/proc/net/route").read().strip().splitlines()[1:]), file=sys.stderr)
print("descriptors", " ".join(sorted(os.listdir("/proc/self/fd"))[:-1]), file=sys.stderr)
"#;

/// Returns the addresses of this computer, other than loopback, separated by blanks.
fn local_addresses() -> String {
    let addresses = nix::ifaddrs::getifaddrs().unwrap().filter_map(|interface| {
        let address = interface.address?.as_sockaddr_in()?.ip();
        (!address.is_loopback()).then(|| address.to_string())
    });
    addresses.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn s24_proxy_is_the_only_network_access() {
    let Some(path) = bubblewrap_search_path().await else { return };
    let ((named, at_named), (other, at_other)) = (start_http_host(), start_http_host());
    let ports = format!("PORTS = ('{named}', '{other}', '{}')\n", local_addresses());
    let ground = TestUserHome::new();
    let sandbox = sandbox_with_hosts(&ground, &[format!("localhost:{named}"), "example.invalid".to_owned()]);
    let script = format!("{ports}{CONNECT_SCRIPT}");
    let Some(FinishedServer { stderr, egress, .. }) = run_python(&script, sandbox, &path).await else { return };
    let of = |name: &str| {
        let line = stderr.iter().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("S24: the script reported nothing about {name}: {stderr:?}")).to_owned()
    };
    assert_eq!(of("named"), "reached", "S24: a named host must be reachable: {stderr:?}");
    assert_eq!(of("tunnel"), "HTTP/1.1 200", "S24: a tunnel must work as well: {stderr:?}");
    assert!(of("other").starts_with("403 Drawbridge refused"), "S24: another host must be refused: {stderr:?}");
    assert!(
        of("other").contains(&format!("add localhost:{other} to the hosts")),
        "S24: the refusal must name the host to add: {stderr:?}"
    );
    assert_eq!(of("other-tunnel"), "HTTP/1.1 403", "S24: another name of the same host must be refused: {stderr:?}");
    for direct in ["socket", "socket-6", "datagram", "lookup", "raw", "program"] {
        assert_eq!(of(direct), "fails", "S24: direct sockets must fail: {stderr:?}");
    }
    let around: Vec<&String> = stderr.iter().filter(|line| line.starts_with("around")).collect();
    assert!(
        around.iter().all(|line| *line == "around fails"),
        "S24: other addresses of this computer must be unreachable: {stderr:?}"
    );
    assert_eq!(of("interfaces"), "lo", "S24: loopback must be the only interface");
    assert_eq!(of("routes"), "0", "S24: there must be no route");
    assert_eq!(of("descriptors"), "0 1 2", "S24: no descriptor of the setup must be inherited");
    assert_eq!(at_named.load(Ordering::SeqCst), 2, "S24: the named host must receive the request and the tunnel");
    assert_eq!(at_other.load(Ordering::SeqCst), 0, "S24: the other host must receive nothing");
    let notes = egress.join("\n");
    for part in
        [format!("network: localhost:{named} allowed, 2 opened"), format!("network: localhost:{other} refused: ")]
    {
        assert!(notes.contains(&part), "S24: the activity must contain {part:?}: {notes}");
    }
}

#[tokio::test]
async fn s24_sandbox_without_network_has_no_proxy() {
    let Some(path) = bubblewrap_search_path().await else { return };
    let script = "import os, socket, sys\nprint(any('proxy' in name.lower() for name in os.environ), file=sys.stderr)\ntry:\n    socket.create_connection(('127.0.0.1', 3128), 5)\nexcept OSError:\n    print('fails', file=sys.stderr)";
    let Some(FinishedServer { stderr, .. }) = run_python(script, TestUserHome::new().sandbox(false), &path).await
    else {
        return;
    };
    assert_eq!(stderr, ["False", "fails"], "S24: without named hosts there must be no proxy");
}

/// Two servers can use the same port for their proxies, each in its own network namespace and with its own permitted
/// hosts.
#[tokio::test]
async fn s24_servers_do_not_share_a_proxy() {
    let Some(path) = bubblewrap_search_path().await else { return };
    let ((one, _), (two, _)) = (start_http_host(), start_http_host());
    let script = format!(
        "import sys, urllib.request\nfor port in ({one}, {two}):\n    try:\n        print(urllib.request.urlopen(f'http://localhost:{{port}}/', timeout=5).read().decode(), file=sys.stderr)\n    except Exception as error:\n        print(error.code, file=sys.stderr)"
    );
    let (first, second) = (TestUserHome::new(), TestUserHome::new());
    let (first, second) = (
        sandbox_with_hosts(&first, &[format!("localhost:{one}")]),
        sandbox_with_hosts(&second, &[format!("localhost:{two}")]),
    );
    let both = tokio::join!(run_python(&script, first, &path), run_python(&script, second, &path));
    let (Some(first), Some(second)) = both else { return };
    assert_eq!(
        (first.stderr.as_slice(), second.stderr.as_slice()),
        (&["reached", "403"].map(String::from)[..], &["403", "reached"].map(String::from)[..])
    );
}

#[tokio::test]
async fn s24_server_is_not_started_if_hosts_cannot_be_enforced() {
    let ground = TestUserHome::new();
    let sandbox = sandbox_with_hosts(&ground, &["example.com".to_owned()]);
    for (name, path) in search_path_per_sandbox_mechanism().await.into_iter().filter(|(name, _)| *name != "bubblewrap")
    {
        let marker = ground.sandbox(false).home.join("ran");
        let command = shell_command(&format!(": > {}", marker.display()), sandbox.clone());
        let planned = ResolvedSandbox::for_command(&command, Path::new("/bin/sh"), &path).await;
        assert!(
            matches!(planned, Err(SandboxError::HostsUnsupported { .. })),
            "S24: {name} must refuse named hosts: {planned:?}"
        );
        let refused = spawn(&command, Path::new("/bin/sh"), &path).await.expect_err("S24: the server must not start");
        assert!(matches!(refused, SpawnError::Sandbox(SandboxError::HostsUnsupported { .. })), "S24: {refused}");
        assert!(refused.to_string().contains("Install bubblewrap"), "S24: the error must give advice: {refused}");
        assert!(!marker.exists(), "S24: the program must not run");
    }
    let empty = SandboxSettings { network: NetworkAccess::Hosts(Vec::new()), ..sandbox };
    let path = SearchPath::from_process("a test".to_owned());
    let planned = ResolvedSandbox::for_command(&shell_command(":", empty), Path::new("/bin/sh"), &path).await;
    assert!(
        matches!(planned, Err(SandboxError::InvalidHosts(_))),
        "an empty list of hosts must be refused: {planned:?}"
    );
}

#[tokio::test]
async fn s24_changed_hosts_require_another_approval() {
    let Some(path) = bubblewrap_search_path().await else { return };
    let ground = TestUserHome::new();
    let narrow = shell_command(":", sandbox_with_hosts(&ground, &["example.com".to_owned()]));
    let approved = ResolvedSandbox::for_command(&narrow, Path::new("/bin/sh"), &path).await.unwrap();
    let wide = shell_command(":", sandbox_with_hosts(&ground, &["example.com".to_owned(), "example.org".to_owned()]));
    let refused = spawn(&ServerCommand { approved, ..wide }, Path::new("/bin/sh"), &path).await;
    let refused = refused.expect_err("S24: other hosts were not approved");
    assert!(matches!(refused, SpawnError::Sandbox(SandboxError::Changed)), "S24: {refused}");
}
