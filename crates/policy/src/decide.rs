//! Decisions. Deny takes precedence over ask, and ask over allow, whatever the order and origin of the rules. Adding a
//! rule that denies or asks can therefore never allow more.

use crate::compiled_rule::CompiledRule;
use crate::{
    ApprovalScope, ConsideredRule, DecisionExplanation, DecisionReason, DecisionSource, Grant, Policy, PolicyAct,
    PolicyDecision, PolicyRule, Preset, ReviewState, RuleEffect, RuleFit, RuleSet,
};

/// Scopes that the user can choose when approving a tool call outside conversations.
const CALL_APPROVAL_SCOPES: &[ApprovalScope] = &[ApprovalScope::Once, ApprovalScope::Session, ApprovalScope::Always];
/// Scopes that the user can choose when approving a tool call in a conversation.
const CONVERSATION_CALL_APPROVAL_SCOPES: &[ApprovalScope] =
    &[ApprovalScope::Once, ApprovalScope::Conversation, ApprovalScope::Session, ApprovalScope::Always];
/// Scopes that the user can choose when approving a start or connection.
const START_APPROVAL_SCOPES: &[ApprovalScope] = &[ApprovalScope::Once, ApprovalScope::Always];
/// Scopes that the user can choose when approving an act that requires consent each time.
const SINGLE_USE_APPROVAL_SCOPES: &[ApprovalScope] = &[ApprovalScope::Once];

/// The first rule of each effect (allow, ask, deny) that matches an act.
#[derive(Default)]
struct FirstMatchingRuleByEffect {
    deny: Option<DecisionSource>,
    ask: Option<DecisionSource>,
    allow: Option<DecisionSource>,
    /// First matching rule that allows calls even after untrusted content, or `None`.
    allow_after_untrusted: Option<DecisionSource>,
}

impl Policy {
    /// Decides about an act. `now` is the time in milliseconds since 1970.
    #[must_use]
    pub fn decide(&self, act: &PolicyAct<'_>, now: u64) -> PolicyDecision {
        self.decide_by_rules(act, now, |_, fit| fit == RuleFit::Fits)
    }

    /// Decides about a tool call with which the user repeats a call that was approved in a consent request. The caller
    /// has checked that the payload and its receiver are the same. `now` is the time in milliseconds since 1970.
    ///
    /// The approval counts only where no rule, grant or preset applies and the user has reviewed the definition, so
    /// that the decision would otherwise be [`DecisionReason::ToolsAsk`]. All other decisions are those of
    /// [`decide`](Self::decide).
    #[must_use]
    pub fn decide_repeated_call(&self, act: &PolicyAct<'_>, now: u64) -> PolicyDecision {
        let decision = self.decide(act, now);
        let asks_by_default = matches!(decision, PolicyDecision::Ask { reason: DecisionReason::ToolsAsk, .. });
        let is_plain = matches!(
            act,
            PolicyAct::CallTool {
                review_state: ReviewState::Reviewed,
                asks_each_time: false,
                after_untrusted: false,
                ..
            }
        );
        if asks_by_default && is_plain {
            PolicyDecision::Allow { by: DecisionSource::RepeatedApproval }
        } else {
            decision
        }
    }

    /// Returns `true` if a tool call is allowed without consent whatever its arguments are. The arguments of `act` have
    /// no effect. `now` is the time in milliseconds since 1970.
    ///
    /// A rule that allows counts only without conditions on arguments. A rule that denies or asks counts even if its
    /// conditions on arguments are not met, since they may be met by other arguments.
    #[must_use]
    pub fn allows_any_arguments(&self, act: &PolicyAct<'_>, now: u64) -> bool {
        let decision = self.decide_by_rules(act, now, |rule, fit| match rule.effect {
            RuleEffect::Allow => fit == RuleFit::Fits && rule.arguments.is_empty(),
            RuleEffect::Deny | RuleEffect::Ask => matches!(fit, RuleFit::Fits | RuleFit::OtherArgument(_)),
        });
        matches!(decision, PolicyDecision::Allow { .. })
    }

