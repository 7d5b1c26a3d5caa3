//! Checks that content matches a skill's entry; content that doesn't is never used. Used by `host/src/skills.rs`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::types::ResourceContents;

use super::entry::{MAX_SKILL_BYTES, Skill, SkillFiles};
use super::frontmatter;

/// A mismatch between a file and the skill's entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillMismatch {
    /// The entry doesn't list the file.
    #[error("it is not one of the files that the skill lists")]
    Unlisted,
    /// The server returned another resource, several resources, or none.
    #[error("the server sent something else")]
    OtherContents,
    /// The file has another length.
    #[error("it has {found} bytes instead of {listed}")]
    Size {
        /// Size in the entry, in bytes.
        listed: u64,
        /// Size of the received content, in bytes.
        found: u64,
    },
    /// The file has another SHA-256.
    #[error("its SHA-256 is another than the one listed")]
    Digest,
    /// The frontmatter of the received `SKILL.md` differs from the entry or can't be read; the text is the cause.
    #[error("{0}")]
    Frontmatter(String),
}

/// Returns the bytes of a file if they match the entry.
///
/// # Errors
///
/// Returns the [`SkillMismatch`] if the file is not listed, its contents differ from the entry, or several contents were
/// received.
///
/// # Examples
///
/// ```
/// use mcp_proto::types::ResourceContents;
/// use offers::skills::{Skill, SkillMismatch, verify_file};
/// use policy::Hash;
/// use serde_json::json;
///
/// let uri = "skill://demo/SKILL.md";
/// let text = "---\nname: demo\ndescription: Shows it\n---\nDo this.\n";
/// let digest = format!("sha256:{}", Hash::of_bytes(text.as_bytes()));
/// let skill = Skill::parse(json!({
///     "uri": uri,
///     "frontmatter": { "name": "demo", "description": "Shows it" },
///     "resources": [{ "uri": uri, "digest": digest, "size": text.len() }]
/// }))?;
/// let contents = |text: &str| -> Vec<ResourceContents> {
///     serde_json::from_value(json!([{ "uri": uri, "text": text }])).expect("valid contents")
/// };
/// assert_eq!(verify_file(&skill, uri, &contents(text)), Ok(text.as_bytes().to_vec()));
/// assert_eq!(verify_file(&skill, uri, &contents(&text.replace("this", "that"))), Err(SkillMismatch::Digest));
/// assert_eq!(verify_file(&skill, "skill://demo/other.md", &contents(text)), Err(SkillMismatch::Unlisted));
/// # Ok::<(), String>(())
/// ```
pub fn verify_file(skill: &Skill, uri: &str, contents: &[ResourceContents]) -> Result<Vec<u8>, SkillMismatch> {
    check_listed(skill, uri)?;
    let [content] = contents else { return Err(SkillMismatch::OtherContents) };
    if content.uri != uri {
        return Err(SkillMismatch::OtherContents);
    }
    let bytes = match (content.text.as_deref(), content.blob.as_deref()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).map_err(|_| SkillMismatch::OtherContents)?,
        (None, None) => return Err(SkillMismatch::OtherContents),
    };
    let found = bytes.len() as u64;
    match skill.file(uri) {
        Some(file) if file.size != found => return Err(SkillMismatch::Size { listed: file.size, found }),
        Some(file) if file.sha256 != policy::Hash::of_bytes(&bytes).to_string() => return Err(SkillMismatch::Digest),
        None if found > MAX_SKILL_BYTES => return Err(SkillMismatch::Size { listed: MAX_SKILL_BYTES, found }),
        _ => {}
    }
    if uri == skill.uri {
        check_frontmatter(skill, &bytes)?;
    }
    Ok(bytes)
}

/// Checks that a file may be requested.
///
/// # Errors
///
/// Returns [`SkillMismatch::Unlisted`] if the entry doesn't list the file, or, for a dynamic skill, if the file is outside
/// of its folder.
pub fn check_listed(skill: &Skill, uri: &str) -> Result<(), SkillMismatch> {
    let is_known = match &skill.files {
        SkillFiles::Listed(_) => skill.file(uri).is_some(),
        SkillFiles::Dynamic => skill.contains(uri),
    };
    if is_known { Ok(()) } else { Err(SkillMismatch::Unlisted) }
}

