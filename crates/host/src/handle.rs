//! The handle to a running host.

mod conversation;
mod providers;
mod results;
mod rules;
mod sampling;
mod sign_in;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use domain::StoreError;
use domain::call::{CallFailure, CallKind};
use domain::flow::DataFlow;
use domain::question::QuestionId;
use launches::sandbox::NoPlan;
use mcp_proto::jsonrpc::code;
use mcp_proto::session::{CallError, ClientRequest, ListKind, ServerResult};
use mcp_proto::types::{
    CallToolResult, CompletionReference, CompletionResult, GetPromptResult, LogLevel, ResourceContents,
};
use offers::catalog::Catalog;
use offers::reads::Read;
use offers::review::{Pins, Reviewed};
use ports::server_config::ServerEntry;
use ports::url_parts::UrlParts;
use ports::{Document, Ports};
use serde_json::{Map, Value};
use server_requests::form::FormProblem;
use supervision::activity::Activity;
use supervision::limits::LimitsUse;
use supervision::wake::{self, Addresses, Clocks};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::owner::{
    AnswerError, CallOrigin, CallReply, FlowError, NewCall, Owner, ReviewError, Seen, Sent, ServerError, SharedOwner,
    WeakOwner, followed_link, open_page, real_folders,
};
use crate::view::{AppSettings, Edit, QuestionView, SandboxPreview, ServerState, Snapshot, UserAnswer};
use crate::{HostOptions, NumberedEvent};

/// How long the start waits for the keychain, without which no approval is known.
const SETTLES: Duration = Duration::from_secs(2);
/// The most events an observer may be behind; then it has a gap, and reads the snapshot again.
const MAX_EVENTS: usize = 4_096;

/// What the user does in no conversation.
const AT_NO_PLACE: CallOrigin = CallOrigin::User { conversation: None };

/// The host has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Drawbridge is closing")]
pub struct HostClosed;

/// A running host. Clones are handles to the same one; it ends when [`close`](Self::close) was called or the last is dropped.
#[derive(Clone)]
pub struct Host {
    owner: Arc<HeldOwner>,
    events: broadcast::Sender<Arc<NumberedEvent>>,
    ports: Ports,
    times: crate::view::CallTimes,
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
        tokio::spawn(watch_clocks(owner.downgrade()));
        Self { owner: Arc::new(HeldOwner(owner)), events, ports, times }
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

    /// Adds a server to the settings.
    ///
    /// # Errors
    /// If the name can't be used or the file not be written.
    pub async fn add_server(&self, entry: ServerEntry) -> Result<Result<(), ServerError>, HostClosed> {
        self.with_reply(move |owner, reply| owner.add_server(entry, reply)).await
    }

    /// Changes a server's name or command.
    ///
    /// # Errors
    /// If there is none, the name can't be used, or the file not be written; or if something is left of the sign-in to its old
    /// address.
    pub async fn update_server(&self, was: String, entry: ServerEntry) -> Result<Result<(), ServerError>, HostClosed> {
        let ((forgotten, is_forgotten), name) = (oneshot::channel(), was.clone());
        let updated = self.with_reply(move |owner, reply| owner.update_server(&was, entry, forgotten, reply)).await?;
        Ok(updated.and(all_forgotten(name, is_forgotten).await))
    }

    /// Secrets that a server's settings name are others now. They are read anew when they are needed next.
    ///
    /// # Errors
    /// Only if the host has ended.
    pub async fn secrets_changed(&self, server: String) -> Result<(), HostClosed> {
        self.with(move |owner| owner.secrets_changed(&server)).await
    }

    /// Stops a server and takes it out of the settings. Nothing is left here of the sign-in to it when this returns; the
    /// authorization server is told later.
    ///
    /// # Errors
    /// If there is none, or the file can't be written; or if something is left of the sign-in.
    pub async fn remove_server(&self, name: String) -> Result<Result<(), ServerError>, HostClosed> {
        let ((forgotten, is_forgotten), server) = (oneshot::channel(), name.clone());
        let removed = self.with_reply(move |owner, reply| owner.remove_server(&server, forgotten, reply)).await?;
        Ok(removed.and(all_forgotten(name, is_forgotten).await))
    }

