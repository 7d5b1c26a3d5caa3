//! The `chat` command: a conversation with a model on a terminal or in a script. Replies are printed as they stream,
//! and tool calls require the same decisions as in other commands.

use api::data::{
    ConversationRef, ConversationSettings, ModelRef, NewConversation, OfferedServer, SendMessage, SetConversation,
    ToolState,
};
use api::{ErrorCode, Handler as _};
use serde_json::{Value, json};

use crate::arguments::ChatArguments;
use crate::conversation_printer::ReplyEndReason;
use crate::failure::CommandFailure;
use crate::session::CommandSession;
use crate::terminal_escape;

/// Maximum length, in characters, of a conversation title that is taken from the first message.
const MAX_CONVERSATION_TITLE_CHARS: usize = 60;

/// Sends one message to the model, or every line of standard input until its end, and prints the replies.
pub(crate) async fn run(session: &CommandSession, chat: ChatArguments) -> Result<Value, CommandFailure> {
    let known = session.resolve_server_names(None).await?;
    for server in &chat.server {
        if !known.contains(server) {
            session.resolve_server_names(Some(server)).await?;
        }
        session.start_server_and_wait(server).await?;
    }
    let model = find_model_named_in_option(session, chat.model.as_deref()).await?;
    let goes_on = chat.message.is_none();
    let first = match chat.message {
        Some(message) => Some(message),
        None => read_message_from_input(session).await,
    };
    let Some(first) = first else {
        return Err(CommandFailure::usage_error("no message to send: use --message, or type one"));
    };
    let title: String = first.lines().next().unwrap_or_default().chars().take(MAX_CONVERSATION_TITLE_CHARS).collect();
    let conversation = session.api.create_conversation(NewConversation { title }).await?.id;
    let mut settings = ConversationSettings {
        model: Some(model),
        system_prompt: chat.system.unwrap_or_default(),
        servers: chat
            .server
            .into_iter()
            .map(|server| OfferedServer { server, tools: None, instructions: None })
            .collect(),
        ..ConversationSettings::default()
    };
    let of = || ConversationRef { conversation: conversation.clone() };
    let mut answers = session.start_printing_replies(&conversation);
    let set = |settings| SetConversation { conversation: conversation.clone(), settings };
    session.api.set_conversation(set(settings.clone())).await?;
    if chat.instructions {
        for instructions in session.api.list_conversation_tools(of()).await?.instructions {
            session.output.print_message(&terminal_escape::escape_line(&format!(
                "instructions of {} for the model: {}",
                instructions.server, instructions.text
            )));
            for own in settings.servers.iter_mut().filter(|own| own.server == instructions.server) {
                own.instructions = Some(instructions.hash.clone());
            }
        }
        session.api.set_conversation(set(settings)).await?;
    }
    report_omitted_tools(session, &conversation).await?;
    let mut next = Some(first);
    let mut last = Ok(Value::Null);
    while let Some(text) = next.take() {
        let mut instead = None;
        let answered = async {
            let message = SendMessage {
                conversation: conversation.clone(),
                text,
                attachments: Vec::new(),
                model: None,
                parent: None,
            };
            let mut begun = session.api.send_message(message).await?;
            loop {
                let ended = answers.recv().await;
                let (text, end) = ended.ok_or_else(|| CommandFailure::new(ErrorCode::Internal, "the host ended"))??;
                let result = json!({ "conversation": conversation, "reply": begun.reply, "text": text });
                let ReplyEndReason::RoundLimit(rounds) = end else { return Ok(result) };
                if !goes_on {
                    let words = format!("the model called tools {rounds} times in a row and was stopped");
                    return Err(CommandFailure {
                        value: Some(Box::new(result)),
                        ..CommandFailure::new(ErrorCode::NotReady, words)
                    });
                }
                session.output.print_message("Continue? Enter y, or another message.");
                instead = read_message_from_input(session).await;
                if instead.take_if(|line| matches!(line.trim(), "y" | "yes")).is_none() {
                    return Ok(result);
                }
                begun = session.api.continue_reply(of()).await?;
            }
        };
        last = answered.await;
        if goes_on {
            // A failed reply, for example because of a rate limit, does not end the conversation.
            if let Err(failure) = &last {
                session.output.print_message(&terminal_escape::escape_line(&failure.message));
            }
            next = match instead {
                Some(line) => Some(line),
                None => read_message_from_input(session).await,
            };
        }
    }
    last
}

