//! Decides when the page of a window that shows apps (MCP Apps) counts as unresponsive, and which apps may be the
//! cause. `memory_watch.rs` decides when they use too much memory.
//!
//! Time is a parameter. `stalled_apps.rs` sends the probes and ends the process.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use api::ShownApp;

/// Time between two probes of a page that shows apps.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Time without an answer to a probe after which a page counts as unresponsive. WebKit itself reports a page after
/// three seconds, which a large page on a slow computer can take to draw.
const MAX_PAGE_PROBE_ANSWER_TIME: Duration = Duration::from_secs(8);
/// Period in which a page may leave probes unanswered for [`MAX_BLOCKED_PAGE_TIME_IN_PERIOD`] in total.
const BLOCKED_PAGE_TIME_PERIOD: Duration = Duration::from_secs(60);
/// Total time without an answer in [`BLOCKED_PAGE_TIME_PERIOD`] after which a page counts as unresponsive. An app could
/// otherwise respond for a moment before each [`MAX_PAGE_PROBE_ANSWER_TIME`] ends.
const MAX_BLOCKED_PAGE_TIME_IN_PERIOD: Duration = Duration::from_secs(40);
/// Maximum number of remembered answers. At most one probe is sent in each [`PROBE_INTERVAL`].
const MAX_REMEMBERED_PROBE_ANSWERS: usize = 32;
/// Time between two ticks after which the time of the outstanding probe begins again, since Drawbridge itself was
/// stopped or busy, and could not have received an answer.
const LATE_PROBE_TICK_THRESHOLD: Duration = Duration::from_secs(4);
/// Time for which the script of an app may still run after the host has removed the app. The page keeps the frame for
/// 2.5 seconds, and the app can compute when the frame is removed.
const MAX_SCRIPT_TIME_AFTER_APP_REMOVAL: Duration = Duration::from_secs(5);
/// Maximum number of remembered apps of one page. The host shows fewer at the same time.
const MAX_REMEMBERED_MCP_APPS: usize = 64;
/// Period of [`MAX_PAGE_RELOADS`].
const PAGE_RELOAD_PERIOD: Duration = Duration::from_secs(60);
/// Maximum number of times in [`PAGE_RELOAD_PERIOD`] that a page is loaded again after its process ended without apps.
const MAX_PAGE_RELOADS: usize = 3;

/// State of the probes of one page.
#[derive(Debug)]
pub(crate) struct PageWatch {
    /// Apps whose scripts may run, with the times at which the host showed them last.
    apps: BTreeMap<ShownApp, Instant>,
    /// Probe that the page has not answered yet.
    unanswered: Option<PageProbe>,
    last_tick: Option<Instant>,
    /// Time at which the last answered probe was sent. Events that were sent later may not have reached the page.
    last_answered_probe_time: Instant,
    /// Times between the last probes and their answers.
    answered: VecDeque<ProbeAnswerTime>,
    /// `true` if a process that the page uses has grown too much.
    exceeds_memory: bool,
}

#[derive(Debug, Clone, Copy)]
struct PageProbe {
    sent: Instant,
    /// Time since which an answer could have been received.
    waiting_since: Instant,
}

#[derive(Debug, Clone, Copy)]
struct ProbeAnswerTime {
    begin: Instant,
    end: Instant,
}

/// Next action for a page that shows apps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PageProbeStep {
    Send,
    Wait,
    EndProcess,
    /// No script of an app can run any more.
    Stop,
}

