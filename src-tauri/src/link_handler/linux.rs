//! Link handler on Linux: a separate desktop file for the URL scheme, and the user's default application for it
//! (Association between MIME types and applications 1.0.1).
//!
//! The desktop file of the package declares no scheme. The default application is set without `xdg-mime`, and the cache
//! of `update-desktop-database` is not required.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::desktop_entry::{
    desktop_entry_group_keys, desktop_entry_runs_command, desktop_exec_value, desktop_file_problem_text,
    read_desktop_file, remove_desktop_file, stable_program_path, write_desktop_file, xdg_user_folder,
};

/// Path of the desktop file, relative to the user's data folder.
const LINK_HANDLER_ENTRY_PATH: &str = "applications/drawbridge-links.desktop";
/// ID of the desktop file in the list of default applications.
const LINK_HANDLER_ENTRY_ID: &str = "drawbridge-links.desktop";
/// Path of the user's list of default applications, relative to the user's configuration folder.
const DEFAULT_APPLICATIONS_PATH: &str = "mimeapps.list";
const DEFAULT_APPLICATIONS_GROUP: &str = "Default Applications";
const LINK_SCHEME_MIME_TYPE: &str = "x-scheme-handler/drawbridge";

/// Returns `true` if the desktop environment opens `drawbridge:` links with Drawbridge.
///
/// # Errors
/// Returns a message for the user if the state can't be determined.
pub(super) fn is_link_handler_on() -> Result<bool, String> {
    LinkHandlerFiles::for_user()?.is_enabled()
}

/// Registers or unregisters Drawbridge for `drawbridge:` links.
///
/// # Errors
/// Returns a message for the user if a file can't be read or written.
pub(super) fn set_link_handler_enabled(on: bool) -> Result<(), String> {
    LinkHandlerFiles::for_user()?.set_enabled(on)
}

struct LinkHandlerFiles {
    entry: PathBuf,
    choices: PathBuf,
    /// Value of the key `Exec` in the desktop file.
    exec: String,
}

impl LinkHandlerFiles {
    fn for_user() -> Result<Self, String> {
        Ok(Self {
            entry: xdg_user_folder("XDG_DATA_HOME", ".local/share")?.join(LINK_HANDLER_ENTRY_PATH),
            choices: xdg_user_folder("XDG_CONFIG_HOME", ".config")?.join(DEFAULT_APPLICATIONS_PATH),
            exec: desktop_exec_value(&stable_program_path("turn links on")?, "%u")?,
        })
    }

    fn is_enabled(&self) -> Result<bool, String> {
        let entry = read_text(&self.entry)?;
        Ok(desktop_entry_runs_command(&entry, &self.exec)
            && default_link_handler(&read_text(&self.choices)?) == Some(LINK_HANDLER_ENTRY_ID))
    }

    fn set_enabled(&self, on: bool) -> Result<(), String> {
        let before = read_text(&self.choices)?;
        if on {
            let entry = format!(
                "[Desktop Entry]\nType=Application\nName=Drawbridge\nExec={}\nIcon=drawbridge\nTerminal=false\nNoDisplay=true\n\
                 StartupNotify=true\nMimeType={LINK_SCHEME_MIME_TYPE};\n",
                self.exec
            );
            write_desktop_file(&self.entry, &entry)
                .map_err(|error| desktop_file_problem_text(&self.entry, "written", &error))?;
            return self.write_default_applications(&before, &with_default_link_handler(&before));
        }
        if default_link_handler(&before) == Some(LINK_HANDLER_ENTRY_ID) {
            self.write_default_applications(&before, &without_default_link_handler(&before))?;
        }
        remove_desktop_file(&self.entry).map_err(|error| desktop_file_problem_text(&self.entry, "removed", &error))
    }

    /// Writes the list of default applications if it has changed. Replaces the file atomically, because it also
    /// contains the user's applications for other types.
    fn write_default_applications(&self, before: &str, after: &str) -> Result<(), String> {
        if before == after {
            return Ok(());
        }
        replace_list_atomically(&self.choices, after)
            .map_err(|error| desktop_file_problem_text(&self.choices, "written", &error))
    }
}

fn read_text(file: &Path) -> Result<String, String> {
    read_desktop_file(file)
        .map(Option::unwrap_or_default)
        .map_err(|error| desktop_file_problem_text(file, "read", &error))
}

fn replace_list_atomically(file: &Path, text: &str) -> io::Result<()> {
    // If the file is a symbolic link, as for users who manage their configuration elsewhere, the target is replaced.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let new = file.with_extension("list.drawbridge");
    write_desktop_file(&new, text)?;
    if let Ok(facts) = fs::metadata(&file) {
        fs::set_permissions(&new, facts.permissions())?;
    }
    fs::rename(&new, &file)
}

/// Returns the desktop file of the default application for `drawbridge:` links in a list of default applications: the
/// first entry in the scheme's line.
fn default_link_handler(choices: &str) -> Option<&str> {
    let (_, value) = desktop_entry_group_keys(choices, DEFAULT_APPLICATIONS_GROUP)
        .into_iter()
        .find(|(key, _)| *key == LINK_SCHEME_MIME_TYPE)?;
    value.split(';').next().map(str::trim)
}

