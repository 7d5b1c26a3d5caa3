//! Compares the received messages with the approvals and with the audit log. Used by `bench.rs` and the tests in
//! `gate.rs`.

use std::path::Path;

use models::MessagePart;
use ports::{AuditEntry, AuditQuery};
use serde_json::{Value, json};
use testkit::app::EVENT_TIMEOUT;
use testkit::deadline::poll_until;

use super::GateTestHarness;
use crate::gate::{BAD_SERVER_NAME, REMOTE_SERVER_NAME};

/// Messages that the server received from the host: requests, and responses to the server's requests.
pub(super) struct ReceivedMessages(Vec<Value>);

impl ReceivedMessages {
    pub(super) fn read(record: &Path) -> Self {
        let text = std::fs::read_to_string(record).unwrap_or_default();
        // The last line may be incomplete.
        Self(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    pub(super) fn params_by_method(&self, method: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["method"] == method).map(|line| &line["params"]).collect()
    }

    pub(super) fn results_by_id_prefix(&self, kind: &str) -> Vec<&Value> {
        let is_answer = |line: &&Value| line["id"].as_str().is_some_and(|id| id.starts_with(kind));
        self.0.iter().filter(is_answer).map(|line| &line["result"]).filter(|result| !result.is_null()).collect()
    }
}

/// Returns the canonical JSON text of a value, which is the same for equal values.
pub(super) fn canonical_text(value: &Value) -> String {
    policy::canonical_json(value)
}

fn sort_texts(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort();
    all
}

impl GateTestHarness {
    pub(in crate::gate) fn read_audit_log(&self) -> Vec<AuditEntry> {
        let mut entries = self.app.host.ports().audit.read(&AuditQuery::latest(10_000)).unwrap();
        entries.reverse();
        entries
    }

