//! Which tools a model gets: those of the servers that are turned on for the conversation, and of them only such as the user
//! has reviewed as they are now. Their order stays the same, so that the caches of providers hold.

use std::collections::HashMap;

use host::ServerForModel;
use models::Tool;
use offers::review::{ServerReview, shown, shown_schema};
use policy::Standing;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::OfferedServer;
use super::keys::key;
use super::search::Index;

/// The most tools that are offered in one conversation; what is beyond is told as unusable.
pub const MAX_TOOLS: usize = 5_000;

/// About how many bytes of JSON are one token. Providers count in their own ways; this only decides when tools are searched for.
const BYTES_A_TOKEN: u64 = 4;

/// About how many tokens so many bytes are.
#[must_use]
pub const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_A_TOKEN)
}

/// Whether a tool can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It is.
    Offered,
    /// The user turned it off for this conversation.
    Off,
    /// The user has not reviewed it.
    New,
    /// It changed since the user reviewed it.
    Changed,
    /// Its definition can't be read, or another tool has the same name for the model.
    Unusable,
    /// Its server is not in use.
    NotReady,
}

/// A tool of a server that is turned on.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// The server.
    pub server: String,
    /// The tool; empty if the server is not in use.
    pub tool: String,
    /// Its name, as the model knows it.
    pub key: String,
    /// About how many tokens it takes.
    pub tokens: u64,
    /// Whether it can be offered.
    pub state: ToolState,
    /// What the model gets of it.
    definition: Option<Tool>,
    /// Its title, to be found by.
    title: String,
}

/// The tools of a conversation.
#[derive(Debug, Default)]
pub struct Offering {
    tools: Vec<OfferedTool>,
    by_key: HashMap<String, usize>,
    /// About how many tokens all take together.
    pub tokens: u64,
    /// What it was made of.
    basis: Vec<Basis>,
}

/// One server's part of the offered tools, to tell later whether they are still the same.
#[derive(Debug)]
struct Basis {
    offered: OfferedServer,
    is_ready: bool,
    reviewed: Option<ServerReview>,
}

impl Basis {
    fn new(offered: &OfferedServer, server: &ServerForModel) -> Self {
        Self { offered: offered.clone(), is_ready: server.is_ready, reviewed: server.reviewed.clone() }
    }

    fn holds_for(&self, offered: &OfferedServer, server: &ServerForModel) -> bool {
        let same_definitions = match (&self.reviewed, &server.reviewed) {
            (Some(own), Some(now)) => own.rests_on_same(now),
            (own, now) => own.is_none() && now.is_none(),
        };
        same_definitions && (&self.offered, self.is_ready) == (offered, server.is_ready)
    }
}

impl Offering {
    /// The tools of these servers. Takes time that grows with what they offer: run it beside what must not wait.
    #[must_use]
    pub fn new(servers: &[(OfferedServer, ServerForModel)]) -> Self {
        let mut offering = Self::default();
        for (offered, server) in servers {
            offering.basis.push(Basis::new(offered, server));
            match &server.reviewed {
                Some(reviewed) if server.is_ready => offering.add_server(offered, reviewed),
                _ => offering.tools.push(OfferedTool {
                    server: offered.server.clone(),
                    ..unusable(&offered.server, "", ToolState::NotReady)
                }),
            }
        }
        offering.tokens = offering.offered().map(|tool| tool.tokens).sum();
        offering
    }

    /// Whether it would be made of the same.
    #[must_use]
    pub fn rests_on(&self, servers: &[(OfferedServer, ServerForModel)]) -> bool {
        self.basis.len() == servers.len()
            && self.basis.iter().zip(servers).all(|(own, (offered, now))| own.holds_for(offered, now))
    }

    fn add_server(&mut self, offered: &OfferedServer, reviewed: &ServerReview) {
        let server = &offered.server;
        let mut tools: Vec<_> = reviewed.catalog().tools.iter().collect();
        // A server may list them in another order each time.
        tools.sort_by(|a, b| a.name().cmp(b.name()));
        for listed in tools {
            let name = listed.name();
            let is_on = offered.has(name);
            let key = key(server, name);
            if !is_on {
                self.tools.push(unusable(server, name, ToolState::Off));
                continue;
            }
            let Ok(tool) = listed.read() else {
                self.tools.push(unusable(server, name, ToolState::Unusable));
                continue;
            };
            let state = match reviewed.standing(&tool) {
                Standing::Reviewed if self.by_key.contains_key(&key) || self.by_key.len() >= MAX_TOOLS => {
                    ToolState::Unusable
                }
                Standing::Reviewed => ToolState::Offered,
                Standing::New => ToolState::New,
                Standing::Changed => ToolState::Changed,
            };
            let title = tool.title.or_else(|| tool.annotations.and_then(|a| a.title)).unwrap_or_default();
            let definition = Tool {
                name: key.clone(),
                description: tool.description.map(|text| shown(&text).into_owned()),
                input_schema: shown_schema(tool.input_schema),
            };
            if state == ToolState::Offered {
                self.by_key.insert(key.clone(), self.tools.len());
            }
            self.tools.push(OfferedTool {
                server: server.clone(),
                tool: name.to_owned(),
                key,
                tokens: size(&definition),
                state,
                definition: (state == ToolState::Offered).then_some(definition),
                title,
            });
        }
    }

