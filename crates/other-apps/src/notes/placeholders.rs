//! Texts that the user has to replace before a server works: placeholders in a README or an import, and references that
//! another program would replace.

use std::collections::BTreeSet;

use ports::secrets;
use ports::server_config::{ImportNote, ImportNoteKind, ImportPlace, ServerConfig, ServerTransport};
use serde::{Deserialize, Serialize};

use super::{printable_text, quoted_text};
use crate::server_candidate::EntryExtras;
use crate::variables::{ReferenceSyntax, ValueReference, find_references};

/// Maximum number of placeholders in the notes about one server, and maximum number of passwords in them. A last note
/// counts the others.
const MAX_PLACEHOLDERS: usize = 20;
/// Words for the placeholders that the notes omit, in the singular and in the plural.
const OMITTED_PLACEHOLDERS_SINGULAR_PLURAL: [&str; 2] = ["text to replace or fill in", "texts to replace or fill in"];
/// Words for the passwords that the notes omit, in the singular and in the plural.
const OMITTED_PASSWORDS_SINGULAR_PLURAL: [&str; 2] =
    ["password that would be stored as plain text", "passwords that would be stored as plain text"];

/// A text that the user has to replace before the server works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportPlaceholder {
    /// Part of the configuration that contains the text.
    pub place: ImportPlace,
    /// The text to replace, safe to print. Empty if the value is missing.
    pub text: String,
}

/// Reason why a text in a configuration probably has to be replaced by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplacementReason {
    Empty,
    Reference,
    Placeholder,
}

/// Returns notes about texts in a configuration that look as if the user or another program has to replace them.
pub(crate) fn placeholder_notes(config: &ServerConfig) -> Vec<ImportNote> {
    let found = find_placeholders(config);
    let omitted = found.len().saturating_sub(MAX_PLACEHOLDERS);
    let notes = found.into_iter().take(MAX_PLACEHOLDERS).map(|(place, gap, text)| {
        let is_value = matches!(place, ImportPlace::Value { .. });
        let words = describe_place(&place, config);
        let (kind, note) = match gap {
            ReplacementReason::Empty => {
                (ImportNoteKind::Empty, format!("{words} is empty: fill it in if the server needs it"))
            }
            ReplacementReason::Reference => (
                if is_value { ImportNoteKind::AsWritten } else { ImportNoteKind::Placeholder },
                format!("{words} is {}: Drawbridge passes it unchanged, so replace it by the value", quoted_text(text)),
            ),
            ReplacementReason::Placeholder => (
                ImportNoteKind::Placeholder,
                format!("{words} is {}: this looks like a placeholder, put your own value there", quoted_text(text)),
            ),
        };
        let note = ImportNote::new(kind, note).at(place);
        if gap == ReplacementReason::Empty { note } else { note.with_names([text]) }
    });
    notes
        .chain(omission_note(ImportNoteKind::MorePlaceholders, omitted, OMITTED_PLACEHOLDERS_SINGULAR_PLURAL))
        .collect()
}

/// Returns the texts that the user has to replace before the server can work: placeholders and references in all parts
/// of the configuration except the values of variables and headers.
pub(crate) fn required_replacements(config: &ServerConfig) -> Vec<ImportPlaceholder> {
    let is_needed = |(place, gap, _): &(ImportPlace, ReplacementReason, &str)| {
        *gap != ReplacementReason::Empty && !matches!(place, ImportPlace::Value { .. })
    };
    let gaps = find_placeholders(config).into_iter().filter(is_needed);
    let replacements = gaps.map(|(place, _, text)| ImportPlaceholder { place, text: printable_text(text) });
    replacements.take(MAX_PLACEHOLDERS).collect()
}

/// Returns notes about passwords that the other app prompts for, and that are not values of variables or headers. Such
/// passwords would be stored in the settings file as plain text, since the keychain can't contain them.
pub(crate) fn plain_password_notes(config: &ServerConfig, extras: &EntryExtras) -> Vec<ImportNote> {
    let is_password = |reference: &ValueReference| extras.is_password(reference);
    let mut notes: Vec<ImportNote> = Vec::new();
    let mut seen = BTreeSet::new();
    for (place, text) in
        places_and_texts(config).into_iter().filter(|(place, _)| !matches!(place, ImportPlace::Value { .. }))
    {
        for ValueReference { range, .. } in find_references(text, ReferenceSyntax::Any).into_iter().filter(is_password)
        {
            let placeholder = &text[range];
            let words = describe_place(&place, config);
            if !seen.insert((words.clone(), placeholder)) || notes.len() == MAX_PLACEHOLDERS {
                continue;
            }
            let note = format!(
                "{words} contains the password {}: it would be stored as plain text, since only variables and headers \
                 can be stored in the keychain; pass it in one of them if the server can read it there",
                quoted_text(placeholder)
            );
            let note = ImportNote::new(ImportNoteKind::PlainPassword, note);
            notes.push(note.at(place.clone()).with_names([placeholder]));
        }
    }
    let omitted = seen.len().saturating_sub(notes.len());
    notes.extend(omission_note(ImportNoteKind::MorePlainPasswords, omitted, OMITTED_PASSWORDS_SINGULAR_PLURAL));
    notes
}

