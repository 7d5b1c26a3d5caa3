//! Standing approvals.

use serde::{Deserialize, Serialize};

use crate::{Hash, Scope};

/// To refer to a grant by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// What was approved, in words for the user (a command line or a URL).
    #[serde(default)]
    pub words: String,
}

/// There are as many grants as may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are {} standing approvals already; revoke some first", Grants::LIMIT)]
pub struct TooManyGrants;

/// All standing approvals: at most one for each subject of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    list: Vec<Grant>,
    next: u64,
}

impl Grants {
    /// The most grants there may be.
    pub const LIMIT: usize = 5_000;

    /// Takes over grants that were kept. Those beyond the limit, or for one act only, are left out.
    #[must_use]
    pub fn from_kept(kept: Vec<Grant>) -> Self {
        let mut grants = Self::default();
        for grant in kept.into_iter().filter(|g| g.scope == Scope::Always) {
            // Over the limit nothing stands, so those are asked again.
            let _ = grants.add(grant.server, grant.subject, grant.rests_on, grant.scope, grant.since, grant.words);
        }
        grants
    }

    /// The grant for a subject of a server, whether or not what it rests on is still the same.
    #[must_use]
    pub fn find(&self, server: &str, subject: &Subject) -> Option<&Grant> {
        self.list.iter().find(|g| g.server == server && g.subject == *subject)
    }

    /// The grant for calling a tool.
    pub(crate) fn find_tool(&self, server: &str, tool: &str) -> Option<&Grant> {
        let is_it = |grant: &&Grant| matches!(&grant.subject, Subject::Tool(own) if own == tool);
        self.list.iter().filter(|grant| grant.server == server).find(is_it)
    }

    /// Adds a grant; it takes the place of an older one for the same subject.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(
        &mut self,
        server: String,
        subject: Subject,
        rests_on: Hash,
        scope: Scope,
        since: u64,
        words: String,
    ) -> Result<GrantId, TooManyGrants> {
        self.list.retain(|g| !(g.server == server && g.subject == subject));
        if self.list.len() >= Self::LIMIT {
            return Err(TooManyGrants);
        }
        self.next += 1;
        let id = GrantId(self.next);
        self.list.push(Grant { id, server, subject, rests_on, scope, since, words });
        Ok(id)
    }

    /// Takes a grant back.
    pub fn revoke(&mut self, id: GrantId) -> Option<Grant> {
        let at = self.list.iter().position(|g| g.id == id)?;
        Some(self.list.remove(at))
    }

    /// Takes back all grants of a server.
    pub fn remove_server(&mut self, server: &str) {
        self.list.retain(|g| g.server != server);
    }

    /// All grants, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.list.iter()
    }

    /// Those to keep when the host ends.
    #[must_use]
    pub fn to_keep(&self) -> Vec<Grant> {
        self.list.iter().filter(|g| g.scope == Scope::Always).cloned().collect()
    }
}
