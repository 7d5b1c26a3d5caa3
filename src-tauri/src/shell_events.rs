//! What the shell tells its page: events of the window and the desktop, which the host knows nothing of. Callers: `background.rs`,
//! `announcements.rs`, `app_updates`, `openings`, `dropping.rs` and the tray.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _, State};
use updates::UpdateReport;

use crate::openings::{Opened, Openings};

/// One event of the shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ShellEvent {
    /// The user closes the window while servers run: ask what to do.
    ClosingAsked {
        /// How many servers run.
        servers: usize,
    },
    /// The user chose a consent request outside of the window: bring it to the front.
    ShowQuestion {
        /// Its id; the list of all that wait if none.
        id: Option<String>,
    },
    /// Something is to be opened; `openings` waits until the page is done with it.
    Opened(Opened),
    /// Files are dragged over the window, or no longer.
    BundlesOver {
        /// How many bundles they are; none if others are among them, or nothing is dragged any more.
        count: usize,
    },
    /// What Settings shows of updates has changed.
    UpdatesChanged {
        /// What it shows now.
        report: UpdateReport,
    },
}

/// The way to the page. A page that loads again replaces the former.
#[derive(Default)]
pub(crate) struct ShellEvents(Mutex<Link>);

#[derive(Default)]
struct Link {
    channel: Option<Channel<ShellEvent>>,
    /// The request to show once there is a page: the window may not have been opened yet.
    held: Option<ShellEvent>,
}

impl ShellEvents {
    /// Sends an event to the page. False if there is no page.
    pub(crate) fn send(&self, event: ShellEvent) -> bool {
        let link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        link.channel.as_ref().is_some_and(|channel| channel.send(event).is_ok())
    }

    /// Sends an event to the page, or to the next one. Only the last one is held.
    pub(crate) fn send_or_hold(&self, event: ShellEvent) {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_sent = link.channel.as_ref().is_some_and(|channel| channel.send(event.clone()).is_ok());
        if !is_sent {
            link.held = Some(event);
        }
    }

    fn begin(&self, channel: Channel<ShellEvent>) {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = link.held.take()
            && let Err(error) = channel.send(held)
        {
            tracing::warn!("the page was not told which request to show: {error}");
        }
        link.channel = Some(channel);
    }
}

/// Sends the events of the shell to the page from now on.
#[tauri::command]
pub(crate) fn listen_shell_events(
    events: State<'_, ShellEvents>,
    openings: State<'_, Openings>,
    channel: Channel<ShellEvent>,
) {
    events.begin(channel);
    openings.tell(&events);
}

/// Brings the window to the front with a consent request, or the list of all that wait.
pub(crate) fn show_question(app: &AppHandle, id: Option<String>) {
    app.state::<ShellEvents>().send_or_hold(ShellEvent::ShowQuestion { id });
    crate::window::show(app);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use tauri::ipc::InvokeResponseBody;

    use super::*;

    fn page() -> (Channel<ShellEvent>, Arc<Mutex<Vec<Value>>>) {
        let got = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&got);
        let channel = Channel::new(move |body| {
            if let InvokeResponseBody::Json(text) = body {
                kept.lock().expect("not poisoned").push(serde_json::from_str(&text).expect("JSON"));
            }
            Ok(())
        });
        (channel, got)
    }

    #[test]
    fn a_request_waits_for_a_page_and_a_closing_window_does_not() {
        let events = ShellEvents::default();
        assert!(!events.send(ShellEvent::ClosingAsked { servers: 2 }), "nobody could answer");
        events.send_or_hold(ShellEvent::ShowQuestion { id: Some("1".into()) });
        events.send_or_hold(ShellEvent::ShowQuestion { id: Some("2".into()) });
        let (channel, got) = page();
        events.begin(channel);
        assert_eq!(*got.lock().unwrap(), [json!({"type": "show_question", "id": "2"})], "the last one");
        assert!(events.send(ShellEvent::ClosingAsked { servers: 2 }), "now there is a page");
        assert_eq!(got.lock().unwrap().last(), Some(&json!({"type": "closing_asked", "servers": 2})), "told");
    }
}
