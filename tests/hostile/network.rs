//! Tests of sandboxed servers with named hosts that try to reach others (S24): through the proxy, around it, by names
//! that resolve to this computer, and by naming more hosts than were approved.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::{NetworkAccess, SandboxConfig, ServerConfig, ServerEntry};
use serde_json::{Value, json};
use testkit::app::{TestApp, scripted_config};

use crate::pair::GoodAndBadServers;

/// Starts a TCP server that sends a greeting on each connection. Returns its port, and the number of connections so
/// far, which it updates.
fn start_greeting_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(b"greetings");
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read(&mut [0; 16]);
        }
    });
    (port, connections)
}

/// Returns a host name other than `localhost` that resolves to this computer, or `None` if there is none.
fn local_host_name() -> Option<String> {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let names = [hostname.trim().to_owned(), "ip6-localhost".to_owned(), "ip6-loopback".to_owned()];
    let is_own = |name: &String| {
        let mut addresses = (name.as_str(), 0).to_socket_addrs().into_iter().flatten();
        addresses.any(|address| TcpListener::bind(SocketAddr::new(address.ip(), 0)).is_ok())
    };
    names.into_iter().filter(|name| !name.is_empty() && name != "localhost").find(is_own)
}

fn sandbox_with_hosts(hosts: &[String]) -> SandboxConfig {
    let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
    SandboxConfig { network: NetworkAccess::Hosts(hosts), ..SandboxConfig::default() }
}

fn sandboxed_server(sandbox: SandboxConfig, tries: &[String]) -> ServerConfig {
    let mut config = scripted_config(&["--misbehave", "reaches-out"]);
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = Some(sandbox);
        stdio.env = [("REACH_HOSTS".to_owned(), tries.join(" "))].into();
    }
    config
}

fn is_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

#[tokio::test]
async fn s24_server_reaches_named_hosts_only() {
    let what = "S24, other hosts than those that were named";
    let ((named, at_named), (other, at_other)) = (start_greeting_server(), start_greeting_server());
    let mut allowed = vec![format!("localhost:{named}")];
    let mut refused = vec![format!("localhost:{other}"), format!("127.0.0.1:{named}"), format!("2130706433:{named}")];
    if let Some(name) = local_host_name() {
        // The host is allowed, although its name resolves to this computer.
        allowed.push(format!("{name}:{other}"));
        refused.push(format!("{name}:{other}"));
    }
    refused.push("169.254.169.254:80".to_owned());
    let reached = format!("localhost:{named}");
    let tries: Vec<String> = [reached.clone()].into_iter().chain(refused.clone()).collect();
    let pair = GoodAndBadServers::ready(sandboxed_server(sandbox_with_hosts(&allowed), &tries)).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    let result = json!(call.result.unwrap());
    let tried: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    let of = |host: &str| tried[host]["proxy"].as_str().unwrap_or_else(|| panic!("{what}: {host} was tried: {tried}"));
    assert!(of(&reached).starts_with("HTTP/1.1 200"), "{what}: the allowed host is reachable: {tried}");
    assert!(of(&reached).ends_with("greetings"), "{what}: the allowed host responds: {tried}");
    for host in &refused {
        assert!(of(host).starts_with("HTTP/1.1 403"), "{what}: {host} is rejected: {tried}");
        assert!(of(host).contains("To allow it, add "), "{what}: the rejection states how to allow the host: {tried}");
    }
    for host in tries {
        assert_eq!(tried[&host]["socket"], false, "{what}: {host} is not reachable without the proxy: {tried}");
    }
    assert_eq!(at_named.load(Ordering::SeqCst), 1, "{what}: the allowed host received one connection");
    assert_eq!(at_other.load(Ordering::SeqCst), 0, "{what}: the other host received no connection");
    pair.app.host.stop_server("bad".into()).await.unwrap();
    pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
    let activity = pair.app.activity("bad").await;
    for part in [
        format!("network: {reached} allowed, 1 opened"),
        "9 bytes down".to_owned(),
        format!("network: localhost:{other} refused: it is not among the hosts"),
        format!("add localhost:{other} to the hosts of its sandbox"),
    ] {
        assert!(activity.contains(&part), "{what}: the activity log contains {part:?}: {activity}");
    }
    pair.close(what).await;
}

#[tokio::test]
async fn s24_additional_hosts_require_another_approval() {
    let before = sandbox_with_hosts(&["example.com".to_owned()]);
    let app = TestApp::start(vec![("held", sandboxed_server(before.clone(), &[]))]).await;
    app.host.start_server("held".into()).await.unwrap();
    let request = app.consent_request("held", "its start", is_start_request).await;
    let ConsentRequestBody::StartServer { plan: Some(plan), .. } = &request.body else {
        panic!("S24: the request shows the accessible hosts: {request:?}");
    };
    assert_eq!(plan.network, before.network, "S24: the request shows each host");
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("held", "ready", |s| s.state == ServerState::Ready).await;
    assert!(app.server("held").await.approved, "the unchanged sandbox is approved");
    let named = |names: &[&str]| sandbox_with_hosts(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let full = SandboxConfig { network: NetworkAccess::Full, ..SandboxConfig::default() };
    for (sandbox, shown) in [
        (named(&["example.com", "example.org"]), "example.org"),
        (named(&["*.example.com"]), "*.example.com"),
        (named(&["example.com:8443"]), "example.com:8443"),
        (full, "true"),
    ] {
        let what = format!("S24: {:?}", sandbox.network);
        let entry = ServerEntry { name: "held".into(), config: sandboxed_server(sandbox, &[]) };
        app.host.update_server("held".into(), entry).await.unwrap();
        app.until("held", "stopped", |s| s.state == ServerState::Stopped).await;
        assert!(!app.server("held").await.approved, "{what} is not approved");
        app.host.start_server("held".into()).await.unwrap();
        let request = app.consent_request("held", "its start", is_start_request).await;
        let diff = request.marks.diff.as_deref().unwrap_or_else(|| panic!("{what} is shown as a change: {request:?}"));
        let changes = format!("{:?}", diff.changes);
        assert!(
            changes.contains("network") && changes.contains(shown),
            "{what}: the change shows the new host: {changes}"
        );
        app.decide(&request, UserDecision::Deny).await;
        app.until("held", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    }
    app.host.close().await;
}
