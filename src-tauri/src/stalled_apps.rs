//! Ends the web process of a window whose page stopped responding or uses too much memory while it shows apps (MCP
//! Apps), and loads the page again.
//!
//! WebKitGTK runs all frames of a window in the process that also draws Drawbridge's page. An app that computes without
//! end would leave the user no way to decide a consent request or to close the app. Therefore a page that shows apps
//! has to answer a probe from time to time. `page_watch.rs` decides when it counts as unresponsive, and
//! `memory_watch.rs` when it uses too much memory. Decision records 0113 and 0115 have the reasons.
//!
//! Apps are shown on Linux only. The web view of macOS would need the same; that of Windows runs frames of other sites
//! in processes of their own.

use std::cell::RefCell;
use std::time::Instant;

use api::{Api, ShownApp};
use domain::app_view::AppStopCause;
use gtk::gio::Cancellable;
use gtk::glib::ControlFlow;
use gtk::prelude::ObjectExt as _;
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow};
use tokio::time::MissedTickBehavior;
use webkit2gtk::{WebProcessTerminationReason, WebView, WebViewExt as _, glib};

use crate::conversation_windows::{self, ConversationWindows};
use crate::memory_watch::{MEMORY_READING_INTERVAL, MemoryWatch};
use crate::page_watch::{PROBE_INTERVAL, PageProbeStep, PageReloads, PageWatch};
use crate::shell_events::ShellEvents;
use crate::watched_windows::WatchedWindows;
use crate::web_view_processes::{self, WebViewProcess, WebViewProcessRole};
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Script that a page evaluates to answer a probe. It uses nothing of the page.
const PROBE_SCRIPT: &str = "0";

/// Guard that ends a watch on drop, also if the web view does not exist any more when its probes would begin.
struct PageWatchGuard<R: Runtime> {
    app: AppHandle<R>,
    label: String,
    number: u64,
}

impl<R: Runtime> PageWatchGuard<R> {
    fn next_step(&self) -> PageProbeStep {
        let shown = shown_apps(&self.app, &self.label);
        self.app.state::<WatchedWindows>().next_step(&self.label, self.number, &shown, Instant::now())
    }
}

impl<R: Runtime> Drop for PageWatchGuard<R> {
    fn drop(&mut self) {
        if let Some(watched) = self.app.try_state::<WatchedWindows>() {
            watched.remove_watch_with_number(&self.label, self.number);
        }
    }
}

/// Begins to probe the page of a window whose frame loads an app, until no app runs there. Has no further effect if the
/// page is probed already.
pub(crate) fn watch_window<R: Runtime>(app: &AppHandle<R>, label: &str) {
    let shown = shown_apps(app, label);
    let Some(watched) = app.try_state::<WatchedWindows>() else { return };
    let Some(number) = watched.add(label, &shown, Instant::now()) else { return };
    if watched.begin_memory_watch() {
        tauri::async_runtime::spawn(watch_memory(app.clone()));
    }
    let guard = PageWatchGuard { app: app.clone(), label: label.to_owned(), number };
    // The caller may be the handler of a request of the page, during which the window is in use.
    tauri::async_runtime::spawn(async move {
        if let Some(window) = guard.app.get_webview_window(&guard.label)
            && let Err(error) = window.with_webview(move |webview| probe_regularly(guard, &webview.inner()))
        {
            tracing::warn!("failed to watch the page of a window: {error}");
        }
    });
}

fn probe_regularly<R: Runtime>(guard: PageWatchGuard<R>, view: &WebView) {
    let view = view.downgrade();
    glib::timeout_add_local(PROBE_INTERVAL, move || {
        let Some(view) = view.upgrade() else { return ControlFlow::Break };
        match guard.next_step() {
            PageProbeStep::Wait => {}
            PageProbeStep::Send => {
                let (app, label, number) = (guard.app.clone(), guard.label.clone(), guard.number);
                // An error is an answer too: the process has ended, or loads another page.
                view.evaluate_javascript(PROBE_SCRIPT, None, None, None::<&Cancellable>, move |_| {
                    app.state::<WatchedWindows>().on_probe_answer(&label, number, Instant::now());
                });
            }
            PageProbeStep::EndProcess => {
                tracing::error!("a page with apps does not respond or uses too much memory, ending its process");
                view.terminate_web_process();
            }
            PageProbeStep::Stop => return ControlFlow::Break,
        }
        ControlFlow::Continue
    });
}

