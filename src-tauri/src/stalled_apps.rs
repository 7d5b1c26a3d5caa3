//! Ends the web process of a window whose page stopped responding while it shows apps (MCP Apps), and loads the page
//! again.
//!
//! WebKitGTK runs all frames of a window in the process that also draws Drawbridge's page. An app that computes without
//! end would leave the user no way to decide a consent request or to close the app. Therefore a page that shows apps
//! has to answer a probe from time to time. Decision record 0113 has the reasons.
//!
//! Apps are shown on Linux only. The web view of macOS would need the same; that of Windows runs frames of other sites
//! in processes of their own.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use api::{Api, ShownApp};
use domain::app_view::AppStopCause;
use gtk::gio::Cancellable;
use gtk::glib::ControlFlow;
use gtk::prelude::ObjectExt as _;
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow};
use webkit2gtk::{WebProcessTerminationReason, WebView, WebViewExt as _, glib};

use crate::conversation_windows::{self, ConversationWindows};
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window_labels::MAIN_WINDOW;

/// Time between two probes of a page that shows apps.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum time that a page may take to answer a probe. After it, the page counts as unresponsive. WebKit itself
/// reports a page after three seconds, which a large page on a slow computer can take to draw.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(8);
/// Script that is evaluated in a page to probe it. It uses nothing of the page.
const PROBE_SCRIPT: &str = "0";

/// Labels of the windows whose pages are probed because they show apps.
#[derive(Default)]
pub(crate) struct WatchedWindows(Mutex<HashSet<String>>);

impl WatchedWindows {
    /// Adds a window. Returns `false` if it is watched already.
    fn add(&self, label: &str) -> bool {
        self.lock().insert(label.to_owned())
    }

    fn remove(&self, label: &str) {
        self.lock().remove(label);
    }

