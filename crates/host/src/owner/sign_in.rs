//! Sign-ins to remote servers. Each server that may require one has a [`ServerSignIn`], which signs its requests. It
//! remains when the connection ends, and is dropped when the server's settings change.

mod flow;
mod request_signer;
mod sign_in_consent;
mod sign_in_factory;
mod sign_in_user;
mod sign_out;
mod views;

use std::sync::Arc;

use credentials::settings::unsupported_sign_in_reason;
use credentials::sign_in::{AuthorizationView, SignInError, SignInPhase, TokenStorage};
use host_state::check_pasted_redirect;
use mcp_auth::ServerAuthorization;
use mcp_transport::http::Authorizer;
use ports::server_config::{AuthConfig, HttpConfig};
use tokio::sync::oneshot;

use super::Owner;
use request_signer::RequestSigner;
use sign_in_factory::SignInFactory;
use sign_in_user::SignInUser;
pub(crate) use sign_out::TokenDeletionReply;

/// The OAuth authorization of one server, and the user's sign-in to it.
#[derive(Clone)]
pub(super) struct ServerSignIn {
    pub(super) authorization: Arc<ServerAuthorization>,
    user: Arc<SignInUser>,
    signing: Arc<RequestSigner>,
    /// Configuration for which the sign-in was created.
    config: Arc<HttpConfig>,
    /// Set if the configuration was approved when the sign-in was created.
    pub(super) is_approved: bool,
    /// Storage that contained the tokens when the sign-in was created, or `None` if no tokens were stored.
    found: Option<TokenStorage>,
}

impl ServerSignIn {
    /// Returns the authorizer that signs the requests of a connection.
    pub(super) fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::clone(&self.signing) as Arc<dyn Authorizer>
    }

    /// Returns `true` if the sign-in was created for this configuration. The configured transport may differ.
    pub(super) fn matches_config(&self, config: &HttpConfig) -> bool {
        (&self.config.url, &self.config.auth) == (&config.url, &config.auth)
    }

    /// Returns and clears the reason why the server rejected a request although it had the best available token.
    pub(super) fn take_refusal_cause(&self) -> Option<String> {
        self.signing.take_refusal_cause()
    }

    /// Passes the address that the user pasted to the sign-in to `server`, which waits for the browser.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotWaiting`] if it doesn't, and [`SignInError::BadRedirect`] if it can't use the address.
    pub(super) fn paste_redirect(&self, server: &str, address: &str) -> Result<(), SignInError> {
        let progress = self.authorization.progress();
        let progress = progress.map(|progress| views::sign_in_progress_view(progress, &self.user.progress()));
        let waiting = progress.filter(|progress| progress.phase == SignInPhase::AwaitingBrowser);
        let redirect_uri = waiting.and_then(|progress| progress.redirect_uri);
        let redirect_uri = redirect_uri.ok_or_else(|| SignInError::NotWaiting(server.to_owned()))?;
        let address = address.trim();
        check_pasted_redirect(address, &redirect_uri).map_err(SignInError::BadRedirect)?;
        if self.user.send_pasted_url(address) {
            Ok(())
        } else {
            Err(SignInError::BadRedirect("others are still being processed".to_owned()))
        }
    }

    /// Returns `true` if the sign-in requires neither the user nor a browser.
    fn signs_in_without_user(&self) -> bool {
        self.config.auth.as_ref().is_some_and(AuthConfig::is_unattended)
    }
}

impl Owner {
    pub(super) fn sign_in_factory(&self, name: &str) -> Option<SignInFactory> {
        let record = self.servers.records.get(name)?;
        let pins = self.reviews.pins.get(name);
        let pinned = pins.and_then(|pins| pins.identity.as_ref());
        let endpoints = pins.into_iter().flat_map(|pins| pins.endpoints.values()).flat_map(|urls| urls.split(' '));
        Some(SignInFactory {
            server: name.to_owned(),
            back: self.lifetime.back.clone(),
            ports: self.ports.clone(),
            vaults: Arc::clone(&self.sign_ins.vaults),
            activity: record.activity.clone(),
            existing: record.sign_in.sign_in_with_current_secrets().cloned(),
            endpoints: endpoints.filter_map(|url| url::Url::parse(url).ok()).collect(),
            approved: record.offer.identity.iter().chain(pinned.map(|pinned| &pinned.hash)).cloned().collect(),
        })
    }

    /// Calls `then` with the sign-in of a server, after creating it if necessary.
    fn with_sign_in(
        &mut self,
        name: &str,
        then: impl FnOnce(&mut Self, &str, Result<ServerSignIn, SignInError>) + Send + 'static,
    ) {
        let Some((record, factory)) = self.servers.records.get(name).zip(self.sign_in_factory(name)) else {
            return then(self, name, Err(SignInError::NotFound(name.to_owned())));
        };
        let offered = match (record.config.as_http(), unsupported_sign_in_reason(record.config.as_http())) {
            (Some(config), None) => Ok(config.clone()),
            (_, cause) => {
                let cause = cause.unwrap_or_default().to_owned();
                Err(SignInError::NotOffered { server: name.to_owned(), cause })
            }
        };
        match (offered, record.usable_sign_in()) {
            (Err(error), _) => then(self, name, Err(error)),
            (Ok(_), Some(sign_in)) => {
                let sign_in = sign_in.clone();
                then(self, name, Ok(sign_in));
            }
            (Ok(config), None) => {
                let name = name.to_owned();
                self.run_concurrently(factory.create_from_vault(config), move |owner, made| {
                    let sign_in = owner.servers.store_sign_in(&name, made);
                    then(owner, &name, sign_in);
                });
            }
        }
    }

    pub(crate) fn authorization(&mut self, name: &str, reply: oneshot::Sender<Result<AuthorizationView, SignInError>>) {
        self.with_sign_in(name, move |owner, name, sign_in| {
            let record = owner.servers.records.get(name).ok_or_else(|| SignInError::NotFound(name.to_owned()));
            let view = record.and_then(|record| views::authorization_view(name, &record.sign_in, sign_in));
            // The caller may have stopped waiting.
            let _ = reply.send(view);
        });
    }
}
