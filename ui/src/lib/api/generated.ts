// Generated from crates/api by `cargo xtask codegen`. Do not edit.

/** The most servers of one conversation. */
export const MAX_CONVERSATION_SERVERS = 100;

export interface Commands {
  snapshot: { request: Nothing; response: Snapshot };
  add_server: { request: AddServer; response: SecretsKept };
  check_import: { request: ImportText; response: ImportPreview };
  import_candidates: { request: ImportSource; response: ImportCandidates };
  project_files: { request: ProjectFolder; response: ProjectFiles };
  import_servers: { request: ImportServers; response: ImportedServers };
  registry_search: { request: RegistrySearch; response: RegistryPage };
  registry_server: { request: RegistryServerName; response: RegistryServer };
  registry_setting: { request: Nothing; response: RegistryReport };
  set_registry: { request: SetRegistry; response: SecretsKept };
  install_offer: { request: InstallSource; response: InstallOffer };
  install_preview: { request: InstallDraft; response: InstallPreview };
  install: { request: Install; response: SecretsKept };
  newer_versions: { request: InstalledVersions; response: VersionReports };
  upgrade_offer: { request: UpgradeSource; response: UpgradeOffer };
  update_server: { request: UpdateServer; response: SecretsKept };
  set_secret: { request: SetSecret; response: SecretsKept };
  remove_server: { request: ServerName; response: Nothing };
  start_server: { request: ServerName; response: Nothing };
  stop_server: { request: ServerName; response: Nothing };
  restart_server: { request: ServerName; response: Nothing };
  retry_now: { request: ServerName; response: Nothing };
  network_changed: { request: Nothing; response: Nothing };
  sign_in: { request: ServerName; response: Nothing };
  cancel_sign_in: { request: ServerName; response: Nothing };
  sign_out: { request: ServerName; response: SignedOut };
  change_account: { request: ServerName; response: SignedOut };
  authorization: { request: ServerName; response: Authorization };
  paste_redirect: { request: PasteRedirect; response: Nothing };
  set_log_level: { request: SetLogLevel; response: Nothing };
  ping: { request: ServerName; response: PingAnswer };
  set_roots: { request: SetRoots; response: Nothing };
  set_data_flow: { request: SetDataFlow; response: Nothing };
  sandbox: { request: ServerName; response: SandboxReport };
  limits: { request: ServerName; response: LimitsUse };
  pick_folder: { request: Nothing; response: PickedFolder };
  pick_file: { request: PickFile; response: PickedFile };
  catalog: { request: ServerName; response: Catalog };
  refresh_list: { request: RefreshList; response: Catalog };
  review: { request: Review; response: Nothing };
  pins: { request: ServerName; response: Pins };
  call_tool: { request: CallTool; response: ToolResult };
  get_prompt: { request: GetPrompt; response: PromptResult };
  read_resource: { request: ReadResource; response: ResourceResult };
  skills: { request: ServerName; response: Skills };
  read_skill: { request: ReadSkill; response: SkillContents };
  cancel_call: { request: CallRef; response: Nothing };
  complete: { request: Complete; response: Completion };
  expand_template: { request: ExpandTemplate; response: ExpandedTemplate };
  subscribe: { request: ResourceRef; response: Nothing };
  unsubscribe: { request: ResourceRef; response: Nothing };
  answer_question: { request: AnswerQuestion; response: Nothing };
  edit_question: { request: EditQuestion; response: Question };
  check_form: { request: CheckForm; response: FormProblems };
  deny_all: { request: DenyAll; response: Nothing };
  sampling: { request: ServerName; response: SamplingReport };
  set_sampling: { request: SetSampling; response: Nothing };
  unmute: { request: ServerName; response: Nothing };
  activity: { request: ActivityRange; response: ActivityPage };
  activity_body: { request: ActivityRef; response: ActivityBody };
  export_activity: { request: ServerName; response: SavedFile };
  create_conversation: { request: NewConversation; response: Conversation };
  conversation: { request: ConversationRef; response: Conversation };
  append_items: { request: AppendItems; response: Nothing };
  rename_conversation: { request: RenameConversation; response: Nothing };
  delete_conversation: { request: ConversationRef; response: Nothing };
  items: { request: ItemRange; response: ItemPage };
  blob: { request: BlobRef; response: Blob };
  search_history: { request: SearchHistory; response: FoundItems };
  send_message: { request: SendMessage; response: ReplyBegun };
  edit_message: { request: EditMessage; response: ReplyBegun };
  retry_reply: { request: RetryReply; response: ReplyBegun };
  continue_reply: { request: ConversationRef; response: ReplyBegun };
  stop_reply: { request: ConversationRef; response: Nothing };
  choose_branch: { request: ItemRef; response: Nothing };
  set_conversation: { request: SetConversation; response: Nothing };
  set_draft: { request: SetDraft; response: Nothing };
  conversation_tools: { request: ConversationRef; response: ConversationTools };
  conversation_cost: { request: ConversationRef; response: ConversationCost };
  export_conversation: { request: ExportConversation; response: SavedFile };
  audit: { request: AuditRange; response: AuditPage };
  verify_audit: { request: Nothing; response: AuditVerdict };
  export_audit: { request: Nothing; response: SavedFile };
  grants: { request: Nothing; response: Grants };
  revoke_grant: { request: GrantRef; response: Nothing };
  policy: { request: Nothing; response: Policy };
  set_policy_rule: { request: Rule; response: RuleRef };
  remove_policy_rule: { request: RuleRef; response: Nothing };
  set_preset: { request: SetPreset; response: Nothing };
  set_trust: { request: SetTrust; response: Nothing };
  dry_run: { request: DryRun; response: DryRunResult };
  policy_text: { request: Nothing; response: PolicyText };
  export_policy: { request: Nothing; response: SavedFile };
  save_media: { request: SaveMedia; response: SavedFile };
  models: { request: Nothing; response: Models };
  set_provider: { request: SetProvider; response: Nothing };
  remove_provider: { request: ProviderId; response: Nothing };
  set_provider_key: { request: SetProviderKey; response: SecretsKept };
  test_provider: { request: TestProvider; response: ProviderTest };
  refresh_models: { request: ProviderId; response: Nothing };
  set_default_model: { request: DefaultModel; response: Nothing };
  set_settings: { request: Settings; response: Nothing };
  secrets_status: { request: Nothing; response: SecretsStatus };
  content_protection: { request: Nothing; response: ContentProtection };
  inspect_url: { request: UrlText; response: UrlParts };
  check_computer: { request: Nothing; response: CheckedComputer };
  open_url: { request: UrlText; response: Nothing };
}

/**
 * Who is signed in, as far as it is told.
 */
export type Account = { 
/**
 * The authorization server that issued the token, exactly as it names itself.
 */
issuer: string, 
/**
 * The same, taken apart.
 */
issuerUrl: UrlParts, 
/**
 * For which resource the token holds.
 */
resource: string, 
/**
 * What the token allows, in the words of the authorization server; none if it did not say.
 */
scopes: Array<string>, 
/**
 * Until when it holds, if that is known, in milliseconds since 1970.
 */
expiresAt: number | null, 
/**
 * When the user signed in, in milliseconds since 1970.
 */
signedInAt: number, 
/**
 * When it was last refreshed, in milliseconds since 1970.
 */
refreshedAt: number | null, 
/**
 * Whether it can be refreshed without the user.
 */
canRefresh: boolean, 
/**
 * Why the user has to sign in again, if that is so.
 */
ended: string | null, 
/**
 * How Drawbridge identified itself.
 */
client: ClientIdentity, 
/**
 * Whether the token is bound to a key of this computer (DPoP).
 */
bound: boolean, };

/**
 * One message, whole.
 */
export type ActivityBody = { 
/**
 * As it crossed, but for secrets of the server, which `[redacted]` replaces.
 */
text: string, 
/**
 * Whether the end is missing, for the bound.
 */
truncated: boolean, 
/**
 * Whether a secret in it is replaced.
 */
redacted: boolean, };

/**
 * One entry.
 */
export type ActivityEntry = { 
/**
 * Its number.
 */
seq: number, 
/**
 * When, in milliseconds since 1970.
 */
at: number, 
/**
 * What it is.
 */
kind: ActivityKind, 
/**
 * Whether Drawbridge sent it (else it was received).
 */
sent: boolean, 
/**
 * The method of a request or notification, or of the request that a response answers.
 */
method: string | null, 
/**
 * The JSON-RPC id, as it is written.
 */
id: string | null, 
/**
 * Its size in bytes.
 */
bytes: number, 
/**
 * From the request to this response, in milliseconds.
 */
latency: number | null, 
/**
 * Its beginning.
 */
preview: string, 
/**
 * Why it is invalid or strange, if it is.
 */
note: string | null, };

/**
 * The kind of an activity entry.
 */
export type ActivityKind = "request" | "response" | "error" | "notification" | "batch" | "invalid" | "stderr" | "log" | "state";

/**
 * Some entries, in order.
 */
export type ActivityPage = { 
/**
 * The entries.
 */
entries: Array<ActivityEntry>, 
/**
 * How many older ones were let go, for the bound.
 */
dropped: number, };

/**
 * Which entries to read.
 */
export type ActivityRange = { 
/**
 * The server.
 */
server: string, 
/**
 * Only entries after this number.
 */
after: number | null, 
/**
 * At most so many, the latest ones.
 */
limit: number, };

/**
 * An entry by number.
 */
export type ActivityRef = { 
/**
 * The server.
 */
server: string, 
/**
 * The entry.
 */
seq: number, };

/**
 * A new server.
 */
export type AddServer = { 
/**
 * The user's name for it.
 */
name: string, 
/**
 * How it is reached.
 */
config: ServerConfig, };

/**
 * An answer to a question.
 */
export type Answer = { "action": "allow", 
/**
 * For how long.
 */
scope: Scope, 
/**
 * For how many milliseconds, if not for as long as that.
 */
lasts?: number, } | { "action": "submit", 
/**
 * A JSON object.
 */
content: JsonValue, } | { "action": "share", 
/**
 * Absolute paths; may be none.
 */
folders: Array<string>, } | { "action": "identify", 
/**
 * What it knows Drawbridge by.
 */
client: EnteredClient, } | { "action": "by_hand" } | { "action": "again" } | { "action": "back" } | { "action": "stop" } | { "action": "deny" } | { "action": "deny_because", 
/**
 * Why.
 */
reason: string, } | { "action": "cancel" };

/**
 * An answer, bound to what was shown.
 */
export type AnswerQuestion = { 
/**
 * The question.
 */
id: string, 
/**
 * The hash that was shown with it.
 */
hash: string, 
/**
 * The answer.
 */
answer: Answer, };

/**
 * An error of a command.
 */
export type ApiError = { 
/**
 * To act on.
 */
code: ErrorCode, 
/**
 * To show: what failed and why, in words.
 */
message: string, 
/**
 * More, by code.
 */
data?: JsonValue, };

/**
 * More of an answer that streams. What it names by `part` are the reply's parts in order; a part that is not there yet begins.
 */
export type Append = { "type": "text", 
/**
 * To this part.
 */
part: number, 
/**
 * The text.
 */
text: string, } | { "type": "thinking", 
/**
 * To this part.
 */
part: number, 
/**
 * The text.
 */
text: string, } | { "type": "tool_use", 
/**
 * This part.
 */
part: number, 
/**
 * The use's id.
 */
id: string, 
/**
 * The tool's name, as the model knows it.
 */
key: string, 
/**
 * The server.
 */
server: string | null, 
/**
 * The tool.
 */
tool: string | null, } | { "type": "arguments", 
/**
 * To this part.
 */
part: number, 
/**
 * The text.
 */
text: string, };

/**
 * Items for a conversation.
 */
export type AppendItems = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * In order. An item with the id of an older one replaces it.
 */
items: Array<ConversationItem>, };

/**
 * A condition on one argument of a call.
 */
export type ArgumentRule = { 
/**
 * Where it is: a JSON Pointer such as `/path`.
 */
at: string, 
/**
 * How it is looked at.
 */
test: ArgumentTest, 
/**
 * What it must be.
 */
pattern: string, };

/**
 * How an argument is looked at.
 */
export type ArgumentTest = "glob" | "regex" | "folder" | "path" | "url" | "number";

/**
 * One decision. A shape of its own beside the log's record: that one spells its members as the file does and leaves out what
 * is empty; the page and the output of `drawbridge-cli audit` have every member.
 */
export type AuditEntry = { 
/**
 * Its number, from 1.
 */
number: number, 
/**
 * When, in milliseconds since 1970.
 */
at: number, 
/**
 * Who asked for it: `user`, `model`, `server` or `host`; nothing in entries of older versions.
 */
asker: string, 
/**
 * The server.
 */
server: string, 
/**
 * `start-server`, `tool`, `sampling`, `sampling-answer`, `elicitation`, `url`, `roots`, `revoke`
 * and others, which the page has words for.
 */
kind: string, 
/**
 * What it was about: the command line, the tool, the message, the URL.
 */
subject: string, 
/**
 * What crossed or would have, without secrets, or the beginning of it.
 */
content: string | null, 
/**
 * How many bytes all of it has, if only its beginning is there.
 */
contentBytes: number | null, 
/**
 * `allowed`, `denied`, `cancelled` or `withdrawn`.
 */
decision: string, 
/**
 * For how long, if allowed.
 */
scope: Scope | null, 
/**
 * `user`, `grant`, `answers` or `policy`.
 */
by: string, 
/**
 * The rule or the grant that decided; nothing if there was none.
 */
rule: string, 
/**
 * The conversation it belongs to.
 */
conversation: string | null, 
/**
 * The hash of what crossed.
 */
hash: string, 
/**
 * Whether it was taken over from a log that was not chained.
 */
imported: boolean, };

/**
 * Something that is wrong with the log.
 */
export type AuditFinding = { 
/**
 * What.
 */
what: Tampered, 
/**
 * The entry, or the first of several.
 */
number: number, 
/**
 * The last of several.
 */
to: number | null, 
/**
 * More about it.
 */
detail: string | null, };

/**
 * Some decisions, newest first.
 */
export type AuditPage = { 
/**
 * The decisions.
 */
entries: Array<AuditEntry>, 
/**
 * Whether there are older ones.
 */
more: boolean, };

/**
 * Which decisions to read. What is not said fits all.
 */
export type AuditRange = { 
/**
 * At most so many.
 */
limit: number, 
/**
 * Only those with a smaller number.
 */
before: number | null, 
/**
 * Only of this server.
 */
server: string | null, 
/**
 * Only of this kind.
 */
kind: string | null, 
/**
 * Only with this decision.
 */
decision: string | null, 
/**
 * Only from this time on, in milliseconds since 1970.
 */
since: number | null, 
/**
 * Only before this time, in milliseconds since 1970.
 */
until: number | null, 
/**
 * Only with all of these words, in whatever stands in the entry.
 */
search: string | null, };

/**
 * What the seal says of the log's end.
 */
export type AuditSeal = { "state": "holds", 
/**
 * The last sealed entry.
 */
number: number, } | { "state": "none" } | { "state": "unchecked", 
/**
 * Why not.
 */
cause: string, } | { "state": "broken" };

/**
 * Entries that follow each other.
 */
export type AuditSpan = { 
/**
 * The first one's number.
 */
from: number, 
/**
 * The last one's number.
 */
to: number, };

/**
 * What a check of the audit log found.
 */
export type AuditVerdict = { 
/**
 * Whether nothing is wrong.
 */
whole: boolean, 
/**
 * Whether it is also proved that Drawbridge wrote all of it.
 */
proved: boolean, 
/**
 * How many entries there are.
 */
entries: number, 
/**
 * The first one's number.
 */
first: number | null, 
/**
 * The last one's number.
 */
last: number | null, 
/**
 * Up to which number entries were removed because of their age, or for want of room.
 */
removed: number | null, 
/**
 * What can be said of the end.
 */
seal: AuditSeal, 
/**
 * What is wrong; the first of it.
 */
findings: Array<AuditFinding>, 
/**
 * How much more is wrong.
 */
more: number, 
/**
 * Of which entries nothing proves who wrote them: they are not sealed, or were found without a seal.
 */
unproved: Array<AuditSpan>, };

/**
 * A setting of a sign-in.
 */
export type AuthField = "grant" | "issuer" | "client_id" | "client_auth" | "client_secret" | "private_key" | "algorithm" | "client_metadata_url" | "redirect_port" | "scopes" | "dpop" | "assertion" | "provider_issuer" | "provider_token_endpoint" | "provider_client_id" | "provider_client_auth" | "provider_client_secret" | "provider_private_key" | "provider_algorithm" | "provider_id_token";

