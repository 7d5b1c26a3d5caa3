//! Restarts servers that exit or disconnect, with increasing pauses, until the user has to act. A restart requires
//! consent unless the start has a permanent approval. Servers that were only unreachable are tried again when the
//! network changes.

use mcp_proto::session::ClientRequest;
use supervision::activity::ActivityKind;
use tokio::sync::oneshot;

use super::Owner;
use crate::connection::ConnectionCommand;
use crate::view::{FailureReason, ScheduledRestart, ServerFailure, ServerState};

impl Owner {
    /// Handles the end of a server that the user did not stop: schedules a restart, or reports the failure.
    pub(super) fn on_unexpected_end(&mut self, name: &str, failure: ServerFailure) {
        let (is_closing, now) = (self.lifetime.is_closing, self.now());
        let Some(record) = self.servers.records.get_mut(name) else { return };
        if failure.reason == FailureReason::Unauthorized && record.sign_in.is_offered() {
            let cause = record.sign_in.take_refusal_cause().unwrap_or(failure.message);
            return self.on_sign_in_required(name, cause);
        }
        record.sign_in.mark_not_requested();
        record.launch.requested_by = None;
        let Some((attempt, pause)) = record.supervision.next_restart(&failure).filter(|_| !is_closing) else {
            record.supervision.end_restarts_after_failure(&failure);
            record.session.to_restore = Default::default();
            record.set_state(ServerState::Failed(failure));
            return;
        };
        record.supervision.record_restart(failure.message.clone());
        let at = ports::time::time_after(now, pause);
        record.log_activity_line(
            ActivityKind::State,
            &format!("attempt {attempt} to reconnect in {:.1} s", pause.as_secs_f64()),
        );
        record.set_state(ServerState::Reconnecting(ScheduledRestart { attempt, at, cause: failure.message }));
        let (name, wait) = (name.to_owned(), record.supervision.restart_pause_number());
        self.run_concurrently(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited = |r: &super::ServerRecord| {
                matches!(r.state, ServerState::Reconnecting(_)) && r.supervision.restart_pause_number() == wait
            };
            if owner.servers.record(&name).is_some_and(is_awaited) {
                // Can't fail, since the server exists.
                let _ = owner.start(&name);
            }
        });
    }

    /// Schedules a retry for a server whose tokens could not be refreshed, with increasing pauses. Returns `false` if
    /// no retry is left.
    pub(super) fn schedule_sign_in_retry(&mut self, name: &str) -> bool {
        let Some(record) = self.servers.records.get_mut(name).filter(|record| record.sign_in.may_be_temporary()) else {
            return false;
        };
        let Some((attempt, pause)) = record.supervision.next_sign_in_retry() else { return false };
        let words = format!("attempt {attempt} to sign in without its user in {:.1} s", pause.as_secs_f64());
        record.log_activity_line(ActivityKind::State, &words);
        let (name, wait) = (name.to_owned(), record.supervision.restart_pause_number());
        self.run_concurrently(tokio::time::sleep(pause), move |owner, ()| {
            let is_awaited = |r: &super::ServerRecord| {
                matches!(r.state, ServerState::NeedsSignIn(_))
                    && r.supervision.restart_pause_number() == wait
                    && r.sign_in.may_be_temporary()
            };
            if owner.servers.record(&name).is_some_and(is_awaited) {
                owner.restart_without_user(&name);
            }
        });
        true
    }

    /// Reconnects to a server whose tokens could not be refreshed. An approval that the user gave for one start only
    /// does not permit this.
    fn restart_without_user(&mut self, name: &str) {
        if let Some(record) = self.servers.records.get_mut(name)
            && let ServerState::NeedsSignIn(needed) = &record.state
        {
            record.supervision.record_restart(needed.cause.clone());
        }
        // Can't fail, since the server exists.
        let _ = self.start(name);
    }

    /// Sends the subscriptions and the log level that the user set in an earlier session to a restarted server.
    pub(super) fn restore_session_state(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        let (uris, level) = record.session.to_restore.clone();
        for uri in uris {
            let request = ClientRequest::Subscribe { uri: uri.clone() };
            self.send_state_restoring_request(name, request, move |owner, name, is_done| {
                if let Some(record) = owner.servers.records.get_mut(name) {
                    record.session.to_restore.0.retain(|waiting| *waiting != uri);
                }
                if is_done {
                    owner.on_subscribed(name, uri, true);
                }
            });
        }
        if let Some(level) = level {
            let request = ClientRequest::SetLogLevel { level };
            self.send_state_restoring_request(name, request, move |owner, name, is_done| {
                if let Some(record) = owner.servers.records.get_mut(name) {
                    record.session.to_restore.1 = None;
                }
                if is_done {
                    owner.on_log_level_set(name, level);
                }
            });
        }
    }

    /// Sends a request that restores state of an earlier session. `answered` receives `true` if the request succeeded.
    /// `answered` is not called if the server ends first, since the next session then repeats the request.
    fn send_state_restoring_request(
        &mut self,
        name: &str,
        request: ClientRequest,
        answered: impl FnOnce(&mut Self, &str, bool) + Send + 'static,
    ) {
        let (reply, replied) = oneshot::channel();
        self.send_request(name, request, self.options.call_timeouts.read, reply);
        let name = name.to_owned();
        self.run_concurrently(replied, move |owner, replied| {
            let Ok(done) = replied else { return };
            // If the server has ended again, its next session restores the state.
            if let Some(record) = owner.servers.records.get(&name).filter(|record| record.state == ServerState::Ready) {
                if let Err(error) = &done {
                    record.log_activity_line(
                        ActivityKind::State,
                        &format!("the earlier subscriptions and log level could not be restored: {error}"),
                    );
                }
                answered(owner, &name, done.is_ok());
            }
        });
    }

    /// Handles the computer's wake-up or a change of the network: connections that wait or have failed are retried
    /// immediately, and the others are pinged.
    pub(crate) fn on_wake_or_network_change(&mut self) {
        let names: Vec<String> = self.servers.records.keys().cloned().collect();
        for name in names {
            let Some(record) = self.servers.records.get_mut(&name) else { continue };
            if matches!(record.state, ServerState::Failed(_)) && record.supervision.begin_restarts_after_outage() {
                record.log_activity_line(ActivityKind::State, "the network may be back; trying to reach it again");
                let _ = self.start(&name);
                continue;
            }
            match (&record.state, &record.session.connection) {
                (ServerState::Reconnecting(_), _) => {
                    let _ = self.start(&name);
                }
                (ServerState::NeedsSignIn(_), _) if record.sign_in.may_be_temporary() => {
                    record.sign_in.clear_sign_in_failures();
                    self.restart_without_user(&name);
                }
                (ServerState::Ready, Some(connection)) => {
                    record.log_activity_line(
                        ActivityKind::State,
                        "the computer slept or its network changed; asking whether it is still there",
                    );
                    // If the channel is full, the connection is alive, so no ping is needed.
                    let _ = connection.sender.try_send(Box::new(ConnectionCommand::Ping));
                }
                _ => {}
            }
        }
    }
}
