//! Acts about which the policy decides, and the decisions that it returns.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{GrantId, Hash, ResolvedPaths, RuleRef, SamplingUse};

/// State of the user's review of a tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    /// The definition and its server are unchanged since the user approved a call of the tool or reviewed it.
    Reviewed,
    /// The user has not reviewed any definition of the tool.
    #[default]
    New,
    /// Since the user's review, the definition, the server's command or address, or the issuer of its tokens has
    /// changed, or the server has reported a change of the list that was not read yet.
    Changed,
}

/// Annotations that a server declares for a tool. They are untrusted, and can only make a decision stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolClaims {
    /// The tool's `readOnlyHint`: it doesn't modify anything.
    pub read_only: bool,
    /// The tool's `destructiveHint`: its changes may destroy data.
    pub destructive: bool,
    /// The tool's `idempotentHint`: repeating a call has no additional effect.
    pub idempotent: bool,
    /// The tool's `openWorldHint`: it interacts with external systems.
    pub open_world: bool,
}

impl Default for ToolClaims {
    /// Returns the defaults that the MCP specification sets for a tool without annotations: not read-only, destructive,
    /// not idempotent, open world.
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// An act of a server or the host that requires a decision before a payload is sent or a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyAct<'a> {
    /// Starting a local server.
    StartServer {
        /// The user's name for the server.
        server: &'a str,
        /// Hash over the command, its environment and working directory, the sandbox plan, and the launch files or
        /// package.
        command: &'a Hash,
    },
    /// Connecting to a remote server.
    ConnectServer {
        /// The user's name for the server.
        server: &'a str,
        /// Hash over URL, headers, transport and authentication settings.
        address: &'a Hash,
    },
    /// Calling a tool of a server.
    CallTool {
        /// The user's name for the server that has the tool.
        server: &'a str,
        /// Name of the tool, as the server lists it.
        tool: &'a str,
        /// Hash over the tool's whole definition and the settings of its server. Grants for the tool are bound to it.
        grant_hash: &'a Hash,
        /// State of the user's review of this definition. Any state except [`ReviewState::Reviewed`] turns "allow" into
        /// "ask".
        review_state: ReviewState,
        /// The tool's annotations as declared by the server.
        claims: ToolClaims,
        /// Set by the host if the server demands the user's consent for each call in the tool's `_meta`, and for each
        /// tool that a shown app provides. Such a call is never allowed without consent, and its approval is never
        /// stored.
        asks_each_time: bool,
        /// Arguments of the call.
        arguments: &'a Map<String, Value>,
        /// Resolved locations of the paths in the arguments.
        paths: &'a ResolvedPaths,
        /// Set if a model requests the call after it has read another server's output, or content of the same server
        /// that third parties may have written, or if an app requests it that reaches other hosts. The arguments may
        /// originate there, so the call requires consent unless the rule that allows it has `after_untrusted`, whatever
        /// the tool's annotations claim.
        after_untrusted: bool,
        /// Conversation to which the call belongs, or `None`.
        conversation: Option<&'a str>,
    },
    /// A server's request for a model's answer (sampling).
    Sample {
        /// The user's name for the server.
        server: &'a str,
        /// Sampling usage of the server within an hour if this request is granted and uses its maximum.
        would_use: SamplingUse,
    },
    /// A server's request that the user fills in a form (elicitation).
    FillForm {
        /// The user's name for the server.
        server: &'a str,
    },
    /// A server's request to open a URL in the user's browser.
    OpenUrl {
        /// The user's name for the server.
        server: &'a str,
    },
    /// A server's request for the folders that it may use (roots).
    ShareRoots {
        /// The user's name for the server.
        server: &'a str,
        /// Set if the user has already decided which folders this server may use, or its sandbox allows none.
        decided: bool,
    },
    /// Signing in to a server.
    SignIn {
        /// The user's name for the server.
        server: &'a str,
        /// Set for a step-up: during a session, the server requires more permissions (scopes) than the user granted.
        steps_up: bool,
    },
    /// Getting a prompt, reading a resource, or completing an argument.
    Read {
        /// Set if the request needs no consent unless a rule or the preset requires it: the user makes it, or an app
        /// that reaches no other hosts reads a resource that its server lists. Unset if an app requests anything else.
        needs_no_consent: bool,
        /// The user's name for the server.
        server: &'a str,
        /// Conversation to which the request belongs, or `None`.
        conversation: Option<&'a str>,
    },
}

