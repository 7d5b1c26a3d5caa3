//! Reads fields of JSON objects leniently: what is of the wrong type or too long is left out or cut, with a warning.

use foreign::visible;
use serde_json::{Map, Value};

use super::ManifestError;

/// The longest name, address or label, in bytes.
pub(super) const MAX_SHORT: usize = 500;
/// The longest description, in bytes.
pub(super) const MAX_LONG: usize = 64 << 10;
/// The longest command, argument or variable, in bytes.
pub(super) const MAX_WORD: usize = 16 << 10;
/// The most tools, prompts, keywords, pictures, arguments or variables.
pub(super) const MAX_ITEMS: usize = 1000;
const MAX_WARNINGS: usize = 100;

/// What was not used, in sentences.
#[derive(Default)]
pub(super) struct Warnings(pub(super) Vec<String>);

impl Warnings {
    pub(super) fn add(&mut self, text: &str) {
        if self.0.len() < MAX_WARNINGS {
            self.0.push(visible(text).into_owned());
        }
    }
}

/// An object, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Fields<'j> {
    object: &'j Map<String, Value>,
    at: &'j str,
}

impl<'j> Fields<'j> {
    pub(super) fn new(object: &'j Map<String, Value>, at: &'j str) -> Self {
        Self { object, at }
    }

    pub(super) fn keys(self) -> impl Iterator<Item = &'j String> {
        self.object.keys()
    }

    pub(super) fn value(self, key: &str) -> Option<&'j Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// The path of a field, for messages.
    pub(super) fn path(self, key: &str) -> String {
        let key: String = key.chars().take(MAX_SHORT).collect();
        if self.at.is_empty() { key } else { format!("{}.{key}", self.at) }
    }

    /// What `read` makes of a field; a warning if it is there and `read` makes nothing of it.
    fn read<T>(
        self,
        key: &str,
        expected: &str,
        warnings: &mut Warnings,
        read: impl FnOnce(&'j Value) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.value(key)?);
        if value.is_none() {
            warnings.add(&format!("{} is not {expected} and is not used", self.path(key)));
        }
        value
    }

    /// A text of at most `max` bytes, cut if it is longer.
    pub(super) fn text(self, key: &str, max: usize, warnings: &mut Warnings) -> Option<String> {
        let text = self.read(key, "a text", warnings, Value::as_str)?;
        if text.len() > max {
            warnings.add(&format!("{} is too long and was cut", self.path(key)));
        }
        Some(cut(text, max))
    }

    pub(super) fn flag(self, key: &str, warnings: &mut Warnings) -> bool {
        self.read(key, "true or false", warnings, Value::as_bool).unwrap_or_default()
    }

    pub(super) fn number(self, key: &str, warnings: &mut Warnings) -> Option<f64> {
        self.read(key, "a number", warnings, Value::as_f64)
    }

    pub(super) fn object(self, key: &str, warnings: &mut Warnings) -> Option<&'j Map<String, Value>> {
        self.read(key, "an object", warnings, Value::as_object)
    }

    /// The items of a list, as far as there are not too many.
    pub(super) fn list(self, key: &str, warnings: &mut Warnings) -> Vec<&'j Value> {
        let items = self.read(key, "a list", warnings, Value::as_array).map_or(&[][..], Vec::as_slice);
        if items.len() > MAX_ITEMS {
            warnings.add(&format!("{} has too many items; {MAX_ITEMS} are used", self.path(key)));
        }
        items.iter().take(MAX_ITEMS).collect()
    }

    /// The objects of a list.
    pub(super) fn objects(self, key: &str, warnings: &mut Warnings) -> Vec<&'j Map<String, Value>> {
        let items = self.list(key, warnings);
        let objects: Vec<_> = items.iter().filter_map(|item| item.as_object()).collect();
        if objects.len() < items.len() {
            warnings.add(&format!("{} has items that are no objects and are not used", self.path(key)));
        }
        objects
    }

    /// The texts of a list, none longer than [`MAX_SHORT`].
    pub(super) fn texts(self, key: &str, warnings: &mut Warnings) -> Vec<String> {
        let items = self.list(key, warnings);
        let texts: Vec<_> = items.iter().filter_map(|item| Some(cut(item.as_str()?, MAX_SHORT))).collect();
        if texts.len() < items.len() {
            warnings.add(&format!("{} has items that are no texts and are not used", self.path(key)));
        }
        texts
    }

    /// A text that is needed, and of which every letter counts.
    pub(super) fn needed(self, key: &str, max: usize) -> Result<String, ManifestError> {
        let text = self.exact(key, max)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| ManifestError::Field { field: self.path(key), expected: "a text" })
    }

    /// A text of which every letter counts: too long or of another type, it is an error.
    pub(super) fn exact(self, key: &str, max: usize) -> Result<Option<String>, ManifestError> {
        self.value(key).map(|value| exact(value, &self.path(key), max)).transpose()
    }
}

/// A text of which every letter counts.
pub(super) fn exact(value: &Value, at: &str, max: usize) -> Result<String, ManifestError> {
    let text = value.as_str().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| ManifestError::Field { field: at.to_owned(), expected: "a text" })?;
    if text.len() > max { Err(ManifestError::TooLong(at.to_owned())) } else { Ok(text.to_owned()) }
}

/// The beginning of a text, of at most `max` bytes.
pub(super) fn cut(text: &str, max: usize) -> String {
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
