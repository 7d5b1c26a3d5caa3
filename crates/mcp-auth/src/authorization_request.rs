//! The authorization request of a sign-in: requests consent from the user, opens the browser, and waits for the
//! authorization response.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use oauth2::basic::BasicClient;
use oauth2::{AuthUrl, ClientId, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::authorization_context::AuthorizationContext;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::client_registration::ClientRegistration;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::oauth_client::OAuthClient;
use crate::redirect_listener::{
    self, AuthorizationResponse, AuthorizationResult as Brought, BrowserConnection, RedirectListener,
};
use crate::scopes;
use crate::user::{AuthEndpoint, AuthReason, ConsentPrompt};

/// Maximum number of invalid authorization responses that are logged for one sign-in. There may be many, since any
/// local process can send them.
const MAX_LOGGED_INVALID_RESPONSES: usize = 10;

/// Parameters of an authorization request (RFC 6749, 4.1.1), and data for its consent request.
pub(crate) struct AuthorizationRequest<'a> {
    pub(crate) server: &'a AuthorizationServerMetadata,
    pub(crate) client: &'a OAuthClient,
    pub(crate) redirect_uri: &'a Url,
    pub(crate) scopes: &'a [String],
    /// Value of the `resource` parameter, exactly as the server spells it. `None` if the token is not for a resource.
    pub(crate) resource: Option<&'a str>,
    /// Value of the `nonce` parameter (OpenID Connect), or `None` for plain OAuth.
    pub(crate) openid_nonce: Option<&'a str>,
    /// Stored registration of the client id, or `None` if the client id was obtained in this sign-in.
    pub(crate) reused_registration: Option<&'a ClientRegistration>,
    /// Resource and scopes of the token request that follows this authorization request, if they differ from those
    /// above, as in the enterprise-managed grant. The consent request then shows these.
    pub(crate) shown_resource_and_scopes: Option<(&'a str, &'a [String])>,
    /// Endpoints that will receive secrets in this sign-in, all of which the consent request lists.
    pub(crate) endpoints: Vec<AuthEndpoint>,
    pub(crate) reason: AuthReason,
}

/// Values that are valid for one authorization request only: state and PKCE verifier.
struct AuthorizationRequestSecrets {
    state: SecretString,
    verifier: PkceCodeVerifier,
    /// Complete URL that the browser opens, with the one-time values.
    url: Url,
}

impl AuthorizationRequest<'_> {
    fn generate_request_secrets(&self) -> Result<AuthorizationRequestSecrets, AuthError> {
        let Some(endpoint) = &self.server.authorization_endpoint else {
            let cause = "it has no authorization endpoint".to_owned();
            let address = crate::metadata_address::displayed_text(&self.server.issuer);
            return Err(AuthPhase::ServerMetadata.error(AuthErrorCause::Unreadable { address, cause }));
        };
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client =
            BasicClient::new(ClientId::new(self.client.id.clone())).set_auth_uri(AuthUrl::from_url(endpoint.clone()));
        let mut request = client
            .authorize_url(CsrfToken::new_random)
            .set_redirect_uri(Cow::Owned(RedirectUrl::from_url(self.redirect_uri.clone())))
            .set_pkce_challenge(challenge)
            .add_scopes(self.scopes.iter().cloned().map(Scope::new));
        if let Some(resource) = self.resource {
            request = request.add_extra_param("resource", resource);
        }
        if let Some(nonce) = self.openid_nonce {
            request = request.add_extra_param("nonce", nonce);
        }
        // OpenID Connect Core, 3.1.2.1 and 11: offline access requires the consent prompt.
        let consent = scopes::has_offline_access(self.scopes).then_some("consent");
        // Some servers refuse unknown prompts. `login` is known everywhere.
        let other = if self.server.supports_account_selection { "select_account" } else { "login" };
        let other = matches!(self.reason, AuthReason::AnotherAccount).then_some(other);
        let prompts: Vec<&str> = other.into_iter().chain(consent).collect();
        if !prompts.is_empty() {
            request = request.add_extra_param("prompt", prompts.join(" "));
        }
        let (url, state) = request.url();
        Ok(AuthorizationRequestSecrets { state: SecretString::from(state.into_secret()), verifier, url })
    }
}

