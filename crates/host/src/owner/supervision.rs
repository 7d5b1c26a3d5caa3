//! Servers that end or drop though they should run: brought back with growing pauses, and then left to the user. One whose approval
//! was for once is asked about each time. Those that only did not answer are tried again when the network is another one.

use std::time::Duration;

use mcp_proto::session::ClientRequest;
use policy::Hash;
use supervision::activity::ActivityKind;
use supervision::backoff::Backoff;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Owner;
use crate::connection::Tell;
use crate::view::{Failure, FailureReason, Retry, ServerState};

/// After a renewal that failed, for how long signing gives the same answer without trying.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);

/// What is known for bringing a server back.
#[derive(Debug, Default)]
pub(super) struct Supervision {
    backoff: Backoff,
    /// What was approved, for as long as the user has not stopped it.
    approved: Option<Hash>,
    /// Why it ended, while it is brought back or asked about for that.
    ended: Option<String>,
    /// What was approved for a server that was in use and then could not be reached any more, until it is tried again.
    out_of_reach: Option<Hash>,
    /// Since when it is in use.
    ready: Option<Instant>,
    /// It was in use since what was approved was run.
    was_ready: bool,
    /// It runs again as soon as its user has signed in.
    awaits_sign_in: bool,
    /// A sign-in has ended well that its user took part in, or that belongs to the start which the user approved.
    signed_in: bool,
    /// Which wait counts; one that was given up has another number.
    wait: u64,
}

impl Supervision {
    /// What was approved is being run.
    pub(super) fn launched(&mut self, approved: Hash) {
        self.approved = Some(approved);
        self.ended = None;
        self.out_of_reach = None;
        (self.awaits_sign_in, self.signed_in, self.was_ready) = (false, false, false);
    }

    /// It was reached, and waits for its user to sign in.
    pub(super) fn awaits_sign_in(&mut self) {
        self.backoff.was_in_use(self.ready.take().map(|since| since.elapsed()).unwrap_or_default());
        self.wait += 1;
        self.awaits_sign_in = true;
    }

    /// A sign-in has ended well. One that its user took part in is the user's act. One without the user belongs to the start that was
    /// approved, unless the server has been in use since: then nobody asked for another connection.
    pub(super) const fn signed_in(&mut self, by_user: bool) {
        self.signed_in = by_user || !self.was_ready;
    }

    /// The host tries it again of its own accord, for this cause.
    pub(super) fn tries_again(&mut self, cause: String) {
        self.ended = Some(cause);
    }

    pub(super) fn is_ready(&mut self) {
        self.ready = Some(Instant::now());
        self.was_ready = true;
    }

    /// Whether exactly this was approved, waited for a sign-in, and goes on now that there was one. A connection that is tried again
    /// without one is another act.
    pub(super) fn signed_in_to(&self, hash: &Hash) -> bool {
        self.awaits_sign_in && self.signed_in && self.approved.as_ref() == Some(hash)
    }

    /// Why it ended, if nobody but the host would start it again.
    pub(super) fn ended_because(&self) -> Option<String> {
        self.ended.clone()
    }

    /// Whether the host starts it again of its own accord.
    pub(super) const fn is_bringing_back(&self) -> bool {
        self.ended.is_some()
    }

    /// The user stopped or changed it, or it is left to the user.
    pub(super) fn give_up(&mut self) {
        *self = Self { wait: self.wait + 1, ..Self::default() };
    }

    /// It was tried often enough. If only the way to it was the trouble, [`Supervision::resume`] may try it again.
    fn exhausted(&mut self, failure: &Failure) {
        let may_resume = self.backoff.is_trying() && failure.is_out_of_reach();
        let out_of_reach = self.approved.take().filter(|_| may_resume);
        *self = Self { wait: self.wait, out_of_reach, ..Self::default() };
    }

    /// Begins anew with a server that was out of reach; whether it was. The attempt that follows is the first one.
    fn resume(&mut self) -> bool {
        let Some(approved) = self.out_of_reach.take() else { return false };
        self.approved = Some(approved);
        self.ended = Some("it could not be reached".to_owned());
        self.backoff = Backoff::default();
        self.backoff.next(Instant::now(), 0.0).is_some()
    }

