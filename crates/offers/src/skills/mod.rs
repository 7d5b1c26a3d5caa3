//! Skills that servers publish (the extension `io.modelcontextprotocol/skills`): instructions with files, which are
//! listed with digests, requested on demand, and used only if they match their entries in the list.
//!
//! The text of a skill is untrusted, like all text of a server. A digest proves that a file matches its entry, but
//! nothing about its author.

mod entry;
mod frontmatter;
mod verify;

pub use entry::{MAX_SKILL_BYTES, MAX_SKILL_FILES, Skill, SkillFile, SkillFiles};
pub use verify::{SkillMismatch, check_skill_file_listed, verify_skill_file};

/// Identifier of the MCP extension for skills, as servers and clients declare it in their capabilities.
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
