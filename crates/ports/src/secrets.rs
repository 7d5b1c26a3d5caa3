//! References to secrets in headers and environment variables. `mcp.json` contains `${secret:NAME}`, and [`Secrets`]
//! stores the values.
//!
//! A secret is bound to the origin or command for which it was entered. An entry that refers to it from another origin
//! or command receives nothing, and a local program never receives a secret of a remote server.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use policy::Hash;
use secrecy::SecretString;
use serde_json::json;

use crate::server_config::{HttpConfig, StdioConfig, ValuePart};
use crate::{SecretError, SecretPersistence, Secrets, SecretsStatus};

const SECRET_REFERENCE_PREFIX: &str = "${secret:";
const SECRET_REFERENCE_SUFFIX: char = '}';
/// Maximum length of a secret's name in a reference, in bytes.
const MAX_SECRET_NAME_BYTES: usize = 128;

/// Returns the names of the secrets to which the value of a header or variable refers, in order.
#[must_use]
pub fn referenced_secret_names(value: &str) -> Vec<&str> {
    split_at_secret_references(value)
        .into_iter()
        .filter_map(|part| if let SecretTextPart::Secret(name) = part { Some(name) } else { None })
        .collect()
}

/// Splits the value of a header or variable into text and references to secrets. The references have no secret values
/// yet.
#[must_use]
pub fn split_secret_references(value: &str) -> Vec<ValuePart> {
    let part = |part| match part {
        SecretTextPart::Text(text) => ValuePart::Text(text.to_owned()),
        SecretTextPart::Secret(_) => ValuePart::Secret(None),
    };
    split_at_secret_references(value).into_iter().map(part).collect()
}

/// Returns the reference to a secret, `${secret:NAME}`.
#[must_use]
pub fn secret_reference(name: &str) -> String {
    format!("{SECRET_REFERENCE_PREFIX}{name}{SECRET_REFERENCE_SUFFIX}")
}

/// Returns an unused name for the secret of a header: letters, digits, `-`, `_` and `.`. Other characters become `_`,
/// so different servers may result in the same name. A number then distinguishes them.
#[must_use]
pub fn unused_secret_name(server: &str, header: &str, taken: &[String]) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).take(60).collect()
    };
    let first = format!("{}.{}", plain(server), plain(header));
    let mut name = first.clone();
    let mut number = 1_u32;
    while is_secret_name_taken(&name, taken) {
        number += 1;
        name = format!("{first}-{number}");
    }
    name
}

