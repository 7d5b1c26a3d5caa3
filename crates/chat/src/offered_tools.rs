//! Tools offered to a model: those of the conversation's servers that the user has enabled and reviewed, and those of
//! shown apps that the user has turned on. The user enables a tool in the server's settings ([`ToolState::Disabled`]
//! otherwise) and in the conversation ([`ToolState::Off`]). The order is stable for the prompt caches of providers.

pub(crate) mod app_tools;
mod tool_state;

use std::collections::HashMap;

use domain::app_view::ProvidingApp;
use host::{AppToolsForModel, ServerForModel};
use mcp_apps::ToolMetadata;
use models::ModelTool;
use offers::review::{ServerReview, show_hidden_characters, show_hidden_characters_in_schema};
use policy::ReviewState;
use serde_json::json;

use super::OfferedServer;
use super::search_index::SearchIndex;
use super::tool_keys::tool_key;

pub use tool_state::ToolState;

/// Maximum number of tools offered in one conversation. Further tools are listed as [`ToolState::Unusable`].
pub const MAX_OFFERED_TOOLS: usize = 5_000;

/// Estimated number of bytes of JSON per token, used only to decide whether the model finds tools by search. Providers
/// count differently.
const ESTIMATED_BYTES_PER_TOKEN: u64 = 4;

/// Returns the estimated number of tokens of `bytes` bytes of JSON.
#[must_use]
pub const fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(ESTIMATED_BYTES_PER_TOKEN)
}

/// A tool of a conversation's server or of a shown app, with its state: offered to the model, or the reason why not.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Name of the server that lists the tool.
    pub server: String,
    /// Name of the tool as its server or app lists it. Empty if the server is not running.
    pub tool: String,
    /// Shown app that provides the tool, or `None` if the server does.
    pub app: Option<ProvidingApp>,
    /// Name by which the model calls the tool, unique in the conversation.
    pub key: String,
    /// Estimated number of tokens of the tool's definition.
    pub tokens: u64,
    /// State of the tool in the conversation: offered to the model, or the reason why not.
    pub state: ToolState,
    /// Definition of the tool that is sent to the model, or `None` if the tool is not offered.
    definition: Option<ModelTool>,
    /// Title of the tool, which the search index contains.
    title: String,
}

/// All tools of a conversation's servers and of shown apps, each offered to the model or with the reason why not.
#[derive(Debug, Default)]
pub struct OfferedTools {
    tools: Vec<OfferedTool>,
    by_key: HashMap<String, usize>,
    /// Estimated number of tokens of the definitions of all offered tools.
    pub tokens: u64,
    /// Settings and definitions of each server, from which this value was computed.
    basis: Vec<OfferedToolsInputs>,
    /// Tools of shown apps, from which this value was computed.
    app_tools: Vec<AppToolsForModel>,
}

/// Settings and tool definitions of one server from which [`OfferedTools`] was computed, stored to detect changes.
#[derive(Debug)]
struct OfferedToolsInputs {
    offered: OfferedServer,
    is_ready: bool,
    reviewed: Option<ServerReview>,
}

impl OfferedToolsInputs {
    fn new(offered: &OfferedServer, server: &ServerForModel) -> Self {
        Self { offered: offered.clone(), is_ready: server.is_ready, reviewed: server.reviewed.clone() }
    }

    fn is_unchanged_for(&self, offered: &OfferedServer, server: &ServerForModel) -> bool {
        let same_definitions = match (&self.reviewed, &server.reviewed) {
            (Some(own), Some(now)) => own.has_same_inputs(now),
            (own, now) => own.is_none() && now.is_none(),
        };
        same_definitions && (&self.offered, self.is_ready) == (offered, server.is_ready)
    }
}

