//! Tests of servers that start, end, fail and change, as the user sees them.

use host::view::{ConsentRequestBody, FailureReason, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::{ServerEntry, StdioConfig};
use testkit::app::{TestApp, demo_config, scripted_config};
use testkit::calls::UserCalls as _;

fn expect_failure(state: &ServerState) -> &host::view::ServerFailure {
    match state {
        ServerState::Failed(failure) => failure,
        other => panic!("it should have failed, but is {other:?}"),
    }
}

#[tokio::test]
async fn every_revision_works_with_the_demo_server() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let app = TestApp::start(vec![("harbour", demo_config(&["--revision", revision]))]).await;
        let view = app.ready("harbour").await;
        let facts = view.facts.expect("a ready server has reported its information");
        assert_eq!(facts.revision.to_string(), revision, "the negotiated revision is used");
        let view =
            app.until("harbour", "known whole", |s| s.counts[0] >= 16 && s.counts[1] >= 5 && s.counts[2] >= 16).await;
        assert!(view.counts[3] >= 3, "templates are listed too: {:?}", view.counts);
        app.host.close().await;
    }
}

#[tokio::test]
async fn nothing_starts_before_its_exact_command_is_approved() {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    assert_eq!(
        app.server("harbour").await.state,
        ServerState::Stopped,
        "a configured server is not started automatically"
    );
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "its command", |_| true).await;
    let ConsentRequestBody::StartServer { config, resolved, earlier_approval, .. } = &request.body else {
        panic!("the consent request is about the command: {request:?}");
    };
    assert_eq!(config.args, ["--era", "legacy"], "the request shows every argument");
    assert!(resolved.is_absolute() && resolved.is_file(), "the request shows the executable: {resolved:?}");
    assert_eq!(*earlier_approval, None, "no earlier approval exists");
    assert_eq!(app.server("harbour").await.pid, None, "no process runs before the decision");
    app.decide(&request, UserDecision::Deny).await;
    let view = app.until("harbour", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    assert_eq!(expect_failure(&view.state).reason, FailureReason::Refused, "a denial is distinguished from a failure");
    assert_eq!(app.decisions(), [("start-server".into(), "denied".into(), "user".into())], "the denial is logged");
}

#[tokio::test]
async fn lasting_approval_applies_to_the_same_command_only() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "its command", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("harbour", "ready", |s| s.state == ServerState::Ready).await;
    app.host.restart_server("harbour".into()).await.unwrap();
    app.until("harbour", "stopping or starting", |s| s.state != ServerState::Ready).await;
    app.until("harbour", "ready again without asking", |s| s.state == ServerState::Ready).await;
    assert!(app.consent_requests().await.is_empty(), "the approved command requires no further consent");

    let changed = ServerEntry { name: "harbour".into(), config: demo_config(&["--era", "modern"]) };
    app.host.update_server("harbour".into(), changed).await.unwrap();
    app.until("harbour", "stopped", |s| s.state == ServerState::Stopped).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "the changed command", |_| true).await;
    let ConsentRequestBody::StartServer { earlier_approval: Some(earlier), .. } = &request.body else {
        panic!("the consent request shows what was approved before: {request:?}");
    };
    assert!(!earlier.approved.contains("--era"), "the previously approved command had no such argument: {earlier:?}");
    assert!(earlier.requested.ends_with("--era modern"), "the requested command has the argument: {earlier:?}");
    assert_eq!(request.reason, "command-changed", "the request states the reason");
}

#[tokio::test]
async fn changed_variable_value_is_not_shown_as_a_changed_command() {
    let config = |value: &str| {
        let mut config = demo_config(&[]);
        config.as_stdio_mut().expect("a command").env.insert("MODE".to_owned(), value.to_owned());
        config
    };
    let app = TestApp::start(vec![("harbour", config("one"))]).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "its command", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("harbour", "ready", |s| s.state == ServerState::Ready).await;
    let changed = ServerEntry { name: "harbour".into(), config: config("two") };
    app.host.update_server("harbour".into(), changed).await.unwrap();
    app.until("harbour", "stopped", |s| s.state == ServerState::Stopped).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "the changed variable", |_| true).await;
    let ConsentRequestBody::StartServer { earlier_approval: Some(earlier), .. } = &request.body else {
        panic!("the request has no earlier approval: {request:?}");
    };
    assert!(earlier.approved.ends_with(" (with MODE)"), "the text names the variable without its value: {earlier:?}");
    assert_eq!(earlier.approved, earlier.requested, "the texts differ in nothing that they name");
}

