//! Converts the errors of providers to [`ModelError`]s.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::{MAX_PROVIDER_MESSAGE_CHARS, ModelError};

/// Converts an HTTP error response to a [`ModelError`].
pub(super) fn response_error(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    model: &str,
    has_key: bool,
) -> ModelError {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().map_or_else(|| error_body_text(body), |json| ProviderErrorDetails::parse(json).message);
    let code = json.as_ref().map(|json| ProviderErrorDetails::parse(json).code).unwrap_or_default();
    let retry_after = retry_after_header(headers).or_else(|| json.as_ref().and_then(parse_gemini_retry_delay));
    if status.is_redirection() {
        let cause = format!("it sends elsewhere ({}), which is not followed", status.as_u16());
        return ModelError::Unreadable { cause };
    }
    let fault = UnclassifiedProviderError { status: status.as_u16(), code, message, retry_after };
    match fault.into_error(model) {
        ModelError::WrongKey { .. } | ModelError::Forbidden { .. } if !has_key => ModelError::NoKey,
        meaning => meaning,
    }
}

/// Converts an error inside an event stream to a [`ModelError`].
pub(super) fn stream_error(json: &Value, model: &str) -> ModelError {
    let ProviderErrorDetails { code, message } = ProviderErrorDetails::parse(json);
    UnclassifiedProviderError { status: 0, code, message, retry_after: parse_gemini_retry_delay(json) }
        .into_error(model)
}

/// Code and message of an error response, extracted from the format of any provider.
struct ProviderErrorDetails {
    code: String,
    message: String,
}

impl ProviderErrorDetails {
    fn parse(json: &Value) -> Self {
        // Gemini wraps the error in a list when it streams.
        let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
        let error = json.get("error").unwrap_or(json);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = text(error).or_else(|| text(&error["message"])).or_else(|| text(&json["message"]));
        let codes = ["code", "type", "status"].iter().filter_map(|member| match &error[member] {
            Value::String(code) => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        });
        let reasons = error["details"].as_array().into_iter().flatten().filter_map(|detail| text(&detail["reason"]));
        let code = codes.chain(reasons).collect::<Vec<_>>().join(" ");
        Self { code: shorten_provider_message(&code), message: shorten_provider_message(&message.unwrap_or_default()) }
    }
}

struct UnclassifiedProviderError {
    status: u16,
    /// All error codes in the response, joined as one line.
    code: String,
    message: String,
    retry_after: Option<Duration>,
}

impl UnclassifiedProviderError {
    fn into_error(self, model: &str) -> ModelError {
        let Self { status, code, message, retry_after } = self;
        let lower = message.to_lowercase();
        let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is = |codes: &[&str]| codes.iter().any(|expected| code.contains(expected));
        if status == 402
            || is(&["insufficient_quota", "billing", "exceeded_current_quota"])
            || mentions(&["credit balance", "insufficient credits", "insufficient balance", "requires more credits"])
        {
            return ModelError::NoCredit { message };
        }
        if is(&["context_length_exceeded", "exceed_context_size"])
            || mentions(&[
                "context length",
                "context window",
                "context size",
                "prompt is too long",
                "maximum context",
                "maximum number of tokens",
                "exceeds the context",
                "longer than the model's context",
            ])
        {
            return ModelError::ContextTooLong { limit: parse_token_limit(&lower) };
        }
        if matches!(status, 401)
            || is(&["authentication_error", "invalid_api_key", "API_KEY_INVALID", "UNAUTHENTICATED"])
            || mentions(&["api key not valid", "incorrect api key", "invalid api key", "invalid x-api-key"])
        {
            return ModelError::WrongKey { message };
        }
        if is(&["content_filter", "content_policy", "safety", "SAFETY"])
            || mentions(&["content policy", "safety system", "requires moderation", "was flagged", "request blocked"])
        {
            return ModelError::Refused { message };
        }
        if is(&["overloaded_error", "UNAVAILABLE", "overloaded"])
            || matches!(status, 503 | 529)
            || mentions(&["overloaded"])
        {
            return ModelError::Overloaded;
        }
        if status == 429 || is(&["rate_limit", "RESOURCE_EXHAUSTED", "429"]) {
            return ModelError::RateLimited { retry_after };
        }
        if is(&["model_not_found", "not_found_error"]) || (status == 404 && mentions(&["model"])) {
            return ModelError::NotFound { model: model.to_owned() };
        }
        if status == 403
            || is(&["permission_error", "PERMISSION_DENIED", "unsupported_country"])
            || mentions(&["location is not supported"])
        {
            let is_about_key = mentions(&["api key", "api-key", "api_key", "unregistered callers"]);
            return if is_about_key { ModelError::WrongKey { message } } else { ModelError::Forbidden { message } };
        }
        if status == 404 {
            let cause = "the address doesn't exist at the provider".to_owned();
            return ModelError::Unreadable { cause };
        }
        ModelError::Provider { status, message }
    }
}

