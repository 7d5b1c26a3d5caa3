//! Parses the servers in a link. A link may set a name, a command with arguments and variables, or a URL with headers
//! and a transport. No other settings are read, even if the app that defines the link supports them.

use std::borrow::Cow;

use foreign::is_hidden;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use ports::server_config::{ImportNote, ImportNoteKind};
use serde_json::{Map, Value as Json, json};

use super::link_form::LinkForm;
use super::link_parameters::LinkParameters;
use super::link_warnings;
use crate::entry::{self, URL_KEYS, parse_http_kind};
use crate::json_text::{JsonDialect, JsonText, present_property, value_type_name};
use crate::notes::{ImportNotes, quoted_text};
use crate::server_candidate::ServerCandidate;

/// Maximum number of servers in one install link.
const MAX_LINK_SERVERS: usize = 20;
/// Maximum length of a server's name in an install link, in characters.
const MAX_LINK_SERVER_NAME_CHARS: usize = 64;
/// Maximum number of unknown keys that one note names.
const MAX_KEYS_IN_NOTE: usize = 20;

/// Keys that a link may set for local servers.
const LOCAL_SERVER_KEYS: [&str; 5] = ["name", "type", "command", "args", "env"];
const REMOTE_SERVER_KEYS: [&str; 4] = ["name", "type", "url", "headers"];
/// Keys that links of other apps contain, and that have no effect on the server.
const IGNORED_LINK_KEYS: [&str; 5] = ["inputs", "gallery", "description", "id", "installation_notes"];

/// Parses the servers in the JSON of a link. `name` and `inputs` are separate parameters of the link. `inputs`
/// describes values for which VS Code prompts the user.
pub(super) fn parse_candidates(
    form: &'static LinkForm,
    json: &str,
    name: Option<String>,
    inputs: Option<&str>,
) -> Result<Vec<ServerCandidate>, String> {
    let text = JsonText::without_file(json);
    let root = parse_link_json(&text)?;
    let beside = inputs.map(|inputs| format!("{{\"inputs\":{inputs}}}"));
    let inputs = match &beside {
        Some(beside) => {
            Some(parse_link_json(&JsonText::without_file(beside)).map_err(|problem| format!("\"inputs\": {problem}"))?)
        }
        None => None,
    };
    let inputs = inputs.as_ref().and_then(Value::as_object);
    let found = entries_with_names(form, &text, &root)?;
    if found.len() > MAX_LINK_SERVERS {
        return Err(format!("it has more than {MAX_LINK_SERVERS} servers"));
    }
    let is_alone = found.len() == 1;
    if form.own
        && let (Some(name), [(Some(other), _)]) = (&name, &found[..])
        && name != other
    {
        return Err(String::from("it has two names"));
    }
    found
        .into_iter()
        .map(|(own_name, object)| {
            let name = name.clone().filter(|_| is_alone).or(own_name);
            parse_candidate(form, &text, name, object, inputs.unwrap_or(object))
        })
        .collect()
}

/// Parses the server in a goose link, in which each word of the command is a parameter.
pub(super) fn parse_goose_server(
    form: &'static LinkForm,
    parameters: &LinkParameters,
) -> Result<Vec<ServerCandidate>, String> {
    const GOOSE_PARAMETERS: [&str; 7] = ["cmd", "arg", "env", "url", "type", "header", "name"];
    let mut entry = Map::new();
    for (key, parameter) in [("command", "cmd"), ("url", "url"), ("type", "type"), ("name", "name")] {
        if let Some(value) = parameters.get_unique(parameter)? {
            entry.insert(key.to_owned(), value.into());
        }
    }
    let arguments: Vec<&str> = parameters.get_all("arg").collect();
    if !arguments.is_empty() {
        entry.insert("args".to_owned(), json!(arguments));
    }
    // goose ignores the values in the link, and prompts the user for them.
    let variables = parameters.get_all("env").map(|pair| (pair.split('=').next().unwrap_or_default(), ""));
    insert_pairs(&mut entry, "env", variables)?;
    let headers = parameters.get_all("header").map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    insert_pairs(&mut entry, "headers", headers)?;
    let mut found = parse_candidates(form, &Json::Object(entry).to_string(), None, None)?;
    reject_or_note_keys(form, parameters.names().filter(|name| !GOOSE_PARAMETERS.contains(name)), &mut found)?;
    Ok(found)
}

fn insert_pairs<'p>(
    entry: &mut Map<String, Json>,
    key: &str,
    pairs: impl Iterator<Item = (&'p str, &'p str)>,
) -> Result<(), String> {
    let mut map = Map::new();
    for (name, value) in pairs {
        if map.insert(name.to_owned(), value.into()).is_some() {
            return Err(format!("{} occurs twice in it", quoted_text(name)));
        }
    }
    if !map.is_empty() {
        entry.insert(key.to_owned(), map.into());
    }
    Ok(())
}