impl PolicyAct<'_> {
    /// Returns the user's name for the server.
    #[must_use]
    pub const fn server(&self) -> &str {
        match self {
            Self::StartServer { server, .. }
            | Self::ConnectServer { server, .. }
            | Self::CallTool { server, .. }
            | Self::Sample { server, .. }
            | Self::FillForm { server }
            | Self::OpenUrl { server }
            | Self::ShareRoots { server, .. }
            | Self::SignIn { server, .. }
            | Self::Read { server, .. } => server,
        }
    }

    /// Returns `true` for acts that the server initiates: its requests to the host, and step-ups.
    #[must_use]
    pub const fn is_server_initiated(&self) -> bool {
        matches!(
            self,
            Self::Sample { .. }
                | Self::FillForm { .. }
                | Self::OpenUrl { .. }
                | Self::ShareRoots { .. }
                | Self::SignIn { steps_up: true, .. }
        )
    }
}

/// The policy's decision about an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyDecision {
    /// The act is allowed without consent.
    Allow {
        /// Rule or grant that allows the act, an approval that the user repeats, or the built-in default.
        by: DecisionSource,
    },
    /// The act is denied, and no consent request is shown.
    Deny {
        /// Reason for the denial, which Drawbridge's page explains to the user.
        reason: DecisionReason,
        /// Rule that denies the act, or [`DecisionSource::BuiltIn`] for a muted server.
        by: DecisionSource,
    },
    /// The act requires the user's consent.
    Ask {
        /// Reason why consent is required, which Drawbridge's page explains to the user.
        reason: DecisionReason,
        /// Rule or preset that requires consent, or the built-in default.
        by: DecisionSource,
        /// Scopes among which the user can choose for an approval.
        scopes: &'static [ApprovalScope],
    },
}

/// Origin of a decision: a rule, grant, preset or repeated approval. Its text is a stable name, such as `rule 3`,
/// `managed rule 1`, `grant 12` or `built-in`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSource {
    /// A built-in rule, which always applies.
    BuiltIn,
    /// A grant that the user gave earlier.
    Grant(GrantId),
    /// A rule from a policy file, or one that is valid for this session only.
    Rule(RuleRef),
    /// The preset that the user chose.
    Preset,
    /// The preset of the system-wide policy file.
    ManagedPreset,
    /// The user's approval of the same call a moment ago, which the user now repeats.
    RepeatedApproval,
}

impl DecisionSource {
    /// Returns the stable name, which is borrowed if it contains no number.
    #[must_use]
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Self::BuiltIn => Cow::Borrowed("built-in"),
            Self::Preset => Cow::Borrowed("preset"),
            Self::ManagedPreset => Cow::Borrowed("managed preset"),
            Self::RepeatedApproval => Cow::Borrowed("repeated approval"),
            Self::Grant(_) | Self::Rule(_) => Cow::Owned(self.to_string()),
        }
    }
}

impl fmt::Display for DecisionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Grant(id) => write!(f, "grant {}", id.0),
            Self::Rule(rule) => rule.fmt(f),
            Self::Preset => f.write_str("preset"),
            Self::ManagedPreset => f.write_str("managed preset"),
            Self::RepeatedApproval => f.write_str("repeated approval"),
        }
    }
}

