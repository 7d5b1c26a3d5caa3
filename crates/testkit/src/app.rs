//! Complete host whose files are in a temporary folder, with a scripted platform and helpers for consent requests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::time::ManualClock;
use domain::consent_request::ConsentRequestId;
use host::view::{ConsentRequestBody, ConsentRequestView, HostEvent, ServerState, ServerView, UserDecision};
use host::{Host, HostOptions};
use policy::PolicyRule;
use ports::server_config::{HttpConfig, ServerConfig, ServerEntry, StdioConfig};
use ports::{AuditEntry, AuditQuery, Platform};
use serde_json::Value;

/// Timeout for every event that a test expects, long enough for a machine that runs several test suites.
pub const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Name of the file with the administrator's policy rules, in the temporary folder of a test.
pub const MANAGED_POLICY_FILE: &str = "managed.json";

/// Simulated platform of the host, whose file dialogs and browser respond as the test has configured.
#[derive(Debug, Default)]
pub struct TestPlatform {
    /// Time that the simulated browser takes to open a URL.
    pub slow: Mutex<Duration>,
    /// Number of URLs that the host has requested to open, including those that the browser is still opening.
    pub begun: AtomicUsize,
    /// URLs that the simulated browser has opened, in order.
    pub opened: Mutex<Vec<String>>,
    /// Set if the simulated browser loads each opened URL and follows its redirect, like that of a signed-in user.
    /// Otherwise it only records the URL.
    pub browses: AtomicBool,
    /// Folder that the simulated user selects in a dialog, or `None` if the user cancels the dialog.
    pub folder: Mutex<Option<PathBuf>>,
    /// File that the simulated user selects for reading, or `None` if the user cancels the dialog.
    pub file: Mutex<Option<PathBuf>>,
    /// File that the simulated user selects for writing, or `None` if the user cancels the dialog.
    pub save_file: Mutex<Option<PathBuf>>,
    /// File names that the host suggested in save dialogs.
    pub proposed: Mutex<Vec<String>>,
    /// Consent requests for which the host has requested a desktop notification, as `server: kind`.
    pub announced: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Platform for TestPlatform {
    async fn open_url(&self, url: &str) -> Result<(), String> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let slow = *self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        tokio::time::sleep(slow).await;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(url.to_owned());
        if self.browses.load(Ordering::Relaxed) {
            let url = url.to_owned();
            // If the page can't be opened, the sign-in that waits for the browser reports the failure.
            tokio::spawn(async move { crate::browser::sign_in(&url).await });
        }
        Ok(())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Ok(self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        Ok(self.file.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn pick_save_file(&self, proposed: &str) -> Result<Option<PathBuf>, String> {
        self.proposed.lock().unwrap_or_else(PoisonError::into_inner).push(proposed.to_owned());
        Ok(self.save_file.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn announce(&self, server: &str, kind: &str, _: Option<ConsentRequestId>) {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{server}: {kind}"));
    }
}

/// Host under test whose files are in a temporary folder, with its simulated platform.
pub struct TestApp {
    /// Temporary folder that contains `mcp.json` and the data folder.
    pub folder: tempfile::TempDir,
    /// The host under test.
    pub host: Host,
    /// Platform that the host uses, whose responses the test configures.
    pub platform: Arc<TestPlatform>,
}

/// Returns the configuration of a local server with this program and these arguments.
pub fn local_config(program: PathBuf, args: &[&str]) -> ServerConfig {
    StdioConfig {
        command: program.display().to_string(),
        args: args.iter().map(|&a| a.to_owned()).collect(),
        ..StdioConfig::default()
    }
    .into()
}

/// Returns the configuration of a remote server at this URL, without restrictions of transport or revision.
pub fn remote_config(url: &str) -> ServerConfig {
    HttpConfig { url: url.to_owned(), ..HttpConfig::default() }.into()
}

/// Returns the configuration of the scripted server with these command line arguments.
pub fn scripted_config(args: &[&str]) -> ServerConfig {
    local_config(crate::binaries::scripted_server(), args)
}

/// Returns the configuration of the demo server with these command line arguments.
pub fn demo_config(args: &[&str]) -> ServerConfig {
    local_config(crate::binaries::demo_server(), args)
}

/// Enables sampling for these servers unless it is already configured, so that the host shows their sampling requests
/// as consent requests.
fn enable_sampling(ports: &ports::Ports, servers: &[&str]) {
    let turn_on = |document: Option<serde_json::Value>| {
        let mut document = document.unwrap_or_else(|| serde_json::json!({}));
        for server in servers {
            if document[*server].is_null() {
                document[*server] = serde_json::json!({ "on": true });
            }
        }
        document
    };
    let written = ports.documents.update(ports::Document::Sampling, &mut { turn_on });
    // If the keychain is locked, no settings can be authenticated, and those of an earlier start are kept.
    let is_locked = matches!(ports.documents.mac_state(), ports::DocumentMacState::Unavailable { .. });
    if let Err(error) = written
        && !is_locked
    {
        panic!("the folder can't be written to: {error}");
    }
}

impl TestApp {
    /// Starts a host whose settings contain these servers. The servers are not started.
    ///
    /// # Panics
    /// Panics if the folder can't be created or a server can't be added.
    pub async fn start(servers: Vec<(&str, ServerConfig)>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("no temporary folder: {e}"));
        Self::start_in_folder(folder, servers, HostOptions::default()).await
    }

    /// Starts a host with these servers, whose time of day is that of `clock`.
    ///
    /// # Panics
    /// Panics if the folder can't be created or a server can't be added.
    pub async fn start_with_clock(clock: Arc<ManualClock>, servers: Vec<(&str, ServerConfig)>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("no temporary folder: {e}"));
        let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
        Self::start_with_changed_ports(folder, servers, HostOptions::default(), secrets, |ports| ports::Ports {
            clock,
            ..ports
        })
        .await
    }

    /// Starts a host with these servers and options, whose files are in an existing folder.
    ///
    /// # Panics
    /// Panics if the folder can't be used or a server can't be added.
    pub async fn start_in_folder(
        folder: tempfile::TempDir,
        servers: Vec<(&str, ServerConfig)>,
        options: HostOptions,
    ) -> Self {
        // Tests must not use the keychain of the user who runs them.
        Self::start_with_secrets(folder, servers, options, Arc::new(ports::secrets::SecretsInMemory::default())).await
    }

    /// Starts a host with this keychain, whose files are in an existing folder.
    ///
    /// # Panics
    /// Panics if the folder can't be used or a server can't be added.
    pub async fn start_with_secrets(
        folder: tempfile::TempDir,
        servers: Vec<(&str, ServerConfig)>,
        options: HostOptions,
        secrets: Arc<dyn ports::Secrets>,
    ) -> Self {
        Self::start_with_changed_ports(folder, servers, options, secrets, |ports| ports).await
    }

    /// Starts a host with this keychain, whose files are in an existing folder. `change` can replace other ports (the
    /// interfaces of the host to its files and the system) before the start.
    ///
    /// # Panics
    /// Panics if the folder can't be used or a server can't be added.
    pub async fn start_with_changed_ports(
        folder: tempfile::TempDir,
        servers: Vec<(&str, ServerConfig)>,
        options: HostOptions,
        secrets: Arc<dyn ports::Secrets>,
        change: impl FnOnce(ports::Ports) -> ports::Ports,
    ) -> Self {
        let platform = Arc::new(TestPlatform::default());
        let (config, data) = (folder.path().join("mcp.json"), folder.path().join("data"));
        let ports = store::open_with(&config, &data, platform.clone(), secrets)
            .unwrap_or_else(|e| panic!("the folder can't be used: {e}"));
        // Tests must not use the administrator's rules of the computer that runs them.
        let managed = Arc::new(store::SystemPolicyFile::with_path(folder.path().join(MANAGED_POLICY_FILE)));
        let ports = change(ports::Ports { managed, ..ports });
        let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
        enable_sampling(&ports, &names);
        let host = Host::start(ports, options).await;
        for (name, config) in servers {
            let entry = ServerEntry { name: name.to_owned(), config };
            host.add_server(entry).await.unwrap_or_else(|e| panic!("server {name} was not added: {e}"));
        }
        Self { folder, host, platform }
    }

    /// Returns the current view of a server.
    ///
    /// # Panics
    /// Panics if there is no server with this name.
    pub async fn server(&self, name: &str) -> ServerView {
        let snapshot = self.host.snapshot().await.unwrap_or_else(|e| panic!("{e}"));
        snapshot
            .servers
            .into_iter()
            .find(|s| s.name == name)
            .unwrap_or_else(|| panic!("there is no server named {name}"))
    }

    /// Waits until the condition `holds` for a server, and returns its view. `what` describes the condition in the
    /// panic message.
    ///
    /// # Panics
    /// Panics with the state of the server if the condition does not hold within [`EVENT_TIMEOUT`].
    pub async fn until(&self, name: &str, what: &str, holds: impl Fn(&ServerView) -> bool) -> ServerView {
        let mut events = self.host.events();
        let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
        loop {
            let view = self.server(name).await;
            if holds(&view) {
                return view;
            }
            if tokio::time::timeout_at(deadline, events.next()).await.is_err() {
                panic!("{name} should be {what}, but is {:?}", view.state);
            }
        }
    }

    /// Starts a server, approves its command or URL once, and waits until it is ready and its lists have been read.
    ///
    /// # Panics
    /// Panics if the server does not become ready.
    pub async fn ready(&self, name: &str) -> ServerView {
        self.ready_with_scope(name, policy::ApprovalScope::Once).await
    }

    /// Starts a server like [`TestApp::ready`], but with a permanent grant, so that the host restarts it after it
    /// exits.
    ///
    /// # Panics
    /// Panics if the server does not become ready.
    pub async fn ready_with_grant(&self, name: &str) -> ServerView {
        self.ready_with_scope(name, policy::ApprovalScope::Always).await
    }

    async fn ready_with_scope(&self, name: &str, scope: policy::ApprovalScope) -> ServerView {
        self.approve_start_with_scope(name, scope).await;
        self.until(name, "ready", |s| s.state == ServerState::Ready).await;
        self.until(name, "known", |s| s.counts.iter().any(|&n| n > 0)).await
    }

    /// Starts a server and approves its command or URL once, without waiting until it is ready.
    ///
    /// # Panics
    /// Panics if no consent request for the start is queued.
    pub async fn approve_start(&self, name: &str) {
        self.approve_start_with_scope(name, policy::ApprovalScope::Once).await;
    }

    async fn approve_start_with_scope(&self, name: &str, scope: policy::ApprovalScope) {
        let started = self.host.start_server(name.to_owned()).await;
        assert!(matches!(started, Ok(())), "{name} can be started: {started:?}");
        let is_start = |q: &ConsentRequestView| {
            matches!(q.body, ConsentRequestBody::StartServer { .. } | ConsentRequestBody::ConnectServer { .. })
        };
        let request = self.consent_request(name, "its start", is_start).await;
        self.decide(&request, UserDecision::Allow(scope)).await;
    }

    /// Waits for a consent request of a server for which `fits` returns `true`, and returns it. `what` describes it in
    /// the panic message.
    ///
    /// # Panics
    /// Panics if no such request is queued within [`EVENT_TIMEOUT`].
    pub async fn consent_request(
        &self,
        name: &str,
        what: &str,
        fits: impl Fn(&ConsentRequestView) -> bool,
    ) -> ConsentRequestView {
        let mut events = self.host.events();
        let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
        loop {
            let requests = self.consent_requests().await;
            if let Some(found) = requests.iter().find(|q| q.server == name && fits(q)) {
                return found.clone();
            }
            if tokio::time::timeout_at(deadline, events.next()).await.is_err() {
                let state = self.server(name).await.state;
                panic!("{name} should request consent for {what}, but it is {state:?} and the queue is {requests:?}");
            }
        }
    }

    /// Returns the pending consent requests in the order of the queue.
    ///
    /// # Panics
    /// Panics if the host has stopped.
    pub async fn consent_requests(&self) -> Vec<ConsentRequestView> {
        self.host.snapshot().await.unwrap_or_else(|e| panic!("{e}")).consent_requests
    }

    /// Submits a decision on a consent request, for exactly the payload whose hash `request` contains.
    ///
    /// # Panics
    /// Panics if the host rejects the decision.
    pub async fn decide(&self, request: &ConsentRequestView, answer: UserDecision) {
        let taken = self.host.decide(request.id, request.hash.to_string(), answer.clone()).await;
        assert!(matches!(taken, Ok(())), "the decision {answer:?} is accepted: {taken:?}");
    }

    /// Spawns a task that submits a decision on every new consent request for which `answer` returns one, until the
    /// task is aborted.
    pub fn decide_automatically(
        &self,
        answer: impl Fn(&ConsentRequestView) -> Option<UserDecision> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let host = self.host.clone();
        let mut events = host.events();
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let HostEvent::ConsentRequestChanged(request) = &event.event else { continue };
                if let Some(answer) = answer(request) {
                    // The server may have withdrawn the request already.
                    let _ = host.decide(request.id, request.hash.to_string(), answer).await;
                }
            }
        })
    }

