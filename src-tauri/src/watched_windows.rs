//! Windows that show apps (MCP Apps), and the watches of their pages.
//!
//! Time is a parameter. `stalled_apps.rs` probes the pages, reads the sizes of their processes, and ends them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use api::ShownApp;
use domain::app_view::AppStopCause;
use webkit2gtk::WebProcessTerminationReason;

use crate::page_watch::{PageProbeStep, PageWatch};
use crate::web_view_processes::WebViewProcessRole;

/// Time after the end of a process that used too much memory in which the crash of a page counts as this end.
const MEMORY_CRASH_TIME: Duration = Duration::from_secs(5);

/// Windows whose pages are probed because they show apps.
#[derive(Default)]
pub(crate) struct WatchedWindows(Mutex<PageWatchTable>);

#[derive(Default)]
struct PageWatchTable {
    /// Watches by the label of the window.
    watches: HashMap<String, NumberedPageWatch>,
    last_number: u64,
    /// `true` while the sizes of the web view's processes are read.
    is_memory_watched: bool,
    /// Time at which a process was ended last because it used too much memory.
    last_memory_end: Option<Instant>,
    /// The same time until the main window's page has ended once since.
    memory_end_before_main_page: Option<Instant>,
}

/// Watch of a page. A later page of the same window, or of another one with its label, has another number.
struct NumberedPageWatch {
    number: u64,
    watch: PageWatch,
}

