//! Expected shapes of list entries, validated on the JSON text without building values.
//!
//! A shape accepts the same values as the `Deserialize` of its type. A test in `list_entry.rs` compares the two.

use crate::jsonrpc::{JsonScanner, escape_and_truncate};

/// Expected JSON type of a value, with the expected types of its members or elements.
#[derive(Debug)]
pub enum JsonShape {
    /// A value of any type.
    Any,
    /// Any JSON string, including an empty one.
    Text,
    /// Any JSON number, including fractions and large numbers.
    Number,
    /// The literal `true` or `false`.
    Flag,
    /// An object with any members.
    Map,
    /// One of the given strings.
    OneOf(&'static [&'static str]),
    /// A string, or an array of strings.
    Texts,
    /// An array whose elements have the given shape.
    List(&'static JsonShape),
    /// An object with the given members. Members that are not listed are ignored.
    Object(&'static [JsonShapeMember]),
}

/// Name and expected shape of an object member.
#[derive(Debug)]
pub struct JsonShapeMember {
    name: &'static str,
    shape: JsonShape,
    required: bool,
}

/// Returns a [`JsonShapeMember`] for a member that must be present.
pub(super) const fn required_member(name: &'static str, shape: JsonShape) -> JsonShapeMember {
    JsonShapeMember { name, shape, required: true }
}

/// Returns a [`JsonShapeMember`] for a member that may be absent or `null`.
pub(super) const fn optional_member(name: &'static str, shape: JsonShape) -> JsonShapeMember {
    JsonShapeMember { name, shape, required: false }
}

/// Path to the first JSON value that does not match its expected shape, and the reason. Boxed because mismatches are
/// rare.
#[derive(Debug)]
pub(crate) struct JsonShapeMismatch(Box<(String, String)>);

impl JsonShapeMismatch {
    fn new(cause: String) -> JsonShapeMismatch {
        JsonShapeMismatch(Box::new((String::new(), cause)))
    }

    fn with_path_prefix(mut self, step: &str) -> JsonShapeMismatch {
        let dot = if self.0.0.is_empty() || self.0.0.starts_with('[') { "" } else { "." };
        self.0.0 = format!("{step}{dot}{}", self.0.0);
        self
    }

    /// Returns the path and the reason as a message of at most 300 characters, with control characters escaped.
    pub(crate) fn text(&self) -> String {
        let (path, cause) = &*self.0;
        let words = if path.is_empty() { cause.clone() } else { format!("{path}: {cause}") };
        escape_and_truncate(&words, 300)
    }
}

fn invalid_json_shape_mismatch() -> JsonShapeMismatch {
    JsonShapeMismatch::new("it is not valid JSON".into())
}

impl JsonShape {
    const fn expected_type_text(&self) -> &'static str {
        match self {
            JsonShape::Any => "a value",
            JsonShape::Text | JsonShape::OneOf(_) => "a string",
            JsonShape::Number => "a number",
            JsonShape::Flag => "true or false",
            JsonShape::Map | JsonShape::Object(_) => "an object",
            JsonShape::Texts => "a string or an array of strings",
            JsonShape::List(_) => "an array",
        }
    }

    /// Validates and consumes the next JSON value of the scanner. For an object, calls `report` with the name and the
    /// JSON text of each member that the shape lists.
    pub(crate) fn validate<'a>(
        &self,
        scan: &mut JsonScanner<'a>,
        report: &mut dyn FnMut(&'static str, &'a str),
    ) -> Result<(), JsonShapeMismatch> {
        let first = scan.peek().ok_or_else(invalid_json_shape_mismatch)?;
        let fits = match self {
            JsonShape::Any => true,
            JsonShape::Text | JsonShape::OneOf(_) => first == b'"',
            JsonShape::Number => first == b'-' || first.is_ascii_digit(),
            JsonShape::Flag => matches!(first, b't' | b'f'),
            JsonShape::Map | JsonShape::Object(_) => first == b'{',
            JsonShape::Texts => matches!(first, b'"' | b'['),
            JsonShape::List(_) => first == b'[',
        };
        if !fits {
            return Err(JsonShapeMismatch::new(format!("it is not {}", self.expected_type_text())));
        }
        match self {
            JsonShape::List(item) => validate_list_shape(item, scan),
            JsonShape::Texts if first == b'[' => validate_list_shape(&JsonShape::Text, scan),
            JsonShape::Object(fields) => validate_object_shape(fields, scan, report),
            JsonShape::OneOf(words) => {
                let word =
                    scan.consume_string().and_then(|word| word.unescape()).ok_or_else(invalid_json_shape_mismatch)?;
                if words.contains(&word.as_ref()) {
                    Ok(())
                } else {
                    Err(JsonShapeMismatch::new(format!("unknown variant `{word}`")))
                }
            }
            _ => scan.consume_value().map(drop).ok_or_else(invalid_json_shape_mismatch),
        }
    }
}

