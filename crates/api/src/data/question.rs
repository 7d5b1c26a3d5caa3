//! Questions: what needs the user's decision.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{
    AuthSetting, CallKind, ClientIdentity, Content, FileWriter, FormField, HttpHeader, HttpKind, LaunchFile,
    LoadedPackage, Marks, ModelRef, SamplingLoss, SamplingModel, SamplingRequest, SamplingResponse, SamplingRun,
    SandboxPlan, Scope, SignInEndpoint, SignInReason, ToolClaims, UrlParts, Why,
};

/// One question in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// To answer it by.
    pub id: String,
    /// Over the exact bytes that an approval would let cross. Any change gives another one.
    pub hash: String,
    /// Who asks: the user's own name for the server.
    pub server: String,
    /// How the server is reached: `stdio` or `http`.
    pub transport: String,
    /// The server's command on one line, or its URL.
    pub command_line: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: u64,
    /// What led to it.
    pub why: Why,
    /// How often the call that led to it has asked now, from 1. The other questions of the same call are in the queue.
    pub round: Option<u32>,
    /// What is asked.
    pub body: QuestionBody,
    /// For how long an approval may hold.
    pub scopes: Vec<Scope>,
    /// The rule that asked, in words of the policy.
    pub rule: String,
    /// What is worth a second look about what it is about.
    pub marks: Marks,
    /// The call that waits for it, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum QuestionBody {
    /// To start a local server with exactly this command.
    StartServer {
        /// The program as configured.
        command: String,
        /// The file that will run, where it was found.
        resolved: Option<String>,
        /// Every argument as it is passed.
        args: Vec<String>,
        /// The variables set for it.
        env: Vec<(String, String)>,
        /// The folder it starts in.
        cwd: Option<String>,
        /// The command line that was approved before, if this one is a change of it.
        approved_before: Option<String>,
        /// What it would reach, and what would hold it, if it has a sandbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<SandboxPlan>,
        /// The files that the approval is over; the program is the first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<LaunchFile>>", optional)]
        files: Vec<LaunchFile>,
        /// The other servers that may change a file which runs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<FileWriter>>", optional)]
        writers: Vec<FileWriter>,
        /// The package that the command loads, if it is a launcher's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        package: Option<LoadedPackage>,
    },
    /// To connect to a remote server at exactly this URL.
    ConnectServer {
        /// The URL, taken apart.
        url: UrlParts,
        /// The headers sent along, without their values.
        headers: Vec<HttpHeader>,
        /// The transport to use, if the user chose one.
        transport_kind: Option<HttpKind>,
        /// Whether all that is sent can be read along: it is plain http, and not to this computer.
        unencrypted: bool,
        /// The settings of the sign-in, all that are made; none if there are none.
        auth: Vec<AuthSetting>,
        /// True if Drawbridge would sign in by itself, without another question.
        unattended: bool,
        /// The address that was approved before, if this one is a change of it.
        approved_before: Option<String>,
    },
    /// To call a tool.
    Tool {
        /// Its name.
        tool: String,
        /// A name for people, as the server says.
        title: Option<String>,
        /// What it does, as the server says.
        description: Option<String>,
        /// What the server claims about its effects.
        claims: ToolClaims,
        /// The schema of the arguments, to edit them by.
        input_schema: Value,
        /// What would be sent.
        arguments: Value,
        /// Its size in bytes.
        bytes: u64,
        /// Whether its definition changed since it was allowed.
        changed_since_allowed: bool,
        /// Its whole definition as JSON, unless the user has seen it as it is now: to allow a call is to have seen it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition: Option<String>,
        /// Over its whole definition, by which it is reviewed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definition_hash: Option<String>,
    },
    /// To let a model read the result of its call. What looks made to mislead is in [`Question::marks`].
    Result {
        /// The tool that was called.
        tool: String,
        /// The content that the model would read.
        content: Vec<Content>,
        /// True if the model is told that the call failed.
        is_error: bool,
    },
    /// To get a prompt or read a resource.
    Read {
        /// Which of the two.
        what: CallKind,
        /// The prompt's name, or the resource's URI.
        name: String,
        /// The prompt's arguments, a JSON object.
        arguments: Value,
    },
    /// To show a server's request to a model; in the second step, to send the answer back.
    Sampling {
        /// Which step it is.
        step: SamplingStep,
        /// What the server asks, as a model would get it.
        request: SamplingRequest,
        /// What would go back; in the last step.
        response: Option<SamplingResponse>,
        /// The model that answers when the request is let through; none if the user writes the answer.
        model: Option<SamplingModel>,
        /// How many tokens the server wants at the most; more than the request has if it gets less.
        wanted_tokens: u64,
        /// What the model's provider can't carry, and what is done about each.
        losses: Vec<SamplingLoss>,
        /// Whether the model can be asked again; only what was approved and sent to it before can.
        again: bool,
        /// How far the model is.
        run: SamplingRun,
    },
    /// To fill in a form.
    Form {
        /// What the server says.
        message: String,
        /// The fields.
        fields: Vec<FormField>,
        /// Why the form can't be shown, if it can't. It can be declined.
        unsupported: Option<String>,
    },
    /// To open a URL in the system's browser.
    Url {
        /// What the server says.
        message: String,
        /// The URL, taken apart.
        url: UrlParts,
    },
    /// To let a server know of folders.
    Roots {
        /// The folders chosen so far.
        folders: Vec<String>,
    },
    /// To sign in to a remote server in the browser.
    SignIn {
        /// The server's URL, taken apart.
        url: UrlParts,
        /// Who would issue the token, exactly as it names itself.
        issuer: String,
        /// The same, taken apart.
        issuer_url: UrlParts,
        /// For which resource the token would hold.
        resource: String,
        /// What it would allow, all in all; none if the authorization server is to decide.
        scopes: Vec<String>,
        /// What of that is allowed already; none at a first sign-in.
        held_scopes: Vec<String>,
        /// How Drawbridge identifies itself.
        client: ClientIdentity,
        /// The id that it then gives.
        client_id: String,
        /// Where credentials, codes and tokens would be sent.
        endpoints: Vec<SignInEndpoint>,
        /// Where the browser would send the user back to, on this computer; none if no page is opened.
        redirect_uri: Option<String>,
        /// The page that would be opened, taken apart, with all that it is told but what is made for one use; none if no page
        /// is opened: Drawbridge gets the token by itself.
        authorization_url: Option<UrlParts>,
        /// True if that page belongs to another domain than the issuer.
        page_elsewhere: bool,
        /// Why.
        reason: SignInReason,
    },
    /// To enter the id by which an authorization server knows Drawbridge: there is no other way to sign in to the server.
    ClientId {
        /// The server's URL, taken apart.
        url: UrlParts,
        /// The authorization server, exactly as it names itself.
        issuer: String,
        /// The same, taken apart.
        issuer_url: UrlParts,
        /// Where the browser will come back to, on this computer. It has to be registered with the id.
        redirect_uri: String,
    },
}

