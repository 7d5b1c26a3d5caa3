//! Prompts: with arguments and completions, with an image, with an elicitation, and without any of these.

use rmcp::model::{
    ContentBlock, ElicitResult, ElicitationAction, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
};
use serde_json::Value;

use crate::client::Context;
use crate::content::{CHART_PNG, GUIDE_TEXT, anchor_icon, encode_base64};
use crate::harbour;
use crate::input_requests::{EarlyExit, InputResponseSet, request_input};
use crate::request_contents;
use crate::resources::GUIDE_URI;
use crate::state::DemoServerState;

/// Moods that a diary entry can have.
pub(crate) const MOODS: [&str; 4] = ["calm", "cheerful", "homesick", "seasick"];

/// Returns all prompts, including those that were added while the server runs.
pub(crate) fn list(state: &DemoServerState) -> Vec<Prompt> {
    let mut all = vec![
        prompt_definition(
            "greet_ship",
            "Greet a ship",
            "A warm welcome for a ship. Choose the harbour first: the ships offered are those that lie there.",
            vec![
                prompt_argument("harbour", "Harbour", "Where the ship lies.", true),
                prompt_argument("ship", "Ship", "Which ship to greet.", true),
                prompt_argument("tone", "Tone", "How to say it, in your own words.", false),
            ],
        ),
        prompt_definition(
            "tide_report",
            "Tide report",
            "Asks for a short report on the tides.",
            vec![
                prompt_argument("harbour", "Harbour", "For which harbour.", true),
                prompt_argument("day", "Day", "For which day of the week.", false),
            ],
        ),
        prompt_definition(
            "diary_entry",
            "Diary entry",
            "Asks for a diary entry. Leave the event empty and the server asks you for it.",
            vec![
                prompt_argument("mood", "Mood", "How the captain feels.", true),
                prompt_argument("event", "Event", "What happened today.", false),
            ],
        ),
        prompt_definition(
            "read_the_chart",
            "Read the chart",
            "Brings the sea chart and the guide into the conversation.",
            vec![],
        ),
        prompt_definition(
            "safety_check",
            "Safety check",
            "Goes through the safety check before casting off. Needs nothing from you.",
            vec![],
        ),
    ];
    all.extend(
        state
            .added_tools()
            .iter()
            .filter(|tool| tool.with_prompt)
            .map(|tool| Prompt::new(&tool.name, Some(&tool.description), None)),
    );
    all
}

/// Returns the messages of a prompt (`prompts/get`). May first send requests to the host.
pub(crate) async fn get_prompt(
    state: &DemoServerState,
    context: &Context,
    request: GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let given = PromptArguments(request.arguments.unwrap_or_default());
    let answers = InputResponseSet::new(request.input_responses, request.request_state);
    let messages = match request.name.as_str() {
        "greet_ship" => greet_ship_messages(&given),
        "tide_report" => tide_report_messages(&given),
        "diary_entry" => diary_entry_messages(context, &answers, &given).await,
        "read_the_chart" => Ok(read_the_chart_messages()),
        "safety_check" => Ok(safety_check_messages()),
        name => added_prompt_messages(state, name),
    };
    match messages {
        Ok(messages) => Ok(GetPromptResult::new(messages).into()),
        Err(EarlyExit::Ask(question)) => Ok((*question).into()),
        Err(EarlyExit::Refused(error)) => Err(error),
        Err(EarlyExit::Failed(reason)) => Err(ErrorData::invalid_params(reason, None)),
    }
}

struct PromptArguments(JsonObject);

impl PromptArguments {
    fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn required(&self, name: &str) -> Result<&str, EarlyExit> {
        self.optional(name).ok_or_else(|| EarlyExit::Failed(format!("The argument \"{name}\" is missing.")))
    }

    fn harbour(&self) -> Result<&'static str, EarlyExit> {
        let name = self.required("harbour")?;
        harbour::find_harbour(name).ok_or_else(|| EarlyExit::Failed(format!("There is no harbour \"{name}\".")))
    }
}

