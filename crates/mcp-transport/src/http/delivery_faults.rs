//! Converts HTTP failures into [`DeliveryFault`]s of the session.

use std::error::Error;

use bytes::Bytes;
use foreign::escape_invisible;
use mcp_proto::{DeliveryFault, IncomingMessage, RpcError};
use reqwest::Response;
use reqwest::header::WWW_AUTHENTICATE;

use super::body::read_bounded_body;
use super::certificate;

/// Maximum number of bytes that are read from the body of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
/// Timeout of reading the body of an error response.
const ERROR_BODY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// Maximum number of characters of an error response's text that are displayed.
const MAX_DISPLAYED_ERROR_CHARS: usize = 300;

/// A response of the server with an error status.
#[derive(Debug)]
pub(super) struct HttpErrorResponse {
    pub(super) status: u16,
    pub(super) fault: DeliveryFault,
    /// Body of the response if it is a JSON-RPC error, or `None`.
    pub(super) message: Option<Bytes>,
}

/// Message for the user in which the authorizer explains the refusal of a request that is not sent again. Attached to
/// the HTTP response as an extension, so that [`read_error_response`] finds it.
#[derive(Debug, Clone)]
pub(super) struct AuthorizerRefusalMessage(pub(super) String);

/// Reads the body of an error response, and returns it with the status.
pub(super) async fn read_error_response(mut response: Response) -> HttpErrorResponse {
    let status = response.status().as_u16();
    let challenge = response
        .headers()
        .get(WWW_AUTHENTICATE)
        .map(|value| displayed_server_text(&String::from_utf8_lossy(value.as_bytes())));
    let read = read_bounded_body(&mut response, MAX_ERROR_BODY_BYTES);
    let body = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await.ok().and_then(Result::ok).unwrap_or_default();
    let error = parse_rpc_error(&body);
    let message = error.is_some().then(|| body.clone());
    let text = if error.is_some() { String::new() } else { displayed_server_text(&String::from_utf8_lossy(&body)) };
    let (error, text) = match response.extensions().get::<AuthorizerRefusalMessage>() {
        // The authorizer's message explains more than the body of the response.
        Some(words) => {
            (None, join_refusal_messages(words, &error.map_or(text, |error| displayed_server_text(&error.to_string()))))
        }
        None => (error, text),
    };
    HttpErrorResponse { status, fault: DeliveryFault::Status { code: status, error, text, challenge }, message }
}

/// Returns the authorizer's message, followed by the text of the server's response.
fn join_refusal_messages(AuthorizerRefusalMessage(words): &AuthorizerRefusalMessage, server_text: &str) -> String {
    let words = displayed_server_text(words);
    if server_text.is_empty() { words } else { format!("{words} (the server: {server_text})") }
}

fn parse_rpc_error(body: &Bytes) -> Option<RpcError> {
    match IncomingMessage::decode(body) {
        Ok(IncomingMessage::Response { result: Err(error), .. } | IncomingMessage::ErrorWithoutId { error }) => {
            Some(error)
        }
        _ => None,
    }
}

/// Converts the HTTP client's error about a request that could not be sent, or got no response, to a [`DeliveryFault`].
pub(super) fn fault_of_send_error(error: &reqwest::Error) -> DeliveryFault {
    if error.is_connect() {
        let cause = if error.is_timeout() {
            "the server could not be reached in time".to_owned()
        } else {
            format!("the server could not be reached: {}", root_cause_message(error))
        };
        DeliveryFault::Unreachable { cause }
    } else if error.is_builder() {
        DeliveryFault::Unreachable { cause: format!("the request could not be made: {}", root_cause_message(error)) }
    } else {
        DeliveryFault::Lost {
            cause: format!("the connection was lost before a response arrived: {}", root_cause_message(error)),
        }
    }
}

/// Returns the fault of a message that the server did not accept within the timeout `within`.
pub(super) fn timeout_fault(within: std::time::Duration) -> DeliveryFault {
    DeliveryFault::Lost { cause: format!("the server did not accept it within {within:?}") }
}

/// Returns `true` for a fault that may be temporary, so that it does not show which transport the server supports.
pub(super) fn is_temporary_fault(fault: &DeliveryFault) -> bool {
    match fault {
        DeliveryFault::Status { code, .. } => matches!(code, 408 | 425 | 429 | 500..=599),
        DeliveryFault::Lost { .. } | DeliveryFault::Unreachable { .. } => true,
        DeliveryFault::Redirected { .. } | DeliveryFault::Unusable { .. } => false,
    }
}

/// Converts the HTTP client's error about a response body that ended early to a [`DeliveryFault`].
pub(super) fn fault_of_body_error(error: &reqwest::Error) -> DeliveryFault {
    DeliveryFault::Lost { cause: format!("the answer broke off: {}", root_cause_message(error)) }
}

/// Returns the message of an HTTP error's innermost cause. The outer errors add no information, and may contain URLs
/// with secrets.
pub(super) fn root_cause_message(error: &reqwest::Error) -> String {
    let cause = innermost_cause(error);
    if cause.is::<reqwest::Error>() {
        return "internal error of the HTTP client".to_owned();
    }
    let message = cause.to_string();
    certificate::certificate_problem_text(&message).map_or_else(|| displayed_server_text(&message), str::to_owned)
}

/// Returns the innermost cause of an error. The outer errors of the HTTP client only repeat the URL.
pub fn innermost_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}

/// Returns a server's text as one line of bounded length, in which control characters are escaped for display.
pub(super) fn displayed_server_text(text: &str) -> String {
    escape_invisible(text.trim()).chars().take(MAX_DISPLAYED_ERROR_CHARS).collect()
}
