//! Conversations with a model: what is said, answered, set up and written to a file.

use chat::export::Format;
use chat::{Begun, ConversationError, NewMessage};

use super::{Api, saved_file};
use crate::data::*;
use crate::{ApiError, ErrorCode};

impl From<ConversationError> for ApiError {
    fn from(error: ConversationError) -> Self {
        let code = match &error {
            ConversationError::NotFound(_) => ErrorCode::NotFound,
            ConversationError::Answering
            | ConversationError::TooMany
            | ConversationError::NoModel
            | ConversationError::Model(_) => ErrorCode::NotReady,
            ConversationError::Empty
            | ConversationError::TooLong { .. }
            | ConversationError::TooManyServers
            | ConversationError::Attachment(_)
            | ConversationError::NotYours
            | ConversationError::NotAnAnswer => ErrorCode::Invalid,
            ConversationError::Store(_) => ErrorCode::System,
            ConversationError::NotWritten(_) | ConversationError::Closing => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

fn message(text: String, attachments: Vec<MessageAttachment>, model: Option<ModelRef>) -> NewMessage {
    NewMessage { text, attachments, model }
}

fn begun(begun: Begun) -> ReplyBegun {
    ReplyBegun { message: begun.message, reply: begun.reply }
}

impl Api {
    pub(super) async fn send_message(&self, r: SendMessage) -> Result<ReplyBegun, ApiError> {
        let message = message(r.text, r.attachments, r.model);
        Ok(begun(self.chat.send_message(r.conversation, message, r.parent).await?))
    }

    pub(super) async fn edit_message(&self, r: EditMessage) -> Result<ReplyBegun, ApiError> {
        let message = message(r.text, r.attachments, r.model);
        Ok(begun(self.chat.edit_message(r.conversation, r.item, message).await?))
    }

    pub(super) async fn retry_reply(&self, r: RetryReply) -> Result<ReplyBegun, ApiError> {
        Ok(begun(self.chat.retry_reply(r.conversation, r.item, r.model).await?))
    }

    pub(super) async fn continue_reply(&self, conversation: String) -> Result<ReplyBegun, ApiError> {
        Ok(begun(self.chat.continue_reply(conversation).await?))
    }

    pub(super) fn stop_reply(&self, conversation: &str) -> Result<Nothing, ApiError> {
        if self.chat.stop_reply(conversation) {
            Ok(Nothing {})
        } else {
            Err(ApiError::new(ErrorCode::NotFound, "no model is answering in this conversation"))
        }
    }

    pub(super) async fn set_conversation(&self, r: SetConversation) -> Result<Nothing, ApiError> {
        self.chat.set_conversation(r.conversation, r.settings).await?;
        Ok(Nothing {})
    }

    pub(super) async fn conversation_tools(&self, conversation: String) -> Result<ConversationTools, ApiError> {
        let known = self.chat.conversation_tools(conversation).await?;
        let tool = |tool: &chat::offered::OfferedTool| ConversationTool {
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            key: tool.key.clone(),
            tokens: tool.tokens,
            state: tool.state,
        };
        let tokens = known.offering.tokens;
        Ok(ConversationTools {
            tools: known.offering.all().iter().map(tool).collect(),
            tokens,
            threshold: known.threshold,
            by_search: tokens > known.threshold,
            instructions: known.instructions,
        })
    }

    pub(super) async fn conversation_cost(&self, conversation: String) -> Result<ConversationCost, ApiError> {
        let spent = self.chat.conversation_spent(conversation).await?;
        let taken = spent.taken;
        Ok(ConversationCost {
            usage: taken.usage,
            costs: taken.costs,
            unpriced: taken.unpriced,
            context_used: taken.context_used,
            context: spent.context,
        })
    }

    pub(super) async fn export_conversation(&self, r: ExportConversation) -> Result<SavedFile, ApiError> {
        let format = match r.format {
            ExportFormat::Markdown => Format::Markdown,
            ExportFormat::Json => Format::Json,
        };
        let (name, text) = self.chat.export_conversation(r.conversation, format).await?;
        let saved = self.host.save_file(&name, move |file| file.write_all(text.as_bytes())).await?;
        Ok(saved_file(saved))
    }

    pub(super) async fn choose_branch(&self, r: ItemRef) -> Result<Nothing, ApiError> {
        self.chat.choose_branch(r.conversation, r.item).await?;
        Ok(Nothing {})
    }
}
