//! Servers in JSON: the shapes that programs use for their settings, read leniently.

use std::path::PathBuf;

use jsonc_parser::ast::{Array, Object, Value};
use ports::server_config::{ConfigProblem, HttpConfig};

use super::Candidate;
use super::notes::quoted;
use crate::json_text::{Dialect, JsonText, given, kind};
use crate::mcp_json::{PIN, Reached, URLS, auth, reached, sandbox};

/// Where programs keep their servers: most of them, VS Code, Zed, and OpenCode.
const MAPS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp"];

/// Keys that say how an entry is reached, or nothing to be told of.
const SILENT: [&str; 16] = [
    "name",
    "type",
    "transport",
    "command",
    "args",
    "env",
    "environment",
    "cwd",
    "description",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    auth::KEY,
    sandbox::KEY,
    PIN,
];

/// Reads every server in the text.
pub(super) fn candidates(text: &JsonText<'_>) -> Result<Vec<Candidate>, ConfigProblem> {
    let Some(root) = text.parse(Dialect::WithComments)? else { return Ok(Vec::new()) };
    match &root {
        Value::Object(object) => in_object(text, object),
        Value::Array(list) => in_list(text, list),
        other => Err(text.problem_at(other, format!("expected an object with \"mcpServers\", found {}", kind(other)))),
    }
}

fn in_object(text: &JsonText<'_>, object: &Object<'_>) -> Result<Vec<Candidate>, ConfigProblem> {
    if is_entry(object) {
        let name = object.get_string("name").map(|name| name.value.clone().into_owned());
        return Ok(vec![entry(text, name, object, object)?]);
    }
    let map = object.properties.iter().find(|property| {
        let name = property.name.as_str();
        MAPS.contains(&name) || name.ends_with(".mcpServers") || name.ends_with(".servers")
    });
    match map.map(|property| &property.value) {
        // VS Code's settings have the servers one level deeper, under "mcp".
        Some(Value::Object(inner)) if MAPS.iter().any(|key| inner.get_object(key).is_some_and(is_map)) => {
            in_object(text, inner)
        }
        Some(Value::Object(map)) => in_map(text, map, object),
        Some(Value::Array(list)) => in_list(text, list),
        Some(other) => {
            let message = format!("expected an object with a server under each name, found {}", kind(other));
            Err(text.problem_at(other, message))
        }
        None if is_map(object) => in_map(text, object, object),
        None => {
            let keys: Vec<String> =
                object.properties.iter().take(5).map(|property| quoted(property.name.as_str())).collect();
            let found = if keys.is_empty() { String::from("nothing") } else { keys.join(", ") };
            let message =
                format!("expected \"mcpServers\", a server's name, or \"command\" in this object, found {found}");
            Err(text.problem(object.range.start, message))
        }
    }
}

/// Whether an object is a server itself.
fn is_entry(object: &Object<'_>) -> bool {
    let text_or_list = |key| given(object, key).is_some_and(|p| !matches!(p.value, Value::Object(_)));
    text_or_list("command") || URLS.iter().any(|key| object.get_string(key).is_some())
}

/// Whether an object has servers under names.
fn is_map(object: &Object<'_>) -> bool {
    let server = |value: &Value<'_>| {
        value.as_object().is_some_and(|entry| is_entry(entry) || entry.get_object("command").is_some())
    };
    object.properties.iter().any(|property| server(&property.value))
}

fn in_map(text: &JsonText<'_>, map: &Object<'_>, root: &Object<'_>) -> Result<Vec<Candidate>, ConfigProblem> {
    text.no_duplicates(map, "this object")?;
    let mut candidates = Vec::new();
    for property in &map.properties {
        let name = property.name.as_str();
        let Value::Object(object) = &property.value else {
            let message = format!(
                "server {} must be an object with a \"command\", found {}",
                quoted(name),
                kind(&property.value)
            );
            return Err(text.problem_at(&property.value, message));
        };
        candidates.push(entry(text, Some(name.to_owned()), object, root)?);
    }
    if candidates.is_empty() {
        return Err(text.problem(map.range.start, "there is no server in this object: expected a name with an object"));
    }
    Ok(candidates)
}

fn in_list(text: &JsonText<'_>, list: &Array<'_>) -> Result<Vec<Candidate>, ConfigProblem> {
    let mut candidates = Vec::new();
    for value in &list.elements {
        let Value::Object(object) = value else {
            return Err(text.problem_at(value, format!("expected an object with a \"command\", found {}", kind(value))));
        };
        candidates.extend(in_object(text, object)?);
    }
    Ok(candidates)
}

