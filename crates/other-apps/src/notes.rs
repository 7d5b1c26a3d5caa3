//! What to look at before a server is added: each note has a kind, by which the page says it in its own language, and its text in English.

mod placeholders;

use foreign::visible;
use serde::{Deserialize, Serialize};

pub use placeholders::{ImportPlace, ImportPlaceholder};
pub(crate) use placeholders::{incomplete, is_placeholder, placeholders};

/// What a note says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportNoteKind {
    /// Its app does not start it.
    Off,
    /// Another app has it, too.
    AlsoIn,
    /// Tools that its app denies, which rules deny here.
    DeniedTools,
    /// The only tools that its app offers.
    ExposedTools,
    /// A server that is set up here has its name. It gets another one.
    NameTaken,
    /// Another server that was found has its name. It gets another one.
    NameShared,
    /// It is set up here already.
    SetUpHere,
    /// It is set up for one project; the name is the folder.
    Project,
    /// Settings without a counterpart here, by name.
    NotUsed,
    /// Approvals, by the names of their settings.
    Approvals,
    /// What looks like a secret was left out of what would lie in a file.
    SecretLeftOut,
    /// A program that only leads to the remote server, by name.
    Bridge,
    /// A wrapper of Windows was removed from its command.
    Windows,
    /// A value that its app asks the user for: the text that stands for it, and the description if it has one.
    Input,
    /// A variable or header whose value the user has to enter.
    EnterValue,
    /// A variable or header whose value its app reads from a file or gets by a command.
    NotFollowed,
    /// A text that the user has to replace.
    Placeholder,
    /// A variable or header with a reference that Drawbridge passes as it stands.
    AsWritten,
    /// A variable, header or argument without a value.
    Empty,
    /// A file with variables: the file, and the variables if it was read.
    EnvFile,
    /// Values that only another of its apps has, by name.
    Merged,
    /// Values that differ between its apps, by name.
    Different,
    /// Its file has a second list of servers, which its app does not read; the name is its key.
    OtherList,
    /// Why it can't be imported.
    Reason,
    /// Anything else.
    Other,
}

/// Something to know about a server that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportNote {
    /// What it says.
    pub kind: ImportNoteKind,
    /// What it names: settings, variables, a file or a folder, as its kind says. Safe to print.
    pub names: Vec<String>,
    /// The note in English, safe to print.
    pub text: String,
}

impl ImportNote {
    pub(crate) fn new(kind: ImportNoteKind, text: impl Into<String>) -> Self {
        Self { kind, names: Vec::new(), text: text.into() }
    }

    pub(crate) fn naming<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().take(MAX_NAMES).map(Into::into).collect(), ..self }
    }

    /// The same, safe to print.
    pub(crate) fn shown(&self) -> Self {
        Self { kind: self.kind, names: self.names.iter().map(|name| shown(name)).collect(), text: shown(&self.text) }
    }
}

impl From<String> for ImportNote {
    fn from(text: String) -> Self {
        Self::new(ImportNoteKind::Other, text)
    }
}

/// The notes on one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Notes(Vec<ImportNote>);

impl Notes {
    pub(crate) fn push(&mut self, note: impl Into<ImportNote>) {
        self.0.push(note.into());
    }

    pub(crate) fn extend<N: Into<ImportNote>>(&mut self, notes: impl IntoIterator<Item = N>) {
        self.0.extend(notes.into_iter().map(Into::into));
    }

    pub(crate) fn add(&mut self, kind: ImportNoteKind, text: impl Into<String>) {
        self.push(ImportNote::new(kind, text));
    }

    pub(crate) fn put_first(&mut self, note: ImportNote) {
        self.0.insert(0, note);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ImportNote> {
        self.0.iter()
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        self.0.into_iter().map(|note| note.text).collect()
    }
}

impl From<Vec<String>> for Notes {
    fn from(texts: Vec<String>) -> Self {
        Self(texts.into_iter().map(Into::into).collect())
    }
}

impl IntoIterator for Notes {
    type Item = ImportNote;
    type IntoIter = std::vec::IntoIter<ImportNote>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The longest note, in characters.
const MAX_NOTE: usize = 600;
/// The most texts that one note names.
const MAX_NAMES: usize = 20;

/// A text that is short enough for a note and safe to print.
pub(crate) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_NOTE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    visible(&short).into_owned()
}

/// A text from outside, shortened and with everything invisible written out.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Settings without a counterpart here, by their quoted names.
pub(crate) fn not_used(settings: Vec<String>) -> ImportNote {
    let text = format!("not used: {}", settings.join(", "));
    ImportNote::new(ImportNoteKind::NotUsed, text).naming(settings.iter().map(|name| name.trim_matches('"')))
}
