//! Page sandbox on macOS and Windows, where the web view is sandboxed by default.

// `prepare` has the same signature as on Linux.
#![allow(unsafe_code)]

use std::path::Path;

use tauri::{AppHandle, Runtime, WebviewWindow};

use super::SandboxState;

/// Counterpart of the type on Linux without any state, since these web views are sandboxed by default.
pub(crate) struct PageSandbox;

impl PageSandbox {
    /// Does nothing on this system.
    ///
    /// # Safety
    /// Has no requirements on this system.
    pub(crate) const unsafe fn prepare(_data_dir: Option<&Path>) -> Self {
        Self
    }

    pub(crate) const fn on_window_opening<R: Runtime>(_app: &AppHandle<R>) {}

    pub(crate) const fn watch_web_process<R: Runtime>(_window: &WebviewWindow<R>) -> tauri::Result<()> {
        Ok(())
    }

    pub(crate) const fn record_page_drawn(&self) {}

    pub(crate) const fn on_app_exit(&self) {}

    pub(crate) const fn state(&self) -> SandboxState {
        SandboxState::Native
    }

    pub(crate) const fn storage_problem(&self) -> Option<String> {
        None
    }

    pub(crate) const fn reset_failed_starts(&self) -> Result<(), String> {
        Ok(())
    }
}
