//! What the page is told without asking: one ordered stream.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::data::*;

/// A batch of events in order. The first one's number is `first`; each next is one more. After a gap the page reads the
/// snapshot again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Events {
    /// The number of the first event.
    pub first: u64,
    /// The events.
    pub events: Vec<Event>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A server was added or is no longer as it was.
    ServerChanged {
        /// As it is now.
        server: Server,
    },
    /// A server is gone from the settings.
    ServerRemoved {
        /// Its name.
        name: String,
    },
    /// What a server offers changed; read its catalog again.
    CatalogChanged {
        /// The server.
        server: String,
    },
    /// A subscribed resource changed.
    ResourceUpdated {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// A question was put into the queue, or one in the queue changed.
    QuestionChanged {
        /// As it is now.
        question: Question,
    },
    /// A question left the queue.
    QuestionClosed {
        /// The question.
        id: String,
        /// What became of it.
        outcome: QuestionOutcome,
    },
    /// A model that answers a server's request said more: to append to what the question has.
    SamplingText {
        /// The question.
        id: String,
        /// The text; empty while it only thinks.
        text: String,
    },
    /// What a server may use of the user's models, or what it used, changed; read it again.
    SamplingChanged {
        /// The server.
        server: String,
    },
    /// A call started, moved on or ended.
    CallChanged {
        /// As it is now.
        call: Call,
    },
    /// What is known of the sign-in to a server changed; read its authorization again.
    AuthorizationChanged {
        /// The server.
        server: String,
    },
    /// A server's activity grew.
    ActivityAppended {
        /// The server.
        server: String,
        /// The number of the latest entry.
        last: u64,
    },
    /// The list of conversations changed, or the items of one did.
    ConversationsChanged {
        /// The list as it is now.
        conversations: Vec<ConversationSummary>,
        /// The one whose items changed.
        changed: Option<String>,
    },
    /// More of an answer came. `seq` counts them from 0; after a gap the page reads the conversation again.
    ReplyDelta {
        /// The conversation.
        conversation: String,
        /// The answer.
        item: String,
        /// Its number.
        seq: u64,
        /// What is appended.
        append: Vec<Append>,
    },
    /// An item of a conversation is new, or no longer as it was. A new one is the head of the conversation from now on.
    ItemChanged {
        /// The conversation.
        conversation: String,
        /// As it is now.
        item: Box<ConversationItem>,
        /// Whether a model is answering there.
        answering: bool,
    },
    /// A decision was written to the audit log, or a grant was given or taken back.
    AuditChanged,
    /// The providers of models changed, or what they list; read them again.
    ModelsChanged,
    /// The app's settings changed.
    SettingsChanged {
        /// As they are now.
        settings: Settings,
    },
    /// The rules changed, or what is wrong with their files; read them again.
    RulesChanged,
    /// The settings file was edited and can't be used (the old settings stay), or is in order again.
    ConfigProblem {
        /// What is wrong, or nothing.
        problem: Option<ConfigProblem>,
    },
}