/// Returns `true` if the name of a secret is one of `taken`, ignoring case because some keychains do.
#[must_use]
pub fn is_secret_name_taken(name: &str, taken: &[String]) -> bool {
    taken.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// Returns the key under which a secret is stored. `binding` is the URL origin, or the result of
/// [`command_secret_binding`], to which the secret is bound.
#[must_use]
pub fn secret_storage_key(name: &str, binding: &str) -> String {
    format!("{name} @ {binding}")
}

/// Returns a text that identifies the command to which the secrets of a local server are bound: program, arguments and
/// working directory. Environment variables are not included, so that adding one doesn't invalidate the secrets. Every
/// change of them requires a new approval anyway.
#[must_use]
pub fn command_secret_binding(config: &StdioConfig) -> String {
    let cwd = config.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
    let hash = Hash::of_json(&json!({ "command": config.command, "args": config.args, "cwd": cwd }));
    format!("command {}", hash.as_str())
}

/// Returns the names of all secrets to which these headers or variables refer.
pub fn all_referenced_secret_names(values: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    values.values().flat_map(|value| referenced_secret_names(value)).map(str::to_owned)
}

/// Returns `true` if the environment of a local server refers to secrets.
#[must_use]
pub fn environment_refers_to_secrets(config: &StdioConfig) -> bool {
    config.env.values().any(|value| !referenced_secret_names(value).is_empty())
}

enum SecretTextPart<'t> {
    Text(&'t str),
    Secret(&'t str),
}

fn split_at_secret_references(value: &str) -> Vec<SecretTextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find(SECRET_REFERENCE_PREFIX) {
        let inner = &rest[at + SECRET_REFERENCE_PREFIX.len()..];
        let name = inner.split(SECRET_REFERENCE_SUFFIX).next().unwrap_or_default();
        let is_name = inner.len() > name.len()
            && (1..=MAX_SECRET_NAME_BYTES).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        let end = if is_name { at } else { at + SECRET_REFERENCE_PREFIX.len() };
        if end > 0 {
            parts.push(SecretTextPart::Text(&rest[..end]));
        }
        if is_name {
            parts.push(SecretTextPart::Secret(name));
            rest = &inner[name.len() + SECRET_REFERENCE_SUFFIX.len_utf8()..];
        } else {
            rest = inner;
        }
    }
    if !rest.is_empty() {
        parts.push(SecretTextPart::Text(rest));
    }
    parts
}

/// Secrets that are stored in memory until the process ends: for tests, and for systems without a keychain.
#[derive(Default)]
pub struct SecretsInMemory {
    secrets: Mutex<HashMap<String, String>>,
}

impl SecretsInMemory {
    fn with_secrets<T>(&self, act: impl FnOnce(&mut HashMap<String, String>) -> T) -> T {
        act(&mut self.secrets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Secrets for SecretsInMemory {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        Ok(self.with_secrets(|secrets| secrets.get(key).cloned()))
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.with_secrets(|secrets| secrets.insert(key.to_owned(), secret.to_owned()));
        Ok(SecretPersistence::ThisRun { cause: "there is no keychain here".to_owned() })
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.with_secrets(|secrets| secrets.remove(key));
        Ok(())
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        Ok(self.with_secrets(|secrets| secrets.keys().filter(|key| key.starts_with(prefix)).cloned().collect()))
    }

    fn status(&self) -> SecretsStatus {
        SecretsStatus::Missing { cause: "none is used".to_owned() }
    }
}

/// The reason why a secret in the headers or the environment of a server can't be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnresolvedSecret {
    /// The keychain contains no secret with this name for the server.
    #[error(
        "the secret \"{name}\" for {origin} is not in the keychain; enter it again (a locked keychain may look empty, too)"
    )]
    Missing {
        /// Name of the secret.
        name: String,
        /// Origin to which the secret is bound, or a description of the command.
        origin: String,
    },
    /// The keychain returned an error.
    #[error("the secret \"{name}\" can't be read: {cause}")]
    Keychain {
        /// Name of the secret.
        name: String,
        /// Error that the keychain returned.
        cause: SecretError,
    },
    /// The blocking task that reads the keychain was aborted. Contains the error message.
    #[error("the keychain could not be read: {0}")]
    Interrupted(String),
}

/// Replaces the references to secrets in the headers of a remote server with their values. Blocks.
///
/// # Errors
///
/// Returns [`UnresolvedSecret`] if a secret is missing or can't be read.
pub fn resolve_headers(config: &HttpConfig, secrets: &dyn Secrets) -> Result<ResolvedValues, UnresolvedSecret> {
    let origin = config.origin().unwrap_or_default();
    fill_secret_references(&config.headers, &origin, &origin, secrets)
}

/// Headers or environment variables in which values of secrets replace the references, and a list of these secrets.
pub type ResolvedValues = (BTreeMap<String, String>, Vec<SecretString>);

/// Replaces the references to secrets in the environment of a local server with their values. Blocks.
///
/// # Errors
///
/// Returns [`UnresolvedSecret`] if a secret is missing or can't be read.
pub fn resolve_environment(config: &StdioConfig, secrets: &dyn Secrets) -> Result<ResolvedValues, UnresolvedSecret> {
    fill_secret_references(&config.env, &command_secret_binding(config), "this command", secrets)
}

