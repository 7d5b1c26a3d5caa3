//! Derives names of files that the user saves from untrusted text. Used by the exports of `chat` and `api`.

use crate::is_hidden;

/// Maximum number of characters of a title in a file name. With four bytes each and an extension, the name is within
/// the limit of file systems.
const MAX_TITLE_CHARS_IN_FILE_NAME: usize = 60;

/// Device names that Windows reserves, with any extension.
const WINDOWS_DEVICE_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Returns a file name whose stem consists of letters and digits of any language and hyphens. Such a name cannot lead
/// to another folder, be hidden or disguise its extension. The stem is `fallback_title` if the title has no letters or
/// digits.
///
/// # Examples
///
/// ```
/// use foreign::safe_file_name;
///
/// assert_eq!(safe_file_name("Sales 2026", "conversation", "md"), "Sales-2026.md");
/// assert_eq!(safe_file_name("../../.ssh/authorized_keys", "conversation", "md"), "ssh-authorized-keys.md");
/// assert_eq!(safe_file_name("???", "conversation", "md"), "conversation.md");
/// ```
#[must_use]
pub fn safe_file_name(title: &str, fallback_title: &str, extension: &str) -> String {
    let end = format!(".{extension}");
    let title = match title.char_indices().rev().nth(end.chars().count() - 1) {
        Some((at, _)) if title[at..].eq_ignore_ascii_case(&end) => &title[..at],
        _ => title,
    };
    let plain = |c: char| if c.is_alphanumeric() && !is_hidden(c) { c } else { '-' };
    let stem: String = title.chars().take(MAX_TITLE_CHARS_IN_FILE_NAME).map(plain).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { fallback_title } else { stem };
    let guard = if is_device_name(stem) { "_" } else { "" };
    format!("{guard}{stem}{end}")
}

fn is_device_name(stem: &str) -> bool {
    let stem = stem.to_lowercase();
    let numbered = |kind: &str| stem.strip_prefix(kind).is_some_and(|rest| rest.chars().count() == 1);
    WINDOWS_DEVICE_NAMES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_is_a_single_safe_component() {
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
            assert_eq!(safe_file_name(title, "file", "png"), expected, "file name for the title {title:?}");
        }
        let long = safe_file_name(&"\u{20000}".repeat(500), "file", "png");
        assert!(long.len() <= 255, "{} bytes exceed the limit of file systems", long.len());
    }
}
