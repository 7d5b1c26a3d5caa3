//! The one queue of consent requests, and how servers ask.

use std::collections::BTreeMap;

use domain::question::QuestionId;
use mcp_proto::types::CreateMessageParams;
use rustc_hash::FxHashMap;
use server_requests::sampling::SamplingState;
use supervision::limits::MAX_QUESTIONS;

use crate::owner::AnswerError;
use crate::owner::answers::{Acted, Reply};
use crate::owner::cool_down::Asking;
use crate::owner::questions::Pending;
use crate::owner::sampling::run::Running;
use crate::view::QuestionBody;

/// Consent requests that wait for the user.
#[derive(Default)]
pub(in crate::owner) struct ConsentQueue {
    /// The requests, the oldest first.
    pub(in crate::owner) pending: Vec<Pending>,
    /// The receiver of the outcome of each approval that is being carried out.
    pub(in crate::owner) answering: FxHashMap<QuestionId, Reply>,
    /// How servers ask, by name; only of those that were refused something.
    pub(in crate::owner) asking: BTreeMap<String, Asking>,
}

impl ConsentQueue {
    /// Tells the outcome of an answer, unless it comes later.
    pub(in crate::owner) fn answered(&mut self, id: QuestionId, acted: Result<Acted, AnswerError>) {
        let outcome = match acted {
            Ok(Acted::Later) => return,
            Ok(Acted::Done) => Ok(()),
            Err(error) => Err(error),
        };
        if let Some(reply) = self.answering.remove(&id) {
            // Whoever answered may have gone away.
            let _ = reply.send(outcome);
        }
    }

    /// Whether a server may have one more question of its own in the queue.
    pub(in crate::owner) fn may_ask_more(&self, server: &str) -> bool {
        let own = |pending: &&Pending| pending.view.server == server && pending.is_asked_by_server();
        self.pending.iter().filter(own).count() < MAX_QUESTIONS
    }

    pub(in crate::owner) fn put_request(
        &mut self,
        at: usize,
        new: Box<CreateMessageParams>,
        new_state: Box<SamplingState>,
    ) {
        if let QuestionBody::Sampling { request, state, .. } = &mut self.pending[at].view.body {
            *request = new;
            *state = new_state;
        }
    }

    pub(in crate::owner) fn is_not_running(&self, at: usize) -> Result<(), AnswerError> {
        if self.pending[at].running.is_some() {
            return Err(AnswerError::WrongKind("a model answers it now; stop it first"));
        }
        Ok(())
    }

    /// Where the question is that this run of a model answers.
    pub(in crate::owner) fn running_at(&self, id: QuestionId, number: u64) -> Option<usize> {
        let is_it = |running: &Running| running.is(number);
        self.pending.iter().position(|p| p.view.id == id && p.running.as_ref().is_some_and(is_it))
    }
}
