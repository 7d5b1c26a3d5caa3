//! Selection of client id and redirect URI for a sign-in.

use sha2::{Digest as _, Sha256};
use url::Url;

use crate::account::ClientKind;
use crate::address;
use crate::callback::Callback;
use crate::client::{self, Authentication, Client, Way};
use crate::error::{AuthError, Cause, Phase};
use crate::record::Record;
use crate::registration::{self, Registration};
use crate::server::Server;
use crate::settings::GrantKind;
use crate::shared::Shared;

/// Client, redirect listener and redirect URI of one sign-in.
pub(crate) struct Identity {
    pub(crate) client: Client,
    pub(crate) callback: Callback,
    pub(crate) redirect_uri: Url,
    /// Stored registration, if the client id existed before this sign-in.
    pub(crate) reused: Option<Registration>,
    /// Client id that the user entered, to be stored once it has succeeded.
    pub(crate) typed: Option<Registration>,
}

impl Shared {
    /// Determines the client id and binds a redirect listener for it.
    pub(crate) async fn identify(&self, server: &Server, dpop: bool) -> Result<Identity, AuthError> {
        let source = &self.settings.client;
        let first = match &source.preregistered {
            Some(preregistered) => self.first_issuer(&preregistered.client_id).await,
            None => Ok(None),
        };
        // Not fatal, since the user sees the issuer in the consent request.
        let first = first.unwrap_or_else(|error| {
            let cause = error.cause;
            self.web.note(Phase::ClientId, &format!("the issuer of the client id could not be read: {cause}"));
            None
        });
        let kept = self.registration(&server.issuer).await;
        let methods = server.auth_methods.as_deref();
        match client::way(source, server, kept, first.as_deref())? {
            Way::Preregistered(preregistered) => {
                client::check_proof(&preregistered.authentication, server)?;
                let callback = Callback::bind(preregistered.redirect_port, true).await?;
                self.ready(client::preregistered(&preregistered, methods), callback)
            }
            Way::Document(url) => {
                let callback = Callback::bind(None, false).await?;
                self.ready(client::document_client(&url), callback)
            }
            Way::Registered(kept) => {
                self.learn_client(&kept.client);
                let port = kept.redirect_uri.as_ref().and_then(Url::port);
                let callback = Callback::bind(port, false).await?;
                match (&server.registration_endpoint, kept.redirect_uri.clone()) {
                    // The registered port is in use, and only registered redirect URIs are allowed.
                    (Some(endpoint), Some(_)) if port != Some(callback.port()) => {
                        self.register(server, endpoint, callback, dpop).await
                    }
                    (_, Some(redirect_uri)) if port == Some(callback.port()) => Ok(Identity {
                        client: kept.client.clone(),
                        callback,
                        redirect_uri,
                        reused: Some(kept),
                        typed: None,
                    }),
                    _ => Ok(Identity { reused: Some(kept.clone()), ..self.ready(kept.client, callback)? }),
                }
            }
            Way::Register(endpoint) => {
                let callback = Callback::bind(None, false).await?;
                self.register(server, &endpoint, callback, dpop).await
            }
            Way::Ask => {
                // Bound first, as the user may have to register the redirect URI. Uses the same port each time if
                // possible, so that the registration stays valid.
                let callback = Callback::bind(Some(usual_port(&server.issuer)), false).await?;
                let redirect_uri = callback.redirect_uri()?;
                let typed = self.settings.user.client_id(&server.issuer, &redirect_uri).await;
                let Some(typed) = typed.filter(|typed| !typed.client_id.is_empty()) else {
                    let issuer = address::shown(&server.issuer);
                    return Err(Phase::ClientId.error(Cause::NoClientId { issuer }));
                };
                let client = client::typed(&typed, methods);
                let registration = Registration {
                    issuer: server.issuer.clone(),
                    client: client.clone(),
                    redirect_uri: Some(redirect_uri),
                    expires_at: None,
                    doubted: false,
                };
                Ok(Identity { typed: Some(registration), ..self.ready(client, callback)? })
            }
        }
    }

    fn ready(&self, client: Client, callback: Callback) -> Result<Identity, AuthError> {
        self.learn_client(&client);
        let redirect_uri = callback.redirect_uri()?;
        Ok(Identity { client, callback, redirect_uri, reused: None, typed: None })
    }

    async fn register(
        &self,
        server: &Server,
        endpoint: &Url,
        callback: Callback,
        dpop: bool,
    ) -> Result<Identity, AuthError> {
        let redirect_uri = callback.redirect_uri()?;
        let registration =
            registration::register(&self.web, &self.settings.client, server, endpoint, &redirect_uri, dpop).await?;
        self.keep_registration(&registration).await;
        let redirect_uri = registration.redirect_uri.unwrap_or(redirect_uri);
        Ok(Identity { client: registration.client, callback, redirect_uri, reused: None, typed: None })
    }

    fn learn_client(&self, client: &Client) {
        match &client.authentication {
            Authentication::Basic(secret) | Authentication::Post(secret) => self.web.learn(&secret.0),
            Authentication::PrivateKeyJwt { key_pem, .. } => self.web.learn(&key_pem.0),
            Authentication::None => {}
        }
    }

    /// Returns the pre-registered client, which a grant without user interaction requires. The enterprise-managed grant
    /// can also use a client ID metadata document.
    pub(crate) async fn known_client(&self, server: &Server) -> Result<Client, AuthError> {
        let source = &self.settings.client;
        // Without user interaction, a secret is not sent unless its issuer is known.
        let first = match &source.preregistered {
            Some(preregistered) if preregistered.issuer.is_none() => {
                self.first_issuer(&preregistered.client_id).await?
            }
            _ => None,
        };
        let is_enterprise = matches!(self.settings.grant, GrantKind::EnterpriseManaged(_));
        match client::way(source, server, None, first.as_deref())? {
            Way::Preregistered(preregistered) => {
                client::check_proof(&preregistered.authentication, server)?;
                let client = client::preregistered(&preregistered, server.auth_methods.as_deref());
                self.learn_client(&client);
                Ok(client)
            }
            Way::Document(url) if is_enterprise => Ok(client::document_client(&url)),
            _ => Err(Phase::ClientId.error(Cause::NoClientId { issuer: address::shown(&server.issuer) })),
        }
    }

    /// Returns the client of a record with the credentials of the current settings.
    pub(crate) fn current_client(&self, record: &Record) -> Client {
        let preregistered = self.settings.client.preregistered.as_ref();
        match preregistered.filter(|preregistered| preregistered.client_id == record.client.id) {
            Some(preregistered) if record.client.kind == ClientKind::Preregistered => {
                let client = client::preregistered(preregistered, record.auth_methods.as_deref());
                self.learn_client(&client);
                client
            }
            _ => {
                self.learn_client(&record.client);
                record.client.clone()
            }
        }
    }
}

/// Returns the preferred port of the redirect URI for an authorization server whose client ids the user enters: a
/// dynamic port (RFC 6335, 6) derived from the issuer.
fn usual_port(issuer: &str) -> u16 {
    let hash = Sha256::digest(issuer);
    0xC000 | u16::from_be_bytes([hash[0], hash[1]])
}

/// Removes the credentials of a pre-registered client, which are stored in the settings.
pub(crate) fn without_settings(client: Client) -> Client {
    match client.kind {
        ClientKind::Preregistered => Client { authentication: Authentication::None, ..client },
        _ => client,
    }
}

/// Returns `true` if an error code means that the client is not (or no longer) known.
pub(crate) fn is_client_error(code: &str) -> bool {
    matches!(code, "invalid_client" | "unauthorized_client")
}
