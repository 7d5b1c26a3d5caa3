//! Formats results for people: one line per item, and text unchanged.

use api::data::{
    AuditEntry, Prompt, PromptResult, Resource, ResourceContents, ResourceTemplate, ReviewMarks, ReviewState, Server,
    Skill, Tool, ToolResult,
};

use crate::consent_request_text::content_words;
use crate::event_printer::state_words;
use crate::output::value;
use crate::table::time;
use crate::terminal_escape::{block, line, pretty};

fn short(text: Option<&str>) -> String {
    const MOST: usize = 100;
    let first = text.unwrap_or_default().lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(MOST).collect();
    if first.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    line(&shown)
}

pub(crate) fn server(server: &Server) -> Vec<String> {
    let revision = server.revision.as_deref().unwrap_or("-");
    let (transport, capabilities) = (line(&server.transport), line(&server.capabilities.join(" ")));
    vec![line(&server.name), state_words(&server.state), transport, line(revision), capabilities]
}

pub(crate) fn tool(server: &str, tool: &Tool) -> Vec<String> {
    vec![
        line(server),
        line(&tool.name),
        review_words(&tool.marks).to_owned(),
        short(tool.description.as_deref().or(tool.title.as_deref())),
    ]
}

/// Returns the review state of a definition.
const fn review_words(marks: &ReviewMarks) -> &'static str {
    match marks.review {
        Some(ReviewState::New) => "new",
        Some(ReviewState::Changed) => "CHANGED",
        Some(ReviewState::Reviewed) | None => "reviewed",
    }
}

pub(crate) fn prompt(server: &str, prompt: &Prompt) -> Vec<String> {
    let arguments: Vec<String> = prompt
        .arguments
        .iter()
        .map(|argument| if argument.required { argument.name.clone() } else { format!("[{}]", argument.name) })
        .collect();
    let arguments = if arguments.is_empty() { String::from("-") } else { line(&arguments.join(" ")) };
    vec![line(server), line(&prompt.name), arguments, short(prompt.description.as_deref().or(prompt.title.as_deref()))]
}

pub(crate) fn resource(server: &str, resource: &Resource) -> Vec<String> {
    let words = resource.description.as_deref().or(resource.title.as_deref()).or(Some(&resource.name));
    vec![line(server), line(&resource.uri), line(resource.mime_type.as_deref().unwrap_or("-")), short(words)]
}

pub(crate) fn template(server: &str, template: &ResourceTemplate) -> Vec<String> {
    let words = template.description.as_deref().or(template.title.as_deref()).or(Some(&template.name));
    vec![line(server), line(&template.uri_template), short(words)]
}

pub(crate) fn skill(server: &str, skill: &Skill) -> Vec<String> {
    let files = match &skill.files {
        Some(files) => format!("{} files", files.len()),
        None => String::from("files made when read"),
    };
    vec![line(server), line(&skill.name), line(&skill.uri), files, short(Some(&skill.description))]
}

pub(crate) fn tool_result(result: &ToolResult) -> String {
    let mut text: String = result.content.iter().map(|content| block(&content_words(content), "")).collect();
    if let Some(structured) = &result.structured {
        text.push_str(&format!("{}\n", pretty(structured)));
    }
    if let Some(problem) = &result.structured_problem {
        text.push_str(&format!("(not as the tool's own schema says: {})\n", line(problem)));
    }
    text
}

/// Returns the texts of a result that is an error.
pub(crate) fn error_words(result: &ToolResult) -> String {
    let words: Vec<String> = result.content.iter().map(content_words).collect();
    if words.is_empty() { String::from("the tool reported an error without a message") } else { words.join("\n") }
}

pub(crate) fn prompt_result(result: &PromptResult) -> String {
    let mut text = String::new();
    for message in &result.messages {
        let role = value(&message.role);
        text.push_str(&format!("{}:\n", role.as_str().unwrap_or_default()));
        for content in &message.content {
            text.push_str(&block(&content_words(content), "  "));
        }
    }
    text
}

pub(crate) fn contents(contents: &ResourceContents) -> String {
    match (&contents.text, &contents.blob) {
        (Some(text), _) => block(text, ""),
        (None, blob) => {
            let size = blob.as_ref().map_or(0, |blob| blob.len() / 4 * 3);
            let mime = contents.mime_type.as_deref().unwrap_or("of no type");
            format!("[{}, {}, about {size} bytes; --json shows them]\n", line(&contents.uri), line(mime))
        }
    }
}

pub(crate) fn audit_entry(entry: &AuditEntry) -> Vec<String> {
    vec![
        entry.number.to_string(),
        time(entry.at),
        line(&entry.decision),
        format!("by {}", line(&entry.by)),
        line(&entry.kind),
        line(&entry.server),
        line(&entry.subject),
    ]
}
