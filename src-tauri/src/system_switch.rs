//! State of a setting that is stored by the operating system instead of the app: the start at login, and the link
//! handler.

use serde::Serialize;

/// State of a setting that the operating system stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum SystemSwitch {
    /// The setting is on, according to the operating system.
    On,
    /// The setting is off, according to the operating system.
    Off,
    /// The setting can't be read or changed on this system.
    Unavailable {
        /// Reason why the setting is unavailable, as a sentence for the user.
        cause: String,
    },
}

impl SystemSwitch {
    /// Creates the state from the operating system's response: on, off, or the reason why it is unavailable.
    pub(crate) fn new(is_on: Result<bool, String>) -> Self {
        match is_on {
            Ok(true) => Self::On,
            Ok(false) => Self::Off,
            Err(cause) => Self::Unavailable { cause },
        }
    }
}
