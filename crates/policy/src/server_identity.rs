//! Identities of servers, for rules that match a program, a command line or a URL instead of the user's name for a
//! server.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use crate::spelling;

/// Identities (command line, program, URL) of servers, by the user's names for the servers.
pub(crate) type ServerIdentities = HashMap<String, ServerIdentity>;

/// A server's command line, program and URL. Their spellings are computed lazily, because most policies have no rule
/// that requires them, and computing them takes most of the policy's time at a server's start.
#[derive(Debug, Clone)]
pub(crate) struct ServerIdentity {
    words: Vec<String>,
    spellings: OnceLock<BTreeSet<String>>,
}

impl ServerIdentity {
    pub(crate) const fn new(words: Vec<String>) -> Self {
        Self { words, spellings: OnceLock::new() }
    }

    /// Returns all spellings of the server's command line, program and URL.
    pub(crate) fn spellings(&self) -> &BTreeSet<String> {
        self.spellings.get_or_init(|| self.words.iter().flat_map(|words| spelling::identity_spellings(words)).collect())
    }
}
