//! Parses `mcp.json`, and reports problems with their line number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonc_parser::ast::{Object, Value};
use mcp_proto::Revision;
use other_apps::entry::{
    AUTOSTART_KEY, DISABLED_TOOLS_KEY, ENABLED_TOOLS_KEY, EntryTransport, MCP_JSON_URL_KEYS as URLS,
    PROTOCOL_REVISION_KEY, command_text, entry_transport,
};
use other_apps::json_text::{JsonDialect, JsonText, present_property, value_type_name as kind_of};
use ports::server_config::{
    ConfigProblem, HttpConfig, HttpKind, ServerConfig, ServerEntry, ServerTransport, StdioConfig, ToolFilter,
    header_problem, server_url_problem,
};

/// Maximum length of a server name, in characters.
const MAX_SERVER_NAME_CHARS: usize = 64;

/// The servers that were parsed from the text of `mcp.json`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedServers {
    /// Servers that this version can use, in the order of the file.
    pub(crate) usable: Vec<ServerEntry>,
    /// Names of servers whose transport this version does not know. They are preserved in the file.
    pub(crate) unknown: Vec<String>,
}

impl ParsedServers {
    /// Returns the usable servers with `entry` added, or in place of the server of that name. A renamed server
    /// replaces the one with its `former_name`.
    pub(crate) fn with_entry(
        mut self,
        entry: &ServerEntry,
        former_name: Option<&str>,
    ) -> Result<Vec<ServerEntry>, String> {
        if self.unknown.contains(&entry.name) {
            return Err(format!(
                "the name {:?} belongs to a server in the file that Drawbridge can't use; choose another one",
                entry.name
            ));
        }
        let position = |name: &str| self.usable.iter().position(|other| other.name == name);
        let same = position(&entry.name);
        match former_name.and_then(position) {
            Some(index) if same.is_none_or(|other| other == index) => self.usable[index] = entry.clone(),
            Some(_) => return Err(format!("another server is called {:?}; choose another name", entry.name)),
            None => match same {
                Some(index) => self.usable[index] = entry.clone(),
                None => self.usable.push(entry.clone()),
            },
        }
        Ok(self.usable)
    }
}

/// Returns the reason why a server name is invalid, or `None` if it is valid.
pub(crate) fn server_name_problem(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        Some(String::from("a server's name must not be empty"))
    } else if name.chars().count() > MAX_SERVER_NAME_CHARS {
        Some(format!("the name {name:?} is longer than {MAX_SERVER_NAME_CHARS} characters"))
    } else if name.chars().any(char::is_control) {
        Some(format!("the name {name:?} has control characters"))
    } else {
        None
    }
}

/// Parses the servers in the text of a settings file.
pub(crate) fn parse_servers(text: &JsonText<'_>) -> Result<ParsedServers, ConfigProblem> {
    let Some(root) = text.parse(JsonDialect::Plain)? else { return Ok(ParsedServers::default()) };
    let Value::Object(root) = &root else {
        return Err(
            text.value_problem(&root, format!("expected an object with \"mcpServers\", found {}", kind_of(&root)))
        );
    };
    text.reject_duplicate_keys(root, "the file")?;
    let Some(property) = present_property(root, "mcpServers") else {
        if let Some(other) = root.properties.iter().find(|property| property.name.as_str() == "servers") {
            let message = "expected \"mcpServers\", found \"servers\": paste such a file into \"Add server\" instead";
            return Err(text.problem(other.range.start, message));
        }
        return Ok(ParsedServers::default());
    };
    let Value::Object(map) = &property.value else {
        let message = format!(
            "\"mcpServers\" must be an object with a server under each name, found {}",
            kind_of(&property.value)
        );
        return Err(text.value_problem(&property.value, message));
    };
    text.reject_duplicate_keys(map, "\"mcpServers\"")?;
    let mut servers = ParsedServers::default();
    for property in &map.properties {
        let name = property.name.as_str();
        if let Some(message) = server_name_problem(name) {
            return Err(text.problem(property.range.start, message));
        }
        let Value::Object(entry) = &property.value else {
            let message = format!(
                "server {name:?} must be an object with a \"command\" or a \"url\", found {}",
                kind_of(&property.value)
            );
            return Err(text.value_problem(&property.value, message));
        };
        text.reject_duplicate_keys(entry, &format!("server {name:?}"))?;
        let transport = match entry_transport(entry, &URLS) {
            EntryTransport::Stdio => ServerTransport::Stdio(read_stdio(text, name, entry)?),
            EntryTransport::Http(kind) => ServerTransport::Http(read_http(text, name, entry, kind)?),
            EntryTransport::Unknown => {
                servers.unknown.push(name.to_owned());
                continue;
            }
        };
        let (revision, tools) = (read_revision(text, name, entry)?, read_tool_filter(text, name, entry)?);
        let config = ServerConfig { transport, revision, tools, autostart: read_autostart(text, name, entry)? };
        servers.usable.push(ServerEntry { name: name.to_owned(), config });
    }
    Ok(servers)
}

