// Generated from crates/api by `cargo xtask codegen`. Do not edit.

/** Maximum number of servers in one conversation. */
export const MAX_CONVERSATION_SERVERS = 100;

/** Maximum length of the name of a saved system prompt, in characters. */
export const MAX_SAVED_PROMPT_NAME_CHARS = 100;

/** Maximum number of tokens of a reply that a conversation can set. */
export const MAX_REPLY_TOKENS = 1000000;

/** Maximum number of saved system prompts. */
export const MAX_SAVED_PROMPTS = 100;

/** Maximum sampling temperature of each kind of provider. */
export const MAX_TEMPERATURE = {"anthropic":1.0,"gemini":2.0,"ollama":2.0,"openai":2.0,"responses":2.0} satisfies Record<ProviderKind, number>;

export interface Commands {
  read_snapshot: { request: EmptyObject; response: Snapshot };
  add_server: { request: AddServer; response: SecretStorageReport };
  parse_import: { request: ParseImport; response: ImportPreview };
  find_import_candidates: { request: ImportSource; response: ImportCandidates };
  list_project_files: { request: ProjectFolder; response: ProjectFiles };
  list_unseen_projects: { request: EmptyObject; response: UnseenProjects };
  mark_project_seen: { request: SeenProject; response: EmptyObject };
  import_servers: { request: ImportServers; response: ImportedServers };
  export_server: { request: ExportServer; response: ExportedServer };
  search_registry: { request: RegistrySearch; response: RegistryPage };
  read_registry_server: { request: RegistryServerName; response: RegistryServer };
  read_registry_setting: { request: EmptyObject; response: RegistryReport };
  set_registry: { request: SetRegistry; response: SecretStorageReport };
  plan_install: { request: InstallSource; response: InstallOffer };
  preview_install: { request: InstallDraft; response: InstallPreview };
  install_server: { request: InstallServer; response: SecretStorageReport };
  list_newer_versions: { request: ListNewerVersions; response: VersionReports };
  plan_upgrade: { request: UpgradeSource; response: UpgradeOffer };
  update_server: { request: UpdateServer; response: SecretStorageReport };
  set_secret: { request: SetSecret; response: SecretStorageReport };
  remove_server: { request: ServerName; response: EmptyObject };
  start_server: { request: ServerName; response: EmptyObject };
  stop_server: { request: ServerName; response: EmptyObject };
  restart_server: { request: ServerName; response: EmptyObject };
  reconnect_server: { request: ServerName; response: EmptyObject };
  report_network_available: { request: EmptyObject; response: EmptyObject };
  sign_in: { request: ServerName; response: EmptyObject };
  cancel_sign_in: { request: ServerName; response: EmptyObject };
  sign_out: { request: ServerName; response: SignOutOutcome };
  change_account: { request: ServerName; response: SignOutOutcome };
  read_authorization: { request: ServerName; response: Authorization };
  complete_sign_in: { request: CompleteSignIn; response: EmptyObject };
  set_log_level: { request: SetLogLevel; response: EmptyObject };
  ping: { request: ServerName; response: PingAnswer };
  set_roots: { request: SetRoots; response: EmptyObject };
  set_data_flow: { request: SetDataFlow; response: EmptyObject };
  describe_sandbox: { request: ServerName; response: SandboxReport };
  propose_sandbox: { request: ProposeSandbox; response: SandboxOffer };
  add_sandbox: { request: AddSandbox; response: EmptyObject };
  read_limits_usage: { request: ServerName; response: LimitsUsage };
  pick_folder: { request: EmptyObject; response: PickedFolder };
  pick_file: { request: PickFile; response: PickedFile };
  read_catalog: { request: ServerName; response: ServerCatalog };
  refresh_list: { request: RefreshList; response: ServerCatalog };
  review_definitions: { request: ReviewDefinitions; response: EmptyObject };
  list_reviewed_definitions: { request: ServerName; response: ReviewedDefinitions };
  call_tool: { request: CallTool; response: ToolResult };
  get_prompt: { request: GetPrompt; response: PromptResult };
  read_resource: { request: ReadResource; response: ResourceResult };
  list_skills: { request: ServerName; response: Skills };
  read_skill: { request: ReadSkill; response: SkillContents };
  cancel_call: { request: CallRef; response: EmptyObject };
  complete: { request: CompleteArgument; response: Completion };
  expand_template: { request: ExpandTemplate; response: ExpandedTemplate };
  subscribe: { request: ResourceRef; response: EmptyObject };
  unsubscribe: { request: ResourceRef; response: EmptyObject };
  decide_consent_request: { request: DecideConsentRequest; response: EmptyObject };
  edit_consent_request: { request: EditConsentRequest; response: ConsentRequest };
  validate_form: { request: ValidateForm; response: FormProblems };
  deny_all_consent_requests: { request: DenyAllConsentRequests; response: EmptyObject };
  read_sampling: { request: ServerName; response: SamplingReport };
  set_sampling: { request: SetSampling; response: EmptyObject };
  unmute_server: { request: ServerName; response: EmptyObject };
  read_activity: { request: ActivityRange; response: ActivityPage };
  read_activity_message: { request: ActivityRef; response: ActivityBody };
  export_activity: { request: ServerName; response: SavedFile };
  create_conversation: { request: NewConversation; response: Conversation };
  read_conversation: { request: ConversationRef; response: Conversation };
  append_items: { request: AppendItems; response: EmptyObject };
  rename_conversation: { request: RenameConversation; response: EmptyObject };
  delete_conversation: { request: ConversationRef; response: EmptyObject };
  read_conversation_items: { request: ItemRange; response: ItemPage };
  read_omitted_content: { request: OmittedDataRef; response: OmittedData };
  search_history: { request: SearchHistory; response: FoundItems };
  send_message: { request: SendMessage; response: StartedReply };
  edit_message: { request: EditMessage; response: StartedReply };
  retry_reply: { request: RetryReply; response: StartedReply };
  continue_reply: { request: ConversationRef; response: StartedReply };
  stop_reply: { request: ConversationRef; response: EmptyObject };
  choose_branch: { request: ItemRef; response: EmptyObject };
  set_conversation: { request: SetConversation; response: EmptyObject };
  list_system_prompts: { request: EmptyObject; response: SavedSystemPrompts };
  save_system_prompt: { request: SavedSystemPrompt; response: SavedSystemPrompts };
  remove_system_prompt: { request: SavedSystemPromptRef; response: SavedSystemPrompts };
  set_draft: { request: SetDraft; response: EmptyObject };
  list_conversation_tools: { request: ConversationRef; response: ConversationTools };
  read_conversation_cost: { request: ConversationRef; response: ConversationCost };
  export_conversation: { request: ExportConversation; response: SavedFile };
  read_app_page: { request: AppRef; response: AppPageReport };
  approve_app: { request: ApproveApp; response: EmptyObject };
  revoke_app: { request: AppPageRef; response: EmptyObject };
  open_app: { request: OpenApp; response: OpenedApp };
  deliver_app_message: { request: AppMessage; response: EmptyObject };
  set_app_context: { request: SetAppContext; response: EmptyObject };
  decide_app_request: { request: DecideAppRequest; response: EmptyObject };
  set_app_tools: { request: SetAppTools; response: EmptyObject };
  save_app_file: { request: SaveAppFile; response: SavedFile };
  read_app_document: { request: AppViewRef; response: AppDocumentText };
  close_app: { request: AppViewRef; response: EmptyObject };
  read_audit_log: { request: AuditRange; response: AuditPage };
  verify_audit_log: { request: EmptyObject; response: AuditVerdict };
  export_audit_log: { request: EmptyObject; response: SavedFile };
  list_grants: { request: EmptyObject; response: Grants };
  revoke_grant: { request: GrantRef; response: EmptyObject };
  restore_grant: { request: GrantRef; response: EmptyObject };
  read_policy: { request: EmptyObject; response: Policy };
  add_policy_rule: { request: Rule; response: RuleRef };
  set_policy_rule: { request: Rule; response: RuleRef };
  restore_policy_rule: { request: Rule; response: RuleRef };
  remove_policy_rule: { request: RuleRef; response: EmptyObject };
  set_preset: { request: SetPreset; response: EmptyObject };
  set_trust: { request: SetTrust; response: EmptyObject };
  dry_run: { request: DryRun; response: DryRunResult };
  read_policy_text: { request: EmptyObject; response: PolicyText };
  export_policy: { request: EmptyObject; response: SavedFile };
  save_media: { request: SaveMedia; response: SavedFile };
  list_models: { request: EmptyObject; response: Models };
  set_provider: { request: SetProvider; response: EmptyObject };
  remove_provider: { request: ProviderId; response: EmptyObject };
  set_provider_key: { request: SetProviderKey; response: SecretStorageReport };
  test_provider: { request: TestProvider; response: ProviderTest };
  refresh_models: { request: ProviderId; response: EmptyObject };
  set_default_model: { request: DefaultModel; response: EmptyObject };
  set_settings: { request: Settings; response: EmptyObject };
  set_window_settings: { request: WindowSettings; response: EmptyObject };
  read_secrets_status: { request: EmptyObject; response: SecretsStatus };
  read_content_protection: { request: EmptyObject; response: ContentProtection };
  parse_url: { request: UrlText; response: UrlParts };
  check_computer: { request: EmptyObject; response: CheckedComputer };
  check_server_command: { request: CheckServerCommand; response: ServerCommandCheck };
  open_url: { request: UrlText; response: EmptyObject };
}

/**
 * Account that is signed in at an authorization server.
 */
export type Account = { 
/**
 * Issuer identifier, exactly as in the authorization server's metadata.
 */
issuer: string, 
/**
 * Issuer identifier parsed into its parts.
 */
issuerUrl: UrlParts, 
/**
 * Identifier of the resource (the MCP server) that the token is valid for.
 */
resource: string, 
/**
 * Scopes of the token, as returned by the authorization server. Empty if it returned none.
 */
scopes: Array<string>, 
/**
 * Expiry of the token in milliseconds since 1970, if known.
 */
expiresAt: number | null, 
/**
 * Time of the sign-in, in milliseconds since 1970.
 */
signedInAt: number, 
/**
 * Time of the last token refresh, in milliseconds since 1970, or `None` if there was none.
 */
refreshedAt: number | null, 
/**
 * `true` if the token can be refreshed without the user.
 */
canRefresh: boolean, 
/**
 * Reason why the user has to sign in again, or `None` while the tokens are usable.
 */
reauthenticationReason: string | null, 
/**
 * Origin of the client identifier that Drawbridge used.
 */
client: ClientIdentity, 
/**
 * `true` if the token is bound to a key of this computer (DPoP).
 */
isDpopBound: boolean, };

/**
 * Full text of one message in the activity log.
 */
export type ActivityBody = { 
/**
 * Message as sent or received, with the server's secrets replaced by `[redacted]`.
 */
text: string, 
/**
 * `true` if the text is incomplete because the stored size of a message is bounded.
 */
truncated: boolean, 
/**
 * `true` if a secret in the text was replaced.
 */
redacted: boolean, };

/**
 * Entry of a server's activity log.
 */
export type ActivityEntry = { 
/**
 * Sequence number of the entry in the server's log.
 */
seq: number, 
/**
 * Time at which the message was sent or received, in milliseconds since 1970.
 */
at: number, 
/**
 * Kind of the entry, such as a request, a response or standard error output.
 */
kind: ActivityKind, 
/**
 * `true` if Drawbridge sent the message, `false` if it was received.
 */
sent: boolean, 
/**
 * MCP method of the request or notification. For a response, the method of its request. `None` for other entries.
 */
method: string | null, 
/**
 * JSON-RPC identifier of the request or response, as JSON text. `None` for other entries.
 */
id: string | null, 
/**
 * Size of the message in bytes.
 */
bytes: number, 
/**
 * Time between a request and this response, in milliseconds. `None` for other messages.
 */
latency: number | null, 
/**
 * Beginning of the message's text.
 */
preview: string, 
/**
 * Reason why the message is invalid or unusual, or `None` for a normal message.
 */
note: string | null, };

/**
 * Kind of an entry in the activity log: a JSON-RPC message, a log message, a line of standard error, or a change of
 * state.
 */
export type ActivityKind = "request" | "response" | "error" | "notification" | "batch" | "invalid" | "stderr" | "log" | "state";

/**
 * Range of consecutive entries of a server's activity log.
 */
export type ActivityPage = { 
/**
 * Entries of the page, oldest first.
 */
entries: Array<ActivityEntry>, 
/**
 * Number of older entries that were removed from the log because its size is bounded.
 */
dropped: number, };

/**
 * Request for a range of a server's activity log.
 */
export type ActivityRange = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Number of the entry after which the range starts, or `None` to start with the oldest entry.
 */
after: number | null, 
/**
 * Maximum number of entries. If the range has more, the latest ones are returned.
 */
limit: number, };

/**
 * Reference to one entry of a server's activity log.
 */
export type ActivityRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Sequence number of the entry in the server's log.
 */
seq: number, };

/**
 * Request to add a sandbox to the settings of a server whose start waits for consent.
 */
export type AddSandbox = { 
/**
 * Identifier of the consent request for the start of the server.
 */
id: string, 
/**
 * Hash of the consent request that was shown to the user.
 */
hash: string, 
/**
 * Sandbox for the settings of the server.
 */
sandbox: Sandbox, };

/**
 * Request to add a server to the settings.
 */
export type AddServer = { 
/**
 * Name of the server in the settings.
 */
name: string, 
/**
 * Configuration of the server, as in the settings file.
 */
config: ServerConfig, };

/**
 * Sign-in settings that the page does not display. Secrets are represented as `${secret:NAME}`.
 */
export type AdvancedAuthSettings = { 
/**
 * Client authentication method at the token endpoint, such as `private_key_jwt`.
 */
clientAuth: string | null, 
/**
 * URL of the client ID metadata document to use as client identifier.
 */
clientMetadataUrl: string | null, 
/**
 * Grant type, as named in `mcp.json`. `None` is the authorization code grant.
 */
grant: string | null, 
/**
 * Reference to the private key for the client authentication method `private_key_jwt`.
 */
privateKey: string | null, 
/**
 * Signature algorithm for the private key, such as `ES256`, or `None` for the default algorithm.
 */
algorithm: string | null, 
/**
 * Enterprise identity provider that issues identity assertions.
 */
identityProvider: AuthIdentityProvider | null, 
/**
 * `true` to require tokens bound to a key of this computer (DPoP), `false` to never use DPoP, or `None` to use it
 * if the authorization server supports it.
 */
dpop: boolean | null, 
/**
 * Reference to the JWT assertion of the workload identity.
 */
assertion: string | null, };

/**
 * Error returned by a command.
 */
export type ApiError = { 
/**
 * Kind of failure, by which the page selects an action.
 */
code: ErrorCode, 
/**
 * Message for the user that states which operation failed, and why.
 */
message: string, 
/**
 * Further details as JSON, whose shape depends on `code`, or `None` if there are none.
 */
data?: JsonValue, 
/**
 * Cause for which a call was refused, or `None` for other errors.
 */
refusal?: CallRefusal, };

/**
 * The user's decision on a request of an app.
 */
export type AppAnswer = { "type": "done" } | { "type": "refused" } | { "type": "not_shown" } | { "type": "display_mode", 
/**
 * Mode in which the app is displayed.
 */
mode: AppDisplayMode, };

/**
 * Reason why a view is closed.
 */
export type AppCloseCause = "confirmed" | "failed" | "timed_out" | "never_initialized" | "page_gone";

/**
 * Level of an app's console output.
 */
export type AppConsoleLevel = "error" | "warning" | "info" | "debug";

/**
 * Appearance and surroundings of a shown app: theme, display mode, size, locale and input devices.
 */
export type AppContext = { 
/**
 * Color theme of the window.
 */
theme: AppTheme, 
/**
 * Standard style variables with their CSS values: all colors or none.
 */
styles: { [key in string]: string }, 
/**
 * Mode in which the app is displayed, such as inline or fullscreen.
 */
displayMode: AppDisplayMode, 
/**
 * Width of the frame, in CSS pixels.
 */
width: number, 
/**
 * Maximum height of the frame if the app is inline, and its height in other modes, in CSS pixels.
 */
height: number, 
/**
 * Language and region as a BCP 47 tag.
 */
locale: string, 
/**
 * Time zone by its IANA name.
 */
timeZone: string, 
/**
 * Set if the computer has a touch screen.
 */
touch: boolean, 
/**
 * Set if a pointer can hover.
 */
hover: boolean, };

/**
 * Report of the diagnostic script in the document of an app. Untrusted.
 */
export type AppDiagnostic = { "type": "blocked", 
/**
 * Directive of the policy, such as `connect-src`.
 */
directive: string, 
/**
 * Blocked address, or a word such as `eval` for what has no address. May be empty.
 */
address: string, } | { "type": "failed", 
/**
 * Message of the error, and the stack if there is one.
 */
text: string, } | { "type": "webgl_missing" } | { "type": "console", 
/**
 * Level of the console output.
 */
level: AppConsoleLevel, 
/**
 * Values that the app wrote, separated by spaces.
 */
text: string, };

/**
 * Placement of a view in the host's window (specification 2026-01-26, section "Display Modes").
 */
export type AppDisplayMode = "inline" | "fullscreen" | "pip";

/**
 * Source of a shown app, for display as text.
 */
export type AppDocumentText = { 
/**
 * HTML document of the page.
 */
html: string, 
/**
 * Value of the header `Content-Security-Policy` with which the document is loaded.
 */
policy: string, };

/**
 * Reason why a message was not processed as sent.
 */
export type AppFaultKind = "malformed" | "invalid_content" | "unknown_method" | "forgery" | "not_offered" | "early" | "out_of_order" | "duplicate_id" | "unknown_id" | "too_large" | "too_many" | "timed_out";

/**
 * File that an MCP app offers for saving.
 */
export type AppFile = { 
/**
 * Suggested name of the file.
 */
name: string, 
/**
 * Media type of the file, as the app claims. Empty if unknown.
 */
mimeType: string, 
/**
 * Size of the file in bytes.
 */
bytes: number, };

/**
 * Message that a shown MCP app posted.
 */
export type AppMessage = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Message that the app posted, as JSON text.
 */
message: string, };

/**
 * Direction of a message between an app page and the host.
 */
export type AppMessageDirection = "from_page" | "to_page";

/**
 * Request to remove the user's approval of an MCP app's HTML page.
 */
export type AppPageRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI of the app's page on its server.
 */
uri: string, };

/**
 * Current page of an app, with the access that it requests, for the user's review.
 */
export type AppPageReport = { 
/**
 * URI of the page, with the scheme `ui`.
 */
uri: string, 
/**
 * Hash over the URI, the document and the declared metadata of the page. An approval is valid for one hash.
 */
hash: string, 
/**
 * Size of the document in bytes.
 */
bytes: number, 
/**
 * State of the user's review of the page.
 */
review: AppPageReview, 
/**
 * Access that an approved page has, or else the access that approving all of the page's requests would grant.
 */
grants: SandboxGrants, 
/**
 * Hosts that the page requests to contact, or to load resources from.
 */
sources: Array<AppSource>, 
/**
 * Permissions of the web view that the page requests and that the user can grant.
 */
permissions: AppPermissions, 
/**
 * Declarations of the server that have no effect, with the reasons in English.
 */
notes: Array<string>, };

/**
 * State of the user's review of a page.
 */
export type AppPageReview = "new" | "changed" | "approved";

/**
 * Paths of the files that Drawbridge uses, for display.
 */
export type AppPaths = { 
/**
 * Path of the settings file with the servers.
 */
config: string, 
/**
 * Path of the folder that contains all other files.
 */
data: string, 
/**
 * Path of the file with the audit log.
 */
audit: string, };

/**
 * Capability of the browser that an app page can request, and that the host may grant.
 */
export type AppPermission = "camera" | "microphone" | "geolocation" | "clipboardWrite";

/**
 * A set of permissions, in the order of `ALL`.
 */
export type AppPermissions = Array<AppPermission>;

/**
 * Request that refers to the MCP app of a tool: the HTML page from the server that displays the tool's results.
 */
export type AppRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server lists it.
 */
tool: string, };

/**
 * Host that a page requests to contact or to load from.
 */
export type AppSource = { 
/**
 * Purpose for which the page would use the host.
 */
usedAs: AppSourceUse, 
/**
 * Origin, such as `https://example.com`, or `*` for every host.
 */
origin: string, 
/**
 * Network that the origin reaches, such as the internet or this computer.
 */
reach: AppSourceReach, };

/**
 * Kind of computers that a source can reach, which determines the grant that the source needs.
 */
export type AppSourceReach = "internet" | "private_network" | "loopback" | "every_host";

/**
 * Use of a declared domain by an app page.
 */
export type AppSourceUse = "connect" | "resource" | "frame" | "base_uri";

/**
 * Color theme of the host.
 */
export type AppTheme = "light" | "dark";

/**
 * Tool that an MCP app offers to models, as the app defines it. All texts in it are untrusted.
 */
export type AppToolView = { 
/**
 * Name of the tool, as the app defines it.
 */
name: string, 
/**
 * Whole definition of the tool as indented JSON.
 */
definition: string, };

/**
 * Request of an MCP app that the user decides.
 */
export type AppUserRequest = { "type": "open_link", 
/**
 * Address of the link, which is shown before it is opened.
 */
url: string, } | { "type": "save_files", 
/**
 * Files that the app offers for saving, at least one.
 */
files: Array<AppFile>, } | { "type": "send_message", 
/**
 * Text of the message for the conversation.
 */
text: string, } | { "type": "display_mode", 
/**
 * Display mode that the app requests.
 */
mode: AppDisplayMode, };

/**
 * Event in a shown MCP app, or a request of the app. All texts in it are from the app, and untrusted.
 */
export type AppViewChange = { "type": "message", 
/**
 * JSON-RPC message, which the page posts to the frame unchanged.
 */
message: JsonValue, } | { "type": "initialized", 
/**
 * Name that the app claims to have.
 */
name: string, 
/**
 * Version that the app claims to have.
 */
version: string, 
/**
 * Display modes that the app supports, or `None` if it declares no list of them. An empty list means that it
 * supports none of the known modes.
 */
displayModes: Array<AppDisplayMode> | null, } | { "type": "resized", 
/**
 * New width of the app in CSS pixels, or `None` if the host decides it.
 */
width: number | null, 
/**
 * New height of the app in CSS pixels, or `None` if the host decides it.
 */
height: number | null, } | { "type": "display_mode_changed", 
/**
 * Display mode that is in force after the change.
 */
mode: AppDisplayMode, } | { "type": "requested", 
/**
 * Number that identifies the request among all requests of the shown app.
 */
request: number, 
/**
 * Content of the app's request.
 */
userRequest: AppUserRequest, } | { "type": "withdrawn", 
/**
 * Number of the withdrawn request.
 */
request: number, } | { "type": "model_context_changed", 
/**
 * New context as text. Empty if the app removed it.
 */
text: string, } | { "type": "tools_changed", 
/**
 * Tools that the app offers.
 */
tools: Array<AppToolView>, 
/**
 * Hash of the definitions in `tools`. When the user lets models use the tools, the permission is valid only
 * for this hash.
 */
hash: string, 
/**
 * Number of tools that the app offers but that `tools` does not contain, because they are invalid or have the
 * name of a tool of the server.
 */
dropped: number, 
/**
 * Set if the model of the conversation may use the tools.
 */
on: boolean, } | { "type": "teardown_requested" } | { "type": "fault", 
/**
 * Direction in which the message was sent.
 */
direction: AppMessageDirection, 
/**
 * Kind of the fault in the message.
 */
kind: AppFaultKind, 
/**
 * Explanation of the fault in English.
 */
detail: string, } | { "type": "logged", 
/**
 * Level of the logged message, as in MCP.
 */
level: string, 
/**
 * Text of the logged message.
 */
text: string, } | { "type": "diagnosed", 
/**
 * Content of the report, which the app may have forged.
 */
diagnostic: AppDiagnostic, 
/**
 * Number of reports that were discarded since the previous event of this type, because they were too many, too
 * large or malformed.
 */
dropped: number, } | { "type": "closed", 
/**
 * Reason for which the app was closed.
 */
cause: AppCloseCause, };

/**
 * Reference to a shown MCP app.
 */
export type AppViewRef = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, };

/**
 * Items to append to a conversation.
 */
export type AppendItems = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Items in order. An item with the identifier of an existing item replaces it.
 */
items: Array<ConversationItem>, };

/**
 * Acts that an approval covers: a single one, or also later ones, with or without an end. A time limit is separate:
 * `Grant::expires_at`.
 */
export type ApprovalScope = "once" | "conversation" | "session" | "always";

/**
 * Request to approve exactly one version of an MCP app's HTML page.
 */
export type ApproveApp = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server lists it.
 */
tool: string, 
/**
 * Hash of the page that was shown to the user.
 */
hash: string, 
/**
 * Access that the user grants to the page.
 */
grants: SandboxGrants, };

/**
 * Page of an MCP app that the user has approved.
 */
export type ApprovedApp = { 
/**
 * URI of the app's page on its server.
 */
uri: string, 
/**
 * Hash of the approved version of the page.
 */
hash: string, 
/**
 * Access that the user granted to the page.
 */
grants: SandboxGrants, 
/**
 * Time of the approval, in milliseconds since 1970.
 */
since: number, };

/**
 * Result of checking one argument condition of a rule.
 */
