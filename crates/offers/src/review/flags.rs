//! What in a server's words looks made to mislead a model or to be overlooked by its user. A flag is a reason to look twice.
//! It hides nothing, allows nothing, and to have none says nothing.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foreign::is_hidden;
use serde_json::Value;
use unicode_security::skeleton;

use super::folded::Folded;
use super::letters::has_deceptive_letters;
use super::names::Names;
use super::phrases::{ASKS_FOR_CONTEXT, PHRASES};

/// The most flags of one definition.
const MAX_FLAGS: usize = 50;
/// How much text of one definition is looked through, in bytes. That there is more is a flag of its own.
const MAX_TEXT: usize = 64 * 1024;
/// How long an excerpt is, in characters.
const EXCERPT: usize = 120;
/// How much of it stands before what it is about, in characters.
const LEAD: usize = EXCERPT / 4;
/// The shortest name that is looked for in texts, in bytes.
const MIN_NAME: usize = 4;

/// Something to look twice at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Flag {
    /// Where it stands: the keys that lead there, and numbers of items from 1; none for the text itself.
    pub place: Vec<String>,
    /// What it is.
    pub reason: FlagReason,
    /// What it is about, as it stands there.
    pub excerpt: String,
}

/// Why to look twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FlagReason {
    /// It holds characters that are not seen.
    HiddenCharacters,
    /// It tells the model what to do beside the tool.
    InstructsModel,
    /// It wants something kept from the user.
    HidesFromUser,
    /// It names a place where secrets lie.
    SecretPlace,
    /// It names a tool of another server.
    OtherTool,
    /// A parameter asks for what the user did not give to the tool, such as the conversation.
    AsksForContext,
    /// It praises itself above other tools, so that a model takes it.
    PraisesItself,
    /// A name has letters that can be taken for others.
    DeceptiveLetters,
    /// A link shows another address than it leads to.
    MisleadingLink,
    /// There is more text than was looked through.
    TooLong,
}

/// Whether a character is a mark that chooses how the emoji before it looks; anywhere else it is one that nobody sees.
pub(crate) fn is_style(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a mark that chooses how an emoji looks stands where one belongs: right behind a character with two looks, or within a
/// keycap. `after` is what follows it.
#[must_use]
pub fn is_styled(before: char, mark: char, after: Option<char>) -> bool {
    match before {
        '#' | '*' | '0'..='9' => mark == '\u{fe0f}' && after == Some('\u{20e3}'),
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}' => {
            is_style(mark)
        }
        '\u{2194}'..='\u{21aa}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{27bf}' => is_style(mark),
        '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3297}' | '\u{3299}' => is_style(mark),
        '\u{1f000}'..='\u{1faff}' => is_style(mark),
        _ => false,
    }
}

/// Phrases as they are, and as their skeletons, for texts with letters of other scripts.
static FINDERS: LazyLock<Option<[AhoCorasick; 2]>> = LazyLock::new(|| {
    let phrases = || PHRASES.iter().flat_map(|(_, phrases)| phrases.iter());
    let finder = |words: Vec<String>| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
    let plain = finder(phrases().map(|phrase| (*phrase).to_owned()).collect());
    let as_drawn = finder(phrases().map(|phrase| skeleton(phrase).collect()).collect());
    // A list that is compiled in fits, as the tests show.
    Some([plain.ok()?, as_drawn.ok()?])
});

/// Each phrase with its reason, in the order of the finders' patterns.
fn phrase_of(pattern: usize) -> Option<(FlagReason, &'static str)> {
    let mut left = pattern;
    PHRASES.iter().find_map(|(reason, phrases)| {
        if let Some(phrase) = phrases.get(left) {
            return Some((*reason, *phrase));
        }
        left -= phrases.len();
        None
    })
}

/// Calls `found` with each phrase in a text: as it stands there, as it is drawn, and as tag characters spell it. The last argument is
/// the text from the phrase on, with a few words before it.
pub(super) fn phrases_in<'t>(text: &'t str, mut found: impl FnMut(FlagReason, &'static str, &'t str)) {
    let Some([plain, as_drawn]) = FINDERS.as_ref() else { return };
    let mut search = |finder: &AhoCorasick, folded: &Folded| {
        for place in finder.find_iter(folded.text()) {
            let Some((reason, phrase)) = phrase_of(place.pattern().as_usize()) else { continue };
            let at = folded.origin(place.start());
            let before = text[..at].char_indices().rev().nth(LEAD).map_or(0, |(start, c)| start + c.len_utf8());
            found(reason, phrase, &text[before..]);
        }
    };
    let folded = Folded::of(text);
    search(plain, &folded);
    if !text.is_ascii() {
        search(as_drawn, &folded.as_drawn());
        if let Some(spelled) = Folded::of_tags(text) {
            search(plain, &spelled);
        }
    }
}

