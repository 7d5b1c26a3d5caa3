//! Host with one server: connects, reads the lists, and decides on consent requests as a user.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::calls::UserCalls as _;

use chat::skills::{LoadedSkill, SkillError, SkillList, SkillReader};
use host::Host;
use host::view::ServerState;
use offers::catalog::ServerCatalog;
use offers::skills::Skill;
use ports::server_config::ServerEntry;
use serde_json::{Map, Value};
use testkit::app::TestApp;
use tokio::task::JoinHandle;

use crate::{sign_in, user};

/// Name of the suite's server in the settings of the client.
const CONFORMANCE_SERVER_NAME: &str = "server";
/// Maximum number of sign-ins to a server that requires one repeatedly.
const MAX_SIGN_INS: usize = 2;

pub(crate) struct ConformanceClient {
    app: TestApp,
    user: JoinHandle<()>,
    calls: AtomicUsize,
}

impl ConformanceClient {
    /// Adds the server at `url` with the sign-in options in the suite's `context`, starts it, and waits until its lists
    /// are read.
    pub(crate) async fn connect(url: &str, context: &Value) -> Result<Self, String> {
        let settings = sign_in::settings_for_context(url, context).await?;
        let app = TestApp::start(Vec::new()).await;
        for (key, secret) in &settings.secrets {
            app.host.ports().secrets.set(key, secret).map_err(|e| e.to_string())?;
        }
        let entry = ServerEntry { name: CONFORMANCE_SERVER_NAME.to_owned(), config: settings.config.into() };
        app.host.add_server(entry).await.map_err(|e| e.to_string())?;
        app.platform.browses.store(true, Ordering::Relaxed);
        let user = app.decide_automatically(|server_request| Some(user::decide_consent_request(&server_request.body)));
        let client = Self { app, user, calls: AtomicUsize::new(0) };
        let started = client.host().start_server(CONFORMANCE_SERVER_NAME.to_owned()).await;
        started.map_err(|e| e.to_string())?;
        match client.wait_until_ready().await {
            Ok(()) => Ok(client),
            Err(cause) => {
                client.print_activity().await;
                Err(cause)
            }
        }
    }

    /// Waits until the server's lists are read, and signs in at most [`MAX_SIGN_INS`] times if the server requires it.
    async fn wait_until_ready(&self) -> Result<(), String> {
        let mut events = self.host().events();
        let mut signed_in_again = 0;
        loop {
            match self.app.server(CONFORMANCE_SERVER_NAME).await.state {
                ServerState::Failed(failure) => return Err(failure.message),
                ServerState::NeedsSignIn(needed) if !needed.signing_in => {
                    let view = self
                        .host()
                        .authorization(CONFORMANCE_SERVER_NAME.to_owned())
                        .await
                        .map_err(|e| e.to_string())?;
                    if let Some(cause) = view.failed.filter(|_| view.in_progress.is_none()) {
                        return Err(cause);
                    }
                    signed_in_again += 1;
                    if signed_in_again > MAX_SIGN_INS {
                        return Err(needed.cause);
                    }
                    self.host().sign_in(CONFORMANCE_SERVER_NAME.to_owned()).await.map_err(|e| e.to_string())?;
                }
                ServerState::Ready if are_catalog_lists_complete(&*self.catalog().await?) => return Ok(()),
                _ => {}
            }
            events.next().await.ok_or("the host has ended")?;
        }
    }

    fn host(&self) -> &Host {
        &self.app.host
    }

    pub(crate) async fn catalog(&self) -> Result<Arc<ServerCatalog>, String> {
        self.host().catalog(CONFORMANCE_SERVER_NAME.to_owned()).await.map_err(|e| e.to_string())
    }

    /// Returns a call id that was not used before in this session.
    fn next_call_id(&self) -> String {
        format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) async fn call_tool(&self, tool: &str, arguments: Map<String, Value>) -> Result<(), String> {
        let once = || {
            self.host().call_tool(
                self.next_call_id(),
                CONFORMANCE_SERVER_NAME.to_owned(),
                tool.to_owned(),
                arguments.clone(),
                None,
            )
        };
        let called = match once().await {
            Err(_) if matches!(self.app.server(CONFORMANCE_SERVER_NAME).await.state, ServerState::NeedsSignIn(_)) => {
                self.wait_until_ready().await?;
                once().await
            }
            called => called,
        };
        let (result, _) = called.map_err(|e| format!("{tool}: {e}"))?;
        if result.is_error { Err(format!("{tool} says that it failed")) } else { Ok(()) }
    }

    pub(crate) async fn read_resource(&self, uri: &str) -> Result<(), String> {
        let read =
            self.host().read_resource(self.next_call_id(), CONFORMANCE_SERVER_NAME.to_owned(), uri.to_owned()).await;
        read.map(|_| ()).map_err(|e| format!("{uri}: {e}"))
    }

    pub(crate) async fn get_prompt(&self, name: &str) -> Result<(), String> {
        let got = self
            .host()
            .get_prompt(self.next_call_id(), CONFORMANCE_SERVER_NAME.to_owned(), name.to_owned(), BTreeMap::new())
            .await;
        got.map(|_| ()).map_err(|e| format!("{name}: {e}"))
    }

    pub(crate) async fn list_skills(&self) -> Result<SkillList, String> {
        SkillReader::new(self.host()).list(CONFORMANCE_SERVER_NAME.to_owned()).await.map_err(|e| e.to_string())
    }

    pub(crate) async fn load_skill(&self, skill: Skill) -> Result<LoadedSkill, SkillError> {
        SkillReader::new(self.host()).load(self.next_call_id(), CONFORMANCE_SERVER_NAME.to_owned(), skill).await
    }

    pub(crate) async fn read_skill_file(&self, loaded: &LoadedSkill, uri: &str) -> Result<Vec<u8>, SkillError> {
        SkillReader::new(self.host()).read_file(self.next_call_id(), loaded, uri).await
    }

    /// Prints the server's activity log and the steps of its sign-in, to diagnose a failure.
    #[allow(clippy::print_stderr, reason = "a program says why it failed")]
    pub(crate) async fn print_activity(&self) {
        eprintln!("{}", self.app.activity(CONFORMANCE_SERVER_NAME).await);
        if let Ok(view) = self.host().authorization(CONFORMANCE_SERVER_NAME.to_owned()).await {
            for step in view.steps {
                eprintln!("{}\n  {:?}\n  {:?}\n  {}", step.purpose, step.request, step.response, step.conclusion);
            }
        }
    }

    /// Stops the server and the host, as the app does on exit.
    pub(crate) async fn close(self) {
        self.app.host.close().await;
        self.user.abort();
    }
}

/// Returns `true` if the server's lists were read. Returns `false` if all lists are empty because reading them failed,
/// in which case the state of the server changes shortly afterwards, for example to a required sign-in.
fn are_catalog_lists_complete(catalog: &ServerCatalog) -> bool {
    let failed = catalog.entry_counts() == [0; 4] && catalog.notes.iter().any(|notes| !notes.is_empty());
    catalog.is_read && !failed
}