impl OfferedTools {
    /// Computes the states of all tools of these servers. Takes time proportional to the number of tools, so call it on
    /// a blocking thread.
    #[must_use]
    pub fn new(servers: &[(OfferedServer, ServerForModel)]) -> Self {
        let mut offering = Self::default();
        for (offered, server) in servers {
            offering.basis.push(OfferedToolsInputs::new(offered, server));
            match &server.reviewed {
                Some(reviewed) if server.is_ready => offering.add_server(offered, reviewed),
                _ => offering.tools.push(OfferedTool {
                    server: offered.server.clone(),
                    ..unusable_tool(&offered.server, "", ToolState::NotReady)
                }),
            }
        }
        offering.tokens = offering.offered().map(|tool| tool.tokens).sum();
        offering
    }

    /// Returns `true` if [`new`](Self::new) would return an equal value for these servers. Ignores the tools of apps.
    #[must_use]
    pub fn is_built_from_servers(&self, servers: &[(OfferedServer, ServerForModel)]) -> bool {
        self.basis.len() == servers.len()
            && self.basis.iter().zip(servers).all(|(own, (offered, now))| own.is_unchanged_for(offered, now))
    }

    fn add_server(&mut self, offered: &OfferedServer, reviewed: &ServerReview) {
        let server = &offered.server;
        let mut tools: Vec<_> = reviewed.catalog().tools.iter().collect();
        // Servers may list their tools in a varying order.
        tools.sort_by(|a, b| a.name().cmp(b.name()));
        for listed in tools {
            let name = listed.name();
            let is_on = offered.enables_tool(name);
            let key = tool_key(server, name);
            if !reviewed.config.tools.admits(name) {
                self.tools.push(unusable_tool(server, name, ToolState::Disabled));
                continue;
            }
            if !is_on {
                self.tools.push(unusable_tool(server, name, ToolState::Off));
                continue;
            }
            let Ok(tool) = listed.read() else {
                self.tools.push(unusable_tool(server, name, ToolState::Unusable));
                continue;
            };
            if !ToolMetadata::read(tool.meta.as_ref()).is_visible_to_model() {
                self.tools.push(unusable_tool(server, name, ToolState::AppOnly));
                continue;
            }
            let state = match reviewed.tool_review_state(&tool) {
                ReviewState::Reviewed if self.by_key.contains_key(&key) || self.by_key.len() >= MAX_OFFERED_TOOLS => {
                    ToolState::Unusable
                }
                ReviewState::Reviewed => ToolState::Offered,
                ReviewState::New => ToolState::New,
                ReviewState::Changed => ToolState::Changed,
            };
            let title = tool.title.or_else(|| tool.annotations.and_then(|a| a.title)).unwrap_or_default();
            let definition = ModelTool {
                name: key.clone(),
                description: tool.description.map(|text| show_hidden_characters(&text).into_owned()),
                input_schema: show_hidden_characters_in_schema(tool.input_schema),
            };
            if state == ToolState::Offered {
                self.by_key.insert(key.clone(), self.tools.len());
            }
            self.tools.push(OfferedTool {
                server: server.clone(),
                tool: name.to_owned(),
                app: None,
                key,
                tokens: estimate_definition_tokens(&definition),
                state,
                definition: (state == ToolState::Offered).then_some(definition),
                title,
            });
        }
    }

    /// Returns all tools of the enabled servers and shown apps.
    #[must_use]
    pub fn all_tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Returns the tools that are available to the model, also those that it has to find by search first.
    pub fn offered(&self) -> impl Iterator<Item = &OfferedTool> {
        self.tools.iter().filter(|tool| tool.state == ToolState::Offered)
    }

    /// Returns the offered tool that the model calls by the name `key`, or `None` if there is none.
    #[must_use]
    pub fn tool(&self, key: &str) -> Option<&OfferedTool> {
        self.by_key.get(key).map(|at| &self.tools[*at])
    }

    /// Creates a search index of the offered tools, for [`find`](Self::find).
    #[must_use]
    pub fn search_index(&self) -> SearchIndex {
        SearchIndex::new(
            self.offered()
                .map(|tool| (tool.searchable_names(), tool.description()))
                .collect::<Vec<_>>()
                .iter()
                .map(|(names, description)| (names.as_str(), *description)),
        )
    }

