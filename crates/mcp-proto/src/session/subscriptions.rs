//! Change notifications of 2026-07-28: one `subscriptions/listen` request, which is sent again when the requested set
//! changes or the stream ends (`basic/patterns/subscriptions`). Earlier revisions subscribe to each resource with a
//! separate request.

use std::time::{Duration, Instant};

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::jsonrpc::{RequestId, RpcError, code, escape_and_truncate};
use crate::types::Map;

use super::request_table::RequestPurpose;
use super::timers::{checked_deadline, is_due};
use super::{CallError, CallId, ClientRequest, ServerResult, Session, SessionEvent, meta, results};

/// Maximum time that the server may take to acknowledge a `subscriptions/listen` request.
const SUBSCRIPTION_ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay before the first attempt to subscribe again after the subscription was lost. Doubles with each further loss.
const INITIAL_SUBSCRIPTION_RENEW_DELAY: Duration = Duration::from_secs(1);
/// Maximum delay before an attempt to subscribe again.
const MAX_SUBSCRIPTION_RENEW_DELAY: Duration = Duration::from_secs(60);
/// Minimum lifetime of a subscription after which the delay of its next renewal is reset to
/// [`INITIAL_SUBSCRIPTION_RENEW_DELAY`].
const MIN_STABLE_SUBSCRIPTION_LIFETIME: Duration = Duration::from_secs(60);

/// State of the subscription to change notifications.
#[derive(Debug, Default)]
pub(super) struct ListenRequestState {
    /// URIs of the resources that the client is subscribed to, in every revision.
    uris: IndexSet<String>,
    /// Ids of the tasks whose status notifications the client requests.
    tasks: IndexSet<String>,
    /// Calls that subscribe to a resource and wait for the acknowledgement, each with its URI.
    waiting: Vec<(CallId, String)>,
    /// Id of the open `subscriptions/listen` request, or `None` if there is none.
    current: Option<i64>,
    /// Id of the previous `subscriptions/listen` request, whose last notifications may still arrive.
    previous: Option<i64>,
    /// `true` if the server has acknowledged the open `subscriptions/listen` request.
    granted: bool,
    /// Deadline of the server's acknowledgement, or `None` if none is expected.
    acknowledge_by: Option<Instant>,
    /// Time at which the server acknowledged the open request, from which its lifetime is computed.
    since: Option<Instant>,
    /// Time of the next renewal of the subscription, or `None` if none is scheduled.
    renew_at: Option<Instant>,
    /// Delay that preceded the latest renewal of the subscription.
    waited: Duration,
    /// `true` if the loss of the subscription was reported to the caller.
    is_loss_reported: bool,
}

impl ListenRequestState {
    /// Discards the state of the current `subscriptions/listen` request after the connection was lost. The set of
    /// subscribed resources is retained.
    pub(super) fn discard_listen_request(&mut self) {
        self.previous = None;
        self.current = None;
        self.granted = false;
        self.acknowledge_by = None;
        self.renew_at = None;
    }

    /// Records a resource that the server accepted in a `resources/subscribe` request (up to 2025-11-25).
    pub(super) fn add_resource(&mut self, uri: String) {
        self.uris.insert(uri);
    }

    /// Removes a resource after a `resources/unsubscribe` request (up to 2025-11-25).
    pub(super) fn remove_resource(&mut self, uri: &str) {
        self.uris.shift_remove(uri);
    }

    pub(super) fn is_request_open(&self) -> bool {
        self.current.is_some()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.acknowledge_by.into_iter().chain(self.renew_at).min()
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct GrantedNotifications {
    resource_subscriptions: Option<IndexSet<String>>,
}

#[derive(Deserialize)]
struct SubscriptionAcknowledgedParams {
    notifications: GrantedNotifications,
}

impl Session {
    pub(super) fn check_subscription_limit(&self, request: &ClientRequest) -> Result<(), CallError> {
        let limit = self.config.limits.subscriptions;
        if matches!(request, ClientRequest::Subscribe { .. }) && self.listen.uris.len() >= limit {
            return Err(CallError::Unsupported { what: format!("more than {limit} subscriptions") });
        }
        Ok(())
    }

    pub(super) fn subscribe(&mut self, call: CallId, uri: String, now: Instant) {
        let known = !self.listen.uris.insert(uri.clone());
        if known && self.listen.granted {
            return self.end_call(call, Ok(ServerResult::Empty));
        }
        self.listen.waiting.push((call, uri));
        if !known || self.listen.current.is_none() {
            self.renew_subscription(now);
        }
    }

    pub(super) fn unsubscribe(&mut self, call: CallId, uri: &str, now: Instant) {
        if self.listen.uris.shift_remove(uri) {
            self.renew_subscription(now);
        }
        self.end_call(call, Ok(ServerResult::Empty));
    }

    /// Restores the subscriptions of the previous session, with one request for each resource.
    pub(super) fn restore_subscriptions(&mut self) {
        let Some(facts) = &self.facts else { return };
        let offered = facts.capabilities.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true));
        let limit = self.config.limits.subscriptions;
        let early = std::mem::take(&mut self.config.subscribed);
        self.listen.uris.extend(early.into_iter().take(limit));
        if facts.revision.has_resource_subscribe() && offered {
            for uri in self.listen.uris.clone() {
                self.send_request(RequestPurpose::Restore, "resources/subscribe", json!({ "uri": uri }), None);
            }
        }
    }

