// Generated from crates/api by `cargo xtask codegen`. Do not edit.

/** Maximum number of servers in one conversation. */
export const MAX_CONVERSATION_SERVERS = 100;

/** Maximum number of tokens of a reply that a conversation can set. */
export const MAX_REPLY_TOKENS = 1000000;

/** Maximum number of saved system prompts. */
export const MAX_SAVED_PROMPTS = 100;

/** Maximum sampling temperature of each kind of provider. */
export const MAX_TEMPERATURE = {"anthropic":1.0,"gemini":2.0,"ollama":2.0,"openai":2.0,"responses":2.0} satisfies Record<ProviderKind, number>;

export interface Commands {
  snapshot: { request: EmptyObject; response: Snapshot };
  add_server: { request: AddServer; response: SecretStorageReport };
  check_import: { request: ImportText; response: ImportPreview };
  import_candidates: { request: ImportSource; response: ImportCandidates };
  project_files: { request: ProjectFolder; response: ProjectFiles };
  import_servers: { request: ImportServers; response: ImportedServers };
  registry_search: { request: RegistrySearch; response: RegistryPage };
  registry_server: { request: RegistryServerName; response: RegistryServer };
  registry_setting: { request: EmptyObject; response: RegistryReport };
  set_registry: { request: SetRegistry; response: SecretStorageReport };
  install_offer: { request: InstallSource; response: InstallOffer };
  install_preview: { request: InstallDraft; response: InstallPreview };
  install: { request: Install; response: SecretStorageReport };
  newer_versions: { request: InstalledVersions; response: VersionReports };
  upgrade_offer: { request: UpgradeSource; response: UpgradeOffer };
  update_server: { request: UpdateServer; response: SecretStorageReport };
  set_secret: { request: SetSecret; response: SecretStorageReport };
  remove_server: { request: ServerName; response: EmptyObject };
  start_server: { request: ServerName; response: EmptyObject };
  stop_server: { request: ServerName; response: EmptyObject };
  restart_server: { request: ServerName; response: EmptyObject };
  retry_now: { request: ServerName; response: EmptyObject };
  network_changed: { request: EmptyObject; response: EmptyObject };
  sign_in: { request: ServerName; response: EmptyObject };
  cancel_sign_in: { request: ServerName; response: EmptyObject };
  sign_out: { request: ServerName; response: SignOutOutcome };
  change_account: { request: ServerName; response: SignOutOutcome };
  authorization: { request: ServerName; response: Authorization };
  paste_redirect: { request: PasteRedirect; response: EmptyObject };
  set_log_level: { request: SetLogLevel; response: EmptyObject };
  ping: { request: ServerName; response: PingAnswer };
  set_roots: { request: SetRoots; response: EmptyObject };
  set_data_flow: { request: SetDataFlow; response: EmptyObject };
  sandbox: { request: ServerName; response: SandboxReport };
  offer_sandbox: { request: OfferSandbox; response: SandboxOffer };
  contain_start: { request: ContainStart; response: EmptyObject };
  limits: { request: ServerName; response: LimitsUsage };
  pick_folder: { request: EmptyObject; response: PickedFolder };
  pick_file: { request: PickFile; response: PickedFile };
  catalog: { request: ServerName; response: Catalog };
  refresh_list: { request: RefreshList; response: Catalog };
  review: { request: Review; response: EmptyObject };
  pins: { request: ServerName; response: Pins };
  call_tool: { request: CallTool; response: ToolResult };
  get_prompt: { request: GetPrompt; response: PromptResult };
  read_resource: { request: ReadResource; response: ResourceResult };
  skills: { request: ServerName; response: Skills };
  read_skill: { request: ReadSkill; response: SkillContents };
  cancel_call: { request: CallRef; response: EmptyObject };
  complete: { request: Complete; response: Completion };
  expand_template: { request: ExpandTemplate; response: ExpandedTemplate };
  subscribe: { request: ResourceRef; response: EmptyObject };
  unsubscribe: { request: ResourceRef; response: EmptyObject };
  answer_question: { request: DecideConsentRequest; response: EmptyObject };
  edit_question: { request: EditConsentRequest; response: ConsentRequest };
  check_form: { request: CheckForm; response: FormProblems };
  deny_all: { request: DenyAllConsentRequests; response: EmptyObject };
  sampling: { request: ServerName; response: SamplingReport };
  set_sampling: { request: SetSampling; response: EmptyObject };
  unmute: { request: ServerName; response: EmptyObject };
  activity: { request: ActivityRange; response: ActivityPage };
  activity_body: { request: ActivityRef; response: ActivityBody };
  export_activity: { request: ServerName; response: SavedFile };
  create_conversation: { request: NewConversation; response: Conversation };
  conversation: { request: ConversationRef; response: Conversation };
  append_items: { request: AppendItems; response: EmptyObject };
  rename_conversation: { request: RenameConversation; response: EmptyObject };
  delete_conversation: { request: ConversationRef; response: EmptyObject };
  items: { request: ItemRange; response: ItemPage };
  blob: { request: BlobRef; response: Blob };
  search_history: { request: SearchHistory; response: FoundItems };
  send_message: { request: SendMessage; response: StartedReply };
  edit_message: { request: EditMessage; response: StartedReply };
  retry_reply: { request: RetryReply; response: StartedReply };
  continue_reply: { request: ConversationRef; response: StartedReply };
  stop_reply: { request: ConversationRef; response: EmptyObject };
  choose_branch: { request: ItemRef; response: EmptyObject };
  set_conversation: { request: SetConversation; response: EmptyObject };
  saved_system_prompts: { request: EmptyObject; response: SavedSystemPrompts };
  save_system_prompt: { request: SavedSystemPrompt; response: SavedSystemPrompts };
  remove_system_prompt: { request: SavedSystemPromptRef; response: SavedSystemPrompts };
  set_draft: { request: SetDraft; response: EmptyObject };
  conversation_tools: { request: ConversationRef; response: ConversationTools };
  conversation_cost: { request: ConversationRef; response: ConversationCost };
  export_conversation: { request: ExportConversation; response: SavedFile };
  audit: { request: AuditRange; response: AuditPage };
  verify_audit: { request: EmptyObject; response: AuditVerdict };
  export_audit: { request: EmptyObject; response: SavedFile };
  grants: { request: EmptyObject; response: Grants };
  revoke_grant: { request: GrantRef; response: EmptyObject };
  restore_grant: { request: GrantRef; response: EmptyObject };
  policy: { request: EmptyObject; response: Policy };
  set_policy_rule: { request: Rule; response: RuleRef };
  remove_policy_rule: { request: RuleRef; response: EmptyObject };
  set_preset: { request: SetPreset; response: EmptyObject };
  set_trust: { request: SetTrust; response: EmptyObject };
  dry_run: { request: DryRun; response: DryRunResult };
  policy_text: { request: EmptyObject; response: PolicyText };
  export_policy: { request: EmptyObject; response: SavedFile };
  save_media: { request: SaveMedia; response: SavedFile };
  models: { request: EmptyObject; response: Models };
  set_provider: { request: SetProvider; response: EmptyObject };
  remove_provider: { request: ProviderId; response: EmptyObject };
  set_provider_key: { request: SetProviderKey; response: SecretStorageReport };
  test_provider: { request: TestProvider; response: ProviderTest };
  refresh_models: { request: ProviderId; response: EmptyObject };
  set_default_model: { request: DefaultModel; response: EmptyObject };
  set_settings: { request: Settings; response: EmptyObject };
  secrets_status: { request: EmptyObject; response: SecretsStatus };
  content_protection: { request: EmptyObject; response: ContentProtection };
  inspect_url: { request: UrlText; response: UrlParts };
  check_computer: { request: EmptyObject; response: CheckedComputer };
  open_url: { request: UrlText; response: EmptyObject };
}

/**
 * Account that is signed in at an authorization server.
 */
export type Account = { 
/**
 * Issuer of the token, exactly as in the authorization server's metadata.
 */
issuer: string, 
/**
 * Issuer parsed into its parts.
 */
issuerUrl: UrlParts, 
/**
 * Resource that the token is valid for.
 */
resource: string, 
/**
 * Scopes of the token as returned by the authorization server. Empty if it returned none.
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
 * Time of the last token refresh, in milliseconds since 1970.
 */
refreshedAt: number | null, 
/**
 * `true` if the token can be refreshed without the user.
 */
canRefresh: boolean, 
/**
 * Reason why the user has to sign in again, if required.
 */
ended: string | null, 
/**
 * Kind of client identifier that Drawbridge used.
 */
client: ClientIdentity, 
/**
 * `true` if the token is bound to a key of this computer (DPoP).
 */
bound: boolean, };

/**
 * Full text of a message.
 */
export type ActivityBody = { 
/**
 * Message as sent or received, with the server's secrets replaced by `[redacted]`.
 */
text: string, 
/**
 * `true` if the end is missing because the stored size is bounded.
 */
truncated: boolean, 
/**
 * `true` if a secret was replaced.
 */
redacted: boolean, };

/**
 * Entry of a server's activity log.
 */
export type ActivityEntry = { 
/**
 * Number of the entry in the server's log.
 */
seq: number, 
/**
 * Time of the message, in milliseconds since 1970.
 */
at: number, 
/**
 * Kind of the message.
 */
kind: ActivityKind, 
/**
 * `true` if Drawbridge sent the message, `false` if it was received.
 */
sent: boolean, 
/**
 * Method of the request or notification, or of the request that a response belongs to.
 */
method: string | null, 
/**
 * JSON-RPC identifier as serialized.
 */
id: string | null, 
/**
 * Size of the message in bytes.
 */
bytes: number, 
/**
 * Time from the request to this response, in milliseconds.
 */
latency: number | null, 
/**
 * Beginning of the message.
 */
preview: string, 
/**
 * Reason why the message is invalid or unusual, if it is.
 */
note: string | null, };

/**
 * The kind of an activity entry.
 */
export type ActivityKind = "request" | "response" | "error" | "notification" | "batch" | "invalid" | "stderr" | "log" | "state";

/**
 * Consecutive entries of the activity log.
 */
export type ActivityPage = { 
/**
 * Entries of the page, in order.
 */
entries: Array<ActivityEntry>, 
/**
 * Number of older entries that were dropped because the log is bounded.
 */
dropped: number, };

/**
 * Range of entries to read.
 */
export type ActivityRange = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Number after which entries are returned, or `None` for all entries.
 */
after: number | null, 
/**
 * Maximum number of entries. The latest ones are returned.
 */
limit: number, };

/**
 * Reference to an entry of a server's activity log.
 */
export type ActivityRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Number of the entry.
 */
seq: number, };

/**
 * Request to add a server.
 */
export type AddServer = { 
/**
 * Name of the server in the settings.
 */
name: string, 
/**
 * Configuration of the server.
 */
config: ServerConfig, };

/**
 * Sign-in settings that the page does not display. Secrets are represented as `${secret:NAME}`.
 */
export type AdvancedAuthSettings = { 
/**
 * Client authentication method at the token endpoint.
 */
clientAuth: string | null, 
/**
 * URL of the client ID metadata document.
 */
clientMetadataUrl: string | null, 
/**
 * Grant type as named in `mcp.json`, or `None` for the authorization code grant in the browser.
 */
grant: string | null, 
/**
 * Private key for the authentication method `private_key_jwt`.
 */
privateKey: string | null, 
/**
 * Signature algorithm of the private key.
 */
algorithm: string | null, 
/**
 * Identity provider of the enterprise.
 */
identityProvider: AuthIdentityProvider | null, 
/**
 * `true` if tokens are bound to a key of this computer (DPoP), or `None` to detect the support.
 */
dpop: boolean | null, 
/**
 * Assertion of the workload identity.
 */
assertion: string | null, };

/**
 * Error returned by a command.
 */
export type ApiError = { 
/**
 * Kind of failure, for the page to act on.
 */
code: ErrorCode, 
/**
 * Message to display: what failed and for which reason.
 */
message: string, 
/**
 * Further details, whose shape depends on the code.
 */
data?: JsonValue, };

/**
 * Items to append to a conversation.
 */
export type AppendItems = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Items in order. An item with the identifier of an existing one replaces it.
 */
items: Array<ConversationItem>, };

/**
 * Scope of an approval.
 */
export type ApprovalScope = "once" | "conversation" | "session" | "always";

/**
 * The result of checking one condition of a rule.
 */
export type ArgumentJudgement = { 
/**
 * Index of the condition in its rule, from 0.
 */
number: number, 
/**
 * Set if the condition holds.
 */
holds: boolean, 
/**
 * Reason why the condition holds or not.
 */
reason: JudgementReason, 
/**
 * The value as JSON, truncated, or for a list the item that decided. `None` if there is no value.
 */
value: string | null, 
/**
 * Normalized forms of the value, where they differ from the value as written.
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
 * Kind of the test.
 */
test: ArgumentTest, 
/**
 * Pattern that the argument has to match.
 */
pattern: string, };

/**
 * Test of an argument.
 */
export type ArgumentTest = "glob" | "regex" | "folder" | "path" | "url" | "number";

/**
 * Entry of the audit log.
 *
 * The log's record is a different type: it uses the member names of the file and omits empty members. The page and the
 * output of `drawbridge-cli audit` have all members.
 */
export type AuditEntry = { 
/**
 * Number of the entry, from 1.
 */
number: number, 
/**
 * Time of the decision, in milliseconds since 1970.
 */
at: number, 
/**
 * Originator of the act: `user`, `model`, `server` or `host`. Empty in entries of older versions.
 */
asker: string, 
/**
 * Name of the server.
 */
server: string, 
/**
 * Kind of the act: `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots`, `revoke`
 * and others. The page has a label for each.
 */
kind: string, 
/**
 * Subject of the decision: the command line, the tool, the message or the URL.
 */
subject: string, 
/**
 * Payload without secrets, or its beginning, even if it was denied.
 */
content: string | null, 
/**
 * Full size of the payload in bytes, if `content` is only its beginning.
 */
contentBytes: number | null, 
/**
 * Decision: `allowed`, `denied`, `cancelled` or `withdrawn`.
 */
decision: string, 
/**
 * Duration of the approval, if it was allowed.
 */
scope: ApprovalScope | null, 
/**
 * Source of the decision: `user`, `grant`, `answers` or `policy`.
 */
by: string, 
/**
 * Rule or grant that decided. Empty if none did.
 */
rule: string, 
/**
 * Identifier of the conversation, if the act belongs to one.
 */
conversation: string | null, 
/**
 * Hash of the payload.
 */
hash: string, 
/**
 * `true` if the entry was imported from an older log without a hash chain.
 */
imported: boolean, };

/**
 * A problem that verification found.
 */
export type AuditFinding = { 
/**
 * Kind of the problem.
 */
what: TamperKind, 
/**
 * Number of the affected entry, or of the first one.
 */
number: number, 
/**
 * Number of the last affected entry, if there are several.
 */
to: number | null, 
/**
 * Further details, if any.
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
 * `true` if older entries match too.
 */
more: boolean, };

/**
 * Filter for the audit log. Members without a value match all entries.
 */
export type AuditRange = { 
/**
 * Maximum number of returned entries.
 */
limit: number, 
/**
 * Number below which entries are returned.
 */
before: number | null, 
/**
 * Name of the server.
 */
server: string | null, 
/**
 * Kind of the entry, as in `kind`.
 */
kind: string | null, 
/**
 * Decision, as in `decision`.
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
 * Words that must all appear somewhere in the entry.
 */
search: string | null, };

/**
 * The state of the seal at the end of the log.
 */
export type AuditSeal = { "state": "holds", 
/**
 * Number of the last sealed entry.
 */
number: number, } | { "state": "none" } | { "state": "unchecked", 
/**
 * Reason why the key is unavailable.
 */
cause: string, } | { "state": "broken" };

/**
 * Range of consecutive entries.
 */
export type AuditSpan = { 
/**
 * Number of the first entry.
 */
from: number, 
/**
 * Number of the last entry.
 */
to: number, };

/**
 * Result of verifying the audit log.
 */
export type AuditVerdict = { 
/**
 * `true` if no problem was found.
 */
whole: boolean, 
/**
 * `true` if it is also proved that Drawbridge wrote all entries.
 */
proved: boolean, 
/**
 * Number of entries in the log.
 */
entries: number, 
/**
 * Number of the first entry.
 */
first: number | null, 
/**
 * Number of the last entry.
 */
last: number | null, 
/**
 * Number up to which entries were removed because of their age or the size of the log.
 */
removed: number | null, 
/**
 * State of the seal over the end of the log.
 */
seal: AuditSeal, 
/**
 * First problems that were found.
 */
findings: Array<AuditFinding>, 
/**
 * Number of further problems.
 */
more: number, 
/**
 * Entries whose author is not proved: they are not sealed, or were found without a seal.
 */
unproved: Array<AuditSpan>, };

/**
 * A sign-in setting of a remote server.
 */
export type AuthField = "grant" | "issuer" | "client_id" | "client_auth" | "client_secret" | "private_key" | "algorithm" | "client_metadata_url" | "redirect_port" | "scopes" | "dpop" | "assertion" | "provider_issuer" | "provider_token_endpoint" | "provider_client_id" | "provider_client_auth" | "provider_client_secret" | "provider_private_key" | "provider_algorithm" | "provider_id_token";