    /// Decides about an act by those rules for which `applies` returns `true`, given how they match the act.
    fn decide_by_rules(
        &self,
        act: &PolicyAct<'_>,
        now: u64,
        applies: impl Fn(&PolicyRule, RuleFit) -> bool,
    ) -> PolicyDecision {
        if act.is_server_initiated() && self.muted.contains(act.server()) {
            return PolicyDecision::Deny { reason: DecisionReason::Muted, by: DecisionSource::BuiltIn };
        }
        let matching_rules = self.first_matching_rules(act, now, applies);
        if let Some(by) = matching_rules.deny {
            return PolicyDecision::Deny { reason: DecisionReason::RuleDenies, by };
        }
        let decision = self.decide_by_grants_and_allow_rules(act, &matching_rules, now);
        let Some((reason, by)) = self.consent_reason(act, matching_rules.ask) else { return decision };
        match decision {
            PolicyDecision::Allow { .. } | PolicyDecision::Ask { reason: DecisionReason::ToolsAsk, .. } => {
                PolicyDecision::Ask { reason, by, scopes: SINGLE_USE_APPROVAL_SCOPES }
            }
            // Keep the reason found by grants and rules; only the scopes become `Once`, because the override requires
            // consent each time.
            PolicyDecision::Ask { reason, by, scopes } if scopes.contains(&ApprovalScope::Once) => {
                PolicyDecision::Ask { reason, by, scopes: SINGLE_USE_APPROVAL_SCOPES }
            }
            // Denials, and requests that can't be approved once.
            unchanged => unchanged,
        }
    }

