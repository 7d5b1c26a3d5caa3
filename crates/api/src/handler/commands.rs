//! Implementation of each command, which calls a function of its area.

use super::{
    Api, apps, arguments, audit, catalogs, chat, computer, consent_requests, containment, conversations, import,
    installs, media, newer_versions, providers, review, rules, server_setup, servers, skills, views,
};
use crate::data::*;
use crate::{ApiError, Handler};

// Commands call functions by their path: `self.name(..)` would call the trait method itself if `Api` had no method of
// this name.
#[async_trait::async_trait]
impl Handler for Api {
    async fn read_snapshot(&self, _: EmptyObject) -> Result<Snapshot, ApiError> {
        servers::read_snapshot(self).await
    }
    async fn add_server(&self, r: AddServer) -> Result<SecretStorageReport, ApiError> {
        server_setup::add_server(self, r).await
    }
    async fn parse_import(&self, r: ParseImport) -> Result<ImportPreview, ApiError> {
        servers::parse_import(self, &r.text).await
    }
    async fn find_import_candidates(&self, r: ImportSource) -> Result<ImportCandidates, ApiError> {
        import::list_import_candidates(self, r).await
    }
    async fn import_servers(&self, r: ImportServers) -> Result<ImportedServers, ApiError> {
        import::import_servers(self, r).await
    }
    async fn list_project_files(&self, r: ProjectFolder) -> Result<ProjectFiles, ApiError> {
        import::list_project_settings_files(self, r).await
    }
    async fn list_unseen_projects(&self, _: EmptyObject) -> Result<UnseenProjects, ApiError> {
        import::list_unseen_projects(self).await
    }
    async fn mark_project_seen(&self, r: SeenProject) -> Result<EmptyObject, ApiError> {
        Ok(installer::projects::mark_project_seen(&self.host, r.folder, r.hash).await.map(|()| EmptyObject {})?)
    }
    async fn export_server(&self, r: ExportServer) -> Result<ExportedServer, ApiError> {
        import::export_server(self, r).await
    }
    async fn search_registry(&self, r: RegistrySearch) -> Result<RegistryPage, ApiError> {
        installs::search_registry(self, r).await
    }
    async fn read_registry_server(&self, r: RegistryServerName) -> Result<RegistryServer, ApiError> {
        installs::read_registry_server(self, r).await
    }
    async fn read_registry_setting(&self, _: EmptyObject) -> Result<RegistryReport, ApiError> {
        installs::read_registry_setting(self).await
    }
    async fn set_registry(&self, r: SetRegistry) -> Result<SecretStorageReport, ApiError> {
        installs::set_registry(self, r).await
    }
    async fn plan_install(&self, r: InstallSource) -> Result<InstallOffer, ApiError> {
        installs::plan_install(self, r).await
    }
    async fn preview_install(&self, r: InstallDraft) -> Result<InstallPreview, ApiError> {
        installs::preview_install(self, r).await
    }
    async fn install_server(&self, r: InstallServer) -> Result<SecretStorageReport, ApiError> {
        installs::install_server(self, r).await
    }
    async fn list_newer_versions(&self, r: ListNewerVersions) -> Result<VersionReports, ApiError> {
        newer_versions::newer_version_reports(self, &r).await
    }
    async fn plan_upgrade(&self, r: UpgradeSource) -> Result<UpgradeOffer, ApiError> {
        installs::plan_upgrade(self, r).await
    }
    async fn update_server(&self, r: UpdateServer) -> Result<SecretStorageReport, ApiError> {
        server_setup::update_server(self, r).await
    }
    async fn set_secret(&self, r: SetSecret) -> Result<SecretStorageReport, ApiError> {
        server_setup::set_secret(self, r).await
    }
    async fn remove_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        server_setup::remove_server(self, r.server).await
    }
    async fn start_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.start_server(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn stop_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.stop_server(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn restart_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.restart_server(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn reconnect_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.retry_now(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn report_network_available(&self, _: EmptyObject) -> Result<EmptyObject, ApiError> {
        Ok(self.host.handle_network_change().await.map(|()| EmptyObject {})?)
    }
    async fn sign_in(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.sign_in(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn cancel_sign_in(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.cancel_sign_in(r.server).await.map(|()| EmptyObject {})?)
    }
    async fn sign_out(&self, r: ServerName) -> Result<SignOutOutcome, ApiError> {
        Ok(views::sign_out_outcome_view(self.host.sign_out(r.server).await?))
    }
    async fn change_account(&self, r: ServerName) -> Result<SignOutOutcome, ApiError> {
        Ok(views::sign_out_outcome_view(self.host.change_account(r.server).await?))
    }
    async fn read_authorization(&self, r: ServerName) -> Result<Authorization, ApiError> {
        Ok(views::authorization_view(self.host.authorization(r.server).await?))
    }
    async fn complete_sign_in(&self, r: CompleteSignIn) -> Result<EmptyObject, ApiError> {
        Ok(self.host.paste_redirect(r.server, r.url).await.map(|()| EmptyObject {})?)
    }
    async fn set_log_level(&self, r: SetLogLevel) -> Result<EmptyObject, ApiError> {
        servers::set_log_level(self, r).await
    }
    async fn ping(&self, r: ServerName) -> Result<PingAnswer, ApiError> {
        servers::ping_server(self, r.server).await
    }
    async fn set_roots(&self, r: SetRoots) -> Result<EmptyObject, ApiError> {
        servers::set_root_folders(self, r).await
    }
    async fn set_data_flow(&self, r: SetDataFlow) -> Result<EmptyObject, ApiError> {
        servers::set_data_flow_settings(self, r).await
    }
    async fn describe_sandbox(&self, r: ServerName) -> Result<SandboxReport, ApiError> {
        containment::sandbox_report(self, r.server).await
    }
    async fn propose_sandbox(&self, r: ProposeSandbox) -> Result<SandboxOffer, ApiError> {
        containment::propose_sandbox(self, r).await
    }
    async fn add_sandbox(&self, r: AddSandbox) -> Result<EmptyObject, ApiError> {
        containment::add_sandbox_to_server(self, r).await
    }
    async fn read_limits_usage(&self, r: ServerName) -> Result<LimitsUsage, ApiError> {
        containment::resource_limits_usage(self, r.server).await
    }
    async fn pick_folder(&self, _: EmptyObject) -> Result<PickedFolder, ApiError> {
        servers::pick_folder(self).await
    }
    async fn pick_file(&self, r: PickFile) -> Result<PickedFile, ApiError> {
        servers::pick_file(self, r.kind).await
    }
    async fn read_catalog(&self, r: ServerName) -> Result<ServerCatalog, ApiError> {
        let catalog = self.host.catalog(r.server.clone()).await?;
        catalogs::catalog_view(self, r.server, &catalog).await
    }
    async fn refresh_list(&self, r: RefreshList) -> Result<ServerCatalog, ApiError> {
        catalogs::refresh_catalog_list(self, r).await
    }
    async fn review_definitions(&self, r: ReviewDefinitions) -> Result<EmptyObject, ApiError> {
        review::review_definitions(self, r).await
    }
    async fn list_reviewed_definitions(&self, r: ServerName) -> Result<ReviewedDefinitions, ApiError> {
        review::list_reviewed_definitions(self, r.server).await
    }
    async fn call_tool(&self, r: CallTool) -> Result<ToolResult, ApiError> {
        catalogs::call_tool(self, r).await
    }
    async fn get_prompt(&self, r: GetPrompt) -> Result<PromptResult, ApiError> {
        catalogs::get_prompt(self, r).await
    }
    async fn read_resource(&self, r: ReadResource) -> Result<ResourceResult, ApiError> {
        catalogs::read_resource(self, r).await
    }
    async fn list_skills(&self, r: ServerName) -> Result<Skills, ApiError> {
        skills::list_skills(self, r.server).await
    }
    async fn read_skill(&self, r: ReadSkill) -> Result<SkillContents, ApiError> {
        skills::read_skill(self, r).await
    }
    async fn cancel_call(&self, r: CallRef) -> Result<EmptyObject, ApiError> {
        Ok(self.host.cancel_call(r.call).await.map(|_| EmptyObject {})?)
    }
    async fn complete(&self, r: CompleteArgument) -> Result<Completion, ApiError> {
        arguments::complete_argument(self, r).await
    }
    async fn expand_template(&self, r: ExpandTemplate) -> Result<ExpandedTemplate, ApiError> {
        arguments::expand_template(&r)
    }
    async fn subscribe(&self, r: ResourceRef) -> Result<EmptyObject, ApiError> {
        Ok(self.host.subscribe(r.server, r.uri, true).await.map(|()| EmptyObject {})?)
    }
    async fn unsubscribe(&self, r: ResourceRef) -> Result<EmptyObject, ApiError> {
        Ok(self.host.subscribe(r.server, r.uri, false).await.map(|()| EmptyObject {})?)
    }
    async fn decide_consent_request(&self, r: DecideConsentRequest) -> Result<EmptyObject, ApiError> {
        consent_requests::decide_consent_request(self, r).await
    }
    async fn edit_consent_request(&self, r: EditConsentRequest) -> Result<ConsentRequest, ApiError> {
        consent_requests::edit_consent_request(self, r).await
    }
    async fn validate_form(&self, r: ValidateForm) -> Result<FormProblems, ApiError> {
        consent_requests::validate_form(self, r).await
    }
    async fn deny_all_consent_requests(&self, r: DenyAllConsentRequests) -> Result<EmptyObject, ApiError> {
        Ok(self.host.deny_all_requests(r.server, r.mute).await.map(|()| EmptyObject {})?)
    }
    async fn read_sampling(&self, r: ServerName) -> Result<SamplingReport, ApiError> {
        Ok(views::sampling::sampling_report_view(self.host.sampling(r.server).await?))
    }
    async fn set_sampling(&self, r: SetSampling) -> Result<EmptyObject, ApiError> {
        servers::set_sampling_settings(self, r).await
    }
    async fn unmute_server(&self, r: ServerName) -> Result<EmptyObject, ApiError> {
        Ok(self.host.unmute_server(r.server).await.map(|()| EmptyObject {})?)
    }

    async fn read_activity(&self, r: ActivityRange) -> Result<ActivityPage, ApiError> {
        servers::read_activity(self, r).await
    }
    async fn read_activity_message(&self, r: ActivityRef) -> Result<ActivityBody, ApiError> {
        servers::read_activity_message(self, r).await
    }

    async fn export_activity(&self, r: ServerName) -> Result<SavedFile, ApiError> {
        servers::export_activity(self, r.server).await
    }

    async fn create_conversation(&self, r: NewConversation) -> Result<Conversation, ApiError> {
        conversations::create_conversation(self, &r.title).await
    }

    async fn read_conversation(&self, r: ConversationRef) -> Result<Conversation, ApiError> {
        conversations::read_conversation(self, r.conversation).await
    }

    async fn append_items(&self, r: AppendItems) -> Result<EmptyObject, ApiError> {
        conversations::append_items(self, r).await
    }

    async fn rename_conversation(&self, r: RenameConversation) -> Result<EmptyObject, ApiError> {
        conversations::rename_conversation(self, r).await
    }

    async fn delete_conversation(&self, r: ConversationRef) -> Result<EmptyObject, ApiError> {
        conversations::delete_conversation(self, r.conversation).await
    }

    async fn read_conversation_items(&self, r: ItemRange) -> Result<ItemPage, ApiError> {
        conversations::read_conversation_items(self, r).await
    }

    async fn read_omitted_content(&self, r: OmittedDataRef) -> Result<OmittedData, ApiError> {
        conversations::read_omitted_content(self, r.hash).await
    }

    async fn search_history(&self, r: SearchHistory) -> Result<FoundItems, ApiError> {
        conversations::search_history(self, r).await
    }

    async fn send_message(&self, r: SendMessage) -> Result<StartedReply, ApiError> {
        chat::send_message(self, r).await
    }
    async fn edit_message(&self, r: EditMessage) -> Result<StartedReply, ApiError> {
        chat::edit_message(self, r).await
    }
    async fn retry_reply(&self, r: RetryReply) -> Result<StartedReply, ApiError> {
        chat::retry_reply(self, r).await
    }
    async fn continue_reply(&self, r: ConversationRef) -> Result<StartedReply, ApiError> {
        chat::continue_reply(self, r.conversation).await
    }
    async fn stop_reply(&self, r: ConversationRef) -> Result<EmptyObject, ApiError> {
        chat::stop_reply(self, &r.conversation)
    }
    async fn choose_branch(&self, r: ItemRef) -> Result<EmptyObject, ApiError> {
        chat::choose_visible_branch(self, r).await
    }
    async fn set_draft(&self, r: SetDraft) -> Result<EmptyObject, ApiError> {
        conversations::set_draft(self, r).await
    }
    async fn set_conversation(&self, r: SetConversation) -> Result<EmptyObject, ApiError> {
        chat::set_conversation_settings(self, r).await
    }

    async fn list_system_prompts(&self, _: EmptyObject) -> Result<SavedSystemPrompts, ApiError> {
        Ok(self.chat.saved_system_prompts().await?)
    }
    async fn save_system_prompt(&self, r: SavedSystemPrompt) -> Result<SavedSystemPrompts, ApiError> {
        Ok(self.chat.save_system_prompt(r).await?)
    }
    async fn remove_system_prompt(&self, r: SavedSystemPromptRef) -> Result<SavedSystemPrompts, ApiError> {
        Ok(self.chat.remove_system_prompt(r.id).await?)
    }

    async fn list_conversation_tools(&self, r: ConversationRef) -> Result<ConversationTools, ApiError> {
        chat::list_conversation_tools(self, r.conversation).await
    }
    async fn read_conversation_cost(&self, r: ConversationRef) -> Result<ConversationCost, ApiError> {
        chat::read_conversation_cost(self, r.conversation).await
    }
    async fn export_conversation(&self, r: ExportConversation) -> Result<SavedFile, ApiError> {
        chat::export_conversation(self, r).await
    }

    async fn read_app_page(&self, r: AppRef) -> Result<AppPageReport, ApiError> {
        Ok(self.apps.page_for_review(&r.server, &r.tool).await?)
    }
    async fn approve_app(&self, r: ApproveApp) -> Result<EmptyObject, ApiError> {
        Ok(self.apps.approve_page(&r.server, &r.tool, &r.hash, r.grants).await.map(|()| EmptyObject {})?)
    }
    async fn revoke_app(&self, r: AppPageRef) -> Result<EmptyObject, ApiError> {
        apps::revoke_app_page_approval(self, r).await
    }
    async fn open_app(&self, r: OpenApp) -> Result<OpenedApp, ApiError> {
        Ok(self.apps.open(r.server, r.tool, r.call, r.context).await?)
    }
    async fn deliver_app_message(&self, r: AppMessage) -> Result<EmptyObject, ApiError> {
        Ok(self.apps.receive_message(&r.view, r.message).map(|()| EmptyObject {})?)
    }
    async fn set_app_context(&self, r: SetAppContext) -> Result<EmptyObject, ApiError> {
        Ok(self.apps.change_context(&r.view, r.context).map(|()| EmptyObject {})?)
    }
    async fn decide_app_request(&self, r: DecideAppRequest) -> Result<EmptyObject, ApiError> {
        Ok(self.apps.answer_request(&r.view, r.request, r.answer).map(|()| EmptyObject {})?)
    }
    async fn set_app_tools(&self, r: SetAppTools) -> Result<EmptyObject, ApiError> {
        Ok(self.apps.set_enabled_tools(&r.view, r.hash).await.map(|()| EmptyObject {})?)
    }
    async fn save_app_file(&self, r: SaveAppFile) -> Result<SavedFile, ApiError> {
        apps::save_app_file(self, r).await
    }
    async fn read_app_document(&self, r: AppViewRef) -> Result<AppDocumentText, ApiError> {
        Ok(self.apps.document(&r.view)?)
    }
    async fn close_app(&self, r: AppViewRef) -> Result<EmptyObject, ApiError> {
        self.apps.close(&r.view);
        Ok(EmptyObject {})
    }

    async fn read_audit_log(&self, r: AuditRange) -> Result<AuditPage, ApiError> {
        audit::read_audit_log(self, r).await
    }
    async fn verify_audit_log(&self, _: EmptyObject) -> Result<AuditVerdict, ApiError> {
        audit::verify_audit_log(self).await
    }
    async fn export_audit_log(&self, _: EmptyObject) -> Result<SavedFile, ApiError> {
        audit::export_audit_log(self).await
    }

    async fn list_grants(&self, _: EmptyObject) -> Result<Grants, ApiError> {
        rules::list_grants(self).await
    }
    async fn revoke_grant(&self, r: GrantRef) -> Result<EmptyObject, ApiError> {
        rules::revoke_grant(self, r).await
    }
    async fn restore_grant(&self, r: GrantRef) -> Result<EmptyObject, ApiError> {
        rules::restore_grant(self, r).await
    }

    async fn read_policy(&self, _: EmptyObject) -> Result<Policy, ApiError> {
        rules::read_policy(self).await
    }

    async fn add_policy_rule(&self, r: Rule) -> Result<RuleRef, ApiError> {
        rules::add_policy_rule(self, r).await
    }
    async fn set_policy_rule(&self, r: Rule) -> Result<RuleRef, ApiError> {
        rules::set_policy_rule(self, r).await
    }
    async fn restore_policy_rule(&self, r: Rule) -> Result<RuleRef, ApiError> {
        rules::restore_policy_rule(self, r).await
    }
    async fn remove_policy_rule(&self, r: RuleRef) -> Result<EmptyObject, ApiError> {
        rules::remove_policy_rule(self, r).await
    }

    async fn set_preset(&self, r: SetPreset) -> Result<EmptyObject, ApiError> {
        rules::set_policy_preset(self, r).await
    }
    async fn set_trust(&self, r: SetTrust) -> Result<EmptyObject, ApiError> {
        rules::set_server_trust(self, r).await
    }

    async fn dry_run(&self, r: DryRun) -> Result<DryRunResult, ApiError> {
        rules::dry_run_policy(self, r).await
    }
    async fn read_policy_text(&self, _: EmptyObject) -> Result<PolicyText, ApiError> {
        rules::read_policy_text(self).await
    }
    async fn export_policy(&self, _: EmptyObject) -> Result<SavedFile, ApiError> {
        rules::export_policy(self).await
    }

    async fn save_media(&self, r: SaveMedia) -> Result<SavedFile, ApiError> {
        media::save_media(self, r).await
    }

    async fn list_models(&self, _: EmptyObject) -> Result<Models, ApiError> {
        providers::list_models(self).await
    }
    async fn set_provider(&self, r: SetProvider) -> Result<EmptyObject, ApiError> {
        providers::set_provider(self, r).await
    }
    async fn remove_provider(&self, r: ProviderId) -> Result<EmptyObject, ApiError> {
        providers::remove_provider(self, r).await
    }
    async fn set_provider_key(&self, r: SetProviderKey) -> Result<SecretStorageReport, ApiError> {
        providers::set_provider_key(self, r).await
    }
    async fn test_provider(&self, r: TestProvider) -> Result<ProviderTest, ApiError> {
        providers::test_provider(self, r).await
    }
    async fn refresh_models(&self, r: ProviderId) -> Result<EmptyObject, ApiError> {
        providers::refresh_models(self, r).await
    }
    async fn set_default_model(&self, r: DefaultModel) -> Result<EmptyObject, ApiError> {
        providers::set_default_model(self, r).await
    }

    async fn set_settings(&self, r: Settings) -> Result<EmptyObject, ApiError> {
        servers::set_settings(self, r).await
    }
    async fn set_window_settings(&self, r: WindowSettings) -> Result<EmptyObject, ApiError> {
        servers::set_window_settings(self, r).await
    }

    async fn parse_url(&self, r: UrlText) -> Result<UrlParts, ApiError> {
        Ok(UrlParts::parse(&r.url))
    }
    async fn read_secrets_status(&self, _: EmptyObject) -> Result<SecretsStatus, ApiError> {
        Ok(self.host.secrets_status().await?)
    }
    async fn read_content_protection(&self, _: EmptyObject) -> Result<ContentProtection, ApiError> {
        servers::read_content_protection(self).await
    }

    async fn check_computer(&self, _: EmptyObject) -> Result<CheckedComputer, ApiError> {
        computer::check_computer(self).await
    }
    async fn check_server_command(&self, r: CheckServerCommand) -> Result<ServerCommandCheck, ApiError> {
        computer::check_server_command(self, r).await
    }

    async fn open_url(&self, r: UrlText) -> Result<EmptyObject, ApiError> {
        Ok(self.host.open_url(&r.url).await.map(|()| EmptyObject {})?)
    }
}
