//! Consent requests as displayed, and the decisions on them. Created by the owner; `api` and the command line display
//! and decide them.

use std::path::PathBuf;

use credentials::sign_in::{ClientIdentity, EnteredClient, SignInEndpoint, SignInReason};
use domain::Millis;
use domain::call::CallKind;
use domain::consent_request::{ConsentRequestId, ConsentRequestOrigin};
use launches::packages::LoadedPackage;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Tool};
use models::{MessagePart, ModelRef};
use offers::review::{Flag, ReviewFindings};
use policy::{ApprovalScope, Hash};
use ports::server_config::{HttpConfig, StdioConfig};
use process::LaunchFiles;
use process::sandbox::ResolvedSandbox;
use serde_json::{Map, Value};
use server_requests::form::Form;
use server_requests::sampling::SamplingState;

use super::server::LaunchFileWriter;

/// A consent request and its current payload.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsentRequestView {
    /// Identifier of the request.
    pub id: ConsentRequestId,
    /// Hash of the exact payload that an approval allows to send.
    pub hash: Hash,
    /// User's name for the server.
    pub server: String,
    /// Command line of the server, or its URL.
    pub command_line: String,
    /// Transport of the server: `stdio` or `http`.
    pub transport: &'static str,
    /// Time at which the request was created.
    pub asked_at: Millis,
    /// Origin of the request.
    pub why: ConsentRequestOrigin,
    /// Round of input requests of the call that led to it, starting at 1. Several requests of one round count once.
    /// `None` if no call led to it.
    pub round: Option<u32>,
    /// Payload of the request, by kind.
    pub body: ConsentRequestBody,
    /// Possible scopes of an approval.
    pub scopes: &'static [ApprovalScope],
    /// Reason that requires consent.
    pub rule: &'static str,
    /// Warnings to display with the request.
    pub marks: ReviewFindings,
    /// Identifier of the call that waits for the decision, if the request is about one.
    pub call: Option<String>,
}

