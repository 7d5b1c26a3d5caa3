//! How to sign in, from the page's data to the host's and back. The client secret goes to the keychain on the way in, and does
//! not come out.

use host::secrets;
use host::server_config::{AuthConfig, HttpConfig};

use super::invalid;
use crate::ApiError;
use crate::data::AuthSettings;

/// What a secret of this kind is named after, as a header's is after the header.
const CLIENT_SECRET: &str = "client_secret";

/// Puts what the page wants into a server. What the page does not know of stays as it was, and all of it where the page says
/// nothing. Returns what is to be put into the keychain: key and value.
pub(super) fn put(
    http: &mut HttpConfig,
    wanted: Option<AuthSettings>,
    server: &str,
    was: Option<&HttpConfig>,
    taken: &[String],
) -> Result<Option<(String, String)>, ApiError> {
    let before = was.and_then(|was| was.auth.clone());
    let Some(wanted) = wanted else {
        http.auth = before;
        return Ok(None);
    };
    let before = before.unwrap_or_default();
    let origin = http.origin().unwrap_or_default();
    let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut kept = None;
    let client_secret = match text(wanted.client_secret) {
        _ if !wanted.has_secret => None,
        Some(value) => {
            let name = name(server, &before, taken);
            kept = Some((secrets::key(&name, &origin), value));
            Some(secrets::reference(&name))
        }
        None if was.and_then(HttpConfig::origin).is_some_and(|was| was == origin) => before.client_secret.clone(),
        None => return Err(invalid("enter the client secret again: it was meant for another address")),
    };
    let auth = AuthConfig {
        client_id: text(wanted.client_id),
        client_secret,
        issuer: text(wanted.issuer),
        scopes: wanted.scopes,
        ..before
    };
    if let Some(problem) = auth.problem() {
        return Err(invalid(problem));
    }
    http.auth = (auth != AuthConfig::default()).then_some(auth);
    Ok(kept)
}

/// What the client secret is to be called: as it is called already, or as nothing else is.
fn name(server: &str, before: &AuthConfig, taken: &[String]) -> String {
    let own = before.client_secret.as_deref().map(secrets::names).unwrap_or_default();
    match own[..] {
        [name] if !secrets::is_taken(name, taken) => name.to_owned(),
        _ => secrets::name_for(server, CLIENT_SECRET, taken),
    }
}

/// The names of the secrets that a server needs to sign in.
pub(super) fn names(auth: &AuthConfig) -> impl Iterator<Item = &str> {
    let id_token = auth.identity_provider.as_ref().and_then(|idp| idp.id_token.as_deref());
    let texts = [auth.client_secret.as_deref(), auth.private_key.as_deref(), auth.assertion.as_deref(), id_token];
    texts.into_iter().flatten().flat_map(secrets::names)
}

/// For the page.
pub(super) fn shown(auth: AuthConfig) -> AuthSettings {
    AuthSettings {
        client_id: auth.client_id,
        client_secret: None,
        has_secret: auth.client_secret.is_some(),
        issuer: auth.issuer,
        scopes: auth.scopes,
    }
}
