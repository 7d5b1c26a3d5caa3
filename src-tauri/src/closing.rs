//! Shutdown of the app, which stops the servers in every case.

use std::time::Duration;

use api::Api;
use tauri::{AppHandle, Manager as _, RunEvent, Runtime, WindowEvent, Wry};

use crate::conversation_windows::ConversationWindows;
use crate::event_pump::EventPump;
use crate::menu_bar::MenuBars;
use crate::page_sandbox::PageSandbox;
use crate::shell_events::ShellEvents;
#[cfg(target_os = "linux")]
use crate::stalled_apps::WatchedWindows;
use crate::{background, quitting, window_labels};
#[cfg(target_os = "macos")]
use crate::{openings, window};

/// Timeout for stopping the servers, longer than the grace period of a single server. After it the system kills
/// remaining processes together with their parent, or the next start of Drawbridge does.
const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// Handles events of the Tauri app: keeps it running in the background when the window is closed, and stops the servers
/// when it exits.
pub(crate) fn on_run_event(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. } => {
            let may_close = if label == window_labels::MAIN_WINDOW {
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
    // The next window may get the same label.
    #[cfg(target_os = "linux")]
    app.state::<WatchedWindows>().remove(label);
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

/// Spawns a task that quits Drawbridge on a termination signal of the system, once the pages have stored their drafts.
pub(crate) fn quit_on_signal(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        match wait_for_signal().await {
            Ok(()) => quitting::quit(&app),
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
