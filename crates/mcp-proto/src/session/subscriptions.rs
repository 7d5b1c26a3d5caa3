//! Change notifications of 2026-07-28: one `subscriptions/listen` that is sent again when the wanted
//! set changes (`basic/patterns/subscriptions`). Older servers need none of this.

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::jsonrpc::{RequestId, RpcError};
use crate::types::Map;

use super::wire::Purpose;
use super::{CallError, CallId, ClientRequest, ServerResult, Session, meta, results};

/// What is listened to.
#[derive(Debug, Default)]
pub(super) struct Listen {
    /// The resources that are wanted.
    uris: IndexSet<String>,
    /// Calls that wait for the server to grant a resource.
    waiting: Vec<(CallId, String)>,
    /// The id of the request that is open, and of the one before, whose last news may still come.
    current: Option<i64>,
    previous: Option<i64>,
    granted: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Granted {
    resource_subscriptions: Option<IndexSet<String>>,
}

#[derive(Deserialize)]
struct Acknowledged {
    notifications: Granted,
}

impl Session {
    pub(super) fn check_subscription(&self, request: &ClientRequest) -> Result<(), CallError> {
        let limit = self.config.limits.subscriptions;
        if matches!(request, ClientRequest::Subscribe { .. }) && self.listen.uris.len() >= limit {
            return Err(CallError::Unsupported { what: format!("more than {limit} subscriptions") });
        }
        Ok(())
    }

    pub(super) fn subscribe(&mut self, call: CallId, uri: String) {
        let known = !self.listen.uris.insert(uri.clone());
        if known && self.listen.granted {
            return self.end_call(call, Ok(ServerResult::Empty));
        }
        self.listen.waiting.push((call, uri));
        if !known || self.listen.current.is_none() {
            self.listen_anew();
        }
    }

    pub(super) fn unsubscribe(&mut self, call: CallId, uri: &str) {
        if self.listen.uris.shift_remove(uri) {
            self.listen_anew();
        }
        self.end_call(call, Ok(ServerResult::Empty));
    }

    /// A call that waited for a grant ended from our side.
    pub(super) fn drop_subscription(&mut self, ended: CallId) {
        let Some(at) = self.listen.waiting.iter().position(|(call, _)| *call == ended) else { return };
        let (_, uri) = self.listen.waiting.remove(at);
        if !self.listen.waiting.iter().any(|(_, other)| *other == uri) && self.listen.uris.shift_remove(&uri) {
            self.listen_anew();
        }
    }

    /// Opens the listening that is wanted now, then ends the one before, so that no news is missed.
    pub(super) fn listen_anew(&mut self) {
        let before = self.listen.current.take();
        self.listen.granted = false;
        let wanted = self.wanted();
        if !wanted.is_empty() {
            let revision = self.revision();
            // Log messages never come here, so no level is asked for.
            let params = json!({
                "notifications": wanted,
                "_meta": meta::request_meta(&self.config, revision, None, None),
            });
            self.listen.current = Some(self.request(Purpose::Listen, "subscriptions/listen", Some(&params)));
        }
        if let Some(id) = before {
            self.wire.give_up(id);
            self.tell_cancelled(id, None);
            self.listen.previous = Some(id);
        }
    }

    fn wanted(&self) -> Map {
        let mut wanted = Map::new();
        let Some(facts) = &self.facts else { return wanted };
        let offers = &facts.capabilities;
        let lists = [
            ("toolsListChanged", offers.tools.as_ref().and_then(|tools| tools.list_changed)),
            ("promptsListChanged", offers.prompts.as_ref().and_then(|prompts| prompts.list_changed)),
            ("resourcesListChanged", offers.resources.as_ref().and_then(|resources| resources.list_changed)),
        ];
        for (key, _) in lists.into_iter().filter(|(_, announced)| *announced == Some(true)) {
            wanted.insert(key.into(), Value::Bool(true));
        }
        if !self.listen.uris.is_empty() {
            wanted.insert("resourceSubscriptions".into(), json!(self.listen.uris));
        }
        wanted
    }

    /// `notifications/subscriptions/acknowledged`: what was granted of what was wanted.
    pub(super) fn acknowledged(&mut self, params: Map) {
        match self.subscription(&params) {
            Some(id) if Some(id) == self.listen.current => {}
            Some(id) if Some(id) == self.listen.previous => return,
            _ => return self.anomaly("an acknowledgement of a subscription that was never asked for".into(), None),
        }
        let granted = match results::read(params) {
            Ok(Acknowledged { notifications }) => notifications.resource_subscriptions.unwrap_or_default(),
            Err(cause) => return self.anomaly(format!("an acknowledgement that does not fit: {cause}"), None),
        };
        self.listen.granted = true;
        self.listen.uris.retain(|uri| granted.contains(uri));
        for (call, uri) in std::mem::take(&mut self.listen.waiting) {
            let result = if granted.contains(&uri) {
                Ok(ServerResult::Empty)
            } else {
                Err(CallError::Unsupported { what: "it did not grant the subscription".into() })
            };
            self.end_call(call, result);
        }
    }

    /// `subscriptionId` of a notification, in exactly the form in which we gave it.
    fn subscription(&self, params: &Map) -> Option<i64> {
        params.get("_meta")?.get(meta::SUBSCRIPTION)?.as_i64()
    }

    /// Whether news on a change belongs to what we listen to.
    pub(super) fn is_wanted_news(&mut self, params: &Map) -> bool {
        if !self.revision().has_listen() {
            return true;
        }
        let named = params.get("_meta").is_some_and(|meta| meta.get(meta::SUBSCRIPTION).is_some());
        let id = self.subscription(params);
        if named && (id.is_none() || (id != self.listen.current && id != self.listen.previous)) {
            self.anomaly("a change notification for a subscription that does not exist was ignored".into(), None);
            return false;
        }
        if !named {
            self.anomaly("a change notification does not name its subscription".into(), None);
        }
        true
    }

    /// The server cancelled one of our requests, which it may do only to end the listening.
    pub(super) fn listen_cancelled(&mut self, id: &RequestId) {
        if let (RequestId::Number(id), Some(current)) = (id, self.listen.current)
            && *id == current
        {
            self.wire.give_up(current);
            self.listen_ended(Ok(()));
        }
    }

    /// The listening ended: in order, or with an error. It is not opened again by itself, so that a
    /// server that ends it at once is not asked for ever.
    pub(super) fn listen_ended(&mut self, how: Result<(), RpcError>) {
        self.listen.previous = self.listen.current.take();
        self.listen.granted = false;
        let waiting = std::mem::take(&mut self.listen.waiting);
        let refused_change = how.is_err() && !waiting.is_empty();
        let error = match how {
            Ok(()) => CallError::Unsupported { what: "it ended its change notifications".into() },
            Err(error) => CallError::Server(error),
        };
        for (call, uri) in waiting {
            self.listen.uris.shift_remove(&uri);
            self.end_call(call, Err(error.clone()));
        }
        if refused_change {
            // What was granted before is still wanted.
            self.listen_anew();
        } else {
            self.listen.uris.clear();
            self.anomaly(format!("change notifications ended: {error}"), None);
        }
    }
}
