//! Local copy of the host's state: servers and pending consent requests. `session.rs` updates it from the host's
//! events, and other tasks watch it for changes.

use std::collections::HashSet;

use api::Event;
use api::data::{ConsentRequest, ConsentRequestBody, ConsentRequestOutcome, Server};

/// Local copy of the host's servers and pending consent requests, updated by each event of the host.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostView {
    /// Number of the first event that has not been applied to this copy yet.
    pub(crate) next_event: u64,
    pub(crate) servers: Vec<Server>,
    /// Pending consent requests, in the order in which the host queues them.
    pub(crate) consent_requests: Vec<ConsentRequest>,
    /// Names of the servers for which the user denied or closed a consent request about signing in.
    pub(crate) refused_sign_ins: HashSet<String>,
}

impl HostView {
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    pub(crate) fn apply_event(&mut self, event: &Event) {
        match event {
            Event::ServerChanged { server } => match self.servers.iter_mut().find(|known| known.name == server.name) {
                Some(known) => known.clone_from(server),
                None => self.servers.push(server.clone()),
            },
            Event::ServerRemoved { name } => self.servers.retain(|server| server.name != *name),
            Event::ConsentRequestChanged { consent_request: request } => {
                match self.consent_requests.iter_mut().find(|known| known.id == request.id) {
                    Some(known) => known.clone_from(request),
                    None => self.consent_requests.push(request.clone()),
                }
            }
            Event::ConsentRequestClosed { id, outcome } => {
                if matches!(outcome, ConsentRequestOutcome::Denied | ConsentRequestOutcome::Cancelled) {
                    let closed =
                        self.consent_requests.iter().find(|request| request.id == *id && is_sign_in_request(request));
                    self.refused_sign_ins.extend(closed.map(|request| request.server.clone()));
                }
                self.consent_requests.retain(|request| request.id != *id);
            }
            _ => {}
        }
    }
}

const fn is_sign_in_request(request: &ConsentRequest) -> bool {
    matches!(request.body, ConsentRequestBody::SignIn { .. } | ConsentRequestBody::ClientId { .. })
}
