//! The computer whose apps are searched: its operating system, home folder, and variables that relocate folders. The
//! caller provides all of this.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An operating system, which determines the folders in which other MCP apps store their settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperatingSystem {
    /// macOS, where apps store settings in `Library/Application Support`.
    MacOs,
    /// Windows, where apps store settings in the roaming or local application data folder.
    Windows,
    /// Linux and other systems that follow the XDG Base Directory Specification.
    Linux,
}

impl OperatingSystem {
    /// All supported operating systems.
    pub const ALL: [Self; 3] = [Self::Linux, Self::MacOs, Self::Windows];

    /// Returns the operating system that this process runs on.
    #[must_use]
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// A home folder, and the data that determines where other MCP apps store their settings in that folder.
#[derive(Debug, Clone)]
pub struct AppEnvironment {
    /// Path of the home folder.
    pub home: PathBuf,
    /// Operating systems whose usual settings folders a scan searches. Several if `home` may come from another
    /// computer.
    pub systems: Vec<OperatingSystem>,
    /// Operating system of the computer on which the imported servers will run.
    pub runs_on: OperatingSystem,
    /// Environment variables such as `XDG_CONFIG_HOME`, `APPDATA` and `CODEX_HOME`.
    pub variables: BTreeMap<String, PathBuf>,
    /// Folder that replaces `${workspaceFolder}` in the user's settings, which stands for whatever folder the other app
    /// has open. `None` if the user has not chosen a folder.
    pub workspace: Option<PathBuf>,
}

/// Environment variables that relocate the settings folder of one app, or of all apps.
pub const LOCATION_VARIABLES: [&str; 8] =
    ["XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "COPILOT_HOME", "CODEX_HOME", "CLINE_DIR", "GROK_HOME", "KIMI_HOME"];

impl AppEnvironment {
    /// Creates the environment of the current user, whose home folder is `home`. `variable` reads an environment
    /// variable.
    #[must_use]
    pub fn current_user(home: PathBuf, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let variables = LOCATION_VARIABLES.iter().filter_map(|name| {
            let value = variable(name).filter(|path| path.is_absolute())?;
            Some(((*name).to_owned(), value))
        });
        let system = OperatingSystem::current();
        Self { home, systems: vec![system], runs_on: system, variables: variables.collect(), workspace: None }
    }

    /// Creates the environment of a home folder at any path, for example on the disk of another computer. The folders
    /// of all operating systems are searched, and variables are ignored.
    #[must_use]
    pub fn for_home(home: PathBuf) -> Self {
        Self {
            home,
            systems: OperatingSystem::ALL.to_vec(),
            runs_on: OperatingSystem::current(),
            variables: BTreeMap::new(),
            workspace: None,
        }
    }

    /// Returns the folder in the environment variable `variable` or, if the variable is not set, the folder
    /// `below_home` in the home folder.
    pub(crate) fn folder_from_variable_or_home(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| join_components(&self.home, below_home))
    }
}

/// Joins `folder` and `parts`, a relative path that is written with slashes on every operating system.
pub(crate) fn join_components(folder: &Path, parts: &str) -> PathBuf {
    let mut path = folder.to_owned();
    path.extend(parts.split('/').filter(|part| !part.is_empty()));
    path
}
