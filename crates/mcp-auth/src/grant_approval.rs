//! Endpoints that receive secrets of a sign-in, and the user's approval of them.
//!
//! The consent request of a sign-in in the browser lists all of these endpoints each time. A grant without user
//! interaction runs under the approval of the server's settings, which name the issuer and the scopes. An endpoint or
//! scope beyond these settings, and any later change, requires consent.

use url::Url;

use crate::account::ClientKind;
use crate::authorization_context::AuthorizationContext;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::discovery::DiscoveryResult;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::identity_provider::IdpTokenEndpoint;
use crate::metadata_address;
use crate::oauth_client::OAuthClient;
use crate::scopes;
use crate::settings::GrantKind;
use crate::sign_in_record::GrantApproval;
use crate::user::{AuthEndpoint, AuthReason, ConsentAnswer, ConsentPrompt, EndpointUse};

/// Tells if the user has consented, or can be asked to consent, to a token request without a browser.
pub(crate) enum ConsentMode {
    /// The user has approved all endpoints and scopes in this sign-in.
    Given,
    /// The user has not consented yet, but can be asked. Contains the reason that the consent request shows.
    AskUser(AuthReason),
    /// The user cannot be asked. An endpoint or scope that was not approved before is an error.
    Nobody,
}

impl AuthEndpoint {
    fn new(purpose: EndpointUse, url: &Url, issuer: &str) -> AuthEndpoint {
        AuthEndpoint { purpose, url: url.clone(), issuer: issuer.to_owned() }
    }

    fn is_on_issuer_site(&self) -> bool {
        Url::parse(&self.issuer).is_ok_and(|issuer| metadata_address::is_same_site(&self.url, &issuer))
    }
}

/// Returns the endpoints of an authorization server that receive secrets in this sign-in.
pub(crate) fn endpoints_receiving_secrets(
    server: &AuthorizationServerMetadata,
    client: &OAuthClient,
) -> Vec<AuthEndpoint> {
    let is_registered = client.kind == ClientKind::Registered;
    let registration = server.registration_endpoint.as_ref().filter(|_| is_registered);
    let token = (EndpointUse::Token, Some(&server.token_endpoint));
    [token, (EndpointUse::Registration, registration), (EndpointUse::Revocation, server.revocation_endpoint.as_ref())]
        .into_iter()
        .filter_map(|(purpose, url)| Some(AuthEndpoint::new(purpose, url?, &server.issuer)))
        .collect()
}

/// Returns an endpoint of an identity provider that receives secrets, for the list in a consent request.
pub(crate) fn identity_provider_endpoint(url: &Url, issuer: &str) -> AuthEndpoint {
    AuthEndpoint::new(EndpointUse::Provider, url, issuer)
}

impl AuthorizationContext {
    /// Returns the stored approval for this client id, or `None` if there is none.
    pub(crate) fn stored_grant_approval(&self, client_id: &str) -> Option<GrantApproval> {
        let state = self.state();
        let approved = state.record.as_ref().and_then(|record| record.approved.clone());
        approved.filter(|approved| approved.client_id == client_id)
    }

    /// Returns the scopes that a grant without user interaction may request: those in the settings and those that the
    /// user approved.
    pub(crate) fn scopes_from_settings_and_approval(&self, client_id: &str) -> Vec<String> {
        let settings = self.settings.scopes.as_deref().unwrap_or_default();
        let approved = self.stored_grant_approval(client_id).map(|approved| approved.scopes).unwrap_or_default();
        scopes::union_of_scopes(settings, &approved)
    }

