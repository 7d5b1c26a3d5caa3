//! What is different between two definitions, place by place, to be read by a person.

use serde_json::{Map, Value};

/// The most changes that are told one by one.
pub const MAX_CHANGES: usize = 200;

/// What is different between what the user saw and what is there now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// The changes; at most [`MAX_CHANGES`].
    pub changes: Vec<Change>,
    /// How many more there are.
    pub more: usize,
    /// Whether the server itself is another one than then: its command, program or address, or who signs in to it.
    pub server_changed: bool,
    /// Whether only the beginning of what the user saw was kept, since it was so large.
    pub cut: bool,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where: the keys that lead there, and numbers of items from 1.
    pub path: Vec<String>,
    /// What was there; none if nothing. Whole: a text as it is, all else as JSON.
    pub before: Option<String>,
    /// What is there now; none if nothing.
    pub after: Option<String>,
}

impl Diff {
    /// What is different between two values.
    #[must_use]
    pub fn between(before: &Value, after: &Value) -> Self {
        let mut diff = Self::default();
        diff.compare(&mut Vec::new(), Some(before), Some(after));
        diff
    }

    /// Whether there is nothing to tell.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.server_changed
    }

    /// Adds one change.
    pub(super) fn push(&mut self, path: &[String], before: Option<String>, after: Option<String>) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(Change { path: path.to_vec(), before, after });
        } else {
            self.more += 1;
        }
    }

    // As deep as JSON from a server may be, which is bounded where it is read.
    fn compare(&mut self, path: &mut Vec<String>, before: Option<&Value>, after: Option<&Value>) {
        match (before, after) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => self.members(path, before, after),
            (Some(Value::Array(before)), Some(Value::Array(after))) => {
                for at in 0..before.len().max(after.len()) {
                    path.push((at + 1).to_string());
                    self.compare(path, before.get(at), after.get(at));
                    path.pop();
                }
            }
            (before, after) if before == after => {}
            (before, after) => self.push(path, before.map(words), after.map(words)),
        }
    }

    fn members(&mut self, path: &mut Vec<String>, before: &Map<String, Value>, after: &Map<String, Value>) {
        let gone_or_there = before.iter().map(|(key, value)| (key, Some(value), after.get(key)));
        let added =
            after.iter().filter(|(key, _)| !before.contains_key(*key)).map(|(key, value)| (key, None, Some(value)));
        for (key, before, after) in gone_or_there.chain(added) {
            path.push(key.clone());
            self.compare(path, before, after);
            path.pop();
        }
    }
}

fn words(value: &Value) -> String {
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

    fn change(path: &[&str], before: Option<&str>, after: Option<&str>) -> Change {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Change { path: path.iter().map(|&key| key.to_owned()).collect(), before: owned(before), after: owned(after) }
    }

    #[test]
    fn each_change_is_told_with_its_place_and_nothing_else() {
        let before = json!({"name": "a", "inputSchema": {"properties": {"x": {"type": "string"}}, "enum": ["1", "2"]},
            "annotations": {"readOnlyHint": false}, "gone": [1, {"a": null}]});
        let after = json!({"inputSchema": {"enum": ["1", "3", "4"], "properties": {"x": {"type": "string"}}},
            "name": "a", "annotations": {"readOnlyHint": true}, "new": {"deep": 1}});
        let diff = Diff::between(&before, &after);
        let wanted = [
            change(&["inputSchema", "enum", "2"], Some("2"), Some("3")),
            change(&["inputSchema", "enum", "3"], None, Some("4")),
            change(&["annotations", "readOnlyHint"], Some("false"), Some("true")),
            change(&["gone"], Some("[\n  1,\n  {\n    \"a\": null\n  }\n]"), None),
            change(&["new"], None, Some("{\n  \"deep\": 1\n}")),
        ];
        assert_eq!(diff.changes, wanted, "in the order in which they stood; the order of keys is no change");
        assert!(Diff::between(&before, &before).is_empty(), "the same is the same");
    }

    #[test]
    fn the_number_of_changes_is_bounded_and_the_rest_counted() {
        let list = |text: &str| Value::from(vec![text; MAX_CHANGES + 7]);
        let diff = Diff::between(&list("a"), &list("b"));
        assert_eq!((diff.changes.len(), diff.more), (MAX_CHANGES, 7), "the others are counted");
    }
}
