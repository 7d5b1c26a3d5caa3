//! Tests of another program that writes Drawbridge's files (S04, S11, S21): approvals, reviewed definitions, addresses
//! of model providers, and the audit log. Forged approvals have no effect, and a revocation by one instance of
//! Drawbridge applies to the others.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use host::view::{AppSettings, ConsentRequestBody, ServerState, UserDecision};
use host::{Host, HostOptions};
use models::ModelError;
use policy::ApprovalScope;
use ports::{AuditQuery, SecretError, SecretPersistence, Secrets};
use serde_json::{Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, TestPlatform, scripted_config};
use testkit::model::provider_settings;

use crate::report::{AttackMeasurements, AttackResultRow};

/// Keychain in memory that stays the same when a test closes the host and opens it again.
#[derive(Default)]
struct MemoryKeychain {
    secrets: Mutex<HashMap<String, String>>,
    marks: Mutex<HashMap<String, String>>,
    locked: AtomicBool,
    /// `true` to simulate a computer whose keychain is unavailable.
    is_unavailable: AtomicBool,
}

impl Secrets for MemoryKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if self.locked.load(Ordering::SeqCst) {
            return Err(SecretError::Locked("it is locked".to_owned()));
        }
        if self.is_unavailable.load(Ordering::SeqCst) {
            return Ok(None);
        }
        Ok(self.secrets.lock().unwrap().get(key).cloned())
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        if self.is_unavailable.load(Ordering::SeqCst) {
            return Ok(SecretPersistence::ThisRun { cause: "there is no keychain".to_owned() });
        }
        self.secrets.lock().unwrap().insert(key.to_owned(), secret.to_owned());
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.secrets.lock().unwrap().remove(key);
        Ok(())
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        Ok(self.secrets.lock().unwrap().keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    }

    fn read_rollback_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.marks.lock().unwrap().get(name).cloned())
    }

    fn set_rollback_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        self.marks.lock().unwrap().insert(name.to_owned(), mark.to_owned());
        Ok(())
    }
}

fn start_result_row(what: &str) -> AttackResultRow {
    let row = AttackResultRow::default();
    row.set_name(what);
    row
}

fn report_withstood(mut row: AttackResultRow) {
    row.record_withstood(AttackMeasurements { slowest: Duration::ZERO, memory: 0, exit_time: Duration::ZERO });
}

async fn open_host(folder: tempfile::TempDir, keychain: &Arc<MemoryKeychain>, is_first: bool) -> TestApp {
    let servers = if is_first { vec![("bad", scripted_config(&[]))] } else { Vec::new() };
    TestApp::start_with_secrets(folder, servers, HostOptions::default(), keychain.clone()).await
}

/// Starts the server named `bad` with a permanent approval.
async fn approve_permanently(app: &TestApp) {
    app.host.start_server("bad".into()).await.unwrap();
    let request = app.consent_request("bad", "its start", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("bad", "ready", |server| server.state == ServerState::Ready).await;
}

async fn count_grants(host: &Host) -> usize {
    host.grants().await.unwrap().len()
}

/// Polls the condition `holds` until it is true, and returns the time that this took.
async fn wait_until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) -> Duration {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < EVENT_TIMEOUT, "{what}");
        // sleep: polls until the condition holds, which no event reports.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    start.elapsed()
}

fn logged_entries(app: &TestApp, kind: &str) -> Vec<String> {
    let query = AuditQuery { kind: Some(kind.to_owned()), ..AuditQuery::latest(100) };
    app.host.ports().audit.read(&query).unwrap().into_iter().map(|entry| entry.subject).collect()
}