/**
 * The identity provider of an enterprise. Its serialized form is used by the page.
 */
export type AuthIdentityProvider = { 
/**
 * Issuer identifier of the identity provider.
 */
issuer: string, 
/**
 * Token exchange endpoint, or `None` to read it from the provider's metadata.
 */
tokenEndpoint: string | null, 
/**
 * Client identifier of Drawbridge at the identity provider.
 */
clientId: string, 
/**
 * Client secret, as `${secret:NAME}`.
 */
clientSecret: string | null, 
/**
 * Client authentication method, as in `client_auth`.
 */
clientAuth: string | null, 
/**
 * Private key for `private_key_jwt` in PEM format, as `${secret:NAME}`.
 */
privateKey: string | null, 
/**
 * Signature algorithm of the private key, such as `ES256`.
 */
algorithm: string | null, 
/**
 * The user's ID token, as `${secret:NAME}`, or `None` to sign in there with the browser.
 */
idToken: string | null, };

/**
 * Sign-in setting of a server, as displayed in a consent request.
 */
export type AuthSetting = { 
/**
 * Kind of the setting.
 */
field: AuthField, 
/**
 * Value of the setting, or the name of the secret if it is one.
 */
value: string, 
/**
 * `true` if the value is the name of a secret.
 */
secret: boolean, 
/**
 * Value parsed into its parts, if it is a URL.
 */
url: UrlParts | null, 
/**
 * `true` if the endpoint belongs to another domain than the configured issuer.
 */
elsewhere: boolean, };

/**
 * Sign-in settings that take precedence over the server's metadata. Settings in `mcp.json` without a member here are
 * preserved.
 */
export type AuthSettings = { 
/**
 * Client identifier registered at the authorization server.
 */
clientId: string | null, 
/**
 * Client secret. Never returned for a configured server, and `None` in an update keeps the stored secret.
 */
clientSecret: string | null, 
/**
 * `true` if the client has a secret, which is stored in the system's keychain.
 */
hasSecret: boolean, 
/**
 * Issuer of the only accepted authorization server, exactly as in its metadata, or `None` to use the one that the
 * server names.
 */
issuer: string | null, 
/**
 * Scopes to request instead of the ones that the server requires.
 */
scopes: Array<string>, 
/**
 * Port of the redirect URI `http://127.0.0.1:PORT/callback` that the client is registered with, or `None` for any
 * port.
 */
redirectPort: number | null, 
/**
 * Names of the other secrets that the settings reference, such as a private key. Values are set by `set_secret`
 * and never returned. Ignored in an update.
 */
secretNames: Array<string>, 
/**
 * Further settings found in pasted text, to be sent back unchanged when the server is added. `None` for a
 * configured server, which keeps its own.
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
 * Reason why signing in is not possible: the server is local, or its settings have an `Authorization` header.
 */
notOffered: string | null, 
/**
 * Account that is signed in.
 */
account: Account | null, 
/**
 * Sign-in that is in progress.
 */
inProgress: SignInProgress | null, 
/**
 * Reason why the last sign-in failed, and the suggested remedy.
 */
failed: string | null, 
/**
 * Stable identifier of the cause. Absent if the last sign-in did not fail.
 */
failure: SignInFailure | null, 
/**
 * Steps of the last sign-in, in order.
 */
steps: Array<SignInStep>, 
/**
 * Storage of the tokens, once there are any.
 */
kept: TokenStorage | null, };

/**
 * Large content that was omitted from an item.
 */
export type Blob = { 
/**
 * Content, encoded in Base64.
 */
data: string, };

/**
 * Reference to large content by its hash.
 */
export type BlobRef = { 
/**
 * SHA-256 of the content, in hexadecimal.
 */
hash: string, };

/**
 * An existing path that the sandbox hides and that the server seems to need.
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
 * The folder that would make the path accessible, or the reason why none is proposed.
 */
offer: FolderProposal, };

/**
 * A bundle, and its unpacked files.
 */
export type BundleFiles = { 
/**
 * SHA-256 of the bundle file, in hexadecimal.
 */
sha256: string, 
/**
 * Hash over the unpacked files, in hexadecimal.
 */
tree: string, 
/**
 * Name of the folder with the unpacked files, below the folder of bundles.
 */
folder: string, 
/**
 * Author's name in the manifest, empty if the manifest contains none, or `None` if it was not recorded.
 */
author: string | null, };

/**
 * Stable identifier of the cause for which a call has no result. The page has words and a button for each.
 */
export type CallFailureCode = "not_found" | "not_ready" | "bad_request" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "internal";

/**
 * The kind of a call.
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
 * Description of the current step, written by the server.
 */
message: string | null, };

/**
 * Reference to a call.
 */
export type CallRef = { 
/**
 * Identifier of the call, chosen by its caller.
 */
call: string, };

/**
 * The state of a call.
 */
export type CallState = "awaiting_approval" | "running" | "awaiting_input" | "done" | "refused" | "cancelled" | "failed";

/**
 * A task that the server runs for a call. All fields are the server's claims.
 */
export type CallTask = { 
/**
 * Identifier of the task, assigned by the server.
 */
id: string, 
/**
 * Status of the task, as of the last update.
 */
status: TaskStatus, 
/**
 * Description of the status, written by the server.
 */
message: string | null, 
/**
 * Time of creation, in ISO 8601.
 */
createdAt: string, 
/**
 * Time of the last change, in ISO 8601.
 */
updatedAt: string, };

/**
 * Request to call a tool.
 */
export type CallTool = { 
/**
 * Identifier of the call, chosen by the caller and unique among its calls.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool.
 */
tool: string, 
/**
 * Arguments of the tool as a JSON object.
 */
arguments: JsonValue, 
/**
 * Identifier of the conversation that the call belongs to.
 */
conversation: string | null, };

/**
 * Tools, prompts, resources and templates of a server.
 */
export type Catalog = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Tools of the server.
 */
tools: Array<Tool>, 
/**
 * Prompts of the server.
 */
prompts: Array<Prompt>, 
/**
 * Resources of the server.
 */
resources: Array<Resource>, 
/**
 * Resource templates of the server.
 */
templates: Array<ResourceTemplate>, 
/**
 * Notes on lists that are incomplete, each with the reason.
 */
notes: Array<string>, 
/**
 * Time until which each list is fresh.
 */
freshUntil: CatalogExpiry, };

/**
 * Time until which lists are fresh, in milliseconds since 1970.
 *
 * `None` if the server does not specify it. The list is then read again when the server reports a change.
 */
export type CatalogExpiry = { 
/**
 * Time for the tools.
 */
tools: number | null, 
/**
 * Time for the prompts.
 */
prompts: number | null, 
/**
 * Time for the resources.
 */
resources: number | null, 
/**
 * Time for the resource templates.
 */
templates: number | null, };

/**
 * Limits on what a model receives of a conversation, and on how long it continues without the user.
 */
export type ChatBounds = { 
/**
 * Maximum size of the text of one tool result, in bytes. The model can request the rest with a tool.
 */
resultBytes: number, 
/**
 * Number of consecutive rounds of tool calls after which the user has to let the model continue.
 */
rounds: number, 
/**
 * Share of the model's context, in percent, above which tools are found by search instead of all being sent.
 */
toolsPercent: number, };

/**
 * Content of a form to validate.
 */
export type CheckForm = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Content of the form as a JSON object.
 */
content: JsonValue, };

/**
 * The identifier of a check.
 */
export type CheckId = "settings" | "keychain" | "search_path" | "node" | "python" | "uv" | "docker" | "podman" | "dotnet" | "programs" | "sandbox" | "proxy" | "certificates" | "web_view" | "data_folder" | "config_folder" | "cache_folder" | "clock";

/**
 * Findings of a check of this computer, with a report that contains no private data.
 */
export type CheckedComputer = { 
/**
 * Findings in a fixed order, with English texts.
 */
findings: Array<Finding>, 
/**
 * Findings without private data, as Markdown to paste into an issue.
 */
report: string, };

/**
 * An option of a choice field.
 */
export type ChoiceOption = { 
/**
 * Value that is sent.
 */
value: string, 
/**
 * Label that is shown.
 */
title: string, };

/**
 * Condition on a server's claims about a tool. Can only make a decision stricter.
 */
export type ClaimRule = { 
/**
 * `readOnlyHint`: the tool claims to only read.
 */
readOnly: boolean | null, 
/**
 * `destructiveHint`: the tool claims, or does not deny, that it destroys data.
 */
destructive: boolean | null, 
/**
 * `idempotentHint`: the tool claims that repeated calls have no further effect.
 */
idempotent: boolean | null, 
/**
 * `openWorldHint`: the tool claims, or does not deny, that it interacts with external entities.
 */
openWorld: boolean | null, };

/**
 * Source of Drawbridge's client identifier at an authorization server.
 */
export type ClientIdentity = "configured" | "metadata_document" | "registered" | "entered";

/**
 * Behavior when the window is closed while servers run. The app quits if none runs.
 */
export type CloseAction = "ask" | "background" | "quit";

/**
 * Request for completions of an argument.
 */
export type Complete = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Prompt or template that has the argument.
 */
of: CompletionReference, 
/**
 * Name of the argument.
 */
argument: string, 
/**
 * Text that was typed so far.
 */
value: string, 
/**
 * Arguments that already have a value.
 */
context: { [key in string]: string }, };

/**
 * Completions of an argument.
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
 * `true` if there are more suggestions.
 */
hasMore: boolean, };

/**
 * Owner of the argument to complete.
 */
export type CompletionReference = { "type": "prompt", 
/**
 * Name of the prompt.
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
 * Path of the file, or `None` for pasted text.
 */
file: string | null, 
/**
 * Line of the problem, from 1.
 */
line: number | null, 
/**
 * Column of the problem, from 1.
 */
column: number | null, 
/**
 * Description of the content and the expectation.
 */
message: string, };

/**
 * Decision of the user on a consent request.
 */
export type ConsentDecision = { "action": "allow", 
/**
 * Duration of the approval.
 */
scope: ApprovalScope, 
/**
 * Limit of the duration in milliseconds, or `None` for the whole scope.
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
 * Absolute paths of the folders. May be empty.
 */
folders: Array<string>, } | { "action": "identify", 
/**
 * Client that is registered at the authorization server.
 */
client: EnteredClient, } | { "action": "by_hand" } | { "action": "again" } | { "action": "back" } | { "action": "stop" } | { "action": "deny" } | { "action": "deny_because", 
/**
 * Reason for the denial.
 */
reason: string, } | { "action": "cancel" };

/**
 * Consent request in the queue.
 */
export type ConsentRequest = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Hash of the exact payload that an approval releases. Any change of the payload changes it.
 */
hash: string, 
/**
 * Name of the requesting server in the settings.
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
 * Origin of the request.
 */
why: ConsentRequestOrigin, 
/**
 * Number of rounds in which the call has requested input so far, from 1, or `None` if no call led to the request.
 * Several requests of one round count once.
 */
round: number | null, 
/**
 * Subject of the request, with its payload.
 */
body: ConsentRequestBody, 
/**
 * Durations that an approval may have.
 */
scopes: Array<ApprovalScope>, 
/**
 * Stable name of the rule that requires consent.
 */
rule: string, 
/**
 * Review state and findings of the subject.
 */
marks: ReviewMarks, 
/**
 * Identifier of the call that waits for the decision, if there is one.
 */
call?: string, };

/**
 * Subject of a consent request.
 */
export type ConsentRequestBody = { "kind": "start_server", 
/**
 * Program as written in the settings.
 */
command: string, 
/**
 * Resolved path of the executable.
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
 * Working directory of the server.
 */
cwd: string | null, 
/**
 * Command line that was approved before, if this one replaces it.
 */
approvedBefore: string | null, 
/**
 * Sandbox of the server with everything that it could reach, if it has one.
 */
sandbox?: SandboxPlan, 
/**
 * Files that the approval is bound to. The first one is the program.
 */
files?: Array<LaunchFile>, 
/**
 * Other servers that may modify one of the files.
 */
writers?: Array<FileWriter>, 
/**
 * Package that the command loads, if the program is a launcher.
 */
package?: LoadedPackage, } | { "kind": "connect_server", 
/**
 * URL, parsed into its parts.
 */
url: UrlParts, 
/**
 * Headers of each request, without their values.
 */
headers: Array<HttpHeader>, 
/**
 * HTTP transport, if the user chose one.
 */
transportKind: HttpKind | null, 
/**
 * `true` if the connection is unencrypted and leaves this computer.
 */
unencrypted: boolean, 
/**
 * Configured sign-in settings. Empty if there are none.
 */
auth: Array<AuthSetting>, 
/**
 * `true` if Drawbridge would sign in without a further consent request.
 */
unattended: boolean, 
/**
 * URL that was approved before, if this one replaces it.
 */
approvedBefore: string | null, } | { "kind": "tool", 
/**
 * Name of the tool.
 */
tool: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * Claims of the server about the tool's effects.
 */
claims: ToolClaims, 
/**
 * JSON Schema of the arguments, for editing them.
 */
inputSchema: JsonValue, 
/**
 * Arguments that would be sent.
 */
arguments: JsonValue, 
/**
 * Size of the payload in bytes.
 */
bytes: number, 
/**
 * `true` if the definition changed since the tool was allowed.
 */
changedSinceAllowed: boolean, 
/**
 * Tools that can be allowed together because their server declares that they only read, including this one.
 */
readOnlyTools?: Array<string>, 
/**
 * Whole definition as JSON, or `None` if the user has reviewed the current one. Allowing the call counts as a
 * review.
 */
definition?: string, 
/**
 * Hash of the whole definition, which a review refers to.
 */
definitionHash?: string, } | { "kind": "result", 
/**
 * Name of the called tool.
 */
tool: string, 
/**
 * Content that the model would read.
 */
content: Array<Content>, 
/**
 * `true` if the result is reported to the model as an error.
 */
isError: boolean, } | { "kind": "read", 
/**
 * Kind of the call: prompt or resource.
 */
what: CallKind, 
/**
 * Name of the prompt, or URI of the resource.
 */
name: string, 
/**
 * Arguments of the prompt as a JSON object.
 */
arguments: JsonValue, } | { "kind": "sampling", 
/**
 * Current step of the request.
 */
step: SamplingStep, 
/**
 * Request of the server, as a model would receive it.
 */
request: SamplingRequest, 
/**
 * Response that would be sent to the server, in the last step.
 */
response: SamplingResponse | null, 
/**
 * Model that responds once the request is approved, or `None` if the user writes the response.
 */
model: SamplingModel | null, 
/**
 * Maximum number of tokens that the server requested. Larger than the request's own maximum if a limit
 * applies.
 */
wantedTokens: number, 
/**
 * Content that the provider's wire protocol can't represent, and how each kind is converted.
 */
losses: Array<SamplingLoss>, 
/**
 * `true` if the model can be run again. Requires an approved request that was sent to it before.
 */
again: boolean, 
/**
 * Progress of the model.
 */
run: SamplingRun, } | { "kind": "form", 
/**
 * Message of the server.
 */
message: string, 
/**
 * Fields of the form.
 */
fields: Array<FormField>, 
/**
 * Reason why the form can't be displayed, if it can't. It can still be declined.
 */
unsupported: string | null, } | { "kind": "url", 
/**
 * Message of the server.
 */
message: string, 
/**
 * URL, parsed into its parts.
 */
url: UrlParts, } | { "kind": "roots", 
/**
 * Folders that were chosen so far.
 */
folders: Array<string>, } | { "kind": "sign_in", 
/**
 * URL of the server, parsed into its parts.
 */
url: UrlParts, 
/**
 * Issuer of the token, exactly as in the authorization server's metadata.
 */
issuer: string, 
/**
 * Issuer, parsed into its parts.
 */
issuerUrl: UrlParts, 
/**
 * Resource that the token would be valid for.
 */
resource: string, 
/**
 * All scopes that are requested. Empty if the authorization server decides.
 */
scopes: Array<string>, 
/**
 * Subset of the scopes that the current token has. Empty at a first sign-in.
 */
heldScopes: Array<string>, 
/**
 * Kind of client identifier that Drawbridge uses.
 */
client: ClientIdentity, 
/**
 * Client identifier that is sent.
 */
clientId: string, 
/**
 * Endpoints that would receive credentials, codes and tokens.
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
 * `true` if the authorization endpoint belongs to another domain than the issuer.
 */
pageElsewhere: boolean, 
/**
 * Reason for the sign-in.
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
 * Issuer, parsed into its parts.
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
 * Model that responds to the request.
 */
model: ModelRef, };

/**
 * The origin of a consent request.
 */
export type ConsentRequestOrigin = { "by": "user", 
/**
 * Conversation of the action, if any.
 */
conversation: string | null, } | { "by": "model", 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Other servers whose content the model has read in the conversation. None of them is trusted.
 */
after: Array<string>, 
/**
 * Content of this server that the model has read in the conversation, and after which its calls of the server
 * require consent.
 */
read?: Array<Reading>, } | { "by": "call", 
/**
 * Identifier of the call, chosen by its caller.
 */
call: string, 
/**
 * Kind of the call: a tool, a prompt or a resource.
 */
kind: CallKind, 
/**
 * Name of the tool or prompt, or URI of the resource.
 */
name: string, } | { "by": "server" } | { "by": "ended", 
/**
 * Reason for the exit.
 */
cause: string, };

