//! Tests of every kind of form field in the specification, and of every validation error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity)]

use serde_json::{Map, Value, json};
use server_requests::form::{FieldKind, FieldProblem, Form};

fn parse_form(properties: Value, required: &[&str]) -> Form {
    Form::parse(&json!({"type": "object", "properties": properties, "required": required}))
        .expect("the form is allowed")
}

fn find_problems(form: &Form, content: Value) -> Vec<(String, FieldProblem, Option<f64>)> {
    let content: Map<String, Value> = content.as_object().unwrap().clone();
    form.validation_problems(&content).into_iter().map(|p| (p.field, p.problem, p.limit)).collect()
}

/// Covers the MCP requirement `elicit-form-schema`: string (with formats and lengths), number, integer, boolean, single
/// choice with and without titles, multiple choice with and without titles.
#[test]
fn each_form_value_is_validated_by_the_kind_of_its_field() {
    use FieldProblem as P;
    let cases: &[(&str, Value, Value, Option<(P, Option<f64>)>)] = &[
        ("text", json!({"type": "string"}), json!("x"), None),
        ("text of another type", json!({"type": "string"}), json!(1), Some((P::WrongType, None))),
        ("short text", json!({"type": "string", "minLength": 3}), json!("ab"), Some((P::TooShort, Some(3.0)))),
        ("characters are counted, not bytes", json!({"type": "string", "maxLength": 2}), json!("åß"), None),
        ("long text", json!({"type": "string", "maxLength": 2}), json!("abc"), Some((P::TooLong, Some(2.0)))),
        ("e-mail", json!({"type": "string", "format": "email"}), json!("ann@example.org"), None),
        ("no e-mail", json!({"type": "string", "format": "email"}), json!("ann"), Some((P::NotAnEmail, None))),
        ("URI", json!({"type": "string", "format": "uri"}), json!("https://example.org/a?b"), None),
        ("no URI", json!({"type": "string", "format": "uri"}), json!("example dot org"), Some((P::NotAUri, None))),
        ("date", json!({"type": "string", "format": "date"}), json!("2024-02-29"), None),
        ("no such day", json!({"type": "string", "format": "date"}), json!("2023-02-29"), Some((P::NotADate, None))),
        ("date and time", json!({"type": "string", "format": "date-time"}), json!("2026-07-28T10:00:00+02:00"), None),
        (
            "no zone",
            json!({"type": "string", "format": "date-time"}),
            json!("2026-07-28T10:00:00"),
            Some((P::NotADateTime, None)),
        ),
        ("number", json!({"type": "number", "minimum": 0.5}), json!(0.5), None),
        ("small number", json!({"type": "number", "minimum": 0.5}), json!(0.4), Some((P::TooSmall, Some(0.5)))),
        ("large number", json!({"type": "number", "maximum": 9}), json!(10), Some((P::TooLarge, Some(9.0)))),
        ("whole number", json!({"type": "integer"}), json!(7.0), None),
        ("no whole number", json!({"type": "integer"}), json!(7.5), Some((P::WrongType, None))),
        ("yes", json!({"type": "boolean"}), json!(true), None),
        ("neither yes nor no", json!({"type": "boolean"}), json!("true"), Some((P::WrongType, None))),
        ("an option", json!({"type": "string", "enum": ["a", "b"]}), json!("b"), None),
        ("no option", json!({"type": "string", "enum": ["a", "b"]}), json!("c"), Some((P::NotAnOption, None))),
        ("a titled option", json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}), json!("a"), None),
        (
            "a title is no option",
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
            json!("A"),
            Some((P::NotAnOption, None)),
        ),
        (
            "some options",
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
            json!(["b", "a"]),
            None,
        ),
        (
            "some titled options",
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
            json!(["a"]),
            None,
        ),
        (
            "too few",
            json!({"type": "array", "minItems": 1, "items": {"enum": ["a"]}}),
            json!([]),
            Some((P::TooFew, Some(1.0))),
        ),
        (
            "too many",
            json!({"type": "array", "maxItems": 1, "items": {"enum": ["a", "b"]}}),
            json!(["a", "b"]),
            Some((P::TooMany, Some(1.0))),
        ),
        (
            "one is no option",
            json!({"type": "array", "items": {"enum": ["a"]}}),
            json!(["a", "z"]),
            Some((P::NotAnOption, None)),
        ),
    ];
    for (what, schema, value, expected) in cases {
        let form = parse_form(json!({ "field": schema }), &[]);
        let found = find_problems(&form, json!({ "field": value }));
        let expected: Vec<_> = expected.iter().map(|(p, l)| ("field".to_owned(), *p, *l)).collect();
        assert_eq!(
            found, expected,
            "[elicit-string-constraints], [elicit-number-constraints], [elicit-enum-multi]: {what}"
        );
    }
}

