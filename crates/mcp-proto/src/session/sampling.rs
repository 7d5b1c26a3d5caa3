//! Validation of sampling requests before they reach the user: content types, and the balance of tool uses and tool
//! results (`client/sampling` of 2025-11-25 and 2026-07-28). A violation is answered with code -32602. Used by the
//! session, and by hosts for requests that don't come from a session.

use crate::jsonrpc::escape_and_truncate;
use crate::types::{ContentBlock, CreateMessageParams, Role, SamplingMessage};

/// Valid modes of `toolChoice` in a sampling request.
const TOOL_CHOICE_MODES: [&str; 3] = ["auto", "required", "none"];

/// Validates a sampling request. `offers_tools` is `true` if the client declared that it supports tools in sampling.
///
/// # Errors
///
/// Returns the reason for the rejection of the request.
pub fn validate_sampling_request(params: &CreateMessageParams, offers_tools: bool) -> Result<(), String> {
    if !offers_tools && (params.tools.is_some() || params.tool_choice.is_some()) {
        return Err("this client did not offer tools in sampling".into());
    }
    if let Some(mode) = params.tool_choice.as_ref().and_then(|choice| choice.mode.as_deref())
        && !TOOL_CHOICE_MODES.contains(&mode)
    {
        return Err(format!(
            "toolChoice: the mode `{}` is none of auto, required and none",
            escape_and_truncate(mode, 80)
        ));
    }
    let mut names: Vec<&str> = params.tools.iter().flatten().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("two tools have the same name".into());
    }
    let mut before: Option<&SamplingMessage> = None;
    for message in &params.messages {
        check_content_block_types(message, offers_tools)?;
        check_tool_results_match_tool_uses(before, Some(message))?;
        before = Some(message);
    }
    check_tool_results_match_tool_uses(before, None)
}

/// Checks that the content blocks of a message are of types that are allowed for its role.
fn check_content_block_types(message: &SamplingMessage, offers_tools: bool) -> Result<(), String> {
    let blocks = message.content.blocks();
    for block in blocks {
        let fits = match block {
            ContentBlock::Text(_) | ContentBlock::Image(_) | ContentBlock::Audio(_) => true,
            ContentBlock::ToolUse(_) => offers_tools && message.role == Role::Assistant,
            ContentBlock::ToolResult(_) => offers_tools && message.role == Role::User,
            ContentBlock::ResourceLink(_) | ContentBlock::Resource(_) | ContentBlock::Unknown(_) => false,
        };
        if !fits {
            return Err("a message has content that is not allowed for its role".into());
        }
    }
    let results = blocks.iter().filter(|block| matches!(block, ContentBlock::ToolResult(_))).count();
    if results > 0 && results < blocks.len() {
        return Err("tool results are mixed with other content".into());
    }
    Ok(())
}

/// Checks that the message `next` has exactly one tool result for each tool use of `message`.
fn check_tool_results_match_tool_uses(
    message: Option<&SamplingMessage>,
    next: Option<&SamplingMessage>,
) -> Result<(), String> {
    let uses = content_block_ids(message, |block| match block {
        ContentBlock::ToolUse(used) => Some(&used.id),
        _ => None,
    });
    let results = content_block_ids(next, |block| match block {
        ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    });
    if uses.windows(2).any(|pair| pair[0] == pair[1]) || results.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("a tool use id occurs twice".into());
    }
    if let Some(missing) = uses.iter().find(|id| results.binary_search(id).is_err()) {
        return Err(format!("the tool result for `{}` is missing", escape_and_truncate(missing, 80)));
    }
    if let Some(extra) = results.iter().find(|id| uses.binary_search(id).is_err()) {
        return Err(format!("the tool result for `{}` matches no preceding tool use", escape_and_truncate(extra, 80)));
    }
    Ok(())
}

/// Calls `id` for each content block and returns the ids in sorted order. Skips blocks for which `id` returns `None`.
fn content_block_ids<'a>(
    message: Option<&'a SamplingMessage>,
    id: impl Fn(&'a ContentBlock) -> Option<&'a String>,
) -> Vec<&'a str> {
    let blocks = message.map_or(&[][..], |message| message.content.blocks());
    let mut ids: Vec<&str> = blocks.iter().filter_map(id).map(String::as_str).collect();
    ids.sort_unstable();
    ids
}
