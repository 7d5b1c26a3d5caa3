//! Notifications of changes: in sessions unsolicited and by `resources/subscribe`, in stateless revisions by
//! `subscriptions/listen`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::task::AbortHandle;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use crate::resources::CLOCK_URI;
use crate::state::{DemoServerState, ServerChange, lock};

/// Interval at which changes of the clock are reported to its subscribers.
const CLOCK_RESOURCE_UPDATE_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of resources to which one host can subscribe.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 100;

/// Subscriptions of one session, by URI. For each, a Tokio task sends the notifications.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Mutex<HashMap<String, AbortHandle>>);

impl Subscriptions {
    /// Spawns a Tokio task that reports changes of a resource to the host. Fails if the host has too many
    /// subscriptions.
    pub(crate) fn add(&self, uri: String, peer: Peer<RoleServer>, state: &DemoServerState) -> Result<(), ErrorData> {
        let mut running = lock(&self.0);
        if running.len() >= MAX_SUBSCRIPTIONS && !running.contains_key(&uri) {
            return Err(ErrorData::invalid_params("too many subscriptions", None));
        }
        let watched = uri.clone();
        let changes = state.changes();
        let task = tokio::spawn(async move {
            let mut watch = ChangeStream::new(changes, watched == CLOCK_URI);
            while let Some(change) = watch.next().await {
                if change != ServerChange::Resource(watched.clone()) {
                    continue;
                }
                let update = ResourceUpdatedNotificationParam::new(watched.clone());
                if peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        });
        if let Some(previous) = running.insert(uri, task.abort_handle()) {
            previous.abort();
        }
        Ok(())
    }

    /// Stops the Tokio task that reports changes of a resource. Does nothing if the host is not subscribed to the
    /// resource.
    pub(crate) fn remove(&self, uri: &str) {
        if let Some(task) = lock(&self.0).remove(uri) {
            task.abort();
        }
    }
}

/// Reports changes of the server's lists to the host of a session until the session ends.
pub(crate) async fn report_list_changes(peer: Peer<RoleServer>, state: Arc<DemoServerState>) {
    let mut watch = ChangeStream::new(state.changes(), false);
    while let Some(change) = watch.next().await {
        if notify_list_changed(&peer, &change).await.is_err() {
            return;
        }
    }
}

async fn notify_list_changed(peer: &Peer<RoleServer>, change: &ServerChange) -> Result<(), ServiceError> {
    match change {
        ServerChange::Tools => peer.notify_tool_list_changed().await,
        ServerChange::Prompts => peer.notify_prompt_list_changed().await,
        ServerChange::Resources => peer.notify_resource_list_changed().await,
        ServerChange::Resource(_) => Ok(()),
    }
}

/// Receivers of the changes that are made between the response to a subscription request and the start of [`listen`],
/// since a host may change something as soon as it has received the response.
#[derive(Debug, Default)]
pub(crate) struct BufferedChanges(Mutex<VecDeque<Receiver<ServerChange>>>);

impl BufferedChanges {
    /// Starts to record changes for a subscription whose response is sent now.
    pub(crate) fn start_recording(&self, state: &DemoServerState) {
        let mut waiting = lock(&self.0);
        // Bounded because a subscription may never start.
        waiting.truncate(MAX_SUBSCRIPTIONS - 1);
        waiting.push_back(state.changes());
    }

    /// Returns the recorded changes for the subscription that is starting. If several start concurrently, one of them
    /// may receive earlier changes of another.
    fn take(&self) -> Option<Receiver<ServerChange>> {
        lock(&self.0).pop_front()
    }
}

/// Serves one `subscriptions/listen` request until the host ends it.
pub(crate) async fn listen(context: &SubscriptionContext, state: &DemoServerState, buffered: &BufferedChanges) {
    let with_clock =
        context.accepted().resource_subscriptions.as_ref().is_some_and(|uris| uris.iter().any(|uri| uri == CLOCK_URI));
    let mut watch = ChangeStream::new(buffered.take().unwrap_or_else(|| state.changes()), with_clock);
    loop {
        let change = tokio::select! {
            () = context.cancelled() => return,
            change = watch.next() => change,
        };
        let sink = context.sink();
        let sent = match change {
            None => return,
            Some(ServerChange::Tools) => sink.notify_tool_list_changed().await,
            Some(ServerChange::Prompts) => sink.notify_prompt_list_changed().await,
            Some(ServerChange::Resources) => sink.notify_resource_list_changed().await,
            Some(ServerChange::Resource(uri)) => sink.notify_resource_updated(uri).await,
        };
        match sent {
            // The sink rejects notifications that the host did not request.
            Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
            Err(_) => return,
        }
    }
}

/// Stream of changes of the server's lists and resources, including periodic changes of the clock.
struct ChangeStream {
    changes: Receiver<ServerChange>,
    clock: Option<Interval>,
}

impl ChangeStream {
    fn new(changes: Receiver<ServerChange>, with_clock: bool) -> Self {
        let clock = with_clock.then(|| {
            let mut clock = interval_at(
                tokio::time::Instant::now() + CLOCK_RESOURCE_UPDATE_INTERVAL,
                CLOCK_RESOURCE_UPDATE_INTERVAL,
            );
            clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
            clock
        });
        Self { changes, clock }
    }

    /// Returns the next change, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<ServerChange> {
        loop {
            let tick = async {
                match &mut self.clock {
                    Some(clock) => clock.tick().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                change = self.changes.recv() => match change {
                    Ok(change) => return Some(change),
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!("{missed} changes were not reported because the receiver lagged");
                    }
                    Err(RecvError::Closed) => return None,
                },
                _ = tick => return Some(ServerChange::Resource(CLOCK_URI.to_owned())),
            }
        }
    }
}
