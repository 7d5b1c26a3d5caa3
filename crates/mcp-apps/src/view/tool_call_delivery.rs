//! Sends the input and the result of the tool call that the view shows to the page, in the order that the specification
//! requires.

use mcp_proto::types::Map;
use serde_json::Value;

use super::{View, single_member_object};

/// State of the tool call's delivery to the app page, and messages that wait until the page is initialized.
#[derive(Debug, Default)]
pub(super) struct ToolCallDelivery {
    stage: ToolCallStage,
    partial: Option<Map>,
    input: Option<Map>,
    end: Option<ToolCallOutcome>,
}

/// Progress of the tool call, by the parts that the host has provided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ToolCallStage {
    #[default]
    BeforeInput,
    BeforeResult,
    Ended,
}

/// Outcome of the tool call.
#[derive(Debug)]
enum ToolCallOutcome {
    Result(Map),
    Cancelled(Option<String>),
}

/// Error for a tool input or result that the specification does not allow at this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ToolMessageOrderError {
    /// The host has already provided the complete input.
    #[error("the complete input was provided before")]
    InputComplete,
    /// The host must provide the complete input before the result.
    #[error("the complete input was not provided yet")]
    InputMissing,
    /// The tool call has ended.
    #[error("the tool call has ended")]
    CallEnded,
}

impl View {
    /// Sends the incomplete arguments of a tool call that a model is still generating. Before the app page is
    /// initialized, only the latest ones are retained.
    ///
    /// # Errors
    ///
    /// Returns [`ToolMessageOrderError::InputComplete`] or [`ToolMessageOrderError::CallEnded`] if the complete input
    /// was provided or the call has ended.
    pub fn send_partial_tool_input(&mut self, arguments: Map) -> Result<(), ToolMessageOrderError> {
        self.delivery.require_tool_input_incomplete()?;
        self.delivery.partial = Some(arguments);
        self.send_retained_tool_messages();
        Ok(())
    }

    /// Sends the complete arguments of the tool call to the app page, `{}` for a call without arguments.
    ///
    /// # Errors
    ///
    /// Returns [`ToolMessageOrderError::InputComplete`] if they were provided before, and
    /// [`ToolMessageOrderError::CallEnded`] after the end of the call.
    pub fn send_tool_input(&mut self, arguments: Option<Map>) -> Result<(), ToolMessageOrderError> {
        self.delivery.require_tool_input_incomplete()?;
        self.delivery.partial = None;
        self.delivery.input = Some(arguments.unwrap_or_default());
        self.delivery.stage = ToolCallStage::BeforeResult;
        self.send_retained_tool_messages();
        Ok(())
    }

    /// Sends the result of the tool call to the app page, with all its members.
    ///
    /// # Errors
    ///
    /// Returns [`ToolMessageOrderError::InputMissing`] before the input, and [`ToolMessageOrderError::CallEnded`] after
    /// the end of the call.
    pub fn send_tool_result(&mut self, mut result: Map) -> Result<(), ToolMessageOrderError> {
        match self.delivery.stage {
            ToolCallStage::BeforeInput => return Err(ToolMessageOrderError::InputMissing),
            ToolCallStage::Ended => return Err(ToolMessageOrderError::CallEnded),
            ToolCallStage::BeforeResult => {}
        }
        // Pages require the member `content`, and some servers omit it if they send structured content.
        if !result.get("content").is_some_and(Value::is_array) {
            result.insert("content".to_owned(), Value::Array(Vec::new()));
        }
        self.delivery.end = Some(ToolCallOutcome::Result(result));
        self.delivery.stage = ToolCallStage::Ended;
        self.send_retained_tool_messages();
        Ok(())
    }

    /// Notifies the app page that the tool call was cancelled or refused, for any reason.
    ///
    /// # Errors
    ///
    /// Returns [`ToolMessageOrderError::CallEnded`] after the end of the call.
    pub fn send_tool_cancelled(&mut self, reason: Option<String>) -> Result<(), ToolMessageOrderError> {
        if self.delivery.stage == ToolCallStage::Ended {
            return Err(ToolMessageOrderError::CallEnded);
        }
        self.delivery.partial = None;
        self.delivery.end = Some(ToolCallOutcome::Cancelled(reason));
        self.delivery.stage = ToolCallStage::Ended;
        self.send_retained_tool_messages();
        Ok(())
    }

    /// Sends the retained tool messages if the app page is initialized.
    pub(super) fn send_retained_tool_messages(&mut self) {
        if !self.can_send_to_page() {
            return;
        }
        if let Some(arguments) = self.delivery.partial.take() {
            self.send_notification("ui/notifications/tool-input-partial", single_member_object("arguments", arguments));
        }
        if let Some(arguments) = self.delivery.input.take() {
            self.send_notification("ui/notifications/tool-input", single_member_object("arguments", arguments));
        }
        match self.delivery.end.take() {
            Some(ToolCallOutcome::Result(result)) => self.send_notification("ui/notifications/tool-result", result),
            Some(ToolCallOutcome::Cancelled(reason)) => {
                let params = reason.map(|reason| single_member_object("reason", reason)).unwrap_or_default();
                self.send_notification("ui/notifications/tool-cancelled", params);
            }
            None => {}
        }
    }
}

impl ToolCallDelivery {
    const fn require_tool_input_incomplete(&self) -> Result<(), ToolMessageOrderError> {
        match self.stage {
            ToolCallStage::BeforeInput => Ok(()),
            ToolCallStage::BeforeResult => Err(ToolMessageOrderError::InputComplete),
            ToolCallStage::Ended => Err(ToolMessageOrderError::CallEnded),
        }
    }
}