fn read_document(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// Approves a start permanently, closes the host, changes the file of the grants with `change`, and opens the host
/// again. Asserts that the next start requires consent.
async fn assert_consent_required_after(what: &str, change: impl FnOnce(&Path)) {
    let row = start_result_row(what);
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 1, "{what}: an unchanged file is effective at the next start");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let file = folder.path().join("data/grants.json");
    change(&file);
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 0, "{what}: no entry of the file is effective");
    app.host.start_server("bad".into()).await.unwrap();
    let request = app.consent_request("bad", "its start", |_| true).await;
    assert!(matches!(request.body, ConsentRequestBody::StartServer { .. }), "{what}: the start requires consent");
    let problem = app.host.snapshot().await.unwrap().config_problem.expect("the notice is shown");
    assert!(problem.file.unwrap().ends_with("grants.json"), "{what}: the notice names the file: {}", problem.message);
    let logged = logged_entries(&app, "document");
    assert!(logged.iter().any(|entry| entry.starts_with("grants.json: ")), "{what}: the event is logged: {logged:?}");
    // New approvals of the user are effective.
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    assert_eq!(count_grants(&app.host).await, 1, "{what}: a new approval is effective");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 1, "{what}: the approval is effective after the next start");
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s21_forged_approvals_are_ignored_shown_and_logged() {
    assert_consent_required_after("S21, approvals without a seal", |file| {
        let grants = read_document(file)["document"].clone();
        std::fs::write(file, grants.to_string()).unwrap();
    })
    .await;
    assert_consent_required_after("S21, approvals changed under their seal", |file| {
        let text = std::fs::read_to_string(file).unwrap().replace("\"since\": 1", "\"since\": 2");
        std::fs::write(file, text).unwrap();
    })
    .await;
    assert_consent_required_after("S21, approvals with a seal of another key", |file| {
        let mut forged = read_document(file);
        forged["seal"]["mac"] = json!("07".repeat(32));
        std::fs::write(file, forged.to_string()).unwrap();
    })
    .await;
}

#[tokio::test]
async fn s21_revoked_approval_is_not_restored_by_an_old_file() {
    let row = start_result_row("S21, an older copy of the approvals");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    let file = app.folder.path().join("data/grants.json");
    let old = std::fs::read(&file).unwrap();
    let id = app.host.grants().await.unwrap()[0].id;
    assert!(app.host.revoke_grant(id).await.unwrap(), "the grant was revoked");
    let is_marked = || async { keychain.marks.lock().unwrap().values().any(|mark| mark.contains("grants.json 2")) };
    wait_until("the keychain knows of it", is_marked).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    std::fs::write(&file, &old).unwrap();
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 0, "the grant stays revoked");
    assert!(!logged_entries(&app, "document").is_empty(), "the event is logged");
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s21_unsealed_approvals_are_adopted_once() {
    let row = start_result_row("S21, approvals of a version without seals");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let file = folder.path().join("data/grants.json");
    let grants_only = read_document(&file)["document"].clone();
    std::fs::write(&file, grants_only.to_string()).unwrap();
    // In versions without seals, the keychain contains none.
    keychain.marks.lock().unwrap().clear();
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 1, "the existing grants are imported");
    let logged = logged_entries(&app, "document");
    assert!(logged.iter().any(|entry| entry.contains("for the first time")), "the import is logged: {logged:?}");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    std::fs::write(&file, grants_only.to_string()).unwrap();
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 0, "the import is not repeated");
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s21_approvals_are_not_used_while_the_keychain_is_locked() {
    let row = start_result_row("S21, approvals whose seal can't be checked");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    keychain.locked.store(true, Ordering::SeqCst);
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 0, "no entry of the file is effective");
    assert!(app.host.snapshot().await.unwrap().config_problem.is_some(), "the notice is shown");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    keychain.locked.store(false, Ordering::SeqCst);
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 1, "the grants are effective once the keychain is unlocked");
    app.host.close().await;
    report_withstood(row);
}