impl WatchedWindows {
    /// Records that a window shows these apps. Returns the number of its watch if it was not watched before.
    pub(crate) fn add(&self, label: &str, shown: &[ShownApp], now: Instant) -> Option<u64> {
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
    pub(crate) fn next_step(&self, label: &str, number: u64, shown: &[ShownApp], now: Instant) -> PageProbeStep {
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

    pub(crate) fn on_probe_answer(&self, label: &str, number: u64, now: Instant) {
        if let Some(found) = self.lock().watches.get_mut(label).filter(|found| found.number == number) {
            found.watch.on_probe_answer(now);
        }
    }

    /// Returns `true` if the caller has to begin to read the sizes of the web view's processes.
    pub(crate) fn begin_memory_watch(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_memory_watched, true)
    }

    /// Returns `true` if the sizes still have to be read, because a window may show apps.
    pub(crate) fn continue_memory_watch(&self) -> bool {
        let mut table = self.lock();
        table.is_memory_watched = !table.watches.is_empty();
        table.is_memory_watched
    }

    /// Records that a process used too much memory and is ended. If all pages share it, those with apps are ended
    /// instead.
    pub(crate) fn on_memory_exceeded(&self, role: WebViewProcessRole, now: Instant) {
        let mut table = self.lock();
        match role {
            WebViewProcessRole::DrawsPage => {
                table.last_memory_end = Some(now);
                table.memory_end_before_main_page = Some(now);
            }
            WebViewProcessRole::SharedByPages => {
                table.watches.values_mut().for_each(|found| found.watch.on_memory_exceeded());
            }
        }
    }

    /// Returns why the apps of a page were closed, whose process ended now for this reason.
    pub(crate) fn stop_cause(
        &self,
        watch: &PageWatch,
        reason: WebProcessTerminationReason,
        now: Instant,
    ) -> AppStopCause {
        let last_memory_end = self.lock().last_memory_end;
        let is_ended_for_memory = || is_recent_memory_end(last_memory_end, now);
        match reason {
            _ if watch.exceeds_memory() => AppStopCause::MemoryLimit,
            WebProcessTerminationReason::ExceededMemoryLimit => AppStopCause::MemoryLimit,
            WebProcessTerminationReason::TerminatedByApi => AppStopCause::Unresponsive,
            _ if is_ended_for_memory() => AppStopCause::MemoryLimit,
            _ => AppStopCause::PageEnded,
        }
    }

    /// Returns `true` if Drawbridge itself has ended the process of the main window's page, which ended now for this
    /// reason. Only one crash counts as the end of a process that used too much memory, since the reloaded page could
    /// crash by itself directly afterwards.
    pub(crate) fn take_own_end_of_main_page(&self, reason: WebProcessTerminationReason, now: Instant) -> bool {
        match reason {
            WebProcessTerminationReason::TerminatedByApi => true,
            WebProcessTerminationReason::Crashed => {
                is_recent_memory_end(self.lock().memory_end_before_main_page.take(), now)
            }
            // WebKit itself has ended it.
            _ => false,
        }
    }

    /// Ends the watch of a window, because its page or the window has ended.
    pub(crate) fn remove(&self, label: &str) -> Option<PageWatch> {
        self.lock().watches.remove(label).map(|found| found.watch)
    }

    /// Ends a watch unless the window has a later one.
    pub(crate) fn remove_watch_with_number(&self, label: &str, number: u64) {
        let mut table = self.lock();
        if table.watches.get(label).is_some_and(|found| found.number == number) {
            table.watches.remove(label);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PageWatchTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if the crash of a page counts as the end of a process that used too much memory at this time.
fn is_recent_memory_end(end: Option<Instant>, now: Instant) -> bool {
    end.is_some_and(|end| now.saturating_duration_since(end) <= MEMORY_CRASH_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_watch::PROBE_INTERVAL;

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

    #[test]
    fn memory_is_watched_once_and_until_no_window_shows_apps() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        for window in ["main", "conversation-0"] {
            watched.add(window, &[chart_app()], now);
        }
        assert!(watched.begin_memory_watch(), "the first window should begin the readings");
        assert!(!watched.begin_memory_watch(), "another window should not begin them twice");
        watched.remove("main");
        assert!(watched.continue_memory_watch(), "the other window still shows an app");
        watched.remove("conversation-0");
        assert!(!watched.continue_memory_watch(), "no window shows apps");
        assert!(watched.begin_memory_watch(), "the next window should begin the readings again");
    }

    #[test]
    fn memory_of_a_process_that_pages_share_ends_all_pages_with_apps() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        let numbers = ["main", "conversation-0"].map(|window| {
            let number = watched.add(window, &[chart_app()], now).expect("a new watch");
            (window, number)
        });
        watched.on_memory_exceeded(WebViewProcessRole::SharedByPages, now);
        for (window, number) in numbers {
            assert_eq!(
                watched.next_step(window, number, &[chart_app()], now),
                PageProbeStep::EndProcess,
                "any app may be the cause"
            );
            let watch = watched.remove(window).expect("the watch of the page");
            let cause = watched.stop_cause(&watch, WebProcessTerminationReason::TerminatedByApi, now);
            assert_eq!(cause, AppStopCause::MemoryLimit, "the report should name the reason");
        }
    }

    #[test]
    fn crash_of_a_page_counts_as_its_end_for_memory_only_directly_afterwards() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        let watch = PageWatch::new(now);
        let cause_at = |reason, time| watched.stop_cause(&watch, reason, time);
        let crashed = WebProcessTerminationReason::Crashed;
        assert_eq!(cause_at(crashed, now), AppStopCause::PageEnded, "the process ended by itself");
        watched.on_memory_exceeded(WebViewProcessRole::DrawsPage, now);
        assert_eq!(cause_at(crashed, now), AppStopCause::MemoryLimit, "its process was ended");
        assert_eq!(
            cause_at(WebProcessTerminationReason::TerminatedByApi, now),
            AppStopCause::Unresponsive,
            "another page did not respond"
        );
        let later = now + MEMORY_CRASH_TIME * 2;
        assert_eq!(cause_at(crashed, later), AppStopCause::PageEnded, "the crash has another cause");
        let limit = WebProcessTerminationReason::ExceededMemoryLimit;
        assert_eq!(cause_at(limit, later), AppStopCause::MemoryLimit, "WebKit has a limit of its own");
    }
    #[test]
    fn only_ends_by_drawbridge_count_as_own_ends_of_the_main_page() {
        let (watched, now) = (WatchedWindows::default(), Instant::now());
        let is_own_at = |reason, time| watched.take_own_end_of_main_page(reason, time);
        let (crashed, limit) = (WebProcessTerminationReason::Crashed, WebProcessTerminationReason::ExceededMemoryLimit);
        assert!(is_own_at(WebProcessTerminationReason::TerminatedByApi, now), "the page did not respond");
        assert!(!is_own_at(crashed, now), "the process ended by itself");
        watched.on_memory_exceeded(WebViewProcessRole::DrawsPage, now);
        assert!(!is_own_at(limit, now), "WebKit has a limit of its own");
        assert!(is_own_at(crashed, now), "its process was ended");
        assert!(!is_own_at(crashed, now), "the reloaded page crashed by itself");
        watched.on_memory_exceeded(WebViewProcessRole::DrawsPage, now);
        assert!(!is_own_at(crashed, now + MEMORY_CRASH_TIME * 2), "the crash has another cause");
    }
}
