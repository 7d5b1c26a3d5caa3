//! Splits texts into words for the index. Words are folded, so that case, accents and full-width letters make no
//! difference. In scripts without blanks between words (Chinese, Japanese, Thai) and in Korean, each character is a
//! word, and a search matches sequences of them. So any substring of such a text is found, however short.

use std::iter::FusedIterator;

use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a word, in characters. Longer ones are truncated.
const MAX_WORD_CHARS: usize = 64;

/// A word of a text, with its position in the text and the form in which the search index contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedWord {
    /// Byte offset of the word's beginning in the text.
    pub(super) start: usize,
    /// Byte offset of the word's end in the text.
    pub(super) end: usize,
    /// Normalized form (case, accents, width) that the index contains.
    pub(super) folded: String,
    /// Set if the word is a single character of a script that is indexed by character.
    pub(super) is_single_character: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterClass {
    Letter,
    SingleCharacterWord,
    Separator,
}

fn character_class(c: char) -> CharacterClass {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => CharacterClass::Letter,
        '\0'..='\x7f' => CharacterClass::Separator,
        // Thai, Lao, Burmese, Hangul, Khmer, kana, ideographs, and their compatibility characters and supplements.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{318f}'
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{3ffff}' => CharacterClass::SingleCharacterWord,
        c if c.is_alphanumeric() || is_accent(c) => CharacterClass::Letter,
        _ => CharacterClass::Separator,
    }
}

/// Returns `true` for combining accents (Unicode combining diacritical marks).
const fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Iterates over the words of a text, in order.
pub(super) fn index_words(text: &str) -> impl FusedIterator<Item = IndexedWord> + '_ {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = rest.next()?;
            let class_of_first = character_class(first);
            let mut end = start + first.len_utf8();
            match class_of_first {
                CharacterClass::Separator => {}
                CharacterClass::SingleCharacterWord => {
                    return Some(IndexedWord {
                        start,
                        end,
                        folded: fold_word(&text[start..end]),
                        is_single_character: true,
                    });
                }
                CharacterClass::Letter => {
                    while let Some(&(at, c)) = rest.peek() {
                        if character_class(c) != CharacterClass::Letter {
                            break;
                        }
                        end = at + c.len_utf8();
                        rest.next();
                    }
                    let folded = fold_word(&text[start..end]);
                    // Folding an accent without a base character yields an empty word.
                    if !folded.is_empty() {
                        return Some(IndexedWord { start, end, folded, is_single_character: false });
                    }
                }
            }
        }
    })
    .fuse()
}

fn fold_word(word: &str) -> String {
    if word.is_ascii() {
        let mut folded = word[..word.len().min(MAX_WORD_CHARS)].to_owned();
        folded.make_ascii_lowercase();
        return folded;
    }
    let small = word.chars().take(MAX_WORD_CHARS).flat_map(char::to_lowercase);
    // Composed after the accents are removed, because decomposition splits Korean syllables. Characters that do not
    // belong to a word would split it in the index.
    small.nfkd().filter(|c| !is_accent(*c)).nfc().filter(|c| character_class(*c) != CharacterClass::Separator).collect()
}

/// Returns the folded words of a text, separated by blanks.
pub(super) fn folded_words_for_index(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + text.len() / 4);
    for word in index_words(text) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word.folded);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_ideographs_are_single_words() {
        let folded = |text: &str| folded_words_for_index(text);
        assert_eq!(
            folded("Drawbridge's read_file"),
            "drawbridge s read file",
            "words must end at characters that are no letters"
        );
        assert_eq!(
            folded("Ålesund CAFÉ cafe\u{301}"),
            "alesund cafe cafe",
            "accents must be ignored in composed and decomposed form"
        );
        assert_eq!(folded("北京的Port 2026年"), "北 京 的 port 2026 年", "each ideograph must be a word");
        assert_eq!(folded("カタ ｶﾞ 서울"), "カ タ カ \u{3099} 서 울", "kana and Hangul must be single words");
        assert_eq!(folded("ＡＢＣ１"), "abc1", "full-width letters must be folded");
        assert_eq!(folded("ﬁne Straße"), "fine straße", "ligatures must be split into letters");
        assert_eq!(folded(" \u{301} — … "), "", "a text without letters must have no words");
        assert_eq!(folded(&"x".repeat(1_000)).len(), MAX_WORD_CHARS, "a long word must be truncated");
    }

    #[test]
    fn words_have_offsets_in_the_text() {
        let text = "Ål, 港口!";
        let found: Vec<&str> = index_words(text).map(|word| &text[word.start..word.end]).collect();
        assert_eq!(found, ["Ål", "港", "口"], "each offset must refer to the text as written");
    }
}
