//! Handler of `drawbridge:` links from other programs.
//!
//! The handler is off until the user turns it on in the settings, and links that arrive while it is off are refused,
//! because any web page can open a link. As for the start at login, the state is stored in the operating system.
//!
//! The crate `tauri-plugin-deep-link` is not used: it would register the scheme at the installation of the package, it
//! never removes its entry from `mimeapps.list`, and it runs `xdg-mime` and `update-desktop-database`, while in this
//! repository only `process` starts programs. macOS reads schemes only from the app's `Info.plist`, so they can't be
//! turned on or off there: the app declares none, and the user pastes links.

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

/// Returns the state as reported by the system.
pub(crate) fn state() -> SystemSwitch {
    SystemSwitch::new(system::is_on())
}

/// Returns `true` if the user turned links on.
pub(crate) fn is_on() -> bool {
    system::is_on().unwrap_or(false)
}

/// Registers or unregisters this app for links.
///
/// # Errors
/// Returns a message for the user if the system rejects the change.
#[tauri::command(async)]
pub(crate) fn set_link_handler(on: bool) -> Result<(), String> {
    system::set(on)
}
