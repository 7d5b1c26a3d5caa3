//! Formats results as text: items as one line each, and text content unchanged.

use api::data::{
    AuditEntry, Prompt, PromptResult, Resource, ResourceContents, ResourceTemplate, ReviewMarks, ReviewState, Server,
    Skill, Tool, ToolResult,
};

use crate::consent_request_text::content_text;
use crate::event_printer::server_state_text;
use crate::output::to_json_value;
use crate::table::format_time;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line, pretty_json};

fn shortened_first_line(text: Option<&str>) -> String {
    const MAX_FIRST_LINE_CHARS: usize = 100;
    let first = text.unwrap_or_default().lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(MAX_FIRST_LINE_CHARS).collect();
    if first.chars().nth(MAX_FIRST_LINE_CHARS).is_some() {
        shown.push('…');
    }
    escape_line(&shown)
}

pub(crate) fn server_row(server: &Server) -> Vec<String> {
    let revision = server.revision.as_deref().unwrap_or("-");
    let (transport, capabilities) = (escape_line(&server.transport), escape_line(&server.capabilities.join(" ")));
    vec![escape_line(&server.name), server_state_text(&server.state), transport, escape_line(revision), capabilities]
}

pub(crate) fn tool_row(server: &str, tool: &Tool) -> Vec<String> {
    vec![
        escape_line(server),
        escape_line(&tool.name),
        review_state_text(&tool.marks).to_owned(),
        shortened_first_line(tool.description.as_deref().or(tool.title.as_deref())),
    ]
}

/// Returns a word or short phrase for the review state of a tool or prompt.
const fn review_state_text(marks: &ReviewMarks) -> &'static str {
    match marks.review {
        Some(ReviewState::New) => "new",
        Some(ReviewState::Changed) => "CHANGED",
        Some(ReviewState::Reviewed) | None => "reviewed",
    }
}

pub(crate) fn prompt_row(server: &str, prompt: &Prompt) -> Vec<String> {
    let arguments: Vec<String> = prompt
        .arguments
        .iter()
        .map(|argument| if argument.required { argument.name.clone() } else { format!("[{}]", argument.name) })
        .collect();
    let arguments = if arguments.is_empty() { String::from("-") } else { escape_line(&arguments.join(" ")) };
    vec![
        escape_line(server),
        escape_line(&prompt.name),
        arguments,
        shortened_first_line(prompt.description.as_deref().or(prompt.title.as_deref())),
    ]
}

pub(crate) fn resource_row(server: &str, resource: &Resource) -> Vec<String> {
    let words = resource.description.as_deref().or(resource.title.as_deref()).or(Some(&resource.name));
    vec![
        escape_line(server),
        escape_line(&resource.uri),
        escape_line(resource.mime_type.as_deref().unwrap_or("-")),
        shortened_first_line(words),
    ]
}

pub(crate) fn template_row(server: &str, template: &ResourceTemplate) -> Vec<String> {
    let words = template.description.as_deref().or(template.title.as_deref()).or(Some(&template.name));
    vec![escape_line(server), escape_line(&template.uri_template), shortened_first_line(words)]
}

pub(crate) fn skill_row(server: &str, skill: &Skill) -> Vec<String> {
    let files = match &skill.files {
        Some(files) => format!("{} files", files.len()),
        None => String::from("files made when read"),
    };
    vec![
        escape_line(server),
        escape_line(&skill.name),
        escape_line(&skill.uri),
        files,
        shortened_first_line(Some(&skill.description)),
    ]
}

pub(crate) fn tool_result_text(result: &ToolResult) -> String {
    let mut text: String =
        result.content.iter().map(|content| escape_and_prefix_lines(&content_text(content), "")).collect();
    if let Some(structured) = &result.structured {
        text.push_str(&format!("{}\n", pretty_json(structured)));
    }
    if let Some(problem) = &result.structured_problem {
        text.push_str(&format!("(does not match the output schema of the tool: {})\n", escape_line(problem)));
    }
    text
}

/// Returns the text blocks of a tool result that reports an error.
pub(crate) fn error_result_text(result: &ToolResult) -> String {
    let words: Vec<String> = result.content.iter().map(content_text).collect();
    if words.is_empty() { String::from("the tool reported an error without a message") } else { words.join("\n") }
}

pub(crate) fn prompt_result_text(result: &PromptResult) -> String {
    let mut text = String::new();
    for message in &result.messages {
        let role = to_json_value(&message.role);
        text.push_str(&format!("{}:\n", role.as_str().unwrap_or_default()));
        for content in &message.content {
            text.push_str(&escape_and_prefix_lines(&content_text(content), "  "));
        }
    }
    text
}

pub(crate) fn resource_contents_text(contents: &ResourceContents) -> String {
    match (&contents.text, &contents.blob) {
        (Some(text), _) => escape_and_prefix_lines(text, ""),
        (None, blob) => {
            let size = blob.as_ref().map_or(0, |blob| blob.len() / 4 * 3);
            let mime = contents.mime_type.as_deref().unwrap_or("of no type");
            format!("[{}, {}, about {size} bytes; --json shows them]\n", escape_line(&contents.uri), escape_line(mime))
        }
    }
}

pub(crate) fn audit_entry_row(entry: &AuditEntry) -> Vec<String> {
    vec![
        entry.number.to_string(),
        format_time(entry.at),
        escape_line(&entry.decision),
        format!("by {}", escape_line(&entry.by)),
        escape_line(&entry.kind),
        escape_line(&entry.server),
        escape_line(&entry.subject),
    ]
}