    /// Asserts that the payloads that the server and the model received are the same as the approved ones, and as those
    /// in the audit log.
    pub(in crate::gate) async fn assert_sent_payloads_approved(&mut self) {
        self.wait_for_sent_messages().await;
        let (got, log) = (ReceivedMessages::read(&self.record), self.read_audit_log());
        let approved = &self.approved;
        let allowed = |kind: &str| {
            log.iter()
                .filter(|e| e.server == BAD_SERVER_NAME && e.kind == kind && e.decision == "allowed")
                .collect::<Vec<_>>()
        };
        // For an approved payload that was not sent, the log has a second entry that cancels the first.
        let of = |kind: &str| {
            let mut left = allowed(kind);
            for unsent in
                log.iter().filter(|e| e.server == BAD_SERVER_NAME && e.kind == kind && e.rule == "allowed-not-sent")
            {
                let is_it = |e: &&AuditEntry| e.hash == unsent.hash && e.number < unsent.number && e.by != "user";
                left.remove(left.iter().rposition(is_it).expect("what is withdrawn was allowed before"));
            }
            left
        };
        let content = |e: &&AuditEntry| e.content.clone().unwrap_or_default();
        let by_user = |e: &&&AuditEntry| e.by == "user";
        for entry in log.iter().filter(|e| e.decision == "allowed" && e.by != "user") {
            let is_read = ["prompt", "resource"].contains(&entry.kind.as_ref());
            // Connections that continue after a sign-in. They are compared separately below.
            let goes_on = entry.kind == "connect-server" && entry.by == "policy";
            assert!(
                is_read || goes_on || approved.has_lasting_approval,
                "only permanent approvals allow a payload without consent: {entry:?}"
            );
        }

        let left = sort_texts(got.params_by_method("tools/call").iter().map(|call| canonical_text(&call["arguments"])));
        let calls = of("tool");
        assert_eq!(left, sort_texts(calls.iter().map(content)), "calls: the sent ones equal the logged ones");
        let decided = sort_texts(calls.iter().filter(by_user).map(content));
        assert_eq!(
            decided,
            sort_texts(approved.calls.iter().cloned()),
            "calls: the logged ones equal the approved ones"
        );

        assert_eq!(
            got.params_by_method("resources/read").len(),
            of("resource").len(),
            "resources: the sent requests equal the logged ones"
        );
        assert_eq!(
            got.params_by_method("prompts/get").len(),
            of("prompt").len(),
            "prompts: the sent requests equal the logged ones"
        );

        let all = self.model.requests();
        let left = sort_texts(all.iter().map(|request| {
            let parts = request.messages.iter().flat_map(|message| &message.parts);
            let texts =
                parts.filter_map(|part| if let MessagePart::Text(text) = part { Some(text.as_str()) } else { None });
            format!("{} to {}", texts.collect::<String>(), request.model)
        }));
        assert_eq!(
            left,
            sort_texts(approved.model_requests.iter().cloned()),
            "models: the sent requests equal the approved ones"
        );
        let logged = sort_texts(of("sampling").iter().map(|e| prompt_text(&content(e))));
        let sent = sort_texts(left.iter().map(|ask| ask.rsplit_once(" to ").unwrap().0.to_owned()));
        assert_eq!(sent, logged, "models: the sent requests equal the logged ones");

        let blocks = |result: &Value| match &result["content"] {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        };
        let left = sort_texts(
            got.results_by_id_prefix("sampling").iter().map(|result| canonical_text(&json!(blocks(result)))),
        );
        assert_eq!(
            left,
            sort_texts(approved.answers.iter().cloned()),
            "responses: the sent ones equal the approved ones"
        );
        let logged = of("sampling-answer").into_iter();
        let logged = logged.map(|e| canonical_text(&json!(blocks(&serde_json::from_str(&content(&e)).unwrap()))));
        assert_eq!(left, sort_texts(logged), "responses: the sent ones equal the logged ones");

        let accepted = |result: &&&Value| result["action"] == "accept";
        let left = sort_texts(
            got.results_by_id_prefix("form").iter().filter(accepted).map(|result| canonical_text(&result["content"])),
        );
        assert_eq!(left, sort_texts(approved.forms.iter().cloned()), "forms: the sent ones equal the approved ones");
        assert_eq!(
            left,
            sort_texts(of("elicitation").iter().map(content)),
            "forms: the sent ones equal the logged ones"
        );

        let approved_results = sort_texts(approved.results.iter().cloned());
        let read = || {
            sort_texts(self.read.lock().unwrap().iter().map(|text| format!("{:?}", [MessagePart::text(text.as_str())])))
        };
        poll_until(EVENT_TIMEOUT, || read() == approved_results).await;
        assert_eq!(read(), approved_results, "results: those that a model read equal the approved ones");
        let texts = |e: &AuditEntry| serde_json::from_str::<Value>(&content(&e)).unwrap()["result"][0]["text"].clone();
        let logged = sort_texts(of("result").into_iter().map(|e| texts(e).as_str().unwrap_or_default().to_owned()));
        let texts = sort_texts(self.read.lock().unwrap().iter().cloned());
        assert_eq!(texts, logged, "results: those that a model read equal the logged ones");

        let issuer = self.issuer.issuer();
        let pages = self.app.platform.opened.lock().unwrap().clone();
        let (signing_in, pages): (Vec<String>, Vec<String>) =
            pages.into_iter().partition(|url| url.starts_with(&issuer));
        let opened = sort_texts(pages);
        assert_eq!(opened, sort_texts(approved.urls.iter().cloned()), "URLs: the opened ones equal the approved ones");
        assert_eq!(
            opened,
            sort_texts(of("url").iter().map(|e| e.subject.clone())),
            "URLs: the logged ones equal the approved ones"
        );
        assert_eq!(
            got.results_by_id_prefix("url").iter().filter(accepted).count(),
            opened.len(),
            "URLs: the server receives the decisions"
        );

        let sent_folders =
            got.results_by_id_prefix("roots").iter().filter(|result| result["roots"] != json!([])).count();
        let shared = of("roots");
        assert_eq!(sent_folders, shared.len(), "folders: the sent ones equal the logged ones");
        assert_eq!(
            shared.iter().filter(by_user).count(),
            approved.shares,
            "folders: the logged ones equal the approved ones"
        );

        let of_far = |kind: &str, by: &str| {
            let is_it = |e: &&AuditEntry| {
                e.server == REMOTE_SERVER_NAME && e.kind == kind && e.decision == "allowed" && e.by == by
            };
            log.iter().filter(is_it).count()
        };
        assert_eq!(
            of_far("connect-server", "user"),
            approved.connections,
            "connections: the logged ones equal the approved ones"
        );
        assert_eq!(of_far("sign-in", "user"), approved.sign_ins, "sign-ins: the logged ones equal the approved ones");
        assert!(
            signing_in.len() <= approved.sign_ins,
            "sign-ins: one page is opened for each approval: {signing_in:?}"
        );
        let continued = of_far("connect-server", "policy");
        assert!(continued <= of_far("signed-in", "user"), "connections: at most one follows a sign-in");
        let connected = self.far.requests_with_method("initialize").len();
        let by_grant = of_far("connect-server", "grant");
        assert!(connected <= approved.connections + continued + by_grant, "connections: each was decided: {connected}");
        if approved.connections == 0 {
            assert!(self.far.received_requests().is_empty(), "connections: nothing is sent before an approval");
        }

        let (ran, starts) = (got.params_by_method("initialize").len(), of("start-server"));
        assert_eq!(ran, starts.len(), "starts: the started processes equal the logged starts");
        assert_eq!(
            starts.iter().filter(by_user).count(),
            approved.starts,
            "starts: the logged ones equal the approved ones"
        );
    }
}

pub(in crate::gate) fn prompt_text(request: &str) -> String {
    let request: Value = serde_json::from_str(request).unwrap();
    let content = &request["messages"][0]["content"];
    let one = if content.is_array() { &content[0] } else { content };
    one["text"].as_str().unwrap_or_default().to_owned()
}
