//! Tests of the order of events and prompts on a terminal.

use std::io::{self, Write};
use std::sync::Mutex;

use api::data::{ConsentRequest, ConsentRequestBody, ConsentRequestOrigin, ConversationItem, ItemBody, ItemState};

use api::Event;

use super::*;

/// Writer that records each printed text, with the number of consent requests in the local copy of the host's state at
/// that time.
#[derive(Clone)]
struct PendingRequestCountWriter {
    view: watch::Receiver<HostView>,
    printed: Arc<Mutex<Vec<(usize, String)>>>,
}

impl Write for PendingRequestCountWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let open = self.view.borrow().consent_requests.len();
        self.printed.lock().unwrap().push((open, String::from_utf8_lossy(bytes).into_owned()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct ConversationEventPrinter {
    talk: ConversationPrinter,
    output: Output,
}

impl EventPrinter for ConversationEventPrinter {
    async fn print_event(&mut self, event: &Event) {
        self.talk.print_event(event, &self.output);
    }
}

#[tokio::test]
async fn s33_call_is_printed_before_its_consent_request() {
    let (view_sender, view) = watch::channel(HostView::default());
    let printed = Arc::default();
    let screen = PendingRequestCountWriter { view, printed: Arc::clone(&printed) };
    let output = Output::with_streams(false, Box::new(screen.clone()), Box::new(screen));
    let (talk, _ends) = ConversationPrinter::new("c".into());
    let body = ItemBody::ToolCall {
        call: "1".into(),
        server: "demo".into(),
        tool: "add".into(),
        app: None,
        arguments: json!({"a": 1}),
        result: None,
        error: None,
        failure: None,
        refusal: None,
        duration_milliseconds: 0,
        waited_milliseconds: None,
        used: None,
        omitted_bytes: None,
    };
    let item = ConversationItem {
        id: "1".into(),
        parent: None,
        at: 0,
        state: Some(ItemState::Streaming),
        seq: None,
        siblings: None,
        omitted: None,
        body: body.into(),
    };
    let request = ConsentRequest {
        id: "1".into(),
        hash: "h".into(),
        server: "demo".into(),
        transport: "stdio".into(),
        command_line: String::new(),
        asked_at: 0,
        origin: ConsentRequestOrigin::Server,
        round: None,
        body: ConsentRequestBody::Roots,
        scopes: Vec::new(),
        reason: String::new(),
        stricter_reason: None,
        marks: Default::default(),
        call: Some("1".into()),
    };
    let call = Event::ItemChanged { conversation: "c".into(), item: Box::new(item), answering: true };
    let events = vec![call, Event::ConsentRequestChanged { consent_request: request }];
    print_and_apply_batch(&Events { first: 0, events }, &view_sender, &mut ConversationEventPrinter { talk, output })
        .await;
    assert_eq!(view_sender.borrow().consent_requests.len(), 1, "the consent request should be known");
    let printed = printed.lock().unwrap();
    let text: String = printed.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(text, "→ demo add {\"a\":1}\n", "the call should be printed");
    assert!(
        printed.iter().all(|(open, _)| *open == 0),
        "output should be printed before the consent request is known: {printed:?}"
    );
}