/**
 * The identity provider of an enterprise. Its serialized form is the page's.
 */
export type AuthIdentityProvider = { 
/**
 * Its name, exactly as it names itself.
 */
issuer: string, 
/**
 * Where it exchanges tokens; else its metadata say so.
 */
tokenEndpoint: string | null, 
/**
 * The id by which it knows Drawbridge.
 */
clientId: string, 
/**
 * The secret that goes with it, as `${secret:NAME}`.
 */
clientSecret: string | null, 
/**
 * How Drawbridge proves who it is there, as in `client_auth`.
 */
clientAuth: string | null, 
/**
 * The private key for `private_key_jwt`, in PEM, as `${secret:NAME}`.
 */
privateKey: string | null, 
/**
 * The algorithm that goes with it, such as `ES256`.
 */
algorithm: string | null, 
/**
 * The user's identity token, as `${secret:NAME}`; else the user signs in there in the browser.
 */
idToken: string | null, };

/**
 * What settings can say about signing in that the page does not show. What is secret stands in it as `${secret:NAME}`.
 */
export type AuthRest = { 
/**
 * How Drawbridge proves who it is at the token endpoint.
 */
clientAuth: string | null, 
/**
 * The URL of a document that describes Drawbridge.
 */
clientMetadataUrl: string | null, 
/**
 * How tokens are got, as `mcp.json` names it; none for the usual way, in the browser.
 */
grant: string | null, 
/**
 * The private key for `private_key_jwt`.
 */
privateKey: string | null, 
/**
 * The algorithm that goes with it.
 */
algorithm: string | null, 
/**
 * The identity provider of the enterprise.
 */
identityProvider: AuthIdentityProvider | null, 
/**
 * Whether tokens are bound to a key of this computer; none to find out.
 */
dpop: boolean | null, 
/**
 * The assertion of the workload.
 */
assertion: string | null, };

/**
 * One setting of a sign-in.
 */
export type AuthSetting = { 
/**
 * Which one.
 */
field: AuthField, 
/**
 * Its value. Of a secret the value is its name.
 */
value: string, 
/**
 * True if the value is the name of a secret.
 */
secret: boolean, 
/**
 * The value taken apart, if it is an address.
 */
url: UrlParts | null, 
/**
 * True for an endpoint of another domain than the issuer beside it.
 */
elsewhere: boolean, };

/**
 * How to sign in to a remote server, where the user says more about it than the server does. What else `mcp.json` says of it
 * stays as it is.
 */
export type AuthSettings = { 
/**
 * The id by which the authorization server knows Drawbridge.
 */
clientId: string | null, 
/**
 * The secret that goes with it. Of a server that is set up it is never told; none in a change keeps the one that is set.
 */
clientSecret: string | null, 
/**
 * Whether there is, or is to be, a client secret. It lies in the system's keychain.
 */
hasSecret: boolean, 
/**
 * The only authorization server to sign in at, exactly as it names itself; none for whichever the server names.
 */
issuer: string | null, 
/**
 * What to ask for, instead of what the server says is needed.
 */
scopes: Array<string>, 
/**
 * The port of the redirect URI `http://127.0.0.1:PORT/callback` that the client id was registered with; none for any.
 */
redirectPort: number | null, 
/**
 * The names of the other secrets that its settings name, such as a private key. Each is entered by `set_secret`, and none is
 * ever told. In a change it does not count.
 */
secretNames: Array<string>, 
/**
 * What else was found in pasted text. It goes back as it came with the wish to add the server. None for a server that is set
 * up, whose own stays as it is.
 */
rest: AuthRest | null, };

/**
 * What is known of the sign-in to one server.
 */
export type Authorization = { 
/**
 * The server.
 */
server: string, 
/**
 * Why there is no signing in to it, if there is none: it is a local program, or its settings have an `Authorization`
 * header of their own.
 */
notOffered: string | null, 
/**
 * Who is signed in.
 */
account: Account | null, 
/**
 * The sign-in that is under way.
 */
inProgress: SignInProgress | null, 
/**
 * Why the last sign-in did not come to its end, and what to do.
 */
failed: string | null, 
/**
 * Stable identifier of that cause. Absent if the last sign-in did not fail.
 */
failure: SignInFailure | null, 
/**
 * What the last sign-in did, the first step first.
 */
steps: Array<SignInStep>, 
/**
 * Where the tokens are kept, once there are any.
 */
kept: TokensKept | null, };

/**
 * Something large.
 */
export type Blob = { 
/**
 * Its bytes, in base64.
 */
data: string, };

/**
 * Something large, by its hash.
 */
export type BlobRef = { 
/**
 * Its SHA-256, in hexadecimal.
 */
hash: string, };

/**
 * Something that is there, that the sandbox hides, and that the server seems to need.
 */
export type Blocked = { 
/**
 * Its path, as it was named.
 */
path: string, 
/**
 * Who named it.
 */
namedBy: NamedBy, 
/**
 * The folder that would bring it into reach.
 */
offer: FolderOffer, };

/**
 * A bundle, and where it was unpacked.
 */
export type BundleFiles = { 
/**
 * The SHA-256 of its file, in hexadecimal digits.
 */
sha256: string, 
/**
 * The hash over its unpacked files, in hexadecimal digits.
 */
tree: string, 
/**
 * The folder that it was unpacked to, by its name below the folder of bundles.
 */
folder: string, 
/**
 * The author's name, as its manifest says it; empty if it says none. None if that was not recorded.
 */
author: string | null, };

/**
 * A call as it is.
 */
export type Call = { 
/**
 * The id its caller chose.
 */
id: string, 
/**
 * The name of its server.
 */
server: string, 
/**
 * Whether it calls a tool, gets a prompt or reads a resource.
 */
kind: CallKind, 
/**
 * The tool, the prompt or the URI.
 */
name: string, 
/**
 * When it was made.
 */
startedAt: number, 
/**
 * How far it has come: waiting for approval, running, or how it ended.
 */
state: CallState, 
/**
 * How far it is.
 */
progress: Progress | null, 
/**
 * The task that the server does it as, if it does.
 */
task: Task | null, 
/**
 * The conversation it belongs to.
 */
conversation: string | null, };

/**
 * Stable identifier of the cause for which a call has no result. The page has words and a button for each.
 */
export type CallFailureCode = "not_found" | "not_ready" | "bad_request" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "internal";

/**
 * The kind of a call.
 */
export type CallKind = "tool" | "prompt" | "resource";

/**
 * A call by the id its caller chose.
 */
export type CallRef = { 
/**
 * The id.
 */
call: string, };

/**
 * How a call is.
 */
export type CallState = "awaiting_approval" | "running" | "awaiting_input" | "done" | "refused" | "cancelled" | "failed";

/**
 * A tool call to make.
 */
export type CallTool = { 
/**
 * An id chosen by the caller, unique among its calls.
 */
call: string, 
/**
 * The server.
 */
server: string, 
/**
 * The tool's name.
 */
tool: string, 
/**
 * The arguments: a JSON object.
 */
arguments: JsonValue, 
/**
 * The conversation it belongs to.
 */
conversation: string | null, };

/**
 * What a server offers.
 */
export type Catalog = { 
/**
 * The server.
 */
server: string, 
/**
 * Its tools.
 */
tools: Array<Tool>, 
/**
 * Its prompts.
 */
prompts: Array<Prompt>, 
/**
 * Its resources.
 */
resources: Array<Resource>, 
/**
 * Its resource templates.
 */
templates: Array<ResourceTemplate>, 
/**
 * Where a list is not whole, and why.
 */
notes: Array<string>, 
/**
 * Until when each list counts as fresh.
 */
freshUntil: FreshUntil, };

/**
 * A difference at one place.
 */
