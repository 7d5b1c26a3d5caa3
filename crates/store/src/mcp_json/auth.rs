//! The `auth` object of a remote server, with its sign-in settings.

use jsonc_parser::ast::Object;
use jsonc_parser::cst::{CstInputValue, CstObject};
pub(super) use other_apps::entry::auth::AUTH_KEY;
use other_apps::entry::auth::{
    DPOP_KEY, GRANT_TYPE_KEY, IDENTITY_PROVIDER_KEY, REDIRECT_PORT_KEY, SCOPES_KEY, parse_auth,
};
use other_apps::json_text::{JsonText, present_property};
use ports::server_config::{AuthConfig, AuthIdentityProvider, ConfigProblem, GrantType};

use super::edit::{find_member, remove_members, set_string_member, text_array};

/// Reads the sign-in settings of a server, or returns `None` if its entry has none.
pub(super) fn read_auth(
    text: &JsonText<'_>,
    name: &str,
    entry: &Object<'_>,
) -> Result<Option<AuthConfig>, ConfigProblem> {
    let what = format!("{AUTH_KEY:?} of server {name:?}");
    let found = parse_auth(text, &what, entry)?;
    match found.as_ref().and_then(AuthConfig::problem).zip(present_property(entry, AUTH_KEY)) {
        Some((problem, property)) => Err(text.value_problem(&property.value, format!("{what}: {problem}"))),
        None => Ok(found),
    }
}

/// Returns a new `auth` object with these settings, for a server in `mcp.json` that has no such object yet.
pub(super) fn auth_object(auth: &AuthConfig) -> CstInputValue {
    let mut all: Vec<(String, CstInputValue)> = Vec::new();
    for (key, text) in auth.text_settings() {
        all.extend(text.map(|text| (key.to_owned(), text.into())));
    }
    if !auth.scopes.is_empty() {
        all.push((SCOPES_KEY.to_owned(), text_array(&auth.scopes)));
    }
    if auth.grant != GrantType::default() {
        all.push((GRANT_TYPE_KEY.to_owned(), auth.grant.name().into()));
    }
    all.extend(auth.dpop.map(|dpop| (DPOP_KEY.to_owned(), dpop.into())));
    all.extend(auth.redirect_port.map(|port| (REDIRECT_PORT_KEY.to_owned(), CstInputValue::Number(port.to_string()))));
    if let Some(provider) = &auth.identity_provider {
        let provider = identity_provider_members(provider)
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
        all.push((IDENTITY_PROVIDER_KEY.to_owned(), CstInputValue::Object(provider.collect())));
    }
    CstInputValue::Object(all)
}

/// Changes the `auth` object of a server in `mcp.json` to these settings, or removes it if there are none. Unknown
/// members are preserved.
pub(super) fn update_auth(entry: &CstObject, settings: Option<&AuthConfig>) {
    let Some(auth) = settings else { return remove_members(entry, &[AUTH_KEY]) };
    let Some(map) = find_member(entry, AUTH_KEY).and_then(|property| property.object_value()) else {
        remove_members(entry, &[AUTH_KEY]);
        entry.append(AUTH_KEY, auth_object(auth));
        return;
    };
    set_string_members(&map, &auth.text_settings());
    // A value is left as written if its meaning is the same.
    let scopes = find_member(&map, SCOPES_KEY).and_then(|property| property.array_value());
    match scopes.filter(|_| !auth.scopes.is_empty()) {
        Some(list) => super::edit::update_string_list(&list, &auth.scopes),
        None => set_member(
            &map,
            SCOPES_KEY,
            Some(&auth.scopes).filter(|scopes| !scopes.is_empty()).map(|scopes| text_array(scopes)),
        ),
    }
    if auth.grant != GrantType::default() || find_member(&map, GRANT_TYPE_KEY).is_some() {
        set_string_member(&map, GRANT_TYPE_KEY, auth.grant.name());
    }
    set_member(&map, DPOP_KEY, auth.dpop.map(CstInputValue::from));
    set_member(&map, REDIRECT_PORT_KEY, auth.redirect_port.map(|port| CstInputValue::Number(port.to_string())));
    match (
        &auth.identity_provider,
        find_member(&map, IDENTITY_PROVIDER_KEY).and_then(|property| property.object_value()),
    ) {
        (Some(provider), Some(object)) => set_string_members(&object, &identity_provider_members(provider)),
        (Some(provider), None) => {
            let all = identity_provider_members(provider)
                .into_iter()
                .filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
            set_member(&map, IDENTITY_PROVIDER_KEY, Some(CstInputValue::Object(all.collect())));
        }
        (None, _) => remove_members(&map, &[IDENTITY_PROVIDER_KEY]),
    }
}

fn identity_provider_members(provider: &AuthIdentityProvider) -> [(&'static str, Option<&str>); 8] {
    [
        ("issuer", Some(&provider.issuer)),
        ("tokenEndpoint", provider.token_endpoint.as_deref()),
        ("clientId", Some(&provider.client_id)),
        ("clientSecret", provider.client_secret.as_deref()),
        ("clientAuth", provider.client_auth.as_deref()),
        ("privateKey", provider.private_key.as_deref()),
        ("algorithm", provider.algorithm.as_deref()),
        ("idToken", provider.id_token.as_deref()),
    ]
}

fn set_string_members(map: &CstObject, settings: &[(&str, Option<&str>)]) {
    for (key, text) in settings {
        match text {
            Some(text) => set_string_member(map, key, text),
            None => remove_members(map, &[key]),
        }
    }
}

fn set_member(map: &CstObject, key: &str, value: Option<CstInputValue>) {
    match (find_member(map, key), value) {
        (Some(property), Some(value)) => property.set_value(value),
        (Some(property), None) => property.remove(),
        (None, Some(value)) => drop(map.append(key, value)),
        (None, None) => {}
    }
}
