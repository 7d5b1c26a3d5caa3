//! Sign-ins to remote servers in a complete host: consent, success, and interruptions.

mod asking;
mod calls;
mod ending;
mod optional;
mod recovery;
mod separate;
mod stored_credentials;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use testkit::calls::UserCalls as _;

use credentials::sign_in::{AuthorizationView, SignInPhase};
use host::HostOptions;
use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, ServerView, UserDecision};
use policy::ApprovalScope;
use ports::secrets::SecretsInMemory;
use ports::server_config::ServerConfig;
use testkit::app::{EVENT_TIMEOUT, TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

/// A remote server that requires a sign-in, its authorization server, and a test app with the server in its settings.
struct RemoteSetup {
    issuer: AuthorizationServer,
    server: ProtectedServer,
    app: TestApp,
    keychain: Arc<SecretsInMemory>,
}

const SERVER_NAME: &str = "far";

impl RemoteSetup {
    async fn new() -> Self {
        Self::scripted(AuthorizationScript::default(), ProtectedScript::default()).await
    }

    async fn scripted(issues: AuthorizationScript, serves: ProtectedScript) -> Self {
        let issuer = AuthorizationServer::start(issues).await;
        let server = ProtectedServer::start(serves, &[&issuer]).await;
        let config = remote_config(&server.url());
        Self::with_servers(issuer, server, config).await
    }

    async fn with_servers(issuer: AuthorizationServer, server: ProtectedServer, config: ServerConfig) -> Self {
        let keychain = Arc::new(SecretsInMemory::default());
        let folder = tempfile::tempdir().unwrap();
        let app =
            TestApp::start_with_secrets(folder, vec![(SERVER_NAME, config)], HostOptions::default(), keychain.clone())
                .await;
        app.platform.browses.store(true, Ordering::Relaxed);
        Self { issuer, server, app, keychain }
    }

    /// Restarts the app with the same keychain and data folder.
    async fn restart(self, options: HostOptions) -> Self {
        let Self { issuer, server, app, keychain } = self;
        app.host.close().await;
        let app = TestApp::start_with_secrets(app.folder, Vec::new(), options, keychain.clone()).await;
        app.platform.browses.store(true, Ordering::Relaxed);
        Self { issuer, server, app, keychain }
    }

    /// Starts the server and approves its address permanently.
    async fn approve_address(&self) {
        self.app.host.start_server(SERVER_NAME.into()).await.unwrap();
        let is_connect = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::ConnectServer { .. });
        let request = self.app.consent_request(SERVER_NAME, "its address", is_connect).await;
        self.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    }

    async fn wait_for_sign_in_request(&self) -> ConsentRequestView {
        self.app.consent_request(SERVER_NAME, "signing in", is_sign_in).await
    }

    async fn approve_sign_in(&self) {
        let request = self.wait_for_sign_in_request().await;
        self.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    }

    async fn wait_until_ready(&self) -> ServerView {
        self.app.until(SERVER_NAME, "in use", |s| s.state == ServerState::Ready && s.counts[0] > 0).await
    }

    /// Starts the server, approves its address, and signs in.
    async fn signed_in(self) -> Self {
        self.approve_address().await;
        self.approve_sign_in().await;
        self.wait_until_ready().await;
        self
    }

    /// Waits until the server requires a sign-in and no sign-in is in progress. The reason displayed to the user must
    /// contain `cause`.
    async fn wait_until_sign_in_required(&self, cause: &str) {
        let view = self
            .app
            .until(SERVER_NAME, "waiting for a sign-in", |s| needed_sign_in(s).is_some_and(|(_, under_way)| !under_way))
            .await;
        let (found, _) = needed_sign_in(&view).unwrap();
        assert!(found.contains(cause), "the cause {cause:?} is reported: {found}");
    }

    async fn view(&self) -> AuthorizationView {
        self.app.host.authorization(SERVER_NAME.into()).await.unwrap()
    }

    async fn wait_for_browser(&self) -> AuthorizationView {
        let is_waiting = |p: &credentials::sign_in::SignInProgress| {
            p.phase == SignInPhase::AwaitingBrowser && p.ends_at.is_some() && p.authorization_url.is_some()
        };
        self.wait_for_view("waiting for the browser", |view| view.in_progress.as_ref().is_some_and(is_waiting)).await
    }

    async fn wait_for_view(&self, state: &str, holds: impl Fn(&AuthorizationView) -> bool) -> AuthorizationView {
        let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
        loop {
            let view = self.view().await;
            if holds(&view) {
                return view;
            }
            assert!(tokio::time::Instant::now() < deadline, "the state must become {state}: {view:?}");
            // sleep: polls for a condition that no event reports.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    async fn assert_no_consent_requests(&self) {
        let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
        while !self.app.consent_requests().await.is_empty() {
            assert!(
                tokio::time::Instant::now() < deadline,
                "the queue is empty: {:?}",
                self.app.consent_requests().await
            );
            // sleep: polls for a condition that no event reports.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// Calls the tool that echoes its input.
    async fn echo(&self, id: &str, text: &str) -> Result<String, domain::call::CallFailure> {
        let arguments = serde_json::json!({ "text": text }).as_object().unwrap().clone();
        let called = self.app.host.call_tool(id.into(), SERVER_NAME.into(), "echo".into(), arguments, None).await?;
        Ok(serde_json::to_string(&called.0.content).unwrap())
    }

    /// Spawns a task that approves each tool call.
    fn spawn_tool_approver(&self) -> tokio::task::JoinHandle<()> {
        self.app.decide_automatically(|request| {
            matches!(request.body, ConsentRequestBody::Tool { .. })
                .then_some(UserDecision::Allow(ApprovalScope::Always))
        })
    }
}

fn is_sign_in(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::SignIn { .. })
}

/// Returns the reason why the server requires a sign-in, and `true` if a sign-in is in progress. `None` if it requires
/// no sign-in.
fn needed_sign_in(view: &ServerView) -> Option<(String, bool)> {
    match &view.state {
        ServerState::NeedsSignIn(needed) => Some((needed.cause.clone(), needed.signing_in)),
        _ => None,
    }
}
