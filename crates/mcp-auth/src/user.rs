//! What a sign-in asks of the user, and in which order: consent, perhaps a client id, the browser.

use async_trait::async_trait;
use url::Url;

use crate::account::ClientKind;
use crate::settings::Preregistered;

/// The user, and the user's browser.
#[async_trait]
pub trait User: Send + Sync {
    /// Whether to sign in, with all that will be sent. Nothing is opened before the answer.
    async fn consent(&self, request: Consent) -> Answer;

    /// A client id that the user got from this authorization server, when there is no other way to have one. The browser will
    /// come back to `redirect_uri`, which is what the user has to register there; the answer's own port does not count.
    async fn client_id(&self, issuer: &str, redirect_uri: &Url) -> Option<Preregistered>;

    /// Opens the system browser. The URL is http or https and free of what a shell could mistake.
    ///
    /// # Errors
    /// Why it cannot be opened, in words; the sign-in then ends, unless [`pasted`](Self::pasted) can answer.
    async fn open(&self, url: &Url) -> Result<(), String>;

    /// The address that the browser was sent back to, pasted by hand. Never resolves where nobody pastes.
    /// Whoever gives a wrong one is asked again.
    async fn pasted(&self) -> String {
        std::future::pending().await
    }

    /// Whether a sign-in may wait for [`pasted`](Self::pasted) alone when no browser can be opened.
    fn can_paste(&self) -> bool {
        false
    }
}

/// What the user is asked before the browser opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The MCP server.
    pub server: Url,
    /// The resource that the token is asked for.
    pub resource: String,
    /// Who will ask for the password: the authorization server's issuer identifier.
    pub issuer: String,
    /// All scopes that will be asked for; empty means that the authorization server decides.
    pub scopes: Vec<String>,
    /// Those of them that were not granted before.
    pub new_scopes: Vec<String>,
    /// How the app will identify itself.
    pub client: ClientKind,
    /// Its client id; no secret.
    pub client_id: String,
    /// Where credentials, codes and tokens will be sent, and nowhere else.
    pub endpoints: Vec<Endpoint>,
    /// Where the browser will be sent, with all parameters but the one-use ones (state and challenge); none if no page is
    /// opened.
    pub authorize_url: Option<Url>,
    /// Where it will be sent back to; none if no page is opened.
    pub redirect_uri: Option<Url>,
    /// Why the user is asked.
    pub reason: Reason,
}

/// An address that gets something of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The use of it.
    pub purpose: EndpointUse,
    /// The address.
    pub url: Url,
    /// Whose endpoint it is said to be: an issuer identifier.
    pub issuer: String,
}

/// The use of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointUse {
    /// Gives and renews tokens for the server.
    Token,
    /// The identity provider's: it says who the user is.
    Provider,
    /// The app registered itself there.
    Registration,
    /// Tokens are sent there to be revoked.
    Revocation,
}

/// Why a sign-in happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The user wants it, or the server asked for it the first time.
    SignIn,
    /// The server wants more scopes for something under way.
    StepUp {
        /// The JSON-RPC method that was refused.
        operation: String,
    },
    /// It worked before and does no more.
    Again {
        /// Why, in words.
        cause: String,
    },
    /// The user wants another account: the authorization server is asked to let choose.
    AnotherAccount,
}

/// The user's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Yes,
    /// Do not, and do not ask again by yourself.
    No,
    /// Closed without an answer.
    Cancel,
}
