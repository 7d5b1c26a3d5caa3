//! Flags on text of a server that looks designed to mislead a model or to escape the user's attention.
//!
//! A flag is a reason for the user to look closely. It hides and allows nothing, and a text without flags may be
//! malicious.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foreign::is_hidden;
use serde_json::Value;
use unicode_security::skeleton;

use super::deceptive_letters::{has_deceptive_letters, is_presentation_selector};
use super::folded_text::FoldedText;
use super::name_index::NameIndex;
use super::phrases::{MISLEADING_PHRASES, PARAMETER_NAMES_REQUESTING_CONTEXT};

/// Maximum number of flags per definition.
const MAX_DEFINITION_FLAGS: usize = 50;
/// Maximum amount of text that is searched per definition, in bytes. A longer text gets the flag
/// [`FlagReason::TooLong`].
const MAX_SEARCHED_TEXT_BYTES: usize = 64 * 1024;
/// Maximum length of an excerpt, in characters.
const MAX_EXCERPT_CHARS: usize = 120;
/// Maximum length of the text that precedes the suspicious text in an excerpt, in characters.
const MAX_EXCERPT_PREFIX_CHARS: usize = MAX_EXCERPT_CHARS / 4;
/// Minimum length of tool names that are searched for in texts, in bytes.
const MIN_SEARCHED_TOOL_NAME_BYTES: usize = 4;

/// A flag on suspicious text in a definition or another text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Flag {
    /// Path of the text in the definition: keys, and positions of list items starting at 1. Empty if the text is not
    /// part of a definition.
    pub place: Vec<String>,
    /// Suspicious property of the text for which it is flagged.
    pub reason: FlagReason,
    /// Suspicious text, verbatim, at most 120 characters.
    pub excerpt: String,
}

/// A suspicious property of a text for which it is flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FlagReason {
    /// The text contains invisible characters.
    HiddenCharacters,
    /// Instructions to the model that go beyond the tool.
    InstructsModel,
    /// Instructions to conceal something from the user.
    HidesFromUser,
    /// The path of a file or folder that usually contains secrets, such as `~/.ssh`.
    SecretPlace,
    /// The name of a tool of another server.
    OtherTool,
    /// A parameter that requests content which the user didn't give to the tool, such as the conversation.
    AsksForContext,
    /// Praise that could make a model prefer this tool to others.
    PraisesItself,
    /// A name with letters that look like letters of another script.
    DeceptiveLetters,
    /// A link whose text shows another host than its target.
    MisleadingLink,
    /// More text than the maximum that is searched.
    TooLong,
}

/// Returns `true` if a variation selector is in a valid position: directly after a character that has a text and an
/// emoji presentation, or within a keycap sequence. `after` is the character after the selector.
#[must_use]
pub fn is_valid_variation_selector(before: char, mark: char, after: Option<char>) -> bool {
    match before {
        '#' | '*' | '0'..='9' => mark == '\u{fe0f}' && after == Some('\u{20e3}'),
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}' => {
            is_presentation_selector(mark)
        }
        '\u{2194}'..='\u{21aa}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{27bf}' => {
            is_presentation_selector(mark)
        }
        '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3297}' | '\u{3299}' => is_presentation_selector(mark),
        '\u{1f000}'..='\u{1faff}' => is_presentation_selector(mark),
        _ => false,
    }
}

/// Aho-Corasick automata that search for [`MISLEADING_PHRASES`]: the first in a text as written, the second in its
/// visual skeleton, in which similar letters of different scripts are equal.
static PHRASE_FINDERS: LazyLock<Option<[AhoCorasick; 2]>> = LazyLock::new(|| {
    let phrases = || MISLEADING_PHRASES.iter().flat_map(|(_, phrases)| phrases.iter());
    let finder = |words: Vec<String>| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
    let plain = finder(phrases().map(|phrase| (*phrase).to_owned()).collect());
    let as_drawn = finder(phrases().map(|phrase| skeleton(phrase).collect()).collect());
    // Building the automata from the compiled-in list can't fail, which a test proves.
    Some([plain.ok()?, as_drawn.ok()?])
});