/// Returns a note that `omitted` further notes were omitted, or `None` if that number is 0. `one` and `several` are the
/// words for the subject of the omitted notes, in the singular and in the plural.
pub(crate) fn omission_note(kind: ImportNoteKind, omitted: usize, [one, several]: [&str; 2]) -> Option<ImportNote> {
    let text = format!("and {omitted} more {}", if omitted == 1 { one } else { several });
    (omitted > 0).then(|| ImportNote::new(kind, text).with_names([omitted.to_string()]))
}

fn find_placeholders(config: &ServerConfig) -> Vec<(ImportPlace, ReplacementReason, &str)> {
    // A reference to one of Drawbridge's secrets is replaced by Drawbridge.
    let is_replaced = |(place, text): &(ImportPlace, &str)| {
        matches!(place, ImportPlace::Value { .. }) && !secrets::referenced_secret_names(text).is_empty()
    };
    let places = places_and_texts(config).into_iter().filter(|found| !is_replaced(found));
    places.filter_map(|(place, text)| Some((place, replacement_reason(text)?, text))).collect()
}

/// Returns the texts of a configuration that may contain placeholders, in the order in which the page shows them.
fn places_and_texts(config: &ServerConfig) -> Vec<(ImportPlace, &str)> {
    let mut places: Vec<(ImportPlace, &str)> = Vec::new();
    let values = config.environment_or_headers().iter();
    let values = values.map(|(name, value)| (ImportPlace::Value { name: name.clone() }, value.as_str()));
    match &config.transport {
        ServerTransport::Stdio(config) => {
            places.push((ImportPlace::Command, &config.command));
            let args = (1..).zip(&config.args);
            places.extend(args.map(|(number, arg)| (ImportPlace::Argument { number }, arg.as_str())));
            places.extend(values);
            places.extend(config.cwd.as_deref().and_then(|cwd| cwd.to_str()).map(|cwd| (ImportPlace::Folder, cwd)));
        }
        ServerTransport::Http(config) => {
            places.push((ImportPlace::Url, &config.url));
            places.extend(values);
        }
    }
    places
}

fn replacement_reason(text: &str) -> Option<ReplacementReason> {
    match text {
        "" => Some(ReplacementReason::Empty),
        _ if is_reference(text) => Some(ReplacementReason::Reference),
        _ => is_placeholder(text).then_some(ReplacementReason::Placeholder),
    }
}

fn describe_place(place: &ImportPlace, config: &ServerConfig) -> String {
    let is_remote = config.as_http().is_some();
    match place {
        ImportPlace::Command => String::from("the command"),
        ImportPlace::Argument { number } => format!("argument {number}"),
        ImportPlace::Folder => String::from("the folder"),
        ImportPlace::Url => String::from("the URL"),
        ImportPlace::Value { name } if is_remote => format!("the header {}", quoted_text(name)),
        ImportPlace::Value { name } => format!("the variable {}", quoted_text(name)),
        ImportPlace::ClientSecret => String::from("the client secret"),
    }
}

/// Returns `true` if a text contains a reference such as `${NAME}`, which a shell or an editor would replace.
fn is_reference(text: &str) -> bool {
    let name = |rest: &str| rest.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    text.contains("${")
        || text.contains("{{")
        || text.split('$').skip(1).any(name)
        || text.starts_with("~/")
        || text == "~"
        || text
            .split('%')
            .nth(1)
            .is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

/// Returns `true` if a text looks like a placeholder in documentation, such as `<your-key>` or `YOUR_API_KEY`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let in_angles =
        text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).is_some_and(|(inner, _)| !inner.is_empty());
    let words = lower.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|found| found == phrase);
    in_angles
        || has(&["path", "to"])
        || words.contains(&"your")
        || words.iter().any(|word| word.starts_with("your") && *word != "yours")
        || has(&["replace", "me"])
        || has(&["change", "me"])
        || ["changeme", "placeholder", "xxx", "xxxx"].iter().any(|word| words.contains(word))
        || lower.contains("xxxxx")
        || lower.ends_with("...")
        || has(&["users", "username"])
        || has(&["home", "user"])
        || has(&["home", "username"])
        || has(&["api", "key", "here"])
}
