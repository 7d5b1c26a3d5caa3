//! Converts the state of a sign-in for observers.

use credentials::sign_in::{
    AccountView, ClientIdentity, EndpointUse, SignInEndpoint, SignInFailure, SignInPhase, SignInProgress, SignInReason,
    SignInStep, SignedOut, TokensKept,
};
use domain::Millis;
use mcp_auth::{
    Account, AuthError, Authorization, Cause, ClientKind, Consent, Endpoint, EndpointUse as AuthUse, InProgress, Kept,
    Phase, Reason, Revoked, Step, VaultProblem,
};
use ports::SecretsStatus;
use ports::time::millis;

use super::SignIn;
use super::user::ConsentProgress;
use crate::view::QuestionBody;

pub(super) fn question(consent: Consent) -> QuestionBody {
    QuestionBody::SignIn {
        url: consent.server.into(),
        issuer: consent.issuer,
        resource: consent.resource,
        held_scopes: consent.scopes.iter().filter(|scope| !consent.new_scopes.contains(scope)).cloned().collect(),
        scopes: consent.scopes,
        client: identity(consent.client),
        client_id: consent.client_id,
        endpoints: consent.endpoints.into_iter().map(endpoint).collect(),
        redirect_uri: consent.redirect_uri.map(Into::into),
        authorization_url: consent.authorize_url.map(Into::into),
        reason: reason(consent.reason),
    }
}

fn endpoint(endpoint: Endpoint) -> SignInEndpoint {
    let purpose = match endpoint.purpose {
        AuthUse::Token => EndpointUse::Token,
        AuthUse::Provider => EndpointUse::Provider,
        AuthUse::Registration => EndpointUse::Registration,
        AuthUse::Revocation => EndpointUse::Revocation,
    };
    SignInEndpoint { purpose, url: endpoint.url.into(), issuer: endpoint.issuer }
}

pub(super) fn account(account: Account) -> AccountView {
    AccountView {
        issuer: account.issuer,
        resource: account.resource,
        scopes: account.scopes,
        expires_at: account.expires_at.map(millis),
        signed_in_at: millis(account.signed_in_at),
        refreshed_at: account.refreshed_at.map(millis),
        can_refresh: account.can_refresh,
        ended: account.ended,
        client: identity(account.client),
        bound: account.bound,
    }
}

/// Returns the progress of a sign-in that has just started.
pub(super) const fn beginning() -> InProgress {
    InProgress { phase: Phase::ResourceMetadata, authorize_url: None }
}

pub(super) fn progress(progress: InProgress, way: &ConsentProgress) -> SignInProgress {
    let phase = match progress.phase {
        Phase::ResourceMetadata | Phase::ServerMetadata | Phase::ClientId => SignInPhase::Discovering,
        Phase::Consent => SignInPhase::AwaitingConsent,
        Phase::Browser | Phase::Callback => SignInPhase::AwaitingBrowser,
        Phase::IdentityProvider | Phase::Token | Phase::Refresh | Phase::Storage | Phase::Revocation => {
            SignInPhase::Exchanging
        }
    };
    let waits = phase == SignInPhase::AwaitingBrowser;
    SignInProgress {
        phase,
        reason: reason(way.reason.clone()),
        since: way.since,
        ends_at: way.ends_at.filter(|_| waits),
        authorization_url: progress.authorize_url.filter(|_| waits).map(Into::into),
        redirect_uri: way.redirect_uri.clone().filter(|_| waits).map(Into::into),
        browser_problem: way.browser_problem.clone().filter(|_| waits),
    }
}

pub(super) fn steps(authorization: &Authorization) -> Vec<SignInStep> {
    authorization.steps().into_iter().map(step).collect()
}

fn step(step: Step) -> SignInStep {
    let lines = |first: String, headers: Vec<(String, String)>, body: String| {
        let headers = headers.into_iter().map(|(name, value)| format!("{name}: {value}"));
        let mut lines: Vec<String> = std::iter::once(first).chain(headers).collect();
        if !body.is_empty() {
            lines.extend([String::new(), body]);
        }
        lines.join("\n")
    };
    SignInStep {
        at: millis(step.at),
        took: Millis::try_from(step.took.as_millis()).unwrap_or(Millis::MAX),
        what: step.phase.to_string(),
        request: step.request.map(|r| lines(format!("{} {}", r.method, r.url), r.headers, r.body)),
        answer: step.answer.map(|a| lines(a.status.to_string(), a.headers, a.body)),
        conclusion: step.conclusion,
    }
}

pub(super) fn kept(sign_in: &SignIn) -> Option<TokensKept> {
    match sign_in.authorization.kept() {
        Some(Kept::Safely) => Some(TokensKept::Keychain),
        Some(Kept::ThisRun { cause }) => Some(TokensKept::ThisRun { cause }),
        // Nothing was written since the tokens were found.
        None => sign_in.found.clone(),
    }
}

