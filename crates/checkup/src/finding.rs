//! The outcome of a check.

use serde::Serialize;

use crate::text::Text;

/// One thing that was looked at, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// What was looked at.
    pub id: CheckId,
    /// The same in words.
    pub title: &'static str,
    /// Whether it is as it should be.
    pub state: FindingState,
    /// What was seen.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub seen: Text,
    /// What to do, if there is something to do.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub next: Option<Text>,
    /// The servers that it keeps from working, or would.
    pub servers: Vec<String>,
}

/// Whether what was looked at is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// It is.
    Ok,
    /// It could not be told.
    Unknown,
    /// Something works less well than it could.
    Warning,
    /// Something does not work.
    Problem,
}

impl FindingState {
    /// As it is written in lists.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckId {
    /// The settings file with the servers.
    Settings,
    /// The keychain.
    Keychain,
    /// Where programs are looked for.
    SearchPath,
    /// Node.js with npx.
    Node,
    /// Python.
    Python,
    /// uv with uvx.
    Uv,
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// .NET with dnx.
    Dotnet,
    /// Programs of servers that are none of these.
    Programs,
    /// What holds servers in a sandbox.
    Sandbox,
    /// The proxy.
    Proxy,
    /// The certificates that servers are recognized by.
    Certificates,
    /// What draws the window.
    WebView,
    /// The folder for data.
    DataFolder,
    /// The folder for settings.
    ConfigFolder,
    /// The folder for what can be loaded again.
    CacheFolder,
    /// The clock.
    Clock,
}

impl CheckId {
    /// In words, for a list.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Settings => "Settings file",
            Self::Keychain => "Keychain",
            Self::SearchPath => "Search path for programs",
            Self::Node => "Node.js",
            Self::Python => "Python",
            Self::Uv => "uv",
            Self::Docker => "Docker",
            Self::Podman => "Podman",
            Self::Dotnet => ".NET",
            Self::Programs => "Programs of other servers",
            Self::Sandbox => "Sandbox",
            Self::Proxy => "Proxy",
            Self::Certificates => "Certificates",
            Self::WebView => "Web view",
            Self::DataFolder => "Data folder",
            Self::ConfigFolder => "Settings folder",
            Self::CacheFolder => "Cache folder",
            Self::Clock => "Clock",
        }
    }
}

/// What a check gives; its id and title are added where it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) state: FindingState,
    pub(crate) seen: Text,
    pub(crate) next: Option<Text>,
    pub(crate) servers: Vec<String>,
}

impl Outcome {
    /// All is well.
    pub(crate) fn ok(seen: Text) -> Self {
        Self { state: FindingState::Ok, seen, next: None, servers: Vec::new() }
    }

    /// It could not be told.
    pub(crate) fn unknown(seen: Text, next: Text) -> Self {
        Self { state: FindingState::Unknown, seen, next: Some(next), servers: Vec::new() }
    }

    /// Something works less well than it could.
    pub(crate) fn warning(seen: Text, next: Text) -> Self {
        Self { state: FindingState::Warning, seen, next: Some(next), servers: Vec::new() }
    }

    /// Something does not work.
    pub(crate) fn problem(seen: Text, next: Text) -> Self {
        Self { state: FindingState::Problem, seen, next: Some(next), servers: Vec::new() }
    }

    /// With the servers that it is about.
    pub(crate) fn of(mut self, servers: Vec<String>) -> Self {
        self.servers = servers;
        self
    }

    pub(crate) fn named(self, id: CheckId) -> Finding {
        let Self { state, seen, next, servers } = self;
        Finding { id, title: id.title(), state, seen, next, servers }
    }
}
