//! The `skills` commands: lists skills, and reads their files.

use api::data::{ReadSkill, ServerName, Skill, Skills};
use api::{ErrorCode, Handler as _};
use serde_json::Value;

use crate::arguments::{ServerArgument, SkillsCommand};
use crate::commands::{CLI_CALL_ID, ServerItemList, list_items_of_servers, require_ready_server};
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::result_text;
use crate::session::CommandSession;

/// Path, with dots, of the capability that servers with skills declare.
const SKILLS_CAPABILITY: &str = "extensions.io.modelcontextprotocol/skills";

/// Runs a `skills` command, and returns its result as JSON.
pub(crate) async fn run(session: &CommandSession, command: SkillsCommand) -> Result<Value, CommandFailure> {
    match command {
        SkillsCommand::List(of) => list_skills(session, of).await,
        SkillsCommand::Read { server, name, file } => read_skill_file(session, server, &name, file.as_deref()).await,
    }
}

/// Lists the skills of one server or of all servers. If a server is named that has no skills, this is a failure.
/// Otherwise, servers without skills are skipped.
async fn list_skills(session: &CommandSession, of: ServerArgument) -> Result<Value, CommandFailure> {
    let is_named = of.server.is_some();
    let read = async |server: String| {
        let has_skills = |server: api::data::Server| server.capabilities.iter().any(|name| name == SKILLS_CAPABILITY);
        if !is_named && !session.server(&server).is_some_and(has_skills) {
            return Ok(ServerItemList { items: Vec::new(), notes: Vec::new() });
        }
        let Skills { skills, notes, .. } = session.api.list_skills(ServerName { server }).await?;
        Ok(ServerItemList { items: skills, notes })
    };
    list_items_of_servers(session, of, read, result_text::skill_row).await
}

async fn read_skill_file(
    session: &CommandSession,
    server: String,
    name: &str,
    file: Option<&str>,
) -> Result<Value, CommandFailure> {
    require_ready_server(session, &server).await?;
    let listed = session.api.list_skills(ServerName { server: server.clone() }).await?.skills;
    let found = find_skill(&server, &listed, name)?;
    let (skill, shown) = (found.uri.clone(), Some(found.hash.clone()));
    let file = file.map(|file| resolve_skill_uri(&skill, file));
    let result = session
        .api
        .read_skill(ReadSkill { call: CLI_CALL_ID.to_owned(), server, skill, shown_hash: shown, file })
        .await?;
    session.output.print_text(&result_text::resource_contents_text(&result.contents));
    Ok(to_json_value(&result))
}

/// Returns the listed skill with this URI, or with this name if only one skill has it.
fn find_skill<'a>(server: &str, listed: &'a [Skill], name: &str) -> Result<&'a Skill, CommandFailure> {
    if let Some(skill) = listed.iter().find(|skill| skill.uri == name) {
        return Ok(skill);
    }
    let named: Vec<&Skill> = listed.iter().filter(|skill| skill.name == name).collect();
    match named[..] {
        [skill] => Ok(skill),
        [] => Err(CommandFailure::new(ErrorCode::NotFound, format!("{server} lists no skill called {name:?}"))),
        _ => {
            let uris: Vec<&str> = named.iter().map(|skill| skill.uri.as_str()).collect();
            Err(CommandFailure::usage_error(format!(
                "{server} lists several skills called {name}; name one by its URI: {}",
                uris.join(", ")
            )))
        }
    }
}

/// Returns the URI of a file of a skill. `file` is a path in the skill's folder, or a URI, which is returned unchanged.
fn resolve_skill_uri(skill: &str, file: &str) -> String {
    match skill.strip_suffix("SKILL.md") {
        Some(folder) if !file.contains("://") => format!("{folder}{file}"),
        _ => file.to_owned(),
    }
}
