//! What an observer of the host sees: servers, questions, calls, and the events that tell of their changes.

use std::path::PathBuf;
use std::time::Duration;

use credentials::sign_in::{ClientIdentity, EnteredClient, SignInEndpoint, SignInNeeded, SignInReason};
use domain::Millis;
use domain::bounds::ChatBounds;
use domain::call::{Call, CallKind};
use domain::flow::DataFlow;
use domain::item::ConversationEvent;
use domain::question::{QuestionId, QuestionOutcome, Why};
use launches::packages::LoadedPackage;
use mcp_proto::session::Facts;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, LogLevel, Tool};
pub use mcp_transport::driver::TransportFound;
use models::{ModelRef, Part};
use offers::review::{Flag, Marks};
use policy::{Hash, Scope};
use ports::AuditEntry;
use ports::server_config::{ConfigProblem, HttpConfig, ServerConfig, StdioConfig};
pub use process::sandbox::{Plan, ResourceLimits};
pub use process::{FileState, LaunchFile, LaunchFileRole, LaunchFiles, Missing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use server_requests::form::Form;
use server_requests::sampling::SamplingState;
use supervision::limits::Limits;

use crate::rules::Trust;

/// A server as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// The user's own name for it.
    pub name: String,
    /// How it is reached.
    pub config: ServerConfig,
    /// How it is.
    pub state: ServerState,
    /// Since when.
    pub since: Millis,
    /// Whether exactly this command, or address, is approved to start without asking.
    pub approved: bool,
    /// What the opening of its session told, once ready.
    pub facts: Option<Facts>,
    /// How many tools, prompts, resources and templates it offers.
    pub counts: [usize; 4],
    /// The folders it may know of, once the user has decided.
    pub roots: Option<Vec<PathBuf>>,
    /// Of them, those that it is told of: in a sandbox no more than it reaches.
    pub told_roots: Option<Vec<PathBuf>>,
    /// What holds it while it runs, if it has a sandbox.
    pub held_by: Option<&'static str>,
    /// The resources watched for changes.
    pub subscriptions: Vec<String>,
    /// The level from which it sends log messages, once set.
    pub log_level: Option<LogLevel>,
    /// Whether what it asks for is refused unseen.
    pub muted: bool,
    /// Until when, if only for a while since the user refused three of its questions in a row.
    pub muted_until: Option<Millis>,
    /// How many of its questions were refused unseen, because they were too many or it is muted, since the user last denied all.
    pub refused_questions: u64,
    /// Whether it is trusted with calls of its tools.
    pub trust: Trust,
    /// When calls ask after its own content.
    pub flow: DataFlow,
    /// Its process while it runs.
    pub pid: Option<u32>,
    /// How it was reached, if it is a remote server.
    pub connected: Option<Connected>,
    /// Why changes are not told at the moment, if they are not. It is asked for them again.
    pub subscriptions_lost: Option<String>,
    /// What is worth a second look about what it says of itself.
    pub marks: Marks,
}

/// How a remote server was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The transport that it speaks.
    pub transport: TransportFound,
    /// How that was found, in words.
    pub how: String,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Not running.
    Stopped,
    /// Waits for the user to approve its command or address.
    AwaitingApproval,
    /// Started, or being looked for, not ready yet.
    Starting,
    /// In use.
    Ready,
    /// Being ended.
    Stopping,
    /// It ended or dropped, and is brought back after a pause.
    Reconnecting(Retry),
    /// Not running, though it should.
    Failed(Failure),
    /// It was reached, and wants its user to sign in.
    NeedsSignIn(SignInNeeded),
}

/// The next attempt to bring a server back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Its number, from 1.
    pub attempt: u32,
    /// When it is made.
    pub at: Millis,
    /// Why the server is not running.
    pub cause: String,
}

/// Why a server is not running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What to act on.
    pub reason: FailureReason,
    /// The cause in words.
    pub message: String,
    /// The last lines it wrote to standard error.
    pub stderr: Vec<String>,
    /// Where its command was looked for.
    pub looked_in: Vec<PathBuf>,
    /// What to do, if known.
    pub hint: Option<String>,
}

/// Why a server is not running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The program was not found.
    CommandNotFound,
    /// The system refused to start it.
    CouldNotStart,
    /// It ended before it was ready.
    ExitedEarly,
    /// It ended while in use.
    Exited,
    /// It did not answer in time.
    NoAnswer,
    /// It speaks no revision spoken here, or not the protocol at all.
    Protocol,
    /// The user refused its command or address.
    Refused,
    /// A remote server could not be reached.
    Unreachable,
    /// A remote server wants an authorization that it was not given.
    Unauthorized,
    /// A secret for a remote server could not be read.
    NoSecret,
    /// It used more of this computer than it may, and was stopped for it.
    LimitReached,
}

