//! The `auth` object of a remote server, as Drawbridge's own settings have it. `store` reads `mcp.json` by it, and [`crate::entry`] pasted
//! text.

use jsonc_parser::ast::{Object, Value};
use ports::server_config::{AuthConfig, AuthIdentityProvider, ConfigProblem, Grant};

use super::words;
use crate::json_text::{JsonText, given, kind as kind_of};

/// The key of the object in an entry.
pub const KEY: &str = "auth";
/// The key of one of its parts.
pub const SCOPES: &str = "scopes";
/// The key of one of its parts.
pub const GRANT: &str = "grant";
/// The key of one of its parts.
pub const DPOP: &str = "dpop";
/// The key of one of its parts.
pub const PORT: &str = "redirectPort";
/// The key of one of its parts.
pub const PROVIDER: &str = "identityProvider";

/// Reads how to sign in, whether it can be used or not; none if the entry does not say. `what` is its name in problems.
///
/// # Errors
/// With its place, if a part has another type than it must have.
pub fn parse(text: &JsonText<'_>, what: &str, entry: &Object<'_>) -> Result<Option<AuthConfig>, ConfigProblem> {
    let Some(property) = given(entry, KEY) else { return Ok(None) };
    let Value::Object(map) = &property.value else {
        return Err(
            text.problem_at(&property.value, format!("{what} must be an object, found {}", kind_of(&property.value)))
        );
    };
    text.no_duplicates(map, what)?;
    let of = |map: &Object<'_>, key: &str| -> Result<Option<String>, ConfigProblem> {
        let Some(property) = given(map, key) else { return Ok(None) };
        words(text, &property.value, &format!("{key:?} in {what}"), "a text").map(|text| Some(text.to_owned()))
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
    if let Some(scopes) = given(map, SCOPES) {
        let Value::Array(list) = &scopes.value else {
            let message = format!("{SCOPES:?} in {what} must be a list of texts, found {}", kind_of(&scopes.value));
            return Err(text.problem_at(&scopes.value, message));
        };
        for scope in &list.elements {
            auth.scopes.push(words(text, scope, &format!("{SCOPES:?} in {what}"), "a list of texts")?.to_owned());
        }
    }
    if let Some(grant) = given(map, GRANT) {
        let wanted = words(text, &grant.value, &format!("{GRANT:?} in {what}"), "a text")?;
        auth.grant = Grant::ALL.into_iter().find(|grant| grant.name() == wanted).ok_or_else(|| {
            let known = Grant::ALL.map(Grant::name).join(", ");
            text.problem_at(&grant.value, format!("{GRANT:?} in {what} must be one of {known}, found {wanted:?}"))
        })?;
    }
    if let Some(dpop) = given(map, DPOP) {
        let Value::BooleanLit(dpop) = &dpop.value else {
            let message = format!("{DPOP:?} in {what} must be true or false, found {}", kind_of(&dpop.value));
            return Err(text.problem_at(&dpop.value, message));
        };
        auth.dpop = Some(dpop.value);
    }
    if let Some(port) = given(map, PORT) {
        let number = port.value.as_number_lit().and_then(|number| number.value.parse().ok()).filter(|port| *port > 0);
        let message = || format!("{PORT:?} in {what} must be a port, a number from 1 to 65535");
        auth.redirect_port = Some(number.ok_or_else(|| text.problem_at(&port.value, message()))?);
    }
    if let Some(provider) = given(map, PROVIDER) {
        let Value::Object(provider) = &provider.value else {
            let message = format!("{PROVIDER:?} in {what} must be an object, found {}", kind_of(&provider.value));
            return Err(text.problem_at(&provider.value, message));
        };
        text.no_duplicates(provider, &format!("{PROVIDER:?} in {what}"))?;
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

/// The keys of the object that no [`AuthConfig`] has.
pub fn unknown<'e>(entry: &'e Object<'_>) -> Vec<&'e str> {
    const OTHERS: [&str; 5] = [SCOPES, GRANT, DPOP, PORT, PROVIDER];
    let texts = AuthConfig::default().texts().map(|(key, _)| key);
    let keys = entry.get_object(KEY).into_iter().flat_map(|map| &map.properties).map(|property| property.name.as_str());
    keys.filter(|key| !texts.contains(key) && !OTHERS.contains(key)).collect()
}
