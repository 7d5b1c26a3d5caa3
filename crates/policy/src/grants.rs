//! Grants: approvals that apply to more than a single act.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{ApprovalScope, Hash};

/// Identifier of a grant, unique in one [`Grants`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct GrantId(pub u64);

/// The kind of act that a grant allows: a start or connection, or calls of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantSubject {
    /// Starting the local server with the approved command, or connecting to the remote server at the approved address.
    Command,
    /// Calling the tool of this name.
    Tool(String),
}

/// The originator of an act for which a permission was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UsedBy {
    /// The user, in the window.
    User,
    /// A model, in a conversation.
    Model,
    /// An app (MCP Apps), which is a page that a server provides.
    App,
    /// The user, on the command line.
    CommandLine,
    /// The host, which started or restarted a server by itself.
    Host,
    /// The server itself, by a request.
    Server,
}

/// The last act for which a permission was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LastUse {
    /// Time of the act, in milliseconds since 1970.
    pub at: u64,
    /// Originator of the act.
    pub by: UsedBy,
}

/// An approval that applies to more than a single act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Identifier, assigned by [`Grants::add`].
    pub id: GrantId,
    /// The user's name for the server.
    pub server: String,
    /// The kind of act that the grant allows: a start or connection, or calls of one tool.
    pub subject: GrantSubject,
    /// Hash that the grant is bound to: that of the approved command or address, or `grant_hash` of
    /// [`PolicyAct::CallTool`](crate::PolicyAct::CallTool). The grant doesn't apply to any other.
    pub rests_on: Hash,
    /// Scope of the grant. Never [`ApprovalScope::Once`].
    pub scope: ApprovalScope,
    /// Conversation in which the grant applies, or `None` unless the scope is [`ApprovalScope::Conversation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Creation time, in milliseconds since 1970.
    pub since: u64,
    /// Expiry, in milliseconds since 1970, or `None` for a grant that doesn't expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// Description of the approved act for the user: a command line, a URL or the name of a tool.
    #[serde(default)]
    pub words: String,
    /// Last act that the grant allowed. Decisions don't depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_use: Option<LastUse>,
}

impl Grant {
    /// Returns `true` if the grant has expired at `now`, in milliseconds since 1970.
    #[must_use]
    pub fn has_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Returns `true` if both grants are for the same server, subject and conversation. [`Grants`] contains at most one
    /// grant for each such combination, so a new one replaces the old one.
    fn has_same_subject_and_conversation(&self, other: &Self) -> bool {
        self.server == other.server && self.subject == other.subject && self.conversation == other.conversation
    }

    /// Adopts the last use that another process stored for the same grant, if that use is later.
    pub fn merge_last_use(&mut self, stored: Option<LastUse>) {
        if stored.is_some_and(|stored| self.last_use.is_none_or(|own| own.at < stored.at)) {
            self.last_use = stored;
        }
    }

    /// Returns `true` if the grant applies in this conversation.
    pub(crate) fn applies_in_conversation(&self, conversation: Option<&str>) -> bool {
        self.scope != ApprovalScope::Conversation
            || (conversation.is_some() && self.conversation.as_deref() == conversation)
    }
}

/// Error for adding a grant if there are already [`Grants::MAX_GRANTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are already {} grants; revoke some first", Grants::MAX_GRANTS)]
pub struct TooManyGrants;

/// The grants of all servers. A subject of a server has at most one grant for all conversations, and one for each
/// conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    servers: HashMap<String, ServerGrants>,
    count: usize,
    next: u64,
}

/// The grants of one server, by subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ServerGrants {
    command: Vec<Grant>,
    tools: HashMap<String, Vec<Grant>>,
}

impl ServerGrants {
    fn grant_lists(&self) -> impl Iterator<Item = &Vec<Grant>> {
        std::iter::once(&self.command).chain(self.tools.values())
    }

    fn grant_lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<Grant>> {
        std::iter::once(&mut self.command).chain(self.tools.values_mut())
    }
}

impl Grants {
    /// Maximum number of grants of all servers.
    pub const MAX_GRANTS: usize = 5_000;

    /// Creates the collection from persisted grants. Grants beyond the limit, or with a scope other than
    /// [`ApprovalScope::Always`], are dropped.
    #[must_use]
    pub fn from_persisted(stored: Vec<Grant>) -> Self {
        let mut grants = Self::default();
        for grant in stored.into_iter().filter(|g| g.scope == ApprovalScope::Always) {
            // Dropping a grant beyond the limit is safe: its subject requires consent again.
            let _ = grants.add(grant);
        }
        grants
    }

