//! Notifications of the system: something waits for the user while the window is not in front. A notification has no text of a
//! server's, only the name that the user gave it, and what is wanted in our own words. A click brings the window to the front with
//! the request. Callers: `platform.rs` shows them, `presence.rs` withdraws them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use domain::question::QuestionId;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_notification::NotificationExt as _;

use crate::shell_events::show_question;
use crate::window;

/// One notification brings the user back; more in this time would only pile up.
const BETWEEN: Duration = Duration::from_secs(5);
/// The most notifications that are shown at once. One more withdraws the oldest.
const MOST_SHOWN: usize = 8;

/// The notifications that are shown.
#[derive(Default)]
pub(crate) struct Announcements(Mutex<Shown>);

#[derive(Debug, Default)]
struct Shown {
    last: Option<Instant>,
    /// The number of the next notification.
    next: i32,
    all: VecDeque<Announced>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Announced {
    number: i32,
    /// None for what is no request yet, as a sign-in that the user has to begin.
    question: Option<QuestionId>,
    kind: String,
}

/// A notification to show, and those to withdraw for it.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    number: i32,
    withdrawn: Vec<i32>,
}

impl Shown {
    /// Makes room for a notification. None if this request was announced already, or another one a moment ago.
    fn add(&mut self, now: Instant, question: Option<QuestionId>, kind: &str) -> Option<Room> {
        // A request to a model comes again, under the same id, with the model's answer: that is another decision.
        let is_known = question.is_some() && self.all.iter().any(|one| one.question == question && one.kind == kind);
        if is_known || self.last.is_some_and(|last| now.duration_since(last) < BETWEEN) {
            return None;
        }
        self.last = Some(now);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.all.push_back(Announced { number, question, kind: kind.to_owned() });
        let surplus = self.all.len().saturating_sub(MOST_SHOWN);
        let withdrawn = self.all.drain(..surplus).map(|one| one.number).collect();
        Some(Room { number, withdrawn })
    }

    /// Forgets requests that are decided, and gives the numbers of their notifications.
    fn keep(&mut self, waiting: &[QuestionId]) -> Vec<i32> {
        let is_gone = |one: &Announced| one.question.is_some_and(|id| !waiting.contains(&id));
        let gone = self.all.iter().filter(|one| is_gone(one)).map(|one| one.number).collect();
        self.all.retain(|one| !is_gone(one));
        gone
    }

    fn question(&self, number: i32) -> Option<QuestionId> {
        self.all.iter().find(|one| one.number == number)?.question
    }
}

/// Has clicks on notifications bring the request to the front. To be called once.
pub(crate) fn follow_clicks(app: &AppHandle) {
    let clicked = app.clone();
    let followed = app.notification().on_action(move |action| {
        let announcements = clicked.state::<Announcements>();
        let question = action.notification().and_then(|shown| announcements.lock(|all| all.question(shown.id())));
        match question {
            Some(id) => show_question(&clicked, Some(id.0.to_string())),
            None => window::show(&clicked),
        }
    });
    if let Err(error) = followed {
        tracing::warn!("clicks on notifications can't be followed: {error}");
    }
}

impl Announcements {
    /// Shows a notification, unless the window is in front, or it is too much. Waits for the main thread.
    pub(crate) fn show(&self, app: &AppHandle, question: Option<QuestionId>, kind: &str, text: String) {
        if window::is_in_front(app) {
            return;
        }
        let Some(room) = self.lock(|all| all.add(Instant::now(), question, kind)) else { return };
        withdraw(app, room.withdrawn);
        let notification = app.notification().builder().id(room.number).title("Drawbridge").body(text);
        if let Err(error) = notification.show() {
            tracing::warn!("the system did not show a notification: {error}");
        }
    }

