//! Shapes of list entries, validated on the JSON text without building values.
//!
//! A shape accepts the same values as the `Deserialize` of its type. A test in `listed.rs` compares the two.

use crate::jsonrpc::{Scan, escape};

/// Shape that a JSON value must have.
#[derive(Debug)]
pub enum Shape {
    /// A value of any type.
    Any,
    /// A JSON string of any content.
    Text,
    /// A JSON number of any size.
    Number,
    /// The literal `true` or `false`.
    Flag,
    /// An object with any members.
    Map,
    /// A string from the given list.
    OneOf(&'static [&'static str]),
    /// A string or an array of strings.
    Texts,
    /// An array whose elements have the given shape.
    List(&'static Shape),
    /// An object with the given members. Other members are ignored.
    Object(&'static [Field]),
}

/// A known member of an object.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    shape: Shape,
    required: bool,
}

/// Returns a member that must be present.
pub(super) const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, required: true }
}

/// Returns a member that may be absent or `null`.
pub(super) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, required: false }
}

/// Reason for the rejection of a value: the path to the mismatch and its cause. Boxed because it is rare.
#[derive(Debug)]
pub(crate) struct Mismatch(Box<(String, String)>);

impl Mismatch {
    fn new(cause: String) -> Mismatch {
        Mismatch(Box::new((String::new(), cause)))
    }

    fn at(mut self, step: &str) -> Mismatch {
        let dot = if self.0.0.is_empty() || self.0.0.starts_with('[') { "" } else { "." };
        self.0.0 = format!("{step}{dot}{}", self.0.0);
        self
    }

    /// Returns a message of at most 300 characters that is safe to display.
    pub(crate) fn words(&self) -> String {
        let (path, cause) = &*self.0;
        let words = if path.is_empty() { cause.clone() } else { format!("{path}: {cause}") };
        escape(&words, 300)
    }
}

fn broken() -> Mismatch {
    Mismatch::new("it is not valid JSON".into())
}

impl Shape {
    const fn words(&self) -> &'static str {
        match self {
            Shape::Any => "a value",
            Shape::Text | Shape::OneOf(_) => "a string",
            Shape::Number => "a number",
            Shape::Flag => "true or false",
            Shape::Map | Shape::Object(_) => "an object",
            Shape::Texts => "a string or an array of strings",
            Shape::List(_) => "an array",
        }
    }

    /// Validates and consumes a value. For an object, calls `told` with the name and the text of each known member.
    pub(crate) fn check<'a>(
        &self,
        scan: &mut Scan<'a>,
        told: &mut dyn FnMut(&'static str, &'a str),
    ) -> Result<(), Mismatch> {
        let first = scan.peek().ok_or_else(broken)?;
        let fits = match self {
            Shape::Any => true,
            Shape::Text | Shape::OneOf(_) => first == b'"',
            Shape::Number => first == b'-' || first.is_ascii_digit(),
            Shape::Flag => matches!(first, b't' | b'f'),
            Shape::Map | Shape::Object(_) => first == b'{',
            Shape::Texts => matches!(first, b'"' | b'['),
            Shape::List(_) => first == b'[',
        };
        if !fits {
            return Err(Mismatch::new(format!("it is not {}", self.words())));
        }
        match self {
            Shape::List(item) => list(item, scan),
            Shape::Texts if first == b'[' => list(&Shape::Text, scan),
            Shape::Object(fields) => object(fields, scan, told),
            Shape::OneOf(words) => {
                let word = scan.string().and_then(|word| word.plain()).ok_or_else(broken)?;
                if words.contains(&word.as_ref()) {
                    Ok(())
                } else {
                    Err(Mismatch::new(format!("unknown variant `{word}`")))
                }
            }
            _ => scan.value().map(drop).ok_or_else(broken),
        }
    }
}

fn list(item: &Shape, scan: &mut Scan<'_>) -> Result<(), Mismatch> {
    let mut more = scan.enter(b'[', b']').ok_or_else(broken)?;
    let mut index = 0;
    while more {
        item.check(scan, &mut |_, _| {}).map_err(|mismatch| mismatch.at(&format!("[{index}]")))?;
        index += 1;
        more = scan.more(b']').ok_or_else(broken)?;
    }
    Ok(())
}

fn object<'a>(
    fields: &'static [Field],
    scan: &mut Scan<'a>,
    told: &mut dyn FnMut(&'static str, &'a str),
) -> Result<(), Mismatch> {
    let mut seen = 0_u32;
    let mut more = scan.enter(b'{', b'}').ok_or_else(broken)?;
    while more {
        let key = scan.key().and_then(|key| key.plain()).ok_or_else(broken)?;
        match fields.iter().enumerate().find(|(_, field)| field.name == key) {
            None => drop(scan.value().ok_or_else(broken)?),
            Some((at, field)) => {
                if seen & 1 << at != 0 {
                    return Err(Mismatch::new(format!("duplicate field `{}`", field.name)));
                }
                seen |= 1 << at;
                scan.peek();
                let start = scan.at();
                if field.required || !scan.null() {
                    field.shape.check(scan, &mut |_, _| {}).map_err(|mismatch| mismatch.at(field.name))?;
                }
                told(field.name, scan.since(start));
            }
        }
        more = scan.more(b'}').ok_or_else(broken)?;
    }
    match fields.iter().enumerate().find(|(at, field)| field.required && seen & 1 << at == 0) {
        None => Ok(()),
        Some((_, missing)) => Err(Mismatch::new(format!("missing field `{}`", missing.name))),
    }
}

/// Shape of an icon.
pub(super) const ICON: Shape = Shape::Object(&[
    required("src", Shape::Text),
    optional("mimeType", Shape::Text),
    optional("sizes", Shape::Texts),
    optional("theme", Shape::Text),
]);

/// Shape of annotations of content.
pub(super) const ANNOTATIONS: Shape = Shape::Object(&[
    optional("audience", Shape::List(&Shape::OneOf(&["user", "assistant"]))),
    optional("priority", Shape::Number),
    optional("lastModified", Shape::Text),
]);