export type ArgumentJudgement = { 
/**
 * Index of the argument condition in its rule, from 0.
 */
number: number, 
/**
 * Set if the argument meets the condition.
 */
holds: boolean, 
/**
 * Reason why the argument meets the condition or not.
 */
reason: JudgementReason, 
/**
 * The checked value as JSON, truncated. For a list, the item that determined the result. `None` if there is no
 * value.
 */
value: string | null, 
/**
 * Normalized forms of the argument's value, where they differ from the value as written.
 */
normal: Array<string>, };

/**
 * Condition on one argument of a call.
 */
export type ArgumentRule = { 
/**
 * JSON Pointer of the argument, such as `/path`.
 */
at: string, 
/**
 * Way in which `pattern` is compared with the argument.
 */
test: ArgumentTest, 
/**
 * Pattern for the argument, whose syntax depends on `test`.
 */
pattern: string, };

/**
 * Way in which the pattern of a rule is compared with an argument of a call.
 */
export type ArgumentTest = "glob" | "regex" | "folder" | "path" | "url" | "number";

/**
 * Entry of the audit log, as the page and the output of `drawbridge-cli audit` show it.
 *
 * The record in the log file is a different type, with shorter member names and without empty members. This type
 * always has all members.
 */
export type AuditEntry = { 
/**
 * Number of the entry, counted from 1.
 */
number: number, 
/**
 * Time of the decision, in milliseconds since 1970.
 */
at: number, 
/**
 * Originator of the act that was allowed or denied: `user`, `model`, `app`, `server`, `host`, or `file` for a
 * change by another program. Empty in entries that older versions wrote.
 */
asker: string, 
/**
 * Name of the server that the decided act concerns.
 */
server: string, 
/**
 * Kind of the act, such as `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots` or
 * `revoke`.
 */
kind: string, 
/**
 * Text that identifies what the act concerns: the command line, the name of the tool, the message or the URL.
 */
subject: string, 
/**
 * Payload without its secrets, or the beginning of the payload. Also recorded for denied acts. `None` if only the
 * hash is recorded.
 */
content: string | null, 
/**
 * Size of the whole payload in bytes, if `content` is truncated.
 */
contentBytes: number | null, 
/**
 * Decision: `allowed`, `denied`, `cancelled` or `withdrawn`.
 */
decision: string, 
/**
 * Scope for which the approval is valid. `None` for an act that was not approved.
 */
scope: ApprovalScope | null, 
/**
 * Source of the decision: `user`, `grant`, `policy`, or `answers` for the answers file of `drawbridge-cli`.
 */
by: string, 
/**
 * Name of the rule or grant that decided, or empty if none did.
 */
rule: string, 
/**
 * Identifier of the conversation that the act belongs to, or `None` outside of conversations.
 */
conversation: string | null, 
/**
 * SHA-256 hash of the whole payload.
 */
hash: string, 
/**
 * `true` if the entry was imported from the log of an older version, which had no hash chain.
 */
imported: boolean, };

/**
 * A problem that a verification of the audit log found, with the affected entries.
 */
export type AuditFinding = { 
/**
 * Kind of the problem, for which Drawbridge's page has a text.
 */
what: TamperKind, 
/**
 * Number of the first entry that the problem affects.
 */
number: number, 
/**
 * Number of the last entry that the problem affects, if there are several.
 */
to: number | null, 
/**
 * Details of the problem as text, or `None` if there are none.
 */
detail: string | null, };

/**
 * Page of the audit log, newest entry first.
 */
export type AuditPage = { 
/**
 * Matching entries, newest first.
 */
entries: Array<AuditEntry>, 
/**
 * `true` if the log has older matching entries.
 */
more: boolean, };

/**
 * Filter for the audit log. A member that is `None` does not restrict the entries.
 */
export type AuditRange = { 
/**
 * Maximum number of entries to return.
 */
limit: number, 
/**
 * Number below which the numbers of the returned entries must be, to request older entries. `None` starts with the
 * newest entry.
 */
before: number | null, 
/**
 * Name of the server that the returned entries must concern.
 */
server: string | null, 
/**
 * Kind that the returned entries must have, as in `kind`.
 */
kind: string | null, 
/**
 * Decision that the returned entries must have, as in `decision`.
 */
decision: string | null, 
/**
 * Start of the time range, in milliseconds since 1970, inclusive.
 */
since: number | null, 
/**
 * End of the time range, in milliseconds since 1970, exclusive.
 */
until: number | null, 
/**
 * Words to search for. An entry matches if it contains all of them, in any of its members.
 */
search: string | null, };

/**
 * The state of the seal at the end of the audit log.
 */
export type AuditSeal = { "state": "holds", 
/**
 * Number of the last entry that the seal covers.
 */
number: number, } | { "state": "none" } | { "state": "unchecked", 
/**
 * The reason why the key that verifies the seal is unavailable.
 */
cause: string, } | { "state": "broken" };

/**
 * Range of consecutive entries of the audit log.
 */
export type AuditSpan = { 
/**
 * Number of the first entry in the range.
 */
from: number, 
/**
 * Number of the last entry in the range.
 */
to: number, };

/**
 * Result of verifying the audit log.
 */
export type AuditVerdict = { 
/**
 * `true` if the verification found no problem.
 */
whole: boolean, 
/**
 * `true` if the log has no problem, and its seals prove that Drawbridge wrote all entries.
 */
proved: boolean, 
/**
 * Number of entries in the log.
 */
entries: number, 
/**
 * Number of the first entry in the log, or `None` if the log is empty.
 */
first: number | null, 
/**
 * Number of the last entry in the log, or `None` if the log is empty.
 */
last: number | null, 
/**
 * Number of the last entry that was deleted because of its age or the size of the log. `None` if no entry was
 * deleted.
 */
removed: number | null, 
/**
 * State of the seal, a signature that protects the end of the log against changes.
 */
seal: AuditSeal, 
/**
 * Problems that the verification found. The length of the list is limited, and `more` counts the remaining
 * problems.
 */
findings: Array<AuditFinding>, 
/**
 * Number of problems that `findings` does not list.
 */
more: number, 
/**
 * Ranges of entries for which there is no proof that Drawbridge wrote them, because they have no seal.
 */
unproved: Array<AuditSpan>, };

/**
 * Identifies a sign-in setting of a remote server.
 */
export type AuthField = "grant" | "issuer" | "client_id" | "client_auth" | "client_secret" | "private_key" | "algorithm" | "client_metadata_url" | "redirect_port" | "scopes" | "dpop" | "assertion" | "provider_issuer" | "provider_token_endpoint" | "provider_client_id" | "provider_client_auth" | "provider_client_secret" | "provider_private_key" | "provider_algorithm" | "provider_id_token";

/**
 * The identity provider of an enterprise. Drawbridge's page receives its serialized form.
 */
export type AuthIdentityProvider = { 
/**
 * Issuer identifier of the enterprise's identity provider.
 */
issuer: string, 
/**
 * Token exchange endpoint, or `None` to read it from the provider's metadata.
 */
tokenEndpoint: string | null, 
/**
 * Client identifier with which Drawbridge is registered at the identity provider.
 */
clientId: string, 
/**
 * Client secret for the identity provider, as a reference `${secret:NAME}`.
 */
clientSecret: string | null, 
/**
 * Client authentication method at the identity provider, as in `client_auth`.
 */
clientAuth: string | null, 
/**
 * Private key for `private_key_jwt`, as a reference `${secret:NAME}` to a key in PEM format.
 */
privateKey: string | null, 
/**
 * Signature algorithm of the private key for the identity provider, such as `ES256`.
 */
algorithm: string | null, 
/**
 * The user's ID token, as a reference `${secret:NAME}`, or `None` to sign in to the identity provider with the
 * browser.
 */
idToken: string | null, };

/**
 * Sign-in setting of a server, displayed in a consent request.
 */
export type AuthSetting = { 
/**
 * Name of the setting that the value belongs to.
 */
field: AuthField, 
/**
 * Value of the setting. For a secret, the name of the secret.
 */
value: string, 
/**
 * `true` if the setting is a secret, so that `value` is its name.
 */
secret: boolean, 
/**
 * Value parsed into its parts, if it is a URL.
 */
url: UrlParts | null, 
/**
 * `true` if the URL is on another domain than the configured issuer.
 */
isOnOtherDomain: boolean, };

/**
 * Sign-in settings of a server, which take precedence over discovered metadata. Settings in `mcp.json` that have no
 * member here are preserved by an update.
 */
export type AuthSettings = { 
/**
 * Client identifier registered at the authorization server.
 */
clientId: string | null, 
/**
 * Client secret. `None` in responses for a configured server. `None` in an update keeps the stored secret.
 */
clientSecret: string | null, 
/**
 * `true` if the client has a secret, which is stored in the system's keychain.
 */
hasSecret: boolean, 
/**
 * Issuer identifier of the only accepted authorization server, exactly as in its metadata. `None` accepts the one
 * that the server's metadata names.
 */
issuer: string | null, 
/**
 * Scopes to request. If empty, the scopes that the server requires are requested.
 */
scopes: Array<string>, 
/**
 * Port of the redirect URI `http://127.0.0.1:PORT/callback` with which the client is registered. `None` uses any
 * free port.
 */
redirectPort: number | null, 
/**
 * Names of other secrets that the settings reference, such as a private key. Their values are set by `set_secret`
 * and never returned. Ignored in an update.
 */
secretNames: Array<string>, 
/**
 * Further settings found in pasted text, which the page returns unchanged when it adds the server. `None` for a
 * configured server, whose settings are preserved.
 */
rest: AdvancedAuthSettings | null, };

/**
 * Authorization state of one server.
 */
export type Authorization = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Reason why the server does not support signing in: it is local, or its settings have an `Authorization` header.
 * `None` if the server supports it.
 */
unsupportedReason: string | null, 
/**
 * Account that is signed in, or `None` if there is none.
 */
account: Account | null, 
/**
 * Sign-in that is in progress, or `None` if there is none.
 */
inProgress: SignInProgress | null, 
/**
 * Reason why the last sign-in failed, with the suggested remedy, or `None` if it did not fail.
 */
failureMessage: string | null, 
/**
 * Stable identifier of the failure's cause, or `None` if the last sign-in did not fail.
 */
failure: SignInFailure | null, 
/**
 * Steps of the last sign-in, in order.
 */
steps: Array<SignInStep>, 
/**
 * Location where the tokens are stored, or `None` if there are no tokens.
 */
tokenStorage: TokenStorage | null, };

/**
 * An existing path that the sandbox hides from the server and that the server seems to need.
 */
export type BlockedPath = { 
/**
 * The path as the command or the server named it.
 */
path: string, 
/**
 * Origin of the path: the command or the server.
 */
namedBy: PathMention, 
/**
 * The folder to add to the sandbox so that the path becomes accessible, or the reason why none is proposed.
 */
proposal: FolderProposal, };

/**
 * The hash of an installed bundle, and the folder with its unpacked files.
 */
export type BundleFiles = { 
/**
 * SHA-256 of the bundle file, in hexadecimal.
 */
sha256: string, 
/**
 * Hash over all unpacked files of the bundle, in hexadecimal.
 */
tree: string, 
/**
 * Name of the folder with the unpacked files, below the folder of bundles.
 */
folder: string, 
/**
 * Name of the bundle's author in the manifest, empty if the manifest contains none, or `None` if it was not
 * recorded.
 */
author: string | null, };

/**
 * The signature block after the archive of a bundle, as far as it can be read. It is not verified, so no decision may
 * depend on it.
 */
export type BundleSignature = { "state": "absent" } | { "state": "claimed", 
/**
 * Common name in the signer's certificate, safe to print.
 */
name: string, } | { "state": "unreadable" };

/**
 * Stable identifier of the reason why a call has no result. Drawbridge's page has a message and suggested actions for
 * each.
 */
export type CallFailureCode = "not_found" | "not_ready" | "bad_request" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "internal";

/**
 * Kind of a call, which determines the MCP method.
 */
export type CallKind = "tool" | "prompt" | "resource";

/**
 * Progress of a call, as reported by its server.
 */
export type CallProgress = { 
/**
 * Amount of work done so far, in the server's unit.
 */
progress: number, 
/**
 * Total amount of work, or `None` if the server does not report one.
 */
total: number | null, 
/**
 * Description of the call's current step, written by the server, or `None` if it sent none.
 */
message: string | null, };

/**
 * Request that refers to a call by its identifier.
 */
export type CallRef = { 
/**
 * Identifier of the call, chosen by its caller.
 */
call: string, };

/**
 * Cause for which a call was refused.
 */
export type CallRefusal = { "is": "denied_by_user", 
/**
 * Reason that the user gave for the denial, or `None` if there is none.
 */
reason: string | null, } | { "is": "denied_by_rule", 
/**
 * Stable name of the rule or preset, such as `rule 3`.
 */
rule: string, } | { "is": "not_offered" } | { "is": "changed" } | { "is": "not_audited" } | { "is": "input_refused" } | { "is": "result_withheld" } | { "is": "other" };

/**
 * State of a call, from the consent request to its outcome.
 */
export type CallState = "awaiting_approval" | "running" | "awaiting_input" | "done" | "refused" | "cancelled" | "failed";

/**
 * Task that a server runs for a call (`tasks` in MCP). All fields contain values that the server reported.
 */
export type CallTask = { 
/**
 * Identifier of the task, assigned by the server.
 */
id: string, 
/**
 * Status of the task, as last reported by the server.
 */
status: TaskStatus, 
/**
 * Description of the task's status, written by the server, or `None` if it sent none.
 */
message: string | null, 
/**
 * Time at which the server created the task, in ISO 8601.
 */
createdAt: string, 
/**
 * Time at which the server last changed the task, in ISO 8601.
 */
updatedAt: string, };

/**
 * Request to call a tool.
 */
export type CallTool = { 
/**
 * Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server lists it.
 */
tool: string, 
/**
 * Arguments of the tool as a JSON object.
 */
arguments: JsonValue, 
/**
 * Identifier of the conversation that the call belongs to, or `None` outside of conversations.
 */
conversation: string | null, 
/**
 * Identifier of an earlier call that the user repeats with this one, or `None`. If that call can be repeated and
 * the request is the same, it is sent without another consent request.
 */
repeats?: string, };

/**
 * Times until which the lists are fresh, in milliseconds since 1970.
 *
 * `None` if the server does not specify a time. The list is then requested again only when the server reports a
 * change.
 */
export type CatalogExpiry = { 
/**
 * Time until which the list of tools is fresh, in milliseconds since 1970, or `None` if the server specifies none.
 */
tools: number | null, 
/**
 * Time until which the list of prompts is fresh, in milliseconds since 1970, or `None` if the server specifies
 * none.
 */
prompts: number | null, 
/**
 * Time until which the list of resources is fresh, in milliseconds since 1970, or `None` if the server specifies
 * none.
 */
resources: number | null, 
/**
 * Time until which the list of resource templates is fresh, in milliseconds since 1970, or `None` if the server
 * specifies none.
 */
templates: number | null, };

/**
 * Limits from Drawbridge's settings: how much of a conversation a model receives, and how many rounds of tool calls it
 * makes before the user has to confirm.
 */
export type ChatBounds = { 
/**
 * Maximum number of bytes of a tool result's text that a model receives. The model can read the rest with a
 * built-in tool.
 */
resultBytes: number, 
/**
 * Number of consecutive rounds of tool calls after which the model stops until the user lets it continue.
 */
rounds: number, 
/**
 * Share of the model's context size in percent. If the definitions of all tools exceed it, the model has to search
 * for tools instead of receiving all of them.
 */
toolsPercent: number, };

/**
 * Identifier of a check, named after the item that it examines.
 */
export type CheckId = "settings" | "keychain" | "search_path" | "node" | "python" | "uv" | "docker" | "podman" | "dotnet" | "programs" | "sandbox" | "proxy" | "certificates" | "web_view" | "data_folder" | "config_folder" | "cache_folder" | "clock";

/**
 * Request to check what a local server's command needs, before it is saved.
 */
export type CheckServerCommand = { 
/**
 * Name of the program, or its path. `None` to check only the working folder.
 */
command: string | null, 
/**
 * `PATH` that is configured for the command, or `None` if there is none.
 */
path: string | null, 
/**
 * Working folder of the command, or `None` for the default one.
 */
cwd: string | null, };

/**
 * Result of checking this computer, with a report that contains no private data.
 */
export type CheckedComputer = { 
/**
 * Results of the checks in a fixed order, as English text.
 */
findings: Array<Finding>, 
/**
 * Report of the findings as Markdown without private data, which the user can paste into a bug report.
 */
report: string, };

/**
 * An option of a form field with choices.
 */
export type ChoiceOption = { 
/**
 * Value that is sent if the option is selected.
 */
value: string, 
/**
 * Label that the form shows.
 */
title: string, };

/**
 * Condition on a server's claims about a tool. Such a condition can only make decisions stricter.
 */
export type ClaimRule = { 
/**
 * Required value of `readOnlyHint`. A tool without the hint counts as `false`. `None` accepts both values.
 */
readOnly: boolean | null, 
/**
 * Required value of `destructiveHint`. A tool without the hint counts as `true`. `None` accepts both values.
 */
destructive: boolean | null, 
/**
 * Required value of `idempotentHint`. A tool without the hint counts as `false`. `None` accepts both values.
 */
idempotent: boolean | null, 
/**
 * Required value of `openWorldHint`. A tool without the hint counts as `true`. `None` accepts both values.
 */
openWorld: boolean | null, };

/**
 * Origin of Drawbridge's client identifier at an authorization server.
 */
export type ClientIdentity = "configured" | "metadata_document" | "registered" | "entered";

/**
 * Action of Drawbridge when the user closes its window while servers run. Without running servers, Drawbridge quits.
 */
export type CloseAction = "ask" | "background" | "quit";

/**
 * Request for completions of an argument.
 */
export type CompleteArgument = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Prompt or resource template that contains the argument.
 */
of: CompletionReference, 
/**
 * Name of the argument, as the server lists it.
 */
argument: string, 
/**
 * Text that the user has typed so far.
 */
value: string, 
/**
 * Values of other arguments that the user has already filled in, by name.
 */
context: { [key in string]: string }, };

/**
 * Redirect URL that the user copied from the browser at the end of a sign-in.
 */
export type CompleteSignIn = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Whole redirect URL, including its query.
 */
url: string, };

/**
 * Values that a server suggests for an argument.
 */
export type Completion = { 
/**
 * Suggested values, at most 100.
 */
values: Array<string>, 
/**
 * Total number of suggestions, if known.
 */
total: number | null, 
/**
 * `true` if the server has more suggestions than `values` contains.
 */
hasMore: boolean, };

/**
 * Prompt or resource template whose argument is to be completed.
 */
export type CompletionReference = { "type": "prompt", 
/**
 * Name of the prompt, as its server lists it.
 */
name: string, } | { "type": "template", 
/**
 * URI template as the server lists it.
 */
uri: string, };

/**
 * A problem with a settings file or pasted text.
 */
export type ConfigProblem = { 
/**
 * Path of the settings file, or `None` for pasted text.
 */
file: string | null, 
/**
 * Number of the line with the problem, from 1, or `None` if it is unknown.
 */
line: number | null, 
/**
 * Number of the column with the problem, from 1, or `None` if it is unknown.
 */
column: number | null, 
/**
 * Message that describes the problem and the expected content.
 */
message: string, };

/**
 * User's decision on a consent request.
 */
export type ConsentDecision = { "action": "allow", 
/**
 * Scope of the approval: only this act, or also later acts of the session, of the conversation or at any time.
 */
scope: ApprovalScope, 
/**
 * Time after which the approval expires, in milliseconds, or `None` if only `scope` limits it.
 */
lasts?: number, } | { "action": "allow_read_only", 
/**
 * Names of the tools, as listed in the request. Contains the called tool.
 */
tools: Array<string>, } | { "action": "submit", 
/**
 * Content of the form as a JSON object.
 */
content: JsonValue, } | { "action": "share", 
/**
 * Absolute paths of the folders. May be empty to disclose none.
 */
folders: Array<string>, } | { "action": "identify", 
/**
 * Client that is registered at the authorization server.
 */
client: EnteredClient, } | { "action": "write_response" } | { "action": "rerun_model" } | { "action": "return_to_request" } | { "action": "stop_model" } | { "action": "deny" } | { "action": "deny_because", 
/**
 * Reason for the denial, as text for the caller.
 */
reason: string, } | { "action": "cancel" };

/**
 * A pending request for the user's consent to an act.
 */
export type ConsentRequest = { 
/**
 * Identifier of the consent request, unique while Drawbridge runs.
 */
id: string, 
/**
 * Hash of the exact payload. An approval is bound to the hash, which changes with any change of the payload.
 */
hash: string, 
/**
 * Name of the server that the payload is from or for, as in the settings.
 */
server: string, 
/**
 * Transport of the server: `stdio` or `http`.
 */
transport: string, 
/**
 * Command of the server on one line, or its URL.
 */
commandLine: string, 
/**
 * Time of the request, in milliseconds since 1970.
 */
askedAt: number, 
/**
 * Origin of the request: an action of the user, a model, a call, or the server.
 */
origin: ConsentRequestOrigin, 
/**
 * Number of the round of input requests in which the server sent this request during a call, from 1. Several
 * requests of one round have the same number. `None` if no call led to the request.
 */
round: number | null, 
/**
 * Subject of the request, with its payload.
 */
body: ConsentRequestBody, 
/**
 * Scopes of an approval among which the user may choose.
 */
scopes: Array<ApprovalScope>, 
/**
 * Stable identifier of the reason why consent is required.
 */
reason: string, 
/**
 * Category of `reason` if no rule or grant can override it, so that each such act requires its own decision.
 * `None` if a rule or grant can allow such acts without consent.
 */
stricterReason?: StricterReason, 
/**
 * Review state of the tool, prompt or result, and warnings about it.
 */
marks: ReviewMarks, 
/**
 * Identifier of the call that waits for the decision, or `None` if no call depends on it.
 */
call?: string, };

/**
 * Subject of a consent request, with the payload that an approval allows to send.
 */
