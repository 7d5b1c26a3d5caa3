//! State of the host as plain data, and the changes of it that need neither a connection nor the network: calls, the
//! queue of consent requests, permissions, reviews, sampling, settings, and the views of all of them.
//!
//! Only `host` depends on this crate. Its owner (`host/src/owner`) has the only copy of the state, behind one lock.
//! Authorized payloads, permits and connections are types of `host`.

mod calls;
mod confirmed;
mod consent;
mod data_flow;
mod document_progress;
mod events;
mod folders;
mod host_closed;
mod ids;
mod launches;
mod model_access;
mod permissions;
mod reviews;
pub mod rules;
mod sampling;
mod server;
mod settings;
pub mod view;

pub use calls::{
    CallOrigin, CallRecord, CallReply, CallRequest, CallTable, HeldResult, NewCall, ResultOrigin, ResultVerdict,
    SentNotifier, TicketUse,
};
pub use confirmed::{AuditRetentionSetting, ConfirmedFile, ConfirmedRead, ConfirmedSettings, ProviderAddress};
pub use consent::{
    AnswerProgress, ConsentQueue, DecisionError, DecisionReply, PendingRequest, REFUSALS, RequestPurpose,
    RequestThrottle, asker_of, body_of, content_of, hash_of, kind_of, refusal, refusal_response, sampling_subject,
    subject_of,
};
pub use data_flow::{ConversationLabel, ConversationLabels, FlowTable, ServerFlows};
pub use document_progress::{DocumentProgress, ReadDocument, entries, with_entry};
pub use events::{EventStream, NumberedEvent};
pub use folders::{FolderShare, FolderShares, roots_in};
pub use host_closed::HostClosed;
pub use ids::{CallTicket, RunId};
pub use launches::{ApprovedPackage, InstallRecord, KnownSession, LaunchFacts};
pub use model_access::{ModelAccess, ProviderTable};
pub use permissions::{GrantBasis, KnownTool, PermissionUses, Permissions, RestoreError, RevokedGrants, RuleFiles};
pub use reviews::{ReviewError, Reviews, ShownDefinition, endpoint_parts, standing_of};
pub use sampling::{
    ModelOutcome, ModelRun, RunProgress, Sampling, SamplingRecord, UnaskedRequest, UsageReservation, micros, rounds,
    usage,
};
pub use server::{LaunchState, OfferState, SelfDescription, Supervision};
pub use settings::{SettingsChanges, SettingsReply, SettingsState, keeping};