/// Returns the storage of existing secrets.
pub(super) fn found(status: SecretsStatus) -> TokensKept {
    match status {
        SecretsStatus::Keychain => TokensKept::Keychain,
        other => TokensKept::ThisRun { cause: other.to_string() },
    }
}

pub(super) fn signed_out(revoked: Revoked) -> SignedOut {
    match revoked {
        Revoked::Yes => SignedOut::Revoked,
        Revoked::NotOffered => SignedOut::RevocationNotOffered,
        Revoked::Failed { cause } => SignedOut::RevocationFailed(cause),
        Revoked::NothingToRevoke => SignedOut::NobodySignedIn,
    }
}

/// Returns the reason why a sign-in failed and the next step, as text.
pub(super) fn words(error: &AuthError) -> String {
    match error.cause {
        Cause::Declined => "You declined the sign-in.".to_owned(),
        _ => format!("{error}. {}", error.next_step()),
    }
}

/// Returns the stable identifier of an error.
pub(super) const fn failure(error: &AuthError) -> SignInFailure {
    match &error.cause {
        Cause::Declined => SignInFailure::Declined,
        Cause::Cancelled => SignInFailure::Cancelled,
        Cause::TimedOut => SignInFailure::TimedOut,
        Cause::Unreachable { .. } => SignInFailure::Unreachable,
        Cause::Status { .. } | Cause::Unreadable { .. } => SignInFailure::BadResponse,
        Cause::UnsafeUrl { .. } => SignInFailure::UnsafeUrl,
        Cause::ResourceMismatch { .. } => SignInFailure::ResourceMismatch,
        Cause::IssuerMismatch { .. } | Cause::IssuerMissing => SignInFailure::IssuerMismatch,
        Cause::NoPkce { .. } => SignInFailure::NoPkce,
        Cause::NoAuthorizationServer => SignInFailure::NoAuthorizationServer,
        Cause::NoClientId { .. } => SignInFailure::NoClientId,
        Cause::OtherIssuer { .. } => SignInFailure::OtherIssuer,
        Cause::Refused { .. } => SignInFailure::Refused,
        Cause::Browser { .. } => SignInFailure::Browser,
        Cause::Callback { .. } => SignInFailure::Callback,
        Cause::TooManyRequests => SignInFailure::TooManyRequests,
        Cause::Vault(error) => match error.kind {
            VaultProblem::Locked => SignInFailure::KeychainLocked,
            VaultProblem::Missing => SignInFailure::KeychainMissing,
            VaultProblem::Broken | VaultProblem::Closed => SignInFailure::Storage,
        },
        Cause::Key { .. } => SignInFailure::Key,
        Cause::NoProof { .. } => SignInFailure::NoProof,
        Cause::Unbound => SignInFailure::Unbound,
        Cause::NotApproved { .. } => SignInFailure::NotApproved,
        Cause::SignInNeeded { .. } => SignInFailure::SignInNeeded,
    }
}

/// Describes an account for the audit log and the activity log.
pub(super) fn account_words(account: &Account) -> String {
    let scopes = if account.scopes.is_empty() { "no scopes reported".to_owned() } else { account.scopes.join(" ") };
    format!("{} ({scopes})", account.issuer)
}

pub(super) fn reason(reason: Reason) -> SignInReason {
    match reason {
        Reason::SignIn => SignInReason::SignIn,
        Reason::StepUp { operation } => SignInReason::StepUp { operation },
        Reason::Again { cause } => SignInReason::Again(cause),
        Reason::AnotherAccount => SignInReason::ChangeAccount,
    }
}

const fn identity(kind: ClientKind) -> ClientIdentity {
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

    use super::super::super::state::hash_of;
    use super::*;

    #[test]
    fn s07_another_endpoint_is_another_question() {
        let consent = |token: &str, purpose: AuthUse| {
            question(Consent {
                server: "https://mcp.example/".parse().unwrap(),
                resource: "https://mcp.example/".to_owned(),
                issuer: "https://as.example".to_owned(),
                scopes: Vec::new(),
                new_scopes: Vec::new(),
                client: ClientKind::Registered,
                client_id: "us".to_owned(),
                endpoints: vec![Endpoint {
                    purpose,
                    url: token.parse().unwrap(),
                    issuer: "https://as.example".to_owned(),
                }],
                authorize_url: None,
                redirect_uri: None,
                reason: Reason::SignIn,
            })
        };
        let hash = |token, purpose| hash_of(&consent(token, purpose), None);
        let own = hash("https://as.example/token", AuthUse::Token);
        assert_ne!(own, hash("https://evil.example/token", AuthUse::Token), "S07: the hash depends on the endpoint");
        assert_ne!(
            own,
            hash("https://as.example/token", AuthUse::Revocation),
            "S07: the hash depends on the purpose of the endpoint"
        );
    }
}
