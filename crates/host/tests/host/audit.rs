//! Audit entries: written before a payload is sent, and durable before its result is shown.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use testkit::calls::UserCalls as _;

use domain::StoreError;
use domain::call::{CallFailure, CallRefusal};
use host::view::{AppSettings, ConsentRequestBody, UserDecision};
use host::{Host, HostOptions};
use mcp_proto::session::ListKind;
use mcp_proto::types::CallToolResult;
use policy::ApprovalScope;
use ports::secrets::SecretsInMemory;
use ports::server_config::ServerEntry;
use ports::{
    AuditAppendStatus, AuditEntry, AuditLog, AuditQuery, AuditReceipts, AuditRetention, AuditVerdict, WrittenAuditEntry,
};
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, TestPlatform, demo_config};
use testkit::deadline::{poll_until, poll_until_async, yield_until_idle};
use tokio::task::JoinHandle;

/// An audit log whose writes a test can delay or let fail.
pub(crate) struct ScriptedAuditLog {
    log: Arc<dyn AuditLog>,
    receipts: Mutex<Option<Arc<AuditReceipts>>>,
    /// Set to make all writes to the log fail.
    pub(crate) full: AtomicBool,
    /// Set to delay the writes of submitted audit entries.
    pub(crate) slow: AtomicBool,
    pub(crate) waiting: Mutex<Vec<(u64, AuditEntry)>>,
    /// Set to panic when the host submits the next entry.
    pub(crate) panics: AtomicBool,
    /// Position of the last entry that counts as durable.
    durable: AtomicU64,
    /// Set to make queries for the position of the last durable entry fail.
    broken: AtomicBool,
    /// Receiver that delays the next read of entries of one kind until its sender sends a value or is dropped.
    pub(crate) held_read: Mutex<Option<mpsc::Receiver<()>>>,
    /// Number of completed reads of the log.
    pub(crate) reads: AtomicU64,
}

impl ScriptedAuditLog {
    pub(crate) fn wrapping(log: Arc<dyn AuditLog>) -> Self {
        Self {
            log,
            receipts: Mutex::default(),
            full: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            waiting: Mutex::default(),
            panics: AtomicBool::new(false),
            durable: AtomicU64::new(u64::MAX),
            broken: AtomicBool::new(false),
            held_read: Mutex::default(),
            reads: AtomicU64::new(0),
        }
    }

    pub(crate) fn receipts(&self) -> Arc<AuditReceipts> {
        self.receipts.lock().unwrap().clone().expect("the host receives receipts")
    }

    fn error(&self) -> StoreError {
        StoreError { path: self.path().display().to_string(), cause: "the disk is full".to_owned() }
    }

    /// Returns `true` if an entry of this kind waits to be written.
    pub(crate) fn is_delayed(&self, kind: &str) -> bool {
        self.waiting.lock().unwrap().iter().any(|(_, entry)| entry.kind == kind)
    }

    /// Writes the delayed entries, or fails to write them, and returns the receipts.
    pub(crate) fn append_delayed_entries(&self) -> Vec<(u64, Result<WrittenAuditEntry, StoreError>)> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
        waiting.into_iter().map(|(ticket, entry)| (ticket, self.append(entry))).collect()
    }

    /// Writes the delayed entries, or fails to write them, and sends the receipts to the host.
    pub(crate) fn release_delayed_entries(&self) {
        self.receipts().report(self.append_delayed_entries());
    }
}

impl AuditLog for ScriptedAuditLog {
    fn path(&self) -> PathBuf {
        self.log.path()
    }

    fn set_receipts(&self, receipts: Arc<AuditReceipts>) {
        *self.receipts.lock().unwrap() = Some(receipts);
    }

