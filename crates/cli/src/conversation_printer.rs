//! Prints a conversation with a model while its events arrive.

use api::data::{ConversationItem, ItemBody, ItemState, Notice, ReplyAppend, ReplyPart};
use api::{ErrorCode, Event};
use tokio::sync::mpsc;

use crate::failure::CommandFailure;
use crate::output::{Output, to_json_value};
use crate::terminal_escape;

/// Maximum number of replies that have ended and whose results the command has not received yet. The command sends the
/// next message only after it has received the result of the previous reply.
const MAX_PENDING_REPLY_RESULTS: usize = 8;

/// Result of a model's reply: its text and the reason for its end, or the failure.
pub(crate) type ReplyResult = Result<(String, ReplyEndReason), CommandFailure>;

/// Reason for which a reply of the model ended.
pub(crate) enum ReplyEndReason {
    Done,
    /// The model reached this maximum number of consecutive rounds of tool calls. It continues if the user agrees.
    RoundLimit(u32),
}

/// Prints the replies of a conversation as they stream.
pub(crate) struct ConversationPrinter {
    conversation: String,
    printed: PrintedReply,
    ended: mpsc::Sender<ReplyResult>,
}

impl ConversationPrinter {
    pub(crate) fn new(conversation: String) -> (Self, mpsc::Receiver<ReplyResult>) {
        let (ended, ends) = mpsc::channel(MAX_PENDING_REPLY_RESULTS);
        (Self { conversation, printed: PrintedReply::default(), ended }, ends)
    }

    /// Prints the part of the model's reply that an event contains.
    pub(crate) fn print_event(&mut self, event: &Event, output: &Output) {
        let ended = match event {
            Event::ReplyDelta { conversation, append, .. } if *conversation == self.conversation => {
                for piece in append {
                    if let ReplyAppend::Text { text, .. } = piece {
                        output.print_text_fragment(&terminal_escape::escape_lines(text));
                        self.printed.is_line_open = true;
                    }
                }
                return;
            }
            Event::ItemChanged { conversation, item, answering } if *conversation == self.conversation => {
                match self.printed.print_item(output, item) {
                    Ok(()) if *answering => return,
                    Ok(()) => {
                        let end = match *item.body {
                            ItemBody::Notice { notice: Notice::Rounds { rounds } } => {
                                ReplyEndReason::RoundLimit(rounds)
                            }
                            _ => ReplyEndReason::Done,
                        };
                        Ok((std::mem::take(&mut self.printed).text, end))
                    }
                    Err(failure) => {
                        self.printed = PrintedReply::default();
                        Err(failure)
                    }
                }
            }
            _ => return,
        };
        // The receiver is dropped if the command has ended.
        let _ = self.ended.try_send(ended);
    }
}

/// Part of a model's reply that has been printed so far.
#[derive(Default)]
struct PrintedReply {
    /// `true` if the last line that was printed is not ended by a line break yet.
    is_line_open: bool,
    /// Complete text of the reply so far.
    text: String,
}

impl PrintedReply {
    fn print_item(&mut self, output: &Output, item: &ConversationItem) -> Result<(), CommandFailure> {
        let streams = item.state == Some(ItemState::Streaming);
        match &*item.body {
            ItemBody::Reply { parts, error, conversions, .. } if !streams => {
                self.end_line(output);
                for part in parts {
                    if let ReplyPart::Text { text } = part {
                        self.text.push_str(text);
                    }
                }
                for words in conversions {
                    output.print_message(&terminal_escape::escape_line(&format!("({words})")));
                }
                if let Some(error) = error {
                    let code = error.code.name().to_owned();
                    return Err(CommandFailure {
                        code,
                        ..CommandFailure::new(ErrorCode::Server, error.message.clone())
                    });
                }
            }
            ItemBody::ToolCall { server, tool, arguments, .. } if streams => {
                self.end_line(output);
                output.print_message(&terminal_escape::escape_line(&format!("→ {server} {tool} {arguments}")));
            }
            ItemBody::ToolCall { server, tool, result, error, duration_milliseconds, waited_milliseconds, .. } => {
                let ended = match (result, error) {
                    (Some(result), _) if result.is_error => String::from("the tool reported an error"),
                    (Some(_), _) => String::from("done"),
                    (None, Some(error)) => error.clone(),
                    (None, None) => String::from("cut"),
                };
                let own_milliseconds = duration_milliseconds.saturating_sub(waited_milliseconds.unwrap_or_default());
                output.print_message(&terminal_escape::escape_line(&format!(
                    "← {server} {tool}: {ended} ({own_milliseconds} ms)"
                )));
            }
            ItemBody::OwnTool { used, arguments, .. } => {
                self.end_line(output);
                output.print_message(&terminal_escape::escape_line(&format!(
                    "→ {} {}",
                    used.tool_key,
                    to_json_value(arguments)
                )));
            }
            ItemBody::Notice { notice: Notice::Rounds { rounds } } => {
                self.end_line(output);
                output.print_message(&format!("The model called tools {rounds} times in a row and was stopped."));
            }
            _ => {}
        }
        Ok(())
    }

    fn end_line(&mut self, output: &Output) {
        if std::mem::take(&mut self.is_line_open) {
            output.print_text_fragment("\n");
        }
    }
}
