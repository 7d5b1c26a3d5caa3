//! The start at login, in the background. Off until the user turns it on in the settings; nothing else changes it, and the system's
//! own settings may turn it off. What the system says is what holds: it is in no file of the app's.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

use crate::background::BACKGROUND;
use crate::system_switch::SystemSwitch;

/// Whether the app starts at login, as the system has it.
pub(crate) fn state() -> SystemSwitch {
    SystemSwitch::of(system::is_on())
}

/// Has the app start at login, or not.
///
/// # Errors
/// In words, if the system does not take it.
#[tauri::command(async)]
pub(crate) fn set_login_start(on: bool) -> Result<(), String> {
    system::set(on)
}