    /// Checks that the user has approved all endpoints and scopes of a grant without user interaction, or requests
    /// consent to them.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::NotApproved`] if something is not approved and consent cannot be requested, and
    /// [`AuthErrorCause::Declined`] or [`AuthErrorCause::Cancelled`] if the user does not consent.
    pub(crate) async fn ensure_grant_approved(
        &self,
        found: &DiscoveryResult,
        client: &OAuthClient,
        provider: Option<&IdpTokenEndpoint>,
        requested: &[String],
        consenting: ConsentMode,
    ) -> Result<GrantApproval, AuthError> {
        let server = &found.authorization_server;
        let mut used = endpoints_receiving_secrets(server, client);
        used.extend(provider.map(|provider| identity_provider_endpoint(&provider.url, &provider.issuer)));
        let before = self.stored_grant_approval(&client.id);
        // On the first use, an endpoint must belong to the site of the approved issuer. Afterwards it must be one of
        // the stored endpoints.
        let is_approved = |endpoint: &AuthEndpoint| match &before {
            Some(before) => before.covers_endpoint(&endpoint.url),
            None => endpoint.is_on_issuer_site(),
        };
        let is_approved =
            |endpoint: &AuthEndpoint| is_approved(endpoint) || self.is_endpoint_in_settings(&endpoint.url);
        // The revocation endpoint receives nothing in this request. It is not stored unless it was approved.
        let is_needed = |endpoint: &AuthEndpoint| endpoint.purpose != EndpointUse::Revocation;
        let moved = used.iter().find(|endpoint| is_needed(endpoint) && !is_approved(endpoint)).cloned();
        let allowed = self.scopes_from_settings_and_approval(&client.id);
        let new_scopes = scopes::missing_scopes(requested, &allowed);
        let are_shown = match consenting {
            ConsentMode::Given => true,
            _ if moved.is_none() && new_scopes.is_empty() => false,
            ConsentMode::AskUser(reason) => {
                let consent = ConsentPrompt {
                    server: self.settings.server.clone(),
                    resource: found.resource.clone(),
                    issuer: server.issuer.clone(),
                    scopes: requested.to_vec(),
                    new_scopes: new_scopes.clone(),
                    client: client.kind,
                    client_id: client.id.clone(),
                    endpoints: used.clone(),
                    authorize_url: None,
                    redirect_uri: None,
                    reason,
                };
                self.request_consent(consent).await?;
                true
            }
            ConsentMode::Nobody => return Err(grant_not_approved_error(moved.as_ref(), &new_scopes)),
        };
        let shown = used.iter().filter(|endpoint| are_shown || is_approved(endpoint));
        let endpoints = shown.map(|endpoint| endpoint.url.clone()).collect();
        let before = before.map(|before| before.scopes).unwrap_or_default();
        Ok(GrantApproval {
            client_id: client.id.clone(),
            endpoints,
            scopes: scopes::union_of_scopes(&before, &new_scopes),
        })
    }

    /// Returns `true` if the settings, which the user approved, contain this endpoint.
    fn is_endpoint_in_settings(&self, url: &Url) -> bool {
        matches!(&self.settings.grant, GrantKind::EnterpriseManaged(provider) if provider.token_endpoint.as_ref() == Some(url))
    }

    /// Requests consent from the user.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Declined`] or [`AuthErrorCause::Cancelled`] if the user does not consent.
    pub(crate) async fn request_consent(&self, consent: ConsentPrompt) -> Result<(), AuthError> {
        self.set_sign_in_progress(AuthPhase::Consent, None);
        match self.settings.user.ask_for_consent(consent).await {
            ConsentAnswer::Yes => {
                self.web.note(AuthPhase::Consent, "the user agreed");
                Ok(())
            }
            ConsentAnswer::No => Err(AuthPhase::Consent.error(AuthErrorCause::Declined)),
            ConsentAnswer::Cancel => Err(AuthPhase::Consent.error(AuthErrorCause::Cancelled)),
        }
    }
}

fn grant_not_approved_error(moved: Option<&AuthEndpoint>, new_scopes: &[String]) -> AuthError {
    let what = match moved {
        Some(AuthEndpoint { url, issuer, .. }) => {
            format!(
                "{} now names the endpoint {}",
                metadata_address::displayed_text(issuer),
                metadata_address::displayed_url(url)
            )
        }
        None => format!(
            "the sign-in requests the permissions \"{}\"",
            metadata_address::displayed_text(&new_scopes.join(" "))
        ),
    };
    AuthPhase::Consent.error(AuthErrorCause::NotApproved { what })
}
