//! Commands for the skills of servers.

use chat::skills::{SkillError, SkillList, SkillReader};
use offers::skills::{Skill as HostSkill, SkillFiles};
use serde_json::Value;

use super::Api;
use crate::data::{ReadSkill, Skill, SkillContents, Skills};
use crate::{ApiError, ErrorCode};

/// Maximum number of notes about invalid entries in a server's list of skills. Further invalid entries are only
/// counted.
const MAX_UNUSABLE_SKILL_NOTES: usize = 10;
/// Maximum length of the skill's URI in a note about an invalid list entry, in characters.
const MAX_SKILL_URI_CHARS_IN_NOTE: usize = 200;

pub(super) async fn list_skills(api: &Api, server: String) -> Result<Skills, ApiError> {
    let SkillList { skills, dropped, is_cut } = SkillReader::new(&api.host).list(server.clone()).await?;
    let read = skills.len() + dropped.len();
    let mut notes: Vec<String> =
        dropped.iter().take(MAX_UNUSABLE_SKILL_NOTES).map(|(uri, cause)| unusable_skill_note(uri, cause)).collect();
    if dropped.len() > MAX_UNUSABLE_SKILL_NOTES {
        notes.push(format!("{} more skills can't be used", dropped.len() - MAX_UNUSABLE_SKILL_NOTES));
    }
    if is_cut {
        notes.push(format!("the list of skills is too long: only the first {read} were read"));
    }
    Ok(Skills { server, skills: skills.into_iter().map(skill_view).collect(), notes })
}

pub(super) async fn read_skill(api: &Api, r: ReadSkill) -> Result<SkillContents, ApiError> {
    let read = SkillReader::new(&api.host).read(r.call, r.server, (r.skill, r.shown_hash), r.file).await?;
    Ok(SkillContents { skill: skill_view(read.skill), contents: read.contents })
}

fn unusable_skill_note(uri: &str, cause: &str) -> String {
    let uri: String = uri.chars().take(MAX_SKILL_URI_CHARS_IN_NOTE).collect();
    let cause: String = cause.chars().take(2 * MAX_SKILL_URI_CHARS_IN_NOTE).collect();
    if uri.is_empty() { format!("a skill can't be used: {cause}") } else { format!("{uri} can't be used: {cause}") }
}

fn skill_view(skill: HostSkill) -> Skill {
    let hash = skill.hash();
    let mut others = skill.frontmatter;
    others.retain(|key, _| key != "name" && key != "description");
    let files = match skill.files {
        SkillFiles::Listed(files) => Some(files),
        SkillFiles::Dynamic => None,
    };
    let others = (!others.is_empty()).then_some(Value::Object(others));
    Skill { uri: skill.uri, name: skill.name, description: skill.description, files, others, hash }
}

impl From<SkillError> for ApiError {
    fn from(error: SkillError) -> Self {
        let message = error.to_string();
        match error {
            SkillError::Call(failure) => failure.into(),
            SkillError::NotListed { .. } => Self::new(ErrorCode::NotFound, message),
            SkillError::Changed { .. } => Self::new(ErrorCode::Stale, message),
            SkillError::Unusable { .. } | SkillError::Mismatch { .. } => Self::new(ErrorCode::BadAnswer, message),
        }
    }
}
