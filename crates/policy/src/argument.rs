//! Conditions on arguments: where a value is, what it must be, and why it is so or not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::matcher::Matcher;
use crate::path::PathFacts;
use crate::verdict::{JudgedReason, Verdict};
use crate::wider::Wider;
use crate::{ArgumentRule, Effect, RuleError};

/// The most items of a list that are judged.
const MAX_ITEMS: usize = 1_000;
/// The most of a value that is shown in an explanation, in characters.
const MAX_VALUE: usize = 200;

/// A condition on one argument.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// The pointer's parts.
    path: Vec<String>,
    is: Matcher,
    wider: Wider,
}

/// How one condition of a rule was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Judged {
    /// The condition's number in its rule, from 0.
    pub number: usize,
    /// Whether it holds.
    pub holds: bool,
    /// Why.
    pub reason: JudgedReason,
    /// The value, as JSON, at most its beginning; of a list the item that decided. None if there is none.
    pub value: Option<String>,
    /// What the value was read as, where that is not just how it is written.
    pub normal: Vec<String>,
}

/// What a pointer leads to.
enum Found<'a> {
    Value(&'a Value),
    Nothing,
    /// It goes on through something that has no members, such as a list or JSON in a text.
    Unclear,
}

impl Argument {
    pub(crate) fn new(rule: &ArgumentRule, effect: Effect) -> Result<Self, RuleError> {
        let is = Matcher::compile(&rule.is, effect)?;
        let bad = || RuleError::Pointer(rule.at.clone());
        let rest = rule.at.strip_prefix('/').ok_or_else(bad)?;
        // RFC 6901, section 4: `~1` first, so that `~01` is `~1`.
        let path = rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { path, is, wider: Wider::of(&rule.is, effect)? })
    }

    pub(crate) fn fits(&self, arguments: &Map<String, Value>, effect: Effect, facts: &PathFacts) -> bool {
        self.judge(arguments, effect, facts).0.fits(effect == Effect::Allow)
    }

    /// How the argument stands to the condition, and the value that says so. Of a list all items must fit where the rule allows,
    /// and one elsewhere.
    fn judge<'a>(
        &self,
        arguments: &'a Map<String, Value>,
        effect: Effect,
        facts: &PathFacts,
    ) -> (Verdict, Option<&'a Value>) {
        let is_allow = effect == Effect::Allow;
        match self.find(arguments) {
            Found::Nothing => (Verdict::Differs(JudgedReason::Missing), None),
            Found::Unclear => (Verdict::Doubtful(JudgedReason::NotJudged), None),
            Found::Value(list @ Value::Array(items)) if items.len() > MAX_ITEMS => {
                (Verdict::Doubtful(JudgedReason::TooLong), Some(list))
            }
            Found::Value(Value::Array(items)) => {
                let mut decided = (Verdict::Differs(JudgedReason::Missing), None);
                for item in items {
                    decided = (self.judge_value(item, facts), Some(item));
                    if decided.0.fits(is_allow) != is_allow {
                        break;
                    }
                }
                decided
            }
            Found::Value(value) => (self.judge_value(value, facts), Some(value)),
        }
    }

    /// The same for a value that is no list.
    fn judge_value(&self, value: &Value, facts: &PathFacts) -> Verdict {
        match (self.is.judge(value, facts), value) {
            (own @ Verdict::Differs(_), Value::String(text)) => self.wider.judge(text, facts).unwrap_or(own),
            (own, _) => own,
        }
    }

    pub(crate) fn explain(
        &self,
        number: usize,
        arguments: &Map<String, Value>,
        effect: Effect,
        facts: &PathFacts,
    ) -> Judged {
        let (verdict, value) = self.judge(arguments, effect, facts);
        Judged {
            number,
            holds: verdict.fits(effect == Effect::Allow),
            reason: verdict.reason(),
            value: value.map(|value| value.to_string().chars().take(MAX_VALUE).collect()),
            normal: value.map(|value| self.is.normal(value, facts)).unwrap_or_default(),
        }
    }

    /// Whether it matches paths.
    pub(crate) fn is_path(&self) -> bool {
        self.is.beginning().is_some()
    }

    /// The paths whose links are to be followed for it.
    pub(crate) fn paths<'a>(&'a self, arguments: &'a Map<String, Value>) -> Vec<&'a str> {
        let Some(beginning) = self.is.beginning() else { return Vec::new() };
        let mut paths = vec![beginning];
        match self.find(arguments) {
            Found::Value(Value::Array(items)) => paths.extend(items.iter().take(MAX_ITEMS).filter_map(Value::as_str)),
            Found::Value(value) => paths.extend(value.as_str()),
            Found::Nothing | Found::Unclear => return Vec::new(),
        }
        paths
    }

    fn find<'a>(&self, arguments: &'a Map<String, Value>) -> Found<'a> {
        let Some((first, rest)) = self.path.split_first() else { return Found::Nothing };
        let Some(mut found) = arguments.get(first) else { return Found::Nothing };
        for part in rest {
            let next = match found {
                Value::Object(members) => members.get(part),
                Value::Array(items) => match part.parse::<usize>() {
                    Ok(at) => items.get(at),
                    Err(_) => return Found::Unclear,
                },
                Value::String(_) => return Found::Unclear,
                Value::Null | Value::Bool(_) | Value::Number(_) => None,
            };
            let Some(next) = next else { return Found::Nothing };
            found = next;
        }
        Found::Value(found)
    }
}
