//! Sign-ins of the user to remote servers.

use credentials::sign_in::{AuthorizationView, SignInError, SignOutOutcome};
use tokio::sync::oneshot;

use super::{Host, HostClosed};

impl Host {
    /// Starts a sign-in to a remote server. Returns once the sign-in has begun. Its consent requests are added to the
    /// queue, and [`HostEvent::AuthorizationChanged`](crate::view::HostEvent::AuthorizationChanged) reports its
    /// progress. If the server is not running, it is started (after consent if required) to determine if it requires a
    /// sign-in.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, [`SignInError::NotOffered`] if it doesn't support
    /// signing in, and [`SignInError::Closing`] if the host has shut down.
    pub async fn sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with_owner_result(move |owner| owner.sign_in(&server)).await
    }

    /// Cancels the sign-in in progress, if there is one.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, and [`SignInError::Closing`] after shutdown.
    pub async fn cancel_sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with_owner_result(move |owner| owner.servers.cancel_sign_in(&server)).await
    }

    /// Ends the session of a server, deletes its tokens, and revokes them if the authorization server supports it.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, [`SignInError::NotOffered`] if it doesn't support
    /// signing in, and [`SignInError::NotRemoved`] if the tokens can't be deleted.
    pub async fn sign_out(&self, server: String) -> Result<SignOutOutcome, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.sign_out(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Signs out, and then starts a sign-in in which the user can choose another account. Returns once it has begun.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sign_out`](Self::sign_out).
    pub async fn change_account(&self, server: String) -> Result<SignOutOutcome, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.change_account(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Returns the state of the user's sign-in to a remote server.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, and [`SignInError::Closing`] after shutdown.
    pub async fn authorization(&self, server: String) -> Result<AuthorizationView, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.authorization(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Continues a sign-in with a redirect URL that the user pasted, because the browser could not reach the redirect
    /// address on this computer.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotWaiting`] if no sign-in waits for the browser, and [`SignInError::BadRedirect`] if the
    /// URL is not its redirect.
    pub async fn paste_redirect(&self, server: String, url: String) -> Result<(), SignInError> {
        self.with_owner_result(move |owner| owner.servers.paste_redirect(&server, &url)).await
    }
}
