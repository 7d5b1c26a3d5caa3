//! Folders that are shared as roots: a server receives none after the user has revoked them, or while it is muted.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::StoreError;
use host::HostOptions;
use host::view::{ConsentRequestBody, UserDecision};
use mcp_proto::types::ContentBlock;
use policy::ApprovalScope;
use ports::secrets::SecretsInMemory;
use ports::server_config::{SandboxConfig, ServerEntry, StdioConfig};
use ports::{Document, Documents};
use serde_json::{Map, Value, json};
use testkit::app::{TestApp, demo_config};
use testkit::deadline::poll_until;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::audit::{CallOutcome, ScriptedAuditLog, call_outcome, start_with_scripted_audit_log};

const WAIT_TIMEOUT: Duration = testkit::app::EVENT_TIMEOUT;

fn list_folders(app: &TestApp, id: &str) -> JoinHandle<CallOutcome> {
    list_folders_in(app, id, None)
}

fn list_folders_in(app: &TestApp, id: &str, conversation: Option<&str>) -> JoinHandle<CallOutcome> {
    let (host, id, conversation) = (app.host.clone(), id.to_owned(), conversation.map(str::to_owned));
    tokio::spawn(
        async move { host.call_tool(id, "harbour".into(), "list_folders".into(), Map::new(), conversation).await },
    )
}

/// Returns the text in the result of a call, which must have succeeded.
fn result_text(called: CallOutcome) -> String {
    let (result, _) = called.expect("the call returns a result");
    let texts = result.content.into_iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text),
        _ => None,
    });
    texts.map(|text| text.to_string()).collect()
}

/// Returns a host with a server that has received one shared folder as a root, its audit log, and the URI of the root.
async fn server_with_roots() -> (TestApp, Arc<ScriptedAuditLog>, String) {
    let (app, disk) = start_with_scripted_audit_log().await;
    let folder = std::fs::canonicalize(app.folder.path()).unwrap();
    let first = list_folders(&app, "shares");
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    let request = app.consent_request("harbour", "its folders", |q| q.body == ConsentRequestBody::Roots).await;
    app.decide(&request, UserDecision::Share(vec![folder.clone()])).await;
    let uri = format!("file://{}", folder.display());
    assert!(result_text(call_outcome(first).await).contains(&uri), "the server receives the folder");
    assert!(
        result_text(call_outcome(list_folders(&app, "again")).await).contains(&uri),
        "a later request requires no consent"
    );
    (app, disk, uri)
}

/// Starts a call during which the server requests its roots, while the audit log delays the entry about the response to
/// that request.
async fn call_with_slow_audit_log(app: &TestApp, disk: &ScriptedAuditLog) -> JoinHandle<CallOutcome> {
    disk.slow.store(true, Ordering::SeqCst);
    let waits = list_folders(app, "waits");
    assert!(poll_until(WAIT_TIMEOUT, || disk.is_delayed("tool")).await, "the entry of the call is submitted");
    disk.release_delayed_entries();
    assert!(poll_until(WAIT_TIMEOUT, || disk.is_delayed("roots")).await, "the entry of the roots is submitted");
    waits
}

fn audited_decisions(app: &TestApp) -> Vec<String> {
    app.entries_of_kind("roots").into_iter().map(|entry| entry.decision.into_owned()).collect()
}

#[tokio::test]
async fn e7_denied_folders_do_not_request_consent_again() {
    let (app, _disk) = start_with_scripted_audit_log().await;
    let first = list_folders_in(&app, "denied", Some("c"));
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    let request = app.consent_request("harbour", "its folders", |q| q.body == ConsentRequestBody::Roots).await;
    app.decide(&request, UserDecision::Deny).await;
    assert!(result_text(call_outcome(first).await).contains("shares 0 folders"), "the server receives an empty list");
    let again = result_text(call_outcome(list_folders_in(&app, "again", Some("c"))).await);
    assert!(again.contains("shares 0 folders"), "a later request requires no consent: {again}");
    let entries = app.entries_of_kind("roots");
    let recorded: Vec<_> = entries.iter().map(|entry| (&*entry.decision, entry.conversation.as_deref())).collect();
    assert_eq!(recorded, [("denied", Some("c")); 2], "no request is recorded as allowed: {entries:?}");
    let shown = app.host.snapshot().await.unwrap().servers.into_iter().find(|server| server.name == "harbour").unwrap();
    assert_eq!(shown.roots, Some(Vec::new()), "the view contains the decision");
}

