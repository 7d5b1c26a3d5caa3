//! Start at login on macOS (a launch agent) and Windows (the user's Run key).

use std::env;

use auto_launch::{AutoLaunch, AutoLaunchBuilder, WindowsEnableMode};

use super::BACKGROUND_OPTION;

/// Returns `true` if the operating system starts Drawbridge at login.
///
/// # Errors
/// Returns a message for the user if the state can't be determined.
pub(super) fn is_login_start_on() -> Result<bool, String> {
    auto_launch()?.is_enabled().map_err(|error| error.to_string())
}

/// Turns the start of Drawbridge at login on or off.
///
/// # Errors
/// Returns a message for the user if the system rejects the change.
pub(super) fn set_login_start_enabled(on: bool) -> Result<(), String> {
    let entry = auto_launch()?;
    if on { entry.enable() } else { entry.disable() }.map_err(|error| error.to_string())
}

fn auto_launch() -> Result<AutoLaunch, String> {
    let program = env::current_exe().map_err(|error| format!("The path of the program is unknown: {error}"))?;
    let path = program.to_str().ok_or_else(|| format!("{} is not Unicode.", program.display()))?;
    // `auto-launch` writes the path unescaped into the XML of the launch agent, which macOS would then ignore.
    if cfg!(target_os = "macos") && path.contains(['&', '<']) {
        return Err(format!(
            "{path} can't be started at login, because its path contains \"&\" or \"<\". Move it to another folder."
        ));
    }
    // The value of the Run key is a command line, so the path is quoted.
    let path = if cfg!(windows) { format!("\"{path}\"") } else { path.to_owned() };
    AutoLaunchBuilder::new()
        .set_app_name("Drawbridge")
        .set_app_path(&path)
        .set_windows_enable_mode(WindowsEnableMode::CurrentUser)
        .set_args(&[BACKGROUND_OPTION])
        .build()
        .map_err(|error| error.to_string())
}