/// Reads the only protocol revision that the user allows for the server, or returns `None` if the entry names none.
fn read_revision(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<Option<Revision>, ConfigProblem> {
    let Some(pin) = present_property(entry, PROTOCOL_REVISION_KEY) else { return Ok(None) };
    let words = command_text(text, &pin.value, &format!("{PROTOCOL_REVISION_KEY:?} of server {name:?}"), "a text")?;
    words.parse().map(Some).map_err(|error| text.value_problem(&pin.value, format!("server {name:?}: {error}")))
}

/// Reads whether the server starts with Drawbridge, which it does if the entry says nothing.
fn read_autostart(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<bool, ConfigProblem> {
    match present_property(entry, AUTOSTART_KEY).map(|property| &property.value) {
        None => Ok(true),
        Some(Value::BooleanLit(switch)) => Ok(switch.value),
        Some(other) => {
            let message =
                format!("{AUTOSTART_KEY:?} of server {name:?} must be true or false, found {}", kind_of(other));
            Err(text.value_problem(other, message))
        }
    }
}

/// Reads the allow list and deny list of tools that models may use.
fn read_tool_filter(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<ToolFilter, ConfigProblem> {
    let list = |key: &str| {
        let Some(list) = present_property(entry, key) else { return Ok(None) };
        let what = format!("{key:?} of server {name:?}");
        let Value::Array(names) = &list.value else {
            let message = format!("{what} must be a list of texts, found {}", kind_of(&list.value));
            return Err(text.value_problem(&list.value, message));
        };
        let names =
            names.elements.iter().map(|value| Ok(command_text(text, value, &what, "a list of texts")?.to_owned()));
        let names = names.collect::<Result<Vec<String>, ConfigProblem>>()?;
        let filter = ToolFilter { enabled: None, disabled: names };
        match filter.problem() {
            Some(problem) => Err(text.value_problem(&list.value, format!("{what}: {problem}"))),
            None => Ok(Some(filter.disabled)),
        }
    };
    Ok(ToolFilter { enabled: list(ENABLED_TOOLS_KEY)?, disabled: list(DISABLED_TOOLS_KEY)?.unwrap_or_default() })
}

fn read_http(
    text: &JsonText<'_>,
    name: &str,
    entry: &Object<'_>,
    kind: Option<HttpKind>,
) -> Result<HttpConfig, ConfigProblem> {
    let Some(url) = URLS.iter().find_map(|key| present_property(entry, key)) else {
        let message = format!("server {name:?} has no \"url\": where it is was expected");
        return Err(text.problem(entry.range.start, message));
    };
    let what = format!("{:?} of server {name:?}", url.name.as_str());
    let mut config =
        HttpConfig { url: command_text(text, &url.value, &what, "a text")?.to_owned(), kind, ..HttpConfig::default() };
    if let Some(problem) = server_url_problem(&config.url) {
        return Err(text.value_problem(&url.value, format!("server {name:?}: {problem}")));
    }
    config.auth = super::auth::read_auth(text, name, entry)?;
    let Some(headers) = present_property(entry, "headers") else { return Ok(config) };
    let what = format!("\"headers\" of server {name:?}");
    let Value::Object(map) = &headers.value else {
        let message = format!("{what} must be an object of texts, found {}", kind_of(&headers.value));
        return Err(text.value_problem(&headers.value, message));
    };
    text.reject_duplicate_keys(map, &what)?;
    for property in &map.properties {
        let header = property.name.as_str();
        let what = format!("the header {header:?} of server {name:?}");
        let value = command_text(text, &property.value, &what, "a text")?;
        if let Some(problem) = header_problem(header, value) {
            return Err(text.problem(property.range.start, format!("server {name:?}: {problem}")));
        }
        config.headers.insert(header.to_owned(), value.to_owned());
    }
    match config.problem() {
        Some(problem) => Err(text.value_problem(&headers.value, format!("server {name:?}: {problem}"))),
        None => Ok(config),
    }
}

fn read_stdio(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<StdioConfig, ConfigProblem> {
    let Some(command) = present_property(entry, "command") else {
        let message = format!("server {name:?} has no \"command\": the program to start was expected");
        return Err(text.problem(entry.range.start, message));
    };
    let what = |key: &str| format!("{key:?} of server {name:?}");
    let mut config = StdioConfig {
        command: command_text(text, &command.value, &what("command"), "a text")?.to_owned(),
        ..StdioConfig::default()
    };
    if config.command.trim().is_empty() {
        return Err(text.value_problem(&command.value, format!("{} must not be empty", what("command"))));
    }
    if let Some(args) = present_property(entry, "args") {
        let Value::Array(list) = &args.value else {
            let message = format!("{} must be a list of texts, found {}", what("args"), kind_of(&args.value));
            return Err(text.value_problem(&args.value, message));
        };
        for value in &list.elements {
            config.args.push(command_text(text, value, &what("args"), "a list of texts")?.to_owned());
        }
    }
    if let Some(env) = present_property(entry, "env") {
        let Value::Object(map) = &env.value else {
            let message = format!("{} must be an object of texts, found {}", what("env"), kind_of(&env.value));
            return Err(text.value_problem(&env.value, message));
        };
        text.reject_duplicate_keys(map, &what("env"))?;
        config.env = read_variables(text, name, map)?;
    }
    if let Some(cwd) = present_property(entry, "cwd") {
        let folder = command_text(text, &cwd.value, &what("cwd"), "a text")?;
        if folder.is_empty() {
            return Err(
                text.value_problem(&cwd.value, format!("{} must not be empty; leave it out instead", what("cwd")))
            );
        }
        config.cwd = Some(PathBuf::from(folder));
    }
    config.sandbox = super::sandbox::read_sandbox(text, name, entry)?;
    Ok(config)
}

fn read_variables(
    text: &JsonText<'_>,
    name: &str,
    map: &Object<'_>,
) -> Result<BTreeMap<String, String>, ConfigProblem> {
    let mut variables = BTreeMap::new();
    for property in &map.properties {
        let key = property.name.as_str();
        let what = format!("the variable {key:?} of server {name:?}");
        if key.is_empty() || key.contains(['=', '\0']) {
            let message = format!("{what} has an invalid name: it must not be empty or contain \"=\"");
            return Err(text.problem(property.range.start, message));
        }
        variables.insert(key.to_owned(), command_text(text, &property.value, &what, "a text")?.to_owned());
    }
    Ok(variables)
}
