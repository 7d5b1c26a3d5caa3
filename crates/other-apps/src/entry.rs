//! Parses servers in JSON, in the format of any program, leniently. TOML and YAML are converted to the same tree
//! ([`crate::toml_text`], [`crate::yaml_text`]), so that one parser supports all formats.

pub mod auth;
mod entry_details;
mod entry_reader;
pub mod sandbox;
mod sign_in;
mod transport_keys;

use jsonc_parser::ast::{Array, Object, Value};
use ports::server_config::{ConfigProblem, HttpConfig, ImportNoteKind};

use crate::json_text::{JsonDialect, JsonText, present_property, value_type_name};
use crate::notes::{omitted_setting_note, quoted_text};
use crate::server_candidate::ServerCandidate;
use entry_reader::EntryReader;
pub use transport_keys::{
    AUTOSTART_KEY, DISABLED_TOOLS_KEY, ENABLED_TOOLS_KEY, EntryTransport, MCP_JSON_URL_KEYS, PROTOCOL_REVISION_KEY,
    command_text, entry_transport, parse_http_kind,
};
pub(crate) use transport_keys::{COMMAND_KEYS, URL_KEYS};

/// Keys of the objects that contain servers, of these apps in this order: most apps, VS Code, Zed, OpenCode, Codex, and
/// goose.
pub(crate) const SERVER_MAP_KEYS: [&str; 6] =
    ["mcpServers", "servers", "context_servers", "mcp", "mcp_servers", "extensions"];

/// Values of `type` in goose's settings that mark an extension as built into goose, and therefore not an MCP server.
const GOOSE_BUILT_IN_TYPES: [&str; 4] = ["builtin", "platform", "inline_python", "frontend"];

/// Parses all servers in JSON text that has the format of any app.
pub(crate) fn parse_candidates(text: &JsonText<'_>) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    let Some(root) = text.parse(JsonDialect::WithComments)? else { return Ok(Vec::new()) };
    parse_server_tree(text, &root)
}

/// Parses all servers in a tree of values, which was parsed from `text` or converted from TOML or YAML.
pub(crate) fn parse_server_tree(text: &JsonText<'_>, root: &Value<'_>) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    match root {
        Value::Object(object) => parse_server_object(text, object),
        Value::Array(list) => parse_server_list(text, list),
        other => Err(text
            .value_problem(other, format!("expected an object with \"mcpServers\", found {}", value_type_name(other)))),
    }
}

fn parse_server_object(text: &JsonText<'_>, object: &Object<'_>) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    if is_server_entry(object) {
        let name = object.get_string("name").map(|name| name.value.clone().into_owned());
        return Ok(vec![parse_entry(text, name, object, object)?]);
    }
    let map = object.properties.iter().find(|property| {
        let name = property.name.as_str();
        SERVER_MAP_KEYS.contains(&name) || name.ends_with(".mcpServers") || name.ends_with(".servers")
    });
    match map.map(|property| &property.value) {
        // VS Code's general settings contain the servers one level deeper, under "mcp".
        Some(Value::Object(inner))
            if SERVER_MAP_KEYS.iter().any(|key| inner.get_object(key).is_some_and(is_server_map)) =>
        {
            parse_server_object(text, inner)
        }
        Some(Value::Object(map)) => parse_server_map(text, map, object),
        Some(Value::Array(list)) => parse_server_list(text, list),
        Some(other) => {
            let message = format!("expected an object with a server under each name, found {}", value_type_name(other));
            Err(text.value_problem(other, message))
        }
        None if is_server_map(object) => parse_server_map(text, object, object),
        None => {
            let keys: Vec<String> =
                object.properties.iter().take(5).map(|property| quoted_text(property.name.as_str())).collect();
            let found = if keys.is_empty() { String::from("nothing") } else { keys.join(", ") };
            let message =
                format!("expected \"mcpServers\", a server's name, or \"command\" in this object, found {found}");
            Err(text.problem(object.range.start, message))
        }
    }
}

/// Returns `true` if an object is probably the entry of a server, because it contains a command or a URL.
pub(crate) fn is_server_entry(object: &Object<'_>) -> bool {
    let text_or_list = |key: &str| present_property(object, key).is_some_and(|p| !matches!(p.value, Value::Object(_)));
    COMMAND_KEYS.iter().any(|key| text_or_list(key)) || URL_KEYS.iter().any(|key| object.get_string(key).is_some())
}

/// Returns `true` if an object probably contains servers by name, because at least one of its values is a server entry.
pub(crate) fn is_server_map(object: &Object<'_>) -> bool {
    let server = |value: &Value<'_>| {
        value.as_object().is_some_and(|entry| {
            is_server_entry(entry)
                || entry.get_object("command").is_some()
                || entry.get_object("config").is_some_and(is_server_entry)
        })
    };
    object.properties.iter().any(|property| server(&property.value))
}

fn parse_server_map(
    text: &JsonText<'_>,
    map: &Object<'_>,
    root: &Object<'_>,
) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    text.reject_duplicate_keys(map, "this object")?;
    let mut candidates = Vec::new();
    for property in &map.properties {
        let name = property.name.as_str();
        let Value::Object(object) = &property.value else {
            let message = format!(
                "server {} must be an object with a \"command\", found {}",
                quoted_text(name),
                value_type_name(&property.value)
            );
            return Err(text.value_problem(&property.value, message));
        };
        candidates.push(parse_entry(text, Some(name.to_owned()), object, root)?);
    }
    if candidates.is_empty() {
        return Err(text.problem(map.range.start, "there is no server in this object: expected a name with an object"));
    }
    Ok(candidates)
}

