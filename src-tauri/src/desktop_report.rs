//! What Settings says about this desktop.

use serde::Serialize;
use tauri::State;

use crate::system_switch::SystemSwitch;
use crate::tray::Tray;
use crate::{link_handler, login_start};

/// What this desktop does for an app whose window is closed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DesktopReport {
    /// Whether it shows the app's icon in a tray.
    has_tray: bool,
    /// Whether it starts the app at login.
    login_start: SystemSwitch,
    /// Whether links of other programs come to it.
    links: SystemSwitch,
}

/// Tells Settings about this desktop.
#[tauri::command(async)]
pub(crate) fn desktop_report(tray: State<'_, Tray>) -> DesktopReport {
    DesktopReport { has_tray: tray.is_shown(), login_start: login_start::state(), links: link_handler::state() }
}
