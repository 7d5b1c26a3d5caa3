//! Answers file: the user's decisions in advance on consent requests, for runs without a user at the terminal.

mod entry_conditions;
mod last_calls;
mod name_pattern;

use std::path::Path;

use api::data::{
    CallKind, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin, Content, EnteredClient, SamplingResponse,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use wildmatch::WildMatch;

use entry_conditions::{AnswersEntryConditions, definition_hash};
pub(crate) use entry_conditions::{NoAnswerReason, describe_changed_tool};
pub(crate) use last_calls::message_if_tool_changed_since_last_call;
use name_pattern::NamePattern;

/// Maximum size of an answers file, in bytes.
const MAX_ANSWERS_FILE_BYTES: u64 = 4 << 20;

/// Parsed answers file: the user's decisions in advance on consent requests, in the order in which they are compared
/// with a request.
#[derive(Debug, Default)]
pub(crate) struct AnswersFile {
    entries: Vec<AnswersEntry>,
}

#[derive(Debug)]
struct AnswersEntry {
    kind: ConsentRequestKind,
    server: WildMatch,
    name: NamePattern,
    conditions: AnswersEntryConditions,
    decision: AnswersFileDecision,
}

/// Decision that an entry of the answers file makes on a consent request that it matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AnswersFileDecision {
    /// Approves the payload of this consent request once.
    Allow,
    /// Answers the server's sampling request with this response, without a model.
    Respond(SamplingResponse),
    /// Sends the server's sampling request to a model, and the model's response to the server.
    AskModel,
    /// Submits this content for the form of an elicitation request.
    Submit(Map<String, Value>),
    /// Discloses these folders to the server, in response to a request for its roots.
    Share(Vec<String>),
    /// Uses this client id, and its secret if there is one, for Drawbridge at the authorization server.
    Identify(EnteredClient),
    /// Denies the consent request.
    Deny,
    /// Closes the consent request without a decision.
    Cancel,
}

impl AnswersFileDecision {
    const fn is_refusal(&self) -> bool {
        matches!(self, Self::Deny | Self::Cancel)
    }
}

/// Kind of a consent request, as named in answers files. Connections to remote servers have the kind `start-server`
/// too, unlike in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConsentRequestKind {
    StartServer,
    Tool,
    Prompt,
    Resource,
    Result,
    Sampling,
    Elicitation,
    Url,
    Roots,
    SignIn,
    ClientId,
}

impl ConsentRequestKind {
    pub(crate) const fn of_request(request: &ConsentRequest) -> Self {
        match request.body {
            // Entries for starts of local servers also match connections to remote servers.
            ConsentRequestBody::StartServer { .. } | ConsentRequestBody::ConnectServer { .. } => Self::StartServer,
            ConsentRequestBody::Tool { .. } => Self::Tool,
            ConsentRequestBody::Read { call_kind: CallKind::Prompt, .. } => Self::Prompt,
            ConsentRequestBody::Read { .. } => Self::Resource,
            ConsentRequestBody::Result { .. } => Self::Result,
            ConsentRequestBody::Sampling { .. } => Self::Sampling,
            ConsentRequestBody::Form { .. } => Self::Elicitation,
            ConsentRequestBody::Url { .. } => Self::Url,
            ConsentRequestBody::Roots => Self::Roots,
            ConsentRequestBody::SignIn { .. } => Self::SignIn,
            ConsentRequestBody::ClientId { .. } => Self::ClientId,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StartServer => "start-server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Result => "result",
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Url => "url",
            Self::Roots => "roots",
            Self::SignIn => "sign-in",
            Self::ClientId => "client-id",
        }
    }
}

/// Returns the part of a consent request that is compared with the name pattern of entries in the answers file, such as
/// the tool's name or the command line.
pub(crate) fn request_subject(request: &ConsentRequest) -> String {
    match (&request.body, &request.origin) {
        // Uses the package as configured, because the author of an answers file can't predict its newest version.
        (ConsentRequestBody::StartServer { package: Some(package), .. }, _) => package.configured.clone(),
        (ConsentRequestBody::StartServer { .. } | ConsentRequestBody::ConnectServer { .. }, _) => {
            request.command_line.clone()
        }
        (ConsentRequestBody::Tool { tool, .. } | ConsentRequestBody::Result { tool, .. }, _) => tool.clone(),
        (ConsentRequestBody::Read { name, .. }, _) => name.clone(),
        (ConsentRequestBody::Url { url, .. }, _) => url.url.clone(),
        (ConsentRequestBody::SignIn { issuer, .. } | ConsentRequestBody::ClientId { issuer, .. }, _) => issuer.clone(),
        (_, ConsentRequestOrigin::Call { name, .. }) => name.clone(),
        _ => String::new(),
    }
}

