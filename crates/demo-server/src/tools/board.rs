//! `show_board` and `move_card`: a tool whose result is displayed by an app (MCP Apps), and a tool for the app only.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCall, ToolOutcome, into_json_schema, new_tool, no_arguments_schema, structured_result};
use crate::board::{BOARD_COLUMNS, BoardColumn};
use crate::input_requests::EarlyExit;
use crate::resources::BOARD_APP_URI;

pub(super) fn board_tool_definitions() -> [Tool; 2] {
    let columns = BOARD_COLUMNS.map(BoardColumn::id);
    let movement = json!({
        "type": "object",
        "properties": {
            "card": { "type": "string", "title": "Card", "description": "Identifier of the card.", "maxLength": 40 },
            "column": { "type": "string", "title": "Column", "enum": columns }
        },
        "required": ["card", "column"],
        "additionalProperties": false
    });
    let show = "Shows the board with the harbour's tasks. Hosts with MCP Apps display it as an interactive page.";
    let hints = ToolAnnotations::new().open_world(false).idempotent(true);
    [
        new_tool("show_board", "Show the board", show, no_arguments_schema())
            .with_raw_output_schema(Arc::new(into_json_schema(board_schema())))
            .with_annotations(hints.clone().read_only(true))
            .with_meta(ui_metadata(json!({ "resourceUri": BOARD_APP_URI }))),
        new_tool(
            "move_card",
            "Move a card",
            "Moves a card of the board to another column. For the board's app only.",
            movement,
        )
        .with_raw_output_schema(Arc::new(into_json_schema(board_schema())))
        .with_annotations(hints.read_only(false).destructive(false))
        .with_meta(ui_metadata(json!({ "visibility": ["app"] }))),
    ]
}

/// Creates the `_meta` of a tool that contains these settings for MCP Apps.
fn ui_metadata(settings: Value) -> MetaObject {
    MetaObject(into_json_schema(json!({ "ui": settings })))
}

/// Returns the schema of the structured content of both tools.
fn board_schema() -> Value {
    let card = json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "title": { "type": "string" }, "note": { "type": "string" } },
        "required": ["id", "title", "note"]
    });
    let column = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "enum": BOARD_COLUMNS.map(BoardColumn::id) },
            "title": { "type": "string" },
            "cards": { "type": "array", "items": card }
        },
        "required": ["id", "title", "cards"]
    });
    json!({
        "type": "object",
        "properties": { "columns": { "type": "array", "items": column } },
        "required": ["columns"]
    })
}

pub(super) fn show_board(call: &ToolCall<'_>) -> ToolOutcome {
    let board = call.state.board();
    Ok(structured_result(board.to_text(), board.to_json()))
}

pub(super) fn move_card(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        card: String,
        column: BoardColumn,
    }
    let Arguments { card, column } = call.arguments()?;
    let mut board = call.state.board();
    let Ok(title) = board.move_card(&card, column) else {
        return Err(EarlyExit::Failed("The board has no such card.".to_owned()));
    };
    let text = format!("\"{title}\" is in the column \"{}\" now.\n{}", column.title(), board.to_text());
    Ok(structured_result(text, board.to_json()))
}
