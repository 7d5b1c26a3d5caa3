//! Applies the current rules to pending consent requests. Used by `rules.rs` after each change of the rules, and by
//! `decisions.rs` and `gate.rs` before a decision is executed.

use std::collections::BTreeSet;

use domain::consent_request::ConsentRequestId;
use offers::definitions::tool_claims;
use policy::{DecisionSource, PolicyAct, PolicyDecision, ReviewState, SamplingUse};

use crate::owner::Owner;
use crate::owner::state::PendingRequest;
use crate::view::ConsentRequestBody;

impl Owner {
    /// Refuses a consent request that a rule now denies, unless its payload was already sent. This may also remove
    /// other requests from the queue.
    pub(super) fn refuse_request_if_rule_denies(&mut self, id: ConsentRequestId) {
        let at = self.consent.pending.iter().position(|pending| pending.view.id == id && pending.can_be_denied());
        if let Some((at, by)) = at.and_then(|at| Some((at, self.rule_denying_request(at)?))) {
            self.refuse_by_rule(at, by);
        }
    }

    /// Returns the rule or grant, if any, that denies a consent request with its current payload.
    pub(in crate::owner) fn rule_denying_request(&self, at: usize) -> Option<DecisionSource> {
        match self.reevaluate_request(self.consent.pending.get(at)?) {
            PolicyDecision::Deny { by, .. } => Some(by),
            _ => None,
        }
    }

    fn reevaluate_request(&self, pending: &PendingRequest) -> PolicyDecision {
        let (server, hash) = (pending.view.server.as_str(), &pending.view.hash);
        let conversation = pending.view.origin.conversation();
        let act = match &pending.view.body {
            ConsentRequestBody::StartServer { .. } => PolicyAct::StartServer { server, command: hash },
            ConsentRequestBody::ConnectServer { .. } => PolicyAct::ConnectServer { server, address: hash },
            ConsentRequestBody::Tool { tool, arguments, .. } => PolicyAct::CallTool {
                server,
                tool: &tool.name,
                // The following values don't influence a denial.
                grant_hash: hash,
                review_state: ReviewState::New,
                after_untrusted: false,
                asks_each_time: false,
                claims: tool_claims(tool),
                arguments,
                paths: &pending.paths,
                conversation,
            },
            ConsentRequestBody::Read { .. } | ConsentRequestBody::Result { .. } => {
                PolicyAct::Read { needs_no_consent: true, server, conversation }
            }
            ConsentRequestBody::Sampling { .. } => PolicyAct::Sample { server, would_use: SamplingUse::default() },
            ConsentRequestBody::Form { .. } => PolicyAct::FillForm { server },
            ConsentRequestBody::Url { .. } => PolicyAct::OpenUrl { server },
            ConsentRequestBody::Roots => PolicyAct::ShareRoots { server, decided: false },
            ConsentRequestBody::SignIn { .. } | ConsentRequestBody::ClientId { .. } => {
                PolicyAct::SignIn { server, steps_up: false }
            }
        };
        self.permissions.policy.decide(&act, self.now())
    }

    /// Returns the paths in the payload of a consent request that rules compare.
    pub(in crate::owner) fn paths_to_resolve(&self, pending: &PendingRequest) -> BTreeSet<String> {
        match &pending.view.body {
            ConsentRequestBody::Tool { tool, arguments, .. } => {
                self.paths_in_call(&pending.view.server, &tool.name, arguments)
            }
            _ => BTreeSet::new(),
        }
    }
}