    /// Returns the grant for a subject of a server, even if it has expired, or `None`.
    #[must_use]
    pub fn find(&self, server: &str, subject: &GrantSubject) -> Option<&Grant> {
        let own = match subject {
            GrantSubject::Command => self.command_grants(server),
            GrantSubject::Tool(tool) => self.tool_grants(server, tool),
        };
        own.first()
    }

    /// Returns the grants for starting a server or connecting to it.
    pub(crate) fn command_grants(&self, server: &str) -> &[Grant] {
        self.servers.get(server).map_or(&[], |own| &own.command)
    }

    /// Returns the grants for calling a tool, at most one for each conversation and one for all.
    pub(crate) fn tool_grants(&self, server: &str, tool: &str) -> &[Grant] {
        self.servers.get(server).and_then(|own| own.tools.get(tool)).map_or(&[], Vec::as_slice)
    }

    /// Adds a grant with a new identifier. Replaces an older grant for the same subject and conversation.
    ///
    /// # Errors
    ///
    /// Returns [`TooManyGrants`] if the limit is reached.
    ///
    /// # Examples
    ///
    /// A grant applies until the definition that it rests on changes:
    ///
    /// ```
    /// use policy::{
    ///     ApprovalScope, DecisionReason, Grant, GrantId, GrantSubject, Grants, Hash, Policy, PolicyAct,
    ///     PolicyDecision, ResolvedPaths, ReviewState, ToolClaims,
    /// };
    /// use serde_json::{Map, json};
    ///
    /// let reviewed = Hash::of_json(&json!({ "name": "add", "description": "Adds two numbers" }));
    /// let changed = Hash::of_json(&json!({ "name": "add", "description": "Adds two numbers, and sends them" }));
    /// let mut grants = Grants::default();
    /// grants.add(Grant {
    ///     id: GrantId::default(),
    ///     server: "calculator".to_owned(),
    ///     subject: GrantSubject::Tool("add".to_owned()),
    ///     rests_on: reviewed.clone(),
    ///     scope: ApprovalScope::Always,
    ///     conversation: None,
    ///     since: 1_780_000_000_000,
    ///     expires_at: None,
    ///     words: "add".to_owned(),
    ///     last_use: None,
    /// })?;
    /// let policy = Policy::new(grants);
    ///
    /// let decide = |grant_hash: &Hash| {
    ///     let act = PolicyAct::CallTool {
    ///         server: "calculator",
    ///         tool: "add",
    ///         grant_hash,
    ///         review_state: ReviewState::Reviewed,
    ///         claims: ToolClaims::default(),
    ///         asks_each_time: false,
    ///         arguments: &Map::new(),
    ///         paths: &ResolvedPaths::Elsewhere,
    ///         after_untrusted: false,
    ///         conversation: None,
    ///     };
    ///     policy.decide(&act, 1_780_000_000_000)
    /// };
    /// assert!(matches!(decide(&reviewed), PolicyDecision::Allow { .. }));
    /// assert!(matches!(decide(&changed), PolicyDecision::Ask { reason: DecisionReason::ToolChanged, .. }));
    /// # Ok::<(), policy::TooManyGrants>(())
    /// ```
    pub fn add(&mut self, grant: Grant) -> Result<GrantId, TooManyGrants> {
        self.retain(&grant.server, |own| !own.has_same_subject_and_conversation(&grant));
        if self.count >= Self::MAX_GRANTS {
            return Err(TooManyGrants);
        }
        self.next += 1;
        let id = GrantId(self.next);
        self.insert(Grant { id, ..grant });
        Ok(id)
    }

    /// Re-adds a revoked grant to the active grants, unchanged and under its identifier, which no other grant gets.
    /// Returns `false` if another grant has taken its place, or the limit is reached.
    pub fn restore(&mut self, grant: Grant) -> bool {
        let is_taken = self.iter().any(|own| own.id == grant.id || own.has_same_subject_and_conversation(&grant));
        let is_restored = !is_taken && grant.id.0 <= self.next && self.count < Self::MAX_GRANTS;
        if is_restored {
            self.insert(grant);
        }
        is_restored
    }

