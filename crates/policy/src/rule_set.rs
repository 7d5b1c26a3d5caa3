//! The rules of one source, indexed so that only few of them are compared with an act.

use std::collections::{HashMap, HashSet};

use crate::compiled_rule::CompiledRule;
use crate::pattern::GlobPattern;
use crate::rule::MAX_RULES_PER_SOURCE;
use crate::{PolicyAct, PolicyRule, RuleError, RuleRef, RuleScope, RuleSource};

/// Maximum identifier under which a rule is restored. A greater one would leave few identifiers for new rules, which
/// get the next after the greatest.
const MAX_RESTORED_RULE_ID: u64 = 1 << 32;

/// Error for a list of rules, one of which is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {} is invalid: {error}", .at + 1)]
pub struct RuleProblem {
    /// Index of the rule in the list, from 0.
    pub at: usize,
    /// Reason why the rule at this index is invalid.
    pub error: RuleError,
}

/// The compiled rules of one source, indexed by server and tool.
#[derive(Debug, Clone)]
pub struct RuleSet {
    source: RuleSource,
    rules: Vec<CompiledRule>,
    /// Indices of rules about one server, by the server's name.
    by_server: HashMap<String, Vec<usize>>,
    /// Indices of rules about one tool of several servers, by the tool's name.
    by_tool: HashMap<String, Vec<usize>>,
    /// Indices of rules that are about several servers and not about one tool.
    others: Vec<usize>,
    /// Set if any rule compares paths.
    compares_paths: bool,
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::new(RuleSource::User)
    }
}

impl RuleSet {
    /// Maximum number of rules in one source.
    pub const MAX_RULES: usize = MAX_RULES_PER_SOURCE;

    /// Creates a set without rules for this source.
    #[must_use]
    pub fn new(source: RuleSource) -> Self {
        Self {
            source,
            rules: Vec::new(),
            by_server: HashMap::new(),
            by_tool: HashMap::new(),
            others: Vec::new(),
            compares_paths: false,
        }
    }

    /// Compiles rules. A rule without an identifier is assigned one.
    ///
    /// # Errors
    ///
    /// Returns the first rule that is invalid. Returns [`RuleError::TooMany`] for more than [`MAX_RULES`](Self::MAX_RULES)
    /// rules, and [`RuleError::SameId`] for an identifier that is used twice.
    pub fn compile(source: RuleSource, mut rules: Vec<PolicyRule>) -> Result<Self, RuleProblem> {
        if rules.len() > Self::MAX_RULES {
            return Err(RuleProblem { at: Self::MAX_RULES, error: RuleError::TooMany });
        }
        let mut ids = HashSet::new();
        for (at, id) in rules.iter().map(|rule| rule.id).enumerate() {
            if id != 0 && !ids.insert(id) {
                return Err(RuleProblem { at, error: RuleError::SameId(id) });
            }
        }
        let mut next = 1;
        for rule in rules.iter_mut().filter(|rule| rule.id == 0) {
            while !ids.insert(next) {
                next += 1;
            }
            rule.id = next;
        }
        let mut set = Self::new(source);
        for (at, rule) in rules.into_iter().enumerate() {
            set.rules.push(CompiledRule::new(rule).map_err(|error| RuleProblem { at, error })?);
        }
        set.rebuild_index();
        Ok(set)
    }

    /// Adds a rule with a new identifier, and returns the identifier.
    ///
    /// # Errors
    ///
    /// Returns an error if the rule is invalid, and [`RuleError::TooMany`] if the limit is reached.
    pub fn add(&mut self, rule: PolicyRule) -> Result<u64, RuleProblem> {
        let at = self.rules.len();
        if at >= Self::MAX_RULES {
            return Err(RuleProblem { at, error: RuleError::TooMany });
        }
        let id = self.rules.iter().map(|own| own.rule.id).max().unwrap_or(0).saturating_add(1);
        self.rules.push(CompiledRule::new(PolicyRule { id, ..rule }).map_err(|error| RuleProblem { at, error })?);
        self.rebuild_index();
        Ok(id)
    }