    fn append(&self, entry: AuditEntry) -> Result<WrittenAuditEntry, StoreError> {
        if self.full.load(Ordering::SeqCst) { Err(self.error()) } else { self.log.append(entry) }
    }

    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<AuditAppendStatus, StoreError> {
        assert!(!self.panics.load(Ordering::SeqCst), "the log panics as requested by the test");
        if self.slow.load(Ordering::SeqCst) {
            self.waiting.lock().unwrap().push((ticket, entry));
            return Ok(AuditAppendStatus::Later);
        }
        self.append(entry).map(AuditAppendStatus::Written)
    }

    fn durable_position(&self) -> Result<u64, StoreError> {
        if self.broken.load(Ordering::SeqCst) { Err(self.error()) } else { Ok(self.durable.load(Ordering::SeqCst)) }
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.log.flush()
    }

    fn read(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        let held = query.kind.as_ref().and_then(|_| self.held_read.lock().unwrap().take());
        if let Some(held) = held {
            let _ = held.recv();
        }
        let read = self.log.read(query);
        self.reads.fetch_add(1, Ordering::SeqCst);
        read
    }

    fn verify(&self) -> Result<AuditVerdict, StoreError> {
        self.log.verify()
    }

    fn verify_export(&self, file: &Path) -> Result<AuditVerdict, StoreError> {
        self.log.verify_export(file)
    }

    fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.log.export(out)
    }

    fn set_retention(&self, keep: AuditRetention) {
        self.log.set_retention(keep);
    }
}

pub(crate) type CallOutcome = Result<(CallToolResult, Option<Map<String, Value>>), CallFailure>;

/// Returns a host with the demo server and a permanent grant for one of its tools.
pub(crate) async fn start_with_scripted_audit_log() -> (TestApp, Arc<ScriptedAuditLog>) {
    let folder = tempfile::tempdir().unwrap();
    let platform = Arc::new(TestPlatform::default());
    let (config, data) = (folder.path().join("mcp.json"), folder.path().join("data"));
    let mut ports = store::open_with(&config, &data, platform.clone(), Arc::new(SecretsInMemory::default())).unwrap();
    let disk = Arc::new(ScriptedAuditLog::wrapping(ports.audit.clone()));
    ports.audit = disk.clone();
    let host = Host::start(ports, HostOptions::default()).await;
    let entry = ServerEntry { name: "harbour".to_owned(), config: demo_config(&[]) };
    host.add_server(entry).await.unwrap();
    let app = TestApp { folder, host, platform };
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let first = spawn_call(&app, "first");
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    assert!(first.await.unwrap().is_ok(), "an approved call returns a result");
    (app, disk)
}

fn spawn_call(app: &TestApp, id: &str) -> JoinHandle<CallOutcome> {
    let (host, id) = (app.host.clone(), id.to_owned());
    let arguments = json!({"a": 1, "b": 2}).as_object().unwrap().clone();
    tokio::spawn(async move { host.call_tool(id, "harbour".into(), "add".into(), arguments, None).await })
}

/// Returns the number of `tools/call` requests that the host has sent to the server.
pub(crate) async fn sent_call_count(app: &TestApp) -> usize {
    let page = app.host.activity_page("harbour".to_owned(), 0, usize::MAX).await.unwrap();
    page.entries.iter().filter(|e| e.sent && e.method.as_deref() == Some("tools/call")).count()
}

pub(crate) async fn call_outcome(call: JoinHandle<CallOutcome>) -> CallOutcome {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends").expect("the task of the call did not panic")
}

