//! Selection of client id and redirect URI for a sign-in.

use sha2::{Digest as _, Sha256};
use url::Url;

use crate::account::ClientKind;
use crate::authorization_context::AuthorizationContext;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::client_registration::{self, ClientRegistration};
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::metadata_address;
use crate::oauth_client::{self, ClientIdApproach, OAuthClient, StoredClientAuth};
use crate::redirect_listener::RedirectListener;
use crate::settings::GrantKind;
use crate::sign_in_record::SignInRecord;

/// The client id that a sign-in uses, with the redirect listener and the redirect URI.
pub(crate) struct SignInClient {
    pub(crate) client: OAuthClient,
    pub(crate) callback: RedirectListener,
    pub(crate) redirect_uri: Url,
    /// Stored registration of the client id, or `None` if the client id was obtained in this sign-in.
    pub(crate) reused_registration: Option<ClientRegistration>,
    /// Registration to store after the sign-in has succeeded, if the user entered the client id in this sign-in.
    pub(crate) entered_registration: Option<ClientRegistration>,
}

impl AuthorizationContext {
    /// Selects or registers a client id, and starts a redirect listener on the port of the client's redirect URI.
    pub(crate) async fn select_sign_in_client(
        &self,
        server: &AuthorizationServerMetadata,
        dpop: bool,
    ) -> Result<SignInClient, AuthError> {
        let source = &self.settings.client;
        let first = match &source.preregistered {
            Some(preregistered) => self.issuer_bound_to_client_id(&preregistered.client_id).await,
            None => Ok(None),
        };
        // Not fatal, since the consent request shows the issuer.
        let first = first.unwrap_or_else(|error| {
            let cause = error.cause;
            self.web.note(AuthPhase::ClientId, &format!("the issuer of the client id could not be read: {cause}"));
            None
        });
        let stored = self.load_registration(&server.issuer).await;
        let methods = server.auth_methods.as_deref();
        match oauth_client::choose_client_id_approach(source, server, stored, first.as_deref())? {
            ClientIdApproach::Preregistered(preregistered) => {
                oauth_client::check_client_authentication_support(&preregistered.authentication, server)?;
                let callback = RedirectListener::bind(preregistered.redirect_port, true).await?;
                self.build_sign_in_client(oauth_client::preregistered_client(&preregistered, methods), callback)
            }
            ClientIdApproach::Document(url) => {
                let callback = RedirectListener::bind(None, false).await?;
                self.build_sign_in_client(oauth_client::metadata_document_client(&url), callback)
            }
            ClientIdApproach::Registered(stored) => {
                self.register_client_secrets_to_redact(&stored.client);
                let port = stored.redirect_uri.as_ref().and_then(Url::port);
                let callback = RedirectListener::bind(port, false).await?;
                match (&server.registration_endpoint, stored.redirect_uri.clone()) {
                    // The registered port is in use, and only registered redirect URIs are allowed.
                    (Some(endpoint), Some(_)) if port != Some(callback.port()) => {
                        self.register_sign_in_client(server, endpoint, callback, dpop).await
                    }
                    (_, Some(redirect_uri)) if port == Some(callback.port()) => Ok(SignInClient {
                        client: stored.client.clone(),
                        callback,
                        redirect_uri,
                        reused_registration: Some(stored),
                        entered_registration: None,
                    }),
                    _ => Ok(SignInClient {
                        reused_registration: Some(stored.clone()),
                        ..self.build_sign_in_client(stored.client, callback)?
                    }),
                }
            }
            ClientIdApproach::Register(endpoint) => {
                let callback = RedirectListener::bind(None, false).await?;
                self.register_sign_in_client(server, &endpoint, callback, dpop).await
            }
            ClientIdApproach::AskUser => {
                // The listener is bound first, as the user may have to register the redirect URI. It uses the same port
                // each time if possible, so that the registration stays valid.
                let callback = RedirectListener::bind(Some(preferred_redirect_port(&server.issuer)), false).await?;
                let redirect_uri = callback.redirect_uri()?;
                let typed = self.settings.user.ask_for_client_id(&server.issuer, &redirect_uri).await;
                let Some(typed) = typed.filter(|typed| !typed.client_id.is_empty()) else {
                    let issuer = metadata_address::displayed_text(&server.issuer);
                    return Err(AuthPhase::ClientId.error(AuthErrorCause::NoClientId { issuer }));
                };
                let client = oauth_client::user_entered_client(&typed, methods);
                let registration = ClientRegistration {
                    issuer: server.issuer.clone(),
                    client: client.clone(),
                    redirect_uri: Some(redirect_uri),
                    expires_at: None,
                    doubted: false,
                };
                Ok(SignInClient {
                    entered_registration: Some(registration),
                    ..self.build_sign_in_client(client, callback)?
                })
            }
        }
    }

