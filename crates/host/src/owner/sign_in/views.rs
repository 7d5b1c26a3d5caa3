//! Converts the state of a sign-in to its view for observers.

pub(super) use credentials::sign_in::conversion::{
    account_text, account_view, error_text, sign_in_failure, to_sign_in_steps, to_sign_out_outcome,
    token_storage_for_status,
};
use credentials::sign_in::conversion::{client_identity, endpoint_view, to_sign_in_phase, to_sign_in_reason};
use credentials::sign_in::{SignInPhase, SignInProgress, TokenStorage};
use mcp_auth::{AuthPhase, AuthProgress, ConsentPrompt, VaultEntryPersistence};

use super::ServerSignIn;
use super::sign_in_user::DisplayedSignInProgress;
use crate::view::ConsentRequestBody;

pub(super) fn consent_body(consent: ConsentPrompt) -> ConsentRequestBody {
    ConsentRequestBody::SignIn {
        url: consent.server.into(),
        issuer: consent.issuer,
        resource: consent.resource,
        held_scopes: consent.scopes.iter().filter(|scope| !consent.new_scopes.contains(scope)).cloned().collect(),
        scopes: consent.scopes,
        client: client_identity(consent.client),
        client_id: consent.client_id,
        endpoints: consent.endpoints.into_iter().map(endpoint_view).collect(),
        redirect_uri: consent.redirect_uri.map(Into::into),
        authorization_url: consent.authorize_url.map(Into::into),
        reason: to_sign_in_reason(consent.reason),
    }
}

/// Returns the progress of a sign-in that has just been started.
pub(super) const fn initial_sign_in_progress() -> AuthProgress {
    AuthProgress { phase: AuthPhase::ResourceMetadata, authorize_url: None }
}

pub(super) fn progress_view(progress: AuthProgress, way: &DisplayedSignInProgress) -> SignInProgress {
    let phase = to_sign_in_phase(progress.phase);
    let waits = phase == SignInPhase::AwaitingBrowser;
    SignInProgress {
        phase,
        reason: to_sign_in_reason(way.reason.clone()),
        since: way.since,
        ends_at: way.ends_at.filter(|_| waits),
        authorization_url: progress.authorize_url.filter(|_| waits).map(Into::into),
        redirect_uri: way.redirect_uri.clone().filter(|_| waits).map(Into::into),
        browser_problem: way.browser_problem.clone().filter(|_| waits),
    }
}

pub(super) fn token_storage(sign_in: &ServerSignIn) -> Option<TokenStorage> {
    match sign_in.authorization.token_persistence() {
        Some(VaultEntryPersistence::Safely) => Some(TokenStorage::Keychain),
        Some(VaultEntryPersistence::ThisRun { cause }) => Some(TokenStorage::ThisRun { cause }),
        // The storage has not changed since the sign-in was created.
        None => sign_in.found.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_auth::{AuthEndpoint, AuthReason, ClientKind, EndpointUse as AuthUse};

    use super::super::super::state::consent_payload_hash;
    use super::*;

    #[test]
    fn s07_another_endpoint_changes_the_consent_hash() {
        let consent = |token: &str, purpose: AuthUse| {
            consent_body(ConsentPrompt {
                server: "https://mcp.example/".parse().unwrap(),
                resource: "https://mcp.example/".to_owned(),
                issuer: "https://as.example".to_owned(),
                scopes: Vec::new(),
                new_scopes: Vec::new(),
                client: ClientKind::Registered,
                client_id: "us".to_owned(),
                endpoints: vec![AuthEndpoint {
                    purpose,
                    url: token.parse().unwrap(),
                    issuer: "https://as.example".to_owned(),
                }],
                authorize_url: None,
                redirect_uri: None,
                reason: AuthReason::SignIn,
            })
        };
        let hash = |token, purpose| consent_payload_hash(&consent(token, purpose), None);
        let own = hash("https://as.example/token", AuthUse::Token);
        assert_ne!(own, hash("https://evil.example/token", AuthUse::Token), "S07: the hash depends on the endpoint");
        assert_ne!(
            own,
            hash("https://as.example/token", AuthUse::Revocation),
            "S07: the hash depends on the purpose of the endpoint"
        );
    }
}
