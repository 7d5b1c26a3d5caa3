//! Conditions on arguments of a call: the location of the value, its matcher, and the explanation of the result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::matcher::ArgumentMatcher;
use crate::path_pattern::ResolvedPaths;
use crate::wider_conditions::WiderMatchConditions;
use crate::{ArgumentRule, RuleEffect, RuleError};

/// Maximum number of items that are checked if an argument is a list.
const MAX_CHECKED_LIST_ITEMS: usize = 1_000;
/// Maximum number of characters of an argument's value that an explanation shows.
const MAX_EXPLAINED_VALUE_CHARS: usize = 200;

/// A condition on one argument of a call, with its pattern compiled.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentCondition {
    /// Segments of the JSON Pointer that locates the argument, unescaped.
    path: Vec<String>,
    is: ArgumentMatcher,
    wider: WiderMatchConditions,
}

/// Result of checking one argument condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ArgumentJudgement {
    /// Index of the argument condition in its rule, from 0.
    pub number: usize,
    /// Set if the argument meets the condition.
    pub holds: bool,
    /// Reason why the argument meets the condition or not.
    pub reason: JudgementReason,
    /// The checked value as JSON, truncated. For a list, the item that determined the result. `None` if there is no
    /// value.
    pub value: Option<String>,
    /// Normalized forms of the argument's value, where they differ from the value as written.
    pub normal: Vec<String>,
}

/// Value at the location of a JSON Pointer in a call's arguments, or the reason why there is none.
enum JsonPointerTarget<'a> {
    Value(&'a Value),
    Nothing,
    /// The pointer continues into a value without members, for instance a string that may contain JSON.
    Unclear,
}

impl ArgumentCondition {
    pub(crate) fn new(rule: &ArgumentRule, effect: RuleEffect) -> Result<Self, RuleError> {
        let is = ArgumentMatcher::compile(&rule.is, effect)?;
        let bad = || RuleError::Pointer(rule.at.clone());
        let rest = rule.at.strip_prefix('/').ok_or_else(bad)?;
        // RFC 6901, section 4: `~1` first, so that `~01` is `~1`.
        let path = rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { path, is, wider: WiderMatchConditions::new(&rule.is, effect)? })
    }

    pub(crate) fn matches(&self, arguments: &Map<String, Value>, effect: RuleEffect, facts: &ResolvedPaths) -> bool {
        self.judge(arguments, effect, facts).0.is_match(effect == RuleEffect::Allow)
    }

    /// Checks the argument of a call, and returns the value that determined the result. For a list, all items must
    /// match if the rule allows, and one item if it denies or asks.
    fn judge<'a>(
        &self,
        arguments: &'a Map<String, Value>,
        effect: RuleEffect,
        facts: &ResolvedPaths,
    ) -> (MatchVerdict, Option<&'a Value>) {
        let is_allow = effect == RuleEffect::Allow;
        match self.resolve_pointer(arguments) {
            JsonPointerTarget::Nothing => (MatchVerdict::Differs(JudgementReason::Missing), None),
            JsonPointerTarget::Unclear => (MatchVerdict::Doubtful(JudgementReason::NotJudged), None),
            JsonPointerTarget::Value(list @ Value::Array(items)) if items.len() > MAX_CHECKED_LIST_ITEMS => {
                (MatchVerdict::Doubtful(JudgementReason::TooLong), Some(list))
            }
            JsonPointerTarget::Value(Value::Array(items)) => {
                let mut decided = (MatchVerdict::Differs(JudgementReason::Missing), None);
                for item in items {
                    decided = (self.judge_value(item, facts), Some(item));
                    if decided.0.is_match(is_allow) != is_allow {
                        break;
                    }
                }
                decided
            }
            JsonPointerTarget::Value(value) => (self.judge_value(value, facts), Some(value)),
        }
    }

    /// Compares an argument's value that is not a list with the condition.
    fn judge_value(&self, value: &Value, facts: &ResolvedPaths) -> MatchVerdict {
        match (self.is.judge(value, facts), value) {
            (own @ MatchVerdict::Differs(_), Value::String(text)) => self.wider.judge(text, facts).unwrap_or(own),
            (own, _) => own,
        }
    }

    pub(crate) fn explain(
        &self,
        number: usize,
        arguments: &Map<String, Value>,
        effect: RuleEffect,
        facts: &ResolvedPaths,
    ) -> ArgumentJudgement {
        let (verdict, value) = self.judge(arguments, effect, facts);
        ArgumentJudgement {
            number,
            holds: verdict.is_match(effect == RuleEffect::Allow),
            reason: verdict.reason(),
            value: value.map(|value| value.to_string().chars().take(MAX_EXPLAINED_VALUE_CHARS).collect()),
            normal: value.map(|value| self.is.normalized_values(value, facts)).unwrap_or_default(),
        }
    }

    /// Returns `true` if the condition compares paths.
    pub(crate) fn compares_path(&self) -> bool {
        self.is.literal_prefix().is_some()
    }

    /// Returns the paths whose symbolic links must be resolved for this condition.
    pub(crate) fn paths_in_arguments<'a>(&'a self, arguments: &'a Map<String, Value>) -> Vec<&'a str> {
        let Some(beginning) = self.is.literal_prefix() else { return Vec::new() };
        let mut paths = vec![beginning];
        match self.resolve_pointer(arguments) {
            JsonPointerTarget::Value(Value::Array(items)) => {
                paths.extend(items.iter().take(MAX_CHECKED_LIST_ITEMS).filter_map(Value::as_str))
            }
            JsonPointerTarget::Value(value) => paths.extend(value.as_str()),
            JsonPointerTarget::Nothing | JsonPointerTarget::Unclear => return Vec::new(),
        }
        paths
    }

    fn resolve_pointer<'a>(&self, arguments: &'a Map<String, Value>) -> JsonPointerTarget<'a> {
        let Some((first, rest)) = self.path.split_first() else { return JsonPointerTarget::Nothing };
        let Some(mut found) = arguments.get(first) else { return JsonPointerTarget::Nothing };
        for part in rest {
            let next = match found {
                Value::Object(members) => members.get(part),
                Value::Array(items) => match part.parse::<usize>() {
                    Ok(at) => items.get(at),
                    Err(_) => return JsonPointerTarget::Unclear,
                },
                Value::String(_) => return JsonPointerTarget::Unclear,
                Value::Null | Value::Bool(_) | Value::Number(_) => None,
            };
            let Some(next) = next else { return JsonPointerTarget::Nothing };
            found = next;
        }
        JsonPointerTarget::Value(found)
    }
}
