//! Tools of shown apps (MCP Apps) that the user has turned on, offered to the model after the tools of servers.

use host::{AppToolsForModel, Host, HostClosed};
use models::ModelTool;
use offers::review::{show_hidden_characters, show_hidden_characters_in_schema};

use super::{MAX_OFFERED_TOOLS, OfferedTool, OfferedTools, ToolState, estimate_definition_tokens, unusable_tool};
use crate::ConversationSettings;
use crate::tool_keys::app_tool_key;

/// Returns the tools of shown apps that are offered to the model of a conversation: those that the user turned on, of
/// servers that are enabled for the conversation.
///
/// # Errors
///
/// Returns [`HostClosed`] if the host has shut down.
pub(crate) async fn enabled_app_tools(
    host: &Host,
    conversation: &str,
    settings: &ConversationSettings,
) -> Result<Vec<AppToolsForModel>, HostClosed> {
    let mut app_tools = host.app_tools_for_model(conversation.to_owned()).await?;
    app_tools.retain(|own| settings.servers.iter().any(|offered| offered.server == own.server));
    Ok(app_tools)
}

impl OfferedTools {
    /// Adds the tools of shown apps. Takes time proportional to the number of tools, so call it on a blocking thread.
    #[must_use]
    pub fn with_app_tools(mut self, app_tools: Vec<AppToolsForModel>) -> Self {
        for own in &app_tools {
            self.add_app(own);
        }
        self.app_tools = app_tools;
        self
    }

    /// Returns `true` if `app_tools` are the tools of shown apps from which this value was computed.
    #[must_use]
    pub fn is_built_from_app_tools(&self, app_tools: &[AppToolsForModel]) -> bool {
        self.app_tools == app_tools
    }

    fn add_app(&mut self, AppToolsForModel { server, app, tools }: &AppToolsForModel) {
        let source =
            format!("Provided by an app of the server {:?} that the user has open.", show_hidden_characters(server));
        for tool in tools.iter() {
            let key = app_tool_key(server, app, &tool.name);
            if self.by_key.len() >= MAX_OFFERED_TOOLS || self.by_key.contains_key(&key) {
                let unusable = unusable_tool(server, &tool.name, ToolState::Unusable);
                self.tools.push(OfferedTool { app: Some(app.clone()), key, ..unusable });
                continue;
            }
            let description = tool.description.as_deref().map(show_hidden_characters).unwrap_or_default();
            let definition = ModelTool {
                name: key.clone(),
                description: Some(format!("{source}\n{description}").trim_end().to_owned()),
                input_schema: show_hidden_characters_in_schema(tool.input_schema.clone()),
            };
            let tokens = estimate_definition_tokens(&definition);
            self.tokens += tokens;
            self.by_key.insert(key.clone(), self.tools.len());
            self.tools.push(OfferedTool {
                server: server.clone(),
                tool: tool.name.clone(),
                app: Some(app.clone()),
                key,
                tokens,
                state: ToolState::Offered,
                definition: Some(definition),
                title: tool.title.clone().unwrap_or_default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use domain::app_view::ProvidingApp;
    use mcp_proto::types::Tool;

    use super::*;

    fn app_tools(view: &str, tools: &[&str]) -> AppToolsForModel {
        let tool = |name: &&str| Tool {
            name: (*name).to_owned(),
            description: Some(format!("Does {name}\u{200b}")),
            ..Tool::default()
        };
        AppToolsForModel {
            server: "board".to_owned(),
            app: ProvidingApp { view: view.to_owned(), tool: "show".to_owned() },
            tools: Arc::new(tools.iter().map(tool).collect()),
        }
    }

    #[test]
    fn app_tools_that_are_listed_twice_are_reported_as_unusable() {
        let offering = OfferedTools::new(&[]).with_app_tools(vec![app_tools("1", &["move", "move"])]);
        let states: Vec<_> = offering.all_tools().iter().map(|tool| (&*tool.tool, tool.state)).collect();
        assert_eq!(states, [("move", ToolState::Offered), ("move", ToolState::Unusable)]);
        assert_eq!(offering.offered().count(), 1);
    }

    #[test]
    fn tools_of_each_shown_app_have_distinct_tool_keys() {
        let app_tools = vec![app_tools("1", &["move", "undo"]), app_tools("2", &["move"])];
        let offering = OfferedTools::new(&[]).with_app_tools(app_tools.clone());
        assert_eq!(offering.offered().count(), 3);
        for tool in offering.offered() {
            let found = offering.tool(&tool.key).unwrap();
            assert_eq!((&found.tool, &found.app), (&tool.tool, &tool.app), "{} identifies one tool", tool.key);
            let description = tool.description();
            assert!(description.contains("app of the server \"board\""), "its source is named: {description}");
            assert!(!description.contains('\u{200b}'), "invisible text is replaced: {description}");
        }
        assert!(offering.tokens > 0);
        assert!(offering.is_built_from_app_tools(&app_tools));
        assert!(!offering.is_built_from_app_tools(&app_tools[..1]), "the model gets no tools of a closed app");
    }
}
