//! Requests that a rule with a budget lets through: a model answers, and the answer goes back without a question. It is in the
//! audit log and in the server's activity like any other.

use std::collections::BTreeSet;

use mcp_proto::session::{Answer, ServerRequestId};
use mcp_proto::types::{CreateMessageParams, CreateMessageResult};
use models::ToolChoice;
use policy::{Act, By, Decision, Hash, SamplingUse, canonical_json};
use serde_json::json;

use super::Owner;
use super::run::{Ended, Progress, Running, Work};
use crate::activity::{ActivityKind, now};
use crate::connection::RunId;
use crate::owner::audit::Decided;
use crate::owner::gate::{Departure, refuses};
use crate::owner::questions::refusal;
use crate::owner::{AnswerError, Command};
use crate::sampling::convert::{from_reply, tool_choice, uses_tool};
use crate::sampling::{SamplingState, ask_hash};

/// A request that a model answers without a question.
pub(super) struct Unasked {
    server: String,
    running: Running,
    params: Box<CreateMessageParams>,
    by: By,
}

impl Owner {
    /// Puts a request to its model without asking, as this rule says.
    ///
    /// # Errors
    /// If there is no model, or the server's own limits don't let it. Then nothing was done.
    pub(super) fn sample_unasked(
        &mut self,
        server: &str,
        of: (RunId, ServerRequestId),
        (params, state): (&CreateMessageParams, &SamplingState),
        by: By,
    ) -> Result<(), AnswerError> {
        let choice = state.model.as_ref().ok_or(AnswerError::WrongKind("there is no model"))?;
        let hash = ask_hash(params, state);
        let asks = Departure::by_rule(by, server, hash.clone()).ask(server, params, state)?;
        let counted = self.count_run(server, &choice.model, params)?;
        let content = canonical_json(&json!(params));
        let written = self.audit(Decided {
            server,
            kind: "sampling",
            subject: &super::subject(params, None, state),
            decision: "allowed",
            by: "policy",
            hash: hash.as_str(),
            asker: "server",
            content: Some(content),
            rule: by.text(),
            ..Decided::default()
        });
        if written.is_err() {
            self.settle_unanswered(&counted);
            return Err(AnswerError::Audit);
        }
        self.sampling.last_run += 1;
        let number = self.sampling.last_run;
        let work = Work { models: self.models.clone(), asks };
        let end = move |ended: Ended| -> Command { Box::new(move |owner| owner.on_unasked_end(of, number, ended)) };
        let progress = Progress::default();
        let task = tokio::spawn(work.run(self.back.clone(), progress.clone(), None::<fn(String) -> Command>, end));
        let running = Running::new(number, counted, progress, task.abort_handle());
        let unasked = Unasked { server: server.to_owned(), running, params: Box::new(params.clone()), by };
        self.sampling.unasked.insert(of, unasked);
        Ok(())
    }

    fn on_unasked_end(&mut self, of: (RunId, ServerRequestId), number: u64, ended: Ended) {
        if self.sampling.unasked.get(&of).is_none_or(|unasked| !unasked.running.is(number)) {
            return;
        }
        let Some(unasked) = self.sampling.unasked.remove(&of) else { return };
        self.settle_ended(&unasked.running, &ended);
        let (server, (run, request)) = (unasked.server.as_str(), of);
        match self.unasked_answer(&unasked, ended) {
            Ok(answer) => {
                let hash = Hash::of(&json!({ "answer": answer }));
                let entry = self.entry(Decided {
                    server,
                    kind: "sampling-answer",
                    subject: &format!("answered by {}", answer.model),
                    decision: "allowed",
                    by: "policy",
                    hash: hash.as_str(),
                    asker: "server",
                    content: Some(canonical_json(&json!(answer))),
                    rule: unasked.by.text(),
                    ..Decided::default()
                });
                self.answer_written((server, run, request), Answer::Sampling(Box::new(answer)), unasked.by, entry);
            }
            Err(cause) => {
                if let Some(record) = self.servers.get(server) {
                    record.note(ActivityKind::State, &format!("sampling failed: {cause}"));
                }
                // What the provider says is the user's business.
                self.tell_answer(server, run, request, refuses(refusal("the model did not answer".to_owned())));
            }
        }
    }

    /// What goes back, or why nothing can.
    fn unasked_answer(&self, unasked: &Unasked, ended: Ended) -> Result<CreateMessageResult, String> {
        let reply = ended.map_err(|error| error.to_string())?;
        let answer = from_reply(&reply, &unasked.params).map_err(|unfit| unfit.to_string())?;
        if tool_choice(&unasked.params) == ToolChoice::Required && !uses_tool(&answer) {
            return Err("the server wants a tool to be used, and the model used none".to_owned());
        }
        self.check_sampling_answer(&unasked.server, &answer).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Stops what models answer for requests that are over.
    pub(in crate::owner) fn end_unasked(&mut self, is_over: impl Fn((RunId, ServerRequestId)) -> bool) {
        self.sampling.unasked.retain(|of, _| !is_over(*of));
    }

    /// Stops what models answer for a server that the user denies all, or may not sample any more, and tells it.
    pub(in crate::owner) fn refuse_unasked(&mut self, server: &str) {
        let own = self.sampling.unasked.iter().filter(|(_, unasked)| unasked.server == server);
        let own: Vec<(RunId, ServerRequestId)> = own.map(|(of, _)| *of).collect();
        for (run, request) in own {
            if let Some(unasked) = self.sampling.unasked.remove(&(run, request)) {
                self.note(Decided {
                    server,
                    kind: "sampling-answer",
                    subject: "not wanted any more",
                    decision: "denied",
                    by: self.options.decides,
                    hash: Hash::of(&json!({ "request": unasked.params })).as_str(),
                    asker: "server",
                    ..Decided::default()
                });
            }
            let refusal = refuses(refusal("the user rejected the request".to_owned()));
            self.tell_answer(server, run, request, refusal);
        }
    }

    /// Stops what no rule lets through any more, whatever of its budget is left: that was counted when it began.
    pub(in crate::owner) fn end_unallowed(&mut self) {
        let servers: BTreeSet<String> = self.sampling.unasked.values().map(|unasked| unasked.server.clone()).collect();
        for server in servers {
            let act = Act::Sample { server: &server, would_use: SamplingUse::default() };
            if !matches!(self.policy.decide(&act, now()), Decision::Allow { .. }) {
                self.refuse_unasked(&server);
            }
        }
    }
}
