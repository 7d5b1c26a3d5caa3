//! Text folding, which removes differences that programs ignore: case, width, composition. Rules that deny or ask
//! compare folded text in globs (`text_pattern.rs`), folder names (`folder_path.rs`) and identities of servers
//! (`compiled_rule.rs`). Rules that allow never do.

use unicode_normalization::UnicodeNormalization;

use crate::pattern::escape_glob;

/// Folds case, width and composition of a text, removes characters that some programs drop, and replaces full stops of
/// other scripts with dots.
pub(crate) fn fold_case_and_width(text: &str) -> String {
    let dots = |c: char| if matches!(c, '\u{3002}' | '\u{ff0e}' | '\u{ff61}') { '.' } else { c };
    let visible = text.chars().filter(|c| !is_droppable_character(*c)).map(dots).nfkc();
    visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

/// Replaces separators, dots and percent signs of other widths with the ASCII ones, as some programs do.
pub(crate) fn narrow_full_width_separators(text: &str) -> String {
    let mut narrow = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{ff0f}' => narrow.push('/'),
            '\u{ff3c}' => narrow.push('\\'),
            '\u{ff0e}' | '\u{fe52}' | '\u{2024}' => narrow.push('.'),
            '\u{2025}' => narrow.push_str(".."),
            '\u{ff05}' | '\u{fe6a}' => narrow.push('%'),
            other => narrow.push(other),
        }
    }
    // The digits after a percent sign may be full-width, too.
    if narrow.contains('%') { narrow.nfkc().collect() } else { narrow }
}

/// Folds the literal characters of a glob with `fold`. Wildcards are preserved, and a full-width `*` doesn't become a
/// wildcard.
pub(crate) fn fold_glob_literals(glob: &str, fold: impl Fn(&str) -> String) -> String {
    let (mut shape, mut letters) = (String::new(), String::new());
    let mut characters = glob.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' | '?' => {
                shape.push_str(&escape_glob(&fold(&std::mem::take(&mut letters))));
                shape.push(character);
            }
            '\\' => letters.extend(characters.next()),
            other => letters.push(other),
        }
    }
    shape + &escape_glob(&fold(&letters))
}

/// Returns `true` for characters that some systems drop: control characters and characters without width.
pub(crate) fn is_droppable_character(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_glob_keeps_its_wildcards() {
        for (glob, expected) in [
            ("\u{ff33}ECRET*", "secret*"),
            (r"A\*?B\\", r"a\*?b\\"),
            ("\u{ff0a}\u{ff1f}\u{ff3c}", r"\*\?\\"),
            ("s\u{e9}*e\u{301}", "s\u{e9}*\u{e9}"),
        ] {
            assert_eq!(fold_glob_literals(glob, fold_case_and_width), expected, "{glob}");
        }
    }

    #[test]
    fn full_width_separators_and_codes_are_narrowed() {
        for (text, expected) in [
            ("/a\u{ff0f}\u{ff0e}\u{ff0e}\u{ff3c}b", r"/a/..\b"),
            ("/\u{ff05}\u{ff12}e", "/%2e"),
            ("/\u{2025}/\u{ff11}", "/../\u{ff11}"),
        ] {
            assert_eq!(narrow_full_width_separators(text), expected, "{text}");
        }
    }
}
