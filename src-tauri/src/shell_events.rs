//! Events of the window and the desktop that the shell sends to the page. They do not come from the host.
//!
//! Sent by `background.rs`, `closing.rs`, `app_updates`, `openings`, `dropped_bundles.rs`, `menu_bar`,
//! `conversation_windows.rs`, `request_windows.rs`, `stalled_apps.rs` and `stopped_apps.rs`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tauri::ipc::Channel;
use updates::UpdateReport;

use crate::opening_request::NumberedOpeningRequest;
use crate::stopped_apps::StoppedApps;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Event of the window or the desktop that the desktop app sends to its page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ShellEvent {
    /// The user closes the last window while servers run. The page shows a dialog with the possible actions.
    ClosingAsked {
        /// Number of running servers.
        servers: usize,
    },
    /// The user chose to see a consent request, in a notification or in the tray. The page shows it in front of its
    /// other content.
    ShowConsentRequest {
        /// Identifier of the consent request, or `None` for the list of all pending ones.
        id: Option<String>,
    },
    /// A file or link has to be opened. The next one follows only after the page has reported that the user has
    /// finished with this one.
    Opened(NumberedOpeningRequest),
    /// The user drags files over the window, or has stopped dragging files over it.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems report no dragged files"))]
    BundlesOver {
        /// Number of dragged bundles. 0 if other files are among them, or the user has stopped dragging them.
        count: usize,
    },
    /// The state of the app's updates, which the settings page shows, has changed.
    UpdatesChanged {
        /// State of the updates after the change.
        report: UpdateReport,
    },
    /// Apps (MCP Apps) were closed because the page of their window stopped responding or its process ended, or the
    /// user has dismissed a report or shows an app again. Sent to all windows, and to each newly loaded page before all
    /// other events.
    StoppedAppsChanged(StoppedApps),
    /// A window of a conversation was opened or closed. Sent to all windows, and to each page when it is loaded.
    ConversationWindowsChanged {
        /// Identifiers of the conversations that are open in windows of their own.
        conversations: Vec<String>,
    },
    /// The user closes the window of a conversation. The window's page stores the draft and then closes the window.
    WindowClosing,
    /// Drawbridge quits. Each page stores its drafts and then invokes `finish_closing_window`. Drawbridge waits for
    /// this only for a short time.
    Quitting,
    /// In the window of a conversation, the user chose a view that only the main window can show. Sent to the main
    /// window's page.
    ViewChosen {
        /// The view, as the hash of the page's location.
        view: String,
    },
    /// In the menu bar of the page's window, the user chose an action that the page has defined.
    ActionChosen {
        /// Identifier of the chosen action, as the page has defined it.
        action: String,
    },
}

/// Channels through which events are sent to the pages. If a page is loaded again, a new channel replaces that of its
/// window.
#[derive(Default)]
pub(crate) struct ShellEvents(Mutex<PageEventChannels>);

#[derive(Default)]
struct PageEventChannels {
    /// Channels by the label of the window.
    channels: HashMap<String, Channel<ShellEvent>>,
    /// Last event of each window for the case that its page can't receive it.
    held: HashMap<String, StoredShellEvent>,
    stopped_apps: StoppedApps,
}

struct StoredShellEvent {
    event: ShellEvent,
    /// Time at which the event was sent, or `None` if the next page of the window has to receive it.
    sent: Option<Instant>,
}

impl ShellEvents {
    /// Sends an event to the page of the main window. Returns `false` if it has no page.
    pub(crate) fn send(&self, event: ShellEvent) -> bool {
        self.send_to(MAIN_WINDOW_LABEL, event)
    }

    /// Sends an event to the page of the window with this label. Returns `false` if it has no page.
    pub(crate) fn send_to(&self, window: &str, event: ShellEvent) -> bool {
        self.lock().channels.get(window).is_some_and(|channel| channel.send(event).is_ok())
    }

    /// Sends an event to the pages of all windows, and returns the labels of the windows that it reached. `event` is
    /// called while no other event can be sent, so that the event sent last contains the latest state.
    pub(crate) fn send_to_all(&self, event: impl FnOnce() -> ShellEvent) -> Vec<String> {
        let links = self.lock();
        let event = event();
        let reached = links.channels.iter().filter(|(_, channel)| channel.send(event.clone()).is_ok());
        reached.map(|(window, _)| window.clone()).collect()
    }

    /// Sends an event to the page of a window, or stores it for its next page if it has none or does not respond. Only
    /// the last event of a window is stored.
    pub(crate) fn send_or_store(&self, window: &str, event: ShellEvent) {
        let mut links = self.lock();
        let is_sent = links.channels.get(window).is_some_and(|channel| channel.send(event.clone()).is_ok());
        links.held.insert(window.to_owned(), StoredShellEvent { event, sent: is_sent.then(Instant::now) });
    }

