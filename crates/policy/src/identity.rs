//! What a server is, for rules that name a program, a command line or a URL instead of the name that the user gave the server.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use crate::spelling;

/// Identities by the user's names for the servers.
pub(crate) type Identities = HashMap<String, IdentityWords>;

/// A server's command line, program and URL. Most policies have no rule that asks for the spellings, and they cost more than all else
/// that a server's start has the policy do.
#[derive(Debug, Clone)]
pub(crate) struct IdentityWords {
    words: Vec<String>,
    spellings: OnceLock<BTreeSet<String>>,
}

impl IdentityWords {
    pub(crate) const fn new(words: Vec<String>) -> Self {
        Self { words, spellings: OnceLock::new() }
    }

    /// All spellings of the words.
    pub(crate) fn spellings(&self) -> &BTreeSet<String> {
        self.spellings.get_or_init(|| self.words.iter().flat_map(|words| spelling::identity_spellings(words)).collect())
    }
}
