//! The start at login on Linux: a desktop file in the user's autostart folder (Desktop Application Autostart Specification 0.5). The
//! crate `auto-launch`, which the other systems use, does not quote the program's path and does not know `XDG_CONFIG_HOME`.

use std::path::PathBuf;

use super::BACKGROUND;
use crate::desktop_entry::{exec, keys, problem, program, read, remove, runs, user_folder, write};

/// The file, in the folder for configuration.
const FILE: &str = "autostart/drawbridge.desktop";

/// Whether the app starts at login.
///
/// # Errors
/// In words, if that can't be told.
pub(super) fn is_on() -> Result<bool, String> {
    Place::of_user()?.is_on()
}

/// Has the app start at login, or not.
///
/// # Errors
/// In words, if the file can't be written or removed.
pub(super) fn set(on: bool) -> Result<(), String> {
    Place::of_user()?.set(on)
}

struct Place {
    file: PathBuf,
    /// The command line in it.
    exec: String,
}

impl Place {
    fn of_user() -> Result<Self, String> {
        let exec = exec(&program("start at login")?, BACKGROUND)?;
        Ok(Self { file: user_folder("XDG_CONFIG_HOME", ".config")?.join(FILE), exec })
    }

    fn is_on(&self) -> Result<bool, String> {
        let text = read(&self.file).map_err(|error| problem(&self.file, "read", &error))?;
        Ok(text.is_some_and(|text| starts(&text, &self.exec)))
    }

    fn set(&self, on: bool) -> Result<(), String> {
        if !on {
            return remove(&self.file).map_err(|error| problem(&self.file, "removed", &error));
        }
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Drawbridge\nExec={}\nIcon=drawbridge\nTerminal=false\n\
             X-GNOME-Autostart-enabled=true\n",
            self.exec
        );
        write(&self.file, &entry).map_err(|error| problem(&self.file, "written", &error))
    }
}

/// Whether a desktop file has this command line started at login.
fn starts(text: &str, exec: &str) -> bool {
    runs(text, exec) && !keys(text, "Desktop Entry").contains(&("X-GNOME-Autostart-enabled", "false"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn it_is_off_until_it_is_turned_on_and_can_be_turned_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let exec = exec(Path::new("/opt/a b/drawbridge"), BACKGROUND).expect("text");
        let place = Place { file: folder.path().join(FILE), exec };
        assert_eq!(place.is_on(), Ok(false), "off at first");
        assert_eq!(place.set(false), Ok(()), "off once more");
        assert_eq!(place.set(true), Ok(()), "turned on");
        assert_eq!(place.is_on(), Ok(true), "on");
        let text = fs::read_to_string(&place.file).expect("the file");
        assert!(text.contains("\nExec=\"/opt/a b/drawbridge\" --background\n"), "without a window: {text}");
        assert_eq!(place.set(false), Ok(()), "turned off");
        assert!(!place.file.exists(), "nothing is left");
    }

    #[test]
    fn what_the_desktop_turned_off_is_off() {
        let entry = |more: &str| format!("[Desktop Entry]\nExec=x --background\n{more}");
        assert!(starts(&entry(""), "x --background"), "as it is written");
        assert!(!starts(&entry("Hidden=true"), "x --background"), "by the specification's key");
        assert!(!starts(&entry("X-GNOME-Autostart-enabled = false"), "x --background"), "by GNOME's");
    }
}
