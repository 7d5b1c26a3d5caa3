//! How messages go out: a call's request with its parameters, and what its POST needs in headers.

use serde_json::{Value, json};

use crate::http::{HttpHead, header_value};
use crate::jsonrpc::{Outgoing, OutgoingKind, RequestId};
use crate::revision::Revision;

use super::opening::Phase;
use super::wire::Purpose;
use super::{CallError, CallId, Carrier, ClientRequest, Session, meta};

/// What else a request's POST says in headers.
#[derive(Default)]
pub(super) struct Extra {
    /// What the request is about: a tool, a prompt, a resource or a task.
    pub(super) name: Option<String>,
    /// `Mcp-Param-*` headers, encoded.
    pub(super) params: Vec<(String, String)>,
}

impl Session {
    /// Sends a call's request: for the first time, with answers to what the server asked back, or
    /// again because it was lost.
    pub(super) fn transmit(&mut self, id: CallId) {
        let revision = self.revision();
        if self.is_reopening() {
            return self.hold(id);
        }
        let as_task = self.task_parameter(id);
        let Some(call) = self.calls.get_mut(&id) else { return };
        let wire = self.wire.open(Purpose::Call(id));
        call.wire = Some(wire);
        call.send_at = None;
        call.progress = None;
        let mut params = call.request.params(revision);
        if let Some(inputs) = &call.inputs {
            inputs.add_to(&mut params);
        }
        call.augmented = as_task.is_some();
        if let Some(task) = as_task {
            params.insert("task".into(), task);
        }
        let token = call.request.may_ask_back().then_some(wire);
        call.token = token;
        let meta = meta::request_meta(&self.config, revision, self.log_level, token, self.trace.as_ref());
        if !meta.is_empty() {
            params.insert("_meta".into(), Value::Object(meta));
        }
        let mirrored = match &call.request {
            ClientRequest::CallTool { name, arguments, .. } => self.mirrored.params(name, arguments),
            _ => Ok(Vec::new()),
        };
        let method = call.request.method(revision);
        let extra = match &call.request {
            ClientRequest::CallTool { name, .. } => match mirrored {
                Ok(params) => Extra { name: Some(name.clone()), params },
                Err(what) => {
                    self.wire.give_up(wire);
                    return self.end_call(id, Err(CallError::Unsupported { what }));
                }
            },
            ClientRequest::GetPrompt { name, .. } => Extra { name: Some(name.clone()), ..Extra::default() },
            ClientRequest::ReadResource { uri } => Extra { name: Some(uri.clone()), ..Extra::default() },
            _ => Extra::default(),
        };
        let params = (!params.is_empty()).then_some(Value::Object(params));
        self.send_request(wire, method, params.as_ref(), extra);
    }

    /// A request of the session itself, without parameters of its own but `params`.
    pub(super) fn ask_server(
        &mut self,
        purpose: Purpose,
        method: &'static str,
        mut params: Value,
        name: Option<String>,
    ) -> i64 {
        let meta = meta::request_meta(&self.config, self.revision(), None, None, None);
        if !meta.is_empty() {
            params["_meta"] = Value::Object(meta);
        }
        let id = self.wire.open(purpose);
        let params = params.as_object().is_some_and(|params| !params.is_empty()).then_some(params);
        self.send_request(id, method, params.as_ref(), Extra { name, ..Extra::default() });
        id
    }

    pub(super) fn send_request(&mut self, id: i64, method: &str, params: Option<&Value>, extra: Extra) {
        let mut outgoing = Outgoing::request(RequestId::Number(id), method, params);
        outgoing.head = self.head(method, extra);
        self.out.push_back(outgoing);
    }

    pub(super) fn tell(&mut self, method: &str, params: Option<&Value>) {
        let mut outgoing = Outgoing::notification(method, params);
        outgoing.head = self.head(method, Extra::default());
        self.out.push_back(outgoing);
    }

    /// Sends an answer.
    pub(super) fn send(&mut self, mut outgoing: Outgoing) {
        outgoing.head = self.head("", Extra::default());
        self.out.push_back(outgoing);
    }

    /// Headers of a POST. Up to 2025-11-25 the version follows from `initialize`, which goes without.
    fn head(&self, method: &str, extra: Extra) -> Option<Box<HttpHead>> {
        if self.config.carrier != Carrier::StreamableHttp {
            return None;
        }
        let revision = match (&self.phase, &self.facts) {
            (Phase::Probing { .. }, _) => Revision::NEWEST,
            (_, facts) => facts.as_ref()?.revision,
        };
        let mut head = HttpHead { revision: Some(revision), ..HttpHead::default() };
        if revision.has_request_headers() {
            head.method = Some(method.to_owned());
            head.name = extra.name.as_deref().map(header_value);
            head.params = extra.params;
        }
        Some(Box::new(head))
    }

    /// Tells the server that a request is not wanted any longer: over HTTP in 2026-07-28 by closing its
    /// stream, else by a notification (`basic/patterns/cancellation`).
    pub(super) fn tell_cancelled(&mut self, wire: i64, reason: Option<&str>) {
        if self.config.carrier == Carrier::StreamableHttp && self.revision().is_modern() {
            return self.abort(wire);
        }
        let mut params = json!({ "requestId": wire });
        if let Some(reason) = reason {
            params["reason"] = json!(reason);
        }
        self.tell("notifications/cancelled", Some(&params));
    }

    /// Closes the response stream of a request. If the request is still waiting to be taken, it never goes.
    pub(super) fn abort(&mut self, wire: i64) {
        let wire = RequestId::Number(wire);
        let waiting =
            self.out.iter().position(|out| matches!(&out.about, OutgoingKind::Request { id, .. } if *id == wire));
        match waiting {
            Some(at) => {
                self.out.remove(at);
            }
            None => self.out.push_back(Outgoing::abort(wire)),
        }
    }
}