export type ConsentRequestBody = { "kind": "start_server", 
/**
 * Program, as written in the settings.
 */
command: string, 
/**
 * Path of the executable on this computer, or `None` if it was not found.
 */
resolved: string | null, 
/**
 * Arguments as passed to the program.
 */
args: Array<string>, 
/**
 * Environment variables that are set for the server.
 */
env: Array<[string, string]>, 
/**
 * Folder in which the server starts: the configured one, or else the home of its sandbox or of the user.
 */
cwd: string, 
/**
 * Earlier approval that doesn't cover this start, or `None` if no approval of the command is stored.
 */
earlierApproval: EarlierApproval | null, 
/**
 * Sandbox with all files and hosts that the server could access, or `None` without a sandbox.
 */
sandbox?: SandboxPlan, 
/**
 * Files that the approval is bound to, starting with the program.
 */
files?: Array<LaunchFile>, 
/**
 * Other servers that could modify one of the files, because their sandbox lets them write to it.
 */
writers?: Array<LaunchFileWriteAccess>, 
/**
 * Package that the command would load, if the program is a launcher such as `npx`.
 */
package?: LoadedPackage, } | { "kind": "connect_server", 
/**
 * URL of the server, parsed into its parts.
 */
url: UrlParts, 
/**
 * Headers of each request, without their values.
 */
headers: Array<HttpHeader>, 
/**
 * HTTP transport that the user selected, or `None` if it is detected.
 */
transportKind: HttpKind | null, 
/**
 * `true` if the connection is unencrypted and the server is not on this computer.
 */
unencrypted: boolean, 
/**
 * Sign-in settings that the user configured for the server.
 */
auth: Array<AuthSetting>, 
/**
 * `true` if the settings allow Drawbridge to sign in without a further consent request.
 */
unattended: boolean, 
/**
 * Earlier approval that doesn't cover this connection, or `None` if no approval of the address is stored.
 */
earlierApproval: EarlierApproval | null, } | { "kind": "tool", 
/**
 * Name of the tool, as its server or app lists it.
 */
tool: string, 
/**
 * Name, on the server, of the tool whose shown MCP app provides the called tool and receives the call. `None`
 * if the server itself does both.
 */
app?: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * Claims of the server about the tool's effects.
 */
claims: ToolClaims, 
/**
 * JSON Schema of the arguments, for an editor.
 */
inputSchema: JsonValue, 
/**
 * Arguments of the tool call that would be sent to the server.
 */
arguments: JsonValue, 
/**
 * Size of the payload (the tool call that would be sent) in bytes.
 */
bytes: number, 
/**
 * `true` if the tool's definition or its server changed after the user reviewed the tool or allowed its calls,
 * or if the definition changed while the request was pending.
 */
changedSinceAllowed: boolean, 
/**
 * Tools that can be allowed together because their server declares that they only read, including this one.
 */
readOnlyTools?: Array<string>, 
/**
 * Whole definition as JSON, or `None` if the user has reviewed it. Approving the call also records a review of
 * the definition.
 */
definition?: string, 
/**
 * Whole definition as JSON if the user has reviewed it and it is unchanged, otherwise `None`.
 */
reviewedDefinition?: string, 
/**
 * Hash of the tool's whole definition alone, which a review refers to. Grants are bound to another hash,
 * `grant_hash`, which also covers the configuration of the server.
 */
definitionHash?: string, } | { "kind": "result", 
/**
 * Name of the called tool.
 */
tool: string, 
/**
 * Name, on the server, of the tool whose shown MCP app provides the called tool. `None` if the server itself
 * provides it.
 */
app?: string, 
/**
 * Content that the model would read.
 */
content: Array<Content>, 
/**
 * `true` if the result is reported to the model as an error.
 */
isError: boolean, } | { "kind": "read", 
/**
 * Kind of the request: for a prompt or for a resource.
 */
callKind: CallKind, 
/**
 * Name of the prompt, or URI of the resource.
 */
name: string, 
/**
 * Arguments of the prompt as a JSON object.
 */
arguments: JsonValue, } | { "kind": "sampling", 
/**
 * Step of the sampling request that the user decides on.
 */
step: SamplingStep, 
/**
 * Request, as a model would receive it.
 */
request: SamplingRequest, 
/**
 * Response that would be sent to the server, or `None` until a model or the user has written one.
 */
response: SamplingResponse | null, 
/**
 * Model that generates the response after the approval, or `None` if the user writes it.
 */
model: SamplingModel | null, 
/**
 * Maximum number of tokens that the server requested. A limit may reduce the maximum in `request`.
 */
requestedTokens: number, 
/**
 * Content that the provider's API can't represent, and how each kind is converted.
 */
losses: Array<SamplingLoss>, 
/**
 * `true` if the user can let the model respond again, because the same request was already approved and sent
 * to it.
 */
canRerun: boolean, 
/**
 * Progress of the model that generates the response.
 */
run: SamplingRunState, } | { "kind": "form", 
/**
 * Message of the server to the user. Untrusted text.
 */
message: string, 
/**
 * Fields that the user fills in.
 */
fields: Array<FormField>, 
/**
 * Reason why the form can't be displayed and can only be declined, or `None` if it can be displayed.
 */
unsupported: string | null, } | { "kind": "url", 
/**
 * Message of the server to the user. Untrusted text.
 */
message: string, 
/**
 * URL that the server wants to open, parsed into its parts.
 */
url: UrlParts, } | { "kind": "roots" } | { "kind": "sign_in", 
/**
 * URL of the server, parsed into its parts.
 */
url: UrlParts, 
/**
 * Issuer identifier of the authorization server, exactly as in its metadata.
 */
issuer: string, 
/**
 * Issuer identifier, parsed into the parts of a URL.
 */
issuerUrl: UrlParts, 
/**
 * Resource that the token would be valid for.
 */
resource: string, 
/**
 * All scopes to request. If empty, the authorization server selects them.
 */
scopes: Array<string>, 
/**
 * Scopes in `scopes` that the current token already has. Empty at the first sign-in.
 */
heldScopes: Array<string>, 
/**
 * Origin of the client identifier that Drawbridge uses.
 */
client: ClientIdentity, 
/**
 * Client identifier that Drawbridge sends to the authorization server.
 */
clientId: string, 
/**
 * Endpoints that would receive credentials, authorization codes or tokens.
 */
endpoints: Array<SignInEndpoint>, 
/**
 * Redirect URI on this computer, or `None` if no browser is opened.
 */
redirectUri: string | null, 
/**
 * URL of the authorization request, parsed into its parts, without the single-use parameters. `None` if no
 * browser is opened because Drawbridge obtains the token directly.
 */
authorizationUrl: UrlParts | null, 
/**
 * `true` if the authorization endpoint is on another domain than the issuer.
 */
isPageOnOtherDomain: boolean, 
/**
 * Reason why the sign-in was started.
 */
reason: SignInReason, } | { "kind": "client_id", 
/**
 * URL of the server, parsed into its parts.
 */
url: UrlParts, 
/**
 * Issuer of the authorization server, exactly as in its metadata.
 */
issuer: string, 
/**
 * Issuer identifier, parsed into the parts of a URL.
 */
issuerUrl: UrlParts, 
/**
 * Redirect URI on this computer, to be registered for the client.
 */
redirectUri: string, };

/**
 * Change of the payload of a consent request.
 */
export type ConsentRequestEdit = { "change": "arguments", 
/**
 * New arguments as a JSON object.
 */
arguments: JsonValue, } | { "change": "request", 
/**
 * New sampling request for the model.
 */
request: SamplingRequest, } | { "change": "response", 
/**
 * New sampling response for the server.
 */
response: SamplingResponse, } | { "change": "model", 
/**
 * Model that responds to the sampling request.
 */
model: ModelRef, };

/**
 * Initiator of a consent request: the user, a model, an app, a call, or the server.
 */
export type ConsentRequestOrigin = { "by": "user", 
/**
 * Identifier of the conversation that the action belongs to, or `None` outside of conversations.
 */
conversation: string | null, } | { "by": "model", 
/**
 * Identifier of the conversation in the history.
 */
conversation: string, 
/**
 * Names of other servers whose content the model has read in the conversation and that are not trusted.
 */
untrustedServers: Array<string>, 
/**
 * Content of the called server that the model has already read in the conversation, and because of which the
 * data flow settings of the server require consent for this call.
 */
sameServerReadings?: Array<Reading>, } | { "by": "app", 
/**
 * Identifier of the conversation that shows the MCP app, or `None` outside of conversations.
 */
conversation: string | null, 
/**
 * Name of the tool whose result the MCP app displays.
 */
tool: string, 
/**
 * Set if the MCP app's page may load content of other hosts or contact them.
 */
reachesOtherHosts: boolean, } | { "by": "call", 
/**
 * Identifier of the call, which its caller chose.
 */
call: string, 
/**
 * Kind of the call: a tool, a prompt or a resource.
 */
kind: CallKind, 
/**
 * Name of the tool or prompt, or URI of the resource.
 */
name: string, 
/**
 * Identifier of the conversation that the call belongs to, or `None` outside of conversations.
 */
conversation: string | null, } | { "by": "server" } | { "by": "ended", 
/**
 * Reason why the server exited.
 */
cause: string, };

/**
 * Outcome of a consent request that left the queue.
 */
export type ConsentRequestOutcome = "allowed" | "denied" | "cancelled" | "withdrawn";

/**
 * Rule, grant or preset that was considered for a decision.
 */
export type ConsideredRule = { 
/**
 * Rule, grant or preset that was considered.
 */
by: DecisionSource, 
/**
 * Effect of the rule, grant or preset.
 */
effect: RuleEffect, 
/**
 * `fits` if it applies, or else the first condition that does not hold: `other-server`, `other-direction`,
 * `other-tool`, `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
 * `asks-each-time`, `over-budget` or `after-untrusted`.
 */
fit: string, 
/**
 * Index of the argument condition that does not hold, counted from 0, if `fit` is `other-argument`. Otherwise
 * `None`.
 */
argument: number | null, 
/**
 * Evaluation of each argument condition.
 */
arguments: Array<ArgumentJudgement>, };

/**
 * Content block in a message or a result.
 */
export type Content = { "type": "text", 
/**
 * Text of the block.
 */
text: string, } | { "type": "image", 
/**
 * Bytes of the image, in base64.
 */
data: string, 
/**
 * Media type of the image, as claimed by the server.
 */
mimeType: string, } | { "type": "audio", 
/**
 * Bytes of the recording, in base64.
 */
data: string, 
/**
 * Media type of the recording, as claimed by the server.
 */
mimeType: string, } | { "type": "resource_link", 
/**
 * URI of the linked resource.
 */
uri: string, 
/**
 * Name of the resource, as its server lists it.
 */
name: string, 
/**
 * Title of the resource for display, if the server gives one.
 */
title: string | null, 
/**
 * Description of the resource, if the server gives one.
 */
description: string | null, 
/**
 * Media type of the resource, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Size of the resource in bytes, as claimed by the server.
 */
size: number | null, } | { "type": "resource", 
/**
 * Contents of the embedded resource.
 */
contents: ResourceContents, } | { "type": "unknown", 
/**
 * The unmodified block as JSON.
 */
json: JsonValue, };

/**
 * Encryption state of stored content.
 */
export type ContentAtRest = { "is": "encrypted" } | { "is": "plain" } | { "is": "unreadable", 
/**
 * Cause and suggested remedy, for the user.
 */
cause: string, };

/**
 * Encryption of stored conversations and audit log payloads.
 */
export type ContentProtection = { 
/**
 * Encryption state of the conversations' contents.
 */
conversations: ContentAtRest, 
/**
 * Encryption state of the payloads that the audit log stores.
 */
decisions: ContentAtRest, };

/**
 * Conversation with the items of its selected branch.
 */
export type Conversation = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
id: string, 
/**
 * Title of the conversation for display, which the user can change.
 */
title: string, 
/**
 * Time of the conversation's last change, in milliseconds since 1970.
 */
updatedAt: number, 
/**
 * Items of the selected branch up to its last one, in order. Their `siblings` refer to other branches. Earlier
 * items may be missing, see `has_more`.
 */
items: Array<ConversationItem>, 
/**
 * Names of the servers whose content the conversation contains.
 */
sources: Array<string>, 
/**
 * Settings that the user made for the conversation.
 */
settings: ConversationSettings, 
/**
 * `true` if a model is replying in the conversation.
 */
answering: boolean, 
/**
 * `true` if the branch has items that precede `items`.
 */
hasMore: boolean, 
/**
 * Unsent text in the message field of the conversation.
 */
draft: string, };

/**
 * Token usage and cost of a conversation, over all branches.
 */
export type ConversationCost = { 
/**
 * Number of tokens of all replies, as reported by the providers.
 */
usage: TokenUsage, 
/**
 * Cost of all replies, by currency.
 */
costs: Array<Cost>, 
/**
 * Number of replies whose cost is unknown or incomplete, because the price is unknown or the reply was stopped or
 * failed.
 */
unpriced: number, 
/**
 * Number of tokens in the latest request and its reply in the selected branch, or `None` if unknown.
 */
contextUsed: number | null, 
/**
 * Context size of the conversation's model in tokens, or `None` if unknown.
 */
context: number | null, };

/**
 * Item of a conversation, such as a message or a reply.
 */
export type ConversationItem = { 
/**
 * Identifier of the item, unique in its conversation.
 */
id: string, 
/**
 * Identifier of the preceding item, or `None` if no item precedes it.
 */
parent?: string, 
/**
 * Time at which the item was created, in milliseconds since 1970.
 */
at: number, 
/**
 * State of the item, either streaming or interrupted, or `None` if it is complete.
 */
state?: ItemState, 
/**
 * Value of `seq` in the next `reply_delta` event of the item, or `None` if the item does not stream.
 */
seq?: number, 
/**
 * Identifiers of all items with the same parent, including this one, in the order of creation. `None` if this item
 * is the only one.
 */
siblings?: Array<string>, 
/**
 * Content of the item, which depends on its kind.
 */
body: ItemBody, 
/**
 * Large contents that are omitted from `body`, where empty strings replace them. `None` if nothing is omitted.
 */
omitted?: Array<OmittedContent>, };

/**
 * Request that refers to a conversation by its identifier.
 */
export type ConversationRef = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, };

/**
 * The user's settings for one conversation. The serialized form is used by the page. The history stores the form of
 * `to_stored`.
 */
export type ConversationSettings = { 
/**
 * Model that replies, or `None` if none was chosen yet.
 */
model: ModelRef | null, 
/**
 * System prompt, written by the user.
 */
systemPrompt: string, 
/**
 * Servers whose tools the model may use, in the order in which they are offered.
 */
servers: Array<OfferedServer>, 
/**
 * Set to inform the model of the folders (roots) that are shared with these servers.
 */
shareRoots: boolean, 
/**
 * Set to request reasoning before the reply, if the model supports it.
 */
thinking: boolean, 
/**
 * Set to `true` to let the model find tools by search, and to `false` to send all tool definitions to it. With
 * `None`, it searches only if the definitions would take a large part of its context.
 */
toolSearch?: boolean, 
/**
 * Sampling temperature, from 0 to `MAX_TEMPERATURE`, or `None` for the default of the
 * provider. Lowered to the maximum of the provider that replies.
 */
temperature?: number, 
/**
 * Maximum number of tokens of a reply, from 1 to `MAX_REPLY_TOKENS`, or `None` for the default of the provider.
 * Lowered to the limit of the model that replies, if known.
 */
maxTokens?: number, };

/**
 * Conversation without its items, as displayed in the list of conversations.
 */
export type ConversationSummary = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
id: string, 
/**
 * Title of the conversation for display, which the user can change.
 */
title: string, 
/**
 * Time of the conversation's last change, in milliseconds since 1970.
 */
updatedAt: number, };

/**
 * Tool that a conversation's model may be able to use.
 */
export type ConversationTool = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool. Empty if the server is not running.
 */
tool: string, 
/**
 * Name, on the server, of the tool whose shown MCP app provides this tool. `None` if the server itself provides
 * it.
 */
app?: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, 
/**
 * Estimated number of tokens of the tool's definition.
 */
tokens: number, 
/**
 * Availability of the tool, with the reason if the model may not use it.
 */
state: ToolState, };

/**
 * Tools of a conversation's servers, and the choice whether its model receives all of them or searches for them.
 */
export type ConversationTools = { 
/**
 * Tools of the conversation's servers, in the order in which the model receives them.
 */
tools: Array<ConversationTool>, 
/**
 * Estimated number of tokens in the definitions of all usable tools, at four bytes per token.
 */
tokens: number, 
/**
 * Number of tokens of tool definitions above which the model has to search for tools instead of receiving all of
 * them.
 */
threshold: number, 
/**
 * `true` if the model receives a search tool instead of all tools.
 */
usesToolSearch: boolean, 
/**
 * Instructions from the conversation's servers for the model.
 */
instructions: Array<ServerInstructions>, };

/**
 * Conversion that the user chose for one kind of content.
 */
export type ConversionChoice = { 
/**
 * Kind of the content, as in `feature`.
 */
feature: string, 
/**
 * Conversion, as in `conversion`.
 */
conversion: string, };

/**
 * Cost of one or more replies in one currency.
 */
export type Cost = { 
/**
 * Amount in whole units of the currency, such as dollars.
 */
amount: number, 
/**
 * Code of the currency, such as `USD`.
 */
currency: string, };

/**
 * Settings of one server that determine which of its content makes later calls require consent, and which of its
 * results the user reviews.
 */
export type DataFlow = { 
/**
 * Content of the server after which a model's call of the same server requires consent.
 */
sameServer: SameServerFlow, 
/**
 * Results that the user reviews before a model reads them.
 */
review: ResultReview, 
/**
 * Review settings of individual tools that override `review`, by tool name. At most `MAX_TOOL_SETTINGS` entries.
 */
tools: { [key in string]: ResultReview }, };

/**
 * Decision of the user on a request of a shown MCP app.
 */
export type DecideAppRequest = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Number of the app's request that the user decides on.
 */
request: number, 
/**
 * User's decision on the request.
 */
answer: AppAnswer, };

/**
 * Request that submits the user's decision on a consent request, bound to the payload that was shown.
 */
export type DecideConsentRequest = { 
/**
 * Identifier of the consent request, unique while Drawbridge runs.
 */
id: string, 
/**
 * Hash of the payload that was shown to the user.
 */
hash: string, 
/**
 * Decision on the consent request.
 */
answer: ConsentDecision, };

/**
 * Source of a decision by the policy.
 */
export type DecisionSource = { "kind": "built_in" } | { "kind": "grant", 
/**
 * Identifier of the grant, by which it is revoked.
 */
id: string, } | { "kind": "rule", 
/**
 * Source and number of the rule.
 */
rule: RuleRef, } | { "kind": "preset" } | { "kind": "managed_preset" } | { "kind": "repeated_approval" };

/**
 * Request to set the default model of new conversations.
 */
export type DefaultModel = { 
/**
 * Default model, or `None` to remove the default.
 */
model: ModelRef | null, };

/**
 * A difference between the reviewed definition and the current one, at one path.
 */
export type DefinitionChange = { 
/**
 * Path of the difference: keys, and positions of list items starting at 1.
 */
path: Array<string>, 
/**
 * Value before the change, or `None` if there was none. Strings are without quotes, other values are JSON. Never
 * truncated.
 */
before: string | null, 
/**
 * Value after the change, or `None` if it was removed.
 */
after: string | null, };

/**
 * Differences between the reviewed definition and the current one.
 */
export type DefinitionDiff = { 
/**
 * Changes of the definition, at most `MAX_DEFINITION_CHANGES`.
 */
changes: Array<DefinitionChange>, 
/**
 * Number of changes beyond `MAX_DEFINITION_CHANGES`.
 */
more: number, 
/**
 * Set if the server changed since the review: its command, program or address, or the issuer of its tokens.
 */
serverChanged: boolean, 
/**
 * Set if only the beginning of the reviewed definition is stored, because it is too large.
 */
isTruncated: boolean, 
/**
 * Complete reviewed definition, if it is stored. The current one is in the catalog.
 */
before: string | null, };

/**
 * Request to deny the consent requests of a server.
 */
export type DenyAllConsentRequests = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * `true` to deny later consent requests of the server automatically too.
 */
mute: boolean, };

/**
 * Tool call that an app displays.
 */
export type DisplayedCall = { "type": "item", 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the item of the call in the conversation.
 */
item: string, } | { "type": "streamed", 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the item of the reply in the conversation.
 */
reply: string, 
/**
 * Identifier of the tool use in the reply.
 */
toolUse: string, } | { "type": "result", 
/**
 * Result of the call.
 */
result: ToolResult, };

/**
 * Request for a dry run, which returns the decision that the policy would make on an act.
 */
export type DryRun = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Act for which the policy is evaluated.
 */
act: DryRunAct, };

/**
 * An action for which a dry run returns the decision of the policy.
 */
export type DryRunAct = { "kind": "tool", 
/**
 * Name of the tool.
 */
tool: string, 
/**
 * Arguments with which the tool would be called.
 */
arguments: JsonValue, 
/**
 * Conversation that the call belongs to, if any.
 */
conversation: string | null, 
/**
 * Set for a call by a model that has read untrusted content.
 */
afterUntrusted: boolean, } | { "kind": "read" } | { "kind": "start" } | { "kind": "sampling" } | { "kind": "form" } | { "kind": "url" } | { "kind": "roots" } | { "kind": "sign_in" };

/**
 * Result of a dry run: the decision on an act, with its explanation.
 */
export type DryRunResult = { 
/**
 * Effect of the decision: allow, ask or deny.
 */
effect: RuleEffect, 
/**
 * Stable identifier of the reason for the decision.
 */
reason: string, 
/**
 * Rule, grant or preset that decided.
 */
by: DecisionSource, 
/**
 * Durations that the user could choose for an approval, if consent is required.
 */
scopes: Array<ApprovalScope>, 
/**
 * All rules, grants and presets that were considered, in order of precedence.
 */
considered: Array<ConsideredRule>, 
/**
 * `true` if the server is not running, so that its command and definitions were assumed to be unchanged.
 */
assumedUnchanged: boolean, 
/**
 * Review state of the called tool, from the server's current or last session. `None` for acts other than tool
 * calls.
 */
reviewState: ReviewState | null, 
/**
 * `true` if the settings of the server exclude the tool from those for models, so that calls by models are
 * refused. If the dry run is about a call after untrusted content, which only a model can make, `effect` is this
 * refusal. Otherwise `effect` is the decision about a call by the user.
 */
isToolTurnedOff: boolean, };

/**
 * Texts of an earlier approval and of the requested one. Both texts name headers and environment variables without
 * values, and omit the sandbox and secrets in URLs. If the texts are equal, something changed that they don't name.
 */
export type EarlierApproval = { 
/**
 * Text of the command or address that was approved earlier.
 */
approved: string, 
/**
 * Text of the command or address that this request is for.
 */
requested: string, };

/**
 * Request to change the payload of a consent request.
 */
export type EditConsentRequest = { 
/**
 * Identifier of the consent request, unique while Drawbridge runs.
 */
id: string, 
/**
 * Change to apply to the payload of the consent request.
 */
edit: ConsentRequestEdit, };

/**
 * Request to replace a message in a new branch. The original message and the items after it are preserved.
 */
export type EditMessage = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Identifier of the original message.
 */
item: string, 
/**
 * Text of the new message.
 */
text: string, 
/**
 * Files and resources that the user attached to the new message.
 */
attachments: Array<MessageAttachment>, 
/**
 * Model that replies, or `None` to use the conversation's model.
 */
model?: ModelRef, };

/**
 * Empty request or response.
 */
export type EmptyObject = Record<symbol, never>;

/**
 * Purpose of an endpoint in a sign-in.
 */
export type EndpointUse = "token" | "provider" | "registration" | "revocation";

/**
 * OAuth client that the user enters during a sign-in.
 */
export type EnteredClient = { 
/**
 * Client identifier at the authorization server.
 */
clientId: string, 
/**
 * Client secret, or `None` for a public client.
 */
clientSecret: string | null, };

/**
 * Kind of failure, by which Drawbridge's page selects the action that it offers to the user.
 */
export type ErrorCode = "bad_request" | "not_found" | "bad_name" | "config" | "not_ready" | "no_model" | "sign_in_needed" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "stale" | "invalid" | "system" | "internal";

/**
 * Change of the state that Drawbridge's page displays.
 */
export type Event = { "type": "server_changed", 
/**
 * State of the server after the change.
 */
server: Server, } | { "type": "server_removed", 
/**
 * Name of the removed server.
 */
name: string, } | { "type": "catalog_changed", 
/**
 * Name of the server in the settings.
 */
server: string, } | { "type": "resource_updated", 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI that identifies the resource on its server.
 */
uri: string, } | { "type": "consent_request_changed", 
/**
 * Consent request after the change.
 */
consentRequest: ConsentRequest, } | { "type": "consent_request_closed", 
/**
 * Identifier of the consent request, unique while Drawbridge runs.
 */
id: string, 
/**
 * Outcome with which the consent request left the queue.
 */
outcome: ConsentRequestOutcome, } | { "type": "sampling_text", 
/**
 * Identifier of the consent request, unique while Drawbridge runs.
 */
id: string, 
/**
 * Text to append to the text of the consent request. Empty while the model reasons without writing a response.
 */
text: string, } | { "type": "sampling_changed", 
/**
 * Name of the server in the settings.
 */
server: string, } | { "type": "call_changed", 
/**
 * State of the call after the change.
 */
call: ServerCall, } | { "type": "authorization_changed", 
/**
 * Name of the server in the settings.
 */
server: string, } | { "type": "activity_appended", 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Number of the latest entry in the server's activity log.
 */
last: number, } | { "type": "conversations_changed", 
/**
 * All conversations after the change.
 */
conversations: Array<ConversationSummary>, 
/**
 * Identifier of the conversation whose items changed, or `None` if only the list changed.
 */
changed: string | null, } | { "type": "reply_delta", 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Identifier of the reply's item.
 */
item: string, 
/**
 * Number of this delta, counted from 0 for each reply.
 */
seq: number, 
/**
 * Content to append to the reply.
 */
append: Array<ReplyAppend>, } | { "type": "item_changed", 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Conversation item after the change.
 */
item: ConversationItem, 
/**
 * `true` if a model is replying in the conversation after the change.
 */
answering: boolean, } | { "type": "app_view_changed", 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Change of the shown MCP app. All texts in it are from the app, and untrusted.
 */
change: AppViewChange, } | { "type": "audit_changed" } | { "type": "models_changed" } | { "type": "settings_changed", 
/**
 * All settings after the change.
 */
settings: Settings, } | { "type": "rules_changed" } | { "type": "config_problem", 
/**
 * Problem of the settings file, or `None` if it is valid again.
 */
problem: ConfigProblem | null, };

/**
 * Batch of consecutive events. If `first` does not follow the last event of the previous batch, events are missing,
 * and the page reads the snapshot again.
 */
export type Events = { 
/**
 * Number of the first event. Each further event has the next number.
 */
first: number, 
/**
 * Events of the batch, in order.
 */
events: Array<Event>, };

/**
 * Excerpt of a text, with the matches of a search.
 */
export type Excerpt = { 
/**
 * Plain text of the excerpt, without markup for the matches.
 */
text: string, 
/**
 * Set if the item's text continues before the excerpt.
 */
cutBefore: boolean, 
/**
 * Set if the item's text continues after the excerpt.
 */
cutAfter: boolean, 
/**
 * Matches in order, as start and end offsets in `text` in UTF-16 code units, as in JavaScript.
 */
matches: Array<[number, number]>, };

/**
 * URI template with values for its variables.
 */
export type ExpandTemplate = { 
/**
 * URI template to expand.
 */
template: string, 
/**
 * Values by variable. Undefined variables are omitted as specified in RFC 6570.
 */
values: { [key in string]: string }, };

/**
 * Result of the expansion of a URI template.
 */
export type ExpandedTemplate = { 
/**
 * URI that results from the expansion.
 */
uri: string, };

/**
 * Request to write a conversation to a file.
 */
export type ExportConversation = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Format in which the conversation is written.
 */
format: ExportFormat, };

/**
 * File format of an exported conversation.
 */
export type ExportFormat = "markdown" | "json";

/**
 * Values and settings of a server that its exported entry or its install link omits or changes.
 */
export type ExportOmissions = { 
/**
 * Name under which the link installs the server, if the link can't contain the server's own name.
 */
name: string | null, 
/**
 * Names of the variables and headers whose values contain a secret. The secrets are omitted.
 */
secrets: Array<string>, 
/**
 * Parts of the configuration, other than variables and headers, from which a secret was removed.
 */
removed: Array<SecretPlace>, 
/**
 * Settings that were omitted because the format can't contain them.
 */
settings: Array<OmittedSetting>, 
/**
 * Paths in the link that may exist only on this computer, up to a maximum number.
 */
localPaths: Array<string>, };

