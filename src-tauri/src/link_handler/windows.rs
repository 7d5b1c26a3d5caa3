//! Link handler on Windows: a registry key for the scheme in the user's `Software\\Classes` ("Registering an
//! Application to a URI Scheme", learn.microsoft.com).

use std::env;

use windows_registry::CURRENT_USER;

const LINK_SCHEME_REGISTRY_KEY: &str = r"Software\Classes\drawbridge";
const LINK_COMMAND_REGISTRY_KEY: &str = r"Software\Classes\drawbridge\shell\open\command";

/// Returns `true` if Windows opens `drawbridge:` links with Drawbridge.
///
/// # Errors
/// Returns a message for the user if the state can't be determined.
pub(super) fn is_link_handler_on() -> Result<bool, String> {
    let command = link_handler_command_line()?;
    let registered = CURRENT_USER.open(LINK_COMMAND_REGISTRY_KEY).and_then(|key| key.get_string(""));
    Ok(registered.is_ok_and(|registered| registered == command))
}

/// Registers or unregisters Drawbridge for `drawbridge:` links.
///
/// # Errors
/// Returns a message for the user if the registry rejects the change.
pub(super) fn set_link_handler_enabled(on: bool) -> Result<(), String> {
    if on {
        let command = link_handler_command_line()?;
        let class = CURRENT_USER.create(LINK_SCHEME_REGISTRY_KEY).map_err(|error| error.to_string())?;
        // This value marks the class as a URI scheme.
        class.set_string("URL Protocol", "").map_err(|error| error.to_string())?;
        class.set_string("", "URL:Drawbridge").map_err(|error| error.to_string())?;
        let key = CURRENT_USER.create(LINK_COMMAND_REGISTRY_KEY).map_err(|error| error.to_string())?;
        key.set_string("", command).map_err(|error| error.to_string())
    } else if is_link_handler_on()? {
        CURRENT_USER.remove_tree(LINK_SCHEME_REGISTRY_KEY).map_err(|error| error.to_string())
    } else {
        Ok(())
    }
}

fn link_handler_command_line() -> Result<String, String> {
    let program = env::current_exe().map_err(|error| format!("The path of the program is unknown: {error}"))?;
    let path = program.to_str().ok_or_else(|| format!("{} is not Unicode.", program.display()))?;
    // Quotation marks can't occur in paths on Windows.
    Ok(format!("\"{path}\" -- \"%1\""))
}
