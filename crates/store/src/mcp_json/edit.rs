//! Edits the text of `mcp.json` and preserves its order, indentation and unknown keys.
//!
//! [`put_server`] and [`remove_server`] expect a text that was parsed without a problem.

use std::collections::BTreeMap;

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode, ObjectPropName};
use other_apps::entry::{
    AUTOSTART_KEY, DISABLED_TOOLS_KEY, ENABLED_TOOLS_KEY, MCP_JSON_URL_KEYS as URLS, PROTOCOL_REVISION_KEY,
    parse_http_kind,
};
use other_apps::json_text::JsonDialect;
use ports::server_config::{HttpConfig, ServerConfig, ServerEntry, ServerTransport, StdioConfig};

use super::{auth, sandbox};

/// Updates, in the text of `mcp.json`, the entry of the server named `former_name`, or else of the one with the name of
/// `entry`. If neither exists, an entry is added at the end. Returns the new text.
pub(crate) fn put_server(text: &str, entry: &ServerEntry, former_name: Option<&str>) -> Result<String, String> {
    let root = parse_settings(text)?;
    let servers = root.object_value_or_set().object_value_or_set("mcpServers");
    match former_name.and_then(|name| find_member(&servers, name)).or_else(|| find_member(&servers, &entry.name)) {
        Some(property) => {
            rename_member(&property, &entry.name);
            update_server_entry(&property.object_value_or_set(), &entry.config)?;
        }
        None => {
            servers.append(&entry.name, new_server_entry(&entry.config)?);
        }
    }
    Ok(root.to_string())
}

/// Removes a server from the text of `mcp.json`. Returns the text unchanged if the server does not exist.
pub(crate) fn remove_server(text: &str, name: &str) -> Result<String, String> {
    let root = parse_settings(text)?;
    let servers = root.object_value().and_then(|root| root.object_value("mcpServers"));
    if let Some(property) = servers.and_then(|servers| find_member(&servers, name)) {
        property.remove();
    }
    Ok(root.to_string())
}

fn parse_settings(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &JsonDialect::Plain.options()).map_err(|error| error.to_string())
}

pub(super) fn find_member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().find(|property| property.decoded_name().as_deref() == Some(name))
}

fn rename_member(property: &CstObjectProp, name: &str) {
    if property.decoded_name().as_deref() == Some(name) {
        return;
    }
    if let Some(ObjectPropName::String(literal)) = property.name() {
        literal.set_raw_value(serde_json::Value::from(name).to_string());
    }
}

fn working_directory(config: &StdioConfig) -> Result<Option<&str>, String> {
    match &config.cwd {
        None => Ok(None),
        Some(path) => match path.to_str() {
            Some(text) => Ok(Some(text)),
            None => Err(format!("the folder {} is not Unicode text", path.display())),
        },
    }
}

pub(super) fn text_array(values: &[String]) -> CstInputValue {
    CstInputValue::Array(values.iter().map(|value| value.as_str().into()).collect())
}

fn variable_object(env: &BTreeMap<String, String>) -> CstInputValue {
    CstInputValue::Object(env.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect())
}

fn new_server_entry(config: &ServerConfig) -> Result<CstInputValue, String> {
    let mut properties: Vec<(String, CstInputValue)> = Vec::new();
    let mut add = |name: &str, value: CstInputValue| properties.push((name.to_owned(), value));
    match &config.transport {
        ServerTransport::Stdio(config) => {
            add("command", config.command.as_str().into());
            if !config.args.is_empty() {
                add("args", text_array(&config.args));
            }
            if !config.env.is_empty() {
                add("env", variable_object(&config.env));
            }
            if let Some(folder) = working_directory(config)? {
                add("cwd", folder.into());
            }
            if let Some(sandbox) = &config.sandbox {
                add(sandbox::SANDBOX_KEY, sandbox::sandbox_object(sandbox)?);
            }
        }
        ServerTransport::Http(config) => {
            if let Some(kind) = config.kind {
                add("type", kind.name().into());
            }
            add("url", config.url.as_str().into());
            if !config.headers.is_empty() {
                add("headers", variable_object(&config.headers));
            }
            if let Some(auth) = &config.auth {
                add(auth::AUTH_KEY, auth::auth_object(auth));
            }
        }
    }
    if let Some(revision) = config.revision {
        add(PROTOCOL_REVISION_KEY, revision.as_str().into());
    }
    if let Some(enabled) = &config.tools.enabled {
        add(ENABLED_TOOLS_KEY, text_array(enabled));
    }
    if !config.tools.disabled.is_empty() {
        add(DISABLED_TOOLS_KEY, text_array(&config.tools.disabled));
    }
    if !config.autostart {
        add(AUTOSTART_KEY, false.into());
    }
    Ok(CstInputValue::Object(properties))
}