/**
 * Request to write one server in a format of other apps or as an install link.
 */
export type ExportServer = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Format of the exported text.
 */
form: ServerExportForm, };

/**
 * One server in a format of other apps or as an install link. Contains no secrets.
 */
export type ExportedServer = { 
/**
 * JSON, link or Markdown, for copying.
 */
text: string, 
/**
 * Values and settings that the text omits.
 */
omissions: ExportOmissions, };

/**
 * Kind of a server's failure, which programs can distinguish.
 */
export type FailureReason = "command_not_found" | "could_not_start" | "exited_early" | "exited" | "no_answer" | "unresponsive" | "protocol" | "refused" | "unreachable" | "unauthorized" | "no_secret" | "limit_reached";

/**
 * Type of a form field, with the constraints on its value.
 */
export type FieldKind = { "type": "text", 
/**
 * Format that the text must have, or `None` for any text.
 */
format: TextFormat | null, 
/**
 * Minimum length in characters, or `None` if unbounded.
 */
minLength: number | null, 
/**
 * Maximum length in characters, or `None` if unbounded.
 */
maxLength: number | null, } | { "type": "number", 
/**
 * Set if the number must be an integer.
 */
integer: boolean, 
/**
 * Smallest allowed value, or `None` if unbounded.
 */
minimum: number | null, 
/**
 * Largest allowed value, or `None` if unbounded.
 */
maximum: number | null, } | { "type": "boolean" } | { "type": "choice", 
/**
 * Options to select from.
 */
options: Array<ChoiceOption>, } | { "type": "choices", 
/**
 * Options to select from.
 */
options: Array<ChoiceOption>, 
/**
 * Minimum number of selected options, or `None` if unbounded.
 */
minItems: number | null, 
/**
 * Maximum number of selected options, or `None` if unbounded.
 */
maxItems: number | null, };

/**
 * Reason why the value of a form field is invalid.
 */
export type FieldProblem = "required" | "wrong_type" | "too_short" | "too_long" | "too_small" | "too_large" | "too_few" | "too_many" | "not_an_option" | "not_an_email" | "not_a_uri" | "not_a_date" | "not_a_date_time" | "unknown_field";

/**
 * Kind of files that a dialog shows.
 */
export type FileKind = "any" | "bundle";

/**
 * The result of one check of this computer, with a remedy if there is a problem.
 */
export type Finding = { 
/**
 * Identifier of the check.
 */
id: CheckId, 
/**
 * Name of the check for display.
 */
title: string, 
/**
 * State of the checked item.
 */
state: FindingState, 
/**
 * Sentences that describe what the check has found.
 */
observation: string, 
/**
 * Sentences that say what the user can do, if there is a problem.
 */
remedy: string | null, 
/**
 * Names of the servers that the problem affects, or would affect once they start.
 */
servers: Array<string>, };

/**
 * State of the item that a check examines, from good to bad. The variants are ordered by severity.
 */
export type FindingState = "ok" | "unknown" | "warning" | "problem";

/**
 * A flag on suspicious text in a definition or another text.
 */
export type Flag = { 
/**
 * Path of the text in the definition: keys, and positions of list items starting at 1. Empty if the text is not
 * part of a definition.
 */
place: Array<string>, 
/**
 * Suspicious property of the text for which it is flagged.
 */
reason: FlagReason, 
/**
 * Suspicious text, verbatim, at most 120 characters.
 */
excerpt: string, };

/**
 * A suspicious property of a text for which it is flagged.
 */
export type FlagReason = "hidden_characters" | "instructs_model" | "hides_from_user" | "secret_place" | "other_tool" | "asks_for_context" | "praises_itself" | "deceptive_letters" | "misleading_link" | "too_long";

/**
 * Kind of access that a sandbox gives to a folder.
 */
export type FolderAccess = "read" | "write";

/**
 * A proposal to add a folder to a sandbox, or the reason why there is none.
 */
export type FolderProposal = { "is": "folder", 
/**
 * Path of the folder, with symbolic links resolved.
 */
folder: string, 
/**
 * Names of the first entries of the folder, at most six.
 */
names: Array<string>, 
/**
 * Number of entries of the folder. Counted up to 1000.
 */
count: number, } | { "is": "none", 
/**
 * The reason why no folder is proposed.
 */
reason: ProposalRefusal, };

/**
 * Last time at which a server received the folders that are shared with it.
 */
export type FolderUse = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Time at which the server received the folders.
 */
lastUse: LastUse, };

/**
 * A field of an elicitation form.
 */
export type FormField = { 
/**
 * Name of the field, which is its key in the response.
 */
name: string, 
/**
 * Label of the field, as sent by the server.
 */
title: string | null, 
/**
 * Description of the field, as sent by the server.
 */
description: string | null, 
/**
 * Set if the field must have a value.
 */
required: boolean, 
/**
 * Type and constraints of the value.
 */
kind: FieldKind, 
/**
 * Value with which the form is prefilled, or `None` if the server sent none or an invalid one.
 */
default: JsonValue | null, 
/**
 * Set if the field seems to ask for a secret, according to its name, title or description.
 */
secret: boolean, };

/**
 * Validation error for the value of one field in an elicitation form.
 */
export type FormProblem = { 
/**
 * Name of the invalid field.
 */
field: string, 
/**
 * Reason why the value of the field is invalid.
 */
problem: FieldProblem, 
/**
 * Minimum or maximum that the value violates, or `None` for errors without a bound.
 */
limit: number | null, };

/**
 * Validation errors of a form's content. Empty if the content can be sent.
 */
export type FormProblems = { 
/**
 * Validation errors by field, in the order of the form.
 */
problems: Array<FormProblem>, };

/**
 * Item of a conversation that a full-text search has found.
 */
export type FoundItem = { 
/**
 * Sequence number of the item in the order in which items were first written.
 */
number: number, 
/**
 * Identifier of the conversation in the history.
 */
conversation: string, 
/**
 * Title of the conversation for display.
 */
title: string, 
/**
 * Identifier of the item, unique in its conversation.
 */
item: string, 
/**
 * Time at which the item was written, in milliseconds since 1970.
 */
at: number, 
/**
 * Excerpt of the item's text around the first match.
 */
excerpt: Excerpt, };

/**
 * Search results, newest first.
 */
export type FoundItems = { 
/**
 * Items that match the search.
 */
found: Array<FoundItem>, 
/**
 * `true` if there may be older results.
 */
hasMore: boolean, };

/**
 * Model server that was found on this computer.
 */
export type FoundModelServer = { 
/**
 * Identifier of the preset with which the server can be added as a provider.
 */
preset: string, 
/**
 * Name of the model server.
 */
name: string, 
/**
 * Base URL to which paths of the provider's API are appended.
 */
url: string, 
/**
 * Names of the available models.
 */
models: Array<string>, };

/**
 * Tool that a model's search for tools has found.
 */
export type FoundTool = { 
/**
 * Name of the tool's server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server or app lists it.
 */
tool: string, 
/**
 * If a shown MCP app provides the found tool: name of the server's tool that opened that app. `None` if the server
 * itself provides the found tool.
 */
app?: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, };

/**
 * Request for the messages of a prompt.
 */
export type GetPrompt = { 
/**
 * Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the prompt, as its server lists it.
 */
prompt: string, 
/**
 * Arguments of the prompt, by name.
 */
arguments: { [key in string]: string }, 
/**
 * Hash of the prompt's definition that was shown to the user, or `None` if it was not shown. If the definition has
 * changed, the request is denied.
 */
hash?: string, };

/**
 * An approval by the user that also applies to later acts of the same kind.
 */
export type Grant = { 
/**
 * Identifier by which the grant is revoked.
 */
id: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool, or `None` if the grant allows to start the server or connect to it.
 */
tool: string | null, 
/**
 * Duration of the grant, such as the conversation or the session.
 */
scope: ApprovalScope, 
/**
 * Identifier of the conversation that the grant is limited to, or `None` if it is not limited to one.
 */
conversation: string | null, 
/**
 * Time at which the grant was given, in milliseconds since 1970.
 */
since: number, 
/**
 * Time at which the grant expires, in milliseconds since 1970, or `None` if it has no expiry.
 */
expiresAt: number | null, 
/**
 * Hash that the grant is bound to: of the server's command or URL, or of the tool's whole definition. The grant
 * does not apply if the hash changes.
 */
boundHash: string, 
/**
 * Last act that the grant allowed, or `None` if the grant was never used.
 */
lastUse?: LastUse, };

/**
 * Request that refers to a grant by its identifier.
 */
export type GrantRef = { 
/**
 * Identifier of the grant, by which it is revoked.
 */
id: string, };

/**
 * All grants that are in effect.
 */
export type Grants = { 
/**
 * Grants that have neither expired nor been revoked.
 */
grants: Array<Grant>, 
/**
 * Last use of each rule.
 */
ruleUses?: Array<RuleUse>, 
/**
 * Last time at which each server received its shared folders.
 */
folderUses?: Array<FolderUse>, };

/**
 * HTTP header that is sent with each request to a remote server.
 */
export type HttpHeader = { 
/**
 * Name of the HTTP header.
 */
name: string, 
/**
 * Value of the header. `None` in responses for a configured server. `None` in an update keeps the stored value.
 */
value: string | null, 
/**
 * `true` if the value is stored in the keychain instead of the settings file.
 */
secret: boolean, };

/**
 * HTTP transport of MCP.
 */
export type HttpKind = "http" | "sse";

/**
 * Icon provided by a server. Only `data:` URLs are displayed.
 */
export type Icon = { 
/**
 * URL with the scheme `data:` or `https:`.
 */
src: string, 
/**
 * Media type as claimed by the server.
 */
mimeType: string | null, };

/**
 * App, such as another MCP host, whose settings define servers.
 */
export type ImportApp = { 
/**
 * Identifier of the app, as in `app`.
 */
id: string, 
/**
 * Name of the app as its vendor writes it.
 */
name: string, 
/**
 * Settings files of the app that were read.
 */
files: Array<ImportFile>, 
/**
 * Servers of the app. A server that several apps define is only listed for the first of them.
 */
servers: Array<ImportCandidate>, };

/**
 * Server found in the settings of another app. Does not contain the values of secrets.
 */
export type ImportCandidate = { 
/**
 * Hash over the configuration that the import would create, without its secrets, and over the place where the
 * server was found. The server is imported only if this hash is still the same at the time of the import.
 */
id: string, 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Settings files in which the server was found.
 */
origins: Array<ImportOrigin>, 
/**
 * Transport: `stdio`, `http` or `sse`.
 */
transport: string, 
/**
 * Command line of a local server, or URL of a remote server.
 */
target: string, 
/**
 * Working directory of a local server, if the other app's settings contain one.
 */
folder: string | null, 
/**
 * Sandbox of a local server, if the file contains one in Drawbridge's format.
 */
sandbox: Sandbox | null, 
/**
 * OAuth client of a remote server, if the other app's settings contain one.
 */
signIn: ImportSignIn | null, 
/**
 * Environment variables of a local server.
 */
env: Array<ImportedValue>, 
/**
 * HTTP headers of a remote server.
 */
headers: Array<ImportedValue>, 
/**
 * Result of comparing the candidate with the configured servers.
 */
status: ImportStatus, 
/**
 * Placeholders in the command, the URL or the sign-in settings that the user has to replace.
 */
placeholders: Array<ImportPlaceholder>, 
/**
 * `true` if the server is disabled in the other app.
 */
isDisabled: boolean, 
/**
 * Filter for the tools that the other app offers to its model. Drawbridge would offer the same tools. `None` for
 * all tools.
 */
tools: ToolFilter | null, 
/**
 * Notes about the import, such as settings that are not imported, or the reason why the server can't be imported.
 */
notes: Array<ImportNote>, };

/**
 * Servers that a search of other apps' settings found.
 */
export type ImportCandidates = { 
/**
 * Names of the apps whose settings were searched, in a fixed order.
 */
searchedApps: Array<string>, 
/**
 * Apps whose settings define servers, in a fixed order.
 */
apps: Array<ImportApp>, 
/**
 * `true` if a server that can be imported refers to the folder that is open in its app, so that the user has to
 * choose `workspace`.
 */
needsWorkspace: boolean, 
/**
 * Files that could not be read or parsed, with line, column and cause.
 */
problems: Array<ConfigProblem>, };

/**
 * Settings file of an app, with the number of servers in it.
 */
export type ImportFile = { 
/**
 * Absolute path of the file.
 */
path: string, 
/**
 * Number of servers in the file.
 */
servers: number, };

/**
 * A note about a server that was found in another app, pasted text or an install link.
 */
export type ImportNote = { 
/**
 * Kind of the note, by which the page translates it.
 */
kind: ImportNoteKind, 
/**
 * Part of the server's configuration that the note is about, or `None` if it is about none or several.
 */
place: ImportPlace | null, 
/**
 * Names that the note refers to: settings, variables, a file or a folder, depending on the kind. Safe to print.
 */
names: Array<string>, 
/**
 * English text of the note, safe to print.
 */
text: string, };

/**
 * Kind of a note about a found server, by which Drawbridge's page translates the note.
 */
export type ImportNoteKind = "off" | "also_in" | "denied_tools" | "exposed_tools" | "name_taken" | "name_shared" | "set_up_here" | "project" | "not_used" | "omitted" | "approvals" | "secret_removed" | "secret_name" | "secret_tool" | "bridge" | "windows" | "command_split" | "unquoted" | "input" | "command_input" | "plain_password" | "more_plain_passwords" | "enter_value" | "not_followed" | "headers_program" | "header_without_value" | "codex_token" | "url_without_type" | "other_url_key" | "placeholder" | "as_written" | "empty" | "more_placeholders" | "env_file" | "merged" | "different" | "other_list" | "link_keys" | "link_name" | "link_secrets" | "unencrypted" | "this_computer" | "own_network" | "lookalike_host" | "shell" | "more_rights" | "code_option" | "source_option" | "access_option" | "package_address" | "code_variables" | "more_warnings" | "reason";

/**
 * The other app and settings file in which a server was found.
 */
export type ImportOrigin = { 
/**
 * Identifier of the other app, or `file` if the app is unknown.
 */
app: string, 
/**
 * Path of the settings file.
 */
file: string, 
/**
 * Name of the server in the settings file.
 */
name: string, };

/**
 * Outcome of the import of one selected candidate.
 */
export type ImportOutcome = { 
/**
 * Identifier of the candidate, as in `id`.
 */
id: string, 
/**
 * Name of the imported server in the settings, or `None` if it was not imported.
 */
name: string | null, 
/**
 * Reason why the secrets are stored only until Drawbridge exits, or `None` if the keychain stores them.
 */
onlyThisRun: string | null, 
/**
 * Names of the variables and headers whose values were taken from their sources.
 */
taken: Array<string>, 
/**
 * Names of the environment variables that are not set, so that the user has to enter the values that refer to
 * them.
 */
unset: Array<string>, 
/**
 * Reason why the server was not imported, or `None` if it was.
 */
problem: string | null, };

/**
 * The part of a server's configuration that contains a text.
 */
export type ImportPlace = { "is": "command" } | { "is": "argument", 
/**
 * Position of the argument, starting at 1.
 */
number: number, } | { "is": "folder" } | { "is": "url" } | { "is": "value", 
/**
 * Name of the variable or header.
 */
name: string, } | { "is": "client_secret" };

/**
 * A text that the user has to replace before the server works.
 */
export type ImportPlaceholder = { 
/**
 * Part of the configuration that contains the text.
 */
place: ImportPlace, 
/**
 * The text to replace, safe to print. Empty if the value is missing.
 */
text: string, };

/**
 * Servers found in pasted text.
 */
export type ImportPreview = { 
/**
 * Servers that were found in the text.
 */
servers: Array<ImportedServer>, 
/**
 * Reason why the text can't be parsed, with line and column where known. `None` if it was parsed.
 */
problem: ConfigProblem | null, };

/**
 * Request to import servers that an earlier search found.
 */
export type ImportServers = { 
/**
 * Search whose results were shown to the user.
 */
source: ImportSource, 
/**
 * Identifiers of the selected candidates.
 */
ids: Array<string>, 
/**
 * Values to take from their sources. All others are left to the user.
 */
taken: Array<TakenValue>, };

/**
 * OAuth client that another app uses to sign in to a remote server.
 */
export type ImportSignIn = { 
/**
 * Client identifier at the authorization server, or `None` if the other app's settings contain none.
 */
clientId: string | null, 
/**
 * `true` if the other app's settings contain a client secret. The import stores it in the keychain.
 */
hasSecret: boolean, 
/**
 * Issuer identifier of the authorization server, if the other app's settings contain one.
 */
issuer: string | null, 
/**
 * Scopes to request. If empty, the scopes that the server requires are requested.
 */
scopes: Array<string>, };

/**
 * Settings files to search for servers. By default, those of all known apps in the home folder.
 */
export type ImportSource = { 
/**
 * Identifier of the one app whose settings are searched, or `None` to search those of all known apps.
 */
app: string | null, 
/**
 * Project folder to search instead of the home folder, or `None`. The folder must be shared with a server as a
 * root.
 */
project: string | null, 
/**
 * Absolute path of the folder that replaces `${workspaceFolder}` in the user's settings, or `None` if the user has
 * not chosen one. In a project's files, the reference stands for the project folder.
 */
workspace: string | null, };

/**
 * Result of comparing a found server with the configured servers.
 */
export type ImportStatus = "new" | "same" | "conflict" | "unsupported";

/**
 * Server found in pasted text.
 */
export type ImportedServer = { 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Configuration that can be added as it is if `usable` is `true`.
 */
config: ServerConfig, 
/**
 * Notes for the user, such as placeholders to replace, unknown keys, or the reason why the server can't be used.
 */
notes: Array<ImportNote>, 
/**
 * `true` if the server can be added without changes.
 */
usable: boolean, };

/**
 * Outcomes of an import, one for each selected candidate.
 */
export type ImportedServers = { 
/**
 * Outcome for each selected candidate, in the order of the request.
 */
outcomes: Array<ImportOutcome>, };

/**
 * Environment variable or header of an import candidate.
 */
export type ImportedValue = { 
/**
 * Name of the variable or header.
 */
name: string, 
/**
 * Kind of the value: secret, plain text or reference.
 */
kind: ImportedValueKind, 
/**
 * `true` if the user has to enter the value after the import.
 */
requiresInput: boolean, 
/**
 * Place from which the import can take the value, or `None`. Its value is not used before the user chooses so.
 */
source: ImportedValueSource | null, };

/**
 * Kind of the value of a variable or header, which determines how an import stores the value.
 */
export type ImportedValueKind = "literal" | "secret" | "reference";

/**
 * Place of a value that the other app's settings only refer to.
 */
export type ImportedValueSource = { "is": "environment", 
/**
 * Names of the environment variables that the value refers to.
 */
variables: Array<string>, } | { "is": "file", 
/**
 * Path of the file as in the other app's settings, safe to print.
 */
path: string, };

/**
 * Kind of value that an input of an install plan accepts.
 */
export type InputKind = "text" | "number" | "boolean" | "file" | "folder";

/**
 * Reason why the value that the user entered for an input of a plan is rejected.
 */
export type InputProblem = "missing" | "too_many" | "not_text" | "not_a_choice" | "not_a_number" | "out_of_range" | "not_a_boolean" | "not_a_path";

/**
 * A package or remote endpoint of a server in the registry. Each provides the server, and the user chooses one.
 */
export type InstallChoice = { 
/**
 * Identifies this package or remote endpoint in an `InstallSource`.
 */
target: InstallTarget, 
/**
 * Kind of the package: `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another one. For a remote endpoint, its transport:
 * `streamable-http` or `sse`.
 */
kind: string, 
/**
 * Name of the package, or URL of the remote endpoint.
 */
identifier: string, 
/**
 * Version of the package, unless it is part of the identifier.
 */
version: string | null, 
/**
 * Reason why this choice can't be installed, or `None` if it can.
 */
problem: string | null, 
/**
 * The bundle to download, if the package is one.
 */
download: InstallDownload | null, };

/**
 * Answer to the question if a planned server can run in a sandbox.
 */
export type InstallContainment = { "is": "possible" } | { "is": "container" } | { "is": "remote" } | { "is": "impossible", 
/**
 * Human-readable reason why no sandbox works.
 */
cause: string, };

/**
 * A bundle that has to be downloaded before the server can be installed.
 */
export type InstallDownload = { 
/**
 * HTTPS URL of the bundle.
 */
url: string, 
/**
 * Expected SHA-256 of the bundle, in hexadecimal.
 */
sha256: string, };

/**
 * Server to install, with the user's values of the inputs. Secret values are stored in the keychain when the server is
 * installed.
 */
export type InstallDraft = { 
/**
 * Source of the server, from `source`.
 */
source: InstallSource, 
/**
 * Name of the server in the settings.
 */
name: string, 
/**
 * Values of the inputs, by key. An omitted input has its default value.
 */
values: { [key in string]: Array<string> }, 
/**
 * Sandbox of the server, or `None` to run it with all rights of the user. Ignored in an upgrade, which keeps the
 * sandbox of the installed server.
 */
sandbox: Sandbox | null, 
/**
 * Name of the installed server to upgrade, or `None` to add a server.
 */
upgrades: string | null, };

/**
 * A note about an install plan. Its texts are from the publisher, limited in size by the parser of the plan, and
 * escaped for display.
 */
export type InstallNote = { "is": "other_package_registry", 
/**
 * URL of the package registry.
 */
registry: string, } | { "is": "no_version", 
/**
 * Name of the launcher that loads the package.
 */
program: string, } | { "is": "unpinned_tag", 
/**
 * Tag of the image.
 */
tag: string, } | { "is": "no_tag" } | { "is": "other_program", 
/**
 * Program that the publisher names.
 */
named: string, 
/**
 * Program that Drawbridge runs.
 */
used: string, } | { "is": "hash_not_used", 
/**
 * Name of the launcher, which verifies packages in its own way.
 */
program: string, } | { "is": "code_variables", 
/**
 * Names of the variables.
 */
names: Array<string>, } | { "is": "launcher_arguments", 
/**
 * Name of the launcher that receives the arguments.
 */
program: string, } | { "is": "step_afterwards", 
/**
 * Description of the step, if the publisher provides one.
 */
description: string | null, 
/**
 * Command that the publisher asks the user to run. Drawbridge does not run it.
 */
command: string | null, } | { "is": "public_secret", 
/**
 * Part of the plan that contains the value.
 */
place: PlanPlace, } | { "is": "undeclared_input", 
/**
 * Part of the plan that contains the variable.
 */
place: PlanPlace, 
/**
 * The variable, with its braces.
 */
variable: string, } | { "is": "invisible_characters", 
/**
 * Part of the plan that contains the text.
 */
place: PlanPlace, 
/**
 * The text, with its invisible characters escaped.
 */
text: string, } | { "is": "default_omitted", 
/**
 * Label or key of the input.
 */
input: string, 
/**
 * Reason why the default value is not valid.
 */
problem: InputProblem, } | { "is": "unencrypted" } | { "is": "url_from_input" } | { "is": "private_url" } | { "is": "bridge", 
/**
 * The note, as in an import from another app.
 */
note: ImportNote, } | { "is": "missing_setting", 
/**
 * Text of the argument, or name of the variable.
 */
text: string, 
/**
 * Name of the missing setting.
 */
setting: string, } | { "is": "first_value_only", 
/**
 * Name of the variable.
 */
variable: string, 
/**
 * Name of the setting with several values.
 */
setting: string, } | { "is": "repeated_argument", 
/**
 * Text of the argument.
 */
argument: string, 
/**
 * Name of the setting with several values.
 */
setting: string, } | { "is": "unknown_reference", 
/**
 * Text of the argument, or name of the variable.
 */
text: string, } | { "is": "loads_over_network", 
/**
 * Name of the program that loads the server.
 */
program: string, } | { "is": "program_outside", 
/**
 * Name or path of the program.
 */
program: string, } | { "is": "uv_packages" } | { "is": "other_platforms", 
/**
 * Names of the operating systems that the bundle supports.
 */
platforms: Array<string>, 
/**
 * Name of this computer's operating system.
 */
own: string, } | { "is": "runtime_needed", 
/**
 * Name of the runtime.
 */
runtime: string, 
/**
 * Range of the required versions.
 */
range: string, } | { "is": "runtime_mismatch", 
/**
 * Name of the runtime.
 */
runtime: string, 
/**
 * Range of the required versions.
 */
range: string, 
/**
 * Version on this computer.
 */
version: string, } | { "is": "runtime_unclear", 
/**
 * Name of the runtime.
 */
runtime: string, 
/**
 * Range of the required versions.
 */
range: string, 
/**
 * Version on this computer.
 */
version: string, };

/**
 * Server that the user can install, with its install plan. Nothing is unpacked, started or approved yet.
 */
export type InstallOffer = { 
/**
 * Source to use in the following requests. It contains the exact version and the selected target, or the SHA-256
 * of the bundle, so that the installed server is the offered one.
 */
source: InstallSource, 
/**
 * Origin of the server: a registry or a bundle file.
 */
origin: InstallOrigin, 
/**
 * Packages and remotes to choose from. Empty for a bundle.
 */
choices: Array<InstallChoice>, 
/**
 * Configuration that would be added, or `None` if no target is selected or it can't be installed.
 */
plan: InstallPlan | null, 
/**
 * Reason why the selected target can't be installed, or `None` if it can.
 */
problem: string | null, };

/**
 * Origin of a server to install.
 */
