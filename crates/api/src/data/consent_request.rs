//! Consent requests and the user's decisions on them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{
    ApprovalScope, AuthSetting, CallKind, ClientIdentity, ConsentRequestOrigin, Content, FileWriter, FormField,
    HttpHeader, HttpKind, LaunchFile, LoadedPackage, ModelRef, ReviewMarks, SamplingLoss, SamplingModel,
    SamplingRequest, SamplingResponse, SamplingRun, SandboxPlan, SignInEndpoint, SignInReason, ToolClaims, UrlParts,
};

/// Consent request in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRequest {
    /// Identifier of the consent request.
    pub id: String,
    /// Hash of the exact payload that an approval releases. Any change of the payload changes it.
    pub hash: String,
    /// Name of the requesting server in the settings.
    pub server: String,
    /// Transport of the server: `stdio` or `http`.
    pub transport: String,
    /// Command of the server on one line, or its URL.
    pub command_line: String,
    /// Time of the request, in milliseconds since 1970.
    pub asked_at: u64,
    /// Origin of the request.
    pub why: ConsentRequestOrigin,
    /// Number of rounds in which the call has requested input so far, from 1, or `None` if no call led to the request.
    /// Several requests of one round count once.
    pub round: Option<u32>,
    /// Subject of the request, with its payload.
    pub body: ConsentRequestBody,
    /// Durations that an approval may have.
    pub scopes: Vec<ApprovalScope>,
    /// Stable name of the rule that requires consent.
    pub rule: String,
    /// Review state and findings of the subject.
    pub marks: ReviewMarks,
    /// Identifier of the call that waits for the decision, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<String>,
}

/// Subject of a consent request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConsentRequestBody {
    /// Start of a local server with exactly this command.
    StartServer {
        /// Program as written in the settings.
        command: String,
        /// Resolved path of the executable.
        resolved: Option<String>,
        /// Arguments as passed to the program.
        args: Vec<String>,
        /// Environment variables that are set for the server.
        env: Vec<(String, String)>,
        /// Working directory of the server.
        cwd: Option<String>,
        /// Command line that was approved before, if this one replaces it.
        approved_before: Option<String>,
        /// Sandbox of the server with everything that it could reach, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxPlan>,
        /// Files that the approval is bound to. The first one is the program.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<LaunchFile>>", optional)]
        files: Vec<LaunchFile>,
        /// Other servers that may modify one of the files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<FileWriter>>", optional)]
        writers: Vec<FileWriter>,
        /// Package that the command loads, if the program is a launcher.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        package: Option<LoadedPackage>,
    },
    /// Connection to a remote server at exactly this URL.
    ConnectServer {
        /// URL, parsed into its parts.
        url: UrlParts,
        /// Headers of each request, without their values.
        headers: Vec<HttpHeader>,
        /// HTTP transport, if the user chose one.
        transport_kind: Option<HttpKind>,
        /// `true` if the connection is unencrypted and leaves this computer.
        unencrypted: bool,
        /// Configured sign-in settings. Empty if there are none.
        auth: Vec<AuthSetting>,
        /// `true` if Drawbridge would sign in without a further consent request.
        unattended: bool,
        /// URL that was approved before, if this one replaces it.
        approved_before: Option<String>,
    },
    /// Call of a tool.
    Tool {
        /// Name of the tool.
        tool: String,
        /// Title to display, from the server.
        title: Option<String>,
        /// Description from the server.
        description: Option<String>,
        /// Claims of the server about the tool's effects.
        claims: ToolClaims,
        /// JSON Schema of the arguments, for editing them.
        input_schema: Value,
        /// Arguments that would be sent.
        arguments: Value,
        /// Size of the payload in bytes.
        bytes: u64,
        /// `true` if the definition changed since the tool was allowed.
        changed_since_allowed: bool,
        /// Tools that can be allowed together because their server declares that they only read, including this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        read_only_tools: Vec<String>,
        /// Whole definition as JSON, or `None` if the user has reviewed the current one. Allowing the call counts as a
        /// review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition: Option<String>,
        /// Hash of the whole definition, which a review refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition_hash: Option<String>,
    },
    /// Release of a tool's result to the model that called it. Content that looks misleading is listed in
    /// [`ConsentRequest::marks`].
    Result {
        /// Name of the called tool.
        tool: String,
        /// Content that the model would read.
        content: Vec<Content>,
        /// `true` if the result is reported to the model as an error.
        is_error: bool,
    },
    /// Request of a prompt or a resource.
    Read {
        /// Kind of the call: prompt or resource.
        what: CallKind,
        /// Name of the prompt, or URI of the resource.
        name: String,
        /// Arguments of the prompt as a JSON object.
        arguments: Value,
    },
    /// Release of a sampling request to a model, and in the last step of the response to the server.
    Sampling {
        /// Current step of the request.
        step: SamplingStep,
        /// Request of the server, as a model would receive it.
        request: SamplingRequest,
        /// Response that would be sent to the server, in the last step.
        response: Option<SamplingResponse>,
        /// Model that responds once the request is approved, or `None` if the user writes the response.
        model: Option<SamplingModel>,
        /// Maximum number of tokens that the server requested. Larger than the request's own maximum if a limit
        /// applies.
        wanted_tokens: u64,
        /// Content that the provider's wire protocol can't represent, and how each kind is converted.
        losses: Vec<SamplingLoss>,
        /// `true` if the model can be run again. Requires an approved request that was sent to it before.
        again: bool,
        /// Progress of the model.
        run: SamplingRun,
    },
    /// Form to fill in for the server (elicitation).
    Form {
        /// Message of the server.
        message: String,
        /// Fields of the form.
        fields: Vec<FormField>,
        /// Reason why the form can't be displayed, if it can't. It can still be declined.
        unsupported: Option<String>,
    },
    /// Opening of a URL in the system's browser.
    Url {
        /// Message of the server.
        message: String,
        /// URL, parsed into its parts.
        url: UrlParts,
    },
    /// Disclosure of folders to the server (roots).
    Roots {
        /// Folders that were chosen so far.
        folders: Vec<String>,
    },
    /// Sign-in to a remote server in the browser.
    SignIn {
        /// URL of the server, parsed into its parts.
        url: UrlParts,
        /// Issuer of the token, exactly as in the authorization server's metadata.
        issuer: String,
        /// Issuer, parsed into its parts.
        issuer_url: UrlParts,
        /// Resource that the token would be valid for.
        resource: String,
        /// All scopes that are requested. Empty if the authorization server decides.
        scopes: Vec<String>,
        /// Subset of the scopes that the current token has. Empty at a first sign-in.
        held_scopes: Vec<String>,
        /// Kind of client identifier that Drawbridge uses.
        client: ClientIdentity,
        /// Client identifier that is sent.
        client_id: String,
        /// Endpoints that would receive credentials, codes and tokens.
        endpoints: Vec<SignInEndpoint>,
        /// Redirect URI on this computer, or `None` if no browser is opened.
        redirect_uri: Option<String>,
        /// URL of the authorization request, parsed into its parts, without the single-use parameters. `None` if no
        /// browser is opened because Drawbridge obtains the token directly.
        authorization_url: Option<UrlParts>,
        /// `true` if the authorization endpoint belongs to another domain than the issuer.
        page_elsewhere: bool,
        /// Reason for the sign-in.
        reason: SignInReason,
    },
    /// Client identifier to enter for an authorization server, because no other kind of client registration is
    /// possible.
    ClientId {
        /// URL of the server, parsed into its parts.
        url: UrlParts,
        /// Issuer of the authorization server, exactly as in its metadata.
        issuer: String,
        /// Issuer, parsed into its parts.
        issuer_url: UrlParts,
        /// Redirect URI on this computer, to be registered for the client.
        redirect_uri: String,
    },
}