    /// Removes the subscription of a call that the client ended before the server acknowledged it.
    pub(super) fn drop_subscription_of_ended_call(&mut self, ended: CallId, now: Instant) {
        let Some(at) = self.listen.waiting.iter().position(|(call, _)| *call == ended) else { return };
        let (_, uri) = self.listen.waiting.remove(at);
        if !self.listen.waiting.iter().any(|(_, other)| *other == uri) && self.listen.uris.shift_remove(&uri) {
            self.renew_subscription(now);
        }
    }

    /// Requests status notifications of a task. Tasks that have ended are removed at the next renewal of the
    /// subscription.
    pub(super) fn listen_to_task(&mut self, task: &str, now: Instant) {
        if self.listen.tasks.insert(task.to_owned()) {
            self.renew_subscription(now);
        }
    }

    pub(super) fn stop_listening_to_task(&mut self, task: &str) {
        self.listen.tasks.shift_remove(task);
    }

    /// Sends a new `subscriptions/listen` request for the current resources and tasks, and then ends the previous
    /// request, so that no notification is missed.
    pub(super) fn renew_subscription(&mut self, now: Instant) {
        let before = self.listen.current.take();
        self.listen.granted = false;
        self.listen.renew_at = None;
        self.listen.acknowledge_by = None;
        let requested = self.requested_notifications();
        if !requested.is_empty() {
            // This stream has no log messages, so no level is requested.
            let params = json!({ "notifications": requested });
            self.listen.current = Some(self.send_request(RequestPurpose::Listen, "subscriptions/listen", params, None));
            self.listen.acknowledge_by = checked_deadline(now, SUBSCRIPTION_ACKNOWLEDGE_TIMEOUT);
            self.listen.since = None;
        }
        if let Some(id) = before {
            self.wire.abandon(id);
            self.send_cancellation(id, None);
            self.listen.previous = Some(id);
        }
    }

    fn requested_notifications(&self) -> Map {
        let mut requested = Map::new();
        let Some(facts) = &self.facts else { return requested };
        let offers = &facts.capabilities;
        let lists = [
            ("toolsListChanged", offers.tools.as_ref().and_then(|tools| tools.list_changed)),
            ("promptsListChanged", offers.prompts.as_ref().and_then(|prompts| prompts.list_changed)),
            ("resourcesListChanged", offers.resources.as_ref().and_then(|resources| resources.list_changed)),
        ];
        for (key, _) in lists.into_iter().filter(|(_, announced)| *announced == Some(true)) {
            requested.insert(key.into(), Value::Bool(true));
        }
        if !self.listen.uris.is_empty() {
            requested.insert("resourceSubscriptions".into(), json!(self.listen.uris));
        }
        if !self.listen.tasks.is_empty() {
            requested.insert("taskIds".into(), json!(self.listen.tasks));
        }
        requested
    }

    /// Processes `notifications/subscriptions/acknowledged`, which lists the requested notifications that the server
    /// grants.
    pub(super) fn on_subscription_acknowledged(&mut self, params: Map, now: Instant) {
        match self.subscription_id_of_notification(&params) {
            Some(id) if Some(id) == self.listen.current => {}
            Some(id) if Some(id) == self.listen.previous => return,
            _ => return self.report_protocol_anomaly("an acknowledgement of an unknown subscription".into(), None),
        }
        let granted = match results::deserialize_object(params) {
            Ok(SubscriptionAcknowledgedParams { notifications }) => {
                notifications.resource_subscriptions.unwrap_or_default()
            }
            Err(cause) => return self.report_protocol_anomaly(format!("an invalid acknowledgement: {cause}"), None),
        };
        self.listen.granted = true;
        self.listen.acknowledge_by = None;
        self.listen.since = Some(now);
        if std::mem::take(&mut self.listen.is_loss_reported) {
            self.events.push(SessionEvent::SubscriptionsRenewed);
        }
        for (call, uri) in std::mem::take(&mut self.listen.waiting) {
            let result = if granted.contains(&uri) {
                Ok(ServerResult::Empty)
            } else {
                self.listen.uris.shift_remove(&uri);
                Err(CallError::Unsupported { what: "the server did not grant the subscription".into() })
            };
            self.end_call(call, result);
        }
        let missing: Vec<&String> = self.listen.uris.iter().filter(|uri| !granted.contains(*uri)).collect();
        if let Some(first) = missing.first() {
            let cause = format!(
                "the server no longer reports changes of {} resource(s), such as {}",
                missing.len(),
                escape_and_truncate(first, 200)
            );
            self.report_protocol_anomaly(cause, None);
        }
    }

