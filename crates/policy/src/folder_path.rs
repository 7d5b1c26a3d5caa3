//! Folders, and the check if a folder contains a path. Only names are compared, so ambiguous cases are reported as
//! unclear.

use unicode_normalization::UnicodeNormalization;

use crate::RuleError;
use crate::case_folding::is_droppable_character;
use crate::path_pattern::possible_path_spellings;
use crate::pattern::MAX_PATTERN_BYTES;

/// An absolute path of a folder in a rule, split into root and components.
#[derive(Debug, Clone)]
pub(crate) struct FolderPath {
    parts: Vec<String>,
    root: PathRoot,
    is_windows_device_path: bool,
}

/// The root of an absolute path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathRoot {
    /// The root of Unix, or of the current drive on Windows.
    Slash,
    /// A Windows drive, by its lower-case letter.
    Drive(u8),
    /// A Windows network share, or a device path (`\\?\`).
    Share,
}

/// Result of checking if a folder contains a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathContainment {
    /// The path is in the folder by exact comparison.
    Inside,
    /// The path is in the folder only on systems that ignore case or Unicode composition of names.
    PerhapsInside,
    Outside,
    /// The location of the path can't be determined.
    Unclear,
}

/// Folders through which every file can be accessed under another name.
const PATH_ALIAS_FOLDERS: [&[&str]; 4] = [&["proc"], &["dev", "fd"], &[".vol"], &["System", "Volumes"]];

impl FolderPath {
    pub(crate) fn compile(path: &str) -> Result<Self, RuleError> {
        if path.len() > MAX_PATTERN_BYTES {
            return Err(RuleError::TooLong { part: "folder", most: MAX_PATTERN_BYTES });
        }
        let bad = || RuleError::Folder(path.to_owned());
        let (root, rest) = split_path_root(path).ok_or_else(bad)?;
        let parts: Vec<String> = path_components(root, rest).map(str::to_owned).collect();
        if parts.iter().any(|part| part == "..") {
            return Err(bad());
        }
        Ok(Self { parts, root, is_windows_device_path: is_windows_device_path(root, rest) })
    }

    pub(crate) fn containment(&self, path: &str) -> PathContainment {
        let forms = possible_path_spellings(path);
        let Some(first) = forms.first() else { return PathContainment::Unclear };
        let lies = self.containment_of_spelling(first);
        // Programs differ in the form that they use, so the results for all forms must agree.
        if forms[1..].iter().all(|form| self.containment_of_spelling(form) == lies) {
            lies
        } else {
            PathContainment::Unclear
        }
    }

    /// Determines if the folder contains one of the forms in which programs may parse a path.
    fn containment_of_spelling(&self, path: &str) -> PathContainment {
        let Some((root, rest)) = split_path_root(path) else { return PathContainment::Unclear };
        // Some programs end a name at a NUL byte, and others don't.
        if path.contains('\0')
            || path_components(root, rest).any(|part| part == ".." || is_name_altered_by_windows(root, part))
        {
            return PathContainment::Unclear;
        }
        match (self.root, root) {
            _ if self.is_windows_device_path != is_windows_device_path(root, rest) => return PathContainment::Unclear,
            (own, other) if own == other => {}
            (PathRoot::Drive(_), PathRoot::Drive(_)) => return PathContainment::Outside,
            // A share can be a folder of a drive, and a path without a drive can be on any drive.
            _ => return PathContainment::Unclear,
        }
        let (mut parts, mut is_exact) = (path_components(root, rest), true);
        for own in &self.parts {
            match parts.next() {
                Some(part) if part == own => {}
                Some(part) if are_equal_after_folding(part, own) => is_exact = false,
                _ if is_in_alias_folder(&path_components(root, rest).collect::<Vec<_>>()) => {
                    return PathContainment::Unclear;
                }
                _ => return PathContainment::Outside,
            }
        }
        if is_exact { PathContainment::Inside } else { PathContainment::PerhapsInside }
    }
}

