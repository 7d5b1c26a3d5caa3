//! The sandbox of the process that draws the page.
//!
//! On Linux WebKitGTK parses and runs the page in a process of its own, which has all rights of the user unless an app turns on
//! WebKitGTK's sandbox: bubblewrap with namespaces of its own, without the user's files and without a network. [`PageSandbox`] turns it
//! on where the system allows it and tells Settings about it. `run` in `lib.rs` makes it, `window.rs` watches the page with it.
//!
//! The web views of macOS and Windows bring a sandbox that no app has to turn on.

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

/// The state of the sandbox, as Settings shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
#[allow(dead_code, reason = "each system constructs a part of them")]
pub(crate) enum SandboxState {
    /// The system's web view sees to it.
    Native,
    /// The page's process runs in namespaces of its own.
    On,
    /// The page's process has the rights of the user.
    Off(Obstacle),
}

/// The reason why the page's process runs outside of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "snake_case")]
#[allow(dead_code, reason = "each system constructs a part of them")]
pub(crate) enum Obstacle {
    /// A variable of WebKitGTK in the environment turns it off.
    TurnedOff,
    /// bubblewrap is not installed.
    NoBubblewrap,
    /// xdg-dbus-proxy is not installed. WebKitGTK ends the whole app where it can't start it.
    NoBusProxy,
    /// bubblewrap can't make namespaces here.
    NoNamespaces {
        /// What bubblewrap says.
        cause: String,
    },
    /// The page did not come when it was drawn in the sandbox.
    NoPage,
    /// WebKitGTK was told to use the sandbox, and the page's process runs outside of it.
    NotApplied,
    /// No file can be written that would remember a page that does not come, so the window could stay blank at every start.
    NoMemory {
        /// Which file and why, in words.
        cause: String,
    },
}

/// The state of the sandbox with what is wrong with its file.
#[derive(Debug, Serialize)]
pub(crate) struct SandboxReport {
    #[serde(flatten)]
    state: SandboxState,
    /// Why a page that does not come is not remembered as it should be, in words.
    unkept: Option<String>,
}

/// Tells Settings about the sandbox.
#[tauri::command]
pub(crate) fn page_sandbox(sandbox: State<'_, PageSandbox>) -> SandboxReport {
    SandboxReport { state: sandbox.state(), unkept: sandbox.unkept() }
}

/// Has the next start try the sandbox again, after the page did not come in it.
///
/// # Errors
/// In words, if the file that keeps it from being tried can't be removed.
#[tauri::command]
pub(crate) fn retry_page_sandbox(sandbox: State<'_, PageSandbox>) -> Result<(), String> {
    sandbox.retry()
}
