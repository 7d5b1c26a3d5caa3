//! Command that reports features of the desktop environment to the settings page.

use serde::Serialize;
use tauri::State;

use crate::system_switch::SystemSwitch;
use crate::tray::Tray;
use crate::{link_handler, login_start};

/// Features of the desktop environment and the operating system that the settings page shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DesktopReport {
    /// `true` if the desktop environment shows Drawbridge's tray icon.
    has_tray: bool,
    /// State of the start of Drawbridge at login.
    login_start: SystemSwitch,
    /// State of the registration of Drawbridge for `drawbridge:` links.
    links: SystemSwitch,
}

/// Command that returns the features of the desktop environment for the settings page.
#[tauri::command(async)]
pub(crate) fn desktop_report(tray: State<'_, Tray>) -> DesktopReport {
    DesktopReport {
        has_tray: tray.is_shown(),
        login_start: login_start::login_start_state(),
        links: link_handler::link_handler_state(),
    }
}
