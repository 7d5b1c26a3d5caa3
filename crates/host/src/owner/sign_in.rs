//! Signing in to remote servers. Each that may want it has a [`SignIn`], which outlives its connections: it signs their
//! requests, and is dropped when the server's settings are others.

mod asking;
mod ending;
mod flow;
mod settings;
mod signing;
mod user;
mod views;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_auth::{Authorization, Reason};
use mcp_transport::http::Authorizer;
use tokio::sync::{mpsc, oneshot};

use super::{Command, Owner, ServerRecord};
use crate::activity::Activity;
use crate::ports::Ports;
use crate::server_config::{Grant, HttpConfig};
use crate::sign_in::{AuthorizationView, SignInError};
use crate::vault::SecretsVault;
use crate::view::{HostEvent, ServerState};
pub(super) use settings::{Unmade, not_offered};
use signing::Signing;
pub(super) use user::Answered;
use user::Asker;

/// How often it is told that something about a sign-in changed.
const TICK: Duration = Duration::from_millis(50);

/// The sign-in of one server.
#[derive(Clone)]
pub(super) struct SignIn {
    authorization: Arc<Authorization>,
    asker: Arc<Asker>,
    signing: Arc<Signing>,
    /// What it was made of.
    config: Arc<HttpConfig>,
}

impl SignIn {
    /// What signs the requests of a connection.
    pub(super) fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::clone(&self.signing) as Arc<dyn Authorizer>
    }

    /// Whether it is for a server as it is set up now. Which transport is used makes no difference.
    fn is_for(&self, config: &HttpConfig) -> bool {
        (&self.config.url, &self.config.auth) == (&config.url, &config.auth)
    }

    /// Whether it needs nobody in front of a browser.
    fn is_unattended(&self) -> bool {
        self.config.auth.as_ref().is_some_and(|auth| match auth.grant {
            Grant::AuthorizationCode => false,
            Grant::EnterpriseManaged => auth.identity_provider.as_ref().is_some_and(|idp| idp.id_token.is_some()),
            Grant::ClientCredentials | Grant::WorkloadIdentity => true,
        })
    }
}

/// What a server's record knows of signing in.
#[derive(Default)]
pub(super) struct Access {
    sign_in: Option<SignIn>,
    /// The user wants the connection that is being made, and is there to sign in.
    wanted_now: bool,
    /// Why the next sign-in is made, if not because nobody is signed in.
    reason: Option<Reason>,
    /// The sign-in under way that the host began.
    flow: Option<u64>,
    /// Why the last one did not come to its end.
    failed: Option<String>,
    /// One without the user was tried since the server was last in use.
    tried_unattended: bool,
    /// Once the session has ended: why the user has to sign in.
    when_ended: Option<String>,
    /// Once the session has ended: what is to be done with the sign-in.
    then: Option<ending::Then>,
}

impl Access {
    /// Whether the user can sign in.
    pub(super) const fn is_offered(&self) -> bool {
        self.sign_in.is_some()
    }

    /// Why the server refused what could not be signed any better, in words; once.
    pub(super) fn refusal(&self) -> Option<String> {
        self.sign_in.as_ref().and_then(|sign_in| sign_in.signing.take_refusal())
    }

    /// Why the session that has ended was ended for a sign-in, if it was; once.
    pub(super) fn take_cause(&mut self) -> Option<String> {
        self.when_ended.take()
    }

    /// The user wants a connection now.
    pub(super) const fn want_now(&mut self) {
        self.wanted_now = true;
    }

    /// The connection that the user wanted came to nothing; what is tried later is not asked for.
    pub(super) const fn is_not_now(&mut self) {
        self.wanted_now = false;
    }

    /// The server is in use.
    pub(super) fn is_ready(&mut self) {
        (self.wanted_now, self.tried_unattended, self.reason) = (false, false, None);
        self.failed = None;
        // What was refused before it was in use is of no more interest.
        let _ = self.refusal();
    }

