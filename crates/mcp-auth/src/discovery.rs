//! Discovery of the authorization server, starting with the server's challenge.

use crate::authorization_context::AuthorizationContext;
use crate::authorization_server::{self, AuthorizationServerMetadata};
use crate::challenge::TokenChallenge;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::metadata_address;
use crate::protected_resource::{self, ProtectedResourceMetadata};

/// The authorization server from which a token is requested, and the resource for which it is requested.
pub(crate) struct DiscoveryResult {
    pub(crate) authorization_server: AuthorizationServerMetadata,
    /// Value of the `resource` parameter (RFC 8707) in requests, exactly as the server spells it.
    pub(crate) resource: String,
    /// Value of `scopes_supported` in the protected resource metadata.
    pub(crate) scopes: Option<Vec<String>>,
    /// `true` if the MCP server accepts tokens that are bound to a key (DPoP, RFC 9449).
    pub(crate) dpop: bool,
}

impl AuthorizationContext {
    /// Discovers the authorization server to which a challenge refers. If it is not the same as for the previous
    /// sign-in, removes everything that the previous authorization server issued.
    pub(crate) async fn discover(&self, challenge: &TokenChallenge) -> Result<DiscoveryResult, AuthError> {
        let url = &self.settings.server;
        let resource =
            protected_resource::discover_resource(&self.web, url, challenge.resource_metadata.as_deref()).await?;
        self.set_sign_in_progress(AuthPhase::ServerMetadata, None);
        let named = self.settings.issuer.as_deref();
        let server = match &resource {
            Some(resource) if !resource.authorization_servers.is_empty() => {
                let issuer = self.choose_authorization_server_issuer(resource)?;
                authorization_server::discover_authorization_server_by_issuer(&self.web, &issuer).await?
            }
            _ => match named {
                Some(issuer) => {
                    authorization_server::discover_authorization_server_by_issuer(&self.web, issuer).await?
                }
                None => {
                    self.web.note(
                        AuthPhase::ServerMetadata,
                        "the server names no authorization server; trying its own origin",
                    );
                    authorization_server::discover_authorization_server_at_origin(&self.web, url).await?
                }
            },
        };
        let old = self.state().record.as_ref().map(|record| record.issuer.clone());
        if old.is_some_and(|old| old != server.issuer) {
            self.web.note(
                AuthPhase::ServerMetadata,
                "the server now has another authorization server; everything from the old one is removed",
            );
            self.forget_previous_sign_in_data().await;
        }
        let dpop = challenge.dpop || resource.as_ref().is_some_and(|resource| resource.dpop);
        let (resource, scopes) = match resource {
            Some(resource) => (resource.identifier, resource.scopes),
            None => (protected_resource::canonical_server_uri(url), None),
        };
        Ok(DiscoveryResult { authorization_server: server, resource, scopes, dpop })
    }

    /// Removes the tokens and registrations that the previous authorization server issued.
    pub(crate) async fn forget_previous_sign_in_data(&self) {
        if let Err(error) = self.remove_sign_in_record(false).await {
            self.web.note(AuthPhase::Storage, &format!("the old tokens could not be removed: {error}"));
        }
    }

    /// Returns the challenge of the MCP server. If `challenge` is `None`, sends a request without a token to obtain
    /// one.
    pub(crate) async fn obtain_token_challenge(
        &self,
        challenge: Option<TokenChallenge>,
    ) -> Result<TokenChallenge, AuthError> {
        let server = &self.mcp_server;
        // A token must not be sent unencrypted.
        let checked = metadata_address::parse_endpoint_url("the server", server, self.web.user_entered_urls());
        checked.map_err(|cause| AuthPhase::ResourceMetadata.error(cause))?;
        if let Some(challenge) = challenge {
            return Ok(challenge);
        }
        let request =
            http::Request::head(server).header("accept", "application/json, text/event-stream").body(Vec::new());
        let Ok(request) = request else { return Ok(TokenChallenge::default()) };
        let answer = self.web.send(AuthPhase::ResourceMetadata, request).await?;
        let lines = answer.headers().get_all("www-authenticate").iter();
        let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect();
        let is_challenge = answer.status().as_u16() == 401;
        self.web.set_conclusion(if is_challenge {
            "the server requires a sign-in"
        } else {
            "the server does not state its requirements"
        });
        let challenge = if is_challenge { TokenChallenge::parse(&lines) } else { TokenChallenge::default() };
        self.state().last_challenge = Some(challenge.clone());
        Ok(challenge)
    }

    /// Selects one of several authorization servers: the configured issuer, or else that of the pre-registered client
    /// id, the previous one, or the first (RFC 9728, 7.6).
    fn choose_authorization_server_issuer(&self, resource: &ProtectedResourceMetadata) -> Result<String, AuthError> {
        let listed = &resource.authorization_servers;
        let first = listed.first().cloned().unwrap_or_default();
        if let Some(named) = &self.settings.issuer {
            if listed.contains(named) {
                return Ok(named.clone());
            }
            return Err(AuthPhase::ResourceMetadata.error(AuthErrorCause::OtherIssuer {
                what: "the issuer in the settings",
                expected: metadata_address::displayed_text(named),
                found: metadata_address::displayed_text(&first),
            }));
        }
        let preregistered = self.settings.client.preregistered.as_ref().and_then(|client| client.issuer.clone());
        let before = self.state().record.as_ref().map(|record| record.issuer.clone());
        let preferred = [preregistered, before].into_iter().flatten().find(|issuer| listed.contains(issuer));
        Ok(preferred.unwrap_or(first))
    }
}
