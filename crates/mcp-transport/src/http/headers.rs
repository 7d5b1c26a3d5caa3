//! HTTP headers that MCP defines or requires (`basic/transports` of each revision).

use mcp_proto::{HttpPostHeaders, Revision};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

pub(super) const SESSION_ID_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID_HEADER: HeaderName = HeaderName::from_static("last-event-id");

const JSON_MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM_MEDIA_TYPE: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON_OR_EVENT_STREAM_MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Maximum length of an accepted session ID, in bytes.
const MAX_SESSION_ID_BYTES: usize = 8 * 1024;

pub(super) type HeaderList = Vec<(HeaderName, HeaderValue)>;

/// Session ID and protocol version of the current session, which requests repeat in their headers.
#[derive(Clone, Copy)]
pub(super) struct SessionHeaders<'a> {
    pub(super) session: Option<&'a HeaderValue>,
    pub(super) revision: Option<Revision>,
}

impl SessionHeaders<'_> {
    pub(super) const EMPTY: SessionHeaders<'static> = SessionHeaders { session: None, revision: None };

    fn add_to(self, headers: &mut HeaderList) {
        if let Some(session) = self.session {
            headers.push((SESSION_ID_HEADER, session.clone()));
        }
        if let Some(revision) = self.revision {
            headers.push((PROTOCOL_VERSION_HEADER, HeaderValue::from_static(revision.as_str())));
        }
    }
}

/// Returns the headers of a POST over Streamable HTTP. `head` contains the MCP headers of the message, and
/// `session_headers` those of the session.
///
/// # Errors
/// Returns the name of a header whose value is not allowed in HTTP.
pub(super) fn post_request_headers(
    head: Option<&HttpPostHeaders>,
    session_headers: SessionHeaders<'_>,
) -> Result<HeaderList, String> {
    let mut headers = HeaderList::with_capacity(8);
    headers.push((ACCEPT, JSON_OR_EVENT_STREAM_MEDIA_TYPE));
    headers.push((CONTENT_TYPE, JSON_MEDIA_TYPE));
    session_headers.add_to(&mut headers);
    let Some(head) = head else { return Ok(headers) };
    if let Some(method) = &head.method {
        headers.push((MCP_METHOD_HEADER, parse_header_value("Mcp-Method", method)?));
    }
    if let Some(name) = &head.name {
        headers.push((MCP_NAME_HEADER, parse_header_value("Mcp-Name", name)?));
    }
    for (name, text) in &head.params {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| name.clone())?;
        headers.push((header, parse_header_value(name, text)?));
    }
    Ok(headers)
}

fn parse_header_value(name: &str, text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|_| name.to_owned())
}

/// Returns the headers of a POST over HTTP+SSE, which has no MCP headers.
pub(super) fn sse_post_request_headers() -> HeaderList {
    vec![(ACCEPT, JSON_OR_EVENT_STREAM_MEDIA_TYPE), (CONTENT_TYPE, JSON_MEDIA_TYPE)]
}

/// Returns the headers of a GET that opens or resumes a stream.
pub(super) fn get_request_headers(last_id: Option<&HeaderValue>, session_headers: SessionHeaders<'_>) -> HeaderList {
    let mut headers = vec![(ACCEPT, EVENT_STREAM_MEDIA_TYPE)];
    session_headers.add_to(&mut headers);
    if let Some(id) = last_id {
        headers.push((LAST_EVENT_ID_HEADER, id.clone()));
    }
    headers
}

/// Returns the headers of the DELETE that ends a session.
pub(super) fn delete_request_headers(session_headers: SessionHeaders<'_>) -> HeaderList {
    let mut headers = HeaderList::new();
    session_headers.add_to(&mut headers);
    headers
}

/// Returns the server's session ID, marked as sensitive. `None` if the value is empty, too long, or not visible ASCII.
pub(super) fn parse_session_id(value: &HeaderValue) -> Option<HeaderValue> {
    let valid = (1..=MAX_SESSION_ID_BYTES).contains(&value.len()) && value.as_bytes().iter().all(u8::is_ascii_graphic);
    let mut value = value.clone();
    value.set_sensitive(true);
    valid.then_some(value)
}

/// Returns the `Last-Event-ID` header value for an event ID, or `None` if the ID is empty or not allowed in a header.
pub(super) fn last_event_id_value(id: &str) -> Option<HeaderValue> {
    HeaderValue::from_bytes(id.as_bytes()).ok().filter(|value| !value.is_empty())
}
