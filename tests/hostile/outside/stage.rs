//! Setup of a scenario: servers, a model that obeys instructions, and a user who denies the consent request that shows
//! the harm and allows all others.

use std::sync::Arc;
use std::time::Duration;

use chat::{Chat, ConversationSettings, NewMessage, OfferedServer, tool_keys};
use domain::consent_request::ConsentRequestOrigin;
use domain::history::Conversation;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use host::{CallOrigin, DefinitionShownToUser};
use models::{MessagePart, ReplyDelta, StopReason};
use offers::review::{DefinitionKind, Flag};
use policy::{ApprovalScope, ReviewState};
use ports::server_config::ServerConfig;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::model::{ModelStep, ScriptedModel, final_reply_step, model_named, model_reference, text_reply};

/// Text that stands for a secret, or for the harmful part of a call, in all scenarios.
pub(crate) const HARM_CANARY: &str = "canary-4f1e";
/// Identifier of the conversation in all scenarios.
const CONVERSATION_ID: &str = "outside";

/// Returns the definition of a tool with string parameters of these names.
pub(crate) fn tool_definition(name: &str, description: &str, parameters: &[&str]) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// App, scripted model and servers of one scenario.
pub(crate) struct ScenarioHost {
    pub(crate) app: TestApp,
    pub(crate) chat: Chat,
    pub(crate) model: Arc<ScriptedModel>,
    /// Folder with one file per server, to which the server writes the messages that it receives.
    records: tempfile::TempDir,
}

impl ScenarioHost {
    /// Starts an app with these servers, each given as its name, its tools, and the text that each of its tools
    /// returns.
    pub(crate) async fn start(servers: &[(&str, &[Value], &str)]) -> Self {
        let records = tempfile::tempdir().unwrap();
        let config = |name: &str, tools: &[Value], text: &str| {
            Self::server_config(&records.path().join(name).to_string_lossy(), &[tools], text)
        };
        let all = servers.iter().map(|(name, tools, text)| (*name, config(name, tools, text))).collect();
        Self::start_with_records(records, all).await
    }

