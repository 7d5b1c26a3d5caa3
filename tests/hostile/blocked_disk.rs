//! Tests that a lock or a disk that does not respond stops no server (S15).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use domain::data_flow::{DataFlow, SameServerFlow};
use host::view::{AppSettings, ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use host::{DecisionError, Host, HostOptions};
use policy::{ApprovalScope, PolicyRule};
use rusqlite::Connection;
use serde_json::json;
use server_requests::sampling::SamplingSettings;
use testkit::app::{TestApp, scripted_config};
use testkit::deadline::poll_until;

use crate::gate::report_withstood;
use crate::hanging_disk::{HangingDisk, reread_launch_files_when_disk_responds};
use crate::pair::GoodAndBadServers;
use crate::report::AttackResultRow;

/// Maximum time of a response of the owner, which holds the state of the crate `host` behind one lock. It is much
/// shorter than the timeout of the document lock, which is several seconds.
const OWNER_RESPONSE_TIMEOUT: Duration = Duration::from_millis(1_000);

/// Maximum time until a file is written after its lock is released.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// Number of requests that the host has to answer before the test releases the lock.
const REQUESTS_WHILE_LOCKED: usize = 20;

/// Takes the lock of Drawbridge's documents, as a process would hold it that was suspended while it was writing them.
/// Dropping the file releases the lock.
pub(crate) fn lock_documents(data: &Path) -> File {
    let lock = File::options().write(true).create(true).truncate(false).open(data.join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

fn data_folder(app: &TestApp) -> PathBuf {
    app.folder.path().join("data")
}

/// Runs `act`, which waits for a blocked resource. Asserts that the host answers other requests in the meantime, then
/// drops `held` to release the resource, and returns the result of `act`.
async fn assert_host_owner_responds<T>(host: &Host, what: &str, held: impl Sized, act: impl Future<Output = T>) -> T {
    let mut act = pin!(act);
    for _ in 0..REQUESTS_WHILE_LOCKED {
        // The owner may run on the same thread, also before it has received the command.
        let began = Instant::now();
        tokio::select! {
            biased;
            _ = &mut act => panic!("{what}: the response arrived after {:?}, before the file could be written", began.elapsed()),
            // sleep: repeats the request while the disk is blocked in real time.
            () = tokio::time::sleep(Duration::from_millis(2)) => {}
        }
        host.snapshot().await.unwrap();
        let took = began.elapsed();
        assert!(took < OWNER_RESPONSE_TIMEOUT, "{what}: the owner answered after {took:?}");
    }
    drop(held);
    act.await
}

/// Starts an app with a scripted server that is not started. Returns the app, and a row of the result table.
async fn start_with_stopped_server(what: &str) -> (TestApp, AttackResultRow) {
    let row = AttackResultRow::default();
    row.set_name(what);
    let app = TestApp::start_in_folder(
        tempfile::tempdir().unwrap(),
        vec![("bad", scripted_config(&[]))],
        HostOptions::default(),
    )
    .await;
    (app, row)
}

async fn close_and_report(app: TestApp, row: AttackResultRow) {
    app.host.close().await;
    report_withstood(row, Duration::ZERO);
}

/// Requests the start of the scripted server, and returns its consent request.
async fn request_start(app: &TestApp) -> ConsentRequestView {
    app.host.start_server("bad".into()).await.unwrap();
    app.consent_request("bad", "its start", |q| matches!(q.body, ConsentRequestBody::StartServer { .. })).await
}

fn read_document(app: &TestApp, name: &str) -> String {
    std::fs::read_to_string(data_folder(app).join(name)).unwrap_or_default()
}

#[tokio::test]
async fn s15_held_document_lock_does_not_block_the_host() {
    let what = "S15, another program holds the lock of the documents";
    let pair = GoodAndBadServers::with_stopped_bad_server(testkit::app::scripted_config(&[])).await;
    let lock = lock_documents(&data_folder(&pair.app));
    let running = data_folder(&pair.app).join("running.json");
    let before = std::fs::read_to_string(&running).unwrap_or_default();

    pair.app.host.start_server("bad".into()).await.unwrap();
    // Sends requests to the owner repeatedly. The owner must never wait for the lock of the file.
    let mut slowest = Duration::ZERO;
    loop {
        let started = Instant::now();
        let view = pair.app.server("bad").await;
        slowest = slowest.max(started.elapsed());
        if view.state == ServerState::Ready {
            break;
        }
        assert!(!matches!(view.state, ServerState::Failed(_)), "{what}: the server starts: {:?}", view.state);
        // sleep: polls until the condition holds, which no event reports.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(slowest < OWNER_RESPONSE_TIMEOUT, "{what}: the owner answered after {slowest:?}");
    assert_eq!(
        std::fs::read_to_string(&running).unwrap_or_default(),
        before,
        "{what}: nothing is written while the lock is held"
    );

    drop(lock);
    let is_written = || std::fs::read_to_string(&running).unwrap_or_default() != before;
    assert!(
        poll_until(WRITE_TIMEOUT, is_written).await,
        "{what}: running processes are recorded once the lock is free"
    );
    pair.close(what).await;
}

#[tokio::test]
async fn s15_grants_are_added_and_revoked_while_documents_are_locked() {
    let what = "S15, a grant is given and revoked while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let request = request_start(&app).await;
    let answer = app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Always));
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), answer).await.unwrap();
    assert!(read_document(&app, "grants.json").contains("bad"), "{what}: the file contains the entry");
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;

    let id = app.host.grants().await.unwrap()[0].id;
    let lock = lock_documents(&data_folder(&app));
    let host = app.host.clone();
    let revoke = tokio::spawn(async move { host.revoke_grant(id).await });
    let started = Instant::now();
    while !app.host.grants().await.unwrap().is_empty() {
        assert!(started.elapsed() < OWNER_RESPONSE_TIMEOUT, "{what}: a revoked grant ends immediately");
    }
    assert!(!revoke.is_finished(), "{what}: the revocation is not confirmed while the file contains the grant");
    drop(lock);
    assert!(revoke.await.unwrap().unwrap(), "{what}: the grant is revoked");
    assert!(!read_document(&app, "grants.json").contains("bad"), "{what}: the file no longer contains the grant");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_rules_change_while_documents_are_locked() {
    let what = "S15, a rule is set and removed while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let rule: PolicyRule = serde_json::from_value(json!({ "server": "bad", "effect": "deny" })).unwrap();
    let set = app.host.set_rule(rule);
    let rule = assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), set).await.unwrap();
    assert!(read_document(&app, "policy.json").contains("bad"), "{what}: the file contains the entry");
    assert_eq!(app.host.rules_view().await.unwrap().rules.len(), 1, "{what}: the setting is effective");
    let remove = app.host.remove_rule(rule);
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), remove).await.unwrap();
    assert!(app.host.rules_view().await.unwrap().rules.is_empty(), "{what}: the file no longer contains the entry");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_settings_change_while_documents_are_locked() {
    let what = "S15, settings and what is confirmed of them change while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let settings = AppSettings { audit_days: 365, ..AppSettings::default() };
    let set = app.host.set_settings(settings.clone());
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), set).await.unwrap();
    assert_eq!(app.host.snapshot().await.unwrap().settings, settings, "{what}: the settings are effective");
    assert!(read_document(&app, "settings.json").contains("365"), "{what}: the settings are stored");
    assert!(read_document(&app, "confirmed.json").contains("365"), "{what}: the commands are confirmed");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_changes_while_documents_are_locked_keep_their_order() {
    let what = "S15, settings change several times while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let set = |days: u32| {
        let host = app.host.clone();
        let settings = AppSettings { audit_days: days, ..AppSettings::default() };
        async move { host.set_settings(settings).await.unwrap() }
    };
    // The owner receives the requests in this order.
    let all = async { tokio::join!(biased; set(101), set(102), set(103)) };
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), all).await;
    assert_eq!(app.host.snapshot().await.unwrap().settings.audit_days, 103, "{what}: the last change is effective");
    assert!(read_document(&app, "settings.json").contains("103"), "{what}: the last change is stored");
    assert!(read_document(&app, "confirmed.json").contains("103"), "{what}: the commands are confirmed");
    let query = ports::AuditQuery::latest(3);
    let logged = app.host.ports().audit.read(&query).unwrap();
    let days: Vec<bool> =
        logged.iter().rev().zip(["101", "102", "103"]).map(|(entry, days)| entry.subject.contains(days)).collect();
    assert_eq!(days, [true; 3], "{what}: the log contains the changes in order: {logged:?}");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_server_permissions_change_while_documents_are_locked() {
    let what = "S15, the sampling and the data flow of a server change while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let settings = SamplingSettings { on: true, max_tokens: 77, ..SamplingSettings::default() };
    let set = app.host.set_sampling("bad".into(), settings);
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), set).await.unwrap();
    assert!(read_document(&app, "sampling.json").contains("77"), "{what}: the entry is stored");
    let flow = DataFlow { same_server: SameServerFlow::Off, ..DataFlow::default() };
    let set = app.host.set_data_flow("bad".into(), flow);
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), set).await.unwrap();
    assert!(read_document(&app, "flow.json").contains("bad"), "{what}: the entry is stored");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_providers_change_while_documents_are_locked() {
    let what = "S15, a provider is set up and removed while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let settings = json!({ "id": "own", "name": "Own", "kind": "openai", "url": "http://127.0.0.1:9/v1" });
    let set = app.host.set_provider(serde_json::from_value(settings).unwrap());
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), set).await.unwrap();
    let problem = app.host.providers().await.unwrap().providers[0].problem.clone();
    assert_eq!(problem, None, "{what}: the command is confirmed");
    assert!(read_document(&app, "models.json").contains("own"), "{what}: the entry is stored");
    let remove = app.host.remove_provider("own".into());
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), remove).await.unwrap();
    assert!(app.host.providers().await.unwrap().providers.is_empty(), "{what}: the entry was removed");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_servers_are_added_and_removed_while_documents_are_locked() {
    let what = "S15, a server is added and removed while the lock is held";
    let (app, row) = start_with_stopped_server(what).await;
    let entry = ports::server_config::ServerEntry { name: "other".to_owned(), config: scripted_config(&[]) };
    let add = app.host.add_server(entry);
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), add).await.unwrap();
    app.server("other").await;
    let remove = app.host.remove_server("other".into());
    assert_host_owner_responds(&app.host, what, lock_documents(&data_folder(&app)), remove).await.unwrap();
    assert_eq!(app.host.snapshot().await.unwrap().servers.len(), 1, "{what}: the entry was removed");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_locked_audit_log_blocks_payloads_but_not_the_host() {
    let what = "S15, another program has the audit log for itself";
    let (app, row) = start_with_stopped_server(what).await;
    let request = request_start(&app).await;
    // The decision creates the first entry of the audit log.
    app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny).await.unwrap();
    assert!(poll_until(WRITE_TIMEOUT, || data_folder(&app).join("audit.db").exists()).await, "{what}: the log exists");
    assert_eq!(app.decisions().len(), 1, "{what}: the log contains the denial");
    let request = request_start(&app).await;

    let held = Connection::open(data_folder(&app).join("audit.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once));
    assert_host_owner_responds(&app.host, what, held, async {
        let mut answer = pin!(answer);
        let mut again =
            pin!(app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)));
        tokio::select! {
            biased;
            answered = &mut answer => answered.unwrap(),
            second = &mut again => {
                assert!(second.is_err(), "{what}: an approval is valid for one action");
                let view = app.server("bad").await;
                assert_eq!(view.state, ServerState::AwaitingApproval, "{what}: a start that is not logged does not happen");
                answer.as_mut().await.unwrap();
            }
        }
    })
    .await;
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    let decisions: Vec<String> = app.decisions().into_iter().map(|(_, decision, _)| decision).collect();
    assert_eq!(decisions.iter().filter(|decision| *decision == "allowed").count(), 1, "{what}: {decisions:?}");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_program_on_a_hanging_file_system_does_not_block_the_host() {
    let what = "S15, the program of a start is on a file system that does not respond";
    let row = AttackResultRow::default();
    row.set_name(what);
    let options = HostOptions { reread_launch_files: reread_launch_files_when_disk_responds, ..HostOptions::default() };
    let app =
        TestApp::start_in_folder(tempfile::tempdir().unwrap(), vec![("bad", scripted_config(&[]))], options).await;
    let request = request_start(&app).await;
    let answer = app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once));
    assert_host_owner_responds(&app.host, what, HangingDisk::start(), answer).await.unwrap();
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    app.host.stop_server("bad".into()).await.unwrap();

    // A denial does not inspect the files.
    app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
    let request = request_start(&app).await;
    let hanging = HangingDisk::start();
    let (host, hash) = (app.host.clone(), request.hash.to_string());
    let allow =
        tokio::spawn(async move { host.decide(request.id, hash, UserDecision::Allow(ApprovalScope::Once)).await });
    // Lets the spawned task run.
    tokio::task::yield_now().await;
    let again = app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once));
    let again =
        tokio::time::timeout(OWNER_RESPONSE_TIMEOUT, again).await.expect("a second approval is rejected immediately");
    assert_eq!(again, Err(DecisionError::Stale), "{what}: only one approval is processed");
    let refuse = app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny);
    let refused =
        tokio::time::timeout(OWNER_RESPONSE_TIMEOUT, refuse).await.expect("the denial is accepted immediately");
    refused.unwrap();
    drop(hanging);
    assert_eq!(allow.await.unwrap(), Err(DecisionError::NotOpen), "{what}: the denial is effective");
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_stop_before_the_audit_entry_is_written_withdraws_the_approval() {
    let what = "S15, an approval is revoked while its entry is on its way to the log";
    let row = AttackResultRow::default();
    row.set_name(what);
    let servers = vec![("bad", testkit::app::remote_config("http://127.0.0.1:9/mcp"))];
    let app = TestApp::start_in_folder(tempfile::tempdir().unwrap(), servers, HostOptions::default()).await;
    let request_call = async || {
        app.host.start_server("bad".into()).await.unwrap();
        app.consent_request("bad", "its start", |q| matches!(q.body, ConsentRequestBody::ConnectServer { .. })).await
    };
    let request = request_call().await;
    app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny).await.unwrap();
    assert_eq!(app.decisions().len(), 1, "{what}: the log exists");
    let request = request_call().await;
    let held = Connection::open(data_folder(&app).join("audit.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let host = app.host.clone();
    let allow = async move {
        host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await
    };
    let mut allow = Box::pin(allow);
    tokio::select! {
        biased;
        _ = &mut allow => panic!("{what}: the response arrived before the entry was logged"),
        snapshot = app.host.snapshot() => drop(snapshot),
    }
    app.host.stop_server("bad".into()).await.unwrap();
    drop(held);
    assert_eq!(allow.await, Err(DecisionError::NotOpen), "{what}: the grant was revoked");
    assert_eq!(app.server("bad").await.state, ServerState::Stopped, "{what}: the server does not start");
    let decisions: Vec<String> = app.decisions().into_iter().map(|(_, decision, _)| decision).collect();
    assert_eq!(
        decisions,
        ["denied", "allowed", "withdrawn", "withdrawn"],
        "{what}: the log states that nothing was sent"
    );
    close_and_report(app, row).await;
}

#[tokio::test]
async fn s15_approval_can_be_denied_while_the_log_is_locked() {
    let what = "S15, what was approved is denied while its entry is on its way to the log";
    let row = AttackResultRow::default();
    row.set_name(what);
    let servers = vec![("bad", testkit::app::remote_config("http://127.0.0.1:9/mcp"))];
    let app = TestApp::start_in_folder(tempfile::tempdir().unwrap(), servers, HostOptions::default()).await;
    let request_call = async || {
        app.host.start_server("bad".into()).await.unwrap();
        app.consent_request("bad", "its start", |q| matches!(q.body, ConsentRequestBody::ConnectServer { .. })).await
    };
    let request = request_call().await;
    app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny).await.unwrap();
    for all in [false, true] {
        let request = request_call().await;
        let before = app.decisions().len();
        let held = Connection::open(data_folder(&app).join("audit.db")).unwrap();
        held.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (host, hash) = (app.host.clone(), request.hash.to_string());
        let allow = async move { host.decide(request.id, hash, UserDecision::Allow(ApprovalScope::Once)).await };
        let mut allow = Box::pin(allow);
        tokio::select! {
            biased;
            _ = &mut allow => panic!("{what}: the response arrived before the entry was logged"),
            snapshot = app.host.snapshot() => drop(snapshot),
        }
        if all {
            app.host.deny_all_requests("bad".into(), false).await.unwrap();
        } else {
            let denied = app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny).await;
            assert_eq!(denied, Ok(()), "{what}: nothing was sent yet");
        }
        assert!(app.host.snapshot().await.unwrap().consent_requests.is_empty(), "{what}: no request is pending");
        drop(held);
        assert_eq!(allow.await, Err(DecisionError::NotOpen), "{what}: the approval has no effect");
        let decisions: Vec<String> =
            app.decisions().into_iter().skip(before).map(|(_, decision, _)| decision).collect();
        assert_eq!(decisions, ["allowed", "denied", "withdrawn"], "{what}: the log states that nothing was sent");
    }
    close_and_report(app, row).await;
}
