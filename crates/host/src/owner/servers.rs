//! Servers: how they are added, changed, started and stopped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::session::{Facts, Opening, SessionConfig};
use mcp_proto::types::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
use mcp_transport::orphans::RunningRecord;
use mcp_transport::stdio::{CommandNotFound, PathSource, SearchPath, ServerCommand};
use policy::{Act, Decision, Grant, Hash, Subject};
use serde_json::json;

use super::questions::For;
use super::{Decided, Owner, ServerRecord};
use crate::activity::{Activity, ActivityKind, now};
use crate::catalog::Catalog;
use crate::connection::{self, RunId, Start, Tell, outcome_not_found};
use crate::ports::{Document, StoreError};
use crate::server_config::{ConfigProblem, ServerConfig, ServerEntry};
use crate::view::{Failure, FailureReason, HostEvent, QuestionBody, ServerState, Why};

/// Why a change to the servers could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The name can't be used.
    #[error("the name \"{name}\" can't be used: {cause}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        cause: String,
    },
    /// The settings file can't be read or written. Nothing was changed.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
}

impl Owner {
    /// Reads the settings file again. Servers that are gone are stopped, those whose command changed too; if the file can't be
    /// used, all stays as it was.
    pub(crate) fn reload_servers(&mut self) {
        let entries = match self.ports.servers.load() {
            Ok(entries) if entries.is_empty() && !self.servers.is_empty() && !self.ports.servers.path().exists() => {
                // Some programs take a file away for a moment when they write it.
                let path = self.ports.servers.path();
                self.set_config_problem(Some(ConfigProblem {
                    file: Some(path.display().to_string()),
                    line: None,
                    column: None,
                    message: "the file is gone; the servers stay as they are until it is back".to_owned(),
                }));
                return;
            }
            Ok(entries) => entries,
            Err(problem) => {
                self.set_config_problem(Some(problem));
                return;
            }
        };
        self.set_config_problem(None);
        let gone: Vec<String> =
            self.servers.keys().filter(|name| !entries.iter().any(|e| e.name == **name)).cloned().collect();
        // Approvals are bound to the exact command, so that they can wait for a server which an editor took out and puts back.
        for name in gone {
            self.drop_server(&name);
        }
        for (at, ServerEntry { name, config }) in entries.into_iter().enumerate() {
            match self.servers.get(&name) {
                None => {
                    self.servers.insert(name.clone(), ServerRecord::new(config));
                    self.emit_server(&name);
                }
                Some(record) if record.config != config => self.change_config(&name, config),
                Some(_) => {}
            }
            if let Some(from) = self.servers.get_index_of(&name) {
                self.servers.move_index(from, at.min(self.servers.len() - 1));
            }
        }
    }

    fn set_config_problem(&mut self, problem: Option<ConfigProblem>) {
        if self.config_problem != problem {
            self.config_problem.clone_from(&problem);
            self.emit(HostEvent::ConfigProblem(problem));
        }
    }

    pub(crate) fn add_server(&mut self, entry: ServerEntry) -> Result<(), ServerError> {
        self.check_name(&entry.name, None)?;
        self.ports.servers.put(&entry, None)?;
        self.reload_servers();
        Ok(())
    }

    pub(crate) fn update_server(&mut self, was: &str, entry: ServerEntry) -> Result<(), ServerError> {
        if !self.servers.contains_key(was) {
            return Err(ServerError::NotFound(was.to_owned()));
        }
        self.check_name(&entry.name, Some(was))?;
        self.ports.servers.put(&entry, Some(was))?;
        if entry.name != was {
            self.rename_roots(was, &entry.name);
            self.drop_server(was);
            self.forget(was);
        }
        self.reload_servers();
        Ok(())
    }

    pub(crate) fn remove_server(&mut self, name: &str) -> Result<(), ServerError> {
        if !self.servers.contains_key(name) {
            return Err(ServerError::NotFound(name.to_owned()));
        }
        self.ports.servers.remove(name)?;
        self.drop_server(name);
        self.forget(name);
        Ok(())
    }

    fn check_name(&self, name: &str, was: Option<&str>) -> Result<(), ServerError> {
        let bad = |cause: &str| Err(ServerError::BadName { name: name.to_owned(), cause: cause.to_owned() });
        if name.trim().is_empty() || name.trim() != name {
            bad("it must not be empty or begin or end with a space")
        } else if name.chars().count() > 64 {
            bad("it must have at most 64 characters")
        } else if name.chars().any(char::is_control) {
            bad("it has control characters")
        } else if was != Some(name) && self.servers.contains_key(name) {
            bad("another server has it")
        } else {
            Ok(())
        }
    }

