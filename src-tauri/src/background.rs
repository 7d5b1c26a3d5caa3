//! Life in the background: what closing the window does while servers run. The user chooses each time, or once and for all in the
//! settings (`onClose`). Signals and the end of the user's session quit; they do not come here.

use std::env;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use api::Api;
use api::data::OnClose;
use host::view::{ServerState, Snapshot};
use tauri::{AppHandle, Manager as _, Runtime, State};

use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window;

/// Starts the app without its window, as at login.
pub(crate) const BACKGROUND: &str = "--background";

/// A page that has not shown the choice after this is taken for dead: closing the window again quits.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether this process is to start without a window.
pub(crate) fn is_asked_for_here() -> bool {
    is_asked_for(env::args_os().filter_map(|argument| argument.into_string().ok()))
}

/// Whether a command line asks for a start without a window.
pub(crate) fn is_asked_for(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.any(|argument| argument == BACKGROUND)
}

/// The number of servers that have a process or a connection, or are about to.
pub(crate) fn running(snapshot: &Snapshot) -> usize {
    let runs = |state: &ServerState| {
        matches!(state, ServerState::Starting | ServerState::Ready | ServerState::Reconnecting(_))
    };
    snapshot.servers.iter().filter(|server| runs(&server.state)).count()
}

/// What closing does with this setting and so many running servers.
fn closing(on_close: &str, running: usize) -> OnClose {
    match (running, on_close) {
        (0, _) | (_, "quit") => OnClose::Quit,
        (_, "background") => OnClose::Background,
        _ => OnClose::Ask,
    }
}

/// The choice that the page shows.
#[derive(Default)]
pub(crate) struct ClosingChoice(Mutex<Choice>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Nothing is asked, or the page has shown it.
    #[default]
    Quiet,
    /// The page was told at this time and has not shown it yet.
    Told(Instant),
}

impl ClosingChoice {
    /// Has the page ask the user. False if it can't, or did not when it was told before.
    fn ask(&self, now: Instant, tell: impl FnOnce() -> bool) -> bool {
        let mut choice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *choice {
            Choice::Told(at) if now.duration_since(at) >= PATIENCE => false,
            Choice::Told(_) => tell(),
            Choice::Quiet => {
                let is_told = tell();
                if is_told {
                    *choice = Choice::Told(now);
                }
                is_told
            }
        }
    }

    fn shown(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Choice::Quiet;
    }
}

/// Returns true if the window may close, which quits. Else it was hidden, or the page asks the user.
pub(crate) fn may_close(app: &AppHandle) -> bool {
    let Some(api) = app.try_state::<Api>() else { return true };
    let Ok(snapshot) = tauri::async_runtime::block_on(api.host().snapshot()) else { return true };
    let running = running(&snapshot);
    match closing(&snapshot.settings.on_close, running) {
        OnClose::Quit => true,
        OnClose::Background => !hide(app),
        OnClose::Ask => {
            let tell = || app.state::<ShellEvents>().send(ShellEvent::ClosingAsked { servers: running });
            !app.state::<ClosingChoice>().ask(Instant::now(), tell)
        }
    }
}

/// Hides the window. False if that fails: a window that can't be hidden would stay after its user closed it.
fn hide<R: Runtime>(app: &AppHandle<R>) -> bool {
    let hidden = app.get_webview_window(window::MAIN).map(|window| window.hide());
    if let Some(Err(error)) = &hidden {
        tracing::warn!("the window can't be hidden: {error}");
    }
    matches!(hidden, Some(Ok(())))
}

/// The page shows the choice.
#[tauri::command]
pub(crate) fn closing_shown(choice: State<'_, ClosingChoice>) {
    choice.shown();
}

/// The user's choice in the dialog of a closing window.
#[tauri::command]
pub(crate) fn finish_closing<R: Runtime>(app: AppHandle<R>, choice: OnClose) {
    match choice {
        OnClose::Quit => app.exit(0),
        OnClose::Background if hide(&app) => {}
        OnClose::Background => app.exit(0),
        OnClose::Ask => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_quits_without_servers_and_follows_the_setting_with_them() {
        for (setting, running, expected) in [
            ("ask", 0, OnClose::Quit),
            ("background", 0, OnClose::Quit),
            ("ask", 1, OnClose::Ask),
            ("unheard of", 1, OnClose::Ask),
            ("background", 3, OnClose::Background),
            ("quit", 3, OnClose::Quit),
        ] {
            assert_eq!(closing(setting, running), expected, "{setting} with {running} servers");
        }
    }

    #[test]
    fn a_page_that_never_shows_the_choice_does_not_keep_the_window() {
        let choice = ClosingChoice::default();
        let start = Instant::now();
        assert!(!choice.ask(start, || false), "there is no page");
        assert!(choice.ask(start, || true), "the page is told");
        assert!(choice.ask(start + PATIENCE / 2, || true), "told again while it may still show it");
        assert!(!choice.ask(start + PATIENCE, || true), "it did not show it: the window closes");
    }

    #[test]
    fn a_page_that_shows_the_choice_is_asked_each_time() {
        let choice = ClosingChoice::default();
        let start = Instant::now();
        assert!(choice.ask(start, || true), "the page is told");
        choice.shown();
        assert!(choice.ask(start + PATIENCE * 9, || true), "the user cancelled, and closes again");
    }

    #[test]
    fn only_the_flag_starts_without_a_window() {
        let asks = |line: &str| is_asked_for(line.split(' ').map(str::to_owned));
        assert!(asks("drawbridge --background"), "the flag");
        assert!(!asks("drawbridge") && !asks("drawbridge --background=no"), "nothing else");
    }
}
