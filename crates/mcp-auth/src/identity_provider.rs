//! Enterprise-managed authorization: the organization's identity provider authenticates the user, and issues a grant
//! for the MCP server's authorization server without sending the user there.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::account::ClientKind;
use crate::authorization_context::AuthorizationContext;
use crate::authorization_request::AuthorizationRequest;
use crate::authorization_server::{self, AuthorizationServerMetadata};
use crate::discovery::DiscoveryResult;
use crate::dpop::unix_seconds;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::grant_approval;
use crate::metadata_address;
use crate::oauth_client::{self, OAuthClient};
use crate::redirect_listener::RedirectListener;
use crate::settings::EnterpriseIdp;
use crate::sign_in_flow::{BrowserlessTokenRequest, check_pkce_support};
use crate::stored_secret::{self, StoredSecret};
use crate::token::TokenEndpoint;
use crate::user::AuthReason;

const PHASE: AuthPhase = AuthPhase::IdentityProvider;

/// Endpoint of the identity provider that exchanges an ID token for an authorization grant.
pub(crate) struct IdpTokenEndpoint {
    pub(crate) url: Url,
    pub(crate) issuer: String,
    /// Value of `token_endpoint_auth_methods_supported` in the identity provider's metadata, or `None` if the metadata
    /// was not read or contains none.
    methods: Option<Vec<String>>,
}

impl AuthorizationContext {
    /// Signs the user in at the identity provider in the browser (OpenID Connect). Returns the ID token and the token
    /// exchange endpoint. `request` has the parameters of the token request that follows. The consent request lists all
    /// endpoints, including the exchange endpoint.
    pub(crate) async fn sign_in_at_identity_provider(
        &self,
        provider: &EnterpriseIdp,
        why: AuthReason,
        request: &BrowserlessTokenRequest,
    ) -> Result<(StoredSecret, IdpTokenEndpoint), AuthError> {
        let server = authorization_server::discover_authorization_server_by_issuer(&self.web, &provider.issuer).await?;
        check_pkce_support(&server)?;
        oauth_client::check_client_authentication_support(&provider.authentication, &server)?;
        let client = client_at_identity_provider(provider, server.auth_methods.as_deref());
        let exchange = self.token_exchange_endpoint(provider, Some(&server))?;
        let mut endpoints = vec![grant_approval::identity_provider_endpoint(&server.token_endpoint, &server.issuer)];
        if exchange.url != server.token_endpoint {
            endpoints.push(grant_approval::identity_provider_endpoint(&exchange.url, &exchange.issuer));
        }
        endpoints
            .extend(grant_approval::endpoints_receiving_secrets(&request.found.authorization_server, &request.client));
        let callback = RedirectListener::bind(None, false).await?;
        let redirect_uri = callback.redirect_uri()?;
        let unreadable = |cause: &str| {
            let address = metadata_address::displayed_url(&server.token_endpoint);
            PHASE.error(AuthErrorCause::Unreadable { address, cause: cause.to_owned() })
        };
        let nonce = stored_secret::random_id().ok_or_else(|| unreadable("this system has no random source"))?;
        let visit = AuthorizationRequest {
            server: &server,
            client: &client,
            redirect_uri: &redirect_uri,
            scopes: &["openid".to_owned()],
            resource: None,
            openid_nonce: Some(&nonce),
            reused_registration: None,
            shown_resource_and_scopes: Some((&request.found.resource, &request.scopes)),
            endpoints,
            reason: why,
        };
        let (code, verifier, waiting) = self.request_authorization(visit, callback).await?;
        self.set_sign_in_progress(PHASE, None);
        let endpoint = self.token_endpoint(&server, &client, None, PHASE);
        let granted = endpoint.exchange_code(&code, verifier, &redirect_uri, None).await;
        let token = granted.and_then(|granted| {
            let token = granted.id_token.ok_or_else(|| unreadable("it contains no ID token"))?;
            let checked = validate_id_token(&token, provider, &nonce, unix_seconds(self.now()));
            checked.map(|()| StoredSecret(token)).map_err(unreadable)
        });
        match &token {
            Ok(_) => waiting.send_sign_in_result_page(Ok(())).await,
            Err(error) => waiting.send_sign_in_result_page(Err(&error.to_string())).await,
        }
        Ok((token?, exchange))
    }

    /// Returns the token exchange endpoint: the configured one, or else the token endpoint in the identity provider's
    /// metadata.
    pub(crate) async fn find_token_exchange_endpoint(
        &self,
        provider: &EnterpriseIdp,
    ) -> Result<IdpTokenEndpoint, AuthError> {
        let found = match &provider.token_endpoint {
            Some(_) => None,
            None => {
                Some(authorization_server::discover_authorization_server_by_issuer(&self.web, &provider.issuer).await?)
            }
        };
        if let Some(found) = &found {
            oauth_client::check_client_authentication_support(&provider.authentication, found)?;
        }
        self.token_exchange_endpoint(provider, found.as_ref())
    }

