//! Converts the state of a sign-in to its view for observers.

use credentials::sign_in::TokenStorage;
pub(super) use credentials::sign_in::conversion::{
    account_log_text, account_view, error_text, sign_in_failure, to_sign_in_steps, to_sign_out_outcome,
    token_storage_for_status,
};
pub(super) use host_state::{initial_sign_in_progress, sign_in_consent_body, sign_in_progress_view};
use mcp_auth::VaultEntryPersistence;

use super::ServerSignIn;

pub(super) fn token_storage(sign_in: &ServerSignIn) -> Option<TokenStorage> {
    match sign_in.authorization.token_persistence() {
        Some(VaultEntryPersistence::Safely) => Some(TokenStorage::Keychain),
        Some(VaultEntryPersistence::ThisRun { cause }) => Some(TokenStorage::ThisRun { cause }),
        // The storage has not changed since the sign-in was created.
        None => sign_in.found.clone(),
    }
}
