//! Views of consent requests, and the user's decisions on them. Created by the owner, and displayed by the page and the
//! command line.

use std::path::PathBuf;

use credentials::sign_in::{ClientIdentity, EnteredClient, SignInEndpoint, SignInReason};
use domain::Millis;
use domain::app_view::ProvidingApp;
use domain::call::CallKind;
use domain::consent_request::{ConsentRequestId, ConsentRequestOrigin};
use launches::packages::LoadedPackage;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Tool};
use models::{MessagePart, ModelRef};
use offers::review::{Flag, ReviewFindings};
use policy::{ApprovalScope, Hash, StricterReason};
use ports::server_config::{HttpConfig, StdioConfig};
use process::LaunchFiles;
use process::sandbox::ResolvedSandbox;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use server_requests::form::Form;
use server_requests::sampling::SamplingState;

use super::server::LaunchFileWriter;

/// A consent request with its current payload, for display.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsentRequestView {
    /// Identifier of the request.
    pub id: ConsentRequestId,
    /// Hash of the exact payload that an approval allows to send.
    pub hash: Hash,
    /// Name of the server, as chosen by the user.
    pub server: String,
    /// Command line of the server, or its URL.
    pub command_line: String,
    /// Transport of the server: `stdio` or `http`.
    pub transport: &'static str,
    /// Time at which the request was created.
    pub asked_at: Millis,
    /// Origin of the request: the user, a model, an app, a call, or the server.
    pub origin: ConsentRequestOrigin,
    /// Number of the round of input requests in the call that led to the request, starting at 1. Multiple requests in
    /// one round have the same number. `None` if no call led to the request.
    pub round: Option<u32>,
    /// Payload of the request, by kind.
    pub body: ConsentRequestBody,
    /// Scopes that the user can choose for an approval.
    pub scopes: &'static [ApprovalScope],
    /// Name of the reason why consent is required, such as a rule of the policy.
    pub reason: &'static str,
    /// Category of `reason` if no rule or grant can override it, so that each such action requires its own decision.
    /// `None` if a rule or grant can.
    pub stricter_reason: Option<StricterReason>,
    /// Review state of the tool, prompt or result, and warnings about it, which are displayed with the request.
    pub marks: ReviewFindings,
    /// Id of the call that waits for the decision, or `None` if no call waits.
    pub call: Option<String>,
}