    /// The server is not wanted any more, or not as it was: a sign-in under way ends.
    pub(super) fn give_up(&mut self) {
        (self.wanted_now, self.flow, self.reason, self.when_ended) = (false, None, None, None);
        if let Some(sign_in) = &self.sign_in {
            sign_in.authorization.cancel();
        }
    }

    /// The settings are these now.
    pub(super) fn set_up_as(&mut self, config: Option<&HttpConfig>) {
        let stays = |sign_in: &SignIn| not_offered(config).is_none() && config.is_some_and(|c| sign_in.is_for(c));
        if self.sign_in.as_ref().is_some_and(|sign_in| !stays(sign_in)) {
            self.give_up();
            (self.sign_in, self.failed) = (None, None);
        }
    }

    /// Keeps a sign-in that was made. There is one for each server: one that was made meanwhile counts.
    pub(super) fn keep(&mut self, made: SignIn) -> SignIn {
        self.sign_in.get_or_insert(made).clone()
    }
}

/// What is needed to make a sign-in.
pub(super) struct Maker {
    server: String,
    back: mpsc::WeakSender<Command>,
    ports: Ports,
    activity: Arc<Mutex<Activity>>,
    existing: Option<SignIn>,
}

impl Maker {
    /// The sign-in of a server, read from the vault; none if there is no signing in to it. The keychain may ask the user, so
    /// nothing waits for it.
    pub(super) async fn make(self, config: HttpConfig) -> Result<Option<SignIn>, Unmade> {
        if not_offered(Some(&config)).is_some() {
            return Ok(None);
        }
        let sign_in = match self.existing.clone().filter(|existing| existing.is_for(&config)) {
            Some(existing) => existing,
            None => self.anew(config).await?,
        };
        if let Err(error) = sign_in.authorization.load().await {
            // Whoever is signed in is not known; the server says whether that matters.
            tracing::warn!(server = sign_in.asker.server(), %error, "what is kept of a sign-in could not be read");
        }
        Ok(Some(sign_in))
    }

    async fn anew(self, config: HttpConfig) -> Result<SignIn, Unmade> {
        let Self { server, back, ports, activity, .. } = self;
        let asker = Asker::new(&server, &config.url, back.clone(), Arc::clone(&ports.platform));
        let vault = Arc::new(SecretsVault::new(&server, Arc::clone(&ports.secrets)));
        let (asked, secrets, config) = (Arc::clone(&asker), Arc::clone(&ports.secrets), Arc::new(config));
        let from = Arc::clone(&config);
        let made = tokio::task::spawn_blocking(move || settings::settings(&from, secrets.as_ref(), vault, asked)).await;
        let settings = made.map_err(|error| Unmade::Address(error.to_string()))??;
        let authorization = Authorization::new(settings);
        tokio::spawn(tell_changes(authorization.changed(), server, back));
        let signing = Arc::new(Signing::new(Arc::clone(&authorization), Arc::clone(&asker), activity));
        Ok(SignIn { authorization, asker, signing, config })
    }
}

/// Tells the owner what changes, until the sign-in is gone.
async fn tell_changes(mut changed: tokio::sync::watch::Receiver<u64>, server: String, back: mpsc::WeakSender<Command>) {
    while changed.changed().await.is_ok() {
        let Some(back) = back.upgrade() else { return };
        let server = server.clone();
        if back.send(Box::new(move |owner: &mut Owner| owner.authorization_changed(&server))).await.is_err() {
            return;
        }
        drop(back);
        tokio::time::sleep(TICK).await;
    }
}

impl Owner {
    pub(super) fn sign_in_maker(&self, name: &str) -> Option<Maker> {
        let record = self.servers.get(name)?;
        Some(Maker {
            server: name.to_owned(),
            back: self.back.clone(),
            ports: self.ports.clone(),
            activity: Arc::clone(&record.activity),
            existing: record.access.sign_in.clone(),
        })
    }

    /// Something about a sign-in is no longer as it was.
    pub(super) fn authorization_changed(&mut self, name: &str) {
        self.emit(HostEvent::AuthorizationChanged(name.to_owned()));
    }

