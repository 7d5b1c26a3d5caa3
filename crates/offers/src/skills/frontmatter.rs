//! The frontmatter of a `SKILL.md`: YAML at its beginning, between two lines of three hyphens.

use serde_json::{Map, Value};

/// Maximum size of the frontmatter, in bytes.
const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
/// Maximum nesting depth of the values in a frontmatter.
const MAX_FRONTMATTER_DEPTH: usize = 32;
/// Maximum number of values in a frontmatter.
const MAX_FRONTMATTER_VALUES: usize = 4_096;

/// Parses the YAML frontmatter of a `SKILL.md`, and converts it to JSON.
///
/// # Errors
///
/// Returns the cause as text if there is no frontmatter, it is not a YAML mapping with string keys, or it exceeds a
/// bound.
pub(super) fn parse_frontmatter(text: &str) -> Result<Map<String, Value>, String> {
    let yaml =
        yaml_between_hyphen_lines(text).ok_or("it does not begin with frontmatter between lines of three hyphens")?;
    if yaml.len() > MAX_FRONTMATTER_BYTES {
        return Err(format!("its frontmatter is longer than {MAX_FRONTMATTER_BYTES} bytes"));
    }
    // As in YAML 1.2, only `true` and `false` are booleans. The library limits the expansion of aliases.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_depth: MAX_FRONTMATTER_DEPTH, max_nodes: MAX_FRONTMATTER_VALUES },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_FRONTMATTER_VALUES },
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
        let cause: String = error.to_string().lines().next().unwrap_or_default().chars().take(200).collect();
        format!("its frontmatter can't be read: {cause}")
    })
}

/// Returns the text between the two lines of hyphens.
fn yaml_between_hyphen_lines(text: &str) -> Option<&str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some(&text[first.len()..at]);
        }
        at += line.len();
    }
    None
}

/// Compares two values of a frontmatter. Numbers are equal if they have the same value, regardless of their notation.
pub(super) fn are_equal_values(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal_values(one, other))
        }
        (Value::Object(one), Value::Object(other)) => first_different_key(one, other).is_none(),
        _ => one == other,
    }
}

/// Returns the first key whose value differs between two frontmatters, or that only one of them contains.
pub(super) fn first_different_key<'a>(one: &'a Map<String, Value>, other: &'a Map<String, Value>) -> Option<&'a str> {
    let is_different = |key: &&String| match (one.get(*key), other.get(*key)) {
        (Some(one), Some(other)) => !are_equal_values(one, other),
        _ => true,
    };
    one.keys().chain(other.keys()).find(is_different).map(String::as_str)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn frontmatter_is_parsed() {
        let read =
            parse_frontmatter("---\r\nname: a\nmetadata:\n  version: 1.0\n  tags: [x, y]\n---\n\n---\n# A\n").unwrap();
        let expected = json!({ "name": "a", "metadata": { "version": 1, "tags": ["x", "y"] } });
        assert_eq!(
            first_different_key(&read, expected.as_object().unwrap()),
            None,
            "the frontmatter is converted to JSON: {read:?}"
        );
    }

    #[test]
    fn missing_or_invalid_frontmatter_is_an_error() {
        for text in ["", "# A", "---\nname: a\n", "name: a\n---\n", "---\n- a\n---\n", "---\na: [\n---\n"] {
            assert!(parse_frontmatter(text).is_err(), "{text:?} has no valid frontmatter");
        }
        let nested = format!("---\na: {}1{}\n---\n", "[".repeat(10_000), "]".repeat(10_000));
        assert!(parse_frontmatter(&nested).is_err(), "the nesting depth is limited");
        let many: String =
            (1..9).map(|i| format!("x{i}: &x{i} [{}]\n", vec![format!("*x{}", i - 1); 9].join(","))).collect();
        assert!(
            parse_frontmatter(&format!("---\nx0: &x0 [1,1,1,1,1,1,1,1,1]\n{many}---\n")).is_err(),
            "the expansion of aliases is limited"
        );
    }

    #[test]
    fn frontmatter_difference_is_named_at_any_depth() {
        let of = |value: Value| value.as_object().unwrap().clone();
        let (one, other) = (of(json!({ "a": { "b": [1] } })), of(json!({ "a": { "b": [2] } })));
        assert_eq!(first_different_key(&one, &other), Some("a"), "a nested difference is found");
        assert_eq!(
            first_different_key(&one, &Map::new()),
            Some("a"),
            "a key that only the first mapping contains is found"
        );
        assert_eq!(
            first_different_key(&Map::new(), &one),
            Some("a"),
            "a key that only the second mapping contains is found"
        );
        assert!(!are_equal_values(&json!(1), &json!("1")), "a text is not equal to a number");
    }
}