export type Change = { 
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
 * How much of a conversation a model gets, and for how long it goes on by itself.
 */
export type ChatBounds = { 
/**
 * The most bytes of text of one tool's result. The model reads the rest when it asks for it.
 */
resultBytes: number, 
/**
 * How often a model may call tools in a row before the user says that it goes on.
 */
rounds: number, 
/**
 * Beyond how many percent of the model's context its tools are found by search instead of all being sent.
 */
toolsPercent: number, };

/**
 * A form's content to be checked.
 */
export type CheckForm = { 
/**
 * The question.
 */
id: string, 
/**
 * The content: a JSON object.
 */
content: JsonValue, };

/**
 * The identifier of a check.
 */
export type CheckId = "settings" | "keychain" | "search_path" | "node" | "python" | "uv" | "docker" | "podman" | "dotnet" | "programs" | "sandbox" | "proxy" | "certificates" | "web_view" | "data_folder" | "config_folder" | "cache_folder" | "clock";

/**
 * The findings of a check of this computer, and the report without private data.
 */
export type CheckedComputer = { 
/**
 * The findings, always in the same order. Their words are English.
 */
findings: Array<Finding>, 
/**
 * The same without anything private, as Markdown to paste into an issue.
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
 * A condition on what a server says of a tool; it can only make things stricter.
 */
export type ClaimRule = { 
/**
 * The tool says that it only reads.
 */
readOnly: boolean | null, 
/**
 * The tool says, or does not deny, that it destroys.
 */
destructive: boolean | null, 
/**
 * The tool says that doing it twice is doing it once.
 */
idempotent: boolean | null, 
/**
 * The tool says, or does not deny, that it reaches out.
 */
openWorld: boolean | null, };

/**
 * How Drawbridge identifies itself to an authorization server.
 */
export type ClientIdentity = "configured" | "metadata_document" | "registered" | "entered";

/**
 * A wish for completions.
 */
export type Complete = { 
/**
 * The server.
 */
server: string, 
/**
 * What has the argument.
 */
of: CompletionOf, 
/**
 * The argument's name.
 */
argument: string, 
/**
 * What is typed so far.
 */
value: string, 
/**
 * The arguments given already.
 */
context: { [key in string]: string }, };

/**
 * Completions.
 */
export type Completion = { 
/**
 * At most 100 values.
 */
values: Array<string>, 
/**
 * How many there are in all, if known.
 */
total: number | null, 
/**
 * Whether there are more.
 */
hasMore: boolean, };

/**
 * What to complete an argument of.
 */
export type CompletionOf = { "type": "prompt", 
/**
 * Its name.
 */
name: string, } | { "type": "template", 
/**
 * The template.
 */
uri: string, };

/**
 * What is wrong with a settings file or pasted text.
 */
export type ConfigProblem = { 
/**
 * The file, or nothing for pasted text.
 */
file: string | null, 
/**
 * The line, from 1.
 */
line: number | null, 
/**
 * The column, from 1.
 */
column: number | null, 
/**
 * What is there and what was expected.
 */
message: string, };

/**
 * A rule, approval or preset that was looked at.
 */
export type Considered = { 
/**
 * Which.
 */
by: DecidedBy, 
/**
 * What it says when it fits.
 */
effect: Effect, 
/**
 * Whether it fits, or the first condition that does not hold: `fits`, `other-server`, `other-direction`, `other-tool`,
 * `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
 * `asks-each-time`, `over-budget` or `after-untrusted`.
 */
fit: string, 
/**
 * The number of the argument's condition that does not hold, from 0.
 */
argument: number | null, 
/**
 * How each condition on an argument was judged.
 */
arguments: Array<Judged>, };

/**
 * One piece of content.
 */
export type Content = { "type": "text", 
/**
 * The text.
 */
text: string, } | { "type": "image", 
/**
 * Base64.
 */
data: string, 
/**
 * Its type, as claimed.
 */
mimeType: string, } | { "type": "audio", 
/**
 * Base64.
 */
data: string, 
/**
 * Its type, as claimed.
 */
mimeType: string, } | { "type": "resource_link", 
/**
 * Where it is.
 */
uri: string, 
/**
 * Its name.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it is.
 */
description: string | null, 
/**
 * Its type, as claimed.
 */
mimeType: string | null, 
/**
 * Its size in bytes, as claimed.
 */
size: number | null, } | { "type": "resource", 
/**
 * What is in it.
 */
contents: ResourceContents, } | { "type": "unknown", 
/**
 * As it came.
 */
json: JsonValue, };

/**
 * How contents stand on the disk.
 */
export type ContentAtRest = { "is": "encrypted" } | { "is": "plain" } | { "is": "unreadable", 
/**
 * Why, and what to do.
 */
cause: string, };

/**
 * How conversations and contents of the audit log stand on the disk.
 */
export type ContentProtection = { 
/**
 * What is said in conversations.
 */
conversations: ContentAtRest, 
/**
 * What crossed, as the audit log has it.
 */
decisions: ContentAtRest, };

/**
 * A conversation.
 */
export type Conversation = { 
/**
 * To refer to it by.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * When it last changed, in milliseconds since 1970.
 */
updatedAt: number, 
/**
 * What is in it, in order: the path from its first item to its head. Other branches are found by `siblings`.
 */
items: Array<ConversationItem>, 
/**
 * The servers whose words are in it. A model that reads it reads what they said.
 */
sources: Array<string>, 
/**
 * What the user set for it.
 */
settings: ConversationSettings, 
/**
 * Whether a model is answering in it.
 */
answering: boolean, 
/**
 * Whether there are items before these.
 */
hasMore: boolean, 
/**
 * Text in the composer that is not sent yet.
 */
draft: string, };

/**
 * What a conversation took so far, over all branches.
 */
export type ConversationCost = { 
/**
 * The tokens of all answers.
 */
usage: TokenUse, 
/**
 * What they cost, by currency.
 */
costs: Array<Cost>, 
/**
 * Of how many answers it is not known what they cost, or not all of it, as they were stopped or broke off.
 */
unpriced: number, 
/**
 * How many tokens the latest request in the branch that is shown, and its answer, took together.
 */
contextUsed: number | null, 
/**
 * How many the model takes.
 */
context: number | null, };

/**
 * One thing in a conversation.
 */
export type ConversationItem = { 
/**
 * Unique in its conversation.
 */
id: string, 
/**
 * The item that it follows.
 */
parent?: string, 
/**
 * When, in milliseconds since 1970.
 */
at: number, 
/**
 * Whether it is whole; it is, if nothing is said.
 */
state?: ItemState, 
/**
 * How many `reply_delta` are in it, while it streams: the next one has this number.
 */
seq?: number, 
/**
 * All items that follow the same one, itself among them, in the order in which they came; none if it is the only one.
 */
siblings?: Array<string>, 
/**
 * What it is.
 */
body: ItemBody, 
/**
 * Large contents that are not sent along: their places in `body` hold empty texts.
 */
leftOut?: Array<LeftOut>, };

/**
 * A conversation by id.
 */
export type ConversationRef = { 
/**
 * The conversation.
 */
conversation: string, };

/**
 * What the user set for a conversation. Its serialized form is the page's; the history has that of `stored`.
 */
export type ConversationSettings = { 
/**
 * The model that answers.
 */
model: ModelRef | null, 
/**
 * How it should behave, in the user's words.
 */
systemPrompt: string, 
/**
 * The servers whose tools it may use, in the order in which they are offered.
 */
servers: Array<OfferedServer>, 
/**
 * Whether it is told which folders these servers may know of.
 */
shareRoots: boolean, 
/**
 * Whether it should think before it answers, where it can.
 */
thinking: boolean, 
/**
 * Whether it finds its tools by search, or gets all of them; none for a search where they take much of its context.
 */
toolSearch?: boolean, };

/**
 * A conversation in the list.
 */
export type ConversationSummary = { 
/**
 * To refer to it by.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * When it last changed, in milliseconds since 1970.
 */
updatedAt: number, };

/**
 * A tool of a conversation.
 */
export type ConversationTool = { 
/**
 * The server.
 */
server: string, 
/**
 * The tool; empty if the server is not in use.
 */
tool: string, 
/**
 * Its name, as the model knows it.
 */
key: string, 
/**
 * About how many tokens it takes.
 */
tokens: number, 
/**
 * Whether it can be offered.
 */
state: ToolState, };

/**
 * The tools of a conversation.
 */
export type ConversationTools = { 
/**
 * Those of the servers that are turned on, in the order in which they are offered.
 */
tools: Array<ConversationTool>, 
/**
 * About how many tokens all that can be offered take, by their size (four bytes a token).
 */
tokens: number, 
/**
 * From how many tokens on tools are found by search instead.
 */
threshold: number, 
/**
 * Whether they are.
 */
bySearch: boolean, 
/**
 * What the servers that are turned on want a model to know.
 */
instructions: Array<ServerInstructions>, };

/**
 * What is done with something that a wire can't carry.
 */
export type ConversionChoice = { 
/**
 * What.
 */
what: string, 
/**
 * What is done.
 */
then: string, };

/**
 * What an answer cost.
 */
export type Cost = { 
/**
 * How much, in the currency's units.
 */
amount: number, 
/**
 * The currency, such as `USD`.
 */
currency: string, };

/**
 * How much a server offers.
 */
export type Counts = { 
/**
 * Tools.
 */
tools: number, 
/**
 * Prompts.
 */
prompts: number, 
/**
 * Resources.
 */
resources: number, 
/**
 * Resource templates.
 */
templates: number, };

/**
 * What the user set for the content of one server.
 */
export type DataFlow = { 
/**
 * After which content a model's call of the same server asks.
 */
sameServer: SameServer, 
/**
 * Which results the user reviews before a model reads them.
 */
review: ResultReview, 
/**
 * The same for single tools, by name; at most `MAX_TOOLS`.
 */
tools: { [key in string]: ResultReview }, };

/**
 * What decided.
 */
export type DecidedBy = { "kind": "built_in" } | { "kind": "grant", 
/**
 * Its id.
 */
id: string, } | { "kind": "rule", 
/**
 * Which.
 */
rule: RuleRef, } | { "kind": "preset" } | { "kind": "managed_preset" };

/**
 * The model that new conversations begin with.
 */
export type DefaultModel = { 
/**
 * The model; none for none.
 */
model: ModelRef | null, };

/**
 * Questions of a server to refuse.
 */
export type DenyAll = { 
/**
 * The server.
 */
server: string, 
/**
 * Whether to refuse those to come too.
 */
mute: boolean, };

/**
 * The differences between the reviewed definition and the current one.
 */
export type Diff = { 
/**
 * Changes; at most `MAX_CHANGES`.
 */
changes: Array<Change>, 
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
 * Which way what a rule is about crosses.
 */
export type Direction = "to_server" | "from_server" | "both";

/**
 * An act that a dry run is about.
 */
export type DryAct = { "kind": "tool", 
/**
 * The tool.
 */
tool: string, 
/**
 * The arguments that would be sent.
 */
arguments: JsonValue, 
/**
 * The conversation that the call belongs to.
 */
conversation: string | null, 
/**
 * True for a call by a model that has read another server's output.
 */
afterUntrusted: boolean, } | { "kind": "read" } | { "kind": "start" } | { "kind": "sampling" } | { "kind": "form" } | { "kind": "url" } | { "kind": "roots" } | { "kind": "sign_in" };

/**
 * A dry run: what would happen.
 */
export type DryRun = { 
/**
 * The server.
 */
server: string, 
/**
 * What would be done.
 */
act: DryAct, };

/**
 * What would happen, and why.
 */
export type DryRunResult = { 
/**
 * What would happen.
 */
effect: Effect, 
/**
 * The reason, by its stable name.
 */
reason: string, 
/**
 * What decided.
 */
by: DecidedBy, 
/**
 * For how long an approval could hold, if it asks.
 */
scopes: Array<Scope>, 
/**
 * All that was looked at, the most important first.
 */
considered: Array<Considered>, 
/**
 * Whether a definition or a command had to be taken as unchanged, as the server is not running.
 */
assumedUnchanged: boolean, 
/**
 * Of a call whether the tool was reviewed as it is, or as it was when its server ran last.
 */
standing: Standing | null, };

/**
 * A change to what would cross.
 */
export type Edit = { "change": "arguments", 
/**
 * A JSON object.
 */
arguments: JsonValue, } | { "change": "request", 
/**
 * As it should be.
 */
request: SamplingRequest, } | { "change": "response", 
/**
 * As it should be.
 */
response: SamplingResponse, } | { "change": "model", 
/**
 * The model.
 */
model: ModelRef, };

/**
 * A message written anew, in a branch of its own. What followed the old one stays.
 */
export type EditMessage = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The message as it was.
 */
item: string, 
/**
 * What the user writes instead.
 */
text: string, 
/**
 * What is attached.
 */
attachments: Array<MessageAttachment>, 
/**
 * The model that answers; none for the one that the conversation has.
 */
model?: ModelRef, };

/**
 * A change to a question.
 */
export type EditQuestion = { 
/**
 * The question.
 */
id: string, 
/**
 * The change.
 */
edit: Edit, };

/**
 * What a rule says. The stricter one comes later.
 */
export type Effect = "allow" | "ask" | "deny";

/**
 * The use of an endpoint.
 */
export type EndpointUse = "token" | "provider" | "registration" | "revocation";

/**
 * What an authorization server knows Drawbridge by, as the user enters it.
 */
export type EnteredClient = { 
/**
 * The client id.
 */
clientId: string, 
/**
 * The secret that goes with it, if it has one.
 */
clientSecret: string | null, };

/**
 * What went wrong, to choose the next step by.
 */
export type ErrorCode = "bad_request" | "not_found" | "bad_name" | "config" | "not_ready" | "sign_in_needed" | "refused" | "cancelled" | "timeout" | "server" | "bad_answer" | "server_gone" | "unsupported" | "stale" | "invalid" | "system" | "internal";

/**
 * One change.
 */
export type Event = { "type": "server_changed", 
/**
 * As it is now.
 */
server: Server, } | { "type": "server_removed", 
/**
 * Its name.
 */
name: string, } | { "type": "catalog_changed", 
/**
 * The server.
 */
server: string, } | { "type": "resource_updated", 
/**
 * The server.
 */
server: string, 
/**
 * The resource.
 */
uri: string, } | { "type": "question_changed", 
/**
 * As it is now.
 */
question: Question, } | { "type": "question_closed", 
/**
 * The question.
 */
id: string, 
/**
 * What became of it.
 */
outcome: QuestionOutcome, } | { "type": "sampling_text", 
/**
 * The question.
 */
id: string, 
/**
 * The text; empty while it only thinks.
 */
text: string, } | { "type": "sampling_changed", 
/**
 * The server.
 */
server: string, } | { "type": "call_changed", 
/**
 * As it is now.
 */
call: Call, } | { "type": "authorization_changed", 
/**
 * The server.
 */
server: string, } | { "type": "activity_appended", 
/**
 * The server.
 */
server: string, 
/**
 * The number of the latest entry.
 */
last: number, } | { "type": "conversations_changed", 
/**
 * The list as it is now.
 */
conversations: Array<ConversationSummary>, 
/**
 * The one whose items changed.
 */
changed: string | null, } | { "type": "reply_delta", 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The answer.
 */
item: string, 
/**
 * Its number.
 */
seq: number, 
/**
 * What is appended.
 */
append: Array<Append>, } | { "type": "item_changed", 
/**
 * The conversation.
 */
conversation: string, 
/**
 * As it is now.
 */
item: ConversationItem, 
/**
 * Whether a model is answering there.
 */
answering: boolean, } | { "type": "audit_changed" } | { "type": "models_changed" } | { "type": "settings_changed", 
/**
 * As they are now.
 */
settings: Settings, } | { "type": "rules_changed" } | { "type": "config_problem", 
/**
 * What is wrong, or nothing.
 */
problem: ConfigProblem | null, };

/**
 * A batch of events in order. The first one's number is `first`; each next is one more. After a gap the page reads the
 * snapshot again.
 */
export type Events = { 
/**
 * The number of the first event.
 */
first: number, 
/**
 * The events.
 */
events: Array<Event>, };

/**
 * Some text, and what in it was searched for.
 */
export type Excerpt = { 
/**
 * The text.
 */
text: string, 
/**
 * Whether there is more before it.
 */
cutBefore: boolean, 
/**
 * Whether there is more after it.
 */
cutAfter: boolean, 
/**
 * The matches in order, as begin and end in UTF-16 units of `text`, which is how the page counts.
 */
matches: Array<[number, number]>, };

/**
 * A template and values for it.
 */
export type ExpandTemplate = { 
/**
 * The template.
 */
template: string, 
/**
 * Values by variable; those that are missing are left out as RFC 6570 says.
 */
values: { [key in string]: string }, };

/**
 * An expanded template.
 */
export type ExpandedTemplate = { 
/**
 * The URI.
 */
uri: string, };

/**
 * A conversation to write to a file.
 */
export type ExportConversation = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * How.
 */
format: ExportFormat, };

/**
 * How a conversation is written to a file.
 */
export type ExportFormat = "markdown" | "json";

/**
 * Why a server is not running.
 */
export type FailureReason = "command_not_found" | "could_not_start" | "exited_early" | "exited" | "no_answer" | "protocol" | "refused" | "unreachable" | "unauthorized" | "no_secret" | "limit_reached";

/**
 * The type of a field, with its constraints.
 */
export type FieldKind = { "type": "text", 
/**
 * Required format.
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
 * Smallest allowed value.
 */
minimum: number | null, 
/**
 * Largest allowed value.
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
 * The files that a dialog offers.
 */
export type FileKind = "any" | "bundle";

/**
 * A server that may change a file which another one runs: its sandbox lets it write there.
 */
export type FileWriter = { 
/**
 * The server whose sandbox may write to the file.
 */
server: string, 
/**
 * The path of a file that decides what another server runs.
 */
file: string, 
/**
 * The folder of its sandbox.
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
 * What may be done in a folder.
 */
export type FolderAccess = "read" | "write";

/**
 * Whether a folder is proposed to be added to a sandbox.
 */
export type FolderOffer = { "is": "folder", 
/**
 * Its path, with no link in it.
 */
folder: string, 
/**
 * Names of what lies there, the first ones.
 */
names: Array<string>, 
/**
 * How much lies there, up to a thousand.
 */
count: number, } | { "is": "none", 
/**
 * Why not.
 */
because: NotOffered, };

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
 * Kind of error.
 */
problem: FieldProblem, 
/**
 * The violated bound, for errors that have one.
 */
limit: number | null, };

/**
 * What is wrong with a form's content; empty when it can be sent.
 */
export type FormProblems = { 
/**
 * By field, in the form's order.
 */
problems: Array<FormProblem>, };

/**
 * An item that was found.
 */
export type FoundItem = { 
/**
 * Grows with each item that is written first; to ask for older ones by.
 */
number: number, 
/**
 * The conversation.
 */
conversation: string, 
/**
 * Its title.
 */
title: string, 
/**
 * The item.
 */
item: string, 
/**
 * When the item was written, in milliseconds since 1970.
 */
at: number, 
/**
 * Some of its text around the first match.
 */
excerpt: Excerpt, };

/**
 * What was found, the latest first.
 */
export type FoundItems = { 
/**
 * The items.
 */
found: Array<FoundItem>, 
/**
 * Whether there may be older ones.
 */
hasMore: boolean, };

/**
 * What serves models on this computer.
 */
export type FoundProvider = { 
/**
 * The preset that it is set up with.
 */
preset: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Where.
 */
url: string, 
/**
 * The names of its models.
 */
models: Array<string>, };

/**
 * A tool that a search found.
 */
export type FoundTool = { 
/**
 * The server.
 */
server: string, 
/**
 * The tool.
 */
tool: string, 
/**
 * Its name, as the model knows it.
 */
key: string, };

/**
 * Until when lists count as fresh, in milliseconds since 1970. None where the server does not say: then a list is as it was
 * last read, and is read again when the server says that it changed.
 */
export type FreshUntil = { 
/**
 * The tools.
 */
tools: number | null, 
/**
 * The prompts.
 */
prompts: number | null, 
/**
 * The resources.
 */
resources: number | null, 
/**
 * The resource templates.
 */
templates: number | null, };

/**
 * A prompt to get.
 */
export type GetPrompt = { 
/**
 * An id chosen by the caller.
 */
call: string, 
/**
 * The server.
 */
server: string, 
/**
 * The prompt's name.
 */
prompt: string, 
/**
 * Its arguments.
 */
arguments: { [key in string]: string }, 
/**
 * The hash that was shown with it; it is refused if it is another one now. None if it was not shown.
 */
hash?: string, };

/**
 * A standing approval.
 */
export type Grant = { 
/**
 * To revoke it by.
 */
id: string, 
/**
 * The server.
 */
server: string, 
/**
 * The tool, or nothing for the server's command.
 */
tool: string | null, 
/**
 * For how long.
 */
scope: Scope, 
/**
 * The conversation it holds in, if it holds in one only.
 */
conversation: string | null, 
/**
 * Since when, in milliseconds since 1970.
 */
since: number, 
/**
 * Until when, in milliseconds since 1970, if not for good.
 */
expiresAt: number | null, 
/**
 * The hash of what it rests on: the command, or the tool's whole definition.
 */
restsOn: string, };

/**
 * An approval by id.
 */
export type GrantRef = { 
/**
 * The approval.
 */
id: string, };

/**
 * Every standing approval.
 */
export type Grants = { 
/**
 * The approvals.
 */
grants: Array<Grant>, };

/**
 * A header that is sent to a remote server.
 */
export type HttpHeader = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its value. Of a server that is set up it is never told; none in a change keeps the value that is set.
 */
value: string | null, 
/**
 * Whether the value lies, or is to be put, in the system's keychain and not in the settings file.
 */
secret: boolean, };

/**
 * A transport over HTTP.
 */
export type HttpKind = "http" | "sse";

/**
 * A picture a server gives for something. Only `data:` pictures are shown.
 */
export type Icon = { 
/**
 * A `data:` or `https:` URL.
 */
src: string, 
/**
 * Its type, as claimed.
 */
mimeType: string | null, };

/**
 * An app whose settings have servers.
 */
export type ImportApp = { 
/**
 * The app's id, as `ImportSource` takes it.
 */
id: string, 
/**
 * The app's name as its maker writes it.
 */
name: string, 
/**
 * The settings files that were read.
 */
files: Array<ImportFile>, 
/**
 * The servers that are found in it first. One that other apps have, too, stands only here.
 */
servers: Array<ImportCandidate>, };

/**
 * A server of another app. No value of a variable or header is in it that is a secret.
 */
export type ImportCandidate = { 
/**
 * A hash over what would be set up but the values of secrets, and over where it was found. Only what still has it is imported.
 */
id: string, 
/**
 * The name it would get; free among the user's servers.
 */
name: string, 
/**
 * Where it was found.
 */
origins: Array<ImportOrigin>, 
/**
 * `stdio`, `http` or `sse`.
 */
transport: string, 
/**
 * The command on one line, or the URL.
 */
target: string, 
/**
 * The working folder of a local server, if its app names one.
 */
folder: string | null, 
/**
 * What a local server may reach, if its app says so in Drawbridge's own form.
 */
sandbox: Sandbox | null, 
/**
 * The client to sign in to a remote server as, if its app has one.
 */
signIn: ImportSignIn | null, 
/**
 * The environment variables of a local server.
 */
env: Array<ImportedValue>, 
/**
 * The HTTP headers of a remote server.
 */
headers: Array<ImportedValue>, 
/**
 * How it stands to the servers that are set up.
 */
status: ImportStatus, 
/**
 * Texts in its command, its address or its sign-in that the user has to replace before it works.
 */
placeholders: Array<ImportPlaceholder>, 
/**
 * True if the server is turned off in the other app.
 */
off: boolean, 
/**
 * Tools that would be denied, as its app does.
 */
deniedTools: Array<string>, 
/**
 * The only tools that its app gives to a model; all if empty. Drawbridge does not limit them.
 */
exposedTools: Array<string>, 
/**
 * Settings that are not imported, or the reason why the server can't be.
 */
notes: Array<ImportNote>, };

/**
 * The servers of other apps.
 */
export type ImportCandidates = { 
/**
 * The names of the apps that were looked for, in the order of the table of apps.
 */
lookedFor: Array<string>, 
/**
 * The apps that have any, in the order of the table of apps.
 */
apps: Array<ImportApp>, 
/**
 * Files that could not be read, with the line, the column and the cause.
 */
problems: Array<ConfigProblem>, };

/**
 * A settings file of an app.
 */
export type ImportFile = { 
/**
 * The absolute path.
 */
path: string, 
/**
 * How many servers are in it.
 */
servers: number, };

/**
 * Something to know about a server that was found.
 */
export type ImportNote = { 
/**
 * What it says.
 */
kind: ImportNoteKind, 
/**
 * What it names: settings, variables, a file or a folder, as its kind says. Safe to print.
 */
names: Array<string>, 
/**
 * The note in English, safe to print.
 */
text: string, };

/**
 * What a note says.
 */
export type ImportNoteKind = "off" | "also_in" | "denied_tools" | "exposed_tools" | "name_taken" | "name_shared" | "set_up_here" | "project" | "not_used" | "approvals" | "secret_left_out" | "bridge" | "windows" | "input" | "enter_value" | "not_followed" | "placeholder" | "as_written" | "empty" | "env_file" | "merged" | "different" | "other_list" | "reason" | "other";

/**
 * Where a server was found.
 */
export type ImportOrigin = { 
/**
 * The app's id; `file` if the app is not known.
 */
app: string, 
/**
 * The file.
 */
file: string, 
/**
 * The name it has there.
 */
name: string, };

/**
 * The outcome of one server.
 */
export type ImportOutcome = { 
/**
 * The id of the candidate.
 */
id: string, 
/**
 * Its name here, if it was imported.
 */
name: string | null, 
/**
 * Why its secrets are kept only until Drawbridge is closed, if they are.
 */
onlyThisRun: string | null, 
/**
 * Why it was not imported.
 */
problem: string | null, };

/**
 * A place in the settings of a server.
 */
export type ImportPlace = { "is": "command" } | { "is": "argument", 
/**
 * Its number, from 1.
 */
number: number, } | { "is": "folder" } | { "is": "url" } | { "is": "value", 
/**
 * Its name.
 */
name: string, } | { "is": "client_secret" };

/**
 * A text that the user has to replace before the server works.
 */
export type ImportPlaceholder = { 
/**
 * Where it is.
 */
place: ImportPlace, 
/**
 * The text, safe to print; empty where nothing is.
 */
text: string, };

/**
 * What was found in pasted text.
 */
export type ImportPreview = { 
/**
 * The servers in it.
 */
servers: Array<ImportedServer>, 
/**
 * Why nothing could be read, with line and column where known.
 */
problem: ConfigProblem | null, };

/**
 * Servers to import.
 */
export type ImportServers = { 
/**
 * The source of the list that they were picked from.
 */
source: ImportSource, 
/**
 * The ids of the picked candidates.
 */
ids: Array<string>, };

/**
 * The client that an app signs in to a server as.
 */
export type ImportSignIn = { 
/**
 * The id by which the authorization server knows the client.
 */
clientId: string | null, 
/**
 * True if there is a client secret, which goes to the keychain.
 */
hasSecret: boolean, 
/**
 * The authorization server.
 */
issuer: string | null, 
/**
 * The scopes to ask for; what the server says is needed if empty.
 */
scopes: Array<string>, };

/**
 * Where to look for servers of other apps: in the home folder if nothing is named.
 */
export type ImportSource = { 
/**
 * Only in this app, by its id.
 */
app: string | null, 
/**
 * Only in the files of this project: one of the folders that a server may know of.
 */
project: string | null, };

/**
 * How a server stands to those that are set up here.
 */
export type ImportStatus = "new" | "same" | "conflict" | "unsupported";

/**
 * Text that a server's README says to paste.
 */
export type ImportText = { 
/**
 * The text.
 */
text: string, };

/**
 * One server in pasted text.
 */
export type ImportedServer = { 
/**
 * The name it would get; free among the user's servers.
 */
name: string, 
/**
 * How it would be reached.
 */
config: ServerConfig, 
/**
 * What to look at: placeholders to fill in, keys that are not understood, why it can't be used.
 */
notes: Array<string>, 
/**
 * Whether it can be added as it is.
 */
usable: boolean, };

/**
 * The outcomes of an import.
 */
export type ImportedServers = { 
/**
 * One for each picked id, in the order of the request.
 */
outcomes: Array<ImportOutcome>, };

/**
 * A variable or header of a server that was found.
 */
export type ImportedValue = { 
/**
 * The name of the variable or header.
 */
name: string, 
/**
 * Whether the value is a secret, plain text or a reference.
 */
kind: ImportedValueKind, 
/**
 * True if the user has to enter the value after the import.
 */
toEnter: boolean, };

/**
 * What the value of a variable or header is.
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
 * A server to install as it was previewed.
 */
export type Install = { 
/**
 * The server.
 */
draft: InstallDraft, 
/**
 * `hash`. If anything else would result by now, nothing is installed.
 */
hash: string, 
/**
 * True if the user agreed that a running server is stopped for its upgrade.
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
 * A server as it is wanted. Values of secret inputs go to the keychain when it is installed.
 */
export type InstallDraft = { 
/**
 * `source`.
 */
source: InstallSource, 
/**
 * The user's name for it.
 */
name: string, 
/**
 * The values of the inputs, by key. One that is not in it has its default.
 */
values: { [key in string]: Array<string> }, 
/**
 * The sandbox; none if it may reach all that its user may. Not for an upgrade, which keeps what the server has.
 */
sandbox: Sandbox | null, 
/**
 * The installed server whose place it takes, by the user's name for it; none if it is a new one.
 */
upgrades: string | null, };

/**
 * A server as it could be installed. Nothing is unpacked, started or approved.
 */
export type InstallOffer = { 
/**
 * The source by which to go on: with the exact version, the chosen target, or the bundle's SHA-256, so that nothing else is installed.
 */
source: InstallSource, 
/**
 * Where it comes from.
 */
origin: InstallOrigin, 
/**
 * The packages and remotes to choose from; none of a bundle.
 */
choices: Array<InstallChoice>, 
/**
 * What would be set up; none while nothing is chosen, or if it can't be installed.
 */
plan: InstallPlan | null, 
/**
 * Why it can't be installed as it is chosen, if it can't be.
 */
problem: string | null, };

/**
 * Where a server comes from.
 */
export type InstallOrigin = { "from": "registry", 
/**
 * What it lists.
 */
listing: RegistryListing, 
/**
 * The registry that answered, and the time of its answer.
 */
answer: RegistryAnswer, 
/**
 * The bundle that was downloaded, if the chosen package is one. It has the hash that the registry lists.
 */
bundle: OfferedBundle | null, } | { "from": "bundle" } & OfferedBundle;

/**
 * What an installation would set up, with blanks for the user.
 */
export type InstallPlan = { 
/**
 * A name for it that no server has yet.
 */
name: string, 
/**
 * The command or the address.
 */
target: PlannedTarget, 
/**
 * What the user fills in.
 */
inputs: Array<PlanInput>, 
/**
 * The keys of secret inputs that the keychain can't keep: their values stand in the settings file and on the command line.
 */
exposedSecrets: Array<string>, 
/**
 * What to look at, in sentences.
 */
notes: Array<string>, 
/**
 * Whether it can have a sandbox.
 */
containment: InstallContainment, 
/**
 * The sandbox that is proposed.
 */
sandbox: Sandbox | null, };

/**
 * What would be set up, exactly, or why nothing can be.
 */
export type InstallPreview = { 
/**
 * What is wrong with values of inputs, by key.
 */
inputProblems: { [key in string]: InputProblem }, 
/**
 * What else is wrong: the name is taken, the address can't be used.
 */
problem: string | null, 
/**
 * The server that would be set up; none if anything is wrong.
 */
server: PreviewedServer | null, 
/**
 * The server whose place it takes, as it is set up now.
 */
before: PreviewedServer | null, 
/**
 * A hash over all that would be set up, with the values of secrets, and over where it comes from; none if anything is wrong.
 */
hash: string | null, };

/**
 * The source of a server to install.
 */
export type InstallSource = { "from": "registry", 
/**
 * `namespace/name`.
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
 * One of the packages or remotes that a version of a server has in a registry.
 */
export type InstallTarget = { "kind": "package", 
/**
 * Its number in the description, from 1.
 */
number: number, } | { "kind": "remote", 
/**
 * Its number in the description, from 1.
 */
number: number, };

/**
 * What is known of the installation of a server.
 */
export type Installed = { 
/**
 * Where it is from.
 */
origin: ServerOrigin, 
/**
 * True if its command or its address was changed since then.
 */
changed: boolean, };

/**
 * The servers that were installed from the registry.
 */
export type InstalledVersions = { 
/**
 * Asks the registry even if answers are kept that are not an hour old.
 */
refresh: boolean, };

/**
 * What a thing in a conversation is.
 */
export type ItemBody = { "kind": "message", 
/**
 * By whom.
 */
role: Role, 
/**
 * What.
 */
content: Array<Content>, 
/**
 * The prompt it came from.
 */
prompt: PromptOrigin | null, 
/**
 * What the user attached to it.
 */
attachments?: Array<MessageAttachment>, } | { "kind": "reply", 
/**
 * The model.
 */
model: ModelRef, 
/**
 * What it is made of, in order.
 */
parts: Array<ReplyPart>, 
/**
 * Why it ended; none while it streams, or if it was cut.
 */
stop: ReplyStop | null, 
/**
 * The tokens that it took, as far as the provider says.
 */
usage: TokenUse, 
/**
 * What it cost, where the price is known.
 */
cost: Cost | null, 
/**
 * Why it failed.
 */
error: ModelProblem | null, 
/**
 * What of the request the provider could not carry as it was, and what was done about it, in words.
 */
conversions?: Array<string>, 
/**
 * How long the first piece took to come, in milliseconds.
 */
firstAfter: number | null, 
/**
 * How long it took in all, in milliseconds.
 */
took: number, } | { "kind": "tool_call", 
/**
 * The call, by which calls and questions tell of it.
 */
call: string, 
/**
 * The server.
 */
server: string, 
/**
 * The tool.
 */
tool: string, 
/**
 * What was sent.
 */
arguments: JsonValue, 
/**
 * What came back, or nothing when it failed.
 */
result: ToolResult | null, 
/**
 * Why it failed, in words.
 */
error: string | null, 
/**
 * Stable identifier of the error. Absent in conversations of older versions.
 */
failure?: CallFailureCode, 
/**
 * How long it took, in milliseconds.
 */
took: number, 
/**
 * Where a model asked for it.
 */
used?: ToolUsed, 
/**
 * How many bytes of the result's text the model did not get, as it was too long.
 */
leftOut?: number, } | { "kind": "own_tool", 
/**
 * Where a model asked for it; the key is the tool's name.
 */
used: ToolUsed, 
/**
 * What it asked.
 */
arguments: JsonValue, 
/**
 * What it was told.
 */
text: string, 
/**
 * The tools that were found.
 */
found?: Array<FoundTool>, 
/**
 * Whether it was told that it can't be done.
 */
isError: boolean, } | { "kind": "notice", 
/**
 * What.
 */
notice: Notice, } | { "kind": "attachment", 
/**
 * The server.
 */
server: string, 
/**
 * The resource; of a skill its `SKILL.md`.
 */
uri: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What was in it then.
 */
contents: Array<ResourceContents>, 
/**
 * True for a skill, whose text is instructions that the user chose.
 */
skill?: boolean, };

/**
 * Some items of one branch.
 */
export type ItemPage = { 
/**
 * In order, the oldest first.
 */
items: Array<ConversationItem>, 
/**
 * Whether there are others before them.
 */
hasMore: boolean, };

/**
 * Which items of a conversation to read.
 */
export type ItemRange = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * Only those before this item; none for the last ones of the branch that is shown.
 */
before: string | null, 
/**
 * At most so many.
 */
limit: number, };

/**
 * An item of a conversation.
 */
export type ItemRef = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The item.
 */
item: string, };

/**
 * Whether an item is whole.
 */
export type ItemState = "whole" | "streaming" | "cut";

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * How one condition of a rule was judged.
 */
export type Judged = { 
/**
 * The condition's number in its rule, from 0.
 */
number: number, 
/**
 * Whether it holds.
 */
holds: boolean, 
/**
 * Why.
 */
reason: JudgedReason, 
/**
 * The value, as JSON, at most its beginning; of a list the item that decided. None if there is none.
 */
value: string | null, 
/**
 * What the value was read as, where that is not just how it is written.
 */
normal: Array<string>, };

/**
 * Why a value fits a condition, or does not.
 */
export type JudgedReason = "matches" | "differs" | "missing" | "not-judged" | "too-long" | "respelled" | "climbs" | "crosses-parts" | "not-whole" | "second-name" | "letters" | "unresolved" | "leads-elsewhere" | "holds" | "user-info" | "not-address" | "not-number" | "text-number";

/**
 * The language.
 */
export type Language = "system" | "en" | "zh";

/**
 * A file that decides what a local server runs. The approval of a start is over it as it is.
 */
export type LaunchFile = { 
/**
 * The path that the command leads to.
 */
path: string, 
/**
 * Where the file really lies, if that is elsewhere.
 */
leadsTo: string | null, 
/**
 * Its size in bytes.
 */
bytes: number, 
/**
 * The SHA-256 of its content, in hexadecimal digits. None if it is too large to be read, or can't be: then its size and its times
 * of modification and status change count.
 */
hash: string | null, 
/**
 * How the command leads to this file.
 */
role: LaunchFileRole, 
/**
 * True if the server was approved before and the file is not as it was then.
 */
changed: boolean, };

/**
 * How a command leads to a file that decides what it runs.
 */
export type LaunchFileRole = "program" | "interpreter" | "environment" | "argument" | "variable";

/**
 * Something large that stands elsewhere.
 */
export type LeftOut = { 
/**
 * Where in the body, as a JSON Pointer (RFC 6901).
 */
pointer: string, 
/**
 * The SHA-256 of the bytes, in hexadecimal: what to ask for them by.
 */
hash: string, 
/**
 * How many bytes.
 */
bytes: number, 
/**
 * Whether the bytes are the text that would stand there, in UTF-8. Else it would stand there in base64.
 */
isText: boolean, };

/**
 * A limit, with the usage that counts towards it.
 */
export type LimitCounter = { 
/**
 * Current usage.
 */
now: number, 
/**
 * The limit.
 */
most: number, 
/**
 * Number of events beyond the limit that were refused, omitted or slowed down.
 */
beyond: number, };

/**
 * The limits of a server, stored in the user's settings under `limits`. Values out of range are clamped.
 */
export type Limits = { 
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
 * Usage of a server against its limits since its last start.
 */
export type LimitsUse = { 
/**
 * Calls in progress.
 */
calls: LimitCounter, 
/**
 * Pending consent requests.
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
resources: ResourcesUse | null, };

/**
 * The lists of a server.
 */
export type ListName = "tools" | "prompts" | "resources";

/**
 * The package that a launcher such as `npx` would load.
 */
export type LoadedPackage = { 
/**
 * The launcher, as it is written on a command line.
 */
launcher: string, 
/**
 * The package that the settings name, if it could be read.
 */
name: string | null, 
/**
 * The version, range or tag that the settings name; none if they name none.
 */
wanted: string | null, 
/**
 * The version that would run; none if it is not known.
 */
version: PackageVersion | null, 
/**
 * Why the version is not known.
 */
unknown: UnknownPackage | null, 
/**
 * The version that was approved last, if another one would run.
 */
before: PackageVersion | null, 
/**
 * The registry offers other files for the version that was approved.
 */
replaced: boolean, 
/**
 * Further packages of the command line, whose versions are not pinned.
 */
unpinned: Array<string>, 
/**
 * The command line as the settings have it, without the version that was looked up.
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
 * Something that a wire can't carry.
 */
export type Loss = { 
/**
 * What, such as `imageInToolResult`.
 */
what: string, 
/**
 * What is done: `refuse`, `sendAfter`, `sayInText` or `leaveOut`.
 */
then: string, 
/**
 * What can be chosen.
 */
choices: Array<string>, };

/**
 * What is worth a second look about one thing of a server.
 */
export type Marks = { 
/**
 * Whether the user has seen its definition; none where nothing is defined.
 */
review: Standing | null, 
/**
 * Whether the server said that the list changed in which it stands, and that was not read again since. Nothing is allowed
 * without asking until then.
 */
outdated: boolean, 
/**
 * What is different from what the user saw.
 */
diff: Diff | null, 
/**
 * What else has such a name; at most ten.
 */
lookAlikes: Array<LookAlike>, 
/**
 * What in it looks made to mislead a model or to be overlooked.
 */
flags: Array<Flag>, };

/**
 * A message.
 */
export type Message = { 
/**
 * Who says it.
 */
role: Role, 
/**
 * What is said.
 */
content: Array<Content>, };

/**
 * What the user attached to a message.
 */
export type MessageAttachment = { "type": "file", 
/**
 * Its name.
 */
name: string, 
/**
 * Its media type.
 */
mimeType: string, 
/**
 * Its bytes in base64.
 */
data: string, } | { "type": "resource", 
/**
 * The server.
 */
server: string, 
/**
 * Where it is.
 */
uri: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What was in it then.
 */
contents: Array<ResourceContents>, };

/**
 * A model. What is not known is not there.
 */
export type Model = { 
/**
 * Its id, as the provider names it.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * How many tokens request and answer may have together.
 */
context: number | null, 
/**
 * How many tokens an answer may have.
 */
maxOutput: number | null, 
/**
 * What it costs.
 */
price: ModelPrice | null, 
/**
 * Whether it takes pictures.
 */
images: boolean | null, 
/**
 * Whether it takes recordings.
 */
audio: boolean | null, 
/**
 * Whether it takes files.
 */
files: boolean | null, 
/**
 * Whether it takes tools.
 */
tools: boolean | null, 
/**
 * Whether it can be told to think first.
 */
thinking: boolean | null, };

/**
 * Why a model was chosen.
 */
export type ModelChosenBy = { "is": "user" } | { "is": "setting" } | { "is": "hint", 
/**
 * The hint, in the server's words.
 */
hint: string, } | { "is": "equivalent", 
/**
 * The hint, in the server's words.
 */
hint: string, } | { "is": "priorities", 
/**
 * What matters, the most important first: `cost`, `speed`, `intelligence`.
 */
priorities: Array<string>, } | { "is": "default" } | { "is": "first" };

/**
 * Stable identifier of the cause for which there is no usable answer of a model. The page has words and a button for
 * each.
 */
export type ModelErrorCode = "noKey" | "keyUnreadable" | "wrongKey" | "forbidden" | "noCredit" | "rateLimited" | "overloaded" | "contextTooLong" | "refused" | "notFound" | "unreachable" | "silent" | "cut" | "unreadable" | "tooLarge" | "badArguments" | "cannotCarry" | "unconfirmed" | "noProvider" | "empty" | "outOfTokens" | "unfit" | "internal" | "provider";

/**
 * What a model costs, for a million tokens.
 */
export type ModelPrice = { 
/**
 * Of the request.
 */
input: number, 
/**
 * Of the answer.
 */
output: number, 
/**
 * The currency, such as `USD`.
 */
currency: string, 
/**
 * The day on which this was so, or who says so.
 */
asOf: string, };

/**
 * Why a model did not answer.
 */
export type ModelProblem = { 
/**
 * Stable identifier of the cause.
 */
code: ModelErrorCode, 
/**
 * The cause, and what to do.
 */
message: string, };

/**
 * A provider.
 */
export type ModelProvider = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * The wire it speaks.
 */
kind: ProviderKind, 
/**
 * Where its API begins.
 */
url: string, 
/**
 * After how many seconds without a byte an answer is given up, if the user chose it.
 */
silenceSeconds: number | null, 
/**
 * What its wire can't carry, and what is done with each.
 */
losses: Array<Loss>, 
/**
 * Whether it has a key for this address.
 */
hasKey: boolean, 
/**
 * Whether it runs on this computer.
 */
local: boolean, 
/**
 * Whether what is sent there, the key too, can be read on the way.
 */
readable: boolean, 
/**
 * Its models, as it listed them last.
 */
models: Array<Model>, 
/**
 * When that was, in milliseconds since 1970; none if it never did.
 */
listedAt: number | null, 
/**
 * Why it did not answer when it was asked last.
 */
problem: ModelProblem | null, };

/**
 * A model of a provider, in our world.
 */
export type ModelRef = { 
/**
 * The provider's id in the settings.
 */
provider: string, 
/**
 * The model's id, as the provider names it.
 */
model: string, };

/**
 * The providers, and what could be one.
 */
export type Models = { 
/**
 * The providers that are set up, in order.
 */
providers: Array<ModelProvider>, 
/**
 * The model that new conversations begin with.
 */
default: ModelRef | null, 
/**
 * What serves models on this computer and is not set up yet.
 */
found: Array<FoundProvider>, 
/**
 * What can be set up by a click.
 */
presets: Array<ProviderPreset>, };

/**
 * Who named a path.
 */
export type NamedBy = "command" | "server";

/**
 * A conversation to start.
 */
export type NewConversation = { 
/**
 * Its title.
 */
title: string, };

/**
 * A version that is newer than the installed one.
 */
export type NewerVersion = { 
/**
 * The version.
 */
version: string, 
/**
 * When it was published, in milliseconds since 1970.
 */
publishedAt: number | null, };

/**
 * Why a folder is not proposed.
 */
export type NotOffered = "secrets" | "too_broad" | "system" | "own" | "name";

/**
 * An empty request or response.
 */
export type Nothing = Record<symbol, never>;

/**
 * What Drawbridge says to the user in a conversation.
 */
export type Notice = { "is": "rounds", 
/**
 * How many times.
 */
rounds: number, };

/**
 * A bundle. All but the hash, the sizes and the folder is what its publisher says.
 */
export type OfferedBundle = { 
/**
 * The name of its file.
 */
file: string, 
/**
 * The SHA-256 of the file, in hexadecimal digits.
 */
sha256: string, 
/**
 * The size of the file in bytes.
 */
bytes: number, 
/**
 * The manifest's `name`, by which other versions are recognized.
 */
name: string, 
/**
 * The manifest's `display_name`.
 */
title: string | null, 
/**
 * The version, as the publisher writes it.
 */
version: string, 
/**
 * The description for people.
 */
description: string, 
/**
 * The author's name.
 */
author: string, 
/**
 * How it is signed, in words. A signature is never checked, and says nothing about safety.
 */
signature: string, 
/**
 * The folder that it is unpacked to.
 */
folder: string, 
/**
 * How many files are in it.
 */
files: number, 
/**
 * How many bytes they have when unpacked.
 */
unpackedBytes: number, 
/**
 * Sentences about the parts of the manifest that are not used.
 */
warnings: Array<string>, };

/**
 * A server whose tools a model may use.
 */
export type OfferedServer = { 
/**
 * The server.
 */
server: string, 
/**
 * Those of its tools; none stands for all that the user has reviewed.
 */
tools: Array<string> | null, 
/**
 * The hash of the server's instructions as the user saw them when they let the model have them, as data with their source
 * named; none if it does not get them. Others than these it does not get.
 */
instructions: string | null, };

/**
 * What closing the window does while servers run. Without a running server it quits.
 */
export type OnClose = "ask" | "background" | "quit";

/**
 * A version of a package.
 */
export type PackageVersion = { 
/**
 * The version; of an image its tag.
 */
version: string, 
/**
 * The hash of its files, if the registry tells one.
 */
integrity: string | null, 
/**
 * Where it comes from.
 */
source: string | null, };

/**
 * The address that a browser was sent back to at the end of a sign-in.
 */
export type PasteRedirect = { 
/**
 * The server.
 */
server: string, 
/**
 * The address, whole.
 */
url: string, };

/**
 * Where things lie.
 */
export type Paths = { 
/**
 * The settings file with the servers.
 */
config: string, 
/**
 * The folder with all else.
 */
data: string, 
/**
 * The audit log.
 */
audit: string, };

/**
 * Asks the user for a file.
 */
export type PickFile = { 
/**
 * What is offered.
 */
kind: FileKind, };

/**
 * A file the user picked.
 */
export type PickedFile = { 
/**
 * Its absolute path, or nothing when the dialog was closed.
 */
file: string | null, };

/**
 * A folder the user picked.
 */
export type PickedFolder = { 
/**
 * Its absolute path, or nothing when the dialog was closed.
 */
folder: string | null, };

/**
 * How a server answered a ping.
 */
export type PingAnswer = { 
/**
 * How long its answer took, in milliseconds.
 */
milliseconds: number, };

/**
 * A definition that the user has seen.
 */
export type PinnedDefinition = { 
/**
 * Its name.
 */
name: string, 
/**
 * Over its whole definition.
 */
hash: string, 
/**
 * When the user saw it, in milliseconds since 1970.
 */
since: number, };

/**
 * What was kept of what the user saw of a server.
 */
export type Pins = { 
/**
 * The server.
 */
server: string, 
/**
 * What it is, in words, each with what it is called: its command and program, or its address.
 */
identity: Array<[string, string]>, 
/**
 * When that was approved last, in milliseconds since 1970.
 */
identitySince: number | null, 
/**
 * Who issues the tokens for it.
 */
issuer: string | null, 
/**
 * Its tools.
 */
tools: Array<PinnedDefinition>, 
/**
 * Its prompts.
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
 * Display name.
 */
label: string, 
/**
 * Purpose of the input.
 */
description: string | null, 
/**
 * Kind of value.
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
 * A piece of a text with blanks.
 */
export type PlannedPart = { "text": string } | { "input": string };

/**
 * The command or the address of a plan.
 */
export type PlannedTarget = { "type": "stdio", 
/**
 * The program.
 */
command: string, 
/**
 * Its arguments.
 */
args: Array<Array<PlannedPart>>, 
/**
 * Variables of its environment, by name.
 */
env: { [key in string]: Array<PlannedPart> }, } | { "type": "http", 
/**
 * Its address.
 */
url: Array<PlannedPart>, 
/**
 * The transport.
 */
kind: HttpKind, 
/**
 * Headers of each request, by name.
 */
headers: { [key in string]: Array<PlannedPart> }, };

/**
 * All rules, and where they come from.
 */
export type Policy = { 
/**
 * The preset that the user chose.
 */
preset: Preset, 
/**
 * The least strict one that holds on this computer. A stricter choice of the user's counts.
 */
managedPreset: Preset, 
/**
 * Every rule, those of this computer first.
 */
rules: Array<Rule>, 
/**
 * The user's file.
 */
user: RuleFile, 
/**
 * The file for all users of this computer.
 */
managed: RuleFile, };

/**
 * Rules and approvals as text.
 */
export type PolicyText = { 
/**
 * JSON with all that stands.
 */
text: string, };

/**
 * How much is asked about where no rule says otherwise.
 */
export type Preset = "balanced" | "careful";

/**
 * A piece of the value of a variable or header.
 */
export type PreviewedPart = { "text": string } | "secret" | "kept";

/**
 * A server that would be set up. Secrets for the keychain are masked.
 */
export type PreviewedServer = { "type": "stdio", 
/**
 * The program.
 */
command: string, 
/**
 * Where that is found on this computer now; none if it is not, or is still to be unpacked.
 */
foundAt: string | null, 
/**
 * Its arguments, each as it is passed.
 */
args: Array<string>, 
/**
 * Variables set beside the allow-listed ones.
 */
env: { [key in string]: Array<PreviewedPart> }, 
/**
 * What it may reach; none if all that its user may.
 */
sandbox: Sandbox | null, } | { "type": "http", 
/**
 * Its address.
 */
url: string, 
/**
 * The transport.
 */
kind: HttpKind, 
/**
 * What is sent with each request.
 */
headers: { [key in string]: Array<PreviewedPart> }, };

/**
 * How far a call is.
 */
export type Progress = { 
/**
 * How much is done.
 */
progress: number, 
/**
 * Of how much.
 */
total: number | null, 
/**
 * What is being done.
 */
message: string | null, };

/**
 * The files with servers in a project.
 */
export type ProjectFiles = { 
/**
 * Their paths below the folder. They were not read.
 */
files: Array<string>, };

/**
 * A folder that may be a project.
 */
export type ProjectFolder = { 
/**
 * One of the folders that a server may know of.
 */
folder: string, };

/**
 * A prompt.
 */
export type Prompt = { 
/**
 * The name to get it by.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it is for.
 */
description: string | null, 
/**
 * What it wants to know.
 */
arguments: Array<PromptArgument>, 
/**
 * Pictures.
 */
icons: Array<Icon>, 
/**
 * All else in its definition.
 */
others: JsonValue | null, 
/**
 * The hash of its whole definition, to review it by.
 */
hash: string, 
/**
 * What is worth a second look about it.
 */
marks: Marks, };

/**
 * An argument of a prompt.
 */
export type PromptArgument = { 
/**
 * Its name.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it is.
 */
description: string | null, 
/**
 * Whether it must be given.
 */
required: boolean, };

/**
 * The prompt a message came from.
 */
export type PromptOrigin = { 
/**
 * The server.
 */
server: string, 
/**
 * The prompt.
 */
prompt: string, 
/**
 * Its arguments.
 */
arguments: { [key in string]: string }, };

/**
 * A prompt's messages.
 */
export type PromptResult = { 
/**
 * What it is for.
 */
description: string | null, 
/**
 * The messages.
 */
messages: Array<Message>, };

/**
 * A provider, by its id.
 */
export type ProviderId = { 
/**
 * Its id.
 */
id: string, };

/**
 * The wire that a provider speaks.
 */
export type ProviderKind = "openai" | "responses" | "anthropic" | "gemini" | "ollama";

/**
 * Providers that are set up by a click.
 */
export type ProviderPreset = { 
/**
 * The id that it proposes.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * The wire.
 */
kind: ProviderKind, 
/**
 * Where its API begins.
 */
url: string, 
/**
 * Whether it wants a key.
 */
wantsKey: boolean, 
/**
 * Where a key is made, if it is a page.
 */
keysAt: string | null, };

/**
 * What a test found. It can be shown as it is.
 */
export type ProviderTest = { 
/**
 * How many models it lists.
 */
models: number, 
/**
 * What the model said.
 */
said: string | null, 
/**
 * After how many milliseconds it began.
 */
firstMilliseconds: number | null, 
/**
 * Why it did not go well.
 */
problem: ModelProblem | null, };

/**
 * The kinds of owners of a name.
 */
export type PublisherKind = "github_account" | "domain";

/**
 * One question in the queue.
 */
export type Question = { 
/**
 * To answer it by.
 */
id: string, 
/**
 * Over the exact bytes that an approval would let cross. Any change gives another one.
 */
hash: string, 
/**
 * Who asks: the user's own name for the server.
 */
server: string, 
/**
 * How the server is reached: `stdio` or `http`.
 */
transport: string, 
/**
 * The server's command on one line, or its URL.
 */
commandLine: string, 
/**
 * When it was asked, in milliseconds since 1970.
 */
askedAt: number, 
/**
 * What led to it.
 */
why: Why, 
/**
 * How often the call that led to it has asked now, from 1. The other questions of the same call are in the queue.
 */
round: number | null, 
/**
 * What is asked.
 */
body: QuestionBody, 
/**
 * For how long an approval may hold.
 */
scopes: Array<Scope>, 
/**
 * The rule that asked, in words of the policy.
 */
rule: string, 
/**
 * What is worth a second look about what it is about.
 */
marks: Marks, 
/**
 * The call that waits for it, if it is about one.
 */
call?: string, };

/**
 * What is asked.
 */
export type QuestionBody = { "kind": "start_server", 
/**
 * The program as configured.
 */
command: string, 
/**
 * The file that will run, where it was found.
 */
resolved: string | null, 
/**
 * Every argument as it is passed.
 */
args: Array<string>, 
/**
 * The variables set for it.
 */
env: Array<[string, string]>, 
/**
 * The folder it starts in.
 */
cwd: string | null, 
/**
 * The command line that was approved before, if this one is a change of it.
 */
approvedBefore: string | null, 
/**
 * What it would reach, and what would hold it, if it has a sandbox.
 */
sandbox?: SandboxPlan, 
/**
 * The files that the approval is over; the program is the first.
 */
files?: Array<LaunchFile>, 
/**
 * The other servers that may change a file which runs.
 */
writers?: Array<FileWriter>, 
/**
 * The package that the command loads, if it is a launcher's.
 */
package?: LoadedPackage, } | { "kind": "connect_server", 
/**
 * The URL, taken apart.
 */
url: UrlParts, 
/**
 * The headers sent along, without their values.
 */
headers: Array<HttpHeader>, 
/**
 * The transport to use, if the user chose one.
 */
transportKind: HttpKind | null, 
/**
 * Whether all that is sent can be read along: it is plain http, and not to this computer.
 */
unencrypted: boolean, 
/**
 * The settings of the sign-in, all that are made; none if there are none.
 */
auth: Array<AuthSetting>, 
/**
 * True if Drawbridge would sign in by itself, without another question.
 */
unattended: boolean, 
/**
 * The address that was approved before, if this one is a change of it.
 */
approvedBefore: string | null, } | { "kind": "tool", 
/**
 * Its name.
 */
tool: string, 
/**
 * A name for people, as the server says.
 */
title: string | null, 
/**
 * What it does, as the server says.
 */
description: string | null, 
/**
 * What the server claims about its effects.
 */
claims: ToolClaims, 
/**
 * The schema of the arguments, to edit them by.
 */
inputSchema: JsonValue, 
/**
 * What would be sent.
 */
arguments: JsonValue, 
/**
 * Its size in bytes.
 */
bytes: number, 
/**
 * Whether its definition changed since it was allowed.
 */
changedSinceAllowed: boolean, 
/**
 * Its whole definition as JSON, unless the user has seen it as it is now: to allow a call is to have seen it.
 */
definition?: string, 
/**
 * Over its whole definition, by which it is reviewed.
 */
definitionHash?: string, } | { "kind": "result", 
/**
 * The tool that was called.
 */
tool: string, 
/**
 * The content that the model would read.
 */
content: Array<Content>, 
/**
 * True if the model is told that the call failed.
 */
isError: boolean, } | { "kind": "read", 
/**
 * Which of the two.
 */
what: CallKind, 
/**
 * The prompt's name, or the resource's URI.
 */
name: string, 
/**
 * The prompt's arguments, a JSON object.
 */
arguments: JsonValue, } | { "kind": "sampling", 
/**
 * Which step it is.
 */
step: SamplingStep, 
/**
 * What the server asks, as a model would get it.
 */
request: SamplingRequest, 
/**
 * What would go back; in the last step.
 */
response: SamplingResponse | null, 
/**
 * The model that answers when the request is let through; none if the user writes the answer.
 */
model: SamplingModel | null, 
/**
 * How many tokens the server wants at the most; more than the request has if it gets less.
 */
wantedTokens: number, 
/**
 * What the model's provider can't carry, and what is done about each.
 */
losses: Array<SamplingLoss>, 
/**
 * Whether the model can be asked again; only what was approved and sent to it before can.
 */
again: boolean, 
/**
 * How far the model is.
 */
run: SamplingRun, } | { "kind": "form", 
/**
 * What the server says.
 */
message: string, 
/**
 * The fields.
 */
fields: Array<FormField>, 
/**
 * Why the form can't be shown, if it can't. It can be declined.
 */
unsupported: string | null, } | { "kind": "url", 
/**
 * What the server says.
 */
message: string, 
/**
 * The URL, taken apart.
 */
url: UrlParts, } | { "kind": "roots", 
/**
 * The folders chosen so far.
 */
folders: Array<string>, } | { "kind": "sign_in", 
/**
 * The server's URL, taken apart.
 */
url: UrlParts, 
/**
 * Who would issue the token, exactly as it names itself.
 */
issuer: string, 
/**
 * The same, taken apart.
 */
issuerUrl: UrlParts, 
/**
 * For which resource the token would hold.
 */
resource: string, 
/**
 * What it would allow, all in all; none if the authorization server is to decide.
 */
scopes: Array<string>, 
/**
 * What of that is allowed already; none at a first sign-in.
 */
heldScopes: Array<string>, 
/**
 * How Drawbridge identifies itself.
 */
client: ClientIdentity, 
/**
 * The id that it then gives.
 */
clientId: string, 
/**
 * Where credentials, codes and tokens would be sent.
 */
endpoints: Array<SignInEndpoint>, 
/**
 * Where the browser would send the user back to, on this computer; none if no page is opened.
 */
redirectUri: string | null, 
/**
 * The page that would be opened, taken apart, with all that it is told but what is made for one use; none if no page
 * is opened: Drawbridge gets the token by itself.
 */
authorizationUrl: UrlParts | null, 
/**
 * True if that page belongs to another domain than the issuer.
 */
pageElsewhere: boolean, 
/**
 * Why.
 */
reason: SignInReason, } | { "kind": "client_id", 
/**
 * The server's URL, taken apart.
 */
url: UrlParts, 
/**
 * The authorization server, exactly as it names itself.
 */
issuer: string, 
/**
 * The same, taken apart.
 */
issuerUrl: UrlParts, 
/**
 * Where the browser will come back to, on this computer. It has to be registered with the id.
 */
redirectUri: string, };

/**
 * What became of a question.
 */
export type QuestionOutcome = "allowed" | "denied" | "cancelled" | "withdrawn";

/**
 * A resource to read.
 */
export type ReadResource = { 
/**
 * An id chosen by the caller.
 */
call: string, 
/**
 * The server.
 */
server: string, 
/**
 * The resource.
 */
uri: string, 
/**
 * Whether to ask the server even if what it said before is still fresh.
 */
refresh: boolean, };

/**
 * A skill to read, or a file of it.
 */
export type ReadSkill = { 
/**
 * An id chosen by the caller.
 */
call: string, 
/**
 * The name of the server that lists it.
 */
server: string, 
/**
 * The URI of the skill's `SKILL.md`.
 */
skill: string, 
/**
 * The hash of the entry that was shown. A skill that changed since is not read; without one it is read as it is now.
 */
shown: string | null, 
/**
 * The file; without one the skill's instructions are read.
 */
file: string | null, };

/**
 * Content of one server in a conversation.
 */
export type Reading = { 
/**
 * The server.
 */
server: string, 
/**
 * Which kind of content.
 */
kind: ReadingKind, 
/**
 * The tool, the prompt, or the resource's URI; its beginning, where that is long. Empty if unknown.
 */
name: string, 
/**
 * Whether the definition of the tool said, when it was called, that it reaches an open world.
 */
openWorld: boolean, };

/**
 * Kinds of content.
 */
export type ReadingKind = "tool" | "prompt" | "resource" | "unknown";

/**
 * A list to read again.
 */
export type RefreshList = { 
/**
 * The server.
 */
server: string, 
/**
 * Which list.
 */
list: ListName, };

/**
 * Where an answer of a registry is from.
 */
export type RegistryAnswer = { 
/**
 * The address of the registry.
 */
registry: string, 
/**
 * When the registry answered, in milliseconds since 1970.
 */
fetched: number, 
/**
 * True if this is a cached answer from `fetched`.
 */
fromCache: boolean, 
/**
 * The reason why the registry could not be reached, if it was asked and did not answer.
 */
offline: string | null, };

/**
 * A version of a server that a registry lists.
 */
export type RegistryListing = { 
/**
 * The name of the server in the registry, `namespace/name`.
 */
name: string, 
/**
 * A name for people, which nobody checked. It is never shown without `name`.
 */
title: string | null, 
/**
 * The publisher's description of the server.
 */
description: string | null, 
/**
 * The version of the server, as the publisher writes it.
 */
version: string, 
/**
 * The account or domain that the name belongs to.
 */
publisher: RegistryPublisher, 
/**
 * Whether it is offered.
 */
status: RegistryStatus, 
/**
 * Why it has this status.
 */
statusMessage: string | null, 
/**
 * When it was published, in milliseconds since 1970.
 */
publishedAt: number | null, 
/**
 * True if the registry holds it for the newest version.
 */
isLatest: boolean, 
/**
 * Its home page, as the publisher says.
 */
websiteUrl: string | null, 
/**
 * Where its source is, as the publisher says.
 */
repositoryUrl: string | null, };

/**
 * A page of what the registry lists, each server in its newest version.
 */
export type RegistryPage = { 
/**
 * The newest version of each server on this page.
 */
servers: Array<RegistryListing>, 
/**
 * How many entries can't be read, and are left out.
 */
unreadable: number, 
/**
 * For the next page; none if this is the last one.
 */
nextCursor: string | null, 
/**
 * The registry that answered, and the time of its answer.
 */
answer: RegistryAnswer, };

/**
 * The account or domain that a server's name belongs to. It says nothing of the code.
 */
export type RegistryPublisher = { 
/**
 * An account or a domain.
 */
kind: PublisherKind, 
/**
 * The account, or the domain.
 */
name: string, 
/**
 * True if the registry lets nobody else publish under it. Of others than the official one that is not known.
 */
checked: boolean, };

/**
 * The registry that servers are installed from now.
 */
export type RegistryReport = { 
/**
 * Its address.
 */
address: string, 
/**
 * Whether it is the official one.
 */
official: boolean, 
/**
 * Whether the environment variable `DRAWBRIDGE_REGISTRY` names it, so that the setting does not count.
 */
named: boolean, 
/**
 * The name of the header that is sent with each request. Its value never comes out of the keychain.
 */
header: string | null, };

/**
 * Words to search the registry for.
 */
export type RegistrySearch = { 
/**
 * Text to find in the names of servers, at most 200 bytes. An empty text finds all servers.
 */
text: string, 
/**
 * `next_cursor` of the page before.
 */
cursor: string | null, 
/**
 * Asks the registry even if an answer is kept that is not an hour old.
 */
refresh: boolean, };

/**
 * A server of the registry in one version, and its other versions.
 */
export type RegistryServer = { 
/**
 * The version that was asked for.
 */
listing: RegistryListing, 
/**
 * How it can be installed.
 */
choices: Array<InstallChoice>, 
/**
 * All versions, the newest first.
 */
versions: Array<RegistryVersion>, 
/**
 * Why the other versions are not known, if they are not.
 */
versionsProblem: string | null, 
/**
 * The registry that answered, and the time of its answer.
 */
answer: RegistryAnswer, };

/**
 * A server of the registry.
 */
export type RegistryServerName = { 
/**
 * `namespace/name`.
 */
name: string, 
/**
 * The version; the newest if none.
 */
version: string | null, 
/**
 * Asks the registry even if an answer is kept that is not an hour old.
 */
refresh: boolean, };

/**
 * Whether a version is offered.
 */
export type RegistryStatus = "active" | "deprecated" | "deleted" | "unknown";

/**
 * A version of a server.
 */
export type RegistryVersion = { 
/**
 * The version.
 */
version: string, 
/**
 * Whether it is offered.
 */
status: RegistryStatus, 
/**
 * Why it has this status.
 */
statusMessage: string | null, 
/**
 * When it was published, in milliseconds since 1970.
 */
publishedAt: number | null, };

/**
 * A new title.
 */
export type RenameConversation = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * Its title from now on.
 */
title: string, };

/**
 * What a model begins to answer.
 */
export type ReplyBegun = { 
/**
 * The user's message, if there is a new one.
 */
message: string | null, 
/**
 * The answer.
 */
reply: string, };

/**
 * A part of a model's answer.
 */
export type ReplyPart = { "type": "text", 
/**
 * The text, which may be Markdown.
 */
text: string, } | { "type": "thinking", 
/**
 * The text; may be empty.
 */
text: string, } | { "type": "tool_use", 
/**
 * The use's id, which the result names.
 */
id: string, 
/**
 * The tool's name, as the model knows it.
 */
key: string, 
/**
 * The server; none of Drawbridge's own tools, or of one that there is not.
 */
server: string | null, 
/**
 * The tool, as the server knows it.
 */
tool: string | null, 
/**
 * The arguments, as JSON text: it may break off while it streams.
 */
arguments: string, };

/**
 * Why a model's answer ended.
 */
export type ReplyStop = { "is": "end_turn" } | { "is": "max_tokens" } | { "is": "stop_sequence" } | { "is": "tool_use" } | { "is": "refused" } | { "is": "stopped" } | { "is": "other", 
/**
 * The word.
 */
word: string, };

/**
 * A resource.
 */
export type Resource = { 
/**
 * Where it is.
 */
uri: string, 
/**
 * Its name.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it is.
 */
description: string | null, 
/**
 * Its type, as claimed.
 */
mimeType: string | null, 
/**
 * Its size in bytes, as claimed.
 */
size: number | null, 
/**
 * Pictures.
 */
icons: Array<Icon>, };

/**
 * What is in a resource: text or bytes.
 */
export type ResourceContents = { 
/**
 * Where it is.
 */
uri: string, 
/**
 * Its type, as claimed.
 */
mimeType: string | null, 
/**
 * The text.
 */
text: string | null, 
/**
 * The bytes, in base64.
 */
blob: string | null, };

/**
 * The bounds of one server with all that it starts. A server that is over one of them is stopped.
 */
export type ResourceLimits = { 
/**
 * Processes and threads at the same time.
 */
processes: number, 
/**
 * Memory of all of its processes together, in bytes.
 */
memoryBytes: number, 
/**
 * What its own home may hold, in bytes.
 */
homeBytes: number, 
/**
 * Processor time within an hour, in seconds, of all processors together.
 */
processorSeconds: number, };

/**
 * A resource of a server.
 */
export type ResourceRef = { 
/**
 * The server.
 */
server: string, 
/**
 * The resource.
 */
uri: string, };

/**
 * What is in a resource, which may be several parts.
 */
export type ResourceResult = { 
/**
 * The parts.
 */
contents: Array<ResourceContents>, 
/**
 * Whether this was read before and kept, as the server allows.
 */
cached: boolean, 
/**
 * Until when it counts as fresh, in milliseconds since 1970, if the server says so.
 */
freshUntil: number | null, };

/**
 * A family of resources (RFC 6570).
 */
export type ResourceTemplate = { 
/**
 * The template.
 */
uriTemplate: string, 
/**
 * The variables in it, in order.
 */
variables: Array<string>, 
/**
 * Its name.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it is.
 */
description: string | null, 
/**
 * The type of what it leads to, as claimed.
 */
mimeType: string | null, 
/**
 * Pictures.
 */
icons: Array<Icon>, };

/**
 * Resources used by a sandboxed server. `beyond` is 1 for the limit that stopped it.
 */
export type ResourcesUse = { 
/**
 * Processes and threads.
 */
processes: LimitCounter, 
/**
 * Memory, in bytes.
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
 * Which results of a model's calls the user reviews before the model reads them.
 *
 * The default is `Suspicious`. It costs an honest server's user next to nothing:
 * `offers/src/review/results.rs` has the figures. A setting that is off until somebody finds it protects nobody.
 */
export type ResultReview = "off" | "suspicious" | "always";

/**
 * An answer to have once more, in a branch of its own.
 */
export type RetryReply = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The answer as it was.
 */
item: string, 
/**
 * The model that answers; none for the one that the conversation has.
 */
model?: ModelRef, };

/**
 * Definitions that the user has looked at.
 */
export type Review = { 
/**
 * The server.
 */
server: string, 
/**
 * Tools.
 */
tools: Array<SeenDefinition>, 
/**
 * Prompts.
 */
prompts: Array<SeenDefinition>, };

/**
 * Who says something.
 */
export type Role = "user" | "assistant";

/**
 * The folders a server may know of.
 */
export type RootsState = { 
/**
 * Whether the user has decided; until then the first request asks.
 */
decided: boolean, 
/**
 * Absolute paths.
 */
folders: Array<string>, 
/**
 * Those that it is told of: in a sandbox no more than it reaches.
 */
told: Array<string>, };

/**
 * A rule. All its conditions must hold for it to count.
 */
export type Rule = { 
/**
 * Its number where it comes from; empty for a new one.
 */
id: string, 
/**
 * Where it comes from.
 */
source: RuleSource, 
/**
 * What it says.
 */
effect: Effect, 
/**
 * The servers it is about, with `*` and `?`.
 */
server: string, 
/**
 * The tools it is about; none for all that crosses.
 */
tool: string | null, 
/**
 * Which way.
 */
direction: Direction, 
/**
 * Conditions on arguments.
 */
arguments: Array<ArgumentRule>, 
/**
 * A condition on what the server says of a tool.
 */
annotations: ClaimRule | null, 
/**
 * Where it allows requests for a model's answer: how much of that.
 */
sampling?: SamplingBudget, 
/**
 * For how long it holds.
 */
scope: RuleScope, 
/**
 * Until when, in milliseconds since 1970.
 */
expiresAt: number | null, 
/**
 * The user's own words for it.
 */
note: string, 
/**
 * Whether it stands for a server that the user trusts.
 */
trustedServer: boolean, 
/**
 * What the servers it is about are: a command line, program or URL, with `*` and `?`. Never of a rule that allows.
 */
identity: string | null, 
/**
 * Whether it allows what a model asks for after the words of other servers, too.
 */
afterUntrusted: boolean, };

/**
 * A file of rules.
 */
export type RuleFile = { 
/**
 * Where it is, or would be.
 */
path: string, 
/**
 * Whether it is there.
 */
exists: boolean, 
/**
 * Why it can't be used, if it can't. Then everything asks.
 */
problem: string | null, 
/**
 * When another program changed it while Drawbridge was running, in milliseconds since 1970.
 */
changed: number | null, };

/**
 * A rule, by where it comes from and its number there.
 */
export type RuleRef = { 
/**
 * Where it comes from.
 */
source: RuleSource, 
/**
 * Its number.
 */
id: string, };

/**
 * For how long a rule holds, beside its expiry.
 */
export type RuleScope = { "kind": "always" } | { "kind": "conversation", 
/**
 * The conversation.
 */
conversation: string, } | { "kind": "session" };

/**
 * Where a rule comes from.
 */
export type RuleSource = "managed" | "user" | "session";

/**
 * After which content of a server a model's call of a tool of the same server asks, even if a rule or grant allows it.
 *
 * The specification takes a tool without `openWorldHint` for one that reaches an open world. Few servers send the hint, so by that
 * nearly every local server would ask at each call, and approvals would mean nothing. A remote server reaches an open world by
 * its nature; a local tool counts if it says so. The other hints change nothing: a tool that only reads carries data out in its
 * arguments, and `openWorldHint: false` is a claim that would loosen.
 */
export type SameServer = "open_world" | "everything" | "off";

/**
 * How much of the user's models a server may use without asking.
 */
export type SamplingBudget = { 
/**
 * The most requests in an hour.
 */
requestsPerHour: number, 
/**
 * The most tokens in an hour, of requests and answers together.
 */
tokensPerHour: number, };

/**
 * The most that may be used. None is no bound.
 */
export type SamplingLimits = { 
/**
 * Requests.
 */
requests: number | null, 
/**
 * Tokens, of requests and answers together.
 */
tokens: number | null, 
/**
 * Money, in millionths of a US dollar.
 */
micros: number | null, };

/**
 * Something that a provider can't carry.
 */
export type SamplingLoss = { 
/**
 * What it is, by its stable name.
 */
what: string, 
/**
 * What is done about it: `refuse`, `sendAfter`, `sayInText` or `leaveOut`.
 */
then: string, };

/**
 * The model that answers a server's request, and why that one.
 */
export type SamplingModel = { 
/**
 * The model.
 */
model: ModelRef, 
/**
 * Its name, to show.
 */
name: string, 
/**
 * Why.
 */
by: ModelChosenBy, 
/**
 * What it costs at the most, in millionths of a US dollar, if its price is known.
 */
mostMicros: number | null, };

/**
 * How a server may use the user's models, and how much it did.
 */
export type SamplingReport = { 
/**
 * What the user set.
 */
settings: SamplingSettings, 
/**
 * What it used within the hour.
 */
withinHour: SamplingSpent, 
/**
 * What it used in all.
 */
inAll: SamplingSpent, 
/**
 * The limit that stops it now.
 */
stopped: SamplingStopped | null, 
/**
 * Whether it runs with other settings than these, and learns of them when it is started again.
 */
outdated: boolean, };

/**
 * What a server asks a model.
 */
export type SamplingRequest = { 
/**
 * The messages.
 */
messages: Array<Message>, 
/**
 * How the model should behave.
 */
systemPrompt: string | null, 
/**
 * The most tokens the answer may have.
 */
maxTokens: number, 
/**
 * How free the answer may be.
 */
temperature: number | null, 
/**
 * Where the answer should end.
 */
stopSequences: Array<string>, 
/**
 * `none`, `thisServer` or `allServers`; nothing is ever included.
 */
includeContext: string | null, 
/**
 * Models it would like, best first.
 */
modelHints: Array<string>, 
/**
 * How much cost matters, 0 to 1.
 */
costPriority: number | null, 
/**
 * How much speed matters, 0 to 1.
 */
speedPriority: number | null, 
/**
 * How much skill matters, 0 to 1.
 */
intelligencePriority: number | null, 
/**
 * The tools it brings for the model. It runs them itself.
 */
tools: Array<SamplingTool>, 
/**
 * Whether the model has to use one: `auto`, `required` or `none`.
 */
toolChoice: string | null, 
/**
 * What else it sent along, as JSON.
 */
metadata: JsonValue | null, };

/**
 * What goes back for a sampling request.
 */
export type SamplingResponse = { 
/**
 * What is said.
 */
content: Array<Content>, 
/**
 * Who wrote it: `user` when the user answers by hand.
 */
model: string, 
/**
 * Why it ended.
 */
stopReason: string | null, };

/**
 * How far a model is with its answer.
 */
export type SamplingRun = { "is": "no" } | { "is": "running", 
/**
 * What it said so far.
 */
text: string, 
/**
 * Whether it thinks first.
 */
thinking: boolean, } | { "is": "done", 
/**
 * Tokens of the request, as the provider says.
 */
inputTokens: number | null, 
/**
 * Tokens of the answer, as the provider says.
 */
outputTokens: number | null, 
/**
 * What that cost, in millionths of a US dollar, if its price is known.
 */
micros: number | null, 
/**
 * Whether it used no tool though the server wants one to be used.
 */
noToolUsed: boolean, } | { "is": "stopped" } | { "is": "failed", 
/**
 * Stable identifier of the cause.
 */
code: ModelErrorCode, 
/**
 * The cause, and what to do.
 */
message: string, };

/**
 * How a server may use the user's models.
 */
export type SamplingSettings = { 
/**
 * Whether it may ask at all.
 */
on: boolean, 
/**
 * Whether its requests may bring tools for the model.
 */
tools: boolean, 
/**
 * The most tokens of one answer.
 */
maxTokens: number, 
/**
 * The model that answers, whatever the server would like.
 */
model: ModelRef | null, 
/**
 * The most within an hour.
 */
perHour: SamplingLimits, 
/**
 * The most in all.
 */
inAll: SamplingLimits, };

/**
 * What was used.
 */
export type SamplingSpent = { 
/**
 * Requests.
 */
requests: number, 
/**
 * Tokens, of requests and answers together.
 */
tokens: number, 
/**
 * Money, in millionths of a US dollar, as far as prices are known.
 */
micros: number, };

/**
 * The steps of a sampling request.
 */
export type SamplingStep = "request" | "running" | "response";

/**
 * A limit that was reached.
 */
export type SamplingStopped = { 
/**
 * Of what: `requests`, `tokens`, `money` or `rounds`.
 */
of: string, 
/**
 * Whether it counts within an hour, and not for all time.
 */
hour: boolean, 
/**
 * How much; of money in millionths of a US dollar.
 */
most: number, };

/**
 * A tool that a server brings for a model.
 */
export type SamplingTool = { 
/**
 * Its name.
 */
name: string, 
/**
 * What it does, as the server says.
 */
description: string | null, 
/**
 * The schema of its arguments.
 */
inputSchema: JsonValue, };

/**
 * What a local server may reach.
 */
export type Sandbox = { 
/**
 * The folders. Those that are there are kept by where they really lie.
 */
folders: Array<SandboxFolder>, 
/**
 * The hosts that the sandbox lets the server connect to.
 */
network: SandboxNetwork, };

/**
 * A folder that a server may reach.
 */
export type SandboxFolder = { 
/**
 * Its absolute path.
 */
path: string, 
/**
 * What may be done there.
 */
access: FolderAccess, };

/**
 * The network access of a sandboxed server.
 */
export type SandboxNetwork = { "preset": "files_only" } | { "preset": "named_hosts", 
/**
 * Such as `example.com`, `*.example.com` or `10.0.0.7:8080`.
 */
hosts: Array<string>, } | { "preset": "full" };

/**
 * A sandbox that can be set up: what holds the server, and all that it reaches.
 */
export type SandboxPlan = { 
/**
 * What holds it: `bubblewrap`, `Landlock` or `sandbox-exec`.
 */
heldBy: string, 
/**
 * The folders that the user has named.
 */
folders: Array<SandboxFolder>, 
/**
 * What its program consists of. To be read.
 */
program: Array<string>, 
/**
 * What is the system's. To be read.
 */
system: Array<string>, 
/**
 * The server's own home, to be read and changed.
 */
home: string, 
/**
 * Folders in the others that are not reached: Drawbridge's own records and secrets.
 */
hidden?: Array<string>, 
/**
 * The hosts that the sandbox lets the server connect to.
 */
network: SandboxNetwork, 
/**
 * Resource limits; a server beyond one is stopped.
 */
limits: ResourceLimits, };

/**
 * Stable identifier of the cause for which a sandbox can't be set up. The page has words and a button for each.
 */
export type SandboxProblem = "not_whole" | "no_folder" | "leads" | "contradiction" | "exposes" | "changed" | "out_of_reach" | "not_here" | "hosts" | "no_hosts" | "no_home";

/**
 * What a server would reach if it were started now.
 */
export type SandboxReport = { 
/**
 * What it would reach; nothing if it could not be held so, or has no sandbox.
 */
plan: SandboxPlan | null, 
/**
 * Why it could not be started, in words.
 */
problem: string | null, 
/**
 * Why the sandbox can't be set up, if that is the cause.
 */
cause?: SandboxProblem, 
/**
 * Files that it needs and would not reach, in words, as far as that can be told.
 */
missing?: Array<string>, };

/**
 * Bytes that a server gave, to be saved.
 */
export type SaveMedia = { 
/**
 * What the name of the file is proposed from. Text of the server.
 */
title: string, 
/**
 * What the server says they are; empty if it does not.
 */
mimeType: string, 
/**
 * The bytes in Base64.
 */
data: string, };

/**
 * A file that was written.
 */
export type SavedFile = { 
/**
 * Its path, or nothing when the user closed the dialog.
 */
path: string | null, };

/**
 * For how long an approval holds.
 */
export type Scope = "once" | "conversation" | "session" | "always";

/**
 * What to search all conversations for.
 */
export type SearchHistory = { 
/**
 * Words; all must be in an item, and the last may be the beginning of one. Chinese, Japanese and Korean are found by any
 * part.
 */
text: string, 
/**
 * At most so many.
 */
limit: number, 
/**
 * Only those older than this one: the `number` of an earlier find.
 */
before?: number, };

/**
 * What became of the secrets of a server that was added or changed.
 */
export type SecretsKept = { 
/**
 * Why secrets are kept only until Drawbridge is closed, if they are: there is no keychain, or it is locked.
 */
onlyThisRun: string | null, };

/**
 * Whether secrets outlast the program. In words, with what can be done.
 */
export type SecretsStatus = { "is": "keychain" } | { "is": "locked", 
/**
 * What it said.
 */
cause: string, } | { "is": "missing", 
/**
 * What was found instead.
 */
cause: string, } | { "is": "broken", 
/**
 * What is broken, and what to do.
 */
cause: string, };

/**
 * A definition as it was shown.
 */
export type SeenDefinition = { 
/**
 * Its name.
 */
name: string, 
/**
 * The hash that was shown with it.
 */
hash: string, };

/**
 * A message for the model of a conversation.
 */
export type SendMessage = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * What the user writes; may be empty if something is attached.
 */
text: string, 
/**
 * What is attached.
 */
attachments: Array<MessageAttachment>, 
/**
 * The model that answers from now on; none for the one that the conversation has.
 */
model?: ModelRef, 
/**
 * The item that the message follows; none for the head.
 */
parent?: string, };

/**
 * A server as the user sees it.
 */
export type Server = { 
/**
 * The user's own name for it; unique.
 */
name: string, 
/**
 * How it is reached.
 */
config: ServerConfig, 
/**
 * Program and arguments on one line, quoted where needed; of a remote server its URL.
 */
commandLine: string, 
/**
 * A remote server's URL taken apart.
 */
url: UrlParts | null, 
/**
 * How messages travel: `stdio`, `streamable-http` or `http-sse`; `http` until that is found out.
 */
transport: string, 
/**
 * How it is.
 */
state: ServerState, 
/**
 * Since when, in milliseconds since 1970.
 */
since: number, 
/**
 * Whether exactly this command or address was approved.
 */
approved: boolean, 
/**
 * The revision in use once ready.
 */
revision: string | null, 
/**
 * How the revision, and the transport of a remote server, were found.
 */
foundBy: string | null, 
/**
 * What the server says about itself; nothing of it is checked.
 */
claims: ServerClaims | null, 
/**
 * What the server says it can do, as the protocol names it, such as `tools.listChanged`.
 */
capabilities: Array<string>, 
/**
 * What the server wants a model to know. Untrusted.
 */
instructions: string | null, 
/**
 * How much it offers.
 */
counts: Counts, 
/**
 * What of it the user has not reviewed as it is now, if there is any.
 */
unreviewed?: Unreviewed, 
/**
 * The folders it may know of.
 */
roots: RootsState, 
/**
 * The resources watched for changes.
 */
subscriptions: Array<string>, 
/**
 * Why changes are not told at the moment, if they are not. It is asked for them again.
 */
subscriptionsLost: string | null, 
/**
 * The level from which it sends log messages, once set.
 */
logLevel: string | null, 
/**
 * Whether its questions are refused unseen.
 */
muted: boolean, 
/**
 * Whether it is trusted with calls of its tools.
 */
trust: Trust, 
/**
 * How its content flows on.
 */
flow: DataFlow, 
/**
 * Until when, if only for a while since the user refused three of its questions in a row; in milliseconds since 1970.
 */
mutedUntil: number | null, 
/**
 * How many of its questions were refused unseen, because they were too many or it is muted, since the user last denied all.
 */
refusedQuestions: number, 
/**
 * What is worth a second look about what it says of itself.
 */
marks: Marks, 
/**
 * Process id while it runs.
 */
pid: number | null, 
/**
 * What holds it while it runs, if it has a sandbox: `bubblewrap`, `Landlock` or `sandbox-exec`.
 */
heldBy?: string, 
/**
 * Where it was installed from, if it was from a registry or a bundle.
 */
installed?: Installed, };

/**
 * What a server says about itself.
 */
export type ServerClaims = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its title.
 */
title: string | null, 
/**
 * Its version.
 */
version: string, 
/**
 * What it is.
 */
description: string | null, 
/**
 * Its website.
 */
websiteUrl: string | null, };

/**
 * How a server is reached.
 */
export type ServerConfig = { "type": "stdio", 
/**
 * The program, a name to be found or a path.
 */
command: string, 
/**
 * Its arguments, each as it is passed.
 */
args: Array<string>, 
/**
 * Variables set beside the allow-listed ones.
 */
env: { [key in string]: string }, 
/**
 * Those variables whose values lie, or are to be put, in the system's keychain and not in the settings file. Of a
 * server that is set up, `env` has `${secret:NAME}` for them; to send that back keeps what is set.
 */
secretEnv?: Array<string>, 
/**
 * The folder it starts in.
 */
cwd: string | null, 
/**
 * What it may reach; none if all that its user may.
 */
sandbox?: Sandbox, 
/**
 * The protocol revision to speak and no other, such as `2025-06-18`; none to find out.
 */
revision: string | null, } | { "type": "http", 
/**
 * Where it is.
 */
url: string, 
/**
 * What is sent with each request.
 */
headers: Array<HttpHeader>, 
/**
 * The transport to use and no other; none to find out.
 */
kind: HttpKind | null, 
/**
 * How to sign in, where that is not, or not only, to be found out.
 */
auth: AuthSettings | null, 
/**
 * The protocol revision to speak and no other; none to find out.
 */
revision: string | null, };

/**
 * What a server wants a model to know.
 */
export type ServerInstructions = { 
/**
 * The server.
 */
server: string, 
/**
 * As a model would get it.
 */
text: string, 
/**
 * By which the user says that a model gets it, in `instructions`.
 */
hash: string, };

/**
 * A server by name.
 */
export type ServerName = { 
/**
 * The user's name for it.
 */
server: string, };

/**
 * Where a server was installed from.
 */
export type ServerOrigin = { "from": "registry", 
/**
 * The address of the registry.
 */
registry: string, 
/**
 * `namespace/name`.
 */
name: string, 
/**
 * The exact version.
 */
version: string, 
/**
 * The package or remote.
 */
target: InstallTarget, 
/**
 * Its files, if the package is a bundle.
 */
files: BundleFiles | null, } | { "from": "bundle", 
/**
 * The name in its manifest.
 */
name: string, 
/**
 * The version in its manifest.
 */
version: string, 
/**
 * Its files.
 */
files: BundleFiles, };

/**
 * How a server is.
 */
export type ServerState = { "is": "stopped" } | { "is": "awaiting_approval" } | { "is": "starting" } | { "is": "ready" } | { "is": "stopping" } | { "is": "reconnecting", 
/**
 * The number of the next attempt, from 1.
 */
attempt: number, 
/**
 * When it is made, in milliseconds since 1970.
 */
at: number, 
/**
 * Why it is not running.
 */
cause: string, } | { "is": "failed", 
/**
 * What to act on.
 */
reason: FailureReason, 
/**
 * The cause in words.
 */
message: string, 
/**
 * The last lines it wrote to standard error.
 */
stderr: Array<string>, 
/**
 * Where the command was looked for, if it was not found.
 */
lookedIn: Array<string>, 
/**
 * What to do about it, if known.
 */
hint: string | null, 
/**
 * What it may have missed in its sandbox.
 */
blocked?: Array<Blocked>, 
/**
 * Why its sandbox can't be set up, if that is the cause.
 */
sandbox?: SandboxProblem, } | { "is": "needs_sign_in", 
/**
 * Why, in words.
 */
cause: string, 
/**
 * Whether a sign-in is under way.
 */
signingIn: boolean, };

/**
 * Settings for a conversation.
 */
export type SetConversation = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * All of them.
 */
settings: ConversationSettings, };

