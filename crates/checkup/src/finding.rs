//! The result of one check.

use serde::Serialize;

use crate::text::FindingText;

/// The result of one check of this computer, with a remedy if there is a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// Identifier of the check.
    pub id: CheckId,
    /// Name of the check for display.
    pub title: &'static str,
    /// State of the checked item.
    pub state: FindingState,
    /// Sentences that describe what the check has found.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub observation: FindingText,
    /// Sentences that say what the user can do, if there is a problem.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub remedy: Option<FindingText>,
    /// Names of the servers that the problem affects, or would affect once they start.
    pub servers: Vec<String>,
}

/// State of the item that a check examines, from good to bad. The variants are ordered by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// The item, such as a runtime or folder, works without limitation.
    Ok,
    /// The check could not determine the state of the item.
    Unknown,
    /// The item works, but with a limitation.
    Warning,
    /// The item doesn't work.
    Problem,
}

impl FindingState {
    /// Returns the state as one word, for lists of findings.
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

/// Identifier of a check, named after the item that it examines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckId {
    /// The settings file with the servers.
    Settings,
    /// The operating system's keychain.
    Keychain,
    /// The search path for programs.
    SearchPath,
    /// The runtime Node.js, with the launcher npx.
    Node,
    /// The Python interpreter.
    Python,
    /// The package manager uv, with the launcher uvx.
    Uv,
    /// The container engine Docker.
    Docker,
    /// The container engine Podman.
    Podman,
    /// The runtime .NET, with the launcher dnx.
    Dotnet,
    /// The programs of local servers that need none of the other runtimes.
    Programs,
    /// The sandbox mechanisms of the operating system.
    Sandbox,
    /// The HTTP proxy in the environment or the desktop's settings.
    Proxy,
    /// The CA certificates by which remote servers are authenticated.
    Certificates,
    /// The web view that renders the window of the desktop app.
    WebView,
    /// The folder with Drawbridge's data.
    DataFolder,
    /// The folder with Drawbridge's settings.
    ConfigFolder,
    /// The user's cache folder, to which launchers such as npx and uvx download packages.
    CacheFolder,
    /// The operating system's clock.
    Clock,
}

impl CheckId {
    /// Returns the name of the check for display.
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

/// The result of one check, without the check's identifier and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckOutcome {
    pub(crate) state: FindingState,
    pub(crate) observation: FindingText,
    pub(crate) remedy: Option<FindingText>,
    pub(crate) servers: Vec<String>,
}

impl CheckOutcome {
    /// Creates the outcome [`FindingState::Ok`], for an item that works without limitation.
    pub(crate) fn ok(observation: FindingText) -> Self {
        Self { state: FindingState::Ok, observation, remedy: None, servers: Vec::new() }
    }

    /// Creates the outcome [`FindingState::Unknown`], for an item whose state could not be determined.
    pub(crate) fn unknown(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Unknown, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Creates the outcome [`FindingState::Warning`], for an item that works with a limitation.
    pub(crate) fn warning(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Warning, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Creates the outcome [`FindingState::Problem`], for an item that doesn't work.
    pub(crate) fn problem(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Problem, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Returns the outcome with the names of the servers that it affects.
    pub(crate) fn affecting_servers(mut self, servers: Vec<String>) -> Self {
        self.servers = servers;
        self
    }

    pub(crate) fn into_finding(self, id: CheckId) -> Finding {
        let Self { state, observation, remedy, servers } = self;
        Finding { id, title: id.title(), state, observation, remedy, servers }
    }
}