/// Returns the delay in a `retry-after` header (seconds) or `retry-after-ms` header (milliseconds).
fn retry_after_header(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1_000.0).or_else(|| number(RETRY_AFTER.as_str()))?;
    seconds_to_bounded_duration(seconds)
}

/// Returns the retry delay of a Gemini error: `"retryDelay": "34s"`.
fn parse_gemini_retry_delay(json: &Value) -> Option<Duration> {
    let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
    let details = json["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    seconds_to_bounded_duration(delay.strip_suffix('s')?.parse().ok()?)
}

/// Converts a number of seconds to a duration of at most one day.
fn seconds_to_bounded_duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| time.as_secs() <= 86_400)
}

/// Extracts the token limit from an error message such as `maximum context length is 8192 tokens`, `200123 tokens >
/// 200000 maximum` or `the maximum number of tokens allowed (1048576)`: the number directly before "maximum", or else
/// the first one after it.
fn parse_token_limit(lower: &str) -> Option<u32> {
    let (before, after) = lower.split_once("maximum")?;
    let before = before.trim_end();
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let first = after.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    let number = if digits > 0 { Some(&before[before.len() - digits..]) } else { first };
    number?.parse().ok()
}

fn error_body_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    // An HTML page of a proxy is of no use to the user.
    if text.trim_start().starts_with('<') {
        "the response is an HTML page".to_owned()
    } else {
        shorten_provider_message(&text)
    }
}

/// Character at the end of a truncated message.
pub(super) const TRUNCATION_ELLIPSIS: char = '…';

