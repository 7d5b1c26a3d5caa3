//! What an observer of the host sees: servers, questions, calls, and the events that tell of their changes.

mod consent;
mod server;

pub use consent::{Edit, QuestionBody, QuestionView, UserAnswer};
pub use server::{Connected, Failure, FailureReason, Retry, SandboxPreview, ServerState, ServerView, Writer};

use std::time::Duration;

use domain::bounds::ChatBounds;
use domain::call::Call;
use domain::item::ConversationEvent;
use domain::question::{QuestionId, QuestionOutcome};
pub use mcp_transport::driver::TransportFound;
use ports::AuditEntry;
use ports::server_config::ConfigProblem;
pub use process::sandbox::{Plan, ResourceLimits, SandboxProblem};
pub use process::{
    Blocked, FileState, FolderOffer, LaunchFile, LaunchFileRole, LaunchFiles, Missing, NamedBy, NotOffered,
};
use serde::{Deserialize, Serialize};
use supervision::limits::Limits;

impl Failure {
    /// A failure with nothing but its cause.
    #[must_use]
    pub fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            stderr: Vec::new(),
            looked_in: Vec::new(),
            hint: None,
            blocked: Box::default(),
            sandbox: None,
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A server was added or changed.
    ServerChanged(Box<ServerView>),
    /// A server is gone.
    ServerRemoved(String),
    /// What a server offers changed.
    CatalogChanged(String),
    /// A watched resource changed.
    ResourceUpdated {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// A question is new or changed.
    QuestionChanged(Box<QuestionView>),
    /// A question is gone.
    QuestionClosed {
        /// The question.
        id: QuestionId,
        /// What became of it.
        outcome: QuestionOutcome,
    },
    /// A model that answers a sampling request said more. It comes after what the question has.
    SamplingText {
        /// The question.
        id: QuestionId,
        /// What to append; empty if it only thinks.
        text: String,
    },
    /// What a server may use of the user's models, or what it used, changed.
    SamplingChanged(String),
    /// A call is new, changed or over.
    CallChanged(Call),
    /// What is known of the sign-in to this server changed.
    AuthorizationChanged(String),
    /// A server's activity grew.
    ActivityAppended {
        /// The server.
        server: String,
        /// The latest entry.
        last: u64,
    },
    /// The list of conversations changed, or the items of this one.
    ConversationsChanged(Option<String>),
    /// Something happened in a conversation.
    Conversation(ConversationEvent),
    /// A decision was written, or a grant changed.
    AuditChanged(Option<Box<AuditEntry>>),
    /// The providers of models changed, or what they list.
    ModelsChanged,
    /// The app's settings changed.
    SettingsChanged(AppSettings),
    /// The rules changed, or what is wrong with their files.
    RulesChanged,
    /// The settings file can't be used, or can again.
    ConfigProblem(Option<ConfigProblem>),
}

/// The app's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AppSettings {
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// `system`, `en` or `zh`.
    pub language: String,
    /// Whether the welcome was closed.
    pub welcome_done: bool,
    /// Whether the system announces a question while the window is in the background.
    pub announce: bool,
    /// How much each server gets.
    pub limits: Limits,
    /// For how many days decisions stay in the audit log; 0 for ever.
    pub audit_days: u32,
    /// How many megabytes the audit log may have; 0 for no bound.
    pub audit_megabytes: u32,
    /// Whether the audit log has what crossed, and not only its hash.
    pub audit_contents: bool,
    /// How much of a conversation a model gets.
    pub chat: ChatBounds,
    /// What closing the window does while servers run: `ask`, `background` or `quit`.
    pub on_close: String,
    /// Whether the app looks for newer versions of itself without being told to.
    pub check_updates: bool,
    /// How large the page is drawn, in percent.
    pub zoom: u16,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: "system".into(),
            language: "system".into(),
            welcome_done: false,
            announce: true,
            limits: Limits::default(),
            audit_days: 0,
            audit_megabytes: 1_000,
            audit_contents: true,
            chat: ChatBounds::default(),
            on_close: "ask".into(),
            check_updates: false,
            zoom: 100,
        }
    }
}

/// Everything there is, and the number the next event will have.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The number of the next event.
    pub next_event: u64,
    /// All servers, in the settings file's order.
    pub servers: Vec<ServerView>,
    /// The queue, the front first.
    pub questions: Vec<QuestionView>,
    /// The calls under way.
    pub calls: Vec<Call>,
    /// The app's settings.
    pub settings: AppSettings,
    /// What is wrong with the settings file.
    pub config_problem: Option<ConfigProblem>,
}

/// How long calls may take: (without a sign of life, in all).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTimes {
    /// A tool call.
    pub tool: (Duration, Duration),
    /// A prompt or a resource.
    pub read: (Duration, Duration),
    /// One page of a list.
    pub list: (Duration, Duration),
    /// A completion.
    pub complete: (Duration, Duration),
}

impl Default for CallTimes {
    fn default() -> Self {
        let secs = |idle, total| (Duration::from_secs(idle), Duration::from_secs(total));
        Self { tool: secs(300, 3600), read: secs(60, 600), list: secs(10, 60), complete: secs(5, 10) }
    }
}
