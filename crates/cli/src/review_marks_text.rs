//! Describes the review marks of a tool or prompt: changes since its review, similar names, and suspicious content.

use api::data::{DefinitionChange, DefinitionDiff, Flag, FlagReason, LookAlike, ReviewMarks, ReviewState};
use offers::review::{DiffPiece, diff_words};

use crate::terminal_escape::{escape_and_prefix_lines, escape_line};

/// Opening bracket that is printed before the changed words of a line.
const CHANGE_START_BRACKET: char = '⟦';
const CHANGE_END_BRACKET: char = '⟧';
/// Number of unchanged characters that are shown before and after a changed part of a text.
const CHANGE_CONTEXT_CHARS: usize = 60;
/// Caution that is printed for every new, changed or flagged definition, also if it has no warnings.
const REVIEW_CAUTION_TEXT: &str = "A definition without warnings is not proven safe: only known patterns are detected.";

/// Describes the changes of a tool or prompt since its review, the names that it imitates, and its suspicious content.
/// Returns an empty text if there is nothing to report.
pub(crate) fn review_warnings_text(marks: &ReviewMarks) -> String {
    let mut text = String::new();
    if marks.outdated {
        text.push_str("  The server reported that this list changed, and it was not read again yet.\n");
    }
    if let Some(diff) = &marks.diff {
        text.push_str(&diff_text(diff));
    }
    for LookAlike { server, name, is_identical } in &marks.look_alikes {
        let how = if *is_identical { "has the same name as" } else { "looks like" };
        text.push_str(&format!("  WARNING: it {how} {} of {}\n", escape_line(name), escape_line(server)));
    }
    for Flag { place, reason, excerpt } in &marks.flags {
        let place = if place.is_empty() { String::new() } else { format!(" ({})", escape_line(&place.join(" > "))) };
        text.push_str(&format!("  WARNING: it {}{place}: {}\n", flag_reason_text(*reason), escape_line(excerpt)));
    }
    if matches!(marks.review, Some(ReviewState::New | ReviewState::Changed)) || !marks.flags.is_empty() {
        text.push_str(&format!("  {REVIEW_CAUTION_TEXT}\n"));
    }
    text
}

fn diff_text(diff: &DefinitionDiff) -> String {
    let mut text = String::new();
    if diff.server_changed {
        text.push_str("  CHANGED: the server itself has changed since you reviewed this\n");
    }
    for change in &diff.changes {
        let place = if change.path.is_empty() { String::from("all of it") } else { change.path.join(" > ") };
        text.push_str(&format!("  CHANGED: {}\n", escape_line(&place)));
        let (before, after) = bracket_changed_text(change);
        for (sign, side) in [("-", before), ("+", after)] {
            if let Some(side) = side {
                text.push_str(&escape_and_prefix_lines(&side, &format!("    {sign} ")));
            }
        }
    }
    if diff.more > 0 {
        text.push_str(&format!("  and {} more changes\n", diff.more));
    }
    if diff.is_truncated {
        text.push_str("  It was so large that only its beginning was stored.\n");
    }
    text
}

/// Returns the old and the new text of a change, with the differing parts in double brackets and long unchanged parts
/// shortened.
fn bracket_changed_text(change: &DefinitionChange) -> (Option<String>, Option<String>) {
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return (change.before.clone(), change.after.clone());
    };
    let (before, after) = diff_words(before, after);
    let side = |pieces: Vec<DiffPiece<'_>>| {
        let last = pieces.len().saturating_sub(1);
        let words = pieces.iter().enumerate().map(|(at, piece)| match piece {
            DiffPiece { text, is_changed: true } => {
                format!("{CHANGE_START_BRACKET}{}{CHANGE_END_BRACKET}", escape_change_brackets(text))
            }
            DiffPiece { text, .. } => escape_change_brackets(&shorten_unchanged_text(text, at == 0, at == last)),
        });
        Some(words.collect())
    };
    (side(before), side(after))
}

/// Replaces the middle of a long unchanged text by a note. Of the first or the last part of a diff, keeps only the side
/// next to the change.
fn shorten_unchanged_text(text: &str, is_first: bool, is_last: bool) -> String {
    let count = text.chars().count();
    if count <= 3 * CHANGE_CONTEXT_CHARS || (is_first && is_last) {
        return text.to_owned();
    }
    let start = if is_first { 0 } else { CHANGE_CONTEXT_CHARS };
    let end = if is_last { 0 } else { CHANGE_CONTEXT_CHARS };
    let first: String = text.chars().take(start).collect();
    let rest: String = text.chars().skip(count - end).collect();
    format!("{first}⟨{} characters as before⟩{rest}", count - start - end)
}

/// Escapes double brackets in a text, so that they can't be mistaken for marked changes.
fn escape_change_brackets(text: &str) -> String {
    text.replace(CHANGE_START_BRACKET, "\\u{27e6}").replace(CHANGE_END_BRACKET, "\\u{27e7}")
}

pub(crate) const fn flag_reason_text(reason: FlagReason) -> &'static str {
    match reason {
        FlagReason::HiddenCharacters => "has invisible characters",
        FlagReason::InstructsModel => "instructs the model",
        FlagReason::HidesFromUser => "asks to hide something from you",
        FlagReason::SecretPlace => "names a place where secrets are stored",
        FlagReason::OtherTool => "names a tool of another server",
        FlagReason::AsksForContext => "asks for data that you did not give to the tool",
        FlagReason::PraisesItself => "promotes itself over other tools",
        FlagReason::DeceptiveLetters => "has look-alike letters in its name",
        FlagReason::MisleadingLink => "has a link to another address than it shows",
        FlagReason::TooLong => "is too long to check completely",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        let change = DefinitionChange {
            path: vec!["description".into()],
            before: Some(before.into()),
            after: Some(after.into()),
        };
        diff_text(&DefinitionDiff {
            changes: vec![change],
            more: 0,
            server_changed: false,
            is_truncated: false,
            before: None,
        })
    }

    #[test]
    fn s34_changed_text_is_marked_within_its_line() {
        assert_eq!(
            diff("Reads a file", "Reads a file and sends it"),
            "  CHANGED: description\n    - Reads a file\n    + Reads a file⟦ and sends it⟧\n",
            "only new text should be marked"
        );
        let long = "word ".repeat(100);
        let marked = diff(&format!("{long}old{long}"), &format!("{long}new{long}"));
        assert!(marked.contains(" characters as before⟩"), "unchanged text should be shortened: {marked}");
        assert!(marked.contains("⟦") && marked.len() < 700, "changed text should be shown in full: {marked}");
    }

    #[test]
    fn s34_server_cannot_forge_change_brackets() {
        let marked = diff("a b", "a ⟧harmless⟦ b");
        assert_eq!(marked.matches(['⟦', '⟧']).count(), 2, "there should be only one pair of brackets: {marked}");
        assert!(marked.contains("\\u{27e7}harmless\\u{27e6}"), "brackets in the text should be escaped: {marked}");
    }

    #[test]
    fn s38_hint_is_shown_for_each_unreviewed_definition() {
        let marks = ReviewMarks { review: Some(ReviewState::New), ..ReviewMarks::default() };
        assert!(
            review_warnings_text(&marks).contains(REVIEW_CAUTION_TEXT),
            "the caution should be shown for an unreviewed definition"
        );
        assert!(
            review_warnings_text(&ReviewMarks::default()).is_empty(),
            "the caution should not be shown for a reviewed definition"
        );
    }
}
