//! Decisions. Deny beats ask, and ask beats allow, whatever the order and origin of the rules. Adding a rule that
//! denies or asks can therefore never allow more.

use crate::compiled::Compiled;
use crate::{
    Act, By, Considered, Decision, Effect, Explanation, Fit, Grant, Policy, Preset, Rule, RuleSet, Scope, Standing,
};

/// Scopes of an approval of a call outside conversations.
const OF_CALLS: &[Scope] = &[Scope::Once, Scope::Session, Scope::Always];
/// Scopes of an approval of a call in a conversation.
const OF_CALLS_IN_CONVERSATION: &[Scope] = &[Scope::Once, Scope::Conversation, Scope::Session, Scope::Always];
/// Scopes of an approval of a start or connection.
const OF_STARTS: &[Scope] = &[Scope::Once, Scope::Always];
/// Scopes of an approval of an act that requires consent each time.
const EACH_TIME: &[Scope] = &[Scope::Once];

/// Result of evaluating all rules for an act: the first rule that fits, per effect.
#[derive(Default)]
struct Said {
    deny: Option<By>,
    ask: Option<By>,
    allow: Option<By>,
    /// A rule that also allows calls after untrusted content.
    allow_after: Option<By>,
}

impl Policy {
    /// Decides about an act. `now` is in milliseconds since 1970.
    #[must_use]
    pub fn decide(&self, act: &Act<'_>, now: u64) -> Decision {
        if act.asked_by_server() && self.muted.contains(act.server()) {
            return Decision::Deny { rule: Rule::Muted, by: By::BuiltIn };
        }
        let said = self.said(act, now);
        if let Some(by) = said.deny {
            return Decision::Deny { rule: Rule::RuleDenies, by };
        }
        let own = self.by_itself(act, &said, now);
        let Some((rule, by)) = self.tightened(act, said.ask) else { return own };
        match own {
            Decision::Allow { .. } | Decision::Ask { rule: Rule::ToolsAsk, .. } => {
                Decision::Ask { rule, by, scopes: EACH_TIME }
            }
            // The act's own reason is more specific. A longer scope would not take effect, as the rule asks again.
            Decision::Ask { rule, by, scopes } if scopes.contains(&Scope::Once) => {
                Decision::Ask { rule, by, scopes: EACH_TIME }
            }
            own => own,
        }
    }

    /// Decides about an act, and returns everything that was considered.
    #[must_use]
    pub fn explain(&self, act: &Act<'_>, now: u64) -> Explanation {
        let mut considered = Vec::new();
        for set in [&self.managed.rules, &self.user.rules, &self.session] {
            for own in set.compiled() {
                let fit = own.fit(act, &self.identities, now);
                let is_held_back = own.rule.effect == Effect::Allow && fit == Fit::Fits;
                let fit = if is_held_back { held_back(act, own.rule.after_untrusted) } else { fit };
                let is_looked_at = !matches!(fit, Fit::OtherServer | Fit::OtherDirection | Fit::OtherTool);
                let arguments = if is_looked_at { own.judged(act) } else { Vec::new() };
                let (by, effect) = (By::Rule(set.reference(own)), own.rule.effect);
                considered.push(Considered { by, effect, fit, arguments });
            }
        }
        for grant in self.grants_for(act) {
            let fit = match grant_fit(grant, act, now) {
                Fit::Fits => held_back(act, false),
                other => other,
            };
            let (by, arguments) = (By::Grant(grant.id), Vec::new());
            considered.push(Considered { by, effect: Effect::Allow, fit, arguments });
        }
        for (by, preset) in [(By::ManagedPreset, self.managed.preset), (By::Preset, self.user.preset)] {
            if preset == Preset::Careful {
                let fit = if asks_when_careful(act) { Fit::Fits } else { Fit::OtherDirection };
                considered.push(Considered { by, effect: Effect::Ask, fit, arguments: Vec::new() });
            }
        }
        // What fits comes first, and of that the strictest.
        considered.sort_by_key(|one| (one.fit != Fit::Fits, std::cmp::Reverse(one.effect)));
        Explanation { decision: self.decide(act, now), considered }
    }

    /// Evaluates the rules: the first rule that fits, per effect.
    fn said(&self, act: &Act<'_>, now: u64) -> Said {
        let mut said = Said::default();
        for set in [&self.managed.rules, &self.user.rules, &self.session] {
            for own in set.candidates(act) {
                let place = match own.rule.effect {
                    Effect::Deny => &mut said.deny,
                    Effect::Ask => &mut said.ask,
                    Effect::Allow if own.rule.after_untrusted => &mut said.allow_after,
                    Effect::Allow => &mut said.allow,
                };
                if place.is_none() && own.fit(act, &self.identities, now) == Fit::Fits {
                    *place = Some(by(set, own));
                }
            }
        }
        said
    }

    /// Returns the reason why an act that would be allowed requires consent, if there is one.
    fn tightened(&self, act: &Act<'_>, asked: Option<By>) -> Option<(Rule, By)> {
        if self.managed.unusable {
            return Some((Rule::ManagedUnusable, By::BuiltIn));
        }
        if self.user.unusable {
            return Some((Rule::PolicyUnusable, By::BuiltIn));
        }
        if let Some(by) = asked {
            return Some((Rule::RuleAsks, by));
        }
        if matches!(act, Act::CallTool { asks_each_time: true, .. }) {
            return Some((Rule::ToolAsksEachTime, By::BuiltIn));
        }
        if !asks_when_careful(act) || self.preset() != Preset::Careful {
            return None;
        }
        let by = if self.managed.preset == Preset::Careful { By::ManagedPreset } else { By::Preset };
        Some((Rule::PresetAsks, by))
    }

