//! Interaction with the user during a sign-in: consent, possibly a client id, and the browser, in this order.

use async_trait::async_trait;
use url::Url;

use crate::account::ClientKind;
use crate::settings::PreregisteredClient;

/// Interface to the user and the system browser, which the app implements.
#[async_trait]
pub trait UserInteraction: Send + Sync {
    /// Asks the user to consent to a sign-in. The browser is not opened before the decision.
    async fn ask_for_consent(&self, request: ConsentPrompt) -> ConsentAnswer;

    /// Asks the user for a client id that is registered at this authorization server with `redirect_uri`. Called only
    /// if the app can't obtain a client id in any other way. `redirect_port` of the result is ignored.
    async fn ask_for_client_id(&self, issuer: &str, redirect_uri: &Url) -> Option<PreregisteredClient>;

    /// Opens the system browser. The URL is `http` or `https` and has no characters that a shell could interpret.
    ///
    /// # Errors
    /// Returns a human-readable cause if no browser can be opened. The sign-in then ends, unless
    /// [`wait_for_pasted_url`](Self::wait_for_pasted_url) can provide the response.
    async fn open_browser(&self, url: &Url) -> Result<(), String>;

    /// Waits until the user pastes the URL of the authorization response, and returns it. Called again if the URL is
    /// invalid. The default implementation never completes.
    async fn wait_for_pasted_url(&self) -> String {
        std::future::pending().await
    }

    /// Returns `true` if the user can paste a URL even if no browser can be opened, in which case
    /// [`wait_for_pasted_url`](Self::wait_for_pasted_url) can return it.
    fn can_paste_response_url(&self) -> bool {
        false
    }
}

/// Consent request that the user sees before a sign-in or grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentPrompt {
    /// URL of the MCP server, as the user entered it.
    pub server: Url,
    /// Identifier of the resource for which the token is requested.
    pub resource: String,
    /// Issuer identifier of the authorization server, where the user authenticates.
    pub issuer: String,
    /// All scopes that will be requested. If empty, the authorization server decides.
    pub scopes: Vec<String>,
    /// Those of the requested scopes that were neither granted nor approved before.
    pub new_scopes: Vec<String>,
    /// The way in which the app obtained its client id.
    pub client: ClientKind,
    /// Client id of the app. A client id is not a secret.
    pub client_id: String,
    /// All endpoints that receive credentials, codes or tokens.
    pub endpoints: Vec<AuthEndpoint>,
    /// Authorization request URL without the one-time parameters (state and challenge), or `None` if no page is opened.
    pub authorize_url: Option<Url>,
    /// Redirect URI, or `None` if no page is opened.
    pub redirect_uri: Option<Url>,
    /// Reason for the sign-in, such as a step-up.
    pub reason: AuthReason,
}

/// Endpoint that receives secrets during a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthEndpoint {
    /// Purpose for which the endpoint receives the secrets.
    pub purpose: EndpointUse,
    /// URL that receives the secrets.
    pub url: Url,
    /// Issuer identifier of the authorization server or identity provider whose metadata names this endpoint.
    pub issuer: String,
}

/// Purpose for which an endpoint receives secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointUse {
    /// Endpoint that issues and renews tokens for the MCP server.
    Token,
    /// Endpoint of the organization's identity provider, which authenticates the user.
    Provider,
    /// Endpoint that has registered the app as a client and issued its client id.
    Registration,
    /// Endpoint that revokes the tokens that it receives.
    Revocation,
}

/// Reason for a sign-in, which the consent request shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthReason {
    /// The user requested the sign-in, or the server required it for the first time.
    SignIn,
    /// The server refused an operation because the token lacks scopes for it.
    StepUp {
        /// JSON-RPC method that the server refused.
        operation: String,
    },
    /// An earlier sign-in has ended, so that the user must sign in again.
    Again {
        /// Human-readable reason why the sign-in has ended.
        cause: String,
    },
    /// The user wants to sign in with another account. The authorization server is requested to offer a choice.
    AnotherAccount,
}

/// Decision of the user on a consent request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentAnswer {
    /// The user approved the request.
    Yes,
    /// The user declined. The caller must not prompt again unless the user acts.
    No,
    /// The user closed the request without a decision.
    Cancel,
}
