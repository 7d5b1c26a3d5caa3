//! Conversion of authorization states.

use credentials::sign_in::{
    AccountView, AuthorizationView, ClientIdentity as HostClient, SignInProgress as HostProgress,
    SignInReason as HostReason, SignInStep as HostStep, SignOutOutcome as HostSignedOut,
};

use domain::StoreError;

use crate::data::*;

pub(in crate::handler) fn authorization_view(view: AuthorizationView) -> Authorization {
    let mut steps: Vec<SignInStep> = view.steps.into_iter().map(sign_in_step_view).collect();
    // The last step is the one that failed.
    if let Some(last) = steps.last_mut() {
        last.failed = view.failure.is_some_and(|failure| failure != SignInFailure::Declined);
    }
    Authorization {
        server: view.server,
        unsupported_reason: view.not_offered,
        account: view.account.map(account_view),
        in_progress: view.in_progress.map(sign_in_progress_view),
        failure_message: view.failed,
        failure: view.failure,
        steps,
        token_storage: view.token_storage,
    }
}

pub(in crate::handler) fn content_at_rest_view(is_encrypted: Result<bool, StoreError>) -> ContentAtRest {
    match is_encrypted {
        Ok(true) => ContentAtRest::Encrypted,
        Ok(false) => ContentAtRest::Plain,
        Err(error) => ContentAtRest::Unreadable { cause: error.to_string() },
    }
}

fn account_view(account: AccountView) -> Account {
    Account {
        issuer_url: UrlParts::parse(&account.issuer),
        issuer: account.issuer,
        resource: account.resource,
        scopes: account.scopes,
        expires_at: account.expires_at,
        signed_in_at: account.signed_in_at,
        refreshed_at: account.refreshed_at,
        can_refresh: account.can_refresh,
        reauthentication_reason: account.ended,
        client: client_identity_view(account.client),
        is_dpop_bound: account.bound,
    }
}

pub(super) const fn client_identity_view(client: HostClient) -> ClientIdentity {
    match client {
        HostClient::Configured => ClientIdentity::Configured,
        HostClient::MetadataDocument => ClientIdentity::MetadataDocument,
        HostClient::Registered => ClientIdentity::Registered,
        HostClient::Entered => ClientIdentity::Entered,
    }
}

fn sign_in_progress_view(progress: HostProgress) -> SignInProgress {
    SignInProgress {
        phase: progress.phase,
        reason: sign_in_reason_view(progress.reason),
        since: progress.since,
        ends_at: progress.ends_at,
        authorization_url: progress.authorization_url,
        redirect_uri: progress.redirect_uri,
        browser_problem: progress.browser_problem,
    }
}

pub(super) fn sign_in_reason_view(reason: HostReason) -> SignInReason {
    match reason {
        HostReason::SignIn => SignInReason::SignIn,
        HostReason::StepUp { operation } => SignInReason::StepUp { operation },
        HostReason::Again(cause) => SignInReason::Again { cause },
        HostReason::ChangeAccount => SignInReason::ChangeAccount,
    }
}

fn sign_in_step_view(step: HostStep) -> SignInStep {
    SignInStep {
        at: step.at,
        duration_milliseconds: step.duration_milliseconds,
        purpose: step.purpose,
        request: step.request,
        response: step.response,
        conclusion: step.conclusion,
        failed: false,
    }
}

pub(in crate::handler) fn sign_out_outcome_view(done: HostSignedOut) -> SignOutOutcome {
    match done {
        HostSignedOut::Revoked => SignOutOutcome::Yes,
        HostSignedOut::RevocationNotOffered => SignOutOutcome::NotOffered,
        HostSignedOut::RevocationFailed(cause) => SignOutOutcome::Failed { cause },
        HostSignedOut::NobodySignedIn => SignOutOutcome::NobodySignedIn,
    }
}
