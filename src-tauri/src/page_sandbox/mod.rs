//! Sandbox of the process that draws the page.
//!
//! On Linux WebKitGTK parses and runs the page in a separate process. This process has all rights of the user unless
//! the app enables WebKitGTK's sandbox, which uses bubblewrap to run it in separate namespaces, without the user's
//! files and without a network. [`PageSandbox`] enables the sandbox if the system supports it, and reports its state to
//! the settings page. `run` in `lib.rs` creates it, and `window.rs` uses it to watch the page.
//!
//! The web views of macOS and Windows are sandboxed by default.

#[cfg(target_os = "linux")]
mod attempts;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod trial;
#[cfg(target_os = "linux")]
mod web_process;

use serde::Serialize;
use tauri::State;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::PageSandbox;
#[cfg(target_os = "linux")]
pub(crate) use linux::PageSandbox;

/// State of the sandbox of the page's process, shown on the settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
#[allow(dead_code, reason = "each system constructs a part of them")]
pub(crate) enum SandboxState {
    /// The system's web view is sandboxed by default, as on macOS and Windows.
    Native,
    /// The web process runs in separate namespaces.
    On,
    /// The web process has all rights of the user, for the contained reason.
    Off(SandboxObstacle),
}

/// Reason why the web process runs without the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[allow(dead_code, reason = "each system constructs a part of them")]
pub(crate) enum SandboxObstacle {
    /// An environment variable of WebKitGTK disables the sandbox.
    TurnedOff,
    /// The program bubblewrap is not installed.
    NoBubblewrap,
    /// The program xdg-dbus-proxy is not installed. WebKitGTK aborts the whole app if it can't start this program.
    NoBusProxy,
    /// The operating system denies bubblewrap the creation of namespaces.
    NoNamespaces {
        /// Error message of bubblewrap.
        cause: String,
    },
    /// The page did not appear in the last starts with the sandbox.
    NoPage,
    /// WebKitGTK was configured to use the sandbox, but the web process runs without it.
    NotApplied,
    /// No file can be written to count failed starts, so that with the sandbox the window could stay blank at every
    /// start.
    NoMemory {
        /// Path of the file, and the reason why it can't be written, as a sentence for the user.
        cause: String,
    },
}

/// State of the page sandbox, and the problem with the file that counts failed starts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxReport {
    #[serde(flatten)]
    state: SandboxState,
    /// Reason why failed starts can't be counted in the data folder, as a sentence for the user.
    storage_problem: Option<String>,
}

/// Command that returns the state of the page's sandbox for the settings page.
#[tauri::command]
pub(crate) fn page_sandbox(sandbox: State<'_, PageSandbox>) -> SandboxReport {
    SandboxReport { state: sandbox.state(), storage_problem: sandbox.storage_problem() }
}

/// Command that resets the count of failed starts, so that the next start tries the sandbox again.
///
/// # Errors
/// Returns a message for the user if a file that prevents it can't be removed.
#[tauri::command]
pub(crate) fn retry_page_sandbox(sandbox: State<'_, PageSandbox>) -> Result<(), String> {
    sandbox.reset_failed_starts()
}