    fn token_exchange_endpoint(
        &self,
        provider: &EnterpriseIdp,
        found: Option<&AuthorizationServerMetadata>,
    ) -> Result<IdpTokenEndpoint, AuthError> {
        let url = match (&provider.token_endpoint, found) {
            (Some(url), _) => url.as_str(),
            (None, Some(found)) => found.token_endpoint.as_str(),
            (None, None) => provider.issuer.as_str(),
        };
        let url = metadata_address::parse_endpoint_url(
            "the identity provider's token endpoint",
            url,
            self.web.user_entered_urls(),
        );
        let url = url.map_err(|cause| PHASE.error(cause))?;
        // The metadata does not describe an endpoint that the settings name.
        let methods = found.filter(|_| provider.token_endpoint.is_none()).and_then(|found| found.auth_methods.clone());
        Ok(IdpTokenEndpoint { url, issuer: provider.issuer.clone(), methods })
    }

    /// Exchanges the ID token at the identity provider for a grant that the MCP server's authorization server accepts.
    pub(crate) async fn exchange_id_token(
        &self,
        provider: &EnterpriseIdp,
        exchange: &IdpTokenEndpoint,
        stored: Option<&StoredSecret>,
        found: &DiscoveryResult,
        scopes: &[String],
    ) -> Result<(SecretString, Option<Vec<String>>), AuthError> {
        let id_token = provider.id_token.as_ref().or(stored.map(|stored| &stored.0));
        let Some(id_token) = id_token else {
            let cause = "you are not signed in at the organization's identity provider".to_owned();
            return Err(PHASE.error(AuthErrorCause::SignInNeeded { cause }));
        };
        self.web.register_secret(id_token);
        let client = client_at_identity_provider(provider, exchange.methods.as_deref());
        let endpoint = TokenEndpoint {
            web: &self.web,
            phase: PHASE,
            url: &exchange.url,
            issuer: &provider.issuer,
            client: &client,
            dpop: None,
            requires_bound_token: false,
            nonces: &self.authorization_nonces,
            now: self.now(),
        };
        endpoint
            .exchange_id_token_for_identity_assertion(
                id_token,
                &found.authorization_server.issuer,
                &found.resource,
                scopes,
            )
            .await
    }
}

fn client_at_identity_provider(provider: &EnterpriseIdp, methods: Option<&[String]>) -> OAuthClient {
    OAuthClient {
        kind: ClientKind::Preregistered,
        id: provider.client_id.clone(),
        authentication: oauth_client::to_stored_authentication(&provider.authentication, methods),
    }
}

/// Validates the claims of an ID token. The signature is not checked, because the token was received directly from the
/// token endpoint over TLS (OpenID Connect Core, 3.1.3.7).
fn validate_id_token(
    token: &SecretString,
    provider: &EnterpriseIdp,
    nonce: &str,
    now: u64,
) -> Result<(), &'static str> {
    let payload = token.expose_secret().split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let claims: Value =
        payload.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or("its ID token is malformed")?;
    let is_for_us = match &claims["aud"] {
        Value::String(audience) => *audience == provider.client_id,
        Value::Array(list) => list.iter().any(|audience| *audience == *provider.client_id),
        _ => false,
    };
    if claims["iss"] != *provider.issuer {
        Err("its ID token is from another issuer")
    } else if !is_for_us {
        Err("its ID token is for another client")
    } else if !claims["nonce"].as_str().is_some_and(|found| stored_secret::constant_time_eq(found, nonce)) {
        Err("its ID token belongs to another sign-in")
    } else if claims["exp"].as_u64().is_none_or(|end| end <= now) {
        Err("its ID token has expired")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::ClientAuthentication;

    #[test]
    fn id_token_must_belong_to_this_sign_in() {
        let provider = EnterpriseIdp {
            issuer: "https://idp.example".to_owned(),
            token_endpoint: None,
            client_id: "us".to_owned(),
            authentication: ClientAuthentication::None,
            id_token: None,
        };
        let good = json!({ "iss": "https://idp.example", "aud": "us", "nonce": "n-1", "exp": 100 });
        let table = [
            (json!({}), true),
            (json!({ "aud": ["x", "us"] }), true),
            (json!({ "iss": "https://idp.example/" }), false),
            (json!({ "aud": "other" }), false),
            (json!({ "nonce": "n-2" }), false),
            (json!({ "nonce": null }), false),
            (json!({ "exp": 50 }), false),
            (json!({ "exp": null }), false),
        ];
        for (change, is_good) in table {
            let mut claims = good.clone();
            for (name, value) in change.as_object().into_iter().flatten() {
                claims[name] = value.clone();
            }
            let token = SecretString::from(format!("x.{}.x", URL_SAFE_NO_PAD.encode(claims.to_string())));
            let checked = validate_id_token(&token, &provider, "n-1", 50);
            assert_eq!(checked.is_ok(), is_good, "[auth-ema-nonce-pkce] with {change}: {checked:?}");
        }
    }
}
