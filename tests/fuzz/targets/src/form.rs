//! Fuzz target: the schemas of forms, and the validation of submitted content.

use serde_json::{Map, Value};
use server_requests::form::{FieldKind, FieldProblem, Form, MAX_FIELD_OPTIONS, MAX_FORM_FIELDS};

/// Tests the parser of forms (elicitation). The first line of `data` is the form's schema, and the remaining lines are
/// the submitted content. The size of a form must be bounded, its fields must accept their own defaults and options,
/// and content without a reported problem must satisfy all rules.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn form(data: &[u8]) {
    let (schema, filled) = crate::split_at_line_end(data);
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return };
    let form = match Form::parse(&schema) {
        Ok(form) => form,
        Err(words) => {
            assert!(words.len() <= 2 * data.len() + 200, "{} bytes of words", words.len());
            return;
        }
    };
    assert!(form.fields.len() <= MAX_FORM_FIELDS, "{} fields", form.fields.len());
    let mut defaults = Map::new();
    for field in &form.fields {
        if let FieldKind::Choice { options } | FieldKind::Choices { options, .. } = &field.kind {
            assert!(options.len() <= MAX_FIELD_OPTIONS, "{} options", options.len());
        }
        if let FieldKind::Choice { options } = &field.kind {
            for option in options {
                let one = Map::from_iter([(field.name.clone(), Value::from(option.value.as_str()))]);
                assert!(
                    !invalid_field_names(&form, &one).contains(&field.name),
                    "{} accepts its own option",
                    field.name
                );
            }
        }
        defaults.extend(field.default.clone().map(|default| (field.name.clone(), default)));
    }
    let refused = invalid_field_names(&form, &defaults);
    assert!(defaults.keys().all(|name| !refused.contains(name)), "each field accepts its own default");
    let Ok(filled) = serde_json::from_slice::<Map<String, Value>>(filled) else { return };
    let problems = form.validation_problems(&filled);
    for name in filled.keys().filter(|name| form.fields.iter().all(|field| field.name != **name)) {
        let is_unknown = |field: &str, problem| field == name && problem == FieldProblem::UnknownField;
        assert!(
            problems.iter().any(|found| is_unknown(&found.field, found.problem)),
            "{name} is reported as an unknown field"
        );
    }
    for field in form.fields.iter().filter(|field| field.required) {
        let is_named = problems.iter().any(|found| found.field == field.name);
        assert!(is_named || filled.contains_key(&field.name), "{} is required", field.name);
    }
    let public_values = form.redact_secret_fields(&filled);
    assert_eq!(public_values.len(), filled.len(), "no field is lost");
    for field in form.fields.iter().filter(|field| field.secret) {
        if let Some(value) = public_values.get(&field.name) {
            assert!(value.as_str().is_some_and(|text| text == domain::REDACTED), "{} is redacted", field.name);
        }
    }
}

/// Returns the names of the fields whose values the form rejects. Missing values are not included.
fn invalid_field_names(form: &Form, content: &Map<String, Value>) -> Vec<String> {
    let problems = form.validation_problems(content).into_iter();
    problems.filter(|found| found.problem != FieldProblem::Required).map(|found| found.field).collect()
}
