//! The parts of the owner's state. Each part is a module with its tests, and has the methods that need no other part.
//! Used by the methods of [`Owner`](super::Owner), which connect the parts, and by `handle` for operations on servers
//! or models alone.
//!
//! A part uses from other modules of the owner only what `OF_THE_OWNER` in `xtask/src/tidy/owner_parts.rs` lists with
//! reasons: the reference to the owner, types that only the gate creates, and the sign-in that a record contains.

mod calls;
mod consent;
mod data_flow;
mod events;
mod folders;
mod grant_documents;
mod launches;
mod lifetime;
mod model_access;
mod permissions;
mod registry;
mod reviews;
mod sampling;
mod server_record;
mod settings;
mod sign_ins;

pub use calls::{CallOrigin, ResultOrigin, ResultVerdict, SentNotifier};
pub(in crate::owner) use calls::{CallRecord, CallRequest, CallTable, HeldResult, TicketUse};
pub(crate) use calls::{CallReply, NewCall};
pub use consent::DecisionError;
pub(crate) use consent::DecisionReply;
pub(in crate::owner) use consent::{
    AnswerProgress, ConsentQueue, PendingRequest, REFUSALS, RequestPurpose, RequestThrottle, asker_of, body_of,
    content_of, hash_of, kind_of, refusal, refusal_response, sampling_subject, subject_of,
};
pub use data_flow::ConversationLabel;
pub(in crate::owner) use data_flow::{FlowTable, ServerFlows};
pub(in crate::owner) use events::EventStream;
pub(in crate::owner) use folders::{FolderShare, FolderShares, roots_in};
pub(in crate::owner) use grant_documents::{
    AuditRetentionSetting, ConfirmedFile, ConfirmedRead, ConfirmedSettings, DocumentWriter, GrantDocuments,
    ProviderAddress, ReadDocument, entries, with_entry,
};
pub(in crate::owner) use launches::{ApprovedPackage, InstallRecord, KnownSession, LaunchFacts};
pub(in crate::owner) use lifetime::Lifetime;
pub(crate) use model_access::ModelAccess;
pub(in crate::owner) use permissions::{KnownTool, Permissions};
pub use registry::ServerError;
pub(crate) use registry::ServerRegistry;
pub use reviews::{ReviewError, ShownDefinition};
pub(in crate::owner) use reviews::{Reviews, endpoint_parts, standing_of};
pub(in crate::owner) use sampling::{
    ModelOutcome, ModelRun, RunProgress, Sampling, SamplingRecord, UnaskedRequest, UsageReservation, micros, rounds,
    usage,
};
pub(in crate::owner) use server_record::{AfterSession, AfterSignOut, SelfDescription};
pub(crate) use server_record::{ServerRecord, SignOutReply};
pub(in crate::owner) use settings::{SettingsReply, SettingsState, keeping};
pub(in crate::owner) use sign_ins::{SignInAnswer, SignIns};
