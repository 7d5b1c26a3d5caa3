//! Prints events of the host: all events as JSON lines, or the important ones as text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use api::data::{ActivityEntry, ActivityRange, CallState, ServerState};
use api::{Api, Event, Handler as _};
use serde_json::{Value, json};

use crate::arguments::Command;
use crate::conversation_printer::ConversationPrinter;
use crate::output::{Output, to_json_value, with_redacted_environment_variables};
use crate::published_names::{EVENT_FIELD_NAMES, SERVER_FIELD_NAMES, published_event_name, with_published_field_names};
use crate::terminal_escape::escape_line;

/// Maximum number of entries of an activity log that are read in one query.
const ACTIVITY_ENTRIES_PER_QUERY: u32 = 1_000;

/// Filter that selects which of the host's events are printed.
#[derive(Debug, Clone)]
pub(crate) struct EventFilter {
    /// `true` to print all events, including each MCP message.
    prints_all: bool,
    /// Name of the server to which printed events are limited, or `None` if events of all servers are printed.
    server: Option<String>,
}

impl EventFilter {
    pub(crate) fn for_command(command: &Command) -> Self {
        match command {
            Command::Watch(of) => Self { prints_all: true, server: of.server.clone() },
            _ => Self { prints_all: false, server: None },
        }
    }

    fn includes_server(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|filter| filter == server)
    }
}

/// Receiver of the host's events that prints all or some of them.
pub(crate) trait EventPrinter {
    fn print_event(&mut self, event: &Event) -> impl Future<Output = ()> + Send;
}

/// Printer of the command's conversation, if it has one. The async task that receives the host's events uses it, so
/// that text of a reply is printed before a consent request that follows it.
pub(crate) type SharedConversationPrinter = Arc<Mutex<Option<ConversationPrinter>>>;

/// Printer that writes events as text or JSON lines through [`Output`].
pub(crate) struct OutputEventPrinter {
    api: Api,
    output: Arc<Output>,
    filter: EventFilter,
    /// Number of the last printed entry of each server's activity log.
    last_entry_numbers: HashMap<String, u64>,
    /// Last text that was printed for each server and each call, so that an equal text is not printed again.
    last_texts: HashMap<String, String>,
    conversation_printer: SharedConversationPrinter,
}

impl OutputEventPrinter {
    pub(crate) fn new(
        api: Api,
        output: Arc<Output>,
        filter: EventFilter,
        conversation_printer: SharedConversationPrinter,
    ) -> Self {
        Self {
            api,
            output,
            filter,
            last_entry_numbers: HashMap::new(),
            last_texts: HashMap::new(),
            conversation_printer,
        }
    }

