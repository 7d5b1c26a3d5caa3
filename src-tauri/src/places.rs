//! Where the app's files lie, and the demo server beside the program.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use domain::StoreError;
use store::Locations;

/// Names the settings file, instead of the system's usual place.
const CONFIG: &str = "DRAWBRIDGE_CONFIG";
/// Names the folder for all else, instead of the system's usual place.
const DATA_DIR: &str = "DRAWBRIDGE_DATA_DIR";

/// The places in use: the system's own, or those that the environment names.
///
/// # Errors
/// If the environment does not name both and the system names no home folder.
pub(crate) fn locations() -> Result<Locations, StoreError> {
    choose(env::var_os(CONFIG), env::var_os(DATA_DIR), store::default_locations)
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

/// The demo server, if it lies beside the program.
pub(crate) fn demo_server() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let demo = program.parent()?.join(format!("demo-server{}", env::consts::EXE_SUFFIX));
    demo.is_file().then_some(demo)
}

#[cfg(test)]
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
}
