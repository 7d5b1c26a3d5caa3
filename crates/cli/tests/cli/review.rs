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
    let reviewed = run(&["review", "demo", "--accept", "add"]);
    assert_eq!(names(&reviewed.value()["tools"]), ["add"], "what is named counts as seen");
    let pins = run(&["pins", "demo"]);
    assert_eq!(names(&pins.value()["tools"]), ["add"], "and is kept: {}", pins.value());
    let listed = run(&["review", "demo"]);
    let left = names(&listed.value()["tools"]);
    assert!(!left.contains(&"add") && left.contains(&"lighthouse"), "also for the next run: {left:?}");
    let missing = run(&["review", "demo", "--accept", "add"]);
    assert_eq!(missing.error(1).0, "not_found", "what is not new or changed can't be reviewed");
}
