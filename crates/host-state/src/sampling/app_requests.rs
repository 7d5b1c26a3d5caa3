//! Sampling requests of apps (MCP Apps), which wait for a response outside of any session. Used by
//! `host/src/owner/sampling`.

use domain::consent_request::ConsentRequestOrigin;
use mcp_proto::session::ClientResponse;
use supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS;
use tokio::sync::oneshot;

use super::Sampling;
use crate::{Requester, RunId};

/// A sampling request of an app that has no response yet. Dropping this value notifies the app that none will come.
pub struct AppSamplingRequest {
    /// Run of the app's server when the app sent the request.
    pub run: RunId,
    /// The app, as displayed in a consent request.
    pub why: ConsentRequestOrigin,
    /// Sender for the response to the app.
    pub reply: oneshot::Sender<ClientResponse>,
}

impl AppSamplingRequest {
    /// Returns the name of the tool to which the app belongs. Untrusted.
    pub fn tool(&self) -> &str {
        match &self.why {
            ConsentRequestOrigin::App { tool, .. } => tool,
            _ => "",
        }
    }
}

impl Sampling {
    /// Returns `true` if fewer than the maximum number of requests of apps of this run wait for a response.
    pub fn has_capacity_for_apps(&self, run: RunId) -> bool {
        self.app_requests.values().filter(|request| request.run == run).count() < DEFAULT_MAX_CONSENT_REQUESTS
    }

    /// Removes and returns the request of an app. Returns `None` for a server, and for an app that no longer waits for
    /// the response.
    pub fn take_app_request(&mut self, requester: Requester) -> Option<AppSamplingRequest> {
        match requester {
            Requester::Server { .. } => None,
            Requester::App { number, .. } => self.app_requests.remove(&number),
        }
    }

    /// Returns the app that sent a request, as displayed in a consent request. Returns `None` for a server, and for an
    /// app that no longer waits for the response.
    pub fn requesting_app(&self, requester: Requester) -> Option<&ConsentRequestOrigin> {
        match requester {
            Requester::Server { .. } => None,
            Requester::App { number, .. } => self.app_requests.get(&number).map(|request| &request.why),
        }
    }

    /// Returns the conversation in which the requesting app is shown, if any.
    pub fn conversation_of_app(&self, requester: Requester) -> Option<String> {
        match self.requesting_app(requester) {
            Some(ConsentRequestOrigin::App { conversation, .. }) => conversation.clone(),
            _ => None,
        }
    }

    /// Returns `true` if an app sent the request that other hosts can influence, and which could send them the reply.
    pub fn is_app_with_other_hosts(&self, requester: Requester) -> bool {
        matches!(self.requesting_app(requester), Some(ConsentRequestOrigin::App { reaches_other_hosts: true, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(run: u64) -> (AppSamplingRequest, oneshot::Receiver<ClientResponse>) {
        let (reply, replied) = oneshot::channel();
        let why = ConsentRequestOrigin::App {
            conversation: Some("c".to_owned()),
            tool: "show".to_owned(),
            reaches_other_hosts: true,
        };
        (AppSamplingRequest { run: RunId(run), why, reply }, replied)
    }

    #[test]
    fn requests_of_apps_are_bounded_for_each_run() {
        let mut sampling = Sampling::default();
        for number in 0..DEFAULT_MAX_CONSENT_REQUESTS as u64 {
            assert!(sampling.has_capacity_for_apps(RunId(1)), "there is room for request {number}");
            sampling.app_requests.insert(number, request(1).0);
        }
        assert!(!sampling.has_capacity_for_apps(RunId(1)), "the number of requests is limited");
        assert!(sampling.has_capacity_for_apps(RunId(2)), "the limit is per run");
    }

    #[test]
    fn request_of_an_app_ends_with_the_run_of_its_server() {
        let mut sampling = Sampling::default();
        let (first, mut first_reply) = request(1);
        let (second, mut second_reply) = request(2);
        sampling.app_requests.extend([(1, first), (2, second)]);
        sampling.end_requests(|requester| requester.run() == RunId(1));
        assert_eq!(first_reply.try_recv(), Err(oneshot::error::TryRecvError::Closed), "the app is notified");
        assert_eq!(second_reply.try_recv(), Err(oneshot::error::TryRecvError::Empty), "another run goes on");
        let ended = Requester::App { run: RunId(1), number: 1 };
        assert_eq!(sampling.requesting_app(ended), None, "an ended request has no app");
        let waiting = Requester::App { run: RunId(2), number: 2 };
        assert_eq!(sampling.conversation_of_app(waiting).as_deref(), Some("c"));
        assert!(sampling.is_app_with_other_hosts(waiting));
    }
}
