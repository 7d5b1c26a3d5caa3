//! Commands for consent requests and the user's decisions.

use credentials::sign_in::EnteredClient as HostClient;
use host::view::{ConsentRequestEdit as HostEdit, UserDecision};

use super::arguments::parse_consent_request_id;
use super::{Api, errors, require_json_object, to_paths, views};
use crate::ApiError;
use crate::data::*;

pub(super) async fn decide_consent_request(api: &Api, r: DecideConsentRequest) -> Result<EmptyObject, ApiError> {
    let answer = match r.answer {
        ConsentDecision::Allow { scope, lasts: None } => UserDecision::Allow(scope),
        ConsentDecision::Allow { scope, lasts: Some(lasts) } => UserDecision::AllowFor(scope, lasts),
        ConsentDecision::AllowReadOnly { tools } => UserDecision::AllowReadOnly(tools),
        ConsentDecision::Submit { content } => UserDecision::Submit(require_json_object(content, "a form's content")?),
        ConsentDecision::Share { folders } => UserDecision::Share(to_paths(folders)),
        ConsentDecision::Identify { client } => UserDecision::Client(HostClient {
            client_id: client.client_id,
            client_secret: client.client_secret.filter(|secret| !secret.is_empty()),
        }),
        ConsentDecision::WriteResponse => UserDecision::ByHand,
        ConsentDecision::RerunModel => UserDecision::Again,
        ConsentDecision::ReturnToRequest => UserDecision::Back,
        ConsentDecision::StopModel => UserDecision::Stop,
        ConsentDecision::Deny => UserDecision::Deny,
        ConsentDecision::DenyBecause { reason } => UserDecision::DenyBecause(reason),
        ConsentDecision::Cancel => UserDecision::Cancel,
    };
    api.host.decide(parse_consent_request_id(&r.id)?, r.hash, answer).await?;
    Ok(EmptyObject {})
}

pub(super) async fn edit_consent_request(api: &Api, r: EditConsentRequest) -> Result<ConsentRequest, ApiError> {
    let consent_request = parse_consent_request_id(&r.id)?;
    let edit = match r.edit {
        ConsentRequestEdit::Arguments { arguments } => {
            HostEdit::Arguments(require_json_object(arguments, "arguments")?)
        }
        ConsentRequestEdit::Response { response } => HostEdit::Response(Box::new(views::to_sampling_result(response))),
        ConsentRequestEdit::Model { model } => {
            HostEdit::Model(models::ModelRef { provider: model.provider, model: model.model })
        }
        ConsentRequestEdit::Request { request } => {
            let requests = api.host.snapshot().await?.consent_requests;
            let shown = requests.into_iter().find(|q| q.id == consent_request).map(|q| q.body);
            let Some(host::view::ConsentRequestBody::Sampling { request: original, .. }) = shown else {
                return Err(errors::not_found_error("this consent request"));
            };
            HostEdit::Request(Box::new(views::to_sampling_params(request, *original)))
        }
    };
    Ok(views::consent_request_view(api.host.edit_consent_request(consent_request, edit).await?))
}

pub(super) async fn validate_form(api: &Api, r: ValidateForm) -> Result<FormProblems, ApiError> {
    let content = require_json_object(r.content, "a form's content")?;
    let problems = api.host.check_form(parse_consent_request_id(&r.id)?, content).await?;
    Ok(FormProblems { problems })
}
