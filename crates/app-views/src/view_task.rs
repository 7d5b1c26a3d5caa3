//! The task of a shown app. It owns the app's [`View`], a state machine: passes messages, decisions and time to the
//! view, and executes the view's outputs. `call_delivery` gives the view the input and the result of the displayed
//! call, and `page_changes` converts the view's events for Drawbridge's page.

mod call_delivery;
mod page_changes;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use chat::Chat;
use domain::app_view::{AppViewChange, AppViewEvent, AppViewId, ProvidingApp};
use domain::content::ToolResult;
use host::view::{HostEvent, ServerState};
use host::{CallOrigin, EventReceiver, Host, HostOptions};
use mcp_apps::{
    AcceptedContentKinds, AppInfo, AppRequest, AppRequestId, GrantedSandbox, HostCapabilities, HostResponse,
    HostResponseError, SamplingSupport, ServerListAccess, ServerListKind, ToolInfo, View, ViewConfig, ViewEvent,
    ViewOutput,
};
use mcp_proto::RpcError;
use mcp_proto::jsonrpc::code;
use ports::server_config::ServerConfig;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::app_activity::AppActivity;
use crate::app_tools::OfferedAppTools;
use crate::requests::RunningAppRequests;
use crate::streamed_call::StreamedCall;
use crate::user_requests::{FileOfferedByApp, RequestsToUser};
use crate::{AppAnswer, AppContext, AppViewError, AppViews, page_source};

use call_delivery::{deliver_result, log_order_error};
use page_changes::{model_context_text, to_view_change};

/// Maximum number of inputs that wait for an app's async task. The view limits the rate of the app's messages.
pub(crate) const MAX_PENDING_VIEW_INPUTS: usize = 256;

/// Input of the async task that runs a shown app.
#[derive(Debug)]
pub(crate) enum ViewTaskInput {
    /// The app's frame posted this message.
    Message(String),
    /// The appearance or surroundings of the app changed.
    Context(Box<AppContext>),
    /// The user decided on a request of the app.
    Answer { request: u64, answer: AppAnswer },
    /// The user lets the model use the app's tools with this hash, or turns them off. The outcome is sent to `reply`.
    Tools { hash: Option<String>, reply: oneshot::Sender<Result<(), AppViewError>> },
    /// The user saves a file that the app offers. The file is sent to `reply`.
    File { request: u64, index: u32, reply: oneshot::Sender<Option<FileOfferedByApp>> },
    /// The user closes the app.
    Close,
}

/// Tool call that an app displays.
pub(crate) enum DisplayedCallState {
    /// A finished call, with its result.
    Finished(ToolResult),
    /// A call that a model is writing.
    Streamed(StreamedCall),
}

/// Data for starting the async task of an app.
pub(crate) struct ViewTaskSetup {
    pub(crate) id: AppViewId,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) conversation: Option<String>,
    pub(crate) granted: GrantedSandbox,
    pub(crate) reaches_other_hosts: bool,
    pub(crate) context: AppContext,
    pub(crate) definition: Option<ToolInfo>,
    pub(crate) callable_tools: BTreeSet<String>,
    /// Sampling support for the app, or `None` if the user has not turned sampling on for its server.
    pub(crate) sampling: Option<SamplingSupport>,
    pub(crate) viewed: DisplayedCallState,
    /// Events of the host since before the displayed call was read.
    pub(crate) events: EventReceiver,
    /// Reference to a value that exists while the app is shown.
    pub(crate) shown: Weak<()>,
    /// Configuration of the app's server. The app is closed when the configuration changes.
    pub(crate) config: ServerConfig,
}

/// State of the async task that runs a shown app.
struct ViewTask {
    host: Host,
    chat: Chat,
    id: AppViewId,
    server: String,
    tool: String,
    config: ServerConfig,
    definition: Option<ToolInfo>,
    view: View,
    /// Displayed call, if a model was writing it when the app was opened and it has not ended. `None` for other calls.
    streamed: Option<StreamedCall>,
    /// Set once the app can receive messages.
    is_initialized: bool,
    requests: RunningAppRequests,
    pending: RequestsToUser,
    tools: OfferedAppTools,
    activity: AppActivity,
}

