//! Rules for operations that are only allowed in certain files: spawning processes, opening sockets, creating HTTP
//! clients, opening URLs and using credentials.

use super::Finding;
use super::tree::Tree;

/// Files and folders that may spawn processes, in addition to tests. Folders end with a slash.
const SPAWN_ALLOWED_IN: [&str; 7] = [
    "crates/process/src/launch.rs",
    // Runs `ps` to read the start time of a process.
    "crates/process/src/platform/macos.rs",
    // Starts bubblewrap to test it before the app has an async runtime.
    "crates/process/src/platform/network_namespace.rs",
    // Tries bubblewrap before the app has a runtime.
    "src-tauri/src/page_sandbox/trial.rs",
    "crates/testkit/",
    "crates/xtask/",
    "tests/",
];

/// Files and folders that may open sockets or resolve host names directly, in addition to tests. All other code sends
/// requests through the clients of `mcp-transport`.
const CONNECT_ALLOWED_IN: [&str; 11] = [
    // Resolves host names in URLs from servers, to reject private addresses.
    "crates/mcp-transport/src/http/outside_client.rs",
    // Receives the redirect of a sign-in on the loopback interface.
    "crates/mcp-auth/src/redirect_listener.rs",
    // Runs the sandbox proxy, and connects to it from the network namespace of a server.
    "crates/process/src/sandbox/egress/proxy.rs",
    "crates/process/src/sandbox/egress/resolve.rs",
    "crates/process/src/sandbox/linux/program_gate.rs",
    "crates/process/src/platform/network_namespace.rs",
    // Queries the local address of the default route to detect network changes. Sends nothing.
    "crates/supervision/src/wake.rs",
    // Checks whether Docker's socket accepts connections.
    "crates/checkup/src/containers.rs",
    // Programs that are not part of the app, and the demo server, which is and listens only on the loopback interface.
    "crates/demo-server/",
    "crates/testkit/",
    "crates/xtask/",
];

/// File that may create HTTP clients.
const CLIENTS_ALLOWED_IN: &str = "crates/mcp-transport/src/http/client.rs";

/// Folder that may open URLs.
const OPEN_ALLOWED_IN: &str = "src-tauri/src/";

/// Folders that may use API keys of model providers and tokens of servers. The host checks where they are sent.
const CREDENTIALS_ALLOWED_IN: [&str; 2] = ["crates/host/src/", "crates/credentials/src/"];

const SPAWN_CALLS: [&str; 5] = ["Command::new(", "CommandWrap::with_new(", "posix_spawn", "execvp(", "{ fork() }"];
const CONNECT_CALLS: [&str; 10] = [
    "TcpStream::connect",
    "TcpListener::bind",
    "TcpListener::from_std",
    "TcpSocket::new",
    "UdpSocket::bind",
    "UnixStream::connect",
    "UnixListener::bind",
    "UnixDatagram::bind",
    "net::lookup_host",
    "    socket(",
];
const CLIENT_CALLS: [&str; 4] = ["Client::builder(", "ClientBuilder::new(", "reqwest::Client::new(", "reqwest::get("];
const OPEN_CALLS: [&str; 4] = [".opener()", "tauri_plugin_opener::open_", "webbrowser::open(", "opener::open("];
const CREDENTIAL_CALLS: [&str; 3] = ["KeychainProvider::new(", "try_model(", "TokenVaults::"];

