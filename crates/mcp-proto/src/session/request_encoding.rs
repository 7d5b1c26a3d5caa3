//! Wire format of sampling, elicitation and roots requests from the server, and of their responses.

use serde_json::{Value, json};

use crate::jsonrpc::{RpcError, code, escape_and_truncate};
use crate::revision::Revision;
use crate::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, Map,
    SamplingContent,
};

use super::server_requests::ServerRequestKind;
use super::{ClientResponse, ServerRequest, meta, results, sampling};

/// Decodes a request from the server. Returns the error to respond with if the request is invalid or needs a capability
/// that the client did not declare.
pub(super) fn parse_server_request(
    method: &str,
    params: Map,
    offered: &ClientCapabilities,
) -> Result<ServerRequest, RpcError> {
    match (method, &offered.sampling, &offered.elicitation, &offered.roots) {
        ("sampling/createMessage", Some(sampling), ..) => {
            let params: CreateMessageParams = results::deserialize_object(params).map_err(invalid_params_error)?;
            sampling::validate_sampling_request(&params, sampling.tools.is_some()).map_err(invalid_params_error)?;
            Ok(ServerRequest::Sampling(Box::new(params)))
        }
        ("elicitation/create", _, Some(elicitation), _) => {
            let params = results::deserialize_object(params).map_err(invalid_params_error)?;
            let (mode, offered) = match &params {
                ElicitParams::Form { .. } => ("form", meta::supports_form_elicitation(elicitation)),
                ElicitParams::Url { .. } => ("url", elicitation.url.is_some()),
            };
            if !offered {
                return Err(invalid_params_error(format!("this client did not offer elicitation in mode {mode}")));
            }
            Ok(ServerRequest::Elicitation(params))
        }
        ("roots/list", _, _, Some(_)) => Ok(ServerRequest::Roots),
        _ => Err(RpcError::new(
            code::METHOD_NOT_FOUND,
            format!("this client does not offer the method {}", escape_and_truncate(method, 80)),
        )),
    }
}

fn invalid_params_error(cause: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, cause)
}

pub(super) fn server_request_kind(server_request: &ServerRequest) -> ServerRequestKind {
    match server_request {
        ServerRequest::Sampling(_) => ServerRequestKind::Sampling,
        ServerRequest::Elicitation(ElicitParams::Form { .. }) => ServerRequestKind::Form,
        ServerRequest::Elicitation(ElicitParams::Url { .. }) => ServerRequestKind::Url,
        ServerRequest::Roots => ServerRequestKind::Roots,
    }
}

/// Encodes the client's response to a request from the server. Returns `None` if its kind does not match that of the
/// request.
pub(super) fn encode_client_response(
    kind: ServerRequestKind,
    answer: ClientResponse,
    revision: Revision,
) -> Option<Result<Value, RpcError>> {
    match (kind, answer) {
        (_, ClientResponse::Refused { code, message }) => Some(Err(RpcError::new(code, message))),
        (ServerRequestKind::Sampling, ClientResponse::Sampling(result)) => {
            Some(adapt_sampling_result_to_revision(*result, revision).map(|result| json!(result)))
        }
        (ServerRequestKind::Form, ClientResponse::Elicitation(ElicitResult { action, content })) => {
            let content = content.filter(|_| action == ElicitAction::Accept);
            Some(Ok(json!(ElicitResult { action, content })))
        }
        // The content of a URL interaction is not sent through the client.
        (ServerRequestKind::Url, ClientResponse::Elicitation(ElicitResult { action, .. })) => {
            Some(Ok(json!(ElicitResult { action, content: None })))
        }
        (ServerRequestKind::Roots, ClientResponse::Roots(roots)) => Some(Ok(json!({ "roots": roots }))),
        _ => None,
    }
}

/// Replaces the content list of a sampling result by a single block if the list has one element or `revision` supports
/// no lists. Returns an error if the blocks cannot be joined as text.
fn adapt_sampling_result_to_revision(
    mut result: CreateMessageResult,
    revision: Revision,
) -> Result<CreateMessageResult, RpcError> {
    let SamplingContent::Many(blocks) = &result.content else { return Ok(result) };
    if blocks.len() != 1 && revision.has_sampling_content_list() {
        return Ok(result);
    }
    let one = result.content.to_single_block().ok_or_else(|| {
        let cause = format!("the response has several content blocks, which protocol {revision} does not support");
        RpcError::new(code::INTERNAL_ERROR, cause)
    })?;
    result.content = SamplingContent::One(one);
    Ok(result)
}
