//! Sign-ins on the handle to the host.

use credentials::sign_in::{AuthorizationView, SignInError, SignOutOutcome};
use tokio::sync::oneshot;

use super::{Host, HostClosed};

impl Host {
    /// Starts signing the user in to a remote server. Returns once the sign-in has begun; its consent requests appear
    /// in the queue, and [`HostEvent::AuthorizationChanged`](crate::view::HostEvent::AuthorizationChanged) reports its
    /// progress. A server that is not running is started, after consent if required, to find out whether it requires a
    /// sign-in.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, [`SignInError::NotOffered`] if it doesn't support
    /// signing in, and [`SignInError::Closing`] if the host has shut down.
    pub async fn sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with_owner(move |owner| owner.sign_in(&server)).await?
    }

    /// Cancels a sign-in in progress. Does nothing if there is none.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, and [`SignInError::Closing`] if the host has shut
    /// down.
    pub async fn cancel_sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with_owner(move |owner| owner.servers.cancel_sign_in(&server)).await?
    }

    /// Removes the tokens of a server, and revokes them if the authorization server supports revocation. Ends the
    /// running session.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, [`SignInError::NotOffered`] if it doesn't support
    /// signing in, and [`SignInError::NotRemoved`] if the tokens can't be removed.
    pub async fn sign_out(&self, server: String) -> Result<SignOutOutcome, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.sign_out(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Signs out, then starts a sign-in in which the user chooses an account. Returns once that has begun.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sign_out`](Self::sign_out).
    pub async fn change_account(&self, server: String) -> Result<SignOutOutcome, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.change_account(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Returns the state of the sign-in to a server.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotFound`] if no server has this name, and [`SignInError::Closing`] if the host has shut
    /// down.
    pub async fn authorization(&self, server: String) -> Result<AuthorizationView, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.authorization(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Accepts the redirect address of a browser that could not reach Drawbridge, as pasted by the user.
    ///
    /// # Errors
    ///
    /// Returns [`SignInError::NotWaiting`] if no sign-in waits for the browser, and [`SignInError::BadRedirect`] if the
    /// address is not its redirect.
    pub async fn paste_redirect(&self, server: String, url: String) -> Result<(), SignInError> {
        self.with_owner(move |owner| owner.paste_redirect(&server, &url)).await?
    }
}
