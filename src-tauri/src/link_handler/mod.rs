//! Registration of the app as handler of `drawbridge:` links from other programs.
//!
//! The handler is off until the user turns it on in the settings. Links that arrive while it is off are refused,
//! because any web page can open a link. The state is stored only in the operating system, as for the start at login.
//!
//! The crate `tauri-plugin-deep-link` is not used. It would register the scheme when the package is installed, it never
//! removes its entry from `mimeapps.list`, and it runs `xdg-mime` and `update-desktop-database`, while only the crate
//! `process` may start programs. On macOS the app declares no scheme, since schemes in `Info.plist` can't be turned on
//! or off. There the user pastes links.

#[cfg(not(any(target_os = "linux", windows)))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(any(target_os = "linux", windows)))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

use crate::system_switch::SystemSwitch;

/// Returns the state of Drawbridge's registration for `drawbridge:` links, as read from the operating system.
pub(crate) fn link_handler_state() -> SystemSwitch {
    SystemSwitch::new(system::is_link_handler_on())
}

/// Returns `true` if Drawbridge is registered for `drawbridge:` links.
pub(crate) fn is_link_handler_on() -> bool {
    system::is_link_handler_on().unwrap_or(false)
}

/// Command that registers or unregisters Drawbridge for `drawbridge:` links.
///
/// # Errors
/// Returns a message for the user if the system rejects the change.
#[tauri::command(async)]
pub(crate) fn set_link_handler(on: bool) -> Result<(), String> {
    system::set_link_handler_enabled(on)
}
