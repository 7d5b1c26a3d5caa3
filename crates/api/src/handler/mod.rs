//! The commands carried out on a host.

mod arguments;
mod audit;
mod catalogs;
mod chat;
mod containment;
mod conversations;
mod errors;
mod history;
mod providers;
mod questions;
mod review;
mod rules;
mod saved_files;
mod servers;
mod serving;
mod set_up;
mod skills;
mod views;

use host::CallOrigin;
use mcp_proto::session::ListKind;
use policy::GrantId;
use serde_json::Value;

use crate::data::*;
use crate::{ApiError, ErrorCode, Handler};

use arguments::{object, paths};
pub use audit::verdict as audit_verdict;
pub use serving::Api;
pub(crate) use views::event;

#[async_trait::async_trait]
impl Handler for Api {
    async fn snapshot(&self, _: Nothing) -> Result<Snapshot, ApiError> {
        self.snapshot().await
    }

    async fn add_server(&self, r: AddServer) -> Result<SecretsKept, ApiError> {
        self.add_server(r).await
    }

    async fn check_import(&self, r: ImportText) -> Result<ImportPreview, ApiError> {
        self.check_import(&r.text).await
    }

    async fn update_server(&self, r: UpdateServer) -> Result<SecretsKept, ApiError> {
        self.update_server(r).await
    }

    async fn set_secret(&self, r: SetSecret) -> Result<SecretsKept, ApiError> {
        self.set_secret(r).await
    }

    async fn remove_server(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.remove_server(r.server).await
    }

    async fn start_server(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.start_server(r.server).await??;
        Ok(Nothing {})
    }

    async fn stop_server(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.stop_server(r.server).await??;
        Ok(Nothing {})
    }

    async fn restart_server(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.restart_server(r.server).await??;
        Ok(Nothing {})
    }

    async fn retry_now(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.retry_now(r.server).await??;
        Ok(Nothing {})
    }

    async fn sign_in(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.sign_in(r.server).await??;
        Ok(Nothing {})
    }

    async fn cancel_sign_in(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.cancel_sign_in(r.server).await??;
        Ok(Nothing {})
    }

    async fn sign_out(&self, r: ServerName) -> Result<SignedOut, ApiError> {
        Ok(views::signed_out(self.host.sign_out(r.server).await??))
    }

    async fn change_account(&self, r: ServerName) -> Result<SignedOut, ApiError> {
        Ok(views::signed_out(self.host.change_account(r.server).await??))
    }

    async fn authorization(&self, r: ServerName) -> Result<Authorization, ApiError> {
        Ok(views::authorization(self.host.authorization(r.server).await??))
    }

    async fn paste_redirect(&self, r: PasteRedirect) -> Result<Nothing, ApiError> {
        self.host.paste_redirect(r.server, r.url).await??;
        Ok(Nothing {})
    }

    async fn set_log_level(&self, r: SetLogLevel) -> Result<Nothing, ApiError> {
        let level = serde_json::from_value(Value::String(r.level.clone()))
            .map_err(|_| ApiError::new(ErrorCode::BadRequest, format!("\"{}\" is no log level", r.level)))?;
        self.host.set_log_level(r.server, level).await?;
        Ok(Nothing {})
    }

    async fn set_roots(&self, r: SetRoots) -> Result<Nothing, ApiError> {
        self.host.set_roots(r.server, paths(r.folders)).await??;
        Ok(Nothing {})
    }

    async fn set_data_flow(&self, r: SetDataFlow) -> Result<Nothing, ApiError> {
        self.host.set_data_flow(r.server, r.flow).await??;
        Ok(Nothing {})
    }

    async fn sandbox(&self, r: ServerName) -> Result<SandboxReport, ApiError> {
        self.sandbox_report(r.server).await
    }

    async fn limits(&self, r: ServerName) -> Result<LimitsUse, ApiError> {
        self.limits_used(r.server).await
    }

