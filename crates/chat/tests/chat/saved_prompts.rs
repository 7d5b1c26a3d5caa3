//! Tests of saved system prompts: saving, renaming, deleting, and their bounds.

use chat::{ConversationError, MAX_SAVED_PROMPTS, SavedSystemPrompt};
use ports::Document;
use serde_json::json;

use super::TestConversation;

fn saved_prompt(id: &str, name: &str, text: &str) -> SavedSystemPrompt {
    SavedSystemPrompt { id: id.into(), name: name.into(), text: text.into() }
}

#[tokio::test]
async fn system_prompts_are_saved_renamed_and_deleted() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let chat = &talk.chat;
    assert_eq!(chat.saved_system_prompts().await.unwrap().prompts, [], "none is saved at first");
    chat.save_system_prompt(saved_prompt("", " Terse ", "Be brief.")).await.unwrap();
    let saved = chat.save_system_prompt(saved_prompt("", "Pirate", "Say arr.")).await.unwrap().prompts;
    let names: Vec<_> = saved.iter().map(|own| (own.name.as_str(), own.text.as_str())).collect();
    assert_eq!(
        names,
        [("Terse", "Be brief."), ("Pirate", "Say arr.")],
        "names are trimmed, the order is that of saving"
    );
    assert_ne!(saved[0].id, saved[1].id, "identifiers are unique");
    let renamed = chat.save_system_prompt(saved_prompt(&saved[0].id, "Brief", "Be brief.")).await.unwrap().prompts;
    assert_eq!((renamed.len(), renamed[0].name.as_str()), (2, "Brief"), "a known identifier replaces");
    assert_eq!(chat.saved_system_prompts().await.unwrap().prompts, renamed, "the change is stored");
    let rest = chat.remove_system_prompt(saved[0].id.clone()).await.unwrap().prompts;
    assert_eq!(rest, [saved[1].clone()], "the other one stays");
}

#[tokio::test]
async fn invalid_system_prompts_are_rejected_without_a_change() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let chat = &talk.chat;
    let saved = chat.save_system_prompt(saved_prompt("", "Terse", "Be brief.")).await.unwrap();
    for name in ["", "  ", "two\nlines", &"x".repeat(101)] {
        let refused = chat.save_system_prompt(saved_prompt("", name, "x")).await;
        assert_eq!(refused, Err(ConversationError::PromptName), "the name {name:?}");
    }
    let long = chat.save_system_prompt(saved_prompt("", "Long", &"x".repeat((32 << 10) + 1))).await;
    assert!(matches!(long, Err(ConversationError::TooLong { limit: 32, .. })), "more than 32 KiB: {long:?}");
    let again = chat.save_system_prompt(saved_prompt("", "Terse", "x")).await;
    assert_eq!(again, Err(ConversationError::PromptExists("Terse".into())), "a name is used once");
    let missing = [
        chat.save_system_prompt(saved_prompt("none", "Other", "x")).await,
        chat.remove_system_prompt("none".into()).await,
    ];
    assert!(missing.iter().all(|one| matches!(one, Err(ConversationError::NotFound(_)))), "unknown: {missing:?}");
    assert_eq!(chat.saved_system_prompts().await.unwrap(), saved, "the saved prompt is unchanged");
}

#[tokio::test]
async fn number_of_saved_system_prompts_is_bounded() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let full: Vec<_> = (0..MAX_SAVED_PROMPTS).map(|n| saved_prompt(&n.to_string(), &format!("p{n}"), "x")).collect();
    talk.app.host.ports().documents.write(Document::SystemPrompts, &json!({ "prompts": full })).unwrap();
    let more = talk.chat.save_system_prompt(saved_prompt("", "more", "x")).await;
    assert_eq!(more, Err(ConversationError::TooManyPrompts), "no more can be added");
    let renamed = talk.chat.save_system_prompt(saved_prompt("7", "seventh", "x")).await.unwrap();
    assert_eq!(renamed.prompts[7].name, "seventh", "a saved one can still be changed");
}

#[tokio::test]
async fn unreadable_system_prompts_document_is_reported_and_not_replaced() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let documents = &talk.app.host.ports().documents;
    documents.write(Document::SystemPrompts, &json!({ "prompts": "none" })).unwrap();
    let read = talk.chat.saved_system_prompts().await;
    assert!(
        matches!(&read, Err(ConversationError::Store(error)) if error.path.ends_with("system-prompts.json")),
        "{read:?}"
    );
    let saved = talk.chat.save_system_prompt(saved_prompt("", "Terse", "x")).await;
    assert!(matches!(saved, Err(ConversationError::Store(_))), "it is not replaced: {saved:?}");
    assert_eq!(documents.read(Document::SystemPrompts).unwrap(), Some(json!({ "prompts": "none" })), "it is unchanged");
}
