//! HTTP requests to model providers, within limits of size and time. The key is sent only in its header.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use super::event_reader::EventReader;
use super::provider_fault;
use crate::{ModelError, ModelReply, StopReason};

/// Maximum size of a list of models, in bytes.
const MAX_MODEL_LIST_BYTES: usize = 16 << 20;
/// Maximum number of bytes that are read of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 << 10;
/// Timeout of the request for a list of models.
const MODEL_LIST_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of reading the body of an error response.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// Text that replaces the API key in messages of the provider.
const REDACTED_API_KEY: &str = "[key]";

/// Format in which the events of a streamed reply are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventFraming {
    /// Server-sent events, as in the WHATWG specification.
    ServerSent,
    /// One JSON value per line.
    Lines,
}

/// Sends HTTP requests to one provider, with the provider's headers.
pub(super) struct ProviderHttpClient {
    client: Client,
    headers: Vec<(&'static str, String)>,
    key: Option<SecretString>,
    idle_timeout: Duration,
}

impl ProviderHttpClient {
    pub(super) fn new(
        client: Client,
        headers: Vec<(&'static str, String)>,
        key: Option<SecretString>,
        idle_timeout: Duration,
    ) -> Self {
        Self { client, headers, key, idle_timeout }
    }

    fn with_provider_headers(&self, mut request: RequestBuilder) -> Result<RequestBuilder, ModelError> {
        for (name, value) in &self.headers {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| ModelError::WrongKey { message: "the key contains invalid characters".to_owned() })?;
            value.set_sensitive(true);
            request = request.header(HeaderName::from_static(name), value);
        }
        Ok(request)
    }

    /// Posts a request for a streamed reply, and returns a reader of the reply's events.
    pub(super) async fn stream(
        &self,
        url: Url,
        body: &Value,
        framing: EventFraming,
        model: &str,
    ) -> Result<EventReader, ModelError> {
        let request = self.with_provider_headers(self.client.post(url))?.json(body);
        let response = self.send(request, self.idle_timeout, model).await?;
        Ok(EventReader::new(response, framing, self.idle_timeout))
    }

    /// Sends a GET request, and parses the response as JSON.
    pub(super) async fn get(&self, url: Url) -> Result<Value, ModelError> {
        self.fetch_json(self.client.get(url)).await
    }

    /// Sends a POST request, and parses the response as JSON.
    pub(super) async fn post(&self, url: Url, body: &Value) -> Result<Value, ModelError> {
        self.fetch_json(self.client.post(url).json(body)).await
    }

    async fn fetch_json(&self, request: RequestBuilder) -> Result<Value, ModelError> {
        let request = self.with_provider_headers(request)?;
        let read = async {
            let response = self.send(request, MODEL_LIST_TIMEOUT, "").await?;
            let body = read_body_limited(response, MAX_MODEL_LIST_BYTES).await?;
            serde_json::from_slice(&body).map_err(|error| ModelError::Unreadable {
                cause: format!("invalid JSON at line {}, column {}", error.line(), error.column()),
            })
        };
        let read = tokio::time::timeout(MODEL_LIST_TIMEOUT, read).await;
        read.unwrap_or(Err(ModelError::Silent { after: MODEL_LIST_TIMEOUT }))
            .map_err(|error| self.error_with_redacted_api_key(error))
    }

    async fn send(&self, request: RequestBuilder, time: Duration, model: &str) -> Result<Response, ModelError> {
        let Ok(sent) = tokio::time::timeout(time, request.send()).await else {
            return Err(ModelError::Silent { after: time });
        };
        let response = sent.map_err(|error| ModelError::Unreachable { cause: innermost_cause_text(error) })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = tokio::time::timeout(ERROR_BODY_TIMEOUT, read_beginning_of_body(response, MAX_ERROR_BODY_BYTES))
            .await
            .unwrap_or_default();
        Err(self.error_with_redacted_api_key(provider_fault::response_error(
            status,
            &headers,
            &body,
            model,
            self.key.is_some(),
        )))
    }

    /// Replaces the API key in the text of an error by [`REDACTED_API_KEY`], in case the provider repeated the key in
    /// its message.
    pub(super) fn error_with_redacted_api_key(&self, mut error: ModelError) -> ModelError {
        let text = match &mut error {
            ModelError::WrongKey { message }
            | ModelError::Forbidden { message }
            | ModelError::NoCredit { message }
            | ModelError::Refused { message }
            | ModelError::Provider { message, .. } => message,
            ModelError::Unreachable { cause } | ModelError::Unreadable { cause } => cause,
            ModelError::NotFound { model } => model,
            ModelError::BadArguments { tool } => tool,
            _ => return error,
        };
        self.redact_api_key(text);
        error
    }

    /// Replaces the API key in the metadata of a reply (model name and stop reason). The text of the model is not
    /// changed.
    pub(super) fn reply_with_redacted_api_key(&self, mut reply: ModelReply) -> ModelReply {
        self.redact_api_key(&mut reply.model);
        if let StopReason::Other(reason) = &mut reply.stop {
            self.redact_api_key(reason);
        }
        reply
    }

    fn redact_api_key(&self, text: &mut String) {
        /// Number of bytes at the beginning of an API key that are not secret, since all keys of one provider begin
        /// alike.
        const NON_SECRET_API_KEY_PREFIX_BYTES: usize = 3;
        let Some(key) = self.key.as_ref().map(ExposeSecret::expose_secret).filter(|key| !key.is_empty()) else {
            return;
        };
        if text.contains(key) {
            *text = text.replace(key, REDACTED_API_KEY);
        }
        // The message may have been truncated within the key.
        let Some(beginning) = text.strip_suffix(provider_fault::TRUNCATION_ELLIPSIS) else { return };
        let begun =
            (NON_SECRET_API_KEY_PREFIX_BYTES + 1..key.len()).rev().filter(|length| key.is_char_boundary(*length));
        if let Some(length) = begun.into_iter().find(|length| beginning.ends_with(&key[..*length])) {
            let start = beginning.len() - length;
            text.replace_range(start.., REDACTED_API_KEY);
            text.push(provider_fault::TRUNCATION_ELLIPSIS);
        }
    }
}

/// Returns the message of the innermost cause of an error, without the URL.
fn innermost_cause_text(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    provider_fault::shorten_provider_message(without_os_error_code(&cause.to_string()))
}

/// Returns the text of an I/O error without the number that the standard library appends.
fn without_os_error_code(text: &str) -> &str {
    match text.rsplit_once(" (os error ") {
        Some((words, code)) if code.strip_suffix(')').is_some_and(|code| code.parse::<i32>().is_ok()) => words,
        _ => text,
    }
}

async fn read_body_limited(response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
    let mut bytes = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = bytes.next().await {
        let chunk = chunk.map_err(|_| ModelError::Cut)?;
        if body.len() + chunk.len() > limit {
            return Err(ModelError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads at most `limit` bytes of a response body. After an I/O error, returns the bytes read so far.
async fn read_beginning_of_body(response: Response, limit: usize) -> Vec<u8> {
    let mut bytes = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = bytes.next().await {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::without_os_error_code;

    #[test]
    fn os_error_code_is_removed_from_the_end_only() {
        let refused = std::io::Error::from_raw_os_error(111).to_string();
        assert_eq!(without_os_error_code("Connection refused (os error 111)"), "Connection refused");
        assert!(!without_os_error_code(&refused).contains("os error"), "{refused}");
        assert_eq!(without_os_error_code("timed out (os error x)"), "timed out (os error x)");
    }
}
