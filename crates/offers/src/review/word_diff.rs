//! Word diff of two texts. Used by `cli/src/review_marks_text.rs`.

/// Maximum number of word comparisons per diff. If it would be exceeded, everything between the common prefix and the
/// common suffix is treated as changed.
const MAX_WORD_COMPARISONS: usize = 4_000_000;

/// A piece of a text in a word diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffPiece<'a> {
    /// Text of the piece.
    pub text: &'a str,
    /// Set if the other text doesn't contain the piece.
    pub is_changed: bool,
}

/// Splits the texts `before` and `after` into pieces, each marked as changed or as common to both texts.
#[must_use]
pub fn diff_words<'a>(before: &'a str, after: &'a str) -> (Vec<DiffPiece<'a>>, Vec<DiffPiece<'a>>) {
    let (old, new) = (split_words(before), split_words(after));
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let middle = |list: &[&'a str]| list[same_start..list.len() - same_end].to_vec();
    let (old_common, new_common) = mark_common_words(&middle(&old), &middle(&new));
    let marked = |list: &[&'a str], is_common: &[bool], whole: &'a str| {
        let outside = std::iter::repeat_n(true, same_start);
        let all = outside.chain(is_common.iter().copied()).chain(std::iter::repeat_n(true, same_end));
        merge_pieces(whole, list, all)
    };
    (marked(&old, &old_common, before), marked(&new, &new_common, after))
}

/// Splits a text into words, sequences of blanks, and single other characters.
fn split_words(text: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum CharacterClass {
        Word,
        Blank,
        Other,
    }
    let class = |c: char| match c {
        c if c.is_whitespace() => CharacterClass::Blank,
        c if c.is_alphanumeric() || c == '_' => CharacterClass::Word,
        _ => CharacterClass::Other,
    };
    let mut found = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        let now = class(c);
        if before.is_some_and(|before| before != now || now == CharacterClass::Other) {
            found.push(&text[start..at]);
            start = at;
        }
        before = Some(now);
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

/// Determines which words of both texts belong to their longest common subsequence. Returns one flag per word of `old`,
/// and one per word of `new`.
fn mark_common_words(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let mut is_common = (vec![false; old.len()], vec![false; new.len()]);
    if old.len().saturating_mul(new.len()) > MAX_WORD_COMPARISONS {
        return is_common;
    }
    let width = new.len() + 1;
    // `longest` contains the length of the longest common subsequence starting at each pair of positions.
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for (i, word) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            longest[i * width + j] = if word == other {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            (is_common.0[i], is_common.1[j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    is_common
}

/// Merges consecutive words that are all changed or all unchanged into pieces. Blanks between two changed words are
/// treated as changed.
fn merge_pieces<'a>(whole: &'a str, words: &[&'a str], is_common: impl Iterator<Item = bool>) -> Vec<DiffPiece<'a>> {
    let mut is_common: Vec<bool> = is_common.collect();
    for at in 1..is_common.len().saturating_sub(1) {
        if words[at].trim().is_empty() && !is_common[at - 1] && !is_common[at + 1] {
            is_common[at] = false;
        }
    }
    let mut pieces: Vec<DiffPiece<'a>> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, word) in words.iter().enumerate() {
        end += word.len();
        if is_common.get(at + 1) != is_common.get(at) {
            pieces.push(DiffPiece { text: &whole[start..end], is_changed: !is_common[at] });
            start = end;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_changes(pieces: &[DiffPiece<'_>]) -> String {
        pieces.iter().map(|p| if p.is_changed { format!("[{}]", p.text) } else { p.text.to_owned() }).collect()
    }

    #[test]
    fn s34_only_changed_words_of_a_line_are_marked() {
        for (before, after, old, new) in [
            ("Reads a file", "Reads a file", "Reads a file", "Reads a file"),
            ("Reads a file.", "Reads any file.", "Reads [a] file.", "Reads [any] file."),
            (
                "Reads a file.",
                "Reads a file. Then send it away.",
                "Reads a file.",
                "Reads a file.[ Then send it away.]",
            ),
            ("", "new", "", "[new]"),
            ("one two three", "one 2 three 4", "one [two] three", "one [2] three[ 4]"),
            ("/etc/hosts", "/etc/shadow", "/etc/[hosts]", "/etc/[shadow]"),
            ("读取文件", "读取 文件", "[读取文件]", "[读取 文件]"),
            ("a b c d", "d c b a", "[a b] c [d]", "[d] c [b a]"),
        ] {
            let (was, is) = diff_words(before, after);
            assert_eq!(
                (mark_changes(&was).as_str(), mark_changes(&is).as_str()),
                (old, new),
                "the changed words between {before:?} and {after:?}"
            );
        }
    }

    #[test]
    fn s34_texts_too_long_to_compare_are_marked_completely() {
        let (before, after) = ("x ".repeat(5_000), "y ".repeat(5_000));
        let (was, is) = diff_words(&before, &after);
        assert!(was[0].is_changed && is[0].is_changed, "all text is marked as changed");
        let text = |pieces: &[DiffPiece<'_>]| pieces.iter().map(|piece| piece.text).collect::<String>();
        assert_eq!((text(&was), text(&is)), (before.clone(), after.clone()), "the pieces add up to the complete texts");
    }
}
