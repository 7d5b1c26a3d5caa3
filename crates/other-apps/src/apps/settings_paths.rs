//! Paths of apps' settings files on a computer, and the app that a file belongs to.

use std::path::{Path, PathBuf};

use super::{APPS, BaseFolder, SettingsPath, SourceApp};
use crate::app_environment::{AppEnvironment, OperatingSystem, join_components};

/// Finds the app that a settings file belongs to, and the entry of [`APPS`](crate::apps::APPS) that matches the file,
/// by comparing the last components of `file`. Both user settings and project settings are considered.
pub(crate) fn match_settings_file(file: &Path) -> Option<(&'static SourceApp, &'static SettingsPath)> {
    let parts: Vec<String> = file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let fits = |place: &SettingsPath| {
        let base = match place.base {
            BaseFolder::Variable(_, folder) => folder,
            _ => "",
        };
        let expected: Vec<&str> =
            base.split('/').chain(place.path.split('/')).filter(|part| !part.is_empty()).collect();
        // The file name alone, such as "mcp.json", is ambiguous.
        let is_specific = expected.len() > 1
            || matches!(expected[..], [name] if !matches!(name, "mcp-config.json" | "mcp.json" | "settings.json"));
        is_specific
            && parts.len() >= expected.len()
            && parts[parts.len() - expected.len()..]
                .iter()
                .zip(&expected)
                .all(|(part, expected)| matches_pattern(part, expected))
    };
    let all =
        || APPS.iter().flat_map(|app| app.user_paths.iter().chain(app.project_paths).map(move |place| (app, place)));
    // A file that the user chooses is more likely in a project folder.
    let rank = |place: &SettingsPath| (place.path.matches('/').count(), matches!(place.base, BaseFolder::Project));
    all().filter(|(_, place)| fits(place)).max_by_key(|(_, place)| rank(place))
}

/// Returns `true` if a file name matches a pattern such as `*.json`.
pub(crate) fn matches_pattern(name: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() > end.len() && name.ends_with(end),
        None => name == pattern,
    }
}

impl SettingsPath {
    /// Returns the absolute path of the base folder, or `None` if the settings path doesn't apply to any of the
    /// operating systems in `environment`.
    pub(crate) fn base_folder(&self, environment: &AppEnvironment) -> Option<PathBuf> {
        let on = |system| environment.systems.contains(&system);
        let config = || environment.folder_from_variable_or_home("XDG_CONFIG_HOME", ".config");
        match self.base {
            BaseFolder::Home => Some(environment.home.clone()),
            BaseFolder::HomeOn(system) => on(system).then(|| environment.home.clone()),
            BaseFolder::Config => Some(config()),
            BaseFolder::ConfigOffWindows => (on(OperatingSystem::Linux) || on(OperatingSystem::MacOs)).then(config),
            BaseFolder::ConfigOnLinux => on(OperatingSystem::Linux).then(config),
            BaseFolder::ApplicationSupport => {
                on(OperatingSystem::MacOs).then(|| join_components(&environment.home, "Library/Application Support"))
            }
            BaseFolder::AppData => on(OperatingSystem::Windows)
                .then(|| environment.folder_from_variable_or_home("APPDATA", "AppData/Roaming")),
            BaseFolder::LocalAppData => on(OperatingSystem::Windows)
                .then(|| environment.folder_from_variable_or_home("LOCALAPPDATA", "AppData/Local")),
            BaseFolder::Variable(name, below_home) => Some(environment.folder_from_variable_or_home(name, below_home)),
            BaseFolder::Project => None,
        }
    }
}
