//! Pre-registered OAuth clients in the formats of other apps: `oauth` in most apps, and `auth` with upper-case keys in
//! Cursor. Drawbridge imports the client and its scopes, and discovers everything else.

use jsonc_parser::ast::{Object, Value};
use ports::server_config::{AuthConfig, ConfigProblem};

use super::command_text;
use crate::json_text::{JsonText, present_property};

/// Keys of the object in an entry that describes a pre-registered OAuth client.
pub(super) const OAUTH_CLIENT_KEYS: [&str; 2] = ["oauth", "auth"];
const CLIENT_ID_KEYS: [&str; 3] = ["clientId", "client_id", "CLIENT_ID"];
const CLIENT_SECRET_KEYS: [&str; 3] = ["clientSecret", "client_secret", "CLIENT_SECRET"];
const SCOPES_KEYS: [&str; 3] = ["scopes", "scope", "SCOPES"];

/// Parses a pre-registered OAuth client in the format of another app. Returns `None` if the entry contains none, or if
/// the client is in Drawbridge's format.
pub(super) fn parse_oauth_client(text: &JsonText<'_>, entry: &Object<'_>) -> Result<Option<AuthConfig>, ConfigProblem> {
    let is_own =
        |map: &Object<'_>| ["grant", "issuer", "clientAuth"].iter().any(|key| present_property(map, key).is_some());
    let map = OAUTH_CLIENT_KEYS.iter().find_map(|key| entry.get_object(key).map(|map| (*key, map)));
    let Some((key, map)) = map.filter(|(key, map)| {
        *key == "oauth" || (CLIENT_ID_KEYS[1..].iter().any(|id| present_property(map, id).is_some()) && !is_own(map))
    }) else {
        return Ok(None);
    };
    text.reject_duplicate_keys(map, &format!("{key:?}"))?;
    let one = |names: &[&str]| -> Result<Option<String>, ConfigProblem> {
        let Some(property) = names.iter().find_map(|name| present_property(map, name)) else { return Ok(None) };
        let what = format!("{:?} in {key:?}", property.name.as_str());
        command_text(text, &property.value, &what, "a text")
            .map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()))
    };
    let mut auth = AuthConfig {
        client_id: one(&CLIENT_ID_KEYS)?,
        client_secret: one(&CLIENT_SECRET_KEYS)?,
        ..AuthConfig::default()
    };
    let scopes =
        SCOPES_KEYS.iter().find_map(|name| present_property(map, name)).or_else(|| present_property(entry, "scopes"));
    match scopes.map(|scopes| &scopes.value) {
        Some(Value::Array(list)) => {
            for scope in &list.elements {
                auth.scopes.push(command_text(text, scope, "a scope", "a text")?.to_owned());
            }
        }
        Some(Value::StringLit(list)) => auth.scopes.extend(list.value.split_whitespace().map(str::to_owned)),
        _ => {}
    }
    Ok((auth != AuthConfig::default()).then_some(auth))
}

/// Returns `true` if an import uses the member `name` of the object that describes an OAuth client.
pub(super) fn is_imported_client_member(name: &str) -> bool {
    [CLIENT_ID_KEYS, CLIENT_SECRET_KEYS, SCOPES_KEYS].iter().any(|names| names.contains(&name)) || name == "enabled"
}

/// Returns the names of the members of an entry's `oauth` object that an import ignores.
pub(super) fn unused_client_members<'e>(entry: &'e Object<'_>) -> Vec<&'e str> {
    let parts = entry.get_object("oauth").into_iter().flat_map(|map| &map.properties);
    parts.map(|property| property.name.as_str()).filter(|name| !is_imported_client_member(name)).collect()
}
