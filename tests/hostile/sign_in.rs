//! Tests of servers and authorization servers that misbehave during and after a sign-in. The user acts immediately:
//! every sign-in is allowed, and the browser is already signed in.

mod addresses;
mod approvals;
mod callbacks;
mod checks;
mod credential_leaks;
mod endpoints;
mod for_ever;
mod interleaved;
mod machines;
mod redirects;
mod rules;

use std::sync::atomic::Ordering;

use host::view::ServerState;
use testkit::app::remote_config;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

use crate::leaks;
use crate::pair::GoodAndBadServers;
use crate::report::AttackResultRow;

/// Sign-in to a hostile server, with the authorization server that it uses and a well-behaved local server in the same
/// host.
struct SignInAttempt {
    what: String,
    pair: GoodAndBadServers,
    issuer: AuthorizationServer,
    server: ProtectedServer,
}

impl SignInAttempt {
    /// Starts all servers and begins the sign-in. [`Self::wait_for_end`] returns its result.
    async fn start(what: &str, issuer: AuthorizationScript, server: ProtectedScript) -> Self {
        let issuer = AuthorizationServer::start(issuer).await;
        let server = ProtectedServer::start(server, &[&issuer]).await;
        Self::start_with_servers(what, issuer, server, |_| {}).await
    }

    /// Begins a sign-in to a server that is already running, after calling `prepare`.
    async fn start_with_servers(
        what: &str,
        issuer: AuthorizationServer,
        server: ProtectedServer,
        prepare: impl FnOnce(&GoodAndBadServers),
    ) -> Self {
        let pair = GoodAndBadServers::with_stopped_bad_server(remote_config(&server.url())).await;
        pair.app.platform.browses.store(true, Ordering::Relaxed);
        prepare(&pair);
        pair.app.host.start_server("bad".into()).await.unwrap();
        Self { what: what.to_owned(), pair, issuer, server }
    }

    /// Waits until the hostile server is ready or has failed, while the well-behaved server has to respond. Returns the
    /// cause of a failure as the error.
    async fn wait_for_end(&self) -> Result<(), String> {
        self.pair.while_good_server_responds(&self.what, wait_for_start_result(&self.pair)).await
    }

    /// Asserts that the sign-in fails with a cause that contains one of these words, and before the authorization code
    /// is exchanged for a token. Returns the cause.
    async fn assert_fails_before_token_request(&self, words: &[&str]) -> String {
        let cause = self.wait_for_end().await.expect_err(&format!("{}: the sign-in must fail", self.what));
        assert!(
            words.iter().any(|word| cause.contains(word)),
            "{}: the error message contains the cause: {cause}",
            self.what
        );
        let redeemed = self.issuer.token_requests("authorization_code");
        assert!(redeemed.is_empty(), "{}: the sign-in stops before the token request: {redeemed:?}", self.what);
        cause
    }

    /// Closes the host, and asserts the same as [`GoodAndBadServers::close`], and that no secret of the sign-in is in a
    /// file, in the activity log or in the data sent to the page.
    async fn close(self) -> AttackResultRow {
        self.pair.assert_memory_bounded(&self.what);
        assert_no_secrets(&self.what, &self.pair, &[&self.issuer]).await;
        self.pair.close(&self.what).await
    }
}

/// Waits until the hostile server is ready or has failed. Returns the cause of a failure as the error.
async fn wait_for_start_result(pair: &GoodAndBadServers) -> Result<(), String> {
    let mut events = pair.app.host.events();
    let limit = tokio::time::Instant::now() + testkit::app::EVENT_TIMEOUT;
    loop {
        let view = pair.app.server("bad").await;
        match &view.state {
            ServerState::Ready if view.counts[0] > 0 => return Ok(()),
            ServerState::Failed(failure) => return Err(failure.message.clone()),
            ServerState::NeedsSignIn(needed) if !needed.signing_in => {
                let known = pair.app.host.authorization("bad".into()).await.unwrap();
                if let Some(cause) = known.failed.filter(|_| known.in_progress.is_none()) {
                    return Err(cause);
                }
            }
            _ => {}
        }
        // The stream of events may never pause, so the time is checked as well.
        let is_late = tokio::time::timeout_at(limit, events.next()).await.is_err();
        if is_late || tokio::time::Instant::now() > limit {
            let known = pair.app.host.authorization("bad".into()).await;
            panic!("the sign-in must end; it is {:?}, {known:#?}, {:?}", view.state, pair.app.consent_requests().await);
        }
    }
}

/// Asserts that no secret of a sign-in is in a file, in the activity log, in the steps of the sign-in, or in the data
/// sent to the page.
async fn assert_no_secrets(what: &str, pair: &GoodAndBadServers, issuers: &[&AuthorizationServer]) {
    let known = pair.app.host.authorization("bad".into()).await;
    let mut places = leaks::texts_searched_for_secrets(&pair.app, "bad").await;
    places.push(("the steps".to_owned(), format!("{known:?}")));
    for secret in issuers.iter().flat_map(|issuer| issuer.secrets()) {
        let found = leaks::find_secret(&places, &secret);
        assert!(found.is_none(), "{what}: {secret} must not be stored or sent, but it is in {found:?}");
    }
}
