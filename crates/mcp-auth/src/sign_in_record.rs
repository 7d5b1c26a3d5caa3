//! Stored state of a sign-in: issuer, resource, client and tokens.

use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::account::SignedInAccount;
use crate::dpop::{DpopKey, unix_seconds};
use crate::oauth_client::OAuthClient;
use crate::stored_secret::StoredSecret;
use crate::token::TokenResponse;

/// Time before the expiry of a token, in seconds, from which it is renewed. A token with a short lifetime is renewed
/// only in the last quarter of its lifetime.
const RENEW_BEFORE_EXPIRY_SECONDS: u64 = 60;

/// State of a sign-in at one MCP server, as stored in the vault.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SignInRecord {
    /// URL of the MCP server without fragment, under which the vault stores the record.
    pub(crate) server: String,
    /// Issuer of the authorization server, exactly as its metadata spells it.
    pub(crate) issuer: String,
    /// Value of the `resource` parameter, exactly as the server spells it.
    pub(crate) resource: String,
    pub(crate) token_endpoint: Url,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) auth_methods: Option<Vec<String>>,
    pub(crate) client: OAuthClient,
    /// Access and refresh token, or `None` after they became invalid.
    pub(crate) tokens: Option<TokenSet>,
    pub(crate) requested: Vec<String>,
    pub(crate) granted: Vec<String>,
    /// Time of the sign-in in seconds since the Unix epoch.
    pub(crate) signed_in_at: u64,
    pub(crate) refreshed_at: Option<u64>,
    /// Reason why the tokens were removed and the user has to sign in again. `None` while there are tokens.
    pub(crate) ended: Option<String>,
    pub(crate) dpop_key: Option<StoredSecret>,
    /// ID token from the identity provider, or `None` for grants other than the enterprise-managed one.
    pub(crate) id_token: Option<StoredSecret>,
    /// The endpoints and scopes that the user approved for a grant without user interaction, or `None` if there is no
    /// approval.
    #[serde(default)]
    pub(crate) approved: Option<GrantApproval>,
}

/// Access token, optional refresh token, and the lifetime of the access token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TokenSet {
    pub(crate) access: StoredSecret,
    /// `true` if the access token is bound to a DPoP key.
    pub(crate) bound: bool,
    pub(crate) refresh: Option<StoredSecret>,
    /// Time at which the access token was issued, in seconds since the Unix epoch.
    pub(crate) since: u64,
    /// Lifetime of the access token in seconds, or `None` if unknown.
    pub(crate) lifetime: Option<u64>,
}

impl TokenSet {
    /// Creates the tokens from a token response. If the response has no refresh token, the previous one is retained
    /// (RFC 6749, 6).
    pub(crate) fn new(granted: &TokenResponse, before: Option<&StoredSecret>, now: SystemTime) -> TokenSet {
        TokenSet {
            access: StoredSecret(granted.access.clone()),
            bound: granted.bound,
            refresh: granted.refresh.clone().map(StoredSecret).or_else(|| before.cloned()),
            since: unix_seconds(now),
            lifetime: granted.lifetime.map(|life| life.as_secs()),
        }
    }

    /// Returns `true` if the token has expired or should be renewed before its next use.
    pub(crate) fn needs_renewal(&self, now: SystemTime) -> bool {
        let due = self.lifetime.map(|life| life - RENEW_BEFORE_EXPIRY_SECONDS.min(life / 4));
        // If the clock was set back, the token does not count as expired.
        due.is_some_and(|due| unix_seconds(now) >= self.since.saturating_add(due))
    }

    pub(crate) fn is_expired(&self, now: SystemTime) -> bool {
        self.lifetime.is_some_and(|life| unix_seconds(now) >= self.since.saturating_add(life))
    }
}

impl SignInRecord {
    /// Parses a sign-in record from an entry of the vault. Returns `None` if the entry is invalid or belongs to another
    /// server.
    pub(crate) fn from_vault_entry(entry: &SecretSlice<u8>, server: &str) -> Option<SignInRecord> {
        let record: SignInRecord = serde_json::from_slice(entry.expose_secret()).ok()?;
        (record.server == server).then_some(record)
    }

    pub(crate) fn to_vault_entry(&self) -> SecretSlice<u8> {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Returns the DPoP key that was generated for this sign-in, or `None` if DPoP is not used or the stored key is
    /// invalid.
    pub(crate) fn dpop_key(&self) -> Option<DpopKey> {
        DpopKey::from_stored_secret(self.dpop_key.clone()?).ok()
    }

    /// Returns the public state of the sign-in, which contains no secrets. `renews_itself` is `true` if the grant
    /// obtains new tokens without a refresh token.
    pub(crate) fn account(&self, renews_itself: bool) -> SignedInAccount {
        let time = |seconds: u64| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let tokens = self.tokens.as_ref();
        SignedInAccount {
            issuer: self.issuer.clone(),
            resource: self.resource.clone(),
            scopes: self.granted.clone(),
            expires_at: tokens.and_then(|tokens| time(tokens.since.saturating_add(tokens.lifetime?))),
            signed_in_at: time(self.signed_in_at).unwrap_or(SystemTime::UNIX_EPOCH),
            refreshed_at: self.refreshed_at.and_then(time),
            can_refresh: renews_itself || tokens.is_some_and(|tokens| tokens.refresh.is_some()),
            ended: self.ended.clone(),
            client: self.client.kind,
            bound: tokens.is_some_and(|tokens| tokens.bound),
        }
    }
}

/// The user's approval of a grant without user interaction, for one client at one authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantApproval {
    pub(crate) client_id: String,
    pub(crate) endpoints: Vec<Url>,
    /// Approved scopes in addition to those in the settings.
    pub(crate) scopes: Vec<String>,
}

impl GrantApproval {
    pub(crate) fn covers_endpoint(&self, endpoint: &Url) -> bool {
        self.endpoints.contains(endpoint)
    }
}
