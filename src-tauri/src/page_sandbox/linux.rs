//! WebKitGTK's sandbox on Linux: enables it if possible, and disables it if the page does not appear in it.
//!
//! Tauri and wry create WebKitGTK's context and provide no access to it before its first process runs. Afterwards the
//! sandbox can't be enabled any more. WebKitGTK also enables it because of an environment variable, which this module
//! sets at the start of the app.

// Setting a variable is unsafe because another thread may read the environment concurrently.
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

use super::attempts::FailedStartCounter;
use super::{SandboxObstacle, SandboxState, trial, web_process};

/// Environment variable that enables WebKitGTK's sandbox if it is 1. In older versions the value 0 disabled the
/// sandbox, and users still set it for this purpose.
const FORCE_SANDBOX_VARIABLE: &str = "WEBKIT_FORCE_SANDBOX";
/// Environment variable that disables WebKitGTK's sandbox if it is 1.
const DISABLE_SANDBOX_VARIABLE: &str = "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS";

/// Minimum time from opening the window after which a missing page counts as a failed start. If the user closes the
/// window sooner, the start does not count.
const MIN_WAIT_BEFORE_FAILED_START: Duration = Duration::from_secs(5);

/// State of the page sandbox in this process.
pub(crate) struct PageSandbox {
    decision: Result<(), SandboxObstacle>,
    /// Counter of failed starts, or `None` if they are not recorded, as in a benchmark.
    attempts: Option<FailedStartCounter>,
    /// Time at which the window was opened.
    begun: OnceLock<Instant>,
    /// `true` once it is known if the page appears. Nothing is recorded afterwards.
    settled: AtomicBool,
}

impl PageSandbox {
    /// Decides if this process uses the sandbox, which includes a test run, and if so enables it for WebKitGTK. The
    /// data folder `data_dir` need not exist yet.
    ///
    /// # Safety
    /// No other thread may access the environment during the call.
    pub(crate) unsafe fn prepare(data_dir: Option<&Path>) -> Self {
        let software = format!(
            "Drawbridge {}, WebKitGTK {}",
            env!("CARGO_PKG_VERSION"),
            tauri::webview_version().unwrap_or_default()
        );
        let session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let attempts = data_dir.map(|folder| FailedStartCounter::new(folder, session.as_deref(), software));
        let is_off = is_sandbox_turned_off_by_environment(
            env::var_os(FORCE_SANDBOX_VARIABLE).as_deref(),
            env::var_os(DISABLE_SANDBOX_VARIABLE).as_deref(),
        );
        let has_failed = attempts.as_ref().is_some_and(FailedStartCounter::has_reached_failed_start_limit);
        let is_writable = || attempts.as_ref().map_or(Ok(()), FailedStartCounter::check_writable);
        let decision = decide_sandbox(is_off, has_failed, is_writable, trial::run_sandbox_trial);
        // SAFETY: the caller guarantees that no other thread accesses the environment.
        unsafe {
            match &decision {
                Ok(()) => env::set_var(FORCE_SANDBOX_VARIABLE, "1"),
                // After a restart without the sandbox, the variable may still be set by the previous process.
                Err(_) => env::remove_var(FORCE_SANDBOX_VARIABLE),
            }
        }
        if let Err(obstacle) = &decision {
            tracing::warn!(?obstacle, "the page's process runs without WebKitGTK's sandbox");
        }
        Self::new(decision, attempts)
    }

    const fn new(decision: Result<(), SandboxObstacle>, attempts: Option<FailedStartCounter>) -> Self {
        Self { decision, attempts, begun: OnceLock::new(), settled: AtomicBool::new(false) }
    }

