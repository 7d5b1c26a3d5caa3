//! Chooses the context size that Ollama allocates for a request. Its default is 4,096 tokens on most computers, even
//! for models that support more, and it rejects or truncates longer requests. <https://docs.ollama.com/context-length>

use std::time::Duration;

use serde_json::{Value, json};

use super::encode::parse_positive_token_count;
use super::ollama;
use super::provider_http_client::ProviderHttpClient;
use crate::{ModelError, ProviderSettings};

/// Ollama's default context size in tokens. No smaller size is requested, since the user may have configured a larger
/// one in Ollama.
const DEFAULT_CONTEXT_TOKENS: u64 = 4_096;
/// Number of context tokens reserved for a reply whose maximum length the request does not specify.
const DEFAULT_RESERVED_REPLY_TOKENS: u64 = 4_096;
/// Maximum number of context tokens reserved for a reply. Ollama allocates memory for all of them in advance.
const MAX_RESERVED_REPLY_TOKENS: u64 = 16_384;
/// Lower bound for the number of bytes per token, with which tokens are estimated. Chinese text has about three bytes
/// per token.
const MIN_BYTES_PER_TOKEN: u64 = 3;
/// Number of bytes added for each message to estimate its overhead.
const BYTES_PER_MESSAGE: usize = 32;
/// Assumed number of tokens per image, as in most vision models.
const TOKENS_PER_IMAGE: u64 = 2_048;
/// Timeout of each request to Ollama about a model's context size. After it, only the size estimated from the request
/// is used.
const CONTEXT_QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Sets a context size in the body of a request to Ollama that suffices for request and reply. It is at least the size
/// that Ollama has allocated for the model, since any change reloads the model.
pub(super) async fn set_ollama_context_size(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
    model: &str,
    body: &mut Value,
) {
    let required = required_context_size(body);
    let (held, most) = tokio::join!(
        query_context_size_with_timeout(async {
            Ok(loaded_context_size(&exchange.get(settings.url_at("api/ps")).await?, model))
        }),
        query_context_size_with_timeout(async {
            Ok(ollama::max_context_tokens(&ollama::request_model_details(exchange, settings, model).await?))
        }),
    );
    let context = match held.map(u64::from) {
        Some(held) => required.max(held),
        None if required > DEFAULT_CONTEXT_TOKENS => required,
        None => return,
    };
    body["options"]["num_ctx"] = json!(most.map_or(context, |most| context.min(u64::from(most))));
}

async fn query_context_size_with_timeout(what: impl Future<Output = Result<Option<u32>, ModelError>>) -> Option<u32> {
    tokio::time::timeout(CONTEXT_QUERY_TIMEOUT, what).await.ok()?.ok()?
}

/// Returns the context size in tokens that Ollama has allocated for a model, or `None` if the model is not loaded.
/// `loaded` is Ollama's list of loaded models.
fn loaded_context_size(loaded: &Value, model: &str) -> Option<u32> {
    let is_it = |loaded: &&Value| [&loaded["name"], &loaded["model"]].into_iter().any(|name| name == model);
    parse_positive_token_count(&loaded["models"].as_array()?.iter().find(is_it)?["context_length"])
}

/// Estimates how many context tokens a request and its reply require. Rounds up to a power of two, so that a growing
/// conversation does not reload the model with each message.
fn required_context_size(body: &Value) -> u64 {
    let mut bytes = if body["tools"].is_null() { 0 } else { body["tools"].to_string().len() };
    let mut pictures = 0;
    for message in body["messages"].as_array().into_iter().flatten() {
        let calls = message["tool_calls"].as_array().map_or(0, |_| message["tool_calls"].to_string().len());
        bytes += message["content"].as_str().map_or(0, str::len) + calls + BYTES_PER_MESSAGE;
        pictures += message["images"].as_array().map_or(0, Vec::len);
    }
    let input = (bytes as u64).div_ceil(MIN_BYTES_PER_TOKEN) + pictures as u64 * TOKENS_PER_IMAGE;
    let answer =
        body["options"]["num_predict"].as_u64().unwrap_or(DEFAULT_RESERVED_REPLY_TOKENS).min(MAX_RESERVED_REPLY_TOKENS);
    (input + answer).max(DEFAULT_CONTEXT_TOKENS).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_body(text: &str, max_tokens: Option<u64>) -> Value {
        let options = max_tokens.map_or(json!({}), |max_tokens| json!({ "num_predict": max_tokens }));
        json!({ "messages": [{ "role": "user", "content": text }], "options": options })
    }

    #[test]
    fn required_context_covers_request_and_response() {
        assert_eq!(
            required_context_size(&request_body("x", Some(256))),
            4_096,
            "a short request uses the default size"
        );
        assert_eq!(
            required_context_size(&request_body("x", None)),
            8_192,
            "space is reserved for an answer of any length"
        );
        assert_eq!(
            required_context_size(&request_body(&"x".repeat(30_000), Some(1_000))),
            16_384,
            "30,000 bytes are 10,000 tokens at most"
        );
        assert_eq!(
            required_context_size(&request_body("x", Some(1 << 31))),
            32_768,
            "the space for an answer is limited"
        );
        let picture = "A".repeat(6_000_000);
        let with_images = json!({ "messages": [{ "role": "user", "content": "x", "images": [picture] }] });
        assert_eq!(required_context_size(&with_images), 8_192, "the bytes of an image are not counted as text");
    }

    #[test]
    fn loaded_context_size_is_that_of_the_requested_model() {
        let loaded = json!({ "models": [
            { "name": "other:latest", "model": "other:latest", "context_length": 8_192 },
            { "name": "qwen3:8b", "model": "qwen3:8b", "context_length": 65_536 },
        ] });
        assert_eq!(
            loaded_context_size(&loaded, "qwen3:8b"),
            Some(65_536),
            "the size must be found by the model's name"
        );
        assert_eq!(loaded_context_size(&loaded, "llama3.2"), None, "a model that is not loaded has no context");
    }
}