impl PageWatch {
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            apps: BTreeMap::new(),
            unanswered: None,
            last_tick: None,
            last_answered_probe_time: now,
            answered: VecDeque::new(),
            exceeds_memory: false,
        }
    }

    /// Records that the host shows these apps. The oldest ones are forgotten if there are too many.
    pub(crate) fn remember_shown_apps(&mut self, shown: &[ShownApp], now: Instant) {
        self.apps.extend(shown.iter().map(|app| (app.clone(), now)));
        while self.apps.len() > MAX_REMEMBERED_MCP_APPS {
            let oldest = self.apps.iter().min_by_key(|(_, seen)| **seen).map(|(app, _)| app.clone());
            let Some(oldest) = oldest else { return };
            self.apps.remove(&oldest);
        }
    }

    /// Returns the apps of which any may have kept the page from responding, each once, in a stable order.
    pub(crate) fn apps(&self) -> Vec<ShownApp> {
        self.apps.keys().cloned().collect()
    }

    /// Records that a process that the page uses has grown too much, so that the process of the page has to be ended.
    pub(crate) const fn on_memory_exceeded(&mut self) {
        self.exceeds_memory = true;
    }

    /// Returns `true` after [`Self::on_memory_exceeded`].
    pub(crate) const fn exceeds_memory(&self) -> bool {
        self.exceeds_memory
    }

    /// Returns the time at which the last answered probe was sent. The page has responded after it.
    pub(crate) const fn last_answered_probe_time(&self) -> Instant {
        self.last_answered_probe_time
    }

    /// Returns the next action. Called once in each [`PROBE_INTERVAL`].
    pub(crate) fn next_step(&mut self, now: Instant) -> PageProbeStep {
        let last_tick = self.last_tick.replace(now);
        if last_tick.is_some_and(|last| now.saturating_duration_since(last) >= LATE_PROBE_TICK_THRESHOLD) {
            self.restart_waiting_after_late_tick(now);
        }
        if self.exceeds_memory || self.is_unresponsive(now) {
            self.unanswered = None;
            self.answered.clear();
            return PageProbeStep::EndProcess;
        }
        match self.unanswered {
            Some(_) => PageProbeStep::Wait,
            None if self.apps.is_empty() => PageProbeStep::Stop,
            None => {
                self.unanswered = Some(PageProbe { sent: now, waiting_since: now });
                PageProbeStep::Send
            }
        }
    }

    fn is_unresponsive(&self, now: Instant) -> bool {
        let waiting_since = self.unanswered.map(|probe| probe.waiting_since);
        waiting_since.is_some_and(|since| now.saturating_duration_since(since) >= MAX_PAGE_PROBE_ANSWER_TIME)
            || self.blocked_time(now) >= MAX_BLOCKED_PAGE_TIME_IN_PERIOD
    }

    /// Returns the time in the last [`BLOCKED_PAGE_TIME_PERIOD`] in which a probe had no answer.
    fn blocked_time(&self, now: Instant) -> Duration {
        let age_of = |time: Instant| now.saturating_duration_since(time).min(BLOCKED_PAGE_TIME_PERIOD);
        let waiting = self.unanswered.map(|probe| ProbeAnswerTime { begin: probe.waiting_since, end: now });
        self.answered.iter().copied().chain(waiting).map(|time| age_of(time.begin) - age_of(time.end)).sum()
    }

    fn restart_waiting_after_late_tick(&mut self, now: Instant) {
        if let Some(probe) = &mut self.unanswered {
            probe.waiting_since = now;
        }
        self.answered.clear();
    }

    /// Records that the page has answered the probe, and forgets the apps that had ended before.
    pub(crate) fn on_probe_answer(&mut self, now: Instant) {
        let Some(PageProbe { sent, waiting_since }) = self.unanswered.take() else { return };
        self.last_answered_probe_time = sent;
        if self.answered.len() == MAX_REMEMBERED_PROBE_ANSWERS {
            self.answered.pop_front();
        }
        self.answered.push_back(ProbeAnswerTime { begin: waiting_since, end: now });
        // A page that was busy may not have removed the frame of an app yet.
        if now.saturating_duration_since(sent) <= PROBE_INTERVAL {
            self.apps.retain(|_, seen| sent.saturating_duration_since(*seen) < MAX_SCRIPT_TIME_AFTER_APP_REMOVAL);
        }
    }
}

/// Times at which a page was loaded again because its process ended by itself while no apps were shown. The process
/// could end again after each reload, so the number of reloads is limited.
#[derive(Debug, Default)]
pub(crate) struct PageReloads(VecDeque<Instant>);