    /// Does something with the sign-in of a server, which is made first if need be.
    fn with_sign_in(
        &mut self,
        name: &str,
        then: impl FnOnce(&mut Self, &str, Result<SignIn, SignInError>) + Send + 'static,
    ) {
        let Some((record, maker)) = self.servers.get(name).zip(self.sign_in_maker(name)) else {
            return then(self, name, Err(SignInError::NotFound(name.to_owned())));
        };
        let offered = match (record.config.as_http(), not_offered(record.config.as_http())) {
            (Some(config), None) => Ok(config.clone()),
            (_, cause) => {
                let cause = cause.unwrap_or_default().to_owned();
                Err(SignInError::NotOffered { server: name.to_owned(), cause })
            }
        };
        match (offered, &record.access.sign_in) {
            (Err(error), _) => then(self, name, Err(error)),
            (Ok(_), Some(sign_in)) => {
                let sign_in = sign_in.clone();
                then(self, name, Ok(sign_in));
            }
            (Ok(config), None) => {
                let name = name.to_owned();
                self.beside(maker.make(config), move |owner, made| {
                    let sign_in = owner.kept_sign_in(&name, made);
                    then(owner, &name, sign_in);
                });
            }
        }
    }

    fn kept_sign_in(&mut self, name: &str, made: Result<Option<SignIn>, Unmade>) -> Result<SignIn, SignInError> {
        let record = self.servers.get_mut(name).ok_or_else(|| SignInError::NotFound(name.to_owned()))?;
        match made {
            // The settings may be others by now.
            Ok(Some(made)) if record.config.as_http().is_some_and(|config| made.is_for(config)) => {
                Ok(record.access.keep(made))
            }
            Ok(_) => Err(SignInError::NotFound(name.to_owned())),
            Err(cause) => Err(SignInError::NotPrepared { server: name.to_owned(), cause: cause.to_string() }),
        }
    }

    pub(crate) fn authorization(&mut self, name: &str, reply: oneshot::Sender<Result<AuthorizationView, SignInError>>) {
        self.with_sign_in(name, move |owner, name, sign_in| {
            // Whoever asked may have gone away.
            let _ = reply.send(owner.authorization_view(name, sign_in));
        });
    }

    fn authorization_view(
        &self,
        name: &str,
        sign_in: Result<SignIn, SignInError>,
    ) -> Result<AuthorizationView, SignInError> {
        let access = &self.servers.get(name).ok_or_else(|| SignInError::NotFound(name.to_owned()))?.access;
        let nothing = AuthorizationView {
            server: name.to_owned(),
            not_offered: None,
            account: None,
            in_progress: None,
            failed: access.failed.clone(),
            steps: Vec::new(),
            kept: None,
        };
        let sign_in = match sign_in {
            Ok(sign_in) => sign_in,
            Err(SignInError::NotOffered { cause, .. }) => {
                return Ok(AuthorizationView { not_offered: Some(cause), ..nothing });
            }
            Err(SignInError::NotPrepared { cause, .. }) => {
                return Ok(AuthorizationView { failed: Some(cause), ..nothing });
            }
            Err(error) => return Err(error),
        };
        let account = sign_in.authorization.account();
        Ok(AuthorizationView {
            in_progress: sign_in.authorization.in_progress().map(|now| views::progress(now, &sign_in.asker.way())),
            steps: views::steps(&sign_in.authorization),
            kept: views::kept(&sign_in.authorization, account.as_ref()),
            account: account.map(views::account),
            ..nothing
        })
    }
}

impl ServerRecord {
    /// Whether a sign-in is under way with a server that waits for it, and why it still needs one.
    fn signs_in(&mut self, signing_in: bool, cause: Option<String>) {
        if let ServerState::NeedsSignIn(needed) = &mut self.state {
            needed.signing_in = signing_in;
            needed.cause = cause.unwrap_or_else(|| std::mem::take(&mut needed.cause));
        }
    }

    /// A text without the tokens of this server.
    fn redacted(&self, text: String) -> String {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner).redacted(text)
    }
}
