//! Consent requests as they are shown, and the answers to them. Callers: the owner, which makes them, and `api` and the command line,
//! which show and answer them.

use std::path::PathBuf;

use credentials::sign_in::{ClientIdentity, EnteredClient, SignInEndpoint, SignInReason};
use domain::Millis;
use domain::call::CallKind;
use domain::question::{QuestionId, Why};
use launches::packages::LoadedPackage;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Tool};
use models::{ModelRef, Part};
use offers::review::{Flag, Marks};
use policy::{Hash, Scope};
use ports::server_config::{HttpConfig, StdioConfig};
use process::LaunchFiles;
use process::sandbox::Plan;
use serde_json::{Map, Value};
use server_requests::form::Form;
use server_requests::sampling::SamplingState;

use super::server::Writer;

/// A question as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionView {
    /// To refer to it by.
    pub id: QuestionId,
    /// Over the exact bytes that an approval lets cross.
    pub hash: Hash,
    /// The user's own name for the server.
    pub server: String,
    /// Its command on one line, or its URL.
    pub command_line: String,
    /// How it is reached: `stdio` or `http`.
    pub transport: &'static str,
    /// When it was asked.
    pub asked_at: Millis,
    /// What led to it.
    pub why: Why,
    /// How often the call that led to it has asked now, from 1; several questions of one round count once. None if no call
    /// led to it.
    pub round: Option<u32>,
    /// What is asked.
    pub body: QuestionBody,
    /// For how long an approval may hold.
    pub scopes: &'static [Scope],
    /// The rule that asks.
    pub rule: &'static str,
    /// What is worth a second look about it.
    pub marks: Marks,
    /// The call that waits for it, if it is about one, by the id that its caller chose.
    pub call: Option<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionBody {
    /// To connect to a remote server at exactly this URL.
    ConnectServer {
        /// The URL, and what is sent along.
        config: HttpConfig,
        /// The address approved before, if this is a change of it.
        approved_before: Option<String>,
    },
    /// To start a server with exactly this command.
    StartServer {
        /// The command.
        config: StdioConfig,
        /// The file that will run.
        resolved: PathBuf,
        /// The command line approved before, if this is a change of it.
        approved_before: Option<String>,
        /// What it would reach, and what would hold it, if it has a sandbox.
        plan: Option<Plan>,
        /// The files that decide what runs, as they were when it was asked.
        files: LaunchFiles,
        /// Those of them that are not as they were when the server was approved last.
        changed_files: Vec<PathBuf>,
        /// The other servers that may change one of them.
        writers: Vec<Writer>,
        /// The package that the command loads, if it is a launcher's.
        package: Option<Box<LoadedPackage>>,
    },
    /// To call a tool.
    Tool {
        /// Its definition.
        tool: Box<Tool>,
        /// What would be sent.
        arguments: Map<String, Value>,
        /// Whether the definition changed since the tool was allowed.
        changed_since_allowed: bool,
    },
    /// To get a prompt or read a resource.
    Read {
        /// Which of the two.
        kind: CallKind,
        /// The prompt's name, or the resource's URI.
        name: String,
        /// The prompt's arguments.
        arguments: Map<String, Value>,
    },
    /// To let a model read the result of its call.
    Result {
        /// The tool that was called.
        tool: String,
        /// The content that the model would read.
        parts: Vec<Part>,
        /// True if the model is told that the call failed.
        is_error: bool,
        /// Flags on what looks made to mislead.
        flags: Vec<Flag>,
    },
    /// To take up a sampling request, then to send the answer.
    Sampling {
        /// What the server asks, as the model would get it.
        request: Box<CreateMessageParams>,
        /// What would go back; none in the first step, and while a model answers.
        response: Option<Box<CreateMessageResult>>,
        /// Which model answers, and how far it is.
        state: Box<SamplingState>,
    },
    /// To fill in a form.
    Form {
        /// What the server says.
        message: String,
        /// The form, or why it can't be shown.
        form: Result<Form, String>,
    },
    /// To open a URL.
    Url {
        /// What the server says.
        message: String,
        /// The URL as the server wrote it.
        url: String,
    },
    /// To let the server know of folders.
    Roots,
    /// To sign in to a server in the browser.
    SignIn {
        /// The server's URL.
        url: String,
        /// Who would issue the token, exactly as it names itself.
        issuer: String,
        /// For which resource the token would hold.
        resource: String,
        /// What it would allow, all in all. Empty: what the authorization server thinks fit.
        scopes: Vec<String>,
        /// What of that is allowed already; empty at a first sign-in.
        held_scopes: Vec<String>,
        /// How Drawbridge identifies itself.
        client: ClientIdentity,
        /// The id that it then gives.
        client_id: String,
        /// Where credentials, codes and tokens would be sent.
        endpoints: Vec<SignInEndpoint>,
        /// Where the browser would send the user back to, on this computer; none if no page is opened.
        redirect_uri: Option<String>,
        /// The page that would be opened, with all that it is told but what is made for one use; none if no page is opened:
        /// Drawbridge gets the token by itself.
        authorization_url: Option<String>,
        /// Why.
        reason: SignInReason,
    },
    /// To enter the id by which an authorization server knows Drawbridge: there is no other way to sign in to the server.
    ClientId {
        /// The server's URL.
        url: String,
        /// The authorization server, exactly as it names itself.
        issuer: String,
        /// Where the browser will come back to, on this computer. It has to be registered with the id.
        redirect_uri: String,
    },
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum UserAnswer {
    /// Let it cross.
    Allow(Scope),
    /// The same, and an approval that stands then ends after so many milliseconds.
    AllowFor(Scope, Millis),
    /// Let this form content cross.
    Submit(Map<String, Value>),
    /// Let the server know of these folders.
    Share(Vec<PathBuf>),
    /// Identify Drawbridge with this id.
    Client(EnteredClient),
    /// Answer a sampling request by hand, whatever model was chosen.
    ByHand,
    /// Ask the same model the same once more.
    Again,
    /// Go back to the request, to change it or the model. The answer is dropped.
    Back,
    /// Stop the model. What it said until then is there to go on from.
    Stop,
    /// Refuse.
    Deny,
    /// Refuse, and tell whoever called why. A server is not told.
    DenyBecause(String),
    /// Close without an answer.
    Cancel,
}

/// A change to what would cross.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Other arguments for the tool.
    Arguments(Map<String, Value>),
    /// Another request for the model.
    Request(Box<CreateMessageParams>),
    /// Another answer.
    Response(Box<CreateMessageResult>),
    /// Another model for a sampling request.
    Model(ModelRef),
}