/// Returns a provider's message on one line, truncated to [`MAX_PROVIDER_MESSAGE_CHARS`].
pub(super) fn shorten_provider_message(text: &str) -> String {
    let mut short: String =
        text.trim().chars().take(MAX_PROVIDER_MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(MAX_PROVIDER_MESSAGE_CHARS).is_some() {
        short.push(TRUNCATION_ELLIPSIS);
    }
    short
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn classify_error(status: u16, body: &Value) -> ModelError {
        let status = StatusCode::from_u16(status).unwrap();
        response_error(status, &HeaderMap::new(), body.to_string().as_bytes(), "m", true)
    }

    /// Classifies error responses in the formats that the providers document and send.
    #[test]
    fn provider_errors_are_classified() {
        let cases = [
            (
                401,
                json!({"error": {"message": "Incorrect API key provided: sk-a***z.", "type": "invalid_request_error", "code": "invalid_api_key"}}),
                "wrongKey",
            ),
            (
                401,
                json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
                "wrongKey",
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
                "wrongKey",
            ),
            (
                429,
                json!({"error": {"message": "Rate limit reached for gpt-4o in organization x on tokens per min.", "type": "tokens", "code": "rate_limit_exceeded"}}),
                "rateLimited",
            ),
            (
                429,
                json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "code": "insufficient_quota"}}),
                "noCredit",
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API."}}),
                "noCredit",
            ),
            (402, json!({"error": {"message": "This request requires more credits", "code": 402}}), "noCredit"),
            (
                529,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                "overloaded",
            ),
            (
                503,
                json!({"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}}),
                "overloaded",
            ),
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
                "contextTooLong",
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 200123 tokens > 200000 maximum"}}),
                "contextTooLong",
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}),
                "contextTooLong",
            ),
            (400, json!({"error": "the input length exceeds the context length"}), "contextTooLong"),
            (
                404,
                json!({"error": {"message": "The model `x` does not exist or you do not have access to it.", "code": "model_not_found"}}),
                "notFound",
            ),
            (404, json!({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}), "notFound"),
            (404, json!({"error": "model \"x\" not found, try pulling it first"}), "notFound"),
            (
                400,
                json!({"error": {"message": "Your request was rejected as a result of our safety system.", "code": "content_policy_violation"}}),
                "refused",
            ),
            (403, json!({"type": "error", "error": {"type": "permission_error", "message": "no"}}), "forbidden"),
            (
                403,
                json!({"error": {"code": 403, "message": "Requests to this API are blocked for this API key.", "status": "PERMISSION_DENIED"}}),
                "wrongKey",
            ),
            (
                403,
                json!({"error": {"code": 403, "message": "openai/gpt-4 requires moderation on OpenAI. Your input was flagged for \"violence\".", "metadata": {"reasons": ["violence"]}}}),
                "refused",
            ),
            (
                403,
                json!({"error": {"code": "unsupported_country_region_territory", "message": "Country, region, or territory not supported", "type": "request_forbidden"}}),
                "forbidden",
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "User location is not supported for the API use.", "status": "FAILED_PRECONDITION"}}),
                "forbidden",
            ),
            (404, json!({"detail": "Not Found"}), "unreadable"),
            (500, json!({"error": {"message": "The server had an error"}}), "provider"),
        ];
        for (status, body, code) in cases {
            assert_eq!(classify_error(status, &body).code(), code, "classification of {status} with {body}");
        }
    }

    #[test]
    fn token_limit_is_parsed_from_an_error_message() {
        let cases = [
            ("this model's maximum context length is 8192 tokens. however, you sent 9001 tokens.", Some(8_192)),
            ("prompt is too long: 200123 tokens > 200000 maximum", Some(200_000)),
            (
                "the input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("the input length exceeds the context length", None),
        ];
        for (words, limit) in cases {
            assert_eq!(parse_token_limit(words), limit, "limit in: {words}");
        }
    }

    #[test]
    fn retry_delay_is_parsed_from_header_and_gemini_body() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "7".parse().unwrap());
        let error = response_error(StatusCode::TOO_MANY_REQUESTS, &headers, b"{}", "m", true);
        assert_eq!(error, ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) }, "delay in the header");
        let body = json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota", "details": [{"retryDelay": "34s"}]}}]);
        assert_eq!(
            classify_error(429, &body),
            ModelError::RateLimited { retry_after: Some(Duration::from_secs(34)) },
            "delay in Gemini's error"
        );
        for odd in ["-1", "1e300", "soon"] {
            headers.insert(RETRY_AFTER, odd.parse().unwrap());
            let error = response_error(StatusCode::TOO_MANY_REQUESTS, &headers, b"", "m", true);
            assert_eq!(error, ModelError::RateLimited { retry_after: None }, "{odd} is not a valid delay");
        }
    }

    #[test]
    fn provider_message_is_bounded() {
        let body = json!({ "error": { "message": format!("a\nb{}", "x".repeat(5_000)) } });
        let ModelError::Provider { message, .. } = classify_error(500, &body) else { unreachable!() };
        assert_eq!(message.chars().count(), MAX_PROVIDER_MESSAGE_CHARS + 1, "truncated, with a marker");
        assert!(message.starts_with("a b"), "control characters are replaced: {message}");
    }
}
