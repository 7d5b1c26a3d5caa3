//! Numbers of running servers and pending requests, displayed outside of the window.
//!
//! Follows the host's events, updates the tray icon, and withdraws notifications of requests that were decided.

use std::time::Duration;

use host::Host;
use host::view::{HostEvent, Snapshot};
use tauri::{AppHandle, Manager as _};

use crate::announcements::Announcements;
use crate::tray::Tray;
use crate::{background, system_language};

/// Delay between an event and the update of the tray, so that several events in quick succession cause only one update.
const TRAY_UPDATE_DEBOUNCE: Duration = Duration::from_millis(250);

/// Numbers that the tray menu shows, and the language in which it shows them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrayStatus {
    /// Number of running servers.
    pub(crate) servers: usize,
    /// Number of consent requests that wait for the user's decision.
    pub(crate) requests: usize,
    /// `true` to display the numbers in Chinese, otherwise in English.
    pub(crate) chinese: bool,
}

impl TrayStatus {
    fn from_snapshot(snapshot: &Snapshot) -> Self {
        Self {
            servers: background::count_running_servers(snapshot),
            requests: snapshot.consent_requests.len(),
            chinese: system_language::is_chinese(&snapshot.settings.language),
        }
    }

    /// Returns the text of the tray menu's line with the number of running servers.
    pub(crate) fn servers_line(self) -> String {
        match (self.servers, self.chinese) {
            (0, false) => "No server is running".to_owned(),
            (1, false) => "1 server is running".to_owned(),
            (count, false) => format!("{count} servers are running"),
            (0, true) => "没有服务器在运行".to_owned(),
            (count, true) => format!("{count} 个服务器正在运行"),
        }
    }

    /// Returns the text of the tray menu's line with the number of pending consent requests.
    pub(crate) fn requests_line(self) -> String {
        match (self.requests, self.chinese) {
            (0, false) => "No request is waiting".to_owned(),
            (1, false) => "1 request is waiting".to_owned(),
            (count, false) => format!("{count} requests are waiting"),
            (0, true) => "没有等待处理的请求".to_owned(),
            (count, true) => format!("有 {count} 个请求等待处理"),
        }
    }

    /// Returns the label of the menu item that opens the window.
    pub(crate) const fn open_label(self) -> &'static str {
        if self.chinese { "打开 Drawbridge" } else { "Open Drawbridge" }
    }

    /// Returns the label of the menu item that quits Drawbridge.
    pub(crate) const fn quit_label(self) -> &'static str {
        if self.chinese { "退出" } else { "Quit" }
    }
}

/// Spawns a task that follows the host's events until the host stops. It updates the tray, and withdraws the
/// notifications of requests that were decided.
pub(crate) fn update_tray_on_host_events(app: &AppHandle, host: Host) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let mut events = host.events();
        let mut shown = None;
        loop {
            let Ok(snapshot) = host.snapshot().await else { return };
            let waiting: Vec<_> = snapshot.consent_requests.iter().map(|request| request.id).collect();
            app.state::<Announcements>().withdraw_announcements_of_decided_requests(&app, &waiting);
            let now = TrayStatus::from_snapshot(&snapshot);
            if shown.replace(now) != Some(now) {
                app.state::<Tray>().update(now);
            }
            loop {
                let Some(event) = events.next().await else { return };
                if affects_tray_status(&event.event) {
                    break;
                }
            }
            tokio::time::sleep(TRAY_UPDATE_DEBOUNCE).await;
            // The next snapshot includes the changes of all pending events.
            while events.try_next().is_some() {}
        }
    });
}

fn affects_tray_status(event: &HostEvent) -> bool {
    use HostEvent::{ConsentRequestChanged, ConsentRequestClosed, ServerChanged, ServerRemoved, SettingsChanged};
    matches!(
        event,
        ServerChanged(_)
            | ServerRemoved(_)
            | ConsentRequestChanged(_)
            | ConsentRequestClosed { .. }
            | SettingsChanged(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tray_counts_are_formatted_in_both_languages() {
        let lines = |servers, requests, chinese| {
            let presence = TrayStatus { servers, requests, chinese };
            [presence.servers_line(), presence.requests_line()]
        };
        assert_eq!(lines(0, 0, false), ["No server is running", "No request is waiting"], "zero");
        assert_eq!(lines(1, 1, false), ["1 server is running", "1 request is waiting"], "one");
        assert_eq!(lines(2, 3, false), ["2 servers are running", "3 requests are waiting"], "some");
        assert_eq!(lines(2, 3, true), ["2 个服务器正在运行", "有 3 个请求等待处理"], "in Chinese");
    }
}