/**
 * The outcome of a consent request.
 */
export type ConsentRequestOutcome = "allowed" | "denied" | "cancelled" | "withdrawn";

/**
 * Rule, grant or preset that was considered for a decision.
 */
export type ConsideredRule = { 
/**
 * Rule, grant or preset.
 */
by: DecisionSource, 
/**
 * Effect if it applies.
 */
effect: RuleEffect, 
/**
 * `fits`, or the first condition that does not hold: `other-server`, `other-direction`, `other-tool`,
 * `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
 * `asks-each-time`, `over-budget` or `after-untrusted`.
 */
fit: string, 
/**
 * Index of the argument condition that does not hold, from 0.
 */
argument: number | null, 
/**
 * Evaluation of each argument condition.
 */
arguments: Array<ArgumentJudgement>, };

/**
 * Sandbox that the user chose in a start request.
 */
export type ContainStart = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Hash of the consent request as it was shown.
 */
hash: string, 
/**
 * Sandbox for the settings of the server.
 */
sandbox: Sandbox, };

/**
 * A block of content.
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
 * Media type, as claimed by the server.
 */
mimeType: string, } | { "type": "audio", 
/**
 * Bytes of the recording, in base64.
 */
data: string, 
/**
 * Media type, as claimed by the server.
 */
mimeType: string, } | { "type": "resource_link", 
/**
 * URI of the linked resource.
 */
uri: string, 
/**
 * Name of the resource.
 */
name: string, 
/**
 * Title for display, if the server gives one.
 */
title: string | null, 
/**
 * Description of the resource, if the server gives one.
 */
description: string | null, 
/**
 * Media type, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Size in bytes, as claimed by the server.
 */
size: number | null, } | { "type": "resource", 
/**
 * Contents of the resource.
 */
contents: ResourceContents, } | { "type": "unknown", 
/**
 * The unmodified block as JSON.
 */
json: JsonValue, };

/**
 * Encryption state of contents on disk.
 */
export type ContentAtRest = { "is": "encrypted" } | { "is": "plain" } | { "is": "unreadable", 
/**
 * Cause and suggested remedy, for the user.
 */
cause: string, };

/**
 * Encryption of conversations and of the audit log's contents on disk.
 */
export type ContentProtection = { 
/**
 * State of the conversations' contents.
 */
conversations: ContentAtRest, 
/**
 * State of the payloads in the audit log.
 */
decisions: ContentAtRest, };

/**
 * Conversation with items of the selected branch.
 */
export type Conversation = { 
/**
 * Identifier of the conversation.
 */
id: string, 
/**
 * Title of the conversation.
 */
title: string, 
/**
 * Time of the last change, in milliseconds since 1970.
 */
updatedAt: number, 
/**
 * Items in order: the path from the first item to the head. Other branches are listed in `siblings`.
 */
items: Array<ConversationItem>, 
/**
 * Servers whose content is part of the conversation and is read by its model.
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
 * `true` if there are items before these.
 */
hasMore: boolean, 
/**
 * Text in the composer that is not sent yet.
 */
draft: string, };

/**
 * Token usage and cost of a conversation over all branches.
 */
export type ConversationCost = { 
/**
 * Tokens of all replies.
 */
usage: TokenUsage, 
/**
 * Cost of all replies, by currency.
 */
costs: Array<Cost>, 
/**
 * Number of replies whose cost is unknown or incomplete because they were stopped or failed.
 */
unpriced: number, 
/**
 * Tokens of the latest request and its reply in the selected branch.
 */
contextUsed: number | null, 
/**
 * Context size of the model in tokens.
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
 * Identifier of the item that precedes this one.
 */
parent?: string, 
/**
 * Time of the item, in milliseconds since 1970.
 */
at: number, 
/**
 * State of the item, or `None` if it is complete.
 */
state?: ItemState, 
/**
 * Number of the next `reply_delta` while the item streams.
 */
seq?: number, 
/**
 * Identifiers of all items with the same parent, including this one, in the order of creation. `None` if it is the
 * only one.
 */
siblings?: Array<string>, 
/**
 * Content of the item.
 */
body: ItemBody, 
/**
 * Large contents that are omitted. In `body` they are replaced by empty strings.
 */
leftOut?: Array<OmittedContent>, };

/**
 * Reference to a conversation.
 */
export type ConversationRef = { 
/**
 * Identifier of the conversation.
 */
conversation: string, };

/**
 * The user's settings for a conversation. The serialized form is the one of the page; the history uses the form of
 * `to_stored`.
 */
export type ConversationSettings = { 
/**
 * Model that replies, if one was chosen.
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
 * Set to tell the model the roots of these servers.
 */
shareRoots: boolean, 
/**
 * Set to request reasoning before the reply, if the model supports it.
 */
thinking: boolean, 
/**
 * Set to find tools by search, unset to send all of them. `None` to search only if they use a large part of the
 * context.
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
 * Conversation without its items, for the list.
 */
export type ConversationSummary = { 
/**
 * Identifier of the conversation.
 */
id: string, 
/**
 * Title of the conversation.
 */
title: string, 
/**
 * Time of the last change, in milliseconds since 1970.
 */
updatedAt: number, };

/**
 * Tool of a conversation.
 */
export type ConversationTool = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the tool. Empty if the server is not in use.
 */
tool: string, 
/**
 * Name under which the model knows the tool.
 */
key: string, 
/**
 * Estimated number of tokens of the definition.
 */
tokens: number, 
/**
 * State that determines if the tool can be offered.
 */
state: ToolState, };

/**
 * Tools of a conversation, and the way they are offered to its model.
 */
export type ConversationTools = { 
/**
 * Tools of the enabled servers, in the order in which they are offered.
 */
tools: Array<ConversationTool>, 
/**
 * Estimated number of tokens of all tools that can be offered, at four bytes per token.
 */
tokens: number, 
/**
 * Number of tokens from which tools are found by search instead.
 */
threshold: number, 
/**
 * `true` if tools are found by search.
 */
bySearch: boolean, 
/**
 * Instructions of the enabled servers for the model.
 */
instructions: Array<ServerInstructions>, };

/**
 * Conversion chosen for content that a wire protocol can't represent.
 */
export type ConversionChoice = { 
/**
 * Kind of the content, as in `what`.
 */
what: string, 
/**
 * Conversion, as in `then`.
 */
then: string, };

/**
 * The cost of a reply.
 */
export type Cost = { 
/**
 * Amount in units of the currency.
 */
amount: number, 
/**
 * Code of the currency, such as `USD`.
 */
currency: string, };

/**
 * Number of items that a server offers.
 */
export type Counts = { 
/**
 * Number of the tools.
 */
tools: number, 
/**
 * Number of the prompts.
 */
prompts: number, 
/**
 * Number of the resources.
 */
resources: number, 
/**
 * Number of the resource templates.
 */
templates: number, };

/**
 * Data flow settings of one server.
 */
export type DataFlow = { 
/**
 * Content after which a model's call of the same server requires consent.
 */
sameServer: SameServerFlow, 
/**
 * Results that the user reviews before a model reads them.
 */
review: ResultReview, 
/**
 * Review settings of individual tools, by name. At most `MAX_TOOLS` entries.
 */
tools: { [key in string]: ResultReview }, };

/**
 * Decision of the user, bound to the payload that was shown.
 */
export type DecideConsentRequest = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Hash that was shown with the consent request.
 */
hash: string, 
/**
 * Decision of the user.
 */
answer: ConsentDecision, };

/**
 * Source of a decision.
 */
export type DecisionSource = { "kind": "built_in" } | { "kind": "grant", 
/**
 * Identifier of the grant.
 */
id: string, } | { "kind": "rule", 
/**
 * Reference to the rule.
 */
rule: RuleRef, } | { "kind": "preset" } | { "kind": "managed_preset" };

/**
 * Model of new conversations.
 */
export type DefaultModel = { 
/**
 * Model, or `None` to have no default.
 */
model: ModelRef | null, };

/**
 * A difference at one place.
 */
export type DefinitionChange = { 
/**
 * Path to the place: keys, and positions of list items counted from 1.
 */
path: Array<string>, 
/**
 * Value before the change, or `None` if there was none. Strings are unquoted, everything else is JSON; never
 * truncated.
 */
before: string | null, 
/**
 * Value after the change, or `None` if there is none.
 */
after: string | null, };

/**
 * The differences between the reviewed definition and the current one.
 */
export type DefinitionDiff = { 
/**
 * Changes; at most `MAX_CHANGES`.
 */
changes: Array<DefinitionChange>, 
/**
 * Number of changes beyond `MAX_CHANGES`.
 */
more: number, 
/**
 * Set if the server itself changed: its command, program or address, or the issuer of its tokens.
 */
serverChanged: boolean, 
/**
 * Set if only the beginning of the reviewed definition was kept, because of its size.
 */
cut: boolean, 
/**
 * The whole reviewed definition, if it was kept. The current one is found in the catalog.
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
 * `true` to deny later consent requests too.
 */
mute: boolean, };

/**
 * Act whose decision is computed without performing it.
 */
export type DryRun = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Act that the policy evaluates.
 */
act: DryRunAct, };

/**
 * The act that a dry run decides about.
 */
export type DryRunAct = { "kind": "tool", 
/**
 * Name of the tool.
 */
tool: string, 
/**
 * Arguments that would be sent.
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
 * Decision on an act, with its explanation.
 */
export type DryRunResult = { 
/**
 * Effect that the policy would have.
 */
effect: RuleEffect, 
/**
 * Reason, by its stable name.
 */
reason: string, 
/**
 * Source of the decision.
 */
by: DecisionSource, 
/**
 * Durations that an approval could have, if consent is required.
 */
scopes: Array<ApprovalScope>, 
/**
 * All rules, grants and presets that were considered, in order of precedence.
 */
considered: Array<ConsideredRule>, 
/**
 * `true` if a definition or command was assumed to be unchanged because the server is not running.
 */
assumedUnchanged: boolean, 
/**
 * Review state of the called tool, from the current or the last session of its server.
 */
standing: ReviewState | null, 
/**
 * `true` if the lists in the settings of the server exclude the tool. Calls by models are refused then, and the
 * effect is that of other calls.
 */
turnedOff: boolean, };

/**
 * Request to change the payload of a consent request.
 */
export type EditConsentRequest = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Change of the payload.
 */
edit: ConsentRequestEdit, };

/**
 * Message to replace in a new branch. The items after the original message are preserved.
 */
export type EditMessage = { 
/**
 * Identifier of the conversation.
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
 * Attachments of the new message.
 */
attachments: Array<MessageAttachment>, 
/**
 * Model that replies, or `None` to keep the conversation's model.
 */
model?: ModelRef, };

/**
 * Empty request or response.
 */
export type EmptyObject = Record<symbol, never>;

/**
 * Purpose of an endpoint.
 */
export type EndpointUse = "token" | "provider" | "registration" | "revocation";

/**
 * OAuth client that the user enters for an authorization server.
 */
export type EnteredClient = { 
/**
 * Client identifier at the authorization server.
 */
clientId: string, 
/**
 * Client secret, if the client has one.
 */
clientSecret: string | null, };

/**
 * Kind of failure, by which the page chooses the next step.
 */
export type ErrorCode = "bad_request" | "not_found" | "bad_name" | "config" | "not_ready" | "sign_in_needed" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "stale" | "invalid" | "system" | "internal";

/**
 * Change of the state that the page displays.
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
 * URI of the resource.
 */
uri: string, } | { "type": "question_changed", 
/**
 * Consent request after the change.
 */
question: ConsentRequest, } | { "type": "question_closed", 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Outcome of the consent request.
 */
outcome: ConsentRequestOutcome, } | { "type": "sampling_text", 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Appended text. Empty while the model produces only thinking.
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
 * Number of the latest entry.
 */
last: number, } | { "type": "conversations_changed", 
/**
 * All conversations after the change.
 */
conversations: Array<ConversationSummary>, 
/**
 * Identifier of the conversation whose items changed.
 */
changed: string | null, } | { "type": "reply_delta", 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the reply's item.
 */
item: string, 
/**
 * Number of this delta in the reply, from 0.
 */
seq: number, 
/**
 * Content to append to the reply.
 */
append: Array<ReplyAppend>, } | { "type": "item_changed", 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Item after the change.
 */
item: ConversationItem, 
/**
 * `true` if a model is replying in the conversation.
 */
answering: boolean, } | { "type": "audit_changed" } | { "type": "models_changed" } | { "type": "settings_changed", 
/**
 * All settings after the change.
 */
settings: Settings, } | { "type": "rules_changed" } | { "type": "config_problem", 
/**
 * Problem of the settings file, or `None` if it is valid again.
 */
problem: ConfigProblem | null, };

/**
 * Batch of consecutive events. After a gap in the numbers the page reads the snapshot again.
 */
export type Events = { 
/**
 * Number of the first event. Each following event has the next number.
 */
first: number, 
/**
 * Events of the batch, in order.
 */
events: Array<Event>, };

/**
 * An excerpt of a text, with the matches of a search.
 */
export type Excerpt = { 
/**
 * Text of the excerpt.
 */
text: string, 
/**
 * Set if the text continues before the excerpt.
 */
cutBefore: boolean, 
/**
 * Set if the text continues after the excerpt.
 */
cutAfter: boolean, 
/**
 * Matches in order, as start and end offsets in UTF-16 code units of `text`, which are the page's string offsets.
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
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Format of the file.
 */
format: ExportFormat, };

/**
 * File format of an exported conversation.
 */
export type ExportFormat = "markdown" | "json";

/**
 * The kind of a failure.
 */
export type FailureReason = "command_not_found" | "could_not_start" | "exited_early" | "exited" | "no_answer" | "protocol" | "refused" | "unreachable" | "unauthorized" | "no_secret" | "limit_reached";

/**
 * The type of a field, with its constraints.
 */
export type FieldKind = { "type": "text", 
/**
 * Format that the text must have.
 */
format: TextFormat | null, 
/**
 * Minimum length, in characters.
 */
minLength: number | null, 
/**
 * Maximum length, in characters.
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
 * Minimum number of selected options.
 */
minItems: number | null, 
/**
 * Maximum number of selected options.
 */
maxItems: number | null, };

/**
 * The kind of a validation error.
 */
export type FieldProblem = "required" | "wrong_type" | "too_short" | "too_long" | "too_small" | "too_large" | "too_few" | "too_many" | "not_an_option" | "not_an_email" | "not_a_uri" | "not_a_date" | "not_a_date_time" | "unknown_field";

/**
 * Kind of files that a dialog offers.
 */
export type FileKind = "any" | "bundle";

/**
 * Server whose sandbox lets it write to a file that another server runs.
 */
export type FileWriter = { 
/**
 * Name of the server that may write to the file.
 */
server: string, 
/**
 * Path of a file that determines what another server runs.
 */
file: string, 
/**
 * Writable folder of the sandbox that contains the file.
 */
folder: string, };

/**
 * The result of a check, with the suggested remedy.
 */
export type Finding = { 
/**
 * Identifier of the check.
 */
id: CheckId, 
/**
 * Display name of the check.
 */
title: string, 
/**
 * State of the checked item.
 */
state: FindingState, 
/**
 * Description of the state.
 */
seen: string, 
/**
 * Suggested remedy, if there is a problem.
 */
next: string | null, 
/**
 * Names of the servers that are or would be affected.
 */
servers: Array<string>, };

/**
 * The state of a checked item, in increasing order of severity.
 */
export type FindingState = "ok" | "unknown" | "warning" | "problem";

/**
 * A suspicious place in a text or definition.
 */
export type Flag = { 
/**
 * Path to the place: keys, and positions of list items counted from 1. Empty for a plain text.
 */
place: Array<string>, 
/**
 * The reason for the flag.
 */
reason: FlagReason, 
/**
 * The suspicious text, verbatim, at most 120 characters.
 */
excerpt: string, };

/**
 * The reason for a flag.
 */
export type FlagReason = "hidden_characters" | "instructs_model" | "hides_from_user" | "secret_place" | "other_tool" | "asks_for_context" | "praises_itself" | "deceptive_letters" | "misleading_link" | "too_long";

/**
 * Access to a folder.
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
 * Number of entries of the folder, at most 1000.
 */
count: number, } | { "is": "none", 
/**
 * The reason why no folder is proposed.
 */
because: ProposalRefusal, };

/**
 * Last time at which a server received the folders that are shared with it.
 */
export type FolderUse = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Time of the request.
 */
lastUse: LastUse, };

/**
 * A field of a form.
 */
export type FormField = { 
/**
 * Key of the field in the response.
 */
name: string, 
/**
 * Label, as sent by the server.
 */
title: string | null, 
/**
 * Description, as sent by the server.
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
 * Initial value. Dropped if it violates the field's own constraints.
 */
default: JsonValue | null, 
/**
 * Set if the name, title or description suggest that the field asks for a secret.
 */
secret: boolean, };