    /// Returns the configuration of a server that answers `tools/list` with each of `lists` in order, and every call
    /// with `text`. It writes the messages that it receives to the file `record`.
    pub(crate) fn server_config(record: &str, lists: &[&[Value]], text: &str) -> ServerConfig {
        let mut arguments = vec!["--record".to_owned(), record.to_owned()];
        for tools in lists {
            arguments.extend(["--reply".to_owned(), format!("tools/list={}", json!({ "tools": tools }))]);
        }
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        arguments.extend(["--reply".to_owned(), format!("tools/call={result}")]);
        scripted_config(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts an app with these servers, which write the messages that they receive to files in the folder `records`.
    pub(crate) async fn start_with_records(records: tempfile::TempDir, servers: Vec<(&str, ServerConfig)>) -> Self {
        let names: Vec<String> = servers.iter().map(|(name, _)| (*name).to_owned()).collect();
        let app = TestApp::start(servers).await;
        for name in &names {
            app.ready(name).await;
            app.until(name, "known", |server| server.counts[0] > 0).await;
        }
        let model = ScriptedModel::add_to_host(&app.host, vec![model_named("m")]).await;
        let conversation =
            Conversation { id: CONVERSATION_ID.into(), title: "Outside".into(), ..Conversation::default() };
        app.host.ports().history.create(&conversation).unwrap();
        let offered = |name: &String| OfferedServer { server: name.clone(), tools: None, instructions: None };
        let servers = names.iter().map(offered).collect();
        let settings =
            ConversationSettings { model: Some(model_reference("m")), servers, ..ConversationSettings::default() };
        let chat = Chat::new(app.host.clone());
        chat.set_conversation_settings(CONVERSATION_ID.into(), settings).await.unwrap();
        Self { app, chat, model, records }
    }

    /// Marks the definition of a tool as reviewed by the user.
    pub(crate) async fn review(&self, server: &str, tool: &str) {
        let reviewed = self.app.host.server_review(server.into()).await.unwrap();
        let own = reviewed.catalog().tool(tool).unwrap_or_else(|| panic!("{server} has {tool}"));
        let definition = DefinitionShownToUser {
            kind: DefinitionKind::Tool,
            name: tool.to_owned(),
            hash: reviewed.review_tool(&own).0.to_string(),
        };
        self.app.host.mark_definitions_reviewed(server.into(), vec![definition]).await.unwrap();
    }

    /// Calls a tool as the user, and approves the call permanently.
    pub(crate) async fn allow_always(&self, server: &str, tool: &str) {
        let (host, own, name) = (self.app.host.clone(), server.to_owned(), tool.to_owned());
        let call = tokio::spawn(async move {
            let origin = CallOrigin::User { conversation: None };
            let answered = tokio::sync::oneshot::channel().0;
            host.call_tool_as(origin, "always".into(), own, name, Map::new(), answered).await
        });
        let request = self.app.consent_request(server, "the tool", is_tool_request).await;
        self.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
        call.await.unwrap().expect("the user's call is allowed");
    }

    /// Sends a user message, to which the model responds with these tool calls in order. The user denies consent
    /// requests that show the harm and approves all others. Returns the consent requests.
    pub(crate) async fn run_model_calls(&self, calls: &[(&str, &str, Value)]) -> Vec<ConsentRequestView> {
        for (at, (server, tool, arguments)) in calls.iter().enumerate() {
            self.model.queue_reply(tool_use_reply(&format!("use-{at}"), &tool_keys::tool_key(server, tool), arguments));
        }
        self.model.queue_reply(text_reply("Done.", (10, 10)));
        let message = NewMessage { text: "Do what I asked for.".into(), ..NewMessage::default() };
        self.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
        let mut requests: Vec<ConsentRequestView> = Vec::new();
        let ended = async {
            while self.chat.is_replying_with_partial_reply(CONVERSATION_ID).0 {
                for request in self.app.consent_requests().await.into_iter().filter(is_tool_or_result_request) {
                    if requests.iter().all(|known| known.id != request.id) {
                        let answer = if shows_canary(&request) {
                            UserDecision::Deny
                        } else {
                            UserDecision::Allow(ApprovalScope::Once)
                        };
                        self.app.decide(&request, answer).await;
                        requests.push(request);
                    }
                }
                // sleep: polls until the condition holds, which no event reports.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, ended).await.expect("the model comes to its end");
        requests
    }

    /// Returns `true` if a server has received the text [`HARM_CANARY`], which stands for the harm.
    pub(crate) fn has_received_canary(&self, server: &str) -> bool {
        self.received_text(server).contains(HARM_CANARY)
    }

    /// Returns all messages that a server has received, as one text.
    pub(crate) fn received_text(&self, server: &str) -> String {
        std::fs::read_to_string(self.records.path().join(server)).unwrap()
    }

    /// Returns all requests that the model has received, as one text.
    pub(crate) fn model_prompts(&self) -> String {
        format!("{:?}", self.model.requests())
    }

    /// Closes the host, and waits until its processes have ended.
    pub(crate) async fn close(self) {
        self.app.host.close().await;
    }
}

fn is_tool_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

fn is_tool_or_result_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. } | ConsentRequestBody::Result { .. })
}

/// Returns `true` if a consent request shows the text [`HARM_CANARY`], which stands for the harm.
pub(crate) fn shows_canary(request: &ConsentRequestView) -> bool {
    match &request.body {
        ConsentRequestBody::Tool { arguments, .. } => json!(arguments).to_string().contains(HARM_CANARY),
        ConsentRequestBody::Result { parts, .. } => format!("{parts:?}").contains(HARM_CANARY),
        _ => false,
    }
}

/// Returns the steps of a model's reply that uses one tool.
fn tool_use_reply(id: &str, name: &str, arguments: &Value) -> Vec<ModelStep> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let piece = json!(arguments).to_string();
    let part = MessagePart::ToolUse { id: id.into(), name: name.into(), arguments, opaque: None };
    vec![
        ModelStep::Says(ReplyDelta::ToolUseBegan { id: id.into(), name: name.into() }),
        ModelStep::Says(ReplyDelta::ToolUseArguments { id: id.into(), text: piece }),
        final_reply_step(vec![part], StopReason::ToolUse, (10, 10)),
    ]
}

/// Returns a short text about a consent request: the tool and its server, the arguments, and the review marks.
pub(crate) fn request_summary(request: &ConsentRequestView) -> String {
    let ConsentRequestBody::Tool { tool, arguments, .. } = &request.body else { return request.reason.to_owned() };
    let (name, server) = (escape_non_ascii(&tool.name), escape_non_ascii(&request.server));
    let mut words = format!("`{name}` of `{server}`, `{}`", json!(arguments));
    let marks = &request.marks;
    match marks.review_state {
        Some(ReviewState::New) => words.push_str("; new"),
        Some(ReviewState::Changed) => words.push_str("; changed"),
        Some(ReviewState::Reviewed) | None => {}
    }
    if let Some(diff) = &marks.diff {
        for change in &diff.changes {
            words.push_str(&format!("; {} is different", change.path.join(" / ")));
        }
    }
    if !marks.flags.is_empty() {
        words.push_str(&format!("; marked: {}", flag_reasons_text(&marks.flags)));
    }
    for alike in &marks.look_alikes {
        words.push_str(&format!(
            "; looks like `{}` of `{}`",
            escape_non_ascii(&alike.name),
            escape_non_ascii(&alike.server)
        ));
    }
    if let ConsentRequestOrigin::Model { untrusted_servers: after, .. } = &request.origin
        && !after.is_empty()
    {
        words.push_str(&format!("; after words of {}", after.join(", ")));
    }
    words
}

/// Returns the reasons of review flags as text, such as `instructs model, secret place`.
pub(crate) fn flag_reasons_text(flags: &[Flag]) -> String {
    let mut words: Vec<String> = flags.iter().map(|flag| split_camel_case(&format!("{:?}", flag.reason))).collect();
    words.sort();
    words.dedup();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn split_camel_case(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

/// Returns a name with its letters outside of ASCII escaped, because they may look like ASCII letters in the table.
fn escape_non_ascii(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("[U+{:04X}]", c as u32) }).collect()
}
