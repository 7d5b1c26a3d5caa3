//! Patterns for the names in consent requests. URIs are compared component by component, because in a plain glob `*`
//! could match across host and path, and an entry that denies could be evaded by another spelling of the URI.

use policy::UriPattern;
use wildmatch::WildMatch;

use super::ConsentRequestKind;

/// Pattern for the names that an entry in the answers file applies to.
#[derive(Debug)]
pub(super) enum NamePattern {
    /// Glob pattern for a command line, the name of a tool or the name of a prompt.
    Glob(WildMatch),
    /// Pattern for a URI: that of a page to open, of a resource, or of the issuer at a sign-in.
    Uri(UriPattern),
}

impl NamePattern {
    /// Compiles the name pattern of an entry for this kind of consent request.
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
            | ConsentRequestKind::Roots => Self::Glob(WildMatch::new(pattern)),
        })
    }

    /// Returns `true` if the pattern matches a name. If the entry denies (`is_refusal`), a URI pattern also matches
    /// alternative spellings of the URI.
    pub(super) fn matches_name(&self, name: &str, is_refusal: bool) -> bool {
        match self {
            Self::Glob(pattern) => pattern.matches(name),
            Self::Uri(pattern) if is_refusal => pattern.refuses(name),
            Self::Uri(pattern) => pattern.allows(name),
        }
    }
}
