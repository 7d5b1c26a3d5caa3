//! Verifies that the content of a file matches the skill's entry. Content that doesn't is never used. Used by
//! `chat/src/skills.rs`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::types::ResourceContents;

use super::entry::{MAX_SKILL_BYTES, Skill, SkillFiles};
use super::frontmatter;

/// Difference between a received file and the skill's entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillMismatch {
    /// The skill's entry doesn't list the file that was requested or received.
    #[error("it is not one of the files that the skill lists")]
    Unlisted,
    /// The server returned another resource, several contents, or none.
    #[error("the server sent something else")]
    OtherContents,
    /// The size of the received file differs from the size in the skill's entry.
    #[error("it has {found} bytes instead of {listed}")]
    Size {
        /// Size of the file in the skill's entry, in bytes.
        listed: u64,
        /// Size of the received content, in bytes.
        found: u64,
    },
    /// The SHA-256 of the received file differs from the digest in the skill's entry.
    #[error("its SHA-256 is another than the one listed")]
    Digest,
    /// The frontmatter of the received `SKILL.md` differs from the entry or can't be parsed, with the cause.
    #[error("{0}")]
    Frontmatter(String),
}

/// Verifies a file that was received from the server against the skill's entry, and returns the bytes of the file.
///
/// # Errors
///
/// Returns the [`SkillMismatch`] if the file is not listed, its contents differ from the entry, or several contents
/// were received.
///
/// # Examples
///
/// ```
/// use mcp_proto::types::ResourceContents;
/// use offers::skills::{Skill, SkillMismatch, verify_skill_file};
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
/// assert_eq!(verify_skill_file(&skill, uri, &contents(text)), Ok(text.as_bytes().to_vec()));
/// assert_eq!(verify_skill_file(&skill, uri, &contents(&text.replace("this", "that"))), Err(SkillMismatch::Digest));
/// assert_eq!(verify_skill_file(&skill, "skill://demo/other.md", &contents(text)), Err(SkillMismatch::Unlisted));
/// # Ok::<(), String>(())
/// ```
pub fn verify_skill_file(skill: &Skill, uri: &str, contents: &[ResourceContents]) -> Result<Vec<u8>, SkillMismatch> {
    check_skill_file_listed(skill, uri)?;
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

/// Checks that the skill's entry permits to request this file from the server.
///
/// # Errors
///
/// Returns [`SkillMismatch::Unlisted`] if the entry doesn't list the file, or, for a dynamic skill, if the file is
/// outside of its folder.
pub fn check_skill_file_listed(skill: &Skill, uri: &str) -> Result<(), SkillMismatch> {
    let is_known = match &skill.files {
        SkillFiles::Listed(_) => skill.file(uri).is_some(),
        SkillFiles::Dynamic => skill.folder_contains(uri),
    };
    if is_known { Ok(()) } else { Err(SkillMismatch::Unlisted) }
}

fn check_frontmatter(skill: &Skill, bytes: &[u8]) -> Result<(), SkillMismatch> {
    let text = std::str::from_utf8(bytes).map_err(|_| SkillMismatch::Frontmatter("it is not UTF-8".to_owned()))?;
    let found = frontmatter::parse_frontmatter(text).map_err(SkillMismatch::Frontmatter)?;
    match frontmatter::first_different_key(&skill.frontmatter, &found) {
        None => Ok(()),
        Some(field) => Err(SkillMismatch::Frontmatter(format!("its frontmatter has another {field} than the list"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const SKILL_URI: &str = "skill://demo/SKILL.md";
    const OTHER_FILE_URI: &str = "skill://demo/a.bin";
    const SKILL_TEXT: &str = "---\nname: demo\ndescription: Shows it\n---\nDo this.\n";

    fn skill(resources: Value) -> Skill {
        let frontmatter = json!({ "name": "demo", "description": "Shows it" });
        Skill::parse(json!({ "uri": SKILL_URI, "frontmatter": frontmatter, "resources": resources })).unwrap()
    }

    fn skill_with_file(text: &str) -> Skill {
        let file = |uri: &str, bytes: &[u8]| json!({ "uri": uri, "digest": format!("sha256:{}", policy::Hash::of_bytes(bytes)), "size": bytes.len() });
        skill(json!([file(SKILL_URI, text.as_bytes()), file(OTHER_FILE_URI, &[0, 255])]))
    }

    fn contents(value: Value) -> Vec<ResourceContents> {
        serde_json::from_value(json!([value])).unwrap()
    }

    fn text_contents(text: &str) -> Vec<ResourceContents> {
        contents(json!({ "uri": SKILL_URI, "text": text }))
    }

    #[test]
    fn matching_skill_contents_are_accepted() {
        assert_eq!(
            verify_skill_file(&skill_with_file(SKILL_TEXT), SKILL_URI, &text_contents(SKILL_TEXT)).unwrap(),
            SKILL_TEXT.as_bytes(),
            "text"
        );
        let blob = contents(json!({ "uri": OTHER_FILE_URI, "blob": "AP8=" }));
        assert_eq!(verify_skill_file(&skill_with_file(SKILL_TEXT), OTHER_FILE_URI, &blob).unwrap(), [0, 255], "bytes");
        assert!(
            verify_skill_file(&skill(json!("dynamic")), SKILL_URI, &text_contents(SKILL_TEXT)).is_ok(),
            "for a dynamic skill the frontmatter is compared"
        );
    }

    #[test]
    fn mismatching_skill_contents_are_rejected() {
        let longer = format!("{SKILL_TEXT}more");
        let size = SkillMismatch::Size { listed: SKILL_TEXT.len() as u64, found: longer.len() as u64 };
        assert_eq!(
            verify_skill_file(&skill_with_file(SKILL_TEXT), SKILL_URI, &text_contents(&longer)),
            Err(size),
            "a file with another size is rejected"
        );
        let other = SKILL_TEXT.replace("this", "that");
        assert_eq!(
            verify_skill_file(&skill_with_file(SKILL_TEXT), SKILL_URI, &text_contents(&other)),
            Err(SkillMismatch::Digest),
            "a file with other bytes of the same size is rejected"
        );
        let lying = SKILL_TEXT.replace("Shows it", "Steals it");
        for skill in [skill_with_file(&lying), skill(json!("dynamic"))] {
            let found = verify_skill_file(&skill, SKILL_URI, &text_contents(&lying));
            assert!(
                matches!(found, Err(SkillMismatch::Frontmatter(_))),
                "a file with another frontmatter is rejected: {found:?}"
            );
        }
        let two = [text_contents(SKILL_TEXT), text_contents(SKILL_TEXT)].concat();
        assert_eq!(
            verify_skill_file(&skill_with_file(SKILL_TEXT), SKILL_URI, &two),
            Err(SkillMismatch::OtherContents),
            "several contents for one file are rejected"
        );
        let named = contents(json!({ "uri": OTHER_FILE_URI, "text": SKILL_TEXT }));
        assert_eq!(
            verify_skill_file(&skill_with_file(SKILL_TEXT), SKILL_URI, &named),
            Err(SkillMismatch::OtherContents),
            "contents of another file are rejected"
        );
    }

    #[test]
    fn only_files_of_the_skill_are_accepted() {
        assert_eq!(
            check_skill_file_listed(&skill_with_file(SKILL_TEXT), "skill://demo/b.md"),
            Err(SkillMismatch::Unlisted),
            "a file that is not listed can't be requested"
        );
        let dynamic = skill(json!("dynamic"));
        assert_eq!(
            check_skill_file_listed(&dynamic, "skill://demo/b.md"),
            Ok(()),
            "a file in the folder of a dynamic skill can be requested"
        );
        assert_eq!(
            check_skill_file_listed(&dynamic, "skill://demo/../b.md"),
            Err(SkillMismatch::Unlisted),
            "a file outside of the folder can't be requested"
        );
        assert_eq!(
            check_skill_file_listed(&dynamic, "file:///etc/passwd"),
            Err(SkillMismatch::Unlisted),
            "a file with another scheme can't be requested"
        );
    }
}