/// Waits until the host has submitted an audit entry that the log delays.
pub(crate) async fn wait_until_delayed(disk: &ScriptedAuditLog) {
    while disk.waiting.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Waits until the server has responded to this number of calls. By then, each call has ended unless the host withholds
/// its result.
async fn wait_until_calls_are_answered(app: &TestApp, calls: usize) {
    let has_response = async || {
        let page = app.host.activity_page("harbour".to_owned(), 0, usize::MAX).await.unwrap();
        page.entries.iter().filter(|e| !e.sent && e.method.as_deref() == Some("tools/call")).count() >= calls
    };
    assert!(poll_until_async(EVENT_TIMEOUT, has_response).await, "the server responds");
    yield_until_idle().await;
}

/// Waits until the connection has executed all commands that were sent to it before.
async fn wait_until_commands_are_executed(app: &TestApp) {
    yield_until_idle().await;
    app.host.refresh_list("harbour".to_owned(), ListKind::Tools).await.expect("the list is read");
}

/// The result of a call is reported only once the call's audit entry is durable. Covers the requirement
/// [tools-audit-log].
#[tokio::test]
async fn result_is_shown_after_its_audit_entry_is_durable() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.durable.store(1, Ordering::SeqCst);
    let waits = spawn_call(&app, "second");
    wait_until_calls_are_answered(&app, 2).await;
    assert_eq!(sent_call_count(&app).await, 2, "the call is sent once its entry is written");
    assert!(!waits.is_finished(), "the result is withheld until the entry is durable");
    disk.receipts().notify_durable();
    yield_until_idle().await;
    assert!(!waits.is_finished(), "the result is withheld while only earlier entries are durable");
    disk.durable.store(u64::MAX, Ordering::SeqCst);
    disk.receipts().notify_durable();
    assert!(call_outcome(waits).await.is_ok(), "the result is shown once the entry is durable");

    disk.durable.store(1, Ordering::SeqCst);
    let lost = spawn_call(&app, "third");
    wait_until_calls_are_answered(&app, 3).await;
    disk.broken.store(true, Ordering::SeqCst);
    disk.receipts().notify_durable();
    let failure = call_outcome(lost).await.unwrap_err();
    assert!(
        matches!(&failure, CallFailure::Refused { text, .. } if text.contains("audit log") && text.contains("disk is full")),
        "a result whose decision may be lost is not shown: {failure:?}"
    );
    assert_eq!(failure.refusal(), Some(&CallRefusal::ResultWithheld), "the call was made: {failure:?}");
    app.host.close().await;
}

/// The host sends no payload if the audit log can't write the entry about it. Covers the requirement [tools-audit-log].
#[tokio::test]
async fn payload_is_not_sent_if_its_audit_entry_cannot_be_written() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.full.store(true, Ordering::SeqCst);
    let failure = call_outcome(spawn_call(&app, "second")).await.unwrap_err();
    assert!(matches!(&failure, CallFailure::Refused { text, .. } if text.contains("disk is full")), "{failure:?}");
    assert_eq!(failure.refusal(), Some(&CallRefusal::NotAudited), "{failure:?}");
    disk.slow.store(true, Ordering::SeqCst);
    let waits = spawn_call(&app, "third");
    wait_until_delayed(&disk).await;
    wait_until_commands_are_executed(&app).await;
    assert!(!waits.is_finished(), "a call waits until its entry is written");
    disk.release_delayed_entries();
    let failure = call_outcome(waits).await.unwrap_err();
    assert!(matches!(&failure, CallFailure::Refused { text, .. } if text.contains("disk is full")), "{failure:?}");
    let cancelled = spawn_call(&app, "fourth");
    wait_until_delayed(&disk).await;
    app.host.cancel_call("fourth".to_owned()).await.unwrap();
    assert_eq!(
        call_outcome(cancelled).await.unwrap_err(),
        CallFailure::Cancelled,
        "a call that waits can be cancelled"
    );
    disk.full.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    wait_until_commands_are_executed(&app).await;
    assert_eq!(sent_call_count(&app).await, 1, "none of these calls was sent");
    disk.release_delayed_entries();
    let decisions: Vec<String> =
        app.entries_of_kind("tool").into_iter().map(|entry| entry.decision.into_owned()).collect();
    assert_eq!(decisions, ["allowed", "allowed", "withdrawn"], "the log records that the cancelled call was not sent");
    let waits = spawn_call(&app, "fifth");
    wait_until_delayed(&disk).await;
    disk.release_delayed_entries();
    assert!(call_outcome(waits).await.is_ok(), "a call with a written entry is sent");

    // The approvals of the user must behave in the same way.
    disk.slow.store(false, Ordering::SeqCst);
    let (host, none) = (app.host.clone(), Map::new());
    let call =
        tokio::spawn(async move { host.call_tool("6".into(), "harbour".into(), "fail".into(), none, None).await });
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    disk.full.store(true, Ordering::SeqCst);
    let answer = app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(answer.unwrap_err(), host::DecisionError::Audit, "an approval that can't be written is refused");
    assert_eq!(sent_call_count(&app).await, 2, "nothing is sent without an entry");
    disk.full.store(false, Ordering::SeqCst);
    app.decide(&request, UserDecision::Deny).await;
    assert!(call_outcome(call).await.is_err(), "the consent request can still be denied");
    app.host.close().await;
}

