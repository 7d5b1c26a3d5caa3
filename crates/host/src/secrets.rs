//! Secrets in the values of headers. `mcp.json` has `${secret:NAME}` in their place; the values lie in the system's keychain.
//!
//! A secret is bound to the origin it was entered for, so that an entry which names it under another address gets nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use crate::ports::{SecretError, SecretKept, Secrets, SecretsStatus};
use crate::server_config::HttpConfig;

const OPENS: &str = "${secret:";
const CLOSES: char = '}';
/// The longest name of a secret, in bytes.
const MAX_NAME: usize = 128;

/// The names of the secrets in a value, in order.
#[must_use]
pub fn names(value: &str) -> Vec<&str> {
    parts(value).into_iter().filter_map(|part| if let Part::Secret(name) = part { Some(name) } else { None }).collect()
}

/// The text that stands for a secret.
#[must_use]
pub fn reference(name: &str) -> String {
    format!("{OPENS}{name}{CLOSES}")
}

/// A name for the secret of a header that is not taken: letters, digits, `-`, `_` and `.`. Two servers may lead to the same
/// name, because other characters become `_` and a server may be renamed; a number then tells them apart.
#[must_use]
pub fn name_for(server: &str, header: &str, taken: &[String]) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).take(60).collect()
    };
    let first = format!("{}.{}", plain(server), plain(header));
    let mut name = first.clone();
    let mut number = 1_u32;
    while is_taken(&name, taken) {
        number += 1;
        name = format!("{first}-{number}");
    }
    name
}

/// Whether a name is among these. Some keychains know no difference between small and capital letters.
#[must_use]
pub fn is_taken(name: &str, taken: &[String]) -> bool {
    taken.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// What a secret is kept under.
#[must_use]
pub fn key(name: &str, origin: &str) -> String {
    format!("{name} @ {origin}")
}

enum Part<'t> {
    Text(&'t str),
    Secret(&'t str),
}

fn parts(value: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find(OPENS) {
        let inner = &rest[at + OPENS.len()..];
        let name = inner.split(CLOSES).next().unwrap_or_default();
        let is_name = inner.len() > name.len()
            && (1..=MAX_NAME).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        let end = if is_name { at } else { at + OPENS.len() };
        if end > 0 {
            parts.push(Part::Text(&rest[..end]));
        }
        if is_name {
            parts.push(Part::Secret(name));
            rest = &inner[name.len() + CLOSES.len_utf8()..];
        } else {
            rest = inner;
        }
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// Secrets that live as long as the program: for tests, and for systems without a keychain.
#[derive(Default)]
pub struct SecretsInMemory {
    secrets: Mutex<HashMap<String, String>>,
}

impl SecretsInMemory {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, String>) -> T) -> T {
        act(&mut self.secrets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Secrets for SecretsInMemory {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        Ok(self.with(|secrets| secrets.get(key).cloned()))
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError> {
        self.with(|secrets| secrets.insert(key.to_owned(), secret.to_owned()));
        Ok(SecretKept::ThisRun { cause: "there is no keychain here".to_owned() })
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.with(|secrets| secrets.remove(key));
        Ok(())
    }

    fn status(&self) -> SecretsStatus {
        SecretsStatus::Missing("none is used".to_owned())
    }
}

/// Why the headers of a server can't be completed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// It is not there.
    #[error(
        "the secret \"{name}\" for {origin} is not in the keychain; enter it again (a locked keychain may look empty, too)"
    )]
    Missing {
        /// The secret.
        name: String,
        /// For whom.
        origin: String,
    },
    /// The keychain can't be read.
    #[error("the secret \"{name}\" can't be read: {cause}")]
    Keychain {
        /// The secret.
        name: String,
        /// Why not.
        cause: SecretError,
    },
    /// Reading was broken off.
    #[error("the keychain could not be read: {0}")]
    Interrupted(String),
}

/// The headers with the secrets put in. Blocks.
///
/// # Errors
/// If a secret is missing or can't be read.
pub(crate) fn resolve(config: &HttpConfig, secrets: &dyn Secrets) -> Result<BTreeMap<String, String>, Unresolved> {
    let origin = config.origin().unwrap_or_default();
    let mut resolved = BTreeMap::new();
    for (header, value) in &config.headers {
        let mut whole = String::new();
        for part in parts(value) {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Secret(name) => match secrets.get(&key(name, &origin)) {
                    Ok(Some(secret)) => whole.push_str(&secret),
                    Ok(None) => return Err(Unresolved::Missing { name: name.to_owned(), origin }),
                    Err(cause) => return Err(Unresolved::Keychain { name: name.to_owned(), cause }),
                },
            }
        }
        resolved.insert(header.clone(), whole);
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_in_a_value_are_found() {
        let cases: [(&str, &[&str]); 6] = [
            ("Bearer ${secret:github.Authorization}", &["github.Authorization"]),
            ("${secret:a}${secret:b}", &["a", "b"]),
            ("plain", &[]),
            ("${secret:}", &[]),
            ("${secret:no spaces}", &[]),
            ("${secret:${secret:inner}", &["inner"]),
        ];
        for (value, wanted) in cases {
            assert_eq!(names(value), wanted, "what {value} names");
        }
        let name = name_for("my server", "X-Key", &[]);
        assert_eq!(names(&reference(&name)), ["my_server.X-Key"], "made names can be read");
    }

    #[test]
    fn a_name_that_is_taken_is_not_given_again() {
        let mut taken = vec!["_.x-key".to_owned()];
        for wanted in ["_.X-Key-2", "_.X-Key-3"] {
            let name = name_for("ü", "X-Key", &taken);
            assert_eq!(name, wanted, "the next free name, whatever its letters' size, beside {taken:?}");
            assert_eq!(names(&reference(&name)), [wanted], "a name with a number can be read");
            taken.push(name);
        }
        let long = "x".repeat(200);
        let first = name_for(&long, &long, &[]);
        let second = name_for(&long, &long, &[first]);
        assert_eq!(names(&reference(&second)), [second.as_str()], "the longest name has room for a number");
    }
}
