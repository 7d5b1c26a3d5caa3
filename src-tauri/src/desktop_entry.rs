//! Desktop files that the app writes for its user (Desktop Entry Specification 1.5), and where they lie (XDG Base Directory
//! Specification 0.8). Callers: the start at login and the handler of links, on Linux.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The most that is read of a file, in bytes.
const LIMIT: u64 = 256 << 10;

/// The path of this program, for a desktop file.
///
/// # Errors
/// In words, if it has none that is there at another start.
pub(crate) fn program(purpose: &str) -> Result<PathBuf, String> {
    if Path::new("/.flatpak-info").exists() || env::var_os("SNAP").is_some() {
        return Err(format!("This package of Drawbridge can't {purpose}."));
    }
    // An AppImage runs from a folder that is there for this start only.
    let program = env::var_os("APPIMAGE").map_or_else(env::current_exe, |file| Ok(file.into()));
    program.map_err(|error| format!("The program's own path is not known: {error}"))
}

/// A folder of the user's: the one that the variable names, else this one in the home folder. A relative one does not count.
///
/// # Errors
/// In words, if there is no home folder.
pub(crate) fn user_folder(variable: &str, usual: &str) -> Result<PathBuf, String> {
    folder(env::var_os(variable), env::home_dir(), usual).ok_or_else(|| "This user has no home folder.".to_owned())
}

fn folder(named: Option<OsString>, home: Option<PathBuf>, usual: &str) -> Option<PathBuf> {
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| home.map(|home| home.join(usual)))
}

/// The value of `Exec` (section "The Exec key"): the program quoted, then escaped as every string of the file, and an argument of ours.
///
/// # Errors
/// In words, if a desktop file can't name the program.
pub(crate) fn exec(program: &Path, argument: &str) -> Result<String, String> {
    let path = program.to_str().filter(|path| !path.contains(char::is_control));
    let path = path.ok_or_else(|| format!("No desktop file can name {}.", program.display()))?;
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

/// The keys of one group of a desktop file, with their values.
pub(crate) fn keys<'t>(text: &'t str, group: &str) -> Vec<(&'t str, &'t str)> {
    let header = format!("[{group}]");
    let lines = text.lines().map(str::trim).skip_while(|line| *line != header).skip(1);
    let keys = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    keys.map(|(key, value)| (key.trim_end(), value.trim_start())).collect()
}

/// Whether a desktop file runs this command line, and is not turned off.
pub(crate) fn runs(text: &str, exec: &str) -> bool {
    let keys = keys(text, "Desktop Entry");
    keys.contains(&("Exec", exec)) && !keys.contains(&("Hidden", "true"))
}

/// The text of a file; none if it is not there.
///
/// # Errors
/// If it can't be read, is not UTF-8 or too long.
pub(crate) fn read(file: &Path) -> io::Result<Option<String>> {
    use io::Read as _;
    let file = match fs::File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    file.take(LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("it has more than {} KiB", LIMIT >> 10)));
    }
    Ok(Some(text))
}

/// Writes a file, with the folders above it.
///
/// # Errors
/// If it can't be written.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

/// Removes a file that may be there.
///
/// # Errors
/// If it is there and can't be removed.
pub(crate) fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// What is said when a file can't be dealt with.
pub(crate) fn problem(file: &Path, tried: &str, error: &io::Error) -> String {
    format!("{} can't be {tried}: {error}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted() {
        let quoted = |path: &str| exec(Path::new(path), "-");
        assert_eq!(quoted("/a b/c").as_deref(), Ok("\"/a b/c\" -"), "a space");
        assert_eq!(quoted("/a%f").as_deref(), Ok("\"/a%%f\" -"), "a field code");
        assert_eq!(quoted("/$a`b\"").as_deref(), Ok(r#""/\\$a\\`b\\"" -"#), "what a shell would read");
        assert_eq!(quoted(r"/a\b").as_deref(), Ok(r#""/a\\\\b" -"#), "a backslash");
        assert!(quoted("/a\nHidden=true").is_err(), "a line break can't be named");
    }

    #[test]
    fn the_folder_is_the_users() {
        let home = || Some(PathBuf::from("/home/ann"));
        let config = |named, home| folder(named, home, ".config");
        assert_eq!(config(None, home()), Some("/home/ann/.config".into()), "the usual one");
        assert_eq!(config(Some("/c".into()), home()), Some("/c".into()), "the named one");
        assert_eq!(config(Some("c".into()), home()), Some("/home/ann/.config".into()), "a relative one");
        assert_eq!(config(None, None), None, "no home");
    }

    #[test]
    fn keys_are_those_of_one_group() {
        let exec = exec(Path::new("/usr/bin/drawbridge"), "-").expect("text");
        let entry = |more: &str| format!("[Desktop Entry]\nExec={exec}\n{more}");
        assert!(runs(&entry(""), &exec), "as it is written");
        assert!(!runs(&entry("Hidden = true"), &exec), "turned off");
        assert!(runs(&entry("[Other]\nHidden=true"), &exec), "a key of another group is not ours");
        assert!(!runs("[Desktop Entry]\nExec=\"/other\" -", &exec), "another program");
    }

    #[test]
    fn a_file_without_an_end_is_not_read() {
        assert!(read(Path::new("/dev/zero")).is_err(), "bounded");
        assert_eq!(read(Path::new("/dev/none.desktop")).ok(), Some(None), "nothing is there");
    }
}
