//! Last uses of permissions in files: of grants in their own file, of rules and shared folders in `uses.json`. Called
//! by `host/src/owner/last_uses.rs`.

use std::collections::{BTreeMap, HashMap, HashSet};

use policy::{Grant, GrantSubject, LastUse, PolicyRule, RuleEffect, RuleRef, RuleSource};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Permissions;

/// Last uses of rules and shared folders, as stored in `uses.json`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredUses {
    pub(super) rules: Vec<StoredRuleUse>,
    /// Last time at which each server received its shared folders.
    pub(super) folders: BTreeMap<String, LastUse>,
}

/// The last use of a rule, with the rule, since another rule may later get the same identifier.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredRuleUse {
    pub(super) source: RuleSource,
    pub(super) rule: PolicyRule,
    pub(super) last_use: LastUse,
}

impl StoredUses {
    /// Parses the content of `uses.json`. Entries that can't be parsed, such as those of a later version, count as
    /// missing.
    pub(super) fn parse(stored: Option<Value>) -> Self {
        fn parse_entry<T: DeserializeOwned>(entry: Value) -> Option<T> {
            serde_json::from_value(entry).ok()
        }
        let Some(Value::Object(mut members)) = stored else { return Self::default() };
        let rules = match members.remove("rules") {
            Some(Value::Array(rules)) => rules.into_iter().filter_map(parse_entry).collect(),
            _ => Vec::new(),
        };
        let folders = match members.remove("folders") {
            Some(Value::Object(folders)) => {
                folders.into_iter().filter_map(|(server, used)| Some((server, parse_entry(used)?))).collect()
            }
            _ => BTreeMap::new(),
        };
        Self { rules, folders }
    }
}

/// The current rules that allow and are stored, and the servers with shared folders, each with its last use.
pub struct UnwrittenUses {
    rules: Vec<(RuleSource, PolicyRule, Option<LastUse>)>,
    folders: Vec<(String, Option<LastUse>)>,
    /// Sources whose files are invalid, so that their current rules may not be known.
    invalid: Vec<RuleSource>,
}

impl UnwrittenUses {
    /// Returns the content of `uses.json` with the later use of each current permission, since another process may have
    /// recorded one. Uses of other permissions are dropped, except those of rules in a file that is invalid now.
    #[must_use]
    pub fn merged_with(&self, stored: Option<Value>) -> Value {
        let stored = StoredUses::parse(stored);
        let of_file: HashMap<(RuleSource, u64), &StoredRuleUse> =
            stored.rules.iter().map(|used| ((used.source, used.rule.id), used)).collect();
        let later = |own: Option<LastUse>, stored: Option<LastUse>| own.into_iter().chain(stored).max_by_key(|u| u.at);
        let rules = self.rules.iter().filter_map(|(source, rule, own)| {
            let same = of_file.get(&(*source, rule.id)).filter(|used| used.rule == *rule);
            let last_use = later(*own, same.map(|used| used.last_use))?;
            Some(StoredRuleUse { source: *source, rule: rule.clone(), last_use })
        });
        let current: HashSet<_> = self.rules.iter().map(|(source, rule, _)| (*source, rule.id)).collect();
        let of_invalid_files = stored
            .rules
            .iter()
            .filter(|used| self.invalid.contains(&used.source) && !current.contains(&(used.source, used.rule.id)));
        let rules = rules.chain(of_invalid_files.cloned());
        let folders = self
            .folders
            .iter()
            .filter_map(|(server, own)| Some((server.clone(), later(*own, stored.folders.get(server).copied())?)));
        let uses = StoredUses { rules: rules.collect(), folders: folders.collect() };
        serde_json::to_value(uses).unwrap_or_else(|_| json!({}))
    }
}

impl Permissions {
    /// Returns the last uses of rules and shared folders if one of them is not written yet.
    pub fn take_unwritten_uses(&mut self) -> Option<UnwrittenUses> {
        if !self.uses.take_has_unwritten() {
            return None;
        }
        let mut rules = Vec::new();
        for source in [RuleSource::Managed, RuleSource::User] {
            for rule in self.policy.rules(source).filter(|rule| rule.effect == RuleEffect::Allow) {
                let last_use = self.uses.last_use_of_rule(RuleRef { source, id: rule.id });
                rules.push((source, rule.clone(), last_use));
            }
        }
        let servers = self.folders.shared.keys();
        let folders = servers.map(|server| (server.clone(), self.uses.last_use_of_folders(server))).collect();
        let invalid = [RuleSource::Managed, RuleSource::User].into_iter();
        let invalid = invalid.filter(|source| self.rule_files.is_invalid(*source)).collect();
        Some(UnwrittenUses { rules, folders, invalid })
    }

