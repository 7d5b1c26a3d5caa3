//! Converts the state of a sign-in to its view for observers.

use credentials::sign_in::{
    AccountView, ClientIdentity, EndpointUse, SignInEndpoint, SignInFailure, SignInPhase, SignInProgress, SignInReason,
    SignInStep, SignOutOutcome, TokenStorage,
};
use domain::Millis;
use mcp_auth::{
    Account, AuthEndpoint, AuthError, AuthErrorCause, AuthPhase, AuthProgress, AuthReason, AuthStep, ClientKind,
    ConsentPrompt, EndpointUse as AuthUse, EntryPersistence, RevocationOutcome, ServerAuthorization, VaultProblem,
};
use ports::SecretsStatus;
use ports::time::to_millis;

use super::ServerSignIn;
use super::sign_in_user::ConsentProgress;
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
        reason: reason_view(consent.reason),
    }
}

fn endpoint_view(endpoint: AuthEndpoint) -> SignInEndpoint {
    let purpose = match endpoint.purpose {
        AuthUse::Token => EndpointUse::Token,
        AuthUse::Provider => EndpointUse::Provider,
        AuthUse::Registration => EndpointUse::Registration,
        AuthUse::Revocation => EndpointUse::Revocation,
    };
    SignInEndpoint { purpose, url: endpoint.url.into(), issuer: endpoint.issuer }
}

pub(super) fn account_view(account: Account) -> AccountView {
    AccountView {
        issuer: account.issuer,
        resource: account.resource,
        scopes: account.scopes,
        expires_at: account.expires_at.map(to_millis),
        signed_in_at: to_millis(account.signed_in_at),
        refreshed_at: account.refreshed_at.map(to_millis),
        can_refresh: account.can_refresh,
        ended: account.ended,
        client: client_identity(account.client),
        bound: account.bound,
    }
}

/// Returns the progress of a sign-in that has just been started.
pub(super) const fn starting_progress() -> AuthProgress {
    AuthProgress { phase: AuthPhase::ResourceMetadata, authorize_url: None }
}

pub(super) fn progress_view(progress: AuthProgress, way: &ConsentProgress) -> SignInProgress {
    let phase = match progress.phase {
        AuthPhase::ResourceMetadata | AuthPhase::ServerMetadata | AuthPhase::ClientId => SignInPhase::Discovering,
        AuthPhase::Consent => SignInPhase::AwaitingConsent,
        AuthPhase::Browser | AuthPhase::Callback => SignInPhase::AwaitingBrowser,
        AuthPhase::IdentityProvider
        | AuthPhase::Token
        | AuthPhase::Refresh
        | AuthPhase::Storage
        | AuthPhase::Revocation => SignInPhase::Exchanging,
    };
    let waits = phase == SignInPhase::AwaitingBrowser;
    SignInProgress {
        phase,
        reason: reason_view(way.reason.clone()),
        since: way.since,
        ends_at: way.ends_at.filter(|_| waits),
        authorization_url: progress.authorize_url.filter(|_| waits).map(Into::into),
        redirect_uri: way.redirect_uri.clone().filter(|_| waits).map(Into::into),
        browser_problem: way.browser_problem.clone().filter(|_| waits),
    }
}

pub(super) fn step_views(authorization: &ServerAuthorization) -> Vec<SignInStep> {
    authorization.steps().into_iter().map(step_view).collect()
}

fn step_view(step: AuthStep) -> SignInStep {
    let lines = |first: String, headers: Vec<(String, String)>, body: String| {
        let headers = headers.into_iter().map(|(name, value)| format!("{name}: {value}"));
        let mut lines: Vec<String> = std::iter::once(first).chain(headers).collect();
        if !body.is_empty() {
            lines.extend([String::new(), body]);
        }
        lines.join("\n")
    };
    SignInStep {
        at: to_millis(step.at),
        took: Millis::try_from(step.took.as_millis()).unwrap_or(Millis::MAX),
        what: step.phase.to_string(),
        request: step.request.map(|r| lines(format!("{} {}", r.method, r.url), r.headers, r.body)),
        answer: step.answer.map(|a| lines(a.status.to_string(), a.headers, a.body)),
        conclusion: step.conclusion,
    }
}

pub(super) fn token_storage(sign_in: &ServerSignIn) -> Option<TokenStorage> {
    match sign_in.authorization.token_persistence() {
        Some(EntryPersistence::Safely) => Some(TokenStorage::Keychain),
        Some(EntryPersistence::ThisRun { cause }) => Some(TokenStorage::ThisRun { cause }),
        // The storage has not changed since the sign-in was created.
        None => sign_in.found.clone(),
    }
}

