//! What stands in `mcp.json`, with the line of every problem.

use std::collections::BTreeMap;
use std::path::PathBuf;

use host::server_config::{ConfigProblem, ServerConfig, ServerEntry};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;

use crate::json_text::{Dialect, JsonText, given, kind};

/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// The servers of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Servers {
    /// Those that can be used, in the file's order.
    pub(crate) local: Vec<ServerEntry>,
    /// The names of those that are reached by URL.
    pub(crate) remote: Vec<String>,
}

impl Servers {
    /// The local servers with one added or changed.
    pub(crate) fn with(mut self, entry: &ServerEntry, was: Option<&str>) -> Result<Vec<ServerEntry>, String> {
        if self.remote.contains(&entry.name) {
            return Err(format!(
                "the name {:?} belongs to a remote server in the file; choose another one",
                entry.name
            ));
        }
        let position = |name: &str| self.local.iter().position(|other| other.name == name);
        let same = position(&entry.name);
        match was.and_then(position) {
            Some(index) if same.is_none_or(|other| other == index) => self.local[index] = entry.clone(),
            Some(_) => return Err(format!("another server is called {:?}; choose another name", entry.name)),
            None => match same {
                Some(index) => self.local[index] = entry.clone(),
                None => self.local.push(entry.clone()),
            },
        }
        Ok(self.local)
    }
}

/// Why a name can't be used, if it can't.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        Some(String::from("a server's name must not be empty"))
    } else if name.chars().count() > MAX_NAME {
        Some(format!("the name {name:?} is longer than {MAX_NAME} characters"))
    } else if name.chars().any(char::is_control) {
        Some(format!("the name {name:?} has control characters"))
    } else {
        None
    }
}

/// Whether an entry is reached by URL and not started.
pub(crate) fn is_remote(entry: &Object<'_>) -> bool {
    let transport =
        entry.get_string("type").or_else(|| entry.get_string("transport")).map(|literal| literal.value.to_lowercase());
    match transport.as_deref() {
        Some("stdio" | "local") => false,
        Some(
            "http" | "sse" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote" | "ws" | "websocket",
        ) => true,
        _ => {
            given(entry, "command").is_none()
                && ["url", "serverUrl", "httpUrl"].iter().any(|key| given(entry, key).is_some())
        }
    }
}

/// Reads the servers of a file.
pub(crate) fn servers(text: &JsonText<'_>) -> Result<Servers, ConfigProblem> {
    let Some(root) = text.parse(Dialect::Plain)? else { return Ok(Servers::default()) };
    let Value::Object(root) = &root else {
        return Err(text.problem_at(&root, format!("expected an object with \"mcpServers\", found {}", kind(&root))));
    };
    text.no_duplicates(root, "the file")?;
    let Some(property) = given(root, "mcpServers") else {
        if let Some(other) = root.properties.iter().find(|property| property.name.as_str() == "servers") {
            let message = "expected \"mcpServers\", found \"servers\": paste such a file into \"Add server\" instead";
            return Err(text.problem(other.range.start, message));
        }
        return Ok(Servers::default());
    };
    let Value::Object(map) = &property.value else {
        let message =
            format!("\"mcpServers\" must be an object with a server under each name, found {}", kind(&property.value));
        return Err(text.problem_at(&property.value, message));
    };
    text.no_duplicates(map, "\"mcpServers\"")?;
    let mut servers = Servers::default();
    for property in &map.properties {
        let name = property.name.as_str();
        if let Some(message) = name_problem(name) {
            return Err(text.problem(property.range.start, message));
        }
        let Value::Object(entry) = &property.value else {
            let message =
                format!("server {name:?} must be an object with a \"command\", found {}", kind(&property.value));
            return Err(text.problem_at(&property.value, message));
        };
        text.no_duplicates(entry, &format!("server {name:?}"))?;
        if is_remote(entry) {
            servers.remote.push(name.to_owned());
        } else {
            servers.local.push(ServerEntry { name: name.to_owned(), config: config(text, name, entry)? });
        }
    }
    Ok(servers)
}

fn config(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<ServerConfig, ConfigProblem> {
    let Some(command) = given(entry, "command") else {
        let message = format!("server {name:?} has no \"command\": the program to start was expected");
        return Err(text.problem(entry.range.start, message));
    };
    let what = |key: &str| format!("{key:?} of server {name:?}");
    let mut config = ServerConfig {
        command: words(text, &command.value, &what("command"), "a text")?.to_owned(),
        ..ServerConfig::default()
    };
    if config.command.trim().is_empty() {
        return Err(text.problem_at(&command.value, format!("{} must not be empty", what("command"))));
    }
    if let Some(args) = given(entry, "args") {
        let Value::Array(list) = &args.value else {
            let message = format!("{} must be a list of texts, found {}", what("args"), kind(&args.value));
            return Err(text.problem_at(&args.value, message));
        };
        for value in &list.elements {
            config.args.push(words(text, value, &what("args"), "a list of texts")?.to_owned());
        }
    }
    if let Some(env) = given(entry, "env") {
        let Value::Object(map) = &env.value else {
            let message = format!("{} must be an object of texts, found {}", what("env"), kind(&env.value));
            return Err(text.problem_at(&env.value, message));
        };
        text.no_duplicates(map, &what("env"))?;
        config.env = variables(text, name, map)?;
    }
    if let Some(cwd) = given(entry, "cwd") {
        let folder = words(text, &cwd.value, &what("cwd"), "a text")?;
        if folder.is_empty() {
            return Err(text.problem_at(&cwd.value, format!("{} must not be empty; leave it out instead", what("cwd"))));
        }
        config.cwd = Some(PathBuf::from(folder));
    }
    Ok(config)
}

fn variables(text: &JsonText<'_>, name: &str, map: &Object<'_>) -> Result<BTreeMap<String, String>, ConfigProblem> {
    let mut variables = BTreeMap::new();
    for property in &map.properties {
        let key = property.name.as_str();
        let what = format!("the variable {key:?} of server {name:?}");
        if key.is_empty() || key.contains(['=', '\0']) {
            let message = format!("{what} has a name that no system takes: it must not be empty and have no \"=\"");
            return Err(text.problem(property.range.start, message));
        }
        variables.insert(key.to_owned(), words(text, &property.value, &what, "a text")?.to_owned());
    }
    Ok(variables)
}

/// A text that can be given to a program.
fn words<'v>(text: &JsonText<'_>, value: &'v Value<'_>, what: &str, expected: &str) -> Result<&'v str, ConfigProblem> {
    match value {
        Value::StringLit(literal) if literal.value.contains('\0') => {
            Err(text.problem(literal.range.start, format!("{what} has a NUL character, which no program takes")))
        }
        Value::StringLit(literal) => Ok(&literal.value),
        Value::NumberLit(literal) => {
            let message = format!("{what} must be {expected}, found a number; write \"{}\"", literal.value);
            Err(text.problem_at(value, message))
        }
        other => Err(text.problem(other.range().start, format!("{what} must be {expected}, found {}", kind(other)))),
    }
}
