//! Signing in, as the host is asked for it.

use credentials::sign_in::{AuthorizationView, SignInError, SignedOut};
use tokio::sync::oneshot;

use super::{Host, HostClosed};

impl Host {
    /// Signs the user in to a remote server. Returns when that has begun; its questions come in the queue, and
    /// [`HostEvent::AuthorizationChanged`](crate::view::HostEvent::AuthorizationChanged) tells how it goes on. A server that
    /// does not run is started, after its question if need be, and asked whether it wants a sign-in.
    ///
    /// # Errors
    /// If there is no such server, or no signing in to it.
    pub async fn sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with(move |owner| owner.sign_in(&server)).await?
    }

    /// Ends a sign-in that is under way; fine if there is none.
    ///
    /// # Errors
    /// If there is no such server.
    pub async fn cancel_sign_in(&self, server: String) -> Result<(), SignInError> {
        self.with(move |owner| owner.servers.cancel_sign_in(&server)).await?
    }

    /// Forgets the tokens of a server, and tells the authorization server where it wants to be told. A session that runs ends.
    ///
    /// # Errors
    /// If there is no such server, no signing in to it, or the tokens can't be removed.
    pub async fn sign_out(&self, server: String) -> Result<SignedOut, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with(move |owner| owner.sign_out(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Signs in as somebody else: signs out, then lets the user choose an account. Returns when that has begun.
    ///
    /// # Errors
    /// As for [`sign_out`](Self::sign_out).
    pub async fn change_account(&self, server: String) -> Result<SignedOut, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with(move |owner| owner.change_account(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// What is known of the sign-in to a server.
    ///
    /// # Errors
    /// If there is no such server.
    pub async fn authorization(&self, server: String) -> Result<AuthorizationView, SignInError> {
        let (reply, replied) = oneshot::channel();
        self.with(move |owner| owner.authorization(&server, reply)).await?;
        replied.await.map_err(|_| HostClosed)?
    }

    /// Takes the address that a browser was sent back to, where that browser could not reach Drawbridge.
    ///
    /// # Errors
    /// If no sign-in waits for it, or it is another address.
    pub async fn paste_redirect(&self, server: String, url: String) -> Result<(), SignInError> {
        self.with(move |owner| owner.paste_redirect(&server, &url)).await?
    }
}
