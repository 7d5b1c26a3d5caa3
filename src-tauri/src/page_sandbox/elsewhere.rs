//! macOS and Windows, whose web views bring a sandbox of their own.

// The same signature as on Linux.
#![allow(unsafe_code)]

use std::path::Path;

use tauri::{AppHandle, Runtime, WebviewWindow};

use super::SandboxState;

/// Nothing to turn on and nothing to watch.
pub(crate) struct PageSandbox;

impl PageSandbox {
    /// # Safety
    /// None is needed here.
    pub(crate) const unsafe fn prepare(_data_dir: Option<&Path>) -> Self {
        Self
    }

    pub(crate) const fn open<R: Runtime>(_app: &AppHandle<R>) {}

    pub(crate) const fn watch<R: Runtime>(_window: &WebviewWindow<R>) -> tauri::Result<()> {
        Ok(())
    }

    pub(crate) const fn page_came(&self) {}

    pub(crate) const fn end(&self) {}

    pub(crate) const fn state(&self) -> SandboxState {
        SandboxState::Native
    }

    pub(crate) const fn unkept(&self) -> Option<String> {
        None
    }

    pub(crate) const fn retry(&self) -> Result<(), String> {
        Ok(())
    }
}
