//! Shutdown of the app, which stops the servers in every case.

use std::time::Duration;

use api::Api;
use tauri::{AppHandle, Manager as _, RunEvent, Runtime, WindowEvent, Wry};

use crate::conversation_windows::ConversationWindows;
use crate::event_pump::EventPump;
use crate::menu_bar::MenuBars;
use crate::page_sandbox::PageSandbox;
use crate::quitting::PendingQuit;
use crate::shell_events::ShellEvents;
#[cfg(target_os = "linux")]
use crate::watched_windows::WatchedWindows;
use crate::{background, quitting, window_labels};
#[cfg(target_os = "macos")]
use crate::{openings, window};

/// Maximum time that Drawbridge waits for its servers to stop. It is longer than the grace period of a single server.
/// The system, or the next start of Drawbridge, ends processes that still run afterwards.
const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// Handles the events of the Tauri app: requests to close windows, changes of the focus, closed windows, files to open
/// on macOS, and the exit, at which the servers are stopped.
pub(crate) fn on_run_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. } => {
            let may_close = if label == window_labels::MAIN_WINDOW_LABEL {
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
        RunEvent::Reopen { .. } => window::show_or_open_main_window(app),
        // The user opened files with the app in Finder.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => {
            openings::show_window_and_queue_openings(app, openings::arguments::parse_urls(&urls))
        }
        RunEvent::Exit => stop_servers(app),
        _ => {}
    }
}

/// Releases the event channels, menu bar and shown apps of a conversation's window after it was closed. Does nothing
/// for the main window.
fn on_conversation_window_closed(app: &AppHandle, label: &str) {
    let (Some(windows), Some(events)) = (app.try_state::<ConversationWindows>(), app.try_state::<ShellEvents>()) else {
        return;
    };
    let Some(conversation) = windows.remove_closed_window(label, &events) else { return };
    events.detach_channel(label);
    // Its page can no longer report that its drafts are stored.
    app.state::<PendingQuit>().mark_drafts_stored(label);
    // The next window may get the same label.
    #[cfg(target_os = "linux")]
    app.state::<WatchedWindows>().remove(label);
    app.state::<MenuBars<Wry>>().remove(app, label);
    if let Some(api) = app.try_state::<Api>() {
        app.state::<EventPump>().stop(label);
        api.app_views().remove_views_of_conversation(&conversation);
    }
    background::on_conversation_window_closed_with_hidden_main(app);
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

/// Spawns a task that waits for a termination signal of the system, and then quits Drawbridge once the pages have
/// stored their drafts.
pub(crate) fn quit_on_signal(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        match wait_for_termination_signal().await {
            Ok(()) => quitting::quit(&app),
            Err(error) => tracing::warn!("failed to listen for signals: {error}"),
        }
    });
}

#[cfg(unix)]
async fn wait_for_termination_signal() -> std::io::Result<()> {
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
async fn wait_for_termination_signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