#[tokio::test]
async fn approval_revoked_while_its_audit_entry_is_written_sends_nothing() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.slow.store(true, Ordering::SeqCst);
    let waits = spawn_call(&app, "second");
    wait_until_delayed(&disk).await;
    let grants = app.host.grants().await.unwrap();
    let tool = grants.iter().find(|grant| grant.words == "add").expect("the grant for the tool");
    app.host.revoke_grant(tool.id).await.unwrap();
    disk.release_delayed_entries();
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    assert_eq!(sent_call_count(&app).await, 1, "the call requires consent, and nothing was sent");
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    let entries = app.entries_of_kind("tool");
    let [_, allowed, withdrawn] = &entries[..] else {
        panic!("expected the entries of the previous call and of this one: {entries:?}")
    };
    assert_eq!(
        (allowed.decision.as_ref(), withdrawn.decision.as_ref()),
        ("allowed", "withdrawn"),
        "the log records that the allowed call was not sent"
    );
    assert_eq!(
        (&allowed.hash, &allowed.subject),
        (&withdrawn.hash, &withdrawn.subject),
        "both entries are about the same call"
    );
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    assert!(call_outcome(waits).await.is_ok(), "the call is sent after a new approval");
    app.host.close().await;
}

#[tokio::test]
async fn call_that_another_permission_allows_meanwhile_is_recorded_with_that_permission() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.slow.store(true, Ordering::SeqCst);
    let waits = spawn_call(&app, "second");
    wait_until_delayed(&disk).await;
    disk.slow.store(false, Ordering::SeqCst);
    let grants = app.host.grants().await.unwrap();
    let tool = grants.iter().find(|grant| grant.words == "add").expect("the grant for the tool");
    let rule = app.add_rule(json!({"effect": "allow", "server": "harbour", "tool": "add"})).await;
    app.host.revoke_grant(tool.id).await.unwrap();
    disk.release_delayed_entries();
    assert!(call_outcome(waits).await.is_ok(), "the rule allows the call");
    assert_eq!(sent_call_count(&app).await, 2, "the call is sent once");
    let entries: Vec<(String, String)> = app
        .entries_of_kind("tool")
        .into_iter()
        .skip(1)
        .map(|entry| (entry.decision.into_owned(), entry.rule.into_owned()))
        .collect();
    let expected = [
        ("allowed".to_owned(), format!("grant {}", tool.id.0)),
        ("withdrawn".to_owned(), "allowed-not-sent".to_owned()),
        ("allowed".to_owned(), format!("rule {rule}")),
    ];
    assert_eq!(entries, expected, "the last entry names the rule, which the call was sent by");
    app.host.close().await;
}

#[tokio::test]
async fn audit_entry_does_not_authorize_a_later_call_with_the_same_id() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.slow.store(true, Ordering::SeqCst);
    let cancelled = spawn_call(&app, "second");
    wait_until_delayed(&disk).await;
    app.host.cancel_call("second".to_owned()).await.unwrap();
    assert_eq!(call_outcome(cancelled).await.unwrap_err(), CallFailure::Cancelled, "the call was not sent yet");
    let (host, none) = (app.host.clone(), Map::new());
    let call =
        tokio::spawn(async move { host.call_tool("second".into(), "harbour".into(), "fail".into(), none, None).await });
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    assert_eq!(sent_call_count(&app).await, 1, "the approval of the previous call sends nothing");
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let answered = call_outcome(call).await;
    assert!(answered.is_ok(), "the user still decides about this call: {answered:?}");
    app.host.close().await;
}

