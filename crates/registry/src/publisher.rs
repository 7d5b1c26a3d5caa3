//! The publisher of a server, derived from its name.

use std::fmt;

/// The publisher of a server, by its namespace. The official registry lets nobody else publish under it; other
/// registries have their own rules. It says nothing about the code, and names that look like others are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publisher {
    /// `io.github.NAME`: the owner of this account on GitHub.
    GithubAccount(String),
    /// The owner of this domain or of a parent domain.
    Domain(String),
}

impl Publisher {
    /// Returns the publisher of a server. `name` is that of a [`crate::ServerJson`].
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
            Self::Domain(domain) => write!(f, "whoever controls {domain}"),
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
            ("com.example/notes", "whoever controls example.com"),
            ("com.example.tools/notes", "whoever controls tools.example.com"),
            ("io.github.alice.example/notes", "whoever controls example.alice.github.io"),
            ("io.github/notes", "whoever controls github.io"),
            ("io.githubb.alice/notes", "whoever controls alice.githubb.io"),
        ];
        for (name, words) in cases {
            assert_eq!(Publisher::from_name(name).to_string(), words, "{name}");
        }
    }
}
