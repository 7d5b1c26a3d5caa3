//! What may happen, and what may be decided about it.

use serde::{Deserialize, Serialize};

use crate::{GrantId, Hash};

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
    },
    /// A server asks for a model's answer.
    Sample {
        /// The server.
        server: &'a str,
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
            | Self::Sample { server }
            | Self::FillForm { server }
            | Self::OpenUrl { server }
            | Self::ShareRoots { server, .. }
            | Self::SignIn { server, .. }
            | Self::ReadAtUsersWish { server } => server,
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
        /// By this grant; none if the rule itself allows it.
        by: Option<GrantId>,
    },
    /// It may not.
    Deny {
        /// By this rule.
        rule: Rule,
    },
    /// The user decides.
    Ask {
        /// By this rule.
        rule: Rule,
        /// For how long an approval may hold.
        scopes: &'static [Scope],
    },
}

/// The rules, each with the words shown for it.
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
        }
    }
}

/// For how long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// For one act.
    Once,
    /// Until the host ends.
    Session,
    /// Until it is revoked, or what it rests on changes.
    Always,
}
