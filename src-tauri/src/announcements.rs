//! System notifications about requests that wait for the user while the window is in the background.
//!
//! A notification contains no text from a server, only the server's name in the settings and a fixed phrase. A click
//! brings the window to the front and shows the request. `platform.rs` shows notifications and `presence.rs` withdraws
//! them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use domain::consent_request::ConsentRequestId;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_notification::NotificationExt as _;

use crate::request_windows::{self, show_consent_request};
use crate::window;

/// Minimum interval between two notifications. Requests that arrive sooner are not announced, since one notification is
/// enough to bring the user back to the window.
const MIN_NOTIFICATION_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of notifications that are shown at the same time. A further one replaces the oldest.
const MAX_SHOWN_NOTIFICATIONS: usize = 8;

/// System notifications about requests that Drawbridge has shown and not withdrawn.
#[derive(Default)]
pub(crate) struct Announcements(Mutex<ShownAnnouncements>);

#[derive(Debug, Default)]
struct ShownAnnouncements {
    last: Option<Instant>,
    /// Number of the next notification. A notification is withdrawn by its number.
    next: i32,
    all: VecDeque<AnnouncedRequest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct AnnouncedRequest {
    number: i32,
    /// Identifier of the consent request, or `None` if it does not exist yet, as for a sign-in that the user has to
    /// start.
    request: Option<ConsentRequestId>,
    kind: String,
}

/// Number of a notification to show, and numbers of older ones to withdraw, so that at most [`MAX_SHOWN_NOTIFICATIONS`]
/// remain.
#[derive(Debug, PartialEq, Eq)]
struct NextAnnouncement {
    number: i32,
    withdrawn: Vec<i32>,
}

impl ShownAnnouncements {
    /// Registers a notification. Returns `None`, so that none is shown, if the request was already announced, or
    /// another one was announced less than [`MIN_NOTIFICATION_INTERVAL`] before.
    fn add(&mut self, now: Instant, request: Option<ConsentRequestId>, kind: &str) -> Option<NextAnnouncement> {
        // A sampling request is queued again with the same identifier for its response, which requires a separate
        // decision.
        let is_known = request.is_some() && self.all.iter().any(|one| one.request == request && one.kind == kind);
        if is_known || self.last.is_some_and(|last| now.duration_since(last) < MIN_NOTIFICATION_INTERVAL) {
            return None;
        }
        self.last = Some(now);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.all.push_back(AnnouncedRequest { number, request, kind: kind.to_owned() });
        let surplus = self.all.len().saturating_sub(MAX_SHOWN_NOTIFICATIONS);
        let withdrawn = self.all.drain(..surplus).map(|one| one.number).collect();
        Some(NextAnnouncement { number, withdrawn })
    }

    /// Forgets the notifications of requests that are not in `waiting`, since they no longer wait for a decision.
    /// Returns the numbers of these notifications.
    fn remove_decided(&mut self, waiting: &[ConsentRequestId]) -> Vec<i32> {
        let is_gone = |one: &AnnouncedRequest| one.request.is_some_and(|id| !waiting.contains(&id));
        let removed = self.all.iter().filter(|one| is_gone(one)).map(|one| one.number).collect();
        self.all.retain(|one| !is_gone(one));
        removed
    }

    fn request_of_notification(&self, number: i32) -> Option<ConsentRequestId> {
        self.all.iter().find(|one| one.number == number)?.request
    }
}

/// Registers a handler for clicks on notifications, which shows the window and the announced request. Must be called
/// once.
pub(crate) fn show_window_on_notification_click(app: &AppHandle) {
    let clicked = app.clone();
    let followed = app.notification().on_action(move |action| {
        let announcements = clicked.state::<Announcements>();
        let request =
            action.notification().and_then(|shown| announcements.lock(|all| all.request_of_notification(shown.id())));
        match request {
            Some(id) => show_consent_request(&clicked, Some(id)),
            None => window::show_or_open_main_window(&clicked),
        }
    });
    if let Err(error) = followed {
        tracing::warn!("failed to register the notification handler: {error}");
    }
}

impl Announcements {
    /// Shows a notification about a request. Does nothing if the window that shows the request has the focus, the
    /// request was announced before, or another notification was shown less than [`MIN_NOTIFICATION_INTERVAL`] before.
    /// Blocks until the host and the main thread have responded.
    pub(crate) fn show(&self, app: &AppHandle, request: Option<ConsentRequestId>, kind: &str, text: String) {
        if request_windows::is_request_window_focused(app, request) {
            return;
        }
        let Some(room) = self.lock(|all| all.add(Instant::now(), request, kind)) else { return };
        withdraw_notifications(app, room.withdrawn);
        let notification = app.notification().builder().id(room.number).title("Drawbridge").body(text);
        if let Err(error) = notification.show() {
            tracing::warn!("failed to show a notification: {error}");
        }
    }