/// An attacker removes the authentication codes (seals) from the files of approvals, and makes the keychain
/// unavailable. No approval in these files is used.
#[tokio::test]
async fn s21_forged_approvals_are_not_used_without_the_keychain() {
    let row = start_result_row("S21, approvals without a seal, and the keychain is gone");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let data = folder.path().join("data");
    for name in ["grants.json", "pins.json"] {
        let own = read_document(&data.join(name))["document"].clone();
        std::fs::write(data.join(name), own.to_string()).unwrap();
    }
    keychain.is_unavailable.store(true, Ordering::SeqCst);
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(count_grants(&app.host).await, 0, "no entry of the file is effective");
    let problem = app.host.snapshot().await.unwrap().config_problem.expect("the notice is shown");
    assert!(problem.message.contains("sealed"), "the notice states the reason: {}", problem.message);
    app.host.start_server("bad".into()).await.unwrap();
    app.consent_request("bad", "its start", |request| matches!(request.body, ConsentRequestBody::StartServer { .. }))
        .await;
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s11_revocation_applies_to_other_instances() {
    let row = start_result_row("S11, an approval is revoked while another instance runs");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    let (config, data) = (app.folder.path().join("mcp.json"), app.folder.path().join("data"));
    let ports = store::open_with(&config, &data, Arc::new(TestPlatform::default()), keychain.clone()).unwrap();
    let other = Host::start(ports, HostOptions::default()).await;
    approve_permanently(&app).await;
    wait_until("the other program has it", || async { count_grants(&other).await == 1 }).await;
    let id = app.host.grants().await.unwrap()[0].id;
    assert!(app.host.revoke_grant(id).await.unwrap(), "the grant was revoked");
    let took = wait_until("it ends for the other", || async { count_grants(&other).await == 0 }).await;
    // Debug builds share their machine with other processes.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
    assert!(took < most, "the revocation took {took:?}");
    other.close().await;
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s11_externally_changed_provider_is_not_used_until_confirmed() {
    let row = start_result_row("S11, the address of a provider in models.json");
    let (old, new) = ("http://127.0.0.1:9/v1", "http://127.0.0.1:10/elsewhere");
    for keychain in [true, false] {
        let secrets: Arc<dyn Secrets> = if keychain {
            Arc::new(MemoryKeychain::default())
        } else {
            Arc::new(ports::secrets::SecretsInMemory::default())
        };
        let folder = tempfile::tempdir().unwrap();
        let app = TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), secrets).await;
        app.host.set_provider(provider_settings(old)).await.unwrap();
        let logged = logged_entries(&app, "provider");
        assert!(logged.iter().any(|entry| entry.contains(old)), "the change of the user is logged: {logged:?}");
        let path = app.folder.path().join("data/models.json");
        let text = std::fs::read_to_string(&path).unwrap().replace(old, new);
        std::fs::write(&path, text).unwrap();
        let problem = || async { app.host.providers().await.unwrap().providers[0].problem.clone() };
        wait_until("it is seen", || async { problem().await.is_some() }).await;
        let expected = ModelError::Unconfirmed { was: Some(old.to_owned()), now: new.to_owned() };
        assert_eq!(problem().await, Some(expected.clone()), "the notice shows the old and the new address");
        let answer = app.host.provider_registry().await.unwrap().models("own").await;
        assert_eq!(answer.err(), Some(expected), "no request is sent to the new address");
        let logged = logged_entries(&app, "provider");
        assert!(logged[0].contains(old) && logged[0].contains(new), "the change is logged: {logged:?}");
        app.host.set_provider(provider_settings(new)).await.unwrap();
        assert_eq!(problem().await, None, "the address is used once the user has confirmed it");
        app.host.close().await;
    }
    report_withstood(row);
}

#[tokio::test]
async fn s04_removed_confirmation_does_not_shorten_the_log() {
    let row = start_result_row("S04, the file of what was confirmed is removed, and the settings keep less of the log");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    let settings = AppSettings { audit_days: 365, ..AppSettings::default() };
    app.host.set_settings(settings).await.unwrap();
    let is_marked = || async { keychain.marks.lock().unwrap().values().any(|mark| mark.contains("confirmed.json")) };
    wait_until("the keychain knows of it", is_marked).await;
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let app = open_host(folder, &keychain, false).await;
    assert_eq!(app.host.snapshot().await.unwrap().settings.audit_days, 365, "an unchanged file is effective");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let data = folder.path().join("data");
    std::fs::remove_file(data.join("confirmed.json")).unwrap();
    let mut short = read_document(&data.join("settings.json"));
    (short["auditDays"], short["auditMegabytes"]) = (json!(1), json!(1));
    std::fs::write(data.join("settings.json"), short.to_string()).unwrap();
    let app = open_host(folder, &keychain, false).await;
    let AppSettings { audit_days, audit_megabytes, .. } = app.host.snapshot().await.unwrap().settings;
    let unchanged = AppSettings::default();
    assert_eq!(
        (audit_days, audit_megabytes),
        (unchanged.audit_days, unchanged.audit_megabytes),
        "the settings equal those of a new installation"
    );
    let logged = logged_entries(&app, "document");
    assert!(logged.iter().any(|entry| entry == "confirmed.json: it was removed"), "the reset is logged: {logged:?}");
    app.host.close().await;
    report_withstood(row);
}

#[tokio::test]
async fn s04_removed_log_is_reported() {
    let row = start_result_row("S04, the log is taken away");
    let keychain = Arc::new(MemoryKeychain::default());
    let app = open_host(tempfile::tempdir().unwrap(), &keychain, true).await;
    approve_permanently(&app).await;
    app.host.close().await;
    let log = Arc::clone(&app.host.ports().audit);
    assert!(log.verify().unwrap().is_proven(), "the log is verified");
    let file = app.folder.path().join("data/audit.db");
    let TestApp { folder, host, platform } = app;
    drop((log, host, platform));
    for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(file.with_file_name(name));
    }
    let app = open_host(folder, &keychain, false).await;
    assert!(!app.host.ports().audit.verify().unwrap().is_intact(), "the missing entries are reported");
    app.host.close().await;
    report_withstood(row);
}
