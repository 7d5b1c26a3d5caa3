//! What is said and answered: streamed, kept, stopped, had again, written anew.

use chat::{ConversationError, NewMessage};
use domain::item::{Append, Content, ConversationEvent, ItemBody, ItemState, MessageAttachment, ReplyStop};
use host::view::HostEvent;
use models::{Conversion, Delta, Loss, ModelError, Role, Uncarried};
use testkit::app::PATIENCE;
use testkit::model::{Step, reference};

use super::model::says;
use super::{ID, Talk, kinds, text};

#[tokio::test]
async fn an_answer_streams_and_is_kept_with_what_it_took() {
    let mut talk = Talk::new(vec![says("Hello, **you**")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    let begun = talk.chat.send_message(ID.into(), message, None).await.unwrap();
    let (mut streamed, mut seqs) = (String::new(), Vec::new());
    let until = async {
        while let Some(event) = talk.events.next().await {
            match &event.event {
                HostEvent::Conversation(ConversationEvent::ReplyDelta { item, seq, append, .. }) => {
                    assert_eq!(*item, begun.reply, "pieces of this answer");
                    seqs.push(*seq);
                    for piece in append {
                        let Append::Text { part: 0, text } = piece else { panic!("one text: {piece:?}") };
                        streamed.push_str(text);
                    }
                }
                HostEvent::Conversation(ConversationEvent::ItemChanged { answering: false, .. }) => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, until).await.expect("the answer ends");
    assert_eq!(streamed, "Hello, **you**", "the pieces come to the whole");
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "and are counted from 0");
    let items = talk.items();
    assert_eq!(kinds(&items), [("message", ItemState::Whole), ("reply", ItemState::Whole)], "both are kept");
    assert_eq!(text(&items[1]), "Hello, **you**", "the answer whole");
    let ItemBody::Reply { stop, cost, usage, first_after, error, .. } = &items[1].body else { panic!("a reply") };
    assert_eq!((stop, error), (&Some(ReplyStop::EndTurn), &None), "with its end");
    assert_eq!(usage.output, Some(100), "its tokens");
    assert_eq!(cost.as_ref().map(|cost| cost.amount), Some(0.002), "and what it cost");
    assert!(first_after.is_some(), "how long the first piece took is told");
    assert_eq!(talk.chat.answering(ID), (false, None), "nothing is under way");
    let spent = talk.chat.conversation_spent(ID.into()).await.unwrap();
    assert_eq!((spent.taken.context_used, spent.context), (Some(1_100), Some(1_000_000)), "how full the context is");
}

#[tokio::test]
async fn the_model_is_told_the_conversation_from_its_beginning() {
    let mut talk = Talk::new(vec![says("One"), says("Two")], &[]).await;
    talk.say("first").await;
    talk.say("second").await;
    let asked = talk.model.asked();
    let told: Vec<_> = asked[1].messages.iter().map(|m| (m.role, m.plain_text())).collect();
    let whole = [(Role::User, "first".into()), (Role::Assistant, "One".into()), (Role::User, "second".into())];
    assert_eq!(told, whole, "what was said, in turns");
    assert_eq!(asked[0].tools, [], "no tool is offered that the user did not turn on");
}

#[tokio::test]
async fn an_answer_is_stopped_and_what_came_stays() {
    let half = vec![Step::Says(Delta::Text("Half a ".into())), Step::Hangs];
    let mut talk = Talk::new(vec![half, says("Whole")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    talk.chat.send_message(ID.into(), message.clone(), None).await.unwrap();
    let second = talk.chat.send_message(ID.into(), message, None).await;
    assert_eq!(second, Err(ConversationError::Answering), "one answer at a time");
    let piece = async {
        while let Some(event) = talk.events.next().await {
            if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, piece).await.expect("a piece comes");
    let (answering, live) = talk.chat.answering(ID);
    let (live, seq) = live.expect("what came so far is there for a page that opens now");
    assert!(answering && text(&live) == "Half a " && seq == 1, "with the number of the next piece: {seq}");
    assert!(talk.chat.stop_reply(ID), "there is something to stop");
    let items = talk.ended().await;
    assert_eq!(kinds(&items).last(), Some(&("reply", ItemState::Cut)), "it is marked as cut");
    assert_eq!(text(&items[1]), "Half a ", "and what came is kept");
    let ItemBody::Reply { stop, .. } = &items[1].body else { panic!("a reply") };
    assert_eq!(*stop, Some(ReplyStop::Stopped), "by the user");
    assert!(!talk.chat.stop_reply(ID), "then there is nothing to stop");
    assert_eq!(text(talk.say("again").await.last().unwrap()), "Whole", "and the conversation goes on");
}

#[tokio::test]
async fn an_answer_that_was_stopped_goes_on_in_a_turn_of_its_own() {
    let half = vec![Step::Says(Delta::Text("Half a ".into())), Step::Hangs];
    let mut talk = Talk::new(vec![half, says("loaf")], &[]).await;
    let message = NewMessage { text: "Hi".into(), ..NewMessage::default() };
    talk.chat.send_message(ID.into(), message, None).await.unwrap();
    let piece = async {
        while let Some(event) = talk.events.next().await {
            if matches!(event.event, HostEvent::Conversation(ConversationEvent::ReplyDelta { .. })) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, piece).await.expect("a piece comes");
    assert!(talk.chat.stop_reply(ID), "it is stopped");
    talk.ended().await;
    let spent = talk.chat.conversation_spent(ID.into()).await.unwrap();
    assert_eq!(spent.taken.unpriced, 1, "what it took is not known, and that is told");
    talk.chat.continue_reply(ID.into()).await.unwrap();
    talk.ended().await;
    let asked = talk.model.asked();
    let told: Vec<_> = asked[1].messages.iter().map(|m| m.role).collect();
    assert_eq!(told, [Role::User, Role::Assistant, Role::User], "newer models answer only a turn of the user");
}

#[tokio::test]
async fn items_are_told_without_what_is_large_in_them() {
    let mut talk = Talk::new(vec![says("A picture")], &[]).await;
    let file = MessageAttachment::File {
        name: "a.png".into(),
        mime_type: "image/png".into(),
        data: "iVBORw0KGgoA".repeat(1_000),
    };
    let message = NewMessage { text: "Look".into(), attachments: vec![file.clone()], ..NewMessage::default() };
    let begun = talk.chat.send_message(ID.into(), message, None).await.unwrap();
    let told = async {
        while let Some(event) = talk.events.next().await {
            if let HostEvent::Conversation(ConversationEvent::ItemChanged { item, left_out, .. }) = &event.event
                && begun.message.as_ref() == Some(&item.id)
            {
                return Some((item.clone(), left_out.clone()));
            }
        }
        None
    };
    let (item, left_out) = tokio::time::timeout(PATIENCE, told).await.expect("in time").expect("the message is told");
    let ItemBody::Message { attachments, .. } = &item.body else { panic!("a message") };
    let [MessageAttachment::File { data, .. }] = &attachments[..] else { panic!("with its file") };
    assert_eq!((data.as_str(), left_out.len()), ("", 1), "without its bytes, which are told of");
    assert_eq!((left_out[0].pointer.as_str(), left_out[0].is_text), ("/attachments/0/data", false), "where they stand");
    let bytes = talk.app.host.ports().history.blob(&left_out[0].hash).unwrap();
    assert_eq!(bytes.map(|bytes| bytes.len()), Some(9_000), "they can be asked for");
    let items = talk.ended().await;
    let ItemBody::Message { attachments, .. } = &items[0].body else { panic!("a message") };
    assert_eq!(attachments[..], [file], "and are kept whole");
}

#[tokio::test]
async fn a_failure_stands_in_the_answer_with_what_to_do() {
    let cut = vec![Step::Says(Delta::Text("Half".into())), Step::Fails(ModelError::Cut)];
    let refused = vec![Step::Fails(ModelError::RateLimited { retry_after: None })];
    let mut talk = Talk::new(vec![cut, refused, Vec::new()], &[]).await;
    let problem = |items: &[domain::item::Item]| {
        let ItemBody::Reply { error, .. } = &items.last().unwrap().body else { panic!("a reply") };
        error.clone().map(|error| error.code)
    };
    let items = talk.say("one").await;
    assert_eq!((problem(&items).as_deref(), items[1].state), (Some("cut"), ItemState::Cut), "one that broke off");
    let items = talk.say("two").await;
    assert_eq!(problem(&items).as_deref(), Some("rateLimited"), "one that was refused");
    let items = talk.say("three").await;
    assert_eq!(problem(&items).as_deref(), Some("cut"), "one that ended without its end");
}

#[tokio::test]
async fn had_again_and_written_anew_are_branches_and_nothing_is_lost() {
    let mut talk = Talk::new(vec![says("One"), says("Two"), says("Three")], &[]).await;
    let first = talk.say("Hi").await;
    talk.chat.retry_reply(ID.into(), first[1].id.clone(), Some(reference("m"))).await.unwrap();
    let again = talk.ended().await;
    assert_eq!((again.len(), text(&again[1])), (2, "Two".into()), "the new answer is shown");
    assert_eq!(again[1].parent, first[1].parent, "beside the old one");
    assert_eq!(talk.model.asked()[1].messages.len(), 1, "and the model was not told the old one");

    let message = NewMessage { text: "Hello".into(), ..NewMessage::default() };
    talk.chat.edit_message(ID.into(), first[0].id.clone(), message).await.unwrap();
    let edited = talk.ended().await;
    let ItemBody::Message { content, .. } = &edited[0].body else { panic!("a message") };
    assert_eq!(content[..], [Content::Text { text: "Hello".into() }], "the new message is shown");
    assert_eq!(text(&edited[1]), "Three", "with its answer");

    talk.chat.choose_branch(ID.into(), first[1].id.clone()).await.unwrap();
    assert_eq!(text(&talk.items()[1]), "One", "and the first answer is still there");
    let answer = talk.chat.edit_message(
        ID.into(),
        first[1].id.clone(),
        NewMessage { text: "x".into(), ..NewMessage::default() },
    );
    assert_eq!(answer.await, Err(ConversationError::NotYours), "what the model said is not the user's to write");
    let (_, json) = talk.chat.export_conversation(ID.into(), chat::export::Format::Json).await.unwrap();
    let exported: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(exported["items"].as_array().map(Vec::len), Some(5), "JSON has all branches");
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_what_to_do() {
    let talk = Talk::new(Vec::new(), &[]).await;
    let send = |text: &str, model: Option<&str>| {
        let model = model.map(|provider| chat::ModelRef { provider: provider.into(), model: "m".into() });
        talk.chat.send_message(ID.into(), NewMessage { text: text.into(), model, ..NewMessage::default() }, None)
    };
    assert_eq!(send("  ", None).await, Err(ConversationError::Empty), "nothing was written");
    let gone = send("x", Some("gone")).await;
    assert!(matches!(gone, Err(ConversationError::Model(ModelError::NoProvider { .. }))), "no such provider: {gone:?}");
    let other = talk.chat.send_message("none".into(), NewMessage { text: "x".into(), ..NewMessage::default() }, None);
    assert!(matches!(other.await, Err(ConversationError::NotFound(_))), "no such conversation");
    assert!(talk.items().is_empty(), "and nothing was kept");
}

#[tokio::test]
async fn what_the_model_learns_in_other_words_is_not_said_to_be_lost() {
    let mut talk = Talk::new(vec![says("Hello.")], &[]).await;
    let rephrased = Loss { what: Uncarried::ToolError, then: Conversion::SayInText };
    let lost = Loss { what: Uncarried::Image, then: Conversion::LeaveOut };
    talk.model.lose(vec![rephrased, lost]);
    let items = talk.say("Hi").await;
    let ItemBody::Reply { conversions, .. } = &items[1].body else { panic!("a reply: {items:?}") };
    assert_eq!(*conversions, [lost.to_string()], "only what it does not get");
}
