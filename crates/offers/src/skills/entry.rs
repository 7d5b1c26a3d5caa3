//! The entry of a skill, as `skills/list` and `skills/get` return it, and the rules that it must follow.

use policy::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Maximum number of files per skill. The extension requires hosts to accept at least this number.
pub const MAX_SKILL_FILES: usize = 512;
/// Maximum total size of the files of a skill, in bytes. The extension requires hosts to accept at least this size.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;
/// Percent-encoded forms of the characters with which a path can leave its folder, with the decoded characters. The
/// percent sign comes first, so that doubly encoded characters are decoded as well.
const PERCENT_ENCODED_PATH_CHARACTERS: [(&str, &str); 4] = [("%25", "%"), ("%2e", "."), ("%2f", "/"), ("%5c", "\\")];
/// Maximum length of a skill's name, in characters, as defined by the Agent Skills specification.
const MAX_SKILL_NAME_CHARS: usize = 64;

/// A skill of a server. Identified by the user's name for the server and by `uri`, since several skills may have the
/// same name.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// URI of the skill's `SKILL.md`.
    pub uri: String,
    /// Name of the skill in its frontmatter.
    pub name: String,
    /// Purpose of the skill, as described in the frontmatter.
    pub description: String,
    /// Complete frontmatter of the `SKILL.md`.
    pub frontmatter: Map<String, Value>,
    /// Files of the skill: a list with digests, or a note that they are generated on request.
    pub files: SkillFiles,
}

/// The files of a skill: listed with digests, or generated on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFiles {
    /// All files of the skill, including `SKILL.md`.
    Listed(Vec<SkillFile>),
    /// The files are generated on request, so that their digests are not known in advance.
    Dynamic,
}

/// A file of a skill. Contents with another size or hash are rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkillFile {
    /// URI of the file, with which the host requests it from the server.
    pub uri: String,
    /// SHA-256 of the file, as 64 lowercase hexadecimal digits.
    pub sha256: String,
    /// Size of the file, in bytes.
    pub size: u64,
}

/// Entry of a skill as the server sends it, before it is validated.
#[derive(Deserialize)]
struct RawSkillEntry {
    uri: String,
    frontmatter: Map<String, Value>,
    resources: Value,
}

/// File in a skill's entry as the server sends it, before it is validated.
#[derive(Deserialize)]
struct RawSkillFile {
    uri: String,
    digest: String,
    size: u64,
}

impl Skill {
    /// Parses the entry of a skill, as `skills/list` or `skills/get` returns it.
    ///
    /// # Errors
    ///
    /// Returns the cause as text if the entry violates a rule of the extension. Such a skill must not be loaded.
    pub fn parse(entry: Value) -> Result<Self, String> {
        let RawSkillEntry { uri, frontmatter, resources } = serde_json::from_value(entry).map_err(|e| e.to_string())?;
        let text = |key: &str| match frontmatter.get(key).and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => Err(format!("its frontmatter has no {key}")),
        };
        let (name, description) = (text("name")?, text("description")?);
        if !is_valid_skill_name(&name) {
            return Err("its name is not made of small letters, digits and single hyphens".to_owned());
        }
        let root = uri.strip_suffix("/SKILL.md").ok_or("its URI does not end with /SKILL.md")?;
        if root.rsplit('/').next() != Some(name.as_str()) {
            return Err(format!("its folder is not called {name}, which is its name"));
        }
        let files = parse_skill_files(&uri, root, resources)?;
        Ok(Self { uri, name, description, frontmatter, files })
    }

    /// Returns the hash of the complete entry, including the digests of the files.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let files = match &self.files {
            SkillFiles::Listed(files) => {
                let entry = |file: &SkillFile| json!([file.uri, file.sha256, file.size]);
                Value::Array(files.iter().map(entry).collect())
            }
            SkillFiles::Dynamic => Value::Null,
        };
        Hash::of_json(&json!([self.uri, self.frontmatter, files]))
    }

    /// Returns the listed file with this URI.
    #[must_use]
    pub fn file(&self, uri: &str) -> Option<&SkillFile> {
        match &self.files {
            SkillFiles::Listed(files) => files.iter().find(|file| file.uri == uri),
            SkillFiles::Dynamic => None,
        }
    }

    /// Returns `true` if a URI is within the skill's folder.
    pub(super) fn folder_contains(&self, uri: &str) -> bool {
        self.uri.strip_suffix("/SKILL.md").is_some_and(|root| is_within_folder(root, uri))
    }
}

/// Returns `true` if the URI is that of a file within the folder `root`, without a segment that leads out of it.
/// Percent-encoded dots and separators are taken into account, since the server may decode the URI before it resolves
/// it.
fn is_within_folder(root: &str, uri: &str) -> bool {
    let rest = uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let decoded = rest.map(|path| {
        PERCENT_ENCODED_PATH_CHARACTERS
            .iter()
            .fold(path.to_ascii_lowercase(), |path, (from, to)| path.replace(from, to))
    });
    decoded.is_some_and(|path| path.split(['/', '\\']).all(|part| !matches!(part, "" | "." | "..")))
}

