//! Tray icon on Linux: a StatusNotifierItem on the session bus.
//!
//! Tauri's tray icon would require libayatana-appindicator to build and to run, and can't detect if the desktop shows
//! the icon.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ksni::blocking::{Handle, TrayMethods as _};
use ksni::menu::StandardItem;
use ksni::{Icon, MenuItem, OfflineReason, Status, ToolTip};
use tauri::AppHandle;

use crate::presence::TrayStatus;
use crate::request_windows::show_consent_request;
use crate::{quitting, window};

/// Identifier of the StatusNotifierItem, which is the same at every start.
const TRAY_ITEM_ID: &str = "dev.drawbridge.desktop";

/// Drawbridge's icon in the system tray, with its menu, shown if the desktop environment has a tray.
#[derive(Default)]
pub(crate) struct Tray(Arc<SharedTray>);

#[derive(Default)]
struct SharedTray {
    handle: OnceLock<Handle<TrayItem>>,
    /// `true` if the desktop environment displays StatusNotifierItems.
    is_watched: AtomicBool,
}

impl Tray {
    /// Creates the icon, which the desktop environment shows as soon as it has a tray. Does not wait for the session
    /// bus.
    pub(crate) fn start(&self, app: &AppHandle) {
        let icon = app.default_window_icon().map(|icon| Icon {
            width: i32::try_from(icon.width()).unwrap_or_default(),
            height: i32::try_from(icon.height()).unwrap_or_default(),
            data: to_argb(icon.rgba()),
        });
        let shared = Arc::clone(&self.0);
        // The desktop is assumed to have a tray until the bus reports otherwise.
        shared.is_watched.store(true, Ordering::Relaxed);
        let item = TrayItem { app: app.clone(), presence: TrayStatus::default(), icon, shared: Arc::clone(&shared) };
        tauri::async_runtime::spawn_blocking(move || match item.assume_sni_available(true).spawn() {
            // Fails only if the icon exists already.
            Ok(handle) => drop(shared.handle.set(handle)),
            Err(error) => tracing::info!("failed to show the tray icon: {error}"),
        });
    }

    /// Changes the labels of the tray menu to these numbers and this language.
    pub(crate) fn update(&self, presence: TrayStatus) {
        let Some(handle) = self.0.handle.get().cloned() else { return };
        // The update blocks until the bus responds.
        tauri::async_runtime::spawn_blocking(move || handle.update(|item| item.presence = presence));
    }

    /// Returns `true` if the desktop environment shows the icon.
    pub(crate) fn is_shown(&self) -> bool {
        self.0.handle.get().is_some_and(|handle| !handle.is_closed()) && self.0.is_watched.load(Ordering::Relaxed)
    }
}

struct TrayItem {
    app: AppHandle,
    presence: TrayStatus,
    icon: Option<Icon>,
    shared: Arc<SharedTray>,
}

impl ksni::Tray for TrayItem {
    fn id(&self) -> String {
        TRAY_ITEM_ID.to_owned()
    }

    fn title(&self) -> String {
        "Drawbridge".to_owned()
    }

    fn icon_pixmap(&self) -> Vec<Icon> {
        self.icon.iter().cloned().collect()
    }

    fn attention_icon_pixmap(&self) -> Vec<Icon> {
        self.icon_pixmap()
    }

    fn status(&self) -> Status {
        if self.presence.requests > 0 { Status::NeedsAttention } else { Status::Active }
    }

    fn tool_tip(&self) -> ToolTip {
        let description = format!("{}\n{}", self.presence.servers_line(), self.presence.requests_line());
        ToolTip { title: self.title(), description, ..ToolTip::default() }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        window::show_or_open_main_window(&self.app);
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        let presence = self.presence;
        let item = |label: &str, enabled, activate: fn(&AppHandle)| {
            let activate = Box::new(move |item: &mut Self| activate(&item.app));
            MenuItem::from(StandardItem { label: label.to_owned(), enabled, activate, ..StandardItem::default() })
        };
        vec![
            item(presence.open_label(), true, window::show_or_open_main_window),
            item(&presence.servers_line(), false, |_| {}),
            item(&presence.requests_line(), presence.requests > 0, |app| show_consent_request(app, None)),
            MenuItem::Separator,
            item(presence.quit_label(), true, quitting::quit),
        ]
    }

    fn watcher_online(&self) {
        self.shared.is_watched.store(true, Ordering::Relaxed);
    }

    fn watcher_offline(&self, reason: OfflineReason) -> bool {
        tracing::info!("the desktop does not show the tray icon: {reason:?}");
        self.shared.is_watched.store(false, Ordering::Relaxed);
        // Continues to wait, because the tray may appear later, for example if the desktop starts after the app.
        true
    }
}

/// Converts pixels from RGBA to ARGB, the format that a StatusNotifierItem requires.
fn to_argb(rgba: &[u8]) -> Vec<u8> {
    rgba.as_chunks::<4>().0.iter().flat_map(|&[red, green, blue, alpha]| [alpha, red, green, blue]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argb_pixel_begins_with_alpha() {
        assert_eq!(to_argb(&[1, 2, 3, 4, 5, 6, 7, 8]), [4, 1, 2, 3, 8, 5, 6, 7], "each pixel should be converted");
    }

    #[test]
    fn unstarted_tray_is_not_shown() {
        assert!(!Tray::default().is_shown(), "no icon should be shown");
    }
}
