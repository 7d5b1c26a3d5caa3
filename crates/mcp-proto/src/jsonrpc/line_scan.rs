//! Scans the bytes of a received line for its nesting, number of values, and id, without validating its JSON.
//!
//! Accepts any bytes, including malformed JSON, so that a call whose response cannot be read fails immediately instead
//! of by timeout. One pass, without recursion and without allocations that grow with the line.

use super::{MAX_REQUEST_ID_BYTES, RequestId};

/// Properties of a received line, which may be malformed JSON.
#[derive(Debug, Default)]
pub(super) struct LineScan {
    /// Deepest nesting of arrays and objects in the line.
    pub(super) depth: usize,
    /// Upper bound of the number of JSON values in the line.
    pub(super) values: usize,
    /// Number of commas directly inside the outermost array or object of the line.
    pub(super) top_level_commas: usize,
    /// `true` if a string in the line has an escape that is half of a surrogate pair.
    pub(super) lone_surrogate: bool,
    /// First unescaped control character inside a string of the line.
    pub(super) control: Option<u8>,
    id: Option<RequestId>,
    ids_differ: bool,
    has_id: bool,
    id_is_null: bool,
    has_method: bool,
    has_params: bool,
    has_outcome: bool,
    has_version: bool,
}

/// Returns a received line without its byte order mark and surrounding white space.
pub(super) fn trim_received_line(frame: &[u8]) -> &[u8] {
    frame.strip_prefix(b"\xef\xbb\xbf").unwrap_or(frame).trim_ascii()
}

