//! Writer of `tests/bench/RESULTS.md`. Everything in the file is generated except the notes between two markers, which
//! are preserved.

use std::fs;
use std::io::ErrorKind;

use crate::problem::Problem;
use crate::workspace;

const HANDWRITTEN_NOTES_BEGIN: &str =
    "<!-- notes: the text from here to the next mark is written by hand and preserved -->";
const HANDWRITTEN_NOTES_END: &str = "<!-- notes end -->";

/// Writes `tests/bench/RESULTS.md`: the head, the notes of the existing file, and the tables.
pub(super) fn write(head: &str, tables: &str) -> Result<(), Problem> {
    let file = workspace::tests_folder().join("bench/RESULTS.md");
    let old = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Problem::file_error(&file)(error)),
    };
    let text = replace_tables(head, &old, tables).ok_or_else(|| {
        Problem::Machine(format!("{} has only one of the marks around its notes; set the other one", file.display()))
    })?;
    fs::write(&file, text).map_err(Problem::file_error(&file))
}

/// Returns the new content of `RESULTS.md` with the notes of its old content, or `None` if the old content has only one
/// of the markers around the notes.
fn replace_tables(head: &str, old: &str, tables: &str) -> Option<String> {
    let notes = match (old.split_once(HANDWRITTEN_NOTES_BEGIN), old.contains(HANDWRITTEN_NOTES_END)) {
        (None, false) => "\n",
        (Some((_, rest)), true) => rest.split_once(HANDWRITTEN_NOTES_END)?.0,
        _ => return None,
    };
    Some(format!("{head}\n{HANDWRITTEN_NOTES_BEGIN}{notes}{HANDWRITTEN_NOTES_END}\n\n{tables}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_preserved_and_everything_else_is_replaced() {
        let first = replace_tables("old head\n", "", "old tables\n").unwrap();
        let noted = first.replace(HANDWRITTEN_NOTES_END, "A note.\n\nAnother.\n<!-- notes end -->");
        let second = replace_tables("head\n", &noted, "tables\n").unwrap();
        assert!(
            second.contains("A note.\n\nAnother.\n<!-- notes end -->\n\ntables\n"),
            "the notes should be preserved: {second}"
        );
        assert!(!second.contains("old"), "other text should be replaced: {second}");
        assert_eq!(
            replace_tables("head\n", &second, "tables\n").unwrap(),
            second,
            "writing the same results again should change nothing"
        );
    }

    #[test]
    fn missing_marker_is_an_error() {
        let one = format!("head\n{HANDWRITTEN_NOTES_BEGIN}\nA note.\n\ntables\n");
        assert_eq!(
            replace_tables("head\n", &one, "tables\n"),
            None,
            "a file without markers should not be overwritten"
        );
    }
}
