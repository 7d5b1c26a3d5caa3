//! Entries of lists as they came: checked, named, and parsed in full only when someone needs them.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::jsonrpc::{RawJson, Scan, unquote};

use super::shape::{ANNOTATIONS, Field, ICON, Shape, optional, required};
use super::{Prompt, Resource, ResourceTemplate, Tool};

/// What a list of a server can hold.
pub trait Entry: DeserializeOwned + Serialize {
    /// The member that tells the entries of a list apart.
    const NAME: &'static str;
    /// What an entry must look like.
    const SHAPE: Shape;
}

/// One entry of a list: its name and its own text, which fits `T`.
///
/// A list of thousands costs no more than its text. The text is a copy: it does not keep the message in
/// memory in which it came.
pub struct Listed<T> {
    name: Box<str>,
    raw: RawJson,
    kind: PhantomData<fn() -> T>,
}

/// The name of an entry, if that much can be told, and why it is of no use.
pub(crate) type Malformed = (Option<String>, String);

impl<T> Listed<T> {
    /// What tells it apart in its list: the name of a tool or prompt, the URI of a resource, the template
    /// of resources.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text as it came.
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl<T: Entry> Listed<T> {
    /// Parses it in full.
    ///
    /// # Errors
    /// If a part that any shape may have, such as a schema, holds a number that is too large to be one.
    pub fn read(&self) -> Result<T, serde_json::Error> {
        self.raw.parse()
    }

    /// Passes the entry at `scan`. `None` means that the JSON itself is broken.
    pub(crate) fn pass(scan: &mut Scan<'_>) -> Option<Result<Listed<T>, Malformed>> {
        scan.peek();
        let before = scan.clone();
        let mut name = None;
        let mut told = |field, text| {
            if field == T::NAME {
                name = unquote(text);
            }
        };
        let checked = T::SHAPE.check(scan, &mut told);
        match (checked, name) {
            (Ok(()), Some(name)) => {
                let raw = RawJson::copy_of(scan.since(before.at()));
                Some(Ok(Listed { name: name.into(), raw, kind: PhantomData }))
            }
            (Err(mismatch), name) => {
                *scan = before;
                scan.value()?;
                Some(Err((name.map(Into::into), mismatch.words())))
            }
            (Ok(()), None) => None,
        }
    }
}

impl<T: Entry> From<&T> for Listed<T> {
    fn from(entry: &T) -> Listed<T> {
        // What is made of strings, maps with string keys and finite numbers always serializes.
        let text = serde_json::to_string(entry).unwrap_or_default();
        match Listed::pass(&mut Scan::new(&text)) {
            Some(Ok(listed)) => listed,
            _ => Listed { name: "".into(), raw: RawJson::copy_of(&text), kind: PhantomData },
        }
    }
}

impl<T> Clone for Listed<T> {
    fn clone(&self) -> Self {
        Listed { name: self.name.clone(), raw: self.raw.clone(), kind: PhantomData }
    }
}

impl<T> PartialEq for Listed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T> Eq for Listed<T> {}

impl<T> fmt::Debug for Listed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listed({:?}, {:?})", self.name, self.raw)
    }
}

const META: Field = optional("_meta", Shape::Map);
const TITLE: Field = optional("title", Shape::Text);
const DESCRIPTION: Field = optional("description", Shape::Text);
const ICONS: Field = optional("icons", Shape::List(&ICON));
const MIME_TYPE: Field = optional("mimeType", Shape::Text);

impl Entry for Tool {
    const NAME: &'static str = "name";
    const SHAPE: Shape = Shape::Object(&[
        required("name", Shape::Text),
        TITLE,
        DESCRIPTION,
        required("inputSchema", Shape::Any),
        optional("outputSchema", Shape::Any),
        optional(
            "annotations",
            Shape::Object(&[
                TITLE,
                optional("readOnlyHint", Shape::Flag),
                optional("destructiveHint", Shape::Flag),
                optional("idempotentHint", Shape::Flag),
                optional("openWorldHint", Shape::Flag),
            ]),
        ),
        ICONS,
        optional("execution", Shape::Object(&[optional("taskSupport", Shape::Text)])),
        META,
    ]);
}

impl Entry for Prompt {
    const NAME: &'static str = "name";
    const SHAPE: Shape = Shape::Object(&[
        required("name", Shape::Text),
        TITLE,
        DESCRIPTION,
        optional(
            "arguments",
            Shape::List(&Shape::Object(&[
                required("name", Shape::Text),
                TITLE,
                DESCRIPTION,
                optional("required", Shape::Flag),
            ])),
        ),
        ICONS,
        META,
    ]);
}

impl Entry for Resource {
    const NAME: &'static str = "uri";
    const SHAPE: Shape = Shape::Object(&[
        required("uri", Shape::Text),
        required("name", Shape::Text),
        TITLE,
        DESCRIPTION,
        MIME_TYPE,
        optional("size", Shape::Any),
        ICONS,
        optional("annotations", ANNOTATIONS),
        META,
    ]);
}

impl Entry for ResourceTemplate {
    const NAME: &'static str = "uriTemplate";
    const SHAPE: Shape = Shape::Object(&[
        required("uriTemplate", Shape::Text),
        required("name", Shape::Text),
        TITLE,
        DESCRIPTION,
        MIME_TYPE,
        ICONS,
        optional("annotations", ANNOTATIONS),
        META,
    ]);
}