    /// Returns the decision if no rule denied or asked.
    fn by_itself(&self, act: &Act<'_>, said: &Said, now: u64) -> Decision {
        let asks = |rule, scopes| Decision::Ask { rule, by: By::BuiltIn, scopes };
        match act {
            Act::StartServer { .. } => self.start(act, (Rule::NewCommand, Rule::CommandChanged), now),
            Act::ConnectServer { .. } => self.start(act, (Rule::NewAddress, Rule::AddressChanged), now),
            Act::CallTool { standing, after_untrusted, conversation, .. } => {
                let scopes = match conversation {
                    // A call after untrusted content can only be approved once.
                    _ if *after_untrusted => EACH_TIME,
                    Some(_) => OF_CALLS_IN_CONVERSATION,
                    None => OF_CALLS,
                };
                let grants = self.grants_for(act);
                let holding = grants.iter().find(|grant| grant_fit(grant, act, now) == Fit::Fits);
                match holding.map(|grant| By::Grant(grant.id)).or(said.allow).or(said.allow_after) {
                    None if grants.iter().any(|grant| grant_fit(grant, act, now) == Fit::Changed) => {
                        asks(Rule::ToolChanged, scopes)
                    }
                    None => asks(Rule::ToolsAsk, scopes),
                    Some(_) if *standing == Standing::Changed => asks(Rule::ToolChanged, scopes),
                    Some(_) if *standing == Standing::New => asks(Rule::NewTool, scopes),
                    Some(_) if *after_untrusted => match said.allow_after {
                        Some(by) => Decision::Allow { by },
                        None => asks(Rule::AfterUntrusted, EACH_TIME),
                    },
                    Some(by) => Decision::Allow { by },
                }
            }
            // Only a rule with a budget fits, and only while the budget lasts.
            Act::Sample { .. } => match said.allow.or(said.allow_after) {
                Some(by) => Decision::Allow { by },
                None => asks(Rule::SamplingAsks, EACH_TIME),
            },
            Act::FillForm { .. } => asks(Rule::FormsAsk, EACH_TIME),
            Act::OpenUrl { .. } => asks(Rule::UrlsAsk, EACH_TIME),
            Act::ShareRoots { decided: false, .. } => asks(Rule::RootsAsk, &[Scope::Always]),
            Act::SignIn { .. } => asks(Rule::SignInAsks, EACH_TIME),
            Act::ShareRoots { decided: true, .. } | Act::ReadAtUsersWish { .. } => Decision::Allow { by: By::BuiltIn },
        }
    }

    fn start(&self, act: &Act<'_>, (new, changed): (Rule, Rule), now: u64) -> Decision {
        let (mut rule, by) = (new, By::BuiltIn);
        for grant in self.grants_for(act) {
            match grant_fit(grant, act, now) {
                Fit::Fits => return Decision::Allow { by: By::Grant(grant.id) },
                Fit::Changed => rule = changed,
                _ => {}
            }
        }
        Decision::Ask { rule, by, scopes: OF_STARTS }
    }

    /// Returns the grants of the act's server and tool.
    fn grants_for(&self, act: &Act<'_>) -> &[Grant] {
        match act {
            Act::StartServer { server, .. } | Act::ConnectServer { server, .. } => self.grants.of_command(server),
            Act::CallTool { server, tool, .. } => self.grants.of_tool(server, tool),
            _ => &[],
        }
    }
}

fn by(set: &RuleSet, own: &Compiled) -> By {
    By::Rule(set.reference(own))
}

/// Matches a grant of the act's server and tool with the act.
fn grant_fit(grant: &Grant, act: &Act<'_>, now: u64) -> Fit {
    let (rests_on, conversation) = match act {
        Act::StartServer { command, .. } => (*command, None),
        Act::ConnectServer { address, .. } => (*address, None),
        Act::CallTool { definition, conversation, .. } => (*definition, *conversation),
        _ => return Fit::OtherDirection,
    };
    if !grant.is_of(conversation) {
        Fit::OtherConversation
    } else if grant.has_expired(now) {
        Fit::Expired
    } else if grant.rests_on != *rests_on {
        Fit::Changed
    } else {
        Fit::Fits
    }
}

/// Returns the reason, independent of the rules, why an allowed call still requires consent, or [`Fit::Fits`] if there
/// is none. Set `holds_after` if the permission also holds after untrusted content.
fn held_back(act: &Act<'_>, holds_after: bool) -> Fit {
    match act {
        Act::CallTool { standing: Standing::New | Standing::Changed, .. } => Fit::NotReviewed,
        Act::CallTool { asks_each_time: true, .. } => Fit::AsksEachTime,
        Act::CallTool { after_untrusted: true, .. } if !holds_after => Fit::AfterUntrusted,
        _ => Fit::Fits,
    }
}

/// Returns `true` if the careful preset requires consent for each act of this kind: all except starting, connecting and
/// signing in.
const fn asks_when_careful(act: &Act<'_>) -> bool {
    !matches!(act, Act::StartServer { .. } | Act::ConnectServer { .. } | Act::SignIn { .. })
}