impl PageReloads {
    /// Returns `true` if the page, whose process ended, may be loaded again now. `is_own_end` is `true` if Drawbridge
    /// has ended the process, which does not count.
    pub(crate) fn admit_reload(&mut self, is_own_end: bool, now: Instant) -> bool {
        if is_own_end {
            return true;
        }
        self.0.retain(|at| now.saturating_duration_since(*at) < PAGE_RELOAD_PERIOD);
        let is_admitted = self.0.len() < MAX_PAGE_RELOADS;
        if is_admitted {
            self.0.push_back(now);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn app(tool: &str) -> ShownApp {
        ShownApp { server: "harbour".to_owned(), tool: tool.to_owned() }
    }

    /// Returns the watch of a page that shows the app `chart`.
    fn watch_at(now: Instant) -> PageWatch {
        let mut watch = PageWatch::new(now);
        watch.remember_shown_apps(&[app("chart")], now);
        watch
    }

    #[test]
    fn web_process_is_ended_only_after_a_probe_timed_out() {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        assert_eq!(watch.next_step(begin), PageProbeStep::Send, "a page should be probed first");
        for seconds in [2, 4, 6] {
            assert_eq!(watch.next_step(begin + SECOND * seconds), PageProbeStep::Wait, "the page may take a while");
        }
        assert_eq!(watch.last_answered_probe_time(), begin, "the page has not responded yet");
        watch.on_probe_answer(begin + SECOND * 7);
        assert_eq!(watch.next_step(begin + SECOND * 8), PageProbeStep::Send, "each probe has the whole time");
        for seconds in [10, 12, 14] {
            assert_eq!(watch.next_step(begin + SECOND * seconds), PageProbeStep::Wait, "the page may take a while");
        }
        assert_eq!(watch.next_step(begin + SECOND * 16), PageProbeStep::EndProcess, "the time is over");
        watch.on_probe_answer(begin + SECOND * 17);
        assert_eq!(watch.last_answered_probe_time(), begin, "only the first probe was answered");
    }

    /// Lets a page answer each probe `answer_millis` after it was sent, for five minutes. Returns the seconds after
    /// which its process is ended.
    fn seconds_until_web_process_is_ended(answer_millis: u64) -> Option<u64> {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        let mut answer_at: Option<Instant> = None;
        for second in (0..300).step_by(2) {
            let now = begin + Duration::from_secs(second);
            watch.remember_shown_apps(&[app("chart")], now);
            if let Some(at) = answer_at.take_if(|at| *at <= now) {
                watch.on_probe_answer(at);
            }
            match watch.next_step(now) {
                PageProbeStep::Send => answer_at = Some(now + Duration::from_millis(answer_millis)),
                PageProbeStep::EndProcess => return Some(second),
                PageProbeStep::Wait | PageProbeStep::Stop => {}
            }
        }
        None
    }

    #[test]
    fn web_process_is_ended_if_its_page_is_blocked_most_of_the_time() {
        assert_eq!(seconds_until_web_process_is_ended(7_900), Some(42), "the page responds only for moments");
        assert_eq!(seconds_until_web_process_is_ended(1_900), Some(44), "the page responds only for moments");
        assert_eq!(seconds_until_web_process_is_ended(1_000), None, "a slow page can be used");
        assert_eq!(seconds_until_web_process_is_ended(2_500), None, "the page responds for a third of the time");
        assert_eq!(seconds_until_web_process_is_ended(8_100), Some(8), "one answer takes too long");
    }

    #[test]
    fn probe_timeout_restarts_after_drawbridge_was_suspended() {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        assert_eq!(watch.next_step(begin), PageProbeStep::Send, "a page should be probed first");
        let resumed = begin + SECOND * 300;
        assert_eq!(watch.next_step(resumed), PageProbeStep::Wait, "the page may have been stopped, too");
        for seconds in [2, 4, 6] {
            assert_eq!(watch.next_step(resumed + SECOND * seconds), PageProbeStep::Wait, "the page may take a while");
        }
        assert_eq!(watch.next_step(resumed + SECOND * 8), PageProbeStep::EndProcess, "the time is over");
    }

    #[test]
    fn page_is_watched_until_it_has_responded_after_the_end_of_its_apps() {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        // The host removes the app now. Its frame remains, and computes without end when it is removed.
        assert_eq!(watch.next_step(begin + SECOND * 2), PageProbeStep::Send, "the frame may still run");
        watch.on_probe_answer(begin + SECOND * 2);
        assert_eq!(watch.next_step(begin + SECOND * 4), PageProbeStep::Send, "the frame may still run");
        for seconds in [6, 8, 10] {
            assert_eq!(watch.next_step(begin + SECOND * seconds), PageProbeStep::Wait, "the page may take a while");
        }
        assert_eq!(watch.next_step(begin + SECOND * 12), PageProbeStep::EndProcess, "the page is still blocked");
        assert_eq!(watch.apps(), [app("chart")], "the app that was removed should be named");
    }

    #[test]
    fn watch_ends_once_the_page_responds_without_apps() {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        assert_eq!(
            watch.next_step(begin + SECOND * 6),
            PageProbeStep::Send,
            "no probe was answered after the last app"
        );
        watch.on_probe_answer(begin + SECOND * 9);
        assert_eq!(watch.next_step(begin + SECOND * 10), PageProbeStep::Send, "a busy page may still have the frame");
        watch.remember_shown_apps(&[app("map")], begin + SECOND * 10);
        watch.on_probe_answer(begin + SECOND * 10);
        assert_eq!(watch.apps(), [app("map")], "the first app has ended");
        assert_eq!(watch.next_step(begin + SECOND * 15), PageProbeStep::Send, "the second one may still run");
        watch.on_probe_answer(begin + SECOND * 15);
        assert_eq!(watch.next_step(begin + SECOND * 17), PageProbeStep::Stop, "no app can run any more");
    }

    #[test]
    fn web_process_is_ended_if_its_page_uses_too_much_memory() {
        let begin = Instant::now();
        let mut watch = watch_at(begin);
        assert_eq!(watch.next_step(begin), PageProbeStep::Send, "the page responds");
        watch.on_probe_answer(begin);
        watch.on_memory_exceeded();
        assert_eq!(watch.next_step(begin + SECOND * 2), PageProbeStep::EndProcess, "the apps use too much memory");
        assert!(watch.exceeds_memory(), "the report should name the reason");
    }

    #[test]
    fn number_of_remembered_mcp_apps_is_bounded() {
        let begin = Instant::now();
        let mut watch = PageWatch::new(begin);
        for number in 0..=MAX_REMEMBERED_MCP_APPS {
            let seen = begin + SECOND * u32::try_from(number).expect("a small number");
            watch.remember_shown_apps(&[app(&number.to_string())], seen);
        }
        assert_eq!(watch.apps().len(), MAX_REMEMBERED_MCP_APPS, "the number of apps should be bounded");
        assert!(!watch.apps().contains(&app("0")), "the oldest should be forgotten");
    }

    #[test]
    fn page_whose_web_process_ends_without_apps_is_reloaded_a_few_times() {
        let (mut reloads, begin) = (PageReloads::default(), Instant::now());
        for _ in 0..=MAX_PAGE_RELOADS {
            assert!(reloads.admit_reload(true, begin), "an end by Drawbridge should not count");
        }
        for _ in 0..MAX_PAGE_RELOADS {
            assert!(reloads.admit_reload(false, begin), "the window should not stay blank");
        }
        let later = begin + PAGE_RELOAD_PERIOD - SECOND;
        assert!(!reloads.admit_reload(false, later), "the page could end each time");
        assert!(reloads.admit_reload(true, later), "the window should not stay blank");
        assert!(reloads.admit_reload(false, begin + PAGE_RELOAD_PERIOD), "an end from time to time does not count");
    }
}
