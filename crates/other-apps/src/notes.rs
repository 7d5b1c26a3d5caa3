//! Notes about imported servers, in the order in which they are shown.

mod placeholders;

use foreign::escape_invisible;
use ports::server_config::{ImportNote, ImportNoteKind, ImportPlace};

pub use placeholders::ImportPlaceholder;
pub(crate) use placeholders::{
    is_placeholder, omission_note, placeholder_notes, plain_password_notes, required_replacements,
};

/// Returns a note with invisible characters escaped and long texts truncated.
pub(crate) fn printable_note(note: &ImportNote) -> ImportNote {
    ImportNote {
        kind: note.kind,
        place: note.place.as_ref().map(printable_place),
        names: note.names.iter().map(|name| printable_text(name)).collect(),
        text: printable_text(&note.text),
    }
}

/// Returns the part of the configuration that a note refers to, with a name that is safe to print.
fn printable_place(place: &ImportPlace) -> ImportPlace {
    match place {
        ImportPlace::Value { name } => ImportPlace::Value { name: printable_text(name) },
        other => other.clone(),
    }
}

/// Notes about the entry of one server in another app's settings, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ImportNotes(Vec<ImportNote>);

impl ImportNotes {
    pub(crate) fn push(&mut self, note: ImportNote) {
        self.0.push(note);
    }

    pub(crate) fn extend(&mut self, notes: impl IntoIterator<Item = ImportNote>) {
        self.0.extend(notes);
    }

    pub(crate) fn add(&mut self, kind: ImportNoteKind, text: impl Into<String>) {
        self.push(ImportNote::new(kind, text));
    }

    pub(crate) fn insert_first(&mut self, note: ImportNote) {
        self.0.insert(0, note);
    }

    /// Returns the notes with invisible characters escaped and long texts truncated.
    pub(crate) fn printable(&self) -> impl Iterator<Item = ImportNote> {
        self.0.iter().map(printable_note)
    }
}

impl IntoIterator for ImportNotes {
    type Item = ImportNote;
    type IntoIter = std::vec::IntoIter<ImportNote>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Maximum length of a note, in characters.
const MAX_NOTE_CHARS: usize = 600;

/// Truncates a text to the maximum length of a note, and escapes its invisible characters.
pub(crate) fn printable_text(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_NOTE_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    escape_invisible(&short).into_owned()
}

/// Maximum length of a text from another app or a link within a note, in characters.
pub(crate) const MAX_QUOTED_CHARS: usize = 80;

/// Truncates a text from another app or a link, so that it can't push the rest of a note out of view.
pub(crate) fn shortened_text(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Quotes a text from another app, truncated and with invisible characters escaped.
pub(crate) fn quoted_text(text: &str) -> String {
    format!("{:?}", shortened_text(text))
}

/// Creates a note that an import ignores the setting `key`, and for which reason.
pub(crate) fn omitted_setting_note(key: &str, reason: &str) -> ImportNote {
    ImportNote::new(ImportNoteKind::Omitted, format!("{key:?} is omitted: {reason}")).with_names([key, reason])
}

/// Creates a note about settings that Drawbridge doesn't support. `settings` contains their quoted names.
pub(crate) fn unused_settings_note(settings: Vec<String>) -> ImportNote {
    let text = format!("not used: {}", settings.join(", "));
    ImportNote::new(ImportNoteKind::NotUsed, text).with_names(settings.iter().map(|name| name.trim_matches('"')))
}