export type InstallOrigin = { "from": "registry", 
/**
 * Version of the server in the registry.
 */
listing: RegistryListing, 
/**
 * Origin of the registry response that contains the listing.
 */
answer: RegistryAnswer, 
/**
 * Downloaded bundle, if the selected package is one. Its hash was verified against the registry.
 */
bundle: OfferedBundle | null, } | { "from": "bundle" } & OfferedBundle;

/**
 * Configuration that an installation would add, with the inputs that the user has to fill in.
 */
export type InstallPlan = { 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Command or URL of the server, with placeholders.
 */
target: PlannedTarget, 
/**
 * Inputs of the plan that the user fills in.
 */
inputs: Array<PlanInput>, 
/**
 * Keys of secret inputs that can't be stored in the keychain, because they are part of an argument or the URL.
 * Their values are stored in the settings file.
 */
exposedSecrets: Array<string>, 
/**
 * Notes that the user should read before the installation.
 */
notes: Array<InstallNote>, 
/**
 * Result of determining if the server can run in a sandbox, with the reason if it can't.
 */
containment: InstallContainment, 
/**
 * Suggested sandbox of the server, or `None` if it can't run in one.
 */
sandbox: Sandbox | null, };

/**
 * Exact configuration that would be added, or the problems that prevent it.
 */
export type InstallPreview = { 
/**
 * Problems of the input values, by key of the input.
 */
inputProblems: { [key in string]: InputProblem }, 
/**
 * Problem that does not belong to an input, such as a name that is already in use or an invalid URL. `None` if
 * there is none.
 */
problem: string | null, 
/**
 * Configuration that would be added, or `None` if there is a problem.
 */
server: PreviewedServer | null, 
/**
 * Current configuration of the server to upgrade, or `None` if a server would be added.
 */
before: PreviewedServer | null, 
/**
 * Hash of the resulting configuration, including secret values, and of its source. `None` if there is a problem.
 */
hash: string | null, };

/**
 * Request to install a server exactly as shown in a preview.
 */
export type InstallServer = { 
/**
 * Server to install, with the user's values of the inputs.
 */
draft: InstallDraft, 
/**
 * Hash from `hash`. Nothing is installed if the configuration would differ.
 */
hash: string, 
/**
 * `true` if the user agreed that a running server is stopped for its upgrade.
 */
stopRunning: boolean, };

/**
 * Source from which a server is installed: an entry of the registry, or a bundle file.
 */
export type InstallSource = { "from": "registry", 
/**
 * Name of the server in the registry, as `namespace/name`.
 */
name: string, 
/**
 * Version of the server to install. `None` for the newest.
 */
version: string | null, 
/**
 * Package or remote endpoint to use. May be `None` if the server has only one.
 */
target: InstallTarget | null, } | { "from": "bundle", 
/**
 * Absolute path of the bundle file.
 */
path: string, 
/**
 * Expected SHA-256 of the bundle file in hexadecimal. `None` to accept any bundle.
 */
sha256: string | null, };

/**
 * The part of a registry's server description that was installed: a package or a remote.
 */
export type InstallTarget = { "kind": "package", 
/**
 * Position of the package in the registry's description of the server, from 1.
 */
number: number, } | { "kind": "remote", 
/**
 * Position of the remote in the registry's description of the server, from 1.
 */
number: number, };

/**
 * The source of a server's installation, and the values that the user entered.
 */
export type InstallationInfo = { 
/**
 * Source from which the server was installed.
 */
origin: ServerOrigin, 
/**
 * Set if the command or address of the server has changed since its installation.
 */
changed: boolean, };

/**
 * Content of a conversation's item, by the kind of the item.
 */
export type ItemBody = { "kind": "message", 
/**
 * Author of the message.
 */
role: Role, 
/**
 * Content blocks of the message.
 */
content: Array<Content>, 
/**
 * Prompt that contains the message, or `None` if the user wrote it.
 */
prompt: PromptOrigin | null, 
/**
 * Files and resources that the user attached to the message.
 */
attachments?: Array<MessageAttachment>, } | { "kind": "reply", 
/**
 * Model that produced the reply.
 */
model: ModelRef, 
/**
 * Parts of the reply, in order.
 */
parts: Array<ReplyPart>, 
/**
 * Reason why the reply ended, or `None` while it streams or if it was interrupted.
 */
stop: ReplyStop | null, 
/**
 * Number of tokens, as far as the provider reports them.
 */
usage: TokenUsage, 
/**
 * Cost of the reply, or `None` if the price is unknown.
 */
cost: Cost | null, 
/**
 * Error that ended the reply, or `None` if none occurred.
 */
error: ModelProblem | null, 
/**
 * Descriptions of content in the request that the provider's protocol could not represent, and of its
 * replacement.
 */
conversions?: Array<string>, 
/**
 * Time until the first part of the reply arrived, in milliseconds. `None` if none arrived.
 */
firstAfter: number | null, 
/**
 * Total duration of the reply, in milliseconds.
 */
took: number, } | { "kind": "tool_call", 
/**
 * Identifier of the call, which events of calls and consent requests refer to.
 */
call: string, 
/**
 * Name of the called server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server or the app lists it.
 */
tool: string, 
/**
 * Name, on the server, of the tool whose MCP app provides the called tool. `None` if the server itself
 * provides it.
 */
app?: string, 
/**
 * Arguments that were sent to the server or its app.
 */
arguments: JsonValue, 
/**
 * Result of the tool call, or `None` if it failed.
 */
result: ToolResult | null, 
/**
 * Description of the failure, or `None` if the call succeeded.
 */
error: string | null, 
/**
 * Stable identifier of the reason for the failure. `None` if the call succeeded, and in conversations of older
 * versions.
 */
failure?: CallFailureCode, 
/**
 * Cause for which the call was refused. `None` for other outcomes, and in conversations of older versions.
 */
refusal?: CallRefusal, 
/**
 * Duration of the call, in milliseconds.
 */
took: number, 
/**
 * Part of the duration in which the call waited for the user, in milliseconds: until it was sent, while the
 * server waited for input, and after its result arrived. `None` in conversations of older versions, and while
 * the call is in progress.
 */
waited?: number, 
/**
 * Tool use in the model's reply that requested the call, or `None` if the user made the call.
 */
used?: ToolUsed, 
/**
 * Number of bytes of the result's text that the model did not receive, because the text is longer than the
 * limit. `None` if the model received the whole text.
 */
leftOut?: number, } | { "kind": "own_tool", 
/**
 * Tool use in the model's reply that requested the call. Its `tool_key` is the name of the built-in tool.
 */
used: ToolUsed, 
/**
 * Arguments that the model passed to the built-in tool.
 */
arguments: JsonValue, 
/**
 * Text that the built-in tool returned to the model.
 */
text: string, 
/**
 * Tools that the search has found. Empty for other built-in tools.
 */
found?: Array<FoundTool>, 
/**
 * Set if the result reports an error to the model.
 */
isError: boolean, } | { "kind": "notice", 
/**
 * Event that the notice reports, with its details.
 */
notice: Notice, } | { "kind": "attachment", 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI of the resource. For a skill, the URI of its `SKILL.md`.
 */
uri: string, 
/**
 * Name of the resource or skill.
 */
name: string, 
/**
 * Contents of the resource at the time of the attachment.
 */
contents: Array<ResourceContents>, 
/**
 * Set if the item is a skill. The model then receives its text as instructions that the user has chosen.
 */
skill?: boolean, };

/**
 * Consecutive items of one branch.
 */
export type ItemPage = { 
/**
 * Items in order, oldest first.
 */
items: Array<ConversationItem>, 
/**
 * `true` if the branch has items that precede `items`.
 */
hasMore: boolean, };

/**
 * Request for a page of a conversation's items.
 */
export type ItemRange = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Identifier of the item that follows the returned items, or `None` to return the last items of the selected
 * branch.
 */
before: string | null, 
/**
 * Maximum number of items to return.
 */
limit: number, };

/**
 * Reference to an item of a conversation.
 */
export type ItemRef = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Identifier of the item, unique in its conversation.
 */
item: string, };

/**
 * Completeness of an item's body.
 */
export type ItemState = "whole" | "streaming" | "cut";

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * The reason why a value matches a condition, or doesn't.
 */
export type JudgementReason = "matches" | "differs" | "missing" | "not-judged" | "too-long" | "respelled" | "climbs" | "crosses-parts" | "not-whole" | "second-name" | "letters" | "unresolved" | "leads-elsewhere" | "holds" | "user-info" | "not-address" | "not-number" | "text-number";

/**
 * Language of Drawbridge's page and of its system notifications.
 */
export type Language = "system" | "en" | "zh";

/**
 * The last act for which a permission was used.
 */
export type LastUse = { 
/**
 * Time of the act, in milliseconds since 1970.
 */
at: number, 
/**
 * Originator of the act.
 */
by: UsedBy, };

/**
 * File that determines what a local server runs. The approval of a start is bound to its content.
 */
export type LaunchFile = { 
/**
 * Path of the file, as the command refers to it.
 */
path: string, 
/**
 * Canonical path of the file, or `None` if it equals `path`.
 */
leadsTo: string | null, 
/**
 * Size of the launch file in bytes.
 */
bytes: number, 
/**
 * SHA-256 of the content in hexadecimal, or `None` if the file is too large or unreadable. The approval is then
 * bound to the size and the times of the file (mtime and ctime).
 */
hash: string | null, 
/**
 * Role of the file in the server's command.
 */
role: LaunchFileRole, 
/**
 * `true` if the file has changed since the last approval of the server.
 */
changed: boolean, };

/**
 * Reason why a file decides what a command runs.
 */
export type LaunchFileRole = "program" | "interpreter" | "environment" | "argument" | "variable";

/**
 * Server whose sandbox lets it modify a file that another server runs.
 */
export type LaunchFileWriteAccess = { 
/**
 * Name of the server that may write to the file.
 */
server: string, 
/**
 * Path of the file that this server can write and that another server runs.
 */
file: string, 
/**
 * Folder that contains the file and that the sandbox lets the server write to.
 */
folder: string, };

/**
 * A limit, the present usage that counts towards it, and how often it was exceeded.
 */
export type LimitCounter = { 
/**
 * Current usage, in the unit of the limit.
 */
current: number, 
/**
 * Maximum usage that the limit permits.
 */
limit: number, 
/**
 * Number of events beyond the limit, each of which was refused, omitted or slowed down.
 */
excess: number, };

/**
 * Usage of a server since its last start, compared with its limits.
 */
export type LimitsUsage = { 
/**
 * Number of calls in progress.
 */
calls: LimitCounter, 
/**
 * Number of pending consent requests.
 */
consentRequests: LimitCounter, 
/**
 * Number of notifications within the last second.
 */
notifications: LimitCounter, 
/**
 * Number of bytes read within the last minute.
 */
readBytes: LimitCounter, 
/**
 * Size of the largest message so far, in bytes.
 */
largestMessage: LimitCounter, 
/**
 * Size of the activity log, in bytes.
 */
activityLog: LimitCounter, 
/**
 * Set while reading from the server is slowed down.
 */
slowed: boolean, 
/**
 * Resources used by a sandboxed server; `None` for other servers.
 */
resources: ResourcesUsage | null, };

/**
 * Number of items in each list of a server.
 */
export type ListCounts = { 
/**
 * Number of tools that the server lists.
 */
tools: number, 
/**
 * Number of prompts that the server lists.
 */
prompts: number, 
/**
 * Number of resources that the server lists.
 */
resources: number, 
/**
 * Number of resource templates that the server lists.
 */
templates: number, };

/**
 * Kind of a list that a server provides.
 */
export type ListName = "tools" | "prompts" | "resources";

/**
 * Request to list newer versions of the servers that were installed from a registry.
 */
export type ListNewerVersions = { 
/**
 * `true` to send requests to the registry even if cached responses are less than an hour old.
 */
refresh: boolean, };

/**
 * Package that a launcher such as `npx` would download and run.
 */
export type LoadedPackage = { 
/**
 * Name of the launcher, as written in the command.
 */
launcher: string, 
/**
 * Name of the package, or `None` if the command could not be parsed.
 */
name: string | null, 
/**
 * Version, version range or tag in the command, or `None` if it contains none.
 */
requestedVersion: string | null, 
/**
 * Version that would run now, or `None` if it could not be determined.
 */
version: PackageVersion | null, 
/**
 * Reason why the version could not be determined, or `None` if it could.
 */
unknown: UnknownPackage | null, 
/**
 * Version that the user approved last, or `None` if the user approved none, or if the same version would run now.
 */
before: PackageVersion | null, 
/**
 * `true` if the registry now offers other files for the version than those that the user approved.
 */
replaced: boolean, 
/**
 * Names of further packages in the command, whose versions are not pinned.
 */
unpinned: Array<string>, 
/**
 * Command line as in the settings. Drawbridge inserts the version of the package before it runs the command.
 */
configured: string, };

/**
 * A name or title that could be confused with another.
 */
export type LookAlike = { 
/**
 * Name of the server that has the similar name, as chosen by the user.
 */
server: string, 
/**
 * Similar name, or the title if that is similar.
 */
name: string, 
/**
 * Set if the similar name or title is identical and belongs to another server.
 */
isIdentical: boolean, };

/**
 * Content that a provider's API can't represent, and its conversion.
 */
export type LossyConversion = { 
/**
 * Kind of the content, such as `imageInToolResult`.
 */
feature: string, 
/**
 * Conversion of the content: `refuse` rejects the request, `sendAfter` sends the content in a following message,
 * `sayInText` describes it in text, `leaveOut` drops it.
 */
conversion: string, 
/**
 * Conversions that the user can choose for the content.
 */
choices: Array<string>, };

/**
 * Type of a JSON value in a manifest.
 */
export type ManifestValueType = "text" | "boolean" | "number" | "object" | "list";

/**
 * A part of a bundle's manifest that is not used as its publisher wrote it. Its texts are from the publisher, limited
 * in size by the parser of the manifest, and escaped for display.
 */
export type ManifestWarning = { "is": "unknown_member", 
/**
 * JSON path of the unknown member, such as `server.colour`.
 */
member: string, } | { "is": "missing_member", 
/**
 * JSON path of the missing member.
 */
member: string, } | { "is": "wrong_type", 
/**
 * JSON path of the member with the wrong type.
 */
member: string, 
/**
 * Type that the value of the member should have.
 */
expected: ManifestValueType, } | { "is": "wrong_items", 
/**
 * JSON path of the list that contains these items.
 */
member: string, 
/**
 * Type that each item of the list should have.
 */
expected: ManifestValueType, } | { "is": "too_many_items", 
/**
 * JSON path of the list that was cut.
 */
member: string, 
/**
 * Number of items at the beginning of the list that are used.
 */
used: number, } | { "is": "truncated", 
/**
 * JSON path of the text that was cut.
 */
member: string, } | { "is": "unknown_manifest_version", 
/**
 * Version of the format, as the manifest states it.
 */
version: string, } | { "is": "uncomparable_version", 
/**
 * Version of the bundle, as the manifest states it.
 */
version: string, } | { "is": "unknown_setting_type", 
/**
 * JSON path of the member with the unknown type.
 */
member: string, } | { "is": "picture_outside", 
/**
 * Path or URL of the icon or screenshot.
 */
picture: string, } | { "is": "translations_path", 
/**
 * JSON path of the member with the path pattern.
 */
member: string, };

/**
 * Message of a prompt or of a sampling request.
 */
export type Message = { 
/**
 * Author of the message: the user or the model.
 */
role: Role, 
/**
 * Content blocks of the message.
 */
content: Array<Content>, };

/**
 * File or resource that is attached to a user's message.
 */
export type MessageAttachment = { "type": "file", 
/**
 * Name of the attached file, as shown to the user and to the model.
 */
name: string, 
/**
 * Media type of the attached file.
 */
mimeType: string, 
/**
 * Bytes of the attached file, in base64.
 */
data: string, } | { "type": "resource", 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI that identifies the resource on its server.
 */
uri: string, 
/**
 * Name of the resource, as its server lists it.
 */
name: string, 
/**
 * Contents of the resource at the time of the attachment.
 */
contents: Array<ResourceContents>, };

/**
 * Model of a provider. Properties that are unknown are `None`.
 */
export type Model = { 
/**
 * Identifier of the model at the provider.
 */
id: string, 
/**
 * Name of the model to display.
 */
name: string, 
/**
 * Context size in tokens, for request and reply together, or `None` if unknown.
 */
context: number | null, 
/**
 * Maximum number of tokens in a reply, or `None` if unknown.
 */
maxOutput: number | null, 
/**
 * Price of the model per million tokens, if known.
 */
price: ModelPrice | null, 
/**
 * `true` if the model accepts images, or `None` if unknown.
 */
images: boolean | null, 
/**
 * `true` if the model accepts audio, or `None` if unknown.
 */
audio: boolean | null, 
/**
 * `true` if the model accepts files, or `None` if unknown.
 */
files: boolean | null, 
/**
 * `true` if the model supports tool calls, or `None` if unknown.
 */
tools: boolean | null, 
/**
 * `true` if the model can reason before it replies (thinking), or `None` if unknown.
 */
thinking: boolean | null, };

/**
 * Reason why a model was chosen for a sampling request.
 */
export type ModelChoiceReason = { "is": "user" } | { "is": "setting" } | { "is": "hint", 
/**
 * Model hint, as the server sent it.
 */
hint: string, } | { "is": "equivalent", 
/**
 * Model hint, as the server sent it.
 */
hint: string, } | { "is": "priorities", 
/**
 * Priorities, the highest first: `cost`, `speed`, `intelligence`.
 */
priorities: Array<string>, } | { "is": "default" } | { "is": "first" };

/**
 * Stable code of a model error. The page has a text for each.
 */
export type ModelErrorCode = "noKey" | "keyUnreadable" | "wrongKey" | "forbidden" | "noCredit" | "rateLimited" | "overloaded" | "contextTooLong" | "refused" | "notFound" | "unreachable" | "silent" | "cut" | "unreadable" | "tooLarge" | "badArguments" | "cannotCarry" | "unconfirmed" | "noProvider" | "empty" | "outOfTokens" | "unfit" | "internal" | "provider";

/**
 * Price of a model, per million tokens of requests and of replies.
 */
export type ModelPrice = { 
/**
 * Price per million tokens of a request.
 */
input: number, 
/**
 * Price per million tokens of a reply.
 */
output: number, 
/**
 * Currency code, such as `USD`.
 */
currency: string, 
/**
 * Date or source of the price information.
 */
asOf: string, };

/**
 * Error of a model or of its provider.
 */
export type ModelProblem = { 
/**
 * Stable identifier of the cause of the error.
 */
code: ModelErrorCode, 
/**
 * Message for the user, with the cause and a suggested remedy.
 */
message: string, 
/**
 * Technical cause alone, if the code says everything else. It is part of the message.
 */
cause?: string, };

/**
 * Model provider that the user configured, with its models.
 */
export type ModelProvider = { 
/**
 * Identifier that the user chose for the provider.
 */
id: string, 
/**
 * Name of the provider for display.
 */
name: string, 
/**
 * Kind of the provider, which determines the API that Drawbridge uses.
 */
kind: ProviderKind, 
/**
 * Base URL to which paths of the provider's API are appended.
 */
url: string, 
/**
 * Maximum time without received data during a reply, in seconds, or `None` for the default.
 */
silenceSeconds: number | null, 
/**
 * Content that the provider's API can't represent, and the conversion of each kind.
 */
losses: Array<LossyConversion>, 
/**
 * `true` if an API key is stored for this URL.
 */
hasKey: boolean, 
/**
 * `true` if the provider runs on this computer.
 */
local: boolean, 
/**
 * `true` if requests and the API key are sent unencrypted over the network.
 */
isUnencrypted: boolean, 
/**
 * Models that the provider's last list contained.
 */
models: Array<Model>, 
/**
 * Time at which the provider last listed its models, in milliseconds since 1970, or `None` if it never did.
 */
listedAt: number | null, 
/**
 * Error of the last request to the provider, or `None` if it succeeded.
 */
problem: ModelProblem | null, };

/**
 * Reference to a model of a configured provider.
 */
export type ModelRef = { 
/**
 * Identifier of the provider, as in the settings.
 */
provider: string, 
/**
 * Identifier of the model in its provider's API.
 */
model: string, };

/**
 * Configured model providers, model servers found on this computer, and presets.
 */
export type Models = { 
/**
 * Configured providers, in the order in which they were added.
 */
providers: Array<ModelProvider>, 
/**
 * Default model of new conversations, or `None` if there is none.
 */
default: ModelRef | null, 
/**
 * Model servers on this computer that are not configured yet.
 */
found: Array<FoundModelServer>, 
/**
 * Presets for adding a known provider.
 */
presets: Array<ProviderPreset>, };

/**
 * Request to create a conversation.
 */
export type NewConversation = { 
/**
 * Title of the conversation for display, which the user can change.
 */
title: string, };

/**
 * Version that is newer than the installed one.
 */
export type NewerVersion = { 
/**
 * Newer version of the server, as the publisher writes it.
 */
version: string, 
/**
 * Time of publication, in milliseconds since 1970.
 */
publishedAt: number | null, };

/**
 * Notice of Drawbridge to the user in a conversation.
 */
export type Notice = { "is": "rounds", 
/**
 * Number of consecutive rounds of tool calls so far.
 */
rounds: number, };

/**
 * Bundle to install. The hash, the sizes and the folder are determined by Drawbridge, and all other members are claims
 * of the publisher.
 */
export type OfferedBundle = { 
/**
 * Name of the bundle's file.
 */
file: string, 
/**
 * SHA-256 of the file, in hexadecimal.
 */
sha256: string, 
/**
 * Size of the file in bytes.
 */
bytes: number, 
/**
 * Member `name` of the manifest. Other versions of the bundle have the same name.
 */
name: string, 
/**
 * Member `display_name` of the manifest.
 */
title: string | null, 
/**
 * Version of the bundle, as the publisher writes it.
 */
version: string, 
/**
 * Description of the server from the manifest.
 */
description: string, 
/**
 * Name of the author, as in the manifest.
 */
author: string, 
/**
 * Signature of the bundle, which is not verified.
 */
signature: BundleSignature, 
/**
 * Folder into which the bundle would be unpacked.
 */
folder: string, 
/**
 * Number of files in the bundle.
 */
files: number, 
/**
 * Size of the unpacked bundle in bytes.
 */
unpackedBytes: number, 
/**
 * Warnings about parts of the manifest that Drawbridge does not use.
 */
warnings: Array<ManifestWarning>, };

/**
 * A server whose tools a model may use in a conversation.
 */
export type OfferedServer = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Names of the tools that the user enabled for the conversation, or `None` to enable all that the user has
 * reviewed.
 */
tools: Array<string> | null, 
/**
 * Hash of those instructions of the server that the user approved for the model, or `None` to send none. The
 * instructions are sent as data of the server, unless they have changed since.
 */
instructions: string | null, };

/**
 * Large content, such as an image or a long text, that is omitted from the body of a conversation's item.
 */
export type OmittedContent = { 
/**
 * Position of the omitted content in the item's body, as a JSON Pointer (RFC 6901).
 */
pointer: string, 
/**
 * SHA-256 of the content, in hexadecimal, by which a reader requests the content.
 */
hash: string, 
/**
 * Size of the omitted content in bytes.
 */
bytes: number, 
/**
 * Set if the omitted string is the content itself as UTF-8 text. Otherwise the string is the base64 encoding of
 * the content.
 */
isText: boolean, };

/**
 * Large content that was omitted from an item.
 */
export type OmittedData = { 
/**
 * Bytes of the large content, encoded in Base64.
 */
data: string, };

/**
 * Reference to large content by its hash.
 */
export type OmittedDataRef = { 
/**
 * SHA-256 of the content, in hexadecimal, as in `OmittedContent`.
 */
hash: string, };

/**
 * A setting of a server that a format of other apps can't contain.
 */
export type OmittedSetting = "working_folder" | "sandbox" | "sign_in" | "revision" | "tools";

/**
 * Request to display the MCP app of a called tool.
 */
export type OpenApp = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool, as its server lists it.
 */
tool: string, 
/**
 * Tool call whose arguments and result the app displays.
 */
call: DisplayedCall, 
/**
 * Host context that the app receives, such as its theme, display mode and size.
 */
context: AppContext, };

/**
 * App that is ready to be loaded into a frame.
 */
export type OpenedApp = { 
/**
 * Identifier of the shown app, which is also the host name of the app's origin.
 */
view: string, 
/**
 * URI of the app's page on its server.
 */
uri: string, 
/**
 * Value of the frame's attribute `sandbox`.
 */
sandbox: string, 
/**
 * Value of the frame's attribute `allow`. Empty if the app has no permission.
 */
allow: string, 
/**
 * Set unless the page declares that it prefers no border around it.
 */
hasBorder: boolean, };

/**
 * Version of a package, with the hash and origin of its files.
 */
export type PackageVersion = { 
/**
 * Version number, or the tag of a container image.
 */
version: string, 
/**
 * Hash of the package's files, or `None` if the registry provides none.
 */
integrity: string | null, 
/**
 * URL that the package is downloaded from, or `None` if it is unknown.
 */
source: string | null, };

/**
 * Pasted text, for example from a server's README.
 */
export type ParseImport = { 
/**
 * Pasted text, in one of the formats of the command `parse_import`.
 */
text: string, };

/**
 * The text in which the path of a `BlockedPath` was found.
 */
export type PathMention = "command" | "server";

/**
 * Request to let the user select a file.
 */
