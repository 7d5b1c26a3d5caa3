//! Requests of servers to a model: in words, and how much of the user's models a server may use.

use api::Handler as _;
use api::data::{
    Content, ModelChosenBy, QuestionBody, SamplingModel, SamplingReport, SamplingRequest, SamplingResponse,
    SamplingRun, ServerName, SetSampling,
};
use serde_json::Value;

use crate::arguments::Sampling;
use crate::describe::content_words;
use crate::failure::Failure;
use crate::output::value;
use crate::session::Session;
use crate::visible::{block, line, pretty};

/// What a server wrote.
const BAR: &str = "  │ ";

/// Shows how much a server may use, and sets it.
pub(crate) async fn run(session: &Session, what: Sampling) -> Result<Value, Failure> {
    let server = what.server.clone();
    let mut settings = session.api.sampling(ServerName { server: server.clone() }).await?.settings;
    let before = settings.clone();
    settings.on = (settings.on || what.on) && !what.off;
    settings.tools = what.tools.unwrap_or(settings.tools);
    settings.max_tokens = what.max_tokens.unwrap_or(settings.max_tokens);
    let bound = |given: Option<u64>, own: Option<u64>| given.map_or(own, |given| Some(given).filter(|n| *n > 0));
    settings.per_hour.requests = bound(what.requests_per_hour, settings.per_hour.requests);
    settings.per_hour.tokens = bound(what.tokens_per_hour, settings.per_hour.tokens);
    if settings != before {
        session.api.set_sampling(SetSampling { server: server.clone(), settings }).await?;
    }
    let report = session.api.sampling(ServerName { server: server.clone() }).await?;
    session.output.text(&words(&server, &report));
    Ok(value(&report))
}

fn words(server: &str, report: &SamplingReport) -> String {
    let server = line(server);
    if !report.settings.on {
        return format!("{server} may not ask your models. Turn it on with --on.\n");
    }
    let tools = if report.settings.tools { "with tools" } else { "without tools" };
    let mut text = format!(
        "{server} may ask your models, {tools}, for answers of at most {} tokens.\n",
        report.settings.max_tokens
    );
    for (span, limits, spent) in [
        ("within the hour", &report.settings.per_hour, &report.within_hour),
        ("in all", &report.settings.in_all, &report.in_all),
    ] {
        text.push_str(&format!(
            "  {span}: {} requests{}, {} tokens{}, {}{}\n",
            spent.requests,
            of(limits.requests),
            spent.tokens,
            of(limits.tokens),
            dollars(spent.micros),
            limits.micros.map(|most| format!(" of {}", dollars(most))).unwrap_or_default(),
        ));
    }
    if report.stopped.is_some() {
        text.push_str("  It has reached a limit: what it asks is refused.\n");
    }
    text
}

fn of(most: Option<u64>) -> String {
    most.map(|most| format!(" of {most}")).unwrap_or_default()
}

fn dollars(micros: u64) -> String {
    format!("{}.{:06} US dollars", micros / 1_000_000, micros % 1_000_000)
}

