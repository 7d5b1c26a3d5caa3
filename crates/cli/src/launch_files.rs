//! Describes the files that the approval of a server's start is bound to.

use api::data::{LaunchFile, LaunchFileRole};

use crate::terminal_escape::escape_line;

/// Number of leading characters of a file's hash that are printed.
const DISPLAYED_HASH_CHARS: usize = 16;

/// Formats the files that determine what a server's start executes: a summary line, followed by at least two lines per
/// file.
pub(crate) fn launch_files_text(files: &[LaunchFile]) -> String {
    let mut text = match files.len() {
        0 => return String::new(),
        1 => "1 file determines what runs; the approval is for its current content:\n".to_owned(),
        many => format!("{many} files determine what runs; the approval is for their current content:\n"),
    };
    for file in files {
        text.push_str(&format!("  {}\n", escape_line(&file.path)));
        if let Some(target) = &file.leads_to {
            text.push_str(&format!("    leads to {}\n", escape_line(target)));
        }
        let is = match &file.hash {
            Some(hash) => format!("SHA-256 {}…", hash.chars().take(DISPLAYED_HASH_CHARS).collect::<String>()),
            None => "identified by size and dates, because it is too large or can't be read".to_owned(),
        };
        text.push_str(&format!("    {}, {} bytes, {is}\n", launch_file_role_text(file.role), file.bytes));
        if file.changed {
            text.push_str("    CHANGED since it was approved\n");
        }
    }
    text
}

const fn launch_file_role_text(role: LaunchFileRole) -> &'static str {
    match role {
        LaunchFileRole::Program => "the program",
        LaunchFileRole::Interpreter => "runs the program",
        LaunchFileRole::Environment => "the settings of its Python environment",
        LaunchFileRole::Argument => "named in the arguments",
        LaunchFileRole::Variable => "named in a variable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s06_each_launch_file_is_listed_and_changed_ones_marked() {
        let file = |path: &str, changed| LaunchFile {
            path: path.to_owned(),
            leads_to: None,
            bytes: 12,
            hash: Some("0123456789abcdef".repeat(4)),
            role: LaunchFileRole::Argument,
            changed,
        };
        let program = LaunchFile {
            leads_to: Some("/usr/lib/node".to_owned()),
            hash: None,
            role: LaunchFileRole::Program,
            ..file("/usr/bin/node", false)
        };
        let text = launch_files_text(&[program, file("/home/ann/server\u{1b}.js", true)]);
        let text: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(text[0], "2 files determine what runs; the approval is for their current content:");
        assert_eq!(text[1..3], ["/usr/bin/node", "leads to /usr/lib/node"], "the target of a link should be shown");
        assert!(text[3].starts_with("the program, 12 bytes, identified by size"), "{text:?}");
        assert!(!text[4].contains('\u{1b}'), "control characters in a name should be escaped: {text:?}");
        assert_eq!(text[5], "named in the arguments, 12 bytes, SHA-256 0123456789abcdef…");
        assert_eq!(text[6..], ["CHANGED since it was approved"], "only the changed file should be marked");
        assert_eq!(launch_files_text(&[]), "");
    }
}
