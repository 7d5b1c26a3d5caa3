//! Session of a command: a host that runs while the command does, with its servers and consent requests.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use api::data::{EmptyObject, Server, ServerName, ServerState};
use api::{Api, ErrorCode, EventStream, Events, Handler as _};
use host::{Host, HostOptions};
use policy::UsedBy;
use serde_json::json;
use store::FileLocations;
use tokio::sync::{mpsc, watch};

use crate::arguments::{Arguments, Command};
use crate::consent_decider::{ConsentDecider, decide_all_consent_requests};
use crate::conversation_printer::{ConversationPrinter, ReplyResult};
use crate::event_printer::EventPrinter;
use crate::failure::CommandFailure;
use crate::host_view::HostView;
use crate::input_lines::InputLines;
use crate::output::Output;
use crate::platform::{TerminalPlatform, has_display};
use crate::published_names::{SERVER_FIELD_NAMES, with_published_field_names};
use crate::trace;
use crate::{event_printer, pasted_redirects, terminal_escape};

/// Maximum time for which the result of a command waits until earlier events are printed.
const EVENT_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Host that runs for the duration of one command, with the output and input of the program.
pub(crate) struct CommandSession {
    pub(crate) api: Api,
    pub(crate) output: Arc<Output>,
    pub(crate) input: InputLines,
    pub(crate) data_folder: PathBuf,
    view: watch::Receiver<HostView>,
    conversation_printer: event_printer::SharedConversationPrinter,
}

