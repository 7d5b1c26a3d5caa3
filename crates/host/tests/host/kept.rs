//! What the audit log keeps: what of what crossed, how much of what a server asks, and for how long.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::calls::CallTool as _;

use host::HostOptions;
use host::view::{AppSettings, QuestionBody, UserAnswer};
use policy::Scope;
use ports::secrets::SecretsInMemory;
use ports::{AuditEntry, AuditQuery, Document, Ports};
use serde_json::{Map, json};
use testkit::app::{App, PATIENCE, demo, scripted};

use crate::audit::{Disk, until_held};
use crate::roots::RefusingDisk;

/// The latest entries of a kind, the oldest first.
pub(crate) fn of_kind(app: &App, kind: &str) -> Vec<AuditEntry> {
    let query = AuditQuery { kind: Some(kind.to_owned()), ..AuditQuery::latest(100) };
    app.host.ports().audit.read(&query).unwrap().into_iter().rev().collect()
}

#[tokio::test]
async fn what_the_log_keeps_is_not_changed_unseen() {
    let app = App::start(vec![]).await;
    let settings = AppSettings { audit_days: 30, ..AppSettings::default() };
    app.host.set_settings(settings.clone()).await.unwrap();
    let other = AppSettings { theme: "dark".to_owned(), ..settings.clone() };
    app.host.set_settings(other).await.unwrap();
    let entries = of_kind(&app, "settings");
    let [entry] = &entries[..] else { panic!("only what changes the log is written down: {entries:?}") };
    assert_eq!((entry.decision.as_ref(), entry.by.as_ref()), ("allowed", "user"), "by whom");
    assert_eq!(
        entry.subject, "audit log: 30 days, 1000 MB, what crosses; before: audit log: 0 days, 1000 MB, what crosses",
        "what was changed"
    );
    app.host.close().await;

    // Somebody changes the file.
    let App { folder, host, .. } = app;
    drop(host);
    let file = folder.path().join("data/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let changed = text.replace(r#""auditDays": 30"#, r#""auditDays": 1"#);
    assert_ne!(text, changed, "the file is changed");
    std::fs::write(&file, changed).unwrap();
    let app = App::start_in(folder, vec![], HostOptions::default()).await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while of_kind(&app, "settings").len() < 2 {
        assert!(tokio::time::Instant::now() < deadline, "a change from outside is written down");
        // sleep: looks again until it holds; no event tells of it.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let entries = of_kind(&app, "settings");
    assert_eq!((entries[1].decision.as_ref(), entries[1].by.as_ref()), ("noted", "policy"), "as nobody's decision");
    assert!(
        entries[1].subject.starts_with("audit log: 1 days")
            && entries[1].subject.contains("before: audit log: 30 days"),
        "with what was changed: {}",
        entries[1].subject
    );
    app.host.close().await;
    let App { folder, host, .. } = app;
    drop(host);
    let (app, disk) = over_slow_log(folder, |_| ()).await;
    while disk.reads.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    // The host takes in what was read before it has answered so often.
    for _ in 0..50 {
        app.questions().await;
    }
    assert_eq!(of_kind(&app, "settings").len(), 2, "once");
    app.host.close().await;
}

#[tokio::test]
async fn a_change_by_the_user_is_theirs_also_while_the_log_is_read() {
    let (read_on, held) = std::sync::mpsc::sync_channel(1);
    let (app, disk) = with_slow_log(|disk| *disk.held_read.lock().unwrap() = Some(held)).await;
    disk.slow.store(true, Ordering::SeqCst);
    let host = app.host.clone();
    let changed = tokio::spawn(async move {
        host.set_settings(AppSettings { audit_days: 30, ..AppSettings::default() }).await.unwrap();
    });
    until_held(&disk).await;
    // The log has the user's change before the settings do, and that is when it is read.
    disk.slow.store(false, Ordering::SeqCst);
    let receipts = disk.append_waiting();
    let before = disk.reads.load(Ordering::SeqCst);
    read_on.send(()).unwrap();
    while disk.reads.load(Ordering::SeqCst) == before {
        tokio::task::yield_now().await;
    }
    // The host takes in what was read before it has answered so often.
    for _ in 0..50 {
        app.questions().await;
    }
    disk.receipts().written(receipts);
    changed.await.unwrap();
    app.host.close().await;
    let entries = of_kind(&app, "settings");
    let [entry] = &entries[..] else { panic!("the user's change and nothing else: {entries:?}") };
    assert_eq!((entry.decision.as_ref(), entry.by.as_ref()), ("allowed", "user"), "by whom");
}

/// A host over a log that the test can hold up, which is prepared before the host starts.
pub(crate) async fn with_slow_log(prepare: impl FnOnce(&Disk)) -> (App, Arc<Disk>) {
    over_slow_log(tempfile::tempdir().unwrap(), prepare).await
}

/// The same over a folder that was in use before.
async fn over_slow_log(folder: tempfile::TempDir, prepare: impl FnOnce(&Disk)) -> (App, Arc<Disk>) {
    let mut log = None;
    let secrets = Arc::new(SecretsInMemory::default());
    let app = App::start_over(folder, vec![], HostOptions::default(), secrets, |ports: Ports| {
        let disk = Arc::new(Disk::over(Arc::clone(&ports.audit)));
        prepare(&disk);
        log = Some(Arc::clone(&disk));
        Ports { audit: disk, ..ports }
    })
    .await;
    (app, log.unwrap())
}

#[tokio::test]
async fn the_latest_settings_hold_also_while_the_log_is_slow() {
    let (app, disk) = with_slow_log(|_| ()).await;
    disk.slow.store(true, Ordering::SeqCst);
    let set = |days: u32, theme: &str| {
        let (host, theme) = (app.host.clone(), theme.to_owned());
        let settings = AppSettings { audit_days: days, theme, ..AppSettings::default() };
        tokio::spawn(async move { host.set_settings(settings).await })
    };
    let changed = set(7, "light");
    until_held(&disk).await;
    let changed_back = set(0, "dark");
    // The host takes commands in order, so the change back is taken up before the log goes on.
    app.questions().await;
    disk.slow.store(false, Ordering::SeqCst);
    disk.go_on();
    changed.await.unwrap().expect("it is changed");
    changed_back.await.unwrap().expect("and changed back");
    let settings = app.host.snapshot().await.unwrap().settings;
    assert_eq!((settings.audit_days, settings.theme.as_str()), (0, "dark"), "what the user said last holds");
    app.host.close().await;
}

#[tokio::test]
async fn settings_that_could_not_be_written_hold_at_no_later_start_either() {
    let mut documents = None;
    let folder = tempfile::tempdir().unwrap();
    let secrets = Arc::new(SecretsInMemory::default());
    let own = Arc::<SecretsInMemory>::clone(&secrets);
    let app = App::start_over(folder, vec![], HostOptions::default(), own, |ports: Ports| {
        let disk = Arc::new(RefusingDisk::over(Arc::clone(&ports.documents), Document::Settings));
        documents = Some(Arc::clone(&disk));
        Ports { documents: disk, ..ports }
    })
    .await;
    let disk = documents.unwrap();
    let days = |audit_days| AppSettings { audit_days, ..AppSettings::default() };
    app.host.set_settings(days(365)).await.expect("the disk takes it");
    disk.full.store(true, Ordering::SeqCst);
    let error = app.host.set_settings(days(7)).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "it is said why: {error}");
    app.host.close().await;
    let App { folder, host, .. } = app;
    drop(host);
    let confirmed = std::fs::read_to_string(folder.path().join("data/confirmed.json")).unwrap();
    assert!(confirmed.contains("\"days\": 365"), "what was refused is not confirmed either: {confirmed}");
    let app = App::start_with(folder, vec![], HostOptions::default(), secrets).await;
    assert_eq!(app.host.snapshot().await.unwrap().settings.audit_days, 365, "as before");
    app.host.close().await;
}

#[tokio::test]
async fn what_is_entered_into_fields_for_secrets_is_not_kept() {
    let schema = json!({"type": "object", "properties": {
        "user": {"type": "string"},
        "pw": {"type": "string", "title": "Password"},
    }});
    let params = json!({"mode": "form", "message": "Sign in", "requestedSchema": schema});
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
        "requestState": "s",
    });
    let reply = format!("tools/call={asks}");
    let app = App::start(vec![("bad", scripted(&["--revision", "2026-07-28", "--reply", &reply]))]).await;
    app.ready("bad").await;
    app.until("bad", "known whole", |s| s.counts[0] > 0).await;
    let user = app.always(|question| {
        matches!(question.body, QuestionBody::Tool { .. }).then_some(UserAnswer::Allow(Scope::Once))
    });
    let host = app.host.clone();
    let call =
        tokio::spawn(async move { host.call_tool("1".into(), "bad".into(), "echo".into(), Map::new(), None).await });
    let question = app.question("bad", "a form", |q| matches!(q.body, QuestionBody::Form { .. })).await;
    let filled = json!({"user": "ann", "pw": "hunter2"}).as_object().unwrap().clone();
    app.answer(&question, UserAnswer::Submit(filled)).await;
    let entries = of_kind(&app, "elicitation");
    assert_eq!(
        entries.first().and_then(|entry| entry.content.as_deref()),
        Some(r#"{"pw":"[redacted]","user":"ann"}"#),
        "the log has what crossed, without the password"
    );
    let guessed = policy::Hash::of(&json!({"user": "ann", "pw": "hunter2"}));
    assert_ne!(entries[0].hash, guessed.as_str(), "nor a hash that a guess of it could be tried with");
    app.host.cancel_call("1".into()).await.unwrap();
    assert!(call.await.unwrap().is_err(), "the call is over");
    user.abort();
    app.host.close().await;
}