    /// When to bring it back, if it should be.
    fn after(&mut self, failure: &Failure) -> Option<(u32, Duration)> {
        let was_ready = self.ready.take();
        self.wait += 1;
        // What never ran has no reason to run now; its user looks at why.
        if !failure.may_pass() || was_ready.is_none() && !self.backoff.is_trying() {
            return None;
        }
        self.backoff.was_in_use(was_ready.map(|since| since.elapsed()).unwrap_or_default());
        self.backoff.next(Instant::now(), fastrand::f64())
    }
}

impl Failure {
    /// Whether the same may work a moment later.
    const fn may_pass(&self) -> bool {
        match self.reason {
            FailureReason::Exited
            | FailureReason::ExitedEarly
            | FailureReason::NoAnswer
            | FailureReason::CouldNotStart
            | FailureReason::Unreachable => true,
            FailureReason::CommandNotFound
            | FailureReason::Protocol
            | FailureReason::Refused
            | FailureReason::Unauthorized
            | FailureReason::NoSecret
            | FailureReason::LimitReached => false,
        }
    }

    /// Whether another network may be all that it takes.
    const fn is_out_of_reach(&self) -> bool {
        matches!(self.reason, FailureReason::NoAnswer | FailureReason::Unreachable)
    }
}

impl super::ServerRecord {
    /// Its session is over: what the user had set up in it is to be set up in the next one, beside what no session took up
    /// since it was set up.
    pub(super) fn restore_later(&mut self) {
        let (uris, level) = &mut self.session.to_restore;
        for uri in std::mem::take(&mut self.session.subscriptions) {
            if !uris.contains(&uri) {
                uris.push(uri);
            }
        }
        *level = self.session.log_level.take().or(*level);
    }
}