/**
 * What is set for a server.
 */
export type SetDataFlow = { 
/**
 * The server.
 */
server: string, 
/**
 * The new settings; a request that leaves out a member is refused.
 */
flow: DataFlow, };

/**
 * A draft for a conversation.
 */
export type SetDraft = { 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The text in the composer; empty if there is none.
 */
text: string, };

/**
 * A log level for a server.
 */
export type SetLogLevel = { 
/**
 * The server.
 */
server: string, 
/**
 * `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
 */
level: string, };

/**
 * A preset to take.
 */
export type SetPreset = { 
/**
 * The preset.
 */
preset: Preset, };

/**
 * What the user says of a provider.
 */
export type SetProvider = { 
/**
 * Its id: letters, digits, `-`, `_` and `.`.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * The wire.
 */
kind: ProviderKind, 
/**
 * Where its API begins.
 */
url: string, 
/**
 * After how many seconds without a byte an answer is given up; none for the usual.
 */
silenceSeconds?: number | null, 
/**
 * What is done with what its wire can't carry, where the user chose it.
 */
conversions: Array<ConversionChoice>, };

/**
 * A provider's key, for the address that it has now.
 */
export type SetProviderKey = { 
/**
 * The provider.
 */
id: string, 
/**
 * The key; empty to forget it.
 */
key: string, };