    /// All tools of the servers that are turned on.
    #[must_use]
    pub fn all(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Those that can be offered.
    pub fn offered(&self) -> impl Iterator<Item = &OfferedTool> {
        self.tools.iter().filter(|tool| tool.state == ToolState::Offered)
    }

    /// The tool that a model knows by this name.
    #[must_use]
    pub fn tool(&self, key: &str) -> Option<&OfferedTool> {
        self.by_key.get(key).map(|at| &self.tools[*at])
    }

    /// Words to find them by, for [`find`](Self::find).
    #[must_use]
    pub fn index(&self) -> Index {
        Index::new(
            self.offered()
                .map(|tool| (tool.names(), tool.description()))
                .collect::<Vec<_>>()
                .iter()
                .map(|(names, description)| (names.as_str(), *description)),
        )
    }

    /// The tools that fit best, the best first.
    #[must_use]
    pub fn find(&self, index: &Index, question: &str, limit: usize) -> Vec<&OfferedTool> {
        let offered: Vec<_> = self.offered().collect();
        index.find(question, limit).into_iter().filter_map(|at| offered.get(at).copied()).collect()
    }
}

impl OfferedTool {
    /// What the model gets of it.
    #[must_use]
    pub const fn definition(&self) -> Option<&Tool> {
        self.definition.as_ref()
    }

    /// What it does, in its server's words.
    #[must_use]
    pub fn description(&self) -> &str {
        self.definition.as_ref().and_then(|tool| tool.description.as_deref()).unwrap_or_default()
    }

    fn names(&self) -> String {
        format!("{} {} {}", self.server, self.tool, self.title)
    }
}

fn unusable(server: &str, tool: &str, state: ToolState) -> OfferedTool {
    OfferedTool {
        server: server.to_owned(),
        tool: tool.to_owned(),
        key: key(server, tool),
        tokens: 0,
        state,
        definition: None,
        title: String::new(),
    }
}

/// About how many tokens a tool takes.
fn size(tool: &Tool) -> u64 {
    let description = tool.description.as_ref().map_or(0, String::len);
    tokens(tool.name.len() + description + json!(tool.input_schema).to_string().len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout)]

    use domain::item;
    use mcp_proto::types::{self as mcp, Listed};
    use offers::catalog::Catalog;
    use offers::review::{Kind, ServerPins};
    use policy::Hash;
    use ports::server_config::StdioConfig;

    use super::super::own_tools;
    use super::*;

    fn tool(name: &str) -> mcp::Tool {
        mcp::Tool {
            name: name.to_owned(),
            description: Some(format!("Does {name}")),
            input_schema: json!({"type": "object"}),
            ..mcp::Tool::default()
        }
    }

    /// A server with these tools, of which the user has seen some.
    fn server(name: &str, tools: &[&str], seen: &[&str]) -> ServerForModel {
        let tools: Vec<mcp::Tool> = tools.iter().map(|name| tool(name)).collect();
        server_of(name, &tools, |tool| seen.contains(&tool))
    }

    /// A server with these tools, of which the user has seen those that fit.
    fn server_of(name: &str, tools: &[mcp::Tool], is_seen: impl Fn(&str) -> bool) -> ServerForModel {
        let identity = Hash::of_bytes(b"command");
        let (mut pins, mut catalog) = (ServerPins::default(), Catalog::default());
        for tool in tools.iter().filter(|tool| is_seen(&tool.name)) {
            pins.pin(Kind::Tool, &tool.name, &json!(tool), Some(&identity), 1);
        }
        catalog.tools = tools.iter().map(Listed::from).collect();
        ServerForModel {
            server: name.to_owned(),
            reviewed: Some(ServerReview::new(name, StdioConfig::default().into(), catalog, pins, Some(identity))),
            is_ready: true,
            instructions: None,
            roots: Vec::new(),
        }
    }

