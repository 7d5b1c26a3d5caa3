//! Events and model contexts of a view, in the form in which Drawbridge's page receives them.

use domain::app_view::AppViewChange;
use mcp_apps::{AppInfo, ModelContext, ViewEvent};
use mcp_proto::types::{ContentBlock, Implementation, LogMessage};
use serde_json::Value;

/// Converts an event of the view to the change of which Drawbridge's page is notified. Returns `None` for the end of the
/// view and for events that `app_tools` processes.
pub(super) fn to_view_change(event: ViewEvent) -> Option<AppViewChange> {
    Some(match event {
        ViewEvent::Initialized(AppInfo {
            implementation: Implementation { name, version, .. }, display_modes, ..
        }) => AppViewChange::Initialized { name, version, display_modes },
        ViewEvent::Resized(size) => AppViewChange::Resized { width: size.width, height: size.height },
        ViewEvent::DisplayModeChanged(mode) => AppViewChange::DisplayModeChanged { mode },
        ViewEvent::Logged(LogMessage { level, data, .. }) => AppViewChange::Logged {
            level: serde_json::to_value(level).ok()?.as_str()?.to_owned(),
            text: data.as_str().map_or_else(|| data.to_string(), str::to_owned),
        },
        ViewEvent::Diagnosed { diagnostic, dropped } => AppViewChange::Diagnosed { diagnostic, dropped },
        ViewEvent::TeardownRequested => AppViewChange::TeardownRequested,
        ViewEvent::Closed(_)
        | ViewEvent::AppToolsListed(_)
        | ViewEvent::AppToolsChanged
        | ViewEvent::AppToolCallEnded { .. } => return None,
    })
}

/// Returns the text blocks and the structured content that an app offers as context for the model, joined to one text.
pub(super) fn model_context_text(context: &ModelContext) -> String {
    let texts = context.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.to_string()),
        _ => None,
    });
    let structured = context.structured_content.clone().map(Value::Object);
    let structured = structured.and_then(|value| serde_json::to_string_pretty(&value).ok());
    texts.chain(structured).collect::<Vec<_>>().join("\n\n")
}
