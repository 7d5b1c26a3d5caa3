//! The public handle to a running host.

mod apps;
mod call_preparations;
mod calls;
mod catalogs;
mod consent;
mod contained_start;
mod conversation;
mod providers;
mod results;
mod rules;
mod sampling;
mod saved_files;
mod servers;
mod setup;
mod sign_in;
mod storage;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ports::time::SharedClock;
use ports::{Document, Ports};
use supervision::wake::{self, ClockComparison, ConnectionCheckRateLimit, OutgoingIpAddresses};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

pub use contained_start::SandboxStartError;
pub use setup::{ReplacedServer, ServerSetup, SetupError};
pub use storage::StorageError;

use crate::owner::{Owner, SharedOwner, WeakOwner};
use crate::view::{AppSettings, Snapshot};
use crate::{HostClosed, HostOptions, NumberedEvent};

/// Time to wait for the keychain at startup. Until it is available, the host can't verify the stored grants.
const KEYCHAIN_STARTUP_TIMEOUT: Duration = Duration::from_secs(2);
/// Capacity of the event channel. An observer that falls further behind misses events and needs a new snapshot.
const MAX_PENDING_EVENTS: usize = 4_096;

/// A running host. Clones are handles to the same host, which shuts down when [`close`](Self::close) is called or the
/// last handle is dropped.
#[derive(Clone)]
pub struct Host {
    owner: Arc<CloseHostOnDrop>,
    events: broadcast::Sender<Arc<NumberedEvent>>,
    ports: Ports,
    times: crate::view::CallTimeouts,
    preparations: call_preparations::CallPreparations,
    /// Limits how often calls of [`handle_network_change`](Self::handle_network_change) have an effect.
    network_check_limit: Arc<Mutex<ConnectionCheckRateLimit>>,
    /// Lock that serializes changes of the servers' settings ([`ServerSetup`]).
    setting_up: Arc<tokio::sync::Mutex<()>>,
}

/// The owner of the host's state, shared by all clones of a [`Host`]. Dropping the last clone shuts down the host.
struct CloseHostOnDrop(SharedOwner);

impl Drop for CloseHostOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// A subscription to the host's events, which are received in order.
pub struct EventReceiver(broadcast::Receiver<Arc<NumberedEvent>>);