    /// Withdraws the notifications of requests that do not wait any more. Does not wait for the system.
    pub(crate) fn withdraw_all_but(&self, app: &AppHandle, waiting: &[QuestionId]) {
        let gone = self.lock(|all| all.keep(waiting));
        if gone.is_empty() {
            return;
        }
        let app = app.clone();
        tauri::async_runtime::spawn_blocking(move || withdraw(&app, gone));
    }

    fn lock<T>(&self, act: impl FnOnce(&mut Shown) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn withdraw(app: &AppHandle, numbers: Vec<i32>) {
    if !numbers.is_empty()
        && let Err(error) = app.notification().remove_active(numbers)
    {
        tracing::warn!("the system did not withdraw a notification: {error}");
    }
}

/// The text of a notification. `kind` is the question's, as the audit log names it.
pub(crate) fn text(chinese: bool, server: &str, kind: &str) -> String {
    let what = match (kind, chinese) {
        ("start-server", false) => "needs your approval to start",
        ("start-server", true) => "需要你批准才能启动",
        ("tool", false) => "needs your approval to run a tool",
        ("tool", true) => "需要你批准才能运行工具",
        ("sampling" | "sampling-answer", false) => "asks a model",
        ("sampling" | "sampling-answer", true) => "向模型提问",
        ("elicitation", false) => "asks you to fill in a form",
        ("elicitation", true) => "请你填写表单",
        ("url", false) => "asks you to open a web page",
        ("url", true) => "请你打开网页",
        ("sign-in" | "client-id", false) => "wants you to sign in",
        ("sign-in" | "client-id", true) => "请你登录",
        ("roots", false) => "asks for your folders",
        ("roots", true) => "请求访问你的文件夹",
        ("result", false) => "answered: let the model read the result?",
        ("result", true) => "返回了结果：让模型读取吗？",
        (_, false) => "has a question",
        (_, true) => "有一个问题",
    };
    format!("{server} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = "tool";

    fn id(number: u64) -> Option<QuestionId> {
        Some(QuestionId(number))
    }

    #[test]
    fn an_announcement_names_the_server_and_what_it_wants() {
        assert_eq!(text(false, "files", "roots"), "files asks for your folders", "in English");
        assert_eq!(text(true, "files", "roots"), "files 请求访问你的文件夹", "in Chinese");
        assert_eq!(text(false, "files", "new"), "files has a question", "also for a kind not known here");
    }

    #[test]
    fn a_request_is_announced_once_and_a_flood_is_not() {
        let mut shown = Shown::default();
        let start = Instant::now();
        assert!(shown.add(start, id(1), TOOL).is_some(), "the first");
        assert_eq!(shown.add(start, id(2), TOOL), None, "another one at the same moment");
        assert_eq!(shown.add(start + BETWEEN, id(1), TOOL), None, "the same request");
        assert!(shown.add(start + BETWEEN, id(1), "sampling-answer").is_some(), "another decision of it");
        assert!(shown.add(start + BETWEEN * 2, id(2), TOOL).is_some(), "another one later");
    }

    #[test]
    fn the_oldest_gives_way_and_what_is_decided_goes() {
        let mut shown = Shown::default();
        let start = Instant::now();
        let mut add = |number: u32| shown.add(start + BETWEEN * number, id(u64::from(number)), TOOL);
        for number in 0..MOST_SHOWN as u32 {
            assert_eq!(add(number).map(|room| room.withdrawn), Some(vec![]), "there is room for {number}");
        }
        let more = add(MOST_SHOWN as u32).expect("room is made");
        assert_eq!(more.withdrawn, [0], "by the oldest");
        assert_eq!(shown.question(more.number), id(MOST_SHOWN as u64), "a click finds the request");
        assert_eq!(shown.question(0), None, "and nothing for one that is gone");
        assert_eq!(shown.keep(&[QuestionId(3)]).len(), MOST_SHOWN - 1, "all others are decided");
        assert_eq!(shown.all.len(), 1, "and forgotten");
    }
}