    async fn pick_folder(&self, _: Nothing) -> Result<PickedFolder, ApiError> {
        let folder = self.host.ports().platform.pick_folder().await.map_err(errors::system)?;
        Ok(PickedFolder { folder: folder.map(|f| f.display().to_string()) })
    }

    async fn catalog(&self, r: ServerName) -> Result<Catalog, ApiError> {
        let catalog = self.host.catalog(r.server.clone()).await?;
        self.catalog(r.server, &catalog).await
    }

    async fn refresh_list(&self, r: RefreshList) -> Result<Catalog, ApiError> {
        let kind = match r.list {
            ListName::Tools => ListKind::Tools,
            ListName::Prompts => ListKind::Prompts,
            ListName::Resources => ListKind::Resources,
        };
        let catalog = self.host.refresh_list(r.server.clone(), kind).await?;
        self.catalog(r.server, &catalog).await
    }

    async fn review(&self, r: Review) -> Result<Nothing, ApiError> {
        self.review(r).await
    }

    async fn pins(&self, r: ServerName) -> Result<Pins, ApiError> {
        self.pins(r.server).await
    }

    async fn call_tool(&self, r: CallTool) -> Result<ToolResult, ApiError> {
        // A call goes on when the page is loaded again, and its end is kept in its conversation all the same.
        let api = self.clone();
        let origin = CallOrigin::User { conversation: r.conversation.clone() };
        let call = tokio::spawn(async move { api.call_tool_and_keep(r, origin).await });
        call.await.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?
    }

    async fn get_prompt(&self, r: GetPrompt) -> Result<PromptResult, ApiError> {
        let result = self.host.get_prompt_as_shown(r.call, r.server, r.prompt, r.arguments, r.hash).await?;
        Ok(views::prompt_result(result))
    }

    async fn read_resource(&self, r: ReadResource) -> Result<ResourceResult, ApiError> {
        let read = self.host.read(r.call, r.server, r.uri, r.refresh).await?;
        Ok(ResourceResult {
            contents: read.contents.into_iter().map(Into::into).collect(),
            cached: read.cached,
            fresh_until: read.fresh_until,
        })
    }

    async fn skills(&self, r: ServerName) -> Result<Skills, ApiError> {
        self.skills(r.server).await
    }

    async fn read_skill(&self, r: ReadSkill) -> Result<SkillContents, ApiError> {
        self.read_skill(r).await
    }

    async fn cancel_call(&self, r: CallRef) -> Result<Nothing, ApiError> {
        self.host.cancel_call(r.call).await?;
        Ok(Nothing {})
    }

    async fn complete(&self, r: Complete) -> Result<Completion, ApiError> {
        self.complete(r).await
    }

    async fn expand_template(&self, r: ExpandTemplate) -> Result<ExpandedTemplate, ApiError> {
        let uri = offers::template::expand(&r.template, &r.values)
            .map_err(|e| ApiError::new(ErrorCode::Invalid, e.to_string()))?;
        Ok(ExpandedTemplate { uri })
    }

    async fn subscribe(&self, r: ResourceRef) -> Result<Nothing, ApiError> {
        self.host.subscribe(r.server, r.uri, true).await?;
        Ok(Nothing {})
    }

    async fn unsubscribe(&self, r: ResourceRef) -> Result<Nothing, ApiError> {
        self.host.subscribe(r.server, r.uri, false).await?;
        Ok(Nothing {})
    }

    async fn answer_question(&self, r: AnswerQuestion) -> Result<Nothing, ApiError> {
        self.answer_question(r).await
    }

    async fn edit_question(&self, r: EditQuestion) -> Result<Question, ApiError> {
        self.edit_question(r).await
    }

    async fn check_form(&self, r: CheckForm) -> Result<FormProblems, ApiError> {
        let content = object(r.content, "a form's content")?;
        let problems = self.host.check_form(questions::id(&r.id)?, content).await??;
        Ok(FormProblems { problems })
    }

