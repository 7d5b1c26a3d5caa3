//! The `review` and `pins` commands: shows new and changed definitions, and marks them as reviewed.

use api::Handler as _;
use api::data::{Prompt, ReviewDefinitions, ReviewMarks, ReviewState, ReviewedDefinition, ServerName, Tool};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::published_names::{DEFINITION_FIELD_NAMES, with_published_field_names};
use crate::review_marks_text;
use crate::session::CommandSession;
use crate::table::format_time;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line, pretty_json};

/// Prints the new and changed tools and prompts of a server. With `--accept`, marks the named ones as reviewed if their
/// hashes match.
pub(crate) async fn review_definitions(
    session: &CommandSession,
    server: String,
    accept: Vec<String>,
) -> Result<Value, CommandFailure> {
    let catalog = session.api.read_catalog(ServerName { server: server.clone() }).await?;
    let is_open = |marks: &ReviewMarks| marks.review != Some(ReviewState::Reviewed);
    let tools: Vec<Tool> = catalog.tools.into_iter().filter(|tool| is_open(&tool.marks)).collect();
    let prompts: Vec<Prompt> = catalog.prompts.into_iter().filter(|prompt| is_open(&prompt.marks)).collect();
    if accept.is_empty() {
        let mut text = String::new();
        for tool in &tools {
            let definition = json!({ "title": tool.title, "description": tool.description,
                "inputSchema": tool.input_schema, "outputSchema": tool.output_schema, "claims": tool.claims,
                "others": tool.others });
            text.push_str(&definition_text("tool", (&tool.name, &tool.hash), &tool.marks, &definition));
        }
        for prompt in &prompts {
            let definition = json!({ "title": prompt.title, "description": prompt.description,
                "arguments": prompt.arguments, "others": prompt.others });
            text.push_str(&definition_text("prompt", (&prompt.name, &prompt.hash), &prompt.marks, &definition));
        }
        if text.is_empty() {
            text = format!("All that {} offers is as you saw it.\n", escape_line(&server));
        }
        session.output.print_text(&text);
        let definitions = json!({ "tools": definitions_json(&tools), "prompts": definitions_json(&prompts) });
        return Ok(definitions);
    }
    let mut review = ReviewDefinitions { server, tools: Vec::new(), prompts: Vec::new() };
    for accepted in &accept {
        let Some((name, hash)) = accepted.rsplit_once('@') else {
            let message = format!(
                "expected NAME@HASH, with the hash that `review` prints, but found \"{}\"",
                escape_line(accepted)
            );
            return Err(CommandFailure::usage_error(message));
        };
        let is_tool = tools.iter().any(|tool| tool.name == name && tool.hash == hash);
        let is_prompt = prompts.iter().any(|prompt| prompt.name == name && prompt.hash == hash);
        let reviewed_definition = || ReviewedDefinition { name: name.to_owned(), hash: hash.to_owned() };
        if is_tool {
            review.tools.push(reviewed_definition());
        } else if is_prompt {
            review.prompts.push(reviewed_definition());
        } else {
            let server = escape_line(&review.server);
            let message =
                format!("{server} has no new or changed tool or prompt \"{}\" with this hash", escape_line(name));
            return Err(CommandFailure::new(api::ErrorCode::NotFound, message));
        }
    }
    let reviewed = to_json_value(&review);
    session.api.review_definitions(review).await?;
    session.output.print_text("They count as reviewed, because they were printed.\n");
    Ok(reviewed)
}

fn definitions_json<T: Serialize>(definitions: &[T]) -> Value {
    definitions.iter().map(|one| with_published_field_names(to_json_value(one), DEFINITION_FIELD_NAMES)).collect()
}

/// Prints the server's identity and the definitions that were recorded when the user reviewed it.
pub(crate) async fn show_reviewed_definitions(
    session: &CommandSession,
    server: String,
) -> Result<Value, CommandFailure> {
    let pins = session.api.list_reviewed_definitions(ServerName { server }).await?;
    let mut text = String::new();
    for (part, words) in &pins.identity {
        text.push_str(&format!("{:<10} {}\n", escape_line(part), escape_line(words)));
    }
    if let Some(issuer) = &pins.issuer {
        text.push_str(&format!("{:<10} {}\n", "issuer", escape_line(issuer)));
    }
    for (kind, list) in [("tool", &pins.tools), ("prompt", &pins.prompts)] {
        for pin in list {
            let since = format_time(pin.since);
            text.push_str(&format!("{kind:<10} {since}  {:.12}  {}\n", pin.hash, escape_line(&pin.name)));
        }
    }
    if text.is_empty() {
        text.push_str("Nothing of it was approved or reviewed yet.\n");
    }
    session.output.print_text(&text);
    Ok(to_json_value(&pins))
}

fn definition_text(kind: &str, (name, hash): (&str, &str), marks: &ReviewMarks, definition: &Value) -> String {
    let state = if marks.review == Some(ReviewState::Changed) { "changed" } else { "new" };
    let mut text = format!("── {state} {kind} {}\n", escape_line(name));
    text.push_str(&escape_and_prefix_lines(&pretty_json(definition), "  "));
    text.push_str(&review_marks_text::review_warnings_text(marks));
    text.push_str(&format!("  once you have read this: --accept {}@{hash}\n", escape_line(name)));
    text
}
