//! The start at login on macOS (a launch agent) and Windows (the user's own Run key).

use std::env;

use auto_launch::{AutoLaunch, AutoLaunchBuilder, WindowsEnableMode};

use super::BACKGROUND;

/// Whether the app starts at login.
///
/// # Errors
/// In words, if that can't be told.
pub(super) fn is_on() -> Result<bool, String> {
    entry()?.is_enabled().map_err(|error| error.to_string())
}

/// Has the app start at login, or not.
///
/// # Errors
/// In words, if the system does not take it.
pub(super) fn set(on: bool) -> Result<(), String> {
    let entry = entry()?;
    if on { entry.enable() } else { entry.disable() }.map_err(|error| error.to_string())
}

fn entry() -> Result<AutoLaunch, String> {
    let program = env::current_exe().map_err(|error| format!("The program's own path is not known: {error}"))?;
    let path = program.to_str().ok_or_else(|| format!("{} is not Unicode.", program.display()))?;
    // The Run key is a command line.
    let path = if cfg!(windows) { format!("\"{path}\"") } else { path.to_owned() };
    AutoLaunchBuilder::new()
        .set_app_name("Drawbridge")
        .set_app_path(&path)
        .set_windows_enable_mode(WindowsEnableMode::CurrentUser)
        .set_args(&[BACKGROUND])
        .build()
        .map_err(|error| error.to_string())
}
