//! Ranges of numbers, compared without rounding.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::RuleError;
use crate::match_verdict::{JudgementReason, MatchVerdict};

/// Maximum length of the text of a range, in bytes.
const MAX_RANGE_BYTES: usize = 100;

/// A range of numbers. Both bounds are inclusive and optional.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberRange {
    from: Option<Number>,
    to: Option<Number>,
}

impl NumberRange {
    /// Parses a range: `1..10`, `1..`, `..10`, or `5` for a single number.
    pub(crate) fn compile(text: &str) -> Result<Self, RuleError> {
        let bad = || RuleError::Number(text.chars().take(MAX_RANGE_BYTES).collect());
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let end = |end: &str| match end.trim() {
            "" => Ok(None),
            end => parse_number(end).map(Some).ok_or_else(bad),
        };
        let (from, to) = (end(from)?, end(to)?);
        let is_empty = match (&from, &to) {
            (Some(from), Some(to)) => compare_numbers(from, to) == Ordering::Greater,
            (None, None) => true,
            _ => false,
        };
        if is_empty || text.len() > MAX_RANGE_BYTES { Err(bad()) } else { Ok(Self { from, to }) }
    }

    fn includes(&self, number: &Number) -> bool {
        self.from.as_ref().is_none_or(|from| compare_numbers(from, number) != Ordering::Greater)
            && self.to.as_ref().is_none_or(|to| compare_numbers(number, to) != Ordering::Greater)
    }

    pub(crate) fn judge(&self, value: &Value) -> MatchVerdict {
        match value {
            Value::Number(number) if self.includes(number) => MatchVerdict::Fits,
            Value::Number(_) => MatchVerdict::Differs(JudgementReason::Differs),
            // Some programs interpret a Boolean as 0 or 1.
            Value::Bool(value) if self.includes(&Number::from(u8::from(*value))) => {
                MatchVerdict::Doubtful(JudgementReason::NotNumber)
            }
            Value::String(text) => match parse_number(text) {
                Some(number) if !self.includes(&number) => MatchVerdict::Differs(JudgementReason::Differs),
                Some(_) => MatchVerdict::Doubtful(JudgementReason::TextNumber),
                None if may_be_number(text) => MatchVerdict::Doubtful(JudgementReason::TextNumber),
                None => MatchVerdict::Differs(JudgementReason::NotNumber),
            },
            Value::Bool(_) | Value::Null => MatchVerdict::Differs(JudgementReason::NotNumber),
            Value::Array(_) | Value::Object(_) => MatchVerdict::Doubtful(JudgementReason::NotJudged),
        }
    }
}

/// Parses a JSON number without surrounding whitespace.
fn parse_number(text: &str) -> Option<Number> {
    if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && text.ends_with(|c: char| c.is_ascii_digit()) {
        serde_json::from_str(text).ok()
    } else {
        None
    }
}

/// Returns `true` if any program may parse the text as a number: with whitespace, in another base, or with digits of
/// another script.
fn may_be_number(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains(char::is_numeric) || ["inf", "nan"].iter().any(|word| text.contains(word))
}

/// Compares two numbers without rounding.
fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(one), None) => compare_with_float(one, number_as_float(other)),
        (None, Some(other)) => compare_with_float(other, number_as_float(one)).reverse(),
        (None, None) => number_as_float(one).total_cmp(&number_as_float(other)),
    }
}

fn number_as_float(number: &Number) -> f64 {
    // A number that is not an integer is always a finite float.
    number.as_f64().unwrap_or(f64::NAN)
}

