//! What may happen, and what may be decided about it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{GrantId, Hash, PathFacts, RuleRef, SamplingUse};

/// Whether the user has seen the definition of a tool as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is as it was when the user approved or reviewed it.
    Reviewed,
    /// Nobody has seen it yet.
    #[default]
    New,
    /// It is not as it was when the user approved or reviewed it.
    Changed,
}

/// What a server says of a tool's nature. It is believed only where it makes a decision stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// `readOnlyHint`.
    pub read_only: bool,
    /// `destructiveHint`.
    pub destructive: bool,
    /// `idempotentHint`.
    pub idempotent: bool,
    /// `openWorldHint`.
    pub open_world: bool,
}

impl Default for Claims {
    /// What the specification says of a tool without annotations: it writes, destroys, and reaches out.
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// Something about to cross, or to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act<'a> {
    /// A local server is to be started.
    StartServer {
        /// The user's name for it.
        server: &'a str,
        /// Over program, arguments, environment and folder.
        command: &'a Hash,
    },
    /// A remote server is to be connected to.
    ConnectServer {
        /// The user's name for it.
        server: &'a str,
        /// Over URL, headers and transport.
        address: &'a Hash,
    },
    /// A tool is to be called.
    CallTool {
        /// The server.
        server: &'a str,
        /// The tool's name.
        tool: &'a str,
        /// Over the tool's whole definition.
        definition: &'a Hash,
        /// Whether the user has seen this definition. Anything but [`Standing::Reviewed`] makes "allow" an "ask".
        standing: Standing,
        /// What its server says of it.
        claims: Claims,
        /// What would be sent.
        arguments: &'a Map<String, Value>,
        /// Where the paths among the arguments lead.
        paths: &'a PathFacts,
        /// Whether a model asks for it that has read another server's output, or content of the same server that others may have
        /// written. Its arguments may come from there, so such a call asks, whatever the tool claims to be.
        after_untrusted: bool,
        /// The conversation it belongs to.
        conversation: Option<&'a str>,
    },
    /// A server asks for a model's answer.
    Sample {
        /// The server.
        server: &'a str,
        /// What the server would have used within the hour, this request at its most included.
        would_use: SamplingUse,
    },
    /// A server asks the user to fill in a form.
    FillForm {
        /// The server.
        server: &'a str,
    },
    /// A server asks to open a URL.
    OpenUrl {
        /// The server.
        server: &'a str,
    },
    /// A server asks which folders it may use.
    ShareRoots {
        /// The server.
        server: &'a str,
        /// Whether the user has decided about this server's folders.
        decided: bool,
    },
    /// The user is to sign in to a server.
    SignIn {
        /// The server.
        server: &'a str,
        /// Whether the server wants more than was allowed, in the middle of what it does.
        steps_up: bool,
    },
    /// The user gets a prompt, reads a resource, or completes an argument.
    ReadAtUsersWish {
        /// The server.
        server: &'a str,
        /// The conversation it belongs to.
        conversation: Option<&'a str>,
    },
}

impl Act<'_> {
    /// The server it is about.
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
            | Self::ReadAtUsersWish { server, .. } => server,
        }
    }

    /// The same, with where the paths in a call lead.
    #[must_use]
    pub const fn with_paths<'b>(self, facts: &'b PathFacts) -> Act<'b>
    where
        Self: 'b,
    {
        match self {
            Self::CallTool {
                server,
                tool,
                definition,
                standing,
                claims,
                arguments,
                after_untrusted,
                conversation,
                ..
            } => Act::CallTool {
                server,
                tool,
                definition,
                standing,
                claims,
                arguments,
                paths: facts,
                after_untrusted,
                conversation,
            },
            other => other,
        }
    }

    /// Whether the server asks for it, and not the user.
    #[must_use]
    pub const fn asked_by_server(&self) -> bool {
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

/// What the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may happen.
    Allow {
        /// What allows it.
        by: By,
    },
    /// It may not.
    Deny {
        /// By this rule.
        rule: Rule,
        /// Where that rule stands.
        by: By,
    },
    /// The user decides.
    Ask {
        /// By this rule.
        rule: Rule,
        /// Where that rule stands.
        by: By,
        /// For how long an approval may hold.
        scopes: &'static [Scope],
    },
}

