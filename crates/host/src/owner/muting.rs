//! Limits on the requests of servers: three consecutive denials by the user mute a server for a while, and requests
//! that are refused automatically are counted.

use domain::call::CallRefusal;
use domain::consent_request::ConsentRequestOutcome;
use host_state::AuditedDecision;
use tokio::time::Instant;

use super::Owner;
use super::state::{
    DENIALS_UNTIL_MUTE, PendingRequest, RequestThrottle, consent_kind, consent_subject, originator_name,
};
use crate::connection::RunId;

impl Owner {
    /// Counts the user's decision on a server's request: `refused` if it was denied. An approval resets the count.
    pub(super) fn count_decision_for_muting(&mut self, server: &str, refused: bool) {
        // Scripted decisions don't mute a server, since muting spares a person from too many requests.
        if self.options.decider_name != "user" {
            return;
        }
        if !refused {
            if let Some(throttle) = self.consent.throttles.get_mut(server) {
                throttle.on_approval();
            }
            return;
        }
        let is_enough = self.consent.throttle_of_server(server).count_denial(Instant::now());
        if is_enough && !self.permissions.policy.is_muted(server) {
            self.mute_temporarily(server);
        }
    }

    fn mute_temporarily(&mut self, server: &str) {
        let pause = self.options.cool_down;
        let until = ports::time::time_after(self.now(), pause);
        self.consent.throttle_of_server(server).mute_until(until);
        self.permissions.policy.mute_server(server);
        self.permissions.forget_approved_calls(server);
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "mute",
            subject: &format!("for {} s, after {DENIALS_UNTIL_MUTE} refusals", pause.as_secs()),
            decision: "denied",
            by: "policy",
            ..AuditedDecision::default()
        });
        self.deny_pending_requests(server);
        self.emit_server_change(server);
        let name = server.to_owned();
        self.run_concurrently(tokio::time::sleep(pause), move |owner, ()| {
            if owner.consent.throttles.get(&name).is_some_and(|throttle| throttle.muted_until == Some(until)) {
                owner.unmute_server(&name);
            }
        });
    }

    /// Denies the pending requests of a server that was just muted.
    fn deny_pending_requests(&mut self, server: &str) {
        let is_open = |p: &PendingRequest| p.view.server == server && p.is_from_server() && p.can_be_denied();
        while let Some(at) = self.consent.pending.iter().position(is_open) {
            let pending = self.consent.pending.remove(at);
            self.audit_without_waiting(AuditedDecision {
                server,
                kind: consent_kind(&pending.view.body),
                subject: &consent_subject(&pending.view.body),
                decision: ConsentRequestOutcome::Denied.name(),
                by: "policy",
                rule: policy::DecisionReason::Muted.name().into(),
                hash: pending.view.hash.as_str(),
                asker: originator_name(&pending.view.origin),
                conversation: pending.view.origin.conversation(),
                ..AuditedDecision::default()
            });
            let rule = policy::DecisionReason::Muted.name().to_owned();
            let refusal = CallRefusal::DeniedByRule { rule: rule.clone() };
            self.notify_refusal(&pending, ConsentRequestOutcome::Denied, refusal, rule);
        }
    }

    /// Handles a connection's report that it refused requests. `refused` is the total number in this run.
    pub(super) fn on_rate_limited_requests(&mut self, run: RunId, server: &str, refused: u64) {
        self.consent.throttle_of_server(server).set_refused_by_connection(run, refused);
        self.emit_server_change(server);
    }

    /// Counts a request of a muted server, which was refused automatically.
    pub(super) fn count_refused_while_muted(&mut self, server: &str) {
        if let Some(refused) = self.consent.throttle_of_server(server).count_refusal_while_muted() {
            self.audit_refused_while_muted(server, refused);
        }
        self.emit_server_change(server);
    }

    /// Records in the audit log how many requests of a muted server were refused.
    fn audit_refused_while_muted(&mut self, server: &str, refused: u64) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "mute",
            subject: &format!("{refused} requests were refused since it is muted"),
            decision: "denied",
            by: "policy",
            asker: "server",
            rule: policy::DecisionReason::Muted.name().into(),
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log how many requests a server's mute refused in total, unless that is already recorded.
    fn audit_final_muted_count(&mut self, server: &str) {
        if let Some(refused) = self.consent.throttles.get(server).and_then(RequestThrottle::unlogged_refusals) {
            self.audit_refused_while_muted(server, refused);
        }
    }

    /// Resets the counts of refused requests when the user handles all requests of a server. With `mute` set, the mute
    /// lasts until the user unmutes the server.
    pub(super) fn reset_refusals_of_server(&mut self, server: &str, mute: bool) {
        self.audit_final_muted_count(server);
        if let Some(throttle) = self.consent.throttles.get_mut(server) {
            throttle.reset_refusal_counts(mute);
        }
    }

    /// Ends the mute of a server.
    pub(crate) fn unmute_server(&mut self, server: &str) {
        self.audit_final_muted_count(server);
        self.permissions.policy.unmute_server(server);
        if let Some(throttle) = self.consent.throttles.get_mut(server) {
            throttle.reset_on_unmute();
        }
        self.emit_server_change(server);
    }
}
