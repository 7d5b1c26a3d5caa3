//! Removes secrets that would be stored in the settings file: in the command, its arguments and working directory, and
//! in a URL. The user has to enter them again. If possible, they are moved to variables instead.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use ports::server_config::{AuthConfig, StdioConfig};
use serde::{Deserialize, Serialize};

use crate::bridged_servers::program_name;
use crate::secret_detection::{
    cannot_be_secret, has_credential, has_secret, is_client_id, is_secret_name, is_secret_value,
};
use crate::server_candidate::ServerCandidate;

/// Part of a server's configuration, outside of variables and headers, from which a secret was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SecretPlace {
    /// An argument of the server's command.
    Argument {
        /// Position of the argument, starting at 1.
        number: u32,
    },
    /// The sign-in settings of the remote server, such as its OAuth scopes.
    SignIn,
    /// URL of the remote server.
    Url,
    /// The program that the server's command runs.
    Command,
    /// The working directory of the server's command.
    Folder,
    /// The paths of the folders that the server's sandbox makes accessible.
    Sandbox,
}

impl fmt::Display for SecretPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { number } => write!(formatter, "argument {number}"),
            Self::SignIn => formatter.write_str("how to sign in"),
            Self::Url => formatter.write_str("the address"),
            Self::Command => formatter.write_str("the command"),
            Self::Folder => formatter.write_str("the folder"),
            Self::Sandbox => formatter.write_str("the sandbox"),
        }
    }
}

/// Text that replaces a secret in a command-line argument.
const SECRET_PLACEHOLDER: &str = "<secret>";
/// Maximum number of names before a value in one command-line argument, as in `--header=Name: value`, which has two.
const MAX_NESTED_NAMES: usize = 8;

/// Removes secrets from the arguments, URL and other settings that are stored in a file. Variables and headers are not
/// changed. Returns the parts that contained a secret.
pub(crate) fn remove_secrets(candidate: &mut ServerCandidate) -> BTreeSet<SecretPlace> {
    let mut taken = BTreeSet::new();
    if let Some(remote) = &mut candidate.remote {
        remote.url = remove_secrets_from_url(&remote.url, &mut taken);
        if let Some(auth) = &mut remote.auth {
            let texts = [&mut auth.client_metadata_url, &mut auth.issuer, &mut auth.algorithm];
            for text in texts {
                if text.as_deref().is_some_and(has_secret) {
                    *text = None;
                    taken.insert(SecretPlace::SignIn);
                }
            }
            if auth.client_id.as_deref().is_some_and(has_credential) {
                auth.client_id = None;
                taken.insert(SecretPlace::SignIn);
            }
            let before = auth.scopes.len();
            auth.scopes.retain(|scope| !has_secret(scope));
            // These values are secret keys, or refer to secrets of another server in Drawbridge's keychain.
            let keys = [auth.private_key.take(), auth.assertion.take()];
            let has_key = keys.iter().any(Option::is_some) || auth.identity_provider.take().is_some();
            if has_key || auth.scopes.len() < before {
                taken.insert(SecretPlace::SignIn);
            }
        }
        remote.auth = remote.auth.take().filter(|auth| *auth != AuthConfig::default());
    } else {
        remove_secrets_from_command(&mut candidate.config, &mut taken);
    }
    taken
}

/// Returns the English text of a note about the parts of a server from which secrets were removed, or `None` if there
/// are none.
pub(crate) fn secret_removal_text<'a>(places: impl IntoIterator<Item = &'a SecretPlace>) -> Option<String> {
    let places: Vec<String> = places.into_iter().map(ToString::to_string).collect();
    let text = || format!("a value that looks like a secret was removed from {}: enter it yourself", places.join(", "));
    (!places.is_empty()).then(text)
}

fn remove_secrets_from_command(config: &mut StdioConfig, taken: &mut BTreeSet<SecretPlace>) {
    if has_secret(&config.command) {
        config.command = String::from("<command>");
        taken.insert(SecretPlace::Command);
    }
    if config.cwd.as_ref().is_some_and(|cwd| has_secret(&cwd.to_string_lossy())) {
        config.cwd = Some(PathBuf::from("<folder>"));
        taken.insert(SecretPlace::Folder);
    }
    if let Some(sandbox) = &mut config.sandbox {
        let before = sandbox.folders.len();
        sandbox.folders.retain(|folder| !has_secret(&folder.path.to_string_lossy()));
        if sandbox.folders.len() < before {
            taken.insert(SecretPlace::Sandbox);
        }
    }
    let mut option: Option<String> = None;
    let mut is_client = false;
    for (number, word) in (1..).zip(config.args.iter_mut()) {
        if let Some(name) = option.take().filter(|_| !word.starts_with('-') && !cannot_be_secret(word)) {
            *word = format!("<{name}>");
            taken.insert(SecretPlace::Argument { number });
        } else if let Some(cleaned) = remove_secret_from_argument(word).filter(|_| !is_client || has_credential(word)) {
            *word = cleaned;
            taken.insert(SecretPlace::Argument { number });
        } else if word.starts_with('-') && !word.contains('=') && is_secret_name(word) {
            option = Some(word.trim_start_matches('-').to_owned());
        }
        is_client = word.starts_with('-') && is_client_id(word);
    }
}

/// Returns an argument without the secret that it contains, or `None` if it contains none.
fn remove_secret_from_argument(word: &str) -> Option<String> {
    remove_secret_from_argument_part(word, 0)
        .map(|cleaned| if has_secret(&cleaned) { String::from(SECRET_PLACEHOLDER) } else { cleaned })
}

