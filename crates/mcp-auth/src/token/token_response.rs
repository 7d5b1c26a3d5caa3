//! Lenient parsing of token responses. Nothing of an unreadable response is displayed, because it may contain a token.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use oauth2::basic::{BasicErrorResponse, BasicTokenResponse, BasicTokenType};
use oauth2::{RequestTokenError, TokenResponse as _};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

use super::TokenEndpoint;
use crate::error::{AuthError, AuthErrorCause};
use crate::metadata_address;
use crate::metadata_document;
use crate::scopes;

/// Maximum accepted lifetime of a token in seconds: ten years.
const MAX_TOKEN_LIFETIME_SECONDS: f64 = 315_360_000.0;

type TokenRequestError = RequestTokenError<AuthError, BasicErrorResponse>;

/// Content of a successful token response.
pub(crate) struct TokenResponse {
    pub(crate) access: SecretString,
    /// `true` if the token is bound to the DPoP key with which it was requested.
    pub(crate) bound: bool,
    pub(crate) refresh: Option<SecretString>,
    pub(crate) lifetime: Option<Duration>,
    /// Granted scopes, or `None` if the response omits them because they equal the requested ones.
    pub(crate) scopes: Option<Vec<String>>,
    /// ID token (OpenID Connect), or `None` if the response has none.
    pub(crate) id_token: Option<SecretString>,
}

impl TokenEndpoint<'_> {
    pub(super) fn convert_grant_result(
        &self,
        granted: Result<BasicTokenResponse, TokenRequestError>,
        id_token: Mutex<Option<SecretString>>,
    ) -> Result<TokenResponse, AuthError> {
        match granted {
            Ok(response) => {
                let mut granted = self.convert_response(&response)?;
                granted.id_token = id_token.into_inner().unwrap_or_else(PoisonError::into_inner);
                if let Some(token) = &granted.id_token {
                    self.web.register_secret(token);
                }
                Ok(granted)
            }
            Err(RequestTokenError::Request(error)) => Err(error),
            Err(RequestTokenError::ServerResponse(response)) => {
                let description = response.error_description().cloned();
                Err(self.phase.error(self.oauth_error_cause(response.error().as_ref(), description)))
            }
            // Details are not displayed, since the first variant contains the response.
            Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => {
                Err(self.log_conclusion_of_error(self.unreadable_response_error("it contains no valid token")))
            }
        }
    }

    pub(super) fn parse_token_response(&self, members: &Map<String, Value>) -> Result<TokenResponse, AuthError> {
        let response = serde_json::from_value::<BasicTokenResponse>(Value::Object(members.clone()));
        let unreadable = |_| self.log_conclusion_of_error(self.unreadable_response_error("it contains no valid token"));
        self.convert_response(&response.map_err(unreadable)?)
    }

    fn convert_response(&self, response: &BasicTokenResponse) -> Result<TokenResponse, AuthError> {
        let access = SecretString::from(response.access_token().secret().clone());
        self.web.register_secret(&access);
        let refresh = response.refresh_token().map(|token| SecretString::from(token.secret().clone()));
        if let Some(refresh) = &refresh {
            self.web.register_secret(refresh);
        }
        let is_fit = |token: &SecretString| {
            let token = token.expose_secret();
            !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !is_fit(&access) {
            return Err(self.log_conclusion_of_error(
                self.unreadable_response_error("its token contains characters that are not allowed in a header"),
            ));
        }
        let bound = match response.token_type() {
            BasicTokenType::Bearer => false,
            BasicTokenType::Extension(kind) if kind.eq_ignore_ascii_case("dpop") && self.dpop.is_some() => true,
            _ => {
                return Err(self.log_conclusion_of_error(
                    self.unreadable_response_error("its token is of a type that was not requested"),
                ));
            }
        };
        if self.requires_bound_token && !bound {
            return Err(self.log_conclusion_of_error(self.phase.error(AuthErrorCause::Unbound)));
        }
        self.web.set_conclusion("a token was granted");
        Ok(TokenResponse {
            access,
            bound,
            refresh,
            lifetime: response.expires_in(),
            scopes: response
                .scopes()
                .map(|list| scopes::distinct_valid_scopes(list.iter().map(|scope| scope.as_str()))),
            id_token: None,
        })
    }

    pub(super) fn oauth_error_cause(&self, code: &str, description: Option<String>) -> AuthErrorCause {
        AuthErrorCause::Refused {
            code: self.web.redact_and_escape_untrusted(code),
            description: description.map(|text| self.web.redact_and_escape_untrusted(&text)),
        }
    }

    pub(super) fn unreadable_response_error(&self, cause: &str) -> AuthError {
        self.phase.error(AuthErrorCause::Unreadable {
            address: metadata_address::displayed_url(self.url),
            cause: cause.to_owned(),
        })
    }

    pub(super) fn log_conclusion_of_error(&self, error: AuthError) -> AuthError {
        self.web.set_conclusion(&error.cause.to_string());
        error
    }
}

