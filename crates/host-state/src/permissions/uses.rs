//! Last uses of rules and shared folders in this run, and the grants whose last use is not written yet. A grant
//! contains its own last use. Used by `host/src/owner/last_uses.rs`.

use std::collections::{BTreeMap, HashSet};

use policy::{GrantId, LastUse, PolicyRule, RuleRef};

/// Maximum number of rules whose last use is retained. Beyond it, the oldest use is dropped.
const MAX_RULE_USES: usize = 2_000;

/// Last uses of rules, shared folders and grants. They are displayed to the user, and influence no decision.
#[derive(Debug, Clone, Default)]
pub struct PermissionUses {
    rules: BTreeMap<RuleRef, RuleUse>,
    folders: BTreeMap<String, LastUse>,
    unwritten: HashSet<GrantId>,
}

/// The last use of a rule, with a copy of the rule, since another rule may later get the same identifier.
#[derive(Debug, Clone)]
struct RuleUse {
    rule: PolicyRule,
    last_use: LastUse,
}

impl PermissionUses {
    /// Records that a rule allowed an act. `rule` returns the rule, or `None` if it was removed meanwhile.
    pub fn record_rule_use(&mut self, of: RuleRef, last_use: LastUse, rule: impl FnOnce() -> Option<PolicyRule>) {
        if let Some(own) = self.rules.get_mut(&of) {
            own.last_use = last_use;
            return;
        }
        let Some(rule) = rule() else { return };
        if self.rules.len() >= MAX_RULE_USES {
            let oldest = self.rules.iter().min_by_key(|(_, used)| used.last_use.at).map(|(of, _)| *of);
            oldest.map(|oldest| self.rules.remove(&oldest));
        }
        self.rules.insert(of, RuleUse { rule, last_use });
    }

    /// Drops the last uses of rules that were removed or changed. `current` returns the rule that currently has an
    /// identifier.
    pub fn retain_unchanged_rules<'a>(&mut self, current: impl Fn(RuleRef) -> Option<&'a PolicyRule>) {
        self.rules.retain(|of, used| current(*of).is_some_and(|now| *now == used.rule));
    }

    /// Records that a server received its shared folders.
    pub fn record_shared_folders_use(&mut self, server: &str, last_use: LastUse) {
        self.folders.insert(server.to_owned(), last_use);
    }

    /// Records that the last use of a persisted grant was not written to disk yet. Returns `true` if no grant was
    /// marked before, so that the caller has to schedule the write.
    pub fn mark_grant_use_unwritten(&mut self, grant: GrantId) -> bool {
        let is_first = self.unwritten.is_empty();
        self.unwritten.insert(grant);
        is_first
    }

    /// Removes and returns the grants whose last use is not written yet.
    pub fn take_grants_with_unwritten_uses(&mut self) -> HashSet<GrantId> {
        std::mem::take(&mut self.unwritten)
    }

    /// Drops the last use of a removed server's shared folders.
    pub fn forget_server(&mut self, server: &str) {
        self.folders.remove(server);
    }

    /// Returns the last uses of rules in this run.
    pub fn last_uses_of_rules(&self) -> Vec<(RuleRef, LastUse)> {
        self.rules.iter().map(|(of, used)| (*of, used.last_use)).collect()
    }

    /// Returns the last time in this run at which each server received its shared folders.
    pub fn last_uses_of_folders(&self) -> Vec<(String, LastUse)> {
        self.folders.iter().map(|(server, used)| (server.clone(), *used)).collect()
    }
}

#[cfg(test)]
mod tests {
    use policy::{RuleSource, UsedBy};

    use super::*;

    fn last_use_at(at: u64) -> LastUse {
        LastUse { at, by: UsedBy::User }
    }

    fn user_rule_ref(id: u64) -> RuleRef {
        RuleRef { source: RuleSource::User, id }
    }

    fn rule(id: u64, server: &str) -> PolicyRule {
        PolicyRule { id, ..PolicyRule::for_trusted_server(server) }
    }

    #[test]
    fn oldest_rule_use_is_dropped_beyond_the_limit() {
        let mut uses = PermissionUses::default();
        for id in 0..MAX_RULE_USES as u64 {
            uses.record_rule_use(user_rule_ref(id), last_use_at(1_000 + id), || Some(rule(id, "s")));
        }
        uses.record_rule_use(user_rule_ref(0), last_use_at(9_000), || Some(rule(0, "s")));
        uses.record_rule_use(user_rule_ref(u64::MAX), last_use_at(9_001), || Some(rule(u64::MAX, "s")));
        let rules: Vec<_> = uses.last_uses_of_rules().into_iter().map(|(rule, _)| rule.id).collect();
        assert_eq!(rules.len(), MAX_RULE_USES, "the number of uses is bounded");
        assert!(rules.contains(&0) && rules.contains(&u64::MAX), "recent uses stay");
        assert!(!rules.contains(&1), "the oldest use is dropped");
    }

    #[test]
    fn uses_of_removed_and_changed_rules_are_dropped() {
        let mut uses = PermissionUses::default();
        for id in 1..=3 {
            uses.record_rule_use(user_rule_ref(id), last_use_at(id), || Some(rule(id, "s")));
        }
        uses.record_rule_use(user_rule_ref(4), last_use_at(4), || None);
        let now = [rule(1, "s"), rule(2, "other")];
        uses.retain_unchanged_rules(|of| now.iter().find(|rule| rule.id == of.id));
        assert_eq!(
            uses.last_uses_of_rules(),
            [(user_rule_ref(1), last_use_at(1))],
            "only the unchanged rule has a use"
        );
    }

    #[test]
    fn last_uses_of_grants_are_written_together() {
        let mut uses = PermissionUses::default();
        assert!(uses.mark_grant_use_unwritten(GrantId(1)), "the first use schedules the write");
        assert!(!uses.mark_grant_use_unwritten(GrantId(2)), "the second one waits for the same write");
        assert_eq!(uses.take_grants_with_unwritten_uses(), HashSet::from([GrantId(1), GrantId(2)]));
        assert!(uses.mark_grant_use_unwritten(GrantId(1)), "the next use schedules another write");
    }
}
