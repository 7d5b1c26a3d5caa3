//! The file of answers: who may do what when nobody is there to be asked.

use std::path::Path;

use api::data::{CallKind, Content, EnteredClient, Question, QuestionBody, ReviewState, SamplingResponse, Why};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use wildmatch::WildMatch;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 4 << 20;

/// A file of answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    server: WildMatch,
    name: WildMatch,
    /// The hash of what it allows, and of nothing else.
    hash: Option<String>,
    verdict: Verdict,
}

/// What is to become of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It may cross, this once.
    Allow,
    /// A model's answer goes back.
    Respond(SamplingResponse),
    /// A model answers; what it says goes back.
    AskModel,
    /// A form's content goes back.
    Submit(Map<String, Value>),
    /// The server may know of these folders.
    Share(Vec<String>),
    /// Drawbridge identifies itself with this.
    Identify(EnteredClient),
    /// Refused.
    Deny,
    /// Closed without an answer.
    Cancel,
}

/// The kinds of questions, as the audit log names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    StartServer,
    Tool,
    Prompt,
    Resource,
    Sampling,
    Elicitation,
    Url,
    Roots,
    SignIn,
    ClientId,
}

impl Kind {
    pub(crate) const fn of(question: &Question) -> Self {
        match question.body {
            // To connect is to start, for whoever allows it.
            QuestionBody::StartServer { .. } | QuestionBody::ConnectServer { .. } => Self::StartServer,
            QuestionBody::Tool { .. } => Self::Tool,
            QuestionBody::Read { what: CallKind::Prompt, .. } => Self::Prompt,
            QuestionBody::Read { .. } => Self::Resource,
            QuestionBody::Sampling { .. } => Self::Sampling,
            QuestionBody::Form { .. } => Self::Elicitation,
            QuestionBody::Url { .. } => Self::Url,
            QuestionBody::Roots { .. } => Self::Roots,
            QuestionBody::SignIn { .. } => Self::SignIn,
            QuestionBody::ClientId { .. } => Self::ClientId,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StartServer => "start-server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Url => "url",
            Self::Roots => "roots",
            Self::SignIn => "sign-in",
            Self::ClientId => "client-id",
        }
    }
}

/// What a question is about, as patterns see it.
pub(crate) fn name_of(question: &Question) -> String {
    match (&question.body, &question.why) {
        (QuestionBody::StartServer { .. } | QuestionBody::ConnectServer { .. }, _) => question.command_line.clone(),
        (QuestionBody::Tool { tool, .. }, _) => tool.clone(),
        (QuestionBody::Read { name, .. }, _) => name.clone(),
        (QuestionBody::Url { url, .. }, _) => url.url.clone(),
        (QuestionBody::SignIn { issuer, .. } | QuestionBody::ClientId { issuer, .. }, _) => issuer.clone(),
        (_, Why::Call { name, .. }) => name.clone(),
        _ => String::new(),
    }
}

impl Answers {
    /// Reads a file.
    ///
    /// # Errors
    /// In words, with line and column.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let metadata = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
        if metadata.len() > LIMIT {
            return Err(format!("{shown}: it is larger than {} MiB", LIMIT >> 20));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        Self::parse(&text)
            .map_err(|(line, column, message)| format!("{shown}: line {line}, column {column}: {message}"))
    }

    fn parse(text: &str) -> Result<Self, (usize, usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
            let words = format!("expected a list of answers: {}", without_place(&error));
            (error.line(), error.column().max(1), words)
        })?;
        let mut entries = Vec::new();
        for raw in list {
            let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let written: Written = serde_json::from_str(raw.get()).map_err(|error| {
                let column = if error.line() == 1 { column + error.column() - 1 } else { error.column() };
                (line + error.line() - 1, column, without_place(&error))
            })?;
            let number = entries.len() + 1;
            entries.push(written.entry().map_err(|message| (line, column, format!("answer {number}: {message}")))?);
        }
        Ok(Self { entries })
    }

    /// The first answer that fits a question, or why none may answer it.
    pub(crate) fn find(&self, question: &Question) -> Result<&Verdict, Unanswered> {
        let (kind, name) = (Kind::of(question), name_of(question));
        let fits = |entry: &&Entry| {
            entry.kind == kind
                && entry.server.matches(&question.server)
                && entry.name.matches(&name)
                && entry.hash.as_ref().is_none_or(|hash| *hash == question.hash)
        };
        let entry = self.entries.iter().find(fits).ok_or(Unanswered::NoneFits)?;
        let is_no = matches!(entry.verdict, Verdict::Deny | Verdict::Cancel);
        match needs_hash(question) {
            Some(why) if !is_no && entry.hash.is_none() => Err(why(question.hash.clone())),
            _ => Ok(&entry.verdict),
        }
    }
}

