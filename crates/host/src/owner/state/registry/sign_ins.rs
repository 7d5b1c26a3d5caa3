//! What sign-ins change about servers. Callers: `owner/sign_in` and `handle`.

use credentials::settings::Unmade;
use credentials::sign_in::SignInError;

use super::ServerRegistry;
use crate::connection::Tell;
use crate::owner::sign_in::SignIn;

impl ServerRegistry {
    /// Keeps a sign-in that was made for a server.
    pub(in crate::owner) fn keep_sign_in(
        &mut self,
        server: &str,
        made: Result<Option<SignIn>, Unmade>,
    ) -> Result<SignIn, SignInError> {
        let record = self.records.get_mut(server).ok_or_else(|| SignInError::NotFound(server.to_owned()))?;
        match made {
            // The settings may be others by now.
            Ok(Some(made)) if record.config.as_http().is_some_and(|config| made.is_for(config)) => {
                Ok(record.access.keep(made))
            }
            Ok(_) => Err(SignInError::NotFound(server.to_owned())),
            Err(cause) => Err(SignInError::NotPrepared { server: server.to_owned(), cause: cause.to_string() }),
        }
    }

    /// Cancels the sign-in that is under way with a server, or was asked for.
    ///
    /// # Errors
    /// If there is no such server.
    pub(crate) fn cancel_sign_in(&mut self, server: &str) -> Result<(), SignInError> {
        let record = self.records.get_mut(server).ok_or_else(|| SignInError::NotFound(server.to_owned()))?;
        if let Some(sign_in) = &record.access.sign_in {
            sign_in.authorization.cancel();
        }
        record.access.is_not_now();
        Ok(())
    }

    /// Secrets that a server's settings name may be others: they are read anew when they are needed next.
    pub(crate) fn secrets_changed(&mut self, server: &str) {
        if let Some(record) = self.records.get_mut(server) {
            record.access.outdate();
        }
    }

    /// Ends the session of a server, which then waits for a sign-in.
    pub(in crate::owner) fn end_session(&mut self, server: &str, cause: String) {
        let Some(record) = self.records.get_mut(server) else { return };
        let Some(connection) = &record.session.connection else { return };
        let tell = connection.tell.clone();
        record.access.when_ended = Some(cause);
        record.start_again = false;
        tokio::spawn(async move { tell.send(Box::new(Tell::Stop)).await });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ready, registry};
    use super::*;

    #[test]
    fn a_cancelled_sign_in_is_wanted_no_more() {
        let mut registry = registry(None);
        let access = &mut registry.records["s"].access;
        access.want_now();
        access.asked = true;
        assert_eq!(registry.cancel_sign_in("s"), Ok(()), "there is such a server");
        let access = &registry.records["s"].access;
        assert!(!access.wanted_now && !access.asked, "nothing of it is left");
        assert_eq!(registry.cancel_sign_in("t"), Err(SignInError::NotFound("t".to_owned())), "nobody is signed in to");
    }

    #[test]
    fn what_could_not_be_made_for_a_server_is_not_kept() {
        let mut registry = registry(None);
        let cause = || Unmade::Address("no address".to_owned());
        let failed = registry.keep_sign_in("s", Err(cause())).err();
        let expected = SignInError::NotPrepared { server: "s".to_owned(), cause: "no address".to_owned() };
        assert_eq!(failed, Some(expected), "with its cause");
        let gone = registry.keep_sign_in("t", Err(cause())).err();
        assert_eq!(gone, Some(SignInError::NotFound("t".to_owned())), "the server was taken out meanwhile");
    }

    #[tokio::test]
    async fn a_session_that_ends_for_a_sign_in_says_why_and_is_not_started_again() {
        let (mut registry, mut told) = ready(mcp_proto::Revision::V2025_11_25);
        registry.records["s"].start_again = true;
        registry.end_session("s", "signed out".to_owned());
        assert!(matches!(told.recv().await.as_deref(), Some(Tell::Stop)), "its connection is stopped");
        let record = &mut registry.records["s"];
        assert_eq!(record.access.take_cause().as_deref(), Some("signed out"), "the cause is kept for its end");
        assert!(!record.start_again, "a restart that was wanted before is not");
        record.session.connection = None;
        registry.end_session("s", "again".to_owned());
        assert_eq!(registry.records["s"].access.take_cause(), None, "without a session there is nothing to end");
    }
}