fn entry(
    text: &JsonText<'_>,
    name: Option<String>,
    object: &Object<'_>,
    root: &Object<'_>,
) -> Result<Candidate, ConfigProblem> {
    let mut found = Candidate { name, ..Candidate::default() };
    if let Some(pin) = given(object, PIN) {
        let words = Reader { text, found: &mut found }.one(&pin.value, PIN)?;
        match words.parse() {
            Ok(revision) => found.revision = Some(revision),
            Err(error) => found.notes.push(format!("{PIN:?} is left out: {error}")),
        }
    }
    match reached(object) {
        Reached::Stdio => {}
        Reached::Http(kind) => {
            let mut reader = Reader { text, found: &mut found };
            let mut config = reader.http(object)?;
            config.kind = kind;
            found.remote = Some(config);
            note_inputs(&mut found, root);
            note_unused(&mut found, object);
            return Ok(found);
        }
        Reached::Unknown => {
            found.unknown = true;
            found.notes.push(String::from("its transport is not known here; Drawbridge speaks stdio, http and sse"));
            return Ok(found);
        }
    }
    let Some(command) = given(object, "command") else {
        let whose = found.name.as_deref().map(|name| format!("server {} ", quoted(name))).unwrap_or_default();
        let message = format!("{whose}has no \"command\": the program to start was expected");
        return Err(text.problem(object.range.start, message));
    };
    let mut reader = Reader { text, found: &mut found };
    match &command.value {
        // OpenCode: program and arguments in one list.
        Value::Array(list) => {
            let mut words = reader.texts(list, "command")?.into_iter();
            reader.found.config.command = words.next().unwrap_or_default();
            reader.found.config.args.extend(words);
        }
        // Zed, formerly: all about the program in one object.
        Value::Object(inner) => {
            let program = given(inner, "path").or_else(|| given(inner, "command"));
            if let Some(program) = program {
                reader.found.config.command = reader.one(&program.value, "command")?;
            }
            reader.rest(inner)?;
        }
        value => reader.found.config.command = reader.one(value, "command")?,
    }
    reader.rest(object)?;
    if found.config.command.trim().is_empty() {
        return Err(text.problem_at(&command.value, "\"command\" must not be empty: the program to start was expected"));
    }
    split_command(&mut found);
    note_inputs(&mut found, root);
    note_unused(&mut found, object);
    Ok(found)
}

/// Reads the parts of an entry into a candidate.
struct Reader<'r, 't> {
    text: &'r JsonText<'t>,
    found: &'r mut Candidate,
}

impl Reader<'_, '_> {
    fn rest(&mut self, object: &Object<'_>) -> Result<(), ConfigProblem> {
        if let Some(args) = given(object, "args") {
            let Value::Array(list) = &args.value else {
                return Err(self.wrong(&args.value, "args", "a list of texts"));
            };
            let args = self.texts(list, "args")?;
            self.found.config.args.extend(args);
        }
        for key in ["env", "environment"] {
            let Some(env) = given(object, key) else { continue };
            let Value::Object(map) = &env.value else {
                return Err(self.wrong(&env.value, key, "an object of texts"));
            };
            for property in &map.properties {
                let name = property.name.as_str();
                if name.is_empty() || name.contains(['=', '\0']) {
                    let message = format!(
                        "{} is not a name for a variable: it must not be empty and have no \"=\"",
                        quoted(name)
                    );
                    return Err(self.text.problem(property.range.start, message));
                }
                let value = match &property.value {
                    Value::NullKeyword(_) => String::new(),
                    value => self.one(value, name)?,
                };
                self.found.config.env.insert(name.to_owned(), value);
            }
        }
        if let Some(cwd) = given(object, "cwd") {
            let folder = self.one(&cwd.value, "cwd")?;
            self.found.config.cwd = Some(folder).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        }
        // Other programs may have something else under this key.
        match sandbox::parse(self.text, &quoted(sandbox::KEY), object) {
            Ok(None) => {}
            Ok(sandbox) => self.found.config.sandbox = sandbox,
            Err(problem) => self.found.notes.push(format!("{:?} is left out: {}", sandbox::KEY, problem.message)),
        }
        Ok(())
    }