fn parse_skill_files(uri: &str, root: &str, resources: Value) -> Result<SkillFiles, String> {
    let entries = match resources {
        Value::Array(entries) => entries,
        Value::String(word) if word == "dynamic" => return Ok(SkillFiles::Dynamic),
        _ => return Err("its resources are neither a list nor \"dynamic\"".to_owned()),
    };
    if entries.len() > MAX_SKILL_FILES {
        return Err(format!("it has {} files, more than {MAX_SKILL_FILES}", entries.len()));
    }
    let mut files: Vec<SkillFile> = Vec::with_capacity(entries.len());
    let mut bytes: u64 = 0;
    for entry in entries {
        let RawSkillFile { uri, digest, size } =
            serde_json::from_value(entry).map_err(|e| format!("a file of it: {e}"))?;
        let digits = digest.strip_prefix("sha256:").filter(|digits| is_sha256(digits));
        let sha256 = digits.ok_or_else(|| format!("the digest of {uri} is not a SHA-256"))?.to_owned();
        if !is_within_folder(root, &uri) {
            return Err(format!("{uri} is not in the folder of the skill"));
        }
        if files.iter().any(|file| file.uri == uri) {
            return Err(format!("{uri} is listed twice"));
        }
        bytes = bytes.saturating_add(size);
        files.push(SkillFile { uri, sha256, size });
    }
    if bytes > MAX_SKILL_BYTES {
        return Err(format!("its files have {bytes} bytes, more than {MAX_SKILL_BYTES}"));
    }
    if files.iter().all(|file| file.uri != uri) {
        return Err("its files lack its own SKILL.md".to_owned());
    }
    Ok(SkillFiles::Listed(files))
}

fn is_sha256(digits: &str) -> bool {
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_valid_skill_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= MAX_SKILL_NAME_CHARS && name.split('-').all(is_part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    const SKILL_URI: &str = "skill://acme/refunds/SKILL.md";

    fn valid_skill_entry() -> Value {
        let digest = format!("sha256:{}", "0a".repeat(32));
        json!({
            "uri": SKILL_URI,
            "frontmatter": { "name": "refunds", "description": "Pay it back", "license": "MIT" },
            "resources": [
                { "uri": SKILL_URI, "digest": digest, "size": 10 },
                { "uri": "skill://acme/refunds/a/b.md", "digest": digest, "size": 20 },
            ],
        })
    }

    #[test]
    fn skill_entry_is_parsed_completely() {
        let skill = Skill::parse(valid_skill_entry()).unwrap();
        assert_eq!(
            (skill.name.as_str(), skill.description.as_str()),
            ("refunds", "Pay it back"),
            "name and description are parsed"
        );
        assert_eq!(skill.frontmatter["license"], "MIT", "other fields of the frontmatter are retained");
        assert_eq!(skill.file("skill://acme/refunds/a/b.md").unwrap().size, 20, "the size of each file is parsed");
        let mut dynamic = valid_skill_entry();
        dynamic["resources"] = json!("dynamic");
        assert_eq!(Skill::parse(dynamic).unwrap().files, SkillFiles::Dynamic, "a dynamic skill is recognized");
    }

    /// Rejects each entry of a skill that violates a rule of the extension. Covers the requirement
    /// `[lifecycle-ext-untrusted]`.
    #[test]
    fn invalid_skill_entry_is_rejected() {
        let broken = |path: &str, value: Value, problem: &str| {
            let mut entry = valid_skill_entry();
            *entry.pointer_mut(path).unwrap() = value.clone();
            let cause = Skill::parse(entry).unwrap_err();
            assert!(cause.contains(problem), "{path} with {value} is refused because of {problem}: {cause}");
        };
        broken("/uri", json!("skill://acme/refunds"), "/SKILL.md");
        broken("/uri", json!("skill://acme/other/SKILL.md"), "not called refunds");
        broken("/frontmatter/name", json!("Refunds"), "small letters");
        broken("/frontmatter/description", json!(" "), "description");
        broken("/resources", Value::Null, "neither a list");
        broken("/resources/0/uri", json!("skill://acme/refunds/c.md"), "lack its own");
        broken("/resources/1/uri", json!(SKILL_URI), "twice");
        broken("/resources/1/uri", json!("skill://acme/refunds/../x.md"), "not in the folder");
        broken("/resources/1/uri", json!("skill://other/x.md"), "not in the folder");
        for path in ["%2e%2E/x.md", ".%2e/x.md", "a/%252e%252e/x.md", "%2e%2e%2fx.md", "..%5Cx.md", "..\\x.md"] {
            broken("/resources/1/uri", json!(format!("skill://acme/refunds/{path}")), "not in the folder");
        }
        broken("/resources/1/digest", json!("sha256:00"), "not a SHA-256");
        broken("/resources/1/size", json!(MAX_SKILL_BYTES), "more than");
    }

    #[test]
    fn skill_entry_at_the_limits_is_accepted() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let files = |count: usize| {
            let uri = |i: usize| if i == 0 { SKILL_URI.to_owned() } else { format!("skill://acme/refunds/{i}.md") };
            let mut entry = valid_skill_entry();
            entry["resources"] =
                (0..count).map(|i| json!({ "uri": uri(i), "digest": digest, "size": 32 * 1024 })).collect();
            Skill::parse(entry)
        };
        assert!(files(MAX_SKILL_FILES).is_ok(), "512 files with 16 MiB in total are accepted");
        assert!(files(MAX_SKILL_FILES + 1).is_err(), "a 513th file is rejected");
    }
}
