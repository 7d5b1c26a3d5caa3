//! Locations of the app's files and of the demo server.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use domain::StoreError;
use store::Locations;

/// Environment variable that overrides the path of the settings file.
const CONFIG_PATH_VARIABLE: &str = "DRAWBRIDGE_CONFIG";
/// Environment variable that overrides the folder for all files other than the settings file.
const DATA_DIR_VARIABLE: &str = "DRAWBRIDGE_DATA_DIR";
/// Environment variable that overrides the registry that servers are installed from.
const REGISTRY_VARIABLE: &str = "DRAWBRIDGE_REGISTRY";

/// Returns the paths of the settings file and the data folder: those in the environment, or else the system's defaults.
///
/// # Errors
/// Returns an error if the environment does not contain both paths and there is no home folder.
pub(crate) fn locations() -> Result<Locations, StoreError> {
    locations_from(env::var_os(CONFIG_PATH_VARIABLE), env::var_os(DATA_DIR_VARIABLE), store::default_locations)
}

/// Returns the address of the registry that servers are installed from, if the environment contains one.
pub(crate) fn registry_address() -> Option<String> {
    env::var(REGISTRY_VARIABLE).ok().filter(|address| !address.is_empty())
}

fn locations_from(
    config: Option<OsString>,
    data: Option<OsString>,
    usual: impl FnOnce() -> Result<Locations, StoreError>,
) -> Result<Locations, StoreError> {
    let given = |value: Option<OsString>| value.filter(|v| !v.is_empty()).map(PathBuf::from);
    match (given(config), given(data)) {
        (Some(config_file), Some(data_dir)) => Ok(Locations { config_file, data_dir }),
        (config, data) => {
            let usual = usual()?;
            Ok(Locations { config_file: config.unwrap_or(usual.config_file), data_dir: data.unwrap_or(usual.data_dir) })
        }
    }
}

/// Path of the folder with Drawbridge's internal programs, relative to the folder of the executable. For `/usr/bin` it
/// is `/usr/lib/drawbridge`.
const INSTALLED_PROGRAMS_PATH: &str = "../lib/drawbridge";

/// Returns the path of the demo server: the installed one, or in a development build the one next to the executable.
pub(crate) fn demo_server_path() -> Option<PathBuf> {
    demo_server_next_to(&env::current_exe().ok()?)
}

fn demo_server_next_to(program: &Path) -> Option<PathBuf> {
    let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
    let beside = program.parent()?;
    // The path appears in the settings file and in a consent request, so it must not contain "..".
    let installed = beside.join(INSTALLED_PROGRAMS_PATH).canonicalize().ok().map(|folder| folder.join(&name));
    installed.into_iter().chain([beside.join(&name)]).find(|demo| demo.is_file())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn default_locations() -> Result<Locations, StoreError> {
        Ok(Locations { config_file: "/usual/mcp.json".into(), data_dir: "/usual/data".into() })
    }

    #[test]
    fn environment_overrides_one_or_both_locations() {
        let places = locations_from(Some("/a.json".into()), Some("".into()), default_locations);
        let expected = Locations { config_file: "/a.json".into(), data_dir: "/usual/data".into() };
        assert_eq!(places.ok(), Some(expected), "an empty variable should be ignored");
        let both = locations_from(Some("/a.json".into()), Some("/d".into()), || {
            Err(StoreError { path: String::new(), cause: String::from("no home") })
        });
        assert!(both.is_ok(), "with both variables set, no home folder should be needed");
    }

    #[test]
    fn demo_server_is_found_installed_and_next_to_a_build() {
        let root = tempfile::tempdir().unwrap();
        let usr = root.path().canonicalize().unwrap().join("usr");
        let (bin, lib) = (usr.join("bin"), usr.join("lib/drawbridge"));
        for folder in [&bin, &lib] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
        let app = bin.join("drawbridge");
        assert_eq!(demo_server_next_to(&app), None, "a missing file should not be returned");
        std::fs::write(bin.join(&name), "").unwrap();
        assert_eq!(demo_server_next_to(&app), Some(bin.join(&name)), "the demo server next to the app should be found");
        std::fs::write(lib.join(&name), "").unwrap();
        assert_eq!(
            demo_server_next_to(&app),
            Some(lib.join(&name)),
            "the installed demo server should take precedence"
        );
    }
}
