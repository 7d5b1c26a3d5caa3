//! The start at login on Linux: a desktop file in the user's autostart folder (Desktop Application Autostart Specification 0.5). The
//! crate `auto-launch`, which the other systems use, does not quote the program's path and does not know `XDG_CONFIG_HOME`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use super::BACKGROUND;

/// The name of the file in the autostart folder.
const FILE: &str = "drawbridge.desktop";
/// The most that is read of it, in bytes.
const LIMIT: u64 = 64 << 10;

/// Whether the app starts at login.
///
/// # Errors
/// In words, if that can't be told.
pub(super) fn is_on() -> Result<bool, String> {
    let place = Place::of_user()?;
    match place.read() {
        Ok(text) => Ok(text.is_some_and(|text| starts(&text, &place.exec))),
        Err(error) => Err(place.problem("read", &error)),
    }
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
        if Path::new("/.flatpak-info").exists() || env::var_os("SNAP").is_some() {
            return Err("This package of Drawbridge can't start at login.".to_owned());
        }
        // An AppImage runs from a folder that is there for this start only.
        let program = env::var_os("APPIMAGE").map_or_else(env::current_exe, |file| Ok(file.into()));
        let program = program.map_err(|error| format!("The program's own path is not known: {error}"))?;
        let folder = folder(env::var_os("XDG_CONFIG_HOME"), env::home_dir())
            .ok_or_else(|| "This user has no home folder.".to_owned())?;
        Ok(Self { file: folder.join(FILE), exec: exec(&program)? })
    }

    fn read(&self) -> io::Result<Option<String>> {
        use io::Read as _;
        let file = match fs::File::open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut text = String::new();
        file.take(LIMIT).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    fn set(&self, on: bool) -> Result<(), String> {
        let changed = if on { self.write() } else { self.remove() };
        changed.map_err(|error| self.problem(if on { "written" } else { "removed" }, &error))
    }

    fn write(&self) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Drawbridge\nExec={}\nIcon=drawbridge\nTerminal=false\n\
             X-GNOME-Autostart-enabled=true\n",
            self.exec
        );
        fs::write(&self.file, entry)
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn problem(&self, tried: &str, error: &io::Error) -> String {
        format!("{} can't be {tried}: {error}", self.file.display())
    }
}

/// The autostart folder (XDG Base Directory Specification: a relative `XDG_CONFIG_HOME` does not count).
fn folder(config_home: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let named = config_home.map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| home.map(|home| home.join(".config"))).map(|config| config.join("autostart"))
}

/// The value of `Exec` (Desktop Entry Specification 1.5, "The Exec key"): quoted, then escaped as every string of the file.
fn exec(program: &Path) -> Result<String, String> {
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
    Ok(format!("\"{quoted}\" {BACKGROUND}"))
}

/// Whether a desktop file has this command line started at login.
fn starts(text: &str, exec: &str) -> bool {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != "[Desktop Entry]").skip(1);
    let keys = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let keys: Vec<_> = keys.map(|(key, value)| (key.trim_end(), value.trim_start())).collect();
    let is = |key, value| keys.contains(&(key, value));
    is("Exec", exec) && !is("Hidden", "true") && !is("X-GNOME-Autostart-enabled", "false")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path) -> Place {
        Place { file: folder.join("autostart").join(FILE), exec: exec(Path::new("/opt/a b/drawbridge")).expect("text") }
    }

    fn is_on(place: &Place) -> bool {
        place.read().expect("readable").is_some_and(|text| starts(&text, &place.exec))
    }

    #[test]
    fn it_is_off_until_it_is_turned_on_and_can_be_turned_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = place(folder.path());
        assert!(!is_on(&place), "off at first");
        assert_eq!(place.set(false), Ok(()), "off once more");
        assert_eq!(place.set(true), Ok(()), "turned on");
        assert!(is_on(&place), "on");
        let text = fs::read_to_string(&place.file).expect("the file");
        assert!(text.contains("\nExec=\"/opt/a b/drawbridge\" --background\n"), "without a window: {text}");
        assert_eq!(place.set(false), Ok(()), "turned off");
        assert!(!place.file.exists(), "nothing is left");
    }

    #[test]
    fn what_the_desktop_turned_off_is_off() {
        let exec = exec(Path::new("/usr/bin/drawbridge")).expect("text");
        let entry = |more: &str| format!("[Desktop Entry]\nExec={exec}\n{more}");
        assert!(starts(&entry(""), &exec), "as it is written");
        assert!(!starts(&entry("Hidden=true"), &exec), "by the specification's key");
        assert!(!starts(&entry("X-GNOME-Autostart-enabled = false"), &exec), "by GNOME's");
        assert!(starts(&entry("[Other]\nHidden=true"), &exec), "a key of another group is not ours");
        assert!(!starts("[Desktop Entry]\nExec=\"/other\" --background", &exec), "another program");
    }

    #[test]
    fn a_path_is_quoted() {
        let quoted = |path: &str| exec(Path::new(path)).map(|exec| exec.replace(BACKGROUND, "-"));
        assert_eq!(quoted("/a b/c").as_deref(), Ok("\"/a b/c\" -"), "a space");
        assert_eq!(quoted("/a%f").as_deref(), Ok("\"/a%%f\" -"), "a field code");
        assert_eq!(quoted("/$a`b\"").as_deref(), Ok(r#""/\\$a\\`b\\"" -"#), "what a shell would read");
        assert_eq!(quoted(r"/a\b").as_deref(), Ok(r#""/a\\\\b" -"#), "a backslash");
        assert!(quoted("/a\nHidden=true").is_err(), "a line break can't be named");
    }

    #[test]
    fn the_folder_is_the_users() {
        let home = || Some(PathBuf::from("/home/ann"));
        assert_eq!(folder(None, home()), Some("/home/ann/.config/autostart".into()), "the usual one");
        assert_eq!(folder(Some("/c".into()), home()), Some("/c/autostart".into()), "the named one");
        assert_eq!(folder(Some("c".into()), home()), Some("/home/ann/.config/autostart".into()), "a relative one");
        assert_eq!(folder(None, None), None, "no home");
    }
}