/**
 * The registry to use from now on.
 */
export type SetRegistry = { 
/**
 * Its address: https, or http on this computer; none for the official one.
 */
address: string | null, 
/**
 * The header that is sent with each request, if any.
 */
header: SetRegistryHeader | null, };

/**
 * A header of requests to a registry.
 */
export type SetRegistryHeader = { 
/**
 * Its name, such as `Authorization`.
 */
name: string, 
/**
 * Its whole value, for the keychain; none to keep the one that is there for this address.
 */
value: string | null, };

/**
 * Folders for a server.
 */
export type SetRoots = { 
/**
 * The server.
 */
server: string, 
/**
 * Absolute paths.
 */
folders: Array<string>, };

/**
 * How a server may use the user's models from now on.
 */
export type SetSampling = { 
/**
 * The server.
 */
server: string, 
/**
 * As it should be.
 */
settings: SamplingSettings, };

/**
 * A secret of a header, or of a local server's variable, to be entered again.
 */
export type SetSecret = { 
/**
 * The server.
 */
server: string, 
/**
 * The name of the header, or of the variable; or, of what signing in needs, the name of the secret itself.
 */
header: string, 
/**
 * The new value.
 */
value: string, };

/**
 * Trust in a server, or the end of it.
 */
export type SetTrust = { 
/**
 * The server.
 */
server: string, 
/**
 * For how long.
 */
trust: Trust, };