    /// Returns at most `limit` offered tools that match `search_text`, the best match first.
    #[must_use]
    pub fn find(&self, index: &SearchIndex, search_text: &str, limit: usize) -> Vec<&OfferedTool> {
        let offered: Vec<_> = self.offered().collect();
        index.find(search_text, limit).into_iter().filter_map(|at| offered.get(at).copied()).collect()
    }
}

impl OfferedTool {
    /// Returns the definition of the tool that is sent to the model, or `None` if the tool is not offered.
    #[must_use]
    pub const fn definition(&self) -> Option<&ModelTool> {
        self.definition.as_ref()
    }

    /// Returns the description of the tool as the model reads it: the text of the server, with invisible characters
    /// replaced by their code points. Empty if the tool is not offered.
    #[must_use]
    pub fn description(&self) -> &str {
        self.definition.as_ref().and_then(|tool| tool.description.as_deref()).unwrap_or_default()
    }

    fn searchable_names(&self) -> String {
        format!("{} {} {}", self.server, self.tool, self.title)
    }
}

fn unusable_tool(server: &str, tool: &str, state: ToolState) -> OfferedTool {
    OfferedTool {
        server: server.to_owned(),
        tool: tool.to_owned(),
        app: None,
        key: tool_key(server, tool),
        tokens: 0,
        state,
        definition: None,
        title: String::new(),
    }
}

