//! The `auth` object of a remote server in Drawbridge's format. `store` parses it in `mcp.json`, and [`crate::entry`]
//! in pasted text.

use jsonc_parser::ast::{Object, Value};
use ports::server_config::{AuthConfig, AuthIdentityProvider, ConfigProblem, GrantType};

use super::command_text;
use crate::json_text::{JsonText, present_property, value_type_name as kind_of};

/// Key of the object with the sign-in settings in a server's entry.
pub const AUTH_KEY: &str = "auth";
/// Key of the list of OAuth scopes to request.
pub const SCOPES_KEY: &str = "scopes";
/// Key of the OAuth grant type to use.
pub const GRANT_TYPE_KEY: &str = "grant";
/// Key of the setting that requires or disables DPoP (RFC 9449) for the sign-in.
pub const DPOP_KEY: &str = "dpop";
/// Key of the port in the redirect URI, which refers to this computer.
pub const REDIRECT_PORT_KEY: &str = "redirectPort";
/// Key of the identity provider that signs the user in.
pub const IDENTITY_PROVIDER_KEY: &str = "identityProvider";

/// Parses the sign-in settings without validating them, or returns `None` if the entry has none. `what` names the entry
/// in error messages.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if a member has the wrong type.
pub fn parse_auth(text: &JsonText<'_>, what: &str, entry: &Object<'_>) -> Result<Option<AuthConfig>, ConfigProblem> {
    let Some(property) = present_property(entry, AUTH_KEY) else { return Ok(None) };
    let Value::Object(map) = &property.value else {
        return Err(text
            .value_problem(&property.value, format!("{what} must be an object, found {}", kind_of(&property.value))));
    };
    text.reject_duplicate_keys(map, what)?;
    let of = |map: &Object<'_>, key: &str| -> Result<Option<String>, ConfigProblem> {
        let Some(property) = present_property(map, key) else { return Ok(None) };
        command_text(text, &property.value, &format!("{key:?} in {what}"), "a text").map(|text| Some(text.to_owned()))
    };
    let mut auth = AuthConfig {
        client_id: of(map, "clientId")?,
        client_secret: of(map, "clientSecret")?,
        client_auth: of(map, "clientAuth")?,
        client_metadata_url: of(map, "clientMetadataUrl")?,
        issuer: of(map, "issuer")?,
        private_key: of(map, "privateKey")?,
        algorithm: of(map, "algorithm")?,
        assertion: of(map, "assertion")?,
        ..AuthConfig::default()
    };
    if let Some(scopes) = present_property(map, SCOPES_KEY) {
        let Value::Array(list) = &scopes.value else {
            let message = format!("{SCOPES_KEY:?} in {what} must be a list of texts, found {}", kind_of(&scopes.value));
            return Err(text.value_problem(&scopes.value, message));
        };
        for scope in &list.elements {
            auth.scopes
                .push(command_text(text, scope, &format!("{SCOPES_KEY:?} in {what}"), "a list of texts")?.to_owned());
        }
    }
    if let Some(grant) = present_property(map, GRANT_TYPE_KEY) {
        let name = command_text(text, &grant.value, &format!("{GRANT_TYPE_KEY:?} in {what}"), "a text")?;
        auth.grant = GrantType::ALL.into_iter().find(|grant| grant.name() == name).ok_or_else(|| {
            let known = GrantType::ALL.map(GrantType::name).join(", ");
            text.value_problem(
                &grant.value,
                format!("{GRANT_TYPE_KEY:?} in {what} must be one of {known}, found {name:?}"),
            )
        })?;
    }
    if let Some(dpop) = present_property(map, DPOP_KEY) {
        let Value::BooleanLit(dpop) = &dpop.value else {
            let message = format!("{DPOP_KEY:?} in {what} must be true or false, found {}", kind_of(&dpop.value));
            return Err(text.value_problem(&dpop.value, message));
        };
        auth.dpop = Some(dpop.value);
    }
    if let Some(port) = present_property(map, REDIRECT_PORT_KEY) {
        let number = port.value.as_number_lit().and_then(|number| number.value.parse().ok()).filter(|port| *port > 0);
        let message = || format!("{REDIRECT_PORT_KEY:?} in {what} must be a port, a number from 1 to 65535");
        auth.redirect_port = Some(number.ok_or_else(|| text.value_problem(&port.value, message()))?);
    }
    if let Some(provider) = present_property(map, IDENTITY_PROVIDER_KEY) {
        let Value::Object(provider) = &provider.value else {
            let message =
                format!("{IDENTITY_PROVIDER_KEY:?} in {what} must be an object, found {}", kind_of(&provider.value));
            return Err(text.value_problem(&provider.value, message));
        };
        text.reject_duplicate_keys(provider, &format!("{IDENTITY_PROVIDER_KEY:?} in {what}"))?;
        let needed = |key: &str| of(provider, key).map(Option::unwrap_or_default);
        auth.identity_provider = Some(AuthIdentityProvider {
            issuer: needed("issuer")?,
            token_endpoint: of(provider, "tokenEndpoint")?,
            client_id: needed("clientId")?,
            client_secret: of(provider, "clientSecret")?,
            client_auth: of(provider, "clientAuth")?,
            private_key: of(provider, "privateKey")?,
            algorithm: of(provider, "algorithm")?,
            id_token: of(provider, "idToken")?,
        });
    }
    Ok(Some(auth))
}

/// Returns the keys in the entry's `auth` object that do not belong to Drawbridge's format.
pub fn unknown_auth_keys<'e>(entry: &'e Object<'_>) -> Vec<&'e str> {
    const NON_TEXT_AUTH_KEYS: [&str; 5] =
        [SCOPES_KEY, GRANT_TYPE_KEY, DPOP_KEY, REDIRECT_PORT_KEY, IDENTITY_PROVIDER_KEY];
    let texts = AuthConfig::default().text_settings().map(|(key, _)| key);
    let keys =
        entry.get_object(AUTH_KEY).into_iter().flat_map(|map| &map.properties).map(|property| property.name.as_str());
    keys.filter(|key| !texts.contains(key) && !NON_TEXT_AUTH_KEYS.contains(key)).collect()
}
