//! Clients, authorization codes and tokens that the authorization server has issued, with their validity.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::random_text_with_prefix;

/// Client that was registered by dynamic client registration.
#[derive(Debug, Clone)]
pub(super) struct RegisteredClient {
    pub(super) secret: Option<String>,
    pub(super) redirect_uris: Vec<String>,
}

/// Authorization of a client for a scope and a resource, for which an authorization code or a token was issued.
#[derive(Debug, Clone, Default)]
pub(super) struct IssuedGrant {
    pub(super) client: String,
    pub(super) scope: String,
    pub(super) resource: Option<String>,
    /// Number of the authorization, shared by all its tokens, or 0 for tokens that were issued without a user.
    pub(super) family: u64,
}

#[derive(Debug, Clone)]
pub(super) struct IssuedAuthorizationCode {
    pub(super) grant: IssuedGrant,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) is_used: bool,
}

#[derive(Debug, Clone)]
pub(super) struct IssuedAccessToken {
    pub(super) grant: IssuedGrant,
    pub(super) until: Option<Instant>,
    pub(super) is_ended: bool,
    pub(super) is_bound: bool,
}

impl IssuedAccessToken {
    pub(super) fn is_valid(&self) -> bool {
        !self.is_ended && self.until.is_none_or(|until| Instant::now() < until)
    }
}

#[derive(Debug, Clone)]
pub(super) struct IssuedRefreshToken {
    pub(super) grant: IssuedGrant,
    pub(super) is_ended: bool,
}

#[derive(Debug, Default)]
pub(super) struct IssuedCredentials {
    pub(super) clients: BTreeMap<String, RegisteredClient>,
    pub(super) codes: BTreeMap<String, IssuedAuthorizationCode>,
    pub(super) access: BTreeMap<String, IssuedAccessToken>,
    pub(super) refresh: BTreeMap<String, IssuedRefreshToken>,
    /// Nonce that DPoP proofs must currently contain, or `None` if no nonce is required.
    pub(super) nonce: Option<String>,
    authorization_count: u64,
}

impl IssuedCredentials {
    pub(super) fn next_authorization_number(&mut self) -> u64 {
        self.authorization_count += 1;
        self.authorization_count
    }

    pub(super) fn issue_access_token(&mut self, grant: IssuedGrant, lifetime: Option<u64>, is_bound: bool) -> String {
        let token = random_text_with_prefix("access");
        let until = lifetime.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        self.access.insert(token.clone(), IssuedAccessToken { grant, until, is_ended: false, is_bound });
        token
    }

    pub(super) fn issue_refresh_token(&mut self, grant: IssuedGrant) -> String {
        let token = random_text_with_prefix("refresh");
        self.refresh.insert(token.clone(), IssuedRefreshToken { grant, is_ended: false });
        token
    }

    pub(super) fn invalidate_tokens_of_authorization(&mut self, family: u64) {
        self.access.values_mut().filter(|token| token.grant.family == family).for_each(|token| token.is_ended = true);
        self.refresh.values_mut().filter(|token| token.grant.family == family).for_each(|token| token.is_ended = true);
    }

    /// Revokes a token. Revoking a refresh token also revokes its access tokens (RFC 7009 section 2.1).
    pub(super) fn revoke(&mut self, token: &str) {
        if let Some(family) = self.refresh.get(token).map(|token| token.grant.family) {
            self.invalidate_tokens_of_authorization(family);
        }
        if let Some(token) = self.access.get_mut(token) {
            token.is_ended = true;
        }
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        let secrets = self.clients.values().filter_map(|client| client.secret.as_ref());
        secrets.chain(self.codes.keys()).chain(self.access.keys()).chain(self.refresh.keys()).cloned().collect()
    }
}