impl Owner {
    /// A server ended though nobody stopped it: it is brought back, or is left to the user with the cause.
    pub(super) fn ended_by_itself(&mut self, name: &str, failure: Failure) {
        let (is_closing, now) = (self.lifetime.is_closing, self.now());
        let Some(record) = self.servers.records.get_mut(name) else { return };
        if failure.reason == FailureReason::Unauthorized && record.access.is_offered() {
            let cause = record.access.refusal().unwrap_or(failure.message);
            return self.needs_sign_in(name, cause);
        }
        record.access.is_not_now();
        let Some((attempt, pause)) = record.supervision.after(&failure).filter(|_| !is_closing) else {
            record.supervision.exhausted(&failure);
            record.session.to_restore = Default::default();
            record.set(ServerState::Failed(failure));
            return;
        };
        record.supervision.ended = Some(failure.message.clone());
        let at = ports::time::after(now, pause);
        record
            .note(ActivityKind::State, &format!("attempt {attempt} to bring it back in {:.1} s", pause.as_secs_f64()));
        record.set(ServerState::Reconnecting(Retry { attempt, at, cause: failure.message }));
        let (name, wait) = (name.to_owned(), record.supervision.wait);
        self.beside(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited =
                |r: &super::ServerRecord| matches!(r.state, ServerState::Reconnecting(_)) && r.supervision.wait == wait;
            if owner.servers.records.get(&name).is_some_and(is_awaited) {
                // It is there: nothing else can go wrong here.
                let _ = owner.start(&name);
            }
        });
    }

    /// A server whose tokens could only not be renewed is tried again by itself, later and later; whether it is.
    pub(super) fn signs_again_later(&mut self, name: &str) -> bool {
        let Some(record) = self.servers.records.get_mut(name).filter(|record| record.access.may_pass()) else {
            return false;
        };
        let Some((attempt, pause)) = record.supervision.backoff.next(Instant::now(), fastrand::f64()) else {
            return false;
        };
        // Each attempt is several requests, and a broken server must not bring about more than twenty in a minute.
        let pause = RENEWAL_PAUSE * attempt + pause;
        let words = format!("attempt {attempt} to sign in without its user in {:.1} s", pause.as_secs_f64());
        record.note(ActivityKind::State, &words);
        let (name, wait) = (name.to_owned(), record.supervision.wait);
        self.beside(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited = |r: &super::ServerRecord| {
                matches!(r.state, ServerState::NeedsSignIn(_)) && r.supervision.wait == wait && r.access.may_pass()
            };
            if owner.servers.records.get(&name).is_some_and(is_awaited) {
                owner.start_without_sign_in(&name);
            }
        });
        true
    }

    /// Tries again to connect where tokens could not be renewed. Nobody asked for it, so an approval for once does not cover it.
    fn start_without_sign_in(&mut self, name: &str) {
        if let Some(record) = self.servers.records.get_mut(name)
            && let ServerState::NeedsSignIn(needed) = &record.state
        {
            record.supervision.tries_again(needed.cause.clone());
        }
        // It is there: nothing else can go wrong here.
        let _ = self.start(name);
    }

    /// Sets up with a server that was brought back what the user had set up with it.
    pub(super) fn restore(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        let (uris, level) = record.session.to_restore.clone();
        for uri in uris {
            let request = ClientRequest::Subscribe { uri: uri.clone() };
            self.set_up(name, request, move |owner, name, is_done| {
                if let Some(record) = owner.servers.records.get_mut(name) {
                    record.session.to_restore.0.retain(|waiting| *waiting != uri);
                }
                if is_done {
                    owner.subscribed(name, uri, true);
                }
            });
        }
        if let Some(level) = level {
            let request = ClientRequest::SetLogLevel { level };
            self.set_up(name, request, move |owner, name, is_done| {
                if let Some(record) = owner.servers.records.get_mut(name) {
                    record.session.to_restore.1 = None;
                }
                if is_done {
                    owner.log_level_set(name, level);
                }
            });
        }
    }

    /// Asks a server for something that it had before. `answered` gets whether it was done. It is not called if the server
    /// went away before: then it is asked again when it is back.
    fn set_up(
        &mut self,
        name: &str,
        request: ClientRequest,
        answered: impl FnOnce(&mut Self, &str, bool) + Send + 'static,
    ) {
        let (reply, replied) = oneshot::channel();
        self.request(name, request, self.options.times.read, reply);
        let name = name.to_owned();
        self.beside(replied, move |owner, replied| {
            let Ok(done) = replied else { return };
            // What was set up with a server that is gone again is asked for when it is back.
            if let Some(record) = owner.servers.records.get(&name).filter(|record| record.state == ServerState::Ready) {
                if let Err(error) = &done {
                    record.note(ActivityKind::State, &format!("not set up as it was before: {error}"));
                }
                answered(owner, &name, done.is_ok());
            }
        });
    }

    /// The computer slept or its network is another one: connections that were waited for, or given up because nothing
    /// answered, are tried at once, and the others have to show that they live.
    pub(crate) fn woke(&mut self) {
        let names: Vec<String> = self.servers.records.keys().cloned().collect();
        for name in names {
            let Some(record) = self.servers.records.get_mut(&name) else { continue };
            if matches!(record.state, ServerState::Failed(_)) && record.supervision.resume() {
                record.note(ActivityKind::State, "the network may be back; trying to reach it again");
                let _ = self.start(&name);
                continue;
            }
            match (&record.state, &record.session.connection) {
                (ServerState::Reconnecting(_), _) => {
                    let _ = self.start(&name);
                }
                (ServerState::NeedsSignIn(_), _) if record.access.may_pass() => {
                    record.access.try_again();
                    self.start_without_sign_in(&name);
                }
                (ServerState::Ready, Some(connection)) => {
                    record.note(
                        ActivityKind::State,
                        "the computer slept or its network changed; asking whether it is still there",
                    );
                    // One that is too busy for it shows that it lives.
                    let _ = connection.tell.try_send(Box::new(Tell::Ping));
                }
                _ => {}
            }
        }
    }
}