    /// Starts a server, after its question if need be.
    ///
    /// # Errors
    /// If there is none.
    pub async fn start_server(&self, name: String) -> Result<Result<(), ServerError>, HostClosed> {
        self.with(move |owner| owner.start_for_user(&name)).await
    }

    /// Stops a server.
    ///
    /// # Errors
    /// If there is none.
    pub async fn stop_server(&self, name: String) -> Result<Result<(), ServerError>, HostClosed> {
        self.with(move |owner| {
            owner.server(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            owner.stop(&name);
            Ok(())
        })
        .await
    }

    /// Stops a server and starts it again.
    ///
    /// # Errors
    /// If there is none.
    pub async fn restart_server(&self, name: String) -> Result<Result<(), ServerError>, HostClosed> {
        self.with(move |owner| owner.restart(&name)).await
    }

    /// Makes the next attempt to bring a server back at once; fine if none is waited for.
    ///
    /// # Errors
    /// If there is none.
    pub async fn retry_now(&self, name: String) -> Result<Result<(), ServerError>, HostClosed> {
        self.with(move |owner| {
            let record = owner.server(&name).ok_or_else(|| ServerError::NotFound(name.clone()))?;
            if matches!(record.state, ServerState::Reconnecting(_)) { owner.start_for_user(&name) } else { Ok(()) }
        })
        .await
    }

    /// Tells that the network changed or the computer slept: what is waited for, or was given up because it did not answer, is
    /// tried at once, and servers that are in use have to show that they live. Sleep and another address of this computer are
    /// noticed without it, too.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn network_changed(&self) -> Result<(), HostClosed> {
        self.with(Owner::woke).await
    }

    /// What a server offers, as last read. Lists that are no longer fresh are read again meanwhile.
    ///
    /// # Errors
    /// If there is none.
    pub async fn catalog(&self, server: String) -> Result<Arc<Catalog>, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| {
                owner.read_stale_lists(&server);
                owner.server(&server).map(|r| Arc::clone(&r.offer.catalog))
            }
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// What a server offers beside what the user saw of it.
    ///
    /// # Errors
    /// If there is none.
    pub async fn reviewed(&self, server: String) -> Result<Reviewed, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| owner.reviewed(&server)
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// The user has looked at these definitions. They are pinned, so that any change of them is told, and what allows calls
    /// covers them from now on.
    ///
    /// # Errors
    /// If one of them is not as it was shown; nothing was pinned then.
    pub async fn review(&self, server: String, seen: Vec<Seen>) -> Result<Result<(), ReviewError>, HostClosed> {
        self.with_reply(move |owner, reply| owner.review(&server, &seen, reply)).await
    }