fn greet_ship_messages(given: &PromptArguments) -> Result<Vec<PromptMessage>, EarlyExit> {
    let (harbour, ship) = (given.harbour()?, given.required("ship")?);
    let tone = given.optional("tone").unwrap_or("friendly");
    Ok(vec![user_message(format!(
        "Write a {tone} greeting from the harbour master of {harbour} to the crew of the {ship}."
    ))])
}

fn tide_report_messages(given: &PromptArguments) -> Result<Vec<PromptMessage>, EarlyExit> {
    let harbour = given.harbour()?;
    let day = given.optional("day").unwrap_or("monday");
    let table =
        harbour::tide_table(harbour, day).ok_or_else(|| EarlyExit::Failed(format!("There is no day \"{day}\".")))?;
    let table = ResourceContents::text(table, format!("tide:///{harbour}/{day}")).with_mime_type("text/markdown");
    Ok(vec![
        user_message(format!("Report on the tides at {harbour} in two sentences, from this table.")),
        PromptMessage::new(Role::User, ContentBlock::resource(table)),
    ])
}

async fn diary_entry_messages(
    context: &Context,
    answers: &InputResponseSet,
    given: &PromptArguments,
) -> Result<Vec<PromptMessage>, EarlyExit> {
    let mood = given.required("mood")?;
    let event = match given.optional("event") {
        Some(event) => event.to_owned(),
        None => {
            let form = request_contents::text_field_form_schema("event", "What happened today?");
            let question = request_contents::form_elicitation("The diary needs an event.", form)?;
            let answer: ElicitResult = request_input(context, answers, "event", question, None).await?;
            match (answer.action, answer.content) {
                (ElicitationAction::Accept, Some(content)) => {
                    content["event"].as_str().unwrap_or("nothing at all").to_owned()
                }
                _ => "something that the captain will not talk about".to_owned(),
            }
        }
    };
    Ok(vec![user_message(format!(
        "Write the captain's diary entry for today. The mood is {mood}. It happened: {event}"
    ))])
}

fn read_the_chart_messages() -> Vec<PromptMessage> {
    let guide = ResourceContents::text(GUIDE_TEXT, GUIDE_URI).with_mime_type("text/markdown");
    let chart = ContentBlock::image(encode_base64(CHART_PNG), "image/png");
    vec![
        user_message("This is the sea chart of our coast, and the guide to the harbour.".to_owned()),
        PromptMessage::new(Role::User, chart),
        PromptMessage::new(Role::User, ContentBlock::resource(guide)),
        PromptMessage::new_text(
            Role::Assistant,
            "I see the coast, an island and the dashed line of a route. What shall I look for?",
        ),
        user_message("Describe the safest way to the lighthouse.".to_owned()),
    ]
}

fn safety_check_messages() -> Vec<PromptMessage> {
    vec![user_message(
        "Take me through the safety check before casting off, one question at a time: \
         life jackets, radio, weather, fuel, lights."
            .to_owned(),
    )]
}

fn added_prompt_messages(state: &DemoServerState, name: &str) -> Result<Vec<PromptMessage>, EarlyExit> {
    state
        .added_tools()
        .iter()
        .find(|tool| tool.with_prompt && tool.name == name)
        .map(|tool| vec![user_message(format!("Use the tool \"{}\" and tell me what it says.", tool.name))])
        .ok_or_else(|| EarlyExit::Failed(format!("There is no prompt \"{name}\".")))
}

fn user_message(text: String) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}

fn prompt_definition(name: &str, title: &str, description: &str, arguments: Vec<PromptArgument>) -> Prompt {
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(name, Some(description), arguments).with_title(title).with_icons(vec![anchor_icon()])
}

fn prompt_argument(name: &str, title: &str, description: &str, required: bool) -> PromptArgument {
    PromptArgument::new(name).with_title(title).with_description(description).with_required(required)
}
