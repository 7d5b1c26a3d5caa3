//! Asking a server for its skills, and loading one. Callers: `api`, for the page and the CLI, and the conformance client.

use std::collections::HashSet;
use std::time::Duration;

use domain::call::CallFailure;
use domain::item::ResourceContents;
use mcp_proto::session::{ClientRequest, ServerResult};
use offers::catalog::{MAX_ITEMS, MAX_LIST, MAX_PAGES};
use offers::skills::{EXTENSION, Mismatch, Skill, check_listed, verified};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::Host;

/// The most time for a list of skills that is read on the way to one of them, however many pages it has.
const MAX_LISTING: Duration = Duration::from_secs(60);

/// The skills of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SkillList {
    /// Those that can be loaded. A server may serve more than it lists.
    pub skills: Vec<Skill>,
    /// Entries that break a rule of the extension: their URI, as far as it is known, and the cause.
    pub dropped: Vec<(String, String)>,
    /// Whether the list is longer than what was read.
    pub is_cut: bool,
}

/// A skill whose instructions were loaded. Its files are read under the entry that it was loaded with.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSkill {
    /// The user's own name for the server it comes from; to be shown and told wherever the text goes.
    pub server: String,
    /// The entry.
    pub skill: Skill,
    /// Its `SKILL.md`.
    pub text: String,
}

/// A file of a skill, checked against the entry that the server lists.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillFileRead {
    /// The entry.
    pub skill: Skill,
    /// The file as text, or as bytes where it is none.
    pub contents: ResourceContents,
}

/// Why there is no skill or no file of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SkillError {
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallFailure),
    /// The server lists no such skill.
    #[error("{server} lists no skill at {uri}")]
    NotListed {
        /// The server.
        server: String,
        /// The URI of its `SKILL.md`.
        uri: String,
    },
    /// The server lists another entry than the user saw.
    #[error("{server} changed the skill at {uri} since it was shown; read the list of skills again")]
    Changed {
        /// The server.
        server: String,
        /// The URI of its `SKILL.md`.
        uri: String,
    },
    /// The answer can't be used.
    #[error("{server}: the skill can't be used: {cause}")]
    Unusable {
        /// The server.
        server: String,
        /// Why.
        cause: String,
    },
    /// What came is not what was listed. Read the list again: the skill may have changed.
    #[error("{server}: {uri} was not used: {cause}; read the list of skills again")]
    Mismatch {
        /// The server.
        server: String,
        /// The file.
        uri: String,
        /// In what it differs.
        cause: Mismatch,
    },
}

