//! Converts the state of a sign-in in `mcp_auth` to the types that the page and the command line display. Used by
//! `owner/sign_in` of `host`.

use domain::Millis;
use mcp_auth::{
    AuthEndpoint, AuthError, AuthErrorCause, AuthPhase, AuthReason, ClientKind, EndpointUse as AuthUse, LoggedAuthStep,
    RevocationOutcome, ServerAuthorization, SignedInAccount, VaultProblem,
};
use ports::SecretsStatus;
use ports::time::to_millis;

use super::{
    AccountView, ClientIdentity, EndpointUse, SignInEndpoint, SignInFailure, SignInPhase, SignInReason, SignInStep,
    SignOutOutcome, TokenStorage,
};

/// Converts an endpoint of `mcp-auth` that receives data of a sign-in to the view type [`SignInEndpoint`].
#[must_use]
pub fn endpoint_view(endpoint: AuthEndpoint) -> SignInEndpoint {
    let purpose = match endpoint.purpose {
        AuthUse::Token => EndpointUse::Token,
        AuthUse::Provider => EndpointUse::Provider,
        AuthUse::Registration => EndpointUse::Registration,
        AuthUse::Revocation => EndpointUse::Revocation,
    };
    SignInEndpoint { purpose, url: endpoint.url.into(), issuer: endpoint.issuer }
}

/// Converts an account of `mcp-auth` to its view, which contains no tokens.
#[must_use]
pub fn account_view(account: SignedInAccount) -> AccountView {
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

/// Converts the phase of a sign-in in `mcp-auth` to the phase in views, which combines several internal phases, such as
/// token requests, refresh and revocation.
#[must_use]
pub const fn to_sign_in_phase(phase: AuthPhase) -> SignInPhase {
    match phase {
        AuthPhase::ResourceMetadata | AuthPhase::ServerMetadata | AuthPhase::ClientId => SignInPhase::Discovering,
        AuthPhase::Consent => SignInPhase::AwaitingConsent,
        AuthPhase::Browser | AuthPhase::Callback => SignInPhase::AwaitingBrowser,
        AuthPhase::IdentityProvider
        | AuthPhase::Token
        | AuthPhase::Refresh
        | AuthPhase::Storage
        | AuthPhase::Revocation => SignInPhase::Exchanging,
    }
}

/// Returns the recorded HTTP exchanges of the last sign-in, oldest first. Secrets in them are redacted.
#[must_use]
pub fn to_sign_in_steps(authorization: &ServerAuthorization) -> Vec<SignInStep> {
    authorization.logged_steps().into_iter().map(to_sign_in_step).collect()
}

fn to_sign_in_step(step: LoggedAuthStep) -> SignInStep {
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
        duration_milliseconds: Millis::try_from(step.duration.as_millis()).unwrap_or(Millis::MAX),
        purpose: step.phase.to_string(),
        request: step.request.map(|r| lines(format!("{} {}", r.method, r.url), r.headers, r.body)),
        response: step.response.map(|a| lines(a.status.to_string(), a.headers, a.body)),
        conclusion: step.conclusion,
    }
}

/// Returns where tokens are stored, according to the state of the keychain.
#[must_use]
pub fn token_storage_for_status(status: SecretsStatus) -> TokenStorage {
    match status {
        SecretsStatus::Keychain => TokenStorage::Keychain,
        other => TokenStorage::ThisRun { cause: other.to_string() },
    }
}

/// Converts the result of revoking tokens in `mcp-auth` to the result of a sign-out that the user sees.
#[must_use]
pub fn to_sign_out_outcome(revoked: RevocationOutcome) -> SignOutOutcome {
    match revoked {
        RevocationOutcome::Yes => SignOutOutcome::Revoked,
        RevocationOutcome::NotOffered => SignOutOutcome::RevocationNotOffered,
        RevocationOutcome::Failed { cause } => SignOutOutcome::RevocationFailed(cause),
        RevocationOutcome::NothingToRevoke => SignOutOutcome::NobodySignedIn,
    }
}

/// Describes why a sign-in failed, and the next step for the user.
#[must_use]
pub fn error_text(error: &AuthError) -> String {
    match error.cause {
        AuthErrorCause::Declined => "You declined the sign-in.".to_owned(),
        _ => format!("{error}. {}", error.next_step()),
    }
}

/// Converts an error of `mcp-auth` to the stable identifier of the failure in views.
#[must_use]
pub const fn sign_in_failure(error: &AuthError) -> SignInFailure {
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
#[must_use]
pub fn account_log_text(account: &SignedInAccount) -> String {
    let scopes = if account.scopes.is_empty() { "no scopes reported".to_owned() } else { account.scopes.join(" ") };
    format!("{} ({scopes})", account.issuer)
}

/// Converts the reason for a sign-in in `mcp-auth` to the reason in views.
#[must_use]
pub fn to_sign_in_reason(reason: AuthReason) -> SignInReason {
    match reason {
        AuthReason::SignIn => SignInReason::SignIn,
        AuthReason::StepUp { operation } => SignInReason::StepUp { operation },
        AuthReason::Again { cause } => SignInReason::Again(cause),
        AuthReason::AnotherAccount => SignInReason::ChangeAccount,
    }
}

/// Converts the source of a client id in `mcp-auth` to the source in views.
#[must_use]
pub const fn client_identity(kind: ClientKind) -> ClientIdentity {
    match kind {
        ClientKind::Preregistered => ClientIdentity::Configured,
        ClientKind::MetadataDocument => ClientIdentity::MetadataDocument,
        ClientKind::Registered => ClientIdentity::Registered,
        ClientKind::Typed => ClientIdentity::Entered,
    }
}