    /// Returns the `subscriptionId` of a notification, or `None` if it is not a number like the ids that the client
    /// sends.
    fn subscription_id_of_notification(&self, params: &Map) -> Option<i64> {
        params.get("_meta")?.get(meta::SUBSCRIPTION_ID_KEY)?.as_i64()
    }

    /// Returns `true` if a change notification should be processed, and `false` if it names a subscription that is
    /// neither the current nor the previous one.
    pub(super) fn is_subscribed_notification(&mut self, params: &Map) -> bool {
        if !self.revision().has_subscriptions_listen() {
            return true;
        }
        let named = params.get("_meta").is_some_and(|meta| meta.get(meta::SUBSCRIPTION_ID_KEY).is_some());
        let id = self.subscription_id_of_notification(params);
        if named && (id.is_none() || (id != self.listen.current && id != self.listen.previous)) {
            self.report_protocol_anomaly(
                "a change notification for a subscription that does not exist was ignored".into(),
                None,
            );
            return false;
        }
        if id.is_some() && id == self.listen.current {
            // A notification shows that the subscription works, even without an acknowledgement.
            self.listen.acknowledge_by = None;
        }
        if !named {
            self.report_protocol_anomaly("a change notification does not name its subscription".into(), None);
        }
        true
    }

    /// Processes the server's cancellation of a client's request, which is only allowed for `subscriptions/listen`.
    pub(super) fn on_listen_request_cancelled(&mut self, id: &RequestId, now: Instant) {
        if let (RequestId::Number(id), Some(current)) = (id, self.listen.current)
            && *id == current
        {
            self.wire.abandon(current);
            self.on_listen_response(Ok(()), now);
        }
    }

    /// Processes the response to `subscriptions/listen`, with which the server ends the subscription.
    pub(super) fn on_listen_response(&mut self, how: Result<(), RpcError>, now: Instant) {
        let error = match how {
            Ok(()) => return self.on_subscription_lost("the server ended the subscription".into(), now),
            Err(error) => error,
        };
        let waiting = std::mem::take(&mut self.listen.waiting);
        if !waiting.is_empty() {
            // Retains the resources that the server granted before, and refuses the new ones.
            self.listen.previous = self.listen.current.take();
            for (call, uri) in waiting {
                self.listen.uris.shift_remove(&uri);
                self.end_call(call, Err(CallError::Server(error.clone())));
            }
            return self.renew_subscription(now);
        }
        let never = error.code == code::METHOD_NOT_FOUND;
        self.on_subscription_lost(CallError::Server(error).to_string(), now);
        if never {
            self.listen.renew_at = None;
        }
    }

    /// Handles the loss of the subscription: retains the subscribed resources and schedules a renewal.
    pub(super) fn on_subscription_lost(&mut self, cause: String, now: Instant) {
        let listen = &mut self.listen;
        listen.previous = listen.current.take();
        listen.granted = false;
        listen.acknowledge_by = None;
        let good =
            listen.since.is_some_and(|since| now.saturating_duration_since(since) >= MIN_STABLE_SUBSCRIPTION_LIFETIME);
        let wait = if good || listen.waited.is_zero() { INITIAL_SUBSCRIPTION_RENEW_DELAY } else { listen.waited * 2 };
        listen.waited = wait.min(MAX_SUBSCRIPTION_RENEW_DELAY);
        listen.renew_at = checked_deadline(now, listen.waited);
        if !std::mem::replace(&mut listen.is_loss_reported, true) {
            self.events.push(SessionEvent::SubscriptionsLost { cause });
        }
    }

    /// Renews the subscription if a renewal is due. Treats the subscription as lost if the server's acknowledgement is
    /// overdue.
    pub(super) fn process_due_subscription_timers(&mut self, now: Instant) {
        if is_due(self.listen.acknowledge_by, now)
            && let Some(current) = self.listen.current
        {
            self.wire.abandon(current);
            self.send_cancellation(current, None);
            self.on_subscription_lost(
                format!("the server did not acknowledge the subscription within {SUBSCRIPTION_ACKNOWLEDGE_TIMEOUT:?}"),
                now,
            );
        }
        if is_due(self.listen.renew_at, now) {
            self.renew_subscription(now);
        }
    }
}