/**
 * The app's own settings.
 */
export type Settings = { 
/**
 * Light or dark.
 */
theme: Theme, 
/**
 * The language.
 */
language: Language, 
/**
 * Whether the welcome was closed.
 */
welcomeDone: boolean, 
/**
 * Whether the system announces a question while the window is in the background.
 */
announce: boolean, 
/**
 * How much each server gets; none for what Drawbridge has set.
 */
limits?: Limits, 
/**
 * For how many days decisions stay in the audit log; 0 for ever.
 */
auditDays: number, 
/**
 * How many megabytes the audit log may have; 0 for no bound.
 */
auditMegabytes: number, 
/**
 * Whether the audit log has what crossed, and not only its hash.
 */
auditContents: boolean, 
/**
 * How much of a conversation a model gets; none for what Drawbridge has set.
 */
chat?: ChatBounds, 
/**
 * What closing the window does while servers run.
 */
onClose: OnClose, 
/**
 * Whether the app looks for newer versions of itself without being told to.
 */
checkUpdates: boolean, 
/**
 * How large the page is drawn, in percent; from `LEAST_ZOOM` to `MOST_ZOOM`.
 */
zoom: number, };

/**
 * An address that gets something of a sign-in.
 */
export type SignInEndpoint = { 
/**
 * The use of it.
 */
purpose: EndpointUse, 
/**
 * The address, taken apart.
 */
url: UrlParts, 
/**
 * The authorization server whose endpoint it is said to be.
 */
issuer: string, 
/**
 * True if it belongs to another domain than that.
 */
elsewhere: boolean, };

