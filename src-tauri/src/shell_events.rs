//! Events of the window and the desktop that the shell sends to the page. They do not come from the host.
//!
//! Sent by `background.rs`, `announcements.rs`, `app_updates`, `openings`, `dropped_bundles.rs` and the tray.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _, State};
use updates::UpdateReport;

use crate::openings::{NumberedOpenRequest, OpenRequests};

/// Event of the window or the desktop that the desktop app sends to its page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ShellEvent {
    /// The user closes the window while servers run. The page shows a dialog with the possible actions.
    ClosingAsked {
        /// Number of running servers.
        servers: usize,
    },
    /// The user selected a consent request in a notification or in the tray. The page shows it in front.
    ShowConsentRequest {
        /// Identifier of the consent request, or `None` for the list of all pending ones.
        id: Option<String>,
    },
    /// A file or link has to be opened. The next request to open one follows after the page has reported that the user
    /// has finished with this one.
    Opened(NumberedOpenRequest),
    /// The user drags files over the window, or has stopped dragging them.
    BundlesOver {
        /// Number of dragged bundles, or 0 if other files are among them or the user has stopped.
        count: usize,
    },
    /// The state of updates on the settings page changed.
    UpdatesChanged {
        /// State after the change.
        report: UpdateReport,
    },
}

/// Channel for sending events to Drawbridge's page. A reloaded page replaces the channel.
#[derive(Default)]
pub(crate) struct ShellEvents(Mutex<PageEventLink>);

#[derive(Default)]
struct PageEventLink {
    channel: Option<Channel<ShellEvent>>,
    /// Last event that could not be sent because no page was loaded.
    held: Option<ShellEvent>,
}

impl ShellEvents {
    /// Sends an event to Drawbridge's page. Returns `false` if no page is loaded.
    pub(crate) fn send(&self, event: ShellEvent) -> bool {
        let link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        link.channel.as_ref().is_some_and(|channel| channel.send(event).is_ok())
    }

    /// Sends an event to Drawbridge's page, or stores it for the next page if none is loaded. Only the last event is
    /// stored.
    pub(crate) fn send_or_hold(&self, event: ShellEvent) {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_sent = link.channel.as_ref().is_some_and(|channel| channel.send(event.clone()).is_ok());
        if !is_sent {
            link.held = Some(event);
        }
    }

    fn attach_channel(&self, channel: Channel<ShellEvent>) {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = link.held.take()
            && let Err(error) = channel.send(held)
        {
            tracing::warn!("failed to send the request to show to the page: {error}");
        }
        link.channel = Some(channel);
    }
}

/// Starts to send the events of the window and the desktop to Drawbridge's page that occur after this call.
#[tauri::command]
pub(crate) fn listen_shell_events(
    events: State<'_, ShellEvents>,
    openings: State<'_, OpenRequests>,
    channel: Channel<ShellEvent>,
) {
    events.attach_channel(channel);
    openings.send_current(&events);
}

/// Brings the window to the front and shows a consent request, or the list of pending consent requests if `id` is
/// `None`.
pub(crate) fn show_consent_request(app: &AppHandle, id: Option<String>) {
    app.state::<ShellEvents>().send_or_hold(ShellEvent::ShowConsentRequest { id });
    crate::window::show(app);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
        events.send_or_hold(ShellEvent::ShowConsentRequest { id: Some("1".into()) });
        events.send_or_hold(ShellEvent::ShowConsentRequest { id: Some("2".into()) });
        let (channel, got) = page_channel();
        events.attach_channel(channel);
        assert_eq!(
            *got.lock().unwrap(),
            [json!({"type": "show_consent_request", "id": "2"})],
            "only the last request should be sent"
        );
        assert!(events.send(ShellEvent::ClosingAsked { servers: 2 }), "with a page the event should be sent");
        assert_eq!(
            got.lock().unwrap().last(),
            Some(&json!({"type": "closing_asked", "servers": 2})),
            "the page should receive the event"
        );
    }
}
