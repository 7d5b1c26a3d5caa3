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
    /// Result of the check: OK, unknown, a warning or a problem.
    pub state: FindingState,
    /// Description of the problem, or of the working state, that the check found.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub observation: FindingText,
    /// Remedy that the user should try, if there is a problem.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub remedy: Option<FindingText>,
    /// Names of the servers that the problem affects, or would affect once they start.
    pub servers: Vec<String>,
}

/// Outcome of a check of this computer, in increasing order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// The checked item, such as a runtime or folder, works without limitation.
    Ok,
    /// The state of the checked item could not be determined.
    Unknown,
    /// The checked item works, but with a limitation.
    Warning,
    /// The checked item doesn't work.
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

/// Identifier of a check, named after the checked item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckId {
    /// Check of the settings file with the servers.
    Settings,
    /// Check of the operating system's keychain.
    Keychain,
    /// Check of the search path for programs.
    SearchPath,
    /// Check of the runtime Node.js with npx.
    Node,
    /// Check of the Python interpreter.
    Python,
    /// Check of the package manager uv with uvx.
    Uv,
    /// Check of the container engine Docker.
    Docker,
    /// Check of the container engine Podman.
    Podman,
    /// Check of the runtime .NET with dnx.
    Dotnet,
    /// Check of local servers' programs that belong to none of the other runtimes.
    Programs,
    /// Check of the operating system's sandbox mechanisms.
    Sandbox,
    /// Check of the proxy settings in the environment.
    Proxy,
    /// Check of the certificates that authenticate remote servers.
    Certificates,
    /// Check of the web view that renders the window of the desktop app.
    WebView,
    /// Check of the folder with Drawbridge's data.
    DataFolder,
    /// Check of the folder with Drawbridge's settings.
    ConfigFolder,
    /// Check of the user's cache folder, to which launchers such as npx and uvx download packages.
    CacheFolder,
    /// Check of the operating system's clock.
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
    pub(crate) remedy: Option<FindingText>,
    pub(crate) servers: Vec<String>,
}

impl CheckOutcome {
    /// Creates an outcome for an item that works without limitation.
    pub(crate) fn ok(observation: FindingText) -> Self {
        Self { state: FindingState::Ok, observation, remedy: None, servers: Vec::new() }
    }

    /// Creates an outcome for an item whose state could not be determined.
    pub(crate) fn unknown(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Unknown, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Creates an outcome for an item that works with a limitation.
    pub(crate) fn warning(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Warning, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Creates an outcome for an item that doesn't work.
    pub(crate) fn problem(observation: FindingText, remedy: FindingText) -> Self {
        Self { state: FindingState::Problem, observation, remedy: Some(remedy), servers: Vec::new() }
    }

    /// Sets the names of the affected servers.
    pub(crate) fn for_servers(mut self, servers: Vec<String>) -> Self {
        self.servers = servers;
        self
    }

    pub(crate) fn into_finding(self, id: CheckId) -> Finding {
        let Self { state, observation, remedy, servers } = self;
        Finding { id, title: id.title(), state, observation, remedy, servers }
    }
}