    fn on(server: &str, tools: Option<&[&str]>) -> OfferedServer {
        let tools = tools.map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect());
        OfferedServer { server: server.to_owned(), tools, instructions: None }
    }

    #[test]
    fn only_what_the_user_reviewed_and_turned_on_is_offered_always_in_the_same_order() {
        let files = server("files", &["write", "read", "delete", "new"], &["read", "write", "delete"]);
        let stopped = ServerForModel { is_ready: false, ..server("mail", &["send"], &["send"]) };
        let servers = [(on("files", Some(&["read", "write", "new"])), files), (on("mail", None), stopped)];
        let offering = Offering::new(&servers);
        let keys: Vec<_> = offering.offered().map(|tool| tool.key.as_str()).collect();
        assert_eq!(keys, ["files__read", "files__write"], "what was reviewed and is on, by name");
        let states: Vec<_> = offering.all().iter().map(|t| (t.tool.as_str(), t.state)).collect();
        let told = [
            ("delete", ToolState::Off),
            ("new", ToolState::New),
            ("read", ToolState::Offered),
            ("write", ToolState::Offered),
            ("", ToolState::NotReady),
        ];
        assert_eq!(states, told, "and of all others it is told why not");
        assert!(offering.tool("files__delete").is_none(), "a model can't reach what is off");
        assert_eq!(offering.tool("files__read").unwrap().tool, "read", "a name leads to its tool");
        assert!(offering.tokens > 0, "and what they take is estimated");
        assert!(offering.rests_on(&servers), "as long as nothing changes it need not be made again");
        let other = server("files", &["read"], &["read"]);
        assert!(!offering.rests_on(&[(on("files", None), other)]), "and else it is");
    }

    /// What a tool of a server as they are costs in context, and what the search costs instead; run with `--no-capture` to read
    /// the figures.
    #[test]
    fn the_search_takes_less_context_the_more_tools_there_are() {
        let context = Some(200_000);
        let mut saved = Vec::new();
        for count in [10, 100, 1_000] {
            let names: Vec<String> = (0..count).map(|n| format!("manage_resource_{n}")).collect();
            let tools: Vec<mcp::Tool> = names.iter().map(|name| ordinary(name)).collect();
            let many = server_of("many", &tools, |_| true);
            let offering = Offering::new(&[(on("many", None), many)]);
            assert_eq!(offering.offered().count(), count, "all can be offered");
            let threshold = domain::bounds::ChatBounds::default().threshold(context);
            let query = json!({"query": "manage resource 7"});
            let told = own_tools::search(&offering, &offering.index(), query.as_object().unwrap());
            let used = item::ToolUsed { reply: "r".into(), id: "u".into(), key: own_tools::SEARCH_TOOLS.into() };
            let body = item::ItemBody::OwnTool {
                used,
                arguments: query,
                text: told.text,
                found: told.found,
                is_error: told.is_error,
            };
            let searched = item::Item { id: "s".into(), parent: None, at: 1, state: item::ItemState::Whole, body };
            // What the model gets once it has searched: the most that it is sent.
            let sent = own_tools::sent(&offering, &[searched], threshold);
            assert_eq!(sent.len(), if count == 10 { 10 } else { 9 }, "all, or the search and the eight that it found");
            let sent: u64 = sent.iter().map(size).sum();
            println!("{count} tools: {} tokens all, {sent} sent, {} saved", offering.tokens, offering.tokens - sent);
            saved.push((offering.tokens - sent) * 100 / offering.tokens);
        }
        assert_eq!(saved[0], 0, "a few tools are all sent");
        assert!(saved[1] >= 80 && saved[2] >= 98, "of many, next to nothing is sent: {saved:?} percent are saved");
    }

    /// A tool with a description and a schema as those of servers that are in use.
    fn ordinary(name: &str) -> mcp::Tool {
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
                    "dry_run": { "type": "boolean", "description": "Whether only to tell what would happen", "default": false },
                },
                "required": ["id", "action"],
            }),
            ..mcp::Tool::default()
        }
    }

    #[test]
    fn tools_of_a_thousand_are_found_by_what_they_do() {
        let names: Vec<String> = (0..1_000).map(|n| format!("tool_{n}_{}", ["read", "send", "plan"][n % 3])).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let offering = Offering::new(&[(on("many", None), server("many", &names, &names))]);
        let found = offering.find(&offering.index(), "tool_512", 5);
        assert_eq!(found.first().map(|t| t.tool.as_str()), Some("tool_512_plan"), "the one that was asked for");
    }
}
