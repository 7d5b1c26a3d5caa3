//! Fixtures of the sign-in tests: a user, a vault, a clock, and calls as the transport makes them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mcp_transport::http::{AuthChallenge, Authorizer, ChallengeOutcome, UntrustedUrlClient};
use secrecy::{ExposeSecret, SecretSlice};
use serde_json::json;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::browser::{self, BrowserPage};
use url::Url;

use crate::*;

/// In-memory vault that a test can make fail or block.
#[derive(Default)]
pub(super) struct TestVault {
    pub(super) entries: Mutex<BTreeMap<VaultKey, Vec<u8>>>,
    pub(super) is_broken: AtomicBool,
    /// Number of completed read operations.
    pub(super) reads: AtomicU64,
    /// Lock that every read of the vault acquires. While a test holds it, all reads wait.
    pub(super) gate: tokio::sync::Mutex<()>,
    renewing: Arc<tokio::sync::Mutex<()>>,
}

impl TestVault {
    fn fail_if_unavailable(&self) -> Result<(), VaultError> {
        if self.is_broken.load(Ordering::SeqCst) {
            Err(VaultError { kind: VaultProblem::Locked, cause: "it is locked".to_owned() })
        } else {
            Ok(())
        }
    }

    /// Returns `true` if the vault has an entry whose kind matches.
    pub(super) fn contains_entry(&self, is_it: impl Fn(&VaultEntryKind) -> bool) -> bool {
        self.entries.lock().unwrap().keys().any(|key| is_it(&key.kind))
    }
}

#[async_trait]
impl Vault for TestVault {
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        drop(self.gate.lock().await);
        self.fail_if_unavailable()?;
        Ok(self.entries.lock().unwrap().get(key).map(|entry| entry.clone().into()))
    }

    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<VaultEntryPersistence, VaultError> {
        self.fail_if_unavailable()?;
        self.entries.lock().unwrap().insert(key.clone(), entry.expose_secret().to_vec());
        Ok(VaultEntryPersistence::Safely)
    }

    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError> {
        self.fail_if_unavailable()?;
        self.entries.lock().unwrap().remove(key);
        Ok(())
    }

    async fn lock_entry(&self, _key: &VaultKey) -> Option<Box<dyn Send>> {
        Some(Box::new(Arc::clone(&self.renewing).lock_owned().await))
    }
}

/// Behaviour of the simulated browser when the app opens it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BrowserBehaviour {
    /// The user is already signed in, and the browser returns immediately.
    SignsIn,
    /// The browser stays on a page and never returns to the app.
    Stays,
    /// The browser cannot be opened.
    Missing,
}

/// Simulated user who consents to everything unless configured otherwise.
pub(super) struct TestUser {
    pub(super) answer: Mutex<ConsentAnswer>,
    pub(super) browser: Mutex<BrowserBehaviour>,
    pub(super) client: Mutex<Option<PreregisteredClient>>,
    /// Redirect URIs that were displayed when the app asked the user for a client id.
    pub(super) shown_redirect_uris: Mutex<Vec<Url>>,
    pub(super) consents: Mutex<Vec<ConsentPrompt>>,
    pub(super) opened: Mutex<Vec<Url>>,
    pub(super) pages: Arc<Mutex<Vec<BrowserPage>>>,
    pub(super) pasted: tokio::sync::Mutex<Vec<String>>,
    pub(super) can_paste: AtomicBool,
}

#[async_trait]
impl UserInteraction for TestUser {
    async fn ask_for_consent(&self, request: ConsentPrompt) -> ConsentAnswer {
        let page = request.authorize_url.as_ref().map(Url::as_str).unwrap_or_default();
        assert!(!page.contains("code_challenge="), "one-time parameters must not be shown");
        self.consents.lock().unwrap().push(request);
        *self.answer.lock().unwrap()
    }

    async fn ask_for_client_id(&self, _issuer: &str, redirect_uri: &Url) -> Option<PreregisteredClient> {
        self.shown_redirect_uris.lock().unwrap().push(redirect_uri.clone());
        self.client.lock().unwrap().clone()
    }

    async fn open_browser(&self, url: &Url) -> Result<(), String> {
        self.opened.lock().unwrap().push(url.clone());
        let does = *self.browser.lock().unwrap();
        if does == BrowserBehaviour::SignsIn {
            let (url, pages) = (url.to_string(), Arc::clone(&self.pages));
            tokio::spawn(async move {
                if let Ok(page) = browser::sign_in(&url).await {
                    pages.lock().unwrap().push(page);
                }
            });
        }
        if does == BrowserBehaviour::Missing { Err("there is none".to_owned()) } else { Ok(()) }
    }

    async fn wait_for_pasted_url(&self) -> String {
        let next = self.pasted.lock().await.pop();
        match next {
            Some(text) => text,
            None => std::future::pending().await,
        }
    }

    fn can_paste_response_url(&self) -> bool {
        self.can_paste.load(Ordering::SeqCst)
    }
}

/// Authorization at one server, with its simulated user, vault and clock.
pub(super) struct TestAuthorization {
    pub(super) authorization: Arc<ServerAuthorization>,
    pub(super) settings: AuthorizationSettings,
    pub(super) user: Arc<TestUser>,
    pub(super) vault: Arc<TestVault>,
    clock: Arc<AtomicU64>,
}

/// Outcome of a test call to the MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TestCallOutcome {
    Answered(u16),
    Stopped(String),
}

impl TestAuthorization {
    pub(super) fn new(server: &ProtectedServer, change: impl FnOnce(&mut AuthorizationSettings)) -> TestAuthorization {
        TestAuthorization::for_server_url(&server.url(), Arc::default(), change)
    }