/**
 * Stable identifier of the cause for which a sign-in did not come to its end. The page has words and a button for each.
 */
export type SignInFailure = "declined" | "cancelled" | "timed_out" | "unreachable" | "bad_response" | "unsafe_url" | "resource_mismatch" | "issuer_mismatch" | "no_pkce" | "no_authorization_server" | "no_client_id" | "other_issuer" | "refused" | "browser" | "callback" | "too_many_requests" | "keychain_locked" | "keychain_missing" | "storage" | "key" | "no_proof" | "unbound" | "not_approved" | "sign_in_needed" | "not_prepared";

/**
 * What a sign-in is doing.
 */
export type SignInPhase = "discovering" | "awaiting_consent" | "awaiting_browser" | "exchanging";

/**
 * A sign-in that is under way.
 */
export type SignInProgress = { 
/**
 * What it is doing.
 */
phase: SignInPhase, 
/**
 * Why it was begun.
 */
reason: SignInReason, 
/**
 * When it was begun, in milliseconds since 1970.
 */
since: number, 
/**
 * When it ends by itself, in milliseconds since 1970, while it waits for the browser.
 */
endsAt: number | null, 
/**
 * The page that the browser was sent to, to be opened elsewhere, while it waits for the browser.
 */
authorizationUrl: string | null, 
/**
 * Where the browser is sent back to; what is pasted begins with it.
 */
redirectUri: string | null, 
/**
 * Why the browser did not open, if it did not. The page can be opened by hand.
 */
browserProblem: string | null, };

