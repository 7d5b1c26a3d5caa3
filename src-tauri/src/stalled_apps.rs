//! Ends the web process of a window whose page stopped responding while it shows apps (MCP Apps), and loads the page
//! again.
//!
//! WebKitGTK runs all frames of a window in the process that also draws Drawbridge's page. An app that computes without
//! end would leave the user no way to decide a consent request or to close the app. Therefore a page that shows apps
//! has to answer a probe from time to time. `page_watch.rs` decides when it counts as unresponsive. Decision record
//! 0113 has the reasons.
//!
//! Apps are shown on Linux only. The web view of macOS would need the same; that of Windows runs frames of other sites
//! in processes of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use api::{Api, ShownApp};
use domain::app_view::AppStopCause;
use gtk::gio::Cancellable;
use gtk::glib::ControlFlow;
use gtk::prelude::ObjectExt as _;
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow};
use webkit2gtk::{WebProcessTerminationReason, WebView, WebViewExt as _, glib};

use crate::conversation_windows::{self, ConversationWindows};
use crate::page_watch::{PROBE_INTERVAL, PageProbeStep, PageReloads, PageWatch};
use crate::shell_events::ShellEvents;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Script that a page evaluates to answer a probe. It uses nothing of the page.
const PROBE_SCRIPT: &str = "0";

/// Windows whose pages are probed because they show apps.
#[derive(Default)]
pub(crate) struct WatchedWindows(Mutex<PageWatchTable>);

#[derive(Default)]
struct PageWatchTable {
    /// Watches by the label of the window.
    watches: HashMap<String, NumberedPageWatch>,
    last_number: u64,
}

/// Watch of a page. A later page of the same window, or of another one with its label, has another number.
struct NumberedPageWatch {
    number: u64,
    watch: PageWatch,
}

impl WatchedWindows {
    /// Records that a window shows these apps. Returns the number of its watch if it was not watched before.
    fn add(&self, label: &str, shown: &[ShownApp], now: Instant) -> Option<u64> {
        let mut table = self.lock();
        if let Some(found) = table.watches.get_mut(label) {
            found.watch.remember_shown_apps(shown, now);
            return None;
        }
        table.last_number += 1;
        let (number, mut watch) = (table.last_number, PageWatch::new(now));
        watch.remember_shown_apps(shown, now);
        table.watches.insert(label.to_owned(), NumberedPageWatch { number, watch });
        Some(number)
    }

    /// Returns the next action of a watch, which is [`PageProbeStep::Stop`] if the watch has ended.
    fn next_step(&self, label: &str, number: u64, shown: &[ShownApp], now: Instant) -> PageProbeStep {
        let mut table = self.lock();
        let Some(found) = table.watches.get_mut(label).filter(|found| found.number == number) else {
            return PageProbeStep::Stop;
        };
        found.watch.remember_shown_apps(shown, now);
        let step = found.watch.next_step(now);
        // No app is missed that is opened meanwhile, because its frame requests its document, and adds the window,
        // after the app was opened.
        if step == PageProbeStep::Stop {
            table.watches.remove(label);
        }
        step
    }

    fn on_probe_answer(&self, label: &str, number: u64, now: Instant) {
        if let Some(found) = self.lock().watches.get_mut(label).filter(|found| found.number == number) {
            found.watch.on_probe_answer(now);
        }
    }

    /// Ends the watch of a window, because its page or the window has ended.
    pub(crate) fn remove(&self, label: &str) -> Option<PageWatch> {
        self.lock().watches.remove(label).map(|found| found.watch)
    }

    /// Ends a watch unless the window has a later one.
    fn remove_watch_with_number(&self, label: &str, number: u64) {
        let mut table = self.lock();
        if table.watches.get(label).is_some_and(|found| found.number == number) {
            table.watches.remove(label);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PageWatchTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
                tracing::error!("a page with apps does not respond, ending its process");
                view.terminate_web_process();
            }
            PageProbeStep::Stop => return ControlFlow::Break,
        }
        ControlFlow::Continue
    });
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
/// its page again, and the window of a conversation is closed. No app is opened again.
fn on_web_process_ended<R: Runtime>(
    app: &AppHandle<R>,
    label: &str,
    (view, reloads): (&WebView, &RefCell<PageReloads>),
    reason: WebProcessTerminationReason,
) {
    let is_unresponsive = reason == WebProcessTerminationReason::TerminatedByApi;
    let cause = if is_unresponsive { AppStopCause::Unresponsive } else { AppStopCause::PageEnded };
    let now = Instant::now();
    // An app that the host has removed may be the cause.
    let mut watch = app.state::<WatchedWindows>().remove(label).unwrap_or_else(|| PageWatch::new(now));
    watch.remember_shown_apps(&shown_apps(app, label), now);
    let apps = watch.apps();
    let has_apps = !apps.is_empty();
    let events = app.state::<ShellEvents>();
    events.detach_ended_page(label, watch.last_answered_probe_time());
    if has_apps {
        close_and_report_apps(app, label, &apps, cause);
        events.change_stopped_apps(|stopped| stopped.add(apps, cause));
    }
    if label != MAIN_WINDOW_LABEL {
        conversation_windows::close_crashed_window(app, label);
    } else if has_apps || is_unresponsive || reloads.borrow_mut().admit_reload(now) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart_app() -> ShownApp {
        ShownApp { server: "harbour".to_owned(), tool: "chart".to_owned() }
    }

    #[test]
    fn window_is_watched_once_and_until_its_apps_have_ended() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        let number = watched.add("main", &[chart_app()], now).expect("the first app should begin the probes");
        assert_eq!(watched.add("main", &[chart_app()], now), None, "another app should not begin them twice");
        assert!(watched.add("conversation-0", &[], now).is_some(), "each window has its own page");
        assert_eq!(watched.next_step("main", number, &[], now), PageProbeStep::Send, "the page may still have the app");
        let later = now + PROBE_INTERVAL * 4;
        watched.on_probe_answer("main", number, now);
        assert_eq!(
            watched.next_step("main", number, &[], later),
            PageProbeStep::Send,
            "the page should respond once more"
        );
        watched.on_probe_answer("main", number, later);
        assert_eq!(watched.next_step("main", number, &[], later), PageProbeStep::Stop, "the last app has ended");
        assert!(watched.add("main", &[chart_app()], later).is_some(), "the next app should begin the probes again");
    }

    #[test]
    fn watch_of_an_ended_page_does_not_affect_the_next_page_of_its_window() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        let first = watched.add("conversation-0", &[chart_app()], now).expect("a new watch");
        let ended = watched.remove("conversation-0").expect("the watch of the ended page");
        assert_eq!(ended.apps(), [chart_app()], "the apps of the ended page should be known");
        let second =
            watched.add("conversation-0", &[chart_app()], now).expect("a window may get the label of a closed one");
        assert_eq!(
            watched.next_step("conversation-0", first, &[chart_app()], now),
            PageProbeStep::Stop,
            "its probes should end"
        );
        watched.remove_watch_with_number("conversation-0", first);
        assert_eq!(
            watched.next_step("conversation-0", second, &[], now),
            PageProbeStep::Send,
            "the new page is watched"
        );
        watched.on_probe_answer("conversation-0", first, now);
        assert_eq!(
            watched.next_step("conversation-0", second, &[], now),
            PageProbeStep::Wait,
            "another page has answered"
        );
        watched.remove_watch_with_number("conversation-0", second);
        assert!(watched.remove("conversation-0").is_none(), "the watch has ended");
    }
}
