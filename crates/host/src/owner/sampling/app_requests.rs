//! Sampling requests of apps (MCP Apps), which are decided like those of the app's server. Used by `handle/apps.rs`.

use domain::call::CallFailure;
use mcp_apps::SamplingResultRequirements;
use mcp_proto::session::ClientResponse;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult};
use policy::Hash;
use serde_json::json;
use tokio::sync::oneshot;

use super::Owner;
use crate::owner::gate::AuthorizedPayload;
use crate::owner::state::{AppSamplingRequest, CallOrigin, DecisionError, Requester};
use crate::view::ServerState;

impl Owner {
    /// Handles a sampling request of an app: denies it, adds a consent request, or lets a model reply, as the policy
    /// decides about requests of the app's server. Returns the requester, by which the request can be withdrawn. The
    /// sender `reply` is dropped if the request ends without a response.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, [`CallFailure::NotReady`] if it is not running,
    /// and [`CallFailure::Busy`] if too many requests of the server and its apps wait for a response, or if its apps
    /// exceed the rate of requests.
    pub(crate) fn accept_app_sampling(
        &mut self,
        server: &str,
        origin: &CallOrigin,
        params: Box<CreateMessageParams>,
        reply: oneshot::Sender<ClientResponse>,
    ) -> Result<Requester, CallFailure> {
        let record =
            self.servers.records.get(server).ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))?;
        let Some(connection) = record.session.connection.as_ref().filter(|_| record.state == ServerState::Ready) else {
            return Err(CallFailure::NotReady { server: server.to_owned() });
        };
        let run = connection.run;
        let limits = self.settings.current.limits.clamped_to_bounds();
        if !self.consent.has_capacity_for(server) || !self.models.sampling.admit_app_request(run, &limits) {
            return Err(CallFailure::Busy { server: server.to_owned() });
        }
        let number = self.events.next_unique_id();
        let requester = Requester::App { run, number };
        let origin = self.call_consent_origin(origin, server);
        let request = AppSamplingRequest { run, origin, reply };
        self.servers.log_app_activity(server, request.tool(), "requests an answer from a model");
        self.models.sampling.app_requests.insert(number, request);
        let decision = self.permissions.policy.decide(&self.sampling_act(server, &params), self.now());
        self.on_sampling_request(server, requester, None, params, decision);
        Ok(requester)
    }

    /// Checks that a model's reply can be sent to the requester.
    ///
    /// # Errors
    ///
    /// Returns the reason if it can't be sent.
    pub(in crate::owner) fn check_sampling_answer(
        &self,
        requester: Requester,
        server: &str,
        params: &CreateMessageParams,
        answer: &CreateMessageResult,
    ) -> Result<(), DecisionError> {
        match requester {
            Requester::Server { .. } => self.servers.check_sampling_answer(server, answer),
            Requester::App { .. } => {
                let checked = SamplingResultRequirements::for_request(params).check_result(answer);
                checked.map_err(|problem| DecisionError::WrongKind(problem.text()))
            }
        }
    }

    /// Sends the response to a sampling request of an app. Drops the response if the app no longer waits for it, and
    /// records that. `shown` is the hash in the audit entry of a response that the user approved, or `None` if a rule
    /// allowed it.
    pub(in crate::owner) fn send_response_to_app(
        &mut self,
        server: &str,
        requester: Requester,
        answer: AuthorizedPayload<ClientResponse>,
        shown: Option<&Hash>,
    ) {
        let Some(request) = self.models.sampling.take_app_request(requester) else { return };
        let outcome = match answer.get() {
            ClientResponse::Sampling(_) => "gets the answer",
            _ => "gets no answer",
        };
        self.servers.log_app_activity(server, request.tool(), outcome);
        if let Err(ClientResponse::Sampling(unsent)) = request.reply.send(answer.into_inner()) {
            // The app was closed, and the withdrawal of its request has not been processed yet.
            let hash = shown.cloned().unwrap_or_else(|| Hash::of_json(&json!({ "answer": unsent })));
            self.audit_unsent_model_reply(server, &format!("answered by {}", unsent.model), &hash, requester);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::consent_request::ConsentRequestOrigin;
    use policy::DecisionSource;
    use server_requests::sampling::empty_sampling_result;

    use super::*;
    use crate::owner::gate::authorize_allowed_response;
    use crate::owner::tests::world::{HostFixture, RUN, SERVER};

    #[tokio::test]
    async fn answer_for_a_closed_app_is_recorded_as_unsent() {
        let world = HostFixture::new().await;
        let respond = |owner: &mut Owner| {
            let (reply, _) = oneshot::channel();
            let origin =
                ConsentRequestOrigin::App { conversation: None, tool: "show".to_owned(), reaches_other_hosts: false };
            owner.models.sampling.app_requests.insert(7, AppSamplingRequest { run: RUN, origin, reply });
            let answer = ClientResponse::Sampling(Box::new(empty_sampling_result()));
            let answer = authorize_allowed_response(DecisionSource::BuiltIn, answer);
            owner.send_response(SERVER, Requester::App { run: RUN, number: 7 }, answer);
        };
        world.host.with_owner(respond).await.unwrap();
        while world.log.queued_entries() > 0 {
            world.log.write_next_entry();
        }
        let entries = world.log.written_entries();
        let of_answers = entries.iter().filter(|entry| entry.kind == "sampling-answer");
        let recorded: Vec<_> = of_answers.map(|entry| (&*entry.decision, &*entry.asker, &*entry.hash)).collect();
        let hash = Hash::of_json(&json!({ "answer": empty_sampling_result() }));
        assert_eq!(recorded, [("withdrawn", "app", hash.as_str())], "the log states that nothing was sent");
        world.close().await;
    }
}
