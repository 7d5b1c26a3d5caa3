//! System prompts that the user saved for use in any conversation, in `system-prompts.json`. Used by the page's dialog
//! for the system prompt of a conversation.

use std::sync::Arc;

use domain::StoreError;
use ports::{Document, Documents};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ConversationError;
use super::engine::{Chat, new_item_id};
use super::error::{MAX_SAVED_PROMPT_NAME_CHARS, MAX_SAVED_PROMPTS};

/// Maximum size of the text of a saved system prompt, in bytes.
const MAX_SAVED_PROMPT_BYTES: usize = 32 << 10;

/// A system prompt that the user saved under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SavedSystemPrompt {
    /// Identifier of the saved prompt. Empty for a new one.
    pub id: String,
    /// Name of the saved prompt, written by the user. Unique among the saved prompts.
    pub name: String,
    /// Text of the saved system prompt.
    pub text: String,
}

/// All saved system prompts: the content of `system-prompts.json`, and the result of the page's commands that read or
/// change them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SavedSystemPrompts {
    /// Saved prompts, in the order in which they were first saved.
    pub prompts: Vec<SavedSystemPrompt>,
}

impl Chat {
    /// Returns the saved system prompts.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the stored prompts can't be read.
    pub async fn saved_system_prompts(&self) -> Result<SavedSystemPrompts, ConversationError> {
        let documents = Arc::clone(&self.host.ports().documents);
        let read = move || {
            let stored = documents.read(Document::SystemPrompts).map_err(ConversationError::Store)?;
            parse_saved_prompts(documents.as_ref(), stored)
        };
        tokio::task::spawn_blocking(read).await?
    }

    /// Saves a new system prompt, or replaces the one with the same identifier. Returns all saved prompts.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::PromptName`] or [`ConversationError::TooLong`] for an invalid name or text,
    /// [`ConversationError::PromptExists`] if another one has the name, [`ConversationError::TooManyPrompts`] if no
    /// more can be added, [`ConversationError::NotFound`] if none has the identifier, and [`ConversationError::Store`]
    /// if the stored prompts can't be read or written.
    pub async fn save_system_prompt(
        &self,
        mut prompt: SavedSystemPrompt,
    ) -> Result<SavedSystemPrompts, ConversationError> {
        prompt.name = prompt.name.trim().to_owned();
        let is_name = (1..=MAX_SAVED_PROMPT_NAME_CHARS).contains(&prompt.name.chars().count());
        if !is_name || prompt.name.chars().any(char::is_control) {
            return Err(ConversationError::PromptName);
        }
        if prompt.text.len() > MAX_SAVED_PROMPT_BYTES {
            return Err(ConversationError::TooLong {
                what: "a saved system prompt",
                limit: MAX_SAVED_PROMPT_BYTES >> 10,
            });
        }
        self.change_stored_saved_prompts(move |saved| insert_or_replace_saved_prompt(saved, &prompt)).await
    }

    /// Deletes a saved system prompt. Returns the remaining ones.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if none has the identifier, and [`ConversationError::Store`] if the
    /// stored prompts can't be read or written.
    pub async fn remove_system_prompt(&self, id: String) -> Result<SavedSystemPrompts, ConversationError> {
        let remove = move |saved: &mut SavedSystemPrompts| {
            let before = saved.prompts.len();
            saved.prompts.retain(|own| own.id != id);
            if saved.prompts.len() == before { Err(saved_prompt_not_found_error()) } else { Ok(()) }
        };
        self.change_stored_saved_prompts(remove).await
    }

    /// Applies a change to the current prompts in `system-prompts.json`, which another process may have written.
    /// Returns all prompts.
    async fn change_stored_saved_prompts(
        &self,
        change: impl Fn(&mut SavedSystemPrompts) -> Result<(), ConversationError> + Send + 'static,
    ) -> Result<SavedSystemPrompts, ConversationError> {
        let documents = Arc::clone(&self.host.ports().documents);
        let write = move || {
            let mut changed = Ok(SavedSystemPrompts::default());
            let written = documents.update(Document::SystemPrompts, &mut |stored| {
                changed = parse_saved_prompts(documents.as_ref(), stored.clone()).and_then(|mut saved| {
                    change(&mut saved)?;
                    Ok(saved)
                });
                match &changed {
                    Ok(saved) => json!(saved),
                    Err(_) => stored.unwrap_or_else(|| json!(SavedSystemPrompts::default())),
                }
            });
            written.map_err(ConversationError::Store)?;
            changed
        };
        tokio::task::spawn_blocking(write).await?
    }
}

/// Parses the content of `system-prompts.json`. Unknown content is an error, so that it is not overwritten.
fn parse_saved_prompts(
    documents: &dyn Documents,
    stored: Option<Value>,
) -> Result<SavedSystemPrompts, ConversationError> {
    let Some(stored) = stored else { return Ok(SavedSystemPrompts::default()) };
    serde_json::from_value(stored).map_err(|error| {
        let path = documents.path().join(Document::SystemPrompts.file_name());
        ConversationError::Store(StoreError { path: path.display().to_string(), cause: error.to_string() })
    })
}

/// Replaces the prompt in `saved` that has the same identifier. Appends a prompt without identifier, and gives it a new
/// one.
fn insert_or_replace_saved_prompt(
    saved: &mut SavedSystemPrompts,
    prompt: &SavedSystemPrompt,
) -> Result<(), ConversationError> {
    if saved.prompts.iter().any(|own| own.id != prompt.id && own.name == prompt.name) {
        return Err(ConversationError::PromptExists(prompt.name.clone()));
    }
    if !prompt.id.is_empty() {
        let own = saved.prompts.iter_mut().find(|own| own.id == prompt.id).ok_or_else(saved_prompt_not_found_error)?;
        own.clone_from(prompt);
        return Ok(());
    }
    if saved.prompts.len() >= MAX_SAVED_PROMPTS {
        return Err(ConversationError::TooManyPrompts);
    }
    saved.prompts.push(SavedSystemPrompt { id: new_item_id(), ..prompt.clone() });
    Ok(())
}

fn saved_prompt_not_found_error() -> ConversationError {
    ConversationError::NotFound("saved system prompt".to_owned())
}