/**
 * A validation error of one field.
 */
export type FormProblem = { 
/**
 * Name of the field.
 */
field: string, 
/**
 * Kind of the validation error.
 */
problem: FieldProblem, 
/**
 * The violated bound, for errors that have one.
 */
limit: number | null, };

/**
 * Validation errors of a form's content. Empty if it can be sent.
 */
export type FormProblems = { 
/**
 * Errors by field, in the order of the form.
 */
problems: Array<FormProblem>, };

/**
 * An item found by a search.
 */
export type FoundItem = { 
/**
 * Sequence number of the item in order of its first write. Used to request older results.
 */
number: number, 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Title of the conversation.
 */
title: string, 
/**
 * Identifier of the item.
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
 * Search results, latest first.
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
export type FoundProvider = { 
/**
 * Identifier of the preset for its setup.
 */
preset: string, 
/**
 * Name of the model server.
 */
name: string, 
/**
 * Base URL of the API.
 */
url: string, 
/**
 * Names of the available models.
 */
models: Array<string>, };

/**
 * A tool found by a search.
 */
export type FoundTool = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Name of the tool on its server.
 */
tool: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, };

/**
 * Request for the messages of a prompt.
 */
export type GetPrompt = { 
/**
 * Identifier of the call, chosen by the caller and unique among its calls.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Name of the prompt.
 */
prompt: string, 
/**
 * Arguments of the prompt, by name.
 */
arguments: { [key in string]: string }, 
/**
 * Hash of the definition that was shown, or `None` if it was not shown. The request is denied if the definition
 * has changed.
 */
hash?: string, };

/**
 * Approval that covers later acts too.
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
 * Name of the tool, or `None` if the grant covers the server's command.
 */
tool: string | null, 
/**
 * Duration of the grant.
 */
scope: ApprovalScope, 
/**
 * Identifier of the conversation that the grant is limited to.
 */
conversation: string | null, 
/**
 * Time at which the grant was given, in milliseconds since 1970.
 */
since: number, 
/**
 * Time at which the grant expires, in milliseconds since 1970.
 */
expiresAt: number | null, 
/**
 * Hash that the grant is bound to: of the command, or of the tool's whole definition.
 */
restsOn: string, 
/**
 * Last act that the grant allowed, if there was one.
 */
lastUse?: LastUse, };

/**
 * Reference to a grant.
 */
export type GrantRef = { 
/**
 * Identifier of the grant.
 */
id: string, };

/**
 * All grants that are in effect.
 */
export type Grants = { 
/**
 * Grants that are in effect.
 */
grants: Array<Grant>, 
/**
 * Last uses of rules since Drawbridge started.
 */
ruleUses?: Array<RuleUse>, 
/**
 * Last times at which servers received their shared folders, since Drawbridge started.
 */
folderUses?: Array<FolderUse>, };

/**
 * Header that is sent to a remote server.
 */
export type HttpHeader = { 
/**
 * Name of the header.
 */
name: string, 
/**
 * Value of the header. Never returned for a configured server, and `None` in an update keeps the stored value.
 */
value: string | null, 
/**
 * `true` if the value is stored in the system's keychain instead of the settings file.
 */
secret: boolean, };

/**
 * MCP transport over HTTP.
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
 * App whose settings define servers.
 */
export type ImportApp = { 
/**
 * Identifier of the app, as used in `ImportSource`.
 */
id: string, 
/**
 * Name of the app as its vendor writes it.
 */
name: string, 
/**
 * Settings files that were read.
 */
files: Array<ImportFile>, 
/**
 * Servers of the app. A server that several apps define is listed only in the first one.
 */
servers: Array<ImportCandidate>, };

/**
 * Server of another app. Secret values of variables and headers are not included.
 */
export type ImportCandidate = { 
/**
 * Hash of the resulting configuration, without the values of secrets, and of its location. A candidate is imported
 * only if its hash is unchanged.
 */
id: string, 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Locations at which the server was found.
 */
origins: Array<ImportOrigin>, 
/**
 * Transport: `stdio`, `http` or `sse`.
 */
transport: string, 
/**
 * Command on one line, or URL.
 */
target: string, 
/**
 * Working directory of a local server, if its app specifies one.
 */
folder: string | null, 
/**
 * Sandbox of a local server, if its app specifies one in Drawbridge's format.
 */
sandbox: Sandbox | null, 
/**
 * OAuth client of a remote server, if its app specifies one.
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
 * Relation to the configured servers.
 */
status: ImportStatus, 
/**
 * Placeholders in the command, the URL or the sign-in settings, which the user has to replace.
 */
placeholders: Array<ImportPlaceholder>, 
/**
 * `true` if the server is disabled in the other app.
 */
off: boolean, 
/**
 * Tools that the app offers to its model and that would be offered here too, or `None` for all.
 */
tools: ToolFilter | null, 
/**
 * Settings that are not imported, or the reason why the server can't be imported.
 */
notes: Array<ImportNote>, };

/**
 * Servers found in the settings of other apps.
 */
export type ImportCandidates = { 
/**
 * Names of the apps that were searched, in the order of the table of apps.
 */
lookedFor: Array<string>, 
/**
 * Apps with servers, in the order of the table of apps.
 */
apps: Array<ImportApp>, 
/**
 * Files that could not be read, with line, column and cause.
 */
problems: Array<ConfigProblem>, };

/**
 * Settings file of an app.
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
 * A note on a server that was found.
 */
export type ImportNote = { 
/**
 * Kind of the note.
 */
kind: ImportNoteKind, 
/**
 * Names in the note: settings, variables, a file or a folder, depending on the kind. Safe to print.
 */
names: Array<string>, 
/**
 * English text of the note, safe to print.
 */
text: string, };

/**
 * The kind of a note.
 */
export type ImportNoteKind = "off" | "also_in" | "denied_tools" | "exposed_tools" | "name_taken" | "name_shared" | "set_up_here" | "project" | "not_used" | "approvals" | "secret_left_out" | "bridge" | "windows" | "input" | "enter_value" | "not_followed" | "placeholder" | "as_written" | "empty" | "env_file" | "merged" | "different" | "other_list" | "reason" | "other";

/**
 * The source of an imported server.
 */
export type ImportOrigin = { 
/**
 * Identifier of the app, or `file` if the app is unknown.
 */
app: string, 
/**
 * Path of the file.
 */
file: string, 
/**
 * Name of the server in the file.
 */
name: string, };

/**
 * Outcome for one selected candidate.
 */
export type ImportOutcome = { 
/**
 * Identifier of the candidate.
 */
id: string, 
/**
 * Name of the imported server in the settings, or `None` if it was not imported.
 */
name: string | null, 
/**
 * Reason why the secrets are stored only until Drawbridge exits, if they are.
 */
onlyThisRun: string | null, 
/**
 * Reason why the server was not imported.
 */
problem: string | null, };

/**
 * A location in the configuration of a server.
 */
export type ImportPlace = { "is": "command" } | { "is": "argument", 
/**
 * Position of the argument, from 1.
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
 * Location of the text.
 */
place: ImportPlace, 
/**
 * The text, safe to print. Empty if the value is missing.
 */
text: string, };

/**
 * Servers found in pasted text.
 */
export type ImportPreview = { 
/**
 * Servers that were found.
 */
servers: Array<ImportedServer>, 
/**
 * Reason why the text can't be parsed, with line and column where known.
 */
problem: ConfigProblem | null, };

/**
 * Request to import servers.
 */
export type ImportServers = { 
/**
 * Source with which the candidates were listed.
 */
source: ImportSource, 
/**
 * Identifiers of the selected candidates.
 */
ids: Array<string>, };

/**
 * OAuth client that an app uses to sign in to a server.
 */
export type ImportSignIn = { 
/**
 * Client identifier at the authorization server.
 */
clientId: string | null, 
/**
 * `true` if there is a client secret, which is stored in the keychain.
 */
hasSecret: boolean, 
/**
 * Issuer of the authorization server.
 */
issuer: string | null, 
/**
 * Scopes to request, or empty for the scopes that the server requires.
 */
scopes: Array<string>, };

/**
 * Settings to search for servers. Without a member: all known apps in the home folder.
 */
export type ImportSource = { 
/**
 * Identifier of the only app to search.
 */
app: string | null, 
/**
 * Project folder whose files are searched instead. Must be one of the folders that a server may know of.
 */
project: string | null, };

/**
 * The relation of a found server to those that are configured.
 */
export type ImportStatus = "new" | "same" | "conflict" | "unsupported";

/**
 * Pasted text, for example from a server's README.
 */
export type ImportText = { 
/**
 * Text to parse for servers.
 */
text: string, };

/**
 * Server found in pasted text.
 */
export type ImportedServer = { 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Configuration of the server.
 */
config: ServerConfig, 
/**
 * Notes for the user: placeholders to fill in, unknown keys, or the reason why it can't be used.
 */
notes: Array<string>, 
/**
 * `true` if the server can be added without changes.
 */
usable: boolean, };

/**
 * Outcomes of an import.
 */
export type ImportedServers = { 
/**
 * Outcome for each selected candidate, in the order of the request.
 */
outcomes: Array<ImportOutcome>, };

/**
 * Variable or header of a candidate.
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
toEnter: boolean, };

/**
 * The kind of a variable's or header's value.
 */
export type ImportedValueKind = "literal" | "secret" | "reference";

/**
 * The kind of value that an input accepts.
 */
export type InputKind = "text" | "number" | "boolean" | "file" | "folder";

/**
 * The reason why an input's value is rejected.
 */
export type InputProblem = "missing" | "too_many" | "not_text" | "not_a_choice" | "not_a_number" | "out_of_range" | "not_a_boolean" | "not_a_path";

/**
 * Server to install exactly as previewed.
 */
export type Install = { 
/**
 * Server with the user's inputs.
 */
draft: InstallDraft, 
/**
 * Hash of the preview, `hash`. Nothing is installed if the result would differ.
 */
hash: string, 
/**
 * `true` if the user agreed to stop the running server for its upgrade.
 */
stop: boolean, };

/**
 * A package or remote of a server; each of them provides the server.
 */
export type InstallChoice = { 
/**
 * Identifier in an `InstallSource`.
 */
target: InstallTarget, 
/**
 * `npm`, `pypi`, `nuget`, `oci`, `mcpb` or another kind of package; `streamable-http` or `sse` for a remote.
 */
kind: string, 
/**
 * Name of the package, or address of the remote.
 */
identifier: string, 
/**
 * Version of the package, if it is not part of the identifier.
 */
version: string | null, 
/**
 * Reason why it can't be installed, if any.
 */
problem: string | null, 
/**
 * Bundle that is downloaded for it, if it is a bundle.
 */
download: InstallDownload | null, };

/**
 * The availability of a sandbox for a server to be installed.
 */
export type InstallContainment = { "is": "possible" } | { "is": "container" } | { "is": "remote" } | { "is": "impossible", 
/**
 * Description of the cause.
 */
cause: string, };

/**
 * A bundle that is downloaded for a choice.
 */
export type InstallDownload = { 
/**
 * HTTPS URL of the bundle.
 */
url: string, 
/**
 * Expected SHA-256 of the file, in hexadecimal.
 */
sha256: string, };

/**
 * Server to install with the user's inputs. Values of secret inputs are stored in the keychain at the installation.
 */
export type InstallDraft = { 
/**
 * Source of the offer, `source`.
 */
source: InstallSource, 
/**
 * Name of the server in the settings.
 */
name: string, 
/**
 * Values of the inputs, by key. Missing inputs have their default.
 */
values: { [key in string]: Array<string> }, 
/**
 * Sandbox of the server, or `None` for unrestricted access. Ignored in an upgrade, which keeps the server's
 * sandbox.
 */
sandbox: Sandbox | null, 
/**
 * Name of the installed server to replace, or `None` for a new server.
 */
upgrades: string | null, };

/**
 * Server that could be installed. Nothing is unpacked, started or approved.
 */
export type InstallOffer = { 
/**
 * Source for the following commands, with the exact version, the chosen target or the SHA-256 of the bundle, so
 * that nothing else can be installed.
 */
source: InstallSource, 
/**
 * Origin of the server.
 */
origin: InstallOrigin, 
/**
 * Packages and remotes to choose from. Empty for a bundle.
 */
choices: Array<InstallChoice>, 
/**
 * Configuration that would be set up, or `None` if no target is chosen or it can't be installed.
 */
plan: InstallPlan | null, 
/**
 * Reason why the chosen target can't be installed, if it can't.
 */
problem: string | null, };

/**
 * Origin of a server.
 */
export type InstallOrigin = { "from": "registry", 
/**
 * Entry of the registry.
 */
listing: RegistryListing, 
/**
 * Registry that responded, with the time of the response.
 */
answer: RegistryAnswer, 
/**
 * Downloaded bundle, if the chosen package is one. Its hash matches the one in the registry.
 */
bundle: OfferedBundle | null, } | { "from": "bundle" } & OfferedBundle;

/**
 * Configuration that an installation would set up, with inputs for the user.
 */
export type InstallPlan = { 
/**
 * Suggested name, unique among the configured servers.
 */
name: string, 
/**
 * Command or URL of the server.
 */
target: PlannedTarget, 
/**
 * Inputs that the user fills in.
 */
inputs: Array<PlanInput>, 
/**
 * Keys of secret inputs that can't be stored in the keychain. Their values appear in the settings file and on the
 * command line.
 */
exposedSecrets: Array<string>, 
/**
 * Sentences that the user should read.
 */
notes: Array<string>, 
/**
 * Availability of a sandbox.
 */
containment: InstallContainment, 
/**
 * Suggested sandbox of the server.
 */
sandbox: Sandbox | null, };

/**
 * Exact configuration that would be set up, or the problems that prevent it.
 */
export type InstallPreview = { 
/**
 * Problems of the inputs' values, by key.
 */
inputProblems: { [key in string]: InputProblem }, 
/**
 * Other problem, such as a name that is taken or a URL that can't be used.
 */
problem: string | null, 
/**
 * Server that would be set up, or `None` if there is a problem.
 */
server: PreviewedServer | null, 
/**
 * Current configuration of the server to replace.
 */
before: PreviewedServer | null, 
/**
 * Hash of the resulting configuration, including the values of secrets, and of its origin, or `None` if there is a
 * problem.
 */
hash: string | null, };

/**
 * The source of a server to install.
 */
export type InstallSource = { "from": "registry", 
/**
 * Name in the registry, as `namespace/name`.
 */
name: string, 
/**
 * Version; the newest by default.
 */
version: string | null, 
/**
 * Package or remote; may be omitted if there is only one.
 */
target: InstallTarget | null, } | { "from": "bundle", 
/**
 * Absolute path of the file.
 */
path: string, 
/**
 * Expected SHA-256 in hexadecimal, if known.
 */
sha256: string | null, };

/**
 * A package or remote in a registry's description of a server version.
 */
export type InstallTarget = { "kind": "package", 
/**
 * Position in the description, from 1.
 */
number: number, } | { "kind": "remote", 
/**
 * Position in the description, from 1.
 */
number: number, };

/**
 * Facts about the installation of a server.
 */
export type InstallationInfo = { 
/**
 * Source of the installation.
 */
origin: ServerOrigin, 
/**
 * Set if the command or address has changed since the installation.
 */
changed: boolean, };

/**
 * Request for the versions of the servers that were installed from a registry.
 */
export type InstalledVersions = { 
/**
 * `true` to query the registry even if cached responses are less than an hour old.
 */
refresh: boolean, };

/**
 * The content of an item.
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
 * Prompt that the message is part of, if any.
 */
prompt: PromptOrigin | null, 
/**
 * Files and resources that the user attached.
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
 * Reason for the end of the reply, or `None` while it streams or if it was interrupted.
 */
stop: ReplyStop | null, 
/**
 * Number of tokens, as far as the provider reports it.
 */
usage: TokenUsage, 
/**
 * Cost of the reply, or `None` if the price is unknown.
 */
cost: Cost | null, 
/**
 * Error that ended the reply, if any.
 */
error: ModelProblem | null, 
/**
 * Descriptions of the parts of the request that the provider could not represent, and of their substitutes.
 */
conversions?: Array<string>, 
/**
 * Time until the first part arrived, in milliseconds.
 */
firstAfter: number | null, 
/**
 * Total duration of the reply, in milliseconds.
 */
