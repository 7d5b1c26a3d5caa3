//! Compiled rules, and matching them with an act. Matching allocates only for conditions on arguments.

use serde_json::{Map, Value};

use crate::argument_condition::ArgumentCondition;
use crate::case_folding::{fold_case_and_width, fold_glob_literals};
use crate::pattern::GlobPattern;
use crate::server_identity::ServerIdentities;
use crate::{
    ArgumentJudgement, ClaimRule, PolicyAct, PolicyRule, RuleDirection, RuleEffect, RuleError, RuleFit, RuleScope,
    ToolClaims,
};

/// Maximum number of argument conditions of a rule.
const MAX_ARGUMENT_CONDITIONS: usize = 20;
/// Maximum length of the user's note about a rule, in bytes.
const MAX_RULE_NOTE_BYTES: usize = 1_000;
/// The latest time that a file can contain, in milliseconds since 1970: the end of the year 9999.
const MAX_RULE_EXPIRY_UNIX_MILLIS: u64 = 253_402_300_799_999;

/// A policy rule whose patterns are compiled, so that it can be matched with acts.
#[derive(Debug, Clone)]
pub(crate) struct CompiledRule {
    pub(crate) rule: PolicyRule,
    pub(crate) server: GlobPattern,
    pub(crate) tool: Option<GlobPattern>,
    /// Glob for the server's identity, as written and case-folded.
    identity: Option<[GlobPattern; 2]>,
    arguments: Vec<ArgumentCondition>,
}

impl CompiledRule {
    pub(crate) fn new(rule: PolicyRule) -> Result<Self, RuleError> {
        check_rule_field_combination(&rule)?;
        let server = GlobPattern::compile(&rule.server)?;
        if rule.trusted_server && !matches!(server, GlobPattern::Exactly(_)) {
            return Err(RuleError::NotOneTrustedServer);
        }
        let tool = rule.tool.as_deref().map(GlobPattern::compile).transpose()?;
        let identity = rule.identity.as_deref().map(|own| {
            Ok([GlobPattern::compile(own)?, GlobPattern::compile(&fold_glob_literals(own, fold_case_and_width))?])
        });
        let identity = identity.transpose()?;
        let arguments =
            rule.arguments.iter().map(|own| ArgumentCondition::new(own, rule.effect)).collect::<Result<_, _>>()?;
        Ok(Self { rule, server, tool, identity, arguments })
    }

    /// Matches the rule with an act. Returns the first condition that isn't met, or [`RuleFit::Fits`].
    pub(crate) fn match_act(&self, act: &PolicyAct<'_>, identities: &ServerIdentities, now: u64) -> RuleFit {
        if !self.server.matches(act.server()) {
            return RuleFit::OtherServer;
        }
        // Only rules that deny or ask have an identity, so they also apply if the server's identity is unknown.
        if let Some(own) = &self.identity
            && identities
                .get(act.server())
                .is_some_and(|is| !is.spellings().iter().any(|words| own.iter().any(|own| own.matches(words))))
        {
            return RuleFit::OtherServer;
        }
        if !self.applies_to_kind_of_act(act) {
            return RuleFit::OtherKindOfAct;
        }
        if self.rule.expires_at.is_some_and(|end| end <= now) {
            return RuleFit::Expired;
        }
        let conversation = match act {
            PolicyAct::CallTool { conversation, .. } | PolicyAct::Read { conversation, .. } => *conversation,
            _ => None,
        };
        if matches!(&self.rule.scope, RuleScope::Conversation { conversation: own } if Some(own.as_str()) != conversation)
        {
            return RuleFit::OtherConversation;
        }
        if let (Some(budget), PolicyAct::Sample { would_use, .. }) = (self.rule.sampling, act) {
            return if budget.covers(*would_use) { RuleFit::Fits } else { RuleFit::OverBudget };
        }
        let PolicyAct::CallTool { tool, claims, arguments, paths, .. } = act else {
            let is_of_tools = self.tool.is_some() || !self.arguments.is_empty() || self.rule.annotations.is_some();
            return if is_of_tools { RuleFit::OtherTool } else { RuleFit::Fits };
        };
        if self.tool.as_ref().is_some_and(|own| !own.matches(tool)) {
            return RuleFit::OtherTool;
        }
        if self.rule.annotations.is_some_and(|own| !own.matches(*claims)) {
            return RuleFit::OtherAnnotations;
        }
        match self.arguments.iter().position(|own| !own.matches(arguments, self.rule.effect, paths)) {
            Some(at) => RuleFit::OtherArgument(at),
            None => RuleFit::Fits,
        }
    }

