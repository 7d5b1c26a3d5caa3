//! Names for files that the user saves, of text that others chose. Callers: the exports of `chat` and `api`.

use crate::is_hidden;

/// The most characters that a name takes from a title. With four bytes each, and an extension, file systems take them.
const LONGEST: usize = 60;

/// Names that Windows keeps for devices, whatever their extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A name of letters and digits of all languages, with this extension: nothing in it leads to another folder, is hidden or has another
/// extension than it seems to. Of a title that has none of them the name is `without_title`.
#[must_use]
pub fn file_name(title: &str, without_title: &str, extension: &str) -> String {
    let end = format!(".{extension}");
    let title = match title.char_indices().rev().nth(end.chars().count() - 1) {
        Some((at, _)) if title[at..].eq_ignore_ascii_case(&end) => &title[..at],
        _ => title,
    };
    let plain = |c: char| if c.is_alphanumeric() && !is_hidden(c) { c } else { '-' };
    let stem: String = title.chars().take(LONGEST).map(plain).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { without_title } else { stem };
    let guard = if is_device(stem) { "_" } else { "" };
    format!("{guard}{stem}{end}")
}

fn is_device(stem: &str) -> bool {
    let stem = stem.to_lowercase();
    let numbered = |kind: &str| stem.strip_prefix(kind).is_some_and(|rest| rest.chars().count() == 1);
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_one() {
        for (title, expected) in [
            ("../etc: x", "etc--x.png"),
            ("..\\..\\run", "run.png"),
            ("旅行", "旅行.png"),
            ("//", "file.png"),
            ("", "file.png"),
            (".", "file.png"),
            (".bashrc", "bashrc.png"),
            ("chart.PNG", "chart.png"),
            ("chart.png.exe", "chart-png-exe.png"),
            ("a\u{202e}gnp.exe", "a-gnp-exe.png"),
            ("a\u{3164}b", "a-b.png"),
            ("a\0b\nc", "a-b-c.png"),
            ("NUL", "_NUL.png"),
            ("com1", "_com1.png"),
            ("compass", "compass.png"),
            ("é.png", "é.png"),
        ] {
            assert_eq!(file_name(title, "file", "png"), expected, "of {title:?}");
        }
        let long = file_name(&"\u{20000}".repeat(500), "file", "png");
        assert!(long.len() <= 255, "file systems take {} bytes", long.len());
    }
}