/// Runs the async task of a shown app until the app is closed.
pub(crate) async fn run(
    views: AppViews,
    setup: ViewTaskSetup,
    inputs: mpsc::Receiver<ViewTaskInput>,
    queued: Arc<AtomicUsize>,
) {
    let (task, events) = ViewTask::new(views.host.clone(), views.chat.clone(), setup);
    let _entry = RemoveViewOnDrop { views, id: task.id.clone() };
    task.run(inputs, events, &queued).await;
}

/// Guard that removes an app's entry from the table of shown apps and turns off its tools on drop, even if the app's task
/// panics.
struct RemoveViewOnDrop {
    views: AppViews,
    id: AppViewId,
}

impl Drop for RemoveViewOnDrop {
    fn drop(&mut self) {
        self.views.lock_views().remove(&self.id);
        // A spawned task takes the turn, since dropping can't wait.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (host, view) = (self.views.host.clone(), self.id.clone());
            // Fails only if the host has shut down. The tools are gone already, since the removed entry had the value
            // that their existence depends on. This records it, and ends their calls.
            runtime.spawn(async move { host.turn_off_app_tools(view, false).await });
        }
    }
}

impl ViewTask {
    fn new(host: Host, chat: Chat, setup: ViewTaskSetup) -> (Self, EventReceiver) {
        let capabilities = HostCapabilities {
            open_links: true,
            download_file: true,
            server_tools: Some(ServerListAccess { list_changed: true }),
            server_resources: Some(ServerListAccess { list_changed: true }),
            logging: true,
            sandbox: Some(setup.granted),
            update_model_context: setup
                .conversation
                .is_some()
                .then_some(AcceptedContentKinds { structured_content: true, ..AcceptedContentKinds::TEXT }),
            message: setup.conversation.is_some().then_some(AcceptedContentKinds::TEXT),
            sampling: setup.sampling,
        };
        let config = ViewConfig {
            host: HostOptions::default().client,
            capabilities,
            context: setup.context.to_host_context(setup.definition.clone()),
            callable_tools: setup.callable_tools,
        };
        let mut view = View::new(config, Instant::now().into_std());
        let streamed = match setup.viewed {
            DisplayedCallState::Finished(result) => {
                log_order_error(deliver_result(&mut view, &result));
                None
            }
            DisplayedCallState::Streamed(call) => Some(call),
        };
        let app = ProvidingApp { view: setup.id.clone(), tool: setup.tool.clone() };
        let (server, conversation) = (setup.server.clone(), setup.conversation.clone());
        let tools = OfferedAppTools::new(host.clone(), server, app, conversation, setup.shown);
        let origin = CallOrigin::App {
            conversation: setup.conversation,
            tool: setup.tool.clone(),
            reaches_other_hosts: setup.reaches_other_hosts,
        };
        let (id, server, tool, config) = (setup.id, setup.server, setup.tool, setup.config);
        let requests = RunningAppRequests::new(host.clone(), chat.clone(), id.clone(), server.clone(), origin);
        let activity = AppActivity::new(host.clone(), server.clone(), tool.clone());
        let (definition, pending) = (setup.definition, RequestsToUser::default());
        let is_initialized = false;
        let task = Self {
            host,
            chat,
            id,
            server,
            tool,
            config,
            definition,
            view,
            streamed,
            is_initialized,
            requests,
            pending,
            tools,
            activity,
        };
        (task, setup.events)
    }

