//! Conversion of command arguments to the host's types, and of the path of a saved file to the API type.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::consent_request::ConsentRequestId;
use serde_json::{Map, Value};

use super::{Api, errors};
use crate::data::{CompleteArgument, Completion, CompletionReference, ExpandTemplate, ExpandedTemplate, SavedFile};
use crate::{ApiError, ErrorCode};

/// Parses the identifier of a consent request, as a command contains it.
pub(crate) fn parse_consent_request_id(text: &str) -> Result<ConsentRequestId, ApiError> {
    text.parse().map(ConsentRequestId).map_err(|_| errors::not_found_error("this consent request"))
}

pub(super) fn require_json_object(value: Value, what: &str) -> Result<Map<String, Value>, ApiError> {
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(ApiError::new(ErrorCode::BadRequest, format!("{what} must be a JSON object"))),
    }
}

pub(super) fn to_paths(folders: Vec<String>) -> Vec<PathBuf> {
    folders.into_iter().map(PathBuf::from).collect()
}

/// Creates the response of a command that saves a file. `path` is `None` if the user closed the dialog.
pub(super) fn saved_file_view(path: Option<PathBuf>) -> SavedFile {
    SavedFile { path: path.map(|path| path.display().to_string()) }
}

pub(super) async fn complete_argument(api: &Api, r: CompleteArgument) -> Result<Completion, ApiError> {
    let reference = match r.of {
        CompletionReference::Prompt { name } => mcp_proto::types::CompletionReference::Prompt { name },
        CompletionReference::Template { uri } => mcp_proto::types::CompletionReference::Resource { uri },
    };
    let context: BTreeMap<String, String> = r.context.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let result = api.host.complete_argument(r.server, reference, r.argument, r.value, context).await?;
    Ok(Completion { values: result.values, total: result.total, has_more: result.has_more })
}

pub(super) fn expand_template(r: &ExpandTemplate) -> Result<ExpandedTemplate, ApiError> {
    let uri = offers::uri_template::expand(&r.template, &r.values)
        .map_err(|error| ApiError::new(ErrorCode::Invalid, error.to_string()))?;
    Ok(ExpandedTemplate { uri })
}