fn update_server_entry(entry: &CstObject, config: &ServerConfig) -> Result<(), String> {
    match &config.transport {
        ServerTransport::Stdio(config) => {
            if !matches!(string_member(entry, "type").as_deref(), Some("stdio" | "local")) {
                remove_members(entry, &["type", "transport"]);
            }
            remove_members(entry, &[URLS.as_slice(), &["headers", auth::AUTH_KEY]].concat());
            update_stdio_entry(entry, config)?;
        }
        ServerTransport::Http(config) => {
            remove_members(entry, &["command", "args", "env", "cwd", sandbox::SANDBOX_KEY]);
            update_http_entry(entry, config);
        }
    }
    match config.revision {
        Some(revision) => set_string_member(entry, PROTOCOL_REVISION_KEY, revision.as_str()),
        None => remove_members(entry, &[PROTOCOL_REVISION_KEY]),
    }
    update_tool_list(entry, ENABLED_TOOLS_KEY, config.tools.enabled.as_deref());
    // An empty list means the same as no list, and is left as written.
    let is_written = find_member(entry, DISABLED_TOOLS_KEY).is_some_and(|property| property.array_value().is_some());
    let disabled = Some(config.tools.disabled.as_slice()).filter(|list| !list.is_empty() || is_written);
    update_tool_list(entry, DISABLED_TOOLS_KEY, disabled);
    update_autostart(entry, config.autostart);
    Ok(())
}

fn update_autostart(entry: &CstObject, requested: bool) {
    match find_member(entry, AUTOSTART_KEY) {
        // A written `true` means the same as no setting, and is left as it is.
        Some(property) => {
            let written = property.value().and_then(|value| value.as_boolean_lit()).map(|literal| literal.value());
            if written.unwrap_or(true) != requested {
                property.set_value(requested.into());
            }
        }
        None if requested => {}
        None => {
            entry.append(AUTOSTART_KEY, false.into());
        }
    }
}

fn update_tool_list(entry: &CstObject, name: &str, requested: Option<&[String]>) {
    match (requested, find_member(entry, name)) {
        (Some(names), Some(property)) => match property.array_value() {
            Some(list) => update_string_list(&list, names),
            None => property.set_value(text_array(names)),
        },
        (Some(names), None) => {
            entry.append(name, text_array(names));
        }
        (None, Some(property)) => property.remove(),
        (None, None) => {}
    }
}

pub(super) fn remove_members(entry: &CstObject, names: &[&str]) {
    for name in names {
        if let Some(property) = find_member(entry, name) {
            property.remove();
        }
    }
}

fn string_member(entry: &CstObject, name: &str) -> Option<String> {
    find_member(entry, name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn update_http_entry(entry: &CstObject, config: &HttpConfig) {
    // A transport has several names. The name in the file is preserved if its meaning is the same.
    let named = parse_http_kind(string_member(entry, "type").or_else(|| string_member(entry, "transport")).as_deref());
    if named != Some(config.kind) {
        remove_members(entry, &["type", "transport"]);
        if let Some(kind) = config.kind {
            entry.append("type", kind.name().into());
        }
    }
    let key = URLS.into_iter().find(|key| find_member(entry, key).is_some()).unwrap_or("url");
    set_string_member(entry, key, &config.url);
    update_string_map(entry, "headers", &config.headers);
    auth::update_auth(entry, config.auth.as_ref());
}

fn update_string_map(entry: &CstObject, name: &str, requested: &BTreeMap<String, String>) {
    match find_member(entry, name) {
        Some(property) => match property.object_value() {
            Some(map) => update_variables(&map, requested),
            None => property.set_value(variable_object(requested)),
        },
        None if requested.is_empty() => {}
        None => {
            entry.append(name, variable_object(requested));
        }
    }
}

fn update_stdio_entry(entry: &CstObject, config: &StdioConfig) -> Result<(), String> {
    set_string_member(entry, "command", &config.command);
    match find_member(entry, "args") {
        Some(property) => match property.array_value() {
            Some(list) => update_string_list(&list, &config.args),
            None => property.set_value(text_array(&config.args)),
        },
        None if config.args.is_empty() => {}
        None => {
            entry.append("args", text_array(&config.args));
        }
    }
    update_string_map(entry, "env", &config.env);
    match (working_directory(config)?, find_member(entry, "cwd")) {
        (Some(folder), _) => set_string_member(entry, "cwd", folder),
        (None, Some(property)) => property.remove(),
        (None, None) => {}
    }
    sandbox::update_sandbox(entry, config.sandbox.as_ref())
}

/// Sets a string member of a JSON object, and leaves the member as written if it already has this value.
pub(super) fn set_string_member(object: &CstObject, name: &str, value: &str) {
    match find_member(object, name) {
        Some(property) => {
            let now = property
                .value()
                .and_then(|value| value.as_string_lit())
                .and_then(|literal| literal.decoded_value().ok());
            if now.as_deref() != Some(value) {
                property.set_value(value.into());
            }
        }
        None => {
            object.append(name, value.into());
        }
    }
}

/// Sets the items of a JSON array, and leaves equal items as written, so that an array over several lines keeps its
/// layout.
pub(super) fn update_string_list(list: &CstArray, values: &[String]) {
    for (index, element) in list.elements().into_iter().enumerate() {
        let now = element.as_string_lit().and_then(|literal| literal.decoded_value().ok());
        match (values.get(index), element.as_string_lit()) {
            (None, _) => element.remove(),
            (Some(value), Some(literal)) if now.as_ref() != Some(value) => {
                literal.set_raw_value(serde_json::Value::from(value.as_str()).to_string());
            }
            _ => {}
        }
    }
    for value in values.iter().skip(list.elements().len()) {
        list.append(value.as_str().into());
    }
}

fn update_variables(map: &CstObject, env: &BTreeMap<String, String>) {
    for property in map.properties() {
        if !property.decoded_name().is_some_and(|name| env.contains_key(&name)) {
            property.remove();
        }
    }
    for (name, value) in env {
        set_string_member(map, name, value);
    }
}
