//! Last uses of rules and shared folders, and the permissions whose last use is not written yet. A grant contains its
//! own last use. Used by `host/src/owner/last_uses.rs`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use policy::{GrantId, LastUse, PolicyRule, RuleRef, RuleSource};
use serde_json::Value;

use super::stored_uses::StoredUses;

/// Maximum number of rules whose last use is retained. Beyond it, the oldest use is dropped.
const MAX_RULE_USES: usize = 2_000;

/// Last uses of rules, shared folders and grants. They are displayed to the user, and influence no decision.
#[derive(Debug, Clone, Default)]
pub struct PermissionUses {
    rules: BTreeMap<RuleRef, RuleUse>,
    folders: BTreeMap<String, LastUse>,
    unwritten: HashSet<GrantId>,
    /// Set if the last use of a rule or of shared folders, or its removal, is not written yet.
    has_unwritten: bool,
    /// Set while a write of the last uses is scheduled.
    is_write_scheduled: bool,
}

/// The last use of a rule, with a copy of the rule, since another rule may later get the same identifier.
#[derive(Debug, Clone)]
struct RuleUse {
    rule: PolicyRule,
    last_use: LastUse,
}

impl PermissionUses {
    /// Creates the uses from the content of `uses.json`. Entries that can't be parsed count as missing. `has_share`
    /// returns `true` for a server with shared folders. Uses of the folders of other servers are dropped.
    pub fn read(stored: Option<Value>, has_share: impl Fn(&str) -> bool) -> Self {
        let StoredUses { mut rules, mut folders } = StoredUses::parse(stored);
        rules.sort_by_key(|used| Reverse(used.last_use.at));
        let rules = rules.into_iter().take(MAX_RULE_USES).map(|used| {
            let of = RuleRef { source: used.source, id: used.rule.id };
            (of, RuleUse { rule: used.rule, last_use: used.last_use })
        });
        let stored_count = folders.len();
        folders.retain(|server, _| has_share(server));
        let has_unwritten = folders.len() < stored_count;
        Self { rules: rules.collect(), folders, has_unwritten, ..Self::default() }
    }

    /// Records that a rule allowed an act. `rule` returns the rule, or `None` if it was removed meanwhile. Returns
    /// `true` if the caller has to schedule a write of the last uses.
    #[must_use]
    pub fn record_rule_use(
        &mut self,
        of: RuleRef,
        last_use: LastUse,
        rule: impl FnOnce() -> Option<PolicyRule>,
    ) -> bool {
        if let Some(own) = self.rules.get_mut(&of) {
            own.last_use = last_use;
            return self.mark_unwritten(of.source);
        }
        let Some(rule) = rule() else { return false };
        if self.rules.len() >= MAX_RULE_USES {
            let oldest = self.rules.iter().min_by_key(|(_, used)| used.last_use.at).map(|(of, _)| *of);
            oldest.map(|oldest| self.rules.remove(&oldest));
        }
        self.rules.insert(of, RuleUse { rule, last_use });
        self.mark_unwritten(of.source)
    }

    /// Marks the uses of permissions from this source as not written. Returns `true` if a write has to be scheduled.
    fn mark_unwritten(&mut self, source: RuleSource) -> bool {
        if source == RuleSource::Session {
            return false;
        }
        self.has_unwritten = true;
        !std::mem::replace(&mut self.is_write_scheduled, true)
    }

    /// Drops the last uses of rules for which `is_unchanged` returns `false`. Returns `true` if the caller has to write
    /// the last uses now, since an equal rule that is added later would otherwise get the dropped use from the file.
    #[must_use]
    pub(super) fn retain_unchanged_rules(&mut self, is_unchanged: impl Fn(RuleRef, &PolicyRule) -> bool) -> bool {
        let mut drops_written = false;
        self.rules.retain(|of, used| {
            let stays = is_unchanged(*of, &used.rule);
            drops_written |= !stays && of.source != RuleSource::Session;
            stays
        });
        self.has_unwritten |= drops_written;
        drops_written
    }

    /// Records that a server received its shared folders. Returns `true` if the caller has to schedule a write of the
    /// last uses.
    #[must_use]
    pub fn record_shared_folders_use(&mut self, server: &str, last_use: LastUse) -> bool {
        self.folders.insert(server.to_owned(), last_use);
        // The user shares folders.
        self.mark_unwritten(RuleSource::User)
    }

    /// Records that the last use of a persisted grant was not written to disk yet. Returns `true` if the caller has to
    /// schedule a write of the last uses.
    #[must_use]
    pub fn mark_grant_use_unwritten(&mut self, grant: GrantId) -> bool {
        self.unwritten.insert(grant);
        !std::mem::replace(&mut self.is_write_scheduled, true)
    }

    /// Removes and returns the grants whose last use is not written yet. The next use schedules another write.
    pub fn take_grants_with_unwritten_uses(&mut self) -> HashSet<GrantId> {
        self.is_write_scheduled = false;
        std::mem::take(&mut self.unwritten)
    }

    /// Returns `true` if the last use of a rule or of shared folders, or its removal, was not written since this was
    /// last called.
    pub(super) const fn take_has_unwritten(&mut self) -> bool {
        std::mem::replace(&mut self.has_unwritten, false)
    }

    /// Returns the last use of a rule.
    pub(super) fn last_use_of_rule(&self, of: RuleRef) -> Option<LastUse> {
        self.rules.get(&of).map(|used| used.last_use)
    }