    /// Returns the entries of the audit log, oldest first, each as kind, decision, and source of the decision.
    ///
    /// # Panics
    /// Panics if the log can't be read.
    pub fn decisions(&self) -> Vec<(String, String, String)> {
        let entries = self
            .host
            .ports()
            .audit
            .read(&AuditQuery::latest(1_000))
            .unwrap_or_else(|e| panic!("the audit log can't be read: {e}"));
        entries.into_iter().rev().map(|e| (e.kind.into_owned(), e.decision.into_owned(), e.by.into_owned())).collect()
    }

    /// Returns the latest entries of the audit log whose field `kind` has this value, at most 100 and oldest first.
    ///
    /// # Panics
    /// Panics if the log can't be read.
    pub fn entries_of_kind(&self, kind: &str) -> Vec<AuditEntry> {
        let query = AuditQuery { kind: Some(kind.to_owned()), ..AuditQuery::latest(100) };
        let read = self.host.ports().audit.read(&query);
        read.unwrap_or_else(|e| panic!("the audit log can't be read: {e}")).into_iter().rev().collect()
    }

    /// Adds a rule to the user's policy, given as JSON. Returns the number of the rule.
    ///
    /// # Panics
    /// Panics if the rule is invalid or the host rejects it.
    pub async fn add_rule(&self, rule: Value) -> u64 {
        let rule: PolicyRule = serde_json::from_value(rule).unwrap_or_else(|e| panic!("the rule is invalid: {e}"));
        self.host.set_rule(rule).await.unwrap_or_else(|e| panic!("the rule is rejected: {e}")).id
    }

    /// Returns the whole activity log of a server as text.
    ///
    /// # Panics
    /// Panics if there is no server with this name.
    pub async fn activity(&self, name: &str) -> String {
        let page = self.host.activity_page(name.to_owned(), 0, usize::MAX).await.unwrap_or_else(|e| panic!("{e}"));
        let lines = page.entries.iter().map(|e| format!("{} {}", e.note.as_deref().unwrap_or(""), e.preview()));
        lines.collect::<Vec<_>>().join("\n")
    }
}