pub(super) fn credentials_are_used_in_one_place(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        tree.rust_files().filter(|file| !CREDENTIALS_ALLOWED_IN.iter().any(|place| file.path.starts_with(place)))
    {
        for (line, code) in file.product_lines() {
            if CREDENTIAL_CALLS.iter().any(|call| code.contains(call)) {
                let text = "uses credentials; only the host does, which has checked where they go";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

pub(super) fn processes_start_in_one_place(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !SPAWN_ALLOWED_IN.iter().any(|place| file.path.starts_with(place))) {
        for (line, code) in file.product_lines() {
            if SPAWN_CALLS.iter().any(|call| code.contains(call)) {
                let text = "starts a process; crates/process/src/launch.rs is the one place for that";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

pub(super) fn sockets_open_in_listed_places(tree: &Tree) -> Vec<Finding> {
    let is_product = |path: &str| path.starts_with("crates/") || path.starts_with("src-tauri/");
    let is_allowed = |path: &str| CONNECT_ALLOWED_IN.iter().any(|place| path.starts_with(place));
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| is_product(&file.path) && !is_allowed(&file.path)) {
        for (line, code) in file.product_lines() {
            if CONNECT_CALLS.iter().any(|call| code.contains(call)) {
                let text = "opens a socket; requests are sent by the clients of mcp-transport, and single_places.rs \
                            lists every other place";
                findings.push(Finding::new(&file.path, line, text));
            }
            if file.path != CLIENTS_ALLOWED_IN && CLIENT_CALLS.iter().any(|call| code.contains(call)) {
                let text = format!("creates an HTTP client; {CLIENTS_ALLOWED_IN} is the one place for that");
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Reports calls that open URLs, except the single one in the shell. Other code opens URLs through the host.
pub(super) fn urls_open_in_one_place(tree: &Tree) -> Vec<Finding> {
    let mut calls = Vec::new();
    for file in tree.rust_files() {
        for (line, code) in file.product_lines() {
            if OPEN_CALLS.iter().any(|call| code.contains(call)) {
                calls.push((file.path.clone(), line));
            }
        }
    }
    // The first call in the shell is the allowed one.
    if let Some(at) = calls.iter().position(|(path, _)| path.starts_with(OPEN_ALLOWED_IN)) {
        calls.remove(at);
    }
    let text = "opens a URL or file; there is one function for that, in src-tauri";
    calls.into_iter().map(|(path, line)| Finding::new(&path, line, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.path.as_str()).collect()
    }

    #[test]
    fn second_place_that_spawns_is_reported() {
        let code = "let child = Command::new(\"ls\");\n";
        let tree = Tree::from_files(&[
            ("crates/host/src/lib.rs", code),
            ("crates/host/tests/all.rs", code),
            ("crates/process/src/launch.rs", code),
            ("crates/store/src/lib.rs", "/// Not like Command::new(\n"),
        ]);
        assert_eq!(
            places(&processes_start_in_one_place(&tree)),
            ["crates/host/src/lib.rs"],
            "only tests and the listed place may spawn processes"
        );
    }

    #[test]
    fn sockets_and_clients_are_found_outside_of_their_places() {
        let (socket, client) = ("let stream = TcpStream::connect(address).await?;\n", "reqwest::Client::builder()\n");
        let tree = Tree::from_files(&[
            ("crates/host/src/lib.rs", socket),
            ("crates/host/tests/all.rs", socket),
            ("crates/process/src/sandbox/egress/proxy.rs", socket),
            ("crates/models/src/lib.rs", client),
            ("crates/mcp-transport/src/http/client.rs", client),
            ("tests/bench/src/main.rs", socket),
        ]);
        assert_eq!(
            places(&sockets_open_in_listed_places(&tree)),
            ["crates/host/src/lib.rs", "crates/models/src/lib.rs"]
        );
    }

    #[test]
    fn credentials_outside_the_host_are_reported() {
        let code = "let provider = KeychainProvider::new(settings, secrets)?;\n";
        let tree = Tree::from_files(&[
            ("crates/api/src/lib.rs", code),
            ("crates/host/src/owner/providers.rs", code),
            ("crates/credentials/tests/all.rs", code),
            ("crates/xtask/src/lib.rs", "const CALLS: [&str; 1] = [\"KeychainProvider::new(\"];\n"),
        ]);
        assert_eq!(
            places(&credentials_are_used_in_one_place(&tree)),
            ["crates/api/src/lib.rs"],
            "the host and tests may use credentials"
        );
    }

    #[test]
    fn second_place_that_opens_urls_is_reported() {
        let code = "app.opener().open_url(url, None)?;\n";
        let one = Tree::from_files(&[("src-tauri/src/open_url.rs", code)]);
        assert!(urls_open_in_one_place(&one).is_empty(), "the first place should be accepted");
        let two = Tree::from_files(&[("src-tauri/src/open_url.rs", code), ("src-tauri/src/tray.rs", code)]);
        assert_eq!(
            places(&urls_open_in_one_place(&two)),
            ["src-tauri/src/tray.rs"],
            "a second place should be reported"
        );
        let elsewhere = Tree::from_files(&[("crates/host/src/lib.rs", "webbrowser::open(url)")]);
        assert_eq!(
            places(&urls_open_in_one_place(&elsewhere)),
            ["crates/host/src/lib.rs"],
            "a place outside of the shell should be reported"
        );
    }
}