/// The steps of a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SamplingStep {
    /// The user looks at the request.
    Request,
    /// A model answers.
    Running,
    /// The user writes and looks at the answer.
    Response,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Answer {
    /// Let it cross.
    Allow {
        /// For how long.
        scope: Scope,
        /// For how many milliseconds, if not for as long as that.
        #[serde(default)]
        #[ts(optional)]
        lasts: Option<u64>,
    },
    /// Let a form's content cross.
    Submit {
        /// A JSON object.
        content: Value,
    },
    /// Let the server know of these folders.
    Share {
        /// Absolute paths; may be none.
        folders: Vec<String>,
    },
    /// Identify Drawbridge to an authorization server with this.
    Identify {
        /// What it knows Drawbridge by.
        client: EnteredClient,
    },
    /// Answer a server's request to a model by hand, whatever model was chosen.
    ByHand,
    /// Ask the same model the same once more.
    Again,
    /// Go back to the request to a model; the answer is dropped.
    Back,
    /// Stop the model; what it said until then is there to go on from.
    Stop,
    /// Refuse.
    Deny,
    /// Refuse, and tell whoever called why, such as a model. A server is not told.
    DenyBecause {
        /// Why.
        reason: String,
    },
    /// Close without an answer.
    Cancel,
}

/// What an authorization server knows Drawbridge by, as the user enters it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EnteredClient {
    /// The client id.
    pub client_id: String,
    /// The secret that goes with it, if it has one.
    #[serde(default)]
    pub client_secret: Option<String>,
}

impl std::fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// An answer, bound to what was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AnswerQuestion {
    /// The question.
    pub id: String,
    /// The hash that was shown with it.
    pub hash: String,
    /// The answer.
    pub answer: Answer,
}

/// A change to what would cross.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Edit {
    /// Other arguments for a tool call.
    Arguments {
        /// A JSON object.
        arguments: Value,
    },
    /// Another request for the model.
    Request {
        /// As it should be.
        request: SamplingRequest,
    },
    /// Another answer.
    Response {
        /// As it should be.
        response: SamplingResponse,
    },
    /// Another model for a server's request.
    Model {
        /// The model.
        model: ModelRef,
    },
}

/// A change to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EditQuestion {
    /// The question.
    pub id: String,
    /// The change.
    pub edit: Edit,
}

/// Questions of a server to refuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DenyAll {
    /// The server.
    pub server: String,
    /// Whether to refuse those to come too.
    pub mute: bool,
}

/// A URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UrlText {
    /// The URL.
    pub url: String,
}