    async fn run(mut self, mut inputs: mpsc::Receiver<ViewTaskInput>, mut events: EventReceiver, queued: &AtomicUsize) {
        let mut last_event = None;
        loop {
            while let Some(output) = self.view.poll_output() {
                self.process_output(output).await;
            }
            if self.view.is_closed() {
                return;
            }
            let timeout = self.view.poll_timeout().map(Instant::from_std);
            let partial_input = self.next_partial_input_time();
            tokio::select! {
                input = inputs.recv() => match input {
                    Some(input) => {
                        if let ViewTaskInput::Message(text) = &input {
                            queued.fetch_sub(text.len(), Ordering::Relaxed);
                        }
                        self.process_input(input).await;
                    }
                    None => self.view.handle_page_gone(),
                },
                (id, response) = self.requests.next_response() => self.respond(id, response),
                command = self.tools.next_command() => {
                    self.tools.execute(&mut self.view, command, Instant::now().into_std());
                }
                () = sleep_until(timeout) => self.view.handle_timeout(Instant::now().into_std()),
                () = sleep_until(partial_input) => self.send_partial_input().await,
                event = events.next() => {
                    // The host has shut down.
                    let Some(event) = event else { self.view.handle_page_gone(); continue };
                    let has_gap = last_event.replace(event.number).is_some_and(|last| event.number != last + 1);
                    self.process_event(&event.event, has_gap).await;
                },
            }
        }
    }

    async fn process_input(&mut self, input: ViewTaskInput) {
        let now = Instant::now().into_std();
        match input {
            ViewTaskInput::Message(text) => self.view.handle_message(&text, now),
            ViewTaskInput::Context(context) => {
                // Drawbridge's page (`AppSession.setMode`) shows an app only in modes that the view accepts.
                if let Err(error) = self.view.change_host_context(context.to_host_context(self.definition.clone())) {
                    tracing::debug!(%error, "the context of an app was not changed");
                }
            }
            ViewTaskInput::Answer { request, answer } => {
                if let Some(id) = self.pending.remove_answered(request, answer) {
                    self.activity.log_outcome(request, answer.outcome()).await;
                    self.respond(id, answer.into());
                }
            }
            ViewTaskInput::Tools { hash, reply } => {
                let changed = self.tools.set_enabled_by_hash(hash.as_deref()).await;
                // The caller may have stopped waiting.
                let _ = match changed {
                    Ok(change) => {
                        self.emit(change).await;
                        reply.send(Ok(()))
                    }
                    Err(error) => reply.send(Err(error)),
                };
            }
            ViewTaskInput::File { request, index, reply } => {
                // The caller may have stopped waiting.
                let _ = reply.send(self.pending.offered_file(request, index));
            }
            ViewTaskInput::Close => {
                // The model must not call tools while the app saves its state.
                self.tools.turn_off(false).await;
                self.view.begin_teardown(now);
            }
        }
    }

    fn respond(&mut self, id: AppRequestId, response: HostResponse) {
        let mut responded = self.view.respond(id, response);
        if let Err(HostResponseError::InvalidResult(problem)) = responded {
            let error = RpcError::new(code::INTERNAL_ERROR, problem.text());
            responded = self.view.respond(id, HostResponse::Failed(error));
        }
        // The request may have been withdrawn meanwhile, or the app does not support the mode.
        if let Err(error) = responded {
            tracing::debug!(%error, "a response to an app was dropped");
        }
    }

    /// Processes an event of the host that concerns the app's server. `has_gap` is set if events before this one were
    /// missed.
    async fn process_event(&mut self, event: &HostEvent, has_gap: bool) {
        let is_gone = match event {
            HostEvent::ServerRemoved(server) => *server == self.server,
            HostEvent::ServerChanged(view) => view.name == self.server && view.config != self.config,
            _ => false,
        };
        // Without all events, the state of a streamed call is unknown.
        if is_gone || has_gap && self.streamed.is_some() {
            return self.view.handle_page_gone();
        }
        if let HostEvent::ServerChanged(view) = event
            && view.name == self.server
            && view.state != ServerState::Ready
            && let Some(change) = self.tools.on_server_not_ready().await
        {
            self.emit(change).await;
        }
        if let Some(step) = self.streamed.as_mut().and_then(|call| call.process_event(event)) {
            self.process_streamed_call_step(step).await;
        }
        if has_gap || matches!(event, HostEvent::CatalogChanged(server) if *server == self.server) {
            self.update_callable_tools().await;
            if let Some(change) = self.tools.refuse_names_shared_with_server().await {
                self.emit(change).await;
            }
            self.view.notify_server_list_changed(ServerListKind::Resources);
            self.view.notify_server_list_changed(ServerListKind::Prompts);
        }
    }

