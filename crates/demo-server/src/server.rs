//! Implementation of the SDK's server trait: the server's description, and the dispatch of requests to the modules.

#![allow(
    deprecated,
    reason = "logging and resources/subscribe are deprecated for the future and part of every revision so far"
)]

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams,
    GetTaskResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RoleServer, SubscriptionContext};

use crate::client::{self, Context};
use crate::content::anchor_icon;
use crate::input_requests::InputResponseSet;
use crate::options::DemoServerOptions;
use crate::page::paginate;
use crate::state::{DemoServerState, lock};
use crate::subscriptions::{self, BufferedChanges, Subscriptions};
use crate::{completion, prompts, resources, skills, tasks, tools};

const INSTRUCTIONS: &str = "A demonstration harbour. Start with the tool \"add\", then \
    \"show_everything\". \"ask_user\", \"ask_url\", \"ask_model\", \"list_folders\" and \
    \"check_in\" ask the host back. \"show_board\" has an app. Subscribe to clock:///now to see updates. \
    Nothing here is real, and nothing leaves this process.";

type HandlerResult<T> = Result<T, ErrorData>;

/// The demo server for one session, or over HTTP for one stateless request.
pub(crate) struct DemoServer {
    options: DemoServerOptions,
    state: Arc<DemoServerState>,
    subscriptions: Subscriptions,
    buffered_changes: BufferedChanges,
    log_level: Mutex<LoggingLevel>,
}

impl DemoServer {
    /// Creates a server that is not connected to a host yet. Over HTTP there is one for each session or stateless
    /// request, and all share `state`.
    pub(crate) fn new(options: DemoServerOptions, state: Arc<DemoServerState>) -> Self {
        Self {
            options,
            state,
            subscriptions: Subscriptions::default(),
            buffered_changes: BufferedChanges::default(),
            log_level: Mutex::new(LoggingLevel::Info),
        }
    }
}

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .enable_skills()
            .build();
        let server = Implementation::new("demo-server", env!("CARGO_PKG_VERSION"))
            .with_title("Demo harbour")
            .with_description("A small harbour that shows everything an MCP server can do.")
            .with_icons(vec![anchor_icon()])
            .with_website_url("https://modelcontextprotocol.io");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.options.revisions()
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(subscriptions::report_list_changes(context.peer, Arc::clone(&self.state)));
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> HandlerResult<()> {
        *lock(&self.log_level) = request.level;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> HandlerResult<ListToolsResult> {
        let mut all = tools::list(&self.state);
        if tasks::client_supports_tasks(&context) {
            all.push(tasks::do_later_definition());
        }
        let (items, next_cursor) = paginate(all, request.as_ref())?;
        let mut result = ListToolsResult::with_all_items(items);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> HandlerResult<CallToolResponse> {
        if request.name == tasks::DO_LATER_TOOL && tasks::client_supports_tasks(&context) {
            return Ok(tasks::do_later(self.state.tasks()));
        }
        let call = tools::ToolCall {
            state: &self.state,
            context: &context,
            log_level: *lock(&self.log_level),
            arguments: request.arguments.unwrap_or_default(),
            answers: InputResponseSet::new(request.input_responses, request.request_state),
        };
        tools::call_tool(&request.name, call).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> HandlerResult<ListPromptsResult> {
        let (items, next_cursor) = paginate(prompts::list(&self.state), request.as_ref())?;
        let mut result = ListPromptsResult::with_all_items(items);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> HandlerResult<GetPromptResponse> {
        prompts::get_prompt(&self.state, &context, request).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> HandlerResult<ListResourcesResult> {
        let (items, next_cursor) = paginate(resources::list(&self.state), request.as_ref())?;
        let mut result = ListResourcesResult::with_all_items(items);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> HandlerResult<ListResourceTemplatesResult> {
        let (items, next_cursor) = paginate(resources::templates(), request.as_ref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(items);
        result.next_cursor = next_cursor;
        if client::is_stateless(&context) {
            result = result.with_ttl_ms(resources::CACHE_TTL_MILLIS).with_cache_scope(CacheScope::Public);
        }
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> HandlerResult<ReadResourceResponse> {
        resources::read_resource(&self.state, &context, request).await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> HandlerResult<ListSkillsResult> {
        let (items, next_cursor) = paginate(skills::list(), request.as_ref())?;
        let mut result = ListSkillsResult::with_all_items(items);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn get_skill(&self, request: GetSkillRequestParams, _: Context) -> HandlerResult<GetSkillResult> {
        skills::get_skill(&request.uri).map(GetSkillResult::new)
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> HandlerResult<CompleteResult> {
        completion::complete(&self.state, &request)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> HandlerResult<()> {
        if !resources::resource_exists(&self.state, &request.uri) {
            return Err(resources::not_found_error(&request.uri));
        }
        self.subscriptions.add(request.uri, context.peer, &self.state)
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> HandlerResult<()> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::resource_exists(&self.state, uri));
            uris.truncate(subscriptions::MAX_SUBSCRIPTIONS);
        }
        self.buffered_changes.start_recording(&self.state);
        Some(accepted)
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> HandlerResult<GetTaskResult> {
        self.state.tasks().get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> HandlerResult<()> {
        self.state.tasks().update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> HandlerResult<()> {
        self.state.tasks().cancel_task(&request.task_id)
    }

    async fn listen(&self, context: SubscriptionContext) -> HandlerResult<()> {
        subscriptions::listen(&context, &self.state, &self.buffered_changes).await;
        Ok(())
    }
}
