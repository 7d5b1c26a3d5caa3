//! Apps (MCP Apps) that were closed because the page of their window stopped responding or its process ended: the
//! reports that the user has not dismissed, and the servers whose apps are shown only after a click.
//!
//! `shell_events.rs` keeps this state and sends it to each page, since a page may end before the user has seen a report
//! or opened an app again.

use api::ShownApp;
use domain::app_view::AppStopCause;
use serde::Serialize;
use tauri::State;

use crate::shell_events::ShellEvents;

/// Maximum number of reports. The oldest one is dropped first.
#[cfg(any(target_os = "linux", test))]
const MAX_STOPPED_APPS_REPORTS: usize = 8;
/// Maximum number of servers whose apps are shown only after a click. The oldest one is dropped first.
#[cfg(any(target_os = "linux", test))]
const MAX_SERVERS_WITH_WITHHELD_APPS: usize = 256;

/// Reports of stopped apps, and the servers whose apps are withheld because of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct StoppedApps {
    /// Reports that the user has not dismissed, the newest last.
    reports: Vec<StoppedAppsReport>,
    /// Servers whose apps are shown only after a click, since an app could otherwise end the page each time that it is
    /// loaded. Several tools of a server may show the same page.
    withheld: Vec<String>,
    #[cfg(any(target_os = "linux", test))]
    #[serde(skip)]
    last_id: u64,
}

/// Apps that were closed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct StoppedAppsReport {
    id: u64,
    /// Closed apps, each once. Any of them may have blocked or ended the page. Empty if the page showed none and was
    /// ended because of its memory.
    apps: Vec<ShownApp>,
    /// Reason for which they were closed, or the page was ended.
    cause: AppStopCause,
}

impl StoppedApps {
    /// Adds a report of stopped apps, and withholds all apps of their servers.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn add(&mut self, apps: Vec<ShownApp>, cause: AppStopCause) {
        for ShownApp { server, .. } in &apps {
            self.release(server);
            self.withheld.push(server.clone());
        }
        self.last_id += 1;
        self.reports.push(StoppedAppsReport { id: self.last_id, apps, cause });
        self.withheld.drain(..self.withheld.len().saturating_sub(MAX_SERVERS_WITH_WITHHELD_APPS));
        self.reports.drain(..self.reports.len().saturating_sub(MAX_STOPPED_APPS_REPORTS));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.withheld.is_empty()
    }

    fn dismiss(&mut self, report: u64) {
        self.reports.retain(|one| one.id != report);
    }

    fn release(&mut self, server: &str) {
        self.withheld.retain(|one| one != server);
    }
}

/// Command by which the page of the main window reports that the user has dismissed the report with this number.
#[tauri::command]
pub(crate) fn dismiss_stopped_apps(events: State<'_, ShellEvents>, report: u64) {
    events.change_stopped_apps(|stopped| stopped.dismiss(report));
}

/// Command by which a page reports that the user shows an app of this server again.
#[tauri::command]
pub(crate) fn release_stopped_apps(events: State<'_, ShellEvents>, server: String) {
    events.change_stopped_apps(|stopped| stopped.release(&server));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(server: &str, tool: &str) -> ShownApp {
        ShownApp { server: server.to_owned(), tool: tool.to_owned() }
    }

    #[test]
    fn apps_of_a_server_are_withheld_until_the_user_shows_one() {
        let mut stopped = StoppedApps::default();
        assert!(stopped.is_empty(), "no app was closed");
        stopped.add(vec![app("harbour", "chart"), app("harbour", "map")], AppStopCause::Unresponsive);
        stopped.add(vec![app("mail", "inbox")], AppStopCause::PageEnded);
        assert_eq!(stopped.withheld, ["harbour", "mail"], "the second report should not replace the first one");
        stopped.add(vec![app("harbour", "chart")], AppStopCause::Unresponsive);
        stopped.release("harbour");
        assert_eq!(stopped.withheld, ["mail"], "the user has decided about this server only");
        let ids: Vec<u64> = stopped.reports.iter().map(|report| report.id).collect();
        assert_eq!(ids.len(), 3, "the reports should remain until they are dismissed");
        for id in ids {
            stopped.dismiss(id);
        }
        assert!(stopped.reports.is_empty() && !stopped.is_empty(), "a dismissed report does not release an app");
    }

    #[test]
    fn end_of_a_page_without_apps_is_reported_and_withholds_no_app() {
        let mut stopped = StoppedApps::default();
        stopped.add(Vec::new(), AppStopCause::MemoryLimit);
        assert_eq!((stopped.reports.len(), stopped.withheld.len()), (1, 0), "no app is the cause");
        stopped.dismiss(1);
        assert!(stopped.is_empty(), "the user has dismissed the report");
    }

    #[test]
    fn numbers_of_reports_and_withheld_servers_are_bounded() {
        let mut stopped = StoppedApps::default();
        for number in 0..=MAX_SERVERS_WITH_WITHHELD_APPS {
            stopped.add(vec![app(&number.to_string(), "chart")], AppStopCause::Unresponsive);
        }
        assert_eq!(
            (stopped.reports.len(), stopped.withheld.len()),
            (MAX_STOPPED_APPS_REPORTS, MAX_SERVERS_WITH_WITHHELD_APPS)
        );
        assert!(!stopped.withheld.contains(&"0".to_owned()), "the oldest should be dropped");
        let newest = stopped.reports.last().map(|report| report.apps[0].server.clone());
        assert_eq!(newest, Some(MAX_SERVERS_WITH_WITHHELD_APPS.to_string()), "the newest report should remain");
    }
}
