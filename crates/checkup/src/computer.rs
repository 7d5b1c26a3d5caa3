//! Inputs of the checks: Drawbridge's folders and settings, and the environment of its process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ports::time::SharedClock;
use ports::{Secrets, ServerSettings};
use process::SharedSearchPath;

/// Inputs of the checks: Drawbridge's settings and folders, and the environment of its process.
#[derive(Clone)]
pub struct CheckInputs {
    /// Settings file with the configured servers.
    pub settings: Arc<dyn ServerSettings>,
    /// Keychain of the operating system, which stores secrets.
    pub secrets: Arc<dyn Secrets>,
    /// Path of Drawbridge's data folder.
    pub data_folder: PathBuf,
    /// Folder to which launchers such as npx and uvx download packages, or `None` if it is unknown.
    pub cache_folder: Option<PathBuf>,
    /// Environment variables and home folder of this process.
    pub environment: ProcessEnvironment,
    /// Search path for programs, which the host uses too. The default one is read from the login shell.
    pub search_path: SharedSearchPath,
    /// Web view that renders the window of the desktop app, or `None` for a program without a window, such as the CLI.
    pub web_view: Option<WebView>,
    /// Clock from which the checks read the current time.
    pub clock: SharedClock,
}

/// The web view that renders the window, as reported by the desktop app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebView {
    /// Name of the web view, such as WebKitGTK.
    pub name: &'static str,
    /// Version that the web view reports.
    pub version: String,
}

/// The environment variables of a process, and the home folder of its user.
#[derive(Debug, Clone, Default)]
pub struct ProcessEnvironment {
    variables: BTreeMap<String, OsString>,
    /// Home folder of the user.
    pub home: Option<PathBuf>,
}

impl ProcessEnvironment {
    /// Returns the environment of the current process.
    #[must_use]
    pub fn current() -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Self { variables: std::env::vars_os().filter_map(text).collect(), home: std::env::home_dir() }
    }

    /// Creates an environment that consists of these variables and this home folder, regardless of the current process.
    #[must_use]
    pub fn with_variables(variables: &[(&str, &str)], home: Option<PathBuf>) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
        Self { variables: variables.collect(), home }
    }

    /// Returns the value of a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the value of a variable that is set, not empty, and valid Unicode.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// Returns `true` if a variable is set, even if it is empty.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }
}
