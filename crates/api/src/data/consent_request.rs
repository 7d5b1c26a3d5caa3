//! Consent requests and the user's decisions on them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{
    ApprovalScope, AuthSetting, CallKind, ClientIdentity, ConsentRequestOrigin, Content, EarlierApproval, FormField,
    HttpHeader, HttpKind, LaunchFile, LaunchFileWriteAccess, LoadedPackage, ModelRef, ReviewMarks, SamplingLoss,
    SamplingModel, SamplingRequest, SamplingResponse, SamplingRunState, SandboxPlan, SignInEndpoint, SignInReason,
    StricterReason, ToolClaims, UrlParts,
};

/// A pending request for the user's consent to an act.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRequest {
    /// Identifier of the consent request, unique while Drawbridge runs.
    pub id: String,
    /// Hash of the exact payload. An approval is bound to the hash, which changes with any change of the payload.
    pub hash: String,
    /// Name of the server that the payload is from or for, as in the settings.
    pub server: String,
    /// Transport of the server: `stdio` or `http`.
    pub transport: String,
    /// Command of the server on one line, or its URL.
    pub command_line: String,
    /// Time of the request, in milliseconds since 1970.
    pub asked_at: u64,
    /// Origin of the request: an action of the user, a model, a call, or the server.
    pub origin: ConsentRequestOrigin,
    /// Number of the round of input requests in which the server sent this request during a call, from 1. Several
    /// requests of one round have the same number. `None` if no call led to the request.
    pub round: Option<u32>,
    /// Subject of the request, with its payload.
    pub body: ConsentRequestBody,
    /// Scopes of an approval among which the user may choose.
    pub scopes: Vec<ApprovalScope>,
    /// Stable identifier of the reason why consent is required.
    pub reason: String,
    /// Category of `reason` if no rule or grant can override it, so that each such act requires its own decision.
    /// `None` if a rule or grant can allow such acts without consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stricter_reason: Option<StricterReason>,
    /// Review state of the tool, prompt or result, and warnings about it.
    pub marks: ReviewMarks,
    /// Identifier of the call that waits for the decision, or `None` if no call depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<String>,
}