/// Returns `true` if a path with these components starts in a folder through which other files have a second name, such
/// as `/proc`. The same applies to a pattern inside that folder: `/proc/self/root/proc/1` is `/proc/1`.
pub(crate) fn is_in_alias_folder(names: &[&str]) -> bool {
    PATH_ALIAS_FOLDERS.iter().any(|folder| {
        let begin = names.get(..folder.len());
        begin.is_some_and(|begin| begin.iter().zip(*folder).all(|(name, own)| are_equal_after_folding(name, own)))
    })
}

/// Returns `true` if a Windows path names a device (`\\?\`, `\\.\`), through which each share and drive has a second
/// name.
pub(crate) fn is_windows_device_path(root: PathRoot, rest: &str) -> bool {
    let first = rest.split(['/', '\\']).next();
    root == PathRoot::Share && matches!(first, Some("?" | "."))
}

/// Returns `true` if Windows ignores or reinterprets part of a name: trailing dots and spaces, and everything after a
/// colon.
pub(crate) fn is_name_altered_by_windows(root: PathRoot, part: &str) -> bool {
    root != PathRoot::Slash && (part.ends_with(['.', ' ']) || part.contains(':'))
}

/// Returns `true` if two names differ at most in case, width, composition, and characters that some systems drop from
/// names.
pub(crate) fn are_equal_after_folding(one: &str, other: &str) -> bool {
    fold_file_name(one).eq(fold_file_name(other))
}

