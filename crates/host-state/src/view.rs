//! Views of the host's state for observers: servers, consent requests, calls, and events about their changes.

mod consent;
mod server;

pub use consent::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, EarlierApproval, UserDecision};
pub use server::{
    FailureReason, LaunchFileWriter, RemoteConnection, SandboxOffer, SandboxPreview, ScheduledRestart, ServerFailure,
    ServerState, ServerView, StartRefusal,
};

use std::time::Duration;

use domain::app_view::AppViewEvent;
use domain::bounds::ChatBounds;
use domain::call::ServerCall;
use domain::consent_request::{ConsentRequestId, ConsentRequestOutcome};
use domain::item::ConversationEvent;
pub use mcp_transport::driver::DetectedTransport;
use ports::AuditEntry;
use ports::server_config::ConfigProblem;
pub use process::sandbox::{ResolvedSandbox, ResourceLimits, SandboxProblem};
pub use process::{
    BlockedPath, FolderProposal, LaunchFile, LaunchFileRole, LaunchFileState, LaunchFiles, MissingDependency,
    PathMention, ProposalRefusal,
};
use serde::{Deserialize, Serialize};
use supervision::limits::ServerLimits;

impl ServerFailure {
    /// Creates a failure of a server with a reason and a message, and no details.
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
            refusal: None,
        }
    }

    /// Creates the failure of a server whose start the user did not approve.
    #[must_use]
    pub fn refused_by_user(outcome: ConsentRequestOutcome) -> Self {
        let refusal = match outcome {
            ConsentRequestOutcome::Denied => StartRefusal::DeniedByUser,
            _ => StartRefusal::ClosedByUser,
        };
        Self { refusal: Some(refusal), ..Self::new(FailureReason::Refused, "its start was not approved") }
    }

    /// Creates the failure of a server whose start a rule denies. `by` is the rule, such as "rule 3".
    #[must_use]
    pub fn denied_by_rule(by: &str) -> Self {
        let message = format!("its start was refused by {by}");
        Self { refusal: Some(StartRefusal::DeniedByRule), ..Self::new(FailureReason::Refused, message) }
    }
}

/// A change of the host's state.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A server was added or changed.
    ServerChanged(Box<ServerView>),
    /// The server with this name was removed.
    ServerRemoved(String),
    /// The lists (tools, prompts or resources) of the server with this name changed.
    CatalogChanged(String),
    /// A resource changed to which the user is subscribed.
    ResourceUpdated {
        /// Name of the server.
        server: String,
        /// URI of the resource.
        uri: String,
    },
    /// A consent request was added or changed.
    ConsentRequestChanged(Box<ConsentRequestView>),
    /// A consent request was removed.
    ConsentRequestClosed {
        /// Identifier of the consent request.
        id: ConsentRequestId,
        /// Reason for the removal: the user's decision, or the withdrawal of the request.
        outcome: ConsentRequestOutcome,
    },
    /// A model that replies to a sampling request produced more text, which observers append to the text of the consent
    /// request.
    SamplingText {
        /// Identifier of the consent request.
        id: ConsentRequestId,
        /// Text to append. Empty if the model only reasons.
        text: String,
    },
    /// The sampling settings or the usage of the server with this name changed.
    SamplingChanged(String),
    /// A call was added, changed or ended.
    CallChanged(ServerCall),
    /// The sign-in state of the server with this name changed.
    AuthorizationChanged(String),
    /// Entries were added to the activity log of a server.
    ActivityAppended {
        /// Name of the server.
        server: String,
        /// Number of the latest entry in the activity log.
        last: u64,
    },
    /// The list of conversations changed (`None`), or the items of the conversation with this id.
    ConversationsChanged(Option<String>),
    /// An event of a conversation, such as a new item.
    Conversation(ConversationEvent),
    /// An MCP app that is displayed to the user changed.
    AppView(AppViewEvent),
    /// An audit entry was written, or the grants changed (`None`).
    AuditChanged(Option<Box<AuditEntry>>),
    /// The model providers or the models that they listed changed.
    ModelsChanged,
    /// Drawbridge's own settings changed.
    SettingsChanged(AppSettings),
    /// The policy rules changed, or a rule file became invalid or valid.
    RulesChanged,
    /// The settings file with the servers became invalid, or valid again (`None`).
    ConfigProblem(Option<ConfigProblem>),
}