    /// Changes the state of stopped apps and notifies the pages of all windows.
    pub(crate) fn change_stopped_apps(&self, change: impl FnOnce(&mut StoppedApps)) {
        let mut links = self.lock();
        change(&mut links.stopped_apps);
        let event = ShellEvent::StoppedAppsChanged(links.stopped_apps.clone());
        for channel in links.channels.values() {
            // A page that is ending gets the state when it is loaded again.
            let _ = channel.send(event.clone());
        }
    }

    /// Stops sending events to the page of a window because its process has ended. The next page gets the event that is
    /// stored for the window, also if it was sent after `last_answered_probe_time`, since the page may not have handled
    /// it.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn detach_ended_page(&self, window: &str, last_answered_probe_time: Instant) {
        let mut links = self.lock();
        links.channels.remove(window);
        if let Some(held) = links.held.get_mut(window) {
            held.sent.take_if(|sent| *sent >= last_answered_probe_time);
        }
    }

    /// Starts to send events to the new page of a window, beginning with the stored ones: first the reports of stopped
    /// apps, which the page must not open without a click, then the event from `windows`, by which the page decides
    /// where it shows a request, and then the stored event of this window.
    pub(crate) fn attach_channel(
        &self,
        window: &str,
        channel: Channel<ShellEvent>,
        windows: impl FnOnce() -> ShellEvent,
    ) {
        let mut links = self.lock();
        let held = links.held.remove(window).filter(|held| held.sent.is_none()).map(|held| held.event);
        let stopped = &links.stopped_apps;
        let stopped = (!stopped.is_empty()).then(|| ShellEvent::StoppedAppsChanged(stopped.clone()));
        for event in stopped.into_iter().chain([windows()]).chain(held) {
            if let Err(error) = channel.send(event) {
                tracing::warn!("failed to send an event to a new page: {error}");
            }
        }
        links.channels.insert(window.to_owned(), channel);
    }

    /// Starts to send events to the page of a window in a test.
    #[cfg(test)]
    pub(crate) fn attach_test_page(&self, window: &str, channel: Channel<ShellEvent>) {
        self.lock().channels.insert(window.to_owned(), channel);
    }

    /// Stops sending events to the page of a closed window.
    pub(crate) fn detach_channel(&self, window: &str) {
        let mut links = self.lock();
        links.channels.remove(window);
        links.held.remove(window);
    }

    fn lock(&self) -> MutexGuard<'_, PageEventChannels> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use api::ShownApp;
    use domain::app_view::AppStopCause;
    use serde_json::{Value, json};
    use tauri::ipc::InvokeResponseBody;

    use super::*;

    fn page_channel() -> (Channel<ShellEvent>, Arc<Mutex<Vec<Value>>>) {
        let got = Arc::new(Mutex::new(Vec::new()));
        let messages = Arc::clone(&got);
        let channel = Channel::new(move |body| {
            if let InvokeResponseBody::Json(text) = body {
                messages.lock().expect("not poisoned").push(serde_json::from_str(&text).expect("JSON"));
            }
            Ok(())
        });
        (channel, got)
    }

    #[test]
    fn show_request_event_is_held_for_a_page_and_a_closing_event_is_not() {
        let events = ShellEvents::default();
        assert!(!events.send(ShellEvent::ClosingAsked { servers: 2 }), "without a page the event can't be sent");
        let windows = || ShellEvent::ConversationWindowsChanged { conversations: vec!["c1".into()] };
        let list = json!({"type": "conversation_windows_changed", "conversations": ["c1"]});
        events.send_or_store(MAIN_WINDOW_LABEL, ShellEvent::ShowConsentRequest { id: Some("1".into()) });
        events.send_or_store(MAIN_WINDOW_LABEL, ShellEvent::ShowConsentRequest { id: Some("2".into()) });
        let (channel, got) = page_channel();
        let (other_channel, other) = page_channel();
        events.attach_channel("conversation-1", other_channel, windows);
        assert_eq!(*other.lock().unwrap(), std::slice::from_ref(&list), "another window should not get the request");
        events.attach_channel(MAIN_WINDOW_LABEL, channel, windows);
        assert_eq!(
            *got.lock().unwrap(),
            [list.clone(), json!({"type": "show_consent_request", "id": "2"})],
            "only the last request should be sent, after the windows by which the page decides where to show it"
        );
        assert!(events.send(ShellEvent::ClosingAsked { servers: 2 }), "with a page the event should be sent");
        assert_eq!(
            got.lock().unwrap().last(),
            Some(&json!({"type": "closing_asked", "servers": 2})),
            "the page should receive the event"
        );
        assert!(events.send_to("conversation-1", ShellEvent::ActionChosen { action: "search".into() }), "a window");
        assert_eq!(
            *other.lock().unwrap(),
            [list, json!({"type": "action_chosen", "action": "search"})],
            "only the window with the menu bar should receive the action"
        );
        assert!(!events.send_to("conversation-2", ShellEvent::BundlesOver { count: 0 }), "a window without a page");
    }

    #[test]
    fn stopped_apps_are_reported_to_each_page_before_it_shows_a_conversation() {
        let events = ShellEvents::default();
        let windows = || ShellEvent::ConversationWindowsChanged { conversations: Vec::new() };
        let stop = |tool: &str| {
            let apps = vec![ShownApp { server: "harbour".to_owned(), tool: tool.to_owned() }];
            events.change_stopped_apps(|stopped| stopped.add(apps, AppStopCause::Unresponsive));
        };
        let report = |id: u64, tool: &str| {
            let apps = json!([{"server": "harbour", "tool": tool}]);
            json!({"id": id, "apps": apps, "cause": "unresponsive"})
        };
        let sent =
            |reports: &[Value]| json!({"type": "stopped_apps_changed", "reports": reports, "withheld": ["harbour"]});
        let list = json!({"type": "conversation_windows_changed", "conversations": []});
        let (ended_channel, ended) = page_channel();
        events.attach_channel(MAIN_WINDOW_LABEL, ended_channel, windows);
        assert_eq!(*ended.lock().unwrap(), std::slice::from_ref(&list), "no app was closed");
        stop("chart");
        assert_eq!(
            ended.lock().unwrap().last(),
            Some(&sent(&[report(1, "chart")])),
            "a page should get a report at once"
        );
        events.detach_ended_page(MAIN_WINDOW_LABEL, Instant::now());
        stop("map");
        assert_eq!(ended.lock().unwrap().len(), 2, "the page that ended should get nothing any more");
        for window in [MAIN_WINDOW_LABEL, "conversation-1", MAIN_WINDOW_LABEL] {
            let (channel, got) = page_channel();
            events.attach_channel(window, channel, windows);
            let reports = [report(1, "chart"), report(2, "map")];
            assert_eq!(*got.lock().unwrap(), [sent(&reports), list.clone()], "each page should get all reports first");
        }
    }

    #[test]
    fn event_that_a_blocked_page_did_not_handle_is_sent_to_the_next_page() {
        let events = ShellEvents::default();
        let windows = || ShellEvent::ConversationWindowsChanged { conversations: Vec::new() };
        let attach = || {
            let (channel, got) = page_channel();
            events.attach_channel(MAIN_WINDOW_LABEL, channel, windows);
            got
        };
        let show_request = || events.send_or_store(MAIN_WINDOW_LABEL, ShellEvent::ShowConsentRequest { id: None });
        let list = json!({"type": "conversation_windows_changed", "conversations": []});
        let request = json!({"type": "show_consent_request", "id": null});
        attach();
        let last_answered_probe_time = Instant::now();
        show_request();
        events.detach_ended_page(MAIN_WINDOW_LABEL, last_answered_probe_time);
        assert_eq!(*attach().lock().unwrap(), [list.clone(), request], "the page was blocked when it was sent");
        show_request();
        events.detach_ended_page(MAIN_WINDOW_LABEL, Instant::now() + Duration::from_secs(1));
        assert_eq!(*attach().lock().unwrap(), std::slice::from_ref(&list), "the page has handled it");
        show_request();
        assert_eq!(*attach().lock().unwrap(), [list], "a page that is loaded again by the user has handled it");
    }

    #[test]
    fn event_for_all_windows_reaches_each_page_until_its_window_closes() {
        let events = ShellEvents::default();
        let windows = || ShellEvent::ConversationWindowsChanged { conversations: Vec::new() };
        let pages = [MAIN_WINDOW_LABEL, "conversation-0"].map(|window| {
            let (channel, got) = page_channel();
            events.attach_channel(window, channel, windows);
            got
        });
        let mut reached = events.send_to_all(|| ShellEvent::Quitting);
        reached.sort();
        assert_eq!(reached, ["conversation-0", MAIN_WINDOW_LABEL], "both pages should be reached");
        for page in pages {
            let last = page.lock().unwrap().last().cloned();
            assert_eq!(last, Some(json!({"type": "quitting"})), "each page should get the event");
        }
        events.detach_channel("conversation-0");
        assert_eq!(events.send_to_all(|| ShellEvent::Quitting), [MAIN_WINDOW_LABEL], "only the open window is left");
    }
}