impl AnswersFile {
    /// Reads and parses an answers file.
    ///
    /// # Errors
    ///
    /// Returns a message with line and column if the file is invalid.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let metadata = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
        if metadata.len() > MAX_ANSWERS_FILE_BYTES {
            return Err(format!("{shown}: it is larger than {} MiB", MAX_ANSWERS_FILE_BYTES >> 20));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        Self::parse(&text)
            .map_err(|(line, column, message)| format!("{shown}: line {line}, column {column}: {message}"))
    }

    fn parse(text: &str) -> Result<Self, (usize, usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
            let words = format!("expected a list of answers: {}", message_without_position(&error));
            (error.line(), error.column().max(1), words)
        })?;
        let mut entries = Vec::new();
        for raw in list {
            let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let written: RawAnswersEntry = serde_json::from_str(raw.get()).map_err(|error| {
                let column = if error.line() == 1 { column + error.column() - 1 } else { error.column() };
                (line + error.line() - 1, column, message_without_position(&error))
            })?;
            let number = entries.len() + 1;
            entries
                .push(written.into_entry().map_err(|message| (line, column, format!("answer {number}: {message}")))?);
        }
        Ok(Self { entries })
    }

    /// Returns the decision of the first entry that matches a consent request and is permitted to decide it, or the
    /// reason why no entry is.
    pub(crate) fn find(&self, request: &ConsentRequest) -> Result<&AnswersFileDecision, NoAnswerReason> {
        let (kind, name) = (ConsentRequestKind::of_request(request), request_subject(request));
        let mut why = None;
        let fits = |entry: &&AnswersEntry| {
            entry.kind == kind
                && entry.server.matches(&request.server)
                && entry.name.matches_name(&name, entry.decision.is_refusal())
        };
        for entry in self.entries.iter().filter(fits) {
            let is_no = entry.decision.is_refusal();
            let lacks = entry.conditions.missing_conditions(request);
            match (entry.conditions.matches_hash(request), is_no) {
                (true, true) => return Ok(&entry.decision),
                (true, false) if lacks.is_empty() => return Ok(&entry.decision),
                (true, false) => why = why.or(Some(NoAnswerReason::Uncovered(lacks))),
                (false, true) => {}
                (false, false) => {
                    let lacks =
                        AnswersEntryConditions { hash: None, ..entry.conditions.clone() }.missing_conditions(request);
                    why = why.or((!lacks.is_empty()).then_some(NoAnswerReason::HashDiffers(lacks)));
                }
            }
        }
        Err(why.unwrap_or_else(|| {
            NoAnswerReason::NoEntryMatches(entry_conditions::changed_definition_conditions(request))
        }))
    }
}

