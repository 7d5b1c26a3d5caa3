//! Patterns for the subject of a consent request. URIs are compared component by component: with plain globs, `*` could
//! match from the host into the path, and alternative spellings could evade a refusal.

use policy::UriPattern;
use wildmatch::WildMatch;

use super::ConsentRequestKind;

/// The name pattern of an entry.
#[derive(Debug)]
pub(super) enum NamePattern {
    /// A glob over a command line, a tool, its result or a prompt.
    Letters(WildMatch),
    /// A pattern of pages, resources or issuers.
    Uri(UriPattern),
}

impl NamePattern {
    /// Compiles the pattern of an entry of this kind.
    ///
    /// # Errors
    ///
    /// Returns a message if a URI pattern is too long or contains `..` in its path.
    pub(super) fn compile(kind: ConsentRequestKind, pattern: &str) -> Result<Self, String> {
        Ok(match kind {
            ConsentRequestKind::Resource
            | ConsentRequestKind::Url
            | ConsentRequestKind::SignIn
            | ConsentRequestKind::ClientId => {
                Self::Uri(UriPattern::compile(pattern).map_err(|error| error.to_string())?)
            }
            ConsentRequestKind::StartServer
            | ConsentRequestKind::Tool
            | ConsentRequestKind::Result
            | ConsentRequestKind::Prompt
            | ConsentRequestKind::Sampling
            | ConsentRequestKind::Elicitation
            | ConsentRequestKind::Roots => Self::Letters(WildMatch::new(pattern)),
        })
    }

    /// Returns `true` if an entry matches a name. A refusal matches more spellings than an allow.
    pub(super) fn matches_name(&self, name: &str, is_refusal: bool) -> bool {
        match self {
            Self::Letters(pattern) => pattern.matches(name),
            Self::Uri(pattern) if is_refusal => pattern.refuses(name),
            Self::Uri(pattern) => pattern.allows(name),
        }
    }
}
