//! Tray icon on macOS and Windows, which always show one.

use std::sync::OnceLock;

use tauri::AppHandle;
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};

use crate::presence::TrayStatus;
use crate::request_windows::show_consent_request;
use crate::{quitting, window};

const OPEN_ITEM_ID: &str = "open";
const SERVERS_ITEM_ID: &str = "servers";
const REQUESTS_ITEM_ID: &str = "requests";
const QUIT_ITEM_ID: &str = "quit";

/// Drawbridge's icon in the system tray, with its menu. Empty until [`Tray::start`] is called.
#[derive(Default)]
pub(crate) struct Tray(OnceLock<TrayItems>);

/// Items of the tray menu, whose labels change with the numbers of servers and requests.
struct TrayItems {
    open: MenuItem<tauri::Wry>,
    servers: MenuItem<tauri::Wry>,
    requests: MenuItem<tauri::Wry>,
    quit: MenuItem<tauri::Wry>,
}

impl Tray {
    /// Adds the icon to the tray. Must be called on the main thread.
    pub(crate) fn start(&self, app: &AppHandle) {
        match show_tray(app) {
            // Fails only if the icon exists already.
            Ok(items) => drop(self.0.set(items)),
            Err(error) => tracing::warn!("failed to show the tray icon: {error}"),
        }
    }

    /// Changes the labels of the tray menu to these numbers and this language.
    pub(crate) fn update(&self, presence: TrayStatus) {
        if let Some(items) = self.0.get()
            && let Err(error) = items.update_labels(presence)
        {
            tracing::warn!("failed to update the tray icon: {error}");
        }
    }

    /// Returns `true` if the icon was created.
    pub(crate) fn is_shown(&self) -> bool {
        self.0.get().is_some()
    }
}

impl TrayItems {
    fn update_labels(&self, presence: TrayStatus) -> tauri::Result<()> {
        self.open.set_text(presence.open_label())?;
        self.servers.set_text(presence.servers_line())?;
        self.requests.set_text(presence.requests_line())?;
        self.requests.set_enabled(presence.requests > 0)?;
        self.quit.set_text(presence.quit_label())
    }
}

fn show_tray(app: &AppHandle) -> tauri::Result<TrayItems> {
    let presence = TrayStatus::default();
    let item = |id, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
    let items = TrayItems {
        open: item(OPEN_ITEM_ID, presence.open_label(), true)?,
        servers: item(SERVERS_ITEM_ID, &presence.servers_line(), false)?,
        requests: item(REQUESTS_ITEM_ID, &presence.requests_line(), false)?,
        quit: item(QUIT_ITEM_ID, presence.quit_label(), true)?,
    };
    let line = PredefinedMenuItem::separator(app)?;
    let menu = Menu::with_items(app, &[&items.open, &items.servers, &items.requests, &line, &items.quit])?;
    let mut tray = TrayIconBuilder::new()
        .menu(&menu)
        .tooltip("Drawbridge")
        .show_menu_on_left_click(cfg!(target_os = "macos"))
        .on_menu_event(|app, event| match event.id().as_ref() {
            OPEN_ITEM_ID => window::show_or_open_main_window(app),
            REQUESTS_ITEM_ID => show_consent_request(app, None),
            QUIT_ITEM_ID => quitting::quit(app),
            _ => {}
        })
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. } = event
                && !cfg!(target_os = "macos")
            {
                window::show_or_open_main_window(tray.app_handle());
            }
        });
    if let Some(icon) = app.default_window_icon() {
        tray = tray.icon(icon.clone());
    }
    tray.build(app)?;
    Ok(items)
}