/// A question about a request to a model.
pub(crate) fn question(server: &str, body: &QuestionBody) -> String {
    let QuestionBody::Sampling { request, response, model, wanted_tokens, losses, run, .. } = body else {
        return String::new();
    };
    let mut text = String::new();
    match (response, model) {
        (Some(response), Some(_)) if !response.content.is_empty() => {
            text.push_str(&format!("── The answer to {server}:\n{}", self::response(response)));
        }
        (Some(_), _) => text.push_str(&format!("── Your answer to {server}:\n")),
        (None, None) => {
            text.push_str(&format!("── {server} asks a model. Answer it yourself?\n{}", asked(request)));
        }
        (None, Some(model)) => {
            text.push_str(&format!("── {server} asks a model. {}\n{}", chosen(model), asked(request)));
        }
    }
    if *wanted_tokens > request.max_tokens && response.is_none() {
        text.push_str(&format!("  it wanted {wanted_tokens} tokens and gets no more than {}\n", request.max_tokens));
    }
    for loss in losses {
        text.push_str(&format!("  the provider can't carry {}: {}\n", line(&loss.what), line(&loss.then)));
    }
    match run {
        SamplingRun::Failed { message, .. } => {
            text.push_str(&format!("  THE MODEL DID NOT ANSWER: {}\n", line(message)));
        }
        SamplingRun::Done { input_tokens, output_tokens, micros, no_tool_used } => {
            let tokens = |n: &Option<u64>| n.map_or_else(|| String::from("?"), |n| n.to_string());
            text.push_str(&format!("  it took {} + {} tokens", tokens(input_tokens), tokens(output_tokens)));
            text.push_str(&micros.map(|micros| format!(", {}", dollars(micros))).unwrap_or_default());
            text.push('\n');
            if *no_tool_used {
                text.push_str("  the server wants a tool to be used, and the model used none\n");
            }
        }
        SamplingRun::No | SamplingRun::Running { .. } | SamplingRun::Stopped => {}
    }
    text
}

fn chosen(SamplingModel { model, by, most_micros, .. }: &SamplingModel) -> String {
    let why = match by {
        ModelChosenBy::User => String::from("you chose it"),
        ModelChosenBy::Setting => String::from("you chose it for this server"),
        ModelChosenBy::Hint { hint } => format!("the server would like \"{}\"", line(hint)),
        ModelChosenBy::Equivalent { hint } => {
            format!("it is most like \"{}\", which the server would like", line(hint))
        }
        ModelChosenBy::Priorities { priorities } => format!("what matters to the server: {}", priorities.join(", ")),
        ModelChosenBy::Default => String::from("your default"),
        ModelChosenBy::First => String::from("the most able one, as far as is known"),
    };
    let cost = most_micros.map(|most| format!(", at most {}", dollars(most))).unwrap_or_default();
    format!("{}/{} would answer ({why}{cost}).", line(&model.provider), line(&model.model))
}

fn asked(request: &SamplingRequest) -> String {
    let mut text = String::new();
    if let Some(system) = &request.system_prompt {
        text.push_str(&format!("  system prompt:\n{}", block(system, BAR)));
    }
    for message in &request.messages {
        let role = value(&message.role);
        text.push_str(&format!("  {}:\n", role.as_str().unwrap_or_default()));
        for content in &message.content {
            text.push_str(&block(&content_words(content), BAR));
        }
    }
    for tool in &request.tools {
        text.push_str(&format!("  a tool of its own, {}:\n", line(&tool.name)));
        text.push_str(&block(tool.description.as_deref().unwrap_or_default(), BAR));
        text.push_str(&block(&pretty(&tool.input_schema), BAR));
    }
    text.push_str(&format!("  at most {} tokens\n", request.max_tokens));
    if !request.model_hints.is_empty() {
        text.push_str(&format!("  models it would like: {}\n", line(&request.model_hints.join(", "))));
    }
    if request.include_context.as_deref().is_some_and(|context| context != "none") {
        text.push_str("  it would like context of servers with it; nothing is ever put in\n");
    }
    text
}

/// The answer that would go back.
pub(crate) fn response(response: &SamplingResponse) -> String {
    let words = |content: &Content| block(&content_words(content), "  ");
    let content: String = response.content.iter().map(words).collect();
    format!("This would go back, as said by \"{}\":\n{content}", line(&response.model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::data::SamplingLimits;

    #[test]
    fn limits_are_said_where_there_are_some() {
        assert_eq!(of(Some(5)), " of 5", "a bound");
        assert_eq!(of(SamplingLimits { requests: None, tokens: None, micros: None }.requests), "", "none");
        assert_eq!(dollars(1_250_000), "1.250000 US dollars", "money is in millionths");
    }
}
