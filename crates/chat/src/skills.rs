//! Lists and reads the skills of servers. Used by `api` for the page and the command line.

use std::collections::HashSet;
use std::time::Duration;

use domain::call::CallFailure;
use domain::item::ResourceContents;
use host::Host;
use offers::catalog::{MAX_CATALOG_LIST_ITEMS, MAX_LIST_BYTES, MAX_LIST_PAGES};
use offers::skills::{Skill, SkillMismatch, check_skill_file_listed, verify_skill_file};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::time::timeout;

/// Timeout of reading all pages of a server's list of skills, before a single skill is read.
const SKILL_LISTING_TIMEOUT: Duration = Duration::from_secs(60);

/// The list of the skills that a server offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SkillList {
    /// Skills in the server's list whose entries are valid. A server may have skills that it doesn't list.
    pub skills: Vec<Skill>,
    /// Entries of the server's list that violate the skills extension's rules, as pairs of their URI (if known) and the
    /// violation.
    pub dropped: Vec<(String, String)>,
    /// Set if `skills` contains only the beginning of the server's list, since that is too long.
    pub is_cut: bool,
}

/// A skill whose instructions were read and verified against its entry in the server's list. Its other files are
/// verified against the same entry.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSkill {
    /// Name of the server as chosen by the user. It has to be displayed wherever the text is displayed.
    pub server: String,
    /// Entry of the skill in the server's list.
    pub skill: Skill,
    /// Content of the skill's `SKILL.md`.
    pub text: String,
}

/// A file of a skill that was verified against the entry in the server's list.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedSkillFile {
    /// Entry of the skill in the server's list.
    pub skill: Skill,
    /// Contents of the file, as text or as bytes.
    pub contents: ResourceContents,
}

/// Error of listing skills, or of reading a skill or one of its files.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SkillError {
    /// The server's response could not be obtained, for this reason.
    #[error(transparent)]
    Call(#[from] CallFailure),
    /// The server does not list this skill.
    #[error("{server} lists no skill at {uri}")]
    NotListed {
        /// Name of the server.
        server: String,
        /// URI of the skill's `SKILL.md`.
        uri: String,
    },
    /// The skill's entry in the server's list differs from the entry that was displayed to the user.
    #[error("{server} changed the skill at {uri} since it was shown; read the list of skills again")]
    Changed {
        /// Name of the server.
        server: String,
        /// URI of the skill's `SKILL.md`.
        uri: String,
    },
    /// The response of the server violates the skills extension.
    #[error("{server}: the skill can't be used: {cause}")]
    Unusable {
        /// Name of the server.
        server: String,
        /// Text for the user that explains the violation.
        cause: String,
    },
    /// A file doesn't match the skill's entry in the server's list. The list has to be read again.
    #[error("{server}: {uri} was not used: {cause}; read the list of skills again")]
    Mismatch {
        /// Name of the server.
        server: String,
        /// URI of the file.
        uri: String,
        /// Difference between the file and the skill's entry.
        cause: SkillMismatch,
    },
}

/// Lists and reads the skills of a host's servers.
#[derive(Clone, Copy)]
pub struct SkillReader<'a> {
    host: &'a Host,
}

impl<'a> SkillReader<'a> {
    /// Creates a reader for the servers of this host.
    #[must_use]
    pub const fn new(host: &'a Host) -> Self {
        Self { host }
    }

    /// Lists the skills of a server without reading the skills' files.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::Call`] if the server doesn't support skills or a request fails, and
    /// [`SkillError::Unusable`] if the response violates the extension.
    pub async fn list(self, server: String) -> Result<SkillList, SkillError> {
        let mut list = SkillList::default();
        let mut uris = HashSet::new();
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        for _ in 0..MAX_LIST_PAGES {
            let params = cursor.iter().map(|cursor| ("cursor".to_owned(), Value::from(cursor.as_str()))).collect();
            let mut page = self.host.request_skills(server.clone(), "skills/list", params).await?;
            let Some(Value::Array(entries)) = page.remove("skills") else {
                return Err(unusable_skill_error(&server, "the answer has no list of skills"));
            };
            for entry in entries {
                bytes += entry.to_string().len();
                if list.skills.len() + list.dropped.len() == MAX_CATALOG_LIST_ITEMS || bytes > MAX_LIST_BYTES {
                    list.is_cut = true;
                    return Ok(list);
                }
                list.add(entry, &mut uris);
            }
            match page.remove("nextCursor") {
                Some(Value::String(next)) if cursor.as_ref() != Some(&next) => cursor = Some(next),
                _ => return Ok(list),
            }
        }
        list.is_cut = true;
        Ok(list)
    }

