//! WebKitGTK's sandbox: whether it is turned on, and what happens when the page does not come in it.
//!
//! Tauri and wry make WebKitGTK's context themselves and give nobody else a way to it before its first process runs, after which the
//! sandbox can't be turned on any more. WebKitGTK reads a variable as well, so that is set, at the very start.

// Setting a variable is unsafe: another thread may read the environment at the same moment.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, io};

use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow};
use webkit2gtk::WebViewExt as _;
use webkit2gtk::glib::{self, LogLevel};

use super::attempts::Attempts;
use super::{Obstacle, SandboxState, trial, web_process};

/// Has WebKitGTK use its sandbox if it is 1. Older versions turned the sandbox off if it was 0, and users still set it so.
const FORCE: &str = "WEBKIT_FORCE_SANDBOX";
/// Has WebKitGTK not use it if it is 1.
const DISABLE: &str = "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS";

/// Who closes a window sooner than this has not waited for its page.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sandbox of this start.
pub(crate) struct PageSandbox {
    decision: Result<(), Obstacle>,
    /// None where nothing is kept, as in a measurement.
    attempts: Option<Attempts>,
    /// When the window was opened.
    begun: OnceLock<Instant>,
    /// The page came, or it is known that it won't: nothing more is counted.
    settled: AtomicBool,
}

impl PageSandbox {
    /// Tries whether the sandbox works here, and has WebKitGTK use it if so. The data folder need not be there yet.
    ///
    /// # Safety
    /// No other thread may use the environment meanwhile.
    pub(crate) unsafe fn prepare(data_dir: Option<&Path>) -> Self {
        let software = format!(
            "Drawbridge {}, WebKitGTK {}",
            env!("CARGO_PKG_VERSION"),
            tauri::webview_version().unwrap_or_default()
        );
        let session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let attempts = data_dir.map(|folder| Attempts::new(folder, session.as_deref(), software));
        let is_off = is_turned_off(env::var_os(FORCE).as_deref(), env::var_os(DISABLE).as_deref());
        let has_failed = attempts.as_ref().is_some_and(Attempts::are_enough);
        let is_writable = || attempts.as_ref().map_or(Ok(()), Attempts::check_writable);
        let decision = decide(is_off, has_failed, is_writable, trial::run);
        // SAFETY: as the caller promises.
        unsafe {
            match &decision {
                Ok(()) => env::set_var(FORCE, "1"),
                // An app that restarted itself without the sandbox has inherited it.
                Err(_) => env::remove_var(FORCE),
            }
        }
        if let Err(obstacle) = &decision {
            tracing::warn!(?obstacle, "the page's process runs outside of WebKitGTK's sandbox");
        }
        Self::new(decision, attempts)
    }

    const fn new(decision: Result<(), Obstacle>, attempts: Option<Attempts>) -> Self {
        Self { decision, attempts, begun: OnceLock::new(), settled: AtomicBool::new(false) }
    }

    /// Counts this start as failed until the page comes. To be called right before the window is opened.
    pub(crate) fn open<R: Runtime>(app: &AppHandle<R>) {
        app.state::<Self>().begin();
        let app = app.clone();
        // WebKitGTK ends the whole app where a process of its own does not start.
        glib::log_set_default_handler(move |domain, level, text| {
            if level == LogLevel::Error && app.state::<Self>().gives_up() {
                tracing::error!("the page's process did not start in its sandbox; the next start does without it");
            }
            glib::log_default_handler(domain, level, Some(text));
        });
    }

    fn begin(&self) {
        self.begun.get_or_init(Instant::now);
        self.count(Attempts::add);
    }

