//! Shutdown of the app, which stops the servers in every case.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use api::Api;
use tauri::{AppHandle, Manager as _, RunEvent, Runtime, WindowEvent, Wry};
use tokio::sync::oneshot;

use crate::conversation_windows::ConversationWindows;
use crate::event_pump::EventPump;
use crate::menu_bar::MenuBars;
#[cfg(target_os = "macos")]
use crate::openings;
use crate::page_sandbox::PageSandbox;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::{background, window};

/// Timeout for stopping the servers, longer than the grace period of a single server. After it the system kills
/// remaining processes together with their parent, or the next start of Drawbridge does.
const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// Timeout for the pages to store their drafts before Drawbridge quits.
const DRAFTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Pages that store their drafts because the user quits.
#[derive(Default)]
pub(crate) struct Quitting(Mutex<Option<UnstoredDrafts>>);

struct UnstoredDrafts {
    /// Labels of the windows whose pages have not reported that their drafts are stored.
    windows: HashSet<String>,
    /// Resolves the receiver once `windows` is empty.
    stored: Option<oneshot::Sender<()>>,
}

impl Quitting {
    /// Requests all pages to store their drafts. Returns `None` if they were requested before, or there is no page.
    fn begin(&self, events: &ShellEvents) -> Option<oneshot::Receiver<()>> {
        let mut unstored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unstored.is_some() {
            return None;
        }
        let windows: HashSet<String> = events.send_to_all(|| ShellEvent::Quitting).into_iter().collect();
        let (sender, stored) = oneshot::channel();
        let is_any = !windows.is_empty();
        *unstored = Some(UnstoredDrafts { windows, stored: Some(sender) });
        is_any.then_some(stored)
    }

    /// Records that the page of a window has stored its drafts. Returns `false` if the user does not quit.
    pub(crate) fn mark_stored(&self, window: &str) -> bool {
        let mut unstored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(UnstoredDrafts { windows, stored }) = unstored.as_mut() else { return false };
        windows.remove(window);
        if windows.is_empty()
            && let Some(stored) = stored.take()
        {
            // The receiver is gone after the timeout.
            let _ = stored.send(());
        }
        true
    }
}

/// Exits Drawbridge once the pages have stored their drafts, or after [`DRAFTS_TIMEOUT`]. Exits at once if the user quits
/// a second time.
pub(crate) fn quit<R: Runtime>(app: &AppHandle<R>) {
    let quitting = app.try_state::<Quitting>();
    let Some(stored) = quitting.and_then(|quitting| quitting.begin(&app.state::<ShellEvents>())) else {
        app.exit(0);
        return;
    };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if tokio::time::timeout(DRAFTS_TIMEOUT, stored).await.is_err() {
            tracing::warn!("a page did not store its drafts within {} ms", DRAFTS_TIMEOUT.as_millis());
        }
        app.exit(0);
    });
}

/// Handles events of the Tauri app: keeps it running in the background when the window is closed, and stops the servers
/// when it exits.
pub(crate) fn on_run_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. } => {
            let may_close = if label == window::MAIN_WINDOW {
                background::handle_close_request(app)
            } else {
                app.state::<ConversationWindows>().handle_close_request(&label, &app.state::<ShellEvents>())
            };
            if !may_close {
                api.prevent_close();
            }
        }
        RunEvent::WindowEvent { label, event: WindowEvent::Focused(true), .. } => {
            if let Some(bars) = app.try_state::<MenuBars<Wry>>() {
                bars.on_focus(app, &label);
            }
        }
        RunEvent::WindowEvent { label, event: WindowEvent::Destroyed, .. } => {
            on_conversation_window_closed(app, &label);
        }
        // The user clicked the app's icon in the Dock.
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::show(app),
        // The user opened files with the app in Finder.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => openings::open_in_window(app, openings::arguments::parse_urls(&urls)),
        RunEvent::Exit => stop_servers(app),
        _ => {}
    }
}

/// Frees what belonged to the page of a conversation's window. Does nothing for the main window.
fn on_conversation_window_closed(app: &AppHandle, label: &str) {
    let (Some(windows), Some(events)) = (app.try_state::<ConversationWindows>(), app.try_state::<ShellEvents>()) else {
        return;
    };
    let Some(conversation) = windows.forget(label, &events) else { return };
    events.detach_channel(label);
    app.state::<MenuBars<Wry>>().remove(app, label);
    if let Some(api) = app.try_state::<Api>() {
        app.state::<EventPump>().stop(label);
        api.app_views().remove_views_of_conversation(&conversation);
    }
    background::after_window_closed(app);
}

/// Stops all servers and waits for them, for at most [`SERVER_STOP_TIMEOUT`].
pub(crate) fn stop_servers<R: Runtime>(app: &AppHandle<R>) {
    app.state::<PageSandbox>().on_app_exit();
    let Some(api) = app.try_state::<Api>() else { return };
    let ended = async { tokio::time::timeout(SERVER_STOP_TIMEOUT, api.host().close()).await };
    if tauri::async_runtime::block_on(ended).is_err() {
        tracing::warn!("some servers did not stop within {} seconds", SERVER_STOP_TIMEOUT.as_secs());
    }
}

/// Spawns a task that exits Drawbridge on a termination signal of the system.
pub(crate) fn exit_on_signal(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        match wait_for_signal().await {
            Ok(()) => app.exit(0),
            Err(error) => tracing::warn!("failed to listen for signals: {error}"),
        }
    });
}

#[cfg(unix)]
async fn wait_for_signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn wait_for_signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests {
    use tauri::ipc::Channel;

    use super::*;

    #[test]
    fn app_quits_once_all_pages_have_stored_their_drafts() {
        let (quitting, events) = (Quitting::default(), ShellEvents::default());
        assert!(!quitting.mark_stored("conversation-1"), "closing one window does not quit");
        for window in ["main", "conversation-1"] {
            events.attach_page(window, Channel::new(|_| Ok(())));
        }
        let mut stored = quitting.begin(&events).expect("the pages should be requested");
        assert!(quitting.mark_stored("main"), "the windows should stay open while the user quits");
        assert!(stored.try_recv().is_err(), "another page has not stored its draft");
        assert!(quitting.mark_stored("conversation-1"), "the windows should stay open while the user quits");
        assert_eq!(stored.try_recv(), Ok(()), "all pages have stored their drafts");
        assert!(quitting.begin(&events).is_none(), "a second request should not wait for the pages");
    }

    #[test]
    fn app_without_a_page_quits_at_once() {
        assert!(Quitting::default().begin(&ShellEvents::default()).is_none(), "there is nothing to wait for");
    }
}
