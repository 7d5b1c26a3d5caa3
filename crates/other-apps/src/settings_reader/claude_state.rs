//! Parses a large state file of Claude Code. Only the servers are extracted, without parsing everything else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Range;
use ports::server_config::ConfigProblem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{SettingsEntry, SettingsReader};
use crate::json_text::{JsonDialect, JsonText};

/// Maximum number of projects with servers in Claude Code's state file.
const MAX_PROJECTS: usize = 10_000;

#[derive(Deserialize)]
struct ClaudeStateFile<'t> {
    #[serde(borrow, default, rename = "mcpServers")]
    servers: Option<&'t RawValue>,
    #[serde(borrow, default)]
    projects: BTreeMap<Cow<'t, str>, ClaudeProject<'t>>,
}

#[derive(Deserialize)]
struct ClaudeProject<'t> {
    #[serde(borrow, default, rename = "mcpServers")]
    servers: Option<&'t RawValue>,
}

pub(super) fn read_claude_state_entries(
    mut reader: SettingsReader<'_, '_>,
) -> Result<Vec<SettingsEntry>, ConfigProblem> {
    let whole = reader.text;
    let state: ClaudeStateFile<'_> = serde_json::from_str(whole.text).map_err(|error| {
        let cause = error.to_string();
        let line = u32::try_from(error.line()).ok();
        let column = u32::try_from(error.column()).ok();
        let message = format!("this is not JSON: {}", cause.split(" at line ").next().unwrap_or_default());
        ConfigProblem { file: whole.file.map(str::to_owned), line, column, message }
    })?;
    let nothing = Object { range: Range::new(0, 0), properties: Vec::new() };
    let of_projects =
        state.projects.iter().filter_map(|(folder, project)| Some((project.servers?, Some(folder.as_ref()))));
    let parts = state.servers.map(|servers| (servers, None)).into_iter().chain(of_projects);
    // Most projects have no servers.
    let parts: Vec<(&str, Option<&str>)> = parts
        .map(|(part, project)| (part.get(), project))
        .filter(|(part, _)| *part != "{}")
        .take(MAX_PROJECTS + 1)
        .collect();
    if parts.len() > MAX_PROJECTS {
        return Err(whole.problem(0, format!("more than {MAX_PROJECTS} projects in it have servers")));
    }
    let places = part_positions(whole.text, &parts.iter().map(|(part, _)| *part).collect::<Vec<_>>());
    for ((part, project), (lines_before, columns_before)) in parts.into_iter().zip(places) {
        if part.len() as u64 > crate::files::MAX_SETTINGS_FILE_BYTES {
            return Err(whole.problem(0, "its servers are longer than 1 MB"));
        }
        reader.text = JsonText { text: part, lines_before, columns_before, ..whole };
        if let Some(servers) =
            reader.text.parse(JsonDialect::WithComments)?.filter(|value| !matches!(value, Value::NullKeyword(_)))
        {
            reader.read_servers(&servers, &nothing, project)?;
        }
    }
    Ok(reader.entries)
}

/// Returns the position of each of `parts` in the text `whole`: the number of lines before the part, and of characters
/// before it in its line. Scans the text only once.
fn part_positions(whole: &str, parts: &[&str]) -> Vec<(u32, u32)> {
    let offset = |part: &str| (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| offset(parts[*index]));
    let mut places = vec![(0, 0); parts.len()];
    let (mut at, mut line, mut column) = (0, 0_usize, 0_usize);
    for index in order {
        let between = whole.get(at..offset(parts[index])).unwrap_or_default();
        line += between.matches('\n').count();
        column = match between.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => column + between.chars().count(),
        };
        at += between.len();
        let number = |value| u32::try_from(value).unwrap_or(u32::MAX);
        places[index] = (number(line), number(column));
    }
    places
}
