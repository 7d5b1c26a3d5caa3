//! Decisions. What denies beats what asks, and what asks beats what allows, wherever it stands. So whatever is added to the
//! rules that denies or asks can't allow more.

use crate::compiled::Compiled;
use crate::{
    Act, By, Considered, Decision, Effect, Explanation, Fit, Grant, Policy, Preset, Rule, RuleSet, Scope, Standing,
};

/// For how long the approval of a call may hold.
const OF_CALLS: &[Scope] = &[Scope::Once, Scope::Session, Scope::Always];
/// The same in a conversation.
const OF_CALLS_IN_CONVERSATION: &[Scope] = &[Scope::Once, Scope::Conversation, Scope::Session, Scope::Always];
/// For how long the approval of a start may hold.
const OF_STARTS: &[Scope] = &[Scope::Once, Scope::Always];
/// Of what asks each time.
const EACH_TIME: &[Scope] = &[Scope::Once];

/// What the rules say of an act.
#[derive(Default)]
struct Said {
    deny: Option<By>,
    ask: Option<By>,
    allow: Option<By>,
    /// What allows it even after the words of other servers.
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
            // Its own reason says more. An approval that lasts would be promised, and then asked for again.
            Decision::Ask { rule, by, scopes } if scopes.contains(&Scope::Once) => {
                Decision::Ask { rule, by, scopes: EACH_TIME }
            }
            own => own,
        }
    }

    /// Decides about an act, and tells all that was looked at for it.
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
        // What fits, and of that the strictest, says what happens.
        considered.sort_by_key(|one| (one.fit != Fit::Fits, std::cmp::Reverse(one.effect)));
        Explanation { decision: self.decide(act, now), considered }
    }

    /// What the written rules say: of each effect the first that fits.
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

    /// Why an act asks that would be allowed, if it does.
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
        if !asks_when_careful(act) || self.preset() != Preset::Careful {
            return None;
        }
        let by = if self.managed.preset == Preset::Careful { By::ManagedPreset } else { By::Preset };
        Some((Rule::PresetAsks, by))
    }

    /// What would be decided if no rule denied or asked.
    fn by_itself(&self, act: &Act<'_>, said: &Said, now: u64) -> Decision {
        let asks = |rule, scopes| Decision::Ask { rule, by: By::BuiltIn, scopes };
        match act {
            Act::StartServer { .. } => self.start(act, (Rule::NewCommand, Rule::CommandChanged), now),
            Act::ConnectServer { .. } => self.start(act, (Rule::NewAddress, Rule::AddressChanged), now),
            Act::CallTool { standing, after_untrusted, conversation, .. } => {
                let scopes = match conversation {
                    // What is approved under the words of another server is this one call.
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
            // Only a rule with a budget fits, and as long as that lasts.
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

    /// The grants that are for an act.
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

/// Whether a grant that is for an act holds for it.
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

/// Whether what allows a call is held back by something that no rule says. `holds_after` is whether it holds after the words of
/// other servers.
fn held_back(act: &Act<'_>, holds_after: bool) -> Fit {
    match act {
        Act::CallTool { standing: Standing::New | Standing::Changed, .. } => Fit::NotReviewed,
        Act::CallTool { after_untrusted: true, .. } if !holds_after => Fit::AfterUntrusted,
        _ => Fit::Fits,
    }
}

/// Whether the careful preset asks about it each time: whatever crosses, but not starting and signing in.
const fn asks_when_careful(act: &Act<'_>) -> bool {
    !matches!(act, Act::StartServer { .. } | Act::ConnectServer { .. } | Act::SignIn { .. })
}