/// Folds a file name so that names which are equal for [`are_equal_after_folding`] become identical.
pub(crate) fn fold_file_name(name: &str) -> impl Iterator<Item = char> {
    name.nfkd().filter(|c| !is_droppable_character(*c)).flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Splits an absolute path into its root and the path below it. Returns `None` for a relative path or a URL.
pub(crate) fn split_path_root(path: &str) -> Option<(PathRoot, &str)> {
    let bytes = path.as_bytes();
    if let [first, second, ..] = bytes
        && matches!(first, b'/' | b'\\')
        && *second == b'\\'
    {
        return Some((PathRoot::Share, &path[2..]));
    }
    match bytes {
        [b'/', ..] => Some((PathRoot::Slash, path)),
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => {
            Some((PathRoot::Drive(letter.to_ascii_lowercase()), &path[2..]))
        }
        _ => None,
    }
}

/// Returns the components of a path, without empty ones and `.`.
pub(crate) fn path_components(root: PathRoot, rest: &str) -> impl Iterator<Item = &str> {
    let is_windows = root != PathRoot::Slash;
    rest.split(move |c| c == '/' || (is_windows && c == '\\')).filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn folder_contains_the_paths_below_it() {
        let home = FolderPath::compile("/home/ann/").unwrap();
        for (path, lies) in [
            ("/home/ann", PathContainment::Inside),
            ("/home/ann/a.txt", PathContainment::Inside),
            ("/home//ann/./a", PathContainment::Inside),
            ("/home/Ann/a", PathContainment::PerhapsInside),
            ("/home/anna", PathContainment::Outside),
            ("/home", PathContainment::Outside),
            ("/etc/passwd", PathContainment::Outside),
            ("/dev/null", PathContainment::Outside),
            ("/home/ann/../bob", PathContainment::Unclear),
            ("/home/ann/%2e%2e/bob", PathContainment::Unclear),
            ("/home/ann/..%2fbob", PathContainment::Unclear),
            ("/home/ann/%252e%252e/bob", PathContainment::Unclear),
            ("/home/ann/%ff/..%2f..%2fbob", PathContainment::Unclear),
            (r"/home/ann/..\..\bob", PathContainment::Unclear),
            ("/home/ann/\u{ff0e}\u{ff0e}/bob", PathContainment::Unclear),
            ("/home/ann/a%00b", PathContainment::Unclear),
            ("/home/%61nn/a", PathContainment::Unclear),
            ("/home/%62ob/a", PathContainment::Outside),
            ("/home/ann/a%20b", PathContainment::Inside),
            (r"/home/ann/a\b", PathContainment::Inside),
            ("/home/ann/\u{898b}\u{ff0f}\u{ff11}", PathContainment::Inside),
            ("/proc/self/root/home/ann/a", PathContainment::Unclear),
            ("/dev/fd/3", PathContainment::Unclear),
            ("/System/Volumes/Data/home/ann", PathContainment::Unclear),
            ("ann/a.txt", PathContainment::Unclear),
            ("~/a.txt", PathContainment::Unclear),
            ("file:///home/ann/a", PathContainment::Unclear),
            ("/home/ann/a\0b", PathContainment::Unclear),
            ("", PathContainment::Unclear),
        ] {
            assert_eq!(home.containment(path), lies, "{path:?}");
        }
        let proc = FolderPath::compile("/proc/1").unwrap();
        assert_eq!(proc.containment("/proc/1/status"), PathContainment::Inside, "a folder below /proc");
        assert_eq!(
            proc.containment("/proc/self/root/proc/1/status"),
            PathContainment::Unclear,
            "reached through the root of another process"
        );
        for bad in ["", "home", "~/x", "/home/../etc", "file:///x"] {
            assert!(FolderPath::compile(bad).is_err(), "{bad:?} is not a folder");
        }
    }

    #[test]
    fn names_a_system_may_treat_as_equal_are_doubtful() {
        let ssh = FolderPath::compile("/home/ann/.ssh").unwrap();
        let cafe = FolderPath::compile("/caf\u{e9}").unwrap();
        assert_eq!(
            ssh.containment("/home/ann/.\u{17f}sh/id"),
            PathContainment::PerhapsInside,
            "a letter whose upper case is an ASCII letter"
        );
        assert_eq!(
            ssh.containment("/home/ann/.s\u{200d}sh/id"),
            PathContainment::PerhapsInside,
            "a zero-width character"
        );
        assert_eq!(cafe.containment("/cafe\u{301}/a"), PathContainment::PerhapsInside, "a decomposed letter");
        assert_eq!(ssh.containment("/home/\u{ff41}nn/.ssh/id"), PathContainment::PerhapsInside, "a full-width letter");
        assert_eq!(
            ssh.containment("/home/ann/.ssh\n/id"),
            PathContainment::PerhapsInside,
            "a control character that is dropped"
        );
        assert_eq!(cafe.containment("/cafe/a"), PathContainment::Outside, "a different letter");
    }

    #[test]
    fn windows_paths_have_equivalent_names() {
        let drive = FolderPath::compile(r"C:\Users\Ann").unwrap();
        for (path, lies) in [
            ("c:/users/ann/a", PathContainment::PerhapsInside),
            (r"C:\Users\Ann\a", PathContainment::Inside),
            (r"D:\Users\Ann", PathContainment::Outside),
            (r"C:\Windows", PathContainment::Outside),
            (r"\\?\C:\Users\Ann\a", PathContainment::Unclear),
            (r"\\.\C:\Users\Ann\a", PathContainment::Unclear),
            (r"\??\C:\Users\Ann\a", PathContainment::Unclear),
            (r"\\localhost\C$\Users\Ann\a", PathContainment::Unclear),
            (r"/\localhost\C$\Users\Ann\a", PathContainment::Unclear),
            ("/Users/Ann/a", PathContainment::Unclear),
            (r"C:\Users.\Ann\a", PathContainment::Unclear),
            (r"C:\Users \Ann\a", PathContainment::Unclear),
            (r"C:\x:y\Ann\a", PathContainment::Unclear),
            (r"C:Users\Ann", PathContainment::Unclear),
            (r"1:\Users\Ann", PathContainment::Unclear),
        ] {
            assert_eq!(drive.containment(path), lies, "{path:?}");
        }
        let share = FolderPath::compile(r"\\host\share\secret").unwrap();
        for (path, lies) in [
            (r"\\host\share\secret\a", PathContainment::Inside),
            (r"\\host\share\other", PathContainment::Outside),
            (r"\\?\UNC\host\share\secret\a", PathContainment::Unclear),
            (r"\\.\UNC\host\share\secret\a", PathContainment::Unclear),
            (r"//?/UNC/host/share/secret/a", PathContainment::Unclear),
        ] {
            assert_eq!(share.containment(path), lies, "{path:?}");
        }
        let device = FolderPath::compile(r"\\?\C:\secret").unwrap();
        assert_eq!(
            device.containment(r"\\host\C$\secret"),
            PathContainment::Unclear,
            "a share may be the device's folder"
        );
    }
}