/// Returns an argument, or a part of it, without the secret that it contains. `depth` is the number of names before
/// this part, such as 2 for `value` in `--header=Name: value`.
fn remove_secret_from_argument_part(word: &str, depth: usize) -> Option<String> {
    let sign = word.find(['=', ':']).filter(|at| !word[*at..].starts_with("://") && depth < MAX_NESTED_NAMES);
    if let Some(at) = sign {
        let (name, value) = (&word[..at], &word[at + 1..]);
        let sign = if word[at..].starts_with('=') { "=" } else { ": " };
        // A hash that pins a container image is not a secret. It is checked together with the image's name.
        let is_pin = name.ends_with("@sha256") || name.ends_with("@sha512");
        if !name.contains("//") && !is_pin && !has_secret(name) {
            let is_named = is_secret_name(name) && !cannot_be_secret(value.trim());
            let cleaned = match is_client_id(name) {
                _ if is_named => Some(String::from(SECRET_PLACEHOLDER)),
                true => has_credential(value).then(|| String::from(SECRET_PLACEHOLDER)),
                false => remove_secret_from_argument_part(value.trim_start(), depth + 1),
            };
            return match cleaned {
                Some(cleaned) if cleaned == SECRET_PLACEHOLDER => {
                    Some(format!("{name}{sign}<{}>", name.trim_start_matches('-')))
                }
                Some(cleaned) => Some(format!("{name}{sign}{cleaned}")),
                None => has_secret(word).then(|| String::from(SECRET_PLACEHOLDER)),
            };
        }
    }
    if word.contains("://") {
        let mut taken = BTreeSet::new();
        let cleaned = remove_secrets_from_url(word, &mut taken);
        if !taken.is_empty() {
            return Some(cleaned);
        }
    }
    has_secret(word).then(|| String::from(SECRET_PLACEHOLDER))
}

/// Returns a URL without secrets in its user information, path, query and fragment. Adds to `taken` which parts of the
/// configuration contained a secret.
fn remove_secrets_from_url(text: &str, taken: &mut BTreeSet<SecretPlace>) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let mut leave_out = |what: &str| {
        taken.insert(SecretPlace::Url);
        format!("<{what}>")
    };
    let mut parts = path.split('/');
    let host = parts.next().unwrap_or_default();
    let mut cleaned = match host.rsplit_once('@') {
        Some((user, host)) if user.contains(':') || has_secret(user) => format!("{}@{host}", leave_out("user")),
        _ if has_secret(host) => leave_out("host"),
        _ => host.to_owned(),
    };
    for part in parts {
        cleaned.push('/');
        cleaned.push_str(&if has_secret(part) { leave_out("secret") } else { part.to_owned() });
    }
    if let Some(query) = query {
        let mut values = Vec::new();
        for part in query.split('&') {
            let (name, value) = part.split_once('=').unwrap_or(("", part));
            let is_secret = (is_secret_name(name) && !cannot_be_secret(value)) || has_secret(part);
            values.push(match is_secret {
                false => part.to_owned(),
                true if name.is_empty() || has_secret(name) => leave_out("secret"),
                true => format!("{name}={}", leave_out(name)),
            });
        }
        cleaned = format!("{cleaned}?{}", values.join("&"));
    }
    if let Some(fragment) = fragment {
        let fragment = if has_secret(fragment) { leave_out("secret") } else { fragment.to_owned() };
        cleaned = format!("{cleaned}#{fragment}");
    }
    let cleaned = if text.contains("://") { format!("{scheme}://{cleaned}") } else { cleaned };
    if has_secret(&cleaned) { leave_out("address") } else { cleaned }
}

/// Moves variables of a container from the container program's arguments to its environment, which the container
/// inherits: `-e NAME=VALUE` is equivalent to `-e NAME` with the variable in the environment.
pub(crate) fn move_container_variables(config: &mut StdioConfig) {
    if !process::is_container_engine(program_name(&config.command)) {
        return;
    }
    let mut is_variable = false;
    for word in &mut config.args {
        let inline = word.strip_prefix("--env=").map(str::to_owned);
        let given = inline.clone().or_else(|| is_variable.then(|| word.clone()));
        is_variable = matches!(word.as_str(), "-e" | "--env");
        let Some((name, value)) = given.as_deref().and_then(|word| word.split_once('=')) else { continue };
        let is_secret = is_secret_value(name, value);
        if !is_secret || name.is_empty() || name.contains('\0') || config.env.contains_key(name) {
            continue;
        }
        config.env.insert(name.to_owned(), value.to_owned());
        *word = if inline.is_some() { format!("--env={name}") } else { name.to_owned() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_are_removed_from_arguments() {
        let cases = [
            ("Authorization: Basic dXNlcjpwYXNzMQ==", "Authorization: <Authorization>"),
            ("X-Api-Key: abc=def", "X-Api-Key: <X-Api-Key>"),
            ("Authorization: Basic dXNlcjpwYXNzd2Q=", "Authorization: <Authorization>"),
            ("--header=Authorization: Bearer s3cr3t", "--header=Authorization: <Authorization>"),
            ("--url=https://x/mcp?api_key=hunter2", "--url=https://x/mcp?api_key=<api_key>"),
            ("--db-pass=hunter2", "--db-pass=<db-pass>"),
        ];
        for (word, cleaned) in cases {
            assert_eq!(remove_secret_from_argument(word).as_deref(), Some(cleaned), "the secret in {word} is removed");
        }
        for word in
            ["--header=Authorization: Bearer ${TOKEN}", "C:\\Users\\ann", "--port=80", "--url=https://x/mcp?a=b"]
        {
            assert_eq!(remove_secret_from_argument(word), None, "{word} contains no secret");
        }
        let deep = "a=".repeat(100_000) + "password=hunter2";
        assert!(
            !remove_secret_from_argument(&deep).unwrap_or_default().contains("hunter2"),
            "the number of names is limited"
        );
    }
}
