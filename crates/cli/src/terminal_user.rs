//! Prompts the user on the terminal. Any response other than an explicit yes counts as no.

use std::sync::Arc;
use std::time::Duration;

use api::Api;
use api::Handler as _;
use api::data::{
    ApprovalScope, ConsentDecision, ConsentRequest, ConsentRequestBody, ConsentRequestEdit, ConsentRequestOrigin,
    Content, EnteredClient, FormField, SamplingResponse, SamplingStep, ValidateForm,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::consent_decider::ConsentReply;
use crate::input_lines::InputLines;
use crate::output::{Output, PromptGuard};
use crate::terminal_escape::pretty_json;
use crate::{consent_request_text, form, sampling_text};

/// Time after a prompt during which entered lines are ignored, because the user could not have read the prompt yet.
const INPUT_IGNORED_AFTER_PROMPT_BEGINS: Duration = Duration::from_millis(500);
/// Length of an hour, in milliseconds.
const MILLIS_PER_HOUR: u64 = 60 * 60 * 1000;

/// The user at the terminal, whom the program prompts for decisions.
pub(crate) struct TerminalUser {
    input: InputLines,
    output: Arc<Output>,
}

/// Prompt on the terminal to which the user has not replied yet.
struct OpenPrompt {
    input: InputLines,
    asking: PromptGuard,
}

impl TerminalUser {
    pub(crate) const fn new(input: InputLines, output: Arc<Output>) -> Self {
        Self { input, output }
    }

    /// Prompts the user for confirmation. Returns `true` only after an explicit yes.
    pub(crate) async fn confirm(&self, words: &str) -> bool {
        let mut prompt = OpenPrompt { input: self.input.clone(), asking: self.output.begin_prompt() };
        prompt.write(words);
        matches!(prompt.prompt_yes_no_or_cancel("no").await, Some(Ok(())))
    }

    /// Prompts the user for a decision on a consent request. If the input ends, closes the consent request without a
    /// decision.
    pub(crate) async fn prompt(&self, api: &Api, request: &ConsentRequest) -> ConsentReply {
        let mut prompt = OpenPrompt { input: self.input.clone(), asking: self.output.begin_prompt() };
        prompt.prompt_for_reply(api, request).await
    }
}

impl OpenPrompt {
    fn write(&self, text: &str) {
        self.asking.write(text);
    }

    async fn prompt_for_reply(&mut self, api: &Api, request: &ConsentRequest) -> ConsentReply {
        self.write(&consent_request_text::consent_request_text(request));
        let answer = match &request.body {
            ConsentRequestBody::StartServer { .. }
            | ConsentRequestBody::ConnectServer { .. }
            | ConsentRequestBody::Tool { .. }
            | ConsentRequestBody::Read { .. } => self.prompt_allow_or_deny(request).await,
            ConsentRequestBody::Sampling {
                step: SamplingStep::Request | SamplingStep::Running, model: None, ..
            } => self.prompt_yes_no_or_cancel("decline").await.map(allow_once_unless_refused),
            ConsentRequestBody::Sampling { step: SamplingStep::Request | SamplingStep::Running, .. } => {
                self.prompt_sampling_responder().await
            }
            ConsentRequestBody::Sampling {
                step: SamplingStep::Response,
                response: Some(response),
                model: Some(_),
                can_rerun,
                ..
            } if !response.content.is_empty() => match self.prompt_sampling_response_review(*can_rerun).await {
                Some(None) => return self.prompt_sampling_response_text().await,
                Some(Some(answer)) => Some(answer),
                None => None,
            },
            ConsentRequestBody::Sampling { step: SamplingStep::Response, .. } => {
                return self.prompt_sampling_response_text().await;
            }
            ConsentRequestBody::Url { url, .. } if !url.openable => Some(self.prompt_deny_or_cancel().await),
            ConsentRequestBody::Url { .. } => {
                self.prompt_yes_no_or_cancel("decline").await.map(allow_once_unless_refused)
            }
            ConsentRequestBody::Form { unsupported: Some(_), .. } => Some(self.prompt_deny_or_cancel().await),
            ConsentRequestBody::Form { fields, .. } => self.prompt_form(api, request, fields).await,
            ConsentRequestBody::Result { .. } => self.prompt_result_review().await,
            ConsentRequestBody::Roots => self.prompt_folders().await,
            ConsentRequestBody::SignIn { authorization_url: Some(page), .. } if !page.openable => {
                Some(self.prompt_deny_or_cancel().await)
            }
            ConsentRequestBody::SignIn { .. } => {
                self.prompt_yes_no_or_cancel("no").await.map(allow_once_unless_refused)
            }
            ConsentRequestBody::ClientId { .. } => self.prompt_client_id().await,
        };
        ConsentReply::Decision(answer.unwrap_or(ConsentDecision::Cancel))
    }

    async fn prompt_allow_or_deny(&mut self, request: &ConsentRequest) -> Option<ConsentDecision> {
        let mut choices = vec![("y", "once", ApprovalScope::Once)];
        if request.scopes.contains(&ApprovalScope::Session) {
            choices.push(("s", "until this program ends", ApprovalScope::Session));
        }
        if request.scopes.contains(&ApprovalScope::Always) {
            choices.push(("h", "for an hour", ApprovalScope::Always));
            choices.push(("a", "always", ApprovalScope::Always));
        }
        let words: Vec<String> = choices.iter().map(|(key, words, _)| format!("{key} = {words}")).collect();
        // If a model made the call, it can receive the reason for a denial.
        let is_of_model = matches!(request.origin, ConsentRequestOrigin::Model { .. });
        let why = if is_of_model { ", w = no, with a reason" } else { "" };
        let line =
            self.prompt_decision_line(&format!("Allow? {}, N = no{why}, c = cancel: ", words.join(", "))).await?;
        Some(match line.trim() {
            "c" => ConsentDecision::Cancel,
            "w" if is_of_model => {
                ConsentDecision::DenyBecause { reason: self.prompt_line("  why not: ").await?.trim().to_owned() }
            }
            typed => match choices.iter().find(|(key, ..)| *key == typed.to_lowercase()) {
                Some((key, _, scope)) => {
                    ConsentDecision::Allow { scope: *scope, lasts: (*key == "h").then_some(MILLIS_PER_HOUR) }
                }
                None => ConsentDecision::Deny,
            },
        })
    }

    /// Prompts for yes or no. Returns `Ok` for yes, `Err` with the decision for anything else, and `None` at the end of
    /// the input.
    async fn prompt_yes_no_or_cancel(&mut self, no: &str) -> Option<Result<(), ConsentDecision>> {
        let line = self.prompt_decision_line(&format!("y = yes, N = {no}, c = cancel: ")).await?;
        Some(match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            "c" => Err(ConsentDecision::Cancel),
            _ => Err(ConsentDecision::Deny),
        })
    }

    /// Prompts for a decision on sending a tool result to a model.
    async fn prompt_result_review(&mut self) -> Option<ConsentDecision> {
        let prompt = "y = let the model read it, N = don't send it, c = don't send it and stop the answer: ";
        let line = self.prompt_decision_line(prompt).await?;
        Some(match line.trim().to_lowercase().as_str() {
            "y" | "yes" => ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None },
            "c" => ConsentDecision::Cancel,
            _ => ConsentDecision::Deny,
        })
    }

    /// Prompts for who responds to a sampling request: a model or the user. The user can also refuse it.
    async fn prompt_sampling_responder(&mut self) -> Option<ConsentDecision> {
        let line = self
            .prompt_decision_line("y = ask the model, w = write the answer yourself, N = decline, c = cancel: ")
            .await?;
        Some(match line.trim().to_lowercase().as_str() {
            "y" | "yes" => ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None },
            "w" => ConsentDecision::WriteResponse,
            "c" => ConsentDecision::Cancel,
            _ => ConsentDecision::Deny,
        })
    }

    /// Prompts for a decision on a model's response to a sampling request. Returns `Some(None)` if the user wants to
    /// write another response, and `None` at the end of the input.
    async fn prompt_sampling_response_review(&mut self, can_rerun: bool) -> Option<Option<ConsentDecision>> {
        let ask = if can_rerun { "a = ask again, " } else { "" };
        let prompt = format!("y = send it, {ask}w = write another one yourself, N = decline, c = cancel: ");
        let line = self.prompt_decision_line(&prompt).await?;
        Some(match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None }),
            "a" if can_rerun => Some(ConsentDecision::RerunModel),
            "w" => None,
            "c" => Some(ConsentDecision::Cancel),
            _ => Some(ConsentDecision::Deny),
        })
    }

    async fn prompt_deny_or_cancel(&mut self) -> ConsentDecision {
        match self.prompt_decision_line("N = decline, c = cancel: ").await.as_deref().map(str::trim) {
            Some("c") | None => ConsentDecision::Cancel,
            Some(_) => ConsentDecision::Deny,
        }
    }

    async fn prompt_form(
        &mut self,
        api: &Api,
        request: &ConsentRequest,
        fields: &[FormField],
    ) -> Option<ConsentDecision> {
        if let Err(refusal) = {
            self.write("Fill it in? ");
            self.prompt_yes_no_or_cancel("decline").await?
        } {
            return Some(refusal);
        }
        loop {
            let mut content = Map::new();
            for field in fields {
                self.write(&crate::terminal_escape::escape_and_prefix_lines(&form::form_field_text(field), "  "));
                let typed = self.prompt_line("  > ").await?;
                if let Some(value) = form::parse_field_input(field, &typed) {
                    content.insert(field.name.clone(), value);
                }
            }
            let content = Value::Object(content);
            let check = ValidateForm { id: request.id.clone(), content: content.clone() };
            let problems = api.validate_form(check).await.ok()?.problems;
            if problems.is_empty() {
                self.write(&format!("This would be sent back:\n{}\n", pretty_json(&content)));
                return match self.prompt_yes_no_or_cancel("decline").await? {
                    Ok(()) => Some(ConsentDecision::Submit { content }),
                    Err(refusal) => Some(refusal),
                };
            }
            for problem in &problems {
                self.write(&format!("  {}\n", form::form_problem_text(problem)));
            }
            self.write("Once more. ");
        }
    }

    async fn prompt_sampling_response_text(&mut self) -> ConsentReply {
        self.write("Write it, and end with a line that has only a dot.\n");
        let mut text = String::new();
        loop {
            match self.prompt_line("").await.as_deref() {
                None => return ConsentReply::Decision(ConsentDecision::Cancel),
                Some(".") => break,
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        let text = text.trim_end().to_owned();
        let response = SamplingResponse {
            content: vec![Content::Text { text }],
            model: String::from("user"),
            stop_reason: Some(String::from("endTurn")),
        };
        self.write(&sampling_text::sampling_response_text(&response));
        match self.prompt_yes_no_or_cancel("decline").await {
            Some(Ok(())) => ConsentReply::Edited(ConsentRequestEdit::Response { response }),
            Some(Err(refusal)) => ConsentReply::Decision(refusal),
            None => ConsentReply::Decision(ConsentDecision::Cancel),
        }
    }

    async fn prompt_folders(&mut self) -> Option<ConsentDecision> {
        self.write(
            "Type one folder on each line, from the root on, and an empty line at the end; none shares nothing.\n",
        );
        let mut folders = Vec::new();
        loop {
            let line = self.prompt_line("  folder > ").await?;
            match line.trim() {
                "" => break,
                folder => folders.push(folder.to_owned()),
            }
        }
        let shown: Vec<String> =
            folders.iter().map(|folder| format!("  {}\n", crate::terminal_escape::escape_line(folder))).collect();
        let shown = if shown.is_empty() { String::from("  no folder\n") } else { shown.concat() };
        self.write(&format!("The server would know of, from now on:\n{shown}"));
        match self.prompt_yes_no_or_cancel("no").await? {
            Ok(()) => Some(ConsentDecision::Share { folders }),
            Err(refusal) => Some(refusal),
        }
    }

    async fn prompt_client_id(&mut self) -> Option<ConsentDecision> {
        let client_id = self.prompt_decision_line("  client ID (empty = no): ").await?.trim().to_owned();
        if client_id.is_empty() {
            return Some(ConsentDecision::Deny);
        }
        let secret = self
            .prompt_line("  client secret, if you received one (it is shown while you type): ")
            .await?
            .trim()
            .to_owned();
        let client_secret = Some(secret).filter(|secret| !secret.is_empty());
        Some(ConsentDecision::Identify { client: EnteredClient { client_id, client_secret } })
    }

    /// Prompts for a line that contains a decision. A line that is entered too soon after the prompt is ignored, and
    /// the prompt is repeated.
    async fn prompt_decision_line(&mut self, prompt: &str) -> Option<String> {
        let armed = Instant::now() + INPUT_IGNORED_AFTER_PROMPT_BEGINS;
        loop {
            let line = self.prompt_line(prompt).await?;
            if Instant::now() >= armed {
                return Some(line);
            }
            self.write("(too quick to count; once more)\n");
        }
    }

    async fn prompt_line(&mut self, prompt: &str) -> Option<String> {
        self.write(prompt);
        self.input.next_line().await
    }
}

fn allow_once_unless_refused(answer: Result<(), ConsentDecision>) -> ConsentDecision {
    match answer {
        Ok(()) => ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None },
        Err(refusal) => refusal,
    }
}