/**
 * Why a sign-in was begun.
 */
export type SignInReason = { "is": "sign_in" } | { "is": "step_up", 
/**
 * For this method of the protocol.
 */
operation: string, } | { "is": "again", 
/**
 * Why, in words.
 */
cause: string, } | { "is": "change_account" };

/**
 * One step of a sign-in: a request with its answer, or what was concluded. What is secret in it reads `[redacted]`.
 */
export type SignInStep = { 
/**
 * When it began, in milliseconds since 1970.
 */
at: number, 
/**
 * How long it took, in milliseconds.
 */
took: number, 
/**
 * What it was for, in words.
 */
what: string, 
/**
 * What was sent: method, URL, headers, body.
 */
request: string | null, 
/**
 * What came back: status, headers, body.
 */
answer: string | null, 
/**
 * What was concluded, in words.
 */
conclusion: string, 
/**
 * Whether it is where the sign-in broke off.
 */
failed: boolean, };

/**
 * What became of a sign-out. The tokens are forgotten here in any case.
 */
export type SignedOut = { "revoked": "yes" } | { "revoked": "not_offered" } | { "revoked": "failed", 
/**
 * Why, in words.
 */
cause: string, } | { "revoked": "nobody_signed_in" };

/**
 * Instructions for a model, as a server lists them.
 */
export type Skill = { 
/**
 * Where its `SKILL.md` is; unique on its server, which its name may not be.
 */
uri: string, 
/**
 * The name that the server gives; two skills may share one.
 */
name: string, 
/**
 * The purpose and the occasion, as the server says.
 */
description: string, 
/**
 * Its files with `SKILL.md`; none where the server makes them when they are read, so that nothing can be compared.
 */
files: Array<SkillFile> | null, 
/**
 * All else that its author wrote above the instructions.
 */
others: JsonValue | null, 
/**
 * The hash of the entry, to read exactly what was shown.
 */
hash: string, };

/**
 * A file of a skill, which is what the server listed.
 */
export type SkillContents = { 
/**
 * The skill as the server lists it now.
 */
skill: Skill, 
/**
 * The text or the bytes, checked against what the server lists.
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
 * The skills of a server.
 */
export type Skills = { 
/**
 * The name of the server that lists them.
 */
server: string, 
/**
 * Those that can be read.
 */
skills: Array<Skill>, 
/**
 * Where the list is not whole, and why.
 */
notes: Array<string>, };

/**
 * Everything the page shows at its start.
 */
export type Snapshot = { 
/**
 * The number the next event will have.
 */
nextEvent: number, 
/**
 * All servers, in the order of the settings file.
 */
servers: Array<Server>, 
/**
 * The queue, the question in front first.
 */
questions: Array<Question>, 
/**
 * The calls under way.
 */
calls: Array<Call>, 
/**
 * The conversations, the latest first.
 */
conversations: Array<ConversationSummary>, 
/**
 * The app's settings.
 */
settings: Settings, 
/**
 * What is wrong with the settings file, if anything.
 */
configProblem: ConfigProblem | null, 
/**
 * Where things lie.
 */
paths: Paths, 
/**
 * Drawbridge's own version.
 */
version: string, };

/**
 * Whether the user has seen the definition of a tool as it is now.
 */
export type Standing = "reviewed" | "new" | "changed";

/**
 * What can be wrong with the log.
 */
export type Tampered = "changed" | "missing" | "cut_off" | "seal_broken" | "seal_missing" | "checkpoint_broken" | "noted" | "unreadable";

/**
 * A call that the server does as a task. All in it is the server's claim.
 */
export type Task = { 
/**
 * The server's name for it.
 */
id: string, 
/**
 * Where it is.
 */
status: TaskStatus, 
/**
 * What the server says about that.
 */
message: string | null, 
/**
 * When it began, in ISO 8601.
 */
createdAt: string, 
/**
 * When it last changed, in ISO 8601.
 */
updatedAt: string, };

/**
 * Where a task is.
 */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/**
 * What to try.
 */
export type TestProvider = { 
/**
 * The provider.
 */
id: string, 
/**
 * The model that is asked to say something; none if only the list is read.
 */
model?: string | null, };

/**
 * The format of a text field.
 */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/**
 * Light or dark.
 */
export type Theme = "system" | "light" | "dark";

/**
 * Tokens that were used. What a provider does not say is none.
 */
export type TokenUse = { 
/**
 * Of the request, those of the provider's cache included.
 */
input?: number | null, 
/**
 * Of the answer, thinking included.
 */
output?: number | null, 
/**
 * Of the request, those that came from the provider's cache.
 */
cachedInput?: number | null, 
/**
 * Of the request, those that were written to the provider's cache, where that costs more.
 */
writtenInput?: number | null, 
/**
 * Of the answer, those of thinking.
 */
thinking?: number | null, };

/**
 * Where tokens are kept.
 */
export type TokensKept = { "where": "keychain" } | { "where": "this_run", 
/**
 * Why they are not kept longer.
 */
cause: string, };

/**
 * A tool.
 */
export type Tool = { 
/**
 * The name to call it by.
 */
name: string, 
/**
 * A name for people.
 */
title: string | null, 
/**
 * What it does, as the server says.
 */
description: string | null, 
/**
 * The JSON Schema of its arguments.
 */
inputSchema: JsonValue, 
/**
 * The JSON Schema of its structured result.
 */
outputSchema: JsonValue | null, 
/**
 * What the server claims about its effects.
 */
claims: ToolClaims, 
/**
 * Pictures.
 */
icons: Array<Icon>, 
/**
 * Whether calls are allowed without asking, by a standing grant.
 */
allowed: boolean, 
/**
 * All else in its definition, which a model may see as well.
 */
others: JsonValue | null, 
/**
 * The hash of its whole definition, to review it by.
 */
hash: string, 
/**
 * What is worth a second look about it.
 */
marks: Marks, };

/**
 * What a server claims about a tool's effects. Never a reason to be less careful.
 */
export type ToolClaims = { 
/**
 * It changes nothing.
 */
readOnly: boolean | null, 
/**
 * It may destroy something.
 */
destructive: boolean | null, 
/**
 * A second equal call changes nothing more.
 */
idempotent: boolean | null, 
/**
 * It reaches out into the world.
 */
openWorld: boolean | null, 
/**
 * `true` if the definition requires the user's consent for each call.
 */
asksEachTime: boolean, };

/**
 * What a tool gave back.
 */
export type ToolResult = { 
/**
 * What it says.
 */
content: Array<Content>, 
/**
 * What it says as data. A server's `null` counts as none, as the history can't tell them apart.
 */
structured: JsonValue | null, 
/**
 * What is wrong with the data by the tool's own output schema.
 */
structuredProblem: string | null, 
/**
 * Whether the tool says that it failed.
 */
isError: boolean, 
/**
 * The arguments as they were sent, after the user's changes.
 */
arguments: JsonValue, };

/**
 * Whether a tool can be offered.
 */
export type ToolState = "offered" | "off" | "new" | "changed" | "unusable" | "not_ready";

/**
 * Where a model asked for a call.
 */
export type ToolUsed = { 
/**
 * The item with the model's answer.
 */
reply: string, 
/**
 * The use's id in it.
 */
id: string, 
/**
 * The tool's name, as the model knows it.
 */
key: string, };

/**
 * For how long a server is trusted.
 */
export type Trust = "no" | "run" | "always";

/**
 * Why it is not known which version of a package would run.
 */
export type UnknownPackage = { 
/**
 * The reason.
 */
reason: UnknownReason, 
/**
 * Its subject, such as an option or a program's own words; may be empty.
 */
detail: string, };

/**
 * Why a version is not known.
 */
export type UnknownReason = "shell_line" | "wrapped" | "option" | "specifier" | "several" | "no_package" | "launcher" | "variable" | "project_settings" | "local_copy" | "off_search_path" | "no_client" | "no_network" | "timed_out" | "failed";

/**
 * How many tools and prompts of a server the user has not reviewed as they are now.
 */
export type Unreviewed = { 
/**
 * Those never seen.
 */
new: number, 
/**
 * Those that are others than when they were seen.
 */
changed: number, };

/**
 * A changed server.
 */
export type UpdateServer = { 
/**
 * Its name until now.
 */
server: string, 
/**
 * Its name from now on.
 */
name: string, 
/**
 * How it is reached from now on.
 */
config: ServerConfig, };

/**
 * Another version of an installed server, as it could be put in its place. Nothing is unpacked, stopped or approved.
 */
export type UpgradeOffer = { 
/**
 * The version that is offered.
 */
offer: InstallOffer, 
/**
 * Where the installed one is from.
 */
installed: ServerOrigin, 
/**
 * The inputs that keep what they are now unless another value is entered, by key, with their values. Secrets
 * and values of headers have none here.
 */
kept: { [key in string]: Array<string> | null }, 
/**
 * True if the server would be stopped.
 */
running: boolean, };

/**
 * Another version of an installed server.
 */
export type UpgradeSource = { 
/**
 * The user's name for the installed server.
 */
server: string, 
/**
 * Where the other version is; none for the newest that the registry lists of what was installed.
 */
source: InstallSource | null, };

/**
 * A URL in three parts, and what is strange about it.
 */
export type UrlParts = { 
/**
 * The URL as it would be opened.
 */
url: string, 
/**
 * All before the registrable domain.
 */
before: string, 
/**
 * The registrable domain, or the host where there is none.
 */
domain: string, 
/**
 * All after the host.
 */
after: string, 
/**
 * The host in ASCII, if it was written otherwise.
 */
asciiHost: string | null, 
/**
 * What to look at.
 */
warnings: Array<UrlWarning>, 
/**
 * Whether it may be opened.
 */
openable: boolean, };

/**
 * A URL.
 */
export type UrlText = { 
/**
 * The URL.
 */
url: string, };

/**
 * What is strange about a URL.
 */
export type UrlWarning = "not_encrypted" | "user_information" | "internationalized" | "ip_address" | "local" | "not_allowed";

/**
 * What the registry says of an installed server by now.
 */
export type VersionReport = { 
/**
 * The user's name for it.
 */
server: string, 
/**
 * Its name in the registry.
 */
registryName: string, 
/**
 * The installed version.
 */
version: string, 
/**
 * Whether that is still offered.
 */
status: RegistryStatus, 
/**
 * Why it has this status.
 */
statusMessage: string | null, 
/**
 * A newer version.
 */
newer: NewerVersion | null, 
/**
 * Why nothing newer is known, if it could not be looked for.
 */
problem: string | null, };

/**
 * What the registry says of installed servers by now.
 */
export type VersionReports = { 
/**
 * One for each server that was installed from a registry, in the order of the settings file.
 */
servers: Array<VersionReport>, };

/**
 * What led to a question.
 */
export type Why = { "by": "user", 
/**
 * In this conversation.
 */
conversation: string | null, } | { "by": "model", 
/**
 * The conversation.
 */
conversation: string, 
/**
 * The other servers whose words it has read there. None of them is trusted.
 */
after: Array<string>, 
/**
 * What it has read there of this server, after which its calls of the server ask.
 */
read?: Array<Reading>, } | { "by": "call", 
/**
 * The id its caller chose.
 */
call: string, 
/**
 * Whether it calls a tool, gets a prompt or reads a resource.
 */
kind: CallKind, 
/**
 * The tool, the prompt or the URI.
 */
name: string, } | { "by": "server" } | { "by": "ended", 
/**
 * Why it ended.
 */
cause: string, };
