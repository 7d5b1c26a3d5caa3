//! Last uses of rules and shared folders in this run, and the grants whose last use is not written yet. A grant contains
//! its own last use. Used by `host/src/owner/last_uses.rs`.

use std::collections::{BTreeMap, HashSet};

use policy::{GrantId, LastUse, RuleRef};

/// Maximum number of rules whose last use is retained. Beyond it, the oldest use is dropped.
const MAX_RULES: usize = 2_000;

/// Last uses of permissions. Nothing depends on them except what the user sees.
#[derive(Debug, Clone, Default)]
pub struct PermissionUses {
    rules: BTreeMap<RuleRef, LastUse>,
    folders: BTreeMap<String, LastUse>,
    unwritten: HashSet<GrantId>,
}

impl PermissionUses {
    /// Records that a rule allowed an act.
    pub fn note_rule(&mut self, rule: RuleRef, last_use: LastUse) {
        if self.rules.len() >= MAX_RULES && !self.rules.contains_key(&rule) {
            let oldest = self.rules.iter().min_by_key(|(_, used)| used.at).map(|(rule, _)| *rule);
            oldest.map(|oldest| self.rules.remove(&oldest));
        }
        self.rules.insert(rule, last_use);
    }

    /// Records that a server received its shared folders.
    pub fn note_folders(&mut self, server: &str, last_use: LastUse) {
        self.folders.insert(server.to_owned(), last_use);
    }

    /// Records that the last use of a persisted grant changed. Returns `true` if no other one is unwritten.
    pub fn mark_unwritten(&mut self, grant: GrantId) -> bool {
        let is_first = self.unwritten.is_empty();
        self.unwritten.insert(grant);
        is_first
    }

    /// Removes and returns the grants whose last use is not written yet.
    pub fn take_unwritten(&mut self) -> HashSet<GrantId> {
        std::mem::take(&mut self.unwritten)
    }

    /// Removes everything that is stored under a server's name.
    pub fn forget_server(&mut self, server: &str) {
        self.folders.remove(server);
    }

    /// Returns the last uses of rules in this run.
    pub fn rules(&self) -> Vec<(RuleRef, LastUse)> {
        self.rules.iter().map(|(rule, used)| (*rule, *used)).collect()
    }

    /// Returns the last time in this run at which each server received its shared folders.
    pub fn folders(&self) -> Vec<(String, LastUse)> {
        self.folders.iter().map(|(server, used)| (server.clone(), *used)).collect()
    }
}

#[cfg(test)]
mod tests {
    use policy::{RuleSource, UsedBy};

    use super::*;

    fn used(at: u64) -> LastUse {
        LastUse { at, by: UsedBy::User }
    }

    #[test]
    fn oldest_use_is_dropped_beyond_the_limit() {
        let mut uses = PermissionUses::default();
        let rule = |id| RuleRef { source: RuleSource::User, id };
        for id in 0..MAX_RULES as u64 {
            uses.note_rule(rule(id), used(1_000 + id));
        }
        uses.note_rule(rule(0), used(9_000));
        uses.note_rule(rule(u64::MAX), used(9_001));
        let rules: Vec<_> = uses.rules().into_iter().map(|(rule, _)| rule.id).collect();
        assert_eq!(rules.len(), MAX_RULES, "the number of uses is bounded");
        assert!(rules.contains(&0) && rules.contains(&u64::MAX), "recent uses stay");
        assert!(!rules.contains(&1), "the oldest use is dropped");
    }

    #[test]
    fn uses_of_grants_are_written_together() {
        let mut uses = PermissionUses::default();
        assert!(uses.mark_unwritten(GrantId(1)), "the first use schedules the write");
        assert!(!uses.mark_unwritten(GrantId(2)), "the second one waits for the same write");
        assert_eq!(uses.take_unwritten(), HashSet::from([GrantId(1), GrantId(2)]));
        assert!(uses.mark_unwritten(GrantId(1)), "the next use schedules another write");
    }
}