impl EventReceiver {
    /// Returns the next event, or `None` if the host has shut down. Missed events leave a gap in the sequence numbers.
    pub async fn next(&mut self) -> Option<Arc<NumberedEvent>> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Returns the next event without waiting, or `None` if no event is available.
    pub fn try_next(&mut self) -> Option<Arc<NumberedEvent>> {
        loop {
            match self.0.try_recv() {
                Ok(event) => return Some(event),
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Host {
    /// Starts a host on the current tokio runtime. First ends server processes that a killed instance left running.
    pub async fn start(ports: Ports, options: HostOptions) -> Self {
        let documents = Arc::clone(&ports.documents);
        let swept = tokio::task::spawn_blocking(move || crate::owner::end_orphaned_servers(documents.as_ref())).await;
        if let Ok(ended @ 1..) = swept {
            tracing::info!(ended, "ended servers that an earlier run left behind");
        }
        // Without the keychain, grants can't be verified, and the user would be prompted again.
        let documents = Arc::clone(&ports.documents);
        let settled = tokio::task::spawn_blocking(move || documents.request_mac_key(KEYCHAIN_STARTUP_TIMEOUT)).await;
        if let Err(error) = settled {
            tracing::error!(%error, "the seals of documents could not be checked");
        }
        let (events, _) = broadcast::channel(MAX_PENDING_EVENTS);
        let times = options.call_timeouts;
        let owner = SharedOwner::new(|back| Owner::new(ports.clone(), options, events.clone(), back));
        // Can't fail, since no other handle exists that could have shut down the host.
        let _ = owner.run_turn("autostart", Owner::start_servers_automatically);
        tokio::spawn(crate::owner::run_owner(owner.clone()));
        Self::watch_settings(&ports, &owner.downgrade());
        tokio::spawn(watch_sleep_and_network(owner.downgrade(), Arc::clone(&ports.clock)));
        let owner = Arc::new(CloseHostOnDrop(owner));
        let (preparations, network_check_limit, setting_up) = Default::default();
        Self { owner, events, ports, times, preparations, network_check_limit, setting_up }
    }

    fn watch_settings(ports: &Ports, owner: &WeakOwner) {
        let (changed, changes) = mpsc::channel(1);
        ports.servers.watch(changed);
        tokio::spawn(run_on_file_changes(changes, owner.clone(), Owner::reload_servers));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Policy, changed.clone());
        ports.managed.watch(changed);
        tokio::spawn(run_on_file_changes(changes, owner.clone(), Owner::reload_rules));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Models, changed.clone());
        ports.documents.watch(Document::Confirmed, changed);
        tokio::spawn(run_on_file_changes(changes, owner.clone(), Owner::reload_providers));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Sampling, changed);
        tokio::spawn(run_on_file_changes(changes, owner.clone(), Owner::reload_sampling));
        let reloads = [
            (Document::Grants, Owner::reload_grants as fn(&mut Owner)),
            (Document::Pins, Owner::reload_pins),
            (Document::Roots, Owner::reload_roots),
            (Document::Flow, Owner::reload_data_flow),
            (Document::Origins, Owner::reload_install_records),
        ];
        for (document, reload) in reloads {
            let (changed, changes) = mpsc::channel(1);
            ports.documents.watch(document, changed);
            tokio::spawn(run_on_file_changes(changes, owner.clone(), reload));
        }
    }

    /// Locks the host's state, calls `act` with it, and returns the result.
    pub(crate) async fn with_owner<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner) -> T + Send + 'static,
    ) -> Result<T, HostClosed> {
        // Yields to other tasks if a caller takes turns in a loop.
        tokio::task::coop::consume_budget().await;
        self.owner.0.run_turn(std::any::type_name_of_val(&act), act)
    }

    /// Locks the host's state, calls `act` with it and the sender of a reply, and waits for the reply, which `act` may
    /// send after a document is written.
    pub(crate) async fn with_owner_reply<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T, HostClosed> {
        let (reply, replied) = oneshot::channel();
        self.owner.0.run_turn(std::any::type_name_of_val(&act), |owner| act(owner, reply))?;
        replied.await.map_err(|_| HostClosed)
    }

    /// Calls `act` like [`with_owner`](Self::with_owner), and returns its result, or an error after shutdown.
    pub(crate) async fn with_owner_result<T: Send + 'static, E: From<HostClosed> + Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.with_owner(act).await?
    }

    /// Calls `act` like [`with_owner_reply`](Self::with_owner_reply), and returns the replied result, or an error after
    /// shutdown.
    pub(crate) async fn with_owner_reply_result<T: Send + 'static, E: From<HostClosed> + Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner, oneshot::Sender<Result<T, E>>) + Send + 'static,
    ) -> Result<T, E> {
        self.with_owner_reply(act).await?
    }

    /// Returns the registered model providers.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn provider_registry(&self) -> Result<models::ProviderRegistry, HostClosed> {
        self.with_owner(|owner| owner.models.registry.clone()).await
    }

    /// Adds a model provider that is not stored in the settings, such as a scripted one of a test.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    #[cfg(feature = "test-support")]
    pub async fn add_unsaved_provider(
        &self,
        id: String,
        provider: Arc<dyn models::Provider>,
        known: Vec<models::Model>,
    ) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.models.registry.put(id, provider, known)).await
    }

    /// Returns the ports that the host was started with.
    #[must_use]
    pub const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Returns the complete state of the host, and the number of the next event. Subscribe to events before requesting
    /// the snapshot, so that no event is missed.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn snapshot(&self) -> Result<Snapshot, HostClosed> {
        self.with_owner(|owner| owner.snapshot()).await
    }

    /// Subscribes to all events that are emitted from now on.
    #[must_use]
    pub fn events(&self) -> EventReceiver {
        EventReceiver(self.events.subscribe())
    }

    /// Stops all servers, and waits until their processes have ended. Returns immediately if the host has already shut
    /// down. If it shut down because of a panic, the servers end without being waited for.
    pub async fn close(&self) {
        let (done, is_done) = oneshot::channel();
        if self.with_owner(|owner| owner.close(Some(done))).await.is_ok() {
            let _ = is_done.await;
        }
    }

    /// Returns `true` if the host is shutting down or has shut down, so that nothing new should be sent.
    pub async fn is_closing(&self) -> bool {
        self.with_owner(|owner| owner.is_closing()).await.unwrap_or(true)
    }

    /// Handles a network change or the computer's wake-up: waiting or failed connection attempts are retried
    /// immediately, and running servers are pinged. The page calls this when the browser reports a network change. The
    /// host also detects sleep and changes of the network addresses. [`ConnectionCheckRateLimit`] limits the calls.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn handle_network_change(&self) -> Result<(), HostClosed> {
        let now = Instant::now();
        let at = self.network_check_limit.lock().unwrap_or_else(PoisonError::into_inner).schedule_connection_check(now);
        match at {
            Some(at) if at <= now => self.with_owner(Owner::on_wake_or_network_change).await,
            Some(at) => {
                let (owner, network_check_limit) = (self.owner.0.downgrade(), Arc::clone(&self.network_check_limit));
                tokio::spawn(async move {
                    tokio::time::sleep_until(at).await;
                    network_check_limit.lock().unwrap_or_else(PoisonError::into_inner).mark_connection_check_started();
                    // Fails only if the host has shut down meanwhile.
                    let _ = owner.run_turn("network", Owner::on_wake_or_network_change);
                });
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Replaces Drawbridge's own settings, which apply to all servers.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Store`] if the settings can't be written, and [`StorageError::Closed`] after shutdown.
    pub async fn set_settings(&self, settings: AppSettings) -> Result<(), StorageError> {
        self.with_owner_reply(move |owner, reply| owner.set_settings(settings, reply))
            .await?
            .map_err(StorageError::Store)
    }

    /// Changes the zoom in percent and the visibility of the menu bar. All other settings remain unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Store`] if the settings can't be written or another change is being written, and
    /// [`StorageError::Closed`] if the host has shut down.
    pub async fn set_window_settings(&self, zoom: u16, menu_bar: bool) -> Result<(), StorageError> {
        let set = move |owner: &mut Owner, reply| owner.set_window_settings(zoom, menu_bar, reply);
        self.with_owner_reply(set).await?.map_err(StorageError::Store)
    }
}

/// Calls `act` with the host's state after each notification in `changes`, which says that a watched file has changed.
async fn run_on_file_changes(mut changes: mpsc::Receiver<()>, owner: WeakOwner, act: fn(&mut Owner)) {
    while changes.recv().await.is_some() && owner.run_turn("reload", act).is_ok() {}
}

/// Notifies the owner when the computer wakes up or its network addresses change.
async fn watch_sleep_and_network(owner: WeakOwner, clock: SharedClock) {
    let mut clocks = ClockComparison::new(clock.time(), Instant::now());
    let mut addresses = OutgoingIpAddresses::read();
    loop {
        tokio::time::sleep(wake::CLOCK_COMPARISON_INTERVAL).await;
        let woke = clocks.detect_wake(clock.time(), Instant::now());
        let moved = addresses.update(OutgoingIpAddresses::read());
        let look = |owner: &mut Owner| {
            if woke || moved {
                owner.on_wake_or_network_change();
            }
        };
        if owner.run_turn("clocks", look).is_err() {
            return;
        }
    }
}
