//! Retention of the audit log: stored payloads, entries about requests of a server, and how long entries are stored.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::calls::UserCalls as _;

use host::HostOptions;
use host::view::{AppSettings, ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use ports::secrets::SecretsInMemory;
use ports::{Document, Ports};
use serde_json::{Map, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};

use crate::audit::{ScriptedAuditLog, wait_until_delayed};
use crate::roots::FailingDocuments;

#[tokio::test]
async fn change_of_the_audit_retention_is_recorded() {
    let app = TestApp::start(vec![]).await;
    let settings = AppSettings { audit_days: 30, ..AppSettings::default() };
    app.host.set_settings(settings.clone()).await.unwrap();
    let other = AppSettings { theme: "dark".to_owned(), ..settings.clone() };
    app.host.set_settings(other).await.unwrap();
    let entries = app.entries_of_kind("settings");
    let [entry] = &entries[..] else { panic!("only changes of the retention are recorded: {entries:?}") };
    assert_eq!(
        (entry.decision.as_ref(), entry.by.as_ref()),
        ("allowed", "user"),
        "the entry contains the decision of the user"
    );
    assert_eq!(
        entry.subject, "audit log: 30 days, 1000 MB, payloads; before: audit log: 0 days, 1000 MB, payloads",
        "the entry contains the change"
    );
    app.host.close().await;

    // Changes the settings file while the host is not running.
    let TestApp { folder, host, .. } = app;
    drop(host);
    let file = folder.path().join("data/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let changed = text.replace(r#""auditDays": 30"#, r#""auditDays": 1"#);
    assert_ne!(text, changed, "the edit changes the file");
    std::fs::write(&file, changed).unwrap();
    let app = TestApp::start_in_folder(folder, vec![], HostOptions::default()).await;
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while app.entries_of_kind("settings").len() < 2 {
        assert!(tokio::time::Instant::now() < deadline, "an external change is recorded");
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let entries = app.entries_of_kind("settings");
    assert_eq!(
        (entries[1].decision.as_ref(), entries[1].by.as_ref()),
        ("noted", "policy"),
        "the change is not attributed to a decision"
    );
    assert!(
        entries[1].subject.starts_with("audit log: 1 days")
            && entries[1].subject.contains("before: audit log: 30 days"),
        "the entry contains the change: {}",
        entries[1].subject
    );
    app.host.close().await;
    let TestApp { folder, host, .. } = app;
    drop(host);
    let (app, disk) = host_in_folder_with_slow_audit_log(folder, |_| ()).await;
    while disk.reads.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    // By the time the host has responded this many times, it has processed the file.
    for _ in 0..50 {
        app.consent_requests().await;
    }
    assert_eq!(app.entries_of_kind("settings").len(), 2, "once");
    app.host.close().await;
}

#[tokio::test]
async fn retention_change_is_attributed_to_the_user_while_the_audit_log_is_read() {
    let (read_on, held) = std::sync::mpsc::sync_channel(1);
    let (app, disk) = host_with_slow_audit_log(|disk| *disk.held_read.lock().unwrap() = Some(held)).await;
    disk.slow.store(true, Ordering::SeqCst);
    let host = app.host.clone();
    let changed = tokio::spawn(async move {
        host.set_settings(AppSettings { audit_days: 30, ..AppSettings::default() }).await.unwrap();
    });
    wait_until_delayed(&disk).await;
    // Makes the host read the log after the user's change was written to it, and before the change is written to the
    // settings.
    disk.slow.store(false, Ordering::SeqCst);
    let receipts = disk.append_delayed_entries();
    let before = disk.reads.load(Ordering::SeqCst);
    read_on.send(()).unwrap();
    while disk.reads.load(Ordering::SeqCst) == before {
        tokio::task::yield_now().await;
    }
    // By the time the host has responded this many times, it has processed the file.
    for _ in 0..50 {
        app.consent_requests().await;
    }
    disk.receipts().report(receipts);
    changed.await.unwrap();
    app.host.close().await;
    let entries = app.entries_of_kind("settings");
    let [entry] = &entries[..] else { panic!("only the user's change is recorded: {entries:?}") };
    assert_eq!(
        (entry.decision.as_ref(), entry.by.as_ref()),
        ("allowed", "user"),
        "the entry contains the decision of the user"
    );
}

/// Returns a host with an audit log that the test can delay. `prepare` is called with the log before the host starts.
pub(crate) async fn host_with_slow_audit_log(
    prepare: impl FnOnce(&ScriptedAuditLog),
) -> (TestApp, Arc<ScriptedAuditLog>) {
    host_in_folder_with_slow_audit_log(tempfile::tempdir().unwrap(), prepare).await
}

/// Returns a host with an audit log that the test can delay, on an existing data folder.
async fn host_in_folder_with_slow_audit_log(
    folder: tempfile::TempDir,
    prepare: impl FnOnce(&ScriptedAuditLog),
) -> (TestApp, Arc<ScriptedAuditLog>) {
    let mut log = None;
    let secrets = Arc::new(SecretsInMemory::default());
    let app = TestApp::start_with_changed_ports(folder, vec![], HostOptions::default(), secrets, |ports: Ports| {
        let disk = Arc::new(ScriptedAuditLog::wrapping(Arc::clone(&ports.audit)));
        prepare(&disk);
        log = Some(Arc::clone(&disk));
        Ports { audit: disk, ..ports }
    })
    .await;
    (app, log.unwrap())
}

#[tokio::test]
async fn latest_settings_apply_while_the_audit_log_is_slow() {
    let (app, disk) = host_with_slow_audit_log(|_| ()).await;
    disk.slow.store(true, Ordering::SeqCst);
    let set = |days: u32, theme: &str| {
        let (host, theme) = (app.host.clone(), theme.to_owned());
        let settings = AppSettings { audit_days: days, theme, ..AppSettings::default() };
        tokio::spawn(async move { host.set_settings(settings).await })
    };
    let changed = set(7, "light");
    wait_until_delayed(&disk).await;
    let changed_back = set(0, "dark");
    // The host executes requests in order, so the second change is accepted before the log continues.
    app.consent_requests().await;
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    changed.await.unwrap().expect("the first change succeeds");
    changed_back.await.unwrap().expect("the second change succeeds");
    let settings = app.host.snapshot().await.unwrap().settings;
    assert_eq!((settings.audit_days, settings.theme.as_str()), (0, "dark"), "the latest change is in effect");
    app.host.close().await;
}

#[tokio::test]
async fn settings_that_could_not_be_written_do_not_apply_after_a_restart() {
    let mut documents = None;
    let folder = tempfile::tempdir().unwrap();
    let secrets = Arc::new(SecretsInMemory::default());
    let own = Arc::<SecretsInMemory>::clone(&secrets);
    let app = TestApp::start_with_changed_ports(folder, vec![], HostOptions::default(), own, |ports: Ports| {
        let disk = Arc::new(FailingDocuments::over(Arc::clone(&ports.documents), Document::Settings));
        documents = Some(Arc::clone(&disk));
        Ports { documents: disk, ..ports }
    })
    .await;
    let disk = documents.unwrap();
    let days = |audit_days| AppSettings { audit_days, ..AppSettings::default() };
    app.host.set_settings(days(365)).await.expect("the settings are written");
    disk.full.store(true, Ordering::SeqCst);
    let error = app.host.set_settings(days(7)).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "the error contains the cause: {error}");
    app.host.close().await;
    let TestApp { folder, host, .. } = app;
    drop(host);
    let confirmed = std::fs::read_to_string(folder.path().join("data/confirmed.json")).unwrap();
    assert!(confirmed.contains("\"days\": 365"), "a failed change is not confirmed: {confirmed}");
    let app = TestApp::start_with_secrets(folder, vec![], HostOptions::default(), secrets).await;
    assert_eq!(app.host.snapshot().await.unwrap().settings.audit_days, 365, "the previous retention is in effect");
    app.host.close().await;
}

#[tokio::test]
async fn values_of_secret_fields_are_not_logged() {
    let schema = json!({"type": "object", "properties": {
        "user": {"type": "string"},
        "pw": {"type": "string", "title": "Password"},
    }});
    let params = json!({"mode": "form", "message": "Sign in", "requestedSchema": schema});
    let form_request = json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
        "requestState": "s",
    });
    let reply = format!("tools/call={form_request}");
    let app = TestApp::start(vec![("bad", scripted_config(&["--revision", "2026-07-28", "--reply", &reply]))]).await;
    app.ready("bad").await;
    app.until("bad", "known whole", |s| s.counts[0] > 0).await;
    let user = app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let host = app.host.clone();
    let call =
        tokio::spawn(async move { host.call_tool("1".into(), "bad".into(), "echo".into(), Map::new(), None).await });
    let request = app.consent_request("bad", "a form", |q| matches!(q.body, ConsentRequestBody::Form { .. })).await;
    let filled = json!({"user": "ann", "pw": "hunter2"}).as_object().unwrap().clone();
    app.decide(&request, UserDecision::Submit(filled)).await;
    let entries = app.entries_of_kind("elicitation");
    assert_eq!(
        entries.first().and_then(|entry| entry.content.as_deref()),
        Some(r#"{"pw":"[redacted]","user":"ann"}"#),
        "the log contains the payload without the password"
    );
    let guessed = policy::Hash::of_json(&json!({"user": "ann", "pw": "hunter2"}));
    assert_ne!(entries[0].hash, guessed.as_str(), "the hash does not depend on the password");
    app.host.cancel_call("1".into()).await.unwrap();
    assert!(call.await.unwrap().is_err(), "the call has ended");
    user.abort();
    app.host.close().await;
}

#[tokio::test]
async fn muted_server_does_not_fill_the_audit_log() {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let user = app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    app.host.deny_all_requests("harbour".into(), true).await.unwrap();
    for id in 1..=7 {
        let host = app.host.clone();
        let call = host.call_tool(id.to_string(), "harbour".into(), "ask_user".into(), Map::new(), None);
        call.await.expect("the server's request is refused, and its call ends");
    }
    let subjects =
        || app.entries_of_kind("mute").into_iter().map(|entry| (entry.subject, entry.content)).collect::<Vec<_>>();
    let counted = |numbers: &[u32]| -> Vec<_> {
        numbers.iter().map(|number| (format!("{number} requests were refused since it is muted"), None)).collect()
    };
    assert_eq!(subjects(), counted(&[1, 2, 4]), "powers of two of the refused requests are recorded");
    assert_eq!(app.entries_of_kind("elicitation"), [], "the refused requests themselves are not recorded");
    app.host.unmute_server("harbour".into()).await.unwrap();
    assert_eq!(subjects(), counted(&[1, 2, 4, 7]), "the total is recorded at the end");
    user.abort();
    app.host.close().await;
}
