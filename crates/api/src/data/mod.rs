//! Data types of the contract between the host and Drawbridge's page. Texts from servers are unmodified, so the page
//! has to render them as plain text.

mod activity;
mod apps;
mod audit;
mod auth_settings;
mod authorization;
mod call;
mod catalog;
mod complete_object;
mod computer;
mod consent_request;
mod containment;
mod content;
mod conversation;
mod data_flow;
mod endpoints;
mod form;
mod history;
mod import;
mod installs;
mod packages;
mod page_item_body;
mod providers;
mod registry_setting;
mod review;
mod rules;
mod sampling;
mod server;
mod settings;
mod skills;

pub use activity::*;
pub use apps::*;
pub use audit::*;
pub use auth_settings::*;
pub use authorization::*;
pub use call::*;
pub use catalog::*;
pub use computer::*;
pub use consent_request::*;
pub use containment::*;
pub use content::*;
pub use conversation::*;
pub use data_flow::*;
pub use endpoints::*;
pub use form::*;
pub use history::*;
pub use import::*;
pub use installs::*;
pub use packages::*;
pub use page_item_body::PageItemBody;
pub use providers::*;
pub use registry_setting::*;
pub use review::*;
pub use rules::*;
pub use sampling::*;
pub use server::*;
pub use settings::*;
pub use skills::*;

// Types of other crates that are part of the contract without changes.
pub use app_views::{AppAnswer, AppContext, AppDocumentText, AppPageReport, DisplayedCall, OpenedApp};
pub use chat::offered_tools::ToolState;
pub use chat::{ConversationSettings, OfferedServer, SavedSystemPrompt, SavedSystemPrompts, ServerInstructions};
pub use credentials::sign_in::{SignInFailure, SignInPhase, TokenStorage};
pub use domain::app_view::AppViewChange;
pub use domain::bounds::ChatBounds;
pub use domain::call::{
    CallFailureCode, CallKind, CallProgress, CallRefusal, CallState, CallTask, ServerCall, TaskStatus,
};
pub use domain::consent_request::{ConsentRequestOrigin, ConsentRequestOutcome};
pub use domain::data_flow::{DataFlow, ResultReview, SameServerFlow};
pub use domain::history::{Excerpt, FoundItem, OmittedContent, ReadContent, ReadContentKind};
pub use domain::item::{
    Content, Cost, FoundTool, ItemBody, ItemState, MessageAttachment, ModelProblem, Notice, PromptOrigin, ReplyAppend,
    ReplyPart, ReplyStop, ResourceContents, Role, ToolResult, ToolUsed,
};
pub use host::rules::{DryRunAct, TrustDuration};
pub use host::view::{
    BlockedPath, EarlierApproval, FailureReason, FolderProposal, LaunchFileRole, PathMention, ProposalRefusal,
    ResourceLimits, SandboxProblem, StartRefusal,
};
pub use mcp_apps::SandboxGrants;
pub use models::{ModelErrorCode, ModelRef, ProviderKind, ProviderPreset, TokenUsage};
pub use offers::review::{DefinitionChange, DefinitionDiff, Flag, FlagReason, LookAlike};
pub use offers::skills::SkillFile;
pub use policy::{
    ApprovalScope, ArgumentJudgement, LastUse, Preset, ReviewState, RuleDirection, RuleEffect, RuleScope, RuleSource,
    StricterReason, UsedBy,
};
pub use ports::server_config::{
    AuthField, AuthIdentityProvider, ConfigProblem, InstallationInfo, ServerOrigin, ToolFilter,
};
pub use ports::url_parts::{UrlParts, UrlWarning};
pub use ports::{AuditFinding, AuditSeal, SecretsStatus, TamperKind};
pub use server_requests::form::{ChoiceOption, FieldKind, FieldProblem, FormField, FormProblem, TextFormat};
pub use supervision::activity::ActivityKind;
pub use supervision::limits::{LimitCounter, LimitsUsage, ResourcesUsage, ServerLimits};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Empty request or response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EmptyObject {}

/// State of the host that the page needs when it loads.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Number of the first event that this state does not include.
    pub next_event: u64,
    /// All servers, in the order of the settings file.
    pub servers: Vec<Server>,
    /// Pending consent requests, in the order of the queue.
    pub consent_requests: Vec<ConsentRequest>,
    /// Calls of tools, prompts and resources that are in progress.
    pub calls: Vec<ServerCall>,
    /// All conversations, latest first.
    pub conversations: Vec<ConversationSummary>,
    /// Settings of Drawbridge that the user can change.
    pub settings: Settings,
    /// Problem in the settings file, or `None` if it is valid.
    pub config_problem: Option<ConfigProblem>,
    /// Paths of the files that Drawbridge uses, for display.
    pub paths: AppPaths,
    /// Version number of Drawbridge.
    pub version: String,
}
