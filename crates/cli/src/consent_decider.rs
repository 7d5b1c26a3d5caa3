//! Decides consent requests one after the other: by the answers file, by prompting the user at the terminal, or by
//! denying them.

use std::collections::HashSet;
use std::sync::Arc;

use api::data::{
    ApprovalScope, ConsentDecision, ConsentRequest, ConsentRequestBody, ConsentRequestEdit, DecideConsentRequest,
    EditConsentRequest, SamplingRunState, SamplingStep,
};
use api::{Api, ApiError, Handler as _};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::answers_file::{
    AnswersFile, AnswersFileDecision, ConsentRequestKind, describe_changed_tool,
    message_if_tool_changed_since_last_call, request_subject,
};
use crate::host_view::HostView;
use crate::output::{Output, to_json_value, with_redacted_environment_variables};
use crate::published_names::{CONSENT_REQUEST_FIELD_NAMES, with_published_field_names};
use crate::terminal_user::TerminalUser;

/// Source of the decisions on all consent requests of a command.
pub(crate) enum ConsentDecider {
    /// The answers file. Consent requests that no entry decides are denied.
    Answers(AnswersFile),
    /// The user at the terminal.
    User(TerminalUser),
    /// No source, so that all consent requests are denied.
    Nobody,
}

impl ConsentDecider {
    /// Returns the name of this source as it is stored in the audit log.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Answers(_) => "answers",
            Self::User(_) => "user",
            Self::Nobody => "policy",
        }
    }

    async fn decide(&mut self, api: &Api, request: &ConsentRequest) -> ConsentReplyWithReason {
        let refused = |reason: &str| {
            // The caller of a tool receives a reason only if the tool has changed. Advice about the answers file is
            // printed instead.
            let answer = describe_changed_tool(request)
                .map_or(ConsentDecision::Deny, |reason| ConsentDecision::DenyBecause { reason });
            ConsentReplyWithReason { answer: ConsentReply::Decision(answer), reason: Some(reason.to_owned()) }
        };
        match self {
            Self::Answers(answers) => match answers.find(request) {
                Ok(AnswersFileDecision::AskModel) if let Some(reason) = missing_model_reason(request) => {
                    refused(&reason)
                }
                Ok(verdict) => {
                    ConsentReplyWithReason { answer: reply_from_answers_file(request, verdict), reason: None }
                }
                Err(why) => refused(&why.to_string()),
            },
            Self::User(asker) => ConsentReplyWithReason { answer: asker.prompt(api, request).await, reason: None },
            Self::Nobody => {
                let changed = describe_changed_tool(request).map(|words| format!("{words}; ")).unwrap_or_default();
                refused(&format!("{changed}approval is not possible here; allow it with --answers, or use a terminal"))
            }
        }
    }
}

/// Returns the reason why no model can respond to a sampling request, or `None` if one can.
fn missing_model_reason(request: &ConsentRequest) -> Option<String> {
    match &request.body {
        ConsentRequestBody::Sampling { run: SamplingRunState::Failed { message, .. }, .. } => Some(message.clone()),
        ConsentRequestBody::Sampling { step: SamplingStep::Request, model: None, .. } => {
            Some(String::from("no model is set up; add one, or write the answer into the file"))
        }
        _ => None,
    }
}

/// Returns `true` while a model generates the response to a sampling request. The user can't decide such a consent
/// request yet.
const fn is_model_generating_response(request: &ConsentRequest) -> bool {
    matches!(request.body, ConsentRequestBody::Sampling { step: SamplingStep::Running, .. })
}

/// Reply to a consent request. Has a reason if the answers file or the program, and not the user, made the reply.
struct ConsentReplyWithReason {
    answer: ConsentReply,
    reason: Option<String>,
}

/// Reply to a consent request: a decision on its payload, or a change of its payload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConsentReply {
    /// Decision on the payload as it is.
    Decision(ConsentDecision),
    /// Change of the payload, and approval of the changed payload once.
    Edited(ConsentRequestEdit),
}

fn reply_from_answers_file(request: &ConsentRequest, verdict: &AnswersFileDecision) -> ConsentReply {
    let once = ConsentReply::Decision(ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None });
    match (verdict, &request.body) {
        (AnswersFileDecision::Respond(response), ConsentRequestBody::Sampling { step: SamplingStep::Response, .. }) => {
            ConsentReply::Edited(ConsentRequestEdit::Response { response: response.clone() })
        }
        (AnswersFileDecision::Respond(_), ConsentRequestBody::Sampling { .. }) => {
            ConsentReply::Decision(ConsentDecision::WriteResponse)
        }
        (AnswersFileDecision::Allow | AnswersFileDecision::Respond(_) | AnswersFileDecision::AskModel, _) => once,
        (AnswersFileDecision::Submit(content), _) => {
            ConsentReply::Decision(ConsentDecision::Submit { content: Value::Object(content.clone()) })
        }
        (AnswersFileDecision::Share(folders), _) => {
            ConsentReply::Decision(ConsentDecision::Share { folders: folders.clone() })
        }
        (AnswersFileDecision::Identify(client), _) => {
            ConsentReply::Decision(ConsentDecision::Identify { client: client.clone() })
        }
        (AnswersFileDecision::Deny, _) => ConsentReply::Decision(ConsentDecision::Deny),
        (AnswersFileDecision::Cancel, _) => ConsentReply::Decision(ConsentDecision::Cancel),
    }
}