impl CommandSession {
    /// Opens the settings and data files, and starts a host without starting any server.
    pub(crate) async fn open(
        arguments: &Arguments,
        decider: ConsentDecider,
        input: InputLines,
        output: Arc<Output>,
    ) -> Result<Self, CommandFailure> {
        let FileLocations { config_file: config, data_dir: data } = file_locations(arguments)?;
        let logs_in = matches!(arguments.command, Command::Login { .. });
        let pastes = arguments.paste || (logs_in && !has_display());
        let opens_browser = logs_in && !pastes;
        let platform = Arc::new(TerminalPlatform { opens_browser, output: Arc::clone(&output) });
        let ports = store::open(&config, &data, platform).map_err(storage_failure)?;
        let options = HostOptions {
            decider_name: decider.name(),
            user_origin: UsedBy::CommandLine,
            trace: trace::from_environment(),
            ..HostOptions::default()
        };
        let host = Host::start(ports, options).await;
        let api = Api::new(host);
        let events = api.events();
        let (view_sender, view) = watch::channel(HostView::default());
        replace_host_view_by_snapshot(&api, &view_sender).await?;
        let (filter, conversation_printer) = (
            event_printer::EventFilter::for_command(&arguments.command),
            event_printer::SharedConversationPrinter::default(),
        );
        let shown = event_printer::OutputEventPrinter::new(
            api.clone(),
            Arc::clone(&output),
            filter,
            Arc::clone(&conversation_printer),
        );
        let followed = Arc::clone(&conversation_printer);
        let reads = api.clone();
        tokio::spawn(async move {
            apply_and_print_events(reads, events, view_sender, shown).await;
            // Without the printer, the receiver of ended replies is closed.
            drop(followed.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
        tokio::spawn(decide_all_consent_requests(api.clone(), view.clone(), decider, Arc::clone(&output)));
        if pastes {
            tokio::spawn(pasted_redirects::deliver_pasted_redirects(
                api.clone(),
                view.clone(),
                input.clone(),
                Arc::clone(&output),
            ));
        }
        Ok(Self { api, output, input, data_folder: data, view, conversation_printer })
    }

    /// Waits until all events that occurred before this call are printed, for at most [`EVENT_FLUSH_TIMEOUT`].
    pub(crate) async fn flush_events(&self) {
        let Ok(snapshot) = self.api.read_snapshot(EmptyObject {}).await else { return };
        let mut view = self.view.clone();
        let caught_up = view.wait_for(|view| view.next_event >= snapshot.next_event);
        // A server that sends events continuously must not delay the result.
        let _ = tokio::time::timeout(EVENT_FLUSH_TIMEOUT, caught_up).await;
    }

    /// Begins to print the replies of a conversation as they stream. The returned receiver delivers the result of each
    /// reply, and is closed when the host stops.
    pub(crate) fn start_printing_replies(&self, conversation: &str) -> mpsc::Receiver<ReplyResult> {
        let (talk, ends) = ConversationPrinter::new(conversation.to_owned());
        *self.conversation_printer.lock().unwrap_or_else(PoisonError::into_inner) = Some(talk);
        ends
    }

    /// Stops all servers and the host.
    pub(crate) async fn close(&self) {
        self.api.host().close().await;
    }

    /// Returns the given name of a server after checking that it exists, or the names of all servers in the order of
    /// the settings file if none is given.
    pub(crate) async fn resolve_server_names(&self, named: Option<&str>) -> Result<Vec<String>, CommandFailure> {
        let snapshot = self.api.read_snapshot(EmptyObject {}).await?;
        let (settings, document): (Option<_>, Option<_>) = match snapshot.config_problem {
            Some(problem) if problem.file.as_ref().is_some_and(|file| *file != snapshot.paths.config) => {
                (None, Some(problem))
            }
            problem => (problem, None),
        };
        if let Some(problem) = document {
            let file = problem.file.unwrap_or_default();
            self.output.print_message(&terminal_escape::escape_line(&format!("{file}: {}", problem.message)));
        }
        if let Some(problem) = settings {
            let place = problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let file = problem.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
            return Err(CommandFailure::new(ErrorCode::Config, format!("{file}{place}{}", problem.message)));
        }
        let all: Vec<String> = snapshot.servers.into_iter().map(|server| server.name).collect();
        match named {
            None => Ok(all),
            Some(name) if all.iter().any(|server| server == name) => Ok(vec![name.to_owned()]),
            Some(name) => {
                let known = if all.is_empty() { String::from("there are none") } else { all.join(", ") };
                let message = format!("there is no server \"{name}\" in {}: {known}", snapshot.paths.config);
                Err(CommandFailure::new(ErrorCode::NotFound, message))
            }
        }
    }

    /// Starts a server, and waits until it is ready and its lists, such as that of its tools, have been read.
    pub(crate) async fn start_server_and_wait(&self, server: &str) -> Result<(), CommandFailure> {
        self.api.start_server(ServerName { server: server.to_owned() }).await?;
        // The local view may still contain the state from before the start.
        let now = self.api.read_snapshot(EmptyObject {}).await?.next_event;
        let mut view = self.view.clone();
        loop {
            {
                let view = view.borrow_and_update();
                if view.next_event >= now {
                    match view.server(server).map(|server| &server.state) {
                        None => {
                            return Err(CommandFailure::new(
                                ErrorCode::NotFound,
                                format!("{server} is no longer in the settings"),
                            ));
                        }
                        Some(ServerState::Stopped) => {
                            return Err(CommandFailure::new(ErrorCode::Refused, format!("{server} was not started")));
                        }
                        Some(state @ ServerState::Failed { .. }) => return Err(server_start_failure(server, state)),
                        Some(ServerState::NeedsSignIn { cause, signing_in: false }) => {
                            let refused = view.refused_sign_ins.contains(server);
                            let code = if refused { ErrorCode::Refused } else { ErrorCode::SignInNeeded };
                            let next = format!(
                                "Sign in with \"drawbridge-cli login {server}\", or with this very command and --paste."
                            );
                            return Err(CommandFailure::new(code, format!("{server}: {cause}\n{next}")));
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
                return Err(CommandFailure::new(ErrorCode::Internal, "the host ended"));
            }
        }
    }

    /// Returns a receiver that holds the local copy of the host's state, and is notified of each change.
    pub(crate) fn watch_host_view(&self) -> watch::Receiver<HostView> {
        self.view.clone()
    }

    /// Returns `true` if the user denied or closed a consent request about signing in to the server.
    pub(crate) fn was_sign_in_refused_by_user(&self, server: &str) -> bool {
        self.view.borrow().refused_sign_ins.contains(server)
    }

    /// Requests the current state of an MCP server from the host.
    pub(crate) async fn server_state(&self, server: &str) -> Result<ServerState, CommandFailure> {
        let servers = self.api.read_snapshot(EmptyObject {}).await?.servers;
        let found = servers.into_iter().find(|one| one.name == server);
        let missing = || CommandFailure::new(ErrorCode::NotFound, format!("{server} is no longer in the settings"));
        found.map(|server| server.state).ok_or_else(missing)
    }

    /// Returns a server from the local copy of the host's state, or `None` if there is no such server.
    pub(crate) fn server(&self, name: &str) -> Option<Server> {
        self.view.borrow().server(name).cloned()
    }
}

/// Returns the paths of the settings file and the data folder to use, from the command line or else the defaults.
pub(crate) fn file_locations(arguments: &Arguments) -> Result<FileLocations, CommandFailure> {
    let locations = match (arguments.config.clone(), arguments.data_dir.clone()) {
        (Some(config_file), Some(data_dir)) => FileLocations { config_file, data_dir },
        (config, data) => {
            let usual = store::default_locations().map_err(storage_failure)?;
            FileLocations { config_file: config.unwrap_or(usual.config_file), data_dir: data.unwrap_or(usual.data_dir) }
        }
    };
    // These commands create the settings file if it does not exist.
    let makes_file = matches!(&arguments.command, Command::Import(_) | Command::Install(_) | Command::Bundle { .. });
    if arguments.config.is_some() && !makes_file && !locations.config_file.exists() {
        return Err(CommandFailure::usage_error(format!("{}: there is no such file", locations.config_file.display())));
    }
    Ok(locations)
}

/// Converts an error of Drawbridge's files on disk to a failure of the command.
pub(crate) fn storage_failure(error: domain::StoreError) -> CommandFailure {
    CommandFailure::new(ErrorCode::System, error.to_string())
}

/// Returns the failure of a command that requires a server which did not start, with the cause from the server's state.
pub(crate) fn server_start_failure(server: &str, state: &ServerState) -> CommandFailure {
    let ServerState::Failed { reason, message, stderr, hint, .. } = state else {
        return CommandFailure::new(ErrorCode::NotReady, format!("{server} is not ready"));
    };
    let refused = *reason == api::data::FailureReason::Refused;
    let code = if refused { ErrorCode::Refused } else { ErrorCode::NotReady };
    let mut words = format!("{server}: {message}");
    if let Some(hint) = hint {
        words.push_str(&format!("\n{hint}"));
    }
    for line in stderr.iter().rev().take(10).rev() {
        words.push_str(&format!("\n  | {}", terminal_escape::escape_line(line)));
    }
    CommandFailure {
        data: Some(Box::new(with_published_field_names(json!({ "state": state }), SERVER_FIELD_NAMES))),
        ..CommandFailure::new(code, words)
    }
}

async fn replace_host_view_by_snapshot(api: &Api, view_sender: &watch::Sender<HostView>) -> Result<(), CommandFailure> {
    let snapshot = api.read_snapshot(EmptyObject {}).await?;
    let (next_event, servers, requests) = (snapshot.next_event, snapshot.servers, snapshot.consent_requests);
    view_sender.send_modify(|view| {
        let refused_sign_ins = std::mem::take(&mut view.refused_sign_ins);
        *view = HostView { next_event, servers, consent_requests: requests, refused_sign_ins };
    });
    Ok(())
}

/// Prints the host's events and applies them to the local copy of the host's state, until the host stops.
async fn apply_and_print_events(
    api: Api,
    mut events: EventStream,
    view_sender: watch::Sender<HostView>,
    mut shown: event_printer::OutputEventPrinter,
) {
    while let Some(batch) = events.next().await {
        let next = view_sender.borrow().next_event;
        if batch.first > next && replace_host_view_by_snapshot(&api, &view_sender).await.is_err() {
            return;
        }
        print_and_apply_batch(&batch, &view_sender, &mut shown).await;
    }
}

/// Prints each event before it applies the event to the local copy of the host's state, so that all earlier output
/// precedes the prompt for a consent request.
async fn print_and_apply_batch(batch: &Events, view_sender: &watch::Sender<HostView>, shown: &mut impl EventPrinter) {
    for (number, event) in (batch.first..).zip(&batch.events) {
        if number >= view_sender.borrow().next_event {
            shown.print_event(event).await;
            view_sender.send_modify(|view| {
                view.apply_event(event);
                view.next_event = number + 1;
            });
        }
    }
}

#[cfg(test)]
mod tests;
