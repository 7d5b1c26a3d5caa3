//! Fuzz target: the types of results, definitions and requests of servers.

use std::fmt::Debug;

use domain::item::ToolResult;
use mcp_proto::types::{
    CallToolResult, CompletionResult, ContentBlock, CreateMessageParams, ElicitParams, GetPromptResult, Icon,
    LogMessage, Prompt, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

/// Tests the types of MCP messages with a JSON text. For each type that can parse it, the value must be equal after it
/// was serialized and parsed again. A tool result must also be equal after it was stored in a conversation.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn content(data: &[u8]) {
    assert_round_trip::<ContentBlock>(data);
    assert_round_trip::<CompletionResult>(data);
    assert_round_trip::<CreateMessageParams>(data);
    assert_round_trip::<ElicitParams>(data);
    assert_round_trip::<GetPromptResult>(data);
    assert_round_trip::<Icon>(data);
    assert_round_trip::<LogMessage>(data);
    assert_round_trip::<Prompt>(data);
    assert_round_trip::<Resource>(data);
    assert_round_trip::<ResourceContents>(data);
    assert_round_trip::<ResourceTemplate>(data);
    assert_round_trip::<ServerCapabilities>(data);
    assert_round_trip::<Tool>(data);
    if let Some(result) = assert_round_trip::<CallToolResult>(data) {
        let count = result.content.len();
        let tool_result = ToolResult::new(result, None, Map::new());
        assert_eq!(tool_result.content.len(), count, "no content block is lost");
        let text = serde_json::to_string(&tool_result).unwrap();
        assert_eq!(
            serde_json::from_str::<ToolResult>(&text).unwrap(),
            tool_result,
            "the result is unchanged after it was stored"
        );
        assert!(
            text.len() <= 16 * data.len() + 1024,
            "{} bytes are stored for {} bytes of input",
            text.len(),
            data.len()
        );
    }
}

fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(data: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(data).ok()?;
    let text = serde_json::to_string(&read).expect("what was read can be written");
    let again: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    assert_eq!(again, read, "{text} is unchanged after it was parsed again");
    Some(read)
}
