//! Servers that end or drop though they should run: brought back with growing pauses, and then left to the user. One whose approval
//! was for once is asked about each time. Those that only did not answer are tried again when the network is another one.

use mcp_proto::session::ClientRequest;
use supervision::activity::ActivityKind;
use tokio::sync::oneshot;

use super::Owner;
use crate::connection::Tell;
use crate::view::{Failure, FailureReason, Retry, ServerState};

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
        record.supervision.tries_again(failure.message.clone());
        let at = ports::time::after(now, pause);
        record
            .note(ActivityKind::State, &format!("attempt {attempt} to bring it back in {:.1} s", pause.as_secs_f64()));
        record.set(ServerState::Reconnecting(Retry { attempt, at, cause: failure.message }));
        let (name, wait) = (name.to_owned(), record.supervision.wait());
        self.beside(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited = |r: &super::ServerRecord| {
                matches!(r.state, ServerState::Reconnecting(_)) && r.supervision.wait() == wait
            };
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
        let Some((attempt, pause)) = record.supervision.next_renewal() else { return false };
        let words = format!("attempt {attempt} to sign in without its user in {:.1} s", pause.as_secs_f64());
        record.note(ActivityKind::State, &words);
        let (name, wait) = (name.to_owned(), record.supervision.wait());
        self.beside(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited = |r: &super::ServerRecord| {
                matches!(r.state, ServerState::NeedsSignIn(_)) && r.supervision.wait() == wait && r.access.may_pass()
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
