//! Checks structured results against the tool's own output schema. Caller: `chat`, before a result is shown.

use std::time::Duration;

use serde_json::Value;

/// The largest schema that is compiled, as JSON, in bytes.
const MAX_SCHEMA: usize = 256 * 1024;

/// How long a structured result is checked.
const CHECKING: Duration = Duration::from_secs(2);

/// What is wrong with a structured result, as [`problem`] says. A hostile schema may take long; nothing waits for it.
pub async fn check(schema: Value, result: Value) -> Option<String> {
    let check = tokio::task::spawn_blocking(move || problem(&schema, &result));
    match tokio::time::timeout(CHECKING, check).await {
        Ok(Ok(problem)) => problem,
        Ok(Err(error)) => Some(format!("it could not be checked: {error}")),
        Err(_) => Some("it takes too long to check it".to_owned()),
    }
}

/// What is wrong with a structured result, or with the schema itself, in words. Nothing if it fits.
///
/// A schema without `$schema` is one of 2020-12; those since draft 4 are known. Nothing that it refers to is fetched.
///
/// Takes time that grows with the schema and the result: run it beside what must not wait.
#[must_use]
pub fn problem(schema: &Value, result: &Value) -> Option<String> {
    if schema.to_string().len() > MAX_SCHEMA {
        return Some(unusable(&format!("it is larger than {} KiB", MAX_SCHEMA / 1024)));
    }
    // Patterns of a server are run by an engine that takes linear time.
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    let validator = match options.build(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(unusable(&shortened(&error))),
    };
    let error = validator.iter_errors(result).next()?;
    let at = error.instance_path().to_string();
    let words = shortened(&error);
    Some(if at.is_empty() { words } else { format!("{at}: {words}") })
}

fn unusable(cause: &str) -> String {
    format!("the tool's output schema can't be used: {cause}")
}

fn shortened(error: &jsonschema::ValidationError<'_>) -> String {
    error.to_string().chars().take(300).collect()
}