    async fn deny_all(&self, r: DenyAll) -> Result<Nothing, ApiError> {
        self.host.deny_all(r.server, r.mute).await?;
        Ok(Nothing {})
    }

    async fn sampling(&self, r: ServerName) -> Result<SamplingReport, ApiError> {
        Ok(views::sampling::report(self.host.sampling(r.server).await??))
    }

    async fn set_sampling(&self, r: SetSampling) -> Result<Nothing, ApiError> {
        self.host.set_sampling(r.server, views::sampling::to_settings(r.settings)).await??;
        Ok(Nothing {})
    }

    async fn unmute(&self, r: ServerName) -> Result<Nothing, ApiError> {
        self.host.unmute(r.server).await?;
        Ok(Nothing {})
    }

    async fn activity(&self, r: ActivityRange) -> Result<ActivityPage, ApiError> {
        self.activity(r).await
    }

    async fn activity_body(&self, r: ActivityRef) -> Result<ActivityBody, ApiError> {
        self.activity_body(r).await
    }

    async fn export_activity(&self, r: ServerName) -> Result<SavedFile, ApiError> {
        self.export_activity(r.server).await
    }

    async fn create_conversation(&self, r: NewConversation) -> Result<Conversation, ApiError> {
        self.create_conversation(r.title).await
    }

    async fn conversation(&self, r: ConversationRef) -> Result<Conversation, ApiError> {
        self.conversation(r.conversation).await
    }

    async fn append_items(&self, r: AppendItems) -> Result<Nothing, ApiError> {
        self.append_items(r).await
    }

    async fn rename_conversation(&self, r: RenameConversation) -> Result<Nothing, ApiError> {
        self.rename_conversation(r).await
    }

    async fn delete_conversation(&self, r: ConversationRef) -> Result<Nothing, ApiError> {
        self.delete_conversation(r.conversation).await
    }

    async fn items(&self, r: ItemRange) -> Result<ItemPage, ApiError> {
        self.items(r).await
    }

    async fn blob(&self, r: BlobRef) -> Result<Blob, ApiError> {
        self.blob(r.hash).await
    }

    async fn search_history(&self, r: SearchHistory) -> Result<FoundItems, ApiError> {
        self.search_history(r).await
    }

    async fn send_message(&self, r: SendMessage) -> Result<ReplyBegun, ApiError> {
        self.send_message(r).await
    }

    async fn edit_message(&self, r: EditMessage) -> Result<ReplyBegun, ApiError> {
        self.edit_message(r).await
    }

    async fn retry_reply(&self, r: RetryReply) -> Result<ReplyBegun, ApiError> {
        self.retry_reply(r).await
    }

    async fn continue_reply(&self, r: ConversationRef) -> Result<ReplyBegun, ApiError> {
        self.continue_reply(r.conversation).await
    }

    async fn stop_reply(&self, r: ConversationRef) -> Result<Nothing, ApiError> {
        self.stop_reply(&r.conversation)
    }

    async fn choose_branch(&self, r: ItemRef) -> Result<Nothing, ApiError> {
        self.choose_branch(r).await
    }

    async fn set_conversation(&self, r: SetConversation) -> Result<Nothing, ApiError> {
        self.set_conversation(r).await
    }

    async fn conversation_tools(&self, r: ConversationRef) -> Result<ConversationTools, ApiError> {
        self.conversation_tools(r.conversation).await
    }

    async fn conversation_cost(&self, r: ConversationRef) -> Result<ConversationCost, ApiError> {
        self.conversation_cost(r.conversation).await
    }

    async fn export_conversation(&self, r: ExportConversation) -> Result<SavedFile, ApiError> {
        self.export_conversation(r).await
    }

    async fn audit(&self, r: AuditRange) -> Result<AuditPage, ApiError> {
        self.audit(r).await
    }

    async fn verify_audit(&self, _: Nothing) -> Result<AuditVerdict, ApiError> {
        self.verify_audit().await
    }

    async fn export_audit(&self, _: Nothing) -> Result<SavedFile, ApiError> {
        self.export_audit().await
    }