#[tokio::test]
async fn e7_sandboxed_server_without_folders_receives_none_without_consent() {
    let config = StdioConfig {
        command: testkit::binaries::demo_server().display().to_string(),
        sandbox: Some(SandboxConfig::default()),
        ..StdioConfig::default()
    };
    let app = TestApp::start(vec![("harbour", config.into())]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let called = list_folders(&app, "none");
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let result = result_text(call_outcome(called).await);
    assert!(
        result.contains("shares 0 folders"),
        "no folder could reach the server, so no consent is required: {result}"
    );
    let entries = app.entries_of_kind("roots");
    let [entry] = &entries[..] else { panic!("expected one entry: {entries:?}") };
    assert_eq!((&*entry.decision, &*entry.by), ("allowed", "policy"), "the response is audited");
    assert_eq!(app.server("harbour").await.roots, None, "nothing is decided for another sandbox");
    app.host.close().await;
}

#[tokio::test]
async fn request_that_a_rule_denies_is_recorded_in_the_conversation_of_its_call() {
    let (app, _disk) = start_with_scripted_audit_log().await;
    app.add_rule(json!({ "effect": "deny", "server": "harbour", "direction": "from_server" })).await;
    let called = list_folders_in(&app, "denied", Some("c"));
    let request = app.consent_request("harbour", "a tool", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    assert!(result_text(call_outcome(called).await).contains("shares 0 folders"), "the server receives an empty list");
    let entries = app.entries_of_kind("roots");
    let recorded: Vec<_> = entries.iter().map(|entry| (&*entry.decision, entry.conversation.as_deref())).collect();
    assert_eq!(recorded, [("denied", Some("c"))], "the entry names the conversation: {entries:?}");
    app.host.close().await;
}

#[tokio::test]
async fn shared_folders_are_returned_for_each_request_of_their_server_only() {
    let (app, _disk) = start_with_scripted_audit_log().await;
    let entry = ServerEntry { name: "other".into(), config: demo_config(&[]) };
    app.host.add_server(entry).await.unwrap();
    app.ready("other").await;
    app.until("other", "known whole", |s| s.counts[0] >= 16).await;
    let user = app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let mut calls = Vec::new();
    for (n, server) in ["harbour", "harbour", "other"].into_iter().enumerate() {
        let host = app.host.clone();
        calls.push(tokio::spawn(async move {
            host.call_tool(n.to_string(), server.into(), "list_folders".into(), Map::new(), None).await
        }));
    }
    let requests = async || app.consent_requests().await.into_iter().filter(|q| q.body == ConsentRequestBody::Roots);
    while requests().await.count() < 3 {
        tokio::task::yield_now().await;
    }
    user.abort();
    let folder = std::fs::canonicalize(app.folder.path()).unwrap();
    let request = app.consent_request("harbour", "its folders", |q| q.body == ConsentRequestBody::Roots).await;
    app.decide(&request, UserDecision::Share(vec![folder.clone()])).await;
    let uri = format!("file://{}", folder.display());
    let other = calls.pop().unwrap();
    for call in calls {
        assert!(result_text(call_outcome(call).await).contains(&uri), "each request of the server receives the folder");
    }
    app.host.deny_all_requests("harbour".into(), false).await.unwrap();
    let left: Vec<_> = requests().await.collect();
    let [request] = &left[..] else { panic!("expected the request of the other server: {left:?}") };
    assert_eq!(request.server, "other", "the remaining request is the other server's");
    app.decide(request, UserDecision::Deny).await;
    assert!(!result_text(call_outcome(other).await).contains(&uri), "the other server receives no folder");
    app.host.close().await;
}

#[tokio::test]
async fn muted_server_receives_no_folders() {
    let (app, _disk, uri) = server_with_roots().await;
    app.host.deny_all_requests("harbour".into(), true).await.unwrap();
    let result = result_text(call_outcome(list_folders(&app, "muted")).await);
    assert!(!result.contains(&uri), "the stored decision does not apply to a muted server: {result}");
    app.host.unmute_server("harbour".into()).await.unwrap();
    let result = result_text(call_outcome(list_folders(&app, "again allowed")).await);
    assert!(result.contains(&uri), "the stored decision applies after the mute: {result}");
    app.host.close().await;
}

#[tokio::test]
async fn server_muted_while_the_audit_entry_is_written_receives_no_folders() {
    let (app, disk, uri) = server_with_roots().await;
    let waits = call_with_slow_audit_log(&app, &disk).await;
    app.host.deny_all_requests("harbour".into(), true).await.unwrap();
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    let result = result_text(call_outcome(waits).await);
    assert!(!result.contains(&uri), "a server muted meanwhile receives no folder: {result}");
    assert_eq!(
        audited_decisions(&app),
        ["allowed", "allowed", "allowed", "withdrawn"],
        "the log records that nothing was sent"
    );
    app.host.close().await;
}

#[tokio::test]
async fn folders_revoked_externally_while_the_entry_is_written_are_not_sent() {
    let (app, disk, uri) = server_with_roots().await;
    let waits = call_with_slow_audit_log(&app, &disk).await;
    // Another instance changes the file.
    std::fs::write(app.folder.path().join("data/roots.json"), "{}").unwrap();
    app.until("harbour", "without folders", |server| server.roots.is_none()).await;
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    let request = app.consent_request("harbour", "its folders anew", |q| q.body == ConsentRequestBody::Roots).await;
    assert!(!waits.is_finished(), "the request waits for the decision");
    assert_eq!(
        audited_decisions(&app),
        ["allowed", "allowed", "allowed", "withdrawn"],
        "the log records that nothing was sent"
    );
    app.decide(&request, UserDecision::Deny).await;
    let result = result_text(call_outcome(waits).await);
    assert!(!result.contains(&uri), "the new decision applies: {result}");
    app.host.close().await;
}

#[tokio::test]
async fn folders_revoked_by_the_user_while_the_entry_is_written_are_not_sent() {
    let (app, disk, uri) = server_with_roots().await;
    let waits = call_with_slow_audit_log(&app, &disk).await;
    let host = app.host.clone();
    let taken_back = tokio::spawn(async move { host.set_roots("harbour".into(), vec![]).await });
    assert!(poll_until(WAIT_TIMEOUT, || disk.waiting.lock().unwrap().len() == 2).await, "both entries wait");
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    taken_back.await.unwrap().expect("the folder is revoked");
    let result = result_text(call_outcome(waits).await);
    assert!(!result.contains(&uri), "a revoked folder is not sent: {result}");
    app.host.close().await;
}

/// Documents on a simulated disk. A test can let changes of one document fail, and can report external changes of the
/// document.
pub(crate) struct FailingDocuments {
    documents: Arc<dyn Documents>,
    document: Document,
    pub(crate) full: AtomicBool,
    changed: Mutex<Option<mpsc::Sender<()>>>,
    /// Number of times that the host has read the document.
    reads: AtomicU64,
    /// Number of failed changes of the document.
    pub(crate) refused: AtomicU64,
}

impl FailingDocuments {
    pub(crate) fn over(documents: Arc<dyn Documents>, document: Document) -> Self {
        Self {
            documents,
            document,
            full: AtomicBool::new(false),
            changed: Mutex::default(),
            reads: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }
}

impl Documents for FailingDocuments {
    fn path(&self) -> PathBuf {
        self.documents.path()
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        self.reads.fetch_add(u64::from(name == self.document), Ordering::SeqCst);
        self.documents.read(name)
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        self.documents.set_aside(name)
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        self.update(name, &mut |_| value.clone())
    }

    fn update(&self, name: Document, change: &mut dyn FnMut(Option<Value>) -> Value) -> Result<(), StoreError> {
        if name == self.document && self.full.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(StoreError { path: name.file_name().to_owned(), cause: "the disk is full".to_owned() });
        }
        self.documents.update(name, change)
    }

    fn watch(&self, name: Document, changed: mpsc::Sender<()>) {
        if name == self.document {
            *self.changed.lock().unwrap() = Some(changed);
        }
    }
}

#[tokio::test]
async fn revoked_folders_are_not_restored_by_an_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<Mutex<Option<Arc<FailingDocuments>>>> = Arc::default();
    let own = Arc::clone(&disk);
    let servers = vec![("harbour", demo_config(&[]))];
    let app = TestApp::start_with_changed_ports(
        folder,
        servers,
        HostOptions::default(),
        Arc::new(SecretsInMemory::default()),
        |ports| {
            let documents = Arc::new(FailingDocuments::over(ports.documents.clone(), Document::Roots));
            *own.lock().unwrap() = Some(documents.clone());
            ports::Ports { documents, ..ports }
        },
    )
    .await;
    let disk = disk.lock().unwrap().clone().expect("the ports were changed");
    let shared = std::fs::canonicalize(app.folder.path()).unwrap();
    let file = app.folder.path().join("data/roots.json");
    app.host.set_roots("harbour".into(), vec![shared]).await.unwrap();
    assert!(poll_until(WAIT_TIMEOUT, || file.exists()).await, "the folders are written");
    disk.full.store(true, Ordering::SeqCst);
    app.host.set_roots("harbour".into(), vec![]).await.unwrap();
    assert!(
        poll_until(WAIT_TIMEOUT, || disk.refused.load(Ordering::SeqCst) > 0).await,
        "the revocation can't be written"
    );
    // Reports the earlier change of the file now.
    let (changed, before) = (disk.changed.lock().unwrap().clone().unwrap(), disk.reads.load(Ordering::SeqCst));
    changed.send(()).await.unwrap();
    assert!(poll_until(WAIT_TIMEOUT, || disk.reads.load(Ordering::SeqCst) > before).await, "the file is read again");
    // The host receives the result of the read before this request.
    app.host.set_settings(app.host.snapshot().await.unwrap().settings).await.unwrap();
    assert_eq!(app.server("harbour").await.roots, Some(vec![]), "a revoked folder stays revoked");
    app.host.close().await;
}