impl Failure {
    /// A failure with nothing but its cause.
    #[must_use]
    pub fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), stderr: Vec::new(), looked_in: Vec::new(), hint: None }
    }
}

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

/// A server that may change a file which another one runs: its sandbox lets it write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// Its name.
    pub server: String,
    /// The file.
    pub file: PathBuf,
    /// The folder of its sandbox.
    pub folder: PathBuf,
}

/// The reach of a local server if it were started now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPreview {
    /// The sandbox that would hold it.
    pub plan: Plan,
    /// Files that it needs and would not reach, as far as that can be told.
    pub missing: Vec<Missing>,
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

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A server was added or changed.
    ServerChanged(Box<ServerView>),
    /// A server is gone.
    ServerRemoved(String),
    /// What a server offers changed.
    CatalogChanged(String),
    /// A watched resource changed.
    ResourceUpdated {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// A question is new or changed.
    QuestionChanged(Box<QuestionView>),
    /// A question is gone.
    QuestionClosed {
        /// The question.
        id: QuestionId,
        /// What became of it.
        outcome: QuestionOutcome,
    },
    /// A model that answers a sampling request said more. It comes after what the question has.
    SamplingText {
        /// The question.
        id: QuestionId,
        /// What to append; empty if it only thinks.
        text: String,
    },
    /// What a server may use of the user's models, or what it used, changed.
    SamplingChanged(String),
    /// A call is new, changed or over.
    CallChanged(Call),
    /// What is known of the sign-in to this server changed.
    AuthorizationChanged(String),
    /// A server's activity grew.
    ActivityAppended {
        /// The server.
        server: String,
        /// The latest entry.
        last: u64,
    },
    /// The list of conversations changed, or the items of this one.
    ConversationsChanged(Option<String>),
    /// Something happened in a conversation.
    Conversation(ConversationEvent),
    /// A decision was written, or a grant changed.
    AuditChanged(Option<Box<AuditEntry>>),
    /// The providers of models changed, or what they list.
    ModelsChanged,
    /// The app's settings changed.
    SettingsChanged(AppSettings),
    /// The rules changed, or what is wrong with their files.
    RulesChanged,
    /// The settings file can't be used, or can again.
    ConfigProblem(Option<ConfigProblem>),
}

/// The app's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AppSettings {
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// `system`, `en` or `zh`.
    pub language: String,
    /// Whether the welcome was closed.
    pub welcome_done: bool,
    /// Whether the system announces a question while the window is in the background.
    pub announce: bool,
    /// How much each server gets.
    pub limits: Limits,
    /// For how many days decisions stay in the audit log; 0 for ever.
    pub audit_days: u32,
    /// How many megabytes the audit log may have; 0 for no bound.
    pub audit_megabytes: u32,
    /// Whether the audit log has what crossed, and not only its hash.
    pub audit_contents: bool,
    /// How much of a conversation a model gets.
    pub chat: ChatBounds,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: "system".into(),
            language: "system".into(),
            welcome_done: false,
            announce: true,
            limits: Limits::default(),
            audit_days: 0,
            audit_megabytes: 1_000,
            audit_contents: true,
            chat: ChatBounds::default(),
        }
    }
}

/// Everything there is, and the number the next event will have.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The number of the next event.
    pub next_event: u64,
    /// All servers, in the settings file's order.
    pub servers: Vec<ServerView>,
    /// The queue, the front first.
    pub questions: Vec<QuestionView>,
    /// The calls under way.
    pub calls: Vec<Call>,
    /// The app's settings.
    pub settings: AppSettings,
    /// What is wrong with the settings file.
    pub config_problem: Option<ConfigProblem>,
}

/// How long calls may take: (without a sign of life, in all).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTimes {
    /// A tool call.
    pub tool: (Duration, Duration),
    /// A prompt or a resource.
    pub read: (Duration, Duration),
    /// One page of a list.
    pub list: (Duration, Duration),
    /// A completion.
    pub complete: (Duration, Duration),
}

impl Default for CallTimes {
    fn default() -> Self {
        let secs = |idle, total| (Duration::from_secs(idle), Duration::from_secs(total));
        Self { tool: secs(300, 3600), read: secs(60, 600), list: secs(10, 60), complete: secs(5, 10) }
    }
}
