//! Entries of a server's lists, stored as validated JSON and deserialized on request.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::jsonrpc::{JsonScanner, RawJson, unquote};

use super::json_shape::{ANNOTATIONS_SHAPE, ICON_SHAPE, JsonShape, JsonShapeMember, optional_member, required_member};
use super::{Prompt, Resource, ResourceTemplate, Tool};

/// Type of the entries in one of a server's lists: [`Tool`], [`Prompt`], [`Resource`] or [`ResourceTemplate`].
pub trait ListEntryType: DeserializeOwned + Serialize {
    /// Name of the JSON member that identifies an entry in its list, such as `uri`.
    const IDENTIFYING_MEMBER_NAME: &'static str;
    /// Expected JSON of a valid entry, which is an object with certain members.
    const SHAPE: JsonShape;
}

/// An entry of a server's list: its name and its raw JSON, which was validated to deserialize as a `T`.
///
/// Takes about as much memory as its JSON. The JSON is a copy, so the message that contained it is not retained.
pub struct ListEntry<T> {
    name: Box<str>,
    raw: RawJson,
    kind: PhantomData<fn() -> T>,
}

/// Name of an invalid entry of a server's list, if the name could be read, and the reason for rejecting the entry.
pub(crate) type MalformedEntry = (Option<String>, String);

impl<T> ListEntry<T> {
    /// Returns the name of a tool or prompt, the URI of a resource, or the URI template of a resource template.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the JSON of the entry exactly as the server sent it.
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl<T: ListEntryType> ListEntry<T> {
    /// Deserializes the entry's JSON as a `T`.
    ///
    /// # Errors
    /// Returns an error if a member of unrestricted shape, such as a schema, has a number that is out of range.
    pub fn read(&self) -> Result<T, serde_json::Error> {
        self.raw.parse()
    }

    /// Validates and consumes the list entry at the position of `scan`. Returns `None` if the JSON itself is malformed.
    pub(crate) fn validate_next(scan: &mut JsonScanner<'_>) -> Option<Result<ListEntry<T>, MalformedEntry>> {
        scan.peek();
        let before = scan.clone();
        let mut name = None;
        let mut report = |field, text| {
            if field == T::IDENTIFYING_MEMBER_NAME {
                name = unquote(text);
            }
        };
        let checked = T::SHAPE.validate(scan, &mut report);
        match (checked, name) {
            (Ok(()), Some(name)) => {
                let raw = RawJson::copy_of(scan.text_since(before.position()));
                Some(Ok(ListEntry { name: name.into(), raw, kind: PhantomData }))
            }
            (Err(mismatch), name) => {
                *scan = before;
                scan.consume_value()?;
                Some(Err((name.map(Into::into), mismatch.text())))
            }
            (Ok(()), None) => None,
        }
    }
}

impl<T: ListEntryType> From<&T> for ListEntry<T> {
    fn from(entry: &T) -> ListEntry<T> {
        // Strings, maps with string keys and finite numbers always serialize.
        let text = serde_json::to_string(entry).unwrap_or_default();
        match ListEntry::validate_next(&mut JsonScanner::new(&text)) {
            Some(Ok(listed)) => listed,
            _ => ListEntry { name: "".into(), raw: RawJson::copy_of(&text), kind: PhantomData },
        }
    }
}

impl<T> Clone for ListEntry<T> {
    fn clone(&self) -> Self {
        ListEntry { name: self.name.clone(), raw: self.raw.clone(), kind: PhantomData }
    }
}

impl<T> PartialEq for ListEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T> Eq for ListEntry<T> {}

impl<T> fmt::Debug for ListEntry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listed({:?}, {:?})", self.name, self.raw)
    }
}

const META_MEMBER: JsonShapeMember = optional_member("_meta", JsonShape::Map);
const TITLE_MEMBER: JsonShapeMember = optional_member("title", JsonShape::Text);
const DESCRIPTION_MEMBER: JsonShapeMember = optional_member("description", JsonShape::Text);
const ICONS_MEMBER: JsonShapeMember = optional_member("icons", JsonShape::List(&ICON_SHAPE));
const MIME_TYPE_MEMBER: JsonShapeMember = optional_member("mimeType", JsonShape::Text);

impl ListEntryType for Tool {
    const IDENTIFYING_MEMBER_NAME: &'static str = "name";
    const SHAPE: JsonShape = JsonShape::Object(&[
        required_member("name", JsonShape::Text),
        TITLE_MEMBER,
        DESCRIPTION_MEMBER,
        required_member("inputSchema", JsonShape::Any),
        optional_member("outputSchema", JsonShape::Any),
        optional_member(
            "annotations",
            JsonShape::Object(&[
                TITLE_MEMBER,
                optional_member("readOnlyHint", JsonShape::Flag),
                optional_member("destructiveHint", JsonShape::Flag),
                optional_member("idempotentHint", JsonShape::Flag),
                optional_member("openWorldHint", JsonShape::Flag),
            ]),
        ),
        ICONS_MEMBER,
        optional_member("execution", JsonShape::Object(&[optional_member("taskSupport", JsonShape::Text)])),
        META_MEMBER,
    ]);
}