    /// Requests the entry of a skill by the URI of its `SKILL.md`, even if the server doesn't list the skill.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::Call`] if the request fails, and [`SkillError::Unusable`] if the entry violates the
    /// extension.
    pub async fn get(self, server: String, uri: String) -> Result<Skill, SkillError> {
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri.as_str()))]);
        let mut answer = self.host.request_skills(server.clone(), "skills/get", params).await?;
        let entry = answer.remove("skill").unwrap_or_default();
        let skill = Skill::parse(entry).map_err(|cause| unusable_skill_error(&server, &cause))?;
        if skill.uri == uri {
            Ok(skill)
        } else {
            Err(unusable_skill_error(&server, "the server answered with another skill"))
        }
    }

    /// Reads the instructions of a skill (`SKILL.md`), and verifies them against the skill's entry in the server's
    /// list. `id` is the id of the call, chosen by the caller.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::Call`] if the file can't be read, [`SkillError::Mismatch`] if it differs from its entry,
    /// and [`SkillError::Unusable`] if it is not UTF-8. In each case the content of the file must not be used.
    pub async fn load(self, id: String, server: String, skill: Skill) -> Result<LoadedSkill, SkillError> {
        let bytes = self.verified_file(id, &server, &skill, &skill.uri).await?;
        let text = String::from_utf8(bytes).map_err(|_| unusable_skill_error(&server, "its SKILL.md is not UTF-8"))?;
        Ok(LoadedSkill { server, skill, text })
    }

    /// Reads a file of the skill `loaded` from the server of that skill, and verifies it against the skill's entry.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::Call`] if the file can't be read, and [`SkillError::Mismatch`] if it is not part of the
    /// entry or differs from it. In each case the content of the file must not be used.
    pub async fn read_file(self, id: String, loaded: &LoadedSkill, uri: &str) -> Result<Vec<u8>, SkillError> {
        self.verified_file(id, &loaded.server, &loaded.skill, uri).await
    }

    /// Reads the instructions of a listed skill, or one of its files, and verifies them against its entry. The list is
    /// read first, so that only a listed URI is sent to the server and the file is verified against the current entry.
    /// `shown` is the hash of the displayed entry ([`Skill::hash`]), or `None` if none was displayed. `id` is the id of
    /// the call, by which the whole operation can be cancelled.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::NotListed`] if the server doesn't list the skill, [`SkillError::Changed`] if its entry
    /// differs from the displayed one, [`SkillError::Call`] if a request fails, [`SkillError::Mismatch`] if the file
    /// differs from its entry, and [`SkillError::Unusable`] if the list is invalid or takes too long. In each case the
    /// content of the file must not be used.
    pub async fn read(
        self,
        id: String,
        server: String,
        (uri, shown): (String, Option<Hash>),
        file: Option<String>,
    ) -> Result<VerifiedSkillFile, SkillError> {
        let listing = self.host.run_cancellable(&id, timeout(SKILL_LISTING_TIMEOUT, self.list(server.clone())));
        let Ok(listed) = listing.await? else {
            return Err(unusable_skill_error(
                &server,
                &format!("its list took more than {} s", SKILL_LISTING_TIMEOUT.as_secs()),
            ));
        };
        let Some(skill) = listed?.skills.into_iter().find(|skill| skill.uri == uri) else {
            return Err(SkillError::NotListed { server, uri });
        };
        if shown.is_some_and(|shown| shown != skill.hash()) {
            return Err(SkillError::Changed { server, uri });
        }
        let Some(file) = file.filter(|file| *file != uri) else {
            let LoadedSkill { skill, text, .. } = self.load(id, server, skill).await?;
            let mime_type = Some("text/markdown".to_owned());
            return Ok(VerifiedSkillFile {
                skill,
                contents: ResourceContents { uri, mime_type, text: Some(text), blob: None },
            });
        };
        let (mut contents, _) = self.verified_contents(id, &server, &skill, &file).await?;
        // Only the text was verified, so any other content is ignored.
        if contents.text.is_some() {
            contents.blob = None;
        }
        Ok(VerifiedSkillFile { skill, contents })
    }

    /// Reads a file of a skill, and returns its bytes after verifying them against the skill's entry.
    async fn verified_file(self, id: String, server: &str, skill: &Skill, uri: &str) -> Result<Vec<u8>, SkillError> {
        Ok(self.verified_contents(id, server, skill, uri).await?.1)
    }

    /// Reads a file of a skill, and verifies its bytes against the skill's entry. If cached contents don't match,
    /// requests the file from the server, since the cached contents may be older than the entry.
    async fn verified_contents(
        self,
        id: String,
        server: &str,
        skill: &Skill,
        uri: &str,
    ) -> Result<(ResourceContents, Vec<u8>), SkillError> {
        let mismatch = |cause| SkillError::Mismatch { server: server.to_owned(), uri: uri.to_owned(), cause };
        check_skill_file_listed(skill, uri).map_err(mismatch)?;
        let mut read =
            self.host.read_resource_with_freshness(id.clone(), server.to_owned(), uri.to_owned(), false).await?;
        let mut bytes = verify_skill_file(skill, uri, &read.contents);
        if bytes.is_err() && read.cached {
            read = self.host.read_resource_with_freshness(id, server.to_owned(), uri.to_owned(), true).await?;
            bytes = verify_skill_file(skill, uri, &read.contents);
        }
        let bytes = bytes.map_err(mismatch)?;
        let contents = read.contents.pop().ok_or_else(|| mismatch(SkillMismatch::OtherContents))?;
        Ok((contents.into(), bytes))
    }
}

impl SkillList {
    /// Adds an entry of the server's response to the list, or records why the entry was dropped. `uris` contains the
    /// URIs of all skills so far: comparing each entry with all others would take seconds for a hostile list.
    fn add(&mut self, entry: Value, uris: &mut HashSet<String>) {
        let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        match Skill::parse(entry) {
            Ok(skill) if uris.insert(skill.uri.clone()) => self.skills.push(skill),
            Ok(_) => self.dropped.push((uri, "the list contains it twice".to_owned())),
            Err(cause) => self.dropped.push((uri, cause)),
        }
    }
}

fn unusable_skill_error(server: &str, cause: &str) -> SkillError {
    SkillError::Unusable { server: server.to_owned(), cause: cause.to_owned() }
}
