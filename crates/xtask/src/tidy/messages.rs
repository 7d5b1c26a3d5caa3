//! Rule for translations: all languages must have the same messages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Finding;
use super::source_tree::{SourceFile, SourceTree};

const MESSAGES_FOLDER: &str = "ui/messages/";
const MESSAGE_LANGUAGES: [&str; 2] = ["en", "zh"];

/// Reports keys or placeholders that differ between languages, and empty messages.
pub(super) fn find_translation_differences(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Maps each area (the name of a file without its language) to the file of each language.
    let mut areas: BTreeMap<String, [Option<&SourceFile>; 2]> = BTreeMap::new();
    for file in tree.files_in_folder(MESSAGES_FOLDER).filter(|file| file.has_extension(&["json"])) {
        let name = &file.path[MESSAGES_FOLDER.len()..];
        let language = MESSAGE_LANGUAGES
            .iter()
            .position(|language| name.starts_with(&format!("{language}/")) || name == format!("{language}.json"));
        if let Some(at) = language {
            areas.entry(name[2..].to_owned()).or_default()[at] = Some(file);
        }
    }
    for (area, files) in areas {
        match files {
            [Some(one), Some(other)] => findings.extend(message_differences_between_languages(one, other)),
            [Some(file), None] | [None, Some(file)] => {
                findings.push(Finding::new(&file.path, 0, format!("the other language has no messages in `{area}`")));
            }
            [None, None] => {}
        }
    }
    findings
}

fn message_differences_between_languages(one: &SourceFile, other: &SourceFile) -> Vec<Finding> {
    let (ours, theirs) = match (parse_messages(one), parse_messages(other)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (ours, theirs) => return [ours.err(), theirs.err()].into_iter().flatten().collect(),
    };
    let mut findings = Vec::new();
    for (file, has, expected) in [(one, &ours, &theirs), (other, &theirs, &ours)] {
        for (key, message) in expected {
            match has.get(key) {
                None => findings.push(Finding::new(&file.path, 0, format!("the message `{key}` is missing"))),
                Some(own) if own.text.trim().is_empty() => {
                    findings.push(Finding::new(&file.path, 0, format!("the message `{key}` is empty")));
                }
                Some(own) if !own.placeholders.is_superset(&message.placeholders) => {
                    let text = format!("the message `{key}` lacks a placeholder of the other language");
                    findings.push(Finding::new(&file.path, 0, text));
                }
                Some(_) => {}
            }
        }
    }
    findings
}

struct TranslatedMessage {
    text: String,
    placeholders: BTreeSet<String>,
}

/// Parses the messages of one language in a file into a map by key. The keys of nested objects are joined with dots,
/// and the variants of a message are combined.
fn parse_messages(file: &SourceFile) -> Result<BTreeMap<String, TranslatedMessage>, Finding> {
    let value: Value = serde_json::from_str(&file.text)
        .map_err(|error| Finding::new(&file.path, error.line(), format!("is not JSON: {error}")))?;
    let mut found = BTreeMap::new();
    collect_messages("", &value, &mut found);
    Ok(found)
}

fn collect_messages(prefix: &str, value: &Value, found: &mut BTreeMap<String, TranslatedMessage>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| *key != "$schema") {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                collect_messages(&path, value, found);
            }
        }
        Value::String(text) => {
            found.insert(
                prefix.to_owned(),
                TranslatedMessage { text: text.clone(), placeholders: message_placeholders(text) },
            );
        }
        // Variants may differ between languages, such as plural forms.
        other => {
            let text = message_variants(other).join("\n");
            found.insert(prefix.to_owned(), TranslatedMessage { placeholders: message_placeholders(&text), text });
        }
    }
}

/// Returns the texts of a message with variants, such as plural forms: the values in every `match`.
fn message_variants(value: &Value) -> Vec<&str> {
    let matches = value.as_array().into_iter().flatten().filter_map(|part| part.get("match")?.as_object());
    matches.flat_map(|texts| texts.values().filter_map(Value::as_str)).collect()
}

fn message_placeholders(text: &str) -> BTreeSet<String> {
    let parts = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
    parts.map(|(name, _)| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_texts(en: &str, zh: &str) -> Vec<String> {
        let tree = SourceTree::from_files(&[("ui/messages/en/shell.json", en), ("ui/messages/zh/shell.json", zh)]);
        find_translation_differences(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn message_in_one_language_only_is_reported() {
        let found = finding_texts(r#"{"$schema": "x", "a": "A", "b": {"c": "C"}}"#, r#"{"a": "甲"}"#);
        assert_eq!(
            found,
            ["ui/messages/zh/shell.json: the message `b.c` is missing"],
            "keys of nested objects should contain dots"
        );
    }

    #[test]
    fn empty_message_and_missing_placeholder_are_reported() {
        let found = finding_texts(r#"{"a": "A", "b": "{count} servers"}"#, r#"{"a": " ", "b": "服务器"}"#);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`a` is empty") && found[1].contains("`b` lacks"), "{found:?}");
    }

    #[test]
    fn variants_may_differ_but_not_lose_a_placeholder() {
        let english = r#"{"a": [{"match": {"n=one": "{n} x", "n=other": "{n} ys"}}]}"#;
        assert!(finding_texts(english, r#"{"a": "{n} z"}"#).is_empty(), "plural forms may differ between languages");
        let lost = finding_texts(english, r#"{"a": [{"match": {"n=other": "z"}}]}"#);
        assert!(
            lost.len() == 1 && lost[0].contains("`a` lacks"),
            "the missing placeholder should be reported: {lost:?}"
        );
    }

    #[test]
    fn missing_and_invalid_message_files_are_reported() {
        let one = SourceTree::from_files(&[("ui/messages/en.json", "{}")]);
        assert_eq!(find_translation_differences(&one).len(), 1, "a missing file should be reported");
        assert!(finding_texts("{", "{}")[0].contains("is not JSON"), "an invalid file should be reported");
    }
}