    /// What is kept of what the user saw, by server.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn pins(&self) -> Result<Pins, HostClosed> {
        self.with(|owner| owner.pins().clone()).await
    }

    /// Sets when calls ask after a server's own content.
    ///
    /// # Errors
    /// If there is no such server, or it can't be written.
    pub async fn set_data_flow(&self, server: String, flow: DataFlow) -> Result<Result<(), FlowError>, HostClosed> {
        self.with_reply(move |owner, reply| owner.set_data_flow(&server, flow, reply)).await
    }

    /// A server's activity. Lock it for a moment only.
    ///
    /// # Errors
    /// If there is none.
    pub async fn activity(&self, server: String) -> Result<Arc<Mutex<Activity>>, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| owner.server(&server).map(|r| Arc::clone(&r.activity))
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// Reads a list of a server again now, and gives what the server offers then.
    ///
    /// # Errors
    /// If the server is not in use, or ends meanwhile.
    pub async fn refresh_list(&self, server: String, kind: ListKind) -> Result<Arc<Catalog>, CallFailure> {
        let (reply, replied) = oneshot::channel();
        let told = server.clone();
        self.with(move |owner| owner.refresh_list(&told, kind, reply)).await??;
        replied.await.map_err(|_| CallFailure::NotReady { server })
    }

    async fn call(&self, call: NewCall) -> CallReply {
        let (reply, replied) = oneshot::channel();
        self.owner.0.turn("call", |owner| owner.take_call(call, reply))?;
        replied.await.map_err(|_| CallFailure::Closing)?
    }

    /// Calls a tool for the user, after its question if need be. Also gives the arguments as they were sent, if the user changed them.
    ///
    /// # Errors
    /// If it did not end with the tool's answer.
    pub async fn call_tool(
        &self,
        id: String,
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        conversation: Option<String>,
    ) -> Result<(CallToolResult, Option<Map<String, Value>>), CallFailure> {
        let (sent, mut was_sent) = oneshot::channel();
        let result = self.call_tool_as(CallOrigin::User { conversation }, id, server, tool, arguments, sent).await?;
        Ok((result, was_sent.try_recv().ok().flatten()))
    }

    /// The same for whoever makes the call: one that a model makes asks more often. `sent` is told when the server gets it.
    ///
    /// # Errors
    /// As for [`call_tool`](Self::call_tool).
    pub async fn call_tool_as(
        &self,
        origin: CallOrigin,
        id: String,
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        sent: Sent,
    ) -> Result<CallToolResult, CallFailure> {
        let request = ClientRequest::CallTool { name: tool.clone(), arguments, as_task: false };
        let (kind, name, shown) = (CallKind::Tool, tool, None);
        let call = NewCall { id, server: server.clone(), kind, name, origin, request, shown, sent: Some(sent) };
        match self.call(call).await? {
            ServerResult::Tool(result) => Ok(*result),
            _ => Err(unfit(server)),
        }
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// If it did not end with the prompt's messages.
    pub async fn get_prompt(
        &self,
        id: String,
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
    ) -> Result<GetPromptResult, CallFailure> {
        self.get_prompt_as_shown(id, server, prompt, arguments, None).await
    }

    /// The same for a prompt that was shown: with the hash of its definition, it is got only if it is still that one.
    ///
    /// # Errors
    /// As for [`get_prompt`](Self::get_prompt).
    pub async fn get_prompt_as_shown(
        &self,
        id: String,
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        shown: Option<String>,
    ) -> Result<GetPromptResult, CallFailure> {
        let arguments = arguments.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let request = ClientRequest::GetPrompt { name: prompt.clone(), arguments };
        let (kind, name, origin) = (CallKind::Prompt, prompt, AT_NO_PLACE);
        let call = NewCall { id, server: server.clone(), kind, name, origin, request, shown, sent: None };
        match self.call(call).await? {
            ServerResult::Prompt(result) => Ok(*result),
            _ => Err(unfit(server)),
        }
    }

    /// Reads a resource, or gives what it said before while that is fresh.
    ///
    /// # Errors
    /// If it did not end with the resource's contents.
    pub async fn read_resource(
        &self,
        id: String,
        server: String,
        uri: String,
    ) -> Result<Vec<ResourceContents>, CallFailure> {
        Ok(self.read(id, server, uri, false).await?.contents)
    }

    /// The same, and how fresh it is. With `refresh` the server is asked in any case.
    ///
    /// # Errors
    /// If it did not end with the resource's contents.
    pub async fn read(&self, id: String, server: String, uri: String, refresh: bool) -> Result<Read, CallFailure> {
        let wanted = (server.clone(), uri.clone());
        let fresh = self.with(move |owner| owner.fresh_read(&wanted.0, &wanted.1)).await?;
        if let Some(read) = fresh.filter(|_| !refresh) {
            return Ok(read);
        }
        let request = ClientRequest::ReadResource { uri: uri.clone() };
        let (kind, name) = (CallKind::Resource, uri.clone());
        let (origin, shown) = (AT_NO_PLACE, None);
        let call = NewCall { id, server: server.clone(), kind, name, origin, request, shown, sent: None };
        match self.call(call).await.map_err(|failure| named_when_missing(failure, &uri))? {
            ServerResult::Contents { contents, cache } => {
                let keep = move |owner: &mut Owner| {
                    let fresh_until = owner.keep_read(&server, &uri, &contents, cache);
                    Read { contents, cached: false, fresh_until }
                };
                Ok(self.with(keep).await?)
            }
            _ => Err(unfit(server)),
        }
    }

    /// Cancels a call by the id its caller chose.
    ///
    /// # Errors
    /// If there is none.
    pub async fn cancel_call(&self, id: String) -> Result<(), CallFailure> {
        self.with(move |owner| owner.cancel_call(&id)).await?
    }

    async fn request(
        &self,
        server: String,
        request: ClientRequest,
        times: (Duration, Duration),
    ) -> Result<ServerResult, CallFailure> {
        let (reply, replied) = oneshot::channel();
        self.with(move |owner| owner.request(&server, request, times, reply)).await?;
        replied.await.map_err(|_| CallFailure::Closing)?
    }

    /// One request that belongs to reading a list.
    pub(crate) async fn list_request(
        &self,
        server: String,
        request: ClientRequest,
    ) -> Result<ServerResult, CallFailure> {
        self.request(server, request, self.times.list).await
    }

    /// Completes an argument.
    ///
    /// # Errors
    /// If the server can't, or does not answer in time.
    pub async fn complete(
        &self,
        server: String,
        reference: CompletionReference,
        argument_name: String,
        value: String,
        context: BTreeMap<String, String>,
    ) -> Result<CompletionResult, CallFailure> {
        let request = ClientRequest::Complete { reference, argument_name, value, context };
        match self.request(server.clone(), request, self.times.complete).await? {
            ServerResult::Completion(mut result) => {
                // The specification's bound; a server that passes it is cut.
                result.values.truncate(100);
                Ok(*result)
            }
            _ => Err(unfit(server)),
        }
    }

    /// Begins or ends a subscription to a resource.
    ///
    /// # Errors
    /// If the server can't, or does not answer in time.
    pub async fn subscribe(&self, server: String, uri: String, on: bool) -> Result<(), CallFailure> {
        let request = if on {
            ClientRequest::Subscribe { uri: uri.clone() }
        } else {
            ClientRequest::Unsubscribe { uri: uri.clone() }
        };
        self.request(server.clone(), request, self.times.read).await?;
        self.with(move |owner| owner.subscribed(&server, uri, on)).await?;
        Ok(())
    }

    /// Sets from which level on a server sends log messages.
    ///
    /// # Errors
    /// If the server can't, or does not answer in time.
    pub async fn set_log_level(&self, server: String, level: LogLevel) -> Result<(), CallFailure> {
        self.request(server.clone(), ClientRequest::SetLogLevel { level }, self.times.read).await?;
        self.with(move |owner| owner.log_level_set(&server, level)).await?;
        Ok(())
    }

    /// Answers a question. The hash is the one that was shown.
    ///
    /// # Errors
    /// If it is no longer open, has changed, or the answer does not fit. Nothing crossed then.
    pub async fn answer(
        &self,
        id: QuestionId,
        hash: String,
        answer: UserAnswer,
    ) -> Result<Result<(), AnswerError>, HostClosed> {
        let answer = match answer {
            UserAnswer::Share(folders) => match real_folders(folders).await {
                Ok(folders) => UserAnswer::Share(folders),
                Err(error) => return Ok(Err(error)),
            },
            answer => answer,
        };
        self.with_reply(move |owner, reply| owner.answer(id, &hash, answer, reply)).await
    }

    /// Changes what would cross.
    ///
    /// # Errors
    /// If the question is no longer open or this part of it can't be changed.
    pub async fn edit(&self, id: QuestionId, edit: Edit) -> Result<Result<QuestionView, AnswerError>, HostClosed> {
        self.with(move |owner| owner.edit(id, edit)).await
    }

    /// What is wrong with a form's content.
    ///
    /// # Errors
    /// If the question is no longer open or has no form.
    pub async fn check_form(
        &self,
        id: QuestionId,
        content: Map<String, Value>,
    ) -> Result<Result<Vec<FormProblem>, AnswerError>, HostClosed> {
        self.with(move |owner| owner.check_form(id, &content)).await
    }

    /// Refuses all that a server asks for, and with `mute` what it will ask for.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn deny_all(&self, server: String, mute: bool) -> Result<(), HostClosed> {
        self.with(move |owner| owner.deny_all(&server, mute)).await
    }

    /// Lets a muted server ask again.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn unmute(&self, server: String) -> Result<(), HostClosed> {
        self.with(move |owner| owner.unmute(&server)).await
    }

    /// Sets the folders a server may know of, and tells it.
    ///
    /// # Errors
    /// If there is no such server or a folder can't be shared.
    pub async fn set_roots(
        &self,
        server: String,
        folders: Vec<PathBuf>,
    ) -> Result<Result<(), AnswerError>, HostClosed> {
        let folders = match real_folders(folders).await {
            Ok(folders) => folders,
            Err(error) => return Ok(Err(error)),
        };
        self.with_reply(move |owner, reply| owner.set_roots(&server, folders, reply)).await
    }

    /// What a local server would reach in its sandbox if it were started now. Nothing is started.
    ///
    /// # Errors
    /// If it has no sandbox, or none that can be set up.
    pub async fn plan_sandbox(&self, server: String) -> Result<Result<SandboxPreview, NoPlan>, HostClosed> {
        let (reply, planned) = oneshot::channel();
        self.with(move |owner| owner.plan_sandbox(&server, reply)).await?;
        planned.await.map_err(|_| HostClosed)
    }

    /// How much a server uses of what each server gets; nothing if there is no such server.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn used(&self, server: String) -> Result<Option<LimitsUse>, HostClosed> {
        self.with(move |owner| owner.used(&server)).await
    }

    /// Changes the app's settings.
    ///
    /// # Errors
    /// If they can't be written.
    pub async fn set_settings(&self, settings: AppSettings) -> Result<Result<(), StoreError>, HostClosed> {
        self.with_reply(move |owner, reply| owner.set_settings(settings, reply)).await
    }

    /// Opens a URL that the user has seen whole and wants to open.
    ///
    /// # Errors
    /// If it may not be opened, or the browser can't.
    pub async fn open_url(&self, url: &str) -> Result<(), AnswerError> {
        let Some(page) = followed_link(UrlParts::of(url)) else {
            return Err(AnswerError::Browser("only http and https addresses without a user name can be opened".into()));
        };
        open_page(self.ports.platform.as_ref(), page).await.map_err(AnswerError::Browser)
    }
}