    fn build_sign_in_client(&self, client: OAuthClient, callback: RedirectListener) -> Result<SignInClient, AuthError> {
        self.register_client_secrets_to_redact(&client);
        let redirect_uri = callback.redirect_uri()?;
        Ok(SignInClient { client, callback, redirect_uri, reused_registration: None, entered_registration: None })
    }

    async fn register_sign_in_client(
        &self,
        server: &AuthorizationServerMetadata,
        endpoint: &Url,
        callback: RedirectListener,
        dpop: bool,
    ) -> Result<SignInClient, AuthError> {
        let redirect_uri = callback.redirect_uri()?;
        let registration = client_registration::register_client(
            &self.web,
            &self.settings.client,
            server,
            endpoint,
            &redirect_uri,
            dpop,
        )
        .await?;
        self.store_registration(&registration).await;
        let redirect_uri = registration.redirect_uri.unwrap_or(redirect_uri);
        Ok(SignInClient {
            client: registration.client,
            callback,
            redirect_uri,
            reused_registration: None,
            entered_registration: None,
        })
    }

    fn register_client_secrets_to_redact(&self, client: &OAuthClient) {
        match &client.authentication {
            StoredClientAuth::Basic(secret) | StoredClientAuth::Post(secret) => self.web.register_secret(&secret.0),
            StoredClientAuth::PrivateKeyJwt { key_pem, .. } => self.web.register_secret(&key_pem.0),
            StoredClientAuth::None => {}
        }
    }

    /// Returns the client for a grant without user interaction: the pre-registered one, or for the enterprise-managed
    /// grant also a client ID metadata document.
    pub(crate) async fn select_client_without_user(
        &self,
        server: &AuthorizationServerMetadata,
    ) -> Result<OAuthClient, AuthError> {
        let source = &self.settings.client;
        // Without user interaction, a secret is not sent unless its issuer is known.
        let first = match &source.preregistered {
            Some(preregistered) if preregistered.issuer.is_none() => {
                self.issuer_bound_to_client_id(&preregistered.client_id).await?
            }
            _ => None,
        };
        let is_enterprise = matches!(self.settings.grant, GrantKind::EnterpriseManaged(_));
        match oauth_client::choose_client_id_approach(source, server, None, first.as_deref())? {
            ClientIdApproach::Preregistered(preregistered) => {
                oauth_client::check_client_authentication_support(&preregistered.authentication, server)?;
                let client = oauth_client::preregistered_client(&preregistered, server.auth_methods.as_deref());
                self.register_client_secrets_to_redact(&client);
                Ok(client)
            }
            ClientIdApproach::Document(url) if is_enterprise => Ok(oauth_client::metadata_document_client(&url)),
            _ => Err(AuthPhase::ClientId
                .error(AuthErrorCause::NoClientId { issuer: metadata_address::displayed_text(&server.issuer) })),
        }
    }

    /// Returns the client id of a stored sign-in, with the credentials that are in the settings now.
    pub(crate) fn current_client(&self, record: &SignInRecord) -> OAuthClient {
        let preregistered = self.settings.client.preregistered.as_ref();
        match preregistered.filter(|preregistered| preregistered.client_id == record.client.id) {
            Some(preregistered) if record.client.kind == ClientKind::Preregistered => {
                let client = oauth_client::preregistered_client(preregistered, record.auth_methods.as_deref());
                self.register_client_secrets_to_redact(&client);
                client
            }
            _ => {
                self.register_client_secrets_to_redact(&record.client);
                record.client.clone()
            }
        }
    }
}

/// Returns the preferred port of the redirect URI that a user has to register. It is a dynamic port (RFC 6335, 6) that
/// depends only on the issuer, so that the registered URI stays valid.
fn preferred_redirect_port(issuer: &str) -> u16 {
    let hash = Sha256::digest(issuer);
    0xC000 | u16::from_be_bytes([hash[0], hash[1]])
}

/// Removes from a pre-registered client its credentials, which are stored in the settings and must not be stored in the
/// vault.
pub(crate) fn strip_configured_credentials(client: OAuthClient) -> OAuthClient {
    match client.kind {
        ClientKind::Preregistered => OAuthClient { authentication: StoredClientAuth::None, ..client },
        _ => client,
    }
}

/// Returns `true` if an OAuth error code means that the authorization server does not know the client id.
pub(crate) fn is_unknown_client_error(code: &str) -> bool {
    matches!(code, "invalid_client" | "unauthorized_client")
}
