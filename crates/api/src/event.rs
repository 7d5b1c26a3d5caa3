//! Events that the page receives, as one ordered stream.

use serde::Serialize;
use ts_rs::TS;

use crate::data::*;

/// Batch of consecutive events. If `first` does not follow the last event of the previous batch, events are missing,
/// and the page reads the snapshot again.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Events {
    /// Number of the first event. Each further event has the next number.
    pub first: u64,
    /// Events of the batch, in order.
    pub events: Vec<Event>,
}

/// Change of the state that Drawbridge's page displays.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A server was added or its state changed.
    ServerChanged {
        /// State of the server after the change.
        server: Server,
    },
    /// A server was removed from the settings.
    ServerRemoved {
        /// Name of the removed server.
        name: String,
    },
    /// The lists of a server changed. The page reads its catalog again.
    CatalogChanged {
        /// Name of the server in the settings.
        server: String,
    },
    /// A resource changed to which Drawbridge is subscribed, as its server reports.
    ResourceUpdated {
        /// Name of the server in the settings.
        server: String,
        /// URI that identifies the resource on its server.
        uri: String,
    },
    /// A consent request was queued, or a queued one changed.
    ConsentRequestChanged {
        /// Consent request after the change.
        consent_request: ConsentRequest,
    },
    /// A consent request left the queue because it was decided, cancelled or withdrawn.
    ConsentRequestClosed {
        /// Identifier of the consent request, unique while Drawbridge runs.
        id: String,
        /// Outcome with which the consent request left the queue.
        outcome: ConsentRequestOutcome,
    },
    /// A model generated more text for the response to a sampling request.
    SamplingText {
        /// Identifier of the consent request, unique while Drawbridge runs.
        id: String,
        /// Text to append to the text of the consent request. Empty while the model reasons without writing a response.
        text: String,
    },
    /// The sampling settings or the usage of a server changed. The page reads them again.
    SamplingChanged {
        /// Name of the server in the settings.
        server: String,
    },
    /// A call started, made progress or ended.
    CallChanged {
        /// State of the call after the change.
        call: ServerCall,
    },
    /// The authorization state of a server changed. The page reads it again.
    AuthorizationChanged {
        /// Name of the server in the settings.
        server: String,
    },
    /// Entries were appended to the activity log of a server.
    ActivityAppended {
        /// Name of the server in the settings.
        server: String,
        /// Number of the latest entry in the server's activity log.
        last: u64,
    },
    /// The list of conversations or the items of one of them changed.
    ConversationsChanged {
        /// All conversations after the change.
        conversations: Vec<ConversationSummary>,
        /// Identifier of the conversation whose items changed, or `None` if only the list changed.
        changed: Option<String>,
    },
    /// More content of a streaming reply arrived. If `seq` skips a number, the page has missed content and reads the
    /// conversation again.
    ReplyDelta {
        /// Identifier of the conversation, which consists of letters, digits and dashes.
        conversation: String,
        /// Identifier of the reply's item.
        item: String,
        /// Number of this delta, counted from 0 for each reply.
        seq: u64,
        /// Content to append to the reply.
        append: Vec<ReplyAppend>,
    },
    /// An item was added to a conversation or changed. An added item is the last item of the selected branch.
    ItemChanged {
        /// Identifier of the conversation, which consists of letters, digits and dashes.
        conversation: String,
        /// Conversation item after the change.
        item: Box<ConversationItem>,
        /// `true` if a model is replying in the conversation after the change.
        answering: bool,
    },
    /// The state of a shown MCP app changed, or the app sent a message or a request.
    AppViewChanged {
        /// Identifier of the shown MCP app.
        view: String,
        /// Change of the shown MCP app. All texts in it are from the app, and untrusted.
        change: AppViewChange,
    },
    /// An entry was written to the audit log, or the grants changed.
    AuditChanged,
    /// The model providers or their lists of models changed. The page reads them again.
    ModelsChanged,
    /// The user's settings of Drawbridge changed.
    SettingsChanged {
        /// All settings after the change.
        settings: Settings,
    },
    /// The policy rules changed, or the problems of the rule files. The page reads both again.
    RulesChanged,
    /// The settings file was edited and is now invalid, so that the previous settings stay in effect, or it is valid
    /// again.
    ConfigProblem {
        /// Problem of the settings file, or `None` if it is valid again.
        problem: Option<ConfigProblem>,
    },
}
