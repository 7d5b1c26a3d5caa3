//! The state of the host according to the events read so far: servers and pending consent requests. The session updates
//! it, and other tasks watch it.

use std::collections::HashSet;

use api::Event;
use api::data::{ConsentRequest, ConsentRequestBody, ConsentRequestOutcome, Server};

/// Servers and pending consent requests, up to the last event that was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostView {
    /// Number of the next event.
    pub(crate) next_event: u64,
    pub(crate) servers: Vec<Server>,
    /// Pending consent requests, in queue order.
    pub(crate) questions: Vec<ConsentRequest>,
    /// Servers for which a required consent request was denied.
    pub(crate) refused: HashSet<String>,
}

impl HostView {
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ServerChanged { server } => match self.servers.iter_mut().find(|known| known.name == server.name) {
                Some(known) => known.clone_from(server),
                None => self.servers.push(server.clone()),
            },
            Event::ServerRemoved { name } => self.servers.retain(|server| server.name != *name),
            Event::QuestionChanged { question } => {
                match self.questions.iter_mut().find(|known| known.id == question.id) {
                    Some(known) => known.clone_from(question),
                    None => self.questions.push(question.clone()),
                }
            }
            Event::QuestionClosed { id, outcome } => {
                if matches!(outcome, ConsentRequestOutcome::Denied | ConsentRequestOutcome::Cancelled) {
                    let closed =
                        self.questions.iter().find(|question| question.id == *id && is_about_sign_in(question));
                    self.refused.extend(closed.map(|question| question.server.clone()));
                }
                self.questions.retain(|question| question.id != *id);
            }
            _ => {}
        }
    }
}

const fn is_about_sign_in(question: &ConsentRequest) -> bool {
    matches!(question.body, ConsentRequestBody::SignIn { .. } | ConsentRequestBody::ClientId { .. })
}