/// Settings of Drawbridge, which apply to all servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AppSettings {
    /// Color theme: `system`, `light` or `dark`.
    pub theme: String,
    /// Language of Drawbridge's page: `system`, `en` or `zh`.
    pub language: String,
    /// Set once the user closed the welcome screen.
    pub welcome_done: bool,
    /// Set to show a system notification for consent requests while the window is in the background.
    pub announce: bool,
    /// Limits on the resources that each server may use.
    pub limits: ServerLimits,
    /// Retention of the audit log in days, or 0 for no limit.
    pub audit_days: u32,
    /// Maximum size of the audit log in megabytes, or 0 for no limit.
    pub audit_megabytes: u32,
    /// Set to store payloads in the audit log, and not only their hashes.
    pub audit_contents: bool,
    /// Limits on the content of a conversation that a model receives, and on its rounds of tool calls.
    pub chat: ChatBounds,
    /// Action on closing Drawbridge's window while servers are running: `ask`, `background` or `quit`.
    pub on_close: String,
    /// Set to check for newer versions of Drawbridge automatically.
    pub check_updates: bool,
    /// Zoom level of Drawbridge's page, in percent.
    pub zoom: u16,
    /// Set to show a menu bar in each window.
    pub menu_bar: bool,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: "system".into(),
            language: "system".into(),
            welcome_done: false,
            announce: true,
            limits: ServerLimits::default(),
            audit_days: 0,
            audit_megabytes: 1_000,
            audit_contents: true,
            chat: ChatBounds::default(),
            on_close: "ask".into(),
            check_updates: false,
            zoom: 100,
            // Apps for GNOME have no menu bar, and those for KDE can hide it.
            menu_bar: !cfg!(target_os = "linux"),
        }
    }
}

/// The complete state of the host at the time of an event number.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Number of the next event.
    pub next_event: u64,
    /// All servers, in the order of the settings file.
    pub servers: Vec<ServerView>,
    /// Consent requests in the queue, oldest first.
    pub consent_requests: Vec<ConsentRequestView>,
    /// Calls in progress, in no particular order.
    pub calls: Vec<ServerCall>,
    /// Settings of Drawbridge, which apply to all servers.
    pub settings: AppSettings,
    /// Error in the settings file that lists the servers, or `None` if the file is valid.
    pub config_problem: Option<ConfigProblem>,
}

/// Timeouts by kind of request, each as a pair: the maximum time without progress, and the maximum total time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTimeouts {
    /// Timeouts of a tool call.
    pub tool: (Duration, Duration),
    /// Timeouts of getting a prompt or reading a resource.
    pub read: (Duration, Duration),
    /// Timeouts of reading one page of a server's list.
    pub list: (Duration, Duration),
    /// Timeouts of a completion request.
    pub complete: (Duration, Duration),
}

impl Default for CallTimeouts {
    fn default() -> Self {
        let secs = |idle, total| (Duration::from_secs(idle), Duration::from_secs(total));
        Self { tool: secs(300, 3600), read: secs(60, 600), list: secs(10, 60), complete: secs(5, 10) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_starts_name_who_refused_them() {
        let of_user = |outcome| ServerFailure::refused_by_user(outcome).refusal;
        assert_eq!(of_user(ConsentRequestOutcome::Denied), Some(StartRefusal::DeniedByUser), "a denial");
        assert_eq!(of_user(ConsentRequestOutcome::Cancelled), Some(StartRefusal::ClosedByUser), "no decision");
        let by_rule = ServerFailure::denied_by_rule("managed rule 1");
        assert_eq!(by_rule.refusal, Some(StartRefusal::DeniedByRule), "not the user's decision");
        assert_eq!(by_rule.message, "its start was refused by managed rule 1", "the message names the rule");
    }
}