/// Has the owner do something whenever a file changed.
async fn follow(mut changes: mpsc::Receiver<()>, owner: WeakOwner, act: fn(&mut Owner)) {
    while changes.recv().await.is_some() && owner.turn("reload", act).is_ok() {}
}

/// Tells the owner when the computer slept or its network is another one.
async fn watch_clocks(owner: WeakOwner) {
    let mut clocks = Clocks::new(SystemTime::now(), Instant::now());
    let mut addresses = Addresses::read();
    loop {
        tokio::time::sleep(wake::INTERVAL).await;
        let woke = clocks.woke(SystemTime::now(), Instant::now());
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

impl From<HostClosed> for CallFailure {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}

/// Waits until nothing is left here of the sign-in to a server.
async fn all_forgotten(name: String, forgotten: oneshot::Receiver<Result<(), String>>) -> Result<(), ServerError> {
    match forgotten.await {
        Ok(Err(cause)) => Err(ServerError::NotForgotten { name, cause }),
        // Without an answer there was nothing to forget.
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

/// A server says in one of two ways that it has no such resource (`server/resources`: -32602 since 2026-07-28, -32002 before).
fn named_when_missing(failure: CallFailure, uri: &str) -> CallFailure {
    match &failure {
        CallFailure::Session { server, error } => match &**error {
            CallError::Server(rpc) if [code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS].contains(&rpc.code) => {
                CallFailure::NotFound(format!("resource \"{uri}\" on {server}, which says: {rpc}"))
            }
            _ => failure,
        },
        _ => failure,
    }
}

fn unfit(server: String) -> CallFailure {
    let cause = "it answers another request".to_owned();
    CallFailure::Session { server, error: Box::new(mcp_proto::session::CallError::BadAnswer { cause }) }
}
