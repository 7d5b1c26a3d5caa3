//! Parses content of a response without copying large texts, which are slices of the received message.

use std::borrow::Cow;
use std::collections::HashSet;

use bytestring::ByteString;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::jsonrpc::{JsonScanner, QuotedString, RawJson};

use super::{ContentBlock, EmbeddedResource, ImageContent, Map, ResourceContents, SharedText, TextContent};

/// Minimum length in bytes of a string that is stored as a slice of the received message. Shorter strings are copied,
/// so that the message can be freed.
const MIN_SHARED_TEXT_BYTES: usize = 4096;

const INVALID_JSON_CAUSE: &str = "it is not valid JSON";

/// Parser of a response body that advances over the JSON text.
pub(crate) struct JsonCursor<'a> {
    body: &'a RawJson,
    scan: JsonScanner<'a>,
}

/// Value of an object's member, as JSON text that has not been deserialized.
enum RawMemberValue<'a> {
    Text(QuotedString<'a>),
    /// JSON text of a value that is not a string, and its offset in the body.
    Other(&'a str, usize),
}

impl RawMemberValue<'_> {
    fn to_value(&self) -> Result<Value, String> {
        match self {
            RawMemberValue::Text(quoted) => {
                quoted.unescape().map(|text| Value::String(text.into_owned())).ok_or(INVALID_JSON_CAUSE.into())
            }
            RawMemberValue::Other(raw, _) => serde_json::from_str(raw).map_err(|error| error.to_string()),
        }
    }
}

/// Names and undeserialized values of an object's members, without duplicate names.
type RawMembers<'a> = Vec<(Cow<'a, str>, RawMemberValue<'a>)>;

/// Removes each member whose name occurs again later in the object, so that the last value counts, as in
/// `serde_json::Map`.
fn remove_duplicate_members(parts: &mut RawMembers<'_>) {
    // Nearly every object has few members, for which pairwise comparison is the fastest.
    const MAX_MEMBERS_FOR_LINEAR_SEARCH: usize = 8;
    let doubled: Vec<bool> = if parts.len() <= MAX_MEMBERS_FOR_LINEAR_SEARCH {
        let names = |at: usize| parts[at..].iter().map(|(name, _)| name);
        let doubled = |at: usize| names(at + 1).any(|later| *later == parts[at].0);
        if !(0..parts.len()).any(doubled) {
            return;
        }
        (0..parts.len()).map(doubled).collect()
    } else {
        let mut found = HashSet::new();
        let mut doubled: Vec<bool> = parts.iter().rev().map(|(name, _)| !found.insert(&**name)).collect();
        doubled.reverse();
        doubled
    };
    let mut doubled = doubled.into_iter();
    parts.retain(|_| !doubled.next().unwrap_or_default());
}

