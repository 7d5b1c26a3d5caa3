//! Skills: their list, and their files, which are read as resources.

use rmcp::model::{ErrorData, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources};
use serde_json::json;

const PLAN_PASSAGE_SKILL_URI: &str = "skill://harbour/plan-passage/SKILL.md";
const PLAN_PASSAGE_SKILL_TEXT: &str = include_str!("../assets/plan-passage/SKILL.md");
const RULES_OF_THUMB_URI: &str = "skill://harbour/plan-passage/references/rules-of-thumb.md";
const RULES_OF_THUMB_TEXT: &str = include_str!("../assets/plan-passage/references/rules-of-thumb.md");

/// URIs and texts of the files of the only skill.
const SKILL_FILES: [(&str, &str); 2] =
    [(PLAN_PASSAGE_SKILL_URI, PLAN_PASSAGE_SKILL_TEXT), (RULES_OF_THUMB_URI, RULES_OF_THUMB_TEXT)];

/// Returns the skills of the server, of which there is only one.
pub(crate) fn list() -> Vec<Skill> {
    let frontmatter = SkillFrontmatter::new(
        "plan-passage",
        "Plans a passage of a ship between two harbours. Use it to plan a voyage from one town to another.",
    )
    .with_field("license", "CC0-1.0")
    .with_field("metadata", json!({ "version": "1.0" }));
    let files = SKILL_FILES.map(|(uri, text)| SkillResource::from_bytes(uri, text.as_bytes()));
    vec![Skill::new(PLAN_PASSAGE_SKILL_URI, frontmatter, SkillResources::Files(files.to_vec()))]
}

/// Returns the skill whose `SKILL.md` has this URI.
pub(crate) fn get_skill(uri: &str) -> Result<Skill, ErrorData> {
    let found = list().into_iter().find(|skill| skill.uri == uri);
    found.ok_or_else(|| ErrorData::invalid_params("there is no such skill", Some(json!({ "uri": uri }))))
}

/// Returns the content of a skill's file, or `None` if no file has this URI.
pub(crate) fn skill_file_contents(uri: &str) -> Option<ResourceContents> {
    let (uri, text) = SKILL_FILES.into_iter().find(|(known, _)| *known == uri)?;
    Some(ResourceContents::text(text, uri).with_mime_type("text/markdown"))
}
