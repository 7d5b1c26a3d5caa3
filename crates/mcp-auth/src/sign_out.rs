//! Sign-out: removal of the tokens, and their revocation if supported (RFC 7009).

use crate::account::{RevocationOutcome, SignOutOutcome};
use crate::authorization_context::AuthorizationContext;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::sign_in_record::SignInRecord;
use crate::token::TokenEndpoint;
use crate::vault::VaultError;

impl AuthorizationContext {
    pub(crate) async fn sign_out(&self) -> Result<SignOutOutcome, AuthError> {
        let _flow = self.sign_in_lock.lock().await;
        let _renewal = self.renewal_lock.lock().await;
        // Tokens that cannot be read are removed without revocation. Tokens that another process renewed are revoked
        // too.
        self.reload_record().await;
        let record = self.state().record.clone();
        // Removed first, so that the tokens are not used any more even if the revocation fails.
        let removed = self.remove_sign_in_record(true).await;
        let revoked = match record {
            None => RevocationOutcome::NothingToRevoke,
            Some(record) => self.revoke_tokens(&record).await,
        };
        self.notify_change();
        removed.map_err(|error| {
            let cause = format!("you are signed out for this run, but the tokens could not be removed: {error}");
            AuthPhase::Storage.error(AuthErrorCause::Vault(VaultError { cause, ..error }))
        })?;
        Ok(SignOutOutcome { revoked })
    }

    async fn revoke_tokens(&self, record: &SignInRecord) -> RevocationOutcome {
        let Some(tokens) = &record.tokens else { return RevocationOutcome::NothingToRevoke };
        let Some(url) = &record.revocation_endpoint else { return RevocationOutcome::NotOffered };
        let key = record.dpop_key();
        let endpoint = TokenEndpoint {
            web: &self.web,
            phase: AuthPhase::Revocation,
            url,
            issuer: &record.issuer,
            client: &self.current_client(record),
            dpop: key.as_ref(),
            requires_bound_token: false,
            nonces: &self.authorization_nonces,
            now: self.now(),
        };
        // Most servers, but not all, revoke the access tokens of a grant with its refresh token.
        let mut revoked = Ok(());
        if let Some(refresh) = &tokens.refresh {
            revoked = endpoint.revoke(&refresh.0, "refresh_token").await;
        }
        let mut access = endpoint.revoke(&tokens.access.0, "access_token").await;
        if let Err(AuthError { cause: AuthErrorCause::Refused { code, .. }, .. }) = &access
            && code == "unsupported_token_type"
            && tokens.refresh.is_some()
        {
            // RFC 7009, 2 and 2.2.1: support is optional. The grant is revoked with its refresh token.
            access = Ok(());
        }
        match revoked.and(access) {
            Ok(()) => RevocationOutcome::Yes,
            Err(error) => RevocationOutcome::Failed { cause: error.cause.to_string() },
        }
    }
}
