//! Capabilities that the host announces to a page in the response to `ui/initialize`.

use mcp_proto::types::{ContentBlock, Map};
use serde_json::{Value, json};

use crate::sandbox_policy::GrantedSandbox;

/// Capabilities of the host for one app page. By default the host announces none, and refuses requests that need a
/// capability it did not announce.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostCapabilities {
    /// Set if the host opens links of the app page in the system's browser.
    pub open_links: bool,
    /// Set if the app page can offer files for the user to save.
    pub download_file: bool,
    /// Access to the tools of the app page's server, or `None` if the page can't list or call them.
    pub server_tools: Option<ServerListAccess>,
    /// Access to the resources and prompts of the app page's server, or `None` if the page can't read them.
    pub server_resources: Option<ServerListAccess>,
    /// Set if the host records log messages of the app page.
    pub logging: bool,
    /// Domains and permissions that are granted to the app page.
    pub sandbox: Option<GrantedSandbox>,
    /// Kinds of content that the app page may put into the context of models, or `None` if the host supports no such
    /// context.
    pub update_model_context: Option<AcceptedContentKinds>,
    /// Kinds of content in messages that the app page may add to the conversation, or `None` if the page can't add
    /// messages.
    pub message: Option<AcceptedContentKinds>,
    /// Sampling support for the app page, or `None` if the page can't request sampling.
    pub sampling: Option<SamplingSupport>,
}

/// Access to lists that the app page's server provides, such as its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerListAccess {
    /// Set if the host notifies the app page when such a list changes.
    pub list_changed: bool,
}

/// Sampling features that the host offers to pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplingSupport {
    /// Set if the app page may pass tools to the model.
    pub tools: bool,
}

/// Kinds of content that the host accepts from an app page for one purpose, such as messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcceptedContentKinds {
    /// Set if blocks of text are accepted.
    pub text: bool,
    /// Set if images are accepted.
    pub image: bool,
    /// Set if audio is accepted.
    pub audio: bool,
    /// Set if embedded resources are accepted.
    pub resource: bool,
    /// Set if links to resources are accepted.
    pub resource_link: bool,
    /// Set if structured content is accepted.
    pub structured_content: bool,
}

impl AcceptedContentKinds {
    /// Accepts blocks of text only.
    pub const TEXT: Self = Self {
        text: true,
        image: false,
        audio: false,
        resource: false,
        resource_link: false,
        structured_content: false,
    };

    /// Returns the name of the first kind among `blocks` that is not accepted, or `None` if all are accepted.
    pub(crate) fn first_unaccepted_content_kind(self, blocks: &[ContentBlock]) -> Option<&'static str> {
        blocks.iter().find_map(|block| {
            let (accepted, name) = match block {
                ContentBlock::Text(_) => (self.text, "text"),
                ContentBlock::Image(_) => (self.image, "image"),
                ContentBlock::Audio(_) => (self.audio, "audio"),
                ContentBlock::Resource(_) => (self.resource, "resource"),
                ContentBlock::ResourceLink(_) => (self.resource_link, "resource_link"),
                ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_) | ContentBlock::Unknown(_) => (false, "other"),
            };
            (!accepted).then_some(name)
        })
    }

    fn to_value(self) -> Value {
        object_of_present_members([
            ("text", self.text.then(|| json!({}))),
            ("image", self.image.then(|| json!({}))),
            ("audio", self.audio.then(|| json!({}))),
            ("resource", self.resource.then(|| json!({}))),
            ("resourceLink", self.resource_link.then(|| json!({}))),
            ("structuredContent", self.structured_content.then(|| json!({}))),
        ])
    }
}

impl HostCapabilities {
    /// Returns the capabilities as `hostCapabilities` of the response to `ui/initialize`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let lists =
            |lists: ServerListAccess| if lists.list_changed { json!({ "listChanged": true }) } else { json!({}) };
        let sampling = |support: SamplingSupport| if support.tools { json!({ "tools": {} }) } else { json!({}) };
        object_of_present_members([
            ("openLinks", self.open_links.then(|| json!({}))),
            ("downloadFile", self.download_file.then(|| json!({}))),
            ("serverTools", self.server_tools.map(lists)),
            ("serverResources", self.server_resources.map(lists)),
            ("logging", self.logging.then(|| json!({}))),
            ("sandbox", self.sandbox.as_ref().map(|granted| granted.as_value().clone())),
            ("updateModelContext", self.update_model_context.map(AcceptedContentKinds::to_value)),
            ("message", self.message.map(AcceptedContentKinds::to_value)),
            ("sampling", self.sampling.map(sampling)),
        ])
    }
}

/// Returns a JSON object with those of the members that have a value.
fn object_of_present_members<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_host_capability_is_announced_by_default() {
        assert_eq!(HostCapabilities::default().to_value(), json!({}));
    }

    #[test]
    fn only_announced_host_capabilities_are_serialized() {
        let capabilities = HostCapabilities {
            open_links: true,
            server_tools: Some(ServerListAccess { list_changed: true }),
            server_resources: Some(ServerListAccess::default()),
            message: Some(AcceptedContentKinds::TEXT),
            sampling: Some(SamplingSupport { tools: true }),
            ..HostCapabilities::default()
        };
        let expected = json!({
            "openLinks": {},
            "serverTools": { "listChanged": true },
            "serverResources": {},
            "message": { "text": {} },
            "sampling": { "tools": {} },
        });
        assert_eq!(capabilities.to_value(), expected);
    }

    #[test]
    fn first_content_block_of_unannounced_kind_is_named() {
        let blocks: Vec<ContentBlock> = serde_json::from_value(json!([
            { "type": "text", "text": "a" },
            { "type": "image", "data": "", "mimeType": "image/png" },
        ]))
        .unwrap();
        assert_eq!(AcceptedContentKinds::TEXT.first_unaccepted_content_kind(&blocks), Some("image"));
        assert_eq!(AcceptedContentKinds::TEXT.first_unaccepted_content_kind(&blocks[..1]), None);
        assert_eq!(
            AcceptedContentKinds { image: true, ..AcceptedContentKinds::TEXT }.first_unaccepted_content_kind(&blocks),
            None
        );
        assert_eq!(AcceptedContentKinds::default().first_unaccepted_content_kind(&[]), None);
    }
}
