//! Whether `drawbridge:` links of other programs come to this app. Off until the user turns it on in the settings, and links that come
//! anyway are refused while it is off: any web page can fire a link. As with the start at login, the system's own entry is what holds.
//!
//! The crate `tauri-plugin-deep-link` is not used. It would have the packages claim the scheme when they are installed, before anybody
//! turned it on, never takes back what it wrote into `mimeapps.list`, and runs `xdg-mime` and `update-desktop-database`, where a program is
//! started by `process` alone. macOS takes schemes from the app's `Info.plist` only, so there they can't be turned on or off: the app
//! names none, and links are pasted.

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

/// Whether links come to this app, as the system has it.
pub(crate) fn state() -> SystemSwitch {
    SystemSwitch::of(system::is_on())
}

/// Whether the user turned links on.
pub(crate) fn is_on() -> bool {
    system::is_on().unwrap_or(false)
}

/// Has links come to this app, or not.
///
/// # Errors
/// In words, if the system does not take it.
#[tauri::command(async)]
pub(crate) fn set_link_handler(on: bool) -> Result<(), String> {
    system::set(on)
}