impl<'a> JsonCursor<'a> {
    pub(crate) fn new(body: &'a RawJson) -> JsonCursor<'a> {
        JsonCursor { body, scan: body.scanner() }
    }

    /// Parses an object and returns its members in order. Calls `bulk` with the name of each member. If `bulk` returns
    /// `true`, it has consumed the member's value itself, and the result does not include the member.
    pub(crate) fn parse_members(
        &mut self,
        mut bulk: impl FnMut(&str, &mut JsonCursor<'a>) -> Result<bool, String>,
    ) -> Result<Map, String> {
        let mut members = Map::new();
        let mut more = self.scan.open_container(b'{', b'}').ok_or("it is not an object")?;
        while more {
            let key = self.scan.consume_key().and_then(|key| key.unescape()).ok_or(INVALID_JSON_CAUSE)?;
            if !bulk(&key, self)? {
                let value = self.parse_next_value()?.to_value()?;
                members.insert(key.into_owned(), value);
            }
            more = self.scan.consume_separator(b'}').ok_or(INVALID_JSON_CAUSE)?;
        }
        Ok(members)
    }

    /// Parses an array by calling `read` for each element. Returns `None` if the value is `null`. Consumes the whole
    /// value even if an element is invalid.
    pub(crate) fn parse_list<T>(
        &mut self,
        mut read: impl FnMut(&mut JsonCursor<'a>) -> Result<T, String>,
    ) -> Result<Option<Vec<T>>, String> {
        if self.scan.consume_null() {
            return Ok(None);
        }
        let before = self.scan.clone();
        let items = self.parse_elements(&mut read);
        if items.is_err() {
            self.scan = before;
            self.scan.consume_value().ok_or(INVALID_JSON_CAUSE)?;
        }
        items.map(Some)
    }

    fn parse_elements<T>(
        &mut self,
        read: &mut dyn FnMut(&mut JsonCursor<'a>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut more = self.scan.open_container(b'[', b']').ok_or(": invalid type: it is not an array")?;
        let mut items = Vec::new();
        while more {
            items.push(read(self).map_err(|cause| format!("[{}]: {cause}", items.len()))?);
            more = self.scan.consume_separator(b']').ok_or(INVALID_JSON_CAUSE)?;
        }
        Ok(items)
    }

    pub(crate) fn scanner(&mut self) -> &mut JsonScanner<'a> {
        &mut self.scan
    }

    fn parse_next_value(&mut self) -> Result<RawMemberValue<'a>, String> {
        let part = if self.scan.peek() == Some(b'"') {
            self.scan.consume_string().map(RawMemberValue::Text)
        } else {
            let at = self.scan.position();
            self.scan.consume_value().map(|raw| RawMemberValue::Other(raw, at))
        };
        part.ok_or_else(|| INVALID_JSON_CAUSE.into())
    }

    fn parse_all_members(&mut self) -> Result<RawMembers<'a>, String> {
        let mut parts = Vec::new();
        let mut more = self.scan.open_container(b'{', b'}').ok_or("it is not an object")?;
        while more {
            let key = self.scan.consume_key().and_then(|key| key.unescape()).ok_or(INVALID_JSON_CAUSE)?;
            parts.push((key, self.parse_next_value()?));
            more = self.scan.consume_separator(b'}').ok_or(INVALID_JSON_CAUSE)?;
        }
        remove_duplicate_members(&mut parts);
        Ok(parts)
    }

    fn unescape_to_shared_text(&self, quoted: &QuotedString<'a>) -> Result<SharedText, String> {
        match quoted.unescape().ok_or(INVALID_JSON_CAUSE)? {
            Cow::Borrowed(plain) if plain.len() >= MIN_SHARED_TEXT_BYTES => {
                Ok(SharedText::from_shared(self.body.shared_slice(plain)))
            }
            plain => Ok(SharedText::from_shared(ByteString::from(plain.into_owned()))),
        }
    }

    /// Deserializes the members of an object as a `T`. Members whose name is in `large` and whose value is a string are
    /// returned separately, and are empty strings in the `T`.
    fn deserialize_members<T: DeserializeOwned, const N: usize>(
        &self,
        parts: &RawMembers<'a>,
        large: [&str; N],
    ) -> Result<(T, [Option<SharedText>; N]), String> {
        let mut texts = [const { None }; N];
        let mut members = Map::new();
        for (key, part) in parts {
            let value = match (large.iter().position(|name| name == key), part) {
                (Some(at), RawMemberValue::Text(quoted)) => {
                    texts[at] = Some(self.unescape_to_shared_text(quoted)?);
                    Value::String(String::new())
                }
                _ => part.to_value()?,
            };
            members.insert(key.to_string(), value);
        }
        let read = T::deserialize(Value::Object(members)).map_err(|error| error.to_string())?;
        Ok((read, texts))
    }

    /// Parses the next JSON value as a content block of any type.
    pub(crate) fn parse_content_block(&mut self) -> Result<ContentBlock, String> {
        let mut parts = self.parse_all_members()?;
        if let Some(block) = self.build_block_with_required_members_only(&parts) {
            return Ok(block);
        }
        let Some(RawMemberValue::Text(kind)) = parts.iter().rev().find(|(key, _)| key == "type").map(|(_, part)| part)
        else {
            return Err("a content block needs a `type` that is a string".into());
        };
        let kind = kind.unescape().ok_or(INVALID_JSON_CAUSE)?;
        if matches!(&*kind, "text" | "image" | "audio" | "resource") {
            parts.retain(|(key, _)| key != "type");
        }
        let named = |cause| format!("{kind} block: {cause}");
        match &*kind {
            "text" => {
                let (block, [text]) = self.deserialize_members(&parts, ["text"]).map_err(named)?;
                Ok(ContentBlock::Text(TextContent { text: text.unwrap_or_default(), ..block }))
            }
            "image" | "audio" => {
                let (block, [data]) = self.deserialize_members(&parts, ["data"]).map_err(named)?;
                let block = ImageContent { data: data.unwrap_or_default(), ..block };
                Ok(if kind == "image" { ContentBlock::Image(block) } else { ContentBlock::Audio(block) })
            }
            "resource" => self.build_embedded_resource(parts).map(ContentBlock::Resource).map_err(named),
            _ => {
                let members = parts.iter().map(|(key, part)| Ok((key.to_string(), part.to_value()?)));
                let members = members.collect::<Result<Map, String>>()?;
                ContentBlock::deserialize(Value::Object(members)).map_err(|error| error.to_string())
            }
        }
    }

    /// Builds a text, image or audio block whose only members are `parts`, if these are the required members of its
    /// type, as in nearly all blocks. Returns `None` for any other block.
    fn build_block_with_required_members_only(&self, parts: &RawMembers<'a>) -> Option<ContentBlock> {
        let text = |name: &str| {
            parts.iter().find_map(|(key, part)| {
                if let (RawMemberValue::Text(text), true) = (part, key == name) { Some(text) } else { None }
            })
        };
        let kind = text("type")?.unescape()?;
        // The number of members equals the number of members that are read here, so the object has no other members.
        match (&*kind, parts.len()) {
            ("text", 2) => {
                let text = self.unescape_to_shared_text(text("text")?).ok()?;
                Some(ContentBlock::Text(TextContent { text, ..TextContent::default() }))
            }
            ("image" | "audio", 3) => {
                let (data, mime_type) =
                    (self.unescape_to_shared_text(text("data")?).ok()?, text("mimeType")?.unescape()?.into_owned());
                let block = ImageContent { data, mime_type, ..ImageContent::default() };
                Some(if kind == "image" { ContentBlock::Image(block) } else { ContentBlock::Audio(block) })
            }
            _ => None,
        }
    }

    fn build_embedded_resource(&self, mut parts: RawMembers<'a>) -> Result<EmbeddedResource, String> {
        let mut contents = None;
        if let Some((_, RawMemberValue::Other(raw, at))) = parts.iter_mut().find(|(key, _)| key == "resource") {
            let read = JsonCursor { body: self.body, scan: self.body.scanner().moved_to_offset(*at) }
                .parse_resource_contents();
            contents = Some(read.map_err(|cause| format!("resource: {cause}"))?);
            *raw = r#"{"uri":"","text":""}"#;
        }
        let (block, []) = self.deserialize_members::<EmbeddedResource, 0>(&parts, [])?;
        Ok(EmbeddedResource { resource: contents.unwrap_or_default(), ..block })
    }

    /// Parses the next JSON value as the contents of a resource.
    pub(crate) fn parse_resource_contents(&mut self) -> Result<ResourceContents, String> {
        let parts = self.parse_all_members()?;
        let (mut contents, [text, blob]) = self.deserialize_members::<ResourceContents, 2>(&parts, ["text", "blob"])?;
        contents.text = text.or(contents.text);
        contents.blob = blob.or(contents.blob);
        Ok(contents)
    }
}
