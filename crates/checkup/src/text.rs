//! The text of a finding, composed of parts, each with a type that determines if it may be included in a public report.
//!
//! A [`FindingText`] is written once. The user sees all of it (its `Display`). A report contains only the parts that
//! were written in this crate ([`FindingText::to_report_text`]). Text from outside is a separate part, so that nothing
//! has to be searched for and removed.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// Maximum length, in characters, at which a finding displays a text from outside this crate.
const MAX_FOREIGN_TEXT_CHARS: usize = 400;

/// Folders, relative to the root, that exist on many computers. If a path is in one of them, a report names the folder,
/// and never the rest of the path.
const ROOT_FOLDERS_NAMED_IN_REPORTS: &[&str] =
    &["usr/local/bin", "usr/bin", "bin", "opt/homebrew/bin", "home/linuxbrew/.linuxbrew/bin", "snap/bin"];

/// Folders of package installers and version managers, relative to the home folder, that exist on many computers. If a
/// path is in one of them, a report names the folder.
const HOME_FOLDERS_NAMED_IN_REPORTS: &[&str] = &[
    ".local/bin",
    ".cargo/bin",
    ".nvm/versions/node",
    ".local/share/fnm",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".pyenv/shims",
    ".asdf/shims",
    ".local/share/mise",
    ".dotnet",
    "bin",
];

/// Text of a finding, composed of parts. A report contains only the parts that can't be private.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingText(Vec<FindingTextPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum FindingTextPart {
    /// Text from the source code of this crate, or a number.
    Own(String),
    /// Path of a file or folder, which a report contains only in part.
    Path(PathBuf),
    /// Path of a program, and the name of the program, which is from the source code of this crate.
    Program(PathBuf, &'static str),
    /// Text from outside this crate, such as an error message.
    Foreign(String),
}

impl FindingText {
    /// Creates the text of a finding, which begins with a string literal of this crate.
    #[must_use]
    pub fn new(words: &'static str) -> Self {
        Self(Vec::new()).and(words)
    }

    /// Appends a string literal of this crate to the text.
    #[must_use]
    pub fn and(self, words: &'static str) -> Self {
        self.with(FindingTextPart::Own(words.to_owned()))
    }

    /// Appends a number in decimal notation.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.with(FindingTextPart::Own(number.to_string()))
    }

    /// Appends a number and the noun for it: `one` if the number is 1, and `several` otherwise.
    #[must_use]
    pub fn count(self, number: usize, one: &'static str, several: &'static str) -> Self {
        self.number(number as u64).and(" ").and(if number == 1 { one } else { several })
    }

    /// Appends the version of a program.
    #[must_use]
    pub fn version(self, version: &NumericVersion) -> Self {
        self.with(FindingTextPart::Own(version.to_string()))
    }

    /// Appends a path. A report contains only the well-known folder that the path is in, or else only whether it is in
    /// the home folder.
    #[must_use]
    pub fn path(self, path: impl Into<PathBuf>) -> Self {
        self.with(FindingTextPart::Path(path.into()))
    }

    /// Appends the path of the program `name`, for which this crate has searched. A report contains the name, and the
    /// path only in part.
    #[must_use]
    pub fn program(self, path: impl Into<PathBuf>, name: &'static str) -> Self {
        self.with(FindingTextPart::Program(path.into(), name))
    }

    /// Appends text from outside this crate, such as an error message. Reports omit this text.
    #[must_use]
    pub fn foreign(self, words: impl fmt::Display) -> Self {
        self.with(FindingTextPart::Foreign(words.to_string()))
    }

    fn with(mut self, part: FindingTextPart) -> Self {
        self.0.push(part);
        self
    }

    /// Returns the text as a report contains it: without text from outside this crate, and with paths reduced to
    /// well-known folders.
    #[must_use]
    pub fn to_report_text(&self, home: Option<&Path>) -> String {
        let part = |part: &FindingTextPart| match part {
            FindingTextPart::Own(words) => words.clone(),
            FindingTextPart::Path(path) => path_for_report(path, home),
            FindingTextPart::Program(path, name) => {
                format!("{}/{name}", path_for_report(path.parent().unwrap_or(path), home))
            }
            FindingTextPart::Foreign(_) => "[omitted]".to_owned(),
        };
        self.0.iter().map(part).collect()
    }
}

