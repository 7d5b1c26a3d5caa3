//! Tests of the commands that show and review new and changed definitions.

use serde_json::{Value, json};

use crate::program::{TestFolder, allowing_answers};

fn definition_names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect()
}

#[test]
fn reviewed_tools_stay_reviewed_and_the_rest_is_listed() {
    let folder = TestFolder::with_arguments(&["--era", "legacy"]);
    let run = |args: &[&str]| folder.run_with_answers(&allowing_answers(json!([])), args);
    let listed = run(&["review", "demo"]);
    assert!(
        definition_names(&listed.value()["tools"]).contains(&"add"),
        "every tool should be new at first: {}",
        listed.value()
    );
    let bare = run(&["review", "demo", "--accept", "add"]);
    assert_eq!(bare.error(2).0, "bad_request", "a name without a hash should be rejected");
    let other = format!("add@{}", "0".repeat(64));
    let stale = run(&["review", "demo", "--accept", &other]);
    assert_eq!(stale.error(1).0, "not_found", "an outdated hash should be rejected");
    let value = listed.value();
    let add = value["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "add").expect("add");
    let marked = format!("add@{}", add["hash"].as_str().expect("a hash"));
    let reviewed = run(&["review", "demo", "--accept", &marked]);
    assert_eq!(definition_names(&reviewed.value()["tools"]), ["add"], "the named tool should be reviewed");
    let pins = run(&["pins", "demo"]);
    assert_eq!(definition_names(&pins.value()["tools"]), ["add"], "the review should be recorded: {}", pins.value());
    let listed = run(&["review", "demo"]);
    let left = definition_names(&listed.value()["tools"]);
    assert!(!left.contains(&"add") && left.contains(&"lighthouse"), "the review should be persisted: {left:?}");
    let missing = run(&["review", "demo", "--accept", &marked]);
    assert_eq!(missing.error(1).0, "not_found", "a reviewed tool should not be reviewed again");
}
