//! Metadata of a tool: the page that shows its results, and its permitted callers.

use mcp_proto::types::Map;
use serde_json::Value;

use super::bounded_metadata_reader::{BoundedMetadataReader, MetadataFault, MetadataProblem};
use crate::resource_uri::{MAX_UI_URI_BYTES, UiUri};
use crate::text::UntrustedTextExcerpt;

/// Maximum number of entries that are read from the list `visibility` of a tool.
const MAX_VISIBILITY_ENTRIES: usize = 8;
/// Maximum length of an entry of `visibility` in bytes.
const MAX_VISIBILITY_ENTRY_BYTES: usize = 32;

/// Callers that a server permits for one of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolVisibility {
    /// Set if models may see and call the tool.
    pub model: bool,
    /// Set if apps of the same server may call the tool.
    pub app: bool,
}

impl Default for ToolVisibility {
    /// Returns the visibility of a tool that declares none: models and apps.
    fn default() -> Self {
        Self { model: true, app: true }
    }
}

/// Metadata that a server declares for a tool (specification 2026-01-26, section "Resource Discovery").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolMetadata {
    /// App page that shows the results of the tool, or `None` for a tool without one.
    pub page: Option<UiUri>,
    /// Callers that the server permits to use the tool.
    pub visibility: ToolVisibility,
    /// Invalid members of the metadata, with the reasons. At most [`MAX_METADATA_FAULTS`](super::MAX_METADATA_FAULTS).
    pub faults: Vec<MetadataFault>,
}

impl ToolMetadata {
    /// Reads the metadata from the `_meta` of a tool. Invalid members are recorded in `faults`, and the valid members
    /// are used.
    #[must_use]
    pub fn read(meta: Option<&Map>) -> Self {
        let mut reader = BoundedMetadataReader::new();
        let Some(meta) = meta else { return Self::default() };
        let ui = reader.read_object("_meta.ui", meta.get("ui"));
        let nested = read_page_uri(&mut reader, "_meta.ui.resourceUri", ui.and_then(|ui| ui.get("resourceUri")));
        // Deprecated, but many servers write only this member.
        let flat = read_page_uri(&mut reader, "_meta[\"ui/resourceUri\"]", meta.get("ui/resourceUri"));
        if let (Some(nested), Some(flat)) = (&nested, &flat)
            && nested != flat
        {
            reader.report("_meta[\"ui/resourceUri\"]", MetadataProblem::Contradicting);
        }
        for member in ["csp", "permissions"] {
            if ui.is_some_and(|ui| ui.contains_key(member)) {
                reader.report(format!("_meta.ui.{member}"), MetadataProblem::Misplaced);
            }
        }
        let visibility = read_visibility(&mut reader, ui.and_then(|ui| ui.get("visibility")));
        Self { page: nested.or(flat), visibility, faults: reader.into_faults() }
    }

    /// Returns `true` if the server permits that models see and call the tool.
    #[must_use]
    pub const fn is_visible_to_model(&self) -> bool {
        self.visibility.model
    }

    /// Returns `true` if an app of the same server may call the tool.
    #[must_use]
    pub const fn is_callable_by_app(&self) -> bool {
        self.visibility.app
    }
}

fn read_page_uri(reader: &mut BoundedMetadataReader, path: &str, value: Option<&Value>) -> Option<UiUri> {
    let text = reader.read_text(path, value, MAX_UI_URI_BYTES)?;
    match UiUri::parse(text) {
        Ok(uri) => Some(uri),
        Err(reason) => {
            reader.report(path, MetadataProblem::NotAPage { reason, value: UntrustedTextExcerpt::of(text) });
            None
        }
    }
}

