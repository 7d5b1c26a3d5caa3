//! Another version of a bundle, compared with the installed one.

use bundles::{Bundle, Update, compare};
use serde_json::{Value, json};

use crate::sample::{Disk, manifest, zip};
use crate::zip_writer::Entry;

fn bundle(change: impl FnOnce(&mut Value), files: &[(&str, &[u8])]) -> Bundle {
    let mut manifest = manifest("0.3");
    manifest["user_config"] = json!({
        "kept": { "type": "string" },
        "secret": { "type": "string", "sensitive": true },
        "gone": { "type": "number" },
    });
    change(&mut manifest);
    let zip = files.iter().fold(zip(&manifest), |zip, (path, content)| zip.and(Entry::file(path, content)));
    Disk::with(&zip.bytes()).open().unwrap()
}

fn update(old: &Bundle, new: &Bundle) -> Update {
    let trees = [old, new].map(|bundle| bundle.archive.tree().unwrap());
    compare((&old.manifest, &trees[0]), (&new.manifest, &trees[1]))
}

#[test]
fn an_update_names_all_that_it_changes() {
    let old = bundle(|_| {}, &[("a", b"1"), ("b", b"1"), ("c", b"1")]);
    let change = |manifest: &mut Value| {
        manifest["version"] = "1.3.0".into();
        manifest["server"]["mcp_config"]["args"] = json!(["--all"]);
        manifest["user_config"] = json!({
            "kept": { "type": "string", "title": "Another title" },
            "secret": { "type": "string" },
            "new": { "type": "file" },
        });
    };
    let update = update(&old, &bundle(change, &[("b", b"2"), ("c", b"1"), ("d", b"1")]));
    let fields: Vec<_> = update.fields.iter().map(|change| change.field.as_str()).collect();
    assert_eq!(fields, ["version", "server.command.args", "userConfig"]);
    assert_eq!((&update.fields[0].before, &update.fields[0].after), (&json!("1.2.3"), &json!("1.3.0")));
    assert!(update.command_changed);
    assert_eq!(update.files_added, ["d"]);
    assert_eq!(update.files_removed, ["a"]);
    assert_eq!(update.files_changed, ["b", "manifest.json"]);
    assert_eq!(update.inputs_kept, ["kept"]);
    assert_eq!(update.inputs_added, ["secret", "new"], "a secret does not become a text");
    assert_eq!(update.inputs_removed, ["gone"]);
}

#[test]
fn a_bundle_that_is_the_same_changes_nothing() {
    let one = bundle(|_| {}, &[("a", b"1")]);
    let inputs_kept = ["kept", "secret", "gone"].map(str::to_owned).to_vec();
    assert_eq!(update(&one, &one), Update { inputs_kept, ..Update::default() });
}
