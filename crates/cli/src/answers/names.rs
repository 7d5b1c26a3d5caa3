//! Patterns of what a question is about. A URI is compared part by part, as `*` over letters alone would cross from its host into
//! its path, and other spellings would dodge a refusal.

use policy::UriPattern;
use wildmatch::WildMatch;

use super::Kind;

/// The pattern of an entry's name.
#[derive(Debug)]
pub(super) enum NamePattern {
    /// A command line, a tool, its result or a prompt, by its letters.
    Letters(WildMatch),
    /// A page, a resource or an issuer.
    Uri(UriPattern),
}

impl NamePattern {
    /// Reads the pattern of an entry of this kind.
    ///
    /// # Errors
    /// If a pattern of URIs is too long or names a path that climbs, in words.
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

    /// Whether an entry fits a name. A refusal fits more spellings than an allow.
    pub(super) fn fits(&self, name: &str, is_refusal: bool) -> bool {
        match self {
            Self::Letters(pattern) => pattern.matches(name),
            Self::Uri(pattern) if is_refusal => pattern.refuses(name),
            Self::Uri(pattern) => pattern.allows(name),
        }
    }
}
