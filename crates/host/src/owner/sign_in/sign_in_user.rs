//! Implements the user interaction of a sign-in: requests consent through the queue of consent requests, and opens the
//! browser through the platform.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use credentials::sign_in::EnteredClient;
use domain::Millis;
use host_state::DisplayedSignInProgress;
use mcp_auth::{AuthReason, ClientAuthentication, ConsentAnswer, ConsentPrompt, PreregisteredClient, UserInteraction};
use ports::time::SharedClock;
use ports::url_parts::UrlParts;
use ports::{Platform, Ports};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::super::gate::{SendPermit, open_in_browser};
use super::super::state::SignInAnswer;
use super::super::{Owner, WeakOwner};
use super::views;
use crate::view::ConsentRequestBody;

/// Time that a sign-in waits for the OAuth redirect of the browser, in milliseconds.
const BROWSER_REDIRECT_TIMEOUT: Millis = 5 * 60 * 1000;
/// Maximum number of redirect URLs pasted by the user that wait for the sign-in to process them.
const MAX_PENDING_PASTED_URLS: usize = 4;

/// The user as seen by one server's sign-in: asks for consent, opens the browser, and receives pasted URLs.
pub(super) struct SignInUser {
    server: String,
    url: String,
    back: WeakOwner,
    platform: Arc<dyn Platform>,
    clock: SharedClock,
    way: Mutex<DisplayedSignInProgress>,
    /// Permit to open the approved authorization URL, until the URL is opened.
    agreed: Mutex<Option<SendPermit>>,
    paste: mpsc::Sender<String>,
    pasted: tokio::sync::Mutex<mpsc::Receiver<String>>,
}

/// Source of unique numbers for consent requests of sign-ins to any server.
static NEXT_REQUEST_NUMBER: AtomicU64 = AtomicU64::new(0);

impl SignInUser {
    pub(super) fn new(server: &str, url: &str, back: WeakOwner, ports: &Ports) -> Arc<Self> {
        let (paste, pasted) = mpsc::channel(MAX_PENDING_PASTED_URLS);
        Arc::new(Self {
            server: server.to_owned(),
            url: url.to_owned(),
            back,
            platform: Arc::clone(&ports.platform),
            way: Mutex::new(DisplayedSignInProgress::new(AuthReason::SignIn, ports.clock.now())),
            clock: Arc::clone(&ports.clock),
            agreed: Mutex::default(),
            paste,
            pasted: tokio::sync::Mutex::new(pasted),
        })
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, DisplayedSignInProgress> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn browser_permit(&self) -> MutexGuard<'_, Option<SendPermit>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets the progress at the start of a new sign-in.
    pub(super) fn reset_progress(&self, reason: AuthReason) {
        *self.progress() = DisplayedSignInProgress::new(reason, self.clock.now());
        *self.browser_permit() = None;
        // URLs that were pasted for an earlier sign-in are discarded.
        if let Ok(mut pasted) = self.pasted.try_lock() {
            while pasted.try_recv().is_ok() {}
        }
    }

    /// Sends a redirect URL that the user pasted to the sign-in. Returns `false` if too many pasted URLs wait.
    pub(super) fn send_pasted_url(&self, address: &str) -> bool {
        self.paste.try_send(address.to_owned()).is_ok()
    }

    /// Locks the host's state, and calls `act` with it. Does nothing if the host has shut down.
    pub(super) fn with_owner(&self, act: impl FnOnce(&mut Owner)) {
        // Fails only after shutdown, when no consent is requested.
        let _ = self.back.run_turn("sign-in", act);
    }

    /// Adds a consent request, and waits for the user's decision. Dropping the future withdraws the request.
    async fn request_consent(&self, body: ConsentRequestBody) -> SignInAnswer {
        let number = NEXT_REQUEST_NUMBER.fetch_add(1, Ordering::Relaxed);
        let (reply, replied) = oneshot::channel();
        let _withdrawn = ConsentWithdrawal { back: &self.back, number };
        let server = self.server.clone();
        self.with_owner(move |owner| owner.request_sign_in_consent(&server, number, body, reply));
        replied.await.unwrap_or(SignInAnswer::Cancelled)
    }

    fn notify_changed(&self) {
        let (back, server) = (self.back.clone(), self.server.clone());
        spawn_owner_turn(back, move |owner| owner.events.authorization_changed(&server));
    }
}

/// Calls `act` with the host's state in a spawned task, since the caller may already hold the lock on it. Does nothing
/// if the runtime was stopped because the process exits.
fn spawn_owner_turn(back: WeakOwner, act: impl FnOnce(&mut Owner) + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        // Fails only after shutdown, when no consent is requested.
        runtime.spawn(async move { back.run_turn("sign-in", act) });
    }
}

/// Withdraws a consent request on drop, unless it was decided.
struct ConsentWithdrawal<'a> {
    back: &'a WeakOwner,
    number: u64,
}

impl Drop for ConsentWithdrawal<'_> {
    fn drop(&mut self) {
        let number = self.number;
        spawn_owner_turn(self.back.clone(), move |owner| owner.withdraw_sign_in_request(number));
    }
}

#[async_trait]
impl UserInteraction for SignInUser {
    async fn ask_for_consent(&self, request: ConsentPrompt) -> ConsentAnswer {
        {
            let mut way = self.progress();
            way.reason.clone_from(&request.reason);
            way.redirect_uri.clone_from(&request.redirect_uri);
        }
        match self.request_consent(views::sign_in_consent_body(request)).await {
            SignInAnswer::Yes(permit) => {
                *self.browser_permit() = Some(permit);
                ConsentAnswer::Yes
            }
            SignInAnswer::No => ConsentAnswer::No,
            SignInAnswer::Client(_) | SignInAnswer::Cancelled => ConsentAnswer::Cancel,
        }
    }

    async fn ask_for_client_id(&self, issuer: &str, redirect_uri: &Url) -> Option<PreregisteredClient> {
        let (url, redirect_uri) = (self.url.clone(), redirect_uri.to_string());
        match self.request_consent(ConsentRequestBody::ClientId { url, issuer: issuer.to_owned(), redirect_uri }).await
        {
            SignInAnswer::Client(client) => {
                let EnteredClient { client_id, client_secret } = client.into_inner();
                Some(PreregisteredClient {
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

    async fn open_browser(&self, url: &Url) -> Result<(), String> {
        {
            let mut way = self.progress();
            way.ends_at = Some(self.clock.now() + BROWSER_REDIRECT_TIMEOUT);
            way.browser_problem = None;
        }
        let agreed = self.browser_permit().take();
        let page = agreed.and_then(|agreed| agreed.authorize_sign_in_url(&self.server, url.to_string()).ok());
        let opened = match page {
            _ if !UrlParts::parse(url.as_str()).openable => {
                Err("this address is too long, or has a user name in it".to_owned())
            }
            Some(page) => open_in_browser(self.platform.as_ref(), page).await,
            None => Err("this page differs from the one you approved".to_owned()),
        };
        if let Err(cause) = &opened {
            self.progress().browser_problem = Some(cause.clone());
        }
        self.notify_changed();
        opened
    }

    async fn wait_for_pasted_url(&self) -> String {
        // The channel never closes, since `self` has a sender.
        let pasted = self.pasted.lock().await.recv().await;
        match pasted {
            Some(address) => address,
            None => std::future::pending().await,
        }
    }

    fn can_paste_response_url(&self) -> bool {
        true
    }
}
