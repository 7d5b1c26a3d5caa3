//! Skills that servers publish (the extension `io.modelcontextprotocol/skills`): instructions with their files, which are
//! listed with digests, fetched only when they are wanted, and used only when they are what was listed.
//!
//! What a skill says is text of a server like any other. A digest proves that content and entry fit together, and nothing
//! about who wrote them.

mod entry;
mod frontmatter;
mod verify;

pub use entry::{MAX_FILES, MAX_SKILL_BYTES, Skill, SkillFile, SkillFiles};
pub use verify::{Mismatch, check_listed, verified};

/// The extension's identifier.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";
