//! A conversation as it is printed, event by event.

use api::data::{Append, ConversationItem, ItemBody, ItemState, Notice, ReplyPart};
use api::{ErrorCode, Event};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::output::{Output, value};
use crate::visible;

/// The most ends of answers that wait to be looked at. The next answer begins when somebody has looked at the one before.
const MAX_ENDS: usize = 8;

/// How an answer ended, with its text.
pub(crate) type Ended = Result<(String, End), Failure>;

/// How an answer ended.
pub(crate) enum End {
    Done,
    /// The model called tools so many times in a row; it goes on if the user says so.
    Rounds(u32),
}

/// Prints the answers of one conversation as they come.
pub(crate) struct Talk {
    conversation: String,
    printed: Printed,
    ended: mpsc::Sender<Ended>,
}

impl Talk {
    pub(crate) fn new(conversation: String) -> (Self, mpsc::Receiver<Ended>) {
        let (ended, ends) = mpsc::channel(MAX_ENDS);
        (Self { conversation, printed: Printed::default(), ended }, ends)
    }

    /// Prints what an event says of it.
    pub(crate) fn event(&mut self, event: &Event, output: &Output) {
        let ended = match event {
            Event::ReplyDelta { conversation, append, .. } if *conversation == self.conversation => {
                for piece in append {
                    if let Append::Text { text, .. } = piece {
                        output.piece(&visible::lines(text));
                        self.printed.has_text = true;
                    }
                }
                return;
            }
            Event::ItemChanged { conversation, item, answering } if *conversation == self.conversation => {
                match self.printed.item(output, item) {
                    Ok(()) if *answering => return,
                    Ok(()) => {
                        let end = match *item.body {
                            ItemBody::Notice { notice: Notice::Rounds { rounds } } => End::Rounds(rounds),
                            _ => End::Done,
                        };
                        Ok((std::mem::take(&mut self.printed).text, end))
                    }
                    Err(failure) => {
                        self.printed = Printed::default();
                        Err(failure)
                    }
                }
            }
            _ => return,
        };
        // Whoever has the conversation may be gone.
        let _ = self.ended.try_send(ended);
    }
}

/// What was printed of an answer.
#[derive(Default)]
struct Printed {
    /// Whether the last line has no end yet.
    has_text: bool,
    /// All text.
    text: String,
}

impl Printed {
    fn item(&mut self, output: &Output, item: &ConversationItem) -> Result<(), Failure> {
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
                    output.say(&visible::line(&format!("({words})")));
                }
                if let Some(error) = error {
                    let code = error.code.name().to_owned();
                    return Err(Failure { code, ..Failure::new(ErrorCode::Server, error.message.clone()) });
                }
            }
            ItemBody::ToolCall { server, tool, arguments, .. } if streams => {
                self.end_line(output);
                output.say(&visible::line(&format!("→ {server} {tool} {arguments}")));
            }
            ItemBody::ToolCall { server, tool, result, error, took, .. } => {
                let ended = match (result, error) {
                    (Some(result), _) if result.is_error => String::from("the tool says that it failed"),
                    (Some(_), _) => String::from("done"),
                    (None, Some(error)) => error.clone(),
                    (None, None) => String::from("cut"),
                };
                output.say(&visible::line(&format!("← {server} {tool}: {ended} ({took} ms)")));
            }
            ItemBody::OwnTool { used, arguments, .. } => {
                self.end_line(output);
                output.say(&visible::line(&format!("→ {} {}", used.key, value(arguments))));
            }
            ItemBody::Notice { notice: Notice::Rounds { rounds } } => {
                self.end_line(output);
                output.say(&format!("The model called tools {rounds} times in a row and was stopped."));
            }
            _ => {}
        }
        Ok(())
    }

    fn end_line(&mut self, output: &Output) {
        if std::mem::take(&mut self.has_text) {
            output.piece("\n");
        }
    }
}
