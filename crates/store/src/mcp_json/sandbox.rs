//! The `sandbox` object of a local server: what it may reach. A key of Drawbridge's own; other hosts leave it where it is.
//!
//! What can't be understood in it makes the file unusable, and so do `null` and a misspelt key: a server must not run with more than it was
//! meant to.

use std::path::PathBuf;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::cst::{CstInputValue, CstObject};
use ports::server_config::{Access, ConfigProblem, Folder, HostPattern, Network, SandboxConfig, access_word};

use super::edit::{find, remove_all};
use super::read::words;
use crate::json_text::{JsonText, given, kind as kind_of};

pub(crate) const KEY: &str = "sandbox";
const FOLDERS: &str = "folders";
const NETWORK: &str = "network";
const PATH: &str = "path";
const ACCESS: &str = "access";

/// Reads what a server may reach; none if its entry does not say.
pub(super) fn read(
    text: &JsonText<'_>,
    name: &str,
    entry: &Object<'_>,
) -> Result<Option<SandboxConfig>, ConfigProblem> {
    parse(text, &format!("{KEY:?} of server {name:?}"), entry)
}

/// The same. `what` is what problems call it.
pub(crate) fn parse(
    text: &JsonText<'_>,
    what: &str,
    entry: &Object<'_>,
) -> Result<Option<SandboxConfig>, ConfigProblem> {
    if let Some(property) = entry.properties.iter().find(|property| is_meant(property)) {
        let message = format!("{what} must be called {KEY:?}, found {:?}", property.name.as_str());
        return Err(text.problem(property.range.start, message));
    }
    let Some(property) = entry.get(KEY) else { return Ok(None) };
    let Value::Object(map) = &property.value else {
        let message =
            format!("{what} must be an object such as {{\"folders\": []}}, found {}", kind_of(&property.value));
        return Err(text.problem_at(&property.value, message));
    };
    text.no_duplicates(map, what)?;
    let mut sandbox = SandboxConfig::default();
    if let Some(network) = given(map, NETWORK) {
        sandbox.network = self::network(text, what, &network.value)?;
    }
    if let Some(folders) = given(map, FOLDERS) {
        let Value::Array(list) = &folders.value else {
            let message = format!("{FOLDERS:?} in {what} must be a list of objects, found {}", kind_of(&folders.value));
            return Err(text.problem_at(&folders.value, message));
        };
        for value in &list.elements {
            sandbox.folders.push(folder(text, what, value)?);
        }
    }
    match sandbox.problem() {
        Some(problem) => Err(text.problem_at(&property.value, format!("{what}: {problem}"))),
        None => Ok(Some(sandbox)),
    }
}

/// Tells if a property is meant as the sandbox and is not called so: it differs in case, signs or one letter, or adds to the name of an
/// object.
fn is_meant(property: &ObjectProp<'_>) -> bool {
    let name = property.name.as_str();
    let letters = || name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let is_longer = || matches!(property.value, Value::Object(_)) && letters().starts_with(KEY);
    name != KEY && (is_longer() || differs_in_one(&letters(), KEY))
}

/// Tells if two words are the same but for one letter that is another, is missing, is added, or has changed places with the next.
fn differs_in_one(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let begin = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(begin..).unwrap_or_default(), other.get(begin..).unwrap_or_default());
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    match (one.get(..one.len() - end).unwrap_or_default(), other.get(..other.len() - end).unwrap_or_default()) {
        ([a, b], [c, d]) => a == d && b == c,
        (one, other) => one.len() <= 1 && other.len() <= 1,
    }
}

/// The network: none, all of it, or a list of hosts.
fn network(text: &JsonText<'_>, what: &str, value: &Value<'_>) -> Result<Network, ConfigProblem> {
    let hosts = match value {
        Value::BooleanLit(allowed) => return Ok(if allowed.value { Network::Full } else { Network::None }),
        Value::Array(list) => &list.elements,
        other => {
            let message =
                format!("{NETWORK:?} in {what} must be true or false, or a list of hosts, found {}", kind_of(other));
            return Err(text.problem_at(other, message));
        }
    };
    let host = |value: &Value<'_>| {
        let what = format!("a host in {what}");
        let host = words(text, value, &what, "a text")?;
        host.parse::<HostPattern>().map_err(|error| text.problem_at(value, format!("{what}: {error}")))
    };
    hosts.iter().map(host).collect::<Result<_, _>>().map(Network::Hosts)
}

