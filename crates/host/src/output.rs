//! Structured results, checked against the tool's own output schema.

use serde_json::Value;

/// The largest schema that is compiled, as JSON, in bytes.
const MAX_SCHEMA: usize = 256 * 1024;

/// What is wrong with a structured result, in words. Nothing if it fits, or if the schema itself can't be used: that is the
/// server's mistake and says nothing about the result.
///
/// Takes time that grows with the schema and the result: run it beside what must not wait.
#[must_use]
pub fn problem(schema: &Value, result: &Value) -> Option<String> {
    if schema.to_string().len() > MAX_SCHEMA {
        return None;
    }
    // Patterns of a server are run by an engine that takes linear time.
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    let validator = options.build(schema).ok()?;
    let error = validator.iter_errors(result).next()?;
    let at = error.instance_path().to_string();
    let words: String = error.to_string().chars().take(300).collect();
    Some(if at.is_empty() { words } else { format!("{at}: {words}") })
}
