//! Detects names that contain letters of other scripts that look like ASCII letters, such as `delеte_file` with a
//! Cyrillic letter, even if no server has the plain name. Also recognizes variation selectors.

use unicode_security::{MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _, skeleton};

/// Number of characters at the beginning of a name that are checked.
const MAX_CHECKED_NAME_CHARS: usize = 200;

/// Returns `true` if a name mixes scripts in a suspicious way (UTS 39, section 5), or contains letters that look like
/// ASCII letters.
pub(crate) fn has_deceptive_letters(name: &str) -> bool {
    if name.is_ascii() {
        return false;
    }
    let letters: String = name.chars().take(MAX_CHECKED_NAME_CHARS).filter(|c| c.is_alphanumeric()).collect();
    let is_mixed = !letters.as_str().is_single_script()
        && letters.as_str().detect_restriction_level() > RestrictionLevel::HighlyRestrictive;
    let looks_ascii =
        |c: char| !c.is_ascii() && skeleton(c.encode_utf8(&mut [0; 4])).all(|c| c.is_ascii_alphanumeric());
    // A word that is entirely in another script may contain such letters too, but does not look like an ASCII word.
    let is_taken_for_ascii =
        letters.chars().any(|c| c.is_ascii_alphabetic()) || skeleton(&letters).all(|c| c.is_ascii());
    is_mixed || (is_taken_for_ascii && letters.chars().any(looks_ascii))
}

/// Returns `true` for the variation selectors that select the text or emoji presentation of the preceding character. In
/// other places they are invisible.
pub(super) fn is_presentation_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e18_deceptive_letters_are_detected_without_a_look_alike() {
        for name in [
            "del\u{435}te_file",
            "\u{455}\u{441}\u{43e}\u{440}\u{435}",
            "ｓｅｎｄ",
            "s\u{3bf}rt",
            "f\u{131}le",
            "read_\u{444}айл",
        ] {
            assert!(has_deceptive_letters(name), "{name:?} can be confused with another name");
        }
        for name in [
            "delete_file",
            "открыть",
            "открыть_2",
            "搜索",
            "搜索_web",
            "ノート_create",
            "ファイルを読む",
            "café_menu",
            "größe",
            "파일",
            "🔧_fix",
            "ค้นหา",
            "",
        ] {
            assert!(!has_deceptive_letters(name), "{name:?} can't be confused with another name");
        }
    }
}