    /// Forgets what rests on a server's name.
    fn forget(&mut self, name: &str) {
        self.policy.forget_server(name);
        if let Err(error) = self.keep_grants(name, None) {
            tracing::error!(%error, "the approvals of a removed server could not be taken out");
        }
        self.forget_roots(name);
    }

    /// Takes a server out of the list.
    fn drop_server(&mut self, name: &str) {
        self.stop(name);
        self.end_questions(|p| p.view.server == name);
        if self.servers.shift_remove(name).is_some() {
            self.emit(HostEvent::ServerRemoved(name.to_owned()));
        }
    }

    fn change_config(&mut self, name: &str, config: ServerConfig) {
        self.stop(name);
        self.end_questions(|p| p.view.server == name && matches!(p.view.body, QuestionBody::StartServer { .. }));
        if let Some(record) = self.servers.get_mut(name) {
            record.config = config;
            record.start_again = false;
            if record.connection.is_none() {
                record.set(ServerState::Stopped);
            }
        }
        self.emit_server(name);
    }

    /// Whether this command was approved. Whether the file that it leads to is still the same shows when it is started.
    pub(crate) fn is_approved(&self, name: &str, config: &ServerConfig) -> bool {
        self.policy.grants().find(name, &Subject::Command).is_some_and(|grant| grant.words == approval_words(config))
    }

    pub(super) fn start_approved_servers(&mut self) {
        let approved: Vec<String> = self
            .servers
            .iter()
            .filter(|(name, r)| self.is_approved(name, &r.config))
            .map(|(name, _)| name.clone())
            .collect();
        for name in approved {
            let _ = self.start(&name);
        }
    }

