//! The computer whose apps are looked at: its system, the home folder, and the variables that move folders. All of it is given from outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A family of systems, by where apps keep their settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum System {
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
    /// Linux and others with XDG folders.
    Linux,
}

impl System {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linux, Self::MacOs, Self::Windows];

    /// The one that this program runs on.
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

/// A home folder and what decides where apps keep their settings in it.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The home folder.
    pub home: PathBuf,
    /// The systems whose folders are looked at.
    pub systems: Vec<System>,
    /// The system that servers are going to run on.
    pub runs_on: System,
    /// The environment: `XDG_CONFIG_HOME`, `APPDATA`, `CODEX_HOME` and the like.
    pub variables: BTreeMap<String, PathBuf>,
}

/// The variables that move the settings of an app or of all.
pub const VARIABLES: [&str; 8] =
    ["XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "COPILOT_HOME", "CODEX_HOME", "CLINE_DIR", "GROK_HOME", "KIMI_HOME"];

impl Surroundings {
    /// The user's own home on this computer. `variable` reads the environment.
    #[must_use]
    pub fn of_user(home: PathBuf, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let variables = VARIABLES.iter().filter_map(|name| {
            let value = variable(name).filter(|path| path.is_absolute())?;
            Some(((*name).to_owned(), value))
        });
        let system = System::current();
        Self { home, systems: vec![system], runs_on: system, variables: variables.collect() }
    }

    /// A home folder that lies anywhere, for instance on the disk of another computer: the folders of all systems are looked at, and no
    /// variable counts.
    #[must_use]
    pub fn of_folder(home: PathBuf) -> Self {
        Self { home, systems: System::ALL.to_vec(), runs_on: System::current(), variables: BTreeMap::new() }
    }

    /// The folder that a variable names, or the one below the home folder.
    pub(crate) fn folder(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| join(&self.home, below_home))
    }
}

/// A path with parts that are separated by slashes, on every system.
pub(crate) fn join(folder: &Path, parts: &str) -> PathBuf {
    let mut path = folder.to_owned();
    path.extend(parts.split('/').filter(|part| !part.is_empty()));
    path
}
