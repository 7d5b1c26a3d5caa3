//! The complete sign-in flow: discovery, client id, consent, browser and token request.

use crate::account::{ClientKind, SignedInAccount};
use crate::authorization_context::AuthorizationContext;
use crate::authorization_request::AuthorizationRequest;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::challenge::TokenChallenge;
use crate::client_selection::{SignInClient, is_unknown_client_error, strip_configured_credentials};
use crate::discovery::DiscoveryResult;
use crate::dpop::{DpopKey, unix_seconds};
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::grant_approval::{self, ConsentMode};
use crate::identity_provider::IdpTokenEndpoint;
use crate::metadata_address;
use crate::oauth_client::OAuthClient;
use crate::scopes::{self, ScopeSources};
use crate::settings::{DpopUse, GrantKind};
use crate::sign_in_record::{GrantApproval, SignInRecord, TokenSet};
use crate::stored_secret::StoredSecret;
use crate::token::{TokenEndpoint, TokenResponse};
use crate::user::AuthReason;
use url::Url;

impl AuthorizationContext {
    /// Runs the steps of a sign-in that the configured grant requires.
    pub(crate) async fn run_sign_in_flow(
        &self,
        why: AuthReason,
        challenge: Option<TokenChallenge>,
    ) -> Result<SignedInAccount, AuthError> {
        match &self.settings.grant {
            GrantKind::AuthorizationCode => self.sign_in_by_browser(why, challenge).await,
            GrantKind::EnterpriseManaged(provider) if provider.id_token.is_none() => {
                let stored_id_token = self.state().record.as_ref().and_then(|record| record.id_token.clone());
                if stored_id_token.is_some() && matches!(why, AuthReason::StepUp { .. }) {
                    return self.sign_in_without_browser(challenge, stored_id_token, ConsentMode::AskUser(why)).await;
                }
                let request = self.prepare_browserless_request(challenge, ScopeLimit::Shown(&why)).await?;
                let (id_token, exchange) = self.sign_in_at_identity_provider(provider, why, &request).await?;
                self.set_sign_in_progress(AuthPhase::Token, None);
                self.request_token_without_browser(request, Some(exchange), Some(id_token), ConsentMode::Given).await
            }
            _ => self.sign_in_without_browser(challenge, None, ConsentMode::AskUser(why)).await,
        }
    }

    /// Returns the scopes to request in a flow whose consent request shows them to the user.
    fn scopes_to_request(
        &self,
        why: &AuthReason,
        challenge: &TokenChallenge,
        found: &DiscoveryResult,
        refreshable: bool,
    ) -> Vec<String> {
        let before = match why {
            AuthReason::SignIn | AuthReason::AnotherAccount => Vec::new(),
            AuthReason::StepUp { .. } | AuthReason::Again { .. } => {
                let state = self.state();
                let record = state.record.as_ref();
                record.map_or_else(Vec::new, |record| scopes::union_of_scopes(&record.requested, &record.granted))
            }
        };
        scopes::select_scopes(&ScopeSources {
            challenge: challenge.scope.as_deref(),
            settings: self.settings.scopes.as_deref(),
            resource: found.scopes.as_deref(),
            server: found.authorization_server.scopes.as_deref(),
            additional: &before,
            refreshable,
        })
    }

    /// Returns the scopes to request in a flow without a consent request: those in the settings and those that the user
    /// approved. Scopes of the challenge are added only for a step-up, which requires consent.
    fn allowed_scopes_to_request(
        &self,
        challenge: &TokenChallenge,
        found: &DiscoveryResult,
        client: &OAuthClient,
        steps_up: bool,
    ) -> Vec<String> {
        scopes::select_scopes(&ScopeSources {
            challenge: challenge.scope.as_deref().filter(|_| steps_up),
            settings: self.settings.scopes.as_deref(),
            resource: None,
            server: found.authorization_server.scopes.as_deref(),
            additional: &self.scopes_from_settings_and_approval(&client.id),
            refreshable: false,
        })
    }

    /// Returns the DPoP key to which the requested tokens are bound, or `None` if DPoP is not used.
    fn dpop_binding_key(&self, found: &DiscoveryResult) -> Result<Option<DpopKey>, AuthError> {
        let is_used = match self.settings.dpop {
            DpopUse::Never => false,
            DpopUse::Always => true,
            DpopUse::Auto => found.authorization_server.dpop && found.dpop,
        };
        if !is_used {
            return Ok(None);
        }
        let before = self.state().record.as_ref().and_then(SignInRecord::dpop_key);
        let key = before.map_or_else(DpopKey::generate, Ok).map_err(|cause| AuthPhase::Token.error(cause))?;
        self.web.register_secret(&key.stored().0);
        Ok(Some(key))
    }

