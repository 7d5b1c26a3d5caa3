//! How to sign in, from the page's data to the host's and back. The client secret goes to the keychain on the way in, and does
//! not come out.

use ports::secrets;
use ports::server_config::{AuthConfig, Grant, HttpConfig};

use super::{Values, invalid};
use crate::ApiError;
use crate::data::{AuthRest, AuthSettings};

/// What a secret of this kind is named after, as a header's is after the header.
const CLIENT_SECRET: &str = "client_secret";

/// The longest secret that is taken, in bytes.
const MAX_SECRET: usize = 16 * 1_024;

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
    let before = match wanted.rest {
        Some(rest) => rest_put(rest, before.unwrap_or_default())?,
        None => before.unwrap_or_default(),
    };
    let origin = http.origin().unwrap_or_default();
    let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut kept = None;
    let client_secret = match text(wanted.client_secret) {
        _ if !wanted.has_secret => None,
        // Pasted settings name it already.
        Some(value) if is_reference(&value) => Some(value),
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
        redirect_port: wanted.redirect_port,
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

/// Checks a secret that signing in needs; a key in PEM has several lines.
pub(super) fn check_secret(value: &str) -> Result<(), ApiError> {
    if value.trim().is_empty() || value.len() > MAX_SECRET {
        return Err(invalid(format!("a secret is a text of at most {MAX_SECRET} bytes, and not empty")));
    }
    Ok(())
}

/// Whether a text names one secret and holds nothing else.
fn is_reference(text: &str) -> bool {
    matches!(secrets::names(text)[..], [name] if secrets::reference(name) == text)
}

/// For the page.
pub(super) fn shown(auth: AuthConfig, values: Values) -> AuthSettings {
    let is_pasted = values == Values::Shown;
    AuthSettings {
        client_id: auth.client_id.clone(),
        client_secret: auth.client_secret.clone().filter(|_| is_pasted),
        has_secret: auth.client_secret.is_some(),
        issuer: auth.issuer.clone(),
        scopes: auth.scopes.clone(),
        redirect_port: auth.redirect_port,
        secret_names: if is_pasted { Vec::new() } else { auth.other_secret_names().map(str::to_owned).collect() },
        rest: is_pasted.then(|| rest(auth)).filter(|rest| *rest != AuthRest::default()),
    }
}

fn rest(auth: AuthConfig) -> AuthRest {
    AuthRest {
        client_auth: auth.client_auth,
        client_metadata_url: auth.client_metadata_url,
        grant: Some(auth.grant).filter(|grant| *grant != Grant::default()).map(|grant| grant.name().to_owned()),
        private_key: auth.private_key,
        algorithm: auth.algorithm,
        identity_provider: auth.identity_provider,
        dpop: auth.dpop,
        assertion: auth.assertion,
    }
}

/// What the page does not show, in the place of what was there.
fn rest_put(rest: AuthRest, before: AuthConfig) -> Result<AuthConfig, ApiError> {
    let grant = match rest.grant {
        Some(name) => Grant::ALL.into_iter().find(|grant| grant.name() == name),
        None => Some(Grant::default()),
    };
    Ok(AuthConfig {
        client_auth: rest.client_auth,
        client_metadata_url: rest.client_metadata_url,
        grant: grant.ok_or_else(|| invalid("there is no such way to get tokens"))?,
        private_key: rest.private_key,
        algorithm: rest.algorithm,
        identity_provider: rest.identity_provider,
        dpop: rest.dpop,
        assertion: rest.assertion,
        ..before
    })
}