/// What decided. Its text is a stable name, such as `rule 3`, `managed rule 1`, `grant 12` or `built-in`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A rule that always holds.
    BuiltIn,
    /// A standing approval.
    Grant(GrantId),
    /// A written rule.
    Rule(RuleRef),
    /// The preset that the user chose.
    Preset,
    /// The preset that the system-wide file sets.
    ManagedPreset,
}

impl By {
    /// Its text, made only where it says a number.
    #[must_use]
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Self::BuiltIn => Cow::Borrowed("built-in"),
            Self::Preset => Cow::Borrowed("preset"),
            Self::ManagedPreset => Cow::Borrowed("managed preset"),
            Self::Grant(_) | Self::Rule(_) => Cow::Owned(self.to_string()),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Grant(id) => write!(f, "grant {}", id.0),
            Self::Rule(rule) => rule.fmt(f),
            Self::Preset => f.write_str("preset"),
            Self::ManagedPreset => f.write_str("managed preset"),
        }
    }
}

/// The reasons of decisions, each with the words shown for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A command was never approved.
    NewCommand,
    /// A command is not the one that was approved.
    CommandChanged,
    /// A remote server's address was never approved.
    NewAddress,
    /// A remote server's address is not the one that was approved.
    AddressChanged,
    /// Tool calls ask.
    ToolsAsk,
    /// A tool is no longer as it was when it was allowed.
    ToolChanged,
    /// Sampling always asks.
    SamplingAsks,
    /// Forms always ask.
    FormsAsk,
    /// URLs always ask.
    UrlsAsk,
    /// Folders are asked for once for each server.
    RootsAsk,
    /// Signing in always asks.
    SignInAsks,
    /// The user muted the server.
    Muted,
    /// A written rule says so.
    RuleDenies,
    /// A written rule says so.
    RuleAsks,
    /// The preset asks about everything.
    PresetAsks,
    /// It would be allowed, but nobody has seen the tool's definition yet.
    NewTool,
    /// It would be allowed, but a model asks for it that has read untrusted content.
    AfterUntrusted,
    /// The user reviews what a model would read.
    ResultReview,
    /// The user's rules can't be used, so everything asks.
    PolicyUnusable,
    /// The system-wide rules can't be used, so everything asks.
    ManagedUnusable,
}

impl Rule {
    /// A stable name, which the page translates.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewCommand => "new-command",
            Self::CommandChanged => "command-changed",
            Self::NewAddress => "new-address",
            Self::AddressChanged => "address-changed",
            Self::ToolsAsk => "tools-ask",
            Self::ToolChanged => "tool-changed",
            Self::SamplingAsks => "sampling-asks",
            Self::FormsAsk => "forms-ask",
            Self::UrlsAsk => "urls-ask",
            Self::RootsAsk => "roots-ask",
            Self::SignInAsks => "sign-in-asks",
            Self::Muted => "muted",
            Self::RuleDenies => "rule-denies",
            Self::RuleAsks => "rule-asks",
            Self::PresetAsks => "preset-asks",
            Self::NewTool => "new-tool",
            Self::AfterUntrusted => "after-untrusted",
            Self::ResultReview => "result-review",
            Self::PolicyUnusable => "policy-unusable",
            Self::ManagedUnusable => "managed-unusable",
        }
    }
}

/// For how long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// For one act.
    Once,
    /// In one conversation, until the host ends.
    Conversation,
    /// Until the host ends.
    Session,
    /// Until it is revoked, or what it rests on changes.
    Always,
}