/// Returns the phrase that the automata report under this pattern number, and the reason for flagging it.
fn phrase_at_pattern_number(pattern: usize) -> Option<(FlagReason, &'static str)> {
    let mut left = pattern;
    MISLEADING_PHRASES.iter().find_map(|(reason, phrases)| {
        if let Some(phrase) = phrases.get(left) {
            return Some((*reason, *phrase));
        }
        left -= phrases.len();
        None
    })
}

/// Calls `found` for each phrase in a text: in the text as written, in its visual skeleton, and in text that is spelled
/// with tag characters. The last argument is the original text from shortly before the phrase to its end.
pub(super) fn for_each_flagged_phrase<'t>(text: &'t str, mut found: impl FnMut(FlagReason, &'static str, &'t str)) {
    let Some([plain, as_drawn]) = PHRASE_FINDERS.as_ref() else { return };
    let mut search = |finder: &AhoCorasick, folded: &FoldedText| {
        for place in finder.find_iter(folded.text()) {
            let Some((reason, phrase)) = phrase_at_pattern_number(place.pattern().as_usize()) else { continue };
            let at = folded.original_offset(place.start());
            let before = text[..at]
                .char_indices()
                .rev()
                .nth(MAX_EXCERPT_PREFIX_CHARS)
                .map_or(0, |(start, c)| start + c.len_utf8());
            found(reason, phrase, &text[before..]);
        }
    };
    let folded = FoldedText::new(text);
    search(plain, &folded);
    if !text.is_ascii() {
        search(as_drawn, &folded.visual_skeleton());
        if let Some(spelled) = FoldedText::from_tag_characters(text) {
            search(plain, &spelled);
        }
    }
}

/// Returns the flags on the definition of a tool or prompt. `foreign` contains the names of other servers' tools.
#[must_use]
pub fn flags_of_definition(definition: &Value, foreign: &[&NameIndex]) -> Vec<Flag> {
    let mut look = FlagScan { foreign, flags: Vec::new(), left: MAX_SEARCHED_TEXT_BYTES };
    look.scan_value(&mut Vec::new(), definition);
    look.flags
}

/// Returns the flags on a text, such as a server's instructions.
#[must_use]
pub fn flags_of_text(text: &str, foreign: &[&NameIndex]) -> Vec<Flag> {
    let mut look = FlagScan { foreign, flags: Vec::new(), left: MAX_SEARCHED_TEXT_BYTES };
    look.scan_text(&[], text);
    look.flags
}

/// Returns the flags on the name of a server, chosen by the user or reported by the server.
#[must_use]
pub fn flags_of_name(name: &str) -> Vec<Flag> {
    let mut look = FlagScan { foreign: &[], flags: Vec::new(), left: MAX_SEARCHED_TEXT_BYTES };
    look.scan_name(&[], name);
    look.flags
}

/// A search for suspicious text in one definition or text, with the flags found so far.
struct FlagScan<'a> {
    foreign: &'a [&'a NameIndex],
    flags: Vec<Flag>,
    left: usize,
}

