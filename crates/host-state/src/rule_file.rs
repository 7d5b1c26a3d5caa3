//! Content of a rule file: parsing it, and the user's changes of it. Used by `host/src/owner/rules.rs`, which reads it,
//! and by `host/src/owner/rules/edits.rs` and `host/src/owner/rules/trust.rs`, which change it.

use domain::StoreError;
use policy::{PolicyFile, PolicyRule, RuleSet, RuleSource};
use serde_json::Value;

use crate::rules::{RulesError, parse_rules};

/// Parses the content of a rule file. The returned flag is `true` if the file exists. A missing file has no rules, and
/// the preset balanced.
///
/// # Errors
///
/// Returns the reason why the file can't be read or is invalid.
pub fn parse_rule_file(read: Result<Option<Value>, StoreError>) -> Result<(bool, PolicyFile), String> {
    match read.map_err(|error| error.cause)? {
        None => Ok((false, PolicyFile::default())),
        Some(value) => Ok((true, parse_rules(value)?)),
    }
}

/// Applies a change to the content of the user's rule file. Rules without an id get one.
///
/// # Errors
///
/// Returns [`RulesError::Unusable`] if the stored file is invalid, [`RulesError::Rule`] if a changed rule is, and the
/// errors of `change`.
pub fn change_rule_file<T>(
    stored: Option<Value>,
    change: &impl Fn(&mut PolicyFile) -> Result<T, RulesError>,
) -> Result<(PolicyFile, T), RulesError> {
    let (_, mut file) = parse_rule_file(Ok(stored)).map_err(RulesError::Unusable)?;
    file.rules = RuleSet::compile(RuleSource::User, file.rules)?.iter().cloned().collect();
    let given = change(&mut file)?;
    RuleSet::compile(RuleSource::User, file.rules.clone())?;
    Ok((file, given))
}

/// Replaces the rule with the same id, or appends the rule with a new id if it has none. Returns its id.
///
/// # Errors
///
/// Returns [`RulesError::NoSuchRule`] if no rule has the id.
pub fn add_or_replace_rule(file: &mut PolicyFile, rule: &PolicyRule) -> Result<u64, RulesError> {
    if rule.id == 0 {
        let id = file.rules.iter().map(|own| own.id).max().unwrap_or(0) + 1;
        file.rules.push(PolicyRule { id, ..rule.clone() });
        return Ok(id);
    }
    let own = file.rules.iter_mut().find(|own| own.id == rule.id).ok_or(RulesError::NoSuchRule)?;
    own.clone_from(rule);
    Ok(rule.id)
}

/// Adds a removed rule again, under the same id unless another rule has it by now. Returns its id.
///
/// # Errors
///
/// Returns [`RulesError::Rule`] if the rules of the file are invalid or too many.
pub fn restore_removed_rule_in_file(file: &mut PolicyFile, rule: &PolicyRule) -> Result<u64, RulesError> {
    let mut rules = RuleSet::compile(RuleSource::User, std::mem::take(&mut file.rules))?;
    let id = rules.restore(rule.clone())?;
    file.rules = rules.iter().cloned().collect();
    Ok(id)
}
