//! The host's state as plain data, and changes of the state that need neither a connection nor the network: calls, the
//! queue of consent requests, permissions, reviews, sampling, settings, and their views. Also the thread that writes
//! documents.
//!
//! Only `host` depends on this crate. Its owner (`host/src/owner`) has the only copy of the state, behind one lock.
//! Types that can cause effects, namely authorized payloads, permits and connections, are defined in `host`.

mod app_tools;
mod audited_decision;
mod calls;
mod confirmed;
mod connection;
mod consent;
mod data_flow;
mod document_io_state;
mod document_writer;
mod events;
mod failures;
mod folders;
mod host_closed;
mod ids;
mod launches;
mod model_access;
mod offline_reviews;
mod permissions;
mod reviews;
mod rule_file;
pub mod rules;
mod running_servers;
mod sampling;
mod server;
mod server_for_model;
mod settings;
mod sign_in;
pub mod view;

pub use app_tools::{
    APP_TOOL_CALL_AUDIT_KIND, AppToolCommand, AppToolTable, AppTools, AppToolsForModel, app_tool_call_hash,
    app_tool_subject, missing_app_failure,
};
pub use audited_decision::AuditedDecision;
pub use calls::{
    CallOrigin, CallRecord, CallReply, CallRequest, CallTable, CallTicketPurpose, InputWait, NewCall, PendingCallWork,
    ResultOrigin, ResultReviewVerdict, ResultUnderReview, SentCall, SentNotifier,
};
pub use confirmed::{
    AuditRetentionSetting, ConfirmedSettings, ConfirmedSettingsFile, ConfirmedSettingsRead, ProviderAddress,
};
pub use connection::{PendingRefreshes, TICK_INTERVAL, TickTimer, redact_error, redact_failure};
pub use consent::{
    ConsentQueue, DENIALS_UNTIL_MUTE, DecisionError, DecisionProgress, DecisionReply, PendingRequest, RequestPurpose,
    RequestThrottle, client_credentials_hash, consent_kind, consent_payload_hash, consent_subject, originator_name,
    payload_text, read_request_hash, refusal_error, refusal_response, response_hash, sampling_subject,
    sign_in_url_hash, to_consent_body, url_hash,
};
pub use data_flow::{DataFlowError, DataFlowLabel, DataFlowLabels, DataFlowSettings, DataFlowTable};
pub use document_io_state::{DocumentIoState, DocumentReadResult, entries_by_server, with_server_entry};
pub use document_writer::{DocumentUpdate, DocumentWriter, WriterJob, WriterOperation};
pub use events::{EventStream, NumberedEvent};
pub use failures::{
    blocked_path_text, command_not_found_failure, session_end_failure, spawn_failure, unresolved_secret_failure,
};
pub use folders::{FolderShare, FolderShares, to_roots};
pub use host_closed::HostClosed;
pub use ids::{CallTicket, Requester, RunId};
pub use launches::{ApprovedPackage, InstallRecord, LastSessionFacts, LaunchFacts};
pub use model_access::{ModelAccess, ProviderTable};
pub use offline_reviews::offline_review_state;
pub use permissions::{
    ApprovedCall, ApprovedCalls, CALL_REPETITION_PERIOD, DryRunTool, GrantBasis, PermissionUses, Permissions,
    RestoreGrantError, RevokedGrants, RuleFiles, UnwrittenUses, with_last_uses,
};
pub use reviews::{DefinitionShownToUser, ReviewError, Reviews, endpoints_by_purpose, tool_review_state};
pub use rule_file::{add_or_replace_rule, change_rule_file, parse_rule_file, restore_removed_rule_in_file};
pub use running_servers::{end_orphaned_servers, with_running_servers};
pub use sampling::{
    AppSamplingRequest, AutoApprovedRequest, ModelOutcome, ModelRun, Sampling, SamplingRecord, SharedModelOutput,
    UsageReservation, cost_micros, token_usage, tool_rounds_to_count,
};
pub use server::{
    LaunchState, OfferState, RestartState, ServerError, ServerSelfDescription, check_server_entry,
    truncate_server_facts,
};
pub use server_for_model::ServerForModel;
pub use settings::{SettingsChanges, SettingsReply, SettingsState, audit_retention_text};
pub use sign_in::{
    DisplayedSignInProgress, check_pasted_redirect, initial_sign_in_progress, sign_in_consent_body,
    sign_in_progress_view,
};