/// Returns the list of default applications `choices`, changed so that Drawbridge opens `drawbridge:` links.
fn with_default_link_handler(choices: &str) -> String {
    let mut lines: Vec<String> = without_default_link_handler(choices).lines().map(str::to_owned).collect();
    let header = format!("[{DEFAULT_APPLICATIONS_GROUP}]");
    let at = lines.iter().position(|line| line.trim() == header).unwrap_or_else(|| {
        lines.push(header);
        lines.len() - 1
    });
    lines.insert(at + 1, format!("{LINK_SCHEME_MIME_TYPE}={LINK_HANDLER_ENTRY_ID};"));
    lines.join("\n") + "\n"
}

/// Returns the list of default applications `choices` without an application for `drawbridge:` links.
fn without_default_link_handler(choices: &str) -> String {
    let header = format!("[{DEFAULT_APPLICATIONS_GROUP}]");
    let mut is_in_group = false;
    let others = choices.split_inclusive('\n').filter(|line| {
        let line = line.trim();
        if line.starts_with('[') {
            is_in_group = line == header;
        }
        !(is_in_group && line.split_once('=').is_some_and(|(key, _)| key.trim_end() == LINK_SCHEME_MIME_TYPE))
    });
    others.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER_DEFAULT_APPLICATIONS: &str = "# mine\n[Added Associations]\nx-scheme-handler/drawbridge=other.desktop;\n\n[Default Applications]\ntext/html=firefox.desktop\n";

    fn handler_files(folder: &Path) -> LinkHandlerFiles {
        let exec = desktop_exec_value(Path::new("/opt/a b/drawbridge"), "%u").expect("text");
        LinkHandlerFiles {
            entry: folder.join("data").join(LINK_HANDLER_ENTRY_PATH),
            choices: folder.join("config").join(DEFAULT_APPLICATIONS_PATH),
            exec,
        }
    }

    #[test]
    fn link_handler_is_off_by_default_and_turning_it_off_leaves_no_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = handler_files(folder.path());
        assert_eq!(places.is_enabled(), Ok(false), "links should be off by default");
        assert_eq!(places.set_enabled(false), Ok(()), "turning off twice should succeed");
        assert!(!places.choices.exists(), "turning off should write nothing");
        write_desktop_file(&places.choices, OTHER_DEFAULT_APPLICATIONS).expect("written");
        assert_eq!(places.set_enabled(true), Ok(()), "turning on should succeed");
        assert_eq!(places.is_enabled(), Ok(true), "links should be on");
        assert_eq!(places.set_enabled(true), Ok(()), "turning on twice should succeed");
        let text = fs::read_to_string(&places.entry).expect("the file");
        assert!(text.contains("\nExec=\"/opt/a b/drawbridge\" %u\n"), "the command should receive the link: {text}");
        let choices = fs::read_to_string(&places.choices).expect("the choices");
        assert_eq!(choices.matches(LINK_HANDLER_ENTRY_ID).count(), 1, "the default should be written once: {choices}");
        assert_eq!(places.set_enabled(false), Ok(()), "turning off should succeed");
        assert_eq!(places.is_enabled(), Ok(false), "links should be off");
        assert!(!places.entry.exists(), "the desktop file should be removed");
        assert_eq!(
            fs::read_to_string(&places.choices).ok().as_deref(),
            Some(OTHER_DEFAULT_APPLICATIONS),
            "the other defaults should be unchanged"
        );
    }

    #[test]
    fn default_handler_of_another_app_is_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = handler_files(folder.path());
        assert_eq!(places.set_enabled(true), Ok(()), "turning on should succeed");
        let others = "[Default Applications]\nx-scheme-handler/drawbridge = other.desktop;drawbridge-links.desktop\n";
        write_desktop_file(&places.choices, others).expect("written");
        assert_eq!(places.is_enabled(), Ok(false), "another default should turn links off");
        assert_eq!(places.set_enabled(false), Ok(()), "turning off should succeed");
        assert_eq!(
            fs::read_to_string(&places.choices).ok().as_deref(),
            Some(others),
            "the other default should be kept"
        );
    }

    #[test]
    fn missing_default_applications_group_and_newline_are_added() {
        for before in ["", "[Default Applications]", "[Added Associations]\na/b=c.desktop"] {
            let after = with_default_link_handler(before);
            assert_eq!(
                default_link_handler(&after),
                Some(LINK_HANDLER_ENTRY_ID),
                "the default should be set in {after:?}"
            );
            assert_eq!(with_default_link_handler(&after), after, "setting the default twice should change nothing");
        }
        assert_eq!(
            default_link_handler("[Added Associations]\nx-scheme-handler/drawbridge=drawbridge-links.desktop"),
            None,
            "an association is not a default"
        );
    }

    #[test]
    fn symlinked_default_applications_file_stays_a_symlink() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = handler_files(folder.path());
        let real = folder.path().join("dotfiles/mimeapps.list");
        write_desktop_file(&real, OTHER_DEFAULT_APPLICATIONS).expect("written");
        fs::create_dir_all(folder.path().join("config")).expect("a folder");
        std::os::unix::fs::symlink(&real, &places.choices).expect("a link");
        assert_eq!(places.set_enabled(true), Ok(()), "turning on should succeed");
        assert_eq!(places.is_enabled(), Ok(true), "links should be on");
        assert!(fs::symlink_metadata(&places.choices).expect("there").is_symlink(), "the symbolic link should be kept");
        assert!(
            fs::read_to_string(&real).expect("there").contains(LINK_HANDLER_ENTRY_ID),
            "the target should contain the default"
        );
    }
}
