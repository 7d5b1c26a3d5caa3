//! Publisher of a server, derived from the server's name.

use std::fmt;

/// Publisher of a server, according to the namespace in the server's name. The official registry lets only this
/// publisher use the namespace. Other registries have their own rules. The publisher says nothing about the safety of
/// the code, and another publisher may have a namespace that looks similar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publisher {
    /// The owner of the GitHub account with this name, for server names that begin with `io.github.NAME`.
    GithubAccount(String),
    /// The owner of this domain or of a parent domain.
    Domain(String),
}

impl Publisher {
    /// Returns the publisher that the name of a [`crate::ServerJson`] implies.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let namespace = name.split('/').next().unwrap_or_default();
        match namespace.strip_prefix("io.github.") {
            Some(account) if !account.is_empty() && !account.contains('.') => Self::GithubAccount(account.to_owned()),
            _ => Self::Domain(namespace.split('.').rev().collect::<Vec<_>>().join(".")),
        }
    }
}

impl fmt::Display for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GithubAccount(account) => write!(f, "the GitHub account {account}"),
            Self::Domain(domain) => write!(f, "the owner of {domain}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_is_described() {
        let cases = [
            ("io.github.alice/notes", "the GitHub account alice"),
            ("com.example/notes", "the owner of example.com"),
            ("com.example.tools/notes", "the owner of tools.example.com"),
            ("io.github.alice.example/notes", "the owner of example.alice.github.io"),
            ("io.github/notes", "the owner of github.io"),
            ("io.githubb.alice/notes", "the owner of alice.githubb.io"),
        ];
        for (name, words) in cases {
            assert_eq!(Publisher::from_name(name).to_string(), words, "{name}");
        }
    }
}