    /// Withdraws the notifications of all requests except those in `waiting`, on another thread.
    pub(crate) fn withdraw_announcements_of_decided_requests(&self, app: &AppHandle, waiting: &[ConsentRequestId]) {
        let removed = self.lock(|all| all.remove_decided(waiting));
        if removed.is_empty() {
            return;
        }
        let app = app.clone();
        tauri::async_runtime::spawn_blocking(move || withdraw_notifications(&app, removed));
    }

    fn lock<T>(&self, act: impl FnOnce(&mut ShownAnnouncements) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn withdraw_notifications(app: &AppHandle, numbers: Vec<i32>) {
    if !numbers.is_empty()
        && let Err(error) = app.notification().remove_active(numbers)
    {
        tracing::warn!("failed to withdraw a notification: {error}");
    }
}

/// Returns the text of a notification about a request. `kind` is the kind of the request as named in the audit log.
pub(crate) fn notification_text(chinese: bool, server: &str, kind: &str) -> String {
    let what = match (kind, chinese) {
        ("start-server", false) => "needs your approval to start",
        ("start-server", true) => "需要你批准才能启动",
        ("tool" | "app-tool", false) => "needs your approval to run a tool",
        ("tool" | "app-tool", true) => "需要你批准才能运行工具",
        ("sampling" | "sampling-answer", false) => "asks a model",
        ("sampling" | "sampling-answer", true) => "向模型提问",
        ("elicitation", false) => "asks you to fill in a form",
        ("elicitation", true) => "请你填写表单",
        ("url", false) => "asks you to open a web page",
        ("url", true) => "请你打开网页",
        ("sign-in" | "client-id", false) => "wants you to sign in",
        ("sign-in" | "client-id", true) => "请你登录",
        ("roots", false) => "asks for your folders",
        ("roots", true) => "请求访问你的文件夹",
        ("result", false) => "answered: let the model read the result?",
        ("result", true) => "返回了结果：让模型读取吗？",
        (_, false) => "needs your decision",
        (_, true) => "需要你作出决定",
    };
    format!("{server} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL_CALL_KIND: &str = "tool";

    fn request_id(number: u64) -> Option<ConsentRequestId> {
        Some(ConsentRequestId(number))
    }

    #[test]
    fn announcement_names_the_server_and_its_request() {
        assert_eq!(notification_text(false, "files", "roots"), "files asks for your folders", "English text");
        assert_eq!(notification_text(true, "files", "roots"), "files 请求访问你的文件夹", "Chinese text");
        assert_eq!(notification_text(false, "files", "new"), "files needs your decision", "text for an unknown kind");
    }

    #[test]
    fn request_is_announced_once_and_floods_are_suppressed() {
        let mut shown = ShownAnnouncements::default();
        let start = Instant::now();
        assert!(shown.add(start, request_id(1), TOOL_CALL_KIND).is_some(), "the first request should be announced");
        assert_eq!(
            shown.add(start, request_id(2), TOOL_CALL_KIND),
            None,
            "another request at the same time should not be announced"
        );
        assert_eq!(
            shown.add(start + MIN_NOTIFICATION_INTERVAL, request_id(1), TOOL_CALL_KIND),
            None,
            "the same request should not be announced again"
        );
        assert!(
            shown.add(start + MIN_NOTIFICATION_INTERVAL, request_id(1), "sampling-answer").is_some(),
            "another decision on it should be announced"
        );
        assert!(
            shown.add(start + MIN_NOTIFICATION_INTERVAL * 2, request_id(2), TOOL_CALL_KIND).is_some(),
            "another request should be announced later"
        );
    }

    #[test]
    fn oldest_notification_is_withdrawn_and_decided_requests_are_removed() {
        let mut shown = ShownAnnouncements::default();
        let start = Instant::now();
        let mut add = |number: u32| {
            shown.add(start + MIN_NOTIFICATION_INTERVAL * number, request_id(u64::from(number)), TOOL_CALL_KIND)
        };
        for number in 0..MAX_SHOWN_NOTIFICATIONS as u32 {
            assert_eq!(
                add(number).map(|room| room.withdrawn),
                Some(vec![]),
                "notification {number} should not withdraw others"
            );
        }
        let more = add(MAX_SHOWN_NOTIFICATIONS as u32).expect("a further notification should be shown");
        assert_eq!(more.withdrawn, [0], "the oldest notification should be withdrawn");
        assert_eq!(
            shown.request_of_notification(more.number),
            request_id(MAX_SHOWN_NOTIFICATIONS as u64),
            "a click should find the request"
        );
        assert_eq!(shown.request_of_notification(0), None, "a withdrawn notification should have no request");
        assert_eq!(
            shown.remove_decided(&[ConsentRequestId(3)]).len(),
            MAX_SHOWN_NOTIFICATIONS - 1,
            "all other requests are decided"
        );
        assert_eq!(shown.all.len(), 1, "decided requests should be removed");
    }
}