fn validate_list_shape(item: &JsonShape, scan: &mut JsonScanner<'_>) -> Result<(), JsonShapeMismatch> {
    let mut more = scan.open_container(b'[', b']').ok_or_else(invalid_json_shape_mismatch)?;
    let mut index = 0;
    while more {
        item.validate(scan, &mut |_, _| {}).map_err(|mismatch| mismatch.with_path_prefix(&format!("[{index}]")))?;
        index += 1;
        more = scan.consume_separator(b']').ok_or_else(invalid_json_shape_mismatch)?;
    }
    Ok(())
}

fn validate_object_shape<'a>(
    fields: &'static [JsonShapeMember],
    scan: &mut JsonScanner<'a>,
    report: &mut dyn FnMut(&'static str, &'a str),
) -> Result<(), JsonShapeMismatch> {
    let mut found = 0_u32;
    let mut more = scan.open_container(b'{', b'}').ok_or_else(invalid_json_shape_mismatch)?;
    while more {
        let key = scan.consume_key().and_then(|key| key.unescape()).ok_or_else(invalid_json_shape_mismatch)?;
        match fields.iter().enumerate().find(|(_, field)| field.name == key) {
            None => drop(scan.consume_value().ok_or_else(invalid_json_shape_mismatch)?),
            Some((at, field)) => {
                if found & 1 << at != 0 {
                    return Err(JsonShapeMismatch::new(format!("duplicate field `{}`", field.name)));
                }
                found |= 1 << at;
                scan.peek();
                let start = scan.position();
                if field.required || !scan.consume_null() {
                    field
                        .shape
                        .validate(scan, &mut |_, _| {})
                        .map_err(|mismatch| mismatch.with_path_prefix(field.name))?;
                }
                report(field.name, scan.text_since(start));
            }
        }
        more = scan.consume_separator(b'}').ok_or_else(invalid_json_shape_mismatch)?;
    }
    match fields.iter().enumerate().find(|(at, field)| field.required && found & 1 << at == 0) {
        None => Ok(()),
        Some((_, missing)) => Err(JsonShapeMismatch::new(format!("missing field `{}`", missing.name))),
    }
}

/// Expected JSON of an entry in an `icons` array.
pub(super) const ICON_SHAPE: JsonShape = JsonShape::Object(&[
    required_member("src", JsonShape::Text),
    optional_member("mimeType", JsonShape::Text),
    optional_member("sizes", JsonShape::Texts),
    optional_member("theme", JsonShape::Text),
]);

/// Expected JSON of the `annotations` member of resources and resource templates.
pub(super) const ANNOTATIONS_SHAPE: JsonShape = JsonShape::Object(&[
    optional_member("audience", JsonShape::List(&JsonShape::OneOf(&["user", "assistant"]))),
    optional_member("priority", JsonShape::Number),
    optional_member("lastModified", JsonShape::Text),
]);