took: number, } | { "kind": "tool_call", 
/**
 * Identifier of the call, as used by call events and consent requests.
 */
call: string, 
/**
 * Name of the called server.
 */
server: string, 
/**
 * Name of the tool.
 */
tool: string, 
/**
 * Arguments that were sent.
 */
arguments: JsonValue, 
/**
 * Result of the call, or `None` if it failed.
 */
result: ToolResult | null, 
/**
 * Description of the failure, or `None` if the call succeeded.
 */
error: string | null, 
/**
 * Stable identifier of the error. Absent in conversations of older versions.
 */
failure?: CallFailureCode, 
/**
 * Duration of the call, in milliseconds.
 */
took: number, 
/**
 * Tool use in a model's reply that requested the call, or `None` for the user's calls.
 */
used?: ToolUsed, 
/**
 * Number of bytes of the result's text that were omitted for the model because of the length limit.
 */
leftOut?: number, } | { "kind": "own_tool", 
/**
 * Tool use in the model's reply. Its key is the name of the tool.
 */
used: ToolUsed, 
/**
 * Arguments that the model passed.
 */
arguments: JsonValue, 
/**
 * Text returned to the model.
 */
text: string, 
/**
 * Tools found by the search.
 */
found?: Array<FoundTool>, 
/**
 * Set if the tool reported an error to the model.
 */
isError: boolean, } | { "kind": "notice", 
/**
 * Content of the notice.
 */
notice: Notice, } | { "kind": "attachment", 
/**
 * Name of the server.
 */
server: string, 
/**
 * URI of the resource; for a skill, of its `SKILL.md`.
 */
uri: string, 
/**
 * Name of the resource or skill.
 */
name: string, 
/**
 * Contents at the time of attachment.
 */
contents: Array<ResourceContents>, 
/**
 * Set for a skill, whose text is instructions that the user chose.
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
 * `true` if there are items before these.
 */
hasMore: boolean, };

/**
 * Range of items to read from a conversation.
 */
export type ItemRange = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the item before which items are returned, or `None` for the last ones of the selected branch.
 */
before: string | null, 
/**
 * Maximum number of items.
 */
limit: number, };

/**
 * Reference to an item of a conversation.
 */
export type ItemRef = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the item.
 */
item: string, };

/**
 * The completeness of an item.
 */
export type ItemState = "whole" | "streaming" | "cut";

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * The reason why a value matches a condition or not.
 */
export type JudgementReason = "matches" | "differs" | "missing" | "not-judged" | "too-long" | "respelled" | "climbs" | "crosses-parts" | "not-whole" | "second-name" | "letters" | "unresolved" | "leads-elsewhere" | "holds" | "user-info" | "not-address" | "not-number" | "text-number";

/**
 * Language of the page.
 */
export type Language = "system" | "en" | "zh";

/**
 * The last act that a permission allowed without consent.
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
 * File that determines what a local server runs. The approval of a start is bound to its current content.
 */
export type LaunchFile = { 
/**
 * Path that the command refers to.
 */
path: string, 
/**
 * Canonical path of the file, if it differs.
 */
leadsTo: string | null, 
/**
 * Size of the file in bytes.
 */
bytes: number, 
/**
 * SHA-256 of the content in hexadecimal, or `None` if the file is too large or unreadable. The approval is then
 * bound to its size and its times of modification and status change.
 */
hash: string | null, 
/**
 * Role of the file in the command.
 */
role: LaunchFileRole, 
/**
 * `true` if the server was approved before and the file has changed since.
 */
changed: boolean, };

/**
 * The relation of a launch file to its command.
 */
export type LaunchFileRole = "program" | "interpreter" | "environment" | "argument" | "variable";

/**
 * A limit, with the usage that counts towards it.
 */
export type LimitCounter = { 
/**
 * Current usage of the resource.
 */
now: number, 
/**
 * Limit of the usage.
 */
most: number, 
/**
 * Number of events beyond the limit that were refused, omitted or slowed down.
 */
beyond: number, };

/**
 * Usage of a server against its limits since its last start.
 */
export type LimitsUsage = { 
/**
 * Number of calls in progress.
 */
calls: LimitCounter, 
/**
 * Number of pending consent requests.
 */
questions: LimitCounter, 
/**
 * Notifications within the last second.
 */
notifications: LimitCounter, 
/**
 * Bytes within the last minute.
 */
bytes: LimitCounter, 
/**
 * Largest message so far, in bytes.
 */
message: LimitCounter, 
/**
 * Size of the activity log, in bytes.
 */
kept: LimitCounter, 
/**
 * Set while reading from the server is slowed down.
 */
slowed: boolean, 
/**
 * Resources used by a sandboxed server; `None` for other servers.
 */
resources: ResourcesUsage | null, };

/**
 * List of a server.
 */
export type ListName = "tools" | "prompts" | "resources";

/**
 * Package that a launcher such as `npx` would load.
 */
export type LoadedPackage = { 
/**
 * Launcher, as written on the command line.
 */
launcher: string, 
/**
 * Package named in the settings, if it could be parsed.
 */
name: string | null, 
/**
 * Version, range or tag in the settings, or `None` if they name none.
 */
wanted: string | null, 
/**
 * Version that would run, or `None` if it is unknown.
 */
version: PackageVersion | null, 
/**
 * Reason why the version is unknown.
 */
unknown: UnknownPackage | null, 
/**
 * Version that was approved last, if another one would run.
 */
before: PackageVersion | null, 
/**
 * `true` if the registry offers different files for the approved version.
 */
replaced: boolean, 
/**
 * Further packages of the command line, whose versions are not pinned.
 */
unpinned: Array<string>, 
/**
 * Command line as configured, without the resolved version.
 */
configured: string, };

/**
 * A name or title that can be mistaken for another.
 */
export type LookAlike = { 
/**
 * Name of the server that has it, as chosen by the user.
 */
server: string, 
/**
 * The name, or the title if that is what looks alike.
 */
name: string, 
/**
 * Set if the text is identical and belongs to another server.
 */
same: boolean, };

/**
 * Content that a wire protocol can't represent.
 */
export type LossyConversion = { 
/**
 * Kind of the content, such as `imageInToolResult`.
 */
what: string, 
/**
 * Handling of the content: `refuse` rejects the request, `sendAfter` sends it in a following message, `sayInText`
 * describes it in text, `leaveOut` drops it.
 */
then: string, 
/**
 * Conversions that can be chosen.
 */
choices: Array<string>, };

/**
 * Message of a prompt or of a sampling request.
 */
export type Message = { 
/**
 * Role of the message's author.
 */
role: Role, 
/**
 * Content blocks of the message.
 */
content: Array<Content>, };

/**
 * An attachment of a user's message.
 */
export type MessageAttachment = { "type": "file", 
/**
 * Name of the file.
 */
name: string, 
/**
 * Media type of the file.
 */
mimeType: string, 
/**
 * Bytes of the file, in base64.
 */
data: string, } | { "type": "resource", 
/**
 * Name of the server.
 */
server: string, 
/**
 * URI of the resource.
 */
uri: string, 
/**
 * Name of the resource.
 */
name: string, 
/**
 * Contents at the time of attachment.
 */
contents: Array<ResourceContents>, };

/**
 * Model of a provider. Unknown properties are `None`.
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
 * Context size in tokens, for request and reply together.
 */
context: number | null, 
/**
 * Maximum number of tokens in a reply.
 */
maxOutput: number | null, 
/**
 * Price of the model.
 */
price: ModelPrice | null, 
/**
 * `true` if the model accepts images.
 */
images: boolean | null, 
/**
 * `true` if the model accepts audio.
 */
audio: boolean | null, 
/**
 * `true` if the model accepts files.
 */
files: boolean | null, 
/**
 * `true` if the model supports tools.
 */
tools: boolean | null, 
/**
 * `true` if thinking can be enabled.
 */
thinking: boolean | null, };

/**
 * Reason for the choice of a model.
 */
export type ModelChosenBy = { "is": "user" } | { "is": "setting" } | { "is": "hint", 
/**
 * Hint as the server sent it.
 */
hint: string, } | { "is": "equivalent", 
/**
 * Hint as the server sent it.
 */
hint: string, } | { "is": "priorities", 
/**
 * Priorities, the highest first: `cost`, `speed`, `intelligence`.
 */
priorities: Array<string>, } | { "is": "default" } | { "is": "first" };

/**
 * Stable identifier of the cause for which there is no usable answer of a model. The page has words and a button for
 * each.
 */
export type ModelErrorCode = "noKey" | "keyUnreadable" | "wrongKey" | "forbidden" | "noCredit" | "rateLimited" | "overloaded" | "contextTooLong" | "refused" | "notFound" | "unreachable" | "silent" | "cut" | "unreadable" | "tooLarge" | "badArguments" | "cannotCarry" | "unconfirmed" | "noProvider" | "empty" | "outOfTokens" | "unfit" | "internal" | "provider";

/**
 * Price of a model per million tokens.
 */
export type ModelPrice = { 
/**
 * Price of the request's tokens.
 */
input: number, 
/**
 * Price of the reply's tokens.
 */
output: number, 
/**
 * Currency code, such as `USD`.
 */
currency: string, 
/**
 * Date or source of the price.
 */
asOf: string, };

/**
 * An error of a model or its provider.
 */
export type ModelProblem = { 
/**
 * Stable identifier of the cause.
 */
code: ModelErrorCode, 
/**
 * Message with the cause and the next step for the user.
 */
message: string, };

/**
 * Configured provider of models.
 */
export type ModelProvider = { 
/**
 * Identifier of the provider.
 */
id: string, 
/**
 * Name of the provider.
 */
name: string, 
/**
 * Wire protocol of the provider.
 */
kind: ProviderKind, 
/**
 * Base URL of the API.
 */
url: string, 
/**
 * Timeout of a reply in seconds without a received byte, if the user set it.
 */
silenceSeconds: number | null, 
/**
 * Content that the wire protocol can't represent, and how each kind is converted.
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
 * `true` if requests, including the API key, are sent unencrypted.
 */
readable: boolean, 
/**
 * Models that the provider listed last.
 */
models: Array<Model>, 
/**
 * Time of the last list, in milliseconds since 1970, or `None` if there is none.
 */
listedAt: number | null, 
/**
 * Error of the last request to the provider, if it failed.
 */
problem: ModelProblem | null, };

/**
 * Reference to a model of a configured provider.
 */
export type ModelRef = { 
/**
 * Identifier of the provider in the settings.
 */
provider: string, 
/**
 * Identifier of the model, as the provider names it.
 */
model: string, };

/**
 * Model providers, both configured and available.
 */
export type Models = { 
/**
 * Configured providers, in order.
 */
providers: Array<ModelProvider>, 
/**
 * Model of new conversations.
 */
default: ModelRef | null, 
/**
 * Model servers on this computer that are not configured yet.
 */
found: Array<FoundProvider>, 
/**
 * Presets for the setup of a provider.
 */
presets: Array<ProviderPreset>, };

/**
 * Request to create a conversation.
 */
export type NewConversation = { 
/**
 * Title of the conversation.
 */
title: string, };

/**
 * Version that is newer than the installed one.
 */
export type NewerVersion = { 
/**
 * Version as the publisher writes it.
 */
version: string, 
/**
 * Time of publication, in milliseconds since 1970.
 */
publishedAt: number | null, };

/**
 * A notice from Drawbridge to the user in a conversation.
 */
export type Notice = { "is": "rounds", 
/**
 * Number of rounds so far.
 */
rounds: number, };

/**
 * Start request whose server could get a sandbox.
 */
export type OfferSandbox = { 
/**
 * Identifier of the consent request.
 */
id: string, 
/**
 * Access to the network in the sandbox, or `None` for the proposed one.
 */
network: SandboxNetwork | null, };

/**
 * Bundle to install. All members except the hash, the sizes and the folder are claims of the publisher.
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
 * Member `name` of the manifest, which identifies other versions of the same bundle.
 */
name: string, 
/**
 * Member `display_name` of the manifest.
 */
title: string | null, 
/**
 * Version as the publisher writes it.
 */
version: string, 
/**
 * Description of the server from the manifest.
 */
description: string, 
/**
 * Name of the author.
 */
author: string, 
/**
 * Description of the signature. Signatures are never verified and imply nothing about safety.
 */
signature: string, 
/**
 * Folder that the bundle is unpacked to.
 */
folder: string, 
/**
 * Number of files in the bundle.
 */
files: number, 
/**
 * Unpacked size in bytes.
 */
unpackedBytes: number, 
/**
 * Sentences about the members of the manifest that are not supported.
 */
warnings: Array<string>, };

/**
 * A server whose tools a model may use.
 */
export type OfferedServer = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Names of the enabled tools, or `None` for all that the user has reviewed.
 */
tools: Array<string> | null, 
/**
 * Hash of the server's instructions that the user approved for the model, or `None` if the model doesn't receive
 * them. They are sent as data with their source; changed instructions are not sent.
 */
instructions: string | null, };

/**
 * A large content that is omitted from an item's body.
 */
export type OmittedContent = { 
/**
 * Position in the body, as a JSON Pointer (RFC 6901).
 */
pointer: string, 
/**
 * SHA-256 of the bytes, in hexadecimal. It is the key to request them.
 */
hash: string, 
/**
 * Number of omitted bytes.
 */
bytes: number, 
/**
 * Set if the bytes are the UTF-8 text of the omitted string. Otherwise the string is their base64 encoding.
 */
isText: boolean, };

/**
 * Version of a package.
 */
export type PackageVersion = { 
/**
 * Version, or the tag of a container image.
 */
version: string, 
/**
 * Hash of the package's files, if the registry provides one.
 */
integrity: string | null, 
/**
 * Origin of the package.
 */
source: string | null, };

/**
 * Redirect URL that a browser was sent to at the end of a sign-in.
 */
export type PasteRedirect = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Full redirect URL, with its query.
 */
url: string, };

/**
 * The origin of a path in `BlockedPath`.
 */
export type PathMention = "command" | "server";

/**
 * Paths of Drawbridge's files.
 */
export type Paths = { 
/**
 * Path of the settings file with the servers.
 */
config: string, 
/**
 * Path of the folder with all other data.
 */
data: string, 
/**
 * Path of the audit log.
 */
audit: string, };

/**
 * Request to let the user select a file.
 */
export type PickFile = { 
/**
 * Kind of files that the dialog offers.
 */
kind: FileKind, };

/**
 * File selected by the user.
 */
export type PickedFile = { 
/**
 * Absolute path of the file, or `None` if the dialog was closed.
 */
file: string | null, };

/**
 * Folder selected by the user.
 */
export type PickedFolder = { 
/**
 * Absolute path of the folder, or `None` if the dialog was closed.
 */
folder: string | null, };

/**
 * Result of a ping.
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
 * Name of the tool or prompt.
 */
name: string, 
/**
 * Hash of the whole definition.
 */
hash: string, 
/**
 * Time of the review, in milliseconds since 1970.
 */
since: number, };

/**
 * Definitions of a server that are stored as reviewed.
 */
export type Pins = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Identity of the server as pairs of label and value: its command and program, or its URL.
 */
identity: Array<[string, string]>, 
/**
 * Time of the last approval of the identity, in milliseconds since 1970.
 */
identitySince: number | null, 
/**
 * Issuer of the server's tokens.
 */
issuer: string | null, 
/**
 * Reviewed tools of the server.
 */
tools: Array<PinnedDefinition>, 
/**
 * Reviewed prompts of the server.
 */
prompts: Array<PinnedDefinition>, };

/**
 * An input that the user fills in. All texts come from the publisher.
 */
export type PlanInput = { 
/**
 * Key, unique within the plan.
 */
key: string, 
/**
 * Display name of the input.
 */
label: string, 
/**
 * Purpose of the input.
 */
description: string | null, 
/**
 * Kind of the input's value.
 */
kind: InputKind, 
/**
 * Set if the server can't be set up without a value.
 */
required: boolean, 
/**
 * Set if the value is a secret, which is stored in the keychain.
 */
secret: boolean, 
/**
 * Set if the input accepts several values.
 */
multiple: boolean, 
/**
 * Values used if the user enters none.
 */
default: Array<string>, 
/**
 * The accepted values; any value if empty.
 */
choices: Array<string>, 
/**
 * Example shown in the empty field.
 */
placeholder: string | null, 
/**
 * Minimum of a number.
 */
min: number | null, 
/**
 * Maximum of a number.
 */
max: number | null, };

/**
 * Part of a text with placeholders.
 */
export type PlannedPart = { "text": string } | { "input": string };

/**
 * Command or URL of a plan.
 */
export type PlannedTarget = { "type": "stdio", 
/**
 * Program of the command.
 */
command: string, 
/**
 * Arguments of the command, each in parts.
 */
args: Array<Array<PlannedPart>>, 
/**
 * Environment variables, by name.
 */
env: { [key in string]: Array<PlannedPart> }, } | { "type": "http", 
/**
 * URL of the server, in parts.
 */
url: Array<PlannedPart>, 
/**
 * HTTP transport of the server.
 */
kind: HttpKind, 
/**
 * Headers of each request, by name.
 */
headers: { [key in string]: Array<PlannedPart> }, };

/**
 * All rules and presets, with their files.
 */
export type Policy = { 
/**
 * Preset that the user chose.
 */
preset: Preset, 
/**
 * Preset of this computer's administrator. The stricter of both presets applies.
 */
managedPreset: Preset, 
/**
 * All rules, those of this computer's administrator first.
 */
rules: Array<Rule>, 
/**
 * Rule file of the user.
 */
user: RuleFile, 
/**
 * Rule file for all users of this computer.
 */
managed: RuleFile, };

/**
 * Rules and grants as text.
 */
export type PolicyText = { 
/**
 * JSON document with all rules and grants in effect.
 */
text: string, };

/**
 * The level of consent for acts that no rule decides.
 */
export type Preset = "balanced" | "careful";

/**
 * Part of the value of a variable or header.
 */
export type PreviewedPart = { "text": string } | "secret" | "kept";