    /// Stops watching a window if `has_apps` returns `false`, and returns `true` in this case. An app that is opened
    /// meanwhile is not missed: its frame requests its document after this, which adds the window again.
    fn remove_unless_showing_apps(&self, label: &str, has_apps: impl FnOnce() -> bool) -> bool {
        let mut watched = self.lock();
        let is_removed = !has_apps();
        if is_removed {
            watched.remove(label);
        }
        is_removed
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of probing one page.
#[derive(Debug, Clone, Copy, Default)]
struct ProbeState {
    /// Time at which the page was probed, if it has not answered yet.
    unanswered_since: Option<Instant>,
}

/// Next action of the task that probes a page.
#[derive(Debug, PartialEq, Eq)]
enum ProbeStep {
    Send,
    Wait,
    EndProcess,
}

impl ProbeState {
    fn next_step(self, now: Instant) -> ProbeStep {
        match self.unanswered_since {
            None => ProbeStep::Send,
            Some(since) if now.saturating_duration_since(since) < MAX_ANSWER_TIME => ProbeStep::Wait,
            Some(_) => ProbeStep::EndProcess,
        }
    }
}

/// Begins to probe the page of a window because a frame in it loads an app. Probing ends when the window shows no app.
/// Does nothing if the page is probed already.
pub(crate) fn watch_window<R: Runtime>(app: &AppHandle<R>, label: &str) {
    let (app, label) = (app.clone(), label.to_owned());
    let is_added = app.try_state::<WatchedWindows>().is_some_and(|watched| watched.add(&label));
    if !is_added {
        return;
    }
    // The caller may be the handler of a request of the page, during which the window is in use.
    tauri::async_runtime::spawn(async move {
        let begun = app.get_webview_window(&label).map(|window| {
            let (app, label) = (app.clone(), label.clone());
            window.with_webview(move |webview| probe_regularly(app, label, &webview.inner()))
        });
        if !matches!(begun, Some(Ok(()))) {
            app.state::<WatchedWindows>().remove(&label);
        }
    });
}

fn probe_regularly<R: Runtime>(app: AppHandle<R>, label: String, view: &WebView) {
    let view = view.downgrade();
    let state = Rc::new(Cell::new(ProbeState::default()));
    glib::timeout_add_local(PROBE_INTERVAL, move || {
        let watched = app.state::<WatchedWindows>();
        let Some(view) = view.upgrade() else {
            watched.remove(&label);
            return ControlFlow::Break;
        };
        if watched.remove_unless_showing_apps(&label, || !shown_apps(&app, &label).is_empty()) {
            return ControlFlow::Break;
        }
        let now = Instant::now();
        match state.get().next_step(now) {
            ProbeStep::Wait => {}
            ProbeStep::Send => {
                state.set(ProbeState { unanswered_since: Some(now) });
                let answered = Rc::clone(&state);
                // An error is an answer too: the process has ended, or loads another page.
                view.evaluate_javascript(PROBE_SCRIPT, None, None, None::<&Cancellable>, move |_| {
                    answered.set(ProbeState::default());
                });
            }
            ProbeStep::EndProcess => {
                state.set(ProbeState::default());
                tracing::error!("a page with apps does not respond, ending its process");
                view.terminate_web_process();
            }
        }
        ControlFlow::Continue
    });
}

/// Registers a handler for the end of a window's web process, which may be started and end several times.
///
/// # Errors
/// Returns an error if the window is already closed.
pub(crate) fn watch_web_process<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    let (app, label) = (window.app_handle().clone(), window.label().to_owned());
    window.with_webview(move |webview| {
        webview.inner().connect_web_process_terminated(move |view, reason| {
            on_web_process_ended(&app, &label, view, reason);
        });
    })
}

/// Handles the end of a window's web process: closes the apps in the window, and reports them to the user. The main
/// window loads its page again, and the window of a conversation is closed. The apps are not opened again.
fn on_web_process_ended<R: Runtime>(
    app: &AppHandle<R>,
    label: &str,
    view: &WebView,
    reason: WebProcessTerminationReason,
) {
    let is_unresponsive = reason == WebProcessTerminationReason::TerminatedByApi;
    let cause = if is_unresponsive { AppStopCause::Unresponsive } else { AppStopCause::PageEnded };
    let apps = shown_apps(app, label);
    let has_apps = !apps.is_empty();
    let events = app.state::<ShellEvents>();
    events.forget_page(label);
    if has_apps {
        close_apps(app, label, &apps, cause);
        events.report_stopped_apps(ShellEvent::AppsStopped { apps, cause });
    }
    if label != MAIN_WINDOW {
        conversation_windows::close_crashed_window(app, label);
    } else if has_apps || is_unresponsive {
        // Without apps, the page ends by itself, and could do so each time that it is loaded.
        tracing::error!(?reason, "the process of the page ended, loading the page again");
        let view = view.clone();
        // WebKit is still handling the end of the process.
        glib::idle_add_local_once(move || view.reload());
    }
}

/// Returns the apps that the page of a window shows.
fn shown_apps<R: Runtime>(app: &AppHandle<R>, label: &str) -> Vec<ShownApp> {
    let (Some(api), Some(windows)) = (app.try_state::<Api>(), app.try_state::<ConversationWindows>()) else {
        return Vec::new();
    };
    if label == MAIN_WINDOW {
        return api.app_views().apps_of_main_window(&windows.conversations());
    }
    let conversation = windows.conversation_of(label);
    conversation.map(|conversation| api.app_views().apps_of_conversation(&conversation)).unwrap_or_default()
}

/// Closes the apps of a window, and adds an entry to the activity log of each app's server.
fn close_apps<R: Runtime>(app: &AppHandle<R>, label: &str, apps: &[ShownApp], cause: AppStopCause) {
    let (api, windows) = (app.state::<Api>(), app.state::<ConversationWindows>());
    if label == MAIN_WINDOW {
        api.app_views().remove_views_of_main_window(&windows.conversations());
    } else if let Some(conversation) = windows.conversation_of(label) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_ended_only_after_a_probe_had_no_answer_for_the_whole_time() {
        let begin = Instant::now();
        let state = ProbeState::default();
        assert_eq!(state.next_step(begin), ProbeStep::Send, "a page should be probed first");
        let sent = ProbeState { unanswered_since: Some(begin) };
        let almost = begin + MAX_ANSWER_TIME - Duration::from_millis(1);
        for now in [begin, almost] {
            assert_eq!(sent.next_step(now), ProbeStep::Wait, "the page may take a while");
        }
        assert_eq!(sent.next_step(begin + MAX_ANSWER_TIME), ProbeStep::EndProcess, "the time is over");
        let later = ProbeState { unanswered_since: Some(almost) };
        assert_eq!(later.next_step(begin + MAX_ANSWER_TIME), ProbeStep::Wait, "each probe has the whole time");
    }

    #[test]
    fn window_is_watched_once_and_until_it_shows_no_app() {
        let watched = WatchedWindows::default();
        assert!(watched.add("main"), "the first app should begin the probes");
        assert!(!watched.add("main"), "another app should not begin them twice");
        assert!(watched.add("conversation-0"), "each window has its own page");
        assert!(!watched.remove_unless_showing_apps("main", || true), "the page still shows an app");
        assert!(watched.remove_unless_showing_apps("main", || false), "the last app was closed");
        assert!(watched.add("main"), "the next app should begin the probes again");
        watched.remove("conversation-0");
        assert!(watched.add("conversation-0"), "a window may get the label of a closed one");
    }
}
