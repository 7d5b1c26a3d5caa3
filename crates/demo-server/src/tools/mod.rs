//! Tools: their list, and the dispatch of calls.

#![allow(deprecated, reason = "logging is deprecated for the future and part of every revision so far")]

mod ask;
mod board;
mod change;
mod show;
mod simple;
mod slow;
mod trip;
mod visit;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject, LoggingLevel, Tool};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Context;
use crate::input_requests::{EarlyExit, InputResponseSet};
use crate::state::DemoServerState;

/// A call of one of the server's tools, with its context.
pub(crate) struct ToolCall<'a> {
    pub(crate) state: &'a DemoServerState,
    pub(crate) context: &'a Context,
    /// Log level of the session, set by `logging/setLevel`.
    pub(crate) log_level: LoggingLevel,
    pub(crate) arguments: JsonObject,
    pub(crate) answers: InputResponseSet,
}

impl ToolCall<'_> {
    /// Deserializes the arguments for the tool. A model can correct invalid arguments, so they result in a failed call
    /// instead of a protocol error.
    fn arguments<T: DeserializeOwned>(&self) -> Result<T, EarlyExit> {
        serde_json::from_value(Value::Object(self.arguments.clone()))
            .map_err(|error| EarlyExit::Failed(format!("These arguments do not fit the tool: {error}.")))
    }
}

type ToolOutcome = Result<CallToolResult, EarlyExit>;

/// Returns all tools, including those that were added while the server runs.
pub(crate) fn list(state: &DemoServerState) -> Vec<Tool> {
    let mut all = vec![simple::add_definition(), simple::write_note_definition()];
    all.extend([slow::slow_report_definition(), show::show_everything_definition(), trip::plan_trip_definition()]);
    all.push(simple::fail_definition());
    all.extend(ask::ask_tool_definitions());
    all.push(visit::check_in_definition());
    all.extend(simple::log_and_ping_definitions());
    all.extend(board::board_tool_definitions());
    all.extend(change::change_tool_definitions());
    all.extend(state.added_tools().iter().map(change::added_tool_definition));
    all
}

/// Dispatches a `tools/call` request to the called tool, and returns the response.
pub(crate) async fn call_tool(name: &str, call: ToolCall<'_>) -> Result<CallToolResponse, ErrorData> {
    let outcome = match name {
        "add" => simple::add(&call),
        "write_note" => simple::write_note(&call),
        "slow_report" => slow::slow_report(&call).await,
        "show_everything" => Ok(show::show_everything(&call)),
        "plan_trip" => trip::plan_trip(&call),
        "fail" => simple::fail(&call),
        "ask_model" => ask::ask_model(&call).await,
        "ask_user" => ask::ask_user(&call).await,
        "ask_url" => ask::ask_url(&call).await,
        "list_folders" => ask::list_folders(&call).await,
        "check_in" => visit::check_in(&call).await,
        "log_something" => simple::log_something(&call).await,
        "ping_host" => simple::ping_host(&call).await,
        "show_board" => board::show_board(&call),
        "move_card" => board::move_card(&call),
        "add_tool" => change::add_tool(&call),
        "change_tool" => change::change_tool(&call),
        name => change::call_added_tool(&call, name),
    };
    match outcome {
        Ok(result) => Ok(result.into()),
        Err(EarlyExit::Ask(question)) => Ok((*question).into()),
        Err(EarlyExit::Failed(reason)) => Ok(CallToolResult::error(vec![ContentBlock::text(reason)]).into()),
        Err(EarlyExit::Refused(error)) => Err(error),
    }
}

/// Creates the definition of a tool. `input` is the JSON Schema of its arguments.
fn new_tool(name: &'static str, title: &str, description: &'static str, input: Value) -> Tool {
    Tool::new(name, description, into_json_schema(input)).with_title(title)
}

fn into_json_schema(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::default(),
    }
}

/// Returns the schema of a tool without arguments.
fn no_arguments_schema() -> Value {
    serde_json::json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn text_result(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Creates a result with a text for users and structured content for programs.
fn structured_result(for_people: impl Into<String>, for_programs: Value) -> CallToolResult {
    let mut result = text_result(for_people);
    result.structured_content = Some(for_programs);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_unique_and_schemas_are_objects() {
        let tools = list(&DemoServerState::new());
        let mut names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), tools.len(), "tool names should be unique");
        for tool in &tools {
            assert_eq!(
                tool.input_schema.get("type"),
                Some(&Value::from("object")),
                "the input schema of {} should be an object, as every revision requires",
                tool.name
            );
        }
    }
}