impl Host {
    /// Reads which skills a server lists. No file of them is read.
    ///
    /// # Errors
    /// If the server has no skills or does not answer as the extension says.
    pub async fn skills(&self, server: String) -> Result<SkillList, SkillError> {
        let mut list = SkillList::default();
        let mut uris = HashSet::new();
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            let params = cursor.iter().map(|cursor| ("cursor".to_owned(), Value::from(cursor.as_str()))).collect();
            let mut page = self.skill_request(&server, "skills/list", params).await?;
            let Some(Value::Array(entries)) = page.remove("skills") else {
                return Err(unusable(&server, "the answer has no list of skills"));
            };
            for entry in entries {
                bytes += entry.to_string().len();
                if list.skills.len() + list.dropped.len() == MAX_ITEMS || bytes > MAX_LIST {
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

    /// Asks a server for one skill by the URI of its `SKILL.md`, whether it lists it or not.
    ///
    /// # Errors
    /// If the server does not serve it, or its entry breaks a rule of the extension.
    pub async fn skill(&self, server: String, uri: String) -> Result<Skill, SkillError> {
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri.as_str()))]);
        let mut answer = self.skill_request(&server, "skills/get", params).await?;
        let entry = answer.remove("skill").unwrap_or_default();
        let skill = Skill::read(entry).map_err(|cause| unusable(&server, &cause))?;
        if skill.uri == uri { Ok(skill) } else { Err(unusable(&server, "the server answered with another skill")) }
    }

    /// Loads a skill's instructions, checked against its entry. `id` is the call's, chosen by the caller.
    ///
    /// # Errors
    /// If the file can't be read, or is not what the entry says: then nothing of it may be used.
    pub async fn load_skill(&self, id: String, server: String, skill: Skill) -> Result<LoadedSkill, SkillError> {
        let bytes = self.verified_file(id, &server, &skill, &skill.uri).await?;
        let text = String::from_utf8(bytes).map_err(|_| unusable(&server, "its SKILL.md is not UTF-8"))?;
        Ok(LoadedSkill { server, skill, text })
    }

    /// Reads a file of a loaded skill, from the server it came from and no other.
    ///
    /// # Errors
    /// If it is not listed, can't be read, or is not what the entry says: then nothing of it may be used.
    pub async fn read_skill_file(&self, id: String, loaded: &LoadedSkill, uri: &str) -> Result<Vec<u8>, SkillError> {
        self.verified_file(id, &loaded.server, &loaded.skill, uri).await
    }

    /// Reads the instructions of a listed skill, or one of its files, checked against its entry. The list is read first: only a
    /// URI that the server lists is sent, and the check is against what the server lists now. `shown` is the hash of the entry that the
    /// user saw ([`Skill::hash`]); none where no entry was shown. `id` is the call's, by which it can be cancelled from the start.
    ///
    /// # Errors
    /// If the server lists no such skill, or another than was shown, or the file can't be read or is not what the entry says: then nothing
    /// of it may be used.
    pub async fn read_skill(
        &self,
        id: String,
        server: String,
        (uri, shown): (String, Option<Hash>),
        file: Option<String>,
    ) -> Result<SkillFileRead, SkillError> {
        let listing = self.cancellable(&id, timeout(MAX_LISTING, self.skills(server.clone())));
        let Ok(listed) = listing.await? else {
            return Err(unusable(&server, &format!("its list took more than {} s", MAX_LISTING.as_secs())));
        };
        let Some(skill) = listed?.skills.into_iter().find(|skill| skill.uri == uri) else {
            return Err(SkillError::NotListed { server, uri });
        };
        if shown.is_some_and(|shown| shown != skill.hash()) {
            return Err(SkillError::Changed { server, uri });
        }
        let Some(file) = file.filter(|file| *file != uri) else {
            let LoadedSkill { skill, text, .. } = self.load_skill(id, server, skill).await?;
            let mime_type = Some("text/markdown".to_owned());
            return Ok(SkillFileRead {
                skill,
                contents: ResourceContents { uri, mime_type, text: Some(text), blob: None },
            });
        };
        let (mut contents, _) = self.verified_contents(id, &server, &skill, &file).await?;
        // The text is what was checked.
        if contents.text.is_some() {
            contents.blob = None;
        }
        Ok(SkillFileRead { skill, contents })
    }

    async fn verified_file(&self, id: String, server: &str, skill: &Skill, uri: &str) -> Result<Vec<u8>, SkillError> {
        Ok(self.verified_contents(id, server, skill, uri).await?.1)
    }

    /// A file and its bytes, once they are what the entry says. Contents that were retained may be older than the entry; then the
    /// server is asked for them again.
    async fn verified_contents(
        &self,
        id: String,
        server: &str,
        skill: &Skill,
        uri: &str,
    ) -> Result<(ResourceContents, Vec<u8>), SkillError> {
        let mismatch = |cause| SkillError::Mismatch { server: server.to_owned(), uri: uri.to_owned(), cause };
        check_listed(skill, uri).map_err(mismatch)?;
        let mut read = self.read(id.clone(), server.to_owned(), uri.to_owned(), false).await?;
        let mut bytes = verified(skill, uri, &read.contents);
        if bytes.is_err() && read.cached {
            read = self.read(id, server.to_owned(), uri.to_owned(), true).await?;
            bytes = verified(skill, uri, &read.contents);
        }
        let bytes = bytes.map_err(mismatch)?;
        let contents = read.contents.pop().ok_or_else(|| mismatch(Mismatch::OtherContents))?;
        Ok((contents.into(), bytes))
    }

    async fn skill_request(
        &self,
        server: &str,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, SkillError> {
        let request = ClientRequest::Extension { extension: EXTENSION, method, params };
        match self.list_request(server.to_owned(), request).await? {
            ServerResult::Extension { result, .. } => Ok(result),
            _ => Err(unusable(server, "it answers another request")),
        }
    }
}

impl SkillList {
    /// Adds an entry. `uris` are those of the skills so far: comparing each with all others takes seconds for a hostile list.
    fn add(&mut self, entry: Value, uris: &mut HashSet<String>) {
        let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        match Skill::read(entry) {
            Ok(skill) if uris.insert(skill.uri.clone()) => self.skills.push(skill),
            Ok(_) => self.dropped.push((uri, "it stands in the list twice".to_owned())),
            Err(cause) => self.dropped.push((uri, cause)),
        }
    }
}

fn unusable(server: &str, cause: &str) -> SkillError {
    SkillError::Unusable { server: server.to_owned(), cause: cause.to_owned() }
}