/// Subject of a consent request, with the payload that an approval allows to send.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConsentRequestBody {
    /// Start of a local server with this exact command.
    StartServer {
        /// Program, as written in the settings.
        command: String,
        /// Path of the executable on this computer, or `None` if it was not found.
        resolved: Option<String>,
        /// Arguments as passed to the program.
        args: Vec<String>,
        /// Environment variables that are set for the server.
        env: Vec<(String, String)>,
        /// Folder in which the server starts: the configured one, or else the home of its sandbox or of the user.
        cwd: String,
        /// Earlier approval that doesn't cover this start, or `None` if no approval of the command is stored.
        earlier_approval: Option<EarlierApproval>,
        /// Sandbox with all files and hosts that the server could access, or `None` without a sandbox.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxPlan>,
        /// Files that the approval is bound to, starting with the program.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<LaunchFile>>", optional)]
        files: Vec<LaunchFile>,
        /// Other servers that could modify one of the files, because their sandbox lets them write to it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<LaunchFileWriteAccess>>", optional)]
        writers: Vec<LaunchFileWriteAccess>,
        /// Package that the command would load, if the program is a launcher such as `npx`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        package: Option<LoadedPackage>,
    },
    /// Connection to a remote server at this exact URL.
    ConnectServer {
        /// URL of the server, parsed into its parts.
        url: UrlParts,
        /// Headers of each request, without their values.
        headers: Vec<HttpHeader>,
        /// HTTP transport that the user selected, or `None` if it is detected.
        transport_kind: Option<HttpKind>,
        /// `true` if the connection is unencrypted and the server is not on this computer.
        unencrypted: bool,
        /// Sign-in settings that the user configured for the server.
        auth: Vec<AuthSetting>,
        /// `true` if the settings allow Drawbridge to sign in without a further consent request.
        unattended: bool,
        /// Earlier approval that doesn't cover this connection, or `None` if no approval of the address is stored.
        earlier_approval: Option<EarlierApproval>,
    },
    /// Tool call by the user or a model.
    Tool {
        /// Name of the tool, as its server or app lists it.
        tool: String,
        /// Name, on the server, of the tool whose shown MCP app provides the called tool and receives the call. `None`
        /// if the server itself does both.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        app: Option<String>,
        /// Display title that the server provides. Untrusted text.
        title: Option<String>,
        /// Description that the server provides. Untrusted text.
        description: Option<String>,
        /// Claims of the server about the tool's effects.
        claims: ToolClaims,
        /// JSON Schema of the arguments, for an editor.
        input_schema: Value,
        /// Arguments of the tool call that would be sent to the server.
        arguments: Value,
        /// Size of the payload (the tool call that would be sent) in bytes.
        bytes: u64,
        /// `true` if the tool's definition or its server changed after the user reviewed the tool or allowed its calls,
        /// or if the definition changed while the request was pending.
        changed_since_allowed: bool,
        /// Tools that can be allowed together because their server declares that they only read, including this one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        read_only_tools: Vec<String>,
        /// Whole definition as JSON, or `None` if the user has reviewed it. Approving the call also records a review of
        /// the definition.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition: Option<String>,
        /// Whole definition as JSON if the user has reviewed it and it is unchanged, otherwise `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reviewed_definition: Option<String>,
        /// Hash of the tool's whole definition alone, which a review refers to. Grants are bound to another hash,
        /// `grant_hash`, which also covers the configuration of the server.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition_hash: Option<String>,
    },
    /// Release of a tool's result to the model that called the tool. [`ConsentRequest::marks`] contains warnings about
    /// misleading content.
    Result {
        /// Name of the called tool.
        tool: String,
        /// Name, on the server, of the tool whose shown MCP app provides the called tool. `None` if the server itself
        /// provides it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        app: Option<String>,
        /// Content that the model would read.
        content: Vec<Content>,
        /// `true` if the result is reported to the model as an error.
        is_error: bool,
    },
    /// Request for the messages of a prompt or the contents of a resource.
    Read {
        /// Kind of the request: for a prompt or for a resource.
        call_kind: CallKind,
        /// Name of the prompt, or URI of the resource.
        name: String,
        /// Arguments of the prompt as a JSON object.
        arguments: Value,
    },
    /// Sampling request of a server. The user first approves the request to the model, and then the response to the
    /// server.
    Sampling {
        /// Step of the sampling request that the user decides on.
        step: SamplingStep,
        /// Request, as a model would receive it.
        request: SamplingRequest,
        /// Response that would be sent to the server, or `None` until a model or the user has written one.
        response: Option<SamplingResponse>,
        /// Model that generates the response after the approval, or `None` if the user writes it.
        model: Option<SamplingModel>,
        /// Maximum number of tokens that the server requested. A limit may reduce the maximum in `request`.
        requested_tokens: u64,
        /// Content that the provider's API can't represent, and how each kind is converted.
        losses: Vec<SamplingLoss>,
        /// `true` if the user can let the model respond again, because the same request was already approved and sent
        /// to it.
        can_rerun: bool,
        /// Progress of the model that generates the response.
        run: SamplingRunState,
    },
    /// Form to fill in for the server (elicitation).
    Form {
        /// Message of the server to the user. Untrusted text.
        message: String,
        /// Fields that the user fills in.
        fields: Vec<FormField>,
        /// Reason why the form can't be displayed and can only be declined, or `None` if it can be displayed.
        unsupported: Option<String>,
    },
    /// Request of a server to open a URL in the browser (elicitation in URL mode).
    Url {
        /// Message of the server to the user. Untrusted text.
        message: String,
        /// URL that the server wants to open, parsed into its parts.
        url: UrlParts,
    },
    /// Request of a server for the folders that it may use (roots), which the user selects in the decision.
    Roots,
    /// Sign-in to a remote server.
    SignIn {
        /// URL of the server, parsed into its parts.
        url: UrlParts,
        /// Issuer identifier of the authorization server, exactly as in its metadata.
        issuer: String,
        /// Issuer identifier, parsed into the parts of a URL.
        issuer_url: UrlParts,
        /// Resource that the token would be valid for.
        resource: String,
        /// All scopes to request. If empty, the authorization server selects them.
        scopes: Vec<String>,
        /// Scopes in `scopes` that the current token already has. Empty at the first sign-in.
        held_scopes: Vec<String>,
        /// Origin of the client identifier that Drawbridge uses.
        client: ClientIdentity,
        /// Client identifier that Drawbridge sends to the authorization server.
        client_id: String,
        /// Endpoints that would receive credentials, authorization codes or tokens.
        endpoints: Vec<SignInEndpoint>,
        /// Redirect URI on this computer, or `None` if no browser is opened.
        redirect_uri: Option<String>,
        /// URL of the authorization request, parsed into its parts, without the single-use parameters. `None` if no
        /// browser is opened because Drawbridge obtains the token directly.
        authorization_url: Option<UrlParts>,
        /// `true` if the authorization endpoint is on another domain than the issuer.
        is_page_on_other_domain: bool,
        /// Reason why the sign-in was started.
        reason: SignInReason,
    },
    /// Request for a client identifier that the user enters, because no other kind of client registration is possible.
    ClientId {
        /// URL of the server, parsed into its parts.
        url: UrlParts,
        /// Issuer of the authorization server, exactly as in its metadata.
        issuer: String,
        /// Issuer identifier, parsed into the parts of a URL.
        issuer_url: UrlParts,
        /// Redirect URI on this computer, to be registered for the client.
        redirect_uri: String,
    },
}