    /// Drops the last uses of rules that were removed or changed. While a rule file is invalid, the uses of its rules
    /// are retained. Returns `true` if the caller has to write the last uses now.
    #[must_use]
    pub fn drop_uses_of_changed_rules(&mut self) -> bool {
        let (policy, files) = (&self.policy, &self.rule_files);
        self.uses.retain_unchanged_rules(|of, used| {
            files.is_invalid(of.source) || policy.rules(of.source).find(|own| own.id == of.id) == Some(used)
        })
    }
}

/// Returns the content of the file of grants, with the last uses of those in `used` that it still contains unchanged.
#[must_use]
pub fn with_last_uses(stored: Option<Value>, used: &[Grant]) -> Value {
    let Some(Ok(mut stored)) = stored.clone().map(serde_json::from_value::<Vec<Grant>>) else {
        return stored.unwrap_or_else(|| json!([]));
    };
    let used: HashMap<(&str, &GrantSubject), &Grant> =
        used.iter().map(|grant| ((grant.server.as_str(), &grant.subject), grant)).collect();
    for grant in &mut stored {
        let own = used.get(&(grant.server.as_str(), &grant.subject));
        // A grant that another process has given since has its own uses.
        if let Some(own) = own.filter(|own| (&own.rests_on, own.since) == (&grant.rests_on, grant.since)) {
            grant.merge_last_use(own.last_use);
        }
    }
    serde_json::to_value(stored).unwrap_or_else(|_| json!([]))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use policy::{ApprovalScope, GrantId, Grants, Hash, PolicyFile, UsedBy};

    use super::super::PermissionUses;
    use super::*;
    use crate::{DataFlowTable, FolderShares};

    fn grant(server: &str, since: u64, at: Option<u64>) -> Grant {
        Grant {
            id: GrantId(1),
            server: server.to_owned(),
            subject: GrantSubject::Tool("read".to_owned()),
            rests_on: Hash::of_bytes(b"definition"),
            scope: ApprovalScope::Always,
            conversation: None,
            since,
            expires_at: None,
            words: String::new(),
            last_use: at.map(|at| LastUse { at, by: UsedBy::Model }),
        }
    }

    #[test]
    fn last_uses_are_merged_into_stored_grants_and_add_none() {
        let file = json!([grant("used", 1, None), grant("again", 2, None), grant("later", 1, Some(900))]);
        let own = ["used", "again", "later", "revoked"].map(|server| grant(server, 1, Some(500)));
        let written: Vec<Grant> = serde_json::from_value(with_last_uses(Some(file), &own)).unwrap_or_default();
        let uses: Vec<_> =
            written.iter().map(|grant| (grant.server.as_str(), grant.last_use.map(|used| used.at))).collect();
        assert_eq!(uses, [("used", Some(500)), ("again", None), ("later", Some(900))], "a revoked grant stays revoked");
    }

    fn allowing_rule(id: u64, server: &str) -> PolicyRule {
        PolicyRule { id, ..PolicyRule::for_trusted_server(server) }
    }

    const fn last_use_at(at: u64) -> LastUse {
        LastUse { at, by: UsedBy::Model }
    }

    #[test]
    fn later_uses_of_current_rules_and_folders_are_stored() {
        let rule_use = |id, server: &str, at| StoredRuleUse {
            source: RuleSource::User,
            rule: allowing_rule(id, server),
            last_use: last_use_at(at),
        };
        let file = StoredUses {
            rules: vec![rule_use(1, "a", 900), rule_use(2, "b", 900), rule_use(3, "other", 900), rule_use(9, "r", 900)],
            folders: ["a", "removed"].map(|server| (server.to_owned(), last_use_at(900))).into(),
        };
        let own = |id, server, at: Option<u64>| (RuleSource::User, allowing_rule(id, server), at.map(last_use_at));
        let uses = UnwrittenUses {
            rules: vec![own(1, "a", Some(1_000)), own(2, "b", None), own(3, "c", None), own(4, "d", Some(500))],
            folders: vec![("a".to_owned(), Some(last_use_at(500))), ("never".to_owned(), None)],
            invalid: Vec::new(),
        };
        let written = uses.merged_with(serde_json::to_value(file).ok());
        let read = PermissionUses::read(Some(written), |_| true);
        let rules: Vec<_> = read.last_uses_of_rules().into_iter().map(|(of, used)| (of.id, used.at)).collect();
        assert_eq!(rules, [(1, 1_000), (2, 900), (4, 500)], "uses of removed and replaced rules are dropped");
        assert_eq!(read.last_uses_of_folders(), [("a".to_owned(), last_use_at(900))]);
        let unexpected = PermissionUses::read(Some(uses.merged_with(Some(json!({ "rules": 1 })))), |_| true);
        assert_eq!(unexpected.last_uses_of_rules().len(), 2, "content that can't be parsed counts as missing");
    }

    #[test]
    fn entry_that_cannot_be_parsed_affects_no_other() {
        let used = |id, at| json!({ "source": "user", "rule": allowing_rule(id, "s"), "lastUse": last_use_at(at) });
        let mut of_later_version = used(2, 2);
        of_later_version["rule"]["unknown"] = json!(true);
        let folders = json!({ "a": last_use_at(4), "later": { "at": 5, "by": "unknown" }, "removed": last_use_at(6) });
        let file = json!({ "rules": [used(1, 1), of_later_version, used(3, 3)], "folders": folders, "other": 1 });
        let mut read = PermissionUses::read(Some(file.clone()), |server| server == "a");
        let rules: Vec<_> = read.last_uses_of_rules().into_iter().map(|(of, used)| (of.id, used.at)).collect();
        assert_eq!(rules, [(1, 1), (3, 3)]);
        assert_eq!(read.last_uses_of_folders(), [("a".to_owned(), last_use_at(4))], "the others have no share");
        assert!(read.take_has_unwritten(), "a use without a share has to be removed from the file");
        let mut read = PermissionUses::read(Some(file), |_| true);
        assert!(!read.take_has_unwritten(), "the file contains no dropped use");
    }

    #[test]
    fn latest_stored_uses_are_read() {
        let used = |id| json!({ "source": "user", "rule": allowing_rule(id, "s"), "lastUse": last_use_at(id) });
        let rules: Vec<_> = (1..=2_001).map(used).collect();
        let read = PermissionUses::read(Some(json!({ "rules": rules })), |_| true).last_uses_of_rules();
        assert_eq!(read.len(), 2_000, "the number of uses is bounded");
        assert!(read.iter().all(|(of, _)| of.id != 1), "the oldest use is dropped");
    }

    #[test]
    fn last_uses_of_rules_are_retained_while_their_file_is_invalid() {
        let file = || PolicyFile { rules: vec![allowing_rule(1, "s")], ..PolicyFile::default() };
        let used = json!({ "source": "user", "rule": allowing_rule(1, "s"), "lastUse": last_use_at(1) });
        let stored = json!({ "rules": [used] });
        let start = |read| {
            let folders = FolderShares::default();
            let uses = PermissionUses::read(Some(stored.clone()), |_| true);
            let permissions = Permissions::new(Grants::default(), DataFlowTable::default(), folders);
            let mut permissions = Permissions { uses, ..permissions };
            permissions.apply_user_rules(read, PathBuf::new());
            permissions
        };
        let mut permissions = start(Err("it is no JSON".to_owned()));
        assert!(!permissions.drop_uses_of_changed_rules(), "the rule may still be in the file");
        assert!(permissions.uses.record_shared_folders_use("other", last_use_at(2)), "the use schedules a write");
        let written = permissions.take_unwritten_uses().map(|uses| uses.merged_with(Some(stored.clone())));
        assert_eq!(written.map(|written| written["rules"].clone()), Some(stored["rules"].clone()), "its use stays");
        permissions.apply_user_rules(Ok((true, file())), PathBuf::new());
        assert!(!permissions.drop_uses_of_changed_rules(), "the rule is unchanged in the corrected file");
        assert_eq!(permissions.uses.last_uses_of_rules().len(), 1);
        let mut permissions = start(Ok((true, PolicyFile::default())));
        assert!(permissions.drop_uses_of_changed_rules(), "the rule was removed");
        let written = permissions.take_unwritten_uses().map(|uses| uses.merged_with(Some(stored.clone())));
        assert_eq!(written.map(|written| written["rules"].clone()), Some(json!([])), "its use is removed");
    }

    #[test]
    fn missing_or_unexpected_grants_document_is_not_replaced() {
        let own = [grant("used", 1, Some(500))];
        assert_eq!(with_last_uses(None, &own), json!([]));
        assert_eq!(with_last_uses(Some(json!({ "a": 1 })), &own), json!({ "a": 1 }));
    }
}