    /// Decides about an act, and returns the decision with the rules, grants and presets that were considered. Unusable
    /// rule files and a muted server also influence the decision, but are not in [`DecisionExplanation::considered`]. `now` is
    /// the time in milliseconds since 1970.
    ///
    /// # Examples
    ///
    /// A denial beats an approval, and the explanation has both:
    ///
    /// ```
    /// use policy::{
    ///     DecisionReason, Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, ResolvedPaths, ReviewState,
    ///     RuleEffect, RuleFit, ToolClaims,
    /// };
    /// use serde_json::{Map, json};
    ///
    /// let file: PolicyFile = serde_json::from_value(json!({ "version": 1, "rules": [
    ///     { "effect": "allow", "server": "files" },
    ///     { "effect": "deny", "tool": "delete_*" },
    ///     { "effect": "deny", "server": "mail" },
    /// ] }))?;
    /// let mut policy = Policy::new(Grants::default());
    /// policy.set_user_rules(file)?;
    ///
    /// let act = PolicyAct::CallTool {
    ///     server: "files",
    ///     tool: "delete_file",
    ///     grant_hash: &Hash::of_json(&json!({ "name": "delete_file" })),
    ///     review_state: ReviewState::Reviewed,
    ///     claims: ToolClaims::default(),
    ///     asks_each_time: false,
    ///     arguments: &Map::new(),
    ///     paths: &ResolvedPaths::Elsewhere,
    ///     after_untrusted: false,
    ///     conversation: None,
    /// };
    /// let explanation = policy.explain(&act, 1_780_000_000_000);
    /// assert!(matches!(explanation.decision, PolicyDecision::Deny { reason: DecisionReason::RuleDenies, .. }));
    /// let considered: Vec<_> = explanation.considered.iter().map(|one| (one.effect, one.fit)).collect();
    /// assert_eq!(considered, [
    ///     (RuleEffect::Deny, RuleFit::Fits),
    ///     (RuleEffect::Allow, RuleFit::Fits),
    ///     (RuleEffect::Deny, RuleFit::OtherServer),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn explain(&self, act: &PolicyAct<'_>, now: u64) -> DecisionExplanation {
        let mut considered = Vec::new();
        for set in [&self.managed.rules, &self.user.rules, &self.session] {
            for own in set.compiled_rules() {
                let fit = own.match_act(act, &self.identities, now);
                let is_held_back = own.rule.effect == RuleEffect::Allow && fit == RuleFit::Fits;
                let fit = if is_held_back { builtin_consent_requirement(act, own.rule.after_untrusted) } else { fit };
                let is_looked_at = !matches!(fit, RuleFit::OtherServer | RuleFit::OtherKindOfAct | RuleFit::OtherTool);
                let arguments = if is_looked_at { own.argument_judgements(act) } else { Vec::new() };
                let (by, effect) = (DecisionSource::Rule(set.rule_ref(own)), own.rule.effect);
                considered.push(ConsideredRule { by, effect, fit, arguments });
            }
        }
        for grant in self.grants_for(act) {
            let fit = match match_grant(grant, act, now) {
                RuleFit::Fits => builtin_consent_requirement(act, false),
                other => other,
            };
            let (by, arguments) = (DecisionSource::Grant(grant.id), Vec::new());
            considered.push(ConsideredRule { by, effect: RuleEffect::Allow, fit, arguments });
        }
        for (by, preset) in
            [(DecisionSource::ManagedPreset, self.managed.preset), (DecisionSource::Preset, self.user.preset)]
        {
            if preset == Preset::Careful {
                let fit = if careful_preset_requires_consent(act) { RuleFit::Fits } else { RuleFit::OtherKindOfAct };
                considered.push(ConsideredRule { by, effect: RuleEffect::Ask, fit, arguments: Vec::new() });
            }
        }
        // Rules that match are first, and among them the strictest.
        considered.sort_by_key(|one| (one.fit != RuleFit::Fits, std::cmp::Reverse(one.effect)));
        DecisionExplanation { decision: self.decide(act, now), considered }
    }

    /// Evaluates the rules for an act, and returns the first one of each effect for which `applies` returns `true`.
    fn first_matching_rules(
        &self,
        act: &PolicyAct<'_>,
        now: u64,
        applies: impl Fn(&PolicyRule, RuleFit) -> bool,
    ) -> FirstMatchingRuleByEffect {
        let mut matching_rules = FirstMatchingRuleByEffect::default();
        for set in [&self.managed.rules, &self.user.rules, &self.session] {
            for rule in set.rules_that_may_match(act) {
                let place = match rule.rule.effect {
                    RuleEffect::Deny => &mut matching_rules.deny,
                    RuleEffect::Ask => &mut matching_rules.ask,
                    RuleEffect::Allow if rule.rule.after_untrusted => &mut matching_rules.allow_after_untrusted,
                    RuleEffect::Allow => &mut matching_rules.allow,
                };
                if place.is_none() && applies(&rule.rule, rule.match_act(act, &self.identities, now)) {
                    *place = Some(rule_decision_source(set, rule));
                }
            }
        }
        matching_rules
    }

    /// Returns a reason that overrides the permission of a rule or grant, so that the act requires consent each time.
    /// Review state and untrusted content are checked in `decide_by_grants_and_allow_rules`. `asking` is a matching
    /// rule that requires consent.
    fn consent_reason(
        &self,
        act: &PolicyAct<'_>,
        asking: Option<DecisionSource>,
    ) -> Option<(DecisionReason, DecisionSource)> {
        if self.managed.unusable {
            return Some((DecisionReason::ManagedUnusable, DecisionSource::BuiltIn));
        }
        if self.user.unusable {
            return Some((DecisionReason::PolicyUnusable, DecisionSource::BuiltIn));
        }
        if let Some(by) = asking {
            return Some((DecisionReason::RuleAsks, by));
        }
        if matches!(act, PolicyAct::CallTool { asks_each_time: true, .. }) {
            return Some((DecisionReason::ToolAsksEachTime, DecisionSource::BuiltIn));
        }
        if !careful_preset_requires_consent(act) || self.effective_preset() != Preset::Careful {
            return None;
        }
        let by =
            if self.managed.preset == Preset::Careful { DecisionSource::ManagedPreset } else { DecisionSource::Preset };
        Some((DecisionReason::PresetAsks, by))
    }

    /// Decides by grants and by the rules among `matching_rules` that allow. Also requires consent for unreviewed tools
    /// and after untrusted content.
    fn decide_by_grants_and_allow_rules(
        &self,
        act: &PolicyAct<'_>,
        matching_rules: &FirstMatchingRuleByEffect,
        now: u64,
    ) -> PolicyDecision {
        let ask = |reason, scopes| PolicyDecision::Ask { reason, by: DecisionSource::BuiltIn, scopes };
        match act {
            PolicyAct::StartServer { .. } => {
                self.decide_start(act, (DecisionReason::NewCommand, DecisionReason::CommandChanged), now)
            }
            PolicyAct::ConnectServer { .. } => {
                self.decide_start(act, (DecisionReason::NewAddress, DecisionReason::AddressChanged), now)
            }
            PolicyAct::CallTool { review_state, after_untrusted, conversation, .. } => {
                let scopes = match conversation {
                    // A call after untrusted content can only be approved for a single act.
                    _ if *after_untrusted => SINGLE_USE_APPROVAL_SCOPES,
                    Some(_) => CONVERSATION_CALL_APPROVAL_SCOPES,
                    None => CALL_APPROVAL_SCOPES,
                };
                let grants = self.grants_for(act);
                let holding = grants.iter().find(|grant| match_grant(grant, act, now) == RuleFit::Fits);
                match holding
                    .map(|grant| DecisionSource::Grant(grant.id))
                    .or(matching_rules.allow)
                    .or(matching_rules.allow_after_untrusted)
                {
                    None if grants.iter().any(|grant| match_grant(grant, act, now) == RuleFit::Changed) => {
                        ask(DecisionReason::ToolChanged, scopes)
                    }
                    None => ask(DecisionReason::ToolsAsk, scopes),
                    Some(_) if *review_state == ReviewState::Changed => ask(DecisionReason::ToolChanged, scopes),
                    Some(_) if *review_state == ReviewState::New => ask(DecisionReason::NewTool, scopes),
                    Some(_) if *after_untrusted => match matching_rules.allow_after_untrusted {
                        Some(by) => PolicyDecision::Allow { by },
                        None => ask(DecisionReason::AfterUntrusted, SINGLE_USE_APPROVAL_SCOPES),
                    },
                    Some(by) => PolicyDecision::Allow { by },
                }
            }
            // Only a rule with a budget matches, and only while the budget is not exhausted.
            PolicyAct::Sample { .. } => match matching_rules.allow.or(matching_rules.allow_after_untrusted) {
                Some(by) => PolicyDecision::Allow { by },
                None => ask(DecisionReason::SamplingAsks, SINGLE_USE_APPROVAL_SCOPES),
            },
            PolicyAct::FillForm { .. } => ask(DecisionReason::FormsAsk, SINGLE_USE_APPROVAL_SCOPES),
            PolicyAct::OpenUrl { .. } => ask(DecisionReason::UrlsAsk, SINGLE_USE_APPROVAL_SCOPES),
            PolicyAct::ShareRoots { decided: false, .. } => ask(DecisionReason::RootsAsk, &[ApprovalScope::Always]),
            PolicyAct::SignIn { .. } => ask(DecisionReason::SignInAsks, SINGLE_USE_APPROVAL_SCOPES),
            PolicyAct::Read { needs_no_consent: false, .. } => {
                ask(DecisionReason::AppReadsAsk, SINGLE_USE_APPROVAL_SCOPES)
            }
            PolicyAct::ShareRoots { decided: true, .. } | PolicyAct::Read { needs_no_consent: true, .. } => {
                PolicyDecision::Allow { by: DecisionSource::BuiltIn }
            }
        }
    }

    fn decide_start(
        &self,
        act: &PolicyAct<'_>,
        (new, changed): (DecisionReason, DecisionReason),
        now: u64,
    ) -> PolicyDecision {
        let (mut reason, by) = (new, DecisionSource::BuiltIn);
        for grant in self.grants_for(act) {
            match match_grant(grant, act, now) {
                RuleFit::Fits => return PolicyDecision::Allow { by: DecisionSource::Grant(grant.id) },
                RuleFit::Changed => reason = changed,
                _ => {}
            }
        }
        PolicyDecision::Ask { reason, by, scopes: START_APPROVAL_SCOPES }
    }

    /// Returns the grants for the server of an act, and for its tool if the act is a call.
    fn grants_for(&self, act: &PolicyAct<'_>) -> &[Grant] {
        match act {
            PolicyAct::StartServer { server, .. } | PolicyAct::ConnectServer { server, .. } => {
                self.grants.command_grants(server)
            }
            PolicyAct::CallTool { server, tool, .. } => self.grants.tool_grants(server, tool),
            _ => &[],
        }
    }
}