/// Returns an error if one of Drawbridge's own links contains unsupported keys. For a link of another app, adds a note
/// about them to each server instead.
pub(super) fn reject_or_note_keys<'k>(
    form: &LinkForm,
    keys: impl Iterator<Item = &'k str>,
    found: &mut [ServerCandidate],
) -> Result<(), String> {
    let keys: Vec<&str> =
        keys.filter(|key| form.own || !IGNORED_LINK_KEYS.contains(key)).take(MAX_KEYS_IN_NOTE).collect();
    match (&keys[..], form.own) {
        ([], _) => {}
        ([first, ..], true) => return Err(format!("a link may not set {}", quoted_text(first))),
        (_, false) => {
            let quoted: Vec<String> = keys.iter().map(|key| quoted_text(key)).collect();
            let note = format!("a link may not set these, so they are ignored: {}", quoted.join(", "));
            let note = ImportNote::new(ImportNoteKind::LinkKeys, note).with_names(keys.iter().copied());
            for candidate in found {
                candidate.notes.push(note.clone());
            }
        }
    }
    Ok(())
}

fn parse_link_json<'t>(text: &JsonText<'t>) -> Result<Value<'t>, String> {
    let root = text.parse(JsonDialect::Plain).map_err(|problem| format!("in its JSON, {}", problem.message))?;
    root.ok_or_else(|| String::from("there is no server in it"))
}

type NamedEntry<'o, 't> = (Option<String>, &'o Object<'t>);

/// Returns the entries of the servers in a link, each with its name if it has one. `root` is a single entry, a list of
/// entries, or an object that contains entries by name.
fn entries_with_names<'o, 't>(
    form: &LinkForm,
    text: &JsonText<'_>,
    root: &'o Value<'t>,
) -> Result<Vec<NamedEntry<'o, 't>>, String> {
    let nothing = || String::from("there is no server in it: a \"command\" or a \"url\" was expected");
    let object = match root {
        Value::Object(object) if form.own || entry::is_server_entry(object) => {
            return Ok(vec![(entry_name(object), object)]);
        }
        Value::Object(object) => object,
        Value::Array(list) if !form.own => {
            let objects = list.elements.iter().map(|value| value.as_object().ok_or_else(nothing));
            return objects.map(|object| object.map(|object| (entry_name(object), object))).collect();
        }
        other => return Err(format!("an object was expected in it, found {}", value_type_name(other))),
    };
    let map = match present_property(object, "mcpServers").map(|property| &property.value) {
        Some(Value::Object(map)) => map,
        Some(list @ Value::Array(_)) => return entries_with_names(form, text, list),
        Some(_) => return Err(nothing()),
        None => object,
    };
    text.reject_duplicate_keys(map, "its servers").map_err(|problem| problem.message)?;
    let named = |property: &'o ObjectProp<'t>| {
        let entry = property.value.as_object().ok_or_else(nothing)?;
        Ok((Some(property.name.as_str().to_owned()), entry))
    };
    let found: Vec<NamedEntry<'o, 't>> = map.properties.iter().map(named).collect::<Result<_, String>>()?;
    if found.is_empty() { Err(nothing()) } else { Ok(found) }
}

fn entry_name(object: &Object<'_>) -> Option<String> {
    object.get_string("name").map(|name| name.value.clone().into_owned())
}

fn parse_candidate(
    form: &'static LinkForm,
    text: &JsonText<'_>,
    name: Option<String>,
    object: &Object<'_>,
    inputs: &Object<'_>,
) -> Result<ServerCandidate, String> {
    text.reject_duplicate_keys(object, "a server").map_err(|problem| problem.message)?;
    let entry = with_standard_keys(form, object);
    let count = |key: &str| entry.properties.iter().filter(|property| property.name.as_str() == key).count();
    let allowed: &[&str] = match (count("command"), count("url")) {
        (1, 0) => &LOCAL_SERVER_KEYS,
        (0, 1) => &REMOTE_SERVER_KEYS,
        (0, 0) => return Err(String::from("there is no server in it: a \"command\" or a \"url\" was expected")),
        _ => return Err(String::from("it has more than one of \"command\" and \"url\", so that it means two servers")),
    };
    for key in ["name", "type", "command", "url"] {
        let wrong = present_property(&entry, key).filter(|property| !matches!(property.value, Value::StringLit(_)));
        if let Some(property) = wrong {
            return Err(format!("{key:?} must be a text, found {}", value_type_name(&property.value)));
        }
    }
    if let Some(transport) = entry.get_string("type") {
        let is_local = ["stdio", "local"].contains(&&*transport.value.to_lowercase());
        if is_local != (count("command") == 1) || !is_local && parse_http_kind(Some(&transport.value)).is_none() {
            return Err(format!("its \"type\" is {}, which does not go with the rest", quoted_text(&transport.value)));
        }
    }
    let (properties, omitted): (Vec<_>, Vec<_>) =
        entry.properties.iter().cloned().partition(|property| allowed.contains(&property.name.as_str()));
    let properties = Object { range: entry.range, properties };
    let mut found = entry::parse_entry(text, None, &properties, inputs).map_err(|problem| problem.message)?;
    found.name = server_name(form, name, &mut found.notes)?;
    found.extras.is_from_link = true;
    reject_or_note_keys(form, omitted.iter().map(|property| property.name.as_str()), std::slice::from_mut(&mut found))?;
    reject_suspicious_content(&found)?;
    found.notes.extend(link_warnings::server_warnings(&found));
    Ok(found)
}