impl fmt::Display for FindingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                FindingTextPart::Own(words) => f.write_str(words)?,
                FindingTextPart::Path(path) | FindingTextPart::Program(path, _) => {
                    f.write_str(&foreign_text_for_display(&path.to_string_lossy()))?
                }
                FindingTextPart::Foreign(words) => f.write_str(&foreign_text_for_display(words))?,
            }
        }
        Ok(())
    }
}

impl Serialize for FindingText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns a text from outside this crate for display: truncated, and with invisible characters escaped.
fn foreign_text_for_display(words: &str) -> String {
    let mut shown: String = words.chars().take(MAX_FOREIGN_TEXT_CHARS).collect();
    if shown.len() < words.len() {
        shown.push('…');
    }
    foreign::escape_invisible(&shown).into_owned()
}

/// Returns a path with `…` in place of its private part. Only a well-known folder that contains the path is named, or
/// else only `~/` or `/`.
fn path_for_report(path: &Path, home: Option<&Path>) -> String {
    let (start, below, known) = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => ("~/", below, HOME_FOLDERS_NAMED_IN_REPORTS),
        None => ("/", path.strip_prefix("/").unwrap_or(path), ROOT_FOLDERS_NAMED_IN_REPORTS),
    };
    let Some(known) = known.iter().find(|known| below.starts_with(known)) else { return format!("{start}…") };
    if below == Path::new(known) { format!("{start}{known}") } else { format!("{start}{known}/…") }
}

/// A version of a program that consists only of numbers, as found in the program's output.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumericVersion(Vec<u32>);

impl NumericVersion {
    /// Maximum number of a version's components that are read. Further ones are ignored.
    const MAX_VERSION_COMPONENTS: usize = 4;

    /// Returns the first version in a program's output: at least two numbers separated by dots, such as `22.1.0` in
    /// `v22.1.0`.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let candidates = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        candidates
            .map(|word| {
                word.split('.')
                    .map_while(|part| part.parse().ok())
                    .take(Self::MAX_VERSION_COMPONENTS)
                    .collect::<Vec<u32>>()
            })
            .find(|numbers| numbers.len() > 1)
            .map(Self)
    }

    /// Returns `true` if the version is older than `other`.
    #[must_use]
    pub fn is_before(&self, other: &[u32]) -> bool {
        self.0.as_slice() < other
    }
}

impl fmt::Display for NumericVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{number}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn report_contains_no_foreign_text_and_only_path_categories() {
        let home = Path::new("/home/ann");
        let text = FindingText::new("found ")
            .program("/home/ann/.nvm/versions/node/v22.1.0-canary/bin/node", "node")
            .and(", ")
            .path("/home/ann/canary/data")
            .and(", ")
            .program("/opt/canary/bin/node", "node")
            .and(", ")
            .path("/usr/bin/canary")
            .and(": ")
            .foreign("canary \u{202e}");
        let report = text.to_report_text(Some(home));
        assert_eq!(
            report, "found ~/.nvm/versions/node/…/node, ~/…, /…/node, /usr/bin/…: [omitted]",
            "a report contains only well-known parts of paths"
        );
        assert!(
            text.to_string().ends_with("canary \\u{202e}"),
            "the user sees the complete text, with invisible characters escaped: {text}"
        );
    }

    #[test]
    fn foreign_text_is_truncated_for_display() {
        let shown = FindingText::new("").foreign("x".repeat(10_000)).to_string();
        assert_eq!(shown.chars().count(), MAX_FOREIGN_TEXT_CHARS + 1, "a truncated text ends with one more character");
    }

    #[test]
    fn version_consists_of_the_first_dotted_numbers() {
        let cases = [
            ("v22.1.0\n", "22.1.0"),
            ("Python 3.11.2", "3.11.2"),
            ("Docker version 27.3.1, build ce12230", "27.3.1"),
            ("uv 0.9.2 (141369ce7 2025-10-10)", "0.9.2"),
            ("warning 7\n10.0.100-rc.2.canary", "10.0.100"),
        ];
        for (printed, expected) in cases {
            assert_eq!(
                NumericVersion::find(printed).unwrap().to_string(),
                expected,
                "the version is found in {printed:?}"
            );
        }
        assert_eq!(NumericVersion::find("no version 7 here"), None, "a single number is not a version");
        assert!(NumericVersion::find("v16.20.2").unwrap().is_before(&[18]), "versions are compared by number");
        assert!(!NumericVersion::find("v100.0.0").unwrap().is_before(&[18]), "versions are not compared as text");
        assert!(!NumericVersion::find("3.10.0").unwrap().is_before(&[3, 10]), "a version is not older than itself");
    }
}