    /// Counts this start as failed until the page appears, and handles processes that WebKitGTK can't start. Must be
    /// called directly before the window is opened.
    pub(crate) fn on_window_opening<R: Runtime>(app: &AppHandle<R>) {
        app.state::<Self>().count_start_as_failed();
        let app = app.clone();
        // WebKitGTK aborts the whole app if one of its processes can't be started.
        glib::log_set_default_handler(move |domain, level, text| {
            if level == LogLevel::Error && app.state::<Self>().disable_sandbox_for_next_start() {
                tracing::error!(
                    "the page's process failed to start in its sandbox, so the next start disables the sandbox"
                );
            }
            glib::log_default_handler(domain, level, Some(text));
        });
    }

    fn count_start_as_failed(&self) {
        self.begun.get_or_init(Instant::now);
        self.update_failed_start_count(FailedStartCounter::record_failed_start);
    }

    /// Restarts Drawbridge without the sandbox if the web process ends before the page appears.
    ///
    /// # Errors
    /// Returns an error if the window is already closed.
    pub(crate) fn watch_web_process<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
        let app = window.app_handle().clone();
        window.with_webview(move |webview| {
            webview.inner().connect_web_process_terminated(move |_, reason| {
                if app.state::<Self>().disable_sandbox_for_next_start() {
                    tracing::error!(?reason, "the page's process ended in its sandbox, restarting without the sandbox");
                    app.request_restart();
                }
            });
        })
    }

    /// Records that the page was drawn, so that this start does not count as failed.
    pub(crate) fn record_page_drawn(&self) {
        if !self.settled.swap(true, Ordering::Relaxed) {
            self.update_failed_start_count(FailedStartCounter::clear);
        }
    }

    /// Handles the normal exit of Drawbridge. If Drawbridge exits before the page has appeared, the start counts as
    /// failed only if it took at least [`MIN_WAIT_BEFORE_FAILED_START`].
    pub(crate) fn on_app_exit(&self) {
        let is_early = self.begun.get().is_some_and(|begun| begun.elapsed() < MIN_WAIT_BEFORE_FAILED_START);
        if is_early && !self.settled.load(Ordering::Relaxed) {
            self.update_failed_start_count(FailedStartCounter::revert_failed_start);
        }
    }

    /// Returns the current state of the page sandbox, which the settings page shows.
    pub(crate) fn state(&self) -> SandboxState {
        match &self.decision {
            Ok(()) if web_process::is_web_process_isolated() => SandboxState::On,
            Ok(()) => SandboxState::Off(SandboxObstacle::NotApplied),
            Err(obstacle) => SandboxState::Off(obstacle.clone()),
        }
    }

    /// Returns the reason why failed starts can't be counted in the data folder, as a message for the user, or `None`
    /// if they can.
    pub(crate) fn storage_problem(&self) -> Option<String> {
        self.attempts.as_ref().and_then(FailedStartCounter::storage_problem)
    }

    /// Resets the count of failed starts, so that the next start tries the sandbox again.
    ///
    /// # Errors
    /// Returns a message for the user if a file that prevents it can't be removed.
    pub(crate) fn reset_failed_starts(&self) -> Result<(), String> {
        let Some(attempts) = &self.attempts else { return Ok(()) };
        match attempts.clear() {
            Err(error) if attempts.has_reached_failed_start_limit() => Err(error.to_string()),
            // A file that can't be removed is an error only if it still disables the sandbox.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Disables the sandbox for the next start, if the web process may have ended because of the sandbox. Returns
    /// `true` if that was recorded. Otherwise, Drawbridge must not restart, because it could restart forever.
    fn disable_sandbox_for_next_start(&self) -> bool {
        self.decision.is_ok()
            && !self.settled.load(Ordering::Relaxed)
            && matches!(self.attempts.as_ref().map(FailedStartCounter::turn_sandbox_off), Some(Ok(())))
            && !self.settled.swap(true, Ordering::Relaxed)
    }

    fn update_failed_start_count(&self, change: fn(&FailedStartCounter) -> io::Result<()>) {
        if self.decision.is_ok()
            && let Some(Err(error)) = self.attempts.as_ref().map(change)
        {
            tracing::warn!(%error, "failed to update the count of failed starts");
        }
    }
}

/// Returns `true` if the value of one of WebKitGTK's two environment variables disables the sandbox.
fn is_sandbox_turned_off_by_environment(force: Option<&OsStr>, disable: Option<&OsStr>) -> bool {
    force == Some(OsStr::new("0")) || disable == Some(OsStr::new("1"))
}

fn decide_sandbox(
    is_off: bool,
    has_failed: bool,
    is_writable: impl FnOnce() -> Result<(), String>,
    trial: impl FnOnce() -> Result<(), SandboxObstacle>,
) -> Result<(), SandboxObstacle> {
    if is_off {
        return Err(SandboxObstacle::TurnedOff);
    }
    if has_failed {
        return Err(SandboxObstacle::NoPage);
    }
    // If a failed start could not be recorded, the window could stay blank at every start.
    is_writable().map_err(|cause| SandboxObstacle::NoMemory { cause })?;
    trial()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox_in_folder(folder: &Path, decision: Result<(), SandboxObstacle>) -> PageSandbox {
        let attempts = Some(FailedStartCounter::new(folder, None, "1".into()));
        PageSandbox::new(decision, attempts)
    }

    #[test]
    fn trial_decides_unless_sandbox_is_disabled_or_start_failed() {
        let never = || -> Result<(), SandboxObstacle> { panic!("the trial should not run") };
        let yes = || Ok(());
        assert_eq!(
            decide_sandbox(true, true, yes, never),
            Err(SandboxObstacle::TurnedOff),
            "the user's setting should take precedence"
        );
        assert_eq!(
            decide_sandbox(false, true, yes, never),
            Err(SandboxObstacle::NoPage),
            "the trial should not run after two failed starts"
        );
        let full = || Err("the disk is full".to_owned());
        let cause = "the disk is full".to_owned();
        assert_eq!(
            decide_sandbox(false, false, full, never),
            Err(SandboxObstacle::NoMemory { cause }),
            "the trial should not run if a failed start can't be stored"
        );
        assert_eq!(
            decide_sandbox(false, false, yes, || Err(SandboxObstacle::NoBubblewrap)),
            Err(SandboxObstacle::NoBubblewrap),
            "a failed trial should disable the sandbox"
        );
        assert_eq!(
            decide_sandbox(false, false, yes, || Ok(())),
            Ok(()),
            "a successful trial should enable the sandbox"
        );
    }

    #[test]
    fn webkit_variables_disable_the_sandbox() {
        let is_off = |force: Option<&str>, disable: Option<&str>| {
            is_sandbox_turned_off_by_environment(force.map(OsStr::new), disable.map(OsStr::new))
        };
        assert!(is_off(Some("0"), None), "the variable of older versions should disable the sandbox");
        assert!(is_off(None, Some("1")), "the variable of newer versions should disable the sandbox");
        assert!(
            !is_off(None, None) && !is_off(Some("1"), None) && !is_off(None, Some("0")),
            "other values should not disable the sandbox"
        );
    }

    #[test]
    fn start_without_a_drawn_page_counts_as_failed() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = FailedStartCounter::new(folder.path(), None, "1".into());
        for _ in 0..2 {
            sandbox_in_folder(folder.path(), Ok(())).count_start_as_failed();
        }
        assert!(attempts.has_reached_failed_start_limit(), "two starts without a page should be enough");
        sandbox_in_folder(folder.path(), Err(SandboxObstacle::NoPage)).record_page_drawn();
        assert!(attempts.has_reached_failed_start_limit(), "a page without the sandbox should not reset the count");
        sandbox_in_folder(folder.path(), Err(SandboxObstacle::NoPage)).reset_failed_starts().expect("removed");
        let sandbox = sandbox_in_folder(folder.path(), Ok(()));
        sandbox.count_start_as_failed();
        sandbox.record_page_drawn();
        sandbox_in_folder(folder.path(), Ok(())).count_start_as_failed();
        assert!(!attempts.has_reached_failed_start_limit(), "a page in between should reset the count");
    }

    #[test]
    fn regular_exit_before_the_page_is_not_a_failed_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let attempts = FailedStartCounter::new(folder.path(), None, "1".into());
        sandbox_in_folder(folder.path(), Ok(())).count_start_as_failed();
        for _ in 0..3 {
            let closed = sandbox_in_folder(folder.path(), Ok(()));
            closed.count_start_as_failed();
            closed.on_app_exit();
        }
        assert!(!attempts.has_reached_failed_start_limit(), "only the first start should count");
        let sandbox = sandbox_in_folder(folder.path(), Ok(()));
        sandbox
            .begun
            .set(Instant::now().checked_sub(MIN_WAIT_BEFORE_FAILED_START).expect("the system runs for longer"))
            .expect("the first");
        sandbox.count_start_as_failed();
        sandbox.on_app_exit();
        assert!(
            attempts.has_reached_failed_start_limit(),
            "a regular exit after the waiting time should count as failed"
        );
        let sandbox = sandbox_in_folder(folder.path(), Ok(()));
        sandbox.count_start_as_failed();
        assert!(sandbox.disable_sandbox_for_next_start(), "the sandbox should be given up after its process ended");
        sandbox.on_app_exit();
        assert!(attempts.has_reached_failed_start_limit(), "the exit for the restart should keep the count");
    }

    #[test]
    fn sandbox_is_disabled_only_before_the_page_appears() {
        let folder = tempfile::tempdir().expect("a folder");
        let sandbox = sandbox_in_folder(folder.path(), Ok(()));
        sandbox.count_start_as_failed();
        assert!(sandbox.disable_sandbox_for_next_start(), "the process ended before the page appeared");
        assert!(
            FailedStartCounter::new(folder.path(), None, "1".into()).has_reached_failed_start_limit(),
            "the next start should disable the sandbox"
        );
        assert!(
            !sandbox_in_folder(folder.path(), Err(SandboxObstacle::NoPage)).disable_sandbox_for_next_start(),
            "a start without the sandbox should not restart again"
        );
        sandbox.record_page_drawn();
        assert!(!sandbox.disable_sandbox_for_next_start(), "a process that ends later has another cause");
        let missing = sandbox_in_folder(&folder.path().join("gone"), Ok(()));
        assert!(!missing.disable_sandbox_for_next_start(), "without a stored count the app should not restart");
        let unnoted = PageSandbox::new(Ok(()), None);
        assert!(
            !unnoted.disable_sandbox_for_next_start(),
            "a measurement should not restart, because it stores nothing"
        );
    }

    #[test]
    fn failed_start_is_counted_in_session_folder_if_necessary() {
        let (data, session) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(session.path(), private).expect("set");
        std::fs::create_dir_all(data.path().join("page-sandbox.json/full")).expect("made");
        let start = || {
            let attempts = FailedStartCounter::new(data.path(), Some(session.path()), "1".into());
            PageSandbox::new(Ok(()), Some(attempts))
        };
        let sandbox = start();
        sandbox.count_start_as_failed();
        assert!(
            sandbox.storage_problem().expect("the problem should be reported").contains("page-sandbox.json"),
            "the problem should contain the file"
        );
        assert!(
            sandbox.disable_sandbox_for_next_start(),
            "the sandbox should be given up, because the count is stored"
        );
        let has_failed = start().attempts.as_ref().is_some_and(FailedStartCounter::has_reached_failed_start_limit);
        assert_eq!(
            decide_sandbox(false, has_failed, || Ok(()), || Ok(())),
            Err(SandboxObstacle::NoPage),
            "the next start should disable the sandbox"
        );
        start().reset_failed_starts().expect("the count in the session's folder should be reset");
        let has_failed = start().attempts.as_ref().is_some_and(FailedStartCounter::has_reached_failed_start_limit);
        assert_eq!(
            decide_sandbox(false, has_failed, || Ok(()), || Ok(())),
            Ok(()),
            "the next start should try the sandbox"
        );
    }
}
