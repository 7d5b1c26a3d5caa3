//! What is new or changed on a server, and what was seen of it.

use serde_json::{Value, json};

use crate::program::{Folder, allowing};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect()
}

#[test]
fn what_was_reviewed_stays_reviewed_and_the_rest_is_listed() {
    let folder = Folder::with_arguments(&["--era", "legacy"]);
    let run = |args: &[&str]| folder.run_with(&allowing(json!([])), args);
    let listed = run(&["review", "demo"]);
    assert!(names(&listed.value()["tools"]).contains(&"add"), "at first every tool is new: {}", listed.value());
    let bare = run(&["review", "demo", "--accept", "add"]);
    assert_eq!(bare.error(2).0, "bad_request", "a name alone does not say what was read");
    let other = format!("add@{}", "0".repeat(64));
    let stale = run(&["review", "demo", "--accept", &other]);
    assert_eq!(stale.error(1).0, "not_found", "what is not as it was printed can't be reviewed");
    let value = listed.value();
    let add = value["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "add").expect("add");
    let seen = format!("add@{}", add["hash"].as_str().expect("a hash"));
    let reviewed = run(&["review", "demo", "--accept", &seen]);
    assert_eq!(names(&reviewed.value()["tools"]), ["add"], "what is named counts as seen");
    let pins = run(&["pins", "demo"]);
    assert_eq!(names(&pins.value()["tools"]), ["add"], "and is kept: {}", pins.value());
    let listed = run(&["review", "demo"]);
    let left = names(&listed.value()["tools"]);
    assert!(!left.contains(&"add") && left.contains(&"lighthouse"), "also for the next run: {left:?}");
    let missing = run(&["review", "demo", "--accept", &seen]);
    assert_eq!(missing.error(1).0, "not_found", "what is not new or changed can't be reviewed");
}
