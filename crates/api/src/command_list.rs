// The table of commands: name, request, response. Included by `table.rs` and, for the list of names alone, by the
// shell's build script; that is why this file has no imports.

/// Calls back a macro with the whole table.
#[macro_export]
macro_rules! commands {
    ($callback:ident) => {
        $callback! {
            /// Everything the page shows at its start, and again after a gap in the events.
            snapshot: Nothing => Snapshot,

            /// Adds a server to the settings. It is not started.
            add_server: AddServer => SecretsKept,
            /// Reads pasted text: `mcpServers`, VS Code's `servers`, one bare entry, a command line, or a URL.
            check_import: ImportText => ImportPreview,
            /// Looks for servers in the settings of other apps. Nothing is started, and nothing is written.
            import_candidates: ImportSource => ImportCandidates,
            /// The files with servers that a project folder has, which are not read.
            project_files: ProjectFolder => ProjectFiles,
            /// Imports servers that were found: stopped, without any approval, their secrets in the keychain.
            import_servers: ImportServers => ImportedServers,
            /// Searches the registry of servers.
            registry_search: RegistrySearch => RegistryPage,
            /// Reads one server of the registry: its versions, packages and remotes.
            registry_server: RegistryServerName => RegistryServer,
            /// Which registry servers are installed from. Nobody is asked.
            registry_setting: Nothing => RegistryReport,
            /// Sets the registry, or the official one again. The value of its header goes to the keychain.
            set_registry: SetRegistry => SecretsKept,
            /// Makes the plan for a server of the registry or a bundle, with the inputs that the user fills in. A bundle is downloaded, and
            /// nothing is unpacked.
            install_offer: InstallSource => InstallOffer,
            /// Fills the plan with these values: the exact command or address and its hash, or the problems of the values. Nothing is unpacked.
            install_preview: InstallDraft => InstallPreview,
            /// Installs a server as it was previewed: unpacks it if it is a bundle, and adds it, or puts it in the place of its other version. It is
            /// not started.
            install: Install => SecretsKept,
            /// Which installed servers have a newer version, or one that should not be used any more. Nothing is changed.
            newer_versions: InstalledVersions => VersionReports,
            /// Makes the plan for another version of an installed server. Nothing is changed.
            upgrade_offer: UpgradeSource => UpgradeOffer,
            /// Changes a server's name, command or address. A running server is stopped; what is new asks again.
            update_server: UpdateServer => SecretsKept,
            /// Enters the secret of a header or a variable again, or one that signing in needs.
            set_secret: SetSecret => SecretsKept,
            /// Stops a server and takes it out of the settings.
            remove_server: ServerName => Nothing,
            /// Starts a server, asking first when its exact command was not approved yet.
            start_server: ServerName => Nothing,
            /// Stops a server and everything it started.
            stop_server: ServerName => Nothing,
            /// Stops a server and starts it again.
            restart_server: ServerName => Nothing,
            /// Makes the next attempt to bring a server back at once.
            retry_now: ServerName => Nothing,
            /// Says that the network is there again: servers that are waited for are tried, and those in use asked whether they live.
            network_changed: Nothing => Nothing,
            /// Signs the user in to a remote server. Returns when that has begun; its questions come in the queue.
            sign_in: ServerName => Nothing,
            /// Ends a sign-in that is under way.
            cancel_sign_in: ServerName => Nothing,
            /// Forgets the tokens of a server, and has them revoked where that is offered. A session that runs ends.
            sign_out: ServerName => SignedOut,
            /// Signs out, then begins to sign in as somebody else.
            change_account: ServerName => SignedOut,
            /// What is known of the sign-in to a server.
            authorization: ServerName => Authorization,
            /// Takes the address that a browser was sent back to, where that browser could not reach Drawbridge.
            paste_redirect: PasteRedirect => Nothing,
            /// Sets from which level on a server sends log messages.
            set_log_level: SetLogLevel => Nothing,
            /// Asks a server whether it is there, and says how long its answer took.
            ping: ServerName => PingAnswer,
            /// Sets which folders a server may know of, and tells it of the change.
            set_roots: SetRoots => Nothing,
            /// Sets how a server's content flows on.
            set_data_flow: SetDataFlow => Nothing,
            /// What a local server would reach in its sandbox if it were started now. Nothing is started.
            sandbox: ServerName => SandboxReport,
            /// How much a server uses of what each server gets.
            limits: ServerName => LimitsUse,
            /// Lets the user pick a folder with the system's dialog.
            pick_folder: Nothing => PickedFolder,
            /// Lets the user pick a file with the system's dialog.
            pick_file: PickFile => PickedFile,

            /// What a server offers: tools, prompts, resources and templates.
            catalog: ServerName => Catalog,
            /// Asks a server for a list again, however fresh it is. Resolves with all lists when it was read.
            refresh_list: RefreshList => Catalog,
            /// Says that the user has looked at definitions: any change of them is told from now on.
            review: Review => Nothing,
            /// What was kept of what the user saw of a server.
            pins: ServerName => Pins,
            /// Calls a tool. Resolves when the call has ended; asks for approval on the way.
            call_tool: CallTool => ToolResult,
            /// Gets a prompt's messages.
            get_prompt: GetPrompt => PromptResult,
            /// Reads a resource.
            read_resource: ReadResource => ResourceResult,
            /// Asks a server which skills it lists. None of them is read.
            skills: ServerName => Skills,
            /// Reads a skill's instructions or a file of it, as reading a resource, and checks it against the list.
            read_skill: ReadSkill => SkillContents,
            /// Cancels a running call of any kind, by the id its caller chose.
            cancel_call: CallRef => Nothing,
            /// Asks a server to complete an argument.
            complete: Complete => Completion,
            /// Expands a URI template (RFC 6570).
            expand_template: ExpandTemplate => ExpandedTemplate,
            /// Asks a server to tell when a resource changes.
            subscribe: ResourceRef => Nothing,
            /// Ends a subscription.
            unsubscribe: ResourceRef => Nothing,

            /// Answers the question in front, bound to the hash of what was shown.
            answer_question: AnswerQuestion => Nothing,
            /// Changes what would cross. The question comes back with a new hash.
            edit_question: EditQuestion => Question,
            /// Checks a form's content without sending it.
            check_form: CheckForm => FormProblems,
            /// Refuses every open question of a server; `mute` also refuses those to come.
            deny_all: DenyAll => Nothing,
            /// How much of the user's models a server may use, and has used.
            sampling: ServerName => SamplingReport,
            /// Sets how much of the user's models a server may use. It learns of it when it is started next.
            set_sampling: SetSampling => Nothing,
            /// Lets a muted server ask again.
            unmute: ServerName => Nothing,

            /// One page of a server's messages.
            activity: ActivityRange => ActivityPage,
            /// One message, whole.
            activity_body: ActivityRef => ActivityBody,
            /// Writes a server's messages to a file the user picks, as JSON Lines.
            export_activity: ServerName => SavedFile,

            /// Starts a conversation.
            create_conversation: NewConversation => Conversation,
            /// One conversation with its items.
            conversation: ConversationRef => Conversation,
            /// Appends items to a conversation.
            append_items: AppendItems => Nothing,
            /// Renames a conversation.
            rename_conversation: RenameConversation => Nothing,
            /// Deletes a conversation.
            delete_conversation: ConversationRef => Nothing,
            /// Some items of a conversation, before others that were read.
            items: ItemRange => ItemPage,
            /// What is left out of an item as it is large.
            blob: BlobRef => Blob,
            /// Searches all that was said in all conversations.
            search_history: SearchHistory => FoundItems,

            /// Sends a message to a conversation's model. Resolves when it is sent; the answer comes as events.
            send_message: SendMessage => ReplyBegun,
            /// Writes a message anew, in a branch of its own, and has it answered.
            edit_message: EditMessage => ReplyBegun,
            /// Has an answer once more, in a branch of its own.
            retry_reply: RetryReply => ReplyBegun,
            /// Lets a model go on that stopped after many calls, or was stopped.
            continue_reply: ConversationRef => ReplyBegun,
            /// Stops the answer of a conversation, and the calls that it made.
            stop_reply: ConversationRef => Nothing,
            /// Shows the branch of a conversation that goes through an item.
            choose_branch: ItemRef => Nothing,
            /// Sets a conversation up: its model, its system prompt, its servers.
            set_conversation: SetConversation => Nothing,
            /// Keeps what the user wrote in a conversation and did not send yet.
            set_draft: SetDraft => Nothing,
            /// The tools of a conversation: which its model may use, and why it may not use others.
            conversation_tools: ConversationRef => ConversationTools,
            /// What a conversation took, in the branch that is shown.
            conversation_cost: ConversationRef => ConversationCost,
            /// Writes a conversation to a file the user picks.
            export_conversation: ExportConversation => SavedFile,

            /// The latest decisions that fit, newest first.
            audit: AuditRange => AuditPage,
            /// Checks the whole audit log: its chain and its seal.
            verify_audit: Nothing => AuditVerdict,
            /// Writes the audit log to a file the user picks, as JSON Lines that can be verified by themselves.
            export_audit: Nothing => SavedFile,
            /// Every standing approval.
            grants: Nothing => Grants,
            /// Takes an approval back.
            revoke_grant: GrantRef => Nothing,
            /// All rules, presets, and what is wrong with their files.
            policy: Nothing => Policy,
            /// Adds a rule of the user's, or changes the one with its number.
            set_policy_rule: Rule => RuleRef,
            /// Removes a rule of the user's.
            remove_policy_rule: RuleRef => Nothing,
            /// Chooses how much is asked about.
            set_preset: SetPreset => Nothing,
            /// Trusts a server with calls of its tools, or ends that.
            set_trust: SetTrust => Nothing,
            /// Tells what would happen, and which rule says so. Nothing does.
            dry_run: DryRun => DryRunResult,
            /// All rules and standing approvals as text.
            policy_text: Nothing => PolicyText,
            /// Writes all rules and standing approvals to a file the user picks.
            export_policy: Nothing => SavedFile,
            /// Writes a picture, a sound or other bytes that a server gave to a file the user picks. It is neither opened nor run.
            save_media: SaveMedia => SavedFile,
            /// The providers of models, what they list, and what serves models on this computer.
            models: Nothing => Models,
            /// Adds a provider of models, or changes the one with its id.
            set_provider: SetProvider => Nothing,
            /// Takes a provider out, and its key.
            remove_provider: ProviderId => Nothing,
            /// Enters a provider's key. It never comes out again.
            set_provider_key: SetProviderKey => SecretsKept,
            /// Tries a provider: whether it lists its models, and what one of them says.
            test_provider: TestProvider => ProviderTest,
            /// Asks a provider for its models.
            refresh_models: ProviderId => Nothing,
            /// Sets the model that new conversations begin with.
            set_default_model: DefaultModel => Nothing,
            /// Changes the app's settings.
            set_settings: Settings => Nothing,
            /// Whether secrets outlast the program. The system may ask its user to unlock the keychain for it.
            secrets_status: Nothing => SecretsStatus,
            /// Tells if conversations and contents of the audit log are encrypted on disk.
            content_protection: Nothing => ContentProtection,
            /// Takes a URL apart, for the dialog that shows it before it is opened.
            inspect_url: UrlText => UrlParts,
            /// Looks at this computer for what keeps servers from working. Takes some seconds. Nothing is changed.
            check_computer: Nothing => CheckedComputer,
            /// Opens a URL in the system's browser, after the user saw it whole.
            open_url: UrlText => Nothing,
        }
    };
}