    async fn sign_in_by_browser(
        &self,
        why: AuthReason,
        challenge: Option<TokenChallenge>,
    ) -> Result<SignedInAccount, AuthError> {
        let challenge = self.obtain_token_challenge(challenge).await?;
        let found = self.discover(&challenge).await?;
        let server = &found.authorization_server;
        check_pkce_support(server)?;
        let key = self.dpop_binding_key(&found)?;
        let scopes = self.scopes_to_request(&why, &challenge, &found, true);
        self.set_sign_in_progress(AuthPhase::ClientId, None);
        let SignInClient { client, callback, redirect_uri, reused_registration, entered_registration } =
            self.select_sign_in_client(server, key.is_some()).await?;
        let visit = AuthorizationRequest {
            server,
            client: &client,
            redirect_uri: &redirect_uri,
            scopes: &scopes,
            resource: Some(&found.resource),
            openid_nonce: None,
            reused_registration: reused_registration.as_ref(),
            shown_resource_and_scopes: None,
            endpoints: grant_approval::endpoints_receiving_secrets(server, &client),
            reason: why,
        };
        let visited = self.request_authorization(visit, callback).await;
        if let Err(error) = &visited {
            self.forget_unknown_client(server, error).await;
        }
        let (code, verifier, waiting) = visited?;
        self.set_sign_in_progress(AuthPhase::Token, None);
        let endpoint = self.token_endpoint(server, &client, key.as_ref(), AuthPhase::Token);
        let granted = endpoint.exchange_code(&code, verifier, &redirect_uri, Some(&found.resource)).await;
        match granted {
            Ok(granted) => {
                self.set_sign_in_progress(AuthPhase::Storage, None);
                if let Some(registration) = &entered_registration {
                    self.store_registration(registration).await;
                }
                let account = self.store_sign_in(&found, client, key.as_ref(), scopes, &granted, (None, None)).await;
                waiting.send_sign_in_result_page(Ok(())).await;
                Ok(account)
            }
            Err(error) => {
                self.forget_unknown_client(server, &error).await;
                waiting.send_sign_in_result_page(Err(&error.to_string())).await;
                Err(error)
            }
        }
    }

    /// Removes the stored client id if the error means that the authorization server does not know or allow it any
    /// longer.
    async fn forget_unknown_client(&self, server: &AuthorizationServerMetadata, error: &AuthError) {
        if matches!(&error.cause, AuthErrorCause::Refused { code, .. } if is_unknown_client_error(code)) {
            self.forget_client(&server.issuer).await;
        }
    }

    /// Obtains a token without a browser: by client credentials, a workload assertion or the enterprise-managed grant.
    pub(crate) async fn sign_in_without_browser(
        &self,
        challenge: Option<TokenChallenge>,
        id_token: Option<StoredSecret>,
        consenting: ConsentMode,
    ) -> Result<SignedInAccount, AuthError> {
        let steps_up = matches!(consenting, ConsentMode::AskUser(AuthReason::StepUp { .. }));
        let request = self.prepare_browserless_request(challenge, ScopeLimit::Allowed { steps_up }).await?;
        let exchange = match &self.settings.grant {
            GrantKind::EnterpriseManaged(provider) => Some(self.find_token_exchange_endpoint(provider).await?),
            _ => None,
        };
        self.request_token_without_browser(request, exchange, id_token, consenting).await
    }

    async fn prepare_browserless_request(
        &self,
        challenge: Option<TokenChallenge>,
        reach: ScopeLimit<'_>,
    ) -> Result<BrowserlessTokenRequest, AuthError> {
        let challenge = self.obtain_token_challenge(challenge).await?;
        let found = self.discover(&challenge).await?;
        let client = self.select_client_without_user(&found.authorization_server).await?;
        let scopes = match reach {
            ScopeLimit::Shown(why) => self.scopes_to_request(why, &challenge, &found, false),
            ScopeLimit::Allowed { steps_up } => self.allowed_scopes_to_request(&challenge, &found, &client, steps_up),
        };
        Ok(BrowserlessTokenRequest { found, client, scopes })
    }