    pub(super) fn for_server_url(
        server: &str,
        vault: Arc<TestVault>,
        change: impl FnOnce(&mut AuthorizationSettings),
    ) -> TestAuthorization {
        let user = Arc::new(TestUser {
            answer: Mutex::new(ConsentAnswer::Yes),
            browser: Mutex::new(BrowserBehaviour::SignsIn),
            client: Mutex::default(),
            shown_redirect_uris: Mutex::default(),
            consents: Mutex::default(),
            opened: Mutex::default(),
            pages: Arc::default(),
            pasted: tokio::sync::Mutex::default(),
            can_paste: AtomicBool::default(),
        });
        let clock = Arc::new(AtomicU64::new(1_800_000_000));
        let hands = Arc::clone(&clock);
        let server = Url::parse(server).unwrap();
        let mut settings = AuthorizationSettings {
            web: UntrustedUrlClient::for_public_hosts_and(vec![server.origin()]),
            server,
            client: ClientIdSettings { name: "Test".to_owned(), ..ClientIdSettings::default() },
            grant: GrantKind::AuthorizationCode,
            scopes: None,
            issuer: None,
            dpop: DpopUse::Auto,
            vault: Arc::clone(&vault) as Arc<dyn Vault>,
            user: Arc::clone(&user) as Arc<dyn UserInteraction>,
            now: Arc::new(move || SystemTime::UNIX_EPOCH + Duration::from_secs(hands.load(Ordering::SeqCst))),
        };
        change(&mut settings);
        let authorization = ServerAuthorization::new(settings.clone());
        TestAuthorization { authorization, settings, user, vault, clock }
    }

    /// Simulates a restart of the app: replaces the authorization with a new one that uses the same vault.
    pub(super) fn restart(&mut self) {
        self.authorization = ServerAuthorization::new(self.settings.clone());
    }

    pub(super) fn advance_clock(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Sends a call as the transport does: signs the request, and repeats it if the authorizer requests that.
    pub(super) async fn call(&self, tool: &str) -> TestCallOutcome {
        send_call(&self.authorization, tool).await
    }

    /// Sends a call, which the server refuses, signs in, and sends the call again. Returns the account of the sign-in.
    pub(super) async fn sign_in_and_call(&self) -> Result<SignedInAccount, AuthError> {
        let first = self.call("echo").await;
        assert!(matches!(first, TestCallOutcome::Stopped(_)), "the server must require a sign-in: {first:?}");
        let account = self.authorization.sign_in(AuthReason::SignIn).await?;
        assert_eq!(self.call("echo").await, TestCallOutcome::Answered(200), "the server must accept the token");
        Ok(account)
    }

    /// Returns the text of all steps, errors and debug output, to search it for secrets.
    pub(super) fn all_displayed_text(&self) -> String {
        format!("{:?} {:?} {:?}", self.authorization, self.authorization.logged_steps(), self.authorization.account())
    }

    pub(super) fn step_conclusions(&self) -> String {
        self.authorization.logged_steps().iter().map(|step| format!("{}: {}\n", step.phase, step.conclusion)).collect()
    }
}

pub(super) async fn send_call(authorization: &Arc<ServerAuthorization>, tool: &str) -> TestCallOutcome {
    let url = authorization.shared.settings.server.clone();
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
    for attempt in 0..4 {
        if let Err(stop) = authorization.sign("POST", &url).await {
            return TestCallOutcome::Stopped(stop.0);
        }
        let (headers, generation) = authorization.shared.authorization_headers("POST", &url).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let page = browser::send(url.as_str(), "POST", &headers, &body.to_string()).await.unwrap();
        let all = |expected: &str| {
            let pairs = page.head.lines().filter_map(|line| line.split_once(':'));
            pairs.filter(|(name, _)| *name == expected).map(|(_, value)| value.trim().to_owned()).collect::<Vec<_>>()
        };
        if !matches!(page.status, 401 | 403) {
            return TestCallOutcome::Answered(page.status);
        }
        let challenge = AuthChallenge {
            status: page.status,
            www_authenticate: all("www-authenticate"),
            dpop_nonce: all("dpop-nonce").pop(),
            generation,
            attempt,
            operation: "tools/call".to_owned(),
        };
        if let ChallengeOutcome::Stop(cause) = authorization.on_challenge(challenge).await {
            return TestCallOutcome::Stopped(cause);
        }
    }
    TestCallOutcome::Answered(401)
}

/// Starts an authorization server and an MCP server with these scripts.
pub(super) async fn start_servers(
    authorization: impl FnOnce(&mut AuthorizationScript),
    protected: impl FnOnce(&mut ProtectedScript),
) -> (AuthorizationServer, ProtectedServer) {
    let mut script = AuthorizationScript::default();
    authorization(&mut script);
    let issuer = AuthorizationServer::start(script).await;
    let mut script = ProtectedScript::default();
    protected(&mut script);
    let server = ProtectedServer::start(script, &[&issuer]).await;
    (issuer, server)
}

/// Builds a JSON object from the names and values of its members.
pub(super) fn json_members(pairs: &[(&str, serde_json::Value)]) -> serde_json::Map<String, serde_json::Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Waits until the condition is true. If that takes too long, panics with a message that contains `what`.
pub(super) async fn wait_until(what: &str, condition: impl FnMut() -> bool) {
    assert!(testkit::deadline::poll_until(Duration::from_secs(20), condition).await, "{what}");
}

/// Returns a pre-registered client with this id and secret.
pub(super) fn preregistered_client(id: &str, secret: Option<&str>) -> PreregisteredClient {
    let secret = secret.map(|secret| ClientAuthentication::Secret { secret: secret.into(), method: None });
    PreregisteredClient {
        issuer: None,
        client_id: id.to_owned(),
        authentication: secret.unwrap_or(ClientAuthentication::None),
        redirect_port: None,
    }
}
