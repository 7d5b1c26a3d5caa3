//! The `auth` object of a remote server: how to sign in to it.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::cst::{CstInputValue, CstObject};
use ports::server_config::{AuthConfig, AuthIdentityProvider, ConfigProblem, Grant};

use super::edit::{find, remove_all, set_text, texts};
use super::read::words;
use crate::json_text::{JsonText, given, kind as kind_of};

pub(crate) const KEY: &str = "auth";
const SCOPES: &str = "scopes";
const GRANT: &str = "grant";
const DPOP: &str = "dpop";
const PORT: &str = "redirectPort";
const PROVIDER: &str = "identityProvider";

/// Reads how to sign in to a server; none if its entry does not say.
pub(super) fn read(text: &JsonText<'_>, name: &str, entry: &Object<'_>) -> Result<Option<AuthConfig>, ConfigProblem> {
    let what = format!("{KEY:?} of server {name:?}");
    let found = parse(text, &what, entry)?;
    match found.as_ref().and_then(AuthConfig::problem).zip(given(entry, KEY)) {
        Some((problem, property)) => Err(text.problem_at(&property.value, format!("{what}: {problem}"))),
        None => Ok(found),
    }
}

/// The same, whether it can be used or not. `what` is what problems call it.
pub(crate) fn parse(text: &JsonText<'_>, what: &str, entry: &Object<'_>) -> Result<Option<AuthConfig>, ConfigProblem> {
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

/// What is said in the object that no [`AuthConfig`] has.
pub(crate) fn unknown<'e>(entry: &'e Object<'_>) -> Vec<&'e str> {
    const OTHERS: [&str; 5] = [SCOPES, GRANT, DPOP, PORT, PROVIDER];
    let texts = AuthConfig::default().texts().map(|(key, _)| key);
    let keys = entry.get_object(KEY).into_iter().flat_map(|map| &map.properties).map(|property| property.name.as_str());
    keys.filter(|key| !texts.contains(key) && !OTHERS.contains(key)).collect()
}

/// The object as it is written for a server that has none yet.
pub(super) fn written(auth: &AuthConfig) -> CstInputValue {
    let mut all: Vec<(String, CstInputValue)> = Vec::new();
    for (key, text) in auth.texts() {
        all.extend(text.map(|text| (key.to_owned(), text.into())));
    }
    if !auth.scopes.is_empty() {
        all.push((SCOPES.to_owned(), texts(&auth.scopes)));
    }
    if auth.grant != Grant::default() {
        all.push((GRANT.to_owned(), auth.grant.name().into()));
    }
    all.extend(auth.dpop.map(|dpop| (DPOP.to_owned(), dpop.into())));
    all.extend(auth.redirect_port.map(|port| (PORT.to_owned(), CstInputValue::Number(port.to_string()))));
    if let Some(provider) = &auth.identity_provider {
        let provider =
            provider_texts(provider).into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
        all.push((PROVIDER.to_owned(), CstInputValue::Object(provider.collect())));
    }
    CstInputValue::Object(all)
}

/// Changes the object of a server; what is not understood in it stays.
pub(super) fn change(entry: &CstObject, wanted: Option<&AuthConfig>) {
    let Some(auth) = wanted else { return remove_all(entry, &[KEY]) };
    let Some(map) = find(entry, KEY).and_then(|property| property.object_value()) else {
        remove_all(entry, &[KEY]);
        entry.append(KEY, written(auth));
        return;
    };
    set_texts(&map, &auth.texts());
    // Each stays as it is written while it says the same.
    let scopes = find(&map, SCOPES).and_then(|property| property.array_value());
    match scopes.filter(|_| !auth.scopes.is_empty()) {
        Some(list) => super::edit::change_list(&list, &auth.scopes),
        None => set(&map, SCOPES, Some(&auth.scopes).filter(|scopes| !scopes.is_empty()).map(|scopes| texts(scopes))),
    }
    if auth.grant != Grant::default() || find(&map, GRANT).is_some() {
        set_text(&map, GRANT, auth.grant.name());
    }
    set(&map, DPOP, auth.dpop.map(CstInputValue::from));
    set(&map, PORT, auth.redirect_port.map(|port| CstInputValue::Number(port.to_string())));
    match (&auth.identity_provider, find(&map, PROVIDER).and_then(|property| property.object_value())) {
        (Some(provider), Some(object)) => set_texts(&object, &provider_texts(provider)),
        (Some(provider), None) => {
            let all =
                provider_texts(provider).into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
            set(&map, PROVIDER, Some(CstInputValue::Object(all.collect())));
        }
        (None, _) => remove_all(&map, &[PROVIDER]),
    }
}

fn provider_texts(provider: &AuthIdentityProvider) -> [(&'static str, Option<&str>); 8] {
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

fn set_texts(map: &CstObject, wanted: &[(&str, Option<&str>)]) {
    for (key, text) in wanted {
        match text {
            Some(text) => set_text(map, key, text),
            None => remove_all(map, &[key]),
        }
    }
}

fn set(map: &CstObject, key: &str, value: Option<CstInputValue>) {
    match (find(map, key), value) {
        (Some(property), Some(value)) => property.set_value(value),
        (Some(property), None) => property.remove(),
        (None, Some(value)) => drop(map.append(key, value)),
        (None, None) => {}
    }
}