    async fn request_token_without_browser(
        &self,
        request: BrowserlessTokenRequest,
        exchange: Option<IdpTokenEndpoint>,
        id_token: Option<StoredSecret>,
        consenting: ConsentMode,
    ) -> Result<SignedInAccount, AuthError> {
        let BrowserlessTokenRequest { found, client, mut scopes } = request;
        let approved = self.ensure_grant_approved(&found, &client, exchange.as_ref(), &scopes, consenting).await?;
        let server = &found.authorization_server;
        let key = self.dpop_binding_key(&found)?;
        let resource = Some(found.resource.as_str());
        let endpoint = self.token_endpoint(server, &client, key.as_ref(), AuthPhase::Token);
        let granted = match &self.settings.grant {
            GrantKind::WorkloadIdentity { assertion } => {
                self.web.register_secret(assertion);
                endpoint.request_jwt_bearer_token(assertion, &scopes, resource).await?
            }
            GrantKind::EnterpriseManaged(provider) => {
                let exchange = match exchange {
                    Some(exchange) => exchange,
                    None => self.find_token_exchange_endpoint(provider).await?,
                };
                let (grant, reduced) =
                    self.exchange_id_token(provider, &exchange, id_token.as_ref(), &found, &scopes).await?;
                // The authorization server would refuse scopes that the organization does not allow. Scopes that are
                // not requested need no approval.
                if let Some(reduced) = reduced {
                    scopes.retain(|scope| reduced.contains(scope));
                }
                endpoint.request_jwt_bearer_token(&grant, &scopes, resource).await?
            }
            GrantKind::AuthorizationCode | GrantKind::ClientCredentials => {
                endpoint.request_client_credentials_token(&scopes, resource).await?
            }
        };
        Ok(self.store_sign_in(&found, client, key.as_ref(), scopes, &granted, (id_token, Some(approved))).await)
    }

    pub(crate) fn token_endpoint<'a>(
        &'a self,
        server: &'a AuthorizationServerMetadata,
        client: &'a OAuthClient,
        dpop: Option<&'a DpopKey>,
        phase: AuthPhase,
    ) -> TokenEndpoint<'a> {
        TokenEndpoint {
            web: &self.web,
            phase,
            url: &server.token_endpoint,
            issuer: &server.issuer,
            client,
            dpop,
            requires_bound_token: dpop.is_some() && self.settings.dpop == DpopUse::Always,
            nonces: &self.authorization_nonces,
            now: self.now(),
        }
    }

    async fn store_sign_in(
        &self,
        found: &DiscoveryResult,
        client: OAuthClient,
        key: Option<&DpopKey>,
        requested: Vec<String>,
        granted: &TokenResponse,
        (id_token, approved): (Option<StoredSecret>, Option<GrantApproval>),
    ) -> SignedInAccount {
        let now = self.now();
        let renewed = self.state().record.as_ref().filter(|_| !self.is_interactive()).map(|record| record.signed_in_at);
        let is_shown = |endpoint: &Url| approved.as_ref().is_none_or(|approved| approved.covers_endpoint(endpoint));
        let record = SignInRecord {
            server: self.mcp_server.clone(),
            issuer: found.authorization_server.issuer.clone(),
            resource: found.resource.clone(),
            token_endpoint: found.authorization_server.token_endpoint.clone(),
            revocation_endpoint: found.authorization_server.revocation_endpoint.clone().filter(is_shown),
            auth_methods: found.authorization_server.auth_methods.clone(),
            client: strip_configured_credentials(client),
            tokens: Some(TokenSet::new(granted, None, now)),
            granted: granted.scopes.clone().unwrap_or_else(|| requested.clone()),
            requested,
            signed_in_at: renewed.unwrap_or_else(|| unix_seconds(now)),
            refreshed_at: renewed.map(|_| unix_seconds(now)),
            ended: None,
            dpop_key: key.map(|key| key.stored().clone()),
            id_token,
            approved,
        };
        let account = record.account(!self.is_interactive());
        let issuer = record.issuer.clone();
        self.store_record(record).await;
        if account.client == ClientKind::Preregistered {
            self.bind_client_id_to_issuer(&issuer).await;
        }
        account
    }
}

/// Parameters of a token request that needs no browser.
pub(crate) struct BrowserlessTokenRequest {
    pub(crate) found: DiscoveryResult,
    pub(crate) client: OAuthClient,
    pub(crate) scopes: Vec<String>,
}

/// Restriction on the scopes that a token request without a browser includes.
enum ScopeLimit<'a> {
    /// No restriction, because the user sees the scopes in a consent request with this reason.
    Shown(&'a AuthReason),
    /// Only scopes that the user has approved are requested. For a step-up, the scopes of the challenge are added,
    /// which requires consent.
    Allowed { steps_up: bool },
}

/// Checks that the authorization server supports PKCE with S256.
///
/// # Errors
/// Returns [`AuthErrorCause::NoPkce`] if it does not, since an authorization code would not be protected.
pub(crate) fn check_pkce_support(server: &AuthorizationServerMetadata) -> Result<(), AuthError> {
    if server.supports_s256 {
        return Ok(());
    }
    let issuer = metadata_address::displayed_text(&server.issuer);
    Err(AuthPhase::ServerMetadata.error(AuthErrorCause::NoPkce { issuer }))
}