impl ListEntryType for Prompt {
    const IDENTIFYING_MEMBER_NAME: &'static str = "name";
    const SHAPE: JsonShape = JsonShape::Object(&[
        required_member("name", JsonShape::Text),
        TITLE_MEMBER,
        DESCRIPTION_MEMBER,
        optional_member(
            "arguments",
            JsonShape::List(&JsonShape::Object(&[
                required_member("name", JsonShape::Text),
                TITLE_MEMBER,
                DESCRIPTION_MEMBER,
                optional_member("required", JsonShape::Flag),
            ])),
        ),
        ICONS_MEMBER,
        META_MEMBER,
    ]);
}

impl ListEntryType for Resource {
    const IDENTIFYING_MEMBER_NAME: &'static str = "uri";
    const SHAPE: JsonShape = JsonShape::Object(&[
        required_member("uri", JsonShape::Text),
        required_member("name", JsonShape::Text),
        TITLE_MEMBER,
        DESCRIPTION_MEMBER,
        MIME_TYPE_MEMBER,
        optional_member("size", JsonShape::Any),
        ICONS_MEMBER,
        optional_member("annotations", ANNOTATIONS_SHAPE),
        META_MEMBER,
    ]);
}

impl ListEntryType for ResourceTemplate {
    const IDENTIFYING_MEMBER_NAME: &'static str = "uriTemplate";
    const SHAPE: JsonShape = JsonShape::Object(&[
        required_member("uriTemplate", JsonShape::Text),
        required_member("name", JsonShape::Text),
        TITLE_MEMBER,
        DESCRIPTION_MEMBER,
        MIME_TYPE_MEMBER,
        ICONS_MEMBER,
        optional_member("annotations", ANNOTATIONS_SHAPE),
        META_MEMBER,
    ]);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    /// Returns copies of `example`, each with one value replaced or removed.
    fn copies_with_one_changed_member(example: &Value) -> Vec<Value> {
        let others = [json!(null), json!(7), json!("x"), json!(true), json!([]), json!({}), json!([1]), json!(["x"])];
        let mut all = others.to_vec();
        match example {
            Value::Object(members) => {
                for (name, member) in members {
                    let mut without = members.clone();
                    without.shift_remove(name);
                    all.push(without.into());
                    for part in copies_with_one_changed_member(member) {
                        let mut with = members.clone();
                        with.insert(name.clone(), part);
                        all.push(with.into());
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    for part in copies_with_one_changed_member(item) {
                        let mut with = items.clone();
                        with[at] = part;
                        all.push(with.into());
                    }
                }
            }
            _ => {}
        }
        all
    }

    fn assert_shape_matches_type<T: ListEntryType>(example: &Value) {
        for value in copies_with_one_changed_member(example).into_iter().chain([example.clone()]) {
            let text = value.to_string();
            let by_shape = ListEntry::<T>::validate_next(&mut JsonScanner::new(&text)).unwrap();
            let by_type = serde_json::from_str::<T>(&text);
            assert_eq!(by_shape.is_ok(), by_type.is_ok(), "{text}: {by_shape:?}, {:?}", by_type.err());
        }
    }

    #[test]
    fn valid_list_entries_pass_and_invalid_ones_are_rejected() {
        let icon = json!({ "src": "a:b", "mimeType": "image/png", "sizes": ["any"], "theme": "dark" });
        let annotations = json!({ "audience": ["user"], "priority": 0.5, "lastModified": "x", "future": 1 });
        assert_shape_matches_type::<Tool>(&json!({
            "name": "t", "title": "T", "description": "d", "inputSchema": { "type": "object" }, "outputSchema": {},
            "annotations": { "title": "T", "readOnlyHint": true, "destructiveHint": true, "idempotentHint": true,
                "openWorldHint": true, "future": 1 },
            "icons": [icon], "execution": { "taskSupport": "optional" }, "_meta": { "a": 1 }, "future": [1]
        }));
        assert_shape_matches_type::<Prompt>(&json!({
            "name": "p", "title": "P", "description": "d", "icons": [icon], "_meta": {}, "future": 1,
            "arguments": [{ "name": "a", "title": "A", "description": "d", "required": true, "future": 1 }]
        }));
        assert_shape_matches_type::<Resource>(&json!({
            "uri": "a:b", "name": "r", "title": "R", "description": "d", "mimeType": "a/b", "size": 1,
            "icons": [icon], "annotations": annotations, "_meta": {}, "future": 1
        }));
        assert_shape_matches_type::<ResourceTemplate>(&json!({
            "uriTemplate": "a:{b}", "name": "r", "title": "R", "description": "d", "mimeType": "a/b",
            "icons": [icon], "annotations": annotations, "_meta": {}, "future": 1
        }));
    }

    #[test]
    fn list_entry_with_duplicate_member_is_rejected() {
        let text = r#"{"name":"a","inputSchema":{},"name":"b"}"#;
        let refused = ListEntry::<Tool>::validate_next(&mut JsonScanner::new(text)).unwrap();
        assert_eq!(refused.unwrap_err().1, "duplicate field `name`", "X38: a duplicate name leaves the tool ambiguous");
    }
}
