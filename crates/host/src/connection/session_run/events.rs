//! Handles events of the session and its driver.

use std::sync::Arc;

use domain::call::CallProgress;
use mcp_proto::session::{CallId, ClientResponse, CloseReason, ServerRequest, ServerRequestId, SessionEvent};
use mcp_proto::types::{ElicitAction, ElicitResult};
use mcp_transport::driver::{DriverEvent, Frame, SessionControl};
use offers::catalog::CatalogListKind;
use supervision::activity::{ActivityKind, ActivityLog};

use super::{CallPurpose, ConnectionEvent, SessionRun, lists, log_line};

/// Maximum number of updated resources that are reported to the owner within 50 ms.
const MAX_RESOURCE_UPDATES_PER_TICK: usize = 50;

impl SessionRun<'_> {
    pub(super) fn on_driver_event(&mut self, event: DriverEvent, session: &mut SessionControl<'_>) {
        match event {
            DriverEvent::Frame(frame) => {
                self.record_frame(frame);
            }
            DriverEvent::Stderr { line } => self.with_activity(|a| a.append_line(ActivityKind::Stderr, &line)),
            DriverEvent::Connected { transport, how } => {
                self.with_activity(|a| {
                    a.append_line(ActivityKind::State, &format!("connected over {transport}: {how}"))
                });
                self.send_event(ConnectionEvent::Connected { transport, how });
            }
            DriverEvent::Note { line } => self.with_activity(|a| a.append_line(ActivityKind::State, &line)),
            DriverEvent::StderrDropped { bytes } => {
                self.with_activity(|a| {
                    a.append_line(ActivityKind::Stderr, &format!("({bytes} bytes of standard error were dropped)"))
                });
            }
            DriverEvent::Session(event) => self.on_session_event(event, session),
            DriverEvent::InvalidDropped { lines, bytes, anomalies } => {
                self.usage.count_read_bytes(bytes);
                let words =
                    format!("{lines} more lines ({bytes} bytes) and {anomalies} more faults were too fast to show");
                self.with_activity(|a| a.append_anomaly(&words, None));
            }
            DriverEvent::Exited { status, signal } => {
                let words = match (status, signal) {
                    (Some(status), _) => format!("its process ended with exit status {status}"),
                    (None, Some(signal)) => format!("its process was ended by signal {signal}"),
                    (None, None) => "its process ended".to_owned(),
                };
                self.with_activity(|a| a.append_line(ActivityKind::State, &words));
            }
        }
    }

    /// Records a message in the activity log. Excess notifications are counted instead of stored.
    fn record_frame(&mut self, frame: Frame) {
        let was_slowed = self.usage.must_slow_reading();
        if self.usage.count_frame(&frame) {
            self.with_activity(|a| a.append_frame(frame));
        } else {
            self.count_omitted_notification();
        }
        if self.usage.must_slow_reading() && !was_slowed {
            if let Some(words) = self.usage.read_pause_notice() {
                self.with_activity(|a| a.append_anomaly(&words, None));
            }
            self.ticks.schedule_soon();
        }
    }

    /// Counts a notification that is not stored in the activity log.
    fn count_omitted_notification(&mut self) {
        self.with_activity(ActivityLog::count_omitted_entry);
        if let Some(words) = self.usage.log_omission_notice() {
            self.with_activity(|a| a.append_anomaly(&words, None));
        }
    }

    fn on_session_event(&mut self, event: SessionEvent, session: &mut SessionControl<'_>) {
        match event {
            SessionEvent::Ready(facts) => {
                self.ready = true;
                log_line(&self.activity, &format!("ready, speaking {}", facts.revision));
                self.lists.offered =
                    CatalogListKind::ALL.into_iter().filter(|list| list.is_offered_by(&facts.capabilities)).collect();
                self.lists.changed.clone_from(&self.lists.offered);
                self.send_event(ConnectionEvent::Ready(facts));
                if self.lists.offered.is_empty() {
                    Arc::make_mut(&mut self.lists.catalog).is_read = true;
                    self.send_event(ConnectionEvent::Catalog(Arc::clone(&self.lists.catalog)));
                }
                self.on_tick(session);
            }
            SessionEvent::RequestReceived { request, call, server_request } => {
                self.register_server_request(request, call, *server_request, session)
            }
            SessionEvent::Withdrawn { request, .. } => {
                if self.request_quota.remove(request) {
                    self.send_event(ConnectionEvent::Withdrawn { request });
                }
            }
            SessionEvent::Progress { call, count, progress, total, message } => {
                if let Some(CallPurpose::Ticket(ticket)) = self.calls.purposes.get(&call) {
                    self.gathered.progress.insert(*ticket, CallProgress { count, progress, total, message });
                    self.ticks.schedule_soon();
                }
            }
            SessionEvent::Done { call, result } => self.on_call_done(call, result, session),
            SessionEvent::ListChanged(kind) => {
                for list in lists::lists_of_kind(kind) {
                    if !self.lists.changed.contains(list) {
                        self.lists.changed.push(*list);
                    }
                }
                self.mark_lists_outdated(lists::lists_of_kind(kind));
                self.ticks.schedule_soon();
            }
            SessionEvent::ResourceUpdated { uri } => {
                if self.gathered.updated.len() < MAX_RESOURCE_UPDATES_PER_TICK {
                    self.gathered.updated.insert(uri);
                }
                self.ticks.schedule_soon();
            }
            SessionEvent::Log { message, .. } => {
                if self.usage.count_log_message() {
                    self.with_activity(|a| a.append_log_message(&message));
                } else {
                    self.count_omitted_notification();
                }
            }
            SessionEvent::Anomaly { cause, id } => {
                self.with_activity(|a| a.append_anomaly(&cause, id.map(|id| id.to_string())))
            }
            SessionEvent::SubscriptionsLost { cause } => {
                log_line(&self.activity, &format!("change notifications stopped and are requested again: {cause}"));
                self.send_event(ConnectionEvent::Listening { lost: Some(cause) });
            }
            SessionEvent::SubscriptionsRenewed => {
                log_line(&self.activity, "change notifications come again");
                self.send_event(ConnectionEvent::Listening { lost: None });
                // Changes during the interruption were not reported, so all lists are read again.
                self.reread_all_lists();
            }
            SessionEvent::Reopened(facts) => {
                log_line(&self.activity, "the server forgot the session; a new one was opened");
                self.lists.offered =
                    CatalogListKind::ALL.into_iter().filter(|list| list.is_offered_by(&facts.capabilities)).collect();
                self.send_event(ConnectionEvent::Reopened(facts));
                self.reread_all_lists();
            }
            SessionEvent::ItemsDropped { list, items } => self.on_items_dropped(list, items),
            SessionEvent::TaskChanged { call, task } => {
                if let Some(CallPurpose::Ticket(ticket)) = self.calls.purposes.get(&call) {
                    self.gathered.tasks.insert(*ticket, *task);
                    self.ticks.schedule_soon();
                }
            }
            SessionEvent::Closed(reason) => {
                log_line(&self.activity, &reason.to_string());
                self.ending.closed = Some(reason);
            }
            SessionEvent::HandshakeFailed { cause, fault } => {
                self.ending.fault = Some(fault);
                log_line(&self.activity, &cause);
                self.ending.closed.get_or_insert(CloseReason::HandshakeFailed(cause));
            }
            SessionEvent::ElicitationComplete { .. } => {}
        }
    }

    fn register_server_request(
        &mut self,
        request: ServerRequestId,
        call: Option<CallId>,
        server_request: ServerRequest,
        session: &mut SessionControl<'_>,
    ) {
        if !self.request_quota.register(request) {
            self.usage.count_refused_consent_request();
            self.ticks.schedule_soon();
            if let Some(refused) = self.request_quota.refused_total_to_log() {
                self.with_activity(|a| {
                    a.append_anomaly(&format!("it asks too much at once: {refused} requests were refused unseen"), None)
                });
            }
            let answer = match server_request {
                ServerRequest::Elicitation(_) => {
                    ClientResponse::Elicitation(ElicitResult { action: ElicitAction::Cancel, content: None })
                }
                ServerRequest::Sampling(_) | ServerRequest::Roots => {
                    ClientResponse::Refused { code: -1, message: "too many requests at once".into() }
                }
            };
            self.send_response(request, answer, session);
            return;
        }
        let ticket = call.and_then(|call| match self.calls.purposes.get(&call) {
            Some(CallPurpose::Ticket(ticket)) => Some(*ticket),
            _ => None,
        });
        self.send_event(ConnectionEvent::RequestReceived { request, ticket, server_request: Box::new(server_request) });
    }
}
