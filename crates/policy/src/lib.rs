//! The policy: what is standing and what is about to happen go in, a decision comes out.
//!
//! Pure and synchronous: no I/O, no clock, no waiting. What a server says about itself enters as bytes of a hash, which can
//! void a grant and never earn one, and as claims, which can make a decision stricter and never looser. Rules come from the
//! user's file, from a system-wide file that a user can't loosen, and for one run of the host.

mod act;
mod address;
mod argument;
mod compiled;
mod date;
mod decide;
mod explain;
mod file;
mod fold;
mod folder;
mod grants;
mod hash;
mod identity;
mod matcher;
mod number;
mod parts;
mod path;
mod pattern;
mod rule;
mod rule_set;
mod spelling;
mod text;
mod uri;
mod verdict;
mod wider;

pub use act::{Act, By, Claims, Decision, Rule, Scope, Standing};
pub use argument::Judged;
pub use explain::{Considered, Explanation, Fit};
pub use file::PolicyFile;
pub use grants::{Grant, GrantId, Grants, Subject, TooManyGrants};
pub use hash::{Hash, HashBegun, canonical_json, canonical_object};
pub use path::PathFacts;
pub use pattern::exactly;
pub use rule::{
    ArgumentIs, ArgumentRule, ClaimRule, Direction, Effect, PolicyRule, Preset, RuleError, RuleRef, RuleScope,
    RuleSource, SamplingBudget, SamplingUse,
};
pub use rule_set::{RuleProblem, RuleSet};
pub use uri::UriPattern;
pub use verdict::JudgedReason;

use std::collections::BTreeSet;

use identity::{Identities, IdentityWords};
use serde_json::{Map, Value};

/// The most paths whose links are followed for one call.
const MAX_PATHS: usize = 256;

/// The rules of one file, and the preset it sets.
#[derive(Debug, Clone, Default)]
struct Layer {
    preset: Preset,
    rules: RuleSet,
    /// Whether the file as it is now can't be used. The rules are then those it had before.
    unusable: bool,
}

/// Rules, grants and mutes, and the decisions that follow from them.
#[derive(Debug, Clone)]
pub struct Policy {
    grants: Grants,
    muted: BTreeSet<String>,
    managed: Layer,
    user: Layer,
    session: RuleSet,
    identities: Identities,
}

impl Policy {
    /// A policy with these standing grants, and no rules.
    #[must_use]
    pub fn new(grants: Grants) -> Self {
        Self {
            grants,
            muted: BTreeSet::new(),
            managed: Layer { rules: RuleSet::of(RuleSource::Managed), ..Layer::default() },
            user: Layer { rules: RuleSet::of(RuleSource::User), ..Layer::default() },
            session: RuleSet::of(RuleSource::Session),
            identities: Identities::new(),
        }
    }

    /// Says what a server is, for rules that go by that: its command line, its program, its URL. Until then such a rule fits it.
    /// Such a rule goes by every spelling of the addresses in it.
    pub fn set_identity(&mut self, server: &str, words: Vec<String>) {
        self.identities.insert(server.to_owned(), IdentityWords::new(words));
    }