    /// Starts a server: finds its command, asks if need be, and then runs it.
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
            ServerState::Stopped | ServerState::Failed(_) => {}
            ServerState::AwaitingApproval | ServerState::Starting | ServerState::Ready => return Ok(()),
        }
        record.set(ServerState::Starting);
        let (name, config) = (name.to_owned(), record.config.clone());
        if config.cwd.as_ref().is_some_and(|cwd| cwd.is_relative()) {
            self.could_not_start(&name, "its working folder must be a whole path, from the root");
            return Ok(());
        }
        let command = config.command();
        let known = Arc::clone(&self.search_path);
        self.emit_server(&name);
        self.beside(find(command, known), move |owner, (path, found)| {
            owner.on_found(&name, &config, path, found);
        });
        Ok(())
    }

    fn could_not_start(&mut self, name: &str, message: &str) {
        self.fail(name, message);
        if let Some(ServerState::Failed(failure)) = self.servers.get_mut(name).map(|r| &mut r.state) {
            failure.reason = FailureReason::CouldNotStart;
        }
        self.emit_server(name);
    }

    fn on_found(
        &mut self,
        name: &str,
        config: &ServerConfig,
        path: SearchPath,
        found: Result<PathBuf, CommandNotFound>,
    ) {
        // It may have been stopped, changed or removed meanwhile.
        let Some(record) = self.servers.get_mut(name) else { return };
        if record.state != ServerState::Starting || record.connection.is_some() || record.config != *config {
            return;
        }
        let program = match found {
            Ok(program) => program,
            Err(error) => {
                let failure = outcome_not_found(error);
                record
                    .activity
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .line(ActivityKind::State, &failure.message);
                record.set(ServerState::Failed(failure));
                self.emit_server(name);
                return;
            }
        };
        record.found = Some((program.clone(), path));
        let command = command_hash(config, &program);
        match self.policy.decide(&Act::StartServer { server: name, command: &command }) {
            Decision::Allow { .. } => {
                let words = config.command_line();
                let decided = Decided {
                    server: name,
                    kind: "start-server",
                    subject: &words,
                    decision: "allowed",
                    scope: None,
                    by: "grant",
                    hash: command.as_str(),
                };
                match self.audit(decided) {
                    Ok(()) => self.launch(name),
                    Err(error) => self.fail(name, &error.to_string()),
                }
            }
            Decision::Deny { rule } => self.fail(name, rule.name()),
            Decision::Ask { rule, scopes } => {
                record.set(ServerState::AwaitingApproval);
                let approved_before = self
                    .policy
                    .grants()
                    .find(name, &Subject::Command)
                    .map(|g| g.words.clone())
                    .filter(|w| !w.is_empty());
                let body = QuestionBody::StartServer { config: config.clone(), resolved: program, approved_before };
                self.emit_server(name);
                self.ask(name, Why::User { conversation: None }, body, scopes, rule, For::Start);
            }
        }
    }

    pub(super) fn fail(&mut self, name: &str, message: &str) {
        if let Some(record) = self.servers.get_mut(name) {
            record.set(ServerState::Failed(Failure {
                reason: FailureReason::Refused,
                message: message.to_owned(),
                stderr: Vec::new(),
                looked_in: Vec::new(),
                hint: None,
            }));
        }
        self.emit_server(name);
    }

    /// Runs a server whose command is found and approved.
    pub(super) fn launch(&mut self, name: &str) {
        let run = RunId(self.new_id());
        let session = SessionConfig {
            client: self.options.client.clone(),
            capabilities: capabilities(),
            opening: Opening::Probe,
            timeouts: self.options.timeouts.clone(),
            ..SessionConfig::default()
        };
        if self.is_closing {
            return;
        }
        let Some(record) = self.servers.get_mut(name) else { return };
        let Some((program, path)) = record.found.take() else { return };
        record.set(ServerState::Starting);
        let start = Start {
            run,
            command: record.config.command(),
            program,
            path,
            session,
            times: self.options.times,
            activity: Arc::clone(&record.activity),
        };
        record.connection = Some(connection::connect(start, self.news.clone()));
        self.runs.insert(run, name.to_owned());
        self.emit_server(name);
    }

    /// Stops a server, whatever it is doing.
    pub(crate) fn stop(&mut self, name: &str) {
        let Some(record) = self.servers.get_mut(name) else { return };
        record.start_again = false;
        if let Some(connection) = &record.connection {
            if record.state != ServerState::Stopping {
                let tell = connection.tell.clone();
                record.set(ServerState::Stopping);
                // The connection may be busy; stopping must not wait in the owner for it.
                tokio::spawn(async move { tell.send(Tell::Stop).await });
            }
        } else {
            record.set(ServerState::Stopped);
        }
        // What was asked about for this process must not go to the next one. Requests of the server end with its session.
        self.end_questions(|p| p.view.server == name && !matches!(p.what_for, For::Request { .. }));
        self.emit_server(name);
    }

    /// Stops a server and starts it again.
    pub(crate) fn restart(&mut self, name: &str) -> Result<(), ServerError> {
        self.stop(name);
        self.start(name)
    }

    pub(super) fn on_started(&mut self, run: RunId, name: &str, pid: u32, record: RunningRecord) {
        self.running.insert(run, record);
        self.keep_running();
        if let Some(server) = self.current(name, run) {
            server.pid = Some(pid);
        }
        self.emit_server(name);
    }

    pub(super) fn on_ready(&mut self, run: RunId, name: &str, facts: Facts) {
        if let Some(record) = self.current(name, run).filter(|r| r.state == ServerState::Starting) {
            record.facts = Some(bounded(facts));
            record.set(ServerState::Ready);
        }
        self.emit_server(name);
    }

    pub(super) fn on_catalog(&mut self, run: RunId, name: &str, catalog: Arc<Catalog>) {
        let Some(record) = self.current(name, run) else { return };
        record.catalog = catalog;
        self.look_again_at_tools(name);
        self.emit(HostEvent::CatalogChanged(name.to_owned()));
        self.emit_server(name);
    }

    pub(super) fn on_ended(&mut self, run: RunId, name: &str, failure: Option<Failure>) {
        self.runs.remove(&run);
        if self.running.remove(&run).is_some() {
            self.keep_running();
        }
        self.end_calls_of(run);
        self.end_questions(|p| p.ends_with(run, name));
        let mut again = false;
        if let Some(record) = self.current(name, run) {
            record.connection = None;
            record.facts = None;
            record.pid = None;
            record.subscriptions.clear();
            record.log_level = None;
            record.catalog = Arc::default();
            again = std::mem::take(&mut record.start_again);
            let stopped = record.state == ServerState::Stopping;
            record.set(failure.filter(|_| !stopped).map_or(ServerState::Stopped, ServerState::Failed));
            self.emit(HostEvent::CatalogChanged(name.to_owned()));
        }
        self.emit_server(name);
        if again && !self.is_closing {
            let _ = self.start(name);
        }
    }

    /// The server, if this is still its run.
    fn current(&mut self, name: &str, run: RunId) -> Option<&mut ServerRecord> {
        self.servers.get_mut(name).filter(|r| r.connection.as_ref().is_some_and(|c| c.run == run))
    }

    /// Writes down what stands for a server, or for one subject of it. All else in the file stays: another host (the app
    /// beside a terminal) may have written it.
    pub(super) fn keep_grants(&mut self, server: &str, subject: Option<&Subject>) -> Result<(), StoreError> {
        let concerns = |grant: &Grant| grant.server == server && subject.is_none_or(|s| *s == grant.subject);
        let kept = self.ports.documents.read(Document::Grants)?.unwrap_or_default();
        let mut kept: Vec<Grant> = serde_json::from_value(kept).unwrap_or_default();
        kept.retain(|grant| !concerns(grant));
        kept.extend(self.policy.grants().to_keep().into_iter().filter(concerns));
        self.keep(Document::Grants, &kept)
    }
}