/// Reads the next message from standard input, or returns `None` at its end.
async fn read_message_from_input(session: &CommandSession) -> Option<String> {
    loop {
        session.output.print_prompt("> ");
        let line = session.input.next_line().await?;
        if !line.trim().is_empty() {
            return Some(line);
        }
    }
}

/// Returns the model that the command line option `named` refers to: `provider/model`, or only the name of a model if a
/// single provider has it.
async fn find_model_named_in_option(session: &CommandSession, named: Option<&str>) -> Result<ModelRef, CommandFailure> {
    let registry = session.api.host().provider_registry().await.map_err(api::ApiError::from)?;
    let shown = |(model, _): (chat::ModelRef, _)| format!("{}/{}", model.provider, model.model);
    let known: Vec<String> = registry.all_models().map(shown).collect();
    let Some(named) = named else {
        let default = session.api.host().default_model().await.map_err(api::ApiError::from)?;
        return default.map(|model| ModelRef { provider: model.provider, model: model.model }).ok_or_else(|| {
            let words = if known.is_empty() { String::from("none is known yet") } else { known.join(", ") };
            CommandFailure::usage_error(format!("name a model with --model PROVIDER/MODEL: {words}"))
        });
    };
    if let Some((provider, model)) = named.split_once('/')
        && registry.provider(provider).is_ok()
    {
        return Ok(ModelRef { provider: provider.to_owned(), model: model.to_owned() });
    }
    let mut fitting = registry.all_models().filter(|(model, _)| model.model == named).map(|(model, _)| model);
    match (fitting.next(), fitting.next()) {
        (Some(model), None) => Ok(ModelRef { provider: model.provider, model: model.model }),
        (Some(_), Some(_)) => {
            Err(CommandFailure::usage_error(format!("several providers have {named:?}: use PROVIDER/{named}")))
        }
        (None, _) => {
            let providers: Vec<&str> = registry.providers().collect();
            let words = if providers.is_empty() {
                String::from("no provider is set up; add one with \"drawbridge-cli models add\"")
            } else {
                format!("the providers are {}, and their known models {}", providers.join(", "), known.join(", "))
            };
            Err(CommandFailure::new(ErrorCode::NotFound, format!("there is no model {named:?}: {words}")))
        }
    }
}

/// Prints those tools of the conversation's servers that are not offered to the model, each with the reason.
async fn report_omitted_tools(session: &CommandSession, conversation: &str) -> Result<(), CommandFailure> {
    let known = session.api.list_conversation_tools(ConversationRef { conversation: conversation.to_owned() }).await?;
    let omitted: Vec<&str> = known
        .tools
        .iter()
        .filter(|tool| matches!(tool.state, ToolState::New | ToolState::Changed))
        .map(|tool| tool.server.as_str())
        .collect();
    let mut servers = omitted.clone();
    servers.dedup();
    for server in servers {
        let count = omitted.iter().filter(|other| **other == server).count();
        let words = format!(
            "{server}: {count} tools are not offered, because you have not reviewed them; see \"drawbridge-cli review {server}\""
        );
        session.output.print_event("note", json!({ "server": server, "message": words }));
        session.output.print_message(&terminal_escape::escape_line(&words));
    }
    if known.uses_tool_search {
        session.output.print_message("There are many tools, so the model searches for them.");
    }
    Ok(())
}
