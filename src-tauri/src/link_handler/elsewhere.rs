//! Link handler on macOS, where an app declares its URL schemes at build time and can't change them later.

const UNSUPPORTED_CAUSE: &str =
    "On this system an app can't enable or disable links. Paste the link in the page that adds servers.";

/// Returns an error, since `drawbridge:` links can't be turned on or off on this operating system.
///
/// # Errors
/// Always returns a message for the user, with an alternative.
pub(super) fn is_link_handler_on() -> Result<bool, String> {
    Err(UNSUPPORTED_CAUSE.to_owned())
}

/// Returns an error and changes nothing, since `drawbridge:` links can't be turned on or off on this operating system.
///
/// # Errors
/// Always returns a message for the user, with an alternative.
pub(super) fn set_link_handler_enabled(_: bool) -> Result<(), String> {
    Err(UNSUPPORTED_CAUSE.to_owned())
}
