//! What another version of a bundle changes.

use serde::Serialize;
use serde_json::Value;

use crate::{Manifest, Tree, UserConfig};

/// A field of the manifest with two values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// Its name, such as `version` or `server.entryPoint`.
    pub field: String,
    /// What it was.
    pub before: Value,
    /// What it would be.
    pub after: Value,
}

/// What an update changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    /// Fields of the manifest that differ.
    pub fields: Vec<FieldChange>,
    /// True if what is started differs, so that it has to be approved again.
    pub command_changed: bool,
    /// Paths of new files.
    pub files_added: Vec<String>,
    /// Paths of files that are no longer there.
    pub files_removed: Vec<String>,
    /// Paths of files with other content, or that may be run and could not before, or the other way round.
    pub files_changed: Vec<String>,
    /// Keys of the user's values that are taken over: those whose meaning is as before.
    pub inputs_kept: Vec<String>,
    /// Keys of values that are new, or of another type than before.
    pub inputs_added: Vec<String>,
    /// Keys of values that are no longer used.
    pub inputs_removed: Vec<String>,
}

/// Compares an installed bundle with another one of the same name. The files of one that is not unpacked are [`Archive::tree`](crate::Archive::tree).
#[must_use]
pub fn compare(before: (&Manifest, &Tree), after: (&Manifest, &Tree)) -> Update {
    let ((old, old_tree), (new, new_tree)) = (before, after);
    let paths = |tree: &Tree, is_meant: &dyn Fn(&String) -> bool| -> Vec<String> {
        tree.files.keys().filter(|path| is_meant(path)).cloned().collect()
    };
    let keys = |manifest: &Manifest, is_meant: &dyn Fn(&UserConfig) -> bool| -> Vec<String> {
        manifest.user_config.iter().filter(|input| is_meant(input)).map(|input| input.key.clone()).collect()
    };
    // A value that becomes a text where it was a secret must not be taken over.
    let is_same = |one: &UserConfig, other: &UserConfig| {
        (&one.key, one.kind, one.multiple, one.sensitive) == (&other.key, other.kind, other.multiple, other.sensitive)
    };
    let is_kept = |input: &UserConfig| old.user_config.iter().any(|before| is_same(before, input));
    Update {
        fields: fields(old, new),
        command_changed: old.server != new.server,
        files_added: paths(new_tree, &|path| !old_tree.files.contains_key(path)),
        files_removed: paths(old_tree, &|path| !new_tree.files.contains_key(path)),
        files_changed: paths(new_tree, &|path| {
            old_tree.files.get(path).is_some_and(|before| *before != new_tree.files[path])
        }),
        inputs_kept: keys(new, &is_kept),
        inputs_added: keys(new, &|input| !is_kept(input)),
        inputs_removed: keys(old, &|input| !new.user_config.iter().any(|after| after.key == input.key)),
    }
}

/// The fields that differ, those of `server` each for itself.
fn fields(old: &Manifest, new: &Manifest) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    changed("", &json(old), &json(new), &mut changes);
    changes
}

fn json(manifest: &Manifest) -> Value {
    // Plain data with texts for keys has a JSON form.
    serde_json::to_value(manifest).unwrap_or_default()
}

fn changed(at: &str, old: &Value, new: &Value, changes: &mut Vec<FieldChange>) {
    let keys = old.as_object().into_iter().flat_map(|fields| fields.keys());
    for key in keys {
        let (before, after) = (&old[key], &new[key]);
        if before == after {
            continue;
        }
        let field = format!("{at}{key}");
        // `server.command` is a structure of its own, with the command in it.
        if matches!(field.as_str(), "server" | "server.command") {
            changed(&format!("{field}."), before, after, changes);
        } else {
            changes.push(FieldChange { field, before: before.clone(), after: after.clone() });
        }
    }
}