/// Compares an integer of at most 64 bits with a float.
fn compare_with_float(whole: i128, float: f64) -> Ordering {
    // Beyond 64 bits the cast is still exact. Beyond the range of `i128` it saturates, and the result of the comparison
    // is the same.
    #[allow(clippy::cast_possible_truncation, reason = "the fraction is compared separately")]
    let truncated = float.trunc() as i128;
    whole.cmp(&truncated).then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn range_includes_both_bounds() {
        for (range, value, expected) in [
            ("1..10", json!(1), MatchVerdict::Fits),
            ("1..10", json!(10), MatchVerdict::Fits),
            ("1..10", json!(10.0), MatchVerdict::Fits),
            ("1..10", json!(0.999), MatchVerdict::Differs(JudgementReason::Differs)),
            ("1..10", json!(10.001), MatchVerdict::Differs(JudgementReason::Differs)),
            ("1..10", json!(11), MatchVerdict::Differs(JudgementReason::Differs)),
            ("1..10", json!(0), MatchVerdict::Differs(JudgementReason::Differs)),
            ("0.5..1.5", json!(1), MatchVerdict::Fits),
            ("0.5..1.5", json!(0), MatchVerdict::Differs(JudgementReason::Differs)),
            ("0.5..1.5", json!(0.5), MatchVerdict::Fits),
            ("0.5..1.5", json!(1.6), MatchVerdict::Differs(JudgementReason::Differs)),
            ("-1.5..-0.5", json!(-1), MatchVerdict::Fits),
            ("-1.5..-0.5", json!(0), MatchVerdict::Differs(JudgementReason::Differs)),
            ("-5..-1", json!(-0.5), MatchVerdict::Differs(JudgementReason::Differs)),
            ("-5..-1", json!(-5.5), MatchVerdict::Differs(JudgementReason::Differs)),
            ("..100", json!(-1e300), MatchVerdict::Fits),
            ("..100", json!(1e300), MatchVerdict::Differs(JudgementReason::Differs)),
            ("100..", json!(u64::MAX), MatchVerdict::Fits),
            ("100..", json!(99), MatchVerdict::Differs(JudgementReason::Differs)),
            ("5", json!(5), MatchVerdict::Fits),
            ("5", json!(5.5), MatchVerdict::Differs(JudgementReason::Differs)),
            ("5", json!(6), MatchVerdict::Differs(JudgementReason::Differs)),
            ("..9007199254740992", json!(9_007_199_254_740_993_u64), MatchVerdict::Differs(JudgementReason::Differs)),
            ("..9007199254740993", json!(9_007_199_254_740_994.0), MatchVerdict::Differs(JudgementReason::Differs)),
            (" 1 .. 2 ", json!(2), MatchVerdict::Fits),
        ] {
            assert_eq!(NumberRange::compile(range).unwrap().judge(&value), expected, "{range} and {value}");
        }
    }

    #[test]
    fn numeric_text_is_doubtful() {
        let range = NumberRange::compile("1..10").unwrap();
        for (value, expected) in [
            (json!("5"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("50"), MatchVerdict::Differs(JudgementReason::Differs)),
            (json!("-1"), MatchVerdict::Differs(JudgementReason::Differs)),
            (json!(" 50"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("50 "), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("0x5"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("\u{ff15}"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("Infinity"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("NaN"), MatchVerdict::Doubtful(JudgementReason::TextNumber)),
            (json!("five"), MatchVerdict::Differs(JudgementReason::NotNumber)),
            (json!(true), MatchVerdict::Doubtful(JudgementReason::NotNumber)),
            (json!(false), MatchVerdict::Differs(JudgementReason::NotNumber)),
            (json!(null), MatchVerdict::Differs(JudgementReason::NotNumber)),
            (json!({}), MatchVerdict::Doubtful(JudgementReason::NotJudged)),
        ] {
            assert_eq!(range.judge(&value), expected, "{value}");
        }
    }

    #[test]
    fn invalid_number_range_is_rejected() {
        let long = format!("{}..{}", "1".repeat(MAX_RANGE_BYTES), "2".repeat(MAX_RANGE_BYTES));
        for bad in ["", "..", "a", "1..b", "10..1", "1...3", "0x1..", "1e999", "NaN", &long] {
            assert!(NumberRange::compile(bad).is_err(), "{bad:?}");
        }
        let longest = format!("1..{}", "2".repeat(MAX_RANGE_BYTES - 3));
        assert!(NumberRange::compile(&longest).is_ok(), "a range of the maximum length");
        assert!(NumberRange::compile(&format!("{longest}2")).is_err(), "one byte more than the maximum");
    }
}
