//! Command that reports the features of the desktop environment to Settings.

use serde::Serialize;
use tauri::State;

use crate::system_switch::SystemSwitch;
use crate::tray::Tray;
use crate::{link_handler, login_start};

/// Features of the desktop environment for an app whose window is closed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DesktopReport {
    /// `true` if the desktop shows the app's icon in a tray.
    has_tray: bool,
    /// State of the start at login.
    login_start: SystemSwitch,
    /// State of the handler of `drawbridge:` links.
    links: SystemSwitch,
}

/// Returns the features of the desktop environment.
#[tauri::command(async)]
pub(crate) fn desktop_report(tray: State<'_, Tray>) -> DesktopReport {
    DesktopReport { has_tray: tray.is_shown(), login_start: login_start::state(), links: link_handler::state() }
}
