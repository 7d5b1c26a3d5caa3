//! How a server is started and stopped: found, asked about, run. Its command or address is approved in between.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use credentials::settings::Unmade;
use domain::question::Why;
use launches::approvals::{command_hash, without_sandbox};
use launches::files_now::files_now;
use launches::packages::{Launched, LoadedPackage};
use launches::parts::changed_files;
use launches::sandbox::{NoPlan, OwnFiles, plan};
use mcp_proto::session::{Opening, SessionConfig};
use mcp_proto::types::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
use policy::{Act, Decision, Hash, Rule, Scope, Subject};
use ports::Secrets;
use ports::secrets::{Filled, Unresolved};
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig, address_hash};
use ports::time::now;
use process::sandbox::Plan;
use process::{CommandNotFound, LaunchFiles, PathSource, SearchPath, ServerCommand};
use serde_json::json;
use supervision::activity::ActivityKind;

use super::gate::Departure;
use super::packages::PackageStart;
use super::questions::{For, kind_of};
use super::sign_in::SignIn;
use super::{Decided, Owner, ServerError};
use crate::connection::{self, HttpStart, RunId, Start, Target, Tell, outcome_not_found, outcome_unresolved};
use crate::view::{Failure, FailureReason, QuestionBody, ServerState};

impl Owner {
    /// Starts a server: finds its command or looks at its address, asks if need be, and then runs it.
    pub(crate) fn start(&mut self, name: &str) -> Result<(), ServerError> {
        if self.lifetime.is_closing {
            return Ok(());
        }
        let record = self.servers.records.get_mut(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
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
        let (config, known) = (Arc::clone(config), Arc::clone(&self.launches.search_path));
        self.emit_server(&name);
        let (command, own) = (self.command(&name, stdio), self.launches.own_files.clone());
        let looking = find_and_plan(name.clone(), command, known, stdio.clone(), own);
        self.beside(looking, move |owner, (path, found)| {
            owner.on_found(&name, &config, path, found);
        });
    }

    fn could_not_start(&mut self, name: &str, message: &str) {
        self.fail_with(name, Failure::new(FailureReason::CouldNotStart, message));
    }

    fn on_found(&mut self, name: &str, config: &ServerConfig, path: SearchPath, found: Result<FoundLaunch, NoPlan>) {
        let Some(record) = self.servers.awaited(name, config) else { return };
        let (found, launched) = match found {
            Ok(found) => found,
            Err(NoPlan::NotFound(error)) => return self.fail_with(name, outcome_not_found(error)),
            Err(error) => return self.could_not_start(name, &error.to_string()),
        };
        record.launch.found = Some((found.program.clone(), path.clone()));
        record.launch.plan.clone_from(&found.plan);
        self.say_identity(name, Some((&found.program, found.real.as_deref())));
        let Some(stdio) = config.as_stdio().cloned() else { return };
        match launched {
            Some(Launched::Package(reference)) => {
                let config = config.clone();
                let name = name.to_owned();
                self.decide_package(PackageStart { name, config, stdio, reference, found, path });
            }
            Some(Launched::Unknown(launcher, cause)) => {
                let package = LoadedPackage::unknown(launcher, cause);
                self.decide_command(name, stdio, found, Some(package));
            }
            None => self.decide_command(name, stdio, found, None),
        }
    }

    /// Asks the policy about a command that is known whole, with the version of the package that it loads.
    pub(super) fn decide_command(
        &mut self,
        name: &str,
        config: StdioConfig,
        found: Found,
        mut package: Option<LoadedPackage>,
    ) {
        let Found { program: resolved, plan, files, .. } = found;
        if let Some(record) = self.servers.records.get_mut(name) {
            if let Some(package) = &mut package {
                package.configured = record.config.command_line();
            }
            record.launch.command = Some(config.clone());
            record.launch.package.clone_from(&package);
            record.launch.files = Some(files.clone());
        }
        let hash = command_hash(&config, &resolved, plan.as_ref(), &files, package.as_ref());
        let writers = self.writers(name, &files);
        let package = package.map(Box::new);
        let seen = self.reviews.pins.get(name).and_then(|pins| pins.identity.as_ref());
        let changed_files = seen.map(|seen| changed_files(&seen.parts, &files)).unwrap_or_default();
        let approved_before = None;
        let body = QuestionBody::StartServer {
            config,
            resolved,
            approved_before,
            plan,
            files,
            changed_files,
            writers,
            package,
        };
        self.decide_start(name, &hash, body);
    }

    /// Asks the policy whether a server may be started or connected to, and does what it says.
    fn decide_start(&mut self, name: &str, hash: &Hash, mut body: QuestionBody) {
        let act = start_act(name, hash, &body);
        let signed_in = self.servers.records.get(name).is_some_and(|record| record.supervision.signed_in_to(hash));
        match self.permissions.policy.decide(&act, now()) {
            Decision::Deny { rule, .. } => self.fail(name, rule.name()),
            // To go on after the sign-in for which it waited is no new act to ask about.
            Decision::Ask { .. } if signed_in => {
                self.launch_audited(name, Departure::after_sign_in(name, hash.clone()), body, "policy");
            }
            Decision::Allow { by } => {
                self.launch_audited(name, Departure::by_rule(by, name, hash.clone()), body, "grant");
            }
            Decision::Ask { rule, scopes, .. } => self.ask_start(name, &mut body, rule, scopes),
        }
    }

    /// Asks to start a server. One that ended by itself is asked about for the host, and its user is not interrupted.
    fn ask_start(&mut self, name: &str, body: &mut QuestionBody, rule: Rule, scopes: &'static [Scope]) {
        let before = self.permissions.policy.grants().find(name, &Subject::Command).map(|g| g.words.clone());
        let before = before.map(|words| without_sandbox(&words).to_owned()).filter(|words| !words.is_empty());
        if let QuestionBody::StartServer { approved_before, .. } | QuestionBody::ConnectServer { approved_before, .. } =
            body
        {
            *approved_before = before;
        }
        let mut why = Why::User { conversation: None };
        if let Some(record) = self.servers.records.get_mut(name) {
            record.set(ServerState::AwaitingApproval);
            if let Some(cause) = record.supervision.ended_because() {
                record.note(
                    ActivityKind::State,
                    "its approval does not hold for another start, so this one is asked about",
                );
                why = Why::Ended { cause };
            }
        }
        self.emit_server(name);
        self.ask(name, why, body.clone(), scopes, rule, For::Start);
    }

    /// Runs a server without a question, once the log has it.
    fn launch_audited(&mut self, name: &str, departure: Departure, body: QuestionBody, by: &'static str) {
        let Some(record) = self.servers.records.get(name) else { return };
        // To bring back what ended is nobody's wish but the host's.
        let brings_back = record.supervision.is_bringing_back();
        if brings_back && by == "grant" {
            record.note(ActivityKind::State, "starting again under its standing approval");
        }
        let hash = departure.leaves().clone();
        let command =
            || record.launch.command.as_ref().map_or_else(|| record.config.command_line(), StdioConfig::command_line);
        let words = record.config.as_http().map_or_else(command, HttpConfig::shown_url);
        let (config, judgement) = (Arc::clone(&record.config), self.permissions.judgement);
        let kind = kind_of(&body);
        let entry = self.entry(Decided {
            server: name,
            kind,
            subject: &words,
            decision: "allowed",
            by,
            hash: hash.as_str(),
            asker: if brings_back || by == "policy" { "host" } else { "user" },
            ..Decided::default()
        });
        let (server, subject) = (name.to_owned(), words);
        self.audit_entry(entry, move |owner, written| {
            let name = server.as_str();
            if owner.servers.awaited(name, &config).is_none() {
                // It was stopped, changed or removed while the entry was on its way to the log.
                if written.is_ok() {
                    owner.note_not_started(name, kind, &subject, &hash);
                }
                return;
            }
            match written {
                Err(error) => owner.fail(name, &error.to_string()),
                Ok(()) if judgement == owner.permissions.judgement => owner.launch(name, departure),
                // What allowed it may have been taken back.
                Ok(()) if owner.still_starts(name, &hash, &body) => owner.launch(name, departure),
                Ok(()) => {
                    owner.note_not_started(name, kind, &subject, &hash);
                    owner.decide_start(name, &hash, body);
                }
            }
        });
    }

    /// Returns true if a start goes on without a question.
    fn still_starts(&self, name: &str, hash: &Hash, body: &QuestionBody) -> bool {
        match self.permissions.policy.decide(&start_act(name, hash, body), now()) {
            Decision::Allow { .. } => true,
            Decision::Ask { .. } => {
                self.servers.records.get(name).is_some_and(|record| record.supervision.signed_in_to(hash))
            }
            Decision::Deny { .. } => false,
        }
    }

    /// The server is not running, for want of an approval.
    pub(super) fn fail(&mut self, name: &str, message: &str) {
        self.fail_with(name, Failure::new(FailureReason::Refused, message));
    }

    pub(super) fn fail_with(&mut self, name: &str, failure: Failure) {
        if let Some(record) = self.servers.records.get(name) {
            record.note(ActivityKind::State, &failure.message);
            self.ended_by_itself(name, failure);
        }
        self.emit_server(name);
    }

    /// Runs a server whose command is found, or whose address is known.
    pub(super) fn launch(&mut self, name: &str, departure: Departure) {
        if self.lifetime.is_closing {
            return;
        }
        self.pin_identity(name, departure.leaves());
        self.remember_package(name);
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.set(ServerState::Starting);
        record.supervision.launched(departure.leaves().clone());
        let config = Arc::clone(&record.config);
        match &config.transport {
            ServerTransport::Stdio(stdio) => {
                let Some((program, path)) = record.launch.found.take() else { return };
                let (approved, files) = (record.launch.plan.clone(), record.launch.files.take());
                let stdio = &record.launch.command.clone().unwrap_or_else(|| stdio.clone());
                let command = ServerCommand { approved, files, ..self.command(name, stdio) };
                if !ports::secrets::in_environment(stdio) {
                    return self.connect_process(name, Target::Process { command, program, path }, departure);
                }
                let (name, stdio, secrets) = (name.to_owned(), stdio.clone(), Arc::clone(&self.ports.secrets));
                self.emit_server(&name);
                self.beside(read_environment(stdio, secrets), move |owner, read| {
                    owner.on_environment(&name, &config, departure, command, (program, path), read);
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
                self.beside(prepared, move |owner, prepared| owner.on_prepared(&name, &config, departure, prepared));
            }
        }
    }

    fn on_prepared(
        &mut self,
        name: &str,
        config: &ServerConfig,
        departure: Departure,
        prepared: Result<Prepared, Unmade>,
    ) {
        if self.lifetime.is_closing {
            return;
        }
        let Some(record) = self.servers.awaited(name, config) else { return };
        match prepared {
            Ok((mut start, sign_in)) => {
                let secrets = std::mem::take(&mut start.secrets);
                // Where the server says them again, they must not be seen.
                record.activity.lock().unwrap_or_else(PoisonError::into_inner).hide_named(secrets);
                start.authorizer = sign_in.map(|made| record.access.keep(made).authorizer());
                start.known = self.known_server(name);
                self.connect(name, Target::Url(start), None, departure);
            }
            Err(cause) => self.fail_with(name, outcome_unresolved(&cause)),
        }
    }

    fn on_environment(
        &mut self,
        name: &str,
        config: &ServerConfig,
        departure: Departure,
        command: ServerCommand,
        (program, path): (PathBuf, SearchPath),
        read: Result<Filled, Unresolved>,
    ) {
        if self.lifetime.is_closing {
            return;
        }
        let Some(record) = self.servers.awaited(name, config) else { return };
        match read {
            Ok((environment, secrets)) => {
                // Where the server says them again, they must not be seen.
                record.activity.lock().unwrap_or_else(PoisonError::into_inner).hide_named(secrets);
                let command = ServerCommand { environment, ..command };
                self.connect_process(name, Target::Process { command, program, path }, departure);
            }
            Err(cause) => self.fail_with(name, outcome_unresolved(&cause)),
        }
    }

    /// Secrets may have been waited for, and the program or a script be another file since: the files are looked at once more.
    fn connect_process(&mut self, name: &str, target: Target, departure: Departure) {
        let Target::Process { command: ServerCommand { files: Some(files), .. }, .. } = &target else {
            return self.connect(name, target, None, departure);
        };
        let Some(config) = self.servers.records.get(name).map(|record| Arc::clone(&record.config)) else { return };
        let (name, files) = (name.to_owned(), files.clone());
        self.beside(files_now(files, self.options.look_at_files), move |owner, files| {
            if owner.lifetime.is_closing || owner.servers.awaited(&name, &config).is_none() {
                return;
            }
            match files {
                Some(files) => owner.connect(&name, target, Some(&files), departure),
                None => owner.could_not_start(&name, "its program's files did not answer in time; start it again"),
            }
        });
    }

    fn connect(&mut self, name: &str, target: Target, files: Option<&LaunchFiles>, departure: Departure) {
        let run = RunId(self.events.new_id());
        let known = self.known_revision(name);
        let sampling = self.models.sampling.offered(name);
        let Some(record) = self.servers.records.get_mut(name) else { return };
        let now = match (&target, &record.config.transport) {
            (Target::Process { program, .. }, ServerTransport::Stdio(stdio)) => {
                let stdio = record.launch.command.as_ref().unwrap_or(stdio);
                files.map(|files| {
                    command_hash(stdio, program, record.launch.plan.as_ref(), files, record.launch.package.as_ref())
                })
            }
            (Target::Url(_), ServerTransport::Http(http)) => Some(address_hash(http)),
            _ => None,
        };
        let mut timeouts = self.options.timeouts.clone();
        timeouts.ping_interval.get_or_insert(target.ping_interval());
        let Some(target) = now.and_then(|now| departure.start(name, target, &now).ok()) else {
            return self.could_not_start(name, "its program changed after it was approved; start it again");
        };
        record.session.sampling_offered.clone_from(&sampling);
        let mut session = SessionConfig {
            client: self.options.client.clone(),
            capabilities: capabilities(&record.config, sampling),
            opening: record.config.revision.map_or(Opening::Probe, Opening::Pinned),
            known,
            trace: self.options.trace.clone(),
            timeouts,
            ..SessionConfig::default()
        };
        let limits = self.settings.current.limits.within_bounds();
        record.activity.lock().unwrap_or_else(PoisonError::into_inner).keep(limits.kept_bytes);
        session.limits.in_flight_calls = limits.calls as usize;
        let (times, activity, used) = (self.options.times, Arc::clone(&record.activity), Arc::clone(&record.used));
        let start = Start { run, target, session, times, activity, limits, used };
        record.session.connection = Some(connection::connect(start, self.lifetime.back.clone()));
        self.servers.runs.insert(run, name.to_owned());
        self.emit_server(name);
    }

    /// Stops a server, whatever it is doing.
    pub(crate) fn stop(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.start_again = false;
        record.supervision.give_up();
        record.access.give_up();
        record.session.to_restore = Default::default();
        if let Some(connection) = &record.session.connection {
            if record.state != ServerState::Stopping {
                let tell = connection.tell.clone();
                record.set(ServerState::Stopping);
                // The connection may be busy; stopping must not wait in the owner for it.
                tokio::spawn(async move { tell.send(Box::new(Tell::Stop)).await });
            }
        } else {
            record.set(ServerState::Stopped);
        }
        // What was asked about for this process must not go to the next one. Requests of the server end with its session, and what it
        // gave back it has said already.
        self.end_questions(|p| p.view.server == name && !matches!(p.what_for, For::Request { .. } | For::Result(_)));
        self.emit_server(name);
    }

    /// The standing approval of a server was taken back. One that runs goes on, but is not brought back any more.
    pub(super) fn approval_revoked(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
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

fn start_act<'a>(name: &'a str, hash: &'a Hash, body: &QuestionBody) -> Act<'a> {
    match body {
        QuestionBody::ConnectServer { .. } => Act::ConnectServer { server: name, address: hash },
        _ => Act::StartServer { server: name, command: hash },
    }
}

/// A remote server with its secrets, and the sign-in to it.
type Prepared = (HttpStart, Option<SignIn>);

/// Puts the secrets into the headers. The keychain may ask the user, so nothing waits for it.
async fn read_secrets(config: HttpConfig, secrets: Arc<dyn Secrets>) -> Result<HttpStart, Unresolved> {
    let read = tokio::task::spawn_blocking(move || {
        let (headers, secrets) = ports::secrets::resolve(&config, secrets.as_ref())?;
        Ok(HttpStart { url: config.url, headers, secrets, kind: config.kind, known: None, authorizer: None })
    });
    read.await.unwrap_or_else(|error| Err(Unresolved::Interrupted(error.to_string())))
}

/// Puts the secrets into the environment of a local server.
async fn read_environment(config: StdioConfig, secrets: Arc<dyn Secrets>) -> Result<Filled, Unresolved> {
    let read = tokio::task::spawn_blocking(move || ports::secrets::resolve_environment(&config, secrets.as_ref()));
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

/// A command that was found, and what decides what it runs.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) program: PathBuf,
    /// The program's file, links resolved.
    pub(super) real: Option<PathBuf>,
    /// How it is held, if it has a sandbox.
    pub(super) plan: Option<Plan>,
    /// The files that decide what runs.
    pub(super) files: LaunchFiles,
}

/// A command that was found, and the package that it loads.
type FoundLaunch = (Found, Option<Launched>);

/// Finds a command, out how it can be held if it has a sandbox, and which package it loads.
async fn find_and_plan(
    name: String,
    command: ServerCommand,
    known: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
    config: StdioConfig,
    own: OwnFiles,
) -> (SearchPath, Result<FoundLaunch, NoPlan>) {
    let command = own.settle(&name, &config, command).await;
    let (path, found) = find(command.clone(), known).await;
    let planned = match found {
        Ok(program) => match plan(&command, &program, &path, &config, &own).await {
            Ok(plan) => {
                let launched = super::packages::launched(&config, &command.directory());
                let files = files(command, program.clone(), path.clone()).await;
                let real = tokio::fs::canonicalize(&program).await.ok();
                Ok((Found { program, real, plan, files }, launched))
            }
            Err(error) => Err(error),
        },
        Err(error) => Err(error.into()),
    };
    (path, planned)
}

/// Reads the files that decide what a command runs. If that is interrupted there are none, so that the start fails when they are
/// looked at again.
pub(super) async fn files(command: ServerCommand, program: PathBuf, path: SearchPath) -> LaunchFiles {
    let reading = tokio::task::spawn_blocking(move || LaunchFiles::of(&command, &program, &path));
    reading.await.unwrap_or_default()
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
