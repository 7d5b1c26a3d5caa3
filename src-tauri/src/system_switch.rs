//! A switch that the system has, and no file of the app's: the start at login, and the handler of links.

use serde::Serialize;

/// How it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum SystemSwitch {
    /// On.
    On,
    /// Off.
    Off,
    /// It can't be told or changed here.
    Unavailable {
        /// Why, in words.
        cause: String,
    },
}

impl SystemSwitch {
    /// From what the system says.
    pub(crate) fn of(is_on: Result<bool, String>) -> Self {
        match is_on {
            Ok(true) => Self::On,
            Ok(false) => Self::Off,
            Err(cause) => Self::Unavailable { cause },
        }
    }
}
