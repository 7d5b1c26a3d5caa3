//! Start at login on Linux: a desktop file in the user's autostart folder (Desktop Application Autostart Specification
//! 0.5).
//!
//! The crate `auto-launch` is used only on other systems, because on Linux it does not quote the program's path and
//! ignores `XDG_CONFIG_HOME`.

use std::path::PathBuf;

use super::BACKGROUND_OPTION;
use crate::desktop_entry::{
    desktop_entry_group_keys, desktop_entry_runs_command, desktop_exec_value, desktop_file_problem_text,
    read_desktop_file, remove_desktop_file, stable_program_path, write_desktop_file, xdg_user_folder,
};

/// Path of the desktop file, relative to the user's configuration folder.
const AUTOSTART_PATH: &str = "autostart/drawbridge.desktop";

/// Returns `true` if the desktop environment starts Drawbridge at login.
///
/// # Errors
/// Returns a message for the user if the state can't be determined.
pub(super) fn is_login_start_on() -> Result<bool, String> {
    AutostartEntry::for_user()?.is_enabled()
}

/// Turns the start of Drawbridge at login on or off.
///
/// # Errors
/// Returns a message for the user if the file can't be written or removed.
pub(super) fn set_login_start_enabled(on: bool) -> Result<(), String> {
    AutostartEntry::for_user()?.set_enabled(on)
}

struct AutostartEntry {
    file: PathBuf,
    /// Value of the key `Exec` in the desktop file.
    exec: String,
}

impl AutostartEntry {
    fn for_user() -> Result<Self, String> {
        let exec = desktop_exec_value(&stable_program_path("start at login")?, BACKGROUND_OPTION)?;
        Ok(Self { file: xdg_user_folder("XDG_CONFIG_HOME", ".config")?.join(AUTOSTART_PATH), exec })
    }

    fn is_enabled(&self) -> Result<bool, String> {
        let text =
            read_desktop_file(&self.file).map_err(|error| desktop_file_problem_text(&self.file, "read", &error))?;
        Ok(text.is_some_and(|text| runs_at_login(&text, &self.exec)))
    }

    fn set_enabled(&self, on: bool) -> Result<(), String> {
        if !on {
            return remove_desktop_file(&self.file)
                .map_err(|error| desktop_file_problem_text(&self.file, "removed", &error));
        }
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Drawbridge\nExec={}\nIcon=drawbridge\nTerminal=false\n\
             X-GNOME-Autostart-enabled=true\n",
            self.exec
        );
        write_desktop_file(&self.file, &entry).map_err(|error| desktop_file_problem_text(&self.file, "written", &error))
    }
}

/// Returns `true` if a desktop file with this text lets the desktop environment run the command line `exec` at login.
fn runs_at_login(text: &str, exec: &str) -> bool {
    desktop_entry_runs_command(text, exec)
        && !desktop_entry_group_keys(text, "Desktop Entry").contains(&("X-GNOME-Autostart-enabled", "false"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn start_at_login_is_off_by_default_and_can_be_turned_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let exec = desktop_exec_value(Path::new("/opt/a b/drawbridge"), BACKGROUND_OPTION).expect("text");
        let place = AutostartEntry { file: folder.path().join(AUTOSTART_PATH), exec };
        assert_eq!(place.is_enabled(), Ok(false), "the start at login should be off by default");
        assert_eq!(place.set_enabled(false), Ok(()), "turning off twice should succeed");
        assert_eq!(place.set_enabled(true), Ok(()), "turning on should succeed");
        assert_eq!(place.is_enabled(), Ok(true), "the start at login should be on");
        let text = fs::read_to_string(&place.file).expect("the file");
        assert!(
            text.contains("\nExec=\"/opt/a b/drawbridge\" --background\n"),
            "the command should start without a window: {text}"
        );
        assert_eq!(place.set_enabled(false), Ok(()), "turning off should succeed");
        assert!(!place.file.exists(), "the desktop file should be removed");
    }

    #[test]
    fn autostart_entry_disabled_by_the_desktop_counts_as_off() {
        let entry = |more: &str| format!("[Desktop Entry]\nExec=x --background\n{more}");
        assert!(runs_at_login(&entry(""), "x --background"), "the written entry should start the app");
        assert!(!runs_at_login(&entry("Hidden=true"), "x --background"), "the key `Hidden` should disable the entry");
        assert!(
            !runs_at_login(&entry("X-GNOME-Autostart-enabled = false"), "x --background"),
            "GNOME's key should disable the entry"
        );
    }
}