export type PickFile = { 
/**
 * Kind of files that the dialog shows.
 */
kind: FileKind, };

/**
 * File selected by the user.
 */
export type PickedFile = { 
/**
 * Absolute path of the file, or `None` if the user closed the dialog.
 */
file: string | null, };

/**
 * Folder selected by the user.
 */
export type PickedFolder = { 
/**
 * Absolute path of the folder, or `None` if the user closed the dialog.
 */
folder: string | null, };

/**
 * Result of pinging a server.
 */
export type PingAnswer = { 
/**
 * Round-trip time in milliseconds.
 */
milliseconds: number, };

/**
 * Definition that the user has reviewed.
 */
export type PinnedDefinition = { 
/**
 * Name of the reviewed tool or prompt.
 */
name: string, 
/**
 * Hash of the tool's or prompt's whole definition.
 */
hash: string, 
/**
 * Time of the review, in milliseconds since 1970.
 */
since: number, };

/**
 * An input of an install plan, which the user fills in. All texts are from the publisher and untrusted.
 */
export type PlanInput = { 
/**
 * Key of the input, unique within the plan.
 */
key: string, 
/**
 * Display name of the input.
 */
label: string, 
/**
 * Purpose of the input, for display.
 */
description: string | null, 
/**
 * Kind of the input's value.
 */
kind: InputKind, 
/**
 * Set if the server can't be installed without a value.
 */
required: boolean, 
/**
 * Set if the value is a secret, which is stored in the keychain.
 */
secret: boolean, 
/**
 * Set if the user may enter several values for the input.
 */
multiple: boolean, 
/**
 * Default values of the input, used if the user enters none.
 */
default: Array<string>, 
/**
 * Values that the user can choose from. Empty if any value is allowed.
 */
choices: Array<string>, 
/**
 * Example of a value, which the page shows while the field is empty.
 */
placeholder: string | null, 
/**
 * Smallest allowed value of a number, or `None` if unbounded.
 */
min: number | null, 
/**
 * Largest allowed value of a number, or `None` if unbounded.
 */
max: number | null, };

/**
 * Part of a plan that a note refers to. Names are escaped for display.
 */
export type PlanPlace = { "is": "url" } | { "is": "argument", 
/**
 * Name or label of the argument.
 */
name: string, } | { "is": "variable", 
/**
 * Name of the variable.
 */
name: string, } | { "is": "header", 
/**
 * Name of the header.
 */
name: string, } | { "is": "input", 
/**
 * Label of the input.
 */
name: string, };

/**
 * Part of a text in an install plan.
 */
export type PlannedPart = { "text": string } | { "input": string };

/**
 * Command or URL in an install plan.
 */
export type PlannedTarget = { "type": "stdio", 
/**
 * Program that the command runs.
 */
command: string, 
/**
 * Arguments of the command. Each is a sequence of parts.
 */
args: Array<Array<PlannedPart>>, 
/**
 * Environment variables, by name. Each value is a sequence of parts.
 */
env: { [key in string]: Array<PlannedPart> }, } | { "type": "http", 
/**
 * URL of the server, as a sequence of parts.
 */
url: Array<PlannedPart>, 
/**
 * HTTP transport of the server.
 */
kind: HttpKind, 
/**
 * Headers of each request, by name. Each value is a sequence of parts.
 */
headers: { [key in string]: Array<PlannedPart> }, };

/**
 * All policy rules and presets, with the state of the rule files.
 */
export type Policy = { 
/**
 * Preset that the user chose.
 */
preset: Preset, 
/**
 * Preset that the administrator of this computer set. The stricter of both presets applies.
 */
managedPreset: Preset, 
/**
 * All rules. Those of the administrator precede those of the user.
 */
rules: Array<Rule>, 
/**
 * Rule file with the user's own rules.
 */
user: RuleFile, 
/**
 * Rule file of the administrator, for all users of this computer.
 */
managed: RuleFile, };

/**
 * Policy rules and grants as a text for display and export.
 */
export type PolicyText = { 
/**
 * JSON document with all rules and grants in effect.
 */
text: string, };

/**
 * The level of consent for acts about which no rule decides.
 */
export type Preset = "balanced" | "careful";

/**
 * Part of the value of a variable or header in a preview.
 */
export type PreviewedPart = { "text": string } | "secret" | "kept";

/**
 * Configuration that would be added, with secrets masked that the keychain would store.
 */
export type PreviewedServer = { "type": "stdio", 
/**
 * Program that the command runs.
 */
command: string, 
/**
 * Path of the program on this computer, or `None` if it was not found or is part of a bundle that is not
 * unpacked yet.
 */
foundAt: string | null, 
/**
 * Arguments as passed to the program.
 */
args: Array<string>, 
/**
 * Environment variables that are set in addition to the allow-listed ones of Drawbridge.
 */
env: { [key in string]: Array<PreviewedPart> }, 
/**
 * Sandbox of the server, or `None` if it would run with all rights of the user.
 */
sandbox: Sandbox | null, } | { "type": "http", 
/**
 * URL of the server.
 */
url: string, 
/**
 * HTTP transport of the server.
 */
kind: HttpKind, 
/**
 * Headers of each request, by name.
 */
headers: { [key in string]: Array<PreviewedPart> }, };

/**
 * Settings files of other apps in a project folder. They may define servers.
 */
export type ProjectFiles = { 
/**
 * Paths of the files, relative to the folder.
 */
files: Array<string>, };

/**
 * Request that refers to a project folder, which may contain settings files that define servers.
 */
export type ProjectFolder = { 
/**
 * Path of the project folder, which must be shared with a server as a root.
 */
folder: string, };

/**
 * Servers that the settings files in a project folder define, and that are not configured here.
 */
export type ProjectServers = { 
/**
 * Path of the project folder.
 */
folder: string, 
/**
 * Paths of the settings files that define servers, relative to the folder.
 */
files: Array<string>, 
/**
 * Number of the servers that can be imported, up to a maximum.
 */
count: number, 
/**
 * Hash of the contents of the settings files that define servers.
 */
hash: string, };

/**
 * Prompt that a server lists, with its review state.
 */
export type Prompt = { 
/**
 * Name of the prompt, by which its messages are requested.
 */
name: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * Arguments that the prompt accepts.
 */
arguments: Array<PromptArgument>, 
/**
 * Icons that the server provides for display.
 */
icons: Array<Icon>, 
/**
 * Members of the definition that the other fields don't contain, as JSON.
 */
others: JsonValue | null, 
/**
 * Hash of the prompt's whole definition, to which a review refers.
 */
hash: string, 
/**
 * Review state of the prompt's definition, and warnings about it for the user.
 */
marks: ReviewMarks, };

/**
 * Argument of a prompt.
 */
export type PromptArgument = { 
/**
 * Name of the argument, as the server lists it.
 */
name: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * `true` if the argument must have a value.
 */
required: boolean, };

/**
 * Prompt that a message is part of.
 */
export type PromptOrigin = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the prompt, as its server lists it.
 */
prompt: string, 
/**
 * Arguments with which the prompt was requested, by name.
 */
arguments: { [key in string]: string }, };

/**
 * Messages of a prompt.
 */
export type PromptResult = { 
/**
 * Description that the server returned with the messages. Untrusted text.
 */
description: string | null, 
/**
 * Messages of the prompt, in order.
 */
messages: Array<Message>, };

/**
 * The reason why Drawbridge does not propose a folder for a server's sandbox.
 */
export type ProposalRefusal = "secrets" | "too_broad" | "system" | "own" | "name";

/**
 * Request for a sandbox proposal for a server whose start waits for consent.
 */
export type ProposeSandbox = { 
/**
 * Identifier of the consent request for the start of the server.
 */
id: string, 
/**
 * Network access in the sandbox, or `None` to let Drawbridge propose one.
 */
network: SandboxNetwork | null, };

/**
 * Request that refers to a model provider by its identifier.
 */
export type ProviderId = { 
/**
 * Identifier that the user chose for the provider.
 */
id: string, };

/**
 * Kind of API by which a provider offers its models.
 */
export type ProviderKind = "openai" | "responses" | "anthropic" | "gemini" | "ollama";

/**
 * Suggested settings with which the user configures a well-known provider.
 */
export type ProviderPreset = { 
/**
 * Suggested identifier of the provider.
 */
id: string, 
/**
 * Display name of the well-known provider.
 */
name: string, 
/**
 * API in which requests to the provider are encoded.
 */
kind: ProviderKind, 
/**
 * Default base URL of the API.
 */
url: string, 
/**
 * Set if the provider requires an API key.
 */
requiresKey: boolean, 
/**
 * URL of the page where the user creates API keys, or `None` if there is none.
 */
keyPageUrl: string | null, };

/**
 * Result of testing a model provider, for display.
 */
export type ProviderTest = { 
/**
 * Number of models that the provider lists.
 */
models: number, 
/**
 * Text of the model's reply, or `None` if no model was tested.
 */
reply: string | null, 
/**
 * Time from the request to the first token of the reply, in milliseconds. `None` if no reply was received.
 */
firstTokenMilliseconds: number | null, 
/**
 * Error of the test, if it failed.
 */
problem: ModelProblem | null, };

/**
 * Kind of the owner of a namespace.
 */
export type PublisherKind = "github_account" | "domain";

/**
 * Limit on a server's usage of models that was reached.
 */
export type ReachedSamplingLimit = { 
/**
 * Limited quantity: `requests`, `tokens`, `money` or `rounds`.
 */
quantity: string, 
/**
 * `true` for a limit per hour, `false` for one over all time.
 */
isPerHour: boolean, 
/**
 * Value of the limit. Money is in millionths of a US dollar.
 */
limit: number, };

/**
 * Request to read a resource.
 */
export type ReadResource = { 
/**
 * Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI that identifies the resource on its server.
 */
uri: string, 
/**
 * `true` to request the resource from the server even if the cached contents are still fresh.
 */
refresh: boolean, };

/**
 * Request to read a skill or one of its files.
 */
export type ReadSkill = { 
/**
 * Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI of the skill's `SKILL.md`.
 */
skill: string, 
/**
 * Hash of the skill's list entry that was shown to the user. The request fails if the entry has changed since.
 * `None` reads the skill as it is listed now.
 */
shownHash: string | null, 
/**
 * Path of the file, or `None` for `SKILL.md`.
 */
file: string | null, };

/**
 * Record that content of a server was read in a conversation, and so may influence the model.
 */
export type Reading = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Kind of the content: output of a tool, a prompt, or a resource.
 */
kind: ReadingKind, 
/**
 * Name of the tool or prompt, or URI of the resource, truncated to `MAX_READ_CONTENT_NAME_CHARS` characters.
 * Empty if unknown.
 */
name: string, 
/**
 * Set if the tool's definition claimed, at the time of the call, that the tool reaches an open world
 * (`openWorldHint`).
 */
openWorld: boolean, };

/**
 * Kind of a server's content that was read in a conversation.
 */
export type ReadingKind = "tool" | "prompt" | "resource" | "unknown";

/**
 * Request to read a list from the server, even if it is fresh.
 */
export type RefreshList = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Kind of the list to request.
 */
list: ListName, };

/**
 * Origin and age of a registry response.
 */
export type RegistryAnswer = { 
/**
 * Base URL of the registry.
 */
registry: string, 
/**
 * Time at which the response was received, in milliseconds since 1970.
 */
fetchedAt: number, 
/**
 * `true` if this response is from the cache.
 */
fromCache: boolean, 
/**
 * Reason why the registry could not be reached, or `None` if no request failed.
 */
offlineReason: string | null, };

/**
 * Version of a server, as listed in the registry.
 */
export type RegistryListing = { 
/**
 * Name of the server in the registry, in the form `namespace/name`.
 */
name: string, 
/**
 * Title chosen by the publisher, not verified. Must be displayed together with `name`.
 */
title: string | null, 
/**
 * Description of the server from the publisher.
 */
description: string | null, 
/**
 * Version of the server, as the publisher writes it.
 */
version: string, 
/**
 * Account or domain that owns the server's namespace.
 */
publisher: RegistryPublisher, 
/**
 * Status of the version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status, from the registry.
 */
statusMessage: string | null, 
/**
 * Time of publication, in milliseconds since 1970.
 */
publishedAt: number | null, 
/**
 * `true` if the registry lists this version as the latest.
 */
isLatest: boolean, 
/**
 * URL of the home page, as claimed by the publisher.
 */
websiteUrl: string | null, 
/**
 * URL of the source repository as claimed by the publisher.
 */
repositoryUrl: string | null, };

/**
 * Page of servers in the registry.
 */
export type RegistryPage = { 
/**
 * Latest version of each server on this page.
 */
servers: Array<RegistryListing>, 
/**
 * Number of servers that were skipped because their entry can't be parsed.
 */
unreadable: number, 
/**
 * Cursor of the next page, or `None` if this is the last one.
 */
nextCursor: string | null, 
/**
 * Origin of the response that contains the page.
 */
answer: RegistryAnswer, };

/**
 * Account or domain that owns the namespace in a server's name. The ownership implies nothing about the server's code.
 */
export type RegistryPublisher = { 
/**
 * Kind of the owner: a GitHub account or a domain.
 */
kind: PublisherKind, 
/**
 * Name of the account or domain.
 */
name: string, 
/**
 * `true` if the registry verifies the ownership of namespaces, which is known only of the official registry.
 */
checked: boolean, };

/**
 * Registry that servers are installed from.
 */
export type RegistryReport = { 
/**
 * Base URL of the registry.
 */
address: string, 
/**
 * `true` if this is the official registry.
 */
official: boolean, 
/**
 * `true` if the URL is from the environment variable `DRAWBRIDGE_REGISTRY`, which overrides the setting.
 */
named: boolean, 
/**
 * Name of the header that is sent with each request to the registry, or `None` if there is none. The value of the
 * header is stored in the keychain and never returned.
 */
header: string | null, };

/**
 * Request to search the registry.
 */
export type RegistrySearch = { 
/**
 * Text to search for in server names, at most 200 bytes. An empty text matches all servers.
 */
text: string, 
/**
 * Cursor from `next_cursor` of the previous page, or `None` for the first page.
 */
cursor: string | null, 
/**
 * `true` to send a request to the registry even if a cached response is less than an hour old.
 */
refresh: boolean, };

/**
 * Version of a server in the registry, with the list of all its versions.
 */
export type RegistryServer = { 
/**
 * Requested version of the server.
 */
listing: RegistryListing, 
/**
 * Packages and remotes of the version, of which the user selects one to install.
 */
choices: Array<InstallChoice>, 
/**
 * All versions of the server in the registry, newest first.
 */
versions: Array<RegistryVersion>, 
/**
 * Reason why the list of versions could not be requested, or `None` if it could.
 */
versionsProblem: string | null, 
/**
 * Origin of the response that contains the version.
 */
answer: RegistryAnswer, };

/**
 * Reference to a server in the registry.
 */
export type RegistryServerName = { 
/**
 * Name of the server in the registry, in the form `namespace/name`.
 */
name: string, 
/**
 * Version of the server, or `None` for the latest.
 */
version: string | null, 
/**
 * `true` to send a request to the registry even if a cached response is less than an hour old.
 */
refresh: boolean, };

/**
 * Status of a version in the registry.
 */
export type RegistryStatus = "active" | "deprecated" | "deleted" | "unknown";

/**
 * Entry in the list of a server's versions.
 */
export type RegistryVersion = { 
/**
 * Version of the server, as the publisher writes it.
 */
version: string, 
/**
 * Status of the version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status, from the registry.
 */
statusMessage: string | null, 
/**
 * Time of publication, in milliseconds since 1970.
 */
publishedAt: number | null, };

/**
 * Request to change the title of a conversation.
 */
export type RenameConversation = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * New title of the conversation.
 */
title: string, };

/**
 * Content to append to a model's streaming reply. `part` is an index into the reply's parts. An index after the last
 * part starts a new part.
 */
export type ReplyAppend = { "type": "text", 
/**
 * Index of the text part in the reply.
 */
part: number, 
/**
 * Text to append to the text part.
 */
text: string, } | { "type": "thinking", 
/**
 * Index of the reasoning part in the reply.
 */
part: number, 
/**
 * Text to append to the reasoning part.
 */
text: string, } | { "type": "tool_use", 
/**
 * Index of the new part in the reply.
 */
part: number, 
/**
 * Identifier of the tool use.
 */
id: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, 
/**
 * Name of the server, or `None` for a built-in tool or if the tool does not exist.
 */
server: string | null, 
/**
 * Name of the tool on its server, or `None` in the same cases as `server`.
 */
tool: string | null, } | { "type": "arguments", 
/**
 * Index of the part in the reply that requests the tool call.
 */
part: number, 
/**
 * JSON text to append to the tool call's arguments.
 */
text: string, };

/**
 * Part of a model's reply.
 */
export type ReplyPart = { "type": "text", 
/**
 * Text of the part, which may be Markdown.
 */
text: string, } | { "type": "thinking", 
/**
 * Text of the model's reasoning, which may be empty.
 */
text: string, } | { "type": "tool_use", 
/**
 * Identifier of the tool use, which the tool's result refers to.
 */
id: string, 
/**
 * Name of the tool, as presented to the model. It may differ from the name on the server.
 */
key: string, 
/**
 * Name of the server, or `None` for a built-in tool, for a tool of an app, or if the tool does not exist.
 */
server: string | null, 
/**
 * Name of the tool on its server, or `None` in the same cases as `server`.
 */
tool: string | null, 
/**
 * Arguments of the tool call as JSON text, incomplete while the part streams.
 */
arguments: string, };

/**
 * Reason why a model's reply ended.
 */
export type ReplyStop = { "is": "end_turn" } | { "is": "max_tokens" } | { "is": "stop_sequence" } | { "is": "tool_use" } | { "is": "refused" } | { "is": "stopped" } | { "is": "other", 
/**
 * Name of the reason, as the provider returned it.
 */
word: string, };

/**
 * Resource that a server lists.
 */
export type Resource = { 
/**
 * URI that identifies the resource on its server.
 */
uri: string, 
/**
 * Name of the resource, as its server lists it.
 */
name: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * Media type as claimed by the server.
 */
mimeType: string | null, 
/**
 * Size in bytes, as claimed by the server.
 */
size: number | null, 
/**
 * Icons that the server provides for display.
 */
icons: Array<Icon>, };

/**
 * Contents of a resource, either text or bytes.
 */
export type ResourceContents = { 
/**
 * URI that identifies the resource on its server.
 */
uri: string, 
/**
 * Media type of the contents, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Contents of the resource as text, or `None` if they are bytes.
 */
text: string | null, 
/**
 * Contents of the resource as bytes in base64, or `None` if they are text.
 */
blob: string | null, };

/**
 * Resource limits of one server with all its descendants. A server that exceeds one of them is stopped.
 */
export type ResourceLimits = { 
/**
 * Maximum number of the server's concurrent processes and threads.
 */
processes: number, 
/**
 * Maximum memory of all the server's processes together, in bytes.
 */
memoryBytes: number, 
/**
 * Maximum size of the server's own home folder, in bytes.
 */
homeBytes: number, 
/**
 * Maximum processor time of the server within an hour, in seconds, summed over all processors.
 */
processorSeconds: number, };

/**
 * Request that refers to a resource of a server by its URI.
 */
export type ResourceRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI that identifies the resource on its server.
 */
uri: string, };

/**
 * Contents of a resource, which may consist of several parts.
 */
export type ResourceResult = { 
/**
 * Parts of the resource, each either text or bytes.
 */
contents: Array<ResourceContents>, 
/**
 * `true` if the contents are from the cache, which the server permits until `fresh_until`.
 */
cached: boolean, 
/**
 * Time until which the server permits caching of the contents, in milliseconds since 1970. `None` if the contents
 * are not cached.
 */
freshUntil: number | null, };

/**
 * Resource template of a server (RFC 6570).
 */
export type ResourceTemplate = { 
/**
 * URI template (RFC 6570) that results in the resource's URI.
 */
uriTemplate: string, 
/**
 * Names of the template's variables, in order.
 */
variables: Array<string>, 
/**
 * Name of the template, as its server lists it.
 */
name: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * Media type of the resources, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Icons that the server provides for display.
 */
icons: Array<Icon>, };

/**
 * Resources used by a sandboxed server. If a limit was exceeded and the server was stopped, `excess` of that counter
 * is 1.
 */
export type ResourcesUsage = { 
/**
 * Number of processes and threads.
 */
processes: LimitCounter, 
/**
 * Memory of the processes, in bytes.
 */
memory: LimitCounter, 
/**
 * Size of the home directory, in bytes.
 */
home: LimitCounter, 
/**
 * Processor time within the last hour, in seconds.
 */
processor: LimitCounter, };

/**
 * Tool results that the user reviews before a model reads them.
 *
 * The default is `Suspicious`, because a protection that is off by default protects no user who
 * has not found the setting. Results of honest servers rarely require a review: `offers/src/review/results.rs`
 * contains the measurements.
 */
export type ResultReview = "off" | "suspicious" | "always";

/**
 * Request to generate a reply again, in a new branch.
 */
export type RetryReply = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Identifier of the original reply.
 */
item: string, 
/**
 * Model that replies, or `None` to use the conversation's model.
 */
model?: ModelRef, };

/**
 * Request to record that the user has reviewed definitions of a server's tools and prompts.
 */
export type ReviewDefinitions = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Tools whose definitions the user has reviewed.
 */
tools: Array<ReviewedDefinition>, 
/**
 * Prompts whose definitions the user has reviewed.
 */
prompts: Array<ReviewedDefinition>, };

/**
 * Review state of a definition, and warnings about it for the user.
 */
export type ReviewMarks = { 
/**
 * Review state of the definition, or `None` if there is no definition.
 */
review: ReviewState | null, 
/**
 * `true` if the server has reported a change of its list of tools or prompts that contains this definition, and
 * Drawbridge has not read the list again yet. Until then, each use of the list's items requires consent.
 */
outdated: boolean, 
/**
 * Differences from the definition that the user reviewed, or `None` if there are none.
 */
diff: DefinitionDiff | null, 
/**
 * Other names and titles that could be confused with that of the reviewed tool, prompt or server, at most ten.
 */
lookAlikes: Array<LookAlike>, 
/**
 * Parts of the definition's text that may be intended to mislead a model or to hide from the user.
 */
flags: Array<Flag>, };

/**
 * State of the user's review of a tool's definition.
 */
export type ReviewState = "reviewed" | "new" | "changed";

/**
 * Reference to a definition of a tool or prompt, as it was shown to the user.
 */
export type ReviewedDefinition = { 
/**
 * Name of the reviewed tool or prompt.
 */
name: string, 
/**
 * Hash of the definition that was shown to the user.
 */
hash: string, };

/**
 * The user's reviews of a server's tools, prompts and apps, as recorded.
 */
export type ReviewedDefinitions = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Identity of the server as pairs of label and value: its command and program, or its URL.
 */
identity: Array<[string, string]>, 
/**
 * Time at which the user last approved the identity, in milliseconds since 1970, or `None` if unknown.
 */
identitySince: number | null, 
/**
 * Issuer identifier of the authorization server that issued the server's tokens, or `None` if the user never
 * signed in to the server.
 */
issuer: string | null, 
/**
 * Tools whose definitions the user has reviewed.
 */
tools: Array<PinnedDefinition>, 
/**
 * Prompts whose definitions the user has reviewed.
 */
prompts: Array<PinnedDefinition>, 
/**
 * Pages of apps that the user has approved.
 */
apps: Array<ApprovedApp>, };

/**
 * Author of a message.
 */
export type Role = "user" | "assistant";

/**
 * Folders whose paths a server receives as its roots.
 */
export type RootsState = { 
/**
 * `true` if the user has selected the folders. Otherwise the server's first request for roots requires consent.
 */
decided: boolean, 
/**
 * Absolute paths of the folders that the user selected for the server.
 */
folders: Array<string>, 
/**
 * Absolute paths that the server actually receives: all of `folders`, or, with a sandbox, only those that the
 * sandbox allows it to access.
 */
sentFolders: Array<string>, };

/**
 * Policy rule, which applies if all its conditions hold.
 */
export type Rule = { 
/**
 * Number of the rule, as text, which identifies the rule in its source. Empty for a new rule.
 */
id: string, 
/**
 * Rule file or session that contains the rule.
 */
source: RuleSource, 
/**
 * Effect of the rule: allow, ask or deny.
 */
effect: RuleEffect, 
/**
 * Glob pattern for the names of servers, with `*` and `?`.
 */
server: string, 
/**
 * Glob pattern for the names of tools, or `None` if the rule also applies to other acts.
 */
tool: string | null, 
/**
 * Direction of the acts that the rule applies to: from the host to servers, such as calls, or from servers, such
 * as sampling.
 */
direction: RuleDirection, 
/**
 * Conditions on arguments of the call.
 */
arguments: Array<ArgumentRule>, 
/**
 * Condition on the server's claims about the tool, or `None` if the rule has none.
 */
annotations: ClaimRule | null, 
/**
 * Limits on the sampling requests that the rule allows. A rule that allows sampling requests must have them.
 */
sampling?: SamplingBudget, 
/**
 * Duration for which the rule applies, such as this session or any time.
 */
scope: RuleScope, 
/**
 * Time at which the rule expires, in milliseconds since 1970, or `None` if it has no expiry.
 */
expiresAt: number | null, 
/**
 * Note that the user wrote about the rule.
 */
note: string, 
/**
 * `true` if the rule was created by the setting that the user trusts a server.
 */
trustedServer: boolean, 
/**
 * Glob pattern for the command line, the program or the URL of servers, or `None` if the rule has no such
 * condition. Not permitted in a rule that allows.
 */
identity: string | null, 
/**
 * `true` if the rule also allows calls by a model that has read untrusted content, such as that of another server.
 */
afterUntrusted: boolean, };