fn fill_secret_references(
    values: &BTreeMap<String, String>,
    binding: &str,
    displayed_binding: &str,
    secrets: &dyn Secrets,
) -> Result<ResolvedValues, UnresolvedSecret> {
    let (mut resolved, mut used) = (BTreeMap::new(), Vec::new());
    for (entry, value) in values {
        let mut whole = String::new();
        for part in split_at_secret_references(value) {
            match part {
                SecretTextPart::Text(text) => whole.push_str(text),
                SecretTextPart::Secret(name) => match secrets.get(&secret_storage_key(name, binding)) {
                    Ok(Some(secret)) => {
                        whole.push_str(&secret);
                        used.push(secret.into());
                    }
                    Ok(None) => {
                        return Err(UnresolvedSecret::Missing {
                            name: name.to_owned(),
                            origin: displayed_binding.to_owned(),
                        });
                    }
                    Err(cause) => return Err(UnresolvedSecret::Keychain { name: name.to_owned(), cause }),
                },
            }
        }
        resolved.insert(entry.clone(), whole);
    }
    Ok((resolved, used))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn secret_is_bound_to_the_command_it_was_entered_for() {
        let secrets = SecretsInMemory::default();
        let env = |value: &str| [("TOKEN".to_owned(), value.to_owned())].into();
        let base = StdioConfig {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "server".to_owned()],
            env: env("Bearer ${secret:a}"),
            ..StdioConfig::default()
        };
        secrets.set(&secret_storage_key("a", &command_secret_binding(&base)), "top-secret").unwrap();
        // Secrets of remote servers, including tokens, must not be found by a local command.
        secrets.set(&secret_storage_key("b", "https://api.example"), "of-a-header").unwrap();
        let resolve = |config: &StdioConfig| resolve_environment(config, &secrets).map(|(values, _)| values);
        assert_eq!(resolve(&base), Ok(env("Bearer top-secret")), "the command of the secret gets it");
        let more = [("TOKEN", "${secret:a}"), ("DEBUG", "1")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let more = StdioConfig { env: more.into(), ..base.clone() };
        assert_eq!(resolve(&more).unwrap()["TOKEN"], "top-secret", "another variable doesn't invalidate it");
        let others = [
            StdioConfig { command: "/tmp/npx".to_owned(), ..base.clone() },
            StdioConfig { args: vec!["-y".to_owned(), "other".to_owned()], ..base.clone() },
            StdioConfig { args: vec!["-y server".to_owned()], ..base.clone() },
            StdioConfig { cwd: Some("/tmp".into()), ..base.clone() },
        ];
        for other in others {
            let refused = resolve(&other);
            assert!(matches!(refused, Err(UnresolvedSecret::Missing { .. })), "{other:?} gets nothing: {refused:?}");
        }
        let steals = StdioConfig { env: env("${secret:b}"), ..base };
        let refused = resolve(&steals);
        assert!(
            matches!(refused, Err(UnresolvedSecret::Missing { .. })),
            "a secret of a remote server is not resolved: {refused:?}"
        );
    }

    #[test]
    fn secret_references_in_a_value_are_found() {
        let cases: [(&str, &[&str]); 6] = [
            ("Bearer ${secret:github.Authorization}", &["github.Authorization"]),
            ("${secret:a}${secret:b}", &["a", "b"]),
            ("plain", &[]),
            ("${secret:}", &[]),
            ("${secret:no spaces}", &[]),
            ("${secret:${secret:inner}", &["inner"]),
        ];
        for (value, expected) in cases {
            assert_eq!(referenced_secret_names(value), expected, "what {value} names");
        }
        let name = unused_secret_name("my server", "X-Key", &[]);
        assert_eq!(
            referenced_secret_names(&secret_reference(&name)),
            ["my_server.X-Key"],
            "a generated name is valid in a reference"
        );
    }

    #[test]
    fn taken_secret_name_is_not_assigned_again() {
        let mut taken = vec!["_.x-key".to_owned()];
        for expected in ["_.X-Key-2", "_.X-Key-3"] {
            let name = unused_secret_name("ü", "X-Key", &taken);
            assert_eq!(name, expected, "the next free name, ignoring case, with {taken:?}");
            assert_eq!(
                referenced_secret_names(&secret_reference(&name)),
                [expected],
                "a name with a number is valid in a reference"
            );
            taken.push(name);
        }
        let long = "x".repeat(200);
        let first = unused_secret_name(&long, &long, &[]);
        let second = unused_secret_name(&long, &long, &[first]);
        assert_eq!(
            referenced_secret_names(&secret_reference(&second)),
            [second.as_str()],
            "the longest name has space for a number"
        );
    }
}
