//! Changes of rules by the user, which are written to the rule file and to the audit log. Used by `handle/rules.rs` and
//! `trust.rs`.

use std::sync::Arc;

use domain::StoreError;
use host_state::{AuditedDecision, add_or_replace_rule, change_rule_file, restore_removed_rule_in_file};
use policy::{Hash, PolicyFile, PolicyRule, Preset, RuleRef, RuleScope, RuleSet, RuleSource, canonical_json};
use ports::Document;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::rules::{RulesError, RulesView};

/// Maximum number of changed rules with an audit entry of their own when a rule file has changed.
const MAX_AUDITED_RULE_CHANGES: usize = 20;

impl Owner {
    /// Records in the audit log which rules another process changed, since a rule can allow payloads to be sent
    /// regardless of who wrote it.
    pub(super) fn audit_rule_changes(&mut self, before: &RulesView, after: &RulesView) {
        let mut lines: Vec<(String, &'static str)> = Vec::new();
        let presets =
            [("preset", before.preset, after.preset), ("managed preset", before.managed_preset, after.managed_preset)];
        for (what, was, is) in presets {
            if was != is {
                lines.push((canonical_json(&json!({ what: is })), "changed"));
            }
        }
        for (of, others, decision) in [(after, before, "added"), (before, after, "removed")] {
            let changed = of.rules.iter().filter(|rule| !others.rules.contains(rule));
            lines.extend(
                changed.map(|(source, rule)| (canonical_json(&json!({ "of": source, "rule": rule })), decision)),
            );
        }
        if lines.is_empty() {
            return;
        }
        let of_user = |view: &RulesView| -> Vec<PolicyRule> {
            view.rules.iter().filter(|(source, _)| *source == RuleSource::User).map(|(_, rule)| rule.clone()).collect()
        };
        if before.preset != after.preset || of_user(before) != of_user(after) {
            self.permissions.rule_files.user.changed = Some(self.now());
        }
        let more = lines.len().saturating_sub(MAX_AUDITED_RULE_CHANGES);
        if more > 0 {
            lines.truncate(MAX_AUDITED_RULE_CHANGES);
            lines.push((format!("and {more} more changes of rules"), "changed"));
        }
        for (subject, decision) in lines {
            let hash = Hash::of_bytes(subject.as_bytes());
            let (kind, by) = ("rule", "another program");
            let entry = AuditedDecision {
                kind,
                subject: &subject,
                decision,
                by,
                asker: "file",
                hash: hash.as_str(),
                ..AuditedDecision::default()
            };
            self.audit_without_waiting(entry);
        }
    }

    /// Adds a rule, or replaces the rule with the same id. Rules for this session are stored in memory only.
    pub(crate) fn set_rule(&mut self, rule: PolicyRule, reply: oneshot::Sender<Result<RuleRef, RulesError>>) {
        let audited = rule.clone();
        self.write_rule(rule, &audited, add_or_replace_rule, Self::set_rule_until_quit, reply);
    }

    /// Adds a removed rule again, under the same id unless another rule has it by now.
    pub(crate) fn restore_rule(&mut self, rule: PolicyRule, reply: oneshot::Sender<Result<RuleRef, RulesError>>) {
        // The id is known only once the rule is written, after its audit entry. Meanwhile another rule may have it.
        let audited = PolicyRule { id: 0, ..rule.clone() };
        self.write_rule(rule, &audited, restore_removed_rule_in_file, Self::restore_rule_until_quit, reply);
    }

    /// Writes a rule with `in_file` to the rule file or, if it applies to this session only, with `in_session`.
    /// `audited` is the rule in the audit entry, without an id if the rule gets one when it is written.
    fn write_rule(
        &mut self,
        rule: PolicyRule,
        audited: &PolicyRule,
        in_file: fn(&mut PolicyFile, &PolicyRule) -> Result<u64, RulesError>,
        in_session: fn(&mut Self, PolicyRule) -> Result<u64, RulesError>,
        reply: oneshot::Sender<Result<RuleRef, RulesError>>,
    ) {
        if let Err(error) = RuleSet::compile(RuleSource::User, vec![rule.clone()]) {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(Err(error.into()));
            return;
        }
        self.audit_rule(audited, "allowed", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
            } else if rule.scope == RuleScope::Always {
                let change = move |file: &mut PolicyFile| in_file(file, &rule);
                owner.change_user_rules(change, move |_, set| {
                    let _ = reply.send(set.map(|id| RuleRef { source: RuleSource::User, id }));
                });
            } else {
                let set = in_session(owner, rule);
                let _ = reply.send(set.map(|id| RuleRef { source: RuleSource::Session, id }));
            }
        });
    }

    fn set_rule_until_quit(&mut self, rule: PolicyRule) -> Result<u64, RulesError> {
        if rule.id != 0 && !self.permissions.policy.rules_until_quit_mut().remove_matching(|own| own.id == rule.id) {
            return Err(RulesError::NoSuchRule);
        }
        self.restore_rule_until_quit(rule)
    }

    fn restore_rule_until_quit(&mut self, rule: PolicyRule) -> Result<u64, RulesError> {
        let id = self.permissions.policy.rules_until_quit_mut().restore(rule)?;
        self.on_rules_changed();
        Ok(id)
    }

    /// Removes a rule of the user.
    pub(crate) fn remove_rule(&mut self, rule: RuleRef, reply: oneshot::Sender<Result<(), RulesError>>) {
        let own = self.permissions.policy.rules(rule.source).find(|own| own.id == rule.id).cloned();
        let Some(own) = own.filter(|_| rule.source != RuleSource::Managed) else {
            let _ = reply.send(Err(RulesError::NoSuchRule));
            return;
        };
        self.audit_rule(&own, "denied", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
            } else if rule.source == RuleSource::Session {
                owner.permissions.policy.rules_until_quit_mut().remove_matching(|own| own.id == rule.id);
                owner.on_rules_changed();
                let _ = reply.send(Ok(()));
            } else {
                let change = move |file: &mut PolicyFile| {
                    file.rules.retain(|own| own.id != rule.id);
                    Ok(())
                };
                owner.change_user_rules(change, move |_, removed| drop(reply.send(removed)));
            }
        });
    }

    /// Sets the preset, which decides about acts that no rule matches.
    pub(crate) fn set_preset(&mut self, preset: Preset, reply: oneshot::Sender<Result<(), RulesError>>) {
        let subject = canonical_json(&json!({ "preset": preset }));
        self.audit_policy_change(&subject, "allowed", move |owner, written| {
            if let Err(error) = written {
                let _ = reply.send(Err(error.into()));
                return;
            }
            let change = move |file: &mut PolicyFile| {
                file.preset = preset;
                Ok(())
            };
            owner.change_user_rules(change, move |_, set| drop(reply.send(set)));
        });
    }

    /// Changes the content of the user's rule file, applies the result, and calls `then`.
    pub(super) fn change_user_rules<T: Send + 'static>(
        &mut self,
        change: impl Fn(&mut PolicyFile) -> Result<T, RulesError> + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, RulesError>) + Send + 'static,
    ) {
        let managed = Arc::clone(&self.ports.managed);
        let change = move |stored: Option<Value>| {
            let changed = change_rule_file(stored.clone(), &change);
            let unchanged = || stored.clone().unwrap_or_else(|| json!(PolicyFile::default()));
            let value = changed.as_ref().map_or_else(|_| unchanged(), |(file, _)| json!(file));
            (value, (managed.read(), stored, changed))
        };
        self.change_document(Document::Policy, change, move |owner, written| {
            let given = written.map_err(RulesError::from).and_then(|(managed, before, changed)| {
                // The previous content is applied first, so that changes that another process made are not attributed
                // to this change.
                owner.apply_rules(managed, Ok(before));
                let (file, given) = changed?;
                owner.permissions.policy.set_user_rules(file)?;
                owner.permissions.rule_files.user.exists = true;
                owner.permissions.rule_files.user.problem = None;
                owner.on_rules_changed();
                Ok(given)
            });
            then(owner, given);
        });
    }

    pub(super) fn audit_rule(
        &mut self,
        rule: &PolicyRule,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.audit_policy_change(&canonical_json(&json!(rule)), decision, then);
    }

    /// Writes the audit entry of a policy change before it takes effect, since it can allow payloads to be sent.
    fn audit_policy_change(
        &mut self,
        subject: &str,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let hash = Hash::of_bytes(subject.as_bytes());
        let by = self.options.decider_name;
        let entry =
            AuditedDecision { kind: "rule", subject, decision, by, hash: hash.as_str(), ..AuditedDecision::default() };
        self.audit_then(entry, then);
    }
}