impl AuthorizationContext {
    /// Requests the user's consent, opens the browser and waits for the authorization response. Returns the
    /// authorization code, the PKCE verifier and the browser's connection, over which the result page is sent.
    pub(crate) async fn request_authorization(
        &self,
        visit: AuthorizationRequest<'_>,
        callback: RedirectListener,
    ) -> Result<(SecretString, PkceCodeVerifier, BrowserConnection), AuthError> {
        let one_use = visit.generate_request_secrets()?;
        self.web.register_secret(&one_use.state);
        self.web.register_secret(&SecretString::from(one_use.verifier.secret().clone()));
        self.request_consent_to_open_browser(&visit, &one_use.url).await?;
        // The registration stays doubted if the browser never returns.
        self.store_doubt_about_reused_registration(&visit, true).await;
        self.set_sign_in_progress(AuthPhase::Browser, Some(one_use.url.clone()));
        self.web.log_browser_request(AuthPhase::Browser, &one_use.url, "opened in the browser");
        let user = &self.settings.user;
        if let Err(cause) = user.open_browser(&one_use.url).await {
            let cause = self.web.redact_and_escape_untrusted(&cause);
            self.web.note(AuthPhase::Browser, &format!("it could not be opened: {cause}"));
            if !user.can_paste_response_url() {
                self.store_doubt_about_reused_registration(&visit, false).await;
                return Err(AuthPhase::Browser.error(AuthErrorCause::Browser { cause }));
            }
        }
        self.set_sign_in_progress(AuthPhase::Callback, Some(one_use.url.clone()));
        let noted = AtomicUsize::new(0);
        let refused = |why: &str| {
            if noted.fetch_add(1, Ordering::Relaxed) < MAX_LOGGED_INVALID_RESPONSES {
                self.web.note(AuthPhase::Callback, &format!("an invalid response was refused: {why}"));
            }
        };
        let (returned, waiting) = tokio::select! {
            () = tokio::time::sleep(redirect_listener::AUTHORIZATION_RESPONSE_TIMEOUT) => {
                return Err(AuthPhase::Callback.error(AuthErrorCause::TimedOut));
            }
            returned = callback.wait_for_response(visit.redirect_uri, &one_use.state, refused) => returned,
            returned = self.wait_for_pasted_response(visit.redirect_uri, &one_use.state, refused) => (returned, BrowserConnection::without_browser()),
        };
        let judged = self.verify_authorization_response(returned, visit.server);
        if judged.as_ref().err().is_none_or(AuthError::is_oauth_error_response) {
            self.store_doubt_about_reused_registration(&visit, false).await;
        }
        match judged {
            Ok(code) => Ok((code, one_use.verifier, waiting)),
            Err(error) => {
                waiting.send_sign_in_result_page(Err(&error.to_string())).await;
                Err(error)
            }
        }
    }

    async fn store_doubt_about_reused_registration(&self, visit: &AuthorizationRequest<'_>, doubted: bool) {
        if let Some(reused_registration) = visit.reused_registration {
            self.store_registration(&ClientRegistration { doubted, ..reused_registration.clone() }).await;
        }
    }

    async fn request_consent_to_open_browser(
        &self,
        visit: &AuthorizationRequest<'_>,
        url: &Url,
    ) -> Result<(), AuthError> {
        let had = {
            let state = self.state();
            state.record.as_ref().map(|record| record.granted.clone()).unwrap_or_default()
        };
        let (resource, later) = visit.shown_resource_and_scopes.unwrap_or((visit.resource.unwrap_or_default(), &[]));
        let scopes = scopes::union_of_scopes(visit.scopes, later);
        let consent = ConsentPrompt {
            server: self.settings.server.clone(),
            resource: resource.to_owned(),
            issuer: visit.server.issuer.clone(),
            new_scopes: scopes::missing_scopes(&scopes, &had),
            scopes,
            client: visit.client.kind,
            client_id: visit.client.id.clone(),
            endpoints: visit.endpoints.clone(),
            authorize_url: Some(strip_one_time_parameters(url)),
            redirect_uri: Some(visit.redirect_uri.clone()),
            reason: visit.reason.clone(),
        };
        self.request_consent(consent).await
    }

    async fn wait_for_pasted_response(
        &self,
        redirect_uri: &Url,
        state: &SecretString,
        refused: impl Fn(&str),
    ) -> AuthorizationResponse {
        loop {
            let text = self.settings.user.wait_for_pasted_url().await;
            match redirect_listener::parse_pasted_redirect(&text, redirect_uri, state.expose_secret()) {
                Ok(returned) => return returned,
                Err(why) => refused(why),
            }
            // Limits the rate in case `wait_for_pasted_url` returns immediately each time.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    /// Checks the issuer of an authorization response, and returns its authorization code.
    fn verify_authorization_response(
        &self,
        returned: AuthorizationResponse,
        server: &AuthorizationServerMetadata,
    ) -> Result<SecretString, AuthError> {
        let checked = redirect_listener::check_authorization_response_issuer(
            returned.iss.as_deref(),
            &server.issuer,
            server.promises_iss,
        );
        if let Err(cause) = checked {
            self.web.note(AuthPhase::Callback, &format!("{cause}; the response is not used"));
            return Err(AuthPhase::Callback.error(cause));
        }
        match returned.answer {
            Brought::Code(code) => {
                self.web.register_secret(&code);
                self.web.note(AuthPhase::Callback, "the browser returned with a code");
                Ok(code)
            }
            Brought::Error { code, description } => {
                let code = self.web.redact_and_escape_untrusted(&code);
                if code == "access_denied" {
                    self.web.note(AuthPhase::Callback, "access was denied in the browser");
                }
                let description = description.map(|text| self.web.redact_and_escape_untrusted(&text));
                Err(AuthPhase::Callback.error(AuthErrorCause::Refused { code, description }))
            }
        }
    }
}

/// Returns the authorization request URL without its one-time parameters, for the consent request.
fn strip_one_time_parameters(url: &Url) -> Url {
    let mut shown = url.clone();
    let is_shown = |name: &str| !matches!(name, "state" | "code_challenge" | "nonce");
    let pairs: Vec<_> = url.query_pairs().into_owned().filter(|(name, _)| is_shown(name)).collect();
    shown.query_pairs_mut().clear().extend_pairs(pairs);
    shown
}