impl LineScan {
    /// Scans the bytes of a received line, which must be trimmed by [`trim_received_line`].
    pub(super) fn scan(bytes: &[u8]) -> LineScan {
        let mut found = LineScan { values: 1, ..LineScan::default() };
        let is_object = bytes.first() == Some(&b'{');
        let mut depth = 0_usize;
        let mut at = 0;
        // In the outermost object: the key of the current member, and the offset of its value.
        let mut key: Option<&[u8]> = None;
        let mut value_start: Option<usize> = None;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = found.skip_string(bytes, at + 1);
                    if is_object && depth == 1 && value_start.is_none() {
                        key = bytes.get(at..end);
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => {
                    depth += 1;
                    found.depth = found.depth.max(depth);
                    found.values += 1;
                }
                b':' if depth == 1 && value_start.is_none() => {
                    value_start = Some(at + 1);
                    found.record_key(key);
                }
                b',' | b'}' | b']' => {
                    if depth == 1 {
                        if let (Some(key), Some(start)) = (key.take(), value_start.take()) {
                            found.record_value(key, bytes.get(start..at).unwrap_or_default());
                        }
                        found.top_level_commas += usize::from(byte == b',');
                    }
                    if byte == b',' {
                        found.values += 1;
                    } else {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            break;
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Skips a string whose opening quote is directly before `at`, and returns the offset after it.
    fn skip_string(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' => return at,
                b'\\' => {
                    let Some(half) = parse_utf16_code_unit(bytes, at) else {
                        at += 1;
                        continue;
                    };
                    at += 5;
                    match half {
                        0xd800..=0xdbff => {
                            let low =
                                (bytes.get(at) == Some(&b'\\')).then(|| parse_utf16_code_unit(bytes, at + 1)).flatten();
                            if matches!(low, Some(0xdc00..=0xdfff)) {
                                at += 6;
                            } else {
                                self.lone_surrogate = true;
                            }
                        }
                        0xdc00..=0xdfff => self.lone_surrogate = true,
                        _ => {}
                    }
                }
                0..=0x1f => {
                    self.control.get_or_insert(byte);
                }
                _ => {}
            }
        }
        at
    }

    fn record_key(&mut self, key: Option<&[u8]>) {
        match key.and_then(unescape_key).as_deref() {
            Some("method") => self.has_method = true,
            Some("params") => self.has_params = true,
            Some("result" | "error") => self.has_outcome = true,
            Some("jsonrpc") => self.has_version = true,
            _ => {}
        }
    }

    fn record_value(&mut self, key: &[u8], value: &[u8]) {
        if unescape_key(key).as_deref() != Some("id") {
            return;
        }
        self.has_id = true;
        self.id_is_null = value.trim_ascii() == b"null";
        if let Some(id) = parse_request_id(value) {
            if self.id.as_ref().is_some_and(|other| *other != id) {
                self.ids_differ = true;
            }
            self.set_id(id);
        }
    }

    pub(super) fn set_id(&mut self, id: RequestId) {
        self.id = Some(id);
    }

    /// Returns the value of the line's top-level `id` members, or `None` if their values differ or no valid id was
    /// found.
    pub(super) fn id(&self) -> Option<&RequestId> {
        self.id.as_ref().filter(|_| !self.ids_differ)
    }

    /// Returns `true` if the line seems to be a request or notification from the server.
    pub(super) fn is_request(&self) -> bool {
        self.has_method || (self.has_params && !self.has_outcome)
    }

    /// Returns `true` if the line seems to be a response to a request of the client. `whole` is `true` if all of the
    /// line was scanned.
    ///
    /// Some servers respond to notifications, with an id that is `null` or missing. These match no request.
    pub(super) fn is_response(&self, whole: bool) -> bool {
        let names_none = self.id_is_null || (whole && !self.has_id);
        (self.has_outcome && !names_none) || (self.has_version && self.id.is_some())
    }
}

/// Returns the UTF-16 code unit that the `uXXXX` of an escape at the offset `at` represents.
fn parse_utf16_code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let [b'u', digits @ ..] = bytes.get(at..at + 5)? else { return None };
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns the unescaped text of a quoted JSON key, or `None` if it is longer than any key that JSON-RPC defines.
fn unescape_key(quoted: &[u8]) -> Option<String> {
    // Longer than any key of the envelope, even with each letter written as \uXXXX.
    (quoted.len() <= 64).then(|| serde_json::from_slice(quoted).ok()).flatten()
}

/// Parses the JSON of a request id. Returns `None` if it is not a valid id.
pub(super) fn parse_request_id(bytes: &[u8]) -> Option<RequestId> {
    // Twice the length and a margin for quotes, so that escapes do not count against a short id.
    if bytes.len() > 2 * MAX_REQUEST_ID_BYTES + 16 {
        return None;
    }
    if bytes.len() < 19 && bytes.first() != Some(&b'0') && bytes.iter().all(u8::is_ascii_digit) {
        // Fast path for nearly all ids.
        return std::str::from_utf8(bytes).ok()?.parse().ok().map(RequestId::Number);
    }
    match serde_json::from_slice(bytes).ok()? {
        RequestId::Text(text) if text.len() > MAX_REQUEST_ID_BYTES => None,
        id => Some(id),
    }
}

/// Returns the id of a message from the last bytes of its line, as in `..."jsonrpc":"2.0","id":7}`.
///
/// Correct for a valid line, since only the outermost object ends with its last brace.
pub(super) fn find_request_id_at_end(tail: &[u8]) -> Option<RequestId> {
    let mut rest = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    loop {
        if let Some(before) = strip_trailing_member(rest, b"\"jsonrpc\"", b"\"2.0\"") {
            rest = before;
            continue;
        }
        let colon = rest.iter().rposition(|byte| *byte == b':')?;
        let (name, value) = rest.split_at(colon);
        name.trim_ascii_end().strip_suffix(b"\"id\"")?;
        return parse_request_id(value.get(1..)?.trim_ascii());
    }
}

/// Returns `rest` without `,key:value` at its end, or `None` if `rest` does not end with that member.
fn strip_trailing_member<'a>(rest: &'a [u8], key: &[u8], value: &[u8]) -> Option<&'a [u8]> {
    let rest = rest.strip_suffix(value)?.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    Some(rest.strip_suffix(key)?.trim_ascii_end().strip_suffix(b",")?.trim_ascii_end())
}
