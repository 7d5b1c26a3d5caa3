//! Changes of server records by sign-ins. Used by `owner/sign_in` and `handle`.

use credentials::settings::SignInSettingsError;
use credentials::sign_in::SignInError;

use super::super::ActionAfterSession;
use super::ServerRegistry;
use crate::connection::ConnectionCommand;
use crate::owner::sign_in::ServerSignIn;
use crate::view::ServerState;

impl ServerRegistry {
    /// Stores a sign-in that was created for a server.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if the server was removed or its settings have changed, and
    /// [`SignInError::NotPrepared`] if the sign-in could not be created.
    pub(in crate::owner) fn store_sign_in(
        &mut self,
        server: &str,
        made: Result<Option<ServerSignIn>, SignInSettingsError>,
    ) -> Result<ServerSignIn, SignInError> {
        let record = self.records.get_mut(server).ok_or_else(|| SignInError::NotFound(server.to_owned()))?;
        match made {
            // The settings may have changed while the sign-in was created.
            Ok(Some(made)) if record.config.as_http().is_some_and(|config| made.matches_config(config)) => {
                Ok(record.sign_in.get_or_store(made))
            }
            Ok(_) => Err(SignInError::NotFound(server.to_owned())),
            Err(cause) => Err(SignInError::NotPrepared { server: server.to_owned(), cause: cause.to_string() }),
        }
    }

    /// Cancels a sign-in that is in progress, or was requested for the next connection.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name.
    pub(crate) fn cancel_sign_in(&mut self, server: &str) -> Result<(), SignInError> {
        let record = self.records.get_mut(server).ok_or_else(|| SignInError::NotFound(server.to_owned()))?;
        if let Some(sign_in) = &record.sign_in.sign_in {
            sign_in.authorization.cancel();
        }
        record.sign_in.mark_not_requested();
        Ok(())
    }

    /// Passes the address that the user pasted to the sign-in to a server.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, [`SignInError::NotWaiting`] if its sign-in doesn't
    /// wait for the browser, and [`SignInError::BadRedirect`] if the sign-in can't use the address.
    pub(crate) fn paste_redirect(&self, server: &str, address: &str) -> Result<(), SignInError> {
        let record = self.records.get(server).ok_or_else(|| SignInError::NotFound(server.to_owned()))?;
        let sign_in = record.sign_in.sign_in.as_ref().ok_or_else(|| SignInError::NotWaiting(server.to_owned()))?;
        sign_in.paste_redirect(server, address)
    }

    /// Discards the cached secrets of a server, so that they are read again on the next use.
    pub(crate) fn discard_cached_secrets(&mut self, server: &str) {
        if let Some(record) = self.records.get_mut(server) {
            record.sign_in.mark_secrets_outdated();
        }
    }

    /// Ends the session of a server that rejected the best available token, until the user signs in.
    pub(in crate::owner) fn end_session_for_sign_in(&mut self, name: &str) {
        let Some(record) = self.records.get_mut(name) else { return };
        let is_open = matches!(record.state, ServerState::Ready | ServerState::Starting);
        let Some(cause) = record.sign_in.take_refusal_cause().filter(|_| is_open) else { return };
        self.end_session(name, cause);
    }

    /// Ends the session of a server, and starts the server again.
    pub(in crate::owner) fn restart_session(&mut self, name: &str, cause: &str) {
        if let Some(record) = self.records.get_mut(name) {
            record.sign_in.then = Some(ActionAfterSession::Start);
        }
        self.end_session(name, cause.to_owned());
    }

    /// Ends the session of a server, which then waits for the user's sign-in.
    pub(in crate::owner) fn end_session(&mut self, server: &str, cause: String) {
        let Some(record) = self.records.get_mut(server) else { return };
        let Some(connection) = &record.session.connection else { return };
        let sender = connection.sender.clone();
        record.sign_in.session_end_cause = Some(cause);
        record.start_again = false;
        tokio::spawn(async move { sender.send(Box::new(ConnectionCommand::Stop)).await });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{registry_with_ready_server, registry_with_server};
    use super::*;

    #[test]
    fn cancelled_sign_in_is_no_longer_requested() {
        let mut registry = registry_with_server(None);
        let access = &mut registry.records["s"].sign_in;
        access.mark_requested();
        access.is_sign_in_requested = true;
        assert_eq!(registry.cancel_sign_in("s"), Ok(()), "the server exists");
        let access = &registry.records["s"].sign_in;
        assert!(!access.is_connection_requested && !access.is_sign_in_requested, "the request is cleared");
        assert_eq!(
            registry.cancel_sign_in("t"),
            Err(SignInError::NotFound("t".to_owned())),
            "an unknown server has no sign-in"
        );
    }

    #[test]
    fn failed_sign_in_settings_are_not_stored() {
        let mut registry = registry_with_server(None);
        let cause = || SignInSettingsError::Address("no address".to_owned());
        let failed = registry.store_sign_in("s", Err(cause())).err();
        let expected = SignInError::NotPrepared { server: "s".to_owned(), cause: "no address".to_owned() };
        assert_eq!(failed, Some(expected), "the error contains the cause");
        let problem = registry.store_sign_in("t", Err(cause())).err();
        assert_eq!(problem, Some(SignInError::NotFound("t".to_owned())), "a removed server is not found");
    }

    #[tokio::test]
    async fn session_ended_for_a_sign_in_has_a_cause_and_is_not_restarted() {
        let (mut registry, mut commands) = registry_with_ready_server(mcp_proto::Revision::V2025_11_25);
        registry.records["s"].start_again = true;
        registry.end_session("s", "signed out".to_owned());
        assert!(
            matches!(commands.recv().await.as_deref(), Some(ConnectionCommand::Stop)),
            "the connection receives a stop command"
        );
        let record = &mut registry.records["s"];
        assert_eq!(
            record.sign_in.take_end_cause().as_deref(),
            Some("signed out"),
            "the cause is stored until the session ends"
        );
        assert!(!record.start_again, "a pending restart is cancelled");
        record.session.connection = None;
        registry.end_session("s", "again".to_owned());
        assert_eq!(registry.records["s"].sign_in.take_end_cause(), None, "without a session no cause is stored");
    }
}