fn parse_server_list(text: &JsonText<'_>, list: &Array<'_>) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    let mut candidates = Vec::new();
    for value in &list.elements {
        let Value::Object(object) = value else {
            return Err(text.value_problem(
                value,
                format!("expected an object with a \"command\", found {}", value_type_name(value)),
            ));
        };
        candidates.extend(parse_server_object(text, object)?);
    }
    Ok(candidates)
}

/// Parses the entry of a server. `parent` is the object that contains the list of servers, and may contain VS Code's
/// `inputs`.
pub(crate) fn parse_entry(
    text: &JsonText<'_>,
    name: Option<String>,
    object: &Object<'_>,
    parent: &Object<'_>,
) -> Result<ServerCandidate, ConfigProblem> {
    let mut found = ServerCandidate { name, ..ServerCandidate::default() };
    // In older versions of goose, everything except the name and the switch is in a nested object.
    if !is_server_entry(object)
        && let Some(inner) = object.get_object("config")
    {
        entry_details::read_disabled_setting(&mut found, object);
        return fill_candidate(text, found, inner, parent);
    }
    fill_candidate(text, found, object, parent)
}

fn fill_candidate(
    text: &JsonText<'_>,
    mut found: ServerCandidate,
    object: &Object<'_>,
    parent: &Object<'_>,
) -> Result<ServerCandidate, ConfigProblem> {
    entry_details::read_disabled_setting(&mut found, object);
    found.extras.lacks_transport = !["type", "transport"].iter().any(|key| present_property(object, key).is_some());
    if let Some(pin) = present_property(object, PROTOCOL_REVISION_KEY) {
        let words = EntryReader { text, found: &mut found }.read_text(&pin.value, PROTOCOL_REVISION_KEY)?;
        match words.parse() {
            Ok(revision) => found.revision = Some(revision),
            Err(error) => found.notes.push(omitted_setting_note(PROTOCOL_REVISION_KEY, &error.to_string())),
        }
    }
    if let Some(kind) = object.get_string("type").filter(|kind| GOOSE_BUILT_IN_TYPES.contains(&&*kind.value)) {
        found.has_unsupported_transport = true;
        found.notes.add(ImportNoteKind::Reason, format!("it is a part of its app ({:?}), and no server", kind.value));
        return Ok(found);
    }
    match entry_transport(object, &URL_KEYS) {
        EntryTransport::Stdio => {}
        EntryTransport::Http(kind) => {
            let mut reader = EntryReader { text, found: &mut found };
            let mut config = reader.read_http(object)?;
            config.kind = kind;
            found.remote = Some(config);
            entry_details::read_details(&mut found, object, parent);
            return Ok(found);
        }
        EntryTransport::Unknown => {
            found.has_unsupported_transport = true;
            // The URL is stored so that it can be displayed.
            if let Some(url) = URL_KEYS.iter().find_map(|key| object.get_string(key)) {
                found.remote = Some(HttpConfig { url: url.value.to_string(), ..HttpConfig::default() });
            }
            found
                .notes
                .add(ImportNoteKind::Reason, "its transport is unknown; Drawbridge supports stdio, http and sse");
            return Ok(found);
        }
    }
    let Some(command) = COMMAND_KEYS.iter().find_map(|key| present_property(object, key)) else {
        let whose = found.name.as_deref().map(|name| format!("server {} ", quoted_text(name))).unwrap_or_default();
        let message = format!("{whose}has no \"command\": the program to start was expected");
        return Err(text.problem(object.range.start, message));
    };
    let mut reader = EntryReader { text, found: &mut found };
    match &command.value {
        // In OpenCode, the program and its arguments are one list.
        Value::Array(list) => {
            let mut words = reader.read_texts(list, "command")?.into_iter();
            reader.found.config.command = words.next().unwrap_or_default();
            reader.found.config.args.extend(words);
        }
        // In older versions of Zed, the program and its arguments are in a nested object.
        Value::Object(inner) => {
            let program = present_property(inner, "path").or_else(|| present_property(inner, "command"));
            if let Some(program) = program {
                reader.found.config.command = reader.read_text(&program.value, "command")?;
            }
            reader.read_local(inner)?;
        }
        value => reader.found.config.command = reader.read_text(value, "command")?,
    }
    reader.read_local(object)?;
    if found.config.command.trim().is_empty() {
        return Err(
            text.value_problem(&command.value, "\"command\" must not be empty: the program to start was expected")
        );
    }
    split_command(&mut found);
    entry_details::read_details(&mut found, object, parent);
    Ok(found)
}

/// Splits a command that contains both a program and its arguments in one string. Does not split a command that has
/// separate arguments, or whose program is a path.
fn split_command(found: &mut ServerCandidate) {
    let config = &mut found.config;
    let Some((program, _)) = config.command.trim().split_once(' ') else { return };
    if !config.args.is_empty() || program.contains('/') || config.command.contains('\\') {
        return;
    }
    if let Ok(words) = shell_words::split(&config.command) {
        let mut words = words.into_iter();
        config.command = words.next().unwrap_or_default();
        config.args = words.collect();
        let note = "\"command\" contained the arguments; it was split at the spaces";
        found.notes.add(ImportNoteKind::CommandSplit, note);
    }
}
