//! Requests to the host while the server handles one of the host's requests, in stateful and stateless revisions.
//!
//! In a session the server sends a separate request and receives the response while the host's request is pending. In
//! stateless revisions the response to the host's request contains the server's requests, and the host repeats its
//! request with the responses. Handlers call [`request_input`] and need not distinguish the two.

#![allow(deprecated, reason = "sampling and roots are deprecated for the future and part of every revision so far")]

use rmcp::model::{
    ClientCapabilities, ElicitRequestParams, ErrorData, InputRequest, InputRequiredResult, InputResponses,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::{self, Context};

/// Reason why the server ends a request of the host before its work is done.
#[derive(Debug)]
pub(crate) enum EarlyExit {
    /// The work failed. Contains a message for the user.
    Failed(String),
    /// The request is not valid. Contains the error to return.
    Refused(ErrorData),
    /// The host must first respond to requests of the server. Contains these requests.
    Ask(Box<InputRequiredResult>),
}

impl From<ErrorData> for EarlyExit {
    fn from(error: ErrorData) -> Self {
        Self::Refused(error)
    }
}

/// The host's responses to requests of the server, and the state that the host returned with them. Empty in a session.
#[derive(Debug, Default)]
pub(crate) struct InputResponseSet {
    pub(crate) responses: InputResponses,
    pub(crate) state: Option<String>,
}

impl InputResponseSet {
    /// Creates the set from the responses and the state in the host's request.
    pub(crate) fn new(responses: Option<InputResponses>, state: Option<String>) -> Self {
        Self { responses: responses.unwrap_or_default(), state }
    }

    /// Checks that the host has returned the state that the server sent with its requests, unchanged.
    fn check_request_state(&self, sent: Option<&str>) -> Result<(), ErrorData> {
        if self.state.as_deref() == sent {
            return Ok(());
        }
        Err(ErrorData::invalid_params("requestState must be returned unchanged, or omitted if none was sent", None))
    }
}

/// Sends one request to the host and returns the host's response.
///
/// In stateless revisions `state` is sent with the request, and the host has to return it unchanged.
pub(crate) async fn request_input<T: DeserializeOwned>(
    context: &Context,
    answers: &InputResponseSet,
    key: &str,
    question: InputRequest,
    state: Option<&str>,
) -> Result<T, EarlyExit> {
    let values = request_inputs(context, answers, vec![(key, question)], state).await?;
    let value = values.into_iter().next().unwrap_or_default();
    serde_json::from_value(value).map_err(|error| {
        ErrorData::invalid_params(format!("the answer to \"{key}\" is not readable: {error}"), None).into()
    })
}

/// Sends several requests to the host, in one round if the revision supports it. Returns the responses in the same
/// order.
pub(crate) async fn request_inputs(
    context: &Context,
    answers: &InputResponseSet,
    questions: Vec<(&str, InputRequest)>,
    state: Option<&str>,
) -> Result<Vec<Value>, EarlyExit> {
    for (_, question) in &questions {
        check_client_capability(context, question)?;
    }
    if client::is_stateless(context) {
        return responses_of_input_round(answers, questions, state);
    }
    let mut values = Vec::with_capacity(questions.len());
    for (_, question) in questions {
        values.push(send_request(context, question).await?);
    }
    Ok(values)
}

/// Returns the host's responses to these requests. If one is missing, returns an [`EarlyExit::Ask`] with the requests,
/// so that the host repeats its request with the responses.
fn responses_of_input_round(
    answers: &InputResponseSet,
    questions: Vec<(&str, InputRequest)>,
    state: Option<&str>,
) -> Result<Vec<Value>, EarlyExit> {
    let found: Option<Vec<Value>> = questions.iter().map(|(key, _)| answers.responses.get(*key).cloned()).collect();
    if let Some(values) = found {
        answers.check_request_state(state)?;
        return Ok(values);
    }
    let questions = questions.into_iter().map(|(key, question)| (key.to_owned(), question)).collect();
    let result = InputRequiredResult::new(Some(questions), state.map(str::to_owned));
    Err(EarlyExit::Ask(Box::new(result)))
}

/// Sends a request to the host, and waits until the host responds or cancels its own request.
async fn send_request(context: &Context, question: InputRequest) -> Result<Value, EarlyExit> {
    let request = match question {
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return Err(internal_error("this question cannot be asked")),
    };
    let mut handle = context
        .peer
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .map_err(request_failure)?;
    let answer = tokio::select! {
        answer = &mut handle.rx => answer,
        () = context.ct.cancelled() => {
            let reason = "the request that led to this question was cancelled".to_owned();
            handle.cancel(Some(reason)).await.map_err(request_failure)?;
            return Err(EarlyExit::Failed("Cancelled.".to_owned()));
        }
    };
    let answer = answer.map_err(|_| internal_error("the host left"))?.map_err(request_failure)?;
    serde_json::to_value(answer).map_err(|error| internal_error(&error.to_string()))
}

fn request_failure(error: ServiceError) -> EarlyExit {
    match error {
        ServiceError::McpError(error) => {
            EarlyExit::Failed(format!("The host refused the question: {} (code {}).", error.message, error.code.0))
        }
        other => EarlyExit::Failed(format!("The question could not be asked: {other}.")),
    }
}

fn internal_error(message: &str) -> EarlyExit {
    ErrorData::internal_error(message.to_owned(), None).into()
}

/// Checks that the host declared the required capability and that the revision supports the request.
fn check_client_capability(context: &Context, question: &InputRequest) -> Result<(), EarlyExit> {
    let has = client::host_capabilities(context);
    let builder = ClientCapabilities::builder();
    let (what, supported, required, since) = match question {
        InputRequest::CreateMessage(_) => (
            "answer with a model (sampling)",
            has.sampling.is_some(),
            builder.enable_sampling().build(),
            ProtocolVersion::V_2024_11_05,
        ),
        InputRequest::ListRoots(_) => (
            "list its folders (roots)",
            has.roots.is_some(),
            builder.enable_roots().build(),
            ProtocolVersion::V_2024_11_05,
        ),
        InputRequest::Elicitation(request) => {
            let is_url = matches!(request.params, ElicitRequestParams::UrlElicitationParams { .. });
            let supported = has.elicitation.is_some_and(|modes| {
                // If no mode is declared, only forms are supported, as before URLs were introduced.
                if is_url { modes.url.is_some() } else { modes.form.is_some() || modes.url.is_none() }
            });
            let (what, since) = if is_url {
                ("open a URL (elicitation)", ProtocolVersion::V_2025_11_25)
            } else {
                ("show a form (elicitation)", ProtocolVersion::V_2025_06_18)
            };
            (what, supported, builder.enable_elicitation().build(), since)
        }
        _ => return Err(internal_error("this question cannot be asked")),
    };
    if supported && client::is_revision_at_least(context, &since) {
        return Ok(());
    }
    if client::is_stateless(context) {
        return Err(ErrorData::missing_required_client_capability(required).into());
    }
    Err(EarlyExit::Failed(format!(
        "This host has not declared that it can {what}, or the protocol revision {} is too old for it.",
        client::protocol_revision(context)
    )))
}
