//! Patterns for the subject of a consent request. URIs are compared component by component: with plain globs, `*` could
//! match from the host into the path, and alternative spellings could evade a refusal.

use policy::UriPattern;
use wildmatch::WildMatch;

use super::Kind;

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
    pub(super) fn read(kind: Kind, pattern: &str) -> Result<Self, String> {
        Ok(match kind {
            Kind::Resource | Kind::Url | Kind::SignIn | Kind::ClientId => {
                Self::Uri(UriPattern::compile(pattern).map_err(|error| error.to_string())?)
            }
            Kind::StartServer
            | Kind::Tool
            | Kind::Result
            | Kind::Prompt
            | Kind::Sampling
            | Kind::Elicitation
            | Kind::Roots => Self::Letters(WildMatch::new(pattern)),
        })
    }

    /// Returns `true` if an entry matches a name. A refusal matches more spellings than an allow.
    pub(super) fn fits(&self, name: &str, is_refusal: bool) -> bool {
        match self {
            Self::Letters(pattern) => pattern.matches(name),
            Self::Uri(pattern) if is_refusal => pattern.refuses(name),
            Self::Uri(pattern) => pattern.allows(name),
        }
    }
}
