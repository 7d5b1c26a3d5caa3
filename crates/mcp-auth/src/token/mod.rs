//! Token requests of all grants, built with `oauth2` where it supports the grant. `token_request` authenticates the
//! client and sends requests. `token_response` parses responses leniently.

mod token_request;
mod token_response;

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::SystemTime;

use oauth2::{AuthorizationCode, PkceCodeVerifier, RedirectUrl, RefreshToken, Scope};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::dpop::{DpopKey, DpopNonces};
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::http_client::AuthHttpClient;
use crate::metadata_address;
use crate::metadata_document;
use crate::oauth_client::OAuthClient;

use token_request::TokenHttpClient;
pub(crate) use token_response::TokenResponse;
use token_response::parse_json_object;

/// Grant type for JWT bearer assertions (RFC 7523, 2.1).
const JWT_BEARER_GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Grant type for token exchange (RFC 8693, 2.1).
const TOKEN_EXCHANGE_GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:id_token";
/// Token type of enterprise-managed authorization: an identity assertion that is an authorization grant.
const ID_JAG_TYPE: &str = "urn:ietf:params:oauth:token-type:id-jag";
/// A token endpoint, with the OAuth client and the DPoP key that requests to it use.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) web: &'a AuthHttpClient,
    pub(crate) phase: AuthPhase,
    pub(crate) url: &'a Url,
    /// Issuer to which the endpoint belongs. It is the audience of assertions, and identifies the stored DPoP nonce.
    pub(crate) issuer: &'a str,
    pub(crate) client: &'a OAuthClient,
    pub(crate) dpop: Option<&'a DpopKey>,
    /// `true` if the response is rejected when its token is not bound to the key in `dpop`.
    pub(crate) requires_bound_token: bool,
    pub(crate) nonces: &'a DpopNonces,
    pub(crate) now: SystemTime,
}