    /// Returns the result of each argument condition if the act is a tool call.
    pub(crate) fn argument_judgements(&self, act: &PolicyAct<'_>) -> Vec<ArgumentJudgement> {
        let PolicyAct::CallTool { arguments, paths, .. } = act else { return Vec::new() };
        let explain =
            |(number, own): (usize, &ArgumentCondition)| own.explain(number, arguments, self.rule.effect, paths);
        self.arguments.iter().enumerate().map(explain).collect()
    }

    /// Returns `true` if a condition of the rule compares paths.
    pub(crate) fn compares_paths(&self) -> bool {
        self.arguments.iter().any(ArgumentCondition::compares_path)
    }

    /// Returns the paths among a call's arguments whose symbolic links must be resolved.
    pub(crate) fn paths_in_call<'a>(
        &'a self,
        server: &str,
        tool: &str,
        arguments: &'a Map<String, Value>,
    ) -> Vec<&'a str> {
        let is_about = self.server.matches(server) && self.tool.as_ref().is_none_or(|own| own.matches(tool));
        self.arguments.iter().filter(|_| is_about).flat_map(|own| own.paths_in_arguments(arguments)).collect()
    }

    /// Returns `true` if the rule's direction includes the direction of this act, from the host to the server or the
    /// reverse.
    fn applies_to_kind_of_act(&self, act: &PolicyAct<'_>) -> bool {
        let (effect, direction) = (self.rule.effect, self.rule.direction);
        match act {
            PolicyAct::FillForm { .. } | PolicyAct::OpenUrl { .. } | PolicyAct::ShareRoots { .. }
                if self.rule.sampling.is_some() =>
            {
                false
            }
            PolicyAct::CallTool { .. } | PolicyAct::Read { .. } => direction != RuleDirection::FromServer,
            PolicyAct::Sample { .. }
            | PolicyAct::FillForm { .. }
            | PolicyAct::OpenUrl { .. }
            | PolicyAct::ShareRoots { .. } => direction != RuleDirection::ToServer,
            // These acts have separate approvals, which a rule can neither replace nor require again.
            PolicyAct::StartServer { .. } | PolicyAct::ConnectServer { .. } | PolicyAct::SignIn { .. } => {
                effect == RuleEffect::Deny && direction == RuleDirection::Both
            }
        }
    }
}

/// Checks that the fields of a rule may be combined. Called before its patterns are compiled.
fn check_rule_field_combination(rule: &PolicyRule) -> Result<(), RuleError> {
    let is_allow = rule.effect == RuleEffect::Allow;
    if is_allow && rule.annotations.is_some() {
        return Err(RuleError::AllowByAnnotation);
    }
    if is_allow && rule.identity.is_some() {
        return Err(RuleError::AllowByIdentity);
    }
    if !is_allow && rule.after_untrusted {
        return Err(RuleError::AfterUntrustedWithoutAllow);
    }
    if rule.identity.as_ref().is_some_and(String::is_empty) {
        return Err(RuleError::NoIdentity);
    }
    if is_allow && rule.direction != RuleDirection::ToServer && rule.sampling.is_none() {
        return Err(RuleError::AllowFromServer);
    }
    if let Some(budget) = rule.sampling
        && !(is_allow
            && rule.direction == RuleDirection::FromServer
            && !rule.trusted_server
            && budget.requests_per_hour > 0
            && budget.tokens_per_hour > 0)
    {
        return Err(RuleError::SamplingOnly);
    }
    let is_of_tools = rule.tool.is_some() || !rule.arguments.is_empty() || rule.annotations.is_some();
    if is_of_tools && rule.direction != RuleDirection::ToServer {
        return Err(RuleError::ToolConditionsOnServerRequests);
    }
    if rule.server.is_empty() {
        return Err(RuleError::NoServer);
    }
    if rule.tool.as_ref().is_some_and(String::is_empty) {
        return Err(RuleError::NoTool);
    }
    if rule.trusted_server && (!is_allow || is_of_tools) {
        return Err(RuleError::NotOneTrustedServer);
    }
    if rule.arguments.len() > MAX_ARGUMENT_CONDITIONS {
        return Err(RuleError::TooLong { part: "list of arguments", most: MAX_ARGUMENT_CONDITIONS });
    }
    if rule.expires_at.is_some_and(|end| end > MAX_RULE_EXPIRY_UNIX_MILLIS) {
        return Err(RuleError::Date);
    }
    if rule.note.len() > MAX_RULE_NOTE_BYTES {
        return Err(RuleError::TooLong { part: "note", most: MAX_RULE_NOTE_BYTES });
    }
    Ok(())
}

impl ClaimRule {
    fn matches(self, claims: ToolClaims) -> bool {
        let fits = |own: Option<bool>, claim: bool| own.is_none_or(|own| own == claim);
        fits(self.read_only_hint, claims.read_only)
            && fits(self.destructive_hint, claims.destructive)
            && fits(self.idempotent_hint, claims.idempotent)
            && fits(self.open_world_hint, claims.open_world)
    }
}
