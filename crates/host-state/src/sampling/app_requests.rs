//! Sampling requests of apps (MCP Apps), which wait for a response outside of any session. Used by
//! `host/src/owner/sampling`.

use domain::consent_request::ConsentRequestOrigin;
use mcp_proto::session::ClientResponse;
use supervision::limits::ServerLimits;
use supervision::request_quota::consent_request_rate_limit;
use tokio::sync::oneshot;

use super::Sampling;
use crate::{Requester, RunId};

/// A sampling request of an app that has no response yet. Dropping this value notifies the app that none will come.
pub struct AppSamplingRequest {
    /// Run of the app's server when the app sent the request.
    pub run: RunId,
    /// The app, as displayed in a consent request.
    pub origin: ConsentRequestOrigin,
    /// Sender for the response to the app.
    pub reply: oneshot::Sender<ClientResponse>,
}

impl AppSamplingRequest {
    /// Returns the name of the tool whose results the app displays. The name is untrusted text of the server.
    pub fn tool(&self) -> &str {
        match &self.origin {
            ConsentRequestOrigin::App { tool, .. } => tool,
            _ => "",
        }
    }
}

impl Sampling {
    /// Counts a new request of an MCP app against the limits of its server, which apply to all apps of this run
    /// together: the number of requests that wait for a response, and the rate. Returns `false` if a limit is reached.
    pub fn admit_app_request(&mut self, run: RunId, limits: &ServerLimits) -> bool {
        let open = self.app_requests.values().filter(|request| request.run == run).count();
        if open >= limits.consent_requests as usize {
            return false;
        }
        self.app_rates.entry(run).or_insert_with(|| consent_request_rate_limit(limits)).try_take(1)
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
            Requester::App { number, .. } => self.app_requests.get(&number).map(|request| &request.origin),
        }
    }

    /// Returns the conversation in which the requesting app is shown, if any.
    pub fn conversation_of_app(&self, requester: Requester) -> Option<String> {
        match self.requesting_app(requester) {
            Some(ConsentRequestOrigin::App { conversation, .. }) => conversation.clone(),
            _ => None,
        }
    }

    /// Returns `true` if an MCP app sent the request and its page may contact other hosts. These hosts could then
    /// influence the request and receive the reply.
    pub fn is_app_that_reaches_other_hosts(&self, requester: Requester) -> bool {
        matches!(self.requesting_app(requester), Some(ConsentRequestOrigin::App { reaches_other_hosts: true, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(run: u64) -> (AppSamplingRequest, oneshot::Receiver<ClientResponse>) {
        let (reply, replied) = oneshot::channel();
        let origin = ConsentRequestOrigin::App {
            conversation: Some("c".to_owned()),
            tool: "show".to_owned(),
            reaches_other_hosts: true,
        };
        (AppSamplingRequest { run: RunId(run), origin, reply }, replied)
    }

    #[tokio::test(start_paused = true)]
    async fn rate_of_apps_is_limited_for_each_run_even_if_their_requests_end() {
        let limits = ServerLimits { consent_requests_per_minute: 12, ..ServerLimits::default() };
        let mut sampling = Sampling::default();
        let admitted =
            |sampling: &mut Sampling| (0..20).filter(|_| sampling.admit_app_request(RunId(1), &limits)).count();
        assert_eq!(admitted(&mut sampling), 2, "a burst has the requests of ten seconds");
        assert!(sampling.admit_app_request(RunId(2), &limits), "another run has its own rate");
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(admitted(&mut sampling), 1, "the rate is refilled");
        sampling.end_requests(|requester| requester.run() == RunId(1));
        assert!(!sampling.app_rates.contains_key(&RunId(1)), "nothing of an ended run is retained");
    }

    #[test]
    fn requests_of_apps_are_bounded_for_each_run() {
        let mut sampling = Sampling::default();
        let limits = ServerLimits::default();
        for number in 0..u64::from(limits.consent_requests) {
            assert!(sampling.admit_app_request(RunId(1), &limits), "there is room for request {number}");
            sampling.app_requests.insert(number, request(1).0);
        }
        assert!(!sampling.admit_app_request(RunId(1), &limits), "the number of requests is limited");
        assert!(sampling.admit_app_request(RunId(2), &limits), "the limit is per run");
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
        assert!(sampling.is_app_that_reaches_other_hosts(waiting));
    }
}
