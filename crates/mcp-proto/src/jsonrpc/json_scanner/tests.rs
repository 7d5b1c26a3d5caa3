//! Tests of the scanner, compared with `serde_json`.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::super::value_spans::LargeValueSpanRecorder;
use super::*;

fn is_valid(text: &str) -> bool {
    let mut scan = JsonScanner::new(text);
    scan.consume_value().is_some() && scan.is_at_end()
}

#[test]
fn string_ends_at_its_unescaped_quote() {
    for length in 0..200 {
        for (end, valid) in [("\"", true), ("", false), ("\u{1}\"", false), ("\\n\"", true), ("\\\"", false)] {
            let text = format!("\"{}{end}", "é".repeat(length));
            assert_eq!(is_valid(&text), valid, "{text:?}");
            let text = format!("\"{}{end}", "x".repeat(length));
            assert_eq!(is_valid(&text), valid, "{text:?}");
        }
    }
}

#[test]
fn scanner_accepts_the_json_that_serde_accepts() {
    for text in [
        "0",
        "-0",
        "-",
        "01",
        "1.",
        ".5",
        "1.5e+7",
        "1e",
        "1E-3",
        "+1",
        "true",
        "tru",
        "nulll",
        "[]",
        "[ ]",
        "[,]",
        "[1,]",
        "[1 2]",
        "{}",
        "{ }",
        "{,}",
        r#"{"a":1,}"#,
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{a:1}"#,
        r#"{"a":1"b":2}"#,
        r#"[{"a":[{}]},[]]"#,
        "[}",
        "{]",
        r#""\u00e9\ud83d\ude00""#,
        r#""\u+0e9""#,
        r#""\x""#,
        r#""\"#,
        "",
        " ",
        "[1]]",
    ] {
        let serde = serde_json::from_str::<IgnoredAny>(text).is_ok();
        assert_eq!(is_valid(text), serde, "{text}");
    }
    assert!(
        !is_valid(r#""\ud800""#) && !is_valid(r#""\udc00\ud800""#),
        "X37: half of a surrogate pair must be rejected"
    );
}

/// Generates tokens of JSON, and some that make it invalid.
fn json_token() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "null", "true", "false", "nul", "0", "-1.5e3", "01", "1.", " ", "\t", "\n",
        "\"\"", "\"a\":", "\"a\"", "\"", "\\", "\\n", "\\u00e9", "\\x", "\u{1}", "\u{7f}", "é", "\u{feff}",
    ]);
    let long = (0_usize..200, prop::sample::select(vec!["", "\\\"", "\u{1f}", "\\", "\n", "😀"]), any::<bool>());
    let long = long.prop_map(|(length, end, far)| {
        let filling = "x".repeat(if far { length + 4000 } else { length });
        format!("\"{filling}{end}{filling}\"")
    });
    prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => long]
}

/// Generates valid JSON with short and long values, deep nesting and escapes.
fn valid_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,90}".prop_map(Value::from),
        (0_usize..5000).prop_map(|length| Value::from("y".repeat(length))),
    ];
    leaf.prop_recursive(7, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,80}", inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Consumes a value and each nested value with every method of the scanner, and records their positions.
fn consume_recursively(scan: &mut JsonScanner<'_>, depth: usize, into: &mut Vec<(usize, usize, bool)>) -> Option<()> {
    let first = scan.peek()?;
    let start = scan.position();
    scan.clone().consume_value()?;
    into.push((start, scan.clone().consume_value()?.len(), false));
    match first {
        b'"' => into.push((start, scan.consume_string()?.len(), scan.text_since(start).contains('\\'))),
        b'{' if depth < 6 => {
            let mut more = scan.open_container(b'{', b'}')?;
            while more {
                scan.consume_key()?;
                consume_recursively(scan, depth + 1, into)?;
                more = scan.consume_separator(b'}')?;
            }
        }
        b'[' if depth < 6 => {
            let mut more = scan.open_container(b'[', b']')?;
            while more {
                consume_recursively(scan, depth + 1, into)?;
                more = scan.consume_separator(b']')?;
            }
        }
        _ => drop(scan.consume_value()?),
    }
    Some(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scanner_accepts_arbitrary_text_if_serde_does(pieces in prop::collection::vec(json_token(), 0..12)) {
        let text = pieces.concat();
        prop_assert_eq!(is_valid(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok(), "X37, X38: {:?}", text);
    }

    #[test]
    fn scanner_accepts_json_with_one_changed_byte_if_serde_does(
        value in valid_json(), pretty in any::<bool>(), at in any::<prop::sample::Index>(), byte in 0_u8..128,
    ) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert!(is_valid(&text), "output of serde_json must be valid");
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert_eq!(is_valid(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok(), "X37: {:?}", text);
        }
    }

    #[test]
    fn recorded_value_spans_match_the_scanned_values(value in valid_json(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let mut spans = LargeValueSpanRecorder::default();
        prop_assert_eq!(JsonScanner::new(&text).consume_value_with_recorder(&mut spans), Some(&*text), "the whole value must be consumed");
        let large = spans.into_value_spans();
        let (mut first, mut again) = (Vec::new(), Vec::new());
        consume_recursively(&mut JsonScanner::new(&text), 0, &mut first);
        consume_recursively(&mut JsonScanner::with_known_value_spans(&text, large.as_deref().map_or(&[], Vec::as_slice)), 0, &mut again);
        prop_assert_eq!(first, again, "recorded spans must not change the positions in {}", text);
    }
}
