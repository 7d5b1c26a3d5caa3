//! Checks that apply to every server: the user approves its exact command, the newest common revision is negotiated,
//! all lists are read, a call requires consent and returns a result, an error is shown as such, and no process remains
//! after a stop.

use std::path::Path;

use host::view::{ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::ServerConfig;
use serde_json::{Value, json};
use supervision::activity::ActivityKind;
use testkit::app::{TestApp, demo_config};

use crate::installed;
use crate::user::{
    activity_entries, allow_next_tool_call, await_call, call_tool, is_tool_call_request, next_call_id, result_text,
    sent_methods, spawn_call, to_json_object, wait_for_complete_catalog,
};

struct RealServerCase {
    config: ServerConfig,
    /// Expected name in the server's `serverInfo`.
    reported_name: &'static str,
    revision: &'static str,
    /// Expected numbers of tools, prompts, resources and resource templates.
    expected_counts: [usize; 4],
    /// A call that must succeed: the tool's name, its arguments, and a text that the result must contain.
    successful_call: (&'static str, Value, &'static str),
    /// Expected structured content of the result of `successful_call`, or `None` if it varies.
    structured: Option<Value>,
    /// A call that the tool must reject: its name, its arguments, and a text that the error must contain.
    rejected_call: (&'static str, Value, &'static str),
}

#[tokio::test]
async fn everything_server_works() {
    check_server_case(RealServerCase {
        config: installed::everything_server(),
        reported_name: "mcp-servers/everything",
        revision: "2025-11-25",
        expected_counts: [17, 4, 7, 2],
        successful_call: ("get-sum", json!({ "a": 2, "b": 3 }), "The sum of 2 and 3 is 5."),
        structured: None,
        rejected_call: ("get-sum", json!({ "a": "two", "b": 3 }), "Invalid arguments"),
    })
    .await;
}

#[tokio::test]
async fn memory_server_works() {
    let folder = tempfile::tempdir().unwrap();
    let ship = json!({ "name": "Erna", "entityType": "ship", "observations": ["is blue"] });
    let observation = json!({ "entityName": "Otto", "contents": ["is red"] });
    check_server_case(RealServerCase {
        config: installed::memory_server(folder.path()),
        reported_name: "memory-server",
        revision: "2025-11-25",
        expected_counts: [9, 0, 1, 0],
        successful_call: ("create_entities", json!({ "entities": [ship] }), "is blue"),
        structured: Some(json!({ "entities": [ship] })),
        rejected_call: ("add_observations", json!({ "observations": [observation] }), "Otto"),
    })
    .await;
    let stored = std::fs::read_to_string(folder.path().join("memory.jsonl")).unwrap();
    assert!(stored.contains("Erna"), "the server should write to the configured file: {stored}");
}

#[tokio::test]
async fn filesystem_server_works() {
    let folder = tempfile::tempdir().unwrap();
    let inside = canonical_path(folder.path()).join("inside.txt");
    std::fs::write(&inside, "seen from inside").unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    check_server_case(RealServerCase {
        config: installed::filesystem_server(&canonical_path(folder.path())),
        reported_name: "secure-filesystem-server",
        revision: "2025-11-25",
        expected_counts: [14, 0, 0, 0],
        successful_call: ("read_text_file", json!({ "path": inside }), "seen from inside"),
        structured: Some(json!({ "content": "seen from inside" })),
        rejected_call: ("read_text_file", json!({ "path": canonical_path(outside.path()) }), "Access denied"),
    })
    .await;
}

#[tokio::test]
async fn time_server_works() {
    let convert = |zone| json!({ "source_timezone": "UTC", "time": "16:30", "target_timezone": zone });
    check_server_case(RealServerCase {
        config: installed::time_server(),
        reported_name: "mcp-time",
        revision: "2026-07-28",
        expected_counts: [2, 0, 0, 0],
        successful_call: ("convert_time", convert("Asia/Tokyo"), "+9.0h"),
        structured: Some(json!({ "time_difference": "+9.0h" })),
        rejected_call: ("convert_time", convert("Sea/Middle"), "Invalid timezone"),
    })
    .await;
}

#[tokio::test]
async fn git_server_works() {
    let folder = tempfile::tempdir().unwrap();
    installed::create_git_repository(folder.path());
    let elsewhere = tempfile::tempdir().unwrap();
    check_server_case(RealServerCase {
        config: installed::git_server(folder.path()),
        reported_name: "mcp-git",
        revision: "2026-07-28",
        expected_counts: [12, 0, 0, 0],
        successful_call: ("git_status", json!({ "repo_path": folder.path() }), "new.txt"),
        structured: None,
        rejected_call: ("git_status", json!({ "repo_path": elsewhere.path() }), "outside the allowed repository"),
    })
    .await;
}

/// The demo server passes all checks of this file in revision 2025-11-25. Covers the MCP requirement
/// `[base-core-components]`.
#[tokio::test]
async fn demo_server_works_in_the_legacy_era() {
    check_server_case(demo_server_case("legacy", "2025-11-25")).await;
}

#[tokio::test]
async fn demo_server_works_in_the_modern_era() {
    check_server_case(demo_server_case("modern", "2026-07-28")).await;
}

fn demo_server_case(era: &str, revision: &'static str) -> RealServerCase {
    RealServerCase {
        config: demo_config(&["--era", era]),
        reported_name: "demo-server",
        revision,
        // One of its tools can only be called as a task of the newest revision.
        expected_counts: [if era == "modern" { 19 } else { 18 }, 5, 17, 3],
        successful_call: ("add", json!({ "a": 2, "b": 3 }), "2 + 3 = 5"),
        structured: Some(json!({ "sum": 5.0 })),
        rejected_call: ("fail", json!({ "reason": "no wind" }), "no wind"),
    }
}

fn canonical_path(path: &Path) -> std::path::PathBuf {
    std::fs::canonicalize(path).unwrap()
}

async fn check_server_case(case: RealServerCase) {
    let app = TestApp::start(vec![("server", case.config.clone())]).await;
    assert_starts_when_approved(&app, &case).await;
    assert_handshake_message_order(&app, &case).await;
    assert_catalog_lists_complete(&app, &case).await;
    assert_call_requires_consent(&app, &case).await;
    let (tool, arguments, why) = case.rejected_call.clone();
    let refused = call_tool(&app, "server", tool, arguments).await;
    assert!(refused.is_error, "[tools-is-error]: an error of the tool is shown as an error: {refused:?}");
    assert!(result_text(&refused).contains(why), "the text of the error is shown: {refused:?}");
    assert_no_invalid_messages(&app).await;
    assert_stops_completely(&app).await;
    let decisions = app.decisions().into_iter().filter(|(kind, ..)| kind != "roots").collect::<Vec<_>>();
    let allowed = |kind: &str| (kind.to_owned(), "allowed".to_owned(), "user".to_owned());
    assert_eq!(decisions, ["start-server", "tool", "tool"].map(allowed), "[tools-audit-log]: each decision is logged");
}

async fn assert_starts_when_approved(app: &TestApp, case: &RealServerCase) {
    app.host.start_server("server".into()).await.unwrap();
    let request = app.consent_request("server", "its command", |_| true).await;
    let ConsentRequestBody::StartServer { config, resolved, .. } = &request.body else {
        panic!("the first consent request should be for the command: {request:?}")
    };
    assert_eq!(Some(config), case.config.as_stdio(), "[security-local-exact-command]: the exact command is shown");
    assert!(resolved.is_absolute() && resolved.is_file(), "the executable is shown: {resolved:?}");
    assert_eq!(app.server("server").await.pid, None, "[security-local-approve]: nothing runs before the decision");
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let view = app.until("server", "ready", |s| s.state == ServerState::Ready).await;
    let facts = view.facts.expect("a ready server has reported its information");
    assert_eq!(facts.revision.to_string(), case.revision, "the newest common revision is used");
    let claims = facts.server.map(|s| s.name);
    assert_eq!(claims.as_deref(), Some(case.reported_name), "the name of the server is known");
}

/// Asserts that the host sent the messages of the handshake in the specified order: `[stdio-probe-discover-first]`,
/// `[stdio-probe-other-error-fallback]`, `[lifecycle-no-handshake-modern]`.
async fn assert_handshake_message_order(app: &TestApp, case: &RealServerCase) {
    let sent = sent_methods(app, "server").await;
    let opening: Vec<&str> = sent.iter().take(3).map(String::as_str).collect();
    if case.revision == "2026-07-28" {
        assert_eq!(opening[0], "server/discover", "server/discover is the first message");
        assert!(!sent.iter().any(|m| m.contains("initialize")), "there is no initialize handshake: {sent:?}");
    } else {
        let handshake = ["server/discover", "initialize", "notifications/initialized"];
        assert_eq!(opening, handshake, "server/discover is sent first, then the handshake of the revision");
    }
}

async fn assert_catalog_lists_complete(app: &TestApp, case: &RealServerCase) {
    let catalog = wait_for_complete_catalog(app, "server").await;
    assert_eq!(catalog.entry_counts(), case.expected_counts, "all offers are listed");
    assert!(catalog.notes.iter().all(Vec::is_empty), "no list is reported as missing: {:?}", catalog.notes);
    let capabilities = app.server("server").await.facts.unwrap().capabilities;
    let sent = sent_methods(app, "server").await;
    for (method, is_offered, requirement) in [
        ("tools/list", capabilities.tools.is_some(), "[tools-capability-gate]"),
        ("prompts/list", capabilities.prompts.is_some(), "[prompts-capability-gate]"),
        ("resources/list", capabilities.resources.is_some(), "[resources-capability-gate]"),
        ("resources/templates/list", capabilities.resources.is_some(), "[resources-capability-gate]"),
    ] {
        assert_eq!(
            sent.iter().any(|m| m == method),
            is_offered,
            "{requirement}: {method} is requested if the server offers it"
        );
    }
}

async fn assert_call_requires_consent(app: &TestApp, case: &RealServerCase) {
    let (tool, arguments, expected) = case.successful_call.clone();
    let under_way = spawn_call(app, &next_call_id(), "server", tool, &arguments);
    let request = app.consent_request("server", "the tool", is_tool_call_request).await;
    let ConsentRequestBody::Tool { arguments: shown, .. } = &request.body else {
        panic!("the consent request should be for a tool call: {request:?}")
    };
    assert_eq!(*shown, to_json_object(&arguments), "[tools-show-inputs]: the arguments are shown");
    assert!(
        !sent_methods(app, "server").await.iter().any(|m| m == "tools/call"),
        "[tools-confirm]: nothing is sent before the decision"
    );
    allow_next_tool_call(app, "server", tool).await;
    let result = await_call(under_way).await.unwrap_or_else(|error| panic!("{tool} should return a result: {error}"));
    assert!(!result.is_error, "the call succeeds: {result:?}");
    assert!(result_text(&result).contains(expected), "the result contains the text: {result:?}");
    if let Some(expected) = &case.structured {
        let given = result
            .structured_content
            .as_ref()
            .unwrap_or_else(|| panic!("the result should have structured content: {result:?}"));
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(
                given.get(key),
                Some(value),
                "[tools-structured-object]: the structured content contains {key}: {given}"
            );
        }
    }
}

/// Asserts that the host has reported no message of the server as invalid. The servers of these tests send only valid
/// messages.
async fn assert_no_invalid_messages(app: &TestApp) {
    for entry in activity_entries(app, "server").await {
        assert!(entry.kind != ActivityKind::Invalid && entry.note.is_none(), "the message is valid: {entry:?}");
    }
}

async fn assert_stops_completely(app: &TestApp) {
    let pid = app.server("server").await.pid.expect("a ready server has a process");
    assert!(testkit::processes::is_alive(pid), "the process is running");
    app.host.stop_server("server".into()).await.unwrap();
    app.until("server", "stopped", |s| s.state == ServerState::Stopped).await;
    assert_eq!(
        testkit::processes::living_processes_in_group(pid),
        Vec::<u32>::new(),
        "no process of the group remains"
    );
    assert!(app.consent_requests().await.is_empty(), "no consent request remains");
}