    /// Returns the last time at which a server received its shared folders.
    pub(super) fn last_use_of_folders(&self, server: &str) -> Option<LastUse> {
        self.folders.get(server).copied()
    }

    /// Moves the last use of shared folders to another name of the server. The caller has to write the last uses
    /// afterwards.
    pub fn rename_server(&mut self, was: &str, name: &str) {
        if let Some(used) = self.folders.remove(was) {
            self.folders.insert(name.to_owned(), used);
            self.has_unwritten = true;
        }
    }

    /// Drops the last use of a removed server's shared folders. The caller has to write the last uses afterwards, since
    /// a server that is added later with the same name would otherwise get the dropped use from the file.
    pub fn forget_server(&mut self, server: &str) {
        self.has_unwritten |= self.folders.remove(server).is_some();
    }

    /// Returns the last uses of rules.
    pub fn last_uses_of_rules(&self) -> Vec<(RuleRef, LastUse)> {
        self.rules.iter().map(|(of, used)| (*of, used.last_use)).collect()
    }

    /// Returns the last time at which each server received its shared folders.
    pub fn last_uses_of_folders(&self) -> Vec<(String, LastUse)> {
        self.folders.iter().map(|(server, used)| (server.clone(), *used)).collect()
    }
}

#[cfg(test)]
mod tests {
    use policy::UsedBy;

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

    /// Records the use of a rule. Returns `true` if a write has to be scheduled.
    fn record(uses: &mut PermissionUses, id: u64, at: u64) -> bool {
        uses.record_rule_use(user_rule_ref(id), last_use_at(at), || Some(rule(id, "s")))
    }

    #[test]
    fn oldest_rule_use_is_dropped_beyond_the_limit() {
        let mut uses = PermissionUses::default();
        for id in 0..MAX_RULE_USES as u64 {
            record(&mut uses, id, 1_000 + id);
        }
        record(&mut uses, 0, 9_000);
        record(&mut uses, u64::MAX, 9_001);
        let rules: Vec<_> = uses.last_uses_of_rules().into_iter().map(|(rule, _)| rule.id).collect();
        assert_eq!(rules.len(), MAX_RULE_USES, "the number of uses is bounded");
        assert!(rules.contains(&0) && rules.contains(&u64::MAX), "recent uses stay");
        assert!(!rules.contains(&1), "the oldest use is dropped");
    }

    #[test]
    fn uses_of_removed_and_changed_rules_are_dropped() {
        let mut uses = PermissionUses::default();
        for id in 1..=3 {
            record(&mut uses, id, id);
        }
        assert!(!uses.record_rule_use(user_rule_ref(4), last_use_at(4), || None), "a removed rule has no use");
        let now = [rule(1, "s"), rule(2, "other")];
        let is_unchanged = |of: RuleRef, rule: &PolicyRule| now.iter().any(|own| own.id == of.id && own == rule);
        assert!(uses.take_has_unwritten(), "the uses themselves were written before");
        assert!(uses.retain_unchanged_rules(is_unchanged), "the file still contains the dropped uses");
        assert!(uses.take_has_unwritten(), "they have to be removed from the file");
        assert!(!uses.retain_unchanged_rules(is_unchanged), "no other use is dropped");
        assert_eq!(
            uses.last_uses_of_rules(),
            [(user_rule_ref(1), last_use_at(1))],
            "only the unchanged rule has a use"
        );
    }

    #[test]
    fn last_use_of_folders_is_written_again_after_its_server_is_renamed_or_removed() {
        let mut uses = PermissionUses::default();
        assert!(uses.record_shared_folders_use("was", last_use_at(1)), "the use schedules the write");
        assert!(uses.take_has_unwritten());
        uses.rename_server("was", "is");
        assert!(uses.take_has_unwritten(), "the file contains the use under the previous name");
        assert_eq!(uses.last_uses_of_folders(), [("is".to_owned(), last_use_at(1))]);
        uses.forget_server("was");
        assert!(!uses.take_has_unwritten(), "no use is dropped");
        uses.forget_server("is");
        assert!(uses.take_has_unwritten(), "the file still contains the dropped use");
        assert!(uses.last_uses_of_folders().is_empty());
    }

    #[test]
    fn last_uses_of_grants_are_written_together() {
        let mut uses = PermissionUses::default();
        assert!(uses.mark_grant_use_unwritten(GrantId(1)), "the first use schedules the write");
        assert!(!uses.mark_grant_use_unwritten(GrantId(2)), "the second one waits for the same write");
        assert_eq!(uses.take_grants_with_unwritten_uses(), HashSet::from([GrantId(1), GrantId(2)]));
        assert!(uses.mark_grant_use_unwritten(GrantId(1)), "the next use schedules another write");
        assert!(!record(&mut uses, 1, 1), "the use of a rule waits for the same write");
        assert!(!uses.record_shared_folders_use("s", last_use_at(1)), "so do shared folders");
    }

    #[test]
    fn rules_of_a_session_cause_no_write() {
        let mut uses = PermissionUses::default();
        let of = RuleRef { source: RuleSource::Session, id: 1 };
        assert!(!uses.record_rule_use(of, last_use_at(1), || Some(rule(1, "s"))));
        assert!(!uses.retain_unchanged_rules(|_, _| false), "the file never contained the dropped use");
        assert!(!uses.take_has_unwritten());
        assert!(record(&mut uses, 1, 1), "the first use of a stored rule schedules the write");
        assert!(uses.take_has_unwritten() && !uses.take_has_unwritten(), "each use is written once");
    }
}