/**
 * Server that would be set up. Secrets that go to the keychain are masked.
 */
export type PreviewedServer = { "type": "stdio", 
/**
 * Program of the command.
 */
command: string, 
/**
 * Path of the program on this computer, or `None` if it was not found or is not unpacked yet.
 */
foundAt: string | null, 
/**
 * Arguments as passed to the program.
 */
args: Array<string>, 
/**
 * Environment variables, in addition to the allow-listed ones.
 */
env: { [key in string]: Array<PreviewedPart> }, 
/**
 * Sandbox of the server, or `None` for unrestricted access.
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
 * Files of a project that may define servers.
 */
export type ProjectFiles = { 
/**
 * Paths relative to the folder. The files were not read.
 */
files: Array<string>, };

/**
 * Folder that may be a project.
 */
export type ProjectFolder = { 
/**
 * Path of the folder. Must be one of the folders that a server may know of.
 */
folder: string, };

/**
 * Prompt of a server.
 */
export type Prompt = { 
/**
 * Name by which the prompt is requested.
 */
name: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * Arguments that the prompt accepts.
 */
arguments: Array<PromptArgument>, 
/**
 * Icons provided by the server.
 */
icons: Array<Icon>, 
/**
 * All other members of the definition.
 */
others: JsonValue | null, 
/**
 * Hash of the whole definition, which a review refers to.
 */
hash: string, 
/**
 * Review state and findings.
 */
marks: ReviewMarks, };

/**
 * Argument of a prompt.
 */
export type PromptArgument = { 
/**
 * Name of the argument.
 */
name: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * `true` if a value must be given.
 */
required: boolean, };

/**
 * The origin of a message that came from a prompt.
 */
export type PromptOrigin = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Name of the prompt.
 */
prompt: string, 
/**
 * Arguments of the prompt.
 */
arguments: { [key in string]: string }, };

/**
 * Messages of a prompt.
 */
export type PromptResult = { 
/**
 * Description of the prompt.
 */
description: string | null, 
/**
 * Messages of the prompt, in order.
 */
messages: Array<Message>, };

/**
 * The reason why a folder is not proposed.
 */
export type ProposalRefusal = "secrets" | "too_broad" | "system" | "own" | "name";

/**
 * Reference to a provider.
 */
export type ProviderId = { 
/**
 * Identifier of the provider.
 */
id: string, };

/**
 * The wire format of a provider.
 */
export type ProviderKind = "openai" | "responses" | "anthropic" | "gemini" | "ollama";

/**
 * A provider that can be configured with one click.
 */
export type ProviderPreset = { 
/**
 * Suggested identifier for the settings.
 */
id: string, 
/**
 * Name of the provider.
 */
name: string, 
/**
 * Wire format of the provider.
 */
kind: ProviderKind, 
/**
 * Base URL of the API.
 */
url: string, 
/**
 * Set if the provider requires a key.
 */
wantsKey: boolean, 
/**
 * URL of the page that issues keys, if there is one.
 */
keysAt: string | null, };

/**
 * Result of a provider test, safe to display.
 */
export type ProviderTest = { 
/**
 * Number of models that the provider lists.
 */
models: number, 
/**
 * Text of the model's reply.
 */
said: string | null, 
/**
 * Time to the first token, in milliseconds.
 */
firstMilliseconds: number | null, 
/**
 * Error of the test, if it failed.
 */
problem: ModelProblem | null, };

/**
 * Kind of the owner of a server name.
 */
export type PublisherKind = "github_account" | "domain";

/**
 * Limit that was reached.
 */
export type ReachedSamplingLimit = { 
/**
 * Limited quantity: `requests`, `tokens`, `money` or `rounds`.
 */
of: string, 
/**
 * `true` for a limit per hour, `false` for one over all time.
 */
hour: boolean, 
/**
 * Value of the limit, in millionths of a US dollar for money.
 */
most: number, };

/**
 * Request to read a resource.
 */
export type ReadResource = { 
/**
 * Identifier of the call, chosen by the caller and unique among its calls.
 */
call: string, 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI of the resource.
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
 * Identifier of the call, chosen by the caller and unique among its calls.
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
 * Hash of the entry that was shown. The request fails if the skill has changed since. `None` reads the current
 * version.
 */
shown: string | null, 
/**
 * Path of the file, or `None` for the skill's instructions.
 */
file: string | null, };

/**
 * Content of one server that was read in a conversation.
 */
export type Reading = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Kind of the content.
 */
kind: ReadingKind, 
/**
 * Name of the tool or prompt, or URI of the resource, truncated to 200 characters. Empty if unknown.
 */
name: string, 
/**
 * Set if the definition of the tool claimed, at the time of the call, that the tool reaches an open world.
 */
openWorld: boolean, };

/**
 * Kinds of content that a conversation reads.
 */
export type ReadingKind = "tool" | "prompt" | "resource" | "unknown";

/**
 * Request to read a list again.
 */
export type RefreshList = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * List to read again.
 */
list: ListName, };

/**
 * Origin of a registry response.
 */
export type RegistryAnswer = { 
/**
 * Base URL of the registry.
 */
registry: string, 
/**
 * Time of the response, in milliseconds since 1970.
 */
fetched: number, 
/**
 * `true` if this is the cached response of the time `fetched`.
 */
fromCache: boolean, 
/**
 * Reason why the registry could not be reached, if a request failed.
 */
offline: string | null, };

/**
 * Version of a server as the registry lists it.
 */
export type RegistryListing = { 
/**
 * Name of the server in the registry, `namespace/name`.
 */
name: string, 
/**
 * Title chosen by the publisher, not verified. Never displayed without `name`.
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
 * Account or domain that owns the name.
 */
publisher: RegistryPublisher, 
/**
 * Status of the version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status from the registry.
 */
statusMessage: string | null, 
/**
 * Time of publication, in milliseconds since 1970.
 */
publishedAt: number | null, 
/**
 * `true` if the registry marks it as the latest version.
 */
isLatest: boolean, 
/**
 * Home page as claimed by the publisher.
 */
websiteUrl: string | null, 
/**
 * URL of the source repository as claimed by the publisher.
 */
repositoryUrl: string | null, };

/**
 * Page of the registry's list, with the latest version of each server.
 */
export type RegistryPage = { 
/**
 * Latest version of each server on this page.
 */
servers: Array<RegistryListing>, 
/**
 * Number of entries that were skipped because they can't be parsed.
 */
unreadable: number, 
/**
 * Cursor of the next page, or `None` if this is the last one.
 */
nextCursor: string | null, 
/**
 * Registry that responded, with the time of the response.
 */
answer: RegistryAnswer, };

/**
 * Account or domain that owns the name of a server. No statement about the code.
 */
export type RegistryPublisher = { 
/**
 * Kind of the owner.
 */
kind: PublisherKind, 
/**
 * Name of the account or domain.
 */
name: string, 
/**
 * `true` if the registry verifies the owner of the name. Known only of the official registry.
 */
checked: boolean, };

/**
 * Registry that is in use.
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
 * `true` if the environment variable `DRAWBRIDGE_REGISTRY` overrides the setting.
 */
named: boolean, 
/**
 * Name of the header that is sent with each request. Its value is stored in the keychain and never returned.
 */
header: string | null, };

/**
 * Search request for the registry.
 */
export type RegistrySearch = { 
/**
 * Text to search for in server names, at most 200 bytes. An empty text matches all servers.
 */
text: string, 
/**
 * `next_cursor` of the previous page.
 */
cursor: string | null, 
/**
 * `true` to query the registry even if a cached response is less than an hour old.
 */
refresh: boolean, };

/**
 * Version of a registry server, and a list of its other versions.
 */
export type RegistryServer = { 
/**
 * Requested version of the server.
 */
listing: RegistryListing, 
/**
 * Packages and remotes by which it can be installed.
 */
choices: Array<InstallChoice>, 
/**
 * All versions, newest first.
 */
versions: Array<RegistryVersion>, 
/**
 * Reason why the other versions could not be listed, if they could not.
 */
versionsProblem: string | null, 
/**
 * Registry that responded, with the time of the response.
 */
answer: RegistryAnswer, };

/**
 * Reference to a server of the registry.
 */
export type RegistryServerName = { 
/**
 * Name of the server in the registry, `namespace/name`.
 */
name: string, 
/**
 * Version of the server, or `None` for the latest.
 */
version: string | null, 
/**
 * `true` to query the registry even if a cached response is less than an hour old.
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
 * Version as the publisher writes it.
 */
version: string, 
/**
 * Status of the version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status from the registry.
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
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * New title of the conversation.
 */
title: string, };

/**
 * An addition to a reply that streams. `part` is an index into the parts of the reply; an index past the end starts a
 * new part.
 */
export type ReplyAppend = { "type": "text", 
/**
 * Index of the text part.
 */
part: number, 
/**
 * Text to append to the part.
 */
text: string, } | { "type": "thinking", 
/**
 * Index of the reasoning part.
 */
part: number, 
/**
 * Text to append to the part.
 */
text: string, } | { "type": "tool_use", 
/**
 * Index of the new part.
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
 * Name of the server, or `None` for built-in and nonexistent tools.
 */
server: string | null, 
/**
 * Name of the tool on its server, or `None` as for `server`.
 */
tool: string | null, } | { "type": "arguments", 
/**
 * Index of the tool use.
 */
part: number, 
/**
 * JSON text to append.
 */
text: string, };

/**
 * A part of a model's reply.
 */
export type ReplyPart = { "type": "text", 
/**
 * Text of the part, which may be Markdown.
 */
text: string, } | { "type": "thinking", 
/**
 * Text of the reasoning, which may be empty.
 */
text: string, } | { "type": "tool_use", 
/**
 * Identifier of the tool use, which the result refers to.
 */
id: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, 
/**
 * Name of the server, or `None` for built-in and nonexistent tools.
 */
server: string | null, 
/**
 * Name of the tool on its server, or `None` as for `server`.
 */
tool: string | null, 
/**
 * Arguments as JSON text, which may be incomplete while it streams.
 */
arguments: string, };

/**
 * Reason for the end of a model's reply.
 */
export type ReplyStop = { "is": "end_turn" } | { "is": "max_tokens" } | { "is": "stop_sequence" } | { "is": "tool_use" } | { "is": "refused" } | { "is": "stopped" } | { "is": "other", 
/**
 * Name of the reason, as the provider gives it.
 */
word: string, };

/**
 * Resource of a server.
 */
export type Resource = { 
/**
 * URI of the resource.
 */
uri: string, 
/**
 * Name of the resource.
 */
name: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
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
 * Icons provided by the server.
 */
icons: Array<Icon>, };

/**
 * Contents of a resource: text or bytes.
 */
export type ResourceContents = { 
/**
 * URI of the resource.
 */
uri: string, 
/**
 * Media type, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Contents as text, or `None` if they are bytes.
 */
text: string | null, 
/**
 * Contents as bytes in base64, or `None` if they are text.
 */
blob: string | null, };

/**
 * Limits of one server with all its descendants. A server that exceeds one of them is stopped.
 */
export type ResourceLimits = { 
/**
 * Maximum number of concurrent processes and threads.
 */
processes: number, 
/**
 * Maximum memory of all processes together, in bytes.
 */
memoryBytes: number, 
/**
 * Maximum size of the server's own home, in bytes.
 */
homeBytes: number, 
/**
 * Maximum processor time within an hour, in seconds, summed over all processors.
 */
processorSeconds: number, };

/**
 * Reference to a resource of a server.
 */
export type ResourceRef = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * URI of the resource.
 */
uri: string, };

/**
 * Contents of a resource, which may have several parts.
 */
export type ResourceResult = { 
/**
 * Parts of the resource.
 */
contents: Array<ResourceContents>, 
/**
 * `true` if the contents are from the cache, as the server permits.
 */
cached: boolean, 
/**
 * Time until which the contents are fresh, in milliseconds since 1970, if the server specifies it.
 */
freshUntil: number | null, };

/**
 * Resource template of a server (RFC 6570).
 */
export type ResourceTemplate = { 
/**
 * URI template of the resources.
 */
uriTemplate: string, 
/**
 * Variables of the template, in order.
 */
variables: Array<string>, 
/**
 * Name of the template.
 */
name: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * Media type of the resources, as claimed by the server.
 */
mimeType: string | null, 
/**
 * Icons provided by the server.
 */
icons: Array<Icon>, };

/**
 * Resources used by a sandboxed server. `beyond` is 1 for the limit that stopped it.
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
 * Results of a model's calls that the user reviews before the model reads them.
 *
 * The default is `Suspicious`. It costs the user of an honest server next to nothing:
 * `offers/src/review/results.rs` has the figures. A setting that is off by default protects nobody who hasn't found
 * it.
 */
export type ResultReview = "off" | "suspicious" | "always";

/**
 * Reply to request again, in a new branch.
 */
export type RetryReply = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Identifier of the original reply.
 */
item: string, 
/**
 * Model that replies, or `None` to keep the conversation's model.
 */
model?: ModelRef, };

/**
 * Definitions that the user has reviewed.
 */
export type Review = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Reviewed tools of the server.
 */
tools: Array<SeenDefinition>, 
/**
 * Reviewed prompts of the server.
 */
prompts: Array<SeenDefinition>, };

/**
 * Review state of a definition, and findings that the user should check.
 */
export type ReviewMarks = { 
/**
 * Review state of the definition, or `None` if there is no definition.
 */
review: ReviewState | null, 
/**
 * `true` if the server reported a change of the list that was not read again yet. Until then nothing in it is
 * allowed without a consent request.
 */
outdated: boolean, 
/**
 * Difference to the definition that the user reviewed.
 */
diff: DefinitionDiff | null, 
/**
 * Items with a confusable name, at most ten.
 */
lookAlikes: Array<LookAlike>, 
/**
 * Parts of the text that may be intended to mislead a model or to be overlooked.
 */
flags: Array<Flag>, };

/**
 * Review state of a tool's current definition.
 */
export type ReviewState = "reviewed" | "new" | "changed";

/**
 * The author of a message.
 */
export type Role = "user" | "assistant";

/**
 * Folders that a server may know of.
 */
export type RootsState = { 
/**
 * `true` if the user has decided. Otherwise the first request of the server requires consent.
 */
decided: boolean, 
/**
 * Absolute paths of the folders.
 */
folders: Array<string>, 
/**
 * Folders that are disclosed to the server. With a sandbox, only those that it can reach.
 */
told: Array<string>, };

/**
 * Policy rule. Applies if all its conditions hold.
 */
export type Rule = { 
/**
 * Number of the rule in its source. Empty for a new rule.
 */
id: string, 
/**
 * Source of the rule.
 */
source: RuleSource, 
/**
 * Effect of the rule.
 */
effect: RuleEffect, 
/**
 * Name pattern of the servers, with `*` and `?`.
 */
server: string, 
/**
 * Name pattern of the tools, or `None` for all acts.
 */
tool: string | null, 
/**
 * Direction of the payload.
 */
direction: RuleDirection, 
/**
 * Conditions on arguments of the call.
 */
arguments: Array<ArgumentRule>, 
/**
 * Condition on the server's claims about the tool.
 */
annotations: ClaimRule | null, 
/**
 * Budget of a rule that allows sampling requests.
 */
sampling?: SamplingBudget, 
/**
 * Duration of the rule.
 */
scope: RuleScope, 
/**
 * Expiry of the rule, in milliseconds since 1970.
 */
expiresAt: number | null, 
/**
 * Note of the user.
 */
note: string, 
/**
 * `true` if the rule represents the user's trust in a server.
 */
trustedServer: boolean, 
/**
 * Pattern of the servers' identity, with `*` and `?`: a command line, program or URL. Never set in a rule that
 * allows.
 */
identity: string | null, 
/**
 * `true` if the rule also allows calls that a model makes after it has read content of other servers.
 */
afterUntrusted: boolean, };

/**
 * The direction of the acts that a rule is about.
 */
export type RuleDirection = "to_server" | "from_server" | "both";

/**
 * The effect of a rule, ordered by strictness.
 */
export type RuleEffect = "allow" | "ask" | "deny";

/**
 * State of a rule file.
 */
export type RuleFile = { 
/**
 * Path of the file, even if it does not exist.
 */
path: string, 
/**
 * `true` if the file exists.
 */
exists: boolean, 
/**
 * Reason why the file can't be used, if it can't. Every act then requires consent.
 */
problem: string | null, 
/**
 * Time at which another program changed the file while Drawbridge was running, in milliseconds since 1970.
 */
changed: number | null, };

/**
 * Reference to a rule.
 */
export type RuleRef = { 
/**
 * Source of the rule.
 */
source: RuleSource, 
/**
 * Number of the rule in its source.
 */
id: string, };

/**
 * The scope of a rule, in addition to its expiry.
 */
export type RuleScope = { "kind": "always" } | { "kind": "conversation", 
/**
 * Identifier of the conversation.
 */
conversation: string, } | { "kind": "session" };

/**
 * The origin of a rule.
 */
export type RuleSource = "managed" | "user" | "session";

/**
 * Last act that a rule allowed without consent.
 */
export type RuleUse = { 
/**
 * Reference to the rule.
 */
rule: RuleRef, 
/**
 * Time and originator of the act.
 */
lastUse: LastUse, };

