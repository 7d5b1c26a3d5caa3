//! The `sandbox` object of a local server: what it may reach. A key of Drawbridge's own; other hosts leave it where it is.
//!
//! What can't be understood in it makes the file unusable, and so do `null` and a misspelt key: a server must not run with more than it was
//! meant to.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::cst::{CstInputValue, CstObject};
pub(super) use other_apps::entry::sandbox::KEY;
use other_apps::entry::sandbox::{ACCESS, FOLDERS, NETWORK, PATH, parse};
use other_apps::json_text::{Dialect, JsonText};
use ports::server_config::{ConfigProblem, Folder, Network, SandboxConfig, access_word};

use super::edit::{find, remove_all};

/// Reads what a server may reach; none if its entry does not say.
pub(super) fn read(
    text: &JsonText<'_>,
    name: &str,
    entry: &Object<'_>,
) -> Result<Option<SandboxConfig>, ConfigProblem> {
    parse(text, &format!("{KEY:?} of server {name:?}"), entry)
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
    match text.parse(Dialect::Plain) {
        Ok(Some(Value::Object(entry))) => parse(&text, KEY, &entry).ok().flatten(),
        _ => None,
    }
}