fn folder(text: &JsonText<'_>, what: &str, value: &Value<'_>) -> Result<Folder, ConfigProblem> {
    let what = format!("a folder in {what}");
    let path = value.as_object().and_then(|map| given(map, PATH).map(|path| (map, path)));
    let Some((map, path)) = path else {
        let message = format!("{what} must be an object such as {{\"path\": \"/a/folder\", \"access\": \"read\"}}");
        return Err(text.problem_at(value, message));
    };
    text.no_duplicates(map, &what)?;
    let path = PathBuf::from(words(text, &path.value, &format!("{PATH:?} of {what}"), "a text")?);
    let Some(access) = given(map, ACCESS) else { return Ok(Folder { path, access: Access::Read }) };
    let wanted = words(text, &access.value, &format!("{ACCESS:?} of {what}"), "a text")?;
    let known = [Access::Read, Access::Write].into_iter().find(|known| access_word(*known) == wanted);
    let message = || format!("{ACCESS:?} of {what} must be \"read\" or \"write\", found {wanted:?}");
    let access = known.ok_or_else(|| text.problem_at(&access.value, message()))?;
    Ok(Folder { path, access })
}

/// The object as it is written for a server that has none yet.
///
/// # Errors
/// A path that is no Unicode text.
pub(super) fn written(sandbox: &SandboxConfig) -> Result<CstInputValue, String> {
    Ok(CstInputValue::Object(vec![
        (FOLDERS.to_owned(), folders(sandbox)?),
        (NETWORK.to_owned(), written_network(&sandbox.network)),
    ]))
}

fn written_network(network: &Network) -> CstInputValue {
    match network {
        Network::None => false.into(),
        Network::Full => true.into(),
        Network::Hosts(hosts) => CstInputValue::Array(hosts.iter().map(|host| host.to_string().into()).collect()),
    }
}

fn folders(sandbox: &SandboxConfig) -> Result<CstInputValue, String> {
    let one = |folder: &Folder| {
        let path = folder.path.to_str();
        let path = path.ok_or_else(|| format!("the folder {} is not Unicode text", folder.path.display()))?;
        let access = access_word(folder.access);
        Ok(CstInputValue::Object(vec![(PATH.to_owned(), path.into()), (ACCESS.to_owned(), access.into())]))
    };
    sandbox.folders.iter().map(one).collect::<Result<_, String>>().map(CstInputValue::Array)
}

/// Changes the object of a server; what is not understood in it stays, and so does what says the same.
pub(super) fn change(entry: &CstObject, wanted: Option<&SandboxConfig>) -> Result<(), String> {
    let Some(sandbox) = wanted else {
        remove_all(entry, &[KEY]);
        return Ok(());
    };
    let Some(map) = find(entry, KEY).and_then(|property| property.object_value()) else {
        remove_all(entry, &[KEY]);
        entry.append(KEY, written(sandbox)?);
        return Ok(());
    };
    if said(entry).as_ref() == Some(sandbox) {
        return Ok(());
    }
    for (key, value) in [(FOLDERS, folders(sandbox)?), (NETWORK, written_network(&sandbox.network))] {
        match find(&map, key) {
            Some(property) => property.set_value(value),
            None => drop(map.append(key, value)),
        }
    }
    Ok(())
}

/// What the entry says now.
fn said(entry: &CstObject) -> Option<SandboxConfig> {
    let text = entry.to_string();
    let text = JsonText::pasted(&text);
    match text.parse(crate::json_text::Dialect::Plain) {
        Ok(Some(Value::Object(entry))) => parse(&text, KEY, &entry).ok().flatten(),
        _ => None,
    }
}