/**
 * The direction of the acts to which a rule applies: from the host to servers, or the reverse.
 */
export type RuleDirection = "to_server" | "from_server" | "both";

/**
 * Effect of a rule on matching acts, ordered by strictness.
 */
export type RuleEffect = "allow" | "ask" | "deny";

/**
 * Path and state of a rule file.
 */
export type RuleFile = { 
/**
 * Path of the rule file, which need not exist.
 */
path: string, 
/**
 * `true` if the rule file exists. A missing file is like one without rules and with the preset balanced.
 */
exists: boolean, 
/**
 * Reason why the rule file can't be used, or `None` if it can. With an unusable file, every act requires consent.
 */
problem: string | null, 
/**
 * Time at which another program last changed the rule file since Drawbridge was started, in milliseconds since
 * 1970. `None` if no program did.
 */
changed: number | null, };

/**
 * Reference to a rule by its source and number.
 */
export type RuleRef = { 
/**
 * Rule file or session that contains the rule.
 */
source: RuleSource, 
/**
 * Number of the rule, as text, which identifies the rule in its source.
 */
id: string, };

/**
 * The period or conversation in which a rule is valid, in addition to its expiry.
 */
export type RuleScope = { "kind": "always" } | { "kind": "conversation", 
/**
 * Identifier of the conversation in which the rule is valid.
 */
conversation: string, } | { "kind": "session" };

/**
 * The source of a rule: a file or the current session.
 */
export type RuleSource = "managed" | "user" | "session";

/**
 * Last act that a policy rule allowed without a consent request.
 */
export type RuleUse = { 
/**
 * Reference to the rule that allowed the act.
 */
rule: RuleRef, 
/**
 * Time of the last act that the rule allowed, and originator of the act.
 */
lastUse: LastUse, };

/**
 * Content of a server after which a model's call of a tool of the same server requires consent, even if a rule or
 * grant allows the call.
 *
 * The specification assumes that a tool without `openWorldHint` reaches an open world. Few servers send the hint, so
 * with this assumption nearly every local server would require consent for each call, and users would approve without
 * reading. Therefore a local tool counts as open-world only if it sends the hint. A remote server always counts as
 * open-world. The other hints have no effect: a read-only tool can send data to third parties in its arguments, and
 * `openWorldHint: false` is an untrusted claim that would loosen the policy.
 */
export type SameServerFlow = "open_world" | "everything" | "off";

/**
 * Limits on sampling requests that a rule allows without consent.
 */
export type SamplingBudget = { 
/**
 * Maximum number of sampling requests per hour.
 */
requestsPerHour: number, 
/**
 * Maximum number of tokens per hour, of requests and responses together.
 */
tokensPerHour: number, };

/**
 * Limits on the usage of the user's models. `None` means no limit.
 */
export type SamplingLimits = { 
/**
 * Maximum number of sampling requests, or `None` for no limit.
 */
requests: number | null, 
/**
 * Maximum number of tokens, of requests and responses together, or `None` for no limit.
 */
tokens: number | null, 
/**
 * Maximum cost in millionths of a US dollar, or `None` for no limit.
 */
micros: number | null, };

/**
 * Content that a provider's API can't represent, and its conversion.
 */
export type SamplingLoss = { 
/**
 * Stable identifier of the kind of content, or of the request parameter, that can't be represented.
 */
feature: string, 
/**
 * Conversion of the content: `refuse` rejects the request, `sendAfter` sends the content in a following message,
 * `sayInText` describes it in text, `leaveOut` drops it.
 */
conversion: string, };

/**
 * Model that responds to a sampling request, with the reason for its choice.
 */
export type SamplingModel = { 
/**
 * Provider and identifier of the model.
 */
model: ModelRef, 
/**
 * Name of the model to display.
 */
name: string, 
/**
 * Reason why this model was chosen.
 */
reason: ModelChoiceReason, 
/**
 * Maximum cost of the request in millionths of a US dollar, or `None` if the price is unknown.
 */
maxMicros: number | null, };

/**
 * Sampling settings and usage of a server.
 */
export type SamplingReport = { 
/**
 * Sampling settings that the user made for the server.
 */
settings: SamplingSettings, 
/**
 * The server's usage of models within the last hour.
 */
lastHour: SamplingUsage, 
/**
 * The server's total usage of models, without a time limit.
 */
total: SamplingUsage, 
/**
 * Last request of the server or its apps that used a model, or `None` if there was none.
 */
lastUse?: LastUse, 
/**
 * Reached limit that currently blocks requests, or `None` if no limit is reached.
 */
reachedLimit: ReachedSamplingLimit | null, 
/**
 * `true` if the server must be restarted, because the sampling capability that was declared to it differs from the
 * current settings.
 */
outdated: boolean, };

/**
 * Sampling request of a server.
 */
export type SamplingRequest = { 
/**
 * Messages that the model receives, in order.
 */
messages: Array<Message>, 
/**
 * System prompt that the server requests, or `None` if it requests none.
 */
systemPrompt: string | null, 
/**
 * Maximum number of tokens of the response.
 */
maxTokens: number, 
/**
 * Sampling temperature that the server requests, or `None` for the model's default.
 */
temperature: number | null, 
/**
 * Sequences that end the response.
 */
stopSequences: Array<string>, 
/**
 * Context that the server requests: `none`, `thisServer` or `allServers`. Drawbridge never adds any context.
 */
includeContext: string | null, 
/**
 * Names of models that the server prefers, best first.
 */
modelHints: Array<string>, 
/**
 * Priority that the server gives to low cost, from 0 to 1, or `None` if it gives none.
 */
costPriority: number | null, 
/**
 * Priority that the server gives to speed, from 0 to 1, or `None` if it gives none.
 */
speedPriority: number | null, 
/**
 * Priority that the server gives to the capabilities of the model, from 0 to 1, or `None` if it gives none.
 */
intelligencePriority: number | null, 
/**
 * Tools for the model. The server executes their calls.
 */
tools: Array<SamplingTool>, 
/**
 * Mode of tool choice: `auto`, `required` or `none`.
 */
toolChoice: string | null, 
/**
 * Metadata for the model's provider, as JSON.
 */
metadata: JsonValue | null, };

/**
 * Response to a sampling request.
 */
export type SamplingResponse = { 
/**
 * Content blocks of the response.
 */
content: Array<Content>, 
/**
 * Name of the model that generated the response, or `user` if the user wrote it.
 */
model: string, 
/**
 * Reason why the model ended the response.
 */
stopReason: string | null, };

/**
 * Progress of a model that responds to a sampling request.
 */
export type SamplingRunState = { "is": "no" } | { "is": "running", 
/**
 * Text that the model has generated so far.
 */
text: string, 
/**
 * `true` while the model reasons before it generates text.
 */
thinking: boolean, } | { "is": "done", 
/**
 * Number of tokens in the request, as reported by the provider, or `None` if it reports none.
 */
inputTokens: number | null, 
/**
 * Number of tokens in the response, as reported by the provider, or `None` if it reports none.
 */
outputTokens: number | null, 
/**
 * Cost in millionths of a US dollar, if the price is known.
 */
micros: number | null, 
/**
 * `true` if the model called no tool although the request requires a tool call.
 */
noToolUsed: boolean, } | { "is": "stopped" } | { "is": "failed", 
/**
 * Stable identifier of the error's cause.
 */
code: ModelErrorCode, 
/**
 * Cause and suggested remedy, for the user.
 */
message: string, };

/**
 * Settings for sampling requests of one server.
 */
export type SamplingSettings = { 
/**
 * `true` if the server may send sampling requests.
 */
isEnabled: boolean, 
/**
 * `true` if the requests may contain tools for the model.
 */
tools: boolean, 
/**
 * Maximum number of tokens of one response.
 */
maxTokens: number, 
/**
 * Model that responds to all requests, or `None` to choose it by the server's preferences.
 */
model: ModelRef | null, 
/**
 * Limits on the server's usage of models within one hour.
 */
perHour: SamplingLimits, 
/**
 * Limits on the server's total usage of models.
 */
total: SamplingLimits, };

/**
 * Step of a sampling request that the user or a model works on.
 */
export type SamplingStep = "request" | "running" | "response";

/**
 * Tool in a sampling request.
 */
export type SamplingTool = { 
/**
 * Name of the tool, which the model's calls refer to.
 */
name: string, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * JSON Schema of the arguments.
 */
inputSchema: JsonValue, };

/**
 * Usage of the user's models by one server.
 */
export type SamplingUsage = { 
/**
 * Number of sampling requests.
 */
requests: number, 
/**
 * Number of tokens, of requests and responses together.
 */
tokens: number, 
/**
 * Cost in millionths of a US dollar, without requests whose price is unknown.
 */
micros: number, };

/**
 * Sandbox settings of a local server.
 */
export type Sandbox = { 
/**
 * Folders that the server may access. Paths of existing folders are stored in canonical form.
 */
folders: Array<SandboxFolder>, 
/**
 * Hosts that the server may connect to.
 */
network: SandboxNetwork, };

/**
 * Folder that a sandboxed server can access.
 */
export type SandboxFolder = { 
/**
 * Absolute path of the folder.
 */
path: string, 
/**
 * Kind of access that the server has to the folder.
 */
access: FolderAccess, };

/**
 * Kinds of access that the user or the host grants to an app page. By default, none is granted.
 */
export type SandboxGrants = { 
/**
 * Set if declared origins in the internet or a private network are granted.
 */
declaredOrigins: boolean, 
/**
 * Set if declared origins on this computer are granted.
 */
loopback: boolean, 
/**
 * Set if the declared source `*`, which means every host, is granted.
 */
everyHost: boolean, 
/**
 * Permissions that are granted if the app page requests them.
 */
permissions: AppPermissions, };

/**
 * Network access of a sandboxed server.
 */
export type SandboxNetwork = { "preset": "files_only" } | { "preset": "named_hosts", 
/**
 * Host patterns such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
 */
hosts: Array<string>, } | { "preset": "full" };

/**
 * Sandbox proposal for a server whose start waits for consent, or the reason why there is none.
 */
export type SandboxOffer = { "is": "possible", 
/**
 * Settings of the proposed sandbox.
 */
sandbox: Sandbox, 
/**
 * Files and hosts that the server could access in the sandbox.
 */
plan: SandboxPlan, 
/**
 * Files that the server appears to need but could not access, as sentences for the user.
 */
missing: Array<string>, } | { "is": "container" } | { "is": "broad_folder", 
/**
 * Working folder of the server.
 */
folder: string, } | { "is": "impossible", 
/**
 * Settings of the proposed sandbox.
 */
sandbox: Sandbox, 
/**
 * Reason why the sandbox can't be set up, as a sentence for the user.
 */
problem: string, 
/**
 * Stable identifier of the cause, or `None` if the problem is not the sandbox.
 */
cause: SandboxProblem | null, };

/**
 * Resolved sandbox: its mechanism, and all files and hosts that the server could access.
 */
export type SandboxPlan = { 
/**
 * Mechanism that enforces the sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
 */
mechanism: string, 
/**
 * Folders that the user configured for the sandbox.
 */
folders: Array<SandboxFolder>, 
/**
 * Paths of the server's program and its files, which the server can read.
 */
program: Array<string>, 
/**
 * Paths of the operating system that the server can read.
 */
system: Array<string>, 
/**
 * Private home folder of the server, which it can read and write.
 */
home: string, 
/**
 * Paths inside the accessible folders that stay hidden because they contain Drawbridge's records and secrets.
 */
hidden?: Array<string>, 
/**
 * Hosts that the server may connect to.
 */
network: SandboxNetwork, 
/**
 * Resource limits. A server that exceeds one is stopped.
 */
limits: ResourceLimits, };

/**
 * Stable identifier of the reason why a sandbox can't be set up. Drawbridge's page has a text and a button for each of
 * them.
 */
export type SandboxProblem = "not_whole" | "no_folder" | "leads" | "contradiction" | "exposes" | "changed" | "out_of_reach" | "not_here" | "hosts" | "no_hosts" | "no_home";

/**
 * Files and hosts that a server could access if it were started now.
 */
export type SandboxReport = { 
/**
 * Sandbox of the server, or `None` if it has none or it can't be set up.
 */
plan: SandboxPlan | null, 
/**
 * Reason why the server could not be started, as a sentence for the user, or `None` if it could.
 */
problem: string | null, 
/**
 * Stable identifier of the reason why the sandbox can't be set up, or `None` if the problem is not the sandbox or
 * there is none.
 */
cause?: SandboxProblem, 
/**
 * Files that the server appears to need but can't access, as sentences for the user.
 */
missing?: Array<string>, };

/**
 * Request to save a file that a shown MCP app offers, at a place that the user selects.
 */
export type SaveAppFile = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Number of the app's request that offers the file.
 */
request: number, 
/**
 * Index of the file to save among the files in the app's request.
 */
file: number, };

/**
 * Request to save binary content from a server to a file.
 */
export type SaveMedia = { 
/**
 * Title from which a file name is suggested. Untrusted text from the server.
 */
title: string, 
/**
 * Media type as claimed by the server. Empty if unknown.
 */
mimeType: string, 
/**
 * Binary content to save, encoded in Base64.
 */
data: string, };

/**
 * Result of saving an export or other data to a file.
 */
export type SavedFile = { 
/**
 * Path of the written file, or `None` if the user closed the dialog.
 */
path: string | null, };

/**
 * A system prompt that the user saved under a name.
 */
export type SavedSystemPrompt = { 
/**
 * Identifier of the saved prompt. Empty for a new one.
 */
id: string, 
/**
 * Name of the saved prompt, written by the user. Unique among the saved prompts.
 */
name: string, 
/**
 * Text of the saved system prompt.
 */
text: string, };

/**
 * Reference to a saved system prompt.
 */
export type SavedSystemPromptRef = { 
/**
 * Identifier of the saved prompt.
 */
id: string, };

/**
 * All saved system prompts: the content of `system-prompts.json`, and the result of the page's commands that read or
 * change them.
 */
export type SavedSystemPrompts = { 
/**
 * Saved prompts, in the order in which they were first saved.
 */
prompts: Array<SavedSystemPrompt>, };

/**
 * Search over all conversations.
 */
export type SearchHistory = { 
/**
 * Words that an item must all contain. The last word may be incomplete. Chinese, Japanese and Korean text matches
 * anywhere in a word.
 */
text: string, 
/**
 * Maximum number of results to return.
 */
limit: number, 
/**
 * Value of `number` in an earlier result. Only older items are returned. `None` starts with the newest.
 */
before?: number, };

/**
 * Part of a server's configuration, outside of variables and headers, from which a secret was removed.
 */
export type SecretPlace = { "is": "argument", 
/**
 * Position of the argument, starting at 1.
 */
number: number, } | { "is": "sign_in" } | { "is": "url" } | { "is": "command" } | { "is": "folder" } | { "is": "sandbox" };

/**
 * Result of storing the secrets of a server.
 */
export type SecretStorageReport = { 
/**
 * Reason why the secrets are stored only until Drawbridge exits, or `None` if the keychain stores them.
 */
onlyThisRun: string | null, };

/**
 * The place where secrets are currently stored. The error messages suggest a remedy to the user.
 */
export type SecretsStatus = { "is": "keychain" } | { "is": "locked", 
/**
 * Error message of the keychain.
 */
cause: string, } | { "is": "missing", 
/**
 * Error message that explains why there is no keychain.
 */
cause: string, } | { "is": "broken", 
/**
 * Error message, with advice for the user.
 */
cause: string, };

/**
 * Project whose servers the user has seen.
 */
export type SeenProject = { 
/**
 * Path of the project folder, which must be shared with a server as a root.
 */
folder: string, 
/**
 * Hash of the settings files, as in `hash`.
 */
hash: string, };

/**
 * Message to send to the model of a conversation.
 */
export type SendMessage = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Text of the message. May be empty if there are attachments.
 */
text: string, 
/**
 * Files and resources that the user attached to the message.
 */
attachments: Array<MessageAttachment>, 
/**
 * Model that replies to this and later messages, or `None` to keep the conversation's model.
 */
model?: ModelRef, 
/**
 * Identifier of the item after which the message is inserted, or `None` for the last item of the selected branch.
 */
parent?: string, };

/**
 * Configuration and state of a server.
 */
export type Server = { 
/**
 * Name of the server in the settings, unique.
 */
name: string, 
/**
 * Configuration of the server, as in the settings file.
 */
config: ServerConfig, 
/**
 * Program and arguments on one line, quoted where needed, or the URL of a remote server.
 */
commandLine: string, 
/**
 * URL of a remote server, parsed into its parts. `None` for a local server.
 */
url: UrlParts | null, 
/**
 * Transport of the server: `stdio`, `streamable-http` or `http-sse`, or `http` if it is not detected yet.
 */
transport: string, 
/**
 * State of the server's process or connection.
 */
state: ServerState, 
/**
 * Time of the last state change, in milliseconds since 1970.
 */
since: number, 
/**
 * `true` if the user has approved this exact command or URL.
 */
approved: boolean, 
/**
 * Hash of the command or URL that was launched, which a grant for it has as `boundHash`. `None` if the server was
 * not launched.
 */
launchedHash?: string, 
/**
 * Protocol revision of the session, or `None` if there is no session.
 */
revision: string | null, 
/**
 * Explanation of how Drawbridge detected the protocol revision and, for a remote server, the transport. `None`
 * before the detection.
 */
detection: string | null, 
/**
 * Unverified claims of the server about itself, or `None` before the server has sent them.
 */
claims: ServerClaims | null, 
/**
 * Capabilities of the server as named in the protocol, such as `tools.listChanged`.
 */
capabilities: Array<string>, 
/**
 * Instructions of the server for a model, or `None` if it provides none. Untrusted text.
 */
instructions: string | null, 
/**
 * Number of items in each list.
 */
counts: ListCounts, 
/**
 * Number of tools and prompts that the user has not reviewed, or `None` if there are none.
 */
unreviewed?: UnreviewedCounts, 
/**
 * Folders whose paths the server receives as its roots.
 */
roots: RootsState, 
/**
 * URIs of the resources to which Drawbridge is subscribed.
 */
subscriptions: Array<string>, 
/**
 * Reason why change notifications currently do not arrive, or `None` if they do. The subscriptions are retried.
 */
subscriptionsLost: string | null, 
/**
 * Minimum level of log messages that was set for the server, or `None` if none was set.
 */
logLevel: string | null, 
/**
 * `true` if consent requests of the server are denied automatically.
 */
muted: boolean, 
/**
 * Duration of the user's trust in the server. While the server is trusted, its reviewed tools may be called
 * without a consent request.
 */
trust: TrustDuration, 
/**
 * Data flow settings of the server.
 */
flow: DataFlow, 
/**
 * Time at which a temporary mute ends, in milliseconds since 1970. A server is muted temporarily after the user
 * has denied three of its consent requests in a row. `None` if no temporary mute is in effect.
 */
mutedUntil: number | null, 
/**
 * Number of the server's requests that were refused automatically, because of a mute or too many requests, since
 * the user last denied all pending requests of the server at once.
 */
refusedConsentRequests: number, 
/**
 * Warnings about the server's claims about itself.
 */
marks: ReviewMarks, 
/**
 * Process identifier of a local server, while it runs.
 */
pid: number | null, 
/**
 * Mechanism that enforces the running server's sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`. `None` without
 * a sandbox.
 */
sandboxMechanism?: string, 
/**
 * Origin of the installed version, or `None` if the server is not from a registry or a bundle.
 */
installed?: InstallationInfo, };

/**
 * Call of a tool, a prompt or a resource, with its current state.
 */
export type ServerCall = { 
/**
 * Identifier of the call, chosen by its caller.
 */
id: string, 
/**
 * Name of the called server in the settings.
 */
server: string, 
/**
 * Kind of the call: a tool, a prompt or a resource.
 */
kind: CallKind, 
/**
 * Name of the tool or prompt, or URI of the resource.
 */
name: string, 
/**
 * Name, on the server, of the tool whose shown MCP app provides the called tool and receives the call. `None` if
 * the server itself does both.
 */
app?: string, 
/**
 * Time at which the caller made the call.
 */
startedAt: number, 
/**
 * Current state of the call.
 */
state: CallState, 
/**
 * Latest progress that the server reported, or `None` if it reported none.
 */
progress: CallProgress | null, 
/**
 * Task that the server runs for the call, or `None` if it runs none.
 */
task: CallTask | null, 
/**
 * Identifier of the conversation that the call belongs to, if any.
 */
conversation: string | null, 
/**
 * Time until which the user can repeat the completed call without another consent request. `None` if each call
 * requires its own decision, and for calls that did not complete.
 */
repeatableUntil?: number, };

/**
 * Tools, prompts, resources and templates of a server.
 */
export type ServerCatalog = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Tools that the server currently lists.
 */
tools: Array<Tool>, 
/**
 * Prompts that the server currently lists.
 */
prompts: Array<Prompt>, 
/**
 * Resources that the server currently lists.
 */
resources: Array<Resource>, 
/**
 * Resource templates that the server currently lists.
 */
templates: Array<ResourceTemplate>, 
/**
 * Reasons why some lists are incomplete. Empty if all lists are complete.
 */
notes: Array<string>, 
/**
 * Time until which each list may be used without requesting it again.
 */
freshUntil: CatalogExpiry, };

/**
 * Unverified claims of a server about itself.
 */
export type ServerClaims = { 
/**
 * Name that the server reports in its server info.
 */
name: string, 
/**
 * Display title that the server reports in its server info.
 */
title: string | null, 
/**
 * Version of the server's implementation.
 */
version: string, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * URL of the server's website, not verified.
 */
websiteUrl: string | null, };

/**
 * Requirements of a server's command that this computer does not have.
 */
export type ServerCommandCheck = { 
/**
 * Set if the program does not exist, neither in the search path nor at its path, or is not executable.
 */
isProgramMissing: boolean, 
/**
 * Set if the working folder does not exist, or is no folder.
 */
isFolderMissing: boolean, 
/**
 * Set if the path of the working folder is not absolute. The server can't be started there.
 */
isFolderRelative: boolean, };

/**
 * Configuration of a local or remote server.
 */
export type ServerConfig = { "type": "stdio", 
/**
 * Program as a name on the search path or as a path.
 */
command: string, 
/**
 * Arguments as passed to the program.
 */
args: Array<string>, 
/**
 * Environment variables of the server, in addition to those that Drawbridge passes on from its own
 * environment.
 */
env: { [key in string]: string }, 
/**
 * Names of the variables whose values are stored in the keychain. In responses, `env` contains
 * `${secret:NAME}` as their value, and an update with this value keeps the stored one.
 */
secretEnv?: Array<string>, 
/**
 * Working directory of the server.
 */
cwd: string | null, 
/**
 * Sandbox of the server, or `None` if it runs with all rights of the user.
 */
sandbox?: Sandbox, 
/**
 * The only MCP protocol revision that may be used, such as `2025-06-18`, or `None` to negotiate the revision.
 */
revision: string | null, 
/**
 * Tools that Drawbridge offers to models, or `None` for all. In an update, `None` keeps the current setting.
 */
tools?: ToolFilter, 
/**
 * `false` if the server does not start together with Drawbridge, or `None` if it does, once its start is
 * approved. In an update, `None` keeps the current setting.
 */
autostart?: boolean, } | { "type": "http", 
/**
 * URL of the server.
 */
url: string, 
/**
 * Headers of each request.
 */
headers: Array<HttpHeader>, 
/**
 * The only HTTP transport that may be used, or `None` to detect the transport.
 */
kind: HttpKind | null, 
/**
 * Sign-in settings that override discovered metadata, or `None` if there are none.
 */
auth: AuthSettings | null, 
/**
 * The only MCP protocol revision that may be used, or `None` to negotiate the revision.
 */
revision: string | null, 
/**
 * Tools that Drawbridge offers to models, or `None` for all. In an update, `None` keeps the current setting.
 */
tools?: ToolFilter, 
/**
 * `false` if the server does not start together with Drawbridge, or `None` if it does, once its start is
 * approved. In an update, `None` keeps the current setting.
 */
autostart?: boolean, };

/**
 * Format in which one server is exported.
 */
export type ServerExportForm = "mcp_servers" | "vs_code" | "link" | "link_markdown";

/**
 * The instructions that a server provides for models.
 */
export type ServerInstructions = { 
/**
 * Name of the server that provides the instructions.
 */
server: string, 
/**
 * Text of the instructions, as it would be sent to a model.
 */
text: string, 
/**
 * Hash of the instructions. The user approves them by this hash in `instructions`.
 */
hash: string, };

/**
 * The limits of a server, stored in the user's settings under `limits`. Values out of range are clamped.
 */
