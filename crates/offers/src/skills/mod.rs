//! Skills that servers publish (the extension `io.modelcontextprotocol/skills`): instructions with their files, which
//! are listed with digests, fetched on demand, and used only if they match the listing.
//!
//! Skill text is untrusted text of a server like any other. A digest proves that content and entry match, and nothing
//! about the author.

mod entry;
mod frontmatter;
mod verify;

pub use entry::{MAX_FILES, MAX_SKILL_BYTES, Skill, SkillFile, SkillFiles};
pub use verify::{SkillMismatch, check_listed, verify_file};

/// Identifier of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";