/// The payload of a consent request, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum ConsentRequestBody {
    /// Connect to a remote server at exactly this URL.
    ConnectServer {
        /// URL of the server, with the headers to send.
        config: HttpConfig,
        /// Previously approved address, if this is a change of it.
        approved_before: Option<String>,
    },
    /// Start a server with exactly this command.
    StartServer {
        /// Command of the server.
        config: StdioConfig,
        /// Resolved path of the program.
        resolved: PathBuf,
        /// Previously approved command line, if this is a change of it.
        approved_before: Option<String>,
        /// Sandbox plan: accessible paths and enforcement. `None` without a sandbox.
        plan: Option<ResolvedSandbox>,
        /// Files that determine what runs, at the time of the request.
        files: LaunchFiles,
        /// Files among them that changed since the last approval.
        changed_files: Vec<PathBuf>,
        /// Other servers that can write to one of the files.
        writers: Vec<LaunchFileWriter>,
        /// Package that the command loads, if it is the command of a launcher.
        package: Option<Box<LoadedPackage>>,
    },
    /// Call a tool of the server.
    Tool {
        /// Definition of the tool.
        tool: Box<Tool>,
        /// Arguments to send to the tool.
        arguments: Map<String, Value>,
        /// Set if the definition changed since the tool was allowed.
        changed_since_allowed: bool,
        /// Tools that the user can allow together because their server declares that they only read: this one first, then
        /// those whose current definition is reviewed. Empty if there is no other one.
        read_only: Vec<String>,
    },
    /// Get a prompt or read a resource.
    Read {
        /// Kind of the call: a prompt or a resource.
        kind: CallKind,
        /// Name of the prompt, or URI of the resource.
        name: String,
        /// Arguments of the prompt.
        arguments: Map<String, Value>,
    },
    /// Let a model read the result of its call.
    Result {
        /// Name of the called tool.
        tool: String,
        /// Content that the model would read.
        parts: Vec<MessagePart>,
        /// Set if the model is informed that the call failed.
        is_error: bool,
        /// Flags on suspicious content.
        flags: Vec<Flag>,
    },
    /// Accept a sampling request; afterwards, send the reply.
    Sampling {
        /// Request as the model would receive it.
        request: Box<CreateMessageParams>,
        /// Reply to send, or `None` before the request is accepted and while a model replies.
        response: Option<Box<CreateMessageResult>>,
        /// Chosen model and its progress.
        state: Box<SamplingState>,
    },
    /// Fill in a form.
    Form {
        /// Message of the server.
        message: String,
        /// Form to fill in, or the reason why it can't be displayed.
        form: Result<Form, String>,
    },
    /// Open a URL in the browser.
    Url {
        /// Message of the server.
        message: String,
        /// URL exactly as the server sent it.
        url: String,
    },
    /// Share folders with the server (roots).
    Roots,
    /// Sign in to a server in the browser.
    SignIn {
        /// URL of the server.
        url: String,
        /// Issuer identifier of the authorization server, exactly as it names itself.
        issuer: String,
        /// Resource that the token would be valid for.
        resource: String,
        /// All scopes of the token. Empty to use the default of the authorization server.
        scopes: Vec<String>,
        /// Scopes among them that are already granted. Empty for a first sign-in.
        held_scopes: Vec<String>,
        /// Client identification that Drawbridge would use.
        client: ClientIdentity,
        /// Client id for that identification.
        client_id: String,
        /// Endpoints that would receive credentials, codes and tokens.
        endpoints: Vec<SignInEndpoint>,
        /// Redirect URI on this computer, or `None` if no page is opened.
        redirect_uri: Option<String>,
        /// Authorization URL to open, without parameters generated per use. `None` if no page is opened because
        /// Drawbridge requests the token without the user.
        authorization_url: Option<String>,
        /// Reason for the sign-in.
        reason: SignInReason,
    },
    /// Enter the client id for an authorization server that offers no other way to identify Drawbridge.
    ClientId {
        /// URL of the server.
        url: String,
        /// Issuer identifier of the authorization server, exactly as it names itself.
        issuer: String,
        /// Redirect URI on this computer. It has to be registered with the client id.
        redirect_uri: String,
    },
}

/// A decision of the user on a consent request.
#[derive(Debug, Clone, PartialEq)]
pub enum UserDecision {
    /// Approve the request within this scope.
    Allow(ApprovalScope),
    /// Approve the request within this scope. The resulting grant expires after this time, in milliseconds.
    AllowFor(ApprovalScope, Millis),
    /// Approve a tool call, and allow later calls of these tools, which their server declares to be read-only.
    AllowReadOnly(Vec<String>),
    /// Submit this content of the form.
    Submit(Map<String, Value>),
    /// Share these folders with the server.
    Share(Vec<PathBuf>),
    /// Identify Drawbridge with this client id.
    Client(EnteredClient),
    /// Reply to a sampling request by hand, regardless of the chosen model.
    ByHand,
    /// Send the same request to the same model again.
    Again,
    /// Go back to the request, to edit it or choose another model. The reply is dropped.
    Back,
    /// Stop the model. The partial text stays as the reply.
    Stop,
    /// Deny the request without a reason.
    Deny,
    /// Deny the request, and return the reason to the caller. A server doesn't receive it.
    DenyBecause(String),
    /// Dismiss the request without a decision.
    Cancel,
}

/// An edit of the payload.
#[derive(Debug, Clone, PartialEq)]
pub enum ConsentRequestEdit {
    /// Replaces the arguments of the tool.
    Arguments(Map<String, Value>),
    /// Replaces the request to the model.
    Request(Box<CreateMessageParams>),
    /// Replaces the reply of the model.
    Response(Box<CreateMessageResult>),
    /// Replaces the model of a sampling request.
    Model(ModelRef),
}
