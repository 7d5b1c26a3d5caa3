//! The `sandbox` object of a local server, with its permitted access. The key is specific to Drawbridge, and other
//! hosts preserve it.
//!
//! Any part that can't be parsed makes the whole file unusable, including `null` and a misspelled key: a server must
//! not run with more access than intended.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::cst::{CstInputValue, CstObject};
pub(super) use other_apps::entry::sandbox::SANDBOX_KEY;
use other_apps::entry::sandbox::{FOLDER_ACCESS_KEY, FOLDER_PATH_KEY, FOLDERS_KEY, NETWORK_KEY, parse_sandbox};
use other_apps::json_text::{JsonDialect, JsonText};
use ports::server_config::{AllowedFolder, ConfigProblem, NetworkAccess, SandboxConfig, access_word};

use super::edit::{find_member, remove_members};

/// Reads the sandbox settings of a server, or returns `None` if its entry has none.
pub(super) fn read_sandbox(
    text: &JsonText<'_>,
    name: &str,
    entry: &Object<'_>,
) -> Result<Option<SandboxConfig>, ConfigProblem> {
    parse_sandbox(text, &format!("{SANDBOX_KEY:?} of server {name:?}"), entry)
}

/// Returns a new `sandbox` object with these settings, for a server in `mcp.json` that has no such object yet.
///
/// # Errors
/// Returns a message if a path is not valid Unicode.
pub(super) fn sandbox_object(sandbox: &SandboxConfig) -> Result<CstInputValue, String> {
    Ok(CstInputValue::Object(vec![
        (FOLDERS_KEY.to_owned(), folders_value(sandbox)?),
        (NETWORK_KEY.to_owned(), network_value(&sandbox.network)),
    ]))
}

fn network_value(network: &NetworkAccess) -> CstInputValue {
    match network {
        NetworkAccess::None => false.into(),
        NetworkAccess::Full => true.into(),
        NetworkAccess::Hosts(hosts) => CstInputValue::Array(hosts.iter().map(|host| host.to_string().into()).collect()),
    }
}

fn folders_value(sandbox: &SandboxConfig) -> Result<CstInputValue, String> {
    let one = |folder: &AllowedFolder| {
        let path = folder.path.to_str();
        let path = path.ok_or_else(|| format!("the folder {} is not Unicode text", folder.path.display()))?;
        let access = access_word(folder.access);
        Ok(CstInputValue::Object(vec![
            (FOLDER_PATH_KEY.to_owned(), path.into()),
            (FOLDER_ACCESS_KEY.to_owned(), access.into()),
        ]))
    };
    sandbox.folders.iter().map(one).collect::<Result<_, String>>().map(CstInputValue::Array)
}

/// Changes the `sandbox` object of a server in `mcp.json` to these settings, or removes it if there are none. Unknown
/// members are preserved, and so is the text of values whose meaning is the same.
pub(super) fn update_sandbox(entry: &CstObject, settings: Option<&SandboxConfig>) -> Result<(), String> {
    let Some(sandbox) = settings else {
        remove_members(entry, &[SANDBOX_KEY]);
        return Ok(());
    };
    let Some(map) = find_member(entry, SANDBOX_KEY).and_then(|property| property.object_value()) else {
        remove_members(entry, &[SANDBOX_KEY]);
        entry.append(SANDBOX_KEY, sandbox_object(sandbox)?);
        return Ok(());
    };
    if current_sandbox(entry).as_ref() == Some(sandbox) {
        return Ok(());
    }
    for (key, value) in [(FOLDERS_KEY, folders_value(sandbox)?), (NETWORK_KEY, network_value(&sandbox.network))] {
        match find_member(&map, key) {
            Some(property) => property.set_value(value),
            None => drop(map.append(key, value)),
        }
    }
    Ok(())
}

/// Returns the sandbox settings that the entry currently has, if it can be parsed.
fn current_sandbox(entry: &CstObject) -> Option<SandboxConfig> {
    let text = entry.to_string();
    let text = JsonText::without_file(&text);
    match text.parse(JsonDialect::Plain) {
        Ok(Some(Value::Object(entry))) => parse_sandbox(&text, SANDBOX_KEY, &entry).ok().flatten(),
        _ => None,
    }
}
