//! Detects names with letters that can be mistaken for others, such as `delеte_file` with a Cyrillic letter, even if
//! no plain counterpart of the name exists, and variation selectors.

use unicode_security::{MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _, skeleton};

/// Maximum length of the beginning of a name that is checked, in characters.
const MAX_NAME: usize = 200;

/// Returns true if the letters of a name mix scripts that don't belong together (UTS 39, section 5), or if some of
/// them look like ASCII but are not.
pub(crate) fn has_deceptive_letters(name: &str) -> bool {
    if name.is_ascii() {
        return false;
    }
    let letters: String = name.chars().take(MAX_NAME).filter(|c| c.is_alphanumeric()).collect();
    let is_mixed = !letters.as_str().is_single_script()
        && letters.as_str().detect_restriction_level() > RestrictionLevel::HighlyRestrictive;
    let looks_ascii =
        |c: char| !c.is_ascii() && skeleton(c.encode_utf8(&mut [0; 4])).all(|c| c.is_ascii_alphanumeric());
    // A whole word of another script contains such letters too, but can't be mistaken for an ASCII word.
    let is_taken_for_ascii =
        letters.chars().any(|c| c.is_ascii_alphabetic()) || skeleton(&letters).all(|c| c.is_ascii());
    is_mixed || (is_taken_for_ascii && letters.chars().any(looks_ascii))
}

/// Returns true for a variation selector that chooses the presentation of the preceding emoji. Elsewhere it is
/// invisible.
pub(super) fn is_style(c: char) -> bool {
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
            assert!(has_deceptive_letters(name), "{name:?} can be taken for another name");
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
            assert!(!has_deceptive_letters(name), "{name:?} is what it looks like");
        }
    }
}
