//! Requests of an app that the host processes: calls of tools, lists and resources of the app's server, and sampling.
//! The host decides about each call as about a call of a model, and about sampling as about that of the server. The app
//! is the originator of both.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chat::{Chat, ToolCall};
use domain::app_view::AppViewId;
use domain::call::{CallFailure, CallId};
use host::{CallOrigin, Host};
use mcp_apps::{AppRequest, AppRequestId, HostResponse};
use mcp_proto::RpcError;
use mcp_proto::jsonrpc::code;
use mcp_proto::session::{CallError, ClientResponse};
use mcp_proto::types::{ListEntry, ListEntryType, Map};
use offers::catalog::ServerCatalog;
use serde_json::{Value, json};
use supervision::token_bucket::TokenBucket;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::result::{call_tool_result_json, list_result_json};

/// Number of refusals in a row after which further calls, sampling requests, and reads on which the user would have to
/// decide are refused without a consent request.
const MAX_CONSECUTIVE_REFUSALS: u32 = 3;
/// Number of requests that an app may withdraw in a burst before they are decided. Afterwards, the same requests are
/// refused for a while. Otherwise an app could add and withdraw consent requests without end.
const MAX_WITHDRAWAL_BURST: u64 = 10;
/// Number of further withdrawals per second that are permitted after [`MAX_WITHDRAWAL_BURST`] is used up.
const WITHDRAWALS_PER_SECOND: f64 = 1.0 / 30.0;
/// Reason that an app receives for refusals beyond [`MAX_CONSECUTIVE_REFUSALS`].
const TOO_MANY_REFUSALS_REASON: &str =
    "several requests were refused in a row; the user can reload the app to allow more";
/// Reason that an app receives for refusals beyond [`MAX_WITHDRAWAL_BURST`].
const TOO_MANY_WITHDRAWALS_REASON: &str =
    "the app has withdrawn too many requests before they were decided; it can send requests again later";

/// Requests of one app that wait for its MCP server, for a model, or for the user's decision.
pub(crate) struct RunningAppRequests {
    host: Host,
    chat: Chat,
    view: AppViewId,
    server: String,
    origin: CallOrigin,
    running: JoinSet<EndedAppRequest>,
    /// Requests without a response yet, by the identifier that the app's view assigned.
    requests: HashMap<AppRequestId, RunningAppRequest>,
    /// Number of consecutive requests of the app that were refused, and of sampling requests that failed.
    refused: u32,
    /// Token bucket for the requests that the app withdraws before they are decided.
    withdrawals: Arc<Mutex<TokenBucket>>,
}

/// Kind of a request, which determines how its end changes the number of consecutive refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunningRequestKind {
    ToolCall,
    Sampling,
    /// A list of the host's catalog, which needs no decision.
    List,
    /// A resource that is read. Most reads need no decision of the user, so only a read that needs one ends a row of
    /// refusals.
    Read,
    /// The read of a resource beyond a limit. It is refused if the user would have to decide, so its end isn't counted.
    ReadBeyondLimit,
    /// Another request beyond a limit. It is refused without a decision, so its refusal isn't counted.
    BeyondLimit,
}

/// A request of an app that has its response.
struct EndedAppRequest {
    id: AppRequestId,
    response: HostResponse,
    /// Set if the user had to decide about the request, unless it is refused.
    needed_decision: bool,
}

/// A request of an app that waits for its response.
struct RunningAppRequest {
    kind: RunningRequestKind,
    task: AbortHandle,
    call: CallId,
    /// Cancels a tool call, even if the host has not registered the call yet.
    stop: CancellationToken,
}

impl RunningAppRequests {
    pub(crate) fn new(host: Host, chat: Chat, view: AppViewId, server: String, origin: CallOrigin) -> Self {
        let withdrawals = Arc::new(Mutex::new(TokenBucket::new(MAX_WITHDRAWAL_BURST, WITHDRAWALS_PER_SECOND)));
        let (running, requests) = (JoinSet::new(), HashMap::new());
        Self { host, chat, view, server, origin, running, requests, refused: 0, withdrawals }
    }

