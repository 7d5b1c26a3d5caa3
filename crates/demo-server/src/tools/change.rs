//! Tools that add and change tools while the server runs.

use std::sync::Arc;

use rmcp::model::{ErrorData, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCall, ToolOutcome, into_json_schema, new_tool, text_result};
use crate::input_requests::EarlyExit;
use crate::state::{AddedTool, MAX_ADDED_TOOLS, ServerChange};

const MAX_TOOL_DESCRIPTION_CHARS: usize = 500;
const MAX_DEFINITION_CHANGES: u32 = 9;

pub(super) fn change_tool_definitions() -> [Tool; 2] {
    let add = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name", "pattern": "^[a-z][a-z0-9_]{0,39}$", "default": "foghorn" },
            "description": { "type": "string", "title": "Description", "maxLength": MAX_TOOL_DESCRIPTION_CHARS, "default": "Sounds through the fog." },
            "with_prompt": { "type": "boolean", "title": "Add a prompt too", "default": false }
        }
    });
    let change = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name", "description": "A tool that was added; the lighthouse is there from the start.", "default": "lighthouse" },
            "description": { "type": "string", "title": "New description", "maxLength": MAX_TOOL_DESCRIPTION_CHARS, "default": "Flashes a message, and keeps a copy." }
        }
    });
    let hints = ToolAnnotations::new().read_only(false).destructive(false).open_world(false);
    [
        new_tool("add_tool", "Add a tool", "Adds a tool to this server, to show how a list changes.", add)
            .with_annotations(hints.clone()),
        new_tool(
            "change_tool",
            "Change a tool",
            "Gives an added tool a new description and one more argument, to show what a host makes of it.",
            change,
        )
        .with_annotations(hints),
    ]
}

pub(super) fn added_tool_definition(added: &AddedTool) -> Tool {
    let mut properties = json!({
        "message": { "type": "string", "title": "Message", "default": "Ahoy" }
    });
    for number in 1..=added.edition {
        properties[format!("extra_{number}")] = json!({ "type": "string", "title": format!("Extra {number}") });
    }
    let input = json!({ "type": "object", "properties": properties });
    Tool::new(added.name.clone(), added.description.clone(), Arc::new(into_json_schema(input)))
        .with_annotations(ToolAnnotations::new().read_only(true))
}

pub(super) fn add_tool(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        name: Option<String>,
        description: Option<String>,
        with_prompt: Option<bool>,
    }
    let arguments: Arguments = call.arguments()?;
    let name = arguments.name.unwrap_or_else(|| "foghorn".to_owned());
    let first_fits = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !first_fits || name.len() > 40 || !name.chars().all(fits) {
        return Err(EarlyExit::Failed("A tool's name has up to 40 small letters, digits and underscores.".to_owned()));
    }
    if super::list(call.state).iter().any(|tool| tool.name == name) {
        return Err(EarlyExit::Failed(format!("There is a tool \"{name}\" already.")));
    }
    let with_prompt = arguments.with_prompt.unwrap_or(false);
    {
        let mut added = call.state.added_tools();
        if added.len() >= MAX_ADDED_TOOLS {
            return Err(EarlyExit::Failed("There is no room for more tools.".to_owned()));
        }
        added.push(AddedTool {
            name: name.clone(),
            description: tool_description(arguments.description, "Sounds through the fog.")?,
            edition: 0,
            with_prompt,
        });
    }
    call.state.notify_subscribers(ServerChange::Tools);
    if with_prompt {
        call.state.notify_subscribers(ServerChange::Prompts);
    }
    Ok(text_result(format!("There is a new tool: {name}")))
}

pub(super) fn change_tool(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        name: Option<String>,
        description: Option<String>,
    }
    let arguments: Arguments = call.arguments()?;
    let name = arguments.name.unwrap_or_else(|| "lighthouse".to_owned());
    let description = tool_description(arguments.description, "Flashes a message, and keeps a copy.")?;
    {
        let mut added = call.state.added_tools();
        let Some(tool) = added.iter_mut().find(|tool| tool.name == name) else {
            return Err(EarlyExit::Failed(format!(
                "\"{name}\" is no tool that was added. Add it with add_tool first."
            )));
        };
        tool.description = description;
        tool.edition = MAX_DEFINITION_CHANGES.min(tool.edition + 1);
    }
    call.state.notify_subscribers(ServerChange::Tools);
    Ok(text_result(format!("{name} is not what it was.")))
}

pub(super) fn call_added_tool(call: &ToolCall<'_>, name: &str) -> ToolOutcome {
    let added = call.state.added_tools();
    let Some(tool) = added.iter().find(|tool| tool.name == name) else {
        return Err(ErrorData::invalid_params(format!("there is no tool \"{name}\""), None).into());
    };
    let message = call.arguments.get("message").and_then(Value::as_str).unwrap_or("Ahoy");
    Ok(text_result(format!("{}: {message}!", tool.name)))
}

fn tool_description(given: Option<String>, default: &str) -> Result<String, EarlyExit> {
    let description = given.unwrap_or_else(|| default.to_owned());
    if description.chars().count() > MAX_TOOL_DESCRIPTION_CHARS {
        return Err(EarlyExit::Failed("A description has at most 500 characters.".to_owned()));
    }
    Ok(description)
}
