//! Conversion of sign-in settings between the API types and the host's types. The client secret is moved to the
//! keychain and never returned.

use ports::secrets;
use ports::server_config::{AuthConfig, GrantType, HttpConfig};

use super::{SecretVisibility, invalid_input_error};
use crate::ApiError;
use crate::data::{AdvancedAuthSettings, AuthSettings};

/// Last part of the name under which a client secret is stored. In the name of a stored header value, the header's name
/// is the last part.
const CLIENT_SECRET_NAME_SUFFIX: &str = "client_secret";

/// Maximum size of a sign-in secret, such as a private key, in bytes.
const MAX_SIGN_IN_SECRET_BYTES: usize = 16 * 1_024;

/// Applies the sign-in settings of a request to a server's settings.
///
/// Settings that the page does not display are preserved. If the page sends no settings, all are preserved. Returns the
/// storage key and value of each secret for the keychain.
pub(super) fn apply_auth_settings(
    http: &mut HttpConfig,
    settings: Option<AuthSettings>,
    server: &str,
    was: Option<&HttpConfig>,
    taken: &[String],
) -> Result<Option<(String, String)>, ApiError> {
    let before = was.and_then(|was| was.auth.clone());
    let Some(settings) = settings else {
        http.auth = before;
        return Ok(None);
    };
    let before = match settings.rest {
        Some(rest) => apply_advanced_auth_settings(rest, before.unwrap_or_default())?,
        None => before.unwrap_or_default(),
    };
    let origin = http.origin().unwrap_or_default();
    let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut secret_to_store = None;
    let client_secret = match text(settings.client_secret) {
        _ if !settings.has_secret => None,
        // Pasted settings may already reference a stored secret.
        Some(value) if is_secret_reference(&value) => Some(value),
        Some(value) => {
            let name = client_secret_name(server, &before, taken);
            secret_to_store = Some((secrets::secret_storage_key(&name, &origin), value));
            Some(secrets::secret_reference(&name))
        }
        None if was.and_then(HttpConfig::origin).is_some_and(|was| was == origin) => before.client_secret.clone(),
        None => return Err(invalid_input_error("enter the client secret again: it was entered for another address")),
    };
    let auth = AuthConfig {
        client_id: text(settings.client_id),
        client_secret,
        issuer: text(settings.issuer),
        scopes: settings.scopes,
        redirect_port: settings.redirect_port,
        ..before
    };
    if let Some(problem) = auth.problem() {
        return Err(invalid_input_error(problem));
    }
    http.auth = (auth != AuthConfig::default()).then_some(auth);
    Ok(secret_to_store)
}

/// Returns the name under which the client secret is stored: the existing name, or a new one that is not in `taken`.
fn client_secret_name(server: &str, before: &AuthConfig, taken: &[String]) -> String {
    let own = before.client_secret.as_deref().map(secrets::referenced_secret_names).unwrap_or_default();
    match own[..] {
        [name] if !secrets::is_secret_name_taken(name, taken) => name.to_owned(),
        _ => secrets::unused_secret_name(server, CLIENT_SECRET_NAME_SUFFIX, taken),
    }
}

/// Checks the size of a sign-in secret. Line breaks are permitted, since PEM keys contain them.
pub(super) fn check_sign_in_secret(value: &str) -> Result<(), ApiError> {
    if value.trim().is_empty() || value.len() > MAX_SIGN_IN_SECRET_BYTES {
        return Err(invalid_input_error(format!("a secret has 1 to {MAX_SIGN_IN_SECRET_BYTES} bytes")));
    }
    Ok(())
}

/// Returns `true` if a text consists of exactly one reference to a secret, `${secret:NAME}`.
fn is_secret_reference(text: &str) -> bool {
    matches!(secrets::referenced_secret_names(text)[..], [name] if secrets::secret_reference(name) == text)
}

/// Converts a server's sign-in settings to the API type, with or without the client secret.
pub(super) fn auth_view(auth: AuthConfig, values: SecretVisibility) -> AuthSettings {
    let is_pasted = values == SecretVisibility::Shown;
    AuthSettings {
        client_id: auth.client_id.clone(),
        client_secret: auth.client_secret.clone().filter(|_| is_pasted),
        has_secret: auth.client_secret.is_some(),
        issuer: auth.issuer.clone(),
        scopes: auth.scopes.clone(),
        redirect_port: auth.redirect_port,
        secret_names: if is_pasted { Vec::new() } else { auth.other_secret_names().map(str::to_owned).collect() },
        rest: is_pasted.then(|| advanced_auth_settings(auth)).filter(|rest| *rest != AdvancedAuthSettings::default()),
    }
}

fn advanced_auth_settings(auth: AuthConfig) -> AdvancedAuthSettings {
    AdvancedAuthSettings {
        client_auth: auth.client_auth,
        client_metadata_url: auth.client_metadata_url,
        grant: Some(auth.grant).filter(|grant| *grant != GrantType::default()).map(|grant| grant.name().to_owned()),
        private_key: auth.private_key,
        algorithm: auth.algorithm,
        identity_provider: auth.identity_provider,
        dpop: auth.dpop,
        assertion: auth.assertion,
    }
}

/// Returns the sign-in settings `before` with the advanced ones replaced by those of a request.
fn apply_advanced_auth_settings(rest: AdvancedAuthSettings, before: AuthConfig) -> Result<AuthConfig, ApiError> {
    let grant = match rest.grant {
        Some(name) => GrantType::ALL.into_iter().find(|grant| grant.name() == name),
        None => Some(GrantType::default()),
    };
    Ok(AuthConfig {
        client_auth: rest.client_auth,
        client_metadata_url: rest.client_metadata_url,
        grant: grant.ok_or_else(|| invalid_input_error("the grant type is not known"))?,
        private_key: rest.private_key,
        algorithm: rest.algorithm,
        identity_provider: rest.identity_provider,
        dpop: rest.dpop,
        assertion: rest.assertion,
        ..before
    })
}
