//! The result of one check.

use serde::Serialize;

use crate::text::FindingText;

/// The result of one check of this computer, with a suggested remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// Identifier of the check that was run.
    pub id: CheckId,
    /// Display name of the check.
    pub title: &'static str,
    /// Severity of the check's result.
    pub state: FindingState,
    /// Description of the problem, or of the working state, that the check found.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub seen: FindingText,
    /// Suggested remedy, if there is a problem.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub next: Option<FindingText>,
    /// Names of the servers that the problem affects, or would affect once they start.
    pub servers: Vec<String>,
}

/// Result of a check of this computer, in increasing order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// The checked item works without limitation.
    Ok,
    /// The state could not be determined.
    Unknown,
    /// The checked item works, but with a limitation.
    Warning,
    /// The checked item doesn't work.
    Problem,
}

impl FindingState {
    /// Returns the state as one word, for lists.
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

/// Identifier of a check, named after the checked item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckId {
    /// Settings file with the servers.
    Settings,
    /// Keychain of the operating system.
    Keychain,
    /// Search path for programs.
    SearchPath,
    /// Runtime Node.js with npx.
    Node,
    /// Interpreter of the Python language.
    Python,
    /// Package manager uv with uvx.
    Uv,
    /// The container runtime Docker.
    Docker,
    /// The container runtime Podman.
    Podman,
    /// Runtime .NET with dnx.
    Dotnet,
    /// Programs of local servers that belong to none of the listed runtimes.
    Programs,
    /// Sandbox mechanisms of the operating system.
    Sandbox,
    /// Proxy settings of the environment.
    Proxy,
    /// Certificates that authenticate remote servers.
    Certificates,
    /// Web view that renders the window.
    WebView,
    /// Folder of Drawbridge's data.
    DataFolder,
    /// Folder of Drawbridge's settings.
    ConfigFolder,
    /// Cache folder of the user, to which launchers such as npx and uvx download packages.
    CacheFolder,
    /// Clock of the operating system.
    Clock,
}

impl CheckId {
    /// Returns the display name of the check.
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

/// The result of one check of this computer, without the check's identifier and title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckOutcome {
    pub(crate) state: FindingState,
    pub(crate) observation: FindingText,
    pub(crate) next: Option<FindingText>,
    pub(crate) servers: Vec<String>,
}

impl CheckOutcome {
    /// Creates an outcome without problems.
    pub(crate) fn ok(observation: FindingText) -> Self {
        Self { state: FindingState::Ok, observation, next: None, servers: Vec::new() }
    }

    /// Creates an outcome for an item whose state could not be determined.
    pub(crate) fn unknown(observation: FindingText, next: FindingText) -> Self {
        Self { state: FindingState::Unknown, observation, next: Some(next), servers: Vec::new() }
    }

    /// Creates an outcome for an item that works with a limitation.
    pub(crate) fn warning(observation: FindingText, next: FindingText) -> Self {
        Self { state: FindingState::Warning, observation, next: Some(next), servers: Vec::new() }
    }

    /// Creates an outcome for an item that doesn't work.
    pub(crate) fn problem(observation: FindingText, next: FindingText) -> Self {
        Self { state: FindingState::Problem, observation, next: Some(next), servers: Vec::new() }
    }

    /// Sets the names of the affected servers.
    pub(crate) fn for_servers(mut self, servers: Vec<String>) -> Self {
        self.servers = servers;
        self
    }

    pub(crate) fn into_finding(self, id: CheckId) -> Finding {
        let Self { state, observation, next, servers } = self;
        Finding { id, title: id.title(), state, seen: observation, next, servers }
    }
}
