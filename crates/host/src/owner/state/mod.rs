//! The parts of the owner's state. Each part is a module with its own tests, and its methods need no other part. Used
//! by the methods of [`Owner`](super::Owner), which combine the parts, and by `handle` for operations on one part only.
//! Parts that are plain data are modules of the crate `host-state`.
//!
//! A part uses only those items of other modules of the owner that `OWNER_ITEMS_ALLOWED_IN_STATE_PARTS` in
//! `xtask/src/tidy/owner_parts.rs` lists with reasons: the reference to the owner, types that only the gate creates,
//! and the sign-in that a record contains.

mod grant_documents;
mod lifetime;
mod registry;
mod server_record;
mod sign_ins;

pub(in crate::owner) use grant_documents::GrantDocuments;
pub(in crate::owner) use host_state::{
    APP_TOOL_CALL_AUDIT_KIND, AppSamplingRequest, AppToolCommand, ApprovedPackage, AuditRetentionSetting,
    AutoApprovedRequest, CallRecord, CallRequest, CallTable, CallTicketPurpose, ConfirmedSettings,
    ConfirmedSettingsFile, ConfirmedSettingsRead, ConsentQueue, DENIALS_UNTIL_MUTE, DataFlowSettings, DataFlowTable,
    DecisionProgress, DocumentReadResult, DryRunTool, EventStream, FolderShare, FolderShares, GrantBasis,
    InstallRecord, LastSessionFacts, LaunchFacts, ModelOutcome, ModelRun, PendingRequest, Permissions, ProviderAddress,
    RequestPurpose, RequestThrottle, Requester, ResultUnderReview, Reviews, Sampling, SamplingRecord,
    ServerSelfDescription, SettingsReply, SettingsState, SharedModelOutput, UsageReservation, app_tool_call_hash,
    app_tool_subject, audit_retention_text, consent_kind, consent_payload_hash, consent_subject, endpoints_by_purpose,
    entries_by_server, missing_app_failure, originator_name, payload_text, refusal_error, refusal_response,
    sampling_subject, to_consent_body, to_roots, tool_review_state, tool_rounds_to_count, with_server_entry,
};
pub use host_state::{
    AppTools, AppToolsForModel, CallOrigin, DataFlowLabel, DecisionError, DefinitionShownToUser, RestoreGrantError,
    ResultOrigin, ResultReviewVerdict, ReviewError, SentCall, SentNotifier, ServerError,
};
pub(crate) use host_state::{CallReply, DecisionReply, ModelAccess, NewCall};
pub(in crate::owner) use lifetime::HostShutdown;
pub(crate) use registry::ServerRegistry;
pub(in crate::owner) use server_record::{ActionAfterSession, ActionAfterSignOut, SignInState};
pub(crate) use server_record::{ServerRecord, SignOutReply};
pub(in crate::owner) use sign_ins::{SignInAnswer, SignIns};
