//! Paths of apps' files on a computer, and the app that a file belongs to.

use std::path::{Path, PathBuf};

use super::{APPS, App, Base, Place};
use crate::surroundings::{Surroundings, System, join};

/// Returns the app and place of a file, by the end of its path. Considers files of users and of projects.
pub(crate) fn place_of(file: &Path) -> Option<(&'static App, &'static Place)> {
    let parts: Vec<String> = file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let fits = |place: &Place| {
        let base = match place.base {
            Base::Variable(_, folder) => folder,
            _ => "",
        };
        let wanted: Vec<&str> = base.split('/').chain(place.path.split('/')).filter(|part| !part.is_empty()).collect();
        // A file name such as "mcp.json" alone is ambiguous.
        let is_specific = wanted.len() > 1
            || matches!(wanted[..], [name] if !matches!(name, "mcp-config.json" | "mcp.json" | "settings.json"));
        is_specific
            && parts.len() >= wanted.len()
            && parts[parts.len() - wanted.len()..].iter().zip(&wanted).all(|(part, wanted)| fits_pattern(part, wanted))
    };
    let all = || APPS.iter().flat_map(|app| app.places.iter().chain(app.project).map(move |place| (app, place)));
    // A file that the user names is more likely one of a project.
    let rank = |place: &Place| (place.path.matches('/').count(), matches!(place.base, Base::Project));
    all().filter(|(_, place)| fits(place)).max_by_key(|(_, place)| rank(place))
}

/// Returns `true` if a file name matches a pattern such as `*.json`.
pub(crate) fn fits_pattern(name: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() > end.len() && name.ends_with(end),
        None => name == pattern,
    }
}

impl Place {
    /// Returns the base folder of the place on this computer, or `None` if none of the searched systems has it.
    pub(crate) fn folder(&self, surroundings: &Surroundings) -> Option<PathBuf> {
        let on = |system| surroundings.systems.contains(&system);
        let config = || surroundings.folder("XDG_CONFIG_HOME", ".config");
        match self.base {
            Base::Home => Some(surroundings.home.clone()),
            Base::HomeOn(system) => on(system).then(|| surroundings.home.clone()),
            Base::Config => Some(config()),
            Base::ConfigOffWindows => (on(System::Linux) || on(System::MacOs)).then(config),
            Base::ConfigOnLinux => on(System::Linux).then(config),
            Base::ApplicationSupport => {
                on(System::MacOs).then(|| join(&surroundings.home, "Library/Application Support"))
            }
            Base::AppData => on(System::Windows).then(|| surroundings.folder("APPDATA", "AppData/Roaming")),
            Base::LocalAppData => on(System::Windows).then(|| surroundings.folder("LOCALAPPDATA", "AppData/Local")),
            Base::Variable(name, below_home) => Some(surroundings.folder(name, below_home)),
            Base::Project => None,
        }
    }
}
