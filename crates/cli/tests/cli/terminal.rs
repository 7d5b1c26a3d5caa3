//! Tests of prompts on a terminal: the exact payload is shown, and only an explicit yes approves it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use nix::pty::openpty;
use serde_json::json;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::browser;
use testkit::bundle_file::Bundle;

use crate::program::TestFolder;

/// Maximum time to wait for an expected output, on a busy machine.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(30);

/// Program under test that runs on a pseudoterminal.
struct Terminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    shown: String,
}

impl Terminal {
    fn start(folder: &TestFolder, arguments: &[&str]) -> Self {
        let pty = openpty(None, None).expect("there are terminals");
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("the terminal has more ends"));
        let mut command = folder.command();
        command.args(arguments).stdin(end(&pty.slave)).stdout(end(&pty.slave)).stderr(end(&pty.slave));
        let child = command.spawn().expect("the program runs");
        drop(command);
        drop(pty.slave);
        let keys = File::from(pty.master);
        let mut output = keys.try_clone().expect("the terminal is read, too");
        let (sender, screen) = sync_channel(1_000);
        std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            // Reading fails once the program has exited.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, screen, shown: String::new() }
    }

    /// Waits until the text appears in the output after the part that earlier calls have consumed. Panics on a timeout.
    fn expect(&mut self, text: &str) {
        let start = Instant::now();
        while !self.shown.contains(text) {
            match self.screen.recv_timeout(OUTPUT_TIMEOUT.saturating_sub(start.elapsed())) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout) => panic!("{text:?} should be shown in time:\n{}", self.shown),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the program exited before {text:?} was shown:\n{}", self.shown)
                }
            }
        }
    }

    /// Types a line, but only after the time in which the program ignores input after a prompt.
    fn answer_prompt(&mut self, line: &str) {
        // sleep: the program ignores early input, and its timer runs in another process.
        std::thread::sleep(Duration::from_millis(700));
        self.shown.clear();
        self.type_line(line);
    }

    fn type_line(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).expect("the terminal takes keys");
    }

    fn wait_for_exit(mut self) -> (i32, String) {
        while let Ok(bytes) = self.screen.recv_timeout(OUTPUT_TIMEOUT) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        (self.child.wait().unwrap().code().expect("it ends by itself"), self.shown)
    }
}