/// Returns where tokens are stored, according to the state of the keychain.
pub(super) fn storage_of_status(status: SecretsStatus) -> TokenStorage {
    match status {
        SecretsStatus::Keychain => TokenStorage::Keychain,
        other => TokenStorage::ThisRun { cause: other.to_string() },
    }
}

pub(super) fn sign_out_outcome(revoked: RevocationOutcome) -> SignOutOutcome {
    match revoked {
        RevocationOutcome::Yes => SignOutOutcome::Revoked,
        RevocationOutcome::NotOffered => SignOutOutcome::RevocationNotOffered,
        RevocationOutcome::Failed { cause } => SignOutOutcome::RevocationFailed(cause),
        RevocationOutcome::NothingToRevoke => SignOutOutcome::NobodySignedIn,
    }
}

/// Describes why a sign-in failed, and the next step for the user.
pub(super) fn error_text(error: &AuthError) -> String {
    match error.cause {
        AuthErrorCause::Declined => "You declined the sign-in.".to_owned(),
        _ => format!("{error}. {}", error.next_step()),
    }
}

/// Converts an error to the stable identifier that observers receive.
pub(super) const fn sign_in_failure(error: &AuthError) -> SignInFailure {
    match &error.cause {
        AuthErrorCause::Declined => SignInFailure::Declined,
        AuthErrorCause::Cancelled => SignInFailure::Cancelled,
        AuthErrorCause::TimedOut => SignInFailure::TimedOut,
        AuthErrorCause::Unreachable { .. } => SignInFailure::Unreachable,
        AuthErrorCause::Status { .. } | AuthErrorCause::Unreadable { .. } => SignInFailure::BadResponse,
        AuthErrorCause::UnsafeUrl { .. } => SignInFailure::UnsafeUrl,
        AuthErrorCause::ResourceMismatch { .. } => SignInFailure::ResourceMismatch,
        AuthErrorCause::IssuerMismatch { .. } | AuthErrorCause::IssuerMissing => SignInFailure::IssuerMismatch,
        AuthErrorCause::NoPkce { .. } => SignInFailure::NoPkce,
        AuthErrorCause::NoAuthorizationServer => SignInFailure::NoAuthorizationServer,
        AuthErrorCause::NoClientId { .. } => SignInFailure::NoClientId,
        AuthErrorCause::OtherIssuer { .. } => SignInFailure::OtherIssuer,
        AuthErrorCause::Refused { .. } => SignInFailure::Refused,
        AuthErrorCause::Browser { .. } => SignInFailure::Browser,
        AuthErrorCause::Callback { .. } => SignInFailure::Callback,
        AuthErrorCause::TooManyRequests => SignInFailure::TooManyRequests,
        AuthErrorCause::Vault(error) => match error.kind {
            VaultProblem::Locked => SignInFailure::KeychainLocked,
            VaultProblem::Missing => SignInFailure::KeychainMissing,
            VaultProblem::Broken | VaultProblem::Closed => SignInFailure::Storage,
        },
        AuthErrorCause::Key { .. } => SignInFailure::Key,
        AuthErrorCause::NoProof { .. } => SignInFailure::NoProof,
        AuthErrorCause::Unbound => SignInFailure::Unbound,
        AuthErrorCause::NotApproved { .. } => SignInFailure::NotApproved,
        AuthErrorCause::SignInNeeded { .. } => SignInFailure::SignInNeeded,
    }
}

/// Describes an account for the audit log and the activity log.
pub(super) fn account_text(account: &Account) -> String {
    let scopes = if account.scopes.is_empty() { "no scopes reported".to_owned() } else { account.scopes.join(" ") };
    format!("{} ({scopes})", account.issuer)
}

pub(super) fn reason_view(reason: AuthReason) -> SignInReason {
    match reason {
        AuthReason::SignIn => SignInReason::SignIn,
        AuthReason::StepUp { operation } => SignInReason::StepUp { operation },
        AuthReason::Again { cause } => SignInReason::Again(cause),
        AuthReason::AnotherAccount => SignInReason::ChangeAccount,
    }
}

const fn client_identity(kind: ClientKind) -> ClientIdentity {
    match kind {
        ClientKind::Preregistered => ClientIdentity::Configured,
        ClientKind::MetadataDocument => ClientIdentity::MetadataDocument,
        ClientKind::Registered => ClientIdentity::Registered,
        ClientKind::Typed => ClientIdentity::Entered,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
