//! Structural diff of two definitions. Used for the review warnings about a changed definition.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum number of changes of a definition that are listed individually.
pub const MAX_DEFINITION_CHANGES: usize = 200;
/// Maximum number of changes that are listed individually within one list or object. With more, the list or object is
/// listed as one change with its whole values, so that many small changes don't hide another change.
const MAX_NESTED_CHANGES: usize = 20;
/// Members of a definition that are listed before all others: those that people and models read first, and annotations.
const DEFINITION_MEMBERS_LISTED_FIRST: [&str; 5] = ["name", "title", "description", "annotations", "_meta"];

/// Differences between the reviewed definition and the current one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DefinitionDiff {
    /// Changes of the definition, at most [`MAX_DEFINITION_CHANGES`].
    pub changes: Vec<DefinitionChange>,
    /// Number of changes beyond [`MAX_DEFINITION_CHANGES`].
    pub more: usize,
    /// Set if the server changed since the review: its command, program or address, or the issuer of its tokens.
    pub server_changed: bool,
    /// Set if only the beginning of the reviewed definition is stored, because it is too large.
    pub is_truncated: bool,
    /// Complete reviewed definition, if it is stored. The current one is in the catalog.
    pub before: Option<String>,
}

/// A difference between the reviewed definition and the current one, at one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DefinitionChange {
    /// Path of the difference: keys, and positions of list items starting at 1.
    pub path: Vec<String>,
    /// Value before the change, or `None` if there was none. Strings are without quotes, other values are JSON. Never
    /// truncated.
    pub before: Option<String>,
    /// Value after the change, or `None` if it was removed.
    pub after: Option<String>,
}

impl DefinitionDiff {
    /// Compares two values, and returns the differences.
    ///
    /// # Examples
    ///
    /// ```
    /// use offers::review::DefinitionDiff;
    /// use serde_json::json;
    ///
    /// let reviewed = json!({ "name": "send", "description": "Sends a mail" });
    /// let current = json!({ "name": "send", "description": "Sends a mail, with a copy to us", "inputSchema": {} });
    /// let diff = DefinitionDiff::between(&reviewed, &current);
    /// let changes: Vec<_> =
    ///     diff.changes.iter().map(|one| (one.path.join("/"), one.before.as_deref(), one.after.as_deref())).collect();
    /// assert_eq!(changes, [
    ///     ("description".to_owned(), Some("Sends a mail"), Some("Sends a mail, with a copy to us")),
    ///     ("inputSchema".to_owned(), None, Some("{}")),
    /// ]);
    /// assert!(DefinitionDiff::between(&reviewed, &reviewed).is_empty());
    /// ```
    #[must_use]
    pub fn between(before: &Value, after: &Value) -> Self {
        let mut changes = diff_values(&mut Vec::new(), Some(before), Some(after));
        let more = changes.len().saturating_sub(MAX_DEFINITION_CHANGES);
        changes.truncate(MAX_DEFINITION_CHANGES);
        Self { changes, more, ..Self::default() }
    }

    /// Compares two definitions, and returns the differences together with the complete first definition.
    #[must_use]
    pub fn between_definitions(before: &Value, after: &Value) -> Self {
        Self { before: Some(value_text(before)), ..Self::between(before, after) }
    }

    /// Returns `true` if neither the definition nor the server has changed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.server_changed
    }
}

// The depth of recursion is bounded, since the nesting of JSON from servers is bounded when it is read.
fn diff_values(path: &mut Vec<String>, before: Option<&Value>, after: Option<&Value>) -> Vec<DefinitionChange> {
    let inside = match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => diff_objects(path, before, after),
        (Some(Value::Array(before)), Some(Value::Array(after))) => diff_lists(path, before, after),
        (before, after) if before == after => return Vec::new(),
        (before, after) => return vec![DefinitionChange::new(path, before, after)],
    };
    if inside.len() > MAX_NESTED_CHANGES && !path.is_empty() {
        vec![DefinitionChange::new(path, before, after)]
    } else {
        inside
    }
}

fn diff_lists(path: &mut Vec<String>, before: &[Value], after: &[Value]) -> Vec<DefinitionChange> {
    let mut found = Vec::new();
    for at in 0..before.len().max(after.len()) {
        path.push((at + 1).to_string());
        found.append(&mut diff_values(path, before.get(at), after.get(at)));
        path.pop();
    }
    found
}