impl TokenEndpoint<'_> {
    /// Exchanges an authorization code for tokens (RFC 6749, 4.1.3; RFC 7636, 4.5).
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Refused`] if the request is refused, [`AuthErrorCause::Unbound`] if the token is not
    /// bound as required, and another [`AuthErrorCause`] if no usable response arrives.
    pub(crate) async fn exchange_code(
        &self,
        code: &SecretString,
        verifier: PkceCodeVerifier,
        redirect_uri: &Url,
        resource: Option<&str>,
    ) -> Result<TokenResponse, AuthError> {
        let client = self.oauth_client();
        let redirect = RedirectUrl::from_url(redirect_uri.clone());
        let mut request = client
            .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
            .set_pkce_verifier(verifier)
            .set_redirect_uri(Cow::Owned(redirect));
        for (name, value) in self.assertion_parameters()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = TokenHttpClient { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.convert_grant_result(granted, exchange.id_token)
    }

    /// Renews a token with unchanged scopes (RFC 6749, 6).
    ///
    /// # Errors
    /// Returns the errors of [`exchange_code`](Self::exchange_code).
    pub(crate) async fn refresh(
        &self,
        token: &SecretString,
        resource: Option<&str>,
    ) -> Result<TokenResponse, AuthError> {
        let client = self.oauth_client();
        let token = RefreshToken::new(token.expose_secret().to_owned());
        let mut request = client.exchange_refresh_token(&token);
        for (name, value) in self.assertion_parameters()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = TokenHttpClient { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.convert_grant_result(granted, exchange.id_token)
    }

    /// Requests a token with the client credentials grant (RFC 6749, 4.4).
    ///
    /// # Errors
    /// Returns the errors of [`exchange_code`](Self::exchange_code).
    pub(crate) async fn request_client_credentials_token(
        &self,
        scopes: &[String],
        resource: Option<&str>,
    ) -> Result<TokenResponse, AuthError> {
        let client = self.oauth_client();
        let scopes = scopes.iter().cloned().map(Scope::new);
        let mut request = client.exchange_client_credentials().add_scopes(scopes);
        for (name, value) in self.assertion_parameters()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = TokenHttpClient { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.convert_grant_result(granted, exchange.id_token)
    }

    /// Requests a token with an assertion that another party signed (RFC 7523, 2.1).
    ///
    /// # Errors
    /// Returns the errors of [`exchange_code`](Self::exchange_code).
    pub(crate) async fn request_jwt_bearer_token(
        &self,
        statement: &SecretString,
        scopes: &[String],
        resource: Option<&str>,
    ) -> Result<TokenResponse, AuthError> {
        let mut parameters =
            vec![("grant_type", JWT_BEARER_GRANT_TYPE.to_owned()), ("assertion", statement.expose_secret().to_owned())];
        parameters.extend(scope_parameter(scopes));
        parameters.extend(resource_parameter(resource));
        let members = self.send_grant_request(parameters).await?;
        self.parse_token_response(&members)
    }

    /// Exchanges the user's ID token for a grant (RFC 8693) that the authorization server with the issuer `audience`
    /// accepts. Also returns the scopes of the grant if they differ from the requested ones.
    ///
    /// # Errors
    /// Returns the errors of [`exchange_code`](Self::exchange_code).
    pub(crate) async fn exchange_id_token_for_identity_assertion(
        &self,
        id_token: &SecretString,
        audience: &str,
        resource: &str,
        scopes: &[String],
    ) -> Result<(SecretString, Option<Vec<String>>), AuthError> {
        let mut parameters = vec![
            ("grant_type", TOKEN_EXCHANGE_GRANT_TYPE.to_owned()),
            ("requested_token_type", ID_JAG_TYPE.to_owned()),
            ("audience", audience.to_owned()),
            ("resource", resource.to_owned()),
            ("subject_token", id_token.expose_secret().to_owned()),
            ("subject_token_type", ID_TOKEN_TYPE.to_owned()),
        ];
        parameters.extend(scope_parameter(scopes));
        let members = self.send_grant_request(parameters).await?;
        let kind = metadata_document::string_member(&members, "issued_token_type");
        if kind.is_some_and(|kind| kind != ID_JAG_TYPE) {
            return Err(self.unreadable_response_error("it contains another type of token than requested"));
        }
        let grant = metadata_document::string_member(&members, "access_token").map(SecretString::from);
        let grant = grant.ok_or_else(|| self.unreadable_response_error("it contains no grant"))?;
        self.web.register_secret(&grant);
        self.web.set_conclusion("the identity provider gave a grant");
        Ok((grant, metadata_document::string_member(&members, "scope").map(|text| crate::scopes::parse_scopes(&text))))
    }

    /// Revokes a token (RFC 7009). `self` must be the revocation endpoint.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Refused`] if the request is refused, and another [`AuthErrorCause`] if no usable
    /// response arrives.
    pub(crate) async fn revoke(&self, token: &SecretString, hint: &str) -> Result<(), AuthError> {
        let parameters = vec![("token", token.expose_secret().to_owned()), ("token_type_hint", hint.to_owned())];
        let answer = self.post(self.build_form_request(parameters)?).await?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            self.web.set_conclusion("it is revoked");
            return Ok(());
        }
        let members = parse_json_object(answer.body()).unwrap_or_default();
        let cause = match metadata_document::string_member(&members, "error") {
            Some(code) if status < 500 => {
                self.oauth_error_cause(&code, metadata_document::string_member(&members, "error_description"))
            }
            _ => AuthErrorCause::Status { address: metadata_address::displayed_url(self.url), status },
        };
        self.web.set_conclusion(&cause.to_string());
        Err(self.phase.error(cause))
    }
}

fn resource_parameter(resource: Option<&str>) -> Option<(&'static str, String)> {
    resource.map(|resource| ("resource", resource.to_owned()))
}

fn scope_parameter(scopes: &[String]) -> Option<(&'static str, String)> {
    (!scopes.is_empty()).then(|| ("scope", scopes.join(" ")))
}
