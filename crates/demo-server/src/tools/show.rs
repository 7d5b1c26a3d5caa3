//! `show_everything`: a tool whose result contains every kind of content.

use rmcp::model::{
    Annotations, CallToolResult, ContentBlock, ProtocolVersion, ResourceContents, Role, TextContent, Tool,
    ToolAnnotations,
};
use serde_json::json;

use super::{ToolCall, new_tool, no_arguments_schema};
use crate::client;
use crate::content::{BELL_WAV, CHART_PNG, GUIDE_TEXT, encode_base64};
use crate::resources::{CHART_URI, GUIDE_URI, chart_resource};

const SAMPLE_MARKDOWN: &str = "## Today in the harbour\n\n\
    - **Aurora** has *arrived*\n- ~~Borealis~~ is late\n\n\
    | Berth | Ship |\n| --- | --- |\n| north | Aurora |\n\n\
    ```sh\necho \"cast off\"\n```\n";

pub(super) fn show_everything_definition() -> Tool {
    let description = "Returns text, Markdown, a picture, a sound, a link, embedded resources and structured data.";
    new_tool("show_everything", "Show everything", description, no_arguments_schema())
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

/// Returns a result with every kind of content that the revision of the call supports.
pub(super) fn show_everything(call: &ToolCall<'_>) -> CallToolResult {
    let guide = ResourceContents::text(GUIDE_TEXT, GUIDE_URI).with_mime_type("text/markdown");
    let picture = ResourceContents::blob(encode_base64(CHART_PNG), CHART_URI).with_mime_type("image/png");
    let aside = TextContent::new("This line is meant for the model more than for you.")
        .with_annotations(Annotations::default().with_audience(vec![Role::Assistant]).with_priority(0.5));
    let mut content = vec![
        ContentBlock::text("Plain text. 港口很安静。 ⚓ Ahoy!"),
        ContentBlock::text(SAMPLE_MARKDOWN),
        ContentBlock::Text(aside),
        ContentBlock::image(encode_base64(CHART_PNG), "image/png"),
        ContentBlock::resource(guide),
        ContentBlock::resource(picture),
    ];
    if client::is_revision_at_least(call.context, &ProtocolVersion::V_2025_03_26) {
        content.push(ContentBlock::audio(encode_base64(BELL_WAV), "audio/wav"));
    }
    let mut result = CallToolResult::success(content);
    if client::is_revision_at_least(call.context, &ProtocolVersion::V_2025_06_18) {
        result.content.push(ContentBlock::resource_link(chart_resource()));
        result.structured_content = Some(json!({
            "harbour": "Bergen",
            "ships": [{ "name": "Borealis", "length_m": 18 }],
            "open": true,
            "depth_m": 7.5,
            "owner": null
        }));
    }
    result
}