#[tokio::test]
async fn a_muted_server_does_not_fill_the_log() {
    let app = App::start(vec![("harbour", demo(&["--era", "legacy"]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let user = app.always(|question| {
        matches!(question.body, QuestionBody::Tool { .. }).then_some(UserAnswer::Allow(Scope::Once))
    });
    app.host.deny_all("harbour".into(), true).await.unwrap();
    for id in 1..=7 {
        let host = app.host.clone();
        let asked = host.call_tool(id.to_string(), "harbour".into(), "ask_user".into(), Map::new(), None);
        asked.await.expect("the server is refused, and answers");
    }
    let subjects = || of_kind(&app, "mute").into_iter().map(|entry| (entry.subject, entry.content)).collect::<Vec<_>>();
    let counted = |numbers: &[u32]| -> Vec<_> {
        numbers.iter().map(|number| (format!("{number} requests were refused since it is muted"), None)).collect()
    };
    assert_eq!(subjects(), counted(&[1, 2, 4]), "few of what it is refused are written down, each with how many");
    assert_eq!(of_kind(&app, "elicitation"), [], "and none with what it asked");
    app.host.unmute("harbour".into()).await.unwrap();
    assert_eq!(subjects(), counted(&[1, 2, 4, 7]), "all of them when it is over");
    user.abort();
    app.host.close().await;
}