impl FlagScan<'_> {
    // The depth of recursion is bounded, since the nesting of JSON from servers is bounded when it is read.
    fn scan_value(&mut self, place: &mut Vec<String>, value: &Value) {
        match value {
            Value::String(text) => {
                if is_path_of_name(place) {
                    self.scan_name(place, text);
                }
                self.scan_text(place, text);
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    place.push((at + 1).to_string());
                    self.scan_value(place, item);
                    place.pop();
                }
            }
            Value::Object(members) => {
                // Keys below "properties" are names of parameters. Other keys are only searched if they are unusual.
                let named = place.last().is_some_and(|key| key == "properties");
                for (key, value) in members {
                    place.push(key.clone());
                    if named
                        && is_parameter_name_requesting_context(key)
                        && place.first().is_some_and(|key| key == "inputSchema")
                    {
                        self.add_flag(place, FlagReason::AsksForContext, key);
                    }
                    if named {
                        self.scan_name(place, key);
                    }
                    self.scan_text(place, key);
                    self.scan_value(place, value);
                    place.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn scan_text(&mut self, place: &[String], text: &str) {
        if text.len() > self.left {
            self.left = 0;
            self.add_flag(place, FlagReason::TooLong, text);
            return;
        }
        self.left -= text.len();
        if let Some(hidden) = find_hidden_characters(text) {
            self.add_flag(place, FlagReason::HiddenCharacters, hidden);
        }
        for_each_flagged_phrase(text, |reason, _, about| self.add_flag(place, reason, about));
        // If another server has a tool with the same name, that is reported as a similar name instead.
        let is_own_name = place.first().is_some_and(|key| key == "name");
        let name = |word: &&str| {
            word.len() >= MIN_SEARCHED_TOOL_NAME_BYTES && self.foreign.iter().any(|names| names.contains_name(word))
        };
        if let Some(word) = identifier_words(text).find(name).filter(|_| !is_own_name) {
            self.add_flag(place, FlagReason::OtherTool, word);
        }
    }

    fn scan_name(&mut self, place: &[String], name: &str) {
        if has_deceptive_letters(name) {
            self.add_flag(place, FlagReason::DeceptiveLetters, name);
        }
    }

    fn add_flag(&mut self, place: &[String], reason: FlagReason, about: &str) {
        let is_flagged = |flag: &Flag| flag.reason == reason && flag.place == place;
        if self.flags.len() < MAX_DEFINITION_FLAGS && !self.flags.iter().any(is_flagged) {
            self.flags.push(Flag::new(place, reason, about));
        }
    }
}

impl Flag {
    /// Creates a flag. The excerpt is the beginning of `about`.
    pub(super) fn new(place: &[String], reason: FlagReason, about: &str) -> Self {
        Self { place: place.to_vec(), reason, excerpt: about.chars().take(MAX_EXCERPT_CHARS).collect() }
    }
}

/// Returns `true` if the path is that of the name of a tool, a prompt, or a prompt argument.
fn is_path_of_name(place: &[String]) -> bool {
    match place {
        [key] => key == "name",
        [list, _, key] => list == "arguments" && key == "name",
        _ => false,
    }
}

/// Returns the part of a text that starts with the first invisible character that is not in a valid position.
fn find_hidden_characters(text: &str) -> Option<&str> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t')) {
        return None;
    }
    let mut before = ' ';
    let mut in_flag = false;
    let mut left = text.char_indices().peekable();
    while let Some((at, c)) = left.next() {
        // The flags of England, Scotland and Wales are sequences of tag characters.
        in_flag = c == '\u{1f3f4}' || (in_flag && matches!(c, '\u{e0020}'..='\u{e007f}'));
        // Joiners are valid within emoji sequences, and in words of many scripts.
        let joins = matches!(c, '\u{200c}' | '\u{200d}') && !before.is_ascii() && !is_hidden(before);
        let styles = is_valid_variation_selector(before, c, left.peek().map(|(_, after)| *after));
        if (is_hidden(c) && !in_flag && !joins) || (is_presentation_selector(c) && !styles) {
            return Some(&text[at..]);
        }
        before = c;
    }
    None
}

/// Returns `true` if the name of a parameter suggests that it requests content which the user didn't give to the tool.
fn is_parameter_name_requesting_context(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    PARAMETER_NAMES_REQUESTING_CONTEXT.contains(&plain.as_str())
}

/// Returns the words of a text that look like identifiers: words with several parts, and quoted words.
fn identifier_words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_part)?;
            let quoted = rest[..start].ends_with(['`', '"', '\'']);
            let after = &rest[start..];
            let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
            let (word, left) = after.split_at(end);
            rest = left;
            let of_parts = word.contains(['_', '-']) || word.chars().skip(1).any(char::is_uppercase);
            if of_parts || (quoted && left.starts_with(['`', '"', '\''])) {
                return Some(word);
            }
        }
    })
}

#[cfg(test)]
mod tests;
