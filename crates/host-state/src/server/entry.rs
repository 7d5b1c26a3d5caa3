//! Validation of a server's entry before it is written to the settings. Used by `host/src/owner/servers.rs`.

use ports::server_config::{ConfigProblem, ServerEntry};

use crate::HostClosed;

/// Maximum length of a server's name, in characters.
const MAX_SERVER_NAME_CHARS: usize = 64;

/// Error of adding, changing or removing a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// No server has this name.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The server's name is invalid or already in use.
    #[error("the name \"{name}\" can't be used: {cause}")]
    BadName {
        /// Name of the server.
        name: String,
        /// Cause as text for the user.
        cause: String,
    },
    /// The server's URL or sandbox is invalid.
    #[error("{name}: {cause}")]
    BadConfig {
        /// Name of the server.
        name: String,
        /// Cause as text for the user.
        cause: String,
    },
    /// The configuration is not the one that the change was approved for. Nothing was changed.
    #[error("{0} was changed in the meantime, maybe by another program; review it again")]
    Changed(String),
    /// The settings file can't be read or written. Nothing was changed.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// The change was made, but stored tokens of the server could not be deleted.
    #[error("{name}: the settings are changed, but its stored tokens could not be removed: {cause}")]
    NotForgotten {
        /// Name of the server.
        name: String,
        /// Reason why the tokens could not be deleted.
        cause: String,
    },
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Validates the entry of a new or changed server. `is_name_taken` is `true` if another server has its name.
///
/// # Errors
///
/// Returns [`ServerError::BadName`] if the name is invalid or in use, and [`ServerError::BadConfig`] if the URL or the
/// sandbox is invalid.
pub fn check_server_entry(entry: &ServerEntry, is_name_taken: bool) -> Result<(), ServerError> {
    let name = entry.name.as_str();
    // An invalid URL would make the whole settings file invalid, unlike a command, which is only resolved on start.
    if let Some(cause) = entry.config.as_http().and_then(|config| config.problem()) {
        return Err(ServerError::BadConfig { name: name.to_owned(), cause });
    }
    let bad = |cause: &str| Err(ServerError::BadName { name: name.to_owned(), cause: cause.to_owned() });
    if name.trim().is_empty() || name.trim() != name {
        bad("it must not be empty or begin or end with a space")
    } else if name.chars().count() > MAX_SERVER_NAME_CHARS {
        bad(&format!("it must have at most {MAX_SERVER_NAME_CHARS} characters"))
    } else if name.chars().any(|c| c.is_control() || offers::review::is_hidden(c)) {
        bad("it has invisible characters")
    } else if is_name_taken {
        bad("another server has it")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ports::server_config::{HttpConfig, ServerConfig, StdioConfig};

    use super::*;

    #[test]
    fn invalid_and_taken_names_are_rejected() {
        let config: ServerConfig = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }.into();
        let check = |name: &str, is_name_taken| {
            check_server_entry(&ServerEntry { name: name.to_owned(), config: config.clone() }, is_name_taken)
        };
        assert_eq!(check(&"x".repeat(MAX_SERVER_NAME_CHARS), false), Ok(()), "a name of the maximum length is valid");
        for bad in [" a", "a ", "", "a\u{200b}", "a\n", &"x".repeat(MAX_SERVER_NAME_CHARS + 1)] {
            assert!(matches!(check(bad, false), Err(ServerError::BadName { .. })), "{bad:?} is not a valid name");
        }
        assert!(matches!(check("taken", true), Err(ServerError::BadName { .. })), "another server has the name");
    }

    #[test]
    fn invalid_url_is_rejected() {
        let config = HttpConfig { url: "no URL".to_owned(), ..HttpConfig::default() }.into();
        let checked = check_server_entry(&ServerEntry { name: "a".to_owned(), config }, false);
        assert!(matches!(checked, Err(ServerError::BadConfig { .. })), "{checked:?}");
    }
}