    fn insert(&mut self, grant: Grant) {
        self.count += 1;
        let own = self.servers.entry(grant.server.clone()).or_default();
        let list = match &grant.subject {
            GrantSubject::Command => &mut own.command,
            GrantSubject::Tool(tool) => own.tools.entry(tool.clone()).or_default(),
        };
        list.push(grant);
    }

    /// Records that a grant allowed an act: a call of `tool`, or with `None` a start or connection. Returns `true` if
    /// the grant exists and is persisted.
    pub fn record_grant_use(&mut self, server: &str, tool: Option<&str>, id: GrantId, last_use: LastUse) -> bool {
        let own = self.servers.get_mut(server).and_then(|own| match tool {
            Some(tool) => own.tools.get_mut(tool),
            None => Some(&mut own.command),
        });
        let Some(grant) = own.and_then(|list| list.iter_mut().find(|grant| grant.id == id)) else { return false };
        grant.last_use = Some(last_use);
        grant.scope == ApprovalScope::Always
    }

    /// Removes the grant with this identifier and returns it, or `None` if there is no such grant.
    pub fn revoke(&mut self, id: GrantId) -> Option<Grant> {
        let found = self.iter().find(|grant| grant.id == id)?.clone();
        self.retain(&found.server, |own| own.id != id);
        Some(found)
    }

    /// Limits a grant to the time until the host stops, because it could not be persisted.
    pub fn limit_until_quit(&mut self, id: GrantId) {
        let own = self.servers.values_mut().flat_map(ServerGrants::grant_lists_mut).flatten();
        own.filter(|grant| grant.id == id).for_each(|grant| grant.scope = ApprovalScope::Session);
    }

    /// Replaces the grants of scope [`ApprovalScope::Always`] with `stored`, the content of the file, and returns the
    /// removed and the added grants. Grants of other scopes are retained. An unchanged grant retains its identifier,
    /// and its last use becomes the later one.
    pub fn replace_persisted(&mut self, stored: Vec<Grant>) -> (Vec<Grant>, Vec<Grant>) {
        let place = |grant: &Grant| (grant.server.clone(), grant.subject.clone());
        let lasting = stored.into_iter().filter(|grant| grant.scope == ApprovalScope::Always);
        let mut new: HashMap<_, Grant> = lasting.map(|grant| (place(&grant), grant)).collect();
        let (mut removed, mut uses) = (Vec::new(), HashMap::new());
        for own in self.persistent_grants() {
            let is_same = |stored: &Grant| Grant { id: own.id, last_use: own.last_use, ..stored.clone() } == own;
            if new.get(&place(&own)).is_some_and(is_same) {
                let stored = new.remove(&place(&own));
                uses.extend(stored.and_then(|stored| stored.last_use).map(|last_use| (own.id, last_use)));
            } else {
                removed.push(own);
            }
        }
        for grant in self.servers.values_mut().flat_map(ServerGrants::grant_lists_mut).flatten() {
            grant.merge_last_use(uses.get(&grant.id).copied());
        }
        for grant in &removed {
            self.revoke(grant.id);
        }
        // Dropping a grant beyond the limit is safe: its subject requires consent again.
        let added = new.into_values().filter(|grant| self.add(grant.clone()).is_ok()).collect();
        (removed, added)
    }

    /// Revokes all grants of a server.
    pub fn remove_server(&mut self, server: &str) {
        self.retain(server, |_| false);
    }

    /// Retains those grants of a server for which `is_retained` returns `true`.
    fn retain(&mut self, server: &str, is_retained: impl Fn(&Grant) -> bool) {
        let Some(own) = self.servers.get_mut(server) else { return };
        for list in own.grant_lists_mut() {
            let before = list.len();
            list.retain(|grant| is_retained(grant));
            self.count -= before - list.len();
        }
        own.tools.retain(|_, list| !list.is_empty());
        if own.grant_lists().all(Vec::is_empty) {
            self.servers.remove(server);
        }
    }

    /// Returns all grants, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        let mut all: Vec<&Grant> = self.servers.values().flat_map(ServerGrants::grant_lists).flatten().collect();
        all.sort_unstable_by_key(|grant| grant.id);
        all.into_iter()
    }

    /// Returns the grants to persist: those of scope [`ApprovalScope::Always`].
    #[must_use]
    pub fn persistent_grants(&self) -> Vec<Grant> {
        self.iter().filter(|g| g.scope == ApprovalScope::Always).cloned().collect()
    }
}