/// Reason for a decision of the policy. Drawbridge's page has a text for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionReason {
    /// The command of a local server was never approved.
    NewCommand,
    /// The command of a local server differs from the approved one.
    CommandChanged,
    /// In the consent request for the start of a local server, the user chose to sandbox it. The start in the sandbox
    /// has a consent request of its own.
    SandboxChosen,
    /// The address (URL and connection settings) of a remote server was never approved.
    NewAddress,
    /// The address (URL and connection settings) of a remote server differs from the approved one.
    AddressChanged,
    /// No rule or grant allows the tool call, so it requires consent.
    ToolsAsk,
    /// The call would be allowed, but the tool's review state is [`ReviewState::Changed`], or a grant for the tool is
    /// bound to another definition or to other settings of the server.
    ToolChanged,
    /// No budget covers the sampling request.
    SamplingAsks,
    /// Forms always require consent.
    FormsAsk,
    /// Opening a URL always requires consent.
    UrlsAsk,
    /// An app requests a resource that its server doesn't list, or content of other servers may have caused the
    /// request.
    AppReadsAsk,
    /// The user has not decided about the server's folders yet.
    RootsAsk,
    /// Signing in always requires consent.
    SignInAsks,
    /// The user muted the server, so its requests are denied.
    Muted,
    /// A rule with the effect "deny" matches the act to decide on.
    RuleDenies,
    /// A rule with the effect "ask" matches the act to decide on.
    RuleAsks,
    /// The tool's definition requires consent for each call.
    ToolAsksEachTime,
    /// Calls of tools that a shown app provides always require consent.
    AppToolsAsk,
    /// The careful preset requires consent for every payload apart from starts, connections and sign-ins.
    PresetAsks,
    /// The call would be allowed, but the user has not reviewed the tool's definition.
    NewTool,
    /// The call would be allowed, but a model requests it after it has read untrusted content, or an app that reaches
    /// other hosts requests it. Also for such a sampling request of an app.
    AfterUntrusted,
    /// The user reviews a result before a model reads it.
    ResultReview,
    /// The user's rules are unusable, so every act requires consent.
    PolicyUnusable,
    /// The system-wide rules are unusable, so every act requires consent.
    ManagedUnusable,
    /// The lists in the server's settings exclude the tool, so models can't call it.
    TurnedOff,
}

impl DecisionReason {
    /// Returns the stable name of the reason, for which Drawbridge's page has a text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewCommand => "new-command",
            Self::CommandChanged => "command-changed",
            Self::SandboxChosen => "sandbox-chosen",
            Self::NewAddress => "new-address",
            Self::AddressChanged => "address-changed",
            Self::ToolsAsk => "tools-ask",
            Self::ToolChanged => "tool-changed",
            Self::SamplingAsks => "sampling-asks",
            Self::FormsAsk => "forms-ask",
            Self::UrlsAsk => "urls-ask",
            Self::AppReadsAsk => "app-reads-ask",
            Self::RootsAsk => "roots-ask",
            Self::SignInAsks => "sign-in-asks",
            Self::Muted => "muted",
            Self::RuleDenies => "rule-denies",
            Self::RuleAsks => "rule-asks",
            Self::ToolAsksEachTime => "tool-asks-each-time",
            Self::AppToolsAsk => "app-tools-ask",
            Self::PresetAsks => "preset-asks",
            Self::NewTool => "new-tool",
            Self::AfterUntrusted => "after-untrusted",
            Self::ResultReview => "result-review",
            Self::PolicyUnusable => "policy-unusable",
            Self::ManagedUnusable => "managed-unusable",
            Self::TurnedOff => "turned-off",
        }
    }

    /// Returns the reason if it is stricter than every rule and grant that allows. [`Self::NewTool`],
    /// [`Self::ToolChanged`] and [`Self::AfterUntrusted`] are not: after a review of the tool, or with a rule that has
    /// `after_untrusted`, such a call can be allowed.
    #[must_use]
    pub const fn to_stricter_reason(self) -> Option<StricterReason> {
        match self {
            Self::ToolAsksEachTime | Self::AppToolsAsk => Some(StricterReason::EachTime),
            Self::RuleAsks => Some(StricterReason::Rule),
            Self::PresetAsks => Some(StricterReason::Preset),
            Self::PolicyUnusable | Self::ManagedUnusable => Some(StricterReason::Unusable),
            _ => None,
        }
    }
}

/// Reason for consent that no rule or grant overrides, so that each such act requires a decision of its own. A new or
/// changed tool is not such a reason, since its review ends it, and neither is untrusted content, after which a rule
/// with `after_untrusted` can allow calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StricterReason {
    /// The definition of the tool requires consent for each call, or a shown app provides the tool.
    EachTime,
    /// A rule with the effect "ask" matches the act.
    Rule,
    /// The careful preset requires consent.
    Preset,
    /// The user's rules or the system-wide rules are unusable.
    Unusable,
}

/// Acts that an approval covers: a single one, or also later ones, with or without an end. A time limit is separate:
/// `Grant::expires_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// The approval is valid for a single act.
    Once,
    /// The approval is valid in one conversation until the host stops.
    Conversation,
    /// The approval is valid until the host stops.
    Session,
    /// The approval is valid until it is revoked, or the approved definition or command changes.
    Always,
}
