//! Metadata documents: interprets responses to requests for them, and reads their members leniently.

use http::Response;
use serde_json::{Map, Value};
use url::Url;

use crate::error::AuthErrorCause;
use crate::metadata_address;

/// Maximum number of items that are read from a list in a metadata document.
const MAX_METADATA_LIST_ITEMS: usize = 100;

/// Result of a request for a metadata document, derived from the HTTP response.
pub(crate) enum MetadataResponse {
    /// The document exists and is a JSON object.
    Found(Map<String, Value>),
    /// The URL has no usable document. Contains the cause.
    Absent(AuthErrorCause),
    /// The request failed, so it is unknown if a document exists.
    Failed(AuthErrorCause),
}

/// Derives from an HTTP response whether the requested document exists. A response that is not a JSON object counts as
/// no document, since many sites answer every URL with a page.
pub(crate) fn parse_metadata_response(url: &Url, answer: &Response<Vec<u8>>) -> MetadataResponse {
    let address = metadata_address::displayed_url(url);
    match answer.status().as_u16() {
        200..=299 => match serde_json::from_slice::<Value>(answer.body()) {
            Ok(Value::Object(members)) => MetadataResponse::Found(members),
            _ => MetadataResponse::Absent(AuthErrorCause::Unreadable {
                address,
                cause: "it is not a JSON object".to_owned(),
            }),
        },
        status @ (408 | 425 | 429 | 500..=599) => MetadataResponse::Failed(AuthErrorCause::Status { address, status }),
        status => MetadataResponse::Absent(AuthErrorCause::Status { address, status }),
    }
}

/// Returns a string member, or `None` if it is empty or of another type.
pub(crate) fn string_member(members: &Map<String, Value>, name: &str) -> Option<String> {
    members.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the strings of a list member. Items of other types are dropped.
pub(crate) fn string_list_member(members: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let items = members.get(name)?.as_array()?;
    Some(items.iter().filter_map(Value::as_str).take(MAX_METADATA_LIST_ITEMS).map(str::to_owned).collect())
}

/// Returns `true` if the member is present and has the value `true`.
pub(crate) fn is_member_true(members: &Map<String, Value>, name: &str) -> bool {
    matches!(members.get(name), Some(Value::Bool(true)))
}
