//! Validates messages against the JSON Schema of the extension.

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

const MCP_APPS_SCHEMA: &str = include_str!("../schema/schema.json");

/// Returns the names of the style variables that the schema defines.
pub(crate) fn style_variables_of_schema() -> Vec<String> {
    let keys = read_mcp_apps_schema()["$defs"]["McpUiStyleVariableKey"]["anyOf"].clone();
    keys.as_array().unwrap().iter().map(|key| key["const"].as_str().unwrap().to_owned()).collect()
}

/// Panics unless `value`, a message without its JSON-RPC envelope, is valid under this definition of the schema.
pub(crate) fn assert_matches_schema(definition: &str, value: &Value) {
    static VALIDATORS: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let schema = read_mcp_apps_schema();
        let definitions = schema["$defs"].as_object().unwrap().iter();
        definitions.map(|(name, schema)| (name.clone(), jsonschema::validator_for(schema).unwrap())).collect()
    });
    let errors: Vec<String> = validators[definition].iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{definition}: {errors:?} in {value}");
}

fn read_mcp_apps_schema() -> Value {
    let mut schema: Value = serde_json::from_str(MCP_APPS_SCHEMA).unwrap();
    relax_schema(&mut schema);
    schema
}

/// Relaxes the places where the generated schema is narrower than the types from which it is generated:
///
/// - The container has two axes, but each axis is a closed object, so that no object with a member would be valid.
/// - All style variables are required, although the types and the specification allow any subset.
fn relax_schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(dimensions) = members.get_mut("containerDimensions") {
                let number = json!({ "type": "number" });
                let properties = json!({ "width": number, "height": number, "maxWidth": number, "maxHeight": number });
                *dimensions = json!({ "type": "object", "properties": properties, "additionalProperties": false });
            }
            if let Some(Value::Object(variables)) = members.get_mut("variables") {
                variables.remove("required");
            }
            members.values_mut().for_each(relax_schema);
        }
        Value::Array(entries) => entries.iter_mut().for_each(relax_schema),
        _ => {}
    }
}

#[test]
fn style_variable_names_match_the_schema() {
    let ours: std::collections::BTreeSet<_> = mcp_apps::STYLE_VARIABLES.into_iter().map(str::to_owned).collect();
    assert_eq!(ours.len(), 76);
    assert_eq!(ours, style_variables_of_schema().into_iter().collect());
}

#[test]
fn extension_settings_match_the_schema() {
    assert_matches_schema("McpUiClientCapabilities", &mcp_apps::extension_settings());
}

#[test]
fn relaxed_schema_still_rejects_invalid_values() {
    assert_matches_schema("McpUiHostContext", &json!({ "containerDimensions": { "width": 1, "maxHeight": 2 } }));
    for invalid in [
        json!({ "containerDimensions": { "width": "1" } }),
        json!({ "theme": "sepia" }),
        json!({ "styles": { "variables": { "--unknown": "red" } } }),
    ] {
        let judged = std::panic::catch_unwind(|| assert_matches_schema("McpUiHostContext", &invalid));
        assert!(judged.is_err(), "{invalid} should be invalid");
    }
}