    /// Starts a request to the server or to a model in a spawned task. Returns the request if it is of another kind.
    pub(crate) fn start(&mut self, id: AppRequestId, request: AppRequest) -> Result<(), AppRequest> {
        let call = format!("{}-{}", self.view, id.number());
        let (host, chat, server) = (self.host.clone(), self.chat.clone(), self.server.clone());
        let (origin, call_id, stop) = (self.origin.clone(), call.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let limit_refusal = self.limit_refusal_reason();
        let kind = match &request {
            AppRequest::CallTool { .. } => RunningRequestKind::ToolCall,
            AppRequest::Sample(_) => RunningRequestKind::Sampling,
            AppRequest::ReadResource { .. } if limit_refusal.is_some() => RunningRequestKind::ReadBeyondLimit,
            AppRequest::ReadResource { .. } => RunningRequestKind::Read,
            _ => RunningRequestKind::List,
        };
        if matches!(kind, RunningRequestKind::ToolCall | RunningRequestKind::Sampling)
            && let Some(reason) = limit_refusal
        {
            let task = self.running.spawn(async move { EndedAppRequest::refused(id, reason) });
            self.requests.insert(id, RunningAppRequest { kind: RunningRequestKind::BeyondLimit, task, call, stop });
            return Ok(());
        }
        let task = match request {
            AppRequest::CallTool { name, arguments } => self.running.spawn(async move {
                let call = ToolCall { id: call_id, origin, server, app: None, tool: name, arguments, repeats: None };
                let result =
                    chat.call_tool_until_cancelled(call, stopped).await.map(|result| call_tool_result_json(&result));
                EndedAppRequest { id, response: to_host_response(result), needed_decision: true }
            }),
            AppRequest::Sample(params) => self.running.spawn(async move {
                let response = to_sampling_response(host.sample_for_app(origin, server, params).await);
                EndedAppRequest { id, response, needed_decision: true }
            }),
            AppRequest::ReadResource { uri } => {
                // A read beyond a limit is refused instead of asking the user, so that it can't be withdrawn.
                let withdrawals = limit_refusal.is_none().then(|| Arc::clone(&self.withdrawals));
                let cancellation = CancelReadOnDrop { host: host.clone(), call: Some(call_id.clone()), withdrawals };
                self.running.spawn(async move {
                    let mut cancellation = cancellation;
                    let ended = read_resource(&host, (id, call_id), origin, (server, uri), limit_refusal).await;
                    cancellation.call = None;
                    ended
                })
            }
            AppRequest::ListTools { .. } => {
                self.spawn_catalog_list_response(id, "tools", |catalog| entries_as_json(&catalog.tools))
            }
            AppRequest::ListResources { .. } => {
                self.spawn_catalog_list_response(id, "resources", |catalog| entries_as_json(&catalog.resources))
            }
            AppRequest::ListResourceTemplates { .. } => {
                self.spawn_catalog_list_response(id, "resourceTemplates", |catalog| entries_as_json(&catalog.templates))
            }
            AppRequest::ListPrompts { .. } => {
                self.spawn_catalog_list_response(id, "prompts", |catalog| entries_as_json(&catalog.prompts))
            }
            other => return Err(other),
        };
        self.requests.insert(id, RunningAppRequest { kind, task, call, stop });
        Ok(())
    }

    /// Responds to a list request with the host's catalog of the server. The catalog contains the whole list, so that
    /// the response has no cursor.
    fn spawn_catalog_list_response(
        &mut self,
        id: AppRequestId,
        name: &'static str,
        entries: fn(&ServerCatalog) -> Vec<Value>,
    ) -> AbortHandle {
        let (host, server) = (self.host.clone(), self.server.clone());
        self.running.spawn(async move {
            let catalog = host.catalog(server).await.map_err(|_| CallFailure::Closing);
            let response = to_host_response(catalog.map(|catalog| list_result_json(name, entries(&catalog))));
            EndedAppRequest { id, response, needed_decision: false }
        })
    }

    /// Waits for the next response to one of the app's requests. Waits forever while no request is running. Cancel
    /// safe.
    pub(crate) async fn next_response(&mut self) -> (AppRequestId, HostResponse) {
        loop {
            match self.running.join_next().await {
                Some(Ok(ended)) => {
                    let kind = self.requests.remove(&ended.id).map(|running| running.kind);
                    self.update_refusal_count(kind, &ended);
                    return (ended.id, ended.response);
                }
                // The request was cancelled, so that it needs no response.
                Some(Err(error)) if error.is_cancelled() => {}
                Some(Err(error)) => {
                    tracing::error!(%error, "a request of an app panicked");
                    let ended = self.requests.iter().find(|(_, running)| running.task.id() == error.id());
                    if let Some(id) = ended.map(|(id, _)| *id) {
                        self.requests.remove(&id);
                        return (id, to_host_response(Err(CallFailure::Internal)));
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    /// Returns the reason to refuse further requests that need the user's decision, if a limit is reached.
    fn limit_refusal_reason(&self) -> Option<&'static str> {
        if self.refused >= MAX_CONSECUTIVE_REFUSALS {
            return Some(TOO_MANY_REFUSALS_REASON);
        }
        let mut withdrawals = self.withdrawals.lock().unwrap_or_else(PoisonError::into_inner);
        (!withdrawals.time_until_available(1).is_zero()).then_some(TOO_MANY_WITHDRAWALS_REASON)
    }

    /// Counts the end of a request. An error of the app's own server neither is a refusal nor ends a row of refusals.
    fn update_refusal_count(&mut self, kind: Option<RunningRequestKind>, ended: &EndedAppRequest) {
        match (kind, &ended.response) {
            (Some(RunningRequestKind::BeyondLimit | RunningRequestKind::ReadBeyondLimit), _) => {}
            // An app can send invalid sampling requests at any rate.
            (_, HostResponse::Refused(_)) | (Some(RunningRequestKind::Sampling), HostResponse::Failed(_)) => {
                self.refused = self.refused.saturating_add(1);
            }
            (Some(RunningRequestKind::ToolCall), HostResponse::Result(_)) => self.refused = 0,
            (Some(RunningRequestKind::Read), HostResponse::Result(_)) if ended.needed_decision => self.refused = 0,
            (_, HostResponse::Sampling(_)) => self.refused = 0,
            _ => {}
        }
    }

    /// Cancels a request of the app. The app then receives no response.
    pub(crate) fn cancel(&mut self, id: AppRequestId) {
        let Some(RunningAppRequest { kind, task, call, stop }) = self.requests.remove(&id) else { return };
        // This also withdraws a sampling request, and cancels a read.
        task.abort();
        match kind {
            RunningRequestKind::List
            | RunningRequestKind::Read
            | RunningRequestKind::ReadBeyondLimit
            | RunningRequestKind::BeyondLimit => {}
            RunningRequestKind::Sampling => take_withdrawal_token(&self.withdrawals),
            RunningRequestKind::ToolCall => {
                cancel_call(self.host.clone(), call, Some(Arc::clone(&self.withdrawals)), Some(stop));
            }
        }
    }
}

impl Drop for RunningAppRequests {
    fn drop(&mut self) {
        let requests: Vec<AppRequestId> = self.requests.keys().copied().collect();
        for id in requests {
            self.cancel(id);
        }
    }
}

impl EndedAppRequest {
    fn refused(id: AppRequestId, reason: &str) -> Self {
        Self { id, response: HostResponse::Refused(reason.to_owned()), needed_decision: false }
    }
}

/// Reads a resource of a server for an app, after the user's consent if required. Refuses the read with
/// `limit_refusal` if it is `Some` and the read would require consent.
async fn read_resource(
    host: &Host,
    (id, call): (AppRequestId, CallId),
    origin: CallOrigin,
    (server, uri): (String, String),
    limit_refusal: Option<&str>,
) -> EndedAppRequest {
    let needed_decision = match host.asks_before_read(origin.clone(), server.clone(), uri.clone()).await {
        Ok(asks) => asks,
        Err(failure) => {
            return EndedAppRequest { id, response: to_host_response(Err(failure)), needed_decision: false };
        }
    };
    if let Some(reason) = limit_refusal.filter(|_| needed_decision) {
        return EndedAppRequest::refused(id, reason);
    }
    // Contents from the cache would need no decision.
    let read = host.read_resource_as(origin, call, server, uri, true).await;
    let contents = read.map(|read| read.contents.iter().map(|part| json!(part)).collect());
    let response = to_host_response(contents.map(|contents| list_result_json("contents", contents)));
    EndedAppRequest { id, response, needed_decision }
}

/// Cancels the read of a resource on drop, unless it has ended. The host may register the read as late as in the last
/// poll of an aborted task.
struct CancelReadOnDrop {
    host: Host,
    /// Call of the read, or `None` if it has ended.
    call: Option<CallId>,
    /// Counts a read that was not sent as withdrawn. `None` for a read that the user is not asked about.
    withdrawals: Option<Arc<Mutex<TokenBucket>>>,
}

impl Drop for CancelReadOnDrop {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            cancel_call(self.host.clone(), call, self.withdrawals.take(), None);
        }
    }
}

/// Cancels a call in a spawned task, and counts it as withdrawn if it was not sent. Then cancels `stop`.
fn cancel_call(
    host: Host,
    call: CallId,
    withdrawals: Option<Arc<Mutex<TokenBucket>>>,
    stop: Option<CancellationToken>,
) {
    // The app's task may be dropped when the runtime shuts down, together with the host.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        // A tool call that is not found is about to begin, and is then stopped by its token, or has just ended.
        let was_sent = matches!(host.cancel_call(call).await, Ok(true));
        if let Some(withdrawals) = withdrawals.filter(|_| !was_sent) {
            take_withdrawal_token(&withdrawals);
        }
        if let Some(stop) = stop {
            stop.cancel();
        }
    });
}

fn take_withdrawal_token(withdrawals: &Mutex<TokenBucket>) {
    withdrawals.lock().unwrap_or_else(PoisonError::into_inner).take_or_overdraw(1);
}

fn entries_as_json<T: ListEntryType>(entries: &[ListEntry<T>]) -> Vec<Value> {
    entries.iter().filter_map(|entry| entry.raw().parse().ok()).collect()
}

/// Converts the host's response to a sampling request. A refusal has the error code of MCP, which the view adds.
fn to_sampling_response(response: Result<ClientResponse, CallFailure>) -> HostResponse {
    match response {
        Ok(ClientResponse::Sampling(result)) => HostResponse::Sampling(result),
        Ok(ClientResponse::Refused { code: code::INVALID_PARAMS, message }) => {
            HostResponse::Failed(RpcError::new(code::INVALID_PARAMS, message))
        }
        Ok(ClientResponse::Refused { message, .. }) => HostResponse::Refused(message),
        // The host responds to sampling in no other way.
        Ok(ClientResponse::Elicitation(_) | ClientResponse::Roots(_)) => to_host_response(Err(CallFailure::Internal)),
        Err(failure) => to_host_response(Err(failure)),
    }
}

fn to_host_response(result: Result<Map, CallFailure>) -> HostResponse {
    match result {
        Ok(result) => HostResponse::Result(result),
        Err(CallFailure::Refused { text, .. }) => HostResponse::Refused(format!("the call was refused {text}")),
        Err(CallFailure::Session { error, .. }) if matches!(*error, CallError::Server(_)) => match *error {
            CallError::Server(error) => HostResponse::Failed(error),
            other => HostResponse::Failed(RpcError::new(code::INTERNAL_ERROR, other.to_string())),
        },
        Err(other) => HostResponse::Failed(RpcError::new(code::INTERNAL_ERROR, other.to_string())),
    }
}