fn check_frontmatter(skill: &Skill, bytes: &[u8]) -> Result<(), SkillMismatch> {
    let text = std::str::from_utf8(bytes).map_err(|_| SkillMismatch::Frontmatter("it is not UTF-8".to_owned()))?;
    let found = frontmatter::parse_frontmatter(text).map_err(SkillMismatch::Frontmatter)?;
    match frontmatter::first_difference(&skill.frontmatter, &found) {
        None => Ok(()),
        Some(field) => Err(SkillMismatch::Frontmatter(format!("its frontmatter says another {field} than was listed"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const URI: &str = "skill://demo/SKILL.md";
    const OTHER: &str = "skill://demo/a.bin";
    const TEXT: &str = "---\nname: demo\ndescription: Shows it\n---\nDo this.\n";

    fn skill(resources: Value) -> Skill {
        let frontmatter = json!({ "name": "demo", "description": "Shows it" });
        Skill::parse(json!({ "uri": URI, "frontmatter": frontmatter, "resources": resources })).unwrap()
    }

    fn listed(text: &str) -> Skill {
        let file = |uri: &str, bytes: &[u8]| json!({ "uri": uri, "digest": format!("sha256:{}", policy::Hash::of_bytes(bytes)), "size": bytes.len() });
        skill(json!([file(URI, text.as_bytes()), file(OTHER, &[0, 255])]))
    }

    fn contents(value: Value) -> Vec<ResourceContents> {
        serde_json::from_value(json!([value])).unwrap()
    }

    fn text(text: &str) -> Vec<ResourceContents> {
        contents(json!({ "uri": URI, "text": text }))
    }

    #[test]
    fn matching_contents_are_accepted() {
        assert_eq!(verify_file(&listed(TEXT), URI, &text(TEXT)).unwrap(), TEXT.as_bytes(), "text");
        let blob = contents(json!({ "uri": OTHER, "blob": "AP8=" }));
        assert_eq!(verify_file(&listed(TEXT), OTHER, &blob).unwrap(), [0, 255], "bytes");
        assert!(
            verify_file(&skill(json!("dynamic")), URI, &text(TEXT)).is_ok(),
            "without digests the head is compared"
        );
    }

    #[test]
    fn mismatching_contents_are_rejected() {
        let longer = format!("{TEXT}more");
        let size = SkillMismatch::Size { listed: TEXT.len() as u64, found: longer.len() as u64 };
        assert_eq!(verify_file(&listed(TEXT), URI, &text(&longer)), Err(size), "another length");
        let other = TEXT.replace("this", "that");
        assert_eq!(
            verify_file(&listed(TEXT), URI, &text(&other)),
            Err(SkillMismatch::Digest),
            "other bytes of the same length"
        );
        let lying = TEXT.replace("Shows it", "Steals it");
        for skill in [listed(&lying), skill(json!("dynamic"))] {
            let found = verify_file(&skill, URI, &text(&lying));
            assert!(matches!(found, Err(SkillMismatch::Frontmatter(_))), "the entry promised another head: {found:?}");
        }
        let two = [text(TEXT), text(TEXT)].concat();
        assert_eq!(
            verify_file(&listed(TEXT), URI, &two),
            Err(SkillMismatch::OtherContents),
            "two answers for one file"
        );
        let named = contents(json!({ "uri": OTHER, "text": TEXT }));
        assert_eq!(
            verify_file(&listed(TEXT), URI, &named),
            Err(SkillMismatch::OtherContents),
            "another file's contents"
        );
    }

    #[test]
    fn only_files_of_the_skill_are_accepted() {
        assert_eq!(check_listed(&listed(TEXT), "skill://demo/b.md"), Err(SkillMismatch::Unlisted), "not in the list");
        let dynamic = skill(json!("dynamic"));
        assert_eq!(check_listed(&dynamic, "skill://demo/b.md"), Ok(()), "in its folder");
        assert_eq!(check_listed(&dynamic, "skill://demo/../b.md"), Err(SkillMismatch::Unlisted), "not outside of it");
        assert_eq!(check_listed(&dynamic, "file:///etc/passwd"), Err(SkillMismatch::Unlisted), "nor anywhere else");
    }
}
