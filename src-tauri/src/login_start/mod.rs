//! Setting to start the app at login, without its window.
//!
//! The setting is off until the user turns it on. The operating system's own settings may turn it off, so the state is
//! always read from the system and not stored by the app.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

use crate::background::BACKGROUND_OPTION;
use crate::system_switch::SystemSwitch;

/// Returns the state of the start at login, as read from the operating system.
pub(crate) fn login_start_state() -> SystemSwitch {
    SystemSwitch::new(system::is_login_start_on())
}

/// Command that turns the start of Drawbridge at login on or off.
///
/// # Errors
/// Returns a message for the user if the system rejects the change.
#[tauri::command(async)]
pub(crate) fn set_login_start(on: bool) -> Result<(), String> {
    system::set_login_start_enabled(on)
}