/// Compares the members of two objects in this order: [`DEFINITION_MEMBERS_LISTED_FIRST`], added members, all others in
/// their previous order.
fn diff_objects(
    path: &mut Vec<String>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Vec<DefinitionChange> {
    let added = after.keys().filter(|key| !before.contains_key(*key));
    let mut keys: Vec<&String> = before.keys().chain(added).collect();
    keys.sort_by_key(|key| match DEFINITION_MEMBERS_LISTED_FIRST.iter().position(|first| first == key) {
        Some(place) => place,
        None => DEFINITION_MEMBERS_LISTED_FIRST.len() + usize::from(before.contains_key(*key)),
    });
    let mut found = Vec::new();
    for key in keys {
        path.push(key.clone());
        found.append(&mut diff_values(path, before.get(key), after.get(key)));
        path.pop();
    }
    found
}

impl DefinitionChange {
    fn new(path: &[String], before: Option<&Value>, after: Option<&Value>) -> Self {
        Self { path: path.to_vec(), before: before.map(value_text), after: after.map(value_text) }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => format!("{value:#}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(path: &[&str], before: Option<&str>, after: Option<&str>) -> DefinitionChange {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        DefinitionChange {
            path: path.iter().map(|&key| key.to_owned()).collect(),
            before: owned(before),
            after: owned(after),
        }
    }

    #[test]
    fn each_definition_change_is_listed_with_its_path() {
        let before = json!({"name": "a", "inputSchema": {"properties": {"x": {"type": "string"}}, "enum": ["1", "2"]},
            "annotations": {"readOnlyHint": false}, "gone": [1, {"a": null}]});
        let after = json!({"inputSchema": {"enum": ["1", "3", "4"], "properties": {"x": {"type": "string"}}},
            "name": "a", "annotations": {"readOnlyHint": true}, "new": {"deep": 1}});
        let diff = DefinitionDiff::between(&before, &after);
        let expected = [
            change(&["annotations", "readOnlyHint"], Some("false"), Some("true")),
            change(&["new"], None, Some("{\n  \"deep\": 1\n}")),
            change(&["inputSchema", "enum", "2"], Some("2"), Some("3")),
            change(&["inputSchema", "enum", "3"], None, Some("4")),
            change(&["gone"], Some("[\n  1,\n  {\n    \"a\": null\n  }\n]"), None),
        ];
        assert_eq!(
            diff.changes, expected,
            "annotations are first, then added members, and the order of keys is no change"
        );
        assert!(DefinitionDiff::between(&before, &before).is_empty(), "equal definitions have no differences");
    }

    #[test]
    fn many_small_changes_do_not_hide_others() {
        let tool = |mark: &str, hint: bool| {
            json!({"inputSchema": {"enum": vec![mark; 500]}, "outputSchema": {"x": mark},
                "annotations": {"readOnlyHint": hint}, "_meta": {"note": mark}})
        };
        let (before, after) = (tool("a", false), tool("b", true));
        let diff = DefinitionDiff::between_definitions(&before, &after);
        let places: Vec<String> = diff.changes.iter().map(|change| change.path.join(" ")).collect();
        let expected = ["annotations readOnlyHint", "_meta note", "inputSchema enum", "outputSchema x"];
        assert_eq!(places, expected, "X04: the changed annotation is first, and the long list is one change");
        let list = format!("{:#}", after["inputSchema"]["enum"]);
        assert_eq!(diff.changes[2].after.as_deref(), Some(list.as_str()), "the change contains the complete list");
        assert_eq!(diff.before, Some(format!("{before:#}")), "the complete reviewed definition is included");
    }

    #[test]
    fn definition_changes_are_bounded_and_the_rest_counted() {
        let of = |text: &str| -> Value {
            (0..MAX_DEFINITION_CHANGES + 7).map(|n| (n.to_string(), text.into())).collect::<Map<_, _>>().into()
        };
        let diff = DefinitionDiff::between(&of("a"), &of("b"));
        assert_eq!(
            (diff.changes.len(), diff.more),
            (MAX_DEFINITION_CHANGES, 7),
            "changes beyond the maximum are counted"
        );
    }
}
