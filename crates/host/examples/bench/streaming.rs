//! Measures a model's streamed reply: the processor time that the host uses, and the latency of the first delta.

use std::time::{Duration, Instant};

use chat::{Chat, ConversationSettings, NewMessage};
use domain::history::Conversation;
use domain::item::ConversationEvent;
use host::view::HostEvent;
use models::{MessagePart, ReplyDelta, StopReason};
use testkit::app::TestApp;
use testkit::model::{ModelStep, ScriptedModel, final_reply_step, model_named, model_reference};

/// Number of tokens per second that the simulated model produces, as a fast model does.
const TOKENS_PER_SECOND: u64 = 200;
const REPLY_TOKEN_COUNT: u64 = 4_000;

pub(crate) async fn measure_streaming() {
    let app = TestApp::start(Vec::new()).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("m")]).await;
    let pause = ModelStep::Waits(Duration::from_millis(1_000 / TOKENS_PER_SECOND));
    let piece = |n: u64| if n.is_multiple_of(12) { "| cell\n".to_owned() } else { format!("w{n} ") };
    let mut steps: Vec<ModelStep> =
        (0..REPLY_TOKEN_COUNT).flat_map(|n| [ModelStep::Says(ReplyDelta::Text(piece(n))), pause.clone()]).collect();
    let whole: String = (0..REPLY_TOKEN_COUNT).map(piece).collect();
    steps.push(final_reply_step(vec![MessagePart::Text(whole)], StopReason::EndTurn, (1_000, REPLY_TOKEN_COUNT)));
    model.queue_reply(steps);
    let conversation = Conversation { id: "talk".into(), title: "Talk".into(), ..Conversation::default() };
    app.host.ports().history.create(&conversation).expect("the conversation is created");
    let settings = ConversationSettings { model: Some(model_reference("m")), ..ConversationSettings::default() };
    let chat = Chat::new(app.host.clone());
    chat.set_conversation_settings("talk".into(), settings).await.expect("the conversation has a model");
    let mut events = app.host.events();
    let (before, began) = (processor_time(), Instant::now());
    let message = NewMessage { text: "Write".into(), ..NewMessage::default() };
    chat.send_message("talk".into(), message, None).await.expect("the message is sent");
    let (mut pieces, mut first) = (0, None);
    while let Some(event) = events.next().await {
        match event.event {
            HostEvent::Conversation(ConversationEvent::ReplyDelta { .. }) => {
                first.get_or_insert_with(|| began.elapsed());
                pieces += 1;
            }
            HostEvent::Conversation(ConversationEvent::ItemChanged { answering: false, .. }) => break,
            _ => {}
        }
    }
    let spent = processor_time().saturating_sub(before);
    let first = first.unwrap_or_default();
    println!(
        "streaming: {REPLY_TOKEN_COUNT} tokens at {TOKENS_PER_SECOND}/s in {pieces} pieces; first piece {:.1} ms after the message; {:.1} ms of processor time per 1,000 tokens, all of the host",
        first.as_secs_f64() * 1e3,
        spent.as_secs_f64() * 1e6 / f64::from(u32::try_from(REPLY_TOKEN_COUNT).expect("few")),
    );
}

/// Returns the processor time used by this process so far, with a resolution of 10 ms. Linux only.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
