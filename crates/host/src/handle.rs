//! The handle to a running host.

mod calls;
mod catalogs;
mod consent;
mod conversation;
mod other_apps;
mod preparations;
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
use supervision::wake::{self, Addresses, Clocks, Pace};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

pub use other_apps::{ImportError, ImportServerError};
pub use setup::{ReplacedServer, Setup, SetupError};
pub use storage::StorageError;

use crate::owner::{Owner, SharedOwner, WeakOwner};
use crate::view::{AppSettings, Snapshot};
use crate::{HostClosed, HostOptions, NumberedEvent};

/// How long the start waits for the keychain, without which no approval is known.
const SETTLES: Duration = Duration::from_secs(2);
/// The most events an observer may be behind; then it has a gap, and reads the snapshot again.
const MAX_EVENTS: usize = 4_096;

/// A running host. Clones are handles to the same one; it ends when [`close`](Self::close) was called or the last is dropped.
#[derive(Clone)]
pub struct Host {
    owner: Arc<HeldOwner>,
    events: broadcast::Sender<Arc<NumberedEvent>>,
    ports: Ports,
    times: crate::view::CallTimes,
    preparations: preparations::Preparations,
    /// Of reports that the network changed.
    pace: Arc<Mutex<Pace>>,
    /// Held by whoever changes the settings of servers ([`Setup`]).
    setting_up: Arc<tokio::sync::Mutex<()>>,
}

/// The owner, as long as there is a handle to it.
struct HeldOwner(SharedOwner);

impl Drop for HeldOwner {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Events in order.
pub struct Events(broadcast::Receiver<Arc<NumberedEvent>>);

impl Events {
    /// The next event; none when the host has ended. Events that were missed show as a gap in the numbers.
    pub async fn next(&mut self) -> Option<Arc<NumberedEvent>> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// The next event, if it is there already.
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
    /// Starts a host on the current tokio runtime. First ends what an earlier one, that was killed, left running.
    pub async fn start(ports: Ports, options: HostOptions) -> Self {
        let documents = Arc::clone(&ports.documents);
        let swept = tokio::task::spawn_blocking(move || crate::owner::sweep_orphans(documents.as_ref())).await;
        if let Ok(ended @ 1..) = swept {
            tracing::info!(ended, "ended servers that an earlier run left behind");
        }
        // Approvals that are not known yet would be asked for again.
        let documents = Arc::clone(&ports.documents);
        let settled = tokio::task::spawn_blocking(move || documents.settle(SETTLES)).await;
        if let Err(error) = settled {
            tracing::error!(%error, "the seals of documents could not be looked at");
        }
        let (events, _) = broadcast::channel(MAX_EVENTS);
        let times = options.times;
        let owner = SharedOwner::new(|back| Owner::new(ports.clone(), options, events.clone(), back));
        // Nobody else can have ended it.
        let _ = owner.turn("autostart", Owner::autostart);
        tokio::spawn(crate::owner::run(owner.clone()));
        Self::watch_settings(&ports, &owner.downgrade());
        tokio::spawn(watch_clocks(owner.downgrade(), Arc::clone(&ports.clock)));
        let owner = Arc::new(HeldOwner(owner));
        let (preparations, pace, setting_up) = Default::default();
        Self { owner, events, ports, times, preparations, pace, setting_up }
    }

