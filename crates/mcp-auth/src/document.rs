//! A metadata document: what came for it, and patient reading of its members.

use http::Response;
use serde_json::{Map, Value};
use url::Url;

use crate::address;
use crate::error::Cause;

/// The most items that are taken of a list.
const MOST: usize = 100;

/// What came for a document.
pub(crate) enum Fetched {
    /// It is there.
    Found(Map<String, Value>),
    /// There is none at this address.
    Absent(Cause),
    /// It cannot be told whether there is one.
    Failed(Cause),
}

/// Judges an answer. Many sites answer any address with a page of theirs, so what is no JSON object is no document.
pub(crate) fn read(url: &Url, answer: &Response<Vec<u8>>) -> Fetched {
    let address = address::plain(url);
    match answer.status().as_u16() {
        200..=299 => match serde_json::from_slice::<Value>(answer.body()) {
            Ok(Value::Object(members)) => Fetched::Found(members),
            _ => Fetched::Absent(Cause::Unreadable { address, cause: "it is no JSON object".to_owned() }),
        },
        status @ (408 | 425 | 429 | 500..=599) => Fetched::Failed(Cause::Status { address, status }),
        status => Fetched::Absent(Cause::Status { address, status }),
    }
}

/// A string that is not empty.
pub(crate) fn string(members: &Map<String, Value>, name: &str) -> Option<String> {
    members.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A list of strings; what is none in it is left out.
pub(crate) fn strings(members: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let items = members.get(name)?.as_array()?;
    Some(items.iter().filter_map(Value::as_str).take(MOST).map(str::to_owned).collect())
}

/// Whether it is there and true.
pub(crate) fn is_true(members: &Map<String, Value>, name: &str) -> bool {
    matches!(members.get(name), Some(Value::Bool(true)))
}
