//! A sign-in as it is kept: whom it is from, what it is for, and the tokens.

use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::account::Account;
use crate::client::Client;
use crate::dpop::{DpopKey, seconds};
use crate::secret::Kept;
use crate::token::Granted;

/// A token is renewed this long before its end, or after three quarters of its life if that is later.
const EARLY: u64 = 60;

/// What is kept of one server's sign-in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The server's key in the vault.
    pub(crate) server: String,
    /// Byte for byte.
    pub(crate) issuer: String,
    /// What goes into `resource`, byte for byte.
    pub(crate) resource: String,
    pub(crate) token_endpoint: Url,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) auth_methods: Option<Vec<String>>,
    pub(crate) client: Client,
    /// None when they are known to be void.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) requested: Vec<String>,
    pub(crate) granted: Vec<String>,
    /// Seconds since 1970.
    pub(crate) signed_in_at: u64,
    pub(crate) refreshed_at: Option<u64>,
    pub(crate) ended: Option<String>,
    pub(crate) dpop_key: Option<Kept>,
    /// The identity provider's ID token, where the user signed in there.
    pub(crate) id_token: Option<Kept>,
    /// The approval, where tokens are got without the user.
    #[serde(default)]
    pub(crate) approved: Option<Approved>,
}

/// The tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access: Kept,
    /// Whether it is bound to the key.
    pub(crate) bound: bool,
    pub(crate) refresh: Option<Kept>,
    /// When it was granted, in seconds since 1970.
    pub(crate) since: u64,
    /// How long it lives from then on, in seconds.
    pub(crate) lifetime: Option<u64>,
}

impl Tokens {
    /// With the refresh token that there was, if the answer holds no new one (RFC 6749, 6).
    pub(crate) fn new(granted: &Granted, before: Option<&Kept>, now: SystemTime) -> Tokens {
        Tokens {
            access: Kept(granted.access.clone()),
            bound: granted.bound,
            refresh: granted.refresh.clone().map(Kept).or_else(|| before.cloned()),
            since: seconds(now),
            lifetime: granted.lifetime.map(|life| life.as_secs()),
        }
    }

    /// Whether it is over, or so nearly that it should be renewed first.
    pub(crate) fn is_due(&self, now: SystemTime) -> bool {
        let due = self.lifetime.map(|life| life - EARLY.min(life / 4));
        // A clock that was set back far says nothing.
        due.is_some_and(|due| seconds(now) >= self.since.saturating_add(due))
    }

    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        self.lifetime.is_some_and(|life| seconds(now) >= self.since.saturating_add(life))
    }
}

impl Record {
    /// # Errors
    /// If the entry is none of this server.
    pub(crate) fn read(entry: &SecretSlice<u8>, server: &str) -> Option<Record> {
        let record: Record = serde_json::from_slice(entry.expose_secret()).ok()?;
        (record.server == server).then_some(record)
    }

    pub(crate) fn entry(&self) -> SecretSlice<u8> {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// The key that its tokens are bound to.
    pub(crate) fn key(&self) -> Option<DpopKey> {
        DpopKey::read(self.dpop_key.clone()?).ok()
    }

    /// What may be told of it.
    pub(crate) fn account(&self, renews_itself: bool) -> Account {
        let time = |seconds: u64| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let tokens = self.tokens.as_ref();
        Account {
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

/// The approval of a grant that needs no user. It holds for one client at one authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approved {
    pub(crate) client_id: String,
    pub(crate) endpoints: Vec<Url>,
    /// The scopes beyond those of the settings.
    pub(crate) scopes: Vec<String>,
}

impl Approved {
    pub(crate) fn has(&self, endpoint: &Url) -> bool {
        self.endpoints.contains(endpoint)
    }
}
