//! Values that another app takes from environment variables or an environment file, and that an import takes from there
//! if the user chooses so.

use ports::secrets;
use ports::server_config::{ImportNote, ImportNoteKind, ImportPlace, ServerTransport};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::{FoundServer, ImportedValueKind};
use crate::secret_detection::{has_secret, is_secret_name, is_secret_value};
use crate::variables::{ReferenceTarget, ValueReference};

/// Maximum number of references in a value that an import can take. The user sees the name of each variable.
const MAX_TAKEN_REFERENCES: usize = 10;
/// Maximum length, in bytes, of the name of an environment variable that an import can read.
const MAX_VARIABLE_NAME_BYTES: usize = 100;

/// The place of a value that the other app's settings only refer to. No environment variable is read, and no value of a
/// file is used, before the user chooses so.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// Environment variables.
    Environment(EnvironmentText),
    /// A line of an environment file (`.env`).
    File {
        /// Path of the file as in the settings, safe to print.
        path: String,
        /// Value in the file.
        value: SecretString,
    },
}

/// The value of a variable or header that refers to environment variables and to nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentText {
    parts: Vec<TextPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextPart {
    Text(String),
    Variable { name: String, default: Option<String> },
}

/// Result of taking the values that the user chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenValues {
    /// Names of the server's variables and headers whose values were taken.
    pub names: Vec<String>,
    /// Names of the environment variables that are not set. The values that refer to them were not taken.
    pub unset: Vec<String>,
}

impl EnvironmentText {
    /// Creates the text of a value, or returns `None` if the value has no references, or has others than those to
    /// environment variables. `found` contains all references in `value`.
    pub(crate) fn new(value: &str, found: &[ValueReference]) -> Option<Self> {
        if found.is_empty() || found.len() > MAX_TAKEN_REFERENCES {
            return None;
        }
        let mut parts = Vec::new();
        let mut end = 0;
        for ValueReference { range, target } in found {
            let ReferenceTarget::Environment { name, default } = target else { return None };
            if !is_variable_name(name) {
                return None;
            }
            parts.push(TextPart::Text(value[end..range.start].to_owned()));
            parts.push(TextPart::Variable { name: name.clone(), default: default.clone() });
            end = range.end;
        }
        parts.push(TextPart::Text(value[end..].to_owned()));
        Some(Self { parts })
    }

    /// Returns the names of the environment variables, each once, in the order of the text.
    #[must_use]
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.parts {
            if let TextPart::Variable { name, .. } = part
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// Returns the text with the values of its variables, or the names of the variables that are not set and have no
    /// default.
    fn resolve(&self, read_variable: &dyn Fn(&str) -> Option<String>) -> Result<String, Vec<String>> {
        let mut text = String::new();
        let mut unset = Vec::new();
        for part in &self.parts {
            match part {
                TextPart::Text(part) => text.push_str(part),
                TextPart::Variable { name, default } => {
                    match read_variable(name).filter(|value| !value.is_empty()).or_else(|| default.clone()) {
                        Some(value) => text.push_str(&value),
                        None if unset.contains(name) => {}
                        None => unset.push(name.clone()),
                    }
                }
            }
        }
        if unset.is_empty() { Ok(text) } else { Err(unset) }
    }
}

impl ValueSource {
    /// Returns the names of the environment variables of this source.
    fn variables(&self) -> Vec<&str> {
        match self {
            Self::Environment(text) => text.variables(),
            Self::File { .. } => Vec::new(),
        }
    }

    /// Returns `true` if both sources have the same value: they are the same text with the same environment variables,
    /// or lines of files with equal values.
    pub(crate) fn has_value_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Environment(text), Self::Environment(other)) => text == other,
            (Self::File { value, .. }, Self::File { value: other, .. }) => {
                value.expose_secret() == other.expose_secret()
            }
            _ => false,
        }
    }

    /// Returns a description that differs for different sources, for [`FoundServer::fingerprint`].
    pub(super) fn description(&self) -> Value {
        let part = |part: &TextPart| match part {
            TextPart::Text(text) => json!(text),
            TextPart::Variable { name, default } => json!({ "variable": name, "default": default }),
        };
        match self {
            Self::Environment(text) => text.parts.iter().map(part).collect(),
            Self::File { path, .. } => json!({ "file": path }),
        }
    }
}

impl FoundServer {
    /// Takes the values of these variables and headers from their [sources](Self::sources). `read_variable` reads an
    /// environment variable, and is called only for those that these values refer to.
    ///
    /// A value that is a secret, or whose names indicate one, becomes one of [`secrets`](Self::secrets). Any other
    /// value becomes part of the configuration. If a variable is not set, the server's value stays as it is.
    pub fn take_values(&mut self, names: &[String], read_variable: &dyn Fn(&str) -> Option<String>) -> TakenValues {
        let mut taken = TakenValues::default();
        for name in names {
            let Some(source) = self.sources.remove(name) else { continue };
            let resolved = match &source {
                ValueSource::Environment(text) => text.resolve(read_variable),
                ValueSource::File { value, .. } => Ok(value.expose_secret().to_owned()),
            };
            match resolved {
                Ok(value) => {
                    self.set_taken_value(name, value, source.variables().into_iter().any(is_secret_name));
                    taken.names.push(name.clone());
                }
                Err(unset) => {
                    let new: Vec<String> = unset.into_iter().filter(|name| !taken.unset.contains(name)).collect();
                    taken.unset.extend(new);
                }
            }
        }
        taken
    }

    fn set_taken_value(&mut self, name: &str, value: String, is_secret_source: bool) {
        let was_pending = self.pending.remove(name).is_some();
        // Text that looks like a reference to one of Drawbridge's secrets must not be read as one.
        let has_own_reference = !secrets::referenced_secret_names(&value).is_empty();
        let is_secret = is_secret_source || was_pending || has_own_reference || is_secret_value(name, &value);
        let values = match &mut self.config.transport {
            ServerTransport::Stdio(stdio) => &mut stdio.env,
            ServerTransport::Http(http) => &mut http.headers,
        };
        let kind = if is_secret {
            values.remove(name);
            self.secrets.insert(name.to_owned(), value.into());
            ImportedValueKind::Secret
        } else {
            values.insert(name.to_owned(), value);
            ImportedValueKind::Literal
        };
        for kinds in [&mut self.env, &mut self.headers] {
            if let Some(known) = kinds.get_mut(name) {
                *known = kind;
            }
        }
        self.notes.retain(|note| !requests_value(note, name));
    }
}

/// Returns `true` for a note that the user has to enter this value.
fn requests_value(note: &ImportNote, name: &str) -> bool {
    let is_place = matches!(&note.place, Some(ImportPlace::Value { name: place }) if place == name);
    match note.kind {
        ImportNoteKind::AsWritten => is_place,
        ImportNoteKind::EnterValue => note.names == [name],
        _ => false,
    }
}

/// Returns `true` if this can be the name of an environment variable, such as `ProgramFiles(x86)`, and may be shown as
/// part of a question or a command line. Other signs could imitate the text around the name.
fn is_variable_name(name: &str) -> bool {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'(' | b')' | b'.' | b'-');
    (1..=MAX_VARIABLE_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_allowed) && !has_secret(name)
}
