//! Converts the state of a sign-in to its view for observers.

pub(super) use credentials::sign_in::conversion::{
    account_log_text, account_view, error_text, sign_in_failure, to_sign_in_steps, to_sign_out_outcome,
    token_storage_for_status,
};
use credentials::sign_in::{AuthorizationView, SignInError, SignInFailure, TokenStorage};
pub(super) use host_state::{initial_sign_in_progress, sign_in_consent_body, sign_in_progress_view};
use mcp_auth::VaultEntryPersistence;

use super::ServerSignIn;
use crate::owner::state::SignInState;

pub(super) fn token_storage(sign_in: &ServerSignIn) -> Option<TokenStorage> {
    match sign_in.authorization.token_persistence() {
        Some(VaultEntryPersistence::Safely) => Some(TokenStorage::Keychain),
        Some(VaultEntryPersistence::ThisRun { cause }) => Some(TokenStorage::ThisRun { cause }),
        // The storage has not changed since the sign-in was created.
        None => sign_in.found.clone(),
    }
}

/// Returns the view of a server's sign-in. `sign_in` is the sign-in, or the reason why the server has none.
///
/// # Errors
///
/// Returns the error of `sign_in` unless it has a view: that the server doesn't support signing in, or its settings
/// can't be used.
pub(super) fn authorization_view(
    name: &str,
    access: &SignInState,
    sign_in: Result<ServerSignIn, SignInError>,
) -> Result<AuthorizationView, SignInError> {
    let nothing = AuthorizationView {
        server: name.to_owned(),
        not_offered: None,
        account: None,
        in_progress: None,
        failed: access.failed.as_ref().map(error_text),
        failure: access.failed.as_ref().map(sign_in_failure),
        steps: Vec::new(),
        token_storage: None,
    };
    let sign_in = match sign_in {
        Ok(sign_in) => sign_in,
        Err(SignInError::NotOffered { cause, .. }) => {
            return Ok(AuthorizationView { not_offered: Some(cause), ..nothing });
        }
        Err(SignInError::NotPrepared { cause, .. }) => {
            return Ok(AuthorizationView { failed: Some(cause), failure: Some(SignInFailure::NotPrepared), ..nothing });
        }
        Err(error) => return Err(error),
    };
    let account = sign_in.authorization.account();
    // A sign-in that has just been started has no progress yet.
    let begins = || access.flow.map(|_| initial_sign_in_progress());
    Ok(AuthorizationView {
        in_progress: sign_in
            .authorization
            .progress()
            .or_else(begins)
            .map(|now| sign_in_progress_view(now, &sign_in.user.progress())),
        steps: to_sign_in_steps(&sign_in.authorization),
        token_storage: token_storage(&sign_in).filter(|_| account.is_some()),
        account: account.map(account_view),
        ..nothing
    })
}