fn read_visibility(reader: &mut BoundedMetadataReader, value: Option<&Value>) -> ToolVisibility {
    const PATH: &str = "_meta.ui.visibility";
    let Some(names) = reader.read_text_list(PATH, value, MAX_VISIBILITY_ENTRIES, MAX_VISIBILITY_ENTRY_BYTES) else {
        return ToolVisibility::default();
    };
    for name in names.iter().filter(|name| !["model", "app"].contains(&name.as_str())) {
        reader.report(PATH, MetadataProblem::Unknown(UntrustedTextExcerpt::of(name)));
    }
    let has = |expected: &str| names.iter().any(|name| name == expected);
    ToolVisibility { model: has("model"), app: has("app") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metadata::MAX_METADATA_FAULTS;

    fn read_tool_metadata(meta: &Value) -> ToolMetadata {
        ToolMetadata::read(meta.as_object())
    }

    fn page_uri_text(metadata: &ToolMetadata) -> Option<&str> {
        metadata.page.as_ref().map(UiUri::as_str)
    }

    fn metadata_fault_texts(metadata: &ToolMetadata) -> Vec<String> {
        metadata.faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn nested_page_uri_wins_over_the_deprecated_one() {
        let both = read_tool_metadata(&json!({ "ui": { "resourceUri": "ui://new" }, "ui/resourceUri": "ui://old" }));
        assert_eq!(page_uri_text(&both), Some("ui://new"));
        assert_eq!(both.faults.len(), 1, "a contradiction should be listed");
        let flat = read_tool_metadata(&json!({ "ui/resourceUri": "ui://old" }));
        assert_eq!((page_uri_text(&flat), flat.faults.len()), (Some("ui://old"), 0));
        let same = read_tool_metadata(&json!({ "ui": { "resourceUri": "ui://a" }, "ui/resourceUri": "ui://a" }));
        assert_eq!((page_uri_text(&same), same.faults.len()), (Some("ui://a"), 0));
    }

    #[test]
    fn page_uri_with_another_scheme_is_a_fault() {
        let metadata = read_tool_metadata(&json!({ "ui": { "resourceUri": "https://example.com/app" } }));
        assert_eq!(page_uri_text(&metadata), None);
        let expected = r#"_meta.ui.resourceUri does not begin with "ui://": "https://example.com/app""#;
        assert_eq!(metadata_fault_texts(&metadata), [expected]);
    }

    #[test]
    fn usable_deprecated_member_replaces_an_unusable_nested_one() {
        let metadata = read_tool_metadata(&json!({ "ui": { "resourceUri": 5 }, "ui/resourceUri": "ui://old" }));
        assert_eq!(page_uri_text(&metadata), Some("ui://old"));
        assert_eq!(metadata_fault_texts(&metadata), ["_meta.ui.resourceUri is not a string"]);
    }

    // [apps-visibility-default]
    #[test]
    fn tool_is_visible_to_model_and_app_by_default() {
        let visibility = |value: Value| {
            let metadata = read_tool_metadata(&json!({ "ui": { "visibility": value } }));
            (metadata.is_visible_to_model(), metadata.is_callable_by_app(), metadata.faults.len())
        };
        assert_eq!(visibility(Value::Null), (true, true, 0));
        assert_eq!(visibility(json!(["model", "app"])), (true, true, 0));
        assert_eq!(visibility(json!(["app"])), (false, true, 0));
        assert_eq!(visibility(json!(["model"])), (true, false, 0));
        assert_eq!(visibility(json!([])), (false, false, 0));
        assert_eq!(visibility(json!("app")), (false, true, 1), "one text is a list of one");
        assert_eq!(visibility(json!(["app", "user"])), (false, true, 1));
        assert_eq!(visibility(json!({ "app": true })), (true, true, 1), "an unreadable value restricts nothing");
        assert_eq!(ToolMetadata::read(None), ToolMetadata::default());
        assert!(ToolMetadata::default().is_visible_to_model() && ToolMetadata::default().is_callable_by_app());
    }

    #[test]
    fn domains_and_permissions_on_a_tool_have_no_effect() {
        let metadata = read_tool_metadata(&json!({ "ui": { "resourceUri": "ui://a", "csp": {}, "permissions": {} } }));
        assert_eq!(page_uri_text(&metadata), Some("ui://a"));
        let expected = ["csp", "permissions"];
        let expected = expected.map(|name| format!("_meta.ui.{name} has no effect on a tool, only on its page"));
        assert_eq!(metadata_fault_texts(&metadata), expected);
    }

    #[test]
    fn metadata_faults_are_bounded() {
        let names: Vec<String> = (0..10_000).map(|number| format!("name {number}")).collect();
        let metadata =
            read_tool_metadata(&json!({ "ui": { "visibility": names, "resourceUri": "x".repeat(100_000) } }));
        assert!(metadata.faults.len() <= MAX_METADATA_FAULTS);
        assert!(metadata.faults.iter().all(|fault| fault.to_string().len() < 1000));
        assert_eq!(read_tool_metadata(&json!({ "ui": [1] })).faults.len(), 1);
    }
}
