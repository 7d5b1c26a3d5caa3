//! Writes a JSON object member by member, without building it first and without copies.

use serde::Serialize;

/// Writes the members of one JSON object into a byte buffer.
pub(crate) struct JsonObjectWriter<'a> {
    text: &'a mut Vec<u8>,
    empty: bool,
}

impl JsonObjectWriter<'_> {
    /// Appends one JSON object to `text`. `fill` writes its members.
    pub(crate) fn write(text: &mut Vec<u8>, fill: impl FnOnce(&mut JsonObjectWriter<'_>)) {
        text.push(b'{');
        fill(&mut JsonObjectWriter { text, empty: true });
        text.push(b'}');
    }

    /// Writes a member with a serialized value. `name` must not need escapes.
    pub(crate) fn put(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) {
        self.write_name(name);
        append_serialized(self.text, value);
    }

    /// Writes the given members, and escapes their names where necessary.
    pub(crate) fn put_all<'m>(&mut self, members: impl IntoIterator<Item = (&'m String, &'m serde_json::Value)>) {
        for (name, value) in members {
            self.write_separator();
            append_serialized(self.text, name);
            self.text.push(b':');
            append_serialized(self.text, value);
        }
    }

    /// Writes members that are already serialized, given as an object without its braces.
    pub(crate) fn put_serialized_members(&mut self, members: &str) {
        if !members.is_empty() {
            self.write_separator();
            self.text.extend_from_slice(members.as_bytes());
        }
    }

    /// Writes the member `name`, whose value is an object with the members that `fill` writes. Writes nothing if `fill`
    /// writes no member.
    pub(crate) fn put_object(&mut self, name: &'static str, fill: impl FnOnce(&mut JsonObjectWriter<'_>)) {
        let (before, was_empty) = (self.text.len(), self.empty);
        self.write_name(name);
        self.text.push(b'{');
        let mut inner = JsonObjectWriter { text: self.text, empty: true };
        fill(&mut inner);
        if inner.empty {
            self.text.truncate(before);
            self.empty = was_empty;
        } else {
            self.text.push(b'}');
        }
    }

    fn write_name(&mut self, name: &'static str) {
        self.write_separator();
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    fn write_separator(&mut self) {
        if !std::mem::replace(&mut self.empty, false) {
            self.text.push(b',');
        }
    }
}

/// Serializes members for [`JsonObjectWriter::put_serialized_members`] as an object without its braces.
pub(crate) fn serialize_members(fill: impl FnOnce(&mut JsonObjectWriter<'_>)) -> Box<str> {
    let mut text = Vec::new();
    fill(&mut JsonObjectWriter { text: &mut text, empty: true });
    // JSON that was written from strings is UTF-8.
    String::from_utf8(text).unwrap_or_default().into()
}

fn append_serialized(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Strings, numbers, and maps and structs of these always serialize, and writing to memory does not fail.
    let written = serde_json::to_writer(text, value);
    debug_assert!(written.is_ok(), "{written:?}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn written_members_form_one_json_object() {
        let mut text = Vec::new();
        let any = json!({ "a\"b\n": 1, "_meta": { "x": [null] } });
        JsonObjectWriter::write(&mut text, |members| {
            members.put_object("nothing", |_| {});
            members.put("text", "line\nend \"quoted\" \u{1}");
            members.put_object("nothing", |inner| inner.put_object("at all", |_| {}));
            members.put_object("object", |inner| {
                inner.put_serialized_members("");
                inner.put_serialized_members(r#""w":true,"x":2"#);
                inner.put("y", &3);
            });
            members.put_all(any.as_object().into_iter().flatten());
        });
        let expected = json!({
            "text": "line\nend \"quoted\" \u{1}", "object": { "w": true, "x": 2, "y": 3 }, "a\"b\n": 1, "_meta": { "x": [null] },
        });
        assert_eq!(
            String::from_utf8_lossy(&text),
            expected.to_string(),
            "members are in order and empty objects are omitted"
        );
        let once = serialize_members(|members| members.put_all(any.as_object().into_iter().flatten()));
        assert_eq!(format!("{{{once}}}"), any.to_string(), "serialized members can be written again");
    }
}