pub(super) fn parse_json_object(body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}

/// Converts a token response to the form that RFC 6749, 5.1 requires. Accepts lifetimes that are strings or fractions,
/// scopes in lists, empty and null members, and a missing token type. A lifetime of zero is dropped, as the token was
/// just issued.
pub(super) fn normalize_token_response(members: &mut Map<String, Value>) {
    members.retain(|_, value| !value.is_null());
    let lifetime = match members.get("expires_in") {
        Some(Value::String(text)) => text.trim().parse::<f64>().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    match lifetime.filter(|seconds| (1.0..=MAX_TOKEN_LIFETIME_SECONDS).contains(seconds)) {
        // The value is within the bounds, so only its fraction is lost.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(seconds) => members.insert("expires_in".to_owned(), json!(seconds as u64)),
        None => members.remove("expires_in"),
    };
    let scope = match members.get("scope") {
        Some(Value::Array(items)) => Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        Some(Value::String(text)) => Some(scopes::parse_scopes(text).join(" ")),
        _ => None,
    };
    match scope.filter(|scope| !scope.is_empty()) {
        Some(scope) => members.insert("scope".to_owned(), Value::from(scope)),
        None => members.remove("scope"),
    };
    if metadata_document::string_member(members, "refresh_token").is_none() {
        members.remove("refresh_token");
    }
    if !members.contains_key("token_type") {
        members.insert("token_type".to_owned(), json!("Bearer"));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn token_responses_of_real_servers_are_parsed() {
        // Members except the token -> lifetime, scopes, refresh token, type
        let table = [
            (json!({ "expires_in": 3600, "token_type": "Bearer" }), Some(3600), None, false),
            (json!({ "expires_in": "3600", "token_type": "bearer" }), Some(3600), None, false),
            (json!({ "expires_in": 3599.6 }), Some(3599), None, false),
            (json!({ "expires_in": -5 }), None, None, false),
            (json!({ "expires_in": 0 }), None, None, false),
            (json!({ "expires_in": "0" }), None, None, false),
            (json!({ "expires_in": 0.5 }), None, None, false),
            (json!({ "expires_in": 1e300 }), None, None, false),
            (json!({ "expires_in": null, "scope": null, "refresh_token": null }), None, None, false),
            (json!({ "expires_in": "soon", "scope": "" }), None, None, false),
            (json!({ "scope": ["a", "b"] }), None, Some("a b"), false),
            (json!({ "scope": " a  b ", "refresh_token": "r" }), None, Some("a b"), true),
            (json!({ "refresh_token": "", "unknown": [1, { "x": null }] }), None, None, false),
        ];
        for (given, lifetime, scope, has_refresh) in table {
            let mut members = given.as_object().unwrap().clone();
            members.insert("access_token".to_owned(), json!("t"));
            normalize_token_response(&mut members);
            let read: BasicTokenResponse = serde_json::from_value(Value::Object(members)).unwrap();
            assert_eq!(read.expires_in().map(|life| life.as_secs()), lifetime, "the lifetime in {given}");
            let scopes =
                read.scopes().map(|list| list.iter().map(|scope| scope.to_string()).collect::<Vec<_>>().join(" "));
            assert_eq!(scopes.as_deref(), scope, "the scopes in {given}");
            assert_eq!(
                read.refresh_token().is_some(),
                has_refresh,
                "[auth-refresh-not-assumed] a refresh token in {given}"
            );
            assert_eq!(*read.token_type(), BasicTokenType::Bearer, "the type in {given}");
        }
    }
}