impl ServerRecord {
    fn new(config: ServerConfig) -> Self {
        Self {
            config,
            state: ServerState::Stopped,
            since: now(),
            connection: None,
            facts: None,
            catalog: Arc::default(),
            activity: Arc::new(Mutex::new(Activity::default())),
            subscriptions: Vec::new(),
            log_level: None,
            pid: None,
            found: None,
            start_again: false,
        }
    }

    pub(super) fn set(&mut self, state: ServerState) {
        if self.state != state {
            self.state = state;
            self.since = now();
        }
    }
}

impl ServerConfig {
    fn command(&self) -> ServerCommand {
        ServerCommand {
            program: self.command.clone(),
            arguments: self.args.clone(),
            environment: self.env.clone(),
            working_directory: self.cwd.clone(),
        }
    }
}

/// Over a command as it is configured.
pub(super) fn config_hash(config: &ServerConfig) -> Hash {
    Hash::of(&json!({
        "command": config.command,
        "args": config.args,
        "env": config.env,
        "cwd": config.cwd.as_ref().map(|cwd| cwd.to_string_lossy()),
    }))
}

/// Over all that decides what runs: the command as it is configured, and the file that it leads to.
pub(super) fn command_hash(config: &ServerConfig, program: &Path) -> Hash {
    Hash::of(&json!({ "command": config_hash(config), "program": program.to_string_lossy() }))
}

/// The words of an approved command: what the user reads, and with its environment and folder what tells two commands apart.
pub(super) fn approval_words(config: &ServerConfig) -> String {
    let mut words = config.command_line();
    if let Some(cwd) = &config.cwd {
        words = format!("{words} (in {})", cwd.display());
    }
    if !config.env.is_empty() {
        let names: Vec<&str> = config.env.keys().map(String::as_str).collect();
        words = format!("{words} (with {})", names.join(", "));
    }
    words
}

/// Finds a command. The login shell is asked for its path once for all servers, and again when the command is not found in
/// it, for it may have been installed since. What the shell told is never given up for a guess.
async fn find(
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

/// The most of a server's instructions that is kept, in characters.
const MAX_INSTRUCTIONS: usize = 64 * 1024;
/// The most of a text about the server itself that is kept, in characters.
const MAX_CLAIM: usize = 1_000;

/// What a server told at its opening, cut where it is too long to be shown again and again.
fn bounded(mut facts: Facts) -> Facts {
    if let Some(instructions) = &mut facts.instructions {
        cut(instructions, MAX_INSTRUCTIONS);
    }
    if let Some(server) = &mut facts.server {
        let optional = [&mut server.title, &mut server.description, &mut server.website_url];
        for text in optional.into_iter().flatten().chain([&mut server.name, &mut server.version]) {
            cut(text, MAX_CLAIM);
        }
        server.icons.clear();
        server.extra.clear();
    }
    facts
}

fn cut(text: &mut String, most: usize) {
    if let Some((at, _)) = text.char_indices().nth(most) {
        let left_out = text[at..].chars().count();
        text.truncate(at);
        text.push_str(&format!("… ({left_out} more characters)"));
    }
}

/// What the host can do for a server. The session leaves out what a revision does not know.
fn capabilities() -> ClientCapabilities {
    ClientCapabilities {
        roots: Some(RootsCapability { list_changed: Some(true) }),
        sampling: Some(SamplingCapability::default()),
        elicitation: Some(ElicitationCapability { form: Some(Default::default()), url: Some(Default::default()) }),
        ..ClientCapabilities::default()
    }
}