    async fn grants(&self, _: Nothing) -> Result<Grants, ApiError> {
        Ok(Grants { grants: self.host.grants().await?.into_iter().map(views::grant).collect() })
    }

    async fn revoke_grant(&self, r: GrantRef) -> Result<Nothing, ApiError> {
        let id = r.id.parse().map(GrantId).map_err(|_| errors::not_found("this approval"))?;
        let was_there = self.host.revoke(id).await?.map_err(|e| errors::system(e.to_string()))?;
        if was_there { Ok(Nothing {}) } else { Err(errors::not_found("this approval")) }
    }

    async fn policy(&self, _: Nothing) -> Result<Policy, ApiError> {
        self.policy().await
    }

    async fn set_policy_rule(&self, r: Rule) -> Result<RuleRef, ApiError> {
        self.set_policy_rule(r).await
    }

    async fn remove_policy_rule(&self, r: RuleRef) -> Result<Nothing, ApiError> {
        self.remove_policy_rule(r).await
    }

    async fn set_preset(&self, r: SetPreset) -> Result<Nothing, ApiError> {
        self.set_preset(r).await
    }

    async fn set_trust(&self, r: SetTrust) -> Result<Nothing, ApiError> {
        self.set_trust(r).await
    }

    async fn dry_run(&self, r: DryRun) -> Result<DryRunResult, ApiError> {
        self.dry_run(r).await
    }

    async fn policy_text(&self, _: Nothing) -> Result<PolicyText, ApiError> {
        self.policy_text().await
    }

    async fn export_policy(&self, _: Nothing) -> Result<SavedFile, ApiError> {
        self.export_policy().await
    }

    async fn models(&self, _: Nothing) -> Result<Models, ApiError> {
        self.models().await
    }

    async fn set_provider(&self, r: SetProvider) -> Result<Nothing, ApiError> {
        self.set_provider(r).await
    }

    async fn remove_provider(&self, r: ProviderId) -> Result<Nothing, ApiError> {
        self.remove_provider(r).await
    }

    async fn set_provider_key(&self, r: SetProviderKey) -> Result<SecretsKept, ApiError> {
        self.set_provider_key(r).await
    }

    async fn test_provider(&self, r: TestProvider) -> Result<ProviderTest, ApiError> {
        self.test_provider(r).await
    }

    async fn refresh_models(&self, r: ProviderId) -> Result<Nothing, ApiError> {
        self.refresh_models(r).await
    }

    async fn set_default_model(&self, r: DefaultModel) -> Result<Nothing, ApiError> {
        self.set_default_model(r).await
    }

    async fn set_settings(&self, r: Settings) -> Result<Nothing, ApiError> {
        self.host.set_settings(views::to_settings(r)).await?.map_err(|e| errors::system(e.to_string()))?;
        Ok(Nothing {})
    }

    async fn inspect_url(&self, r: UrlText) -> Result<UrlParts, ApiError> {
        Ok(UrlParts::of(&r.url))
    }

    async fn secrets_status(&self, _: Nothing) -> Result<SecretsStatus, ApiError> {
        let secrets = self.host.ports().secrets.clone();
        let status = tokio::task::spawn_blocking(move || secrets.status());
        let status = status.await.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?;
        Ok(status)
    }

    async fn content_protection(&self, _: Nothing) -> Result<ContentProtection, ApiError> {
        let (history, audit) = (self.host.ports().history.clone(), self.host.ports().audit.clone());
        let found = tokio::task::spawn_blocking(move || (history.is_encrypted(), audit.is_encrypted()));
        let (history, audit) = found.await.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?;
        Ok(ContentProtection {
            conversations: views::content_at_rest(history),
            decisions: views::content_at_rest(audit),
        })
    }

    async fn open_url(&self, r: UrlText) -> Result<Nothing, ApiError> {
        self.host.open_url(&r.url).await?;
        Ok(Nothing {})
    }
}