    fn watch_settings(ports: &Ports, owner: &WeakOwner) {
        let (changed, changes) = mpsc::channel(1);
        ports.servers.watch(changed);
        tokio::spawn(follow(changes, owner.clone(), Owner::reload_servers));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Policy, changed.clone());
        ports.managed.watch(changed);
        tokio::spawn(follow(changes, owner.clone(), Owner::reload_rules));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Models, changed.clone());
        ports.documents.watch(Document::Confirmed, changed);
        tokio::spawn(follow(changes, owner.clone(), Owner::reload_providers));
        let (changed, changes) = mpsc::channel(1);
        ports.documents.watch(Document::Sampling, changed);
        tokio::spawn(follow(changes, owner.clone(), Owner::reload_sampling));
        let reloads = [
            (Document::Grants, Owner::reload_grants as fn(&mut Owner)),
            (Document::Pins, Owner::reload_pins),
            (Document::Roots, Owner::reload_roots),
            (Document::Flow, Owner::reload_flows),
            (Document::Origins, Owner::reload_origins),
        ];
        for (document, reload) in reloads {
            let (changed, changes) = mpsc::channel(1);
            ports.documents.watch(document, changed);
            tokio::spawn(follow(changes, owner.clone(), reload));
        }
    }

    /// Takes a turn of the owner.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner) -> T + Send + 'static,
    ) -> Result<T, HostClosed> {
        // A caller that takes turns in a loop lets other tasks run.
        tokio::task::coop::consume_budget().await;
        self.owner.0.turn(std::any::type_name_of_val(&act), act)
    }

    /// Has the owner do what takes time, such as a write, and waits for its outcome.
    pub(crate) async fn with_reply<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Owner, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T, HostClosed> {
        let (reply, replied) = oneshot::channel();
        self.owner.0.turn(std::any::type_name_of_val(&act), |owner| act(owner, reply))?;
        replied.await.map_err(|_| HostClosed)
    }

    /// The providers of models that there are now.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn models(&self) -> Result<models::Registry, HostClosed> {
        self.with(|owner| owner.models.registry.clone()).await
    }

    /// Adds a provider of models that is not of the settings.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn put_provider(
        &self,
        id: String,
        provider: Arc<dyn models::Provider>,
        known: Vec<models::Model>,
    ) -> Result<(), HostClosed> {
        self.with(move |owner| owner.models.registry.put(id, provider, known)).await
    }

    /// What comes from outside.
    #[must_use]
    pub const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// All there is, and the number the next event has. Subscribe first, then take the snapshot, and nothing is missed.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn snapshot(&self) -> Result<Snapshot, HostClosed> {
        self.with(|owner| owner.snapshot()).await
    }

    /// The events from now on.
    #[must_use]
    pub fn events(&self) -> Events {
        Events(self.events.subscribe())
    }

    /// Ends all servers, and waits until nothing is left of them. Returns at once if the host has ended already, also by a panic, after
    /// which its servers end by themselves.
    pub async fn close(&self) {
        let (done, is_done) = oneshot::channel();
        if self.with(|owner| owner.close(Some(done))).await.is_ok() {
            let _ = is_done.await;
        }
    }

    /// Tells that the network changed or the computer slept: what is waited for, or was given up because it did not answer, is
    /// tried at once, and servers that are in use have to show that they live. Sleep and another address of this computer are
    /// noticed without it, too. Reports that come too often wait ([`Pace`]). Caller: the page, by the command of the same name.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn network_changed(&self) -> Result<(), HostClosed> {
        let now = Instant::now();
        let at = self.pace.lock().unwrap_or_else(PoisonError::into_inner).report(now);
        match at {
            Some(at) if at <= now => self.with(Owner::woke).await,
            Some(at) => {
                let (owner, pace) = (self.owner.0.downgrade(), Arc::clone(&self.pace));
                tokio::spawn(async move {
                    tokio::time::sleep_until(at).await;
                    pace.lock().unwrap_or_else(PoisonError::into_inner).taken();
                    // The host may have ended in the meantime.
                    let _ = owner.turn("network", Owner::woke);
                });
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Changes the app's settings.
    ///
    /// # Errors
    /// If they can't be written.
    pub async fn set_settings(&self, settings: AppSettings) -> Result<(), StorageError> {
        Ok(self.with_reply(move |owner, reply| owner.set_settings(settings, reply)).await??)
    }
}

/// Has the owner do something whenever a file changed.
async fn follow(mut changes: mpsc::Receiver<()>, owner: WeakOwner, act: fn(&mut Owner)) {
    while changes.recv().await.is_some() && owner.turn("reload", act).is_ok() {}
}

/// Tells the owner when the computer slept or its network is another one.
async fn watch_clocks(owner: WeakOwner, clock: SharedClock) {
    let mut clocks = Clocks::new(clock.time(), Instant::now());
    let mut addresses = Addresses::read();
    loop {
        tokio::time::sleep(wake::INTERVAL).await;
        let woke = clocks.woke(clock.time(), Instant::now());
        let moved = addresses.moved(Addresses::read());
        let look = |owner: &mut Owner| {
            if woke || moved {
                owner.woke();
            }
        };
        if owner.turn("clocks", look).is_err() {
            return;
        }
    }
}
