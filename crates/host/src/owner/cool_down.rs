//! Servers that ask too much: after three refusals in a row a server is muted for a while, and what was refused unseen is
//!counted.

use std::time::Duration;

use domain::Millis;
use domain::question::QuestionOutcome;
use tokio::time::Instant;

use super::Owner;
use super::audit::Decided;
use super::questions::{For, Pending, kind_of, subject_of};
use crate::connection::RunId;

/// So many refusals in a row mute a server for a while.
const REFUSALS: u32 = 3;
/// Refusals that lie further apart are not in a row.
const IN_A_ROW: Duration = Duration::from_secs(10 * 60);

/// What is known of how a server asks.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// Refusals in a row, and when the last one was.
    refusals: u32,
    last: Option<Instant>,
    /// Until when it is muted for them.
    pub(super) muted_until: Option<Millis>,
    /// The run that the next number is about.
    run: Option<RunId>,
    /// How many questions of that run were refused unseen because they were too many, and of those before the user denied all.
    unseen: u64,
    before: u64,
    /// How many were refused unseen because it is muted.
    muted: u64,
}

impl Asking {
    /// How many of its questions were refused unseen, since the user last denied all.
    pub(super) const fn refused_unseen(&self) -> u64 {
        (self.unseen - self.before) + self.muted
    }
}

impl Pending {
    /// Whether the server asks for it, and not the user.
    pub(super) const fn is_asked_by_server(&self) -> bool {
        matches!(self.what_for, For::Request { .. } | For::Page)
    }
}

impl Owner {
    /// The user answers a question. Refusals of what a server asks are counted, and an approval makes up for them.
    pub(super) fn count_answer(&mut self, server: &str, refused: bool) {
        // A file of answers is no user who is tired of being asked.
        if self.options.decides != "user" {
            return;
        }
        if !refused {
            if let Some(asking) = self.consent.asking.get_mut(server) {
                asking.refusals = 0;
            }
            return;
        }
        let asking = self.consent.asking.entry(server.to_owned()).or_default();
        if asking.last.is_some_and(|last| last.elapsed() > IN_A_ROW) {
            asking.refusals = 0;
        }
        asking.refusals += 1;
        asking.last = Some(Instant::now());
        if asking.refusals >= REFUSALS && !self.permissions.policy.is_muted(server) {
            self.cool_down(server);
        }
    }

    fn cool_down(&mut self, server: &str) {
        let pause = self.options.cool_down;
        let until = ports::time::after(self.now(), pause);
        let asking = self.consent.asking.entry(server.to_owned()).or_default();
        asking.refusals = 0;
        asking.muted_until = Some(until);
        self.permissions.policy.mute(server);
        self.note(Decided {
            server,
            kind: "mute",
            subject: &format!("for {} s, after {REFUSALS} refusals", pause.as_secs()),
            decision: "denied",
            by: "policy",
            ..Decided::default()
        });
        self.refuse_open(server);
        self.emit_server(server);
        let name = server.to_owned();
        self.beside(tokio::time::sleep(pause), move |owner, ()| {
            if owner.consent.asking.get(&name).is_some_and(|asking| asking.muted_until == Some(until)) {
                owner.unmute(&name);
            }
        });
    }

    /// Refuses what a server that is now muted has asked already.
    fn refuse_open(&mut self, server: &str) {
        let is_open = |p: &Pending| p.view.server == server && p.is_asked_by_server() && p.can_be_refused();
        while let Some(at) = self.consent.pending.iter().position(is_open) {
            let pending = self.consent.pending.remove(at);
            self.note(Decided {
                server,
                kind: kind_of(&pending.view.body),
                subject: &subject_of(&pending.view.body),
                decision: QuestionOutcome::Denied.name(),
                by: "policy",
                rule: policy::Rule::Muted.name().into(),
                hash: pending.view.hash.as_str(),
                asker: "server",
                ..Decided::default()
            });
            self.tell_refusal(&pending, QuestionOutcome::Denied, policy::Rule::Muted.name().to_owned());
        }
    }

    /// A connection refused questions unseen; `refused` in all of this run.
    pub(super) fn on_refused_unseen(&mut self, run: RunId, server: &str, refused: u64) {
        let asking = self.consent.asking.entry(server.to_owned()).or_default();
        if asking.run != Some(run) {
            (asking.run, asking.before) = (Some(run), 0);
        }
        asking.unseen = refused.max(asking.before);
        self.emit_server(server);
    }

    /// A question was refused because the server is muted. Few of these are written down, each with how many there were until
    /// then, so that such a server can't push all else out of the log.
    pub(super) fn count_muted(&mut self, server: &str) {
        let asking = self.consent.asking.entry(server.to_owned()).or_default();
        asking.muted += 1;
        let refused = asking.muted;
        if refused.is_power_of_two() {
            self.note_muted(server, refused);
        }
        self.emit_server(server);
    }

    fn note_muted(&mut self, server: &str, refused: u64) {
        self.note(Decided {
            server,
            kind: "mute",
            subject: &format!("{refused} requests were refused since it is muted"),
            decision: "denied",
            by: "policy",
            asker: "server",
            rule: policy::Rule::Muted.name().into(),
            ..Decided::default()
        });
    }

    /// The last number, if it is not written down yet.
    fn note_all_muted(&mut self, server: &str) {
        let refused = self.consent.asking.get(server).map_or(0, |asking| asking.muted);
        if refused > 0 && !refused.is_power_of_two() {
            self.note_muted(server, refused);
        }
    }

    /// The user has dealt with all that a server asked: the numbers begin anew. With `mute` until the user unmutes it.
    pub(super) fn dealt_with(&mut self, server: &str, mute: bool) {
        self.note_all_muted(server);
        if let Some(asking) = self.consent.asking.get_mut(server) {
            (asking.before, asking.muted) = (asking.unseen, 0);
            if mute {
                asking.muted_until = None;
            }
        }
    }

    /// Lets a server ask again.
    pub(crate) fn unmute(&mut self, server: &str) {
        self.note_all_muted(server);
        self.permissions.policy.unmute(server);
        if let Some(asking) = self.consent.asking.get_mut(server) {
            (asking.refusals, asking.muted_until, asking.muted) = (0, None, 0);
        }
        self.emit_server(server);
    }
}
