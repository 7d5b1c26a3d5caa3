//! Tests of URI templates (RFC 6570).

use std::collections::BTreeMap;

use offers::uri_template::{expand, template_variable_names};

#[test]
fn uri_templates_are_expanded_as_specified() {
    let values = BTreeMap::from([
        ("name".to_owned(), "tide & time".to_owned()),
        ("path".to_owned(), "a/b".to_owned()),
        ("empty".to_owned(), String::new()),
        ("unused".to_owned(), "x".to_owned()),
    ]);
    for (template, expected) in [
        ("note:///{name}", "note:///tide%20%26%20time"),
        ("file:///{+path}", "file:///a/b"),
        ("file:///{path}", "file:///a%2Fb"),
        ("x://s{?name,empty}", "x://s?name=tide%20%26%20time"),
        ("x://s{/missing}", "x://s"),
        ("plain://x", "plain://x"),
    ] {
        assert_eq!(expand(template, &values).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn uri_template_variables_are_listed_once_and_invalid_templates_rejected() {
    assert_eq!(
        template_variable_names("t:///{harbour}/{day}{?day,limit}"),
        ["harbour", "day", "limit"],
        "each variable is listed once, in order"
    );
    for bad in ["x://{", "x://{a b}", &format!("x://{}", "a".repeat(10_000))] {
        assert!(expand(bad, &BTreeMap::new()).is_err(), "{} is an invalid template", &bad[..bad.len().min(20)]);
        assert!(template_variable_names(bad).is_empty(), "an invalid template has no variables");
    }
}
