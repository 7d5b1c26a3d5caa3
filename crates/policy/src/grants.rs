//! Standing approvals.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{Hash, Scope};

/// To refer to a grant by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct GrantId(pub u64);

/// What a grant is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Starting the server, or connecting to it.
    Command,
    /// Calling this tool.
    Tool(String),
}

/// A standing approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// To refer to it by.
    pub id: GrantId,
    /// The user's name for the server.
    pub server: String,
    /// What it is for.
    pub subject: Subject,
    /// What it rests on; with any other bytes it does not hold.
    pub rests_on: Hash,
    /// For how long; never [`Scope::Once`].
    pub scope: Scope,
    /// The conversation it holds in, if its scope is [`Scope::Conversation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// Until when, in milliseconds since 1970, if not for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// What was approved, in words for the user (a command line or a URL).
    #[serde(default)]
    pub words: String,
}

impl Grant {
    /// Whether its time is over.
    #[must_use]
    pub fn has_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it holds in this conversation.
    pub(crate) fn is_of(&self, conversation: Option<&str>) -> bool {
        self.scope != Scope::Conversation || (conversation.is_some() && self.conversation.as_deref() == conversation)
    }
}

/// There are as many grants as may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are {} standing approvals already; revoke some first", Grants::LIMIT)]
pub struct TooManyGrants;

/// All standing approvals: at most one for each subject of a server, and one more for it in each conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    servers: HashMap<String, OfServer>,
    count: usize,
    next: u64,
}

/// Those of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfServer {
    command: Vec<Grant>,
    tools: HashMap<String, Vec<Grant>>,
}

impl OfServer {
    fn lists(&self) -> impl Iterator<Item = &Vec<Grant>> {
        std::iter::once(&self.command).chain(self.tools.values())
    }

    fn lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<Grant>> {
        std::iter::once(&mut self.command).chain(self.tools.values_mut())
    }
}

impl Grants {
    /// The most grants there may be.
    pub const LIMIT: usize = 5_000;

    /// Takes over grants that were kept. Those beyond the limit, or that do not last, are left out.
    #[must_use]
    pub fn from_kept(kept: Vec<Grant>) -> Self {
        let mut grants = Self::default();
        for grant in kept.into_iter().filter(|g| g.scope == Scope::Always) {
            // Over the limit nothing stands, so those are asked again.
            let _ = grants.add(grant);
        }
        grants
    }

    /// The grant for a subject of a server, whether or not it holds still.
    #[must_use]
    pub fn find(&self, server: &str, subject: &Subject) -> Option<&Grant> {
        let own = match subject {
            Subject::Command => self.of_command(server),
            Subject::Tool(tool) => self.of_tool(server, tool),
        };
        own.first()
    }

    /// Those for starting a server.
    pub(crate) fn of_command(&self, server: &str) -> &[Grant] {
        self.servers.get(server).map_or(&[], |own| &own.command)
    }

    /// Those for calling a tool.
    pub(crate) fn of_tool(&self, server: &str, tool: &str) -> &[Grant] {
        self.servers.get(server).and_then(|own| own.tools.get(tool)).map_or(&[], Vec::as_slice)
    }

    /// Adds a grant, with a new number; it takes the place of an older one for the same subject and conversation.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(&mut self, grant: Grant) -> Result<GrantId, TooManyGrants> {
        let is_replaced = |own: &Grant| own.subject == grant.subject && own.conversation == grant.conversation;
        self.retain(&grant.server, |own| !is_replaced(own));
        if self.count >= Self::LIMIT {
            return Err(TooManyGrants);
        }
        self.next += 1;
        self.count += 1;
        let grant = Grant { id: GrantId(self.next), ..grant };
        let own = self.servers.entry(grant.server.clone()).or_default();
        let list = match &grant.subject {
            Subject::Command => &mut own.command,
            Subject::Tool(tool) => own.tools.entry(tool.clone()).or_default(),
        };
        list.push(grant);
        Ok(GrantId(self.next))
    }

    /// Takes a grant back.
    pub fn revoke(&mut self, id: GrantId) -> Option<Grant> {
        let found = self.iter().find(|grant| grant.id == id)?.clone();
        self.retain(&found.server, |own| own.id != id);
        Some(found)
    }

    /// Has a grant end with this session, as it could not be kept.
    pub fn keep_for_session(&mut self, id: GrantId) {
        let own = self.servers.values_mut().flat_map(OfServer::lists_mut).flatten();
        own.filter(|grant| grant.id == id).for_each(|grant| grant.scope = Scope::Session);
    }

    /// Takes over the lasting grants as they are kept now: those that are there no more are taken back, new ones added. Gives
    /// both. All other grants stay, and so do the numbers of those that are the same.
    pub fn replace_kept(&mut self, kept: Vec<Grant>) -> (Vec<Grant>, Vec<Grant>) {
        let place = |grant: &Grant| (grant.server.clone(), grant.subject.clone());
        let lasting = kept.into_iter().filter(|grant| grant.scope == Scope::Always);
        let mut new: HashMap<_, Grant> = lasting.map(|grant| (place(&grant), grant)).collect();
        let mut gone = Vec::new();
        for own in self.to_keep() {
            let is_same = |kept: &Grant| Grant { id: own.id, ..kept.clone() } == own;
            if new.get(&place(&own)).is_some_and(is_same) {
                new.remove(&place(&own));
            } else {
                gone.push(own);
            }
        }
        for grant in &gone {
            self.revoke(grant.id);
        }
        // Over the limit nothing stands, so those are asked again.
        let added = new.into_values().filter(|grant| self.add(grant.clone()).is_ok()).collect();
        (gone, added)
    }

    /// Takes back all grants of a server.
    pub fn remove_server(&mut self, server: &str) {
        self.retain(server, |_| false);
    }

    /// Keeps those of a server that are wanted.
    fn retain(&mut self, server: &str, is_wanted: impl Fn(&Grant) -> bool) {
        let Some(own) = self.servers.get_mut(server) else { return };
        for list in own.lists_mut() {
            let before = list.len();
            list.retain(|grant| is_wanted(grant));
            self.count -= before - list.len();
        }
        own.tools.retain(|_, list| !list.is_empty());
        if own.lists().all(Vec::is_empty) {
            self.servers.remove(server);
        }
    }

    /// All grants, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        let mut all: Vec<&Grant> = self.servers.values().flat_map(OfServer::lists).flatten().collect();
        all.sort_unstable_by_key(|grant| grant.id);
        all.into_iter()
    }

    /// Those to keep when the host ends.
    #[must_use]
    pub fn to_keep(&self) -> Vec<Grant> {
        self.iter().filter(|g| g.scope == Scope::Always).cloned().collect()
    }
}