export type ServerLimits = { 
/**
 * Maximum number of concurrent calls; further ones are refused. Default: 256.
 */
calls: number, 
/**
 * Maximum number of pending consent requests; further ones are refused. Default: 10.
 */
questions: number, 
/**
 * Maximum rate of consent requests per minute, with a burst of as many as in ten seconds; further ones are
 * refused. Default: 180.
 */
questionsPerMinute: number, 
/**
 * Maximum rate of notifications recorded in the activity per second, with a burst of twice as many; further ones
 * are omitted and counted. Their effects (progress, changed lists) are merged and never lost. Default: 1,000.
 */
notificationsPerSecond: number, 
/**
 * Maximum number of bytes read per minute, which may arrive in one burst; beyond it, reading slows down. Default:
 * 1 GiB.
 */
bytesPerMinute: number, 
/**
 * Maximum size of a message, in bytes; a request with a larger response fails. Default: 16 MiB.
 */
messageBytes: number, 
/**
 * Maximum size of the activity log, in bytes; the oldest entries are dropped first. Default: 8 MiB.
 */
keptBytes: number, 
/**
 * Maximum number of processes and threads of a sandboxed server; exceeding it stops the server. Default: 512.
 */
processes: number, 
/**
 * Maximum memory of a sandboxed server, in bytes; exceeding it stops the server. Default: 4 GiB.
 */
memoryBytes: number, 
/**
 * Maximum size of a sandboxed server's home directory, in bytes; exceeding it stops the server. Default: 2 GiB.
 */
homeBytes: number, 
/**
 * Maximum processor time of a sandboxed server within an hour, in seconds; exceeding it stops the server.
 * Default: 30 minutes.
 */
processorSeconds: number, };

/**
 * Request that refers to a server by its name in the settings.
 */
export type ServerName = { 
/**
 * Name of the server in the settings.
 */
server: string, };

/**
 * The source from which a server was installed.
 */
export type ServerOrigin = { "from": "registry", 
/**
 * URL of the registry that lists the server.
 */
registry: string, 
/**
 * Name of the server, as `namespace/name`.
 */
name: string, 
/**
 * Version of the server that was installed from the registry.
 */
version: string, 
/**
 * The package or remote that was installed.
 */
target: InstallTarget, 
/**
 * Unpacked files, if the package is a bundle, or else `None`.
 */
files: BundleFiles | null, } | { "from": "bundle", 
/**
 * Name of the server in the bundle's manifest.
 */
name: string, 
/**
 * Version of the server in the bundle's manifest.
 */
version: string, 
/**
 * The bundle's files, which were unpacked.
 */
files: BundleFiles, };

/**
 * State of a server's process or connection.
 */
export type ServerState = { "is": "stopped" } | { "is": "awaiting_approval" } | { "is": "starting" } | { "is": "ready" } | { "is": "stopping" } | { "is": "reconnecting", 
/**
 * Number of the next attempt, counted from 1.
 */
attempt: number, 
/**
 * Time of the next attempt, in milliseconds since 1970.
 */
at: number, 
/**
 * Reason why the server exited or the connection was lost.
 */
cause: string, } | { "is": "failed", 
/**
 * Kind of the error, by which the page selects the message and the actions that it shows.
 */
reason: FailureReason, 
/**
 * Cause of the failure, as a sentence for the user.
 */
message: string, 
/**
 * Last lines that the server wrote to standard error.
 */
stderr: Array<string>, 
/**
 * Folders that were searched for the command, if it was not found.
 */
searchedFolders: Array<string>, 
/**
 * Suggested remedy for the error, if known.
 */
hint: string | null, 
/**
 * Paths to which the sandbox may have denied access.
 */
blocked?: Array<BlockedPath>, 
/**
 * Reason why the sandbox can't be set up, if this caused the failure.
 */
sandbox?: SandboxProblem, 
/**
 * Refusal of the start by the user or a rule, if there was one.
 */
refusal?: StartRefusal, } | { "is": "needs_sign_in", 
/**
 * Reason why the server requires a sign-in, as a sentence for the user.
 */
cause: string, 
/**
 * `true` if a sign-in is in progress.
 */
signingIn: boolean, };

/**
 * Request to change the host context of a shown MCP app, such as its theme, display mode or size.
 */
export type SetAppContext = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Host context of the app after the change.
 */
context: AppContext, };

/**
 * Request to let models use the tools of a shown MCP app, or to turn them off.
 */
export type SetAppTools = { 
/**
 * Identifier of the shown MCP app.
 */
view: string, 
/**
 * Hash of the tool definitions that were shown to the user, or `None` to turn the tools off.
 */
hash: string | null, };

/**
 * Request to replace the settings of a conversation.
 */
export type SetConversation = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Settings that replace those of the conversation.
 */
settings: ConversationSettings, };

/**
 * Request to set the data flow settings of a server: after which of its content a model's later calls require consent,
 * and which of its results the user reviews before a model reads them.
 */
export type SetDataFlow = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * New data flow settings of the server. A request that omits one of their members is rejected.
 */
flow: DataFlow, };

/**
 * Request to store the unsent text in the message field of a conversation.
 */
export type SetDraft = { 
/**
 * Identifier of the conversation, which consists of letters, digits and dashes.
 */
conversation: string, 
/**
 * Text in the message field, which may be empty.
 */
text: string, };

/**
 * Request to set the log level of a server.
 */
export type SetLogLevel = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Minimum level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
 */
level: string, };

/**
 * Request to change the preset.
 */
export type SetPreset = { 
/**
 * Preset to use from now on.
 */
preset: Preset, };

/**
 * Request to add or change a provider.
 */
export type SetProvider = { 
/**
 * Identifier of the provider, which consists of letters, digits, `-`, `_` and `.`.
 */
id: string, 
/**
 * Name of the provider for display.
 */
name: string, 
/**
 * Kind of the provider, which determines the API that Drawbridge uses.
 */
kind: ProviderKind, 
/**
 * Base URL to which paths of the provider's API are appended.
 */
url: string, 
/**
 * Maximum time without received data during a reply, in seconds, or `None` for the default.
 */
silenceSeconds?: number | null, 
/**
 * Conversions that the user chose for content that the provider's API can't represent.
 */
conversions: Array<ConversionChoice>, };

/**
 * Request to store the API key of a provider. The key is bound to the provider's current URL.
 */
export type SetProviderKey = { 
/**
 * Identifier that the user chose for the provider.
 */
id: string, 
/**
 * API key, or an empty string to delete it.
 */
key: string, };

/**
 * Request to change the registry.
 */
export type SetRegistry = { 
/**
 * Base URL of the registry, with the scheme https, or http for this computer. `None` for the official registry.
 */
address: string | null, 
/**
 * Header that is sent with each request, if any.
 */
header: SetRegistryHeader | null, };

/**
 * Header that is sent with each request to the registry.
 */
export type SetRegistryHeader = { 
/**
 * Name of the header, such as `Authorization`.
 */
name: string, 
/**
 * Value of the header, which is stored in the keychain. `None` keeps the stored value for this URL.
 */
value: string | null, };

/**
 * Request to set the folders whose paths a server receives as its roots.
 */
export type SetRoots = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Absolute paths of the folders that the server receives as its roots.
 */
folders: Array<string>, };

/**
 * Request to change the sampling settings of a server.
 */
export type SetSampling = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * New sampling settings of the server.
 */
settings: SamplingSettings, };

/**
 * Request to replace a secret of a server.
 */
export type SetSecret = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the header, environment variable or sign-in secret.
 */
header: string, 
/**
 * New value of the secret.
 */
value: string, };

/**
 * Request to set or end the user's trust in a server.
 */
export type SetTrust = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Duration of the trust. The value `no` ends it.
 */
trust: TrustDuration, };

/**
 * Settings of Drawbridge that the user can change.
 */
export type Settings = { 
/**
 * Color theme of Drawbridge's page.
 */
theme: Theme, 
/**
 * Language of Drawbridge's page and of its system notifications.
 */
language: Language, 
/**
 * `true` if the user has closed the welcome screen.
 */
welcomeDone: boolean, 
/**
 * `true` to show a system notification about each new consent request while Drawbridge's window is in the
 * background.
 */
announce: boolean, 
/**
 * Limits for each server, or `None` for the defaults.
 */
limits?: ServerLimits, 
/**
 * Time for which entries of the audit log are kept, in days, or 0 for an unlimited time.
 */
auditDays: number, 
/**
 * Maximum size of the audit log in megabytes, or 0 for unlimited.
 */
auditMegabytes: number, 
/**
 * `true` if the audit log stores payloads in addition to their hashes.
 */
auditContents: boolean, 
/**
 * Limits on the content that a model receives, or `None` for the defaults.
 */
chat?: ChatBounds, 
/**
 * Action of Drawbridge when the user closes its window while servers run.
 */
onClose: CloseAction, 
/**
 * `true` if Drawbridge checks for newer versions of itself automatically.
 */
checkUpdates: boolean, 
/**
 * Zoom of Drawbridge's page in percent, from `MIN_ZOOM` to `MAX_ZOOM`, where 100 is the normal size.
 */
zoom: number, 
/**
 * `true` to show a menu bar in each window. Has no effect on macOS, which always shows one.
 */
menuBar: boolean, };

/**
 * Endpoint that receives credentials, codes or tokens during or after a sign-in.
 */
export type SignInEndpoint = { 
/**
 * Purpose for which the endpoint receives data.
 */
purpose: EndpointUse, 
/**
 * URL of the endpoint, parsed into its parts.
 */
url: UrlParts, 
/**
 * Issuer identifier of the authorization server whose metadata lists the endpoint.
 */
issuer: string, 
/**
 * `true` if the endpoint is on another domain than the issuer.
 */
isOnOtherDomain: boolean, };

/**
 * Stable identifier of the reason why a sign-in failed. The page has a message and suggested actions for each.
 */
export type SignInFailure = "declined" | "cancelled" | "timed_out" | "unreachable" | "bad_response" | "unsafe_url" | "resource_mismatch" | "issuer_mismatch" | "no_pkce" | "no_authorization_server" | "no_client_id" | "other_issuer" | "refused" | "browser" | "callback" | "too_many_requests" | "keychain_locked" | "keychain_missing" | "storage" | "key" | "no_proof" | "unbound" | "not_approved" | "sign_in_needed" | "not_prepared";

/**
 * Phase of a sign-in.
 */
export type SignInPhase = "discovering" | "awaiting_consent" | "awaiting_browser" | "exchanging";

/**
 * State of a sign-in that is in progress.
 */
export type SignInProgress = { 
/**
 * Phase of the sign-in, such as waiting for the browser.
 */
phase: SignInPhase, 
/**
 * Reason why the sign-in was started.
 */
reason: SignInReason, 
/**
 * Start of the sign-in, in milliseconds since 1970.
 */
since: number, 
/**
 * Time at which the sign-in fails if the browser has not returned, in milliseconds since 1970.
 */
endsAt: number | null, 
/**
 * URL of the authorization request, which the user can open in another browser. `None` unless the sign-in waits
 * for the browser.
 */
authorizationUrl: string | null, 
/**
 * Redirect URI, with which a pasted redirect URL has to start.
 */
redirectUri: string | null, 
/**
 * Reason why the browser could not be opened. The user can then open the URL manually.
 */
browserProblem: string | null, };

/**
 * Reason why a sign-in was started.
 */
export type SignInReason = { "is": "sign_in" } | { "is": "step_up", 
/**
 * MCP method of the request that requires the scopes.
 */
operation: string, } | { "is": "again", 
/**
 * Cause of the new sign-in, as a sentence for the user.
 */
cause: string, } | { "is": "change_account" };

/**
 * Step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
 */
export type SignInStep = { 
/**
 * Start of the sign-in step, in milliseconds since 1970.
 */
at: number, 
/**
 * Duration of the sign-in step, in milliseconds.
 */
durationMilliseconds: number, 
/**
 * Purpose of the sign-in step, as a sentence for the user.
 */
purpose: string, 
/**
 * HTTP request of the step: method, URL, headers and body. `None` if the step is only a conclusion.
 */
request: string | null, 
/**
 * HTTP response of the step: status, headers and body. `None` if the step is only a conclusion, or no response was
 * received.
 */
response: string | null, 
/**
 * Conclusion from the step, as a sentence for the user.
 */
conclusion: string, 
/**
 * `true` if the sign-in failed at this step.
 */
failed: boolean, };

/**
 * Result of revoking the tokens at the authorization server after a sign-out. Drawbridge deletes its copies of the
 * tokens in any case.
 */
export type SignOutOutcome = { "revoked": "yes" } | { "revoked": "not_offered" } | { "revoked": "failed", 
/**
 * Cause of the failed revocation, as a sentence for the user.
 */
cause: string, } | { "revoked": "nobody_signed_in" };

/**
 * Skill, as a server lists it.
 */
export type Skill = { 
/**
 * URI of the skill's `SKILL.md`, unique on its server.
 */
uri: string, 
/**
 * Name of the skill, as the server provides it. Not necessarily unique.
 */
name: string, 
/**
 * Description of the skill's purpose and use, as the server provides it.
 */
description: string, 
/**
 * Files of the skill including `SKILL.md`. `None` if the server generates the files on each read, so that they
 * can't be verified.
 */
files: Array<SkillFile> | null, 
/**
 * Members of the front matter of `SKILL.md` that no other field contains, as JSON. `None` if there are none.
 */
others: JsonValue | null, 
/**
 * Hash of the skill's entry in the list, by which a later request to read the skill refers to exactly this entry.
 */
hash: string, };

/**
 * Contents of a skill's file.
 */
export type SkillContents = { 
/**
 * Current entry of the skill in the server's list.
 */
skill: Skill, 
/**
 * Text or binary contents, verified against the list.
 */
contents: ResourceContents, };

/**
 * A file of a skill. Contents with another size or hash are rejected.
 */
export type SkillFile = { 
/**
 * URI of the file, with which the host requests it from the server.
 */
uri: string, 
/**
 * SHA-256 of the file, as 64 lowercase hexadecimal digits.
 */
sha256: string, 
/**
 * Size of the file, in bytes.
 */
size: number, };

/**
 * Skills that a server lists.
 */
export type Skills = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Skills with a valid entry in the list.
 */
skills: Array<Skill>, 
/**
 * Reasons why parts of the list are missing. Empty if it is complete.
 */
notes: Array<string>, };

/**
 * State of the host that the page needs when it loads.
 */
export type Snapshot = { 
/**
 * Number of the first event that this state does not include.
 */
nextEvent: number, 
/**
 * All servers, in the order of the settings file.
 */
servers: Array<Server>, 
/**
 * Pending consent requests, in the order of the queue.
 */
consentRequests: Array<ConsentRequest>, 
/**
 * Calls of tools, prompts and resources that are in progress.
 */
calls: Array<ServerCall>, 
/**
 * All conversations, latest first.
 */
conversations: Array<ConversationSummary>, 
/**
 * Settings of Drawbridge that the user can change.
 */
settings: Settings, 
/**
 * Problem in the settings file, or `None` if it is valid.
 */
configProblem: ConfigProblem | null, 
/**
 * Paths of the files that Drawbridge uses, for display.
 */
paths: AppPaths, 
/**
 * Version number of Drawbridge.
 */
version: string, };

/**
 * Refusal of a server's start by the user or a rule.
 */
export type StartRefusal = "denied_by_user" | "closed_by_user" | "denied_by_rule";

/**
 * Identifiers of the items that were created when a reply started.
 */
export type StartedReply = { 
/**
 * Identifier of the user's message, or `None` if no message was added.
 */
message: string | null, 
/**
 * Identifier of the item that contains the model's reply.
 */
reply: string, };

/**
 * Reason for consent that no rule or grant overrides, so that each such act requires a decision of its own. A new or
 * changed tool is not such a reason, since its review ends it, and neither is untrusted content, after which a rule
 * with `after_untrusted` can allow calls.
 */
export type StricterReason = "each_time" | "rule" | "preset" | "unusable";

/**
 * Choice of the user to take a value from its source, as in `source`.
 */
export type TakenValue = { 
/**
 * Identifier of the candidate, as in `id`.
 */
id: string, 
/**
 * Name of the variable or header.
 */
name: string, };

/**
 * The kind of a problem that a verification of the audit log found.
 */
export type TamperKind = "changed" | "missing" | "cut_off" | "seal_broken" | "seal_missing" | "checkpoint_broken" | "noted" | "unreadable";

/**
 * Status of a task that a server runs for a call, as defined by `tasks` in MCP.
 */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * Request to test a provider.
 */
export type TestProvider = { 
/**
 * Identifier that the user chose for the provider.
 */
id: string, 
/**
 * Model to request a short reply from, or `None` to only list the models.
 */
model?: string | null, };

/**
 * Format that the text in a form field must have.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/**
 * Color theme of Drawbridge's page.
 */
export type Theme = "system" | "light" | "dark";

/**
 * Storage of the tokens of a server.
 */
export type TokenStorage = { "where": "keychain" } | { "where": "this_run", 
/**
 * Reason why the tokens are not stored permanently.
 */
cause: string, };

/**
 * Tokens used by a request. `None` for a number that the provider does not report.
 */
export type TokenUsage = { 
/**
 * Number of input tokens, including those read from the provider's cache.
 */
input?: number | null, 
/**
 * Number of output tokens, including reasoning.
 */
output?: number | null, 
/**
 * Number of input tokens that the provider read from its cache.
 */
cachedInput?: number | null, 
/**
 * Number of input tokens that the provider wrote to its cache, for providers that charge for it.
 */
writtenInput?: number | null, 
/**
 * Number of output tokens that were used for reasoning.
 */
thinking?: number | null, };

/**
 * Tool that a server lists, with its review state.
 */
export type Tool = { 
/**
 * Name by which calls refer to the tool.
 */
name: string, 
/**
 * Display title that the server provides. Untrusted text.
 */
title: string | null, 
/**
 * Description that the server provides. Untrusted text.
 */
description: string | null, 
/**
 * JSON Schema of the tool's arguments.
 */
inputSchema: JsonValue, 
/**
 * JSON Schema of the tool's structured result, or `None` if the server declares none.
 */
outputSchema: JsonValue | null, 
/**
 * Claims of the server about the tool's effects.
 */
claims: ToolClaims, 
/**
 * Icons that the server provides for display.
 */
icons: Array<Icon>, 
/**
 * `true` if a grant allows calls of the tool without consent requests.
 */
allowed: boolean, 
/**
 * Members of the definition that the other fields don't contain, as JSON. A model may receive them too.
 */
others: JsonValue | null, 
/**
 * Hash of the tool's whole definition, to which a review refers.
 */
hash: string, 
/**
 * Review state of the tool's definition, and warnings about it for the user.
 */
marks: ReviewMarks, };

/**
 * Claims of a server about a tool's effects. Never used to make a decision less strict.
 */
export type ToolClaims = { 
/**
 * Value of `readOnlyHint`: the tool does not modify anything. `None` if the server does not send the hint.
 */
readOnly: boolean | null, 
/**
 * Value of `destructiveHint`: the tool may destroy data. `None` if the server does not send the hint.
 */
destructive: boolean | null, 
/**
 * Value of `idempotentHint`: a repeated equal call has no further effect. `None` if the server does not send the
 * hint.
 */
idempotent: boolean | null, 
/**
 * Value of `openWorldHint`: the tool interacts with external entities. `None` if the server does not send the
 * hint.
 */
openWorld: boolean | null, 
/**
 * `true` if the tool's definition demands the user's consent for each call, which Drawbridge then requires.
 */
asksEachTime: boolean, };

/**
 * The tools of a server that are available to models, by patterns on their names. In a pattern, `*` matches any text,
 * including an empty one, and every other character matches only itself. Case matters, and there is no escape
 * character. A tool that the server renames is a new tool, which requires a review. Calls by the user are not
 * affected.
 */
export type ToolFilter = { 
/**
 * Patterns of the tools that are available to models, or `None` for all tools.
 */
enabled: Array<string> | null, 
/**
 * Patterns of the tools that are not available, even if `enabled` matches them.
 */
disabled: Array<string>, };

/**
 * Result of a tool call, as stored in a conversation.
 */
export type ToolResult = { 
/**
 * Content blocks of the tool's result.
 */
content: Array<Content>, 
/**
 * Structured content of the result, or `None` if there is none. A `null` from the server counts as none, since the
 * history can't distinguish them.
 */
structured: JsonValue | null, 
/**
 * Description of how the structured content violates the tool's output schema, or `None` if it is valid.
 */
structuredProblem: string | null, 
/**
 * Set if the result reports an error of the tool.
 */
isError: boolean, 
/**
 * Metadata of the result (`_meta`), which the tool's MCP app receives, and the model does not. `None` if the
 * server sent none.
 */
meta?: { [key in string]: JsonValue }, 
/**
 * Arguments of the call that were sent to the server, including changes by the user.
 */
arguments: JsonValue, };

/**
 * State of a tool in a conversation: available to the model, or the reason why not.
 */
export type ToolState = "offered" | "off" | "disabled" | "app_only" | "new" | "changed" | "unusable" | "not_ready";

/**
 * Reference to the tool use that requested a call, in a model's reply.
 */
export type ToolUsed = { 
/**
 * Identifier of the item that contains the reply.
 */
reply: string, 
/**
 * Identifier of the tool use within the reply.
 */
id: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, };

/**
 * Duration of the user's trust in a server.
 */
export type TrustDuration = "no" | "run" | "always";

/**
 * Reason why the version of a package could not be determined.
 */
export type UnknownPackage = { 
/**
 * Kind of the reason why the version of the package is unknown.
 */
reason: UnknownPackageReason, 
/**
 * Detail of the reason, such as the name of an option or the output of a program. May be empty.
 */
detail: string, };

/**
 * Reason why the version of a package could not be determined.
 */
export type UnknownPackageReason = "shell_line" | "wrapped" | "option" | "specifier" | "several" | "no_package" | "launcher" | "variable" | "project_settings" | "local_copy" | "off_search_path" | "no_client" | "no_network" | "timed_out" | "failed";

/**
 * Number of tools and prompts that the user has not reviewed.
 */
export type UnreviewedCounts = { 
/**
 * Number of tools and prompts that were never reviewed.
 */
new: number, 
/**
 * Number of tools and prompts that changed since their review.
 */
changed: number, };

/**
 * Projects whose settings files define servers that the user has not seen.
 */
export type UnseenProjects = { 
/**
 * Unseen projects, in the order of their paths.
 */
projects: Array<ProjectServers>, };

/**
 * Request to change the name or the configuration of a server.
 */
export type UpdateServer = { 
/**
 * Current name of the server.
 */
server: string, 
/**
 * New name of the server.
 */
name: string, 
/**
 * New configuration of the server.
 */
config: ServerConfig, };

/**
 * Other version of an installed server, with its install plan. Nothing is unpacked, stopped or approved yet.
 */
export type UpgradeOffer = { 
/**
 * Install plan for the other version.
 */
offer: InstallOffer, 
/**
 * Origin of the installed version.
 */
installed: ServerOrigin, 
/**
 * Inputs that keep their current value if the user enters none, by key. The value is `None` for secrets and header
 * values, which are not displayed.
 */
currentValues: { [key in string]: Array<string> | null }, 
/**
 * `true` if the server is running and would be stopped for the upgrade.
 */
running: boolean, };

/**
 * Request for the install plan of another version of an installed server.
 */
export type UpgradeSource = { 
/**
 * Name of the installed server in the settings.
 */
server: string, 
/**
 * Source of the version, or `None` for the latest version in the registry.
 */
source: InstallSource | null, };

/**
 * A URL split into three parts for display, with warnings.
 */
export type UrlParts = { 
/**
 * URL in the normalized form in which it would be opened.
 */
url: string, 
/**
 * All text of the URL before the registrable domain.
 */
before: string, 
/**
 * Registrable domain of the URL, or the host if there is none.
 */
domain: string, 
/**
 * All text of the URL after the host.
 */
after: string, 
/**
 * Host in ASCII (Punycode), or `None` if the host was already written in ASCII.
 */
asciiHost: string | null, 
/**
 * Suspicious properties of the URL that the user should know.
 */
warnings: Array<UrlWarning>, 
/**
 * Set if Drawbridge may open the URL in the browser.
 */
openable: boolean, };

/**
 * Request that contains a URL.
 */
export type UrlText = { 
/**
 * URL to open or to parse.
 */
url: string, };

/**
 * A suspicious property of a URL, for which Drawbridge's page has a warning.
 */
export type UrlWarning = "not_encrypted" | "user_information" | "internationalized" | "ip_address" | "local" | "not_allowed";

/**
 * The originator of an act for which a permission was used.
 */
export type UsedBy = "user" | "model" | "app" | "command_line" | "host" | "server";

/**
 * Request to validate the content of a form.
 */
export type ValidateForm = { 
/**
 * Identifier of the consent request that contains the form.
 */
id: string, 
/**
 * Content of the form as a JSON object.
 */
content: JsonValue, };

/**
 * Report on newer versions of an installed server.
 */
export type VersionReport = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the server in the registry.
 */
registryName: string, 
/**
 * Installed version, as the publisher writes it.
 */
version: string, 
/**
 * Status of the installed version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status, from the registry.
 */
statusMessage: string | null, 
/**
 * Newer version in the registry, or `None` if there is none.
 */
newer: NewerVersion | null, 
/**
 * Reason why the registry could not be queried, or `None` if it could.
 */
problem: string | null, };

/**
 * Reports on newer versions of the installed servers.
 */
export type VersionReports = { 
/**
 * Report for each server that was installed from a registry, in the order of the settings file.
 */
servers: Array<VersionReport>, };

/**
 * Settings of the windows. A window that shows a single conversation can change these settings only.
 */
export type WindowSettings = { 
/**
 * Zoom of Drawbridge's page in percent, from `MIN_ZOOM` to `MAX_ZOOM`, where 100 is the normal size.
 */
zoom: number, 
/**
 * `true` to show a menu bar in each window. Has no effect on macOS, which always shows one.
 */
menuBar: boolean, };
