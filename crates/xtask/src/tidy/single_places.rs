//! Rules for operations that are only allowed in certain files: spawning processes, opening sockets, creating HTTP
//! clients, opening URLs and using credentials.

use super::Finding;
use super::source_tree::SourceTree;

/// Files and folders that may spawn processes, in addition to files for which `is_test` (`source_tree.rs`) holds.
/// Folders end with a slash.
const PROCESS_SPAWNING_ALLOWED_IN: [&str; 7] = [
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

/// Files and folders that may open sockets or resolve host names directly, in addition to files for which `is_test`
/// holds. Checked in `crates/` and `src-tauri/`. All other code of the app sends requests through the clients of
/// `mcp-transport`, for which [`HTTP_CLIENTS_ALLOWED_IN`] is the list.
const SOCKETS_ALLOWED_IN: [&str; 11] = [
    // Resolves host names in URLs from servers, to reject private addresses.
    "crates/mcp-transport/src/http/untrusted_url_client.rs",
    // Receives the redirect of a sign-in on the loopback interface.
    "crates/mcp-auth/src/redirect_listener.rs",
    // The sandbox proxy, which contacts the hosts that a server may reach, and its listener in the server's network
    // namespace.
    "crates/process/src/sandbox/egress/proxy.rs",
    "crates/process/src/sandbox/egress/resolve.rs",
    "crates/process/src/sandbox/linux/start_barrier.rs",
    "crates/process/src/platform/network_namespace.rs",
    // Queries the local address of the default route to detect network changes. Sends nothing.
    "crates/supervision/src/wake.rs",
    // Checks whether Docker's socket accepts connections.
    "crates/checkup/src/containers.rs",
    // Listens on the loopback interface only.
    "crates/demo-server/",
    // These are not part of the app.
    "crates/testkit/",
    "crates/xtask/",
];

/// Files that may create HTTP clients.
const HTTP_CLIENTS_ALLOWED_IN: [&str; 2] = [
    // Creates the reqwest clients of all crates.
    "crates/mcp-transport/src/http/client.rs",
    // Forwards plain HTTP requests of a sandboxed server over a connection that the sandbox proxy opened.
    "crates/process/src/sandbox/egress/proxy.rs",
];

/// Files that may make the operating system open a URL or a file with another program, each in one place. Both
/// implement the host's `Platform`.
const URL_OPENING_ALLOWED_IN: [&str; 2] = [
    "src-tauri/src/platform.rs",
    // The command line has no Tauri, and opens the browser without it.
    "crates/cli/src/platform.rs",
];

/// Files that may call a function named `open_url`. All other code opens URLs through the gate of the host, which asks
/// for consent.
const OPEN_URL_CALLED_IN: [&str; 3] = [
    // The gate, which calls `Platform::open_url` with authorized URLs only.
    "crates/host/src/owner/gate.rs",
    // Calls `Host::open_url` for a link that the user opens. The gate authorizes the link.
    "crates/api/src/handler/commands.rs",
    // Calls Tauri's opener.
    "src-tauri/src/platform.rs",
];

/// Folders that may read API keys of model providers and tokens of servers. `credentials` reads them from the keychain,
/// and the host checks where they are sent.
const CREDENTIALS_ALLOWED_IN: [&str; 2] = ["crates/host/src/", "crates/credentials/src/"];

/// Calls that spawn processes. `{ fork() }` is the form of an unsafe block, since `fork` is a common name.
const PROCESS_SPAWNING_CALLS: [&str; 5] =
    ["Command::new(", "CommandWrap::with_new(", "posix_spawn", "execvp(", "{ fork() }"];
/// Calls that open sockets or resolve host names. Each matches only if no identifier character precedes it, so
/// `socket(` matches `libc::socket(`, but no function whose name ends with `socket`.
const SOCKET_CALLS: [&str; 14] = [
    "TcpStream::connect",
    "TcpListener::bind",
    "TcpListener::from_std",
    "TcpSocket::new",
    "UdpSocket::bind",
    "UnixStream::connect",
    "UnixListener::bind",
    "UnixDatagram::bind",
    "UnixDatagram::unbound",
    // Of the crate `socket2`.
    "Socket::new",
    "socket(",
    "lookup_host(",
    "to_socket_addrs(",
    "getaddrinfo(",
];
/// Calls that create HTTP clients, and modules with clients of hyper. Each matches only if no identifier character
/// precedes it.
const HTTP_CLIENT_CALLS: [&str; 9] = [
    "Client::new(",
    "Client::builder(",
    "Client::default(",
    "ClientBuilder::new(",
    "ClientBuilder::default(",
    "reqwest::get(",
    "reqwest::blocking",
    "client::conn::",
    "client::legacy",
];
/// Calls that open URLs or files with programs of the operating system.
const URL_OPENING_CALLS: [&str; 5] =
    [".opener()", "tauri_plugin_opener::open_", "webbrowser::open(", "opener::open(", "open::that"];
const CREDENTIAL_CALLS: [&str; 3] = ["StoredKeyProvider::new(", "request_test_reply(", "TokenVaults::"];

pub(super) fn find_disallowed_credential_uses(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        tree.rust_files().filter(|file| !CREDENTIALS_ALLOWED_IN.iter().any(|place| file.path.starts_with(place)))
    {
        for (line, code) in file.lines_without_comments_and_tests() {
            if CREDENTIAL_CALLS.iter().any(|call| code.contains(call)) {
                let text =
                    "uses credentials; only crates/host and crates/credentials may, and the host checks where they go";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

pub(super) fn find_disallowed_process_starts(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        tree.rust_files().filter(|file| !PROCESS_SPAWNING_ALLOWED_IN.iter().any(|place| file.path.starts_with(place)))
    {
        for (line, code) in file.lines_without_comments_and_tests() {
            if PROCESS_SPAWNING_CALLS.iter().any(|call| code.contains(call)) {
                let text = "starts a process; crates/process/src/launch.rs does that for the app";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

pub(super) fn find_disallowed_sockets(tree: &SourceTree) -> Vec<Finding> {
    let is_product = |path: &str| path.starts_with("crates/") || path.starts_with("src-tauri/");
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| is_product(&file.path)) {
        let may_connect = SOCKETS_ALLOWED_IN.iter().any(|place| file.path.starts_with(place));
        let may_create_clients = HTTP_CLIENTS_ALLOWED_IN.contains(&file.path.as_str());
        for (line, code) in file.lines_without_comments_and_tests() {
            if !may_connect && contains_at_word_start(&code, &SOCKET_CALLS) {
                let text = "opens a socket; requests are sent by the clients of mcp-transport, and single_places.rs \
                            lists every other place";
                findings.push(Finding::new(&file.path, line, text));
            }
            if !may_create_clients && contains_at_word_start(&code, &HTTP_CLIENT_CALLS) {
                let text = format!("creates an HTTP client; {} is the one place for that", HTTP_CLIENTS_ALLOWED_IN[0]);
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Returns `true` if the code contains one of `texts` at a place where no character of an identifier precedes it.
fn contains_at_word_start(code: &str, texts: &[&str]) -> bool {
    let is_in_word = |at: usize| code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    texts.iter().any(|text| code.match_indices(text).any(|(at, _)| !is_in_word(at)))
}

/// Reports calls that open URLs or files with other programs, except one in each file of [`URL_OPENING_ALLOWED_IN`],
/// and calls of `open_url` outside of [`OPEN_URL_CALLED_IN`].
pub(super) fn find_disallowed_url_openings(tree: &SourceTree) -> Vec<Finding> {
    let is_product = |path: &str| path.starts_with("crates/") || path.starts_with("src-tauri/");
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        // The first call in a listed file is the allowed one.
        let mut allowed = usize::from(URL_OPENING_ALLOWED_IN.contains(&file.path.as_str()));
        let may_call = !is_product(&file.path) || OPEN_URL_CALLED_IN.contains(&file.path.as_str());
        for (line, code) in file.lines_without_comments_and_tests() {
            if URL_OPENING_CALLS.iter().any(|call| code.contains(call)) {
                if allowed > 0 {
                    allowed -= 1;
                    continue;
                }
                let text = "opens a URL or file; each implementation of Platform has one function for that";
                findings.push(Finding::new(&file.path, line, text));
            } else if !may_call && code.contains(".open_url(") {
                let text = "opens a URL; only crates/host/src/owner/gate.rs does, with authorized URLs";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_paths(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.path.as_str()).collect()
    }

    #[test]
    fn process_spawn_outside_the_allowed_files_is_reported() {
        let code = "let child = Command::new(\"ls\");\n";
        let tree = SourceTree::from_files(&[
            ("crates/host/src/lib.rs", code),
            ("crates/host/tests/all.rs", code),
            ("crates/process/src/launch.rs", code),
            ("crates/store/src/lib.rs", "/// Not like Command::new(\n"),
        ]);
        assert_eq!(
            finding_paths(&find_disallowed_process_starts(&tree)),
            ["crates/host/src/lib.rs"],
            "only tests and the listed place may spawn processes"
        );
    }

    #[test]
    fn sockets_and_http_clients_outside_their_folders_are_reported() {
        let (socket, client) = ("let stream = TcpStream::connect(address).await?;\n", "reqwest::Client::builder()\n");
        let tree = SourceTree::from_files(&[
            ("crates/host/src/lib.rs", socket),
            ("crates/host/tests/all.rs", socket),
            ("crates/process/src/sandbox/egress/proxy.rs", socket),
            ("crates/models/src/lib.rs", client),
            ("crates/mcp-transport/src/http/client.rs", client),
            ("tests/bench/src/main.rs", socket),
        ]);
        assert_eq!(
            finding_paths(&find_disallowed_sockets(&tree)),
            ["crates/host/src/lib.rs", "crates/models/src/lib.rs"]
        );
    }

    #[test]
    fn sockets_are_found_in_every_form_of_a_call() {
        for code in [
            "    socket(family, kind, flags, None)?;",
            "let descriptor = socket(family, kind, flags, None)?;",
            "let descriptor = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };",
            "let socket = socket2::Socket::new(domain, kind, None)?;",
            "let addresses = (name, 443).to_socket_addrs()?;",
            "let addresses = lookup_host((name, 443)).await?;",
            "let stream = std::net::TcpStream::connect_timeout(&address, limit)?;",
        ] {
            let tree = SourceTree::from_files(&[("crates/host/src/lib.rs", code)]);
            assert_eq!(finding_paths(&find_disallowed_sockets(&tree)), ["crates/host/src/lib.rs"], "{code}");
        }
        for code in ["let path = docker_socket(home);", "let kind = kind_of_socket(path);", "// socket(family, kind)"] {
            let tree = SourceTree::from_files(&[("crates/host/src/lib.rs", code)]);
            assert!(find_disallowed_sockets(&tree).is_empty(), "{code}");
        }
    }

    #[test]
    fn http_clients_are_found_in_every_form_of_a_call() {
        for code in [
            "let client = reqwest::Client::default();",
            "let client = Client::new();",
            "let client = reqwest::ClientBuilder::default().build()?;",
            "let client = reqwest::blocking::get(url)?;",
            "let (sender, connection) = hyper::client::conn::http1::handshake(stream).await?;",
            "use hyper_util::client::legacy::Client;",
        ] {
            // This file may open sockets, but create no clients.
            let tree = SourceTree::from_files(&[
                ("crates/mcp-transport/src/http/untrusted_url_client.rs", code),
                ("crates/process/src/sandbox/egress/proxy.rs", code),
            ]);
            let path = "crates/mcp-transport/src/http/untrusted_url_client.rs";
            assert_eq!(finding_paths(&find_disallowed_sockets(&tree)), [path], "{code}");
        }
        for code in ["let client = EnteredClient::new(id);", "let matcher = hyper_util::client::proxy::matcher();"] {
            let tree = SourceTree::from_files(&[("crates/host/src/lib.rs", code)]);
            assert!(find_disallowed_sockets(&tree).is_empty(), "{code}");
        }
    }

    #[test]
    fn credentials_outside_the_host_are_reported() {
        let code = "let provider = StoredKeyProvider::new(settings, secrets)?;\n";
        let tree = SourceTree::from_files(&[
            ("crates/api/src/lib.rs", code),
            ("crates/host/src/owner/providers.rs", code),
            ("crates/credentials/tests/all.rs", code),
            ("crates/xtask/src/lib.rs", "const CALLS: [&str; 1] = [\"StoredKeyProvider::new(\"];\n"),
        ]);
        assert_eq!(
            finding_paths(&find_disallowed_credential_uses(&tree)),
            ["crates/api/src/lib.rs"],
            "the host and tests may use credentials"
        );
    }

    #[test]
    fn url_opening_outside_the_allowed_files_is_reported() {
        let (shell, terminal) = ("app.opener().open_url(url, None)?;\n", "open::that_detached(url)?;\n");
        let listed = [("src-tauri/src/platform.rs", shell), ("crates/cli/src/platform.rs", terminal)];
        assert!(
            find_disallowed_url_openings(&SourceTree::from_files(&listed)).is_empty(),
            "one call in each implementation of Platform should be accepted"
        );
        let twice = format!("{terminal}{terminal}");
        let others = [
            ("src-tauri/src/tray.rs", shell),
            ("crates/cli/src/platform.rs", twice.as_str()),
            ("crates/host/src/lib.rs", "webbrowser::open(url)"),
        ];
        let tree = SourceTree::from_files(&others);
        let findings = find_disallowed_url_openings(&tree);
        let mut found = finding_paths(&findings);
        found.sort_unstable();
        assert_eq!(
            found,
            ["crates/cli/src/platform.rs", "crates/host/src/lib.rs", "src-tauri/src/tray.rs"],
            "other files and a second call should be reported"
        );
    }

    #[test]
    fn callers_of_open_url_outside_the_gate_are_reported() {
        let code = "platform.open_url(url).await?;\n";
        let tree = SourceTree::from_files(&[
            ("crates/host/src/owner/gate.rs", code),
            ("crates/host/src/owner/sign_in.rs", code),
            ("crates/host/tests/all.rs", code),
            ("tests/hostile/urls.rs", code),
        ]);
        assert_eq!(
            finding_paths(&find_disallowed_url_openings(&tree)),
            ["crates/host/src/owner/sign_in.rs"],
            "only the gate and tests may open URLs"
        );
    }
}
