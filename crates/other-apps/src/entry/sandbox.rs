//! The `sandbox` object of a local server, which only Drawbridge supports. `store` parses it in `mcp.json`, and
//! [`crate::entry`] in pasted text.

use std::path::PathBuf;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use ports::server_config::{
    AccessMode, AllowedFolder, ConfigProblem, HostPattern, NetworkAccess, SandboxConfig, access_word,
};

use super::command_text;
use crate::json_text::{JsonText, present_property, value_type_name as kind_of};

/// Maximum length of an unknown key in a note, in characters.
const MAX_NOTED_KEY_CHARS: usize = 80;
/// Key of the object with the sandbox settings in a server's entry.
pub const SANDBOX_KEY: &str = "sandbox";
/// Key of the list of folders that the sandboxed server can access.
pub const FOLDERS_KEY: &str = "folders";
/// Key of the sandboxed server's network access.
pub const NETWORK_KEY: &str = "network";
/// Key of the path of an accessible folder.
pub const FOLDER_PATH_KEY: &str = "path";
/// Key of the access mode (read or write) of an accessible folder.
pub const FOLDER_ACCESS_KEY: &str = "access";

/// Parses the sandbox, or returns `None` if the entry has none. `what` names the entry in error messages.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if any part is unknown or invalid.
pub fn parse_sandbox(
    text: &JsonText<'_>,
    what: &str,
    entry: &Object<'_>,
) -> Result<Option<SandboxConfig>, ConfigProblem> {
    if let Some(property) = entry.properties.iter().find(|property| is_misspelled_sandbox(property)) {
        let message = format!("{what} must be called {SANDBOX_KEY:?}, found {:?}", property.name.as_str());
        return Err(text.problem(property.range.start, message));
    }
    let Some(property) = entry.get(SANDBOX_KEY) else { return Ok(None) };
    let Value::Object(map) = &property.value else {
        let message =
            format!("{what} must be an object such as {{\"folders\": []}}, found {}", kind_of(&property.value));
        return Err(text.value_problem(&property.value, message));
    };
    text.reject_duplicate_keys(map, what)?;
    let mut sandbox = SandboxConfig::default();
    if let Some(network) = present_property(map, NETWORK_KEY) {
        sandbox.network = self::parse_network(text, what, &network.value)?;
    }
    if let Some(folders) = present_property(map, FOLDERS_KEY) {
        let Value::Array(list) = &folders.value else {
            let message =
                format!("{FOLDERS_KEY:?} in {what} must be a list of objects, found {}", kind_of(&folders.value));
            return Err(text.value_problem(&folders.value, message));
        };
        for value in &list.elements {
            sandbox.folders.push(parse_folder(text, what, value)?);
        }
    }
    match sandbox.problem() {
        Some(problem) => Err(text.value_problem(&property.value, format!("{what}: {problem}"))),
        None => Ok(Some(sandbox)),
    }
}

/// Returns the first key in an entry's `sandbox` object that Drawbridge's format doesn't define, or `None` if all keys
/// are defined.
pub(super) fn first_unknown_sandbox_key(entry: &Object<'_>) -> Option<String> {
    let Value::Object(map) = &entry.get(SANDBOX_KEY)?.value else { return None };
    let mut names = map.properties.iter().map(|property| property.name.as_str());
    names
        .find(|name| ![FOLDERS_KEY, NETWORK_KEY].contains(name))
        .map(|name| name.chars().take(MAX_NOTED_KEY_CHARS).collect())
}

/// Returns `true` if a property looks like a misspelled `sandbox`: it differs in case, punctuation or one letter, or it
/// is an object whose key begins with `sandbox`.
fn is_misspelled_sandbox(property: &ObjectProp<'_>) -> bool {
    let name = property.name.as_str();
    let letters = || name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let is_longer = || matches!(property.value, Value::Object(_)) && letters().starts_with(SANDBOX_KEY);
    name != SANDBOX_KEY && (is_longer() || is_within_one_edit(&letters(), SANDBOX_KEY))
}

/// Returns `true` if two words differ by at most one replaced, missing, additional or transposed letter.
fn is_within_one_edit(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let begin = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(begin..).unwrap_or_default(), other.get(begin..).unwrap_or_default());
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    match (one.get(..one.len() - end).unwrap_or_default(), other.get(..other.len() - end).unwrap_or_default()) {
        ([a, b], [c, d]) => a == d && b == c,
        (one, other) => one.len() <= 1 && other.len() <= 1,
    }
}

/// Parses the network access: none, full, or a list of hosts.
fn parse_network(text: &JsonText<'_>, what: &str, value: &Value<'_>) -> Result<NetworkAccess, ConfigProblem> {
    let hosts = match value {
        Value::BooleanLit(allowed) => return Ok(if allowed.value { NetworkAccess::Full } else { NetworkAccess::None }),
        Value::Array(list) => &list.elements,
        other => {
            let message = format!(
                "{NETWORK_KEY:?} in {what} must be true or false, or a list of hosts, found {}",
                kind_of(other)
            );
            return Err(text.value_problem(other, message));
        }
    };
    let host = |value: &Value<'_>| {
        let what = format!("a host in {what}");
        let host = command_text(text, value, &what, "a text")?;
        host.parse::<HostPattern>().map_err(|error| text.value_problem(value, format!("{what}: {error}")))
    };
    hosts.iter().map(host).collect::<Result<_, _>>().map(NetworkAccess::Hosts)
}

fn parse_folder(text: &JsonText<'_>, what: &str, value: &Value<'_>) -> Result<AllowedFolder, ConfigProblem> {
    let what = format!("a folder in {what}");
    let path = value.as_object().and_then(|map| present_property(map, FOLDER_PATH_KEY).map(|path| (map, path)));
    let Some((map, path)) = path else {
        let message = format!("{what} must be an object such as {{\"path\": \"/a/folder\", \"access\": \"read\"}}");
        return Err(text.value_problem(value, message));
    };
    text.reject_duplicate_keys(map, &what)?;
    let path = PathBuf::from(command_text(text, &path.value, &format!("{FOLDER_PATH_KEY:?} of {what}"), "a text")?);
    let Some(access) = present_property(map, FOLDER_ACCESS_KEY) else {
        return Ok(AllowedFolder { path, access: AccessMode::Read });
    };
    let word = command_text(text, &access.value, &format!("{FOLDER_ACCESS_KEY:?} of {what}"), "a text")?;
    let known = [AccessMode::Read, AccessMode::Write].into_iter().find(|known| access_word(*known) == word);
    let message = || format!("{FOLDER_ACCESS_KEY:?} of {what} must be \"read\" or \"write\", found {word:?}");
    let access = known.ok_or_else(|| text.value_problem(&access.value, message()))?;
    Ok(AllowedFolder { path, access })
}