/**
 * Content of a server after which a model's call of a tool of the same server requires consent, even if a rule or
 * grant allows it.
 *
 * Per the specification, a tool without `openWorldHint` is assumed to reach an open world. Few servers send the hint,
 * so following this, nearly every local server would require consent for each call, and approvals would become
 * meaningless. A remote server always counts as open-world; a local tool counts if it sends the hint. The other hints
 * have no effect: a read-only tool can carry data out in its arguments, and `openWorldHint: false` is an untrusted
 * claim that would loosen the policy.
 */
export type SameServerFlow = "open_world" | "everything" | "off";

/**
 * Limit on a server's use of the user's models without consent.
 */
export type SamplingBudget = { 
/**
 * Maximum number of requests per hour.
 */
requestsPerHour: number, 
/**
 * Maximum number of tokens per hour, of requests and responses together.
 */
tokensPerHour: number, };

/**
 * Limits of usage. `None` is unlimited.
 */
export type SamplingLimits = { 
/**
 * Maximum number of requests.
 */
requests: number | null, 
/**
 * Maximum number of tokens, of requests and responses together.
 */
tokens: number | null, 
/**
 * Maximum cost in millionths of a US dollar.
 */
micros: number | null, };

/**
 * Content that a provider's wire protocol can't represent.
 */
export type SamplingLoss = { 
/**
 * Kind of the content, by its stable name.
 */
what: string, 
/**
 * Handling of the content: `refuse` rejects the request, `sendAfter` sends it in a following message, `sayInText`
 * describes it in text, `leaveOut` drops it.
 */
then: string, };

/**
 * Model that responds to a sampling request, with the reason for its choice.
 */
export type SamplingModel = { 
/**
 * Reference to the model.
 */
model: ModelRef, 
/**
 * Name of the model to display.
 */
name: string, 
/**
 * Reason for the choice.
 */
by: ModelChosenBy, 
/**
 * Maximum cost in millionths of a US dollar, if the price is known.
 */
mostMicros: number | null, };

/**
 * Sampling settings and usage of a server.
 */
export type SamplingReport = { 
/**
 * Settings that the user made.
 */
settings: SamplingSettings, 
/**
 * Usage within the last hour.
 */
withinHour: SamplingUsage, 
/**
 * Usage over all time.
 */
inAll: SamplingUsage, 
/**
 * Limit that currently blocks the server's requests.
 */
stopped: ReachedSamplingLimit | null, 
/**
 * `true` if the running server uses older settings, until it is restarted.
 */
outdated: boolean, };

/**
 * Sampling request of a server.
 */
export type SamplingRequest = { 
/**
 * Messages for the model.
 */
messages: Array<Message>, 
/**
 * System prompt of the request.
 */
systemPrompt: string | null, 
/**
 * Maximum number of tokens of the response.
 */
maxTokens: number, 
/**
 * Sampling temperature of the model.
 */
temperature: number | null, 
/**
 * Sequences that end the response.
 */
stopSequences: Array<string>, 
/**
 * Requested context: `none`, `thisServer` or `allServers`. Drawbridge never includes any.
 */
includeContext: string | null, 
/**
 * Names of preferred models, best first.
 */
modelHints: Array<string>, 
/**
 * Priority of low cost, from 0 to 1.
 */
costPriority: number | null, 
/**
 * Priority of speed, from 0 to 1.
 */
speedPriority: number | null, 
/**
 * Priority of capability, from 0 to 1.
 */
intelligencePriority: number | null, 
/**
 * Tools for the model, which the server executes itself.
 */
tools: Array<SamplingTool>, 
/**
 * Tool choice of the model: `auto`, `required` or `none`.
 */
toolChoice: string | null, 
/**
 * Further metadata of the request, as JSON.
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
 * Name of the model, or `user` if the user wrote the response.
 */
model: string, 
/**
 * Reason why the generation ended.
 */
stopReason: string | null, };

/**
 * Progress of a model with a sampling request.
 */
export type SamplingRun = { "is": "no" } | { "is": "running", 
/**
 * Text received so far.
 */
text: string, 
/**
 * `true` while the model produces thinking.
 */
thinking: boolean, } | { "is": "done", 
/**
 * Tokens of the request, as the provider reports.
 */
inputTokens: number | null, 
/**
 * Tokens of the response, as the provider reports.
 */
outputTokens: number | null, 
/**
 * Cost in millionths of a US dollar, if the price is known.
 */
micros: number | null, 
/**
 * `true` if the model called no tool although the server requires it.
 */
noToolUsed: boolean, } | { "is": "stopped" } | { "is": "failed", 
/**
 * Stable identifier of the cause.
 */
code: ModelErrorCode, 
/**
 * Cause and suggested remedy, for the user.
 */
message: string, };

/**
 * Settings for a server's use of the user's models.
 */
export type SamplingSettings = { 
/**
 * `true` if the server may send sampling requests.
 */
on: boolean, 
/**
 * `true` if requests may contain tools for the model.
 */
tools: boolean, 
/**
 * Maximum number of tokens of one response.
 */
maxTokens: number, 
/**
 * Model that responds regardless of the server's preferences.
 */
model: ModelRef | null, 
/**
 * Limits within an hour.
 */
perHour: SamplingLimits, 
/**
 * Limits over all time.
 */
inAll: SamplingLimits, };

/**
 * Step of a sampling request.
 */
export type SamplingStep = "request" | "running" | "response";

/**
 * Tool in a sampling request.
 */
export type SamplingTool = { 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * JSON Schema of the arguments.
 */
inputSchema: JsonValue, };

/**
 * Usage of the user's models.
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
 * Cost in millionths of a US dollar, as far as prices are known.
 */
micros: number, };

/**
 * Files and network that a local server may reach.
 */
export type Sandbox = { 
/**
 * Folders that the server may reach. Paths of existing folders are stored canonicalized.
 */
folders: Array<SandboxFolder>, 
/**
 * Hosts that the server may connect to.
 */
network: SandboxNetwork, };

/**
 * Folder that a server may reach.
 */
export type SandboxFolder = { 
/**
 * Absolute path of the folder.
 */
path: string, 
/**
 * Access that the server has to the folder.
 */
access: FolderAccess, };

/**
 * Network access of a sandboxed server.
 */
export type SandboxNetwork = { "preset": "files_only" } | { "preset": "named_hosts", 
/**
 * Host patterns such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
 */
hosts: Array<string>, } | { "preset": "full" };

/**
 * Sandbox for the server of a start request.
 */
export type SandboxOffer = { "is": "possible", 
/**
 * Settings of the sandbox.
 */
sandbox: Sandbox, 
/**
 * Access that the server would have in it.
 */
plan: SandboxPlan, 
/**
 * Files that the server appears to need and could not reach, as sentences for the user.
 */
missing: Array<string>, } | { "is": "container" } | { "is": "impossible", 
/**
 * Settings of the sandbox.
 */
sandbox: Sandbox, 
/**
 * Reason, as a sentence for the user.
 */
problem: string, 
/**
 * Stable identifier of the cause, or `None` if the sandbox is not the cause.
 */
cause: SandboxProblem | null, };

/**
 * Sandbox that can be set up: its mechanism, and everything that the server could reach.
 */
export type SandboxPlan = { 
/**
 * Sandbox mechanism: `bubblewrap`, `Landlock` or `sandbox-exec`.
 */
heldBy: string, 
/**
 * Folders that the user configured.
 */
folders: Array<SandboxFolder>, 
/**
 * Paths of the server's program files, readable.
 */
program: Array<string>, 
/**
 * Paths of the operating system, readable.
 */
system: Array<string>, 
/**
 * Private home folder of the server, readable and writable.
 */
home: string, 
/**
 * Folders inside the others that are not accessible: Drawbridge's own records and secrets.
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
 * Stable identifier of the cause for which a sandbox can't be set up. The page has words and a button for each.
 */
export type SandboxProblem = "not_whole" | "no_folder" | "leads" | "contradiction" | "exposes" | "changed" | "out_of_reach" | "not_here" | "hosts" | "no_hosts" | "no_home";

/**
 * Access that a server would have if it were started now.
 */
export type SandboxReport = { 
/**
 * Sandbox of the server, or `None` if it can't be set up or the server has no sandbox.
 */
plan: SandboxPlan | null, 
/**
 * Reason why the server could not be started, as a sentence for the user.
 */
problem: string | null, 
/**
 * Stable identifier of the cause, if the sandbox can't be set up.
 */
cause?: SandboxProblem, 
/**
 * Files that the server appears to need and could not reach, as sentences for the user.
 */
missing?: Array<string>, };

/**
 * Request to save binary content of a server.
 */
export type SaveMedia = { 
/**
 * Title from which the file name is suggested. Untrusted text of the server.
 */
title: string, 
/**
 * Media type as claimed by the server. Empty if unknown.
 */
mimeType: string, 
/**
 * Content, encoded in Base64.
 */
data: string, };

/**
 * Result of an export to a file.
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
 * Name, written by the user. Unique among the saved prompts.
 */
name: string, 
/**
 * Text of the system prompt.
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
 * All saved system prompts: the content of the document, and the response of the commands.
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
 * Words that an item must all contain. The last one may be a prefix. Chinese, Japanese and Korean text matches at
 * any position.
 */
text: string, 
/**
 * Maximum number of results.
 */
limit: number, 
/**
 * Position of an earlier result, its `number`. Only older items are returned.
 */
before?: number, };

/**
 * Storage of the secrets of an added or changed server.
 */
export type SecretStorageReport = { 
/**
 * Reason why secrets are stored only until Drawbridge exits, if they are: the keychain is missing or locked.
 */
onlyThisRun: string | null, };

/**
 * The persistence of secrets. Each message says what the user can do.
 */
export type SecretsStatus = { "is": "keychain" } | { "is": "locked", 
/**
 * Message of the keychain.
 */
cause: string, } | { "is": "missing", 
/**
 * Description of the problem.
 */
cause: string, } | { "is": "broken", 
/**
 * Description of the problem, with advice.
 */
cause: string, };

/**
 * Definition as it was shown to the user.
 */
export type SeenDefinition = { 
/**
 * Name of the tool or prompt.
 */
name: string, 
/**
 * Hash that was shown with the definition.
 */
hash: string, };

/**
 * Message to send to the model of a conversation.
 */
export type SendMessage = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Text of the message. May be empty if there are attachments.
 */
text: string, 
/**
 * Attachments of the message.
 */
attachments: Array<MessageAttachment>, 
/**
 * Model that replies from now on, or `None` to keep the conversation's model.
 */
model?: ModelRef, 
/**
 * Identifier of the item that precedes the message, or `None` for the head.
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
 * Configuration of the server.
 */
config: ServerConfig, 
/**
 * Program and arguments on one line, quoted where needed, or the URL of a remote server.
 */
commandLine: string, 
/**
 * URL of a remote server, parsed into its parts.
 */
url: UrlParts | null, 
/**
 * Transport in use: `stdio`, `streamable-http` or `http-sse`, or `http` until it is detected.
 */
transport: string, 
/**
 * Current state of the server.
 */
state: ServerState, 
/**
 * Time of the last state change, in milliseconds since 1970.
 */
since: number, 
/**
 * `true` if exactly this command or URL was approved.
 */
approved: boolean, 
/**
 * Protocol revision in use, once the server is ready.
 */
revision: string | null, 
/**
 * Method by which the revision and the transport of a remote server were detected.
 */
foundBy: string | null, 
/**
 * Claims of the server about itself, not verified.
 */
claims: ServerClaims | null, 
/**
 * Capabilities of the server as named in the protocol, such as `tools.listChanged`.
 */
capabilities: Array<string>, 
/**
 * Instructions of the server for a model. Untrusted.
 */
instructions: string | null, 
/**
 * Number of items in each list.
 */
counts: Counts, 
/**
 * Number of items that the user has not reviewed, if there are any.
 */
unreviewed?: UnreviewedCounts, 
/**
 * Folders that the server may know of.
 */
roots: RootsState, 
/**
 * URIs of the resources that are subscribed.
 */
subscriptions: Array<string>, 
/**
 * Reason why change notifications are not received at present, if they are not. The subscriptions are retried.
 */
subscriptionsLost: string | null, 
/**
 * Minimum level of the server's log messages, once set.
 */
logLevel: string | null, 
/**
 * `true` if consent requests of the server are denied automatically.
 */
muted: boolean, 
/**
 * Duration of the user's trust in calls of the server's tools.
 */
trust: TrustDuration, 
/**
 * Settings that control how its content may be passed on.
 */
flow: DataFlow, 
/**
 * End of a temporary mute, in milliseconds since 1970. Set after the user denied three consent requests in a row.
 */
mutedUntil: number | null, 
/**
 * Number of consent requests that were denied automatically, because of their number or a mute, since the user
 * last denied all.
 */
refusedQuestions: number, 
/**
 * Findings about the server's claims.
 */
marks: ReviewMarks, 
/**
 * Process identifier while the server runs.
 */
pid: number | null, 
/**
 * Sandbox mechanism of the running server, if it has a sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
 */
heldBy?: string, 
/**
 * Origin of the installation, if the server is from a registry or a bundle.
 */
installed?: InstallationInfo, };

/**
 * A call and its current state.
 */
export type ServerCall = { 
/**
 * Identifier chosen by the caller.
 */
id: string, 
/**
 * Name of the called server.
 */
server: string, 
/**
 * Kind of call: a tool, a prompt or a resource.
 */
kind: CallKind, 
/**
 * Name of the tool or prompt, or URI of the resource.
 */
name: string, 
/**
 * Time at which the call was made.
 */
startedAt: number, 
/**
 * Current state: waiting for approval, running, or the outcome.
 */
state: CallState, 
/**
 * Latest progress reported by the server, if any.
 */
progress: CallProgress | null, 
/**
 * Task that the server runs for the call, if it runs one.
 */
task: CallTask | null, 
/**
 * Identifier of the conversation that the call belongs to, if any.
 */
conversation: string | null, };

/**
 * Claims of a server about itself, not verified.
 */
export type ServerClaims = { 
/**
 * Name from the server.
 */
name: string, 
/**
 * Title from the server.
 */
title: string | null, 
/**
 * Version of the server's implementation.
 */
version: string, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * URL of the server's website.
 */
websiteUrl: string | null, };

/**
 * Configuration of a server.
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
 * Environment variables, in addition to the allow-listed ones.
 */
env: { [key in string]: string }, 
/**
 * Names of the variables whose values are stored in the system's keychain instead of the settings file. For a
 * configured server, `env` contains `${secret:NAME}` for them, and sending that back keeps the stored value.
 */
secretEnv?: Array<string>, 
/**
 * Working directory of the server.
 */
cwd: string | null, 
/**
 * Sandbox of the server, or `None` for unrestricted access.
 */
sandbox?: Sandbox, 
/**
 * Protocol revision to use exclusively, such as `2025-06-18`, or `None` to negotiate it.
 */
revision: string | null, 
/**
 * Tools that are offered to models, or `None` for all. In an update, `None` keeps the current setting.
 */
tools?: ToolFilter, } | { "type": "http", 
/**
 * URL of the server.
 */
url: string, 
/**
 * Headers of each request.
 */
headers: Array<HttpHeader>, 
/**
 * HTTP transport to use exclusively, or `None` to detect it.
 */
kind: HttpKind | null, 
/**
 * Sign-in settings, in addition to or instead of the discovered metadata.
 */
auth: AuthSettings | null, 
/**
 * Protocol revision to use exclusively, or `None` to negotiate it.
 */
revision: string | null, 
/**
 * Tools that are offered to models, or `None` for all. In an update, `None` keeps the current setting.
 */
tools?: ToolFilter, };

/**
 * The instructions of a server for models.
 */
