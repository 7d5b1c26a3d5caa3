//! Fuzz target: exported conversations, read by a third-party Markdown parser.

use chat::{ConversationSettings, ModelRef, export};
use domain::item::{ChatItem, Content, ItemBody, ItemState, ReplyPart, ResourceContents, ToolResult, ToolUsed};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use serde_json::{Value, json};

/// Maximum number of bytes in the exported Markdown for each byte of the text. The text is used in 13 places. A control
/// character is written as its number in 12 bytes, and a line start adds up to 4 bytes.
const MAX_GROWTH_FACTOR: usize = 13 * 16;

/// Tests the export of a conversation, in which the text in `data` is used in every place that a model or a server
/// controls. The Markdown must contain no links, no HTML and no headings other than those of the export. The JSON
/// export must contain the same items.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn conversation(data: &[u8]) {
    let (title, text) = crate::split_at_line_end(data);
    let (title, text) = (String::from_utf8_lossy(title).into_owned(), String::from_utf8_lossy(text).into_owned());
    let items =
        [reply_item(&text), call_item(&title, &text), builtin_tool_item(&title, &text), attachment_item(&title, &text)];
    let markdown = export::conversation_to_markdown(&title, &items);
    let mut headings = Vec::new();
    for event in Parser::new_ext(&markdown, Options::all()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html:?} is HTML in {markdown:?}"),
            Event::Start(Tag::HtmlBlock) => panic!("there is HTML in {markdown:?}"),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                panic!("{dest_url:?} is linked in {markdown:?}")
            }
            Event::Start(Tag::FootnoteDefinition(name)) => panic!("{name:?} is a note in {markdown:?}"),
            Event::Start(Tag::Heading { level, .. }) => headings.push(level),
            _ => {}
        }
    }
    // A title of white space only yields an empty heading.
    let expected = [HeadingLevel::H1, HeadingLevel::H2, HeadingLevel::H2, HeadingLevel::H2, HeadingLevel::H2];
    assert_eq!(headings, expected, "{markdown:?} has one heading for each item");
    assert!(markdown.len() <= MAX_GROWTH_FACTOR * data.len() + 4096, "{} bytes out of {}", markdown.len(), data.len());

    let written =
        export::conversation_to_json(&title, &ConversationSettings::default(), &items).expect("it can be written");
    let read: Value = serde_json::from_str(&written).expect("it is JSON");
    let again: Vec<ChatItem> = serde_json::from_value(read["items"].clone()).expect("they are items");
    assert_eq!(again, items, "the exported items equal the original ones");
}

fn chat_item(id: &str, body: ItemBody) -> ChatItem {
    ChatItem { id: id.to_owned(), parent: None, at: 0, state: ItemState::Whole, body }
}

fn sample_tool_use(tool_key: &str) -> ToolUsed {
    ToolUsed { reply: "1".to_owned(), id: "u".to_owned(), tool_key: tool_key.to_owned() }
}

fn reply_item(text: &str) -> ChatItem {
    let body = json!({ "kind": "reply", "model": { "provider": "p", "model": text }, "parts": [] });
    let mut body: ItemBody = serde_json::from_value(body).expect("a reply");
    if let ItemBody::Reply { parts, model, .. } = &mut body {
        *model = ModelRef { provider: "p".to_owned(), model: text.to_owned() };
        *parts = vec![
            ReplyPart::Thinking { text: text.to_owned(), opaque: None },
            ReplyPart::Text { text: text.to_owned() },
        ];
    }
    chat_item("1", body)
}

fn call_item(name: &str, text: &str) -> ChatItem {
    let result = ToolResult {
        content: vec![
            Content::Text { text: text.to_owned() },
            Content::Image { data: String::new(), mime_type: text.to_owned() },
            Content::Unknown { json: json!({ "type": text }) },
        ],
        structured: Some(json!([text])),
        structured_problem: Some(text.to_owned()),
        is_error: true,
        meta: None,
        arguments: json!({}),
    };
    let body = ItemBody::ToolCall {
        call: "c".to_owned(),
        server: name.to_owned(),
        tool: text.to_owned(),
        app: None,
        arguments: json!({ name: text }),
        result: Some(result),
        failure: None,
        refusal: None,
        error: None,
        duration_milliseconds: 0,
        waited_milliseconds: None,
        used: None,
        omitted_bytes: None,
    };
    chat_item("2", body)
}

fn builtin_tool_item(name: &str, text: &str) -> ChatItem {
    let (arguments, text) = (json!({ "query": name }), text.to_owned());
    chat_item(
        "3",
        ItemBody::OwnTool { used: sample_tool_use(name), arguments, text, found: Vec::new(), is_error: false },
    )
}

fn attachment_item(name: &str, text: &str) -> ChatItem {
    let contents = ResourceContents { uri: name.to_owned(), mime_type: None, text: Some(text.to_owned()), blob: None };
    let body = ItemBody::Attachment {
        server: name.to_owned(),
        uri: text.to_owned(),
        name: text.to_owned(),
        contents: vec![contents],
        skill: text.len().is_multiple_of(2),
    };
    chat_item("4", body)
}
