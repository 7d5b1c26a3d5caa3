//! Notes about imported servers. Each note has a kind, by which the page translates it, and an English text.

mod placeholders;

use foreign::visible;
use serde::{Deserialize, Serialize};

pub use placeholders::{ImportPlace, ImportPlaceholder};
pub(crate) use placeholders::{is_placeholder, placeholder_notes, required_replacements};

/// Kind of a note about a found server, by which the user interface translates the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportNoteKind {
    /// The other app has disabled the server.
    Off,
    /// Another app has the same server. The text names the other app.
    AlsoIn,
    /// Names of tools that the other app does not offer to its model. Drawbridge does not offer them, either.
    DeniedTools,
    /// Names of the only tools that the other app offers to its model. Drawbridge does not offer other tools, either.
    ExposedTools,
    /// A configured server has the same name, so this one is renamed.
    NameTaken,
    /// Another found server has the same name, so this one is renamed.
    NameShared,
    /// The found server is already configured in Drawbridge.
    SetUpHere,
    /// The server belongs to one project. The name in the note is the project's folder.
    Project,
    /// Names of settings that an import ignores, since Drawbridge doesn't support them.
    NotUsed,
    /// Names of settings that allow calls without consent, which are not imported.
    Approvals,
    /// Text that looks like a secret was removed, since the import would store it in a file.
    SecretRemoved,
    /// The command only connects to a remote server, which is imported in its place. The name is that of the program.
    Bridge,
    /// The wrapper `cmd /c`, which is only necessary on Windows, was removed from the command.
    Windows,
    /// A value for which the other app prompts the user. The names are the placeholder, and the description if the app
    /// has one.
    Input,
    /// A variable or header whose value the user has to enter.
    EnterValue,
    /// A variable or header whose value the other app reads from a file or the output of a command.
    NotFollowed,
    /// A text in the settings of the server that the user has to replace.
    Placeholder,
    /// A variable or header with a reference that Drawbridge passes on unchanged.
    AsWritten,
    /// A variable, header or argument without a value.
    Empty,
    /// An environment file of the server. The names are the path of the file, and the variable names if the file was
    /// read.
    EnvFile,
    /// Names of values that were added from the settings of another app.
    Merged,
    /// Names of the server's values that differ between two apps.
    Different,
    /// The file contains a second list of servers, which the other app does not read. The name in the note is its key.
    OtherList,
    /// Reason why the server can't be imported, in the text of the note.
    Reason,
    /// A note of none of the other kinds.
    Other,
}

/// A note about a server that was found in another app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportNote {
    /// Kind of the note, by which the user interface translates it.
    pub kind: ImportNoteKind,
    /// Names that the note refers to: settings, variables, a file or a folder, depending on the kind. Safe to print.
    pub names: Vec<String>,
    /// English text of the note, safe to print.
    pub text: String,
}

impl ImportNote {
    pub(crate) fn new(kind: ImportNoteKind, text: impl Into<String>) -> Self {
        Self { kind, names: Vec::new(), text: text.into() }
    }

    pub(crate) fn with_names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().take(MAX_NOTE_NAMES).map(Into::into).collect(), ..self }
    }

    /// Returns the note with invisible characters escaped.
    pub(crate) fn printable(&self) -> Self {
        Self {
            kind: self.kind,
            names: self.names.iter().map(|name| printable_text(name)).collect(),
            text: printable_text(&self.text),
        }
    }
}

impl From<String> for ImportNote {
    fn from(text: String) -> Self {
        Self::new(ImportNoteKind::Other, text)
    }
}

/// Notes about the entry of one server in another app's settings, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ImportNotes(Vec<ImportNote>);

impl ImportNotes {
    pub(crate) fn push(&mut self, note: impl Into<ImportNote>) {
        self.0.push(note.into());
    }

    pub(crate) fn extend<N: Into<ImportNote>>(&mut self, notes: impl IntoIterator<Item = N>) {
        self.0.extend(notes.into_iter().map(Into::into));
    }

    pub(crate) fn add(&mut self, kind: ImportNoteKind, text: impl Into<String>) {
        self.push(ImportNote::new(kind, text));
    }

    pub(crate) fn insert_first(&mut self, note: ImportNote) {
        self.0.insert(0, note);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ImportNote> {
        self.0.iter()
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        self.0.into_iter().map(|note| note.text).collect()
    }
}

impl From<Vec<String>> for ImportNotes {
    fn from(texts: Vec<String>) -> Self {
        Self(texts.into_iter().map(Into::into).collect())
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
/// Maximum number of names, such as settings or variables, in a note.
const MAX_NOTE_NAMES: usize = 20;

/// Truncates a text to the length of a note, and escapes its invisible characters.
pub(crate) fn printable_text(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_NOTE_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    visible(&short).into_owned()
}

/// Quotes a text from another app, truncated and with invisible characters escaped.
pub(crate) fn quoted_text(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 80;
    let mut short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Creates a note about settings that Drawbridge doesn't support. `settings` contains their quoted names.
pub(crate) fn unused_settings_note(settings: Vec<String>) -> ImportNote {
    let text = format!("not used: {}", settings.join(", "));
    ImportNote::new(ImportNoteKind::NotUsed, text).with_names(settings.iter().map(|name| name.trim_matches('"')))
}
