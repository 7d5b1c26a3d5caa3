//! Labels of the app's windows. Used by the modules that send events to pages or handle their commands.

/// Label of the main window, as used in the capability.
pub(crate) const MAIN_WINDOW: &str = "main";
