//! Decides what servers and the host may do, from rules, grants and presets.
//!
#![doc = include_str!("../README.md")]

mod act;
mod address;
mod argument_condition;
mod case_folding;
mod compiled_rule;
mod components_pattern;
mod date;
mod decide;
mod explain;
mod file;
mod folder_path;
mod grants;
mod hash;
mod match_verdict;
mod matcher;
mod number_range;
mod path_pattern;
mod pattern;
mod rule;
mod rule_set;
mod server_identity;
mod spelling;
mod text_pattern;
mod uri;
mod wider_conditions;

pub use act::{
    ApprovalScope, DecisionReason, DecisionSource, PolicyAct, PolicyDecision, ReviewState, StricterReason, ToolClaims,
};
pub use argument_condition::ArgumentJudgement;
pub use explain::{ConsideredRule, DecisionExplanation, RuleFit};
pub use file::PolicyFile;
pub use grants::{Grant, GrantId, GrantSubject, Grants, LastUse, TooManyGrants, UsedBy};
pub use hash::{Hash, PartialHash, canonical_json, canonical_json_object};
pub use match_verdict::JudgementReason;
pub use path_pattern::ResolvedPaths;
pub use pattern::escape_glob;
pub use rule::{
    ArgumentPattern, ArgumentRule, ClaimRule, PolicyRule, Preset, RuleDirection, RuleEffect, RuleError, RuleRef,
    RuleScope, RuleSource, SamplingBudget, SamplingUse,
};
pub use rule_set::{RuleProblem, RuleSet};
pub use uri::UriPattern;

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use server_identity::{ServerIdentities, ServerIdentity};

/// Maximum number of paths in a call whose symbolic links are resolved.
const MAX_RESOLVED_PATHS_PER_CALL: usize = 256;

/// The rules and the preset of one policy file.
#[derive(Debug, Clone, Default)]
struct PolicyLayer {
    preset: Preset,
    rules: RuleSet,
    /// Set if the current file is unusable. The rules are then those of the last usable version.
    unusable: bool,
}

/// Rules, grants and mutes, and the decisions that they lead to.
#[derive(Debug, Clone)]
pub struct Policy {
    grants: Grants,
    muted: BTreeSet<String>,
    managed: PolicyLayer,
    user: PolicyLayer,
    session: RuleSet,
    identities: ServerIdentities,
}

impl Policy {
    /// Creates a policy with these grants and without rules.
    #[must_use]
    pub fn new(grants: Grants) -> Self {
        Self {
            grants,
            muted: BTreeSet::new(),
            managed: PolicyLayer { rules: RuleSet::new(RuleSource::Managed), ..PolicyLayer::default() },
            user: PolicyLayer { rules: RuleSet::new(RuleSource::User), ..PolicyLayer::default() },
            session: RuleSet::new(RuleSource::Session),
            identities: ServerIdentities::new(),
        }
    }

    /// Sets the identity of a server, which rules may match: its command line, program and URL. Until then, every rule
    /// on identities applies to the server. Rules match all spellings of the addresses in `words`.
    pub fn set_server_identity(&mut self, server: &str, words: Vec<String>) {
        self.identities.insert(server.to_owned(), ServerIdentity::new(words));
    }

