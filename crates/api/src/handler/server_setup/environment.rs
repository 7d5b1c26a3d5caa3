//! Secret environment variables of local servers. Secret values are moved to the keychain, and only references to them
//! are returned.

use ports::secrets;
use ports::server_config::{ServerConfig, StdioConfig};

use super::{invalid_input_error, secret_name_of_header_or_variable};
use crate::ApiError;

/// Moves secret values of environment variables to the keychain and replaces them by references.
///
/// `secret` contains the names of variables to treat as secret. A variable that was secret before stays secret. Returns
/// the storage key and value of each secret for the keychain.
pub(super) fn move_secrets_to_keychain(
    stdio: &mut StdioConfig,
    secret: &[String],
    server: &str,
    was: Option<&ServerConfig>,
    mut taken: Vec<String>,
) -> Result<Vec<(String, String)>, ApiError> {
    let was = was.and_then(ServerConfig::as_stdio);
    let place = secrets::command_secret_binding(stdio);
    let is_same_command = was.is_some_and(|was| secrets::command_secret_binding(was) == place);
    // Names of secrets that other variables of this server reference are in use too.
    taken.extend(stdio.env.values().flat_map(|value| secrets::referenced_secret_names(value)).map(str::to_owned));
    if let Some(unknown) = secret.iter().find(|name| !stdio.env.contains_key(*name)) {
        return Err(invalid_input_error(format!("the variable {unknown:?} has no value")));
    }
    let mut secrets_to_store = Vec::new();
    for (name, value) in &mut stdio.env {
        let before = was.and_then(|was| was.env.get(name));
        let was_secret = before.is_some_and(|before| !secrets::referenced_secret_names(before).is_empty());
        if before == Some(value) && was_secret {
            if is_same_command {
                continue;
            }
            return Err(invalid_input_error(format!(
                "enter the value of the variable {name:?} again: it was entered for another command"
            )));
        }
        let is_reference = !secrets::referenced_secret_names(value).is_empty();
        if is_reference || !(was_secret || secret.contains(name)) {
            continue;
        }
        check_secret_variable(name, value)?;
        // The variable may reuse the name of its existing secret.
        let others: Vec<String> = match before.map(|before| secrets::referenced_secret_names(before)).as_deref() {
            Some([own]) => taken.iter().filter(|taken| taken != own).cloned().collect(),
            _ => taken.clone(),
        };
        let secret = secret_name_of_header_or_variable(server, name, was.map(|was| &was.env), &others);
        taken.push(secret.clone());
        secrets_to_store.push((
            secrets::secret_storage_key(&secret, &place),
            std::mem::replace(value, secrets::secret_reference(&secret)),
        ));
    }
    Ok(secrets_to_store)
}

/// Checks that a value is permitted for a secret variable. An empty value is not permitted.
pub(super) fn check_secret_variable(name: &str, value: &str) -> Result<(), ApiError> {
    if value.is_empty() {
        return Err(invalid_input_error(format!("the secret variable {name:?} has no value")));
    }
    if value.contains('\0') {
        return Err(invalid_input_error(format!("the value of the variable {name:?} contains a NUL character")));
    }
    Ok(())
}

/// Returns the names of the variables whose values are secrets.
pub(super) fn secret_variable_names(stdio: &StdioConfig) -> Option<Vec<String>> {
    let secret = stdio.env.iter().filter(|(_, value)| !secrets::referenced_secret_names(value).is_empty());
    let names: Vec<String> = secret.map(|(name, _)| name.clone()).collect();
    (!names.is_empty()).then_some(names)
}