#[tokio::test]
async fn approvals_persist_across_restarts() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "its command", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("harbour", "ready", |s| s.state == ServerState::Ready).await;
    app.host.close().await;
    let options = host::HostOptions { autostart: true, ..host::HostOptions::default() };
    let again = TestApp::start_in_folder(app.folder, Vec::new(), options).await;
    again.until("harbour", "ready without the user", |s| s.state == ServerState::Ready).await;
}

#[tokio::test]
async fn missing_command_reports_the_searched_folders() {
    let config = StdioConfig { command: "no-such-program-anywhere".into(), ..StdioConfig::default() }.into();
    let app = TestApp::start(vec![("ghost", config)]).await;
    app.host.start_server("ghost".into()).await.unwrap();
    let view = app.until("ghost", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let failure = expect_failure(&view.state);
    assert_eq!(failure.reason, FailureReason::CommandNotFound, "the failure has a specific reason");
    assert!(!failure.looked_in.is_empty(), "the searched folders are shown");
    assert!(failure.message.contains("no-such-program-anywhere"), "the command is shown: {}", failure.message);
    assert!(app.consent_requests().await.is_empty(), "there is nothing to approve");
}

#[tokio::test]
async fn server_that_exits_immediately_shows_its_output() {
    let config = StdioConfig {
        command: "/bin/sh".into(),
        args: vec!["-c".into(), "echo 'the key is missing' >&2; exit 3".into()],
        ..StdioConfig::default()
    };
    let app = TestApp::start(vec![("short", config.into())]).await;
    app.approve_start("short").await;
    let view = app.until("short", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let failure = expect_failure(&view.state);
    assert_eq!(failure.reason, FailureReason::ExitedEarly, "it ended before it was ready: {failure:?}");
    assert!(failure.message.contains('3'), "the failure message contains the exit status: {}", failure.message);
    assert!(
        failure.stderr.iter().any(|l| l.contains("the key is missing")),
        "the last output is retained: {failure:?}"
    );
}

#[tokio::test]
async fn stop_leaves_no_process() {
    let app = TestApp::start(vec![("stubborn", scripted_config(&["--misbehave", "never-exits"]))]).await;
    let view = app.ready("stubborn").await;
    let pid = view.pid.expect("a ready server has a process");
    app.host.stop_server("stubborn".into()).await.unwrap();
    app.until("stubborn", "stopped", |s| s.state == ServerState::Stopped).await;
    assert!(
        testkit::processes::living_processes_in_group(pid).is_empty(),
        "a server that ignores the end of its input and SIGTERM is killed"
    );
}

#[tokio::test]
async fn closing_the_host_ends_all_servers_concurrently() {
    let servers = vec![
        ("a", scripted_config(&["--misbehave", "never-exits"])),
        ("b", scripted_config(&["--misbehave", "never-exits"])),
        ("c", demo_config(&[])),
    ];
    let app = TestApp::start(servers).await;
    let mut pids = Vec::new();
    for name in ["a", "b", "c"] {
        pids.push(app.ready(name).await.pid.unwrap());
    }
    // Real time is measured: each server takes at least four seconds to end, so two in sequence would take eight.
    let before = std::time::Instant::now();
    app.host.close().await;
    assert!(before.elapsed().as_secs() < 8, "several servers are ended concurrently: {:?}", before.elapsed());
    for pid in pids {
        assert!(testkit::processes::living_processes_in_group(pid).is_empty(), "process group {pid} has no processes");
    }
}

#[tokio::test]
async fn valid_external_edit_is_applied_and_an_invalid_one_is_not() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    let file = app.folder.path().join("mcp.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("harbour", "port")).unwrap();
    let mut events = app.host.events();
    let renamed = async {
        while !app.host.snapshot().await.unwrap().servers.iter().any(|s| s.name == "port") {
            events.next().await;
        }
    };
    tokio::time::timeout(testkit::app::EVENT_TIMEOUT, renamed).await.expect("the edited file is read again");

    std::fs::write(&file, "{\n  \"mcpServers\": {\n    \"port\": { \"command\": 7 }\n  }\n}").unwrap();
    let mut events = app.host.events();
    let change = async {
        loop {
            if let Some(problem) = app.host.snapshot().await.unwrap().config_problem {
                return problem;
            }
            events.next().await;
        }
    };
    let problem =
        tokio::time::timeout(testkit::app::EVENT_TIMEOUT, change).await.expect("the invalid file is reported");
    assert_eq!(problem.line, Some(3), "the report contains the line: {problem}");
    assert!(
        problem.message.contains("port") && problem.message.contains("command"),
        "the report contains the cause: {problem}"
    );
    assert_eq!(app.server("port").await.config, demo_config(&[]), "the previous settings remain in effect");
}

#[tokio::test]
async fn invalid_names_are_rejected() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    let long = "x".repeat(65);
    for (name, why) in [
        ("harbour", "taken"),
        ("", "empty"),
        (" x", "space"),
        ("a\u{7}b", "control"),
        ("harb\u{200b}our", "hidden characters, X12"),
        ("\u{202e}ruobrah", "turned around, X12"),
        (long.as_str(), "long"),
    ] {
        let added = app.host.add_server(ServerEntry { name: name.into(), config: demo_config(&[]) }).await;
        assert!(matches!(added, Err(host::ServerError::BadName { .. })), "a name that is {why} is rejected: {added:?}");
    }
}

#[tokio::test]
async fn temporarily_empty_or_missing_settings_file_removes_nothing() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    app.host.start_server("harbour".into()).await.unwrap();
    let request = app.consent_request("harbour", "its command", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("harbour", "ready", |s| s.state == ServerState::Ready).await;
    let file = app.folder.path().join("mcp.json");
    let text = std::fs::read_to_string(&file).unwrap();
    for spoil in
        [|file: &std::path::Path| std::fs::write(file, ""), |file: &std::path::Path| std::fs::remove_file(file)]
    {
        spoil(&file).unwrap();
        let mut events = app.host.events();
        let change = async {
            while app.host.snapshot().await.unwrap().config_problem.is_none() {
                events.next().await;
            }
        };
        tokio::time::timeout(testkit::app::EVENT_TIMEOUT, change).await.expect("the user is notified");
        assert_eq!(app.server("harbour").await.state, ServerState::Ready, "the server keeps running");
        std::fs::write(&file, &text).unwrap();
        let mut events = app.host.events();
        let mended = async {
            while app.host.snapshot().await.unwrap().config_problem.is_some() {
                events.next().await;
            }
        };
        tokio::time::timeout(testkit::app::EVENT_TIMEOUT, mended)
            .await
            .expect("the user is notified once the file is valid again");
    }
    assert!(app.server("harbour").await.approved, "the approval still exists");
}

#[tokio::test]
async fn relative_working_folder_is_rejected() {
    let mut here = demo_config(&[]);
    here.as_stdio_mut().unwrap().cwd = Some("tools".into());
    let app = TestApp::start(vec![("here", here)]).await;
    app.host.start_server("here".into()).await.unwrap();
    let view = app.until("here", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    assert!(
        expect_failure(&view.state).message.contains("working folder"),
        "the failure message contains the cause: {:?}",
        view.state
    );
}

#[tokio::test]
async fn invalid_document_is_moved_aside_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/grants.json"), "[{").unwrap();
    let app = TestApp::start_in_folder(folder, vec![("harbour", demo_config(&[]))], host::HostOptions::default()).await;
    let aside = app.folder.path().join("data/grants.json.broken");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "[{", "no message is lost");
    app.ready("harbour").await;
}

#[tokio::test]
async fn x33_server_receives_only_configured_variables() {
    let mut config = scripted_config(&[]);
    config.as_stdio_mut().unwrap().env.insert("GIVEN".into(), "yes".into());
    // The environment of the test contains variables that no server may see, such as those of cargo.
    let app = TestApp::start(vec![("curious", config)]).await;
    app.ready("curious").await;
    let user = app.decide_automatically(crate::pair::allow_starts_and_tools);
    let tool = app
        .host
        .catalog("curious".into())
        .await
        .unwrap()
        .tools
        .iter()
        .map(|t| t.name().to_owned())
        .find(|n| n.contains("environment") || n.contains("surroundings"));
    let tool = tool.expect("the scripted server returns its environment");
    let (result, _) =
        app.host.call_tool("1".into(), "curious".into(), tool, serde_json::Map::new(), None).await.unwrap();
    let text = serde_json::json!(result).to_string();
    assert!(text.contains("GIVEN"), "the configured variable is set: {text}");
    assert!(
        !text.contains("CARGO_MANIFEST_DIR") && std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "the host's own environment is not passed on: {text}"
    );
    user.abort();
}