    /// Restarts the app without the sandbox if the page's process ends before the page came.
    ///
    /// # Errors
    /// If the window is gone already.
    pub(crate) fn watch<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
        let app = window.app_handle().clone();
        window.with_webview(move |webview| {
            webview.inner().connect_web_process_terminated(move |_, reason| {
                if app.state::<Self>().gives_up() {
                    tracing::error!(?reason, "the page's process ended in its sandbox; starting again without it");
                    app.request_restart();
                }
            });
        })
    }

    /// The page is drawn, so the sandbox works.
    pub(crate) fn page_came(&self) {
        if !self.settled.swap(true, Ordering::Relaxed) {
            self.count(Attempts::clear);
        }
    }

    /// The app ends in order. Where the page had no time to come this start does not count.
    pub(crate) fn end(&self) {
        let is_early = self.begun.get().is_some_and(|begun| begun.elapsed() < PATIENCE);
        if is_early && !self.settled.load(Ordering::Relaxed) {
            self.count(Attempts::take_back);
        }
    }

    /// The state, as it is now.
    pub(crate) fn state(&self) -> SandboxState {
        match &self.decision {
            Ok(()) if web_process::is_apart() => SandboxState::On,
            Ok(()) => SandboxState::Off(Obstacle::NotApplied),
            Err(obstacle) => SandboxState::Off(obstacle.clone()),
        }
    }

    /// Why a page that does not come is not remembered as it should be, in words.
    pub(crate) fn unkept(&self) -> Option<String> {
        self.attempts.as_ref().and_then(Attempts::problem)
    }

    /// Has the next start try the sandbox again.
    ///
    /// # Errors
    /// In words, if a file that keeps it from being tried can't be removed.
    pub(crate) fn retry(&self) -> Result<(), String> {
        let Some(attempts) = &self.attempts else { return Ok(()) };
        match attempts.clear() {
            Err(error) if attempts.are_enough() => Err(error.to_string()),
            // What can't be removed may be nothing that counts.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether the page's process ended because of the sandbox, as far as can be told, and the next start knows. Where that can't be
    /// written down, restarting would go on forever.
    fn gives_up(&self) -> bool {
        self.decision.is_ok()
            && !self.settled.load(Ordering::Relaxed)
            && matches!(self.attempts.as_ref().map(Attempts::give_up), Some(Ok(())))
            && !self.settled.swap(true, Ordering::Relaxed)
    }

    fn count(&self, change: fn(&Attempts) -> io::Result<()>) {
        if self.decision.is_ok()
            && let Some(Err(error)) = self.attempts.as_ref().map(change)
        {
            tracing::warn!(%error, "starts whose page does not come in the sandbox can't be counted");
        }
    }
}

/// Whether the user has turned the sandbox off for all apps.
fn is_turned_off(force: Option<&OsStr>, disable: Option<&OsStr>) -> bool {
    force == Some(OsStr::new("0")) || disable == Some(OsStr::new("1"))
}

fn decide(
    is_off: bool,
    has_failed: bool,
    is_writable: impl FnOnce() -> Result<(), String>,
    trial: impl FnOnce() -> Result<(), Obstacle>,
) -> Result<(), Obstacle> {
    if is_off {
        return Err(Obstacle::TurnedOff);
    }
    if has_failed {
        return Err(Obstacle::NoPage);
    }
    // A blank window that can't be remembered would stay blank at every start.
    is_writable().map_err(|cause| Obstacle::NoMemory { cause })?;
    trial()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(folder: &Path, decision: Result<(), Obstacle>) -> PageSandbox {
        let attempts = Some(Attempts::new(folder, None, "1".into()));
        PageSandbox::new(decision, attempts)
    }

    #[test]
    fn the_trial_decides_unless_something_else_has_already() {
        let never = || -> Result<(), Obstacle> { panic!("nothing is started") };
        let yes = || Ok(());
        assert_eq!(decide(true, true, yes, never), Err(Obstacle::TurnedOff), "the user's word comes first");
        assert_eq!(decide(false, true, yes, never), Err(Obstacle::NoPage), "what failed twice is not tried");
        let full = || Err("the disk is full".to_owned());
        let cause = "the disk is full".to_owned();
        assert_eq!(
            decide(false, false, full, never),
            Err(Obstacle::NoMemory { cause }),
            "nor what can't be remembered"
        );
        assert_eq!(
            decide(false, false, yes, || Err(Obstacle::NoBubblewrap)),
            Err(Obstacle::NoBubblewrap),
            "no trial, no sandbox"
        );
        assert_eq!(decide(false, false, yes, || Ok(())), Ok(()), "what works is used");
    }

    #[test]
    fn webkits_variables_turn_it_off() {
        let is_off =
            |force: Option<&str>, disable: Option<&str>| is_turned_off(force.map(OsStr::new), disable.map(OsStr::new));
        assert!(is_off(Some("0"), None), "as older versions read it");
        assert!(is_off(None, Some("1")), "as newer ones do");
        assert!(!is_off(None, None) && !is_off(Some("1"), None) && !is_off(None, Some("0")), "nothing else does");
    }

    #[test]
    fn a_start_without_a_page_counts_and_one_with_a_page_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = Attempts::new(folder.path(), None, "1".into());
        for _ in 0..2 {
            in_folder(folder.path(), Ok(())).begin();
        }
        assert!(attempts.are_enough(), "twice no page came");
        in_folder(folder.path(), Err(Obstacle::NoPage)).page_came();
        assert!(attempts.are_enough(), "a page outside of the sandbox says nothing about it");
        in_folder(folder.path(), Err(Obstacle::NoPage)).retry().expect("removed");
        let sandbox = in_folder(folder.path(), Ok(()));
        sandbox.begin();
        sandbox.page_came();
        in_folder(folder.path(), Ok(())).begin();
        assert!(!attempts.are_enough(), "with a page in between it is the first again");
    }

    #[test]
    fn a_start_that_ends_in_order_before_its_page_does_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = Attempts::new(folder.path(), None, "1".into());
        in_folder(folder.path(), Ok(())).begin();
        for _ in 0..3 {
            let closed = in_folder(folder.path(), Ok(()));
            closed.begin();
            closed.end();
        }
        assert!(!attempts.are_enough(), "only the first counts");
        let sandbox = in_folder(folder.path(), Ok(()));
        sandbox
            .begun
            .set(Instant::now().checked_sub(PATIENCE).expect("the system runs for longer"))
            .expect("the first");
        sandbox.begin();
        sandbox.end();
        assert!(attempts.are_enough(), "who waited for the page in vain closes the window in order as well");
        let sandbox = in_folder(folder.path(), Ok(()));
        sandbox.begin();
        assert!(sandbox.gives_up(), "its process ended");
        sandbox.end();
        assert!(attempts.are_enough(), "and the restart that follows is in order, too");
    }

    #[test]
    fn it_is_given_up_at_once_only_before_the_page_came() {
        let folder = tempfile::tempdir().expect("a folder");
        let sandbox = in_folder(folder.path(), Ok(()));
        sandbox.begin();
        assert!(sandbox.gives_up(), "the process ended before");
        assert!(Attempts::new(folder.path(), None, "1".into()).are_enough(), "and the next start knows");
        assert!(!in_folder(folder.path(), Err(Obstacle::NoPage)).gives_up(), "that start does not restart again");
        sandbox.page_came();
        assert!(!sandbox.gives_up(), "a process that ends later has another reason");
        let gone = in_folder(&folder.path().join("gone"), Ok(()));
        assert!(!gone.gives_up(), "without a note the app would restart forever");
        let unnoted = PageSandbox::new(Ok(()), None);
        assert!(!unnoted.gives_up(), "nor in a measurement, which notes nothing");
    }

    #[test]
    fn a_page_that_does_not_come_is_remembered_where_the_data_folder_takes_no_file() {
        let (data, session) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(session.path(), private).expect("set");
        std::fs::create_dir_all(data.path().join("page-sandbox.json/full")).expect("made");
        let start = || {
            let attempts = Attempts::new(data.path(), Some(session.path()), "1".into());
            PageSandbox::new(Ok(()), Some(attempts))
        };
        let sandbox = start();
        sandbox.begin();
        assert!(sandbox.unkept().expect("Settings says so").contains("page-sandbox.json"), "with the file");
        assert!(sandbox.gives_up(), "it starts again without the sandbox, as the next start knows");
        let has_failed = start().attempts.as_ref().is_some_and(Attempts::are_enough);
        assert_eq!(decide(false, has_failed, || Ok(()), || Ok(())), Err(Obstacle::NoPage), "and opens its window");
        start().retry().expect("the user's word is heard there as well");
        let has_failed = start().attempts.as_ref().is_some_and(Attempts::are_enough);
        assert_eq!(decide(false, has_failed, || Ok(()), || Ok(())), Ok(()), "the next start tries the sandbox");
    }
}
