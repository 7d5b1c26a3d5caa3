//! A conversation as a file: Markdown to read, JSON to process.

use std::fmt::Write as _;

use serde_json::json;

use super::Settings;
use super::item::{Attachment, Body, Content, Item, Notice, ReplyPart, ResourceContents, Role, State, ToolResult};

/// How a conversation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The branch that is shown, to read.
    Markdown,
    /// All branches, with everything that is kept.
    Json,
}

impl Format {
    /// The end of a file's name.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// A conversation as JSON: its title, its settings, and its items in the order in which they came. `parent` tells their branches.
#[must_use]
pub fn to_json(title: &str, settings: &Settings, items: &[Item]) -> String {
    format!("{:#}\n", json!({ "title": title, "settings": settings, "items": items }))
}

/// A conversation as Markdown. What is no text is named.
#[must_use]
pub fn to_markdown(title: &str, path: &[Item]) -> String {
    let mut text = format!("# {}\n", one_line(title));
    for item in path {
        section(&mut text, item);
    }
    text
}

fn section(text: &mut String, item: &Item) {
    match &item.body {
        Body::Message { role, content, prompt, attachments } => {
            heading(text, if *role == Role::User { "User" } else { "Assistant" });
            if let Some(prompt) = prompt {
                paragraph(text, &format!("*From the prompt {} of {}*", code(&prompt.prompt), code(&prompt.server)));
            }
            for attachment in attachments {
                paragraph(text, &format!("*Attached: {}*", code(name_of(attachment))));
            }
            contents(text, content);
        }
        Body::Reply { model, parts, error, .. } => {
            heading(text, &format!("Assistant ({})", one_line(&model.model)));
            for part in parts {
                match part {
                    ReplyPart::Text { text: said } => paragraph(text, said),
                    ReplyPart::Thinking { text: thought, .. } if !thought.is_empty() => quote(text, thought),
                    // The call follows with its result.
                    ReplyPart::Thinking { .. } | ReplyPart::ToolUse { .. } => {}
                }
            }
            if let Some(error) = error {
                paragraph(text, &format!("*{}*", one_line(&error.message)));
            }
            if item.state == State::Cut {
                paragraph(text, "*It broke off here.*");
            }
        }
        Body::ToolCall { server, tool, arguments, result, error, .. } => {
            heading(text, &format!("{} · {}", one_line(server), one_line(tool)));
            fenced(text, "json", &format!("{arguments:#}"));
            match (result, error) {
                (Some(result), _) => tool_result(text, result),
                (None, Some(error)) => paragraph(text, &format!("*{}*", one_line(error))),
                (None, None) => paragraph(text, "*It is not known how it ended.*"),
            }
        }
        Body::OwnTool { used, text: told, arguments, .. } => {
            heading(text, &one_line(&used.key));
            fenced(text, "json", &format!("{arguments:#}"));
            fenced(text, "", told);
        }
        Body::Notice { notice: Notice::Rounds { rounds } } => {
            paragraph(text, &format!("*The model called tools {rounds} times in a row and stopped.*"));
        }
        Body::Attachment { server, name, contents, .. } => {
            heading(text, &format!("Attached: {} from {}", one_line(name), one_line(server)));
            contents.iter().for_each(|part| resource(text, part));
        }
    }
}

fn tool_result(text: &mut String, result: &ToolResult) {
    if result.is_error {
        paragraph(text, "*The tool says that it failed.*");
    }
    contents(text, &result.content);
    if result.content.is_empty()
        && let Some(structured) = &result.structured
    {
        fenced(text, "json", &format!("{structured:#}"));
    }
}

fn contents(text: &mut String, content: &[Content]) {
    for part in content {
        match part {
            Content::Text { text: said } => paragraph(text, said),
            Content::Image { mime_type, .. } => paragraph(text, &format!("*A picture ({})*", code(mime_type))),
            Content::Audio { mime_type, .. } => paragraph(text, &format!("*A recording ({})*", code(mime_type))),
            Content::ResourceLink { uri, name, .. } => {
                paragraph(text, &format!("*The resource {} at {}*", code(name), code(uri)));
            }
            Content::Resource { contents } => resource(text, contents),
            Content::Unknown { json } => fenced(text, "json", &format!("{json:#}")),
        }
    }
}

fn resource(text: &mut String, contents: &ResourceContents) {
    match &contents.text {
        Some(said) => fenced(text, "", said),
        None => paragraph(text, &format!("*What is in {}*", code(&contents.uri))),
    }
}

fn name_of(attachment: &Attachment) -> &str {
    match attachment {
        Attachment::File { name, .. } | Attachment::Resource { name, .. } => name,
    }
}

fn heading(text: &mut String, words: &str) {
    // Writing to a String can't fail.
    let _ = write!(text, "\n## {words}\n");
}

fn paragraph(text: &mut String, words: &str) {
    let _ = write!(text, "\n{}\n", words.trim_end());
}

fn quote(text: &mut String, words: &str) {
    let quoted: Vec<String> = words.trim_end().lines().map(|line| format!("> {line}")).collect();
    paragraph(text, &quoted.join("\n"));
}

/// Text within a fence that is longer than any in it.
fn fenced(text: &mut String, language: &str, words: &str) {
    let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(text, "\n{fence}{language}\n{}\n{fence}\n", words.trim_end());
}

fn code(words: &str) -> String {
    format!("`{}`", one_line(words).replace('`', "'"))
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name for the file, of letters and digits.
#[must_use]
pub fn file_name(title: &str, format: Format) -> String {
    let safe: String = title.chars().take(60).map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let safe = safe.trim_matches('-');
    let name = if safe.is_empty() { "conversation" } else { safe };
    format!("{name}.{}", format.extension())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(body: Body) -> Item {
        Item { id: "1".into(), parent: None, at: 1, state: State::Whole, body }
    }

    #[test]
    fn a_conversation_is_written_to_read_and_nothing_in_it_breaks_out() {
        let user = Body::Message {
            role: Role::User,
            content: vec![Content::Text { text: "Read *it*".into() }],
            prompt: None,
            attachments: vec![Attachment::File {
                name: "a`b".into(),
                mime_type: "image/png".into(),
                data: String::new(),
            }],
        };
        let resource = Body::Attachment {
            server: "files".into(),
            uri: "file:///a".into(),
            name: "a\n# heading".into(),
            contents: vec![ResourceContents {
                uri: "file:///a".into(),
                mime_type: None,
                text: Some("```\n## no heading\n```".into()),
                blob: None,
            }],
        };
        let text = to_markdown("A\ntitle", &[item(user), item(resource)]);
        assert!(text.starts_with("# A title\n\n## User\n"), "the title is one line: {text}");
        assert!(text.contains("*Attached: `a'b`*") && text.contains("\nRead *it*\n"), "what was said: {text}");
        assert!(text.contains("````\n```\n## no heading\n```\n````"), "a fence is longer than any in it: {text}");
        assert!(text.contains("## Attached: a # heading from files"), "a name is one line: {text}");
    }

    #[test]
    fn the_name_of_a_file_is_one() {
        assert_eq!(file_name("../etc: x", Format::Markdown), "etc--x.md", "nothing of it leads elsewhere");
        assert_eq!(file_name("旅行", Format::Json), "旅行.json", "letters of all languages stay");
        assert_eq!(file_name("//", Format::Json), "conversation.json", "and there is always one");
    }
}