/// What to look twice at in a definition of a tool or a prompt. `foreign` are the names of other servers' tools.
#[must_use]
pub fn flags_of_definition(definition: &Value, foreign: &[&Names]) -> Vec<Flag> {
    let mut look = Look { foreign, flags: Vec::new(), left: MAX_TEXT };
    look.value(&mut Vec::new(), definition);
    look.flags
}

/// What to look twice at in a text, such as a server's instructions.
#[must_use]
pub fn flags_of_text(text: &str, foreign: &[&Names]) -> Vec<Flag> {
    let mut look = Look { foreign, flags: Vec::new(), left: MAX_TEXT };
    look.text(&[], text);
    look.flags
}

/// What to look twice at in the name that a server has or gives itself.
#[must_use]
pub fn flags_of_name(name: &str) -> Vec<Flag> {
    let mut look = Look { foreign: &[], flags: Vec::new(), left: MAX_TEXT };
    look.name(&[], name);
    look.flags
}

struct Look<'a> {
    foreign: &'a [&'a Names],
    flags: Vec<Flag>,
    left: usize,
}

impl Look<'_> {
    // As deep as JSON from a server may be, which is bounded where it is read.
    fn value(&mut self, place: &mut Vec<String>, value: &Value) {
        match value {
            Value::String(text) => {
                if is_name(place) {
                    self.name(place, text);
                }
                self.text(place, text);
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    place.push((at + 1).to_string());
                    self.value(place, item);
                    place.pop();
                }
            }
            Value::Object(members) => {
                // What is below "properties" are the names of parameters; everywhere else, only what is no usual key is text.
                let named = place.last().is_some_and(|key| key == "properties");
                for (key, value) in members {
                    place.push(key.clone());
                    if named && asks_for_context(key) && place.first().is_some_and(|key| key == "inputSchema") {
                        self.flag(place, FlagReason::AsksForContext, key);
                    }
                    if named {
                        self.name(place, key);
                    }
                    self.text(place, key);
                    self.value(place, value);
                    place.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, place: &[String], text: &str) {
        if text.len() > self.left {
            self.left = 0;
            self.flag(place, FlagReason::TooLong, text);
            return;
        }
        self.left -= text.len();
        if let Some(hidden) = hidden_part(text) {
            self.flag(place, FlagReason::HiddenCharacters, hidden);
        }
        phrases_in(text, |reason, _, about| self.flag(place, reason, about));
        // That another server's tool has this one's own name is told as such.
        let is_own_name = place.first().is_some_and(|key| key == "name");
        let name = |word: &&str| word.len() >= MIN_NAME && self.foreign.iter().any(|names| names.has(word));
        if let Some(word) = words(text).find(name).filter(|_| !is_own_name) {
            self.flag(place, FlagReason::OtherTool, word);
        }
    }

    fn name(&mut self, place: &[String], name: &str) {
        if has_deceptive_letters(name) {
            self.flag(place, FlagReason::DeceptiveLetters, name);
        }
    }

    fn flag(&mut self, place: &[String], reason: FlagReason, about: &str) {
        let is_told = |flag: &Flag| flag.reason == reason && flag.place == place;
        if self.flags.len() < MAX_FLAGS && !self.flags.iter().any(is_told) {
            self.flags.push(Flag::new(place, reason, about));
        }
    }
}

impl Flag {
    /// A flag on what a text begins with.
    pub(super) fn new(place: &[String], reason: FlagReason, about: &str) -> Self {
        Self { place: place.to_vec(), reason, excerpt: about.chars().take(EXCERPT).collect() }
    }
}

/// Whether what stands there is the name of a tool, a prompt or an argument of one.
fn is_name(place: &[String]) -> bool {
    match place {
        [key] => key == "name",
        [list, _, key] => list == "arguments" && key == "name",
        _ => false,
    }
}

/// The part of a text from its first hidden character on, if it has one where none belongs.
fn hidden_part(text: &str) -> Option<&str> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t')) {
        return None;
    }
    let mut before = ' ';
    let mut in_flag = false;
    let mut left = text.char_indices().peekable();
    while let Some((at, c)) = left.next() {
        // The flags of England, Scotland and Wales are spelled in tags.
        in_flag = c == '\u{1f3f4}' || (in_flag && matches!(c, '\u{e0020}'..='\u{e007f}'));
        // Joiners stand between parts of emoji, and in the words of many scripts.
        let joins = matches!(c, '\u{200c}' | '\u{200d}') && !before.is_ascii() && !is_hidden(before);
        let styles = is_styled(before, c, left.peek().map(|(_, after)| *after));
        if (is_hidden(c) && !in_flag && !joins) || (is_style(c) && !styles) {
            return Some(&text[at..]);
        }
        before = c;
    }
    None
}

/// Whether a parameter of this name asks for what the user did not give to the tool.
fn asks_for_context(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    ASKS_FOR_CONTEXT.contains(&plain.as_str())
}

/// The words of a text that are no plain words: names of several parts, or in quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
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