    async fn print(&mut self, event: &Event) {
        if let Some(talk) = self.conversation_printer.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            talk.print_event(event, &self.output);
        }
        match event {
            Event::ActivityAppended { server, .. } => {
                if self.filter.prints_all && self.filter.includes_server(server) {
                    self.print_activity(server).await;
                }
                return;
            }
            Event::ServerChanged { server } if self.filter.includes_server(&server.name) => {
                if self.filter.prints_all {
                    self.print_if_changed(
                        &server.name,
                        format!("{}: {}", escape_line(&server.name), server_state_text(&server.state)),
                    );
                }
            }
            Event::ServerRemoved { name } if self.filter.includes_server(name) => {
                self.last_texts.remove(name);
                self.print_if_watching(format!("{}: removed from the settings", escape_line(name)));
            }
            Event::CallChanged { call } if self.filter.includes_server(&call.server) => {
                if let Some(task) = &call.task {
                    let status = to_json_value(&task.status);
                    let message = task.message.as_deref().map(|m| format!(" {}", escape_line(m))).unwrap_or_default();
                    let status = status.as_str().unwrap_or_default().replace('_', " ");
                    let words =
                        format!("{} {}: task {status}{message}", escape_line(&call.server), escape_line(&call.name));
                    self.print_if_changed(&format!("task of {}", call.id), words);
                }
                let progress = call.progress.as_ref().filter(|_| call.state == CallState::Running);
                if let Some(progress) = progress {
                    let of = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                    let message =
                        progress.message.as_deref().map(|m| format!(" {}", escape_line(m))).unwrap_or_default();
                    let words = format!(
                        "{} {}: {}{of}{message}",
                        escape_line(&call.server),
                        escape_line(&call.name),
                        progress.progress
                    );
                    self.print_if_changed(&format!("call {}", call.id), words);
                }
            }
            Event::CatalogChanged { server } if self.filter.includes_server(server) => {
                self.print_if_watching(format!("{}: its tools, prompts or resources changed", escape_line(server)));
            }
            Event::ResourceUpdated { server, uri } if self.filter.includes_server(server) => {
                self.print_if_watching(format!("{}: {} changed", escape_line(server), escape_line(uri)));
            }
            Event::ConfigProblem { problem: Some(problem) } => {
                let file = problem.file.as_deref().unwrap_or("the settings file");
                self.output.print_message(&escape_line(&format!("{file} can't be used: {}", problem.message)));
            }
            // A consent request is printed when it is decided.
            Event::ConsentRequestChanged { .. }
            | Event::AuthorizationChanged { .. }
            | Event::ConversationsChanged { .. }
            | Event::AuditChanged
            | Event::ModelsChanged
            | Event::SettingsChanged { .. } => return,
            // A conversation is printed by its [`ConversationPrinter`].
            Event::ReplyDelta { .. } | Event::ItemChanged { .. } => {}
            Event::ConsentRequestClosed { .. } | Event::ConfigProblem { problem: None } => {}
            // Events of other servers are not printed.
            _ => return,
        }
        if let Value::Object(mut fields) =
            with_published_field_names(with_redacted_environment_variables(to_json_value(event)), EVENT_FIELD_NAMES)
        {
            let name =
                fields.shift_remove("type").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            if let Some(server) = fields.get_mut("server") {
                *server = with_published_field_names(server.take(), SERVER_FIELD_NAMES);
            }
            self.output.print_event(published_event_name(&name), Value::Object(fields));
        }
    }

    fn print_if_changed(&mut self, about: &str, words: String) {
        if self.last_texts.get(about) != Some(&words) {
            self.output.print_message(&words);
            self.last_texts.insert(about.to_owned(), words);
        }
    }

    fn print_if_watching(&self, words: String) {
        if self.filter.prints_all {
            self.output.print_message(&words);
        }
    }

    async fn print_activity(&mut self, server: &str) {
        let after = self.last_entry_numbers.get(server).copied();
        let range = ActivityRange { server: server.to_owned(), after, limit: ACTIVITY_ENTRIES_PER_QUERY };
        // The server may have been removed since the event.
        let Ok(page) = self.api.read_activity(range).await else { return };
        let first = page.entries.first().map_or(0, |entry| entry.seq);
        let missed = first.saturating_sub(after.unwrap_or(0) + 1);
        if missed > 0 {
            self.output.print_event("missed", json!({ "server": server, "entries": missed }));
            self.output.print_message(&format!("{}: {missed} messages were too fast to show", escape_line(server)));
        }
        for entry in &page.entries {
            self.last_entry_numbers.insert(server.to_owned(), entry.seq);
            self.output.print_event("activity", json!({ "server": server, "entry": entry }));
            self.output.print_text(&activity_line(server, entry));
        }
    }
}

impl EventPrinter for OutputEventPrinter {
    fn print_event(&mut self, event: &Event) -> impl Future<Output = ()> + Send {
        self.print(event)
    }
}

fn activity_line(server: &str, entry: &ActivityEntry) -> String {
    let arrow = if entry.sent { "→" } else { "←" };
    let kind = to_json_value(&entry.kind);
    let method = entry.method.as_deref().unwrap_or_default();
    let id = entry.id.as_deref().map(|id| format!(" #{id}")).unwrap_or_default();
    let latency = entry.latency.map(|latency| format!(" {latency:.0} ms")).unwrap_or_default();
    let note = entry.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    escape_line(&format!("{server} {arrow} {kind} {method}{id}{latency}{note} {}", entry.preview))
}

/// Describes the state of a server in a few words, with the cause of a failure.
pub(crate) fn server_state_text(state: &ServerState) -> String {
    match state {
        ServerState::Stopped => String::from("stopped"),
        ServerState::AwaitingApproval => String::from("waits for approval"),
        ServerState::Starting => String::from("starting"),
        ServerState::Ready => String::from("ready"),
        ServerState::Stopping => String::from("stopping"),
        ServerState::Reconnecting { attempt, cause, .. } => {
            escape_line(&format!("attempt {attempt} to reconnect follows: {cause}"))
        }
        ServerState::Failed { message, .. } => escape_line(&format!("failed: {message}")),
        ServerState::NeedsSignIn { signing_in: true, .. } => String::from("signing in"),
        ServerState::NeedsSignIn { cause, .. } => escape_line(&format!("needs sign-in: {cause}")),
    }
}
