//! Labels of the app's windows. Used by the modules that send events to pages or handle their commands.

/// Label of the main window. The capability in `capabilities/main.json` refers to it.
pub(crate) const MAIN_WINDOW_LABEL: &str = "main";
