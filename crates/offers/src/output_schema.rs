//! Validates structured results against the output schema of their tool. Used by `chat` before a result is displayed.

use std::time::Duration;

use mcp_proto::jsonrpc::RawJson;
use mcp_proto::types::Tool;
use serde_json::Value;

/// Maximum size of a schema that is compiled, in bytes of JSON.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// Timeout for validating one structured result.
const VALIDATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Validates a structured result in a blocking task, and returns the first problem like [`first_result_problem`].
/// `definition` is the definition of the tool. Without an output schema in it, every result is valid.
///
/// A hostile schema may be slow to check: after two seconds, a problem is returned without waiting for the task.
pub async fn validate_structured_result(definition: RawJson, result: Value) -> Option<String> {
    let check = tokio::task::spawn_blocking(move || match definition.parse::<Tool>() {
        Ok(tool) => first_result_problem(&tool.output_schema?, &result),
        Err(error) => Some(unusable_schema_text(&error.to_string())),
    });
    match tokio::time::timeout(VALIDATION_TIMEOUT, check).await {
        Ok(Ok(problem)) => problem,
        Ok(Err(error)) => Some(format!("it could not be checked: {error}")),
        Err(_) => Some("it takes too long to check it".to_owned()),
    }
}

/// Returns a description of the first problem of a structured result or of the schema itself, or `None` if the result
/// is valid.
///
/// A schema without `$schema` is interpreted as JSON Schema 2020-12. Drafts since draft 4 are supported. External
/// references are never fetched.
///
/// The run time depends on the schema and the result, so call this in a blocking task.
///
/// # Examples
///
/// ```
/// use offers::output_schema::first_result_problem;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] });
/// assert_eq!(first_result_problem(&schema, &json!({ "sum": 3 })), None);
/// let problem = first_result_problem(&schema, &json!({ "sum": "three" })).expect("the sum is a string");
/// assert!(problem.starts_with("/sum: "), "the problem has its place: {problem}");
/// assert!(first_result_problem(&json!({ "type": "sum" }), &json!({})).is_some(), "the schema itself is invalid");
/// ```
#[must_use]
pub fn first_result_problem(schema: &Value, result: &Value) -> Option<String> {
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        return Some(unusable_schema_text(&format!("it is larger than {} KiB", MAX_SCHEMA_BYTES / 1024)));
    }
    // Patterns are written by the server, so an engine with linear run time is used.
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    let validator = match options.build(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(unusable_schema_text(&truncated_error_text(&error))),
    };
    let error = validator.iter_errors(result).next()?;
    let at = error.instance_path().to_string();
    let words = truncated_error_text(&error);
    Some(if at.is_empty() { words } else { format!("{at}: {words}") })
}

fn unusable_schema_text(cause: &str) -> String {
    format!("the tool's output schema can't be used: {cause}")
}

fn truncated_error_text(error: &jsonschema::ValidationError<'_>) -> String {
    error.to_string().chars().take(300).collect()
}