    /// Adds a rule under its identifier, or under a new one if it has none or another rule has the same. Returns the
    /// identifier. Has no effect if the set contains the rule. The rule precedes those with greater identifiers, where it was before it was removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the rule is invalid, and [`RuleError::TooMany`] if the limit is reached.
    pub fn restore(&mut self, rule: PolicyRule) -> Result<u64, RuleProblem> {
        let id = rule.id;
        if self.rules.iter().any(|own| own.rule == rule) {
            return Ok(id);
        }
        let is_free = (1..=MAX_RESTORED_RULE_ID).contains(&id) && self.rules.iter().all(|own| own.rule.id != id);
        if !is_free {
            return self.add(rule);
        }
        let at = self.rules.iter().position(|own| own.rule.id > id).unwrap_or(self.rules.len());
        if self.rules.len() >= Self::MAX_RULES {
            return Err(RuleProblem { at, error: RuleError::TooMany });
        }
        self.rules.insert(at, CompiledRule::new(rule).map_err(|error| RuleProblem { at, error })?);
        self.rebuild_index();
        Ok(id)
    }

    /// Removes the rules of the set for which `is_it` returns `true`. Returns `true` if there were any.
    pub fn remove_matching(&mut self, is_it: impl Fn(&PolicyRule) -> bool) -> bool {
        let before = self.rules.len();
        self.rules.retain(|own| !is_it(&own.rule));
        self.rebuild_index();
        self.rules.len() != before
    }

    /// Returns all rules in their original form, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyRule> {
        self.rules.iter().map(|own| &own.rule)
    }

    fn rebuild_index(&mut self) {
        self.by_server.clear();
        self.by_tool.clear();
        self.others.clear();
        self.compares_paths = self.rules.iter().any(CompiledRule::compares_paths);
        for (at, own) in self.rules.iter().enumerate() {
            match (&own.server, &own.tool) {
                (GlobPattern::Exactly(server), _) => self.by_server.entry(server.clone()).or_default().push(at),
                (_, Some(GlobPattern::Exactly(tool))) => self.by_tool.entry(tool.clone()).or_default().push(at),
                _ => self.others.push(at),
            }
        }
    }

    /// Returns the rules that may match an act. The other rules don't match.
    pub(crate) fn rules_that_may_match<'a>(&'a self, act: &PolicyAct<'_>) -> impl Iterator<Item = &'a CompiledRule> {
        let tool = match act {
            PolicyAct::CallTool { tool, .. } => Some(*tool),
            _ => None,
        };
        self.indexed_rules(act.server(), tool)
    }

    /// Returns `true` if any rule compares paths.
    pub(crate) const fn compares_paths(&self) -> bool {
        self.compares_paths
    }

    /// Returns the rules that may match a call of this tool.
    pub(crate) fn tool_rules(&self, server: &str, tool: &str) -> impl Iterator<Item = &CompiledRule> {
        self.indexed_rules(server, Some(tool))
    }

    fn indexed_rules<'a>(&'a self, server: &str, tool: Option<&str>) -> impl Iterator<Item = &'a CompiledRule> {
        let of_server = self.by_server.get(server).map_or(&[][..], Vec::as_slice);
        let of_tool = tool.and_then(|tool| self.by_tool.get(tool)).map_or(&[][..], Vec::as_slice);
        [of_server, of_tool, self.others.as_slice()].into_iter().flatten().filter_map(|at| self.rules.get(*at))
    }

    /// Returns all compiled rules, in the order in which they were added.
    pub(crate) fn compiled_rules(&self) -> impl Iterator<Item = &CompiledRule> {
        self.rules.iter()
    }

    pub(crate) const fn rule_ref(&self, own: &CompiledRule) -> RuleRef {
        RuleRef { source: self.source, id: own.rule.id }
    }
}

impl PolicyRule {
    /// Creates a rule about tool calls of the servers that this glob matches, without other conditions.
    #[must_use]
    pub fn new(effect: crate::RuleEffect, server: String) -> Self {
        Self {
            id: 0,
            effect,
            server,
            tool: None,
            direction: crate::RuleDirection::ToServer,
            arguments: Vec::new(),
            annotations: None,
            sampling: None,
            scope: RuleScope::Always,
            expires_at: None,
            identity: None,
            note: String::new(),
            trusted_server: false,
            after_untrusted: false,
        }
    }

    /// Creates the rule that allows the tool calls of one trusted server.
    #[must_use]
    pub fn for_trusted_server(server: &str) -> Self {
        Self { trusted_server: true, ..Self::new(crate::RuleEffect::Allow, crate::escape_glob(server)) }
    }

    /// Returns `true` if this is the rule of a trusted server with this name.
    #[must_use]
    pub fn is_trust_rule_for(&self, server: &str) -> bool {
        self.trusted_server && self.server == crate::escape_glob(server)
    }
}