/// Why a question is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// No entry fits.
    #[error("the file of answers does not answer this")]
    NoneFits,
    /// Whoever wrote the file has not seen it as it is now.
    #[error("it is not as it was when it was approved; look at it, and answer it with \"hash\": \"{0}\"")]
    Changed(String),
    /// A rule asks for it each time.
    #[error("a rule asks for it each time; answer it with \"hash\": \"{0}\"")]
    AskedEachTime(String),
}

/// Why a question may only be allowed by its hash, if so: what changed was seen by nobody, and a rule that asks wants somebody
/// to look at this very act.
fn needs_hash(question: &Question) -> Option<fn(String) -> Unanswered> {
    let asks_each_time = ["rule-asks", "preset-asks", "policy-unusable", "managed-unusable"];
    if question.marks.review == Some(ReviewState::Changed) {
        Some(Unanswered::Changed)
    } else if asks_each_time.contains(&question.rule.as_str()) {
        Some(Unanswered::AskedEachTime)
    } else {
        None
    }
}

fn without_place(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kind: Kind,
    #[serde(default = "anything")]
    server: String,
    #[serde(default = "anything")]
    name: String,
    #[serde(default)]
    hash: Option<String>,
    answer: WrittenAnswer,
}

fn anything() -> String {
    String::from("*")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnswer {
    action: Action,
    content: Option<Map<String, Value>>,
    roots: Option<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Allow,
    Deny,
    Accept,
    Decline,
    Cancel,
}

impl Written {
    fn entry(self) -> Result<Entry, String> {
        let WrittenAnswer { action, content, roots } = self.answer;
        let yes = matches!(action, Action::Allow | Action::Accept);
        if content.is_some() && !(yes && matches!(self.kind, Kind::Sampling | Kind::Elicitation | Kind::ClientId)) {
            return Err(String::from("\"content\" goes with \"accept\" for sampling, elicitation or client-id only"));
        }
        if roots.is_some() && !(yes && self.kind == Kind::Roots) {
            return Err(String::from("\"roots\" goes with \"accept\" for roots only"));
        }
        let verdict = match action {
            Action::Deny | Action::Decline => Verdict::Deny,
            Action::Cancel => Verdict::Cancel,
            Action::Allow | Action::Accept => match self.kind {
                Kind::StartServer | Kind::Tool | Kind::Prompt | Kind::Resource | Kind::Url | Kind::SignIn => {
                    Verdict::Allow
                }
                Kind::Elicitation => Verdict::Submit(content.unwrap_or_default()),
                Kind::Sampling => match content {
                    Some(content) => Verdict::Respond(response(content)?),
                    None => Verdict::AskModel,
                },
                Kind::ClientId => {
                    let written = content.ok_or("\"content\" is missing: the \"clientId\"")?;
                    let client = serde_json::from_value(Value::Object(written)).map_err(|error| error.to_string())?;
                    Verdict::Identify(client)
                }
                Kind::Roots => {
                    let roots = roots.ok_or("\"roots\" is missing: a list of folders, which may be empty")?;
                    if let Some(relative) = roots.iter().find(|root| !Path::new(root).is_absolute()) {
                        return Err(format!("the folder {relative:?} must be given from the root on"));
                    }
                    Verdict::Share(roots)
                }
            },
        };
        Ok(Entry {
            kind: self.kind,
            server: WildMatch::new(&self.server),
            name: WildMatch::new(&self.name),
            hash: self.hash,
            verdict,
        })
    }
}

/// A model's answer: `{"text": "..."}`, or as the protocol has it, with `content`, `model` and `stopReason`.
fn response(mut written: Map<String, Value>) -> Result<SamplingResponse, String> {
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
        (None, Some(Value::Array(blocks))) => blocks.into_iter().map(block).collect::<Result<_, _>>()?,
        (None, Some(one)) => vec![block(one)?],
        _ => return Err(String::from("expected either \"text\" or \"content\" for what the model says")),
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

fn block(written: Value) -> Result<Content, String> {
    match serde_json::from_value(written) {
        Ok(content @ (Content::Text { .. } | Content::Image { .. } | Content::Audio { .. })) => Ok(content),
        Ok(_) => Err(String::from("a model says text, images or audio")),
        Err(error) => Err(format!("this is not content: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::data::{Scope, ToolClaims};
    use serde_json::json;

    fn tool(server: &str, tool: &str) -> Question {
        let body = QuestionBody::Tool {
            tool: tool.into(),
            title: None,
            description: None,
            claims: ToolClaims::default(),
            input_schema: json!({}),
            arguments: json!({}),
            bytes: 2,
            changed_since_allowed: false,
            definition: None,
        };
        asked(server, body, Why::User { conversation: None })
    }

    fn asked(server: &str, body: QuestionBody, why: Why) -> Question {
        Question {
            call: None,
            round: None,
            id: "1".into(),
            hash: "h".into(),
            server: server.into(),
            transport: "stdio".into(),
            command_line: "npx -y pkg".into(),
            asked_at: 0,
            why,
            body,
            scopes: vec![Scope::Once],
            rule: String::new(),
            marks: Default::default(),
        }
    }

    #[test]
    fn the_first_that_fits_answers() {
        let answers = Answers::parse(
            r#"[
                {"kind": "tool", "server": "files", "name": "delete_*", "answer": {"action": "deny"}},
                {"kind": "tool", "server": "files", "answer": {"action": "allow"}},
                {"kind": "tool", "name": "r?ad", "answer": {"action": "cancel"}},
                {"kind": "start-server", "name": "npx *", "answer": {"action": "accept"}}
            ]"#,
        )
        .expect("the file is read");
        let cases = [
            (tool("files", "delete_all"), Ok(Verdict::Deny), "an earlier entry goes before a later one"),
            (tool("files", "read"), Ok(Verdict::Allow), "a name that is left out is any"),
            (tool("other", "read"), Ok(Verdict::Cancel), "? is one character"),
            (tool("other", "read2"), Err(Unanswered::NoneFits), "a pattern is for the whole name"),
            (tool("Files", "delete_x"), Err(Unanswered::NoneFits), "case matters"),
        ];
        for (question, wanted, why) in cases {
            assert_eq!(answers.find(&question).cloned(), wanted, "{why}");
        }
        let start = QuestionBody::StartServer {
            command: "npx".into(),
            resolved: None,
            args: vec![],
            env: vec![],
            cwd: None,
            approved_before: None,
            sandbox: None,
        };
        let start = asked("any", start, Why::Server);
        assert_eq!(answers.find(&start), Ok(&Verdict::Allow), "a start's name is its command line");
    }

    #[test]
    fn what_nobody_has_seen_is_allowed_by_its_hash_only() {
        let read = |text: &str| Answers::parse(text).expect("the file is read");
        let open = read(r#"[{"kind": "tool", "answer": {"action": "allow"}}]"#);
        let named = read(r#"[{"kind": "tool", "hash": "h", "answer": {"action": "allow"}}]"#);
        let refused = read(r#"[{"kind": "tool", "answer": {"action": "deny"}}]"#);
        let mut changed = tool("files", "read");
        changed.marks.review = Some(ReviewState::Changed);
        let asked = Question { rule: "rule-asks".into(), ..tool("files", "read") };
        let cases = [(changed, Unanswered::Changed("h".into())), (asked, Unanswered::AskedEachTime("h".into()))];
        for (question, why) in cases {
            assert_eq!(open.find(&question), Err(why), "a pattern does not allow it");
            assert_eq!(named.find(&question), Ok(&Verdict::Allow), "its own hash does");
            assert_eq!(refused.find(&question), Ok(&Verdict::Deny), "to refuse it takes no hash");
            let other = Question { hash: "other".into(), ..question };
            assert_eq!(named.find(&other), Err(Unanswered::NoneFits), "the hash of something else allows nothing");
        }
    }

    #[test]
    fn what_a_model_says_is_read_in_both_forms() {
        let cases = [
            (json!({"text": "hi"}), "answers", "endTurn"),
            (
                json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m", "stopReason": "s"}),
                "m",
                "s",
            ),
            (json!({"content": [{"type": "text", "text": "hi"}], "stopReason": null}), "answers", "endTurn"),
        ];
        for (content, model, stop) in cases {
            let file = json!([{"kind": "sampling", "answer": {"action": "accept", "content": content}}]).to_string();
            let answers = Answers::parse(&file).expect("the file is read");
            let wanted = SamplingResponse {
                content: vec![Content::Text { text: "hi".into() }],
                model: model.into(),
                stop_reason: Some(stop.into()),
            };
            assert_eq!(answers.entries[0].verdict, Verdict::Respond(wanted), "what {file} says");
        }
    }

    #[test]
    fn every_problem_is_placed_and_explained() {
        let cases = [
            ("{}", 1, 1, "expected a list of answers: invalid type: map, expected a sequence"),
            ("[\n  {\"kind\": \"tool\"}\n]", 2, 18, "missing field `answer`"),
            (
                "[{\"kind\": \"tools\", \"answer\": {\"action\": \"deny\"}}]",
                1,
                17,
                "unknown variant `tools`, expected one of `start-server`, `tool`, `prompt`, `resource`, `sampling`, `elicitation`, `url`, `roots`, `sign-in`, `client-id`",
            ),
            (
                "[{\"kind\": \"tool\",\n \"answer\": {\"action\": \"yes\"}}]",
                2,
                27,
                "unknown variant `yes`, expected one of `allow`, `deny`, `accept`, `decline`, `cancel`",
            ),
            (
                "[{\"kind\": \"tool\", \"tool\": \"x\", \"answer\": {\"action\": \"deny\"}}]",
                1,
                24,
                "unknown field `tool`, expected one of `kind`, `server`, `name`, `hash`, `answer`",
            ),
            (
                "[{\"kind\": \"sampling\", \"answer\": {\"action\": \"allow\", \"content\": {\"txt\": \"x\"}}}]",
                1,
                2,
                "answer 1: expected either \"text\" or \"content\" for what the model says",
            ),
            (
                "[{\"kind\": \"sampling\", \"answer\": {\"action\": \"allow\", \"content\": {\"text\": \"x\", \"modell\": \"y\"}}}]",
                1,
                2,
                "answer 1: \"modell\" is not known in a model's answer",
            ),
            (
                "[{\"kind\": \"tool\", \"answer\": {\"action\": \"allow\", \"content\": {}}}]",
                1,
                2,
                "answer 1: \"content\" goes with \"accept\" for sampling, elicitation or client-id only",
            ),
            (
                "[{\"kind\": \"roots\", \"answer\": {\"action\": \"accept\"}}]",
                1,
                2,
                "answer 1: \"roots\" is missing: a list of folders, which may be empty",
            ),
            (
                "[{\"kind\": \"roots\", \"answer\": {\"action\": \"accept\", \"roots\": [\"src\"]}}]",
                1,
                2,
                "answer 1: the folder \"src\" must be given from the root on",
            ),
            (
                "[{\"kind\": \"url\", \"answer\": {\"action\": \"deny\", \"roots\": []}}]",
                1,
                2,
                "answer 1: \"roots\" goes with \"accept\" for roots only",
            ),
        ];
        for (text, line, column, message) in cases {
            let problem = Answers::parse(text).expect_err(text);
            assert_eq!(problem, (line, column, message.to_owned()), "what is said about {text}");
        }
    }
}
