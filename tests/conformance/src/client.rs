//! The host with one server: connected, with its lists read, and a user who answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host::Host;
use host::catalog::Catalog;
use host::skills::{LoadedSkill, Skill, SkillError, SkillList};
use host::view::ServerState;
use serde_json::{Map, Value};
use testkit::app::{App, remote};
use tokio::task::JoinHandle;

use crate::user;

/// What the user calls the server.
const SERVER: &str = "server";

pub(crate) struct Client {
    app: App,
    user: JoinHandle<()>,
    calls: AtomicUsize,
}

impl Client {
    /// Adds the server by its URL and nothing else, starts it, and waits until its lists were read.
    pub(crate) async fn connect(url: &str) -> Result<Self, String> {
        let app = App::start(vec![(SERVER, remote(url))]).await;
        let user = app.always(|question| Some(user::answer(&question.body)));
        let client = Self { app, user, calls: AtomicUsize::new(0) };
        let mut events = client.host().events();
        let started = client.host().start_server(SERVER.to_owned()).await;
        started.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        loop {
            let state = client.app.server(SERVER).await.state;
            match state {
                ServerState::Failed(failure) => {
                    client.tell_activity().await;
                    return Err(failure.message);
                }
                ServerState::Ready if client.catalog().await?.is_read => return Ok(client),
                _ => events.next().await.ok_or("the host has ended")?,
            };
        }
    }

    fn host(&self) -> &Host {
        &self.app.host
    }

    pub(crate) async fn catalog(&self) -> Result<Arc<Catalog>, String> {
        self.host().catalog(SERVER.to_owned()).await.map_err(|e| e.to_string())
    }

    /// An id for a call.
    fn id(&self) -> String {
        format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<(), String> {
        let called = self.host().call_tool(self.id(), SERVER.to_owned(), tool.to_owned(), arguments, None).await;
        let (result, _) = called.map_err(|e| format!("{tool}: {e}"))?;
        if result.is_error { Err(format!("{tool} says that it failed")) } else { Ok(()) }
    }

    pub(crate) async fn read(&self, uri: &str) -> Result<(), String> {
        let read = self.host().read_resource(self.id(), SERVER.to_owned(), uri.to_owned()).await;
        read.map(|_| ()).map_err(|e| format!("{uri}: {e}"))
    }

    pub(crate) async fn get_prompt(&self, name: &str) -> Result<(), String> {
        let got = self.host().get_prompt(self.id(), SERVER.to_owned(), name.to_owned(), BTreeMap::new()).await;
        got.map(|_| ()).map_err(|e| format!("{name}: {e}"))
    }

    pub(crate) async fn skills(&self) -> Result<SkillList, String> {
        self.host().skills(SERVER.to_owned()).await.map_err(|e| e.to_string())
    }

    pub(crate) async fn load_skill(&self, skill: Skill) -> Result<LoadedSkill, SkillError> {
        self.host().load_skill(self.id(), SERVER.to_owned(), skill).await
    }

    pub(crate) async fn read_skill_file(&self, loaded: &LoadedSkill, uri: &str) -> Result<Vec<u8>, SkillError> {
        self.host().read_skill_file(self.id(), loaded, uri).await
    }

    /// Writes down all that went over the wire, for whoever looks for the cause of a failure.
    #[allow(clippy::print_stderr, reason = "a program says why it failed")]
    pub(crate) async fn tell_activity(&self) {
        eprintln!("{}", self.app.activity(SERVER).await);
    }

    /// Ends the session as the app does when it is closed.
    pub(crate) async fn close(self) {
        self.app.host.close().await;
        self.user.abort();
    }
}
