//! Commands for consent requests and decisions.

use credentials::sign_in::EnteredClient as HostClient;
use domain::question::QuestionId;
use host::view::{Edit as HostEdit, UserAnswer};

use super::{Api, errors, object, paths, views};
use crate::ApiError;
use crate::data::*;

/// Parses the identifier of a consent request from the page.
pub(super) fn id(text: &str) -> Result<QuestionId, ApiError> {
    text.parse().map(QuestionId).map_err(|_| errors::not_found("this consent request"))
}

pub(super) async fn answer_question(api: &Api, r: AnswerQuestion) -> Result<Nothing, ApiError> {
    let answer = match r.answer {
        Answer::Allow { scope, lasts: None } => UserAnswer::Allow(scope),
        Answer::Allow { scope, lasts: Some(lasts) } => UserAnswer::AllowFor(scope, lasts),
        Answer::Submit { content } => UserAnswer::Submit(object(content, "a form's content")?),
        Answer::Share { folders } => UserAnswer::Share(paths(folders)),
        Answer::Identify { client } => UserAnswer::Client(HostClient {
            client_id: client.client_id,
            client_secret: client.client_secret.filter(|secret| !secret.is_empty()),
        }),
        Answer::ByHand => UserAnswer::ByHand,
        Answer::Again => UserAnswer::Again,
        Answer::Back => UserAnswer::Back,
        Answer::Stop => UserAnswer::Stop,
        Answer::Deny => UserAnswer::Deny,
        Answer::DenyBecause { reason } => UserAnswer::DenyBecause(reason),
        Answer::Cancel => UserAnswer::Cancel,
    };
    api.host.answer(id(&r.id)?, r.hash, answer).await?;
    Ok(Nothing {})
}

pub(super) async fn edit_question(api: &Api, r: EditQuestion) -> Result<Question, ApiError> {
    let question = id(&r.id)?;
    let edit = match r.edit {
        Edit::Arguments { arguments } => HostEdit::Arguments(object(arguments, "arguments")?),
        Edit::Response { response } => HostEdit::Response(Box::new(views::to_response(response))),
        Edit::Model { model } => HostEdit::Model(models::ModelRef { provider: model.provider, model: model.model }),
        Edit::Request { request } => {
            let questions = api.host.snapshot().await?.questions;
            let shown = questions.into_iter().find(|q| q.id == question).map(|q| q.body);
            let Some(host::view::QuestionBody::Sampling { request: original, .. }) = shown else {
                return Err(errors::not_found("this consent request"));
            };
            HostEdit::Request(Box::new(views::to_request(request, *original)))
        }
    };
    Ok(views::question(api.host.edit(question, edit).await?))
}

pub(super) async fn check_form(api: &Api, r: CheckForm) -> Result<FormProblems, ApiError> {
    let content = object(r.content, "a form's content")?;
    let problems = api.host.check_form(id(&r.id)?, content).await?;
    Ok(FormProblems { problems })
}
