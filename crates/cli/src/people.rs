//! Results for people: one line for each thing, and text as text.

use api::data::{
    AuditEntry, Marks, Prompt, PromptResult, Resource, ResourceContents, ResourceTemplate, ReviewState, Server, Tool,
    ToolResult,
};

use crate::describe::content_words;
use crate::events::state_words;
use crate::output::value;
use crate::visible::{block, line, pretty};

/// Rows with their columns below one another; the last column is as long as it is.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0).min(40)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut shown = String::new();
        for (column, cell) in row.iter().enumerate() {
            shown.push_str(cell);
            if column + 1 < row.len() {
                let missing = widths[column].saturating_sub(cell.chars().count());
                shown.extend(std::iter::repeat_n(' ', missing + 2));
            }
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

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

/// Whether a definition was seen as it is now.
const fn review_words(marks: &Marks) -> &'static str {
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

/// The texts of a result that is an error.
pub(crate) fn error_words(result: &ToolResult) -> String {
    let words: Vec<String> = result.content.iter().map(content_words).collect();
    if words.is_empty() { String::from("the tool says that it failed, and nothing else") } else { words.join("\n") }
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

/// Milliseconds since 1970 as date and time in UTC.
pub(crate) fn time(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(chrono::DateTime::from_timestamp_millis);
    // Beyond what the calendar reaches.
    time.map_or_else(|| format!("{millis} ms after 1970"), |time| time.format("%Y-%m-%d %H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        let cases = [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_709_251_199_999, "2024-02-29 23:59:59Z"),
            (1_798_761_600_000, "2027-01-01 00:00:00Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00Z"),
            (u64::MAX, "18446744073709551615 ms after 1970"),
        ];
        for (millis, wanted) in cases {
            assert_eq!(time(millis), wanted, "the time {millis}");
        }
    }

    #[test]
    fn a_table_has_its_columns_below_one_another() {
        let rows = [vec!["a".into(), "bb".into(), "c".into()], vec!["aaa".into(), String::new(), "c".into()]];
        assert_eq!(table(&rows), "a    bb  c\naaa      c\n", "each column is as wide as its widest cell");
    }
}