/// Returns an entry in which the keys for the URL and the transport that this link format uses are replaced by the
/// usual ones.
fn with_standard_keys<'o, 't>(form: &LinkForm, object: &'o Object<'t>) -> Cow<'o, Object<'t>> {
    use jsonc_parser::ast::ObjectPropName::String as Name;
    if form.own {
        return Cow::Borrowed(object);
    }
    let mut own = object.clone();
    // Null and empty values are treated as missing, since some apps write all keys.
    own.properties.retain(|property| match &property.value {
        Value::NullKeyword(_) => false,
        Value::StringLit(text) => !text.value.is_empty(),
        Value::Array(list) => !list.elements.is_empty(),
        Value::Object(map) => !map.properties.is_empty(),
        Value::NumberLit(_) | Value::BooleanLit(_) => true,
    });
    let has_type = own.get("type").is_some();
    for property in &mut own.properties {
        let word = match property.name.as_str() {
            name if URL_KEYS.contains(&name) => "url",
            "transport" if !has_type => "type",
            _ => continue,
        };
        if let Name(name) = &mut property.name {
            name.value = Cow::Borrowed(word);
        }
    }
    Cow::Owned(own)
}

/// Checks the name of a server in one of Drawbridge's own links, which may contain letters, digits, `.`, `-` and `_`.
/// In links of other apps, replaces all other characters, with a note.
fn server_name(form: &LinkForm, name: Option<String>, notes: &mut ImportNotes) -> Result<Option<String>, String> {
    let Some(name) = name else { return Ok(None) };
    let plain = nearest_allowed_name(&name);
    if plain == name {
        return Ok(Some(plain));
    }
    if form.own {
        return Err(format!(
            "a server's name has 1 to {MAX_LINK_SERVER_NAME_CHARS} letters, digits, \".\", \"-\" or \"_\""
        ));
    }
    let note = format!("its name in the link is {}", quoted_text(&name));
    notes.push(ImportNote::new(ImportNoteKind::LinkName, note).with_names([name]));
    Ok(Some(plain).filter(|plain| !plain.is_empty()))
}

/// Returns a name in which each character that is not permitted in links is replaced.
pub(super) fn nearest_allowed_name(name: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { ' ' };
    let spaced: String = name.chars().take(MAX_LINK_SERVER_NAME_CHARS * 4).map(sign).collect();
    let words: Vec<&str> = spaced.split(' ').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(MAX_LINK_SERVER_NAME_CHARS).collect()
}

/// Returns an error for content that no legitimate link contains: invisible characters, references to Drawbridge's
/// secrets, and URLs without TLS.
fn reject_suspicious_content(found: &ServerCandidate) -> Result<(), String> {
    for (place, text) in texts_with_descriptions(found) {
        if let Some(c) = text.chars().find(|c| is_hidden(*c) || c.is_control()) {
            return Err(format!("{place} has an invisible character (U+{:04X})", c as u32));
        }
        if !ports::secrets::referenced_secret_names(text).is_empty() {
            return Err(format!("{place} refers to a secret that Drawbridge stores, which no link may use"));
        }
    }
    if let Some(remote) = &found.remote
        && remote.is_unencrypted_remote()
    {
        return Err(String::from("its address is not encrypted: http:// is only for this computer, expected https://"));
    }
    found.config().problem().map_or(Ok(()), Err)
}

fn texts_with_descriptions(found: &ServerCandidate) -> Vec<(String, &str)> {
    let pairs = |what: &str, name: &String| format!("the {what} {}", quoted_text(name));
    let mut texts = Vec::new();
    let values = match &found.remote {
        Some(remote) => {
            texts.push((String::from("its address"), remote.url.as_str()));
            remote.headers.iter().map(|pair| ("header", pair)).collect::<Vec<_>>()
        }
        None => {
            texts.push((String::from("its command"), found.config.command.as_str()));
            let arguments = (1..).zip(&found.config.args);
            texts.extend(arguments.map(|(number, text)| (format!("argument {number}"), text.as_str())));
            found.config.env.iter().map(|pair| ("variable", pair)).collect()
        }
    };
    for (what, (name, value)) in values {
        texts.push((format!("the name of a {what}"), name));
        texts.push((pairs(what, name), value));
    }
    texts
}