/// Step of a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SamplingStep {
    /// The user reviews the request.
    Request,
    /// The model generates a response.
    Running,
    /// The user writes or reviews the response.
    Response,
}

/// Decision of the user on a consent request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ConsentDecision {
    /// Approves the payload as shown.
    Allow {
        /// Duration of the approval.
        scope: ApprovalScope,
        /// Limit of the duration in milliseconds, or `None` for the whole scope.
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
    /// Discloses these folders to the server.
    Share {
        /// Absolute paths of the folders. May be empty.
        folders: Vec<String>,
    },
    /// Identifies Drawbridge to an authorization server with this client.
    Identify {
        /// Client that is registered at the authorization server.
        client: EnteredClient,
    },
    /// Lets the user write the response to a sampling request, even if a model was chosen.
    ByHand,
    /// Sends the same request to the same model again.
    Again,
    /// Returns to the sampling request and discards the response.
    Back,
    /// Stops the model. The partial response can be edited and sent.
    Stop,
    /// Denies the request without a reason.
    Deny,
    /// Denies the request and reports the reason to the caller, such as a model. Servers do not receive it.
    DenyBecause {
        /// Reason for the denial.
        reason: String,
    },
    /// Closes the request without a decision.
    Cancel,
}

/// OAuth client that the user enters for an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EnteredClient {
    /// Client identifier at the authorization server.
    pub client_id: String,
    /// Client secret, if the client has one.
    #[serde(default)]
    pub client_secret: Option<String>,
}

impl std::fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Decision of the user, bound to the payload that was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DecideConsentRequest {
    /// Identifier of the consent request.
    pub id: String,
    /// Hash that was shown with the consent request.
    pub hash: String,
    /// Decision of the user.
    pub answer: ConsentDecision,
}

/// Change of the payload of a consent request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ConsentRequestEdit {
    /// Replaces the arguments of a tool call.
    Arguments {
        /// New arguments as a JSON object.
        arguments: Value,
    },
    /// Replaces the sampling request that goes to the model.
    Request {
        /// New sampling request for the model.
        request: SamplingRequest,
    },
    /// Replaces the sampling response that goes to the server.
    Response {
        /// New sampling response for the server.
        response: SamplingResponse,
    },
    /// Selects another model for a sampling request.
    Model {
        /// Model that responds to the request.
        model: ModelRef,
    },
}

/// Request to change the payload of a consent request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EditConsentRequest {
    /// Identifier of the consent request.
    pub id: String,
    /// Change of the payload.
    pub edit: ConsentRequestEdit,
}

/// Request to deny the consent requests of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DenyAllConsentRequests {
    /// Name of the server in the settings.
    pub server: String,
    /// `true` to deny later consent requests too.
    pub mute: bool,
}

/// URL as a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UrlText {
    /// URL to open or to parse.
    pub url: String,
}
