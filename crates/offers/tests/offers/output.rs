//! Tests the validation of structured results against a tool's output schema.

use offers::output_schema::first_result_problem;
use serde_json::{Value, json};

fn is_valid_result(schema: Value, result: Value) -> bool {
    first_result_problem(&schema, &result).is_none()
}

#[test]
fn result_is_validated_against_a_schema_of_any_root_type() {
    // [tools-output-schema-validate] [tools-output-schema-any-root]
    let object = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    assert!(is_valid_result(object.clone(), json!({ "n": 1 })), "an object that matches is valid");
    let problem = first_result_problem(&object, &json!({ "n": "1" })).unwrap();
    assert!(problem.starts_with("/n:"), "the problem begins with its path: {problem}");
    for (schema, good, bad) in [
        (json!({ "type": "array", "items": { "type": "string" } }), json!(["a"]), json!([1])),
        (json!({ "type": "string", "maxLength": 2 }), json!("ab"), json!("abc")),
        (json!({ "type": "null" }), Value::Null, json!({})),
        (json!({ "anyOf": [{ "const": 1 }, { "const": true }] }), json!(true), json!(2)),
        (json!(false), Value::Null, json!(1)),
    ] {
        let is_false = schema == json!(false);
        assert_eq!(is_valid_result(schema.clone(), good.clone()), !is_false, "the validity of {good} for {schema}");
        assert!(!is_valid_result(schema.clone(), bad.clone()), "{bad} is invalid for {schema}");
    }
}

#[test]
fn each_schema_uses_its_own_dialect() {
    // [base-schema-default-dialect]: `prefixItems` is only defined since 2020-12, the default.
    let pair = json!({ "prefixItems": [{ "type": "string" }, { "type": "integer" }] });
    assert!(!is_valid_result(pair.clone(), json!(["a", "b"])), "without $schema the dialect is 2020-12");
    // [base-schema-declared-dialect]: draft 7 doesn't define `prefixItems`, and `items` may be a list.
    let mut draft7 = pair;
    draft7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert!(is_valid_result(draft7.clone(), json!(["a", "b"])), "draft 7 ignores prefixItems");
    draft7["items"] = json!([{ "type": "integer" }]);
    assert!(!is_valid_result(draft7, json!(["a"])), "draft 7 supports a list of items");
    // [base-schema-unsupported-dialect]
    let unknown = json!({ "$schema": "https://example.com/my-own-dialect", "type": "object" });
    let problem = first_result_problem(&unknown, &json!({})).expect("an unsupported dialect is reported");
    assert!(
        problem.contains("schema can't be used") && problem.contains("example.com"),
        "the unsupported dialect is named: {problem}"
    );
}

#[test]
fn references_outside_the_schema_are_not_resolved() {
    // [tools-schema-ref-rules]: references within the schema are resolved.
    let inside = json!({ "$defs": { "id": { "type": "integer" } }, "properties": { "id": { "$ref": "#/$defs/id" } } });
    assert!(
        is_valid_result(inside.clone(), json!({ "id": 1 })) && !is_valid_result(inside, json!({ "id": "x" })),
        "a reference within the schema is resolved"
    );
    // [base-schema-no-network-ref] [base-schema-unresolved-ref]: external references are neither fetched nor ignored.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/schema.json", listener.local_addr().unwrap());
    for reference in [url.as_str(), "file:///etc/hosts", "other.json"] {
        let outside = json!({ "properties": { "id": { "$ref": reference } } });
        let problem = first_result_problem(&outside, &json!({ "id": 1 })).expect("an external reference is reported");
        assert!(problem.contains("schema can't be used"), "{reference} makes the schema unusable: {problem}");
    }
    assert!(listener.accept().is_err(), "no external reference is fetched");
}

#[test]
fn hostile_schema_validation_is_bounded() {
    // [base-schema-bounds]
    let long = json!({ "enum": vec!["x".repeat(1_000); 300] });
    let problem = first_result_problem(&long, &json!("x")).expect("a schema that is too large is reported");
    assert!(problem.contains("256 KiB"), "the maximum size is named: {problem}");
    // With a backtracking engine, this pattern would not terminate in reasonable time.
    let slow = json!({ "type": "string", "pattern": "^(a+)+$" });
    assert!(!is_valid_result(slow, json!(format!("{}b", "a".repeat(50_000)))), "the text doesn't match the pattern");
}