#[test]
fn server_start_and_tool_call_request_consent() {
    let folder = TestFolder::with_config(
        &json!({"mcpServers": {"demo": {
            "command": testkit::binaries::demo_server(),
            "args": ["--era", "both"],
            "env": {"STRANGE": "\u{1b}[31mred\u{202e}"},
        }}})
        .to_string(),
    );
    let arguments = ["call", "demo", "add", "--args", r#"{"a": 1, "b": 2}"#];
    let mut terminal = Terminal::start(&folder, &arguments);
    terminal.expect("Allow? y = once");
    assert!(terminal.shown.contains("argument 2  both"), "every argument should be shown:\n{}", terminal.shown);
    assert!(
        terminal.shown.contains("STRANGE=\\u{1b}[31mred\\u{202e}"),
        "X11: characters that a terminal interprets should be escaped:\n{}",
        terminal.shown
    );
    assert!(!terminal.shown.contains('\u{1b}'), "no escape sequence should reach the terminal:\n{}", terminal.shown);
    terminal.answer_prompt("y");
    terminal.expect("Let demo run its tool add with this?");
    terminal.expect("c = cancel: ");
    assert!(terminal.shown.contains("\"a\": 1"), "the payload should be shown:\n{}", terminal.shown);
    terminal.answer_prompt("y");
    let (status, shown) = terminal.wait_for_exit();
    assert_eq!(status, 0, "the command should succeed:\n{shown}");
    assert!(shown.contains("1 + 2 = 3"), "the result should be shown:\n{shown}");
    let log = folder.audit_entries();
    assert!(log.iter().all(|entry| entry["by"] == "user"), "the user should have decided: {log:?}");
}

#[test]
fn installation_requests_confirmation() {
    for (typed, is_added) in [("y", true), ("", false), ("yess", false)] {
        let folder = TestFolder::with_config("{}");
        let bundle = Bundle::small().write(&folder.path("demo.mcpb"));
        let mut terminal = Terminal::start(&folder, &["install", &bundle, "--no-sandbox"]);
        terminal.expect("Nothing is started. ");
        terminal.expect("c = cancel: ");
        assert!(
            terminal.shown.contains("sandbox     NONE"),
            "the accessible files and hosts should be shown:\n{}",
            terminal.shown
        );
        terminal.answer_prompt(typed);
        let (status, shown) = terminal.wait_for_exit();
        assert_eq!(status, if is_added { 0 } else { 3 }, "{typed:?}:\n{shown}");
        assert_eq!(folder.settings()["demo"].is_object(), is_added, "{typed:?}");
    }
}

#[test]
fn only_an_explicit_yes_approves_a_consent_request() {
    for typed in ["", "n", "yess", "ja", " "] {
        let folder = TestFolder::new();
        let mut terminal = Terminal::start(&folder, &["tools", "demo"]);
        terminal.expect("c = cancel: ");
        terminal.answer_prompt(typed);
        let (status, shown) = terminal.wait_for_exit();
        assert_eq!(status, 3, "{typed:?} should count as no:\n{shown}");
    }
}

#[test]
fn input_typed_before_the_prompt_is_ignored() {
    let folder = TestFolder::new();
    let mut terminal = Terminal::start(&folder, &["tools", "demo"]);
    terminal.type_line("y");
    terminal.expect("too quick to count");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("n");
    assert_eq!(terminal.wait_for_exit().0, 3, "the later response should be used");
}

#[test]
fn form_and_sampling_request_are_answered() {
    let folder = TestFolder::with_arguments(&["--revision", "2025-11-25"]);
    let mut terminal = Terminal::start(&folder, &["call", "demo", "check_in"]);
    terminal.expect("Start the server demo?");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("y");
    terminal.expect("run its tool check_in");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("y");
    terminal.expect("asks you to fill in a form");
    terminal.expect("│ Welcome! Who are you?");
    terminal.expect("Fill it in? y = yes, N = decline, c = cancel: ");
    terminal.answer_prompt("y");
    terminal.expect("  > ");
    terminal.answer_prompt("Aurora");
    terminal.expect("This would be sent back:");
    terminal.expect("c = cancel: ");
    assert!(terminal.shown.contains("\"ship\": \"Aurora\""), "the payload should be shown:\n{}", terminal.shown);
    terminal.answer_prompt("y");
    terminal.expect("asks for your folders");
    terminal.expect("folder > ");
    terminal.answer_prompt("");
    terminal.expect("no folder");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("y");
    terminal.expect("asks a model. Answer it yourself?");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("y");
    terminal.expect("a line that has only a dot");
    terminal.answer_prompt("Welcome\r\nhere\n.");
    terminal.expect("This would be sent back");
    terminal.expect("c = cancel: ");
    terminal.answer_prompt("y");
    let (status, shown) = terminal.wait_for_exit();
    assert_eq!(status, 0, "the command should succeed:\n{shown}");
    assert!(
        shown.contains("The Aurora is checked in with 0 folders. Welcome"),
        "every response should reach the server:\n{shown}"
    );
}

#[test]
fn grant_applies_to_the_next_run() {
    let folder = TestFolder::new();
    let mut terminal = Terminal::start(&folder, &["tools", "demo"]);
    terminal.expect("a = always");
    terminal.answer_prompt("a");
    assert_eq!(terminal.wait_for_exit().0, 0, "the server should be started");
    let ended = folder.run(&["tools", "demo"]);
    assert!(!ended.value().as_array().unwrap().is_empty(), "the next run should succeed without a prompt");
    assert_eq!(ended.decided_requests(), [], "there should be no consent request");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_shows_the_recipients_and_accepts_a_pasted_redirect() {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let script = ProtectedScript { challenge_scope: Some("openid ships:read".into()), ..ProtectedScript::default() };
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let folder = TestFolder::with_config(&json!({"mcpServers": {"far": {"url": server.url()}}}).to_string());
    let (shown_issuer, page) = (issuer.issuer(), server.url());
    let (mut terminal, folder, address) = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::start(&folder, &["login", "far", "--paste"]);
        terminal.expect("Allow? y = once");
        terminal.answer_prompt("y");
        terminal.expect("y = yes, N = no");
        for expected in [
            "Sign in to far?",
            &shown_issuer,
            &page,
            "openid (know which account is yours)",
            "ships:read",
            "http://127.0.0.1:",
        ] {
            assert!(
                terminal.shown.contains(expected),
                "{expected} should be shown before the URL is opened:\n{}",
                terminal.shown
            );
        }
        terminal.answer_prompt("y");
        terminal.expect("Then paste the final address");
        let shown = terminal.shown.clone();
        let address = shown.lines().find(|line| line.contains("/authorize?")).expect("the address is shown");
        (terminal, folder, address.trim().to_owned())
    })
    .await
    .expect("it asks");
    let back = browser::get(&address).await.expect("the page answers").location().expect("it sends back").to_owned();
    let (status, shown) = tokio::task::spawn_blocking(move || {
        terminal.type_line(&back);
        let ended = terminal.wait_for_exit();
        drop(folder);
        ended
    })
    .await
    .expect("it ends");
    assert_eq!(status, 1, "the user should be signed in for this run only:\n{shown}");
    assert!(
        shown.contains("lost now") && shown.contains("--paste"),
        "the loss and the remedy should be shown:\n{shown}"
    );
    assert!(shown.contains("signed in at") && shown.contains(&issuer.issuer()), "the issuer should be shown:\n{shown}");
    assert!(shown.contains("renewed automatically"), "the renewal of the tokens should be shown:\n{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn client_id_prompt_shows_the_redirect_uri_to_register() {
    let clients = [("typed".to_owned(), None)].into();
    let script = AuthorizationScript { registration: false, clients, ..AuthorizationScript::default() };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let folder = TestFolder::with_config(&json!({"mcpServers": {"far": {"url": server.url()}}}).to_string());
    let shown = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::start(&folder, &["login", "far", "--paste"]);
        terminal.expect("Allow? y = once");
        terminal.answer_prompt("y");
        terminal.expect("client ID (empty = no)");
        let prompt = terminal.shown.clone();
        terminal.answer_prompt("typed");
        terminal.expect("client secret");
        terminal.type_line("");
        terminal.expect("y = yes, N = no");
        let shown = terminal.shown.clone();
        terminal.answer_prompt("n");
        terminal.wait_for_exit();
        (prompt, shown)
    });
    let (prompt, shown) = shown.await.expect("it asks");
    let uri =
        prompt.lines().map(str::trim).find(|line| line.starts_with("http://127.0.0.1:") && line.ends_with("/callback"));
    let uri = uri.unwrap_or_else(|| panic!("the redirect URI should be shown with the consent request:\n{prompt}"));
    assert!(
        shown.contains(&format!("and back to  {uri}")),
        "[auth-manual-client-id] the entered client should be used:\n{shown}"
    );
}
