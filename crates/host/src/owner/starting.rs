//! How a server is started and stopped: found, asked about, run. Its command or address is approved in between.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use mcp_proto::session::{Opening, SessionConfig};
use mcp_proto::types::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
use mcp_transport::sandbox::Plan;
use mcp_transport::stdio::{CommandNotFound, PathSource, SearchPath, ServerCommand};
use policy::{Act, Decision, Hash, Rule, Scope, Subject};
use serde_json::json;

use super::approvals::{address_hash, command_hash, without_sandbox};
use super::questions::{For, kind_of};
use super::sandbox::{NoPlan, plan};
use super::sign_in::{SignIn, Unmade};
use super::{Decided, Owner, ServerError};
use crate::activity::{ActivityKind, now};
use crate::connection::{self, HttpStart, RunId, Start, Target, Tell, outcome_not_found, outcome_unresolved};
use crate::ports::Secrets;
use crate::secrets::{Filled, Unresolved};
use crate::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig};
use crate::view::{Failure, FailureReason, QuestionBody, ServerState, Why};

impl Owner {
    /// Starts a server: finds its command or looks at its address, asks if need be, and then runs it.
    pub(crate) fn start(&mut self, name: &str) -> Result<(), ServerError> {
        if self.is_closing {
            return Ok(());
        }
        let record = self.servers.get_mut(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
        match record.state {
            ServerState::Stopping => {
                record.start_again = true;
                return Ok(());
            }
            ServerState::Stopped
            | ServerState::Failed(_)
            | ServerState::Reconnecting(_)
            | ServerState::NeedsSignIn(_) => {}
            ServerState::AwaitingApproval | ServerState::Starting | ServerState::Ready => return Ok(()),
        }
        record.set(ServerState::Starting);
        let (name, config) = (name.to_owned(), Arc::clone(&record.config));
        if let Some(problem) = config.problem() {
            self.could_not_start(&name, &problem);
            return Ok(());
        }
        match &config.transport {
            ServerTransport::Stdio(stdio) => self.find_command(name, &config, stdio),
            ServerTransport::Http(http) => {
                let body = QuestionBody::ConnectServer { config: http.clone(), approved_before: None };
                self.emit_server(&name);
                self.decide_start(&name, &address_hash(http), body);
            }
        }
        Ok(())
    }

    fn find_command(&mut self, name: String, config: &Arc<ServerConfig>, stdio: &StdioConfig) {
        if stdio.cwd.as_ref().is_some_and(|cwd| cwd.is_relative()) {
            self.could_not_start(&name, "its working folder must be a whole path, from the root");
            return;
        }
        let (config, known) = (Arc::clone(config), Arc::clone(&self.search_path));
        self.emit_server(&name);
        let looking = find_and_plan(self.command(&name, stdio), known, stdio.clone(), self.own_files());
        self.beside(looking, move |owner, (path, found)| {
            owner.on_found(&name, &config, path, found);
        });
    }

    fn could_not_start(&mut self, name: &str, message: &str) {
        self.fail_with(name, Failure::new(FailureReason::CouldNotStart, message));
    }

    fn on_found(
        &mut self,
        name: &str,
        config: &ServerConfig,
        path: SearchPath,
        found: Result<(PathBuf, Option<Plan>), NoPlan>,
    ) {
        let Some(record) = self.awaited(name, config) else { return };
        let (program, plan) = match found {
            Ok(found) => found,
            Err(NoPlan::NotFound(error)) => return self.fail_with(name, outcome_not_found(error)),
            Err(error) => return self.could_not_start(name, &error.to_string()),
        };
        record.found = Some((program.clone(), path));
        record.plan.clone_from(&plan);
        self.say_identity(name, Some(&program));
        let Some(stdio) = config.as_stdio().cloned() else { return };
        let hash = command_hash(&stdio, &program, plan.as_ref());
        let body = QuestionBody::StartServer { config: stdio, resolved: program, approved_before: None, plan };
        self.decide_start(name, &hash, body);
    }

    /// A server that is still to be started as it was when what took time began. It may have been stopped, changed or
    /// removed meanwhile.
    fn awaited(&mut self, name: &str, config: &ServerConfig) -> Option<&mut super::ServerRecord> {
        self.servers
            .get_mut(name)
            .filter(|r| r.state == ServerState::Starting && r.connection.is_none() && *r.config == *config)
    }

    /// Asks the policy whether a server may be started or connected to, and does what it says.
    fn decide_start(&mut self, name: &str, hash: &Hash, mut body: QuestionBody) {
        let act = match &body {
            QuestionBody::ConnectServer { .. } => Act::ConnectServer { server: name, address: hash },
            _ => Act::StartServer { server: name, command: hash },
        };
        let brings_back = self.servers.get(name).is_some_and(|record| record.supervision.brings_back(hash));
        match self.policy.decide(&act, now()) {
            Decision::Deny { rule, .. } => self.fail(name, rule.name()),
            // To bring back what was approved, and not stopped, is no new act to ask about.
            Decision::Ask { .. } if brings_back => self.launch_audited(name, hash, kind_of(&body), "policy"),
            Decision::Allow { .. } => self.launch_audited(name, hash, kind_of(&body), "grant"),
            Decision::Ask { rule, scopes, .. } => self.ask_start(name, &mut body, rule, scopes),
        }
    }

    fn ask_start(&mut self, name: &str, body: &mut QuestionBody, rule: Rule, scopes: &'static [Scope]) {
        let before = self.policy.grants().find(name, &Subject::Command).map(|g| g.words.clone());
        let before = before.map(|words| without_sandbox(&words).to_owned()).filter(|words| !words.is_empty());
        if let QuestionBody::StartServer { approved_before, .. } | QuestionBody::ConnectServer { approved_before, .. } =
            body
        {
            *approved_before = before;
        }
        if let Some(record) = self.servers.get_mut(name) {
            record.set(ServerState::AwaitingApproval);
        }
        self.emit_server(name);
        self.ask(name, Why::User { conversation: None }, body.clone(), scopes, rule, For::Start);
    }

    fn launch_audited(&mut self, name: &str, hash: &Hash, kind: &'static str, by: &'static str) {
        let Some(record) = self.servers.get(name) else { return };
        let words = record.config.as_http().map_or_else(|| record.config.command_line(), HttpConfig::shown_url);
        let decided = Decided {
            server: name,
            kind,
            subject: &words,
            decision: "allowed",
            by,
            hash: hash.as_str(),
            // To bring back what ended is nobody's wish but the host's.
            asker: if by == "policy" { "host" } else { "user" },
            ..Decided::default()
        };
        match self.audit(decided) {
            Ok(()) => self.launch(name, hash),
            Err(error) => self.fail(name, &error.to_string()),
        }
    }

    /// The server is not running, for want of an approval.
    pub(super) fn fail(&mut self, name: &str, message: &str) {
        self.fail_with(name, Failure::new(FailureReason::Refused, message));
    }

    pub(super) fn fail_with(&mut self, name: &str, failure: Failure) {
        if let Some(record) = self.servers.get(name) {
            record.note(ActivityKind::State, &failure.message);
            self.ended_by_itself(name, failure);
        }
        self.emit_server(name);
    }

    /// Runs a server whose command is found, or whose address is known. `approved` is what the approval rests on.
    pub(super) fn launch(&mut self, name: &str, approved: &Hash) {
        if self.is_closing {
            return;
        }
        self.pin_identity(name, approved);
        let Some(record) = self.servers.get_mut(name) else { return };
        record.set(ServerState::Starting);
        record.supervision.launched(approved.clone());
        let config = Arc::clone(&record.config);
        match &config.transport {
            ServerTransport::Stdio(stdio) => {
                let Some((program, path)) = record.found.take() else { return };
                let approved = record.plan.clone();
                let command = ServerCommand { approved, ..self.command(name, stdio) };
                if !crate::secrets::in_environment(stdio) {
                    return self.connect(name, Target::Process { command, program, path });
                }
                let (name, stdio, secrets) = (name.to_owned(), stdio.clone(), Arc::clone(&self.ports.secrets));
                self.emit_server(&name);
                self.beside(read_environment(stdio, secrets), move |owner, read| {
                    owner.on_environment(&name, &config, command, (program, path), read);
                });
            }
            ServerTransport::Http(http) => {
                let (name, http, secrets) = (name.to_owned(), http.clone(), Arc::clone(&self.ports.secrets));
                let Some(maker) = self.sign_in_maker(&name) else { return };
                self.emit_server(&name);
                let prepared = async move {
                    let sign_in = maker.make(http.clone()).await?;
                    Ok((read_secrets(http, secrets).await?, sign_in))
                };
                self.beside(prepared, move |owner, prepared| owner.on_prepared(&name, &config, prepared));
            }
        }
    }

    fn on_prepared(&mut self, name: &str, config: &ServerConfig, prepared: Result<Prepared, Unmade>) {
        if self.is_closing {
            return;
        }
        let Some(record) = self.awaited(name, config) else { return };
        match prepared {
            Ok((mut start, sign_in)) => {
                let secrets = std::mem::take(&mut start.secrets);
                // Where the server says them again, they must not be seen.
                record.activity.lock().unwrap_or_else(PoisonError::into_inner).hide_named(secrets);
                start.authorizer = sign_in.map(|made| record.access.keep(made).authorizer());
                start.known = self.known_server(name);
                self.connect(name, Target::Url(start));
            }
            Err(cause) => self.fail_with(name, outcome_unresolved(&cause)),
        }
    }

    fn on_environment(
        &mut self,
        name: &str,
        config: &ServerConfig,
        command: ServerCommand,
        (program, path): (PathBuf, SearchPath),
        read: Result<Filled, Unresolved>,
    ) {
        if self.is_closing {
            return;
        }
        let Some(record) = self.awaited(name, config) else { return };
        match read {
            Ok((environment, secrets)) => {
                // Where the server says them again, they must not be seen.
                record.activity.lock().unwrap_or_else(PoisonError::into_inner).hide_named(secrets);
                let command = ServerCommand { environment, ..command };
                self.connect(name, Target::Process { command, program, path });
            }
            Err(cause) => self.fail_with(name, outcome_unresolved(&cause)),
        }
    }

    fn connect(&mut self, name: &str, target: Target) {
        let run = RunId(self.new_id());
        let known = self.known_revision(name);
        let sampling = self.sampling_offered(name);
        let Some(record) = self.servers.get_mut(name) else { return };
        record.sampling_offered.clone_from(&sampling);
        let mut timeouts = self.options.timeouts.clone();
        timeouts.ping_interval.get_or_insert(target.ping_interval());
        let mut session = SessionConfig {
            client: self.options.client.clone(),
            capabilities: capabilities(&record.config, sampling),
            opening: record.config.revision.map_or(Opening::Probe, Opening::Pinned),
            known,
            trace: self.options.trace.clone(),
            timeouts,
            ..SessionConfig::default()
        };
        let limits = self.settings.limits.within_bounds();
        record.activity.lock().unwrap_or_else(PoisonError::into_inner).keep(limits.kept_bytes);
        session.limits.in_flight_calls = limits.calls as usize;
        let (times, activity, used) = (self.options.times, Arc::clone(&record.activity), Arc::clone(&record.used));
        let start = Start { run, target, session, times, activity, limits, used };
        record.connection = Some(connection::connect(start, self.news.clone()));
        self.runs.insert(run, name.to_owned());
        self.emit_server(name);
    }

    /// Stops a server, whatever it is doing.
    pub(crate) fn stop(&mut self, name: &str) {
        let Some(record) = self.servers.get_mut(name) else { return };
        record.start_again = false;
        record.supervision.give_up();
        record.access.give_up();
        record.to_restore = Default::default();
        if let Some(connection) = &record.connection {
            if record.state != ServerState::Stopping {
                let tell = connection.tell.clone();
                record.set(ServerState::Stopping);
                // The connection may be busy; stopping must not wait in the owner for it.
                tokio::spawn(async move { tell.send(Box::new(Tell::Stop)).await });
            }
        } else {
            record.set(ServerState::Stopped);
        }
        // What was asked about for this process must not go to the next one. Requests of the server end with its session.
        self.end_questions(|p| p.view.server == name && !matches!(p.what_for, For::Request { .. }));
        self.emit_server(name);
    }

    /// The standing approval of a server was taken back. One that runs goes on, but is not brought back any more.
    pub(super) fn approval_revoked(&mut self, name: &str) {
        let Some(record) = self.servers.get_mut(name) else { return };
        if matches!(record.state, ServerState::Reconnecting(_)) {
            self.stop(name);
        } else {
            record.supervision.give_up();
        }
    }

    /// Stops a server and starts it again.
    pub(crate) fn restart(&mut self, name: &str) -> Result<(), ServerError> {
        self.stop(name);
        self.start_for_user(name)
    }
}

/// A remote server with its secrets, and the sign-in to it.
type Prepared = (HttpStart, Option<SignIn>);

/// Puts the secrets into the headers. The keychain may ask the user, so nothing waits for it.
async fn read_secrets(config: HttpConfig, secrets: Arc<dyn Secrets>) -> Result<HttpStart, Unresolved> {
    let read = tokio::task::spawn_blocking(move || {
        let (headers, secrets) = crate::secrets::resolve(&config, secrets.as_ref())?;
        Ok(HttpStart { url: config.url, headers, secrets, kind: config.kind, known: None, authorizer: None })
    });
    read.await.unwrap_or_else(|error| Err(Unresolved::Interrupted(error.to_string())))
}

/// Puts the secrets into the environment of a local server.
async fn read_environment(config: StdioConfig, secrets: Arc<dyn Secrets>) -> Result<Filled, Unresolved> {
    let read = tokio::task::spawn_blocking(move || crate::secrets::resolve_environment(&config, secrets.as_ref()));
    read.await.unwrap_or_else(|error| Err(Unresolved::Interrupted(error.to_string())))
}

/// Finds a command. The login shell is asked for its path once for all servers, and again when the command is not found in
/// it, for it may have been installed since. What the shell told is never given up for a guess.
pub(super) async fn find(
    command: ServerCommand,
    known: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
) -> (SearchPath, Result<PathBuf, CommandNotFound>) {
    let mut known = known.lock().await;
    if let Some(path) = &*known
        && let Ok(program) = path.resolve(&command)
    {
        return (path.clone(), Ok(program));
    }
    let read = SearchPath::read().await;
    let path = match known.take() {
        Some(old) if old.source == PathSource::LoginShell && read.source != PathSource::LoginShell => old,
        _ => read,
    };
    *known = Some(path.clone());
    let found = path.resolve(&command);
    (path, found)
}

/// Finds a command, and out how it can be held if it has a sandbox.
async fn find_and_plan(
    command: ServerCommand,
    known: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
    config: StdioConfig,
    own: Vec<PathBuf>,
) -> (SearchPath, Result<(PathBuf, Option<Plan>), NoPlan>) {
    let (path, found) = find(command.clone(), known).await;
    let planned = match found {
        Ok(program) => plan(&command, &program, &path, &config, &own).await.map(|plan| (program, plan)),
        Err(error) => Err(error.into()),
    };
    (path, planned)
}

/// What the host can do for a server. The session leaves out what a revision does not know.
fn capabilities(config: &ServerConfig, sampling: Option<SamplingCapability>) -> ClientCapabilities {
    let auth = config.as_http().and_then(|http| http.auth.as_ref());
    let extension = auth.and_then(|auth| auth.grant.extension());
    ClientCapabilities {
        extensions: extension.map(|name| [(name.to_owned(), json!({}))].into_iter().collect()),
        roots: Some(RootsCapability { list_changed: Some(true) }),
        sampling,
        elicitation: Some(ElicitationCapability { form: Some(Default::default()), url: Some(Default::default()) }),
        ..ClientCapabilities::default()
    }
}
