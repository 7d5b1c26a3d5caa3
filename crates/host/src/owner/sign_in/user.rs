//! Whom a sign-in asks: the user, through the one queue of questions, and the user's browser, through the platform.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use credentials::sign_in::EnteredClient;
use domain::Millis;
use mcp_auth::{Answer, ClientAuthentication, Consent, Preregistered, Reason, User};
use ports::time::SharedClock;
use ports::url_parts::UrlParts;
use ports::{Platform, Ports};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::super::gate::{Departure, open_page};
use super::super::state::SignInAnswer;
use super::super::{Owner, WeakOwner};
use super::views;
use crate::view::QuestionBody;

/// How long a sign-in waits for the browser to come back, in milliseconds.
const BROWSER: Millis = 5 * 60 * 1000;
/// How many pasted addresses wait to be looked at.
const MAX_PASTED: usize = 4;

/// How far a sign-in is, as far as the user was asked.
#[derive(Debug, Clone)]
pub(super) struct ConsentProgress {
    pub(super) reason: Reason,
    pub(super) since: Millis,
    /// Where the browser comes back to.
    pub(super) redirect_uri: Option<Url>,
    /// When it ends by itself, once the browser was opened.
    pub(super) ends_at: Option<Millis>,
    /// Why the browser did not open.
    pub(super) browser_problem: Option<String>,
}

impl ConsentProgress {
    pub(super) fn new(reason: Reason, since: Millis) -> Self {
        Self { reason, since, redirect_uri: None, ends_at: None, browser_problem: None }
    }
}

/// The user, as one server's sign-in sees them.
pub(super) struct Asker {
    server: String,
    url: String,
    back: WeakOwner,
    platform: Arc<dyn Platform>,
    clock: SharedClock,
    way: Mutex<ConsentProgress>,
    /// The page that the user agreed to, until it is opened.
    agreed: Mutex<Option<Departure>>,
    paste: mpsc::Sender<String>,
    pasted: tokio::sync::Mutex<mpsc::Receiver<String>>,
}

/// The number of the next question, of whatever server.
static QUESTIONS: AtomicU64 = AtomicU64::new(0);

impl Asker {
    pub(super) fn new(server: &str, url: &str, back: WeakOwner, ports: &Ports) -> Arc<Self> {
        let (paste, pasted) = mpsc::channel(MAX_PASTED);
        Arc::new(Self {
            server: server.to_owned(),
            url: url.to_owned(),
            back,
            platform: Arc::clone(&ports.platform),
            way: Mutex::new(ConsentProgress::new(Reason::SignIn, ports.clock.now())),
            clock: Arc::clone(&ports.clock),
            agreed: Mutex::default(),
            paste,
            pasted: tokio::sync::Mutex::new(pasted),
        })
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn way(&self) -> MutexGuard<'_, ConsentProgress> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn agreed(&self) -> MutexGuard<'_, Option<Departure>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another sign-in begins.
    pub(super) fn begins(&self, reason: Reason) {
        *self.way() = ConsentProgress::new(reason, self.clock.now());
        *self.agreed() = None;
        // What was pasted for another one is of no use.
        if let Ok(mut pasted) = self.pasted.try_lock() {
            while pasted.try_recv().is_ok() {}
        }
    }

    /// Gives the sign-in what the user pasted; whether there was room.
    pub(super) fn paste(&self, address: &str) -> bool {
        self.paste.try_send(address.to_owned()).is_ok()
    }

    /// Takes a turn of the owner; nothing if the host has ended.
    pub(super) fn tell_owner(&self, act: impl FnOnce(&mut Owner)) {
        // Then nobody is asked any more.
        let _ = self.back.turn("sign-in", act);
    }

    /// Asks, and waits for the answer. The question is gone as soon as nobody waits for it.
    async fn ask(&self, body: QuestionBody) -> SignInAnswer {
        let number = QUESTIONS.fetch_add(1, Ordering::Relaxed);
        let (reply, replied) = oneshot::channel();
        let _withdrawn = Withdrawn { back: &self.back, number };
        let server = self.server.clone();
        self.tell_owner(move |owner| owner.ask_to_sign_in(&server, number, body, reply));
        replied.await.unwrap_or(SignInAnswer::Cancelled)
    }

    fn changed(&self) {
        let (back, server) = (self.back.clone(), self.server.clone());
        later(back, move |owner| owner.events.authorization_changed(&server));
    }
}

/// Takes a turn of the owner from another task, as its caller may run in a turn. Does nothing where there is no runtime any more,
/// because the program ends.
fn later(back: WeakOwner, act: impl FnOnce(&mut Owner) + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        // Nobody is asked any more when the host has ended.
        runtime.spawn(async move { back.turn("sign-in", act) });
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Withdrawn<'a> {
    back: &'a WeakOwner,
    number: u64,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        let number = self.number;
        later(self.back.clone(), move |owner| owner.withdraw_sign_in_question(number));
    }
}

#[async_trait]
impl User for Asker {
    async fn consent(&self, request: Consent) -> Answer {
        {
            let mut way = self.way();
            way.reason.clone_from(&request.reason);
            way.redirect_uri.clone_from(&request.redirect_uri);
        }
        match self.ask(views::question(request)).await {
            SignInAnswer::Yes(departure) => {
                *self.agreed() = Some(departure);
                Answer::Yes
            }
            SignInAnswer::No => Answer::No,
            SignInAnswer::Client(_) | SignInAnswer::Cancelled => Answer::Cancel,
        }
    }

    async fn client_id(&self, issuer: &str, redirect_uri: &Url) -> Option<Preregistered> {
        let (url, redirect_uri) = (self.url.clone(), redirect_uri.to_string());
        match self.ask(QuestionBody::ClientId { url, issuer: issuer.to_owned(), redirect_uri }).await {
            SignInAnswer::Client(client) => {
                let EnteredClient { client_id, client_secret } = client.into_inner();
                Some(Preregistered {
                    issuer: Some(issuer.to_owned()),
                    client_id,
                    redirect_port: None,
                    authentication: match client_secret {
                        Some(secret) => ClientAuthentication::Secret { secret: secret.into(), method: None },
                        None => ClientAuthentication::None,
                    },
                })
            }
            _ => None,
        }
    }

    async fn open(&self, url: &Url) -> Result<(), String> {
        {
            let mut way = self.way();
            way.ends_at = Some(self.clock.now() + BROWSER);
            way.browser_problem = None;
        }
        let agreed = self.agreed().take();
        let page = agreed.and_then(|agreed| agreed.sign_in_page(&self.server, url.to_string()).ok());
        let opened = match page {
            _ if !UrlParts::of(url.as_str()).openable => {
                Err("this address is too long, or has a user name in it".to_owned())
            }
            Some(page) => open_page(self.platform.as_ref(), page).await,
            None => Err("it is another page than you agreed to".to_owned()),
        };
        if let Err(cause) = &opened {
            self.way().browser_problem = Some(cause.clone());
        }
        self.changed();
        opened
    }

    async fn pasted(&self) -> String {
        // The sender lies beside it.
        let pasted = self.pasted.lock().await.recv().await;
        match pasted {
            Some(address) => address,
            None => std::future::pending().await,
        }
    }

    fn can_paste(&self) -> bool {
        true
    }
}