#[tokio::test]
async fn audit_entry_contains_originator_payload_and_deciding_rule() {
    let (app, _disk) = start_with_scripted_audit_log().await;
    assert!(call_outcome(spawn_call(&app, "second")).await.is_ok(), "the second call is allowed by the grant");
    let settings = AppSettings { audit_contents: false, ..AppSettings::default() };
    app.host.set_settings(settings).await.unwrap();
    assert!(call_outcome(spawn_call(&app, "third")).await.is_ok(), "the third call is recorded by its hash only");
    let entries = app.entries_of_kind("tool");
    let [first, second, third] = &entries[..] else { panic!("three calls: {entries:?}") };
    assert_eq!((first.asker.as_ref(), first.by.as_ref()), ("user", "user"), "the user is the originator and decided");
    assert!(!first.rule.is_empty(), "the rule that required consent is recorded");
    assert_eq!(second.by, "grant", "the grant decided");
    assert!(second.rule.starts_with("grant "), "the grant is recorded: {}", second.rule);
    assert_eq!(second.content.as_deref(), Some(r#"{"a":1,"b":2}"#), "the payload is recorded");
    assert_eq!(third.content, None, "the payload is not recorded if that is disabled");
    assert_eq!(third.hash, second.hash, "the hash is recorded in any case");
    assert!(app.host.ports().audit.verify().unwrap().is_intact(), "the entries form one chain");
    app.host.close().await;
}

#[tokio::test]
async fn resource_read_is_audited_first() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let read = |id: &str| app.host.read_resource(id.into(), "harbour".into(), "harbour:///guide.md".into());
    read("1").await.expect("a resource is read");
    let entries = app.entries_of_kind("resource");
    let [entry] = &entries[..] else { panic!("one entry: {entries:?}") };
    assert_eq!(
        (entry.subject.as_str(), entry.decision.as_ref(), entry.asker.as_ref()),
        ("harbour:///guide.md", "allowed", "user"),
        "the log contains the resource and the originator"
    );
    let arguments = [("ship".to_owned(), "Aurora".to_owned())].into();
    let prompt = app.host.get_prompt("2".into(), "harbour".into(), "no-such-prompt".into(), arguments);
    prompt.await.expect_err("the prompt doesn't exist");
    let entries = app.entries_of_kind("prompt");
    assert_eq!(
        entries.last().and_then(|entry| entry.content.as_deref()),
        Some(r#"{"ship":"Aurora"}"#),
        "the arguments of a prompt are recorded regardless of its result"
    );
    disk.full.store(true, Ordering::SeqCst);
    let refused = read("3").await;
    assert!(
        matches!(&refused, Err(CallFailure::Refused { text, .. }) if text.contains("disk is full")),
        "a resource is not read without an entry: {refused:?}"
    );
    app.host.close().await;
}

#[tokio::test]
async fn start_denied_by_a_rule_is_recorded() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    let rule = json!({"effect": "deny", "identity": "*demo-server*", "direction": "both"});
    app.host.set_rule(serde_json::from_value(rule).unwrap()).await.unwrap();
    app.host.start_server("harbour".to_owned()).await.unwrap();
    let denied = || app.entries_of_kind("start-server");
    assert!(poll_until(EVENT_TIMEOUT, || !denied().is_empty()).await, "the denial is in the audit log");
    let entry = denied().remove(0);
    assert_eq!((entry.decision.as_ref(), entry.by.as_ref()), ("denied", "policy"));
    assert!(entry.subject.contains("demo-server"), "the entry names the command: {}", entry.subject);
    assert_eq!(entry.rule.as_ref(), "rule 1", "the entry names the rule");
}
