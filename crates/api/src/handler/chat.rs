//! Commands for conversations with a model: send, edit, retry, settings and export.

use chat::{ConversationError, NewMessage, ReplyIds};

use super::{Api, saved_file_view};
use crate::data::*;
use crate::{ApiError, ErrorCode};

impl From<ConversationError> for ApiError {
    fn from(error: ConversationError) -> Self {
        let code = match &error {
            ConversationError::NotFound(_) => ErrorCode::NotFound,
            ConversationError::Answering | ConversationError::TooMany | ConversationError::Model(_) => {
                ErrorCode::NotReady
            }
            ConversationError::NoModel => ErrorCode::NoModel,
            ConversationError::Empty
            | ConversationError::TooLong { .. }
            | ConversationError::TooManyServers
            | ConversationError::Temperature
            | ConversationError::ReplyTokens
            | ConversationError::PromptName
            | ConversationError::PromptExists(_)
            | ConversationError::TooManyPrompts
            | ConversationError::Attachment(_)
            | ConversationError::NotYours
            | ConversationError::NotAnAnswer => ErrorCode::Invalid,
            ConversationError::Store(_) => ErrorCode::System,
            ConversationError::NotWritten(_) | ConversationError::Closing | ConversationError::Internal => {
                ErrorCode::Internal
            }
        };
        Self::new(code, error.to_string())
    }
}

fn new_message(text: String, attachments: Vec<MessageAttachment>, model: Option<ModelRef>) -> NewMessage {
    NewMessage { text, attachments, model }
}

fn started_reply_view(begun: ReplyIds) -> StartedReply {
    StartedReply { message: begun.message, reply: begun.reply }
}

pub(super) async fn send_message(api: &Api, r: SendMessage) -> Result<StartedReply, ApiError> {
    let message = new_message(r.text, r.attachments, r.model);
    Ok(started_reply_view(api.chat.send_message(r.conversation, message, r.parent).await?))
}

pub(super) async fn edit_message(api: &Api, r: EditMessage) -> Result<StartedReply, ApiError> {
    let message = new_message(r.text, r.attachments, r.model);
    Ok(started_reply_view(api.chat.edit_message(r.conversation, r.item, message).await?))
}

pub(super) async fn retry_reply(api: &Api, r: RetryReply) -> Result<StartedReply, ApiError> {
    Ok(started_reply_view(api.chat.retry_reply(r.conversation, r.item, r.model).await?))
}

pub(super) async fn continue_reply(api: &Api, conversation: String) -> Result<StartedReply, ApiError> {
    Ok(started_reply_view(api.chat.continue_reply(conversation).await?))
}

pub(super) fn stop_reply(api: &Api, conversation: &str) -> Result<EmptyObject, ApiError> {
    if api.chat.stop_reply(conversation) {
        Ok(EmptyObject {})
    } else {
        Err(ApiError::new(ErrorCode::NotFound, "no model is answering in this conversation"))
    }
}

pub(super) async fn set_conversation_settings(api: &Api, r: SetConversation) -> Result<EmptyObject, ApiError> {
    api.chat.set_conversation_settings(r.conversation, r.settings).await?;
    Ok(EmptyObject {})
}

pub(super) async fn list_conversation_tools(api: &Api, conversation: String) -> Result<ConversationTools, ApiError> {
    let known = api.chat.conversation_tools(conversation).await?;
    let tool = |tool: &chat::offered_tools::OfferedTool| ConversationTool {
        server: tool.server.clone(),
        tool: tool.tool.clone(),
        app: tool.app.as_ref().map(|app| app.tool.clone()),
        key: tool.key.clone(),
        tokens: tool.tokens,
        state: tool.state,
    };
    let tokens = known.offering.tokens;
    Ok(ConversationTools {
        tools: known.offering.all_tools().iter().map(tool).collect(),
        tokens,
        threshold: known.threshold,
        uses_tool_search: tokens > known.threshold,
        instructions: known.instructions,
    })
}

pub(super) async fn read_conversation_cost(api: &Api, conversation: String) -> Result<ConversationCost, ApiError> {
    let spent = api.chat.conversation_spending(conversation).await?;
    let taken = spent.usage;
    Ok(ConversationCost {
        usage: taken.usage,
        costs: taken.costs,
        unpriced: taken.unpriced,
        context_used: taken.context_used,
        context: spent.context,
    })
}

pub(super) async fn export_conversation(api: &Api, r: ExportConversation) -> Result<SavedFile, ApiError> {
    let format = match r.format {
        ExportFormat::Markdown => chat::export::ExportFormat::Markdown,
        ExportFormat::Json => chat::export::ExportFormat::Json,
    };
    let (name, text) = api.chat.export_conversation(r.conversation, format).await?;
    let saved = api.host.save_file(&name, move |file| file.write_all(text.as_bytes())).await?;
    Ok(saved_file_view(saved))
}

pub(super) async fn choose_visible_branch(api: &Api, r: ItemRef) -> Result<EmptyObject, ApiError> {
    api.chat.choose_branch(r.conversation, r.item).await?;
    Ok(EmptyObject {})
}