    async fn update_callable_tools(&mut self) {
        let tools = page_source::tools_callable_by_apps(&self.host, &self.server).await;
        self.view.change_tools_callable_by_app(tools);
    }

    async fn process_output(&mut self, output: ViewOutput) {
        match output {
            ViewOutput::Send(message) => self.emit(AppViewChange::Message { message }).await,
            ViewOutput::Request { id, request } => self.process_request(id, request).await,
            ViewOutput::Withdrawn(id) => {
                self.requests.cancel(id);
                if self.pending.remove_withdrawn(id.number()) {
                    self.activity.log_outcome(id.number(), "withdrawn").await;
                    self.emit(AppViewChange::Withdrawn { request: id.number() }).await;
                }
            }
            ViewOutput::Event(event) => {
                self.is_initialized |= matches!(event, ViewEvent::Initialized(_));
                self.process_view_event(event).await;
            }
            ViewOutput::Fault(fault) => {
                self.activity.log_fault(&fault).await;
                let (direction, kind, detail) = (fault.direction, fault.kind, fault.detail);
                self.emit(AppViewChange::Fault { direction, kind, detail }).await;
            }
        }
    }

    async fn process_view_event(&mut self, event: ViewEvent) {
        let now = Instant::now().into_std();
        let change = match event {
            ViewEvent::Closed(cause) => {
                // Before the page is notified, so that no tools of a closed app are offered.
                self.tools.turn_off(false).await;
                self.activity.log_end().await;
                Some(AppViewChange::Closed { cause })
            }
            ViewEvent::AppToolsChanged => {
                self.tools.request_tool_list(&mut self.view, now);
                None
            }
            ViewEvent::AppToolsListed(listed) => self.tools.on_tools_listed(&mut self.view, listed, now).await,
            ViewEvent::AppToolCallEnded { call, result } => {
                self.tools.on_call_ended(call, result);
                None
            }
            event => {
                if let ViewEvent::Initialized(AppInfo { has_tools: true, .. }) = &event {
                    self.tools.request_tool_list(&mut self.view, now);
                }
                to_view_change(event)
            }
        };
        if let Some(change) = change {
            self.emit(change).await;
        }
    }

    async fn process_request(&mut self, id: AppRequestId, request: AppRequest) {
        match request {
            AppRequest::UpdateModelContext(context) => {
                self.respond(id, HostResponse::Done);
                let text = model_context_text(&context);
                self.activity.log_model_context(text.is_empty()).await;
                self.emit(AppViewChange::ModelContextChanged { text }).await;
            }
            request => {
                if let Err(request) = self.requests.start(id, request) {
                    self.process_request_to_user(id, request).await;
                }
            }
        }
    }

    async fn process_request_to_user(&mut self, id: AppRequestId, request: AppRequest) {
        self.activity.log_request(id.number(), &request).await;
        match self.pending.insert(id, request) {
            Ok(user_request) => self.emit(AppViewChange::Requested { request: id.number(), user_request }).await,
            Err(refused) => {
                self.activity.log_outcome(id.number(), "refused").await;
                self.respond(id, HostResponse::Refused(refused.to_owned()));
            }
        }
    }

    async fn emit(&self, change: AppViewChange) {
        // The host may have shut down, with no observers left.
        let _ = self.host.emit_app_view_event(AppViewEvent { view: self.id.clone(), change }).await;
    }
}

/// Waits until the given time, or forever if it is `None`.
async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
