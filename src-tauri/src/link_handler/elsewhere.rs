//! macOS: a scheme is named when the app is built, and can't be turned on or off.

const CAUSE: &str = "On this system an app can't turn links on or off. Paste the link where a server is added.";

/// Whether links come to this app.
///
/// # Errors
/// Always.
pub(super) fn is_on() -> Result<bool, String> {
    Err(CAUSE.to_owned())
}

/// Has links come to this app, or not.
///
/// # Errors
/// Always.
pub(super) fn set(_: bool) -> Result<(), String> {
    Err(CAUSE.to_owned())
}
