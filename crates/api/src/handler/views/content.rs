//! Conversion of tools, prompts, resources and content.

use mcp_proto::types::{self as mcp, ContentBlock};
use offers::definitions::requires_consent_each_call;
use offers::review::ServerReview;
use serde_json::{Value, json};

use super::review_marks_view;

use crate::data::*;

fn icon_views(icons: Vec<mcp::Icon>) -> Vec<Icon> {
    icons.into_iter().take(5).map(|icon| Icon { src: icon.src, mime_type: icon.mime_type }).collect()
}

/// Returns the members of a definition that are not in `shown`, or `None` if there are none.
fn definition_members_not_displayed(definition: Value, shown: &[&str]) -> Option<Value> {
    let Value::Object(mut members) = definition else { return None };
    members.retain(|key, _| !shown.contains(&key.as_str()));
    if let Some(Value::Object(hints)) = members.get_mut("annotations") {
        hints.retain(|key, _| !key.ends_with("Hint"));
    }
    members.retain(|_, value| value.as_object().is_none_or(|inner| !inner.is_empty()));
    (!members.is_empty()).then(|| members.into())
}

pub(in crate::handler) fn tool_view(tool: mcp::Tool, reviewed: &ServerReview) -> Tool {
    let (hash, marks, allowed) = reviewed.review_tool(&tool);
    let others =
        definition_members_not_displayed(json!(tool), &["name", "title", "description", "inputSchema", "outputSchema"]);
    let claims = tool_claims_view(&tool);
    let title = tool.title.or_else(|| tool.annotations.and_then(|a| a.title));
    Tool {
        name: tool.name,
        title,
        description: tool.description,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        claims,
        icons: icon_views(tool.icons),
        allowed,
        others,
        hash: hash.to_string(),
        marks: self::review_marks_view(marks),
    }
}

pub(super) fn tool_claims_view(tool: &mcp::Tool) -> ToolClaims {
    let hints = tool.annotations.as_ref();
    ToolClaims {
        read_only: hints.and_then(|hints| hints.read_only_hint),
        destructive: hints.and_then(|hints| hints.destructive_hint),
        idempotent: hints.and_then(|hints| hints.idempotent_hint),
        open_world: hints.and_then(|hints| hints.open_world_hint),
        asks_each_time: requires_consent_each_call(tool),
    }
}

pub(in crate::handler) fn prompt_view(prompt: mcp::Prompt, reviewed: &ServerReview) -> Prompt {
    let (hash, marks) = reviewed.review_prompt(&prompt);
    Prompt {
        others: definition_members_not_displayed(json!(prompt), &["name", "title", "description", "arguments"]),
        hash: hash.to_string(),
        marks: self::review_marks_view(marks),
        name: prompt.name,
        title: prompt.title,
        description: prompt.description,
        arguments: prompt
            .arguments
            .into_iter()
            .map(|a| PromptArgument { name: a.name, title: a.title, description: a.description, required: a.required })
            .collect(),
        icons: icon_views(prompt.icons),
    }
}

pub(in crate::handler) fn resource_view(resource: mcp::Resource) -> Resource {
    Resource {
        uri: resource.uri,
        name: resource.name,
        title: resource.title,
        description: resource.description,
        mime_type: resource.mime_type,
        size: resource.size,
        icons: icon_views(resource.icons),
    }
}

pub(in crate::handler) fn template_view(template: mcp::ResourceTemplate) -> ResourceTemplate {
    ResourceTemplate {
        variables: offers::uri_template::template_variable_names(&template.uri_template),
        uri_template: template.uri_template,
        name: template.name,
        title: template.title,
        description: template.description,
        mime_type: template.mime_type,
        icons: icon_views(template.icons),
    }
}

/// Converts a content block of the API, which a command contains, to one of MCP.
pub(super) fn to_mcp_content_block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime_type } => {
            ContentBlock::Image(mcp::ImageContent { data: data.into(), mime_type, ..mcp::ImageContent::default() })
        }
        Content::Audio { data, mime_type } => {
            ContentBlock::Audio(mcp::AudioContent { data: data.into(), mime_type, ..mcp::AudioContent::default() })
        }
        Content::ResourceLink { uri, name, title, description, mime_type, size } => {
            ContentBlock::ResourceLink(mcp::Resource {
                uri,
                name,
                title,
                description,
                mime_type,
                size,
                ..mcp::Resource::default()
            })
        }
        Content::Resource { contents } => ContentBlock::Resource(mcp::EmbeddedResource {
            resource: mcp::ResourceContents {
                uri: contents.uri,
                mime_type: contents.mime_type,
                text: contents.text.map(Into::into),
                blob: contents.blob.map(Into::into),
                ..mcp::ResourceContents::default()
            },
            ..mcp::EmbeddedResource::default()
        }),
        // A block of a type that the protocol knows is converted to it, and any other is passed on unchanged.
        Content::Unknown { json } => serde_json::from_value(json.clone()).unwrap_or(ContentBlock::Unknown(json)),
    }
}

pub(super) const fn role_view(role: mcp::Role) -> Role {
    match role {
        mcp::Role::User => Role::User,
        mcp::Role::Assistant => Role::Assistant,
    }
}

pub(crate) fn prompt_result_view(result: mcp::GetPromptResult) -> PromptResult {
    PromptResult {
        description: result.description,
        messages: result
            .messages
            .into_iter()
            .map(|message| Message { role: role_view(message.role), content: vec![message.content.into()] })
            .collect(),
    }
}