    /// Returns the paths among a tool call's arguments whose symbolic links must be resolved before the decision. Paths
    /// beyond an internal limit are omitted, and count as unresolved.
    ///
    /// # Examples
    ///
    /// The caller follows symbolic links, because the policy doesn't access the disk:
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use policy::{
    ///     Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, ResolvedPaths, ReviewState, ToolClaims,
    /// };
    /// use serde_json::{Value, json};
    ///
    /// let file: PolicyFile = serde_json::from_value(json!({ "version": 1, "rules": [
    ///     { "effect": "deny", "arguments": [{ "at": "/path", "path": "/private/**" }] },
    /// ] }))?;
    /// let mut policy = Policy::new(Grants::default());
    /// policy.set_user_rules(file)?;
    ///
    /// let Value::Object(arguments) = json!({ "path": "/home/ann/link/key" }) else { unreachable!() };
    /// let paths = policy.paths_in_call("files", "read_file", &arguments);
    /// assert!(paths.contains("/home/ann/link/key"));
    /// // Here `/home/ann/link` is a link to `/private`.
    /// let resolve = |path: &str| path.replace("/home/ann/link", "/private");
    /// let resolved: HashMap<_, _> = paths.into_iter().map(|path| (path.to_owned(), Some(resolve(path)))).collect();
    ///
    /// let act = PolicyAct::CallTool {
    ///     server: "files",
    ///     tool: "read_file",
    ///     grant_hash: &Hash::of_json(&json!({ "name": "read_file" })),
    ///     review_state: ReviewState::Reviewed,
    ///     claims: ToolClaims::default(),
    ///     asks_each_time: false,
    ///     arguments: &arguments,
    ///     paths: &ResolvedPaths::Here(resolved),
    ///     after_untrusted: false,
    ///     conversation: None,
    /// };
    /// assert!(matches!(policy.decide(&act, 1_780_000_000_000), PolicyDecision::Deny { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn paths_in_call<'a>(
        &'a self,
        server: &str,
        tool: &str,
        arguments: &'a Map<String, Value>,
    ) -> BTreeSet<&'a str> {
        let sets = [&self.managed.rules, &self.user.rules, &self.session];
        // A fast path: this function is called for each tool call, and most policies have no rules on paths.
        if !sets.iter().any(|set| set.compares_paths()) {
            return BTreeSet::new();
        }
        let rules = sets.into_iter().flat_map(|set| set.tool_rules(server, tool));
        rules.flat_map(|own| own.paths_in_call(server, tool, arguments)).take(MAX_RESOLVED_PATHS_PER_CALL).collect()
    }

    /// Replaces the rules and the preset of the system-wide file.
    ///
    /// # Errors
    ///
    /// Returns the first rule that is invalid. All acts then require consent, and rules of the previous version that
    /// deny still apply.
    pub fn set_managed_rules(&mut self, file: PolicyFile) -> Result<(), RuleProblem> {
        self.managed.compile_file(file, RuleSource::Managed)
    }

    /// Replaces the rules and preset of the user's file.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`set_managed_rules`](Self::set_managed_rules).
    pub fn set_user_rules(&mut self, file: PolicyFile) -> Result<(), RuleProblem> {
        self.user.compile_file(file, RuleSource::User)
    }

    /// Marks the system-wide file as unusable: all acts require consent, and its previous rules that deny still apply.
    pub const fn mark_managed_rules_unusable(&mut self) {
        self.managed.unusable = true;
    }

    /// Marks the user's file as unusable, with the same effect as
    /// [`mark_managed_rules_unusable`](Self::mark_managed_rules_unusable).
    pub const fn mark_user_rules_unusable(&mut self) {
        self.user.unusable = true;
    }

    /// Returns the effective preset: the stricter one of the user's file and the system-wide file.
    #[must_use]
    pub fn effective_preset(&self) -> Preset {
        self.user.preset.max(self.managed.preset)
    }

    /// Returns the preset in the user's or the system-wide file.
    #[must_use]
    pub const fn preset_from(&self, source: RuleSource) -> Preset {
        match source {
            RuleSource::Managed => self.managed.preset,
            RuleSource::User | RuleSource::Session => self.user.preset,
        }
    }

    /// Returns all rules of a source, in file order.
    pub fn rules(&self, source: RuleSource) -> impl Iterator<Item = &PolicyRule> {
        match source {
            RuleSource::Managed => &self.managed.rules,
            RuleSource::User => &self.user.rules,
            RuleSource::Session => &self.session,
        }
        .iter()
    }

    /// Returns the rules that are valid until the host stops, for modification.
    pub const fn rules_until_quit_mut(&mut self) -> &mut RuleSet {
        &mut self.session
    }

    /// Allows the tool calls of one server until the host stops. This adds an ordinary rule: stricter rules take
    /// precedence, and it never covers unreviewed tools, starting, signing in, or requests of the server.
    ///
    /// # Errors
    ///
    /// Returns [`RuleError::TooMany`] if the session has too many rules.
    pub fn trust_until_quit(&mut self, server: &str) -> Result<(), RuleProblem> {
        if !self.is_trusted_until_quit(server) {
            self.session.add(PolicyRule::for_trusted_server(server))?;
        }
        Ok(())
    }

    /// Revokes [`trust_until_quit`](Self::trust_until_quit). Returns `true` if the server was trusted.
    pub fn revoke_trust_until_quit(&mut self, server: &str) -> bool {
        self.session.remove_matching(|rule| rule.is_trust_rule_for(server))
    }

    /// Returns `true` if the tool calls of this server are allowed until the host stops.
    #[must_use]
    pub fn is_trusted_until_quit(&self, server: &str) -> bool {
        self.session.iter().any(|rule| rule.is_trust_rule_for(server))
    }

    /// Denies all requests that this server sends from now on, without a consent request.
    pub fn mute_server(&mut self, server: &str) {
        self.muted.insert(server.to_owned());
    }

    /// Revokes [`mute_server`](Self::mute_server) for this server.
    pub fn unmute_server(&mut self, server: &str) {
        self.muted.remove(server);
    }

    /// Returns `true` if this server is muted ([`mute_server`](Self::mute_server)).
    #[must_use]
    pub fn is_muted(&self, server: &str) -> bool {
        self.muted.contains(server)
    }

    /// Returns all grants of all servers.
    #[must_use]
    pub const fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns all grants of all servers, so that the caller can add or revoke grants.
    pub const fn grants_mut(&mut self) -> &mut Grants {
        &mut self.grants
    }

    /// Removes everything that refers to a server's name, when the server is removed or renamed. The caller has to
    /// update rules in the user's file.
    pub fn forget_server(&mut self, server: &str) {
        self.muted.remove(server);
        self.identities.remove(server);
        self.grants.remove_server(server);
        self.session.remove_matching(|rule| rule.is_trust_rule_for(server));
    }
}

impl PolicyLayer {
    fn compile_file(&mut self, file: PolicyFile, source: RuleSource) -> Result<(), RuleProblem> {
        match RuleSet::compile(source, file.rules) {
            Ok(rules) => {
                *self = Self { preset: file.preset, rules, unusable: false };
                Ok(())
            }
            Err(problem) => {
                self.unusable = true;
                Err(problem)
            }
        }
    }
}
