// The table of commands: name, request, response. Included by `table.rs` and, for the list of names alone, by the
// shell's build script. For this reason the file has no imports.

/// Invokes a callback macro with the whole command table.
#[macro_export]
macro_rules! commands {
    ($callback:ident) => {
        $callback! {
            /// Returns the whole state that the page needs at its start and after a gap in the events.
            snapshot: EmptyObject => Snapshot,

            /// Adds a server to the settings without starting it.
            add_server: AddServer => SecretStorageReport,
            /// Parses pasted text: `mcpServers`, VS Code's `servers`, one bare entry, a command line, or a URL.
            check_import: ImportText => ImportPreview,
            /// Searches the settings of other apps for servers. Nothing is started or written.
            import_candidates: ImportSource => ImportCandidates,
            /// Lists the files of a project folder that may define servers, without reading them.
            project_files: ProjectFolder => ProjectFiles,
            /// Imports servers found by `import_candidates`: stopped and without any approval, with their secrets in
            /// the keychain.
            import_servers: ImportServers => ImportedServers,
            /// Searches the registry for servers by name.
            registry_search: RegistrySearch => RegistryPage,
            /// Returns one server of the registry with its versions, packages and remotes.
            registry_server: RegistryServerName => RegistryServer,
            /// Returns the registry that servers are installed from. Sends no request.
            registry_setting: EmptyObject => RegistryReport,
            /// Sets the registry, or resets it to the official one. The value of its header is stored in the keychain.
            set_registry: SetRegistry => SecretStorageReport,
            /// Creates the install plan for a server of the registry or a bundle, with the inputs that the user fills
            /// in. A bundle is downloaded, but not unpacked.
            install_offer: InstallSource => InstallOffer,
            /// Fills the plan with the given values and returns the exact command or address with its hash, or the
            /// problems of the values. Nothing is unpacked.
            install_preview: InstallDraft => InstallPreview,
            /// Installs a server exactly as previewed: unpacks it if it is a bundle, and adds it or replaces its other
            /// version. The server is not started.
            install: Install => SecretStorageReport,
            /// Lists the installed servers that have a newer version or whose version is deprecated. Nothing is
            /// changed.
            newer_versions: InstalledVersions => VersionReports,
            /// Creates the plan for another version of an installed server. Nothing is changed.
            upgrade_offer: UpgradeSource => UpgradeOffer,
            /// Changes a server's name, command or address. A running server is stopped, and a changed command or
            /// address needs consent again.
            update_server: UpdateServer => SecretStorageReport,
            /// Replaces the secret of a header, of an environment variable or of the sign-in settings.
            set_secret: SetSecret => SecretStorageReport,
            /// Stops a server and removes it from the settings.
            remove_server: ServerName => EmptyObject,
            /// Starts a server. Requests consent first if its exact command is not approved yet.
            start_server: ServerName => EmptyObject,
            /// Stops a server and all processes that it started.
            stop_server: ServerName => EmptyObject,
            /// Stops a server and starts it again.
            restart_server: ServerName => EmptyObject,
            /// Makes the next reconnect attempt of a server immediately.
            retry_now: ServerName => EmptyObject,
            /// Reports that the network is back: pending reconnects are attempted immediately and connected servers are
            /// probed.
            network_changed: EmptyObject => EmptyObject,
            /// Starts the sign-in to a remote server. Returns once it has started, and its consent requests are queued.
            sign_in: ServerName => EmptyObject,
            /// Cancels a sign-in that is in progress.
            cancel_sign_in: ServerName => EmptyObject,
            /// Deletes the tokens of a server and revokes them if the authorization server supports it. An active
            /// session ends.
            sign_out: ServerName => SignOutOutcome,
            /// Signs out, then starts a sign-in with another account.
            change_account: ServerName => SignOutOutcome,
            /// Returns the authorization state of a server.
            authorization: ServerName => Authorization,
            /// Accepts the redirect URL of a sign-in whose browser could not reach Drawbridge.
            paste_redirect: PasteRedirect => EmptyObject,
            /// Sets the minimum level of the log messages that a server sends.
            set_log_level: SetLogLevel => EmptyObject,
            /// Pings a server and returns the round-trip time.
            ping: ServerName => PingAnswer,
            /// Sets the folders that a server may know of and notifies it of the change.
            set_roots: SetRoots => EmptyObject,
            /// Sets how the content of a server may be passed on.
            set_data_flow: SetDataFlow => EmptyObject,
            /// Returns what a local server could reach in its sandbox if it were started now. Nothing is started.
            sandbox: ServerName => SandboxReport,
            /// Returns a sandbox for the server of a start request, and what the server could reach in it. Nothing is
            /// started or changed.
            offer_sandbox: OfferSandbox => SandboxOffer,
            /// Adds a sandbox to the settings of the server of a start request, and requests consent for its start
            /// again, with another hash.
            contain_start: ContainStart => EmptyObject,
            /// Returns how much a server uses of each limit.
            limits: ServerName => LimitsUsage,
            /// Opens the system's dialog to select a folder.
            pick_folder: EmptyObject => PickedFolder,
            /// Opens the system's dialog to select a file.
            pick_file: PickFile => PickedFile,

            /// Returns the tools, prompts, resources and resource templates of a server.
            catalog: ServerName => Catalog,
            /// Requests a list from a server again, even if it is still fresh. Returns all lists once it was read.
            refresh_list: RefreshList => Catalog,
            /// Records that the user reviewed definitions. Any later change of them is reported.
            review: Review => EmptyObject,
            /// Returns the definitions of a server that are stored as reviewed.
            pins: ServerName => Pins,
            /// Calls a tool, after requesting consent where the policy requires it. Returns when the call has ended.
            call_tool: CallTool => ToolResult,
            /// Returns the messages of a prompt.
            get_prompt: GetPrompt => PromptResult,
            /// Reads a resource of a server.
            read_resource: ReadResource => ResourceResult,
            /// Requests the list of skills from a server. No skill is read.
            skills: ServerName => Skills,
            /// Reads a skill's instructions or one of its files, with the same checks as a resource, and verifies it
            /// against the list.
            read_skill: ReadSkill => SkillContents,
            /// Cancels a running call of any kind, by the identifier that its caller chose.
            cancel_call: CallRef => EmptyObject,
            /// Requests completions of an argument from a server.
            complete: Complete => Completion,
            /// Expands a URI template (RFC 6570).
            expand_template: ExpandTemplate => ExpandedTemplate,
            /// Subscribes to changes of a resource.
            subscribe: ResourceRef => EmptyObject,
            /// Ends a subscription to a resource.
            unsubscribe: ResourceRef => EmptyObject,

            /// Submits the user's decision on the first consent request, bound to the hash that was shown.
            answer_question: DecideConsentRequest => EmptyObject,
            /// Changes the payload of a consent request. The returned consent request has a new hash.
            edit_question: EditConsentRequest => ConsentRequest,
            /// Validates the content of a form without sending it.
            check_form: CheckForm => FormProblems,
            /// Denies all open consent requests of a server. With `mute`, later ones are denied too.
            deny_all: DenyAllConsentRequests => EmptyObject,
            /// Returns the sampling settings and the model usage of a server.
            sampling: ServerName => SamplingReport,
            /// Sets how much of the user's models a server may use. Applies from the server's next start.
            set_sampling: SetSampling => EmptyObject,
            /// Allows a muted server to request consent again.
            unmute: ServerName => EmptyObject,

            /// Returns one page of a server's activity log.
            activity: ActivityRange => ActivityPage,
            /// Returns one message of the activity log in full.
            activity_body: ActivityRef => ActivityBody,
            /// Writes the activity log of a server as JSON Lines to a file that the user selects.
            export_activity: ServerName => SavedFile,

            /// Creates an empty conversation.
            create_conversation: NewConversation => Conversation,
            /// Returns one conversation with its items.
            conversation: ConversationRef => Conversation,
            /// Appends items to a conversation.
            append_items: AppendItems => EmptyObject,
            /// Sets the title of a conversation.
            rename_conversation: RenameConversation => EmptyObject,
            /// Deletes a conversation and its items.
            delete_conversation: ConversationRef => EmptyObject,
            /// Returns a page of items of a conversation, older than a given item.
            items: ItemRange => ItemPage,
            /// Returns large content that was omitted from an item.
            blob: BlobRef => Blob,
            /// Searches the text of all conversations.
            search_history: SearchHistory => FoundItems,

            /// Sends a message to a conversation's model. Returns once it is sent, and the reply is delivered as
            /// events.
            send_message: SendMessage => StartedReply,
            /// Replaces a message in a new branch and requests a reply to it.
            edit_message: EditMessage => StartedReply,
            /// Requests a reply again, in a new branch.
            retry_reply: RetryReply => StartedReply,
            /// Continues a reply that was stopped by the limit on calls or by the user.
            continue_reply: ConversationRef => StartedReply,
            /// Stops the streaming reply of a conversation and the calls that it made.
            stop_reply: ConversationRef => EmptyObject,
            /// Selects the branch of a conversation that contains an item.
            choose_branch: ItemRef => EmptyObject,
            /// Sets the model, the system prompt and the servers of a conversation.
            set_conversation: SetConversation => EmptyObject,
            /// Stores the unsent text of a conversation's composer.
            set_draft: SetDraft => EmptyObject,
            /// Returns the tools of a conversation, each with the reason if its model may not use it.
            conversation_tools: ConversationRef => ConversationTools,
            /// Returns the token usage and the cost of a conversation.
            conversation_cost: ConversationRef => ConversationCost,
            /// Writes a conversation to a file that the user selects.
            export_conversation: ExportConversation => SavedFile,

            /// Returns the latest decisions that match a filter, newest first.
            audit: AuditRange => AuditPage,
            /// Verifies the whole audit log: its hash chain and its seal.
            verify_audit: EmptyObject => AuditVerdict,
            /// Writes the audit log to a file that the user selects, as JSON Lines that can be verified independently.
            export_audit: EmptyObject => SavedFile,
            /// Returns all grants that are in effect.
            grants: EmptyObject => Grants,
            /// Revokes a grant by its identifier.
            revoke_grant: GrantRef => EmptyObject,
            /// Restores a grant that was revoked a few seconds ago, unless its server or tool has changed since.
            restore_grant: GrantRef => EmptyObject,
            /// Returns all rules, the presets, and the problems of the rule files.
            policy: EmptyObject => Policy,
            /// Adds a rule to the user's file, or replaces the one with the same number.
            set_policy_rule: Rule => RuleRef,
            /// Removes a rule from the user's file.
            remove_policy_rule: RuleRef => EmptyObject,
            /// Sets the preset, which decides how often consent is requested.
            set_preset: SetPreset => EmptyObject,
            /// Trusts a server with calls of its tools, or ends that trust.
            set_trust: SetTrust => EmptyObject,
            /// Returns the policy's decision on an act and the rule behind it, without performing the act.
            dry_run: DryRun => DryRunResult,
            /// Returns all rules and grants as text.
            policy_text: EmptyObject => PolicyText,
            /// Writes all rules and grants to a file that the user selects.
            export_policy: EmptyObject => SavedFile,
            /// Writes an image, audio or other binary content of a server to a file that the user selects. The file is
            /// neither opened nor executed.
            save_media: SaveMedia => SavedFile,
            /// Returns the model providers with their models, and the model servers found on this computer.
            models: EmptyObject => Models,
            /// Adds a model provider, or changes the one with the same identifier.
            set_provider: SetProvider => EmptyObject,
            /// Removes a model provider and its API key.
            remove_provider: ProviderId => EmptyObject,
            /// Stores the API key of a provider. No command returns it.
            set_provider_key: SetProviderKey => SecretStorageReport,
            /// Tests a provider by listing its models and, if one is given, requesting a reply from it.
            test_provider: TestProvider => ProviderTest,
            /// Requests the list of models from a provider again.
            refresh_models: ProviderId => EmptyObject,
            /// Sets the model of new conversations.
            set_default_model: DefaultModel => EmptyObject,
            /// Changes the settings of the app.
            set_settings: Settings => EmptyObject,
            /// Returns whether secrets persist after Drawbridge exits. The system may prompt the user to unlock the
            /// keychain.
            secrets_status: EmptyObject => SecretsStatus,
            /// Returns whether conversations and the contents of the audit log are encrypted on disk.
            content_protection: EmptyObject => ContentProtection,
            /// Parses a URL into its parts, for the dialog that displays it before it is opened.
            inspect_url: UrlText => UrlParts,
            /// Checks this computer for causes that keep servers from working. Takes some seconds and changes nothing.
            check_computer: EmptyObject => CheckedComputer,
            /// Opens a URL in the system's browser, after the user has seen all of it.
            open_url: UrlText => EmptyObject,
        }
    };
}
