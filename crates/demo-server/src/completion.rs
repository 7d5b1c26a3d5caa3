//! Completions for arguments of prompts and variables of resource templates.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use crate::harbour::{self, HARBOURS, WEEKDAYS};
use crate::prompts::MOODS;
use crate::state::DemoServerState;
use crate::templates;

/// Returns completions for an argument of a prompt, or for a variable of a resource template.
pub(crate) fn complete(state: &DemoServerState, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let earlier = |name: &str| request.context.as_ref().and_then(|context| context.get_argument(name));
    let argument = request.argument.name.as_str();
    let known: Vec<String> = match &request.r#ref {
        Reference::Prompt(prompt) => match (prompt.name.as_str(), argument) {
            ("greet_ship" | "tide_report", "harbour") => to_strings(harbour::harbour_names()),
            ("greet_ship", "ship") => ships_in_harbour(earlier("harbour").map(String::as_str)),
            ("tide_report", "day") => to_strings(WEEKDAYS),
            ("diary_entry", "mood") => to_strings(MOODS),
            _ => vec![],
        },
        Reference::Resource(template) => match (template.uri.as_str(), argument) {
            (templates::NOTE_TEMPLATE, "name") => state.notes().keys().cloned().collect(),
            (templates::TIDE_TEMPLATE, "harbour") => to_strings(harbour::harbour_names()),
            (templates::TIDE_TEMPLATE, "day") => to_strings(WEEKDAYS),
            (templates::SHIPS_TEMPLATE, "filter") => to_strings(harbour::all_ships().map(|ship| ship.name)),
            _ => vec![],
        },
        _ => return Err(ErrorData::invalid_params("an unknown kind of reference", None)),
    };
    let typed = request.argument.value.to_lowercase();
    let mut fitting = known;
    fitting.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = u32::try_from(fitting.len()).ok();
    let has_more = fitting.len() > CompletionInfo::MAX_VALUES;
    fitting.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(fitting, total, has_more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}

/// Returns the ships in one harbour, or all ships if the harbour is unknown.
fn ships_in_harbour(harbour: Option<&str>) -> Vec<String> {
    HARBOURS
        .iter()
        .filter(|(name, _)| harbour.is_none_or(|expected| expected.eq_ignore_ascii_case(name)))
        .flat_map(|(_, ships)| to_strings(ships.iter().copied()))
        .collect()
}

fn to_strings<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    values.into_iter().map(str::to_owned).collect()
}