/// The payload of a consent request, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum ConsentRequestBody {
    /// Connect to a remote server with exactly these settings.
    ConnectServer {
        /// URL of the server, the headers to send, and the settings of transport and sign-in.
        config: HttpConfig,
        /// Earlier approval of the address, which doesn't cover this connection. `None` if there is no earlier grant
        /// with a readable text.
        earlier_approval: Option<EarlierApproval>,
    },
    /// Start a server with exactly this command.
    StartServer {
        /// Command of the server.
        config: StdioConfig,
        /// Resolved path of the program.
        resolved: PathBuf,
        /// Folder in which the server starts: the configured one, or else the home of its sandbox or of the user. The
        /// hash of the approval covers which of them it is.
        working_directory: PathBuf,
        /// Earlier approval of the server's command, which doesn't cover this start. `None` if there is no earlier
        /// grant with a readable text.
        earlier_approval: Option<EarlierApproval>,
        /// Sandbox plan: accessible paths and the mechanism that enforces it. `None` without a sandbox.
        plan: Option<ResolvedSandbox>,
        /// Files that determine what the command runs, read when the request was created.
        files: LaunchFiles,
        /// Files in `files` that changed since the last approval.
        changed_files: Vec<PathBuf>,
        /// Other servers whose sandbox allows writing to one of `files`.
        writers: Vec<LaunchFileWriter>,
        /// Package that the command loads, or `None` if the command is not one of a package launcher.
        package: Option<Box<LoadedPackage>>,
    },
    /// Call a tool of the server or of one of its shown MCP apps.
    Tool {
        /// Definition of the tool.
        tool: Box<Tool>,
        /// Shown MCP app that provides the tool and receives the call, or `None` if the server itself does.
        app: Option<ProvidingApp>,
        /// Arguments to send to the tool.
        arguments: Map<String, Value>,
        /// Set if the definition or the server changed since the user reviewed the tool or allowed its calls, or if
        /// the definition changed while the request was pending.
        changed_since_allowed: bool,
        /// Tools that the user can allow together because their server declares that they only read and do not interact
        /// with other systems: first the called tool, then other tools whose current definition the user has reviewed.
        /// Empty if there are no other ones.
        read_only: Vec<String>,
    },
    /// Get the messages of a prompt, or read a resource.
    Read {
        /// Kind of the request: a prompt or a resource.
        kind: CallKind,
        /// Name of the prompt, or URI of the resource.
        name: String,
        /// Arguments of the prompt.
        arguments: Map<String, Value>,
    },
    /// Let a model read the result of a call that it made.
    Result {
        /// Name of the called tool.
        tool: String,
        /// Name, on the server, of the tool whose shown MCP app provides the called tool. `None` if the server itself
        /// provides it.
        app: Option<String>,
        /// Content that the model would read.
        parts: Vec<MessagePart>,
        /// Set if the result is reported to the model as an error.
        is_error: bool,
        /// Warnings about suspicious content of the result.
        flags: Vec<Flag>,
    },
    /// Accept a sampling request, and afterwards send the model's reply.
    Sampling {
        /// Sampling request as the model would receive it.
        request: Box<CreateMessageParams>,
        /// Reply to send, or `None` until the request is accepted and a model has replied.
        response: Option<Box<CreateMessageResult>>,
        /// Chosen model, and the progress of its reply.
        state: Box<SamplingState>,
    },
    /// Fill in a form that the server requests (elicitation).
    Form {
        /// Message of the server.
        message: String,
        /// Form to fill in, or the reason why the form can't be displayed.
        form: Result<Form, String>,
    },
    /// Open a URL in the browser, as the server requests (elicitation).
    Url {
        /// Message of the server.
        message: String,
        /// URL exactly as the server sent it.
        url: String,
    },
    /// Share folders with the server, which has requested its roots.
    Roots,
    /// Sign in to a server in the browser.
    SignIn {
        /// URL of the server.
        url: String,
        /// Issuer identifier in the authorization server's metadata.
        issuer: String,
        /// Resource that the token would be valid for.
        resource: String,
        /// Scopes of the requested token. Empty to use the authorization server's default scopes.
        scopes: Vec<String>,
        /// Requested scopes that are already granted. Empty for the first sign-in.
        held_scopes: Vec<String>,
        /// Way in which Drawbridge identifies itself as an OAuth client.
        client: ClientIdentity,
        /// Client id that Drawbridge would use.
        client_id: String,
        /// Endpoints that would receive credentials, codes and tokens.
        endpoints: Vec<SignInEndpoint>,
        /// Redirect URI on this computer, or `None` if the sign-in opens no page in the browser.
        redirect_uri: Option<String>,
        /// Authorization URL to open, without parameters that are generated for each use. `None` if no page is opened
        /// in the browser, because Drawbridge requests the token without the user.
        authorization_url: Option<String>,
        /// Reason for the sign-in.
        reason: SignInReason,
    },
    /// Enter the client id for an authorization server that supports neither client ID metadata documents nor dynamic
    /// client registration.
    ClientId {
        /// URL of the server.
        url: String,
        /// Issuer identifier in the authorization server's metadata.
        issuer: String,
        /// Redirect URI on this computer, which has to be registered for the client id.
        redirect_uri: String,
    },
}

/// Texts of an earlier approval and of the requested one. Both texts name headers and environment variables without
/// values, and omit the sandbox and secrets in URLs. If the texts are equal, something changed that they don't name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EarlierApproval {
    /// Text of the command or address that was approved earlier.
    pub approved: String,
    /// Text of the command or address that this request is for.
    pub requested: String,
}

/// A decision of the user on a consent request.
#[derive(Debug, Clone, PartialEq)]
pub enum UserDecision {
    /// Approve the request within this scope.
    Allow(ApprovalScope),
    /// Approve the request within this scope. The resulting grant expires after the given number of milliseconds.
    AllowFor(ApprovalScope, Millis),
    /// Approve a tool call, and allow later calls of these tools, which their server declares to be read-only.
    AllowReadOnly(Vec<String>),
    /// Submit this content of the form.
    Submit(Map<String, Value>),
    /// Share these folders with the server.
    Share(Vec<PathBuf>),
    /// Identify Drawbridge with this client id.
    Client(EnteredClient),
    /// Reply to a sampling request without a model, with a text that the user writes.
    ByHand,
    /// Send the sampling request to the same model again.
    Again,
    /// Drop the model's reply, and return to the sampling request to edit it or choose another model.
    Back,
    /// Stop the model. Its output so far becomes the reply.
    Stop,
    /// Deny the request without a reason.
    Deny,
    /// Deny the request with a reason for the caller. A server doesn't receive the reason.
    DenyBecause(String),
    /// Dismiss the request without a decision.
    Cancel,
}

/// A change that the user makes to the payload before deciding.
#[derive(Debug, Clone, PartialEq)]
pub enum ConsentRequestEdit {
    /// Replaces the arguments of the tool.
    Arguments(Map<String, Value>),
    /// Replaces the request to the model.
    Request(Box<CreateMessageParams>),
    /// Replaces the reply of the model.
    Response(Box<CreateMessageResult>),
    /// Chooses another model for a sampling request.
    Model(ModelRef),
}