fn rule_decision_source(set: &RuleSet, own: &CompiledRule) -> DecisionSource {
    DecisionSource::Rule(set.rule_ref(own))
}

/// Matches an act with a grant for its server and tool.
fn match_grant(grant: &Grant, act: &PolicyAct<'_>, now: u64) -> RuleFit {
    let (rests_on, conversation) = match act {
        PolicyAct::StartServer { command, .. } => (*command, None),
        PolicyAct::ConnectServer { address, .. } => (*address, None),
        PolicyAct::CallTool { grant_hash, conversation, .. } => (*grant_hash, *conversation),
        _ => return RuleFit::OtherKindOfAct,
    };
    if !grant.applies_in_conversation(conversation) {
        RuleFit::OtherConversation
    } else if grant.has_expired(now) {
        RuleFit::Expired
    } else if grant.rests_on != *rests_on {
        RuleFit::Changed
    } else {
        RuleFit::Fits
    }
}

/// Returns the reason why a call that a rule or grant allows still requires consent: the user has not reviewed the
/// tool's current definition, the definition requires consent for each call, or the call follows untrusted content and
/// `allows_after_untrusted` is not set for the rule or grant. Returns [`RuleFit::Fits`] if none of them holds. Used by
/// [`Policy::explain`]; [`Policy::decide`] checks the same conditions itself.
fn builtin_consent_requirement(act: &PolicyAct<'_>, allows_after_untrusted: bool) -> RuleFit {
    match act {
        PolicyAct::CallTool { review_state: ReviewState::New | ReviewState::Changed, .. } => RuleFit::NotReviewed,
        PolicyAct::CallTool { asks_each_time: true, .. } => RuleFit::AsksEachTime,
        PolicyAct::CallTool { after_untrusted: true, .. } if !allows_after_untrusted => RuleFit::AfterUntrusted,
        _ => RuleFit::Fits,
    }
}

/// Returns `true` if the careful preset requires consent for acts of this kind: all except starting, connecting and
/// signing in.
const fn careful_preset_requires_consent(act: &PolicyAct<'_>) -> bool {
    !matches!(act, PolicyAct::StartServer { .. } | PolicyAct::ConnectServer { .. } | PolicyAct::SignIn { .. })
}