export type ServerInstructions = { 
/**
 * Name of the server.
 */
server: string, 
/**
 * Instructions as a model would receive them.
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
 * Maximum rate of consent requests per minute, with a burst of ten seconds' worth; further ones are refused.
 * Default: 180.
 */
questionsPerMinute: number, 
/**
 * Maximum rate of notifications recorded in the activity per second, with a burst of twice as many; further ones
 * are omitted and counted. Their effects (progress, changed lists) are merged and never lost. Default: 1,000.
 */
notificationsPerSecond: number, 
/**
 * Maximum number of bytes read per minute, also as a burst; beyond it, reading slows down. Default: 1 GiB.
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
 * Reference to a server.
 */
export type ServerName = { 
/**
 * The user's name for it.
 */
server: string, };

/**
 * The installation source of a server.
 */
export type ServerOrigin = { "from": "registry", 
/**
 * URL of the registry.
 */
registry: string, 
/**
 * Name of the server, as `namespace/name`.
 */
name: string, 
/**
 * Exact version of the server.
 */
version: string, 
/**
 * Installed package or remote.
 */
target: InstallTarget, 
/**
 * Unpacked files, if the package is a bundle.
 */
files: BundleFiles | null, } | { "from": "bundle", 
/**
 * Name in the manifest.
 */
name: string, 
/**
 * Version in the manifest.
 */
version: string, 
/**
 * Unpacked files of the bundle.
 */
files: BundleFiles, };

/**
 * State of a server.
 */
export type ServerState = { "is": "stopped" } | { "is": "awaiting_approval" } | { "is": "starting" } | { "is": "ready" } | { "is": "stopping" } | { "is": "reconnecting", 
/**
 * Number of the next attempt, from 1.
 */
attempt: number, 
/**
 * Time of the next attempt, in milliseconds since 1970.
 */
at: number, 
/**
 * Reason why the server is not running.
 */
cause: string, } | { "is": "failed", 
/**
 * Kind of the error, for the page to act on.
 */
reason: FailureReason, 
/**
 * Cause as a sentence for the user.
 */
message: string, 
/**
 * Last lines that the server wrote to standard error.
 */
stderr: Array<string>, 
/**
 * Folders in which the command was searched, if it was not found.
 */
lookedIn: Array<string>, 
/**
 * Suggested remedy, if known.
 */
hint: string | null, 
/**
 * Paths that the sandbox may have denied.
 */
blocked?: Array<BlockedPath>, 
/**
 * Cause for which the sandbox can't be set up, if the failure is due to it.
 */
sandbox?: SandboxProblem, } | { "is": "needs_sign_in", 
/**
 * Cause as a sentence for the user.
 */
cause: string, 
/**
 * `true` if a sign-in is in progress.
 */
signingIn: boolean, };

/**
 * Request to replace the settings of a conversation.
 */
export type SetConversation = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * All settings of the conversation.
 */
settings: ConversationSettings, };

/**
 * Request to set how the content of a server may be passed on.
 */
export type SetDataFlow = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * New settings. A request that omits a member is rejected.
 */
flow: DataFlow, };

/**
 * Draft to store for a conversation.
 */
export type SetDraft = { 
/**
 * Identifier of the conversation.
 */
conversation: string, 
/**
 * Text in the composer, which may be empty.
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
 * Level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
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
 * Identifier of letters, digits, `-`, `_` and `.`.
 */
id: string, 
/**
 * Name of the provider.
 */
name: string, 
/**
 * Wire protocol of the provider.
 */
kind: ProviderKind, 
/**
 * Base URL of the API.
 */
url: string, 
/**
 * Timeout of a reply in seconds without a received byte, or `None` for the default.
 */
silenceSeconds?: number | null, 
/**
 * Conversions that the user chose for content that the wire protocol can't represent.
 */
conversions: Array<ConversionChoice>, };

/**
 * API key of a provider, bound to the provider's current URL.
 */
export type SetProviderKey = { 
/**
 * Identifier of the provider.
 */
id: string, 
/**
 * API key, or empty to delete it.
 */
key: string, };

/**
 * Request to change the registry.
 */
export type SetRegistry = { 
/**
 * Base URL of the registry: https, or http on this computer. `None` for the official registry.
 */
address: string | null, 
/**
 * Header that is sent with each request, if any.
 */
header: SetRegistryHeader | null, };

/**
 * Header of requests to a registry.
 */
export type SetRegistryHeader = { 
/**
 * Name of the header, such as `Authorization`.
 */
name: string, 
/**
 * Whole value of the header, which is stored in the keychain, or `None` to keep the stored value for this URL.
 */
value: string | null, };

/**
 * Request to set the folders that a server may know of.
 */
export type SetRoots = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Absolute paths of the folders.
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
 * New settings of the server.
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
 * Name of the header or environment variable, or name of a secret of the sign-in settings.
 */
header: string, 
/**
 * New value of the secret.
 */
value: string, };

/**
 * Request to trust a server or to end the trust.
 */
export type SetTrust = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Duration of the trust.
 */
trust: TrustDuration, };

/**
 * Settings of the app.
 */
export type Settings = { 
/**
 * Color theme of the page.
 */
theme: Theme, 
/**
 * Language of the page.
 */
language: Language, 
/**
 * `true` if the welcome was closed.
 */
welcomeDone: boolean, 
/**
 * `true` if consent requests are announced by system notifications while the window is in the background.
 */
announce: boolean, 
/**
 * Limits of each server, or `None` for the defaults.
 */
limits?: ServerLimits, 
/**
 * Retention of audit log entries in days, or 0 for unlimited.
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
 * Bounds on the part of a conversation that a model receives, or `None` for the defaults.
 */
chat?: ChatBounds, 
/**
 * Behavior when the window is closed while servers run.
 */
onClose: CloseAction, 
/**
 * `true` if the app checks for updates automatically.
 */
checkUpdates: boolean, 
/**
 * Zoom of the page in percent, from `MIN_ZOOM` to `MAX_ZOOM`.
 */
zoom: number, };

/**
 * Endpoint that receives data of a sign-in.
 */
export type SignInEndpoint = { 
/**
 * Purpose of the endpoint.
 */
purpose: EndpointUse, 
/**
 * URL of the endpoint, parsed into its parts.
 */
url: UrlParts, 
/**
 * Issuer of the authorization server that lists the endpoint.
 */
issuer: string, 
/**
 * `true` if the endpoint belongs to another domain than the issuer.
 */
elsewhere: boolean, };

/**
 * Stable identifier of the cause for which a sign-in did not come to its end. The page has words and a button for each.
 */
export type SignInFailure = "declined" | "cancelled" | "timed_out" | "unreachable" | "bad_response" | "unsafe_url" | "resource_mismatch" | "issuer_mismatch" | "no_pkce" | "no_authorization_server" | "no_client_id" | "other_issuer" | "refused" | "browser" | "callback" | "too_many_requests" | "keychain_locked" | "keychain_missing" | "storage" | "key" | "no_proof" | "unbound" | "not_approved" | "sign_in_needed" | "not_prepared";

/**
 * The phase of a sign-in.
 */
export type SignInPhase = "discovering" | "awaiting_consent" | "awaiting_browser" | "exchanging";

/**
 * Sign-in that is in progress.
 */
export type SignInProgress = { 
/**
 * Current phase of the sign-in.
 */
phase: SignInPhase, 
/**
 * Reason for the sign-in.
 */
reason: SignInReason, 
/**
 * Start of the sign-in, in milliseconds since 1970.
 */
since: number, 
/**
 * Time at which waiting for the browser times out, in milliseconds since 1970.
 */
endsAt: number | null, 
/**
 * URL of the authorization request, while the sign-in waits for the browser. The user can open it in another
 * browser.
 */
authorizationUrl: string | null, 
/**
 * Redirect URI. A pasted redirect URL has to begin with it.
 */
redirectUri: string | null, 
/**
 * Reason why the browser did not open, if it did not. The user can open the URL manually.
 */
browserProblem: string | null, };

/**
 * Reason for a sign-in.
 */
export type SignInReason = { "is": "sign_in" } | { "is": "step_up", 
/**
 * MCP method that requires the scopes.
 */
operation: string, } | { "is": "again", 
/**
 * Cause as a sentence for the user.
 */
cause: string, } | { "is": "change_account" };

/**
 * Step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
 */
export type SignInStep = { 
/**
 * Start of the step, in milliseconds since 1970.
 */
at: number, 
/**
 * Duration of the step in milliseconds.
 */
took: number, 
/**
 * Purpose of the step as a sentence for the user.
 */
what: string, 
/**
 * HTTP request: method, URL, headers, body.
 */
request: string | null, 
/**
 * HTTP response: status, headers, body.
 */
answer: string | null, 
/**
 * Conclusion as a sentence for the user.
 */
conclusion: string, 
/**
 * `true` if the sign-in failed at this step.
 */
failed: boolean, };

/**
 * Outcome of the token revocation at a sign-out. The local tokens are deleted in any case.
 */
export type SignOutOutcome = { "revoked": "yes" } | { "revoked": "not_offered" } | { "revoked": "failed", 
/**
 * Cause as a sentence for the user.
 */
cause: string, } | { "revoked": "nobody_signed_in" };

/**
 * Instructions for a model, as a server lists them.
 */
export type Skill = { 
/**
 * URI of the skill's `SKILL.md`, unique on its server.
 */
uri: string, 
/**
 * Name from the server, not necessarily unique.
 */
name: string, 
/**
 * Purpose and use of the skill, from the server.
 */
description: string, 
/**
 * Files of the skill including `SKILL.md`, or `None` if the server generates them on each read and they can't be
 * verified.
 */
files: Array<SkillFile> | null, 
/**
 * All other members of the front matter.
 */
others: JsonValue | null, 
/**
 * Hash of the entry, which ensures that exactly the shown skill is read.
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
 * A file of a skill. Contents of another size or hash are rejected.
 */
export type SkillFile = { 
/**
 * URI of the file.
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
 * List of a server's skills.
 */
export type Skills = { 
/**
 * Name of the server in the settings.
 */
server: string, 
/**
 * Skills that can be read.
 */
skills: Array<Skill>, 
/**
 * Notes on parts of the list that are missing, each with the reason.
 */
notes: Array<string>, };

/**
 * State that the page needs at its start.
 */
export type Snapshot = { 
/**
 * Number of the next event.
 */
nextEvent: number, 
/**
 * All servers, in the order of the settings file.
 */
servers: Array<Server>, 
/**
 * Queue of consent requests, in order.
 */
questions: Array<ConsentRequest>, 
/**
 * Calls that are in progress.
 */
calls: Array<ServerCall>, 
/**
 * All conversations, latest first.
 */
conversations: Array<ConversationSummary>, 
/**
 * Settings of the app.
 */
settings: Settings, 
/**
 * Problem of the settings file, if there is one.
 */
configProblem: ConfigProblem | null, 
/**
 * Paths of Drawbridge's files.
 */
paths: Paths, 
/**
 * Version of Drawbridge itself.
 */
version: string, };

/**
 * Items created at the start of a reply.
 */
export type StartedReply = { 
/**
 * Identifier of the user's message, if there is a new one.
 */
message: string | null, 
/**
 * Identifier of the reply.
 */
reply: string, };

/**
 * Kinds of problems with the log.
 */
export type TamperKind = "changed" | "missing" | "cut_off" | "seal_broken" | "seal_missing" | "checkpoint_broken" | "noted" | "unreadable";

/**
 * The status of a task.
 */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * Request to test a provider.
 */
export type TestProvider = { 
/**
 * Identifier of the provider.
 */
id: string, 
/**
 * Model to request a reply from, or `None` to only list the models.
 */
model?: string | null, };

/**
 * The format of a text field.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/**
 * Color theme of the page.
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
 * Tokens of the request, including those read from the provider's cache.
 */
input?: number | null, 
/**
 * Tokens of the answer, including thinking.
 */
output?: number | null, 
/**
 * Tokens of the request that were read from the provider's cache.
 */
cachedInput?: number | null, 
/**
 * Tokens of the request that were written to the provider's cache, for providers that charge for it.
 */
writtenInput?: number | null, 
/**
 * Tokens of the answer that were used for thinking.
 */
thinking?: number | null, };

/**
 * Tool of a server.
 */
export type Tool = { 
/**
 * Name by which the tool is called.
 */
name: string, 
/**
 * Title to display, from the server.
 */
title: string | null, 
/**
 * Description from the server.
 */
description: string | null, 
/**
 * JSON Schema of the arguments.
 */
inputSchema: JsonValue, 
/**
 * JSON Schema of the structured result.
 */
outputSchema: JsonValue | null, 
/**
 * Claims of the server about the tool's effects.
 */
claims: ToolClaims, 
/**
 * Icons provided by the server.
 */
icons: Array<Icon>, 
/**
 * `true` if a grant allows calls without a consent request.
 */
allowed: boolean, 
/**
 * All other members of the definition, which a model may receive too.
 */
others: JsonValue | null, 
/**
 * Hash of the whole definition, which a review refers to.
 */
hash: string, 
/**
 * Review state and findings.
 */
marks: ReviewMarks, };

/**
 * Claims of a server about a tool's effects. Never used to make a decision less strict.
 */
export type ToolClaims = { 
/**
 * `readOnlyHint`: the tool does not modify anything.
 */
readOnly: boolean | null, 
/**
 * `destructiveHint`: the tool may destroy data.
 */
destructive: boolean | null, 
/**
 * `idempotentHint`: a repeated equal call has no further effect.
 */
idempotent: boolean | null, 
/**
 * `openWorldHint`: the tool interacts with external entities.
 */
openWorld: boolean | null, 
/**
 * `true` if the definition requires the user's consent for each call.
 */
asksEachTime: boolean, };

/**
 * The tools of a server that are offered to models, by patterns on their names. In a pattern, `*` matches any text,
 * also none, and every other character only itself. Case matters, and there is no escape. A tool that a server lists
 * under another name is a new tool, which requires a review. The user's own calls are not affected.
 */
export type ToolFilter = { 
/**
 * Patterns of the tools that are offered exclusively, or `None` for all.
 */
enabled: Array<string> | null, 
/**
 * Patterns of the tools that are not offered, also if they are enabled.
 */
disabled: Array<string>, };

/**
 * The result of a tool call.
 */
export type ToolResult = { 
/**
 * Content blocks of the result.
 */
content: Array<Content>, 
/**
 * Structured content of the result. A `null` from the server is treated as absent, since the history can't tell
 * the two apart.
 */
structured: JsonValue | null, 
/**
 * Violation of the tool's output schema by the structured content, if any.
 */
structuredProblem: string | null, 
/**
 * Set if the tool reports that it failed.
 */
isError: boolean, 
/**
 * Arguments as they were sent, including the user's edits.
 */
arguments: JsonValue, };

/**
 * The state of a tool in a conversation.
 */
export type ToolState = "offered" | "off" | "disabled" | "new" | "changed" | "unusable" | "not_ready";

/**
 * Reference to the tool use in a model's reply that requested a call.
 */
export type ToolUsed = { 
/**
 * Identifier of the item with the model's reply.
 */
reply: string, 
/**
 * Identifier of the tool use in the reply.
 */
id: string, 
/**
 * Name of the tool, as presented to the model.
 */
key: string, };

/**
 * Duration of the trust in a server.
 */
export type TrustDuration = "no" | "run" | "always";

/**
 * Explanation of an unknown package version.
 */
export type UnknownPackage = { 
/**
 * Reason why the version is unknown.
 */
reason: UnknownPackageReason, 
/**
 * Subject of the reason, such as an option or the output of a program. May be empty.
 */
detail: string, };

/**
 * Reason why a package version is unknown.
 */
export type UnknownPackageReason = "shell_line" | "wrapped" | "option" | "specifier" | "several" | "no_package" | "launcher" | "variable" | "project_settings" | "local_copy" | "off_search_path" | "no_client" | "no_network" | "timed_out" | "failed";

/**
 * Number of tools and prompts of a server that the user has not reviewed.
 */
export type UnreviewedCounts = { 
/**
 * Number of items that were never reviewed.
 */
new: number, 
/**
 * Number of items that changed since their review.
 */
changed: number, };

/**
 * Request to change a server.
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
 * Another version of an installed server that could replace it. Nothing is unpacked, stopped or approved.
 */
export type UpgradeOffer = { 
/**
 * Version that could be installed.
 */
offer: InstallOffer, 
/**
 * Origin of the installed version.
 */
installed: ServerOrigin, 
/**
 * Inputs that keep their current value unless the user enters another one, by key. The value is `None` for secrets
 * and header values.
 */
kept: { [key in string]: Array<string> | null }, 
/**
 * `true` if the server is running and would be stopped.
 */
running: boolean, };

/**
 * Another version of an installed server.
 */
export type UpgradeSource = { 
/**
 * Name of the installed server in the settings.
 */
server: string, 
/**
 * Source of the other version, or `None` for the latest one in the registry.
 */
source: InstallSource | null, };

/**
 * A URL in three parts, with warnings.
 */
export type UrlParts = { 
/**
 * URL as it would be opened.
 */
url: string, 
/**
 * Everything before the registrable domain.
 */
before: string, 
/**
 * Registrable domain, or the host if there is none.
 */
domain: string, 
/**
 * Everything after the host.
 */
after: string, 
/**
 * Host in ASCII, if it was written otherwise.
 */
asciiHost: string | null, 
/**
 * Warnings for the user.
 */
warnings: Array<UrlWarning>, 
/**
 * Set if the URL may be opened.
 */
openable: boolean, };

/**
 * URL as a string.
 */
export type UrlText = { 
/**
 * URL to open or to parse.
 */
url: string, };

/**
 * Suspicious properties of a URL.
 */
export type UrlWarning = "not_encrypted" | "user_information" | "internationalized" | "ip_address" | "local" | "not_allowed";

/**
 * The originator of an act that required no consent.
 */
export type UsedBy = "user" | "model" | "command_line" | "host" | "server";

/**
 * Current registry information on an installed server.
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
 * Version that is installed.
 */
version: string, 
/**
 * Status of the installed version in the registry.
 */
status: RegistryStatus, 
/**
 * Explanation of the status from the registry.
 */
statusMessage: string | null, 
/**
 * Newer version, if there is one.
 */
newer: NewerVersion | null, 
/**
 * Reason why the registry could not be queried, if it could not.
 */
problem: string | null, };

/**
 * Current registry information on the installed servers.
 */
export type VersionReports = { 
/**
 * Report for each server that was installed from a registry, in the order of the settings file.
 */
servers: Array<VersionReport>, };
