//! Builds and queues outgoing messages: requests with their parameters, notifications, and the HTTP headers of their
//! POST.

use serde_json::{Value, json};

use crate::http::{HttpPostHeaders, encode_header_value};
use crate::jsonrpc::{OutgoingMessage, OutgoingMessageKind, RequestId};
use crate::revision::Revision;

use super::handshake::SessionPhase;
use super::meta::RequestMeta;
use super::request_table::RequestPurpose;
use super::{CallError, CallId, ClientRequest, Session, TransportKind};

/// Values of the `Mcp-Name` and `Mcp-Param-*` headers of a request.
#[derive(Default)]
pub(super) struct NameAndParamHeaders {
    /// Value of the `Mcp-Name` header: the name of the request's target, which is a tool, a prompt, a resource or a
    /// task.
    pub(super) name: Option<String>,
    /// Names and encoded values of `Mcp-Param-*` headers.
    pub(super) params: Vec<(String, String)>,
}

impl Session {
    /// Sends the request of a call: for the first time, with user input, or again after a delivery failure.
    pub(super) fn send_call_request(&mut self, id: CallId) {
        let revision = self.revision();
        if self.is_reopening() {
            return self.retain_call_until_session_reopens(id);
        }
        let as_task = self.task_parameter_of_call(id);
        let extra = match self.name_and_param_headers(id) {
            Ok(extra) => extra,
            Err(what) => return self.end_call(id, Err(CallError::Unsupported { what })),
        };
        let Some(call) = self.calls.get_mut(&id) else { return };
        let wire = self.wire.register(RequestPurpose::Call(id));
        let request = &call.request;
        let method = request.method(revision);
        call.wire = Some(wire);
        call.send_at = None;
        call.progress = None;
        call.requested_as_task = as_task.is_some();
        call.token = request.may_request_input().then_some(wire);
        let meta = RequestMeta { log_level: self.log_level, trace: self.trace.as_deref(), progress_token: call.token };
        let common = self.common_meta.serialized_for_revision(&self.config, revision);
        let outgoing = OutgoingMessage::request(wire, method, |params| {
            request.write_params(revision, params);
            if let Some(inputs) = &call.inputs {
                inputs.write(params);
            }
            if let Some(task) = &as_task {
                params.put("task", task);
            }
            meta.write(common, params);
        });
        self.queue_message(outgoing, method, extra);
    }

    /// Returns the values of the call's `Mcp-Name` and `Mcp-Param-*` headers. The error is the reason why the call
    /// cannot be sent.
    fn name_and_param_headers(&self, id: CallId) -> Result<NameAndParamHeaders, String> {
        let call = self.calls.get(&id).filter(|_| self.config.carrier == TransportKind::StreamableHttp);
        let Some(call) = call else { return Ok(NameAndParamHeaders::default()) };
        Ok(match &call.request {
            ClientRequest::CallTool { name, arguments, .. } => {
                NameAndParamHeaders { name: Some(name.clone()), params: self.mirrored.header_values(name, arguments)? }
            }
            ClientRequest::GetPrompt { name, .. } => {
                NameAndParamHeaders { name: Some(name.clone()), ..NameAndParamHeaders::default() }
            }
            ClientRequest::ReadResource { uri } => {
                NameAndParamHeaders { name: Some(uri.clone()), ..NameAndParamHeaders::default() }
            }
            _ => NameAndParamHeaders::default(),
        })
    }

    /// Sends a request that the session makes on its own, such as a ping. Adds only the metadata to `params`.
    pub(super) fn send_request(
        &mut self,
        purpose: RequestPurpose,
        method: &'static str,
        params: Value,
        name: Option<String>,
    ) -> i64 {
        let revision = self.revision();
        let id = self.wire.register(purpose);
        let common = self.common_meta.serialized_for_revision(&self.config, revision);
        let outgoing = OutgoingMessage::request(id, method, |members| {
            members.put_all(params.as_object().into_iter().flatten());
            RequestMeta::default().write(common, members);
        });
        self.queue_message(outgoing, method, NameAndParamHeaders { name, ..NameAndParamHeaders::default() });
        id
    }

    pub(super) fn send_notification(&mut self, method: &'static str, params: Option<&Value>) {
        let params = params.and_then(Value::as_object);
        let outgoing = OutgoingMessage::notification(method, |members| members.put_all(params.into_iter().flatten()));
        self.queue_message(outgoing, method, NameAndParamHeaders::default());
    }

    /// Queues a response to a request of the server.
    pub(super) fn send_response(&mut self, outgoing: OutgoingMessage) {
        self.queue_message(outgoing, "", NameAndParamHeaders::default());
    }

    /// Queues a message for the transport, with the HTTP headers of its POST.
    pub(super) fn queue_message(&mut self, mut outgoing: OutgoingMessage, method: &str, extra: NameAndParamHeaders) {
        outgoing.head = self.http_post_headers(method, extra);
        self.out.push_back(outgoing);
    }

    /// Returns the HTTP headers of a POST, or `None` for other transports. `initialize` is sent without a version
    /// header.
    fn http_post_headers(&self, method: &str, extra: NameAndParamHeaders) -> Option<Box<HttpPostHeaders>> {
        if self.config.carrier != TransportKind::StreamableHttp {
            return None;
        }
        let revision = match (&self.phase, &self.facts) {
            (SessionPhase::Probing { .. }, _) => Revision::NEWEST,
            (_, facts) => facts.as_ref()?.revision,
        };
        let mut head = HttpPostHeaders { revision: Some(revision), ..HttpPostHeaders::default() };
        if revision.has_request_headers() {
            head.method = Some(method.to_owned());
            head.name = extra.name.as_deref().map(encode_header_value);
            head.params = extra.params;
        }
        Some(Box::new(head))
    }

    /// Cancels a request of the client: by closing its response stream over HTTP in 2026-07-28, otherwise by a
    /// notification (`basic/patterns/cancellation`).
    pub(super) fn send_cancellation(&mut self, wire: i64, reason: Option<&str>) {
        if self.config.carrier == TransportKind::StreamableHttp && self.revision().is_modern() {
            return self.abort_http_request(wire);
        }
        let mut params = json!({ "requestId": wire });
        if let Some(reason) = reason {
            params["reason"] = json!(reason);
        }
        self.send_notification("notifications/cancelled", Some(&params));
    }

    /// Tells the transport to close the response stream of a request. If the request is still queued, removes it from
    /// the queue instead.
    pub(super) fn abort_http_request(&mut self, wire: i64) {
        let wire = RequestId::Number(wire);
        let waiting = self
            .out
            .iter()
            .position(|out| matches!(&out.about, OutgoingMessageKind::Request { id, .. } if *id == wire));
        match waiting {
            Some(at) => {
                self.out.remove(at);
            }
            None => self.out.push_back(OutgoingMessage::abort_http_request(wire)),
        }
    }
}
