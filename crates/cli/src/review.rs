//! Definitions that the user looks at: what is new or changed, in words, and the way to say that it was seen.

use api::Handler as _;
use api::data::{
    Diff, Flag, FlagReason, LookAlike, Marks, Prompt, Review, ReviewState, SeenDefinition, ServerName, Tool,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::value;
use crate::session::Session;
use crate::visible::{block, line, pretty};

/// What is new or changed on a server. What is named with the hash that was printed with it is marked as seen.
pub(crate) async fn review(session: &Session, server: String, accept: Vec<String>) -> Result<Value, Failure> {
    let catalog = session.api.catalog(ServerName { server: server.clone() }).await?;
    let is_open = |marks: &Marks| marks.review != Some(ReviewState::Reviewed);
    let tools: Vec<Tool> = catalog.tools.into_iter().filter(|tool| is_open(&tool.marks)).collect();
    let prompts: Vec<Prompt> = catalog.prompts.into_iter().filter(|prompt| is_open(&prompt.marks)).collect();
    if accept.is_empty() {
        let mut text = String::new();
        for tool in &tools {
            let definition = json!({ "title": tool.title, "description": tool.description,
                "inputSchema": tool.input_schema, "outputSchema": tool.output_schema, "claims": tool.claims,
                "others": tool.others });
            text.push_str(&shown("tool", (&tool.name, &tool.hash), &tool.marks, &definition));
        }
        for prompt in &prompts {
            let definition = json!({ "title": prompt.title, "description": prompt.description,
                "arguments": prompt.arguments, "others": prompt.others });
            text.push_str(&shown("prompt", (&prompt.name, &prompt.hash), &prompt.marks, &definition));
        }
        if text.is_empty() {
            text = format!("All that {} offers is as you saw it.\n", line(&server));
        }
        session.output.text(&text);
        return Ok(json!({ "tools": value(&tools), "prompts": value(&prompts) }));
    }
    let mut review = Review { server, tools: Vec::new(), prompts: Vec::new() };
    for wanted in &accept {
        let Some((name, hash)) = wanted.rsplit_once('@') else {
            let message = format!("say NAME@HASH, with the hash that `review` prints, and not \"{}\"", line(wanted));
            return Err(Failure::usage(message));
        };
        let is_tool = tools.iter().any(|tool| tool.name == name && tool.hash == hash);
        let is_prompt = prompts.iter().any(|prompt| prompt.name == name && prompt.hash == hash);
        let seen = || SeenDefinition { name: name.to_owned(), hash: hash.to_owned() };
        if is_tool {
            review.tools.push(seen());
        } else if is_prompt {
            review.prompts.push(seen());
        } else {
            let server = line(&review.server);
            let message = format!("{server} has no new or changed tool or prompt \"{}\" with this hash", line(name));
            return Err(Failure::new(api::ErrorCode::NotFound, message));
        }
    }
    let reviewed = value(&review);
    session.api.review(review).await?;
    session.output.text("They count as seen, as they were printed.\n");
    Ok(reviewed)
}

/// What was kept of what the user saw of a server.
pub(crate) async fn pins(session: &Session, server: String) -> Result<Value, Failure> {
    let pins = session.api.pins(ServerName { server }).await?;
    let mut text = String::new();
    for (part, words) in &pins.identity {
        text.push_str(&format!("{:<10} {}\n", line(part), line(words)));
    }
    if let Some(issuer) = &pins.issuer {
        text.push_str(&format!("{:<10} {}\n", "issuer", line(issuer)));
    }
    for (kind, list) in [("tool", &pins.tools), ("prompt", &pins.prompts)] {
        for pin in list {
            let since = crate::people::time(pin.since);
            text.push_str(&format!("{kind:<10} {since}  {:.12}  {}\n", pin.hash, line(&pin.name)));
        }
    }
    if text.is_empty() {
        text.push_str("Nothing of it was approved or reviewed yet.\n");
    }
    session.output.text(&text);
    Ok(value(&pins))
}

fn shown(kind: &str, (name, hash): (&str, &str), marks: &Marks, definition: &Value) -> String {
    let state = if marks.review == Some(ReviewState::Changed) { "changed" } else { "new" };
    let mut text = format!("── {state} {kind} {}\n", line(name));
    text.push_str(&block(&pretty(definition), "  "));
    text.push_str(&words(marks));
    text.push_str(&format!("  once you have read this: --accept {}@{hash}\n", line(name)));
    text
}

/// What is worth a second look, in words; empty if nothing is.
pub(crate) fn words(marks: &Marks) -> String {
    let mut text = String::new();
    if marks.outdated {
        text.push_str("  The server said that this list changed, and it was not read again yet.\n");
    }
    if let Some(diff) = &marks.diff {
        text.push_str(&diff_words(diff));
    }
    for LookAlike { server, name, same } in &marks.look_alikes {
        let how = if *same { "has the same name as" } else { "looks like" };
        text.push_str(&format!("  LOOK TWICE: it {how} {} of {}\n", line(name), line(server)));
    }
    for Flag { place, reason, excerpt } in &marks.flags {
        let place = if place.is_empty() { String::new() } else { format!(" ({})", line(&place.join(" > "))) };
        text.push_str(&format!("  LOOK TWICE: it {}{place}: {}\n", reason_words(*reason), line(excerpt)));
    }
    text
}

fn diff_words(diff: &Diff) -> String {
    let mut text = String::new();
    if diff.server_changed {
        text.push_str("  CHANGED: the server itself is not as it was when you saw this\n");
    }
    for change in &diff.changes {
        let place = if change.path.is_empty() { String::from("all of it") } else { change.path.join(" > ") };
        text.push_str(&format!("  CHANGED: {}\n", line(&place)));
        for (sign, side) in [("-", &change.before), ("+", &change.after)] {
            if let Some(side) = side {
                text.push_str(&block(side, &format!("    {sign} ")));
            }
        }
    }
    if diff.more > 0 {
        text.push_str(&format!("  and {} more changes\n", diff.more));
    }
    if diff.cut {
        text.push_str("  It was so large that only its beginning was kept.\n");
    }
    text
}

const fn reason_words(reason: FlagReason) -> &'static str {
    match reason {
        FlagReason::HiddenCharacters => "holds characters that are not seen",
        FlagReason::InstructsModel => "tells the model what to do",
        FlagReason::HidesFromUser => "wants something kept from you",
        FlagReason::SecretPlace => "names a place where secrets lie",
        FlagReason::OtherTool => "names a tool of another server",
        FlagReason::AsksForContext => "asks for what you did not give to the tool",
        FlagReason::TooLong => "is too long to be looked through",
    }
}
