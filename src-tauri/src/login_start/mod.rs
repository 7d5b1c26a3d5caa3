//! The start at login, in the background. Off until the user turns it on in the settings; nothing else changes it, and the system's
//! own settings may turn it off. What the system says is what holds: it is in no file of the app's.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use serde::Serialize;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

use crate::background::BACKGROUND;

/// Whether the app starts at login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum LoginStart {
    /// It does.
    On,
    /// It does not.
    Off,
    /// It can't be told or changed here.
    Unavailable {
        /// Why, in words.
        cause: String,
    },
}

/// Whether the app starts at login, as the system has it.
pub(crate) fn state() -> LoginStart {
    match system::is_on() {
        Ok(true) => LoginStart::On,
        Ok(false) => LoginStart::Off,
        Err(cause) => LoginStart::Unavailable { cause },
    }
}

/// Has the app start at login, or not.
///
/// # Errors
/// In words, if the system does not take it.
#[tauri::command(async)]
pub(crate) fn set_login_start(on: bool) -> Result<(), String> {
    system::set(on)
}