fn message_without_position(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawAnswersEntry {
    kind: ConsentRequestKind,
    #[serde(default = "default_name_pattern")]
    server: String,
    #[serde(default = "default_name_pattern")]
    name: String,
    #[serde(default)]
    hash: Option<String>,
    #[serde(default)]
    unreviewed: bool,
    #[serde(default)]
    after_untrusted: bool,
    #[serde(default)]
    command_line_only: bool,
    answer: RawAnswer,
}

fn default_name_pattern() -> String {
    String::from("*")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    action: AnswerAction,
    content: Option<Map<String, Value>>,
    roots: Option<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnswerAction {
    Allow,
    Deny,
    Accept,
    Decline,
    Cancel,
}

impl RawAnswersEntry {
    fn into_entry(self) -> Result<AnswersEntry, String> {
        let RawAnswer { action, content, roots } = self.answer;
        let yes = matches!(action, AnswerAction::Allow | AnswerAction::Accept);
        if (self.unreviewed || self.after_untrusted) && !(yes && self.kind == ConsentRequestKind::Tool) {
            return Err(String::from("\"unreviewed\" and \"afterUntrusted\" go with \"allow\" for tool only"));
        }
        if self.command_line_only && !(yes && self.kind == ConsentRequestKind::StartServer) {
            return Err(String::from("\"commandLineOnly\" is allowed with \"allow\" for start-server only"));
        }
        if self.command_line_only && self.hash.is_some() {
            return Err(String::from("\"commandLineOnly\" and \"hash\" contradict each other"));
        }
        if content.is_some()
            && !(yes
                && matches!(
                    self.kind,
                    ConsentRequestKind::Sampling | ConsentRequestKind::Elicitation | ConsentRequestKind::ClientId
                ))
        {
            return Err(String::from(
                "\"content\" is allowed with \"accept\" for sampling, elicitation or client-id only",
            ));
        }
        if roots.is_some() && !(yes && self.kind == ConsentRequestKind::Roots) {
            return Err(String::from("\"roots\" is allowed with \"accept\" for roots only"));
        }
        let decision = match action {
            AnswerAction::Deny | AnswerAction::Decline => AnswersFileDecision::Deny,
            AnswerAction::Cancel => AnswersFileDecision::Cancel,
            AnswerAction::Allow | AnswerAction::Accept => match self.kind {
                ConsentRequestKind::StartServer
                | ConsentRequestKind::Tool
                | ConsentRequestKind::Prompt
                | ConsentRequestKind::Resource
                | ConsentRequestKind::Result
                | ConsentRequestKind::Url
                | ConsentRequestKind::SignIn => AnswersFileDecision::Allow,
                ConsentRequestKind::Elicitation => AnswersFileDecision::Submit(content.unwrap_or_default()),
                ConsentRequestKind::Sampling => match content {
                    Some(content) => AnswersFileDecision::Respond(parse_sampling_response(content)?),
                    None => AnswersFileDecision::AskModel,
                },
                ConsentRequestKind::ClientId => {
                    let written = content.ok_or("\"content\" is missing: the \"clientId\"")?;
                    let client = serde_json::from_value(Value::Object(written)).map_err(|error| error.to_string())?;
                    AnswersFileDecision::Identify(client)
                }
                ConsentRequestKind::Roots => {
                    let roots = roots.ok_or("\"roots\" is missing: a list of folders, which may be empty")?;
                    if let Some(relative) = roots.iter().find(|root| !Path::new(root).is_absolute()) {
                        return Err(format!("the folder {relative:?} must be an absolute path"));
                    }
                    AnswersFileDecision::Share(roots)
                }
            },
        };
        Ok(AnswersEntry {
            kind: self.kind,
            server: WildMatch::new(&self.server),
            name: NamePattern::compile(self.kind, &self.name)?,
            conditions: AnswersEntryConditions {
                hash: self.hash,
                unreviewed: self.unreviewed,
                after_untrusted: self.after_untrusted,
                command_line_only: self.command_line_only,
            },
            decision,
        })
    }
}

/// Parses the response to a sampling request from the answers file: `{"text": "..."}`, or an object with `content`,
/// `model` and `stopReason` as in the MCP specification.
fn parse_sampling_response(mut written: Map<String, Value>) -> Result<SamplingResponse, String> {
    let text = |value: Option<Value>, key: &str| match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("\"{key}\" must be a text")),
    };
    let model = text(written.remove("model"), "model")?;
    let stop_reason = text(written.remove("stopReason"), "stopReason")?;
    written.remove("role");
    let content = match (text(written.remove("text"), "text")?, written.remove("content")) {
        (Some(text), None) => vec![Content::Text { text }],
        (None, Some(Value::Array(blocks))) => blocks.into_iter().map(parse_content_block).collect::<Result<_, _>>()?,
        (None, Some(one)) => vec![parse_content_block(one)?],
        _ => return Err(String::from("expected either \"text\" or \"content\" for the answer of the model")),
    };
    if let Some(key) = written.keys().next() {
        return Err(format!("\"{key}\" is not known in a model's answer"));
    }
    Ok(SamplingResponse {
        content,
        model: model.unwrap_or_else(|| String::from("answers")),
        stop_reason: stop_reason.or_else(|| Some(String::from("endTurn"))),
    })
}

fn parse_content_block(written: Value) -> Result<Content, String> {
    match serde_json::from_value(written) {
        Ok(content @ (Content::Text { .. } | Content::Image { .. } | Content::Audio { .. })) => Ok(content),
        Ok(_) => Err(String::from("the content of an answer is text, images or audio")),
        Err(error) => Err(format!("this is not content: {error}")),
    }
}

#[cfg(test)]
mod problem_tests;
#[cfg(test)]
mod tests;
