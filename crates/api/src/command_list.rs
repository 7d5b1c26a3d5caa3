// Table of all commands, each with its name, request type and response type. `table.rs` includes this file, and the
// shell's build script includes it to get the names, so it must not have imports.

/// Invokes a callback macro with the whole command table.
#[macro_export]
macro_rules! commands {
    ($callback:ident) => {
        $callback! {
            /// Returns the whole state that Drawbridge's page displays. The page requests it when it loads, and again
            /// if it has missed events.
            read_snapshot: EmptyObject => Snapshot,

            /// Adds a server to the settings without starting it.
            add_server: AddServer => SecretStorageReport,
            /// Parses pasted text: the `mcpServers` of other apps, the `servers` of VS Code, one entry of either, a
            /// command line, or a URL.
            parse_import: ParseImport => ImportPreview,
            /// Searches the settings of other apps for servers. Nothing is started or written.
            find_import_candidates: ImportSource => ImportCandidates,
            /// Lists the settings files of other apps in a project folder that may define servers, without reading
            /// them.
            list_project_files: ProjectFolder => ProjectFiles,
            /// Returns the folders shared with servers (roots) in which settings files of other apps define servers,
            /// unless the user has already seen these files with the same content. Nothing is started or written.
            list_unseen_projects: EmptyObject => UnseenProjects,
            /// Stores that the user has seen which servers the settings files of a project define.
            /// `list_unseen_projects` returns the project again if its files change.
            mark_project_seen: SeenProject => EmptyObject,
            /// Imports servers that `find_import_candidates` has found. They are stopped and not approved, and their
            /// secrets are stored in the keychain.
            import_servers: ImportServers => ImportedServers,
            /// Returns one server in a format of other apps or as an install link, for copying. Secrets are omitted.
            export_server: ExportServer => ExportedServer,
            /// Searches the registry for servers by name.
            search_registry: RegistrySearch => RegistryPage,
            /// Returns one server of the registry with its versions, packages and remotes.
            read_registry_server: RegistryServerName => RegistryServer,
            /// Returns the URL of the registry that servers are installed from. No request is sent to it.
            read_registry_setting: EmptyObject => RegistryReport,
            /// Sets the registry that servers are installed from, or resets it to the official one. If requests to the
            /// registry need a header, the value of the header is stored in the keychain.
            set_registry: SetRegistry => SecretStorageReport,
            /// Creates the install plan for a server in the registry or for a bundle, with the inputs that the user has
            /// to fill in. A bundle is downloaded, but not unpacked.
            plan_install: InstallSource => InstallOffer,
            /// Applies the user's values to the install plan. Returns the exact command or URL with its hash, or the
            /// problems of the values. Nothing is unpacked.
            preview_install: InstallDraft => InstallPreview,
            /// Installs a server exactly as in the preview: unpacks a bundle, and adds the server or replaces its
            /// installed version. The server is not started.
            install_server: InstallServer => SecretStorageReport,
            /// Checks the registry for newer versions of the installed servers, and for the status of the installed
            /// versions. Nothing is changed.
            list_newer_versions: ListNewerVersions => VersionReports,
            /// Creates the install plan for another version of an installed server. Nothing is changed.
            plan_upgrade: UpgradeSource => UpgradeOffer,
            /// Changes a server's name, command or URL. A running server is stopped, and the user's consent is required
            /// before a changed command or URL is used.
            update_server: UpdateServer => SecretStorageReport,
            /// Replaces a stored secret: the value of a header or an environment variable, or a secret of the sign-in
            /// settings.
            set_secret: SetSecret => SecretStorageReport,
            /// Stops a server and removes it from the settings.
            remove_server: ServerName => EmptyObject,
            /// Starts a server. Requests consent first if its exact command is not approved yet.
            start_server: ServerName => EmptyObject,
            /// Stops a server and all processes that it started.
            stop_server: ServerName => EmptyObject,
            /// Stops a server and starts it again.
            restart_server: ServerName => EmptyObject,
            /// Attempts to reconnect to a server immediately, without waiting for the scheduled time.
            reconnect_server: ServerName => EmptyObject,
            /// Reports that the network is available again. Pending reconnects are attempted immediately, and connected
            /// servers are probed.
            report_network_available: EmptyObject => EmptyObject,
            /// Starts the sign-in to a remote server and returns immediately. The required consent requests are queued.
            sign_in: ServerName => EmptyObject,
            /// Cancels a sign-in that is in progress.
            cancel_sign_in: ServerName => EmptyObject,
            /// Deletes the tokens of a server and revokes them if the authorization server supports it. The server's
            /// session ends.
            sign_out: ServerName => SignOutOutcome,
            /// Signs out of a server, then starts a sign-in to it with another account.
            change_account: ServerName => SignOutOutcome,
            /// Returns the authorization state of a server.
            read_authorization: ServerName => Authorization,
            /// Completes a sign-in with a redirect URL that the user pastes, for a browser that can't reach Drawbridge.
            complete_sign_in: CompleteSignIn => EmptyObject,
            /// Sets the minimum level of the log messages that a server sends.
            set_log_level: SetLogLevel => EmptyObject,
            /// Pings a server and returns the round-trip time.
            ping: ServerName => PingAnswer,
            /// Sets the folders that a server receives when it requests its roots, and notifies the server of the
            /// change.
            set_roots: SetRoots => EmptyObject,
            /// Sets the data flow settings of a server: after which of its content a model's later calls require
            /// consent, and which of its results the user reviews before a model reads them.
            set_data_flow: SetDataFlow => EmptyObject,
            /// Returns the files and hosts that a local server could access in its sandbox if it were started now.
            /// Nothing is started.
            describe_sandbox: ServerName => SandboxReport,
            /// Returns a sandbox proposal for a server whose start waits for consent, and the files and hosts that the
            /// server could access in it. Nothing is started or changed.
            propose_sandbox: ProposeSandbox => SandboxOffer,
            /// Adds a sandbox to the settings of a server whose start waits for consent. The start then requires
            /// consent to the new settings, which have another hash.
            add_sandbox: AddSandbox => EmptyObject,
            /// Returns the current usage of a server for each limit.
            read_limits_usage: ServerName => LimitsUsage,
            /// Opens the system's dialog to select a folder.
            pick_folder: EmptyObject => PickedFolder,
            /// Opens the system's dialog to select a file.
            pick_file: PickFile => PickedFile,

            /// Returns the tools, prompts, resources and resource templates of a server.
            read_catalog: ServerName => ServerCatalog,
            /// Requests a list from a server, even if the stored list is still fresh. Returns all lists of the server
            /// after the response.
            refresh_list: RefreshList => ServerCatalog,
            /// Records that the user has reviewed definitions of tools and prompts. If a server changes one of them
            /// later, the user sees the difference.
            review_definitions: ReviewDefinitions => EmptyObject,
            /// Returns the names and hashes of a server's definitions that the user has reviewed, and other data of the
            /// reviews.
            list_reviewed_definitions: ServerName => ReviewedDefinitions,
            /// Calls a tool, after the user's consent if the policy requires it. Returns when the call has ended.
            call_tool: CallTool => ToolResult,
            /// Returns the messages of a prompt.
            get_prompt: GetPrompt => PromptResult,
            /// Reads a resource of a server.
            read_resource: ReadResource => ResourceResult,
            /// Requests the list of skills from a server. No skill is read.
            list_skills: ServerName => Skills,
            /// Reads the instructions or another file of a skill. Applies the same consent rules as for a resource, and
            /// verifies the content against the server's list.
            read_skill: ReadSkill => SkillContents,
            /// Cancels a call that is in progress, by the identifier that its caller chose.
            cancel_call: CallRef => EmptyObject,
            /// Requests completions of an argument from a server.
            complete: CompleteArgument => Completion,
            /// Expands a URI template (RFC 6570).
            expand_template: ExpandTemplate => ExpandedTemplate,
            /// Subscribes to changes of a resource.
            subscribe: ResourceRef => EmptyObject,
            /// Ends a subscription to a resource.
            unsubscribe: ResourceRef => EmptyObject,

            /// Submits the user's decision on a pending consent request. The decision is bound to the hash of the payload
            /// that was shown.
            decide_consent_request: DecideConsentRequest => EmptyObject,
            /// Changes the payload of a consent request. Returns the consent request with the new hash.
            edit_consent_request: EditConsentRequest => ConsentRequest,
            /// Validates the content of a form (elicitation) without sending it.
            validate_form: ValidateForm => FormProblems,
            /// Denies all pending consent requests of a server. With `mute` set, later requests of the server are
            /// denied automatically.
            deny_all_consent_requests: DenyAllConsentRequests => EmptyObject,
            /// Returns the sampling settings of a server, and its usage of the user's models.
            read_sampling: ServerName => SamplingReport,
            /// Sets the limits on a server's use of the user's models. They apply at once, but the declared capability
            /// changes when the server is started the next time.
            set_sampling: SetSampling => EmptyObject,
            /// Unmutes a server, so that its consent requests are shown to the user again.
            unmute_server: ServerName => EmptyObject,

            /// Returns one page of a server's activity log.
            read_activity: ActivityRange => ActivityPage,
            /// Returns one message of the activity log in full.
            read_activity_message: ActivityRef => ActivityBody,
            /// Writes the activity log of a server as JSON Lines to a file that the user selects.
            export_activity: ServerName => SavedFile,

            /// Creates an empty conversation.
            create_conversation: NewConversation => Conversation,
            /// Returns one conversation with its items.
            read_conversation: ConversationRef => Conversation,
            /// Appends items to a conversation.
            append_items: AppendItems => EmptyObject,
            /// Sets the title of a conversation.
            rename_conversation: RenameConversation => EmptyObject,
            /// Deletes a conversation and its items.
            delete_conversation: ConversationRef => EmptyObject,
            /// Returns a page of a conversation's items: those that precede a given item, or the last ones.
            read_conversation_items: ItemRange => ItemPage,
            /// Returns large content that was omitted from a conversation's item.
            read_omitted_content: OmittedDataRef => OmittedData,
            /// Searches the text of all conversations.
            search_history: SearchHistory => FoundItems,

            /// Sends a message to the model of a conversation. Returns when the reply starts, and its content follows
            /// as events.
            send_message: SendMessage => StartedReply,
            /// Replaces a message of the user in a new branch and requests a reply to it.
            edit_message: EditMessage => StartedReply,
            /// Requests another reply to the same message, in a new branch.
            retry_reply: RetryReply => StartedReply,
            /// Continues a reply that ended because of the limit on tool call rounds or because the user stopped it.
            continue_reply: ConversationRef => StartedReply,
            /// Stops the streaming reply of a conversation and the tool calls that it requested.
            stop_reply: ConversationRef => EmptyObject,
            /// Selects the branch of a conversation that contains the given item.
            choose_branch: ItemRef => EmptyObject,
            /// Sets the model, its parameters, the system prompt and the servers of a conversation.
            set_conversation: SetConversation => EmptyObject,
            /// Returns the system prompts that the user saved for any conversation.
            list_system_prompts: EmptyObject => SavedSystemPrompts,
            /// Saves a system prompt under a name, or replaces the one with the same identifier.
            save_system_prompt: SavedSystemPrompt => SavedSystemPrompts,
            /// Deletes a saved system prompt. Conversations that use its text are unchanged.
            remove_system_prompt: SavedSystemPromptRef => SavedSystemPrompts,
            /// Stores the unsent text in the message field of a conversation.
            set_draft: SetDraft => EmptyObject,
            /// Returns the tools of a conversation's servers. For each tool that the model may not use, the response
            /// contains the reason.
            list_conversation_tools: ConversationRef => ConversationTools,
            /// Returns the token usage and the cost of a conversation.
            read_conversation_cost: ConversationRef => ConversationCost,
            /// Writes a conversation to a file that the user selects.
            export_conversation: ExportConversation => SavedFile,

            /// Reads the HTML page of a tool's MCP app from the server, so that the user can review it.
            read_app_page: AppRef => AppPageReport,
            /// Approves exactly one version of an MCP app's HTML page, with the access that the user grants to it.
            approve_app: ApproveApp => EmptyObject,
            /// Removes the user's approval of an MCP app's page, and closes the shown apps that use this page.
            revoke_app: AppPageRef => EmptyObject,
            /// Shows the MCP app of a tool call. The user must have approved the app's page. If a model is still
            /// writing the call, the policy must allow calls of the tool with any arguments.
            open_app: OpenApp => OpenedApp,
            /// Passes a message to the host that an MCP app posted from its frame.
            deliver_app_message: AppMessage => EmptyObject,
            /// Changes the host context of a shown MCP app, such as its theme, display mode or size.
            set_app_context: SetAppContext => EmptyObject,
            /// Submits the user's decision on a request that a shown MCP app made.
            decide_app_request: DecideAppRequest => EmptyObject,
            /// Lets the model of the conversation use the tools that a shown MCP app provides, until the app is closed.
            /// The hash ensures that the user has seen exactly these tools. Without a hash, turns the tools off.
            set_app_tools: SetAppTools => EmptyObject,
            /// Saves a file that a shown MCP app offers, at a path that the user selects.
            save_app_file: SaveAppFile => SavedFile,
            /// Returns the HTML source of a shown MCP app, for display as text.
            read_app_document: AppViewRef => AppDocumentText,
            /// Closes a shown MCP app, which gets a short time to save its state.
            close_app: AppViewRef => EmptyObject,

            /// Returns the latest decisions that match a filter, newest first.
            read_audit_log: AuditRange => AuditPage,
            /// Verifies the whole audit log: its hash chain and its seal.
            verify_audit_log: EmptyObject => AuditVerdict,
            /// Writes the audit log to a file that the user selects, as JSON Lines that can be verified independently.
            export_audit_log: EmptyObject => SavedFile,
            /// Returns all grants that are in effect.
            list_grants: EmptyObject => Grants,
            /// Revokes a grant, given its identifier.
            revoke_grant: GrantRef => EmptyObject,
            /// Restores a grant that was revoked a few seconds ago, unless its server or tool has changed since.
            restore_grant: GrantRef => EmptyObject,
            /// Returns all rules, the presets, and the problems of the rule files.
            read_policy: EmptyObject => Policy,
            /// Adds a rule to the user's rule file or to those of this session. Fails if the rule in the request
            /// already has a number, which would replace another rule.
            add_policy_rule: Rule => RuleRef,
            /// Adds a rule to the user's rule file, or replaces the rule with the same number.
            set_policy_rule: Rule => RuleRef,
            /// Adds a removed rule of the user again, with the same number unless another rule has it by now.
            restore_policy_rule: Rule => RuleRef,
            /// Removes a rule from the user's file.
            remove_policy_rule: RuleRef => EmptyObject,
            /// Sets the preset, which decides how often consent is requested.
            set_preset: SetPreset => EmptyObject,
            /// Sets or ends the user's trust in a server. While a server is trusted, its reviewed tools may be called
            /// without a consent request.
            set_trust: SetTrust => EmptyObject,
            /// Returns the decision that the policy would make on an act, such as a tool call, and the rule that
            /// decides. The act is not performed.
            dry_run: DryRun => DryRunResult,
            /// Returns all rules and grants as text.
            read_policy_text: EmptyObject => PolicyText,
            /// Writes all rules and grants to a file that the user selects.
            export_policy: EmptyObject => SavedFile,
            /// Writes an image, audio or other binary content of a server to a file that the user selects. The file is
            /// neither opened nor executed.
            save_media: SaveMedia => SavedFile,
            /// Returns the model providers with their models, and the model servers found on this computer.
            list_models: EmptyObject => Models,
            /// Adds a model provider, or changes the one with the same identifier.
            set_provider: SetProvider => EmptyObject,
            /// Removes a model provider and its API key.
            remove_provider: ProviderId => EmptyObject,
            /// Stores the API key of a provider. No command returns the key.
            set_provider_key: SetProviderKey => SecretStorageReport,
            /// Tests a provider by listing its models and, if a model is given, by requesting a short reply from it.
            test_provider: TestProvider => ProviderTest,
            /// Requests the list of models from a provider again.
            refresh_models: ProviderId => EmptyObject,
            /// Sets the default model of new conversations.
            set_default_model: DefaultModel => EmptyObject,
            /// Changes the settings of Drawbridge, such as its theme, language and limits.
            set_settings: Settings => EmptyObject,
            /// Changes the zoom and the menu bar of Drawbridge's windows, and leaves all other settings unchanged.
            set_window_settings: WindowSettings => EmptyObject,
            /// Returns whether stored secrets persist after Drawbridge exits. The operating system may prompt the user
            /// to unlock the keychain.
            read_secrets_status: EmptyObject => SecretsStatus,
            /// Returns whether conversations and the contents of the audit log are encrypted on disk.
            read_content_protection: EmptyObject => ContentProtection,
            /// Parses a URL into its parts, for the dialog that displays it before it is opened.
            parse_url: UrlText => UrlParts,
            /// Checks this computer for problems that prevent servers from working. Takes some seconds and changes
            /// nothing.
            check_computer: EmptyObject => CheckedComputer,
            /// Checks whether the program and the working folder of a local server's command exist. The program is not
            /// started.
            check_server_command: CheckServerCommand => ServerCommandCheck,
            /// Opens a URL in the system's browser, after a dialog has shown the whole URL to the user.
            open_url: UrlText => EmptyObject,
        }
    };
}