/// Reads the sizes of the web view's processes regularly, and ends what has grown too much, until no window shows apps.
async fn watch_memory<R: Runtime>(app: AppHandle<R>) {
    let mut memory = MemoryWatch::default();
    let mut ticks = tokio::time::interval(MEMORY_READING_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while app.state::<WatchedWindows>().continue_memory_watch() {
        ticks.tick().await;
        let reading = tauri::async_runtime::spawn_blocking(web_view_processes::read_web_view_processes);
        // Fails only if Drawbridge is quitting.
        for process in memory.record_sizes(&reading.await.unwrap_or_default()) {
            end_large_process(&app, process);
        }
    }
}

/// Ends a process that uses too much memory. Its window then handles the end of the process. A process that all pages
/// share remains, and frees the memory once the pages with apps have ended.
fn end_large_process<R: Runtime>(app: &AppHandle<R>, process: WebViewProcess) {
    let WebViewProcess { id, role, bytes } = process;
    tracing::error!(id.pid, ?role, bytes, "a process uses too much memory while apps are shown");
    app.state::<WatchedWindows>().on_memory_exceeded(role, Instant::now());
    if role == WebViewProcessRole::DrawsPage
        && let Err(error) = web_view_processes::end_process(id)
    {
        tracing::warn!(id.pid, "failed to end a process: {error}");
    }
}

/// Handles each end of the web process of a new window.
///
/// # Errors
/// Returns an error if the window is already closed.
pub(crate) fn watch_web_process<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    let (app, label) = (window.app_handle().clone(), window.label().to_owned());
    window.with_webview(move |webview| {
        let reloads = RefCell::new(PageReloads::default());
        webview.inner().connect_web_process_terminated(move |view, reason| {
            on_web_process_ended(&app, &label, (view, &reloads), reason);
        });
    })
}

/// Handles the end of the web process of a window: closes its apps, and reports them to the user. The main window loads
/// its page again, and the window of a conversation is closed. No app is opened again. The end of a page without apps is
/// reported as well if Drawbridge has ended it because of its memory.
fn on_web_process_ended<R: Runtime>(
    app: &AppHandle<R>,
    label: &str,
    (view, reloads): (&WebView, &RefCell<PageReloads>),
    reason: WebProcessTerminationReason,
) {
    let (watched, now) = (app.state::<WatchedWindows>(), Instant::now());
    // An app that the host has removed may be the cause.
    let mut watch = watched.remove(label).unwrap_or_else(|| PageWatch::new(now));
    let cause = watched.stop_cause(&watch, reason, now);
    let is_own_end = label == MAIN_WINDOW_LABEL && watched.take_own_end_of_main_page(reason, now);
    watch.remember_shown_apps(&shown_apps(app, label), now);
    let apps = watch.apps();
    let has_apps = !apps.is_empty();
    let events = app.state::<ShellEvents>();
    events.detach_ended_page(label, watch.last_answered_probe_time());
    if has_apps {
        close_and_report_apps(app, label, &apps, cause);
    }
    if has_apps || cause == AppStopCause::MemoryLimit {
        events.change_stopped_apps(|stopped| stopped.add(apps, cause));
    }
    if label != MAIN_WINDOW_LABEL {
        conversation_windows::close_crashed_window(app, label);
    } else if has_apps || reloads.borrow_mut().admit_reload(is_own_end, now) {
        tracing::error!(?reason, "the process of the page ended, loading the page again");
        let view = view.clone();
        // WebKit is still handling the end of the process.
        glib::idle_add_local_once(move || view.reload());
    } else {
        tracing::error!(?reason, "the process of the page ended each time that the page was loaded");
    }
}

/// Returns the apps that the page of a window shows.
fn shown_apps<R: Runtime>(app: &AppHandle<R>, label: &str) -> Vec<ShownApp> {
    let (Some(api), Some(windows)) = (app.try_state::<Api>(), app.try_state::<ConversationWindows>()) else {
        return Vec::new();
    };
    if label == MAIN_WINDOW_LABEL {
        return api.app_views().apps_of_main_window(&windows.conversations());
    }
    let conversation = windows.conversation_in_window(label);
    conversation.map(|conversation| api.app_views().apps_of_conversation(&conversation)).unwrap_or_default()
}

/// Ends the apps of a window, and adds an entry to the activity log of their servers.
fn close_and_report_apps<R: Runtime>(app: &AppHandle<R>, label: &str, apps: &[ShownApp], cause: AppStopCause) {
    let (api, windows) = (app.state::<Api>(), app.state::<ConversationWindows>());
    if label == MAIN_WINDOW_LABEL {
        api.app_views().remove_views_of_main_window(&windows.conversations());
    } else if let Some(conversation) = windows.conversation_in_window(label) {
        api.app_views().remove_views_of_conversation(&conversation);
    }
    let (host, apps) = (api.host().clone(), apps.to_vec());
    tauri::async_runtime::spawn(async move {
        for ShownApp { server, tool } in apps {
            tracing::error!(server, tool, ?cause, "an app was closed");
            // Fails only if the host has shut down.
            let _ = host.log_stopped_app(server, tool, cause).await;
        }
    });
}