    /// The paths among the arguments of a call of a tool whose links are to be followed before it is decided about. What is beyond
    /// the bound is in doubt.
    #[must_use]
    pub fn paths_in_call<'a>(
        &'a self,
        server: &str,
        tool: &str,
        arguments: &'a Map<String, Value>,
    ) -> BTreeSet<&'a str> {
        let sets = [&self.managed.rules, &self.user.rules, &self.session];
        // Asked at each call, and mostly there are none.
        if !sets.iter().any(|set| set.has_paths()) {
            return BTreeSet::new();
        }
        let rules = sets.into_iter().flat_map(|set| set.of_tool(server, tool));
        rules.flat_map(|own| own.paths(server, tool, arguments)).take(MAX_PATHS).collect()
    }

    /// Takes what the system-wide file says in place of what it said before.
    ///
    /// # Errors
    /// If a rule of it can't be used. Then everything asks, and what was denied before still is.
    pub fn set_managed(&mut self, file: PolicyFile) -> Result<(), RuleProblem> {
        self.managed.take(file, RuleSource::Managed)
    }

    /// The same for the user's file.
    ///
    /// # Errors
    /// As for [`set_managed`](Self::set_managed).
    pub fn set_user(&mut self, file: PolicyFile) -> Result<(), RuleProblem> {
        self.user.take(file, RuleSource::User)
    }

    /// The system-wide file can't be read: everything asks, and what it denied before still is.
    pub const fn managed_unusable(&mut self) {
        self.managed.unusable = true;
    }

    /// The same for the user's file.
    pub const fn user_unusable(&mut self) {
        self.user.unusable = true;
    }

    /// The preset that holds: the stricter one of the user's and the system-wide file's.
    #[must_use]
    pub fn preset(&self) -> Preset {
        self.user.preset.max(self.managed.preset)
    }

    /// The preset that a file sets.
    #[must_use]
    pub const fn preset_of(&self, source: RuleSource) -> Preset {
        match source {
            RuleSource::Managed => self.managed.preset,
            RuleSource::User | RuleSource::Session => self.user.preset,
        }
    }

    /// All rules of a source, in its order.
    pub fn rules(&self, source: RuleSource) -> impl Iterator<Item = &PolicyRule> {
        match source {
            RuleSource::Managed => &self.managed.rules,
            RuleSource::User => &self.user.rules,
            RuleSource::Session => &self.session,
        }
        .iter()
    }

    /// The rules of this run of the host, to change.
    pub const fn session_mut(&mut self) -> &mut RuleSet {
        &mut self.session
    }

    /// Allows the calls of one server's tools until the host ends. It is a rule like others: stricter ones beat it, and it
    /// never covers a tool that nobody has seen, starting, signing in, or what the server asks for.
    ///
    /// # Errors
    /// If there are too many rules for this run.
    pub fn trust_for_run(&mut self, server: &str) -> Result<(), RuleProblem> {
        if !self.is_trusted_for_run(server) {
            self.session.add(PolicyRule::trusting(server))?;
        }
        Ok(())
    }

    /// Ends [`trust_for_run`](Self::trust_for_run); whether there was something to end.
    pub fn end_trust(&mut self, server: &str) -> bool {
        self.session.remove_if(|rule| rule.trusts(server))
    }

    /// Whether the calls of this server's tools are allowed until the host ends.
    #[must_use]
    pub fn is_trusted_for_run(&self, server: &str) -> bool {
        self.session.iter().any(|rule| rule.trusts(server))
    }

    /// Refuses, from now on, what this server asks for of its own.
    pub fn mute(&mut self, server: &str) {
        self.muted.insert(server.to_owned());
    }

    /// Lets this server ask again.
    pub fn unmute(&mut self, server: &str) {
        self.muted.remove(server);
    }

    /// Whether what this server asks for is refused unseen.
    #[must_use]
    pub fn is_muted(&self, server: &str) -> bool {
        self.muted.contains(server)
    }

    /// The standing grants.
    #[must_use]
    pub const fn grants(&self) -> &Grants {
        &self.grants
    }

    /// The standing grants, to change.
    pub const fn grants_mut(&mut self) -> &mut Grants {
        &mut self.grants
    }

    /// Forgets all that rests on a server's name, when it is removed or takes another name. What the user's file says of it
    /// is for whoever keeps that file.
    pub fn forget_server(&mut self, server: &str) {
        self.muted.remove(server);
        self.identities.remove(server);
        self.grants.remove_server(server);
        self.session.remove_if(|rule| rule.trusts(server));
    }
}

impl Layer {
    fn take(&mut self, file: PolicyFile, source: RuleSource) -> Result<(), RuleProblem> {
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