/// Step of a sampling request that the user or a model works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SamplingStep {
    /// The user reviews the request to the model.
    Request,
    /// The model generates a response.
    Running,
    /// The user writes or reviews the response.
    Response,
}

/// User's decision on a consent request.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ConsentDecision {
    /// Approves the payload that was shown.
    Allow {
        /// Scope of the approval: only this act, or also later acts of the session, of the conversation or at any time.
        scope: ApprovalScope,
        /// Time after which the approval expires, in milliseconds, or `None` if only `scope` limits it.
        #[serde(default)]
        #[ts(optional)]
        lasts: Option<u64>,
    },
    /// Approves the call of a tool, and later calls of these tools, which their server declares to be read-only.
    AllowReadOnly {
        /// Names of the tools, as listed in the request. Contains the called tool.
        tools: Vec<String>,
    },
    /// Submits the content of a form.
    Submit {
        /// Content of the form as a JSON object.
        content: Value,
    },
    /// Discloses these folders to the server (roots).
    Share {
        /// Absolute paths of the folders. May be empty to disclose none.
        folders: Vec<String>,
    },
    /// Uses this client to identify Drawbridge to the authorization server.
    Identify {
        /// Client that is registered at the authorization server.
        client: EnteredClient,
    },
    /// Replies to a sampling request with a response that the user, instead of a model, will write.
    WriteResponse,
    /// Sends an approved sampling request to the same model again.
    RerunModel,
    /// Discards the model's response, so that the user decides on the sampling request again.
    ReturnToRequest,
    /// Stops the model. The user can edit and send the partial response.
    StopModel,
    /// Denies the request without giving a reason.
    Deny,
    /// Denies the request and passes the reason to the caller, such as a model. Servers do not receive the reason.
    DenyBecause {
        /// Reason for the denial, as text for the caller.
        reason: String,
    },
    /// Closes the consent request without a decision.
    Cancel,
}

/// OAuth client that the user enters during a sign-in.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EnteredClient {
    /// Client identifier at the authorization server.
    pub client_id: String,
    /// Client secret, or `None` for a public client.
    #[serde(default)]
    pub client_secret: Option<String>,
}

impl std::fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Request that submits the user's decision on a consent request, bound to the payload that was shown.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct DecideConsentRequest {
    /// Identifier of the consent request, unique while Drawbridge runs.
    pub id: String,
    /// Hash of the payload that was shown to the user.
    pub hash: String,
    /// Decision on the consent request.
    pub answer: ConsentDecision,
}

/// Change of the payload of a consent request.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ConsentRequestEdit {
    /// Replaces the arguments of a tool call.
    Arguments {
        /// New arguments as a JSON object.
        arguments: Value,
    },
    /// Replaces the sampling request that would be sent to the model.
    Request {
        /// New sampling request for the model.
        request: SamplingRequest,
    },
    /// Replaces the sampling response that would be sent to the server.
    Response {
        /// New sampling response for the server.
        response: SamplingResponse,
    },
    /// Selects another model for a sampling request.
    Model {
        /// Model that responds to the sampling request.
        model: ModelRef,
    },
}

/// Request to change the payload of a consent request.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct EditConsentRequest {
    /// Identifier of the consent request, unique while Drawbridge runs.
    pub id: String,
    /// Change to apply to the payload of the consent request.
    pub edit: ConsentRequestEdit,
}

/// Request to deny the consent requests of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct DenyAllConsentRequests {
    /// Name of the server in the settings.
    pub server: String,
    /// `true` to deny later consent requests of the server automatically too.
    pub mute: bool,
}

/// Request that contains a URL.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct UrlText {
    /// URL to open or to parse.
    pub url: String,
}
