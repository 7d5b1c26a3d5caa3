//! Where the app's files lie, and the demo server beside the program.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use domain::StoreError;
use store::Locations;

/// Names the settings file, instead of the system's usual place.
const CONFIG: &str = "DRAWBRIDGE_CONFIG";
/// Names the folder for all else, instead of the system's usual place.
const DATA_DIR: &str = "DRAWBRIDGE_DATA_DIR";
/// Names the registry that servers are installed from, instead of the official one.
const REGISTRY: &str = "DRAWBRIDGE_REGISTRY";

/// The places in use: the system's own, or those that the environment names.
///
/// # Errors
/// If the environment does not name both and the system names no home folder.
pub(crate) fn locations() -> Result<Locations, StoreError> {
    choose(env::var_os(CONFIG), env::var_os(DATA_DIR), store::default_locations)
}

/// The address of the registry that the environment names, if it does.
pub(crate) fn registry() -> Option<String> {
    env::var(REGISTRY).ok().filter(|address| !address.is_empty())
}

fn choose(
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

/// The folder of an installed app's own programs, beside the folder of those that users call: /usr/lib/drawbridge for /usr/bin.
const INSTALLED_PROGRAMS: &str = "../lib/drawbridge";

/// The demo server: where a package installs it, or beside the program as a build leaves it.
pub(crate) fn demo_server() -> Option<PathBuf> {
    demo_server_of(&env::current_exe().ok()?)
}

fn demo_server_of(program: &Path) -> Option<PathBuf> {
    let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
    let beside = program.parent()?;
    // The path goes into the settings file and a consent request, so it has no "..".
    let installed = beside.join(INSTALLED_PROGRAMS).canonicalize().ok().map(|folder| folder.join(&name));
    installed.into_iter().chain([beside.join(&name)]).find(|demo| demo.is_file())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn usual() -> Result<Locations, StoreError> {
        Ok(Locations { config_file: "/usual/mcp.json".into(), data_dir: "/usual/data".into() })
    }

    #[test]
    fn the_environment_names_one_place_or_both() {
        let places = choose(Some("/a.json".into()), Some("".into()), usual);
        let expected = Locations { config_file: "/a.json".into(), data_dir: "/usual/data".into() };
        assert_eq!(places.ok(), Some(expected), "what is empty is not named");
        let both = choose(Some("/a.json".into()), Some("/d".into()), || {
            Err(StoreError { path: String::new(), cause: String::from("no home") })
        });
        assert!(both.is_ok(), "with both named, a missing home folder does not matter");
    }

    #[test]
    fn the_demo_server_is_found_installed_and_beside_a_build() {
        let root = tempfile::tempdir().unwrap();
        let usr = root.path().canonicalize().unwrap().join("usr");
        let (bin, lib) = (usr.join("bin"), usr.join("lib/drawbridge"));
        for folder in [&bin, &lib] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
        let app = bin.join("drawbridge");
        assert_eq!(demo_server_of(&app), None, "nothing is named that is not there");
        std::fs::write(bin.join(&name), "").unwrap();
        assert_eq!(demo_server_of(&app), Some(bin.join(&name)), "a build leaves it beside the app");
        std::fs::write(lib.join(&name), "").unwrap();
        assert_eq!(demo_server_of(&app), Some(lib.join(&name)), "a package has its own folder for it");
    }
}