/// Returns the estimated number of tokens of a definition.
fn estimate_definition_tokens(tool: &ModelTool) -> u64 {
    let description = tool.description.as_ref().map_or(0, String::len);
    estimate_tokens(tool.name.len() + description + json!(tool.input_schema).to_string().len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout)]

    use std::sync::Arc;

    use domain::item;
    use mcp_proto::types::{self as mcp, ListEntry};
    use offers::catalog::ServerCatalog;
    use offers::review::{DefinitionKind, ServerPins};
    use policy::Hash;
    use ports::server_config::{ServerConfig, StdioConfig, ToolFilter};

    use super::super::builtin_tools;
    use super::*;

    fn tool(name: &str) -> mcp::Tool {
        mcp::Tool {
            name: name.to_owned(),
            description: Some(format!("Does {name}")),
            input_schema: json!({"type": "object"}),
            ..mcp::Tool::default()
        }
    }

    /// Creates a server with these tools. Those named in `reviewed` are reviewed.
    fn server(name: &str, tools: &[&str], reviewed: &[&str]) -> ServerForModel {
        let tools: Vec<mcp::Tool> = tools.iter().map(|name| tool(name)).collect();
        server_with_reviews(name, &tools, |tool| reviewed.contains(&tool))
    }

    /// Creates a server with these tools. Those for which `is_reviewed` returns `true` are reviewed.
    fn server_with_reviews(name: &str, tools: &[mcp::Tool], is_reviewed: impl Fn(&str) -> bool) -> ServerForModel {
        let identity = Hash::of_bytes(b"command");
        let (mut pins, mut catalog) = (ServerPins::default(), ServerCatalog::default());
        for tool in tools.iter().filter(|tool| is_reviewed(&tool.name)) {
            pins.pin(DefinitionKind::Tool, &tool.name, &json!(tool), Some(&identity), 1);
        }
        catalog.tools = tools.iter().map(ListEntry::from).collect();
        ServerForModel {
            server: name.to_owned(),
            reviewed: Some(ServerReview::new(name, StdioConfig::default().into(), catalog, pins, Some(identity))),
            is_ready: true,
            instructions: None,
            roots: Vec::new(),
        }
    }

    fn enabled_server(server: &str, tools: Option<&[&str]>) -> OfferedServer {
        let tools = tools.map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect());
        OfferedServer { server: server.to_owned(), tools, instructions: None }
    }

    #[test]
    fn only_reviewed_and_enabled_tools_are_offered_in_a_stable_order() {
        let files = server("files", &["write", "read", "delete", "new"], &["read", "write", "delete"]);
        let stopped = ServerForModel { is_ready: false, ..server("mail", &["send"], &["send"]) };
        let servers = [
            (enabled_server("files", Some(&["read", "write", "new"])), files),
            (enabled_server("mail", None), stopped),
        ];
        let offering = OfferedTools::new(&servers);
        let keys: Vec<_> = offering.offered().map(|tool| tool.key.as_str()).collect();
        assert_eq!(keys, ["files__read", "files__write"], "reviewed and enabled tools are offered, sorted by name");
        let states: Vec<_> = offering.all_tools().iter().map(|t| (t.tool.as_str(), t.state)).collect();
        let expected = [
            ("delete", ToolState::Off),
            ("new", ToolState::New),
            ("read", ToolState::Offered),
            ("write", ToolState::Offered),
            ("", ToolState::NotReady),
        ];
        assert_eq!(states, expected, "all other tools have the reason why they are not offered");
        assert!(offering.tool("files__delete").is_none(), "a disabled tool is not found");
        assert_eq!(offering.tool("files__read").unwrap().tool, "read", "a tool is found by its name");
        assert!(offering.tokens > 0, "the tokens are estimated");
        assert!(offering.is_built_from_servers(&servers), "without changes the offering is reused");
        let other = server("files", &["read"], &["read"]);
        assert!(!offering.is_built_from_servers(&[(enabled_server("files", None), other)]), "a change is noticed");
    }

    #[test]
    fn tool_only_for_apps_is_not_offered_to_models() {
        let meta = json!({ "ui": { "visibility": ["app"] } });
        let poll = mcp::Tool { meta: meta.as_object().cloned(), ..tool("poll") };
        let monitor = server_with_reviews("monitor", &[poll, tool("show")], |_| true);
        let offering = OfferedTools::new(&[(enabled_server("monitor", None), monitor)]);
        let states: Vec<_> = offering.all_tools().iter().map(|t| (t.tool.as_str(), t.state)).collect();
        assert_eq!(states, [("poll", ToolState::AppOnly), ("show", ToolState::Offered)]);
        assert!(offering.tool("monitor__poll").is_none(), "a tool only for apps is not found");
    }

    #[test]
    fn tools_disabled_in_the_settings_are_not_offered() {
        let with = |enabled: Option<&str>, disabled: &[&str]| {
            let mut server = server("files", &["read", "read_all", "write"], &["read", "read_all", "write"]);
            let tools = ToolFilter {
                enabled: enabled.map(|pattern| vec![pattern.to_owned()]),
                disabled: disabled.iter().map(|&tool| tool.to_owned()).collect(),
            };
            let config = ServerConfig { tools, ..StdioConfig::default().into() };
            server.reviewed.as_mut().unwrap().config = Arc::new(config);
            [(enabled_server("files", None), server)]
        };
        let states =
            |servers: &[_]| OfferedTools::new(servers).all_tools().iter().map(|tool| tool.state).collect::<Vec<_>>();
        let (offered, disabled) = (ToolState::Offered, ToolState::Disabled);
        assert_eq!(states(&with(None, &[])), [offered; 3], "all tools are offered by default");
        assert_eq!(states(&with(None, &["write"])), [offered, offered, disabled], "a disabled tool is not offered");
        assert_eq!(
            states(&with(Some("read*"), &["read_all"])),
            [offered, disabled, disabled],
            "a tool that is not enabled is not offered"
        );
        let offering = OfferedTools::new(&with(None, &["write"]));
        assert!(offering.tool("files__write").is_none(), "a disabled tool is not found");
        // The servers share one catalog, so that they differ in their settings only.
        let mut other = with(None, &["write"]);
        other[0].1.reviewed = Some(ServerReview {
            config: Arc::new(StdioConfig::default().into()),
            ..offering.basis[0].reviewed.clone().unwrap()
        });
        assert!(!offering.is_built_from_servers(&other), "a change of the settings requires a new offering");
    }

    /// Compares the number of tokens of all definitions of typical tools with that of a search and its results. Run
    /// with `--no-capture` to print the numbers.
    #[test]
    fn tool_search_saves_more_context_the_more_tools_exist() {
        let context = Some(200_000);
        let mut saved = Vec::new();
        for count in [10, 100, 1_000] {
            let names: Vec<String> = (0..count).map(|n| format!("manage_resource_{n}")).collect();
            let tools: Vec<mcp::Tool> = names.iter().map(|name| tool_of_realistic_size(name)).collect();
            let many = server_with_reviews("many", &tools, |_| true);
            let offering = OfferedTools::new(&[(enabled_server("many", None), many)]);
            assert_eq!(offering.offered().count(), count, "all tools are offered");
            let threshold = domain::bounds::ChatBounds::default().tool_search_threshold(context);
            let query = json!({"query": "manage resource 7"});
            let result = builtin_tools::search_tools(&offering, &offering.search_index(), query.as_object().unwrap());
            let used =
                item::ToolUsed { reply: "r".into(), id: "u".into(), tool_key: builtin_tools::SEARCH_TOOL_NAME.into() };
            let body = item::ItemBody::OwnTool {
                used,
                arguments: query,
                text: result.text,
                found: result.found,
                is_error: result.is_error,
            };
            let searched = item::ChatItem { id: "s".into(), parent: None, at: 1, state: item::ItemState::Whole, body };
            // Tools sent after a search: the maximum.
            let sent = builtin_tools::select_tools_for_model(&offering, &[searched], threshold);
            assert_eq!(
                sent.len(),
                if count == 10 { 10 } else { 9 },
                "either all tools are sent, or the search and the eight tools that it found"
            );
            let sent: u64 = sent.iter().map(estimate_definition_tokens).sum();
            println!("{count} tools: {} tokens all, {sent} sent, {} saved", offering.tokens, offering.tokens - sent);
            saved.push((offering.tokens - sent) * 100 / offering.tokens);
        }
        assert_eq!(saved[0], 0, "a small number of tools is sent completely");
        assert!(
            saved[1] >= 80 && saved[2] >= 98,
            "most of a large number of tools is not sent: {saved:?} percent are saved"
        );
    }

    /// Creates a tool with a description and schema of typical size.
    fn tool_of_realistic_size(name: &str) -> mcp::Tool {
        let text = |words: &str| json!({ "type": "string", "description": words });
        mcp::Tool {
            name: name.to_owned(),
            description: Some(format!(
                "Creates, reads, changes or removes one resource of the kind {name}. Returns the resource as it is afterwards, or \
                 what is wrong with the request. Changes are written at once and can't be undone."
            )),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "id": text("The resource's id, as another call returned it"),
                    "action": { "type": "string", "enum": ["create", "read", "update", "delete"], "description": "What to do" },
                    "fields": { "type": "object", "description": "What to change, by name", "additionalProperties": true },
                    "reason": text("Why, for the log"),
                    "dry_run": { "type": "boolean", "description": "Set to only report the effects without sending", "default": false },
                },
                "required": ["id", "action"],
            }),
            ..mcp::Tool::default()
        }
    }

    #[test]
    fn tool_search_finds_a_tool_among_a_thousand_by_its_purpose() {
        let names: Vec<String> = (0..1_000).map(|n| format!("tool_{n}_{}", ["read", "send", "plan"][n % 3])).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let offering = OfferedTools::new(&[(enabled_server("many", None), server("many", &names, &names))]);
        let found = offering.find(&offering.search_index(), "tool_512", 5);
        assert_eq!(found.first().map(|t| t.tool.as_str()), Some("tool_512_plan"), "the named tool is found first");
    }
}