    fn http(&mut self, object: &Object<'_>) -> Result<HttpConfig, ConfigProblem> {
        let mut config = HttpConfig::default();
        if let Some(url) = URLS.iter().find_map(|key| given(object, key)) {
            config.url = self.one(&url.value, url.name.as_str())?;
        }
        if let Some(headers) = given(object, "headers") {
            let Value::Object(map) = &headers.value else {
                return Err(self.wrong(&headers.value, "headers", "an object of texts"));
            };
            for property in &map.properties {
                let name = property.name.as_str();
                let value = self.one(&property.value, name)?;
                config.headers.insert(name.to_owned(), value);
            }
        }
        // Other programs may have something else under this key.
        match auth::parse(self.text, &quoted(auth::KEY), object) {
            Ok(auth) => config.auth = auth,
            Err(problem) => self.found.notes.push(format!("{:?} is left out: {}", auth::KEY, problem.message)),
        }
        Ok(config)
    }

    fn texts(&mut self, list: &Array<'_>, key: &str) -> Result<Vec<String>, ConfigProblem> {
        list.elements.iter().map(|value| self.one(value, key)).collect()
    }

    /// A text; numbers and truth values, which people write without quotes, are taken as they stand.
    fn one(&mut self, value: &Value<'_>, key: &str) -> Result<String, ConfigProblem> {
        let (text, plain) = match value {
            Value::StringLit(literal) => (literal.value.clone().into_owned(), false),
            Value::NumberLit(literal) => (literal.value.to_owned(), true),
            Value::BooleanLit(literal) => (literal.value.to_string(), true),
            other => return Err(self.wrong(other, key, "a text")),
        };
        if text.contains('\0') {
            let message = format!("{} has a NUL character, which no program takes", quoted(key));
            return Err(self.text.problem_at(value, message));
        }
        if plain {
            self.found.notes.push(format!("{} has {} without quotes; it is taken as a text", quoted(key), text));
        }
        Ok(text)
    }

    fn wrong(&self, value: &Value<'_>, key: &str, expected: &str) -> ConfigProblem {
        let whose = self.found.name.as_deref().map(|name| format!(" of server {}", quoted(name))).unwrap_or_default();
        let message = format!("{}{whose} must be {expected}, found {}", quoted(key), kind(value));
        self.text.problem_at(value, message)
    }
}

/// A command with its arguments in one text is taken apart; a path with spaces in it is not.
fn split_command(found: &mut Candidate) {
    let config = &mut found.config;
    if !config.args.is_empty() || !config.command.trim().contains(' ') || config.command.contains(['/', '\\']) {
        return;
    }
    if let Ok(words) = shell_words::split(&config.command) {
        let mut words = words.into_iter();
        config.command = words.next().unwrap_or_default();
        config.args = words.collect();
        found.notes.push(String::from("\"command\" had the arguments in it; they were taken apart at the spaces"));
    }
}

/// VS Code asks for values under "inputs"; here they are typed in.
fn note_inputs(found: &mut Candidate, root: &Object<'_>) {
    let Some(inputs) = root.get_array("inputs") else { return };
    for input in inputs.elements.iter().filter_map(Value::as_object) {
        let Some(id) = input.get_string("id") else { continue };
        let placeholder = format!("${{input:{}}}", id.value);
        let used = |value: &String| value.contains(&placeholder);
        let in_headers = found.remote.as_ref().is_some_and(|remote| remote.headers.values().any(used));
        if in_headers || found.config.args.iter().any(used) || found.config.env.values().any(used) {
            let what =
                input.get_string("description").map(|text| format!(" ({})", quoted(&text.value))).unwrap_or_default();
            found.notes.push(format!("{} stands for a value that VS Code would ask for{what}", quoted(&placeholder)));
        }
    }
}

fn note_unused(found: &mut Candidate, object: &Object<'_>) {
    // A local program is not signed in to.
    let silent = |name: &&str| SILENT.contains(name) && (*name != auth::KEY || found.remote.is_some());
    let of_entry = object.properties.iter().map(|property| property.name.as_str()).filter(|name| !silent(name));
    let has_auth = found.remote.as_ref().is_some_and(|remote| remote.auth.is_some());
    let of_auth = auth::unknown(object).into_iter().filter(|_| has_auth);
    let unused: Vec<String> = of_entry.chain(of_auth).take(20).map(quoted).collect();
    if !unused.is_empty() {
        found.notes.push(format!("not used: {}", unused.join(", ")));
    }
}
