//! Tests of messages and replies: streaming, storing, stopping, repeating, and editing.

use chat::{ConversationError, NewMessage};
use domain::item::{Content, ConversationEvent, ItemBody, ItemState, MessageAttachment, ReplyAppend, ReplyStop};
use host::view::HostEvent;
use models::{Conversion, LossyConversion, ModelError, ModelErrorCode, ReplyDelta, Role, UnsupportedFeature};
use testkit::app::EVENT_TIMEOUT;
use testkit::model::{ModelStep, model_reference};

use super::model::text_reply;
use super::{CONVERSATION_ID, TestConversation, item_kinds, reply_text};

#[tokio::test]
async fn reply_streams_and_is_stored_with_its_usage() {
    let mut talk = TestConversation::new(vec![text_reply("Hello, **you**")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    let begun = talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let (mut streamed, mut seqs) = (String::new(), Vec::new());
    let until = async {
        while let Some(event) = talk.events.next().await {
            match &event.event {
                HostEvent::Conversation(ConversationEvent::ReplyDelta { item, seq, append, .. }) => {
                    assert_eq!(*item, begun.reply, "the deltas belong to this reply");
                    seqs.push(*seq);
                    for piece in append {
                        let ReplyAppend::Text { part: 0, text } = piece else { panic!("expected text: {piece:?}") };
                        streamed.push_str(text);
                    }
                }
                HostEvent::Conversation(ConversationEvent::ItemChanged { answering: false, .. }) => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, until).await.expect("the reply ends");
    assert_eq!(streamed, "Hello, **you**", "the deltas add up to the complete reply");
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "the deltas are numbered from 0");
    let items = talk.items();
    assert_eq!(
        item_kinds(&items),
        [("message", ItemState::Whole), ("reply", ItemState::Whole)],
        "both items are stored"
    );
    assert_eq!(reply_text(&items[1]), "Hello, **you**", "the complete reply is stored");
    let ItemBody::Reply { stop, cost, usage, first_part_milliseconds, error, .. } = &items[1].body else {
        panic!("the item is not a reply")
    };
    assert_eq!((stop, error), (&Some(ReplyStop::EndTurn), &None), "the stop reason is stored");
    assert_eq!(usage.output, Some(100), "the number of output tokens is stored");
    assert_eq!(cost.as_ref().map(|cost| cost.amount), Some(0.002), "the cost is stored");
    assert!(first_part_milliseconds.is_some(), "the time until the first part is stored");
    assert_eq!(talk.chat.is_replying_with_partial_reply(CONVERSATION_ID), (false, None), "no reply is in progress");
    let spent = talk.chat.conversation_spending(CONVERSATION_ID.into()).await.unwrap();
    assert_eq!((spent.usage.context_used, spent.context), (Some(1_100), Some(1_000_000)), "the context usage is known");
}

#[tokio::test]
async fn model_receives_the_conversation_from_its_beginning() {
    let mut talk = TestConversation::new(vec![text_reply("One"), text_reply("Two")], &[]).await;
    talk.send_and_wait_for_reply("first").await;
    talk.send_and_wait_for_reply("second").await;
    let requests = talk.model.requests();
    let messages: Vec<_> = requests[1].messages.iter().map(|m| (m.role, m.plain_text())).collect();
    let whole = [(Role::User, "first".into()), (Role::Assistant, "One".into()), (Role::User, "second".into())];
    assert_eq!(messages, whole, "the messages alternate");
    assert_eq!(requests[0].tools, [], "no tools are offered by default");
}

#[tokio::test]
async fn stopped_reply_keeps_its_partial_text() {
    let half = vec![ModelStep::Says(ReplyDelta::Text("Half a ".into())), ModelStep::Hangs];
    let mut talk = TestConversation::new(vec![half, text_reply("Whole")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message.clone(), None).await.unwrap();
    let second = talk.chat.send_message(CONVERSATION_ID.into(), message, None).await;
    assert_eq!(second, Err(ConversationError::Answering), "a second reply is refused");
    let piece = async {
        while let Some(event) = talk.events.next().await {
            if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                return;
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, piece).await.expect("the reply starts");
    let (answering, live) = talk.chat.is_replying_with_partial_reply(CONVERSATION_ID);
    let (live, seq) = live.expect("the partial reply is available");
    assert!(
        answering && reply_text(&live) == "Half a " && seq == 1,
        "the partial reply has the number of the next delta: {seq}"
    );
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply is in progress");
    let items = talk.wait_for_reply_run_end().await;
    assert_eq!(item_kinds(&items).last(), Some(&("reply", ItemState::Cut)), "the reply is marked as interrupted");
    assert_eq!(reply_text(&items[1]), "Half a ", "the partial text is stored");
    let ItemBody::Reply { stop, .. } = &items[1].body else { panic!("the item is not a reply") };
    assert_eq!(*stop, Some(ReplyStop::Stopped), "the stop reason is the user");
    assert!(!talk.chat.stop_reply(CONVERSATION_ID), "a stopped reply can't be stopped again");
    assert_eq!(
        reply_text(talk.send_and_wait_for_reply("again").await.last().unwrap()),
        "Whole",
        "the conversation continues"
    );
}

#[tokio::test]
async fn stopped_reply_is_continued_by_a_new_reply() {
    let half = vec![ModelStep::Says(ReplyDelta::Text("Half a ".into())), ModelStep::Hangs];
    let mut talk = TestConversation::new(vec![half, text_reply("loaf")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let piece = async {
        while let Some(event) = talk.events.next().await {
            if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                return;
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, piece).await.expect("the reply starts");
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply was in progress");
    talk.wait_for_reply_run_end().await;
    let spent = talk.chat.conversation_spending(CONVERSATION_ID.into()).await.unwrap();
    assert_eq!(spent.usage.unpriced, 1, "a reply with unknown usage is counted");
    talk.chat.continue_reply(CONVERSATION_ID.into()).await.unwrap();
    talk.wait_for_reply_run_end().await;
    let requests = talk.model.requests();
    let roles: Vec<_> = requests[1].messages.iter().map(|m| m.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User], "the last message is the user's");
}

#[tokio::test]
async fn large_contents_are_omitted_from_returned_items() {
    let mut talk = TestConversation::new(vec![text_reply("A picture")], &[]).await;
    let file = MessageAttachment::File {
        name: "a.png".into(),
        mime_type: "image/png".into(),
        data: "iVBORw0KGgoA".repeat(1_000),
    };
    let message = NewMessage { text: "Look".into(), attachments: vec![file.clone()], ..NewMessage::default() };
    let begun = talk.chat.send_message(CONVERSATION_ID.into(), message, None).await.unwrap();
    let change = async {
        while let Some(event) = talk.events.next().await {
            if let HostEvent::Conversation(ConversationEvent::ItemChanged { item, omitted, .. }) = &event.event
                && begun.message.as_ref() == Some(&item.id)
            {
                return Some((item.clone(), omitted.clone()));
            }
        }
        None
    };
    let (item, omitted) =
        tokio::time::timeout(EVENT_TIMEOUT, change).await.expect("in time").expect("the event of the message arrives");
    let ItemBody::Message { attachments, .. } = &item.body else { panic!("the item is not a message") };
    let [MessageAttachment::File { data, .. }] = &attachments[..] else { panic!("expected one file") };
    assert_eq!((data.as_str(), omitted.len()), ("", 1), "the bytes are omitted and listed");
    assert_eq!(
        (omitted[0].pointer.as_str(), omitted[0].is_text),
        ("/attachments/0/data", false),
        "the position of the omitted bytes is given"
    );
    let bytes = talk.app.host.ports().history.blob(&omitted[0].hash).unwrap();
    assert_eq!(bytes.map(|bytes| bytes.len()), Some(9_000), "the omitted bytes can be requested");
    let items = talk.wait_for_reply_run_end().await;
    let ItemBody::Message { attachments, .. } = &items[0].body else { panic!("the item is not a message") };
    assert_eq!(attachments[..], [file], "the complete file is stored");
}

#[tokio::test]
async fn reply_that_failed_at_the_provider_has_an_error_code() {
    let cut = vec![ModelStep::Says(ReplyDelta::Text("Half".into())), ModelStep::Fails(ModelError::Cut)];
    let refused = vec![ModelStep::Fails(ModelError::RateLimited { retry_after: None })];
    let mut talk = TestConversation::new(vec![cut, refused, Vec::new()], &[]).await;
    let problem = |items: &[domain::item::ChatItem]| {
        let ItemBody::Reply { error, .. } = &items.last().unwrap().body else { panic!("the item is not a reply") };
        error.clone().map(|error| error.code)
    };
    let items = talk.send_and_wait_for_reply("one").await;
    assert_eq!(
        (problem(&items), items[1].state),
        (Some(ModelErrorCode::Cut), ItemState::Cut),
        "an interrupted reply has an error"
    );
    let items = talk.send_and_wait_for_reply("two").await;
    assert_eq!(problem(&items), Some(ModelErrorCode::RateLimited), "a refused request has an error");
    let items = talk.send_and_wait_for_reply("three").await;
    assert_eq!(problem(&items), Some(ModelErrorCode::Cut), "a stream without an end has an error");
}

#[tokio::test]
async fn regenerated_and_edited_messages_are_branches() {
    let mut talk = TestConversation::new(vec![text_reply("One"), text_reply("Two"), text_reply("Three")], &[]).await;
    let first = talk.send_and_wait_for_reply("Hi").await;
    talk.chat.retry_reply(CONVERSATION_ID.into(), first[1].id.clone(), Some(model_reference("m"))).await.unwrap();
    let again = talk.wait_for_reply_run_end().await;
    assert_eq!((again.len(), reply_text(&again[1])), (2, "Two".into()), "the new reply is visible");
    assert_eq!(again[1].parent, first[1].parent, "the replies are siblings");
    assert_eq!(talk.model.requests()[1].messages.len(), 1, "the old reply is not sent to the model");

    let message = NewMessage { text: "Hello".into(), ..NewMessage::default() };
    talk.chat.edit_message(CONVERSATION_ID.into(), first[0].id.clone(), message).await.unwrap();
    let edited = talk.wait_for_reply_run_end().await;
    let ItemBody::Message { content, .. } = &edited[0].body else { panic!("the item is not a message") };
    assert_eq!(content[..], [Content::Text { text: "Hello".into() }], "the edited message is visible");
    assert_eq!(reply_text(&edited[1]), "Three", "the edited message has a reply");

    talk.chat.choose_branch(CONVERSATION_ID.into(), first[1].id.clone()).await.unwrap();
    assert_eq!(reply_text(&talk.items()[1]), "One", "the first reply is retained");
    let answer = talk.chat.edit_message(
        CONVERSATION_ID.into(),
        first[1].id.clone(),
        NewMessage { text: "x".into(), ..NewMessage::default() },
    );
    assert_eq!(answer.await, Err(ConversationError::NotYours), "a reply of the model can't be edited");
    let (_, json) =
        talk.chat.export_conversation(CONVERSATION_ID.into(), chat::export::ExportFormat::Json).await.unwrap();
    let exported: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(exported["items"].as_array().map(Vec::len), Some(5), "the JSON export contains all branches");
}

#[tokio::test]
async fn invalid_user_messages_are_rejected_with_a_cause() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let send = |text: &str, model: Option<&str>| {
        let model = model.map(|provider| chat::ModelRef { provider: provider.into(), model: "m".into() });
        talk.chat.send_message(
            CONVERSATION_ID.into(),
            NewMessage { text: text.into(), model, ..NewMessage::default() },
            None,
        )
    };
    assert_eq!(send("  ", None).await, Err(ConversationError::Empty), "an empty message is refused");
    let missing = send("x", Some("gone")).await;
    assert!(
        matches!(missing, Err(ConversationError::Model(ModelError::NoProvider { .. }))),
        "a missing provider is reported: {missing:?}"
    );
    let other = talk.chat.send_message("none".into(), NewMessage { text: "x".into(), ..NewMessage::default() }, None);
    assert!(matches!(other.await, Err(ConversationError::NotFound(_))), "a missing conversation is reported");
    assert!(talk.items().is_empty(), "nothing was stored");
}

#[tokio::test]
async fn only_lossy_conversions_of_content_are_reported() {
    let mut talk = TestConversation::new(vec![text_reply("Hello.")], &[]).await;
    let rephrased = LossyConversion { what: UnsupportedFeature::ToolError, then: Conversion::SayInText };
    let lost = LossyConversion { what: UnsupportedFeature::Image, then: Conversion::LeaveOut };
    talk.model.set_losses(vec![rephrased, lost]);
    let items = talk.send_and_wait_for_reply("Hi").await;
    let ItemBody::Reply { conversions, .. } = &items[1].body else { panic!("a reply: {items:?}") };
    assert_eq!(*conversions, [lost.to_string()], "only lost content is reported");
}
