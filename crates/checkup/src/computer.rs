//! What is looked at: the app's folders and settings, and the environment of its program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ports::time::SharedClock;
use ports::{Secrets, ServerSettings};
use process::SearchPath;

/// What is looked at.
#[derive(Clone)]
pub struct Computer {
    /// The servers.
    pub settings: Arc<dyn ServerSettings>,
    /// The keychain.
    pub secrets: Arc<dyn Secrets>,
    /// The folder with the app's data.
    pub data_folder: PathBuf,
    /// The folder in which other programs keep what they can load again, if there is one.
    pub cache_folder: Option<PathBuf>,
    /// The variables of this program.
    pub environment: Environment,
    /// Where programs are looked for; none if the login shell is to be asked.
    pub search_path: Option<SearchPath>,
    /// What draws the window; none for a program without one.
    pub web_view: Option<WebView>,
    /// The time of day.
    pub clock: SharedClock,
}

/// What draws the window, as the shell knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebView {
    /// Its name, such as WebKitGTK.
    pub name: &'static str,
    /// Its version, as it tells it itself.
    pub version: String,
}

/// The variables of a program, and the home folder that they name.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// That of this program.
    #[must_use]
    pub fn of_this_program() -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Self { variables: std::env::vars_os().filter_map(text).collect(), home: std::env::home_dir() }
    }

    /// One with these variables.
    #[must_use]
    pub fn with(variables: &[(&str, &str)], home: Option<PathBuf>) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
        Self { variables: variables.collect(), home }
    }

    /// The value of a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|value| !value.is_empty())
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// Whether a variable is set, even to nothing.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }
}
