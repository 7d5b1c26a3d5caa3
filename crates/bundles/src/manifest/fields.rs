//! Lenient parsing of JSON members. Values of the wrong type are dropped and long ones are truncated, each with a
//! warning.

use foreign::escape_invisible;
use installs::{ManifestValueType, ManifestWarning};
use serde_json::{Map, Value};

use super::ManifestError;

/// Maximum length, in bytes, of a name, address or label in a manifest.
pub(super) const MAX_LABEL_BYTES: usize = 500;
/// Maximum length, in bytes, of a description in a manifest.
pub(super) const MAX_DESCRIPTION_BYTES: usize = 64 << 10;
/// Maximum length, in bytes, of a command, argument or variable in a manifest.
pub(super) const MAX_ARGUMENT_BYTES: usize = 16 << 10;
/// Maximum number of items in a list of a manifest, such as tools, keywords or arguments.
pub(super) const MAX_MANIFEST_ITEMS: usize = 1000;
const MAX_MANIFEST_WARNINGS: usize = 100;

/// Warnings about the values in a manifest that were ignored or truncated.
#[derive(Default)]
pub(super) struct ManifestWarnings(pub(super) Vec<ManifestWarning>);

impl ManifestWarnings {
    /// Adds a warning, whose texts the caller must have escaped for display.
    pub(super) fn add(&mut self, warning: ManifestWarning) {
        if self.0.len() < MAX_MANIFEST_WARNINGS {
            self.0.push(warning);
        }
    }
}

/// A JSON object in a manifest, and its path in the manifest, which error messages and warnings mention.
#[derive(Clone, Copy)]
pub(super) struct ManifestFields<'j> {
    object: &'j Map<String, Value>,
    at: &'j str,
}

impl<'j> ManifestFields<'j> {
    pub(super) fn new(object: &'j Map<String, Value>, at: &'j str) -> Self {
        Self { object, at }
    }

    pub(super) fn keys(self) -> impl Iterator<Item = &'j String> {
        self.object.keys()
    }

    pub(super) fn value(self, key: &str) -> Option<&'j Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Returns the path of the member `key` of this object, for messages.
    pub(super) fn path(self, key: &str) -> String {
        let key: String = key.chars().take(MAX_LABEL_BYTES).collect();
        if self.at.is_empty() { key } else { format!("{}.{key}", self.at) }
    }

    /// Returns the path of the member `key` of this object, escaped and truncated for display.
    pub(super) fn displayed_member_path(self, key: &str) -> String {
        truncate(&escape_invisible(&self.path(key)), MAX_LABEL_BYTES)
    }

    /// Converts the member `key` with `read`. Adds a warning if the member exists and `read` returns `None`.
    fn read<T>(
        self,
        key: &str,
        expected: ManifestValueType,
        warnings: &mut ManifestWarnings,
        read: impl FnOnce(&'j Value) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.value(key)?);
        if value.is_none() {
            warnings.add(ManifestWarning::WrongType { member: self.displayed_member_path(key), expected });
        }
        value
    }

    /// Returns the string in the member `key`, truncated to `max` bytes. Returns `None` if the member is missing or,
    /// with a warning, if it is not a string.
    pub(super) fn text(self, key: &str, max: usize, warnings: &mut ManifestWarnings) -> Option<String> {
        let text = self.read(key, ManifestValueType::Text, warnings, Value::as_str)?;
        if text.len() > max {
            warnings.add(ManifestWarning::Truncated { member: self.displayed_member_path(key) });
        }
        Some(truncate(text, max))
    }

    pub(super) fn flag(self, key: &str, warnings: &mut ManifestWarnings) -> bool {
        self.read(key, ManifestValueType::Boolean, warnings, Value::as_bool).unwrap_or_default()
    }

    pub(super) fn number(self, key: &str, warnings: &mut ManifestWarnings) -> Option<f64> {
        self.read(key, ManifestValueType::Number, warnings, Value::as_f64)
    }

    pub(super) fn object(self, key: &str, warnings: &mut ManifestWarnings) -> Option<&'j Map<String, Value>> {
        self.read(key, ManifestValueType::Object, warnings, Value::as_object)
    }

    /// Returns the items of the list in the member `key`, at most [`MAX_MANIFEST_ITEMS`], or an empty list if the
    /// member is missing.
    pub(super) fn list(self, key: &str, warnings: &mut ManifestWarnings) -> Vec<&'j Value> {
        let items = self.read(key, ManifestValueType::List, warnings, Value::as_array).map_or(&[][..], Vec::as_slice);
        if items.len() > MAX_MANIFEST_ITEMS {
            let used = u32::try_from(MAX_MANIFEST_ITEMS).unwrap_or(u32::MAX);
            warnings.add(ManifestWarning::TooManyItems { member: self.displayed_member_path(key), used });
        }
        items.iter().take(MAX_MANIFEST_ITEMS).collect()
    }

    /// Returns those items of the list in the member `key` that are objects. Adds a warning if others exist.
    pub(super) fn objects(self, key: &str, warnings: &mut ManifestWarnings) -> Vec<&'j Map<String, Value>> {
        let items = self.list(key, warnings);
        let objects: Vec<_> = items.iter().filter_map(|item| item.as_object()).collect();
        if objects.len() < items.len() {
            let expected = ManifestValueType::Object;
            warnings.add(ManifestWarning::WrongItems { member: self.displayed_member_path(key), expected });
        }
        objects
    }

    /// Returns those items of the list in the member `key` that are strings, each truncated to [`MAX_LABEL_BYTES`].
    pub(super) fn string_list(self, key: &str, warnings: &mut ManifestWarnings) -> Vec<String> {
        let items = self.list(key, warnings);
        let texts: Vec<_> = items.iter().filter_map(|item| Some(truncate(item.as_str()?, MAX_LABEL_BYTES))).collect();
        if texts.len() < items.len() {
            let expected = ManifestValueType::Text;
            warnings.add(ManifestWarning::WrongItems { member: self.displayed_member_path(key), expected });
        }
        texts
    }

    /// Returns the string in the member `key`. Fails if the member is missing, is not a string, or is longer than `max`
    /// bytes.
    pub(super) fn required_string(self, key: &str, max: usize) -> Result<String, ManifestError> {
        let text = self.optional_string(key, max)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| ManifestError::Field { field: self.path(key), expected: "a text" })
    }

    /// Returns the string in the member `key`, or `None` if the member is missing. Fails if it is not a string, or is
    /// longer than `max` bytes.
    pub(super) fn optional_string(self, key: &str, max: usize) -> Result<Option<String>, ManifestError> {
        self.value(key).map(|value| parse_bounded_string(value, &self.path(key), max)).transpose()
    }
}

/// Returns the string in `value`. Fails if `value` is not a string, or is longer than `max` bytes.
pub(super) fn parse_bounded_string(value: &Value, at: &str, max: usize) -> Result<String, ManifestError> {
    let text = value.as_str().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| ManifestError::Field { field: at.to_owned(), expected: "a text" })?;
    if text.len() > max { Err(ManifestError::TooLong(at.to_owned())) } else { Ok(text.to_owned()) }
}

/// Returns a text of at most `max` bytes: the whole text, or its beginning with an ellipsis.
pub(super) fn truncate(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mark = '…';
    let mut end = max - mark.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", &text[..end])
}
