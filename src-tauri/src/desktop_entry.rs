//! Desktop files that the app writes for its user (Desktop Entry Specification 1.5), and their folders (XDG Base
//! Directory Specification 0.8). Used on Linux by the start at login and the link handler.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Maximum size of a desktop file that is read, in bytes.
const MAX_DESKTOP_FILE_BYTES: u64 = 256 << 10;

/// Returns the path of Drawbridge's program for use in a desktop file. Error messages mention `purpose`, the feature
/// that needs the path.
///
/// # Errors
/// Returns a message for the user if the program has another path at each start.
pub(crate) fn stable_program_path(purpose: &str) -> Result<PathBuf, String> {
    if Path::new("/.flatpak-info").exists() || env::var_os("SNAP").is_some() {
        return Err(format!("This package of Drawbridge can't {purpose}."));
    }
    // An AppImage runs from a mount point that changes with each start, so the path of the AppImage file is used.
    let program = env::var_os("APPIMAGE").map_or_else(env::current_exe, |file| Ok(file.into()));
    program.map_err(|error| format!("The path of the program is unknown: {error}"))
}

/// Returns a folder of the user: the value of the environment variable if it is an absolute path, or else `usual` in
/// the home folder.
///
/// # Errors
/// Returns a message for the user if there is no home folder.
pub(crate) fn xdg_user_folder(variable: &str, usual: &str) -> Result<PathBuf, String> {
    absolute_folder_or_default(env::var_os(variable), env::home_dir(), usual)
        .ok_or_else(|| "This user has no home folder.".to_owned())
}

fn absolute_folder_or_default(named: Option<OsString>, home: Option<PathBuf>, usual: &str) -> Option<PathBuf> {
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| home.map(|home| home.join(usual)))
}

/// Returns the value of the key `Exec` (section "The Exec key"): the quoted program and an argument, escaped as a
/// string of a desktop file.
///
/// # Errors
/// Returns a message for the user if the path can't be represented in a desktop file.
pub(crate) fn desktop_exec_value(program: &Path, argument: &str) -> Result<String, String> {
    let path = program.to_str().filter(|path| !path.contains(char::is_control));
    let path = path.ok_or_else(|| format!("A desktop file can't contain the path {}.", program.display()))?;
    let mut quoted = String::new();
    for character in path.chars() {
        match character {
            '\\' => quoted.push_str(r"\\\\"),
            '"' | '`' | '$' => quoted.extend([r"\\", character.encode_utf8(&mut [0; 4])]),
            '%' => quoted.push_str("%%"),
            other => quoted.push(other),
        }
    }
    Ok(format!("\"{quoted}\" {argument}"))
}

/// Returns all pairs of key and value in the group `group` of a desktop file.
pub(crate) fn desktop_entry_group_keys<'t>(text: &'t str, group: &str) -> Vec<(&'t str, &'t str)> {
    let header = format!("[{group}]");
    let lines = text.lines().map(str::trim).skip_while(|line| *line != header).skip(1);
    let keys = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    keys.map(|(key, value)| (key.trim_end(), value.trim_start())).collect()
}

/// Returns `true` if `exec` is the command line in a desktop file with this text, and the file is not disabled.
pub(crate) fn desktop_entry_runs_command(text: &str, exec: &str) -> bool {
    let keys = desktop_entry_group_keys(text, "Desktop Entry");
    keys.contains(&("Exec", exec)) && !keys.contains(&("Hidden", "true"))
}

/// Reads a desktop file or a list of default applications, of at most [`MAX_DESKTOP_FILE_BYTES`] bytes. Returns `None`
/// if the file does not exist.
///
/// # Errors
/// Returns an error if the file can't be read, is not UTF-8, or is too large.
pub(crate) fn read_desktop_file(file: &Path) -> io::Result<Option<String>> {
    use io::Read as _;
    let file = match fs::File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    file.take(MAX_DESKTOP_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_DESKTOP_FILE_BYTES {
        return Err(io::Error::other(format!("it has more than {} KiB", MAX_DESKTOP_FILE_BYTES >> 10)));
    }
    Ok(Some(text))
}

/// Writes a desktop file or a list of default applications, and creates its parent folders.
///
/// # Errors
/// Returns an error if the file can't be written.
pub(crate) fn write_desktop_file(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

/// Removes a desktop file if it exists.
///
/// # Errors
/// Returns an error if the file exists and can't be removed.
pub(crate) fn remove_desktop_file(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns the message for a failed operation on a desktop file or a list of default applications. `tried` describes
/// the operation.
pub(crate) fn desktop_file_problem_text(file: &Path, tried: &str, error: &io::Error) -> String {
    format!("{} can't be {tried}: {error}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_path_is_quoted_in_the_exec_value() {
        let quoted = |path: &str| desktop_exec_value(Path::new(path), "-");
        assert_eq!(quoted("/a b/c").as_deref(), Ok("\"/a b/c\" -"), "space");
        assert_eq!(quoted("/a%f").as_deref(), Ok("\"/a%%f\" -"), "field code");
        assert_eq!(quoted("/$a`b\"").as_deref(), Ok(r#""/\\$a\\`b\\"" -"#), "shell characters");
        assert_eq!(quoted(r"/a\b").as_deref(), Ok(r#""/a\\\\b" -"#), "backslash");
        assert!(quoted("/a\nHidden=true").is_err(), "a line break should be rejected");
    }

    #[test]
    fn xdg_user_folder_is_the_variable_or_in_the_home_folder() {
        let home = || Some(PathBuf::from("/home/ann"));
        let config = |named, home| absolute_folder_or_default(named, home, ".config");
        assert_eq!(config(None, home()), Some("/home/ann/.config".into()), "default folder");
        assert_eq!(config(Some("/c".into()), home()), Some("/c".into()), "folder from the variable");
        assert_eq!(
            config(Some("c".into()), home()),
            Some("/home/ann/.config".into()),
            "a relative path should be ignored"
        );
        assert_eq!(config(None, None), None, "without a home folder there is no default");
    }

    #[test]
    fn keys_of_other_desktop_entry_groups_are_ignored() {
        let exec = desktop_exec_value(Path::new("/usr/bin/drawbridge"), "-").expect("text");
        let entry = |more: &str| format!("[Desktop Entry]\nExec={exec}\n{more}");
        assert!(desktop_entry_runs_command(&entry(""), &exec), "the written entry should match");
        assert!(!desktop_entry_runs_command(&entry("Hidden = true"), &exec), "a hidden entry should not match");
        assert!(
            desktop_entry_runs_command(&entry("[Other]\nHidden=true"), &exec),
            "keys of other groups should be ignored"
        );
        assert!(
            !desktop_entry_runs_command("[Desktop Entry]\nExec=\"/other\" -", &exec),
            "the entry of another program should not match"
        );
    }

    #[test]
    fn oversized_desktop_entry_file_is_rejected() {
        assert!(read_desktop_file(Path::new("/dev/zero")).is_err(), "an endless file should be rejected");
        assert_eq!(
            read_desktop_file(Path::new("/dev/none.desktop")).ok(),
            Some(None),
            "a missing file should be `None`"
        );
    }
}
