//! The parts of the owner's state. Each part is a module with its tests, and has the methods that need no other part.
//! Used by the methods of [`Owner`](super::Owner), which connect the parts, and by `handle` for operations on servers
//! or models alone. Parts that are plain data are modules of the crate `host-state`.
//!
//! A part uses from other modules of the owner only what `OF_THE_OWNER` in `xtask/src/tidy/owner_parts.rs` lists with
//! reasons: the reference to the owner, types that only the gate creates, and the sign-in that a record contains.

mod grant_documents;
mod lifetime;
mod registry;
mod server_record;
mod sign_ins;

pub(in crate::owner) use grant_documents::{DocumentWriter, GrantDocuments};
pub(in crate::owner) use host_state::{
    AnswerProgress, ApprovedPackage, AuditRetentionSetting, CallRecord, CallRequest, CallTable, ConfirmedFile,
    ConfirmedRead, ConfirmedSettings, ConsentQueue, EventStream, FlowTable, FolderShare, FolderShares, GrantBasis,
    HeldResult, InstallRecord, KnownSession, KnownTool, LaunchFacts, ModelOutcome, ModelRun, PendingRequest,
    Permissions, ProviderAddress, REFUSALS, ReadDocument, RequestPurpose, RequestThrottle, Reviews, RunProgress,
    Sampling, SamplingRecord, SelfDescription, ServerFlows, SettingsReply, SettingsState, TicketUse, UnaskedRequest,
    UsageReservation, asker_of, body_of, content_of, endpoint_parts, entries, hash_of, keeping, kind_of, refusal,
    refusal_response, roots_in, rounds, sampling_subject, standing_of, subject_of, with_entry,
};
pub use host_state::{
    CallOrigin, ConversationLabel, DecisionError, RestoreError, ResultOrigin, ResultVerdict, ReviewError, SentNotifier,
    ShownDefinition,
};
pub(crate) use host_state::{CallReply, DecisionReply, ModelAccess, NewCall};
pub(in crate::owner) use lifetime::Lifetime;
pub use registry::ServerError;
pub(crate) use registry::ServerRegistry;
pub(in crate::owner) use server_record::{AfterSession, AfterSignOut};
pub(crate) use server_record::{ServerRecord, SignOutReply};
pub(in crate::owner) use sign_ins::{SignInAnswer, SignIns};
