//! Estimates the number of tokens of a request before a model counts them. Budgets depend on the estimate, so it is
//! rather too high than too low.

use mcp_proto::types::{ContentBlock, CreateMessageParams};
use serde::Serialize;

/// Maximum number of tokens of an image. Providers scale large images down.
const MAX_IMAGE_TOKENS: u64 = 5_000;
/// Number of base64 characters of audio per token: 32 tokens per second at 4 kB per second.
const AUDIO_CHARACTERS_PER_TOKEN: u64 = 160;
/// Estimated number of tokens that each message needs in addition to its content.
const MESSAGE_OVERHEAD_TOKENS: u64 = 8;

/// Returns the estimated number of input tokens of a sampling request: of its system prompt, tools and messages.
#[must_use]
pub fn estimated_input_tokens(params: &CreateMessageParams) -> u64 {
    let system = params.system_prompt.as_deref().map_or(0, estimated_text_tokens);
    let tools = params.tools.as_ref().map_or(0, estimated_json_tokens);
    let of_message = |blocks: &[ContentBlock]| {
        blocks.iter().map(estimated_content_block_tokens).fold(MESSAGE_OVERHEAD_TOKENS, u64::saturating_add)
    };
    let messages = params.messages.iter().map(|message| of_message(message.content.blocks()));
    messages.fold(system.saturating_add(tools), u64::saturating_add)
}

/// Returns the estimated number of tokens of a text: one for every three ASCII characters, as in code and digits, and
/// one for every two other bytes.
fn estimated_text_tokens(text: &str) -> u64 {
    let other = text.bytes().filter(|byte| !byte.is_ascii()).count() as u64;
    let ascii = text.len() as u64 - other;
    ascii.div_ceil(3).saturating_add(other.div_ceil(2))
}

fn estimated_content_block_tokens(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text(text) => estimated_text_tokens(&text.text),
        ContentBlock::Image(_) => MAX_IMAGE_TOKENS,
        ContentBlock::Audio(audio) => (audio.data.len() as u64).div_ceil(AUDIO_CHARACTERS_PER_TOKEN),
        ContentBlock::ToolResult(result) => {
            let structured = result.structured_content.as_ref().map_or(0, estimated_json_tokens);
            result.content.iter().map(estimated_content_block_tokens).fold(structured, u64::saturating_add)
        }
        other => estimated_json_tokens(other),
    }
}

fn estimated_json_tokens(value: &impl Serialize) -> u64 {
    serde_json::to_string(value).map_or(0, |written| estimated_text_tokens(&written))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn message_tokens(content: &serde_json::Value) -> u64 {
        let params = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": content }] });
        estimated_input_tokens(&serde_json::from_value(params).unwrap())
    }

    #[test]
    fn token_estimate_is_not_too_low_for_any_script() {
        // Texts, and the approximate maximum that the providers' own counters return for them.
        let cases = [
            ("The tide turns at noon, and the pilot boards.", 11),
            ("潮水在中午转向，引水员登船。请在港口等候。", 22),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 21),
            ("🚢🚢🚢🚢🚢🚢🚢🚢", 16),
        ];
        for (text, least) in cases {
            let counted = estimated_text_tokens(text);
            assert!(
                counted >= least && counted <= least * 3,
                "[sampling-rate-limit]: the estimate of {text} is {counted}"
            );
        }
    }

    #[test]
    fn image_has_a_fixed_token_estimate() {
        let data = "A".repeat(800_000);
        let picture = message_tokens(&json!({ "type": "image", "data": data, "mimeType": "image/png" }));
        assert_eq!(
            picture,
            MESSAGE_OVERHEAD_TOKENS + MAX_IMAGE_TOKENS,
            "the estimate of an image must not depend on its size"
        );
        let spoken = message_tokens(&json!({ "type": "audio", "data": data, "mimeType": "audio/wav" }));
        assert_eq!(spoken, MESSAGE_OVERHEAD_TOKENS + 5_000, "the estimate of a recording must depend on its length");
        let hidden = json!({ "type": "tool_use", "id": "1", "name": "t",
            "input": { "type": "image", "data": data, "mimeType": "image/png" } });
        assert!(
            message_tokens(&hidden) > 250_000,
            "[sampling-rate-limit]: an image inside a tool use must count as text"
        );
    }
}
