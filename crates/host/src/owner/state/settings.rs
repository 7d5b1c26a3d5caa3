//! The app's settings as they hold, and the problem of the settings file.

use ports::server_config::ConfigProblem;

use crate::owner::settings::SettingsChanges;
use crate::view::AppSettings;

/// Settings and their changes under way.
#[derive(Default)]
pub(in crate::owner) struct SettingsState {
    pub(in crate::owner) current: AppSettings,
    pub(in crate::owner) changes: SettingsChanges,
    /// Why the settings file of the servers can't be used.
    pub(in crate::owner) config_problem: Option<ConfigProblem>,
}
