//! A host for the time of one command: its servers, what is known of them, and the questions they lead to.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use api::data::{Nothing, Server, ServerName, ServerState};
use api::{Api, ErrorCode, EventStream, Events, Handler as _};
use host::{Host, HostOptions};
use serde_json::json;
use store::Locations;
use tokio::sync::{mpsc, watch};

use crate::arguments::{Arguments, Command};
use crate::decide::{Decider, decide_all};
use crate::events::Show;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::platform::{Terminal, has_display};
use crate::talk::{Ended, Talk};
use crate::trace;
use crate::view::View;
use crate::{events, paste, visible};

/// How long events may still come before the result.
const CATCH_UP: Duration = Duration::from_secs(1);

/// A running host.
pub(crate) struct Session {
    pub(crate) api: Api,
    pub(crate) output: Arc<Output>,
    pub(crate) input: Input,
    pub(crate) data_folder: PathBuf,
    view: watch::Receiver<View>,
    talks: events::Talks,
}

impl Session {
    /// Opens the files and starts a host on them. No server is started.
    pub(crate) async fn open(
        arguments: &Arguments,
        decider: Decider,
        input: Input,
        output: Arc<Output>,
    ) -> Result<Self, Failure> {
        let Locations { config_file: config, data_dir: data } = locations(arguments)?;
        let logs_in = matches!(arguments.command, Command::Login { .. });
        let pastes = arguments.paste || (logs_in && !has_display());
        let opens = logs_in && !pastes;
        let platform = Arc::new(Terminal { opens, output: Arc::clone(&output) });
        let ports = store::open(&config, &data, platform).map_err(system)?;
        let options = HostOptions { decides: decider.name(), trace: trace::of_environment(), ..HostOptions::default() };
        let host = Host::start(ports, options).await;
        let api = Api::new(host);
        let events = api.events();
        let (told, view) = watch::channel(View::default());
        refresh(&api, &told).await?;
        let (filter, talks) = (events::Filter::of(&arguments.command), events::Talks::default());
        let shown = events::Shown::new(api.clone(), Arc::clone(&output), filter, Arc::clone(&talks));
        let followed = Arc::clone(&talks);
        let reads = api.clone();
        tokio::spawn(async move {
            follow(reads, events, told, shown).await;
            // Nothing more comes of a conversation.
            drop(followed.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
        tokio::spawn(decide_all(api.clone(), view.clone(), decider, Arc::clone(&output)));
        if pastes {
            tokio::spawn(paste::take_all(api.clone(), view.clone(), input.clone(), Arc::clone(&output)));
        }
        Ok(Self { api, output, input, data_folder: data, view, talks })
    }

    /// Waits until the events of all that has happened so far are printed.
    pub(crate) async fn catch_up(&self) {
        let Ok(snapshot) = self.api.snapshot(Nothing {}).await else { return };
        let mut view = self.view.clone();
        let caught_up = view.wait_for(|view| view.next_event >= snapshot.next_event);
        // A server that never stops talking must not keep the result back.
        let _ = tokio::time::timeout(CATCH_UP, caught_up).await;
    }

    /// Has the answers of a conversation printed as they come. Gives how each ends; nothing more once the host has ended.
    pub(crate) fn talk(&self, conversation: &str) -> mpsc::Receiver<Ended> {
        let (talk, ends) = Talk::new(conversation.to_owned());
        *self.talks.lock().unwrap_or_else(PoisonError::into_inner) = Some(talk);
        ends
    }

    /// Ends all servers.
    pub(crate) async fn close(&self) {
        self.api.host().close().await;
    }

    /// The servers named, or all, in the settings file's order.
    pub(crate) async fn servers(&self, named: Option<&str>) -> Result<Vec<String>, Failure> {
        let snapshot = self.api.snapshot(Nothing {}).await?;
        let (settings, document): (Option<_>, Option<_>) = match snapshot.config_problem {
            Some(problem) if problem.file.as_ref().is_some_and(|file| *file != snapshot.paths.config) => {
                (None, Some(problem))
            }
            problem => (problem, None),
        };
        if let Some(problem) = document {
            let file = problem.file.unwrap_or_default();
            self.output.say(&visible::line(&format!("{file}: {}", problem.message)));
        }
        if let Some(problem) = settings {
            let place = problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let file = problem.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
            return Err(Failure::new(ErrorCode::Config, format!("{file}{place}{}", problem.message)));
        }
        let all: Vec<String> = snapshot.servers.into_iter().map(|server| server.name).collect();
        match named {
            None => Ok(all),
            Some(name) if all.iter().any(|server| server == name) => Ok(vec![name.to_owned()]),
            Some(name) => {
                let known = if all.is_empty() { String::from("there are none") } else { all.join(", ") };
                let message = format!("there is no server \"{name}\" in {}: {known}", snapshot.paths.config);
                Err(Failure::new(ErrorCode::NotFound, message))
            }
        }
    }

    /// Starts a server and waits until it can be used and what it offers is read.
    pub(crate) async fn ready(&self, server: &str) -> Result<(), Failure> {
        self.api.start_server(ServerName { server: server.to_owned() }).await?;
        // The state that the view has may be from before the start.
        let now = self.api.snapshot(Nothing {}).await?.next_event;
        let mut view = self.view.clone();
        loop {
            {
                let view = view.borrow_and_update();
                if view.next_event >= now {
                    match view.server(server).map(|server| &server.state) {
                        None => {
                            return Err(Failure::new(
                                ErrorCode::NotFound,
                                format!("{server} is no longer in the settings"),
                            ));
                        }
                        Some(ServerState::Stopped) => {
                            return Err(Failure::new(ErrorCode::Refused, format!("{server} was not started")));
                        }
                        Some(state @ ServerState::Failed { .. }) => return Err(failed(server, state)),
                        Some(ServerState::NeedsSignIn { cause, signing_in: false }) => {
                            let refused = view.refused.contains(server);
                            let code = if refused { ErrorCode::Refused } else { ErrorCode::SignInNeeded };
                            let next = format!(
                                "Sign in with \"drawbridge-cli login {server}\", or with this very command and --paste."
                            );
                            return Err(Failure::new(code, format!("{server}: {cause}\n{next}")));
                        }
                        Some(_) => {}
                    }
                }
            }
            let catalog = self.api.host().catalog(server.to_owned()).await.map_err(api::ApiError::from)?;
            if catalog.is_read && matches!(view.borrow().server(server).map(|s| &s.state), Some(ServerState::Ready)) {
                return Ok(());
            }
            if view.changed().await.is_err() {
                return Err(Failure::new(ErrorCode::Internal, "the host ended"));
            }
        }
    }

    /// Changes whenever anything may have.
    pub(crate) fn changes(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Whether the user, or who decides instead, refused to sign in to a server.
    pub(crate) fn is_refused(&self, server: &str) -> bool {
        self.view.borrow().refused.contains(server)
    }

    /// How a server is at this moment.
    pub(crate) async fn state(&self, server: &str) -> Result<ServerState, Failure> {
        let servers = self.api.snapshot(Nothing {}).await?.servers;
        let found = servers.into_iter().find(|one| one.name == server);
        let gone = || Failure::new(ErrorCode::NotFound, format!("{server} is no longer in the settings"));
        found.map(|server| server.state).ok_or_else(gone)
    }

    /// What is known of a server.
    pub(crate) fn server(&self, name: &str) -> Option<Server> {
        self.view.borrow().server(name).cloned()
    }
}

/// The settings file and the data folder that a command is for.
pub(crate) fn locations(arguments: &Arguments) -> Result<Locations, Failure> {
    let locations = match (arguments.config.clone(), arguments.data_dir.clone()) {
        (Some(config_file), Some(data_dir)) => Locations { config_file, data_dir },
        (config, data) => {
            let usual = store::default_locations().map_err(system)?;
            Locations { config_file: config.unwrap_or(usual.config_file), data_dir: data.unwrap_or(usual.data_dir) }
        }
    };
    // An import makes the file, and so does an installation.
    let makes_file = matches!(&arguments.command, Command::Import(_) | Command::Install(_) | Command::Bundle { .. });
    if arguments.config.is_some() && !makes_file && !locations.config_file.exists() {
        return Err(Failure::usage(format!("{}: there is no such file", locations.config_file.display())));
    }
    Ok(locations)
}

/// A failure of the disk.
pub(crate) fn system(error: domain::StoreError) -> Failure {
    Failure::new(ErrorCode::System, error.to_string())
}

/// Why a server can't be used.
pub(crate) fn failed(server: &str, state: &ServerState) -> Failure {
    let ServerState::Failed { reason, message, stderr, hint, .. } = state else {
        return Failure::new(ErrorCode::NotReady, format!("{server} is not ready"));
    };
    let refused = *reason == api::data::FailureReason::Refused;
    let code = if refused { ErrorCode::Refused } else { ErrorCode::NotReady };
    let mut words = format!("{server}: {message}");
    if let Some(hint) = hint {
        words.push_str(&format!("\n{hint}"));
    }
    for line in stderr.iter().rev().take(10).rev() {
        words.push_str(&format!("\n  | {}", visible::line(line)));
    }
    Failure { data: Some(Box::new(json!({ "state": state }))), ..Failure::new(code, words) }
}

async fn refresh(api: &Api, told: &watch::Sender<View>) -> Result<(), Failure> {
    let snapshot = api.snapshot(Nothing {}).await?;
    let (next_event, servers, questions) = (snapshot.next_event, snapshot.servers, snapshot.questions);
    told.send_modify(|view| {
        let refused = std::mem::take(&mut view.refused);
        *view = View { next_event, servers, questions, refused };
    });
    Ok(())
}

/// Reads the host's events until it ends.
async fn follow(api: Api, mut events: EventStream, told: watch::Sender<View>, mut shown: events::Shown) {
    while let Some(batch) = events.next().await {
        let next = told.borrow().next_event;
        if batch.first > next && refresh(&api, &told).await.is_err() {
            return;
        }
        take_in(&batch, &told, &mut shown).await;
    }
}

/// Shows events, each before it is known of: what a question is asked after was printed before it.
async fn take_in(batch: &Events, told: &watch::Sender<View>, shown: &mut impl Show) {
    for (number, event) in (batch.first..).zip(&batch.events) {
        if number >= told.borrow().next_event {
            shown.event(event).await;
            told.send_modify(|view| {
                view.apply(event);
                view.next_event = number + 1;
            });
        }
    }
}

#[cfg(test)]
mod tests;