/// Decides the host's consent requests one after the other, and applies the decisions, until the host stops.
pub(crate) async fn decide_all_consent_requests(
    api: Api,
    mut view: watch::Receiver<HostView>,
    mut decider: ConsentDecider,
    output: Arc<Output>,
) {
    // Identifiers and hashes of decided consent requests that are still in the queue.
    let mut decided: HashSet<(String, String)> = HashSet::new();
    loop {
        let front = {
            let view = view.borrow_and_update();
            decided.retain(|(id, hash)| view.consent_requests.iter().any(|q| q.id == *id && q.hash == *hash));
            let waits = |q: &&ConsentRequest| {
                !is_model_generating_response(q) && !decided.contains(&(q.id.clone(), q.hash.clone()))
            };
            view.consent_requests.iter().find(waits).cloned()
        };
        let Some(request) = front else {
            if view.changed().await.is_err() {
                return;
            }
            continue;
        };
        let is_gone =
            |view: &HostView| !view.consent_requests.iter().any(|q| q.id == request.id && q.hash == request.hash);
        let decision = tokio::select! {
            decision = decider.decide(&api, &request) => decision,
            changed = view.wait_for(is_gone) => {
                if changed.is_err() {
                    return;
                }
                output.print_message("(this request is no longer open)");
                continue;
            }
        };
        decided.insert((request.id.clone(), request.hash.clone()));
        if let Some(edited) = submit_consent_reply(&api, &request, decision, decider.name(), &output).await {
            decided.insert(edited);
        }
    }
}

/// Submits a reply to a consent request to the host. If the host rejects an approval, denies the consent request
/// instead. If the reply changed the payload, returns the new identifier and hash of the consent request.
async fn submit_consent_reply(
    api: &Api,
    request: &ConsentRequest,
    decision: ConsentReplyWithReason,
    by: &str,
    output: &Output,
) -> Option<(String, String)> {
    let mut reason = decision.reason;
    let mut shown = request.clone();
    let mut answer = match decision.answer {
        ConsentReply::Decision(answer) => answer,
        ConsentReply::Edited(edit) => {
            match api.edit_consent_request(EditConsentRequest { id: request.id.clone(), edit }).await {
                Ok(edited) => {
                    shown = edited;
                    ConsentDecision::Allow { scope: ApprovalScope::Once, lasts: None }
                }
                Err(error) => {
                    reason = Some(api_error_text(&error));
                    ConsentDecision::Deny
                }
            }
        }
    };
    // The message about a changed tool is printed before the decision takes effect.
    if by == "answers"
        && matches!(answer, ConsentDecision::Allow { .. })
        && let Some(words) = message_if_tool_changed_since_last_call(api, &shown)
    {
        output.print_message_in_any_format(&crate::terminal_escape::escape_line(&words));
        output.print_event("note", json!({ "server": shown.server, "message": words }));
    }
    if let Some(problem) = submitted_form_problem(api, &shown, &answer).await {
        reason = Some(problem);
        answer = ConsentDecision::Deny;
    }
    print_decision(&shown, &answer, by, reason.as_deref(), output);
    let give = |answer| {
        api.decide_consent_request(DecideConsentRequest { id: shown.id.clone(), hash: shown.hash.clone(), answer })
    };
    let refuses =
        matches!(answer, ConsentDecision::Deny | ConsentDecision::DenyBecause { .. } | ConsentDecision::Cancel);
    if let Err(error) = give(answer).await
        && !refuses
        && error.code != api::ErrorCode::Stale
    {
        print_decision(&shown, &ConsentDecision::Deny, "policy", Some(&api_error_text(&error)), output);
        // A failed denial means that the consent request is no longer open.
        let _ = give(ConsentDecision::Deny).await;
    }
    (shown.hash != request.hash).then_some((shown.id, shown.hash))
}

/// Returns the validation errors if the decision submits invalid content for a form, and `None` otherwise.
async fn submitted_form_problem(api: &Api, request: &ConsentRequest, answer: &ConsentDecision) -> Option<String> {
    let ConsentDecision::Submit { content } = answer else { return None };
    let check = api::data::ValidateForm { id: request.id.clone(), content: content.clone() };
    match api.validate_form(check).await {
        Ok(problems) if problems.problems.is_empty() => None,
        Ok(problems) => {
            let problems: Vec<String> = problems.problems.iter().map(crate::form::form_problem_text).collect();
            Some(format!("the content does not match the form: {}", problems.join("; ")))
        }
        Err(error) => Some(api_error_text(&error)),
    }
}

fn api_error_text(error: &ApiError) -> String {
    error.message.clone()
}

fn print_decision(request: &ConsentRequest, answer: &ConsentDecision, by: &str, reason: Option<&str>, output: &Output) {
    let decision = match answer {
        ConsentDecision::Allow { .. }
        | ConsentDecision::AllowReadOnly { .. }
        | ConsentDecision::Submit { .. }
        | ConsentDecision::Share { .. }
        | ConsentDecision::Identify { .. }
        | ConsentDecision::WriteResponse
        | ConsentDecision::RerunModel
        | ConsentDecision::ReturnToRequest
        | ConsentDecision::StopModel => "allowed",
        ConsentDecision::Deny | ConsentDecision::DenyBecause { .. } => "denied",
        ConsentDecision::Cancel => "cancelled",
    };
    let (kind, name) = (ConsentRequestKind::of_request(request).name(), request_subject(request));
    let shown = with_redacted_environment_variables(to_json_value(request));
    let mut fields = json!({
        "kind": kind,
        "server": request.server,
        "name": name,
        "decision": decision,
        "by": by,
        "question": with_published_field_names(shown, CONSENT_REQUEST_FIELD_NAMES),
    });
    if let Some(reason) = reason {
        fields["reason"] = reason.into();
    }
    output.print_event("question", fields);
    if by != "user" || reason.is_some() {
        let why = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        output.print_message(&crate::terminal_escape::escape_line(&format!(
            "{} · {kind} {name}: {decision}{why}",
            request.server
        )));
    }
}