#[test]
fn required_and_unknown_fields_are_named() {
    let form = parse_form(json!({"name": {"type": "string"}, "age": {"type": "integer"}}), &["name"]);
    let required =
        |found: Vec<(String, FieldProblem, Option<f64>)>| found == [("name".into(), FieldProblem::Required, None)];
    assert!(required(find_problems(&form, json!({}))), "a missing required field must be reported");
    assert!(required(find_problems(&form, json!({"name": ""}))), "an empty required field must be reported");
    assert_eq!(find_problems(&form, json!({"name": "x"})), [], "an optional field may be missing");
    assert_eq!(
        find_problems(&form, json!({"name": "x", "z": 1})),
        [("z".into(), FieldProblem::UnknownField, None)],
        "an unknown field must be reported"
    );
}

#[test]
fn option_titles_are_parsed_in_all_three_schema_variants() {
    let titles = |schema: Value| -> Vec<(String, String)> {
        match parse_form(json!({ "f": schema }), &[]).fields.remove(0).kind {
            FieldKind::Choice { options } | FieldKind::Choices { options, .. } => {
                options.into_iter().map(|o| (o.value, o.title)).collect()
            }
            other => panic!("expected a choice, not {other:?}"),
        }
    };
    let expected: Vec<(String, String)> = vec![("a".into(), "Alpha".into())];
    assert_eq!(
        titles(json!({"type": "string", "enum": ["a"], "enumNames": ["Alpha"]})),
        expected,
        "[elicit-enum-names]: 2025-06-18"
    );
    assert_eq!(
        titles(json!({"type": "string", "oneOf": [{"const": "a", "title": "Alpha"}]})),
        expected,
        "[elicit-enum-titled]: oneOf, 2025-11-25"
    );
    assert_eq!(
        titles(json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "Alpha"}]}})),
        expected,
        "[elicit-enum-multi]: anyOf, 2025-11-25"
    );
}

#[test]
fn valid_form_defaults_are_retained() {
    let form = parse_form(
        json!({"a": {"type": "string", "default": "x"}, "b": {"type": "integer", "default": "x"}, "c": {"type": "boolean", "default": false},
               "d": {"type": "array", "items": {"enum": ["p"]}, "default": ["p"]}, "e": {"type": "string", "enum": ["p"], "default": "q"}}),
        &[],
    );
    let defaults: Vec<Option<Value>> = form.fields.into_iter().map(|f| f.default).collect();
    assert_eq!(
        defaults,
        [Some(json!("x")), None, Some(json!(false)), Some(json!(["p"])), None],
        "[elicit-boolean-default]: booleans must have a default, and invalid defaults must be omitted"
    );
}

/// Covers the hostile cases X30 and X31: forms that are not allowed or too large are rejected immediately, with a
/// cause.
#[test]
fn forbidden_forms_are_rejected_with_a_cause() {
    let many: Map<String, Value> = (0..10_000).map(|i| (format!("f{i}"), json!({"type": "string"}))).collect();
    let options: Vec<String> = (0..50_000).map(|i| format!("option {i}")).collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": { "x": deep }});
    }
    let cases: &[(&str, Value, &str)] = &[
        ("a nested object", json!({"address": {"type": "object", "properties": {}}}), "address"),
        ("a list of anything", json!({"tags": {"type": "array", "items": {"type": "string"}}}), "tags"),
        ("10,000 fields", Value::Object(many), "10000"),
        ("50,000 options", json!({"pick": {"type": "string", "enum": options}}), "pick"),
        ("depth", json!({ "deep": deep }), "deep"),
        ("no type", json!({"what": {}}), "what"),
        ("a reference to itself", json!({"loop": {"$ref": "#"}}), "loop"),
    ];
    for (what, properties, named) in cases {
        let schema = json!({"type": "object", "properties": properties});
        let attempt = || {
            let began = std::time::Instant::now();
            let error = Form::parse(&schema).expect_err(what);
            assert!(error.contains(named), "{what}: the error must contain the cause: {error}");
            began.elapsed()
        };
        // Other programs may occupy the processor, but not during each attempt.
        let fastest = (0..5).map(|_| attempt()).min().unwrap();
        assert!(fastest.as_millis() < 200, "{what}: must be rejected quickly, not in {fastest:?}");
    }
}

/// Covers the hostile case X21: fields that appear to ask for a secret are marked, even if they are disguised.
#[test]
fn fields_that_request_secrets_are_marked() {
    for name in ["password", "Your API key", "seed phrase", "p а s s w o r d", "Access-Token", "PIN", "密码"] {
        let form = parse_form(json!({ "f": {"type": "string", "title": name} }), &[]);
        assert!(form.fields[0].secret, "\"{name}\" must be marked as a secret");
    }
    for name in ["name", "pinned message", "key of the song", "shipping date", "spinnaker"] {
        let form = parse_form(json!({ "f": {"type": "string", "title": name} }), &[]);
        assert!(!form.fields[0].secret, "\"{name}\" must not be marked as a secret");
    }
}
