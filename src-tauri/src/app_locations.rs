//! Locations of the app's files and of the demo server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use domain::StoreError;
use ports::server_config::ConfigProblem;
use store::FileLocations;

/// Environment variable that overrides the path of the settings file.
const CONFIG_PATH_VARIABLE: &str = "DRAWBRIDGE_CONFIG";
/// Environment variable that overrides the path of the folder for all files except the settings file.
const DATA_DIR_VARIABLE: &str = "DRAWBRIDGE_DATA_DIR";
/// Environment variable that overrides the address of the registry from which servers are installed.
const REGISTRY_VARIABLE: &str = "DRAWBRIDGE_REGISTRY";

/// Returns the paths of the settings file and the data folder, as set by environment variables, or else the system's
/// defaults.
///
/// # Errors
/// Returns an error if the environment does not contain both paths and there is no home folder.
pub(crate) fn file_locations() -> Result<FileLocations, StoreError> {
    locations_from_variables(
        env::var_os(CONFIG_PATH_VARIABLE),
        env::var_os(DATA_DIR_VARIABLE),
        store::default_locations,
    )
}

/// Returns the address of the registry from which servers are installed, if an environment variable sets it.
pub(crate) fn registry_address() -> Option<String> {
    env::var(REGISTRY_VARIABLE).ok().filter(|address| !address.is_empty())
}

fn locations_from_variables(
    config: Option<OsString>,
    data: Option<OsString>,
    usual: impl FnOnce() -> Result<FileLocations, StoreError>,
) -> Result<FileLocations, StoreError> {
    let given = |value: Option<OsString>| value.filter(|v| !v.is_empty()).map(PathBuf::from);
    match (given(config), given(data)) {
        (Some(config_file), Some(data_dir)) => Ok(FileLocations { config_file, data_dir }),
        (config, data) => {
            let usual = usual()?;
            Ok(FileLocations {
                config_file: config.unwrap_or(usual.config_file),
                data_dir: data.unwrap_or(usual.data_dir),
            })
        }
    }
}

/// Path of the folder with Drawbridge's internal programs, relative to the folder of the executable. For `/usr/bin` it
/// is `/usr/lib/drawbridge`.
const INSTALLED_PROGRAMS_RELATIVE_PATH: &str = "../lib/drawbridge";
/// Path, relative to the home folder, of the folder for copies of Drawbridge's internal programs. It is outside of the
/// data folder, which sandboxed servers can't read.
const PROGRAM_COPIES_PATH_IN_HOME: &str = ".local/lib/drawbridge";

/// Adds the demo server to the settings at the first start, if this package contains it.
///
/// # Errors
/// Returns [`ConfigProblem`] if the settings file can't be written.
pub(crate) fn add_demo_server_at_first_start(locations: &FileLocations) -> Result<(), ConfigProblem> {
    let is_first_start = locations.config_file.symlink_metadata().is_err();
    let program = env::current_exe().ok().filter(|_| is_first_start);
    let Some(demo) = program.and_then(|program| demo_server_next_to(&program)) else { return Ok(()) };
    match persistent_demo_server_path(demo, appimage_mount_point().as_deref(), env::home_dir().as_deref()) {
        Ok(Some(demo)) => _ = store::add_demo_server_if_first_start(&locations.config_file, &demo)?,
        Ok(None) => tracing::info!("the demo server is not added, because the app has another path at its next start"),
        Err(error) => tracing::warn!("the demo server could not be copied out of the AppImage: {error}"),
    }
    Ok(())
}

/// Replaces the copy of the demo server if this AppImage contains another version of it. An approval of the previous
/// version does not apply to the new one, so its next start asks again. Must be called before the host starts, so that
/// a server which starts by itself has the new version.
pub(crate) fn update_copied_demo_server() {
    let (Some(mounted), Some(home)) = (appimage_mount_point(), env::home_dir()) else { return };
    let program = env::current_exe().ok();
    let Some(demo) = program.and_then(|program| demo_server_next_to(&program)) else { return };
    match replace_outdated_demo_server_copy(&demo, &mounted, &home) {
        Ok(true) => tracing::info!("the copy of the demo server was updated"),
        Ok(false) => {}
        Err(error) => tracing::warn!("the copy of the demo server could not be updated: {error}"),
    }
}

/// Replaces the copy of `demo` in the home folder, if the copy exists and differs from `demo`. `mounted` is the mount
/// point of the AppImage. Returns `true` if the copy was replaced.
fn replace_outdated_demo_server_copy(demo: &Path, mounted: &Path, home: &Path) -> io::Result<bool> {
    let Some(name) = demo.file_name().filter(|_| demo.starts_with(mounted)) else { return Ok(false) };
    let copy = home.join(PROGRAM_COPIES_PATH_IN_HOME).join(name);
    // A copy that the user has deleted or replaced by a link is not created again.
    let Ok(found) = copy.symlink_metadata() else { return Ok(false) };
    if !found.is_file() || (found.len() == demo.metadata()?.len() && fs::read(&copy)? == fs::read(demo)?) {
        return Ok(false);
    }
    store::copy_file(demo, &copy)?;
    Ok(true)
}

/// Returns the canonical mount point of the AppImage that contains this program or its parent process, as in the
/// environment variables of AppImages, or `None` if they are not set. Programs that an AppImage starts inherit these
/// variables, so this program may belong to another package.
///
/// Source: <https://docs.appimage.org/packaging-guide/environment-variables.html>.
fn appimage_mount_point() -> Option<PathBuf> {
    env::var_os("APPIMAGE")?;
    PathBuf::from(env::var_os("APPDIR")?).canonicalize().ok()
}

/// Returns a path of the demo server that is still valid after Drawbridge ends: `demo` itself, or the path of a new
/// copy in the home folder if `demo` is in the AppImage that is mounted at `mounted`. Returns `None` if there is no
/// such path.
fn persistent_demo_server_path(
    demo: PathBuf,
    mounted: Option<&Path>,
    home: Option<&Path>,
) -> io::Result<Option<PathBuf>> {
    if cfg!(target_os = "macos") && is_temporary_macos_path(&demo) {
        return Ok(None);
    }
    if mounted.is_none_or(|mounted| !demo.starts_with(mounted)) {
        return Ok(Some(demo));
    }
    let (Some(home), Some(name)) = (home, demo.file_name()) else { return Ok(None) };
    let folder = home.join(PROGRAM_COPIES_PATH_IN_HOME);
    fs::create_dir_all(&folder)?;
    let copy = folder.join(name);
    store::copy_file(&demo, &copy)?;
    Ok(Some(copy))
}

/// Returns `true` if a program is at a path at which macOS makes it available only temporarily: on a disk image, or at
/// the random path from which macOS runs a downloaded app that was not moved yet.
fn is_temporary_macos_path(program: &Path) -> bool {
    program.starts_with("/Volumes") || program.components().any(|part| part.as_os_str() == "AppTranslocation")
}

/// Returns the path of the demo server that belongs to the executable `program`: the installed one, or the one in the
/// same folder, as in the bundles of Tauri and in a development build.
fn demo_server_next_to(program: &Path) -> Option<PathBuf> {
    let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
    let beside = program.parent()?;
    // The path appears in the settings file and in a consent request, so it must not contain "..".
    let installed = beside.join(INSTALLED_PROGRAMS_RELATIVE_PATH).canonicalize().ok().map(|folder| folder.join(&name));
    installed.into_iter().chain([beside.join(&name)]).find(|demo| demo.is_file())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn default_locations() -> Result<FileLocations, StoreError> {
        Ok(FileLocations { config_file: "/usual/mcp.json".into(), data_dir: "/usual/data".into() })
    }

    #[test]
    fn environment_variables_override_one_or_both_file_locations() {
        let places = locations_from_variables(Some("/a.json".into()), Some("".into()), default_locations);
        let expected = FileLocations { config_file: "/a.json".into(), data_dir: "/usual/data".into() };
        assert_eq!(places.ok(), Some(expected), "an empty variable should be ignored");
        let both = locations_from_variables(Some("/a.json".into()), Some("/d".into()), || {
            Err(StoreError { path: String::new(), cause: String::from("no home") })
        });
        assert!(both.is_ok(), "with both variables set, no home folder should be needed");
    }

    #[test]
    fn demo_server_of_an_appimage_is_copied_out_of_its_mount_point() {
        let root = tempfile::tempdir().unwrap();
        let (mounted, home) = (root.path().join(".mount_x"), root.path().join("home"));
        let demo = mounted.join("usr/bin/demo-server");
        fs::create_dir_all(demo.parent().unwrap()).unwrap();
        fs::write(&demo, "program").unwrap();
        let path = |mounted: Option<&Path>, home: Option<&Path>| {
            persistent_demo_server_path(demo.clone(), mounted, home).unwrap()
        };
        let (image, ann) = (Some(mounted.as_path()), Some(home.as_path()));
        let copy = path(image, ann).unwrap();
        assert_eq!(copy, home.join(".local/lib/drawbridge/demo-server"));
        assert_eq!(fs::read(&copy).unwrap(), b"program");
        assert_eq!(fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "no unfinished copy should remain");
        assert_eq!(path(image, None), None, "without a home folder there is no lasting path");
        assert_eq!(path(None, ann), Some(demo.clone()), "another package is not copied");
        let other = root.path().join(".mount_y");
        assert_eq!(path(Some(other.as_path()), ann), Some(demo.clone()), "an inherited mount point is ignored");
    }

    #[test]
    fn copied_demo_server_follows_the_version_in_the_appimage() {
        let root = tempfile::tempdir().unwrap();
        let (mounted, home) = (root.path().join(".mount_x"), root.path().join("home"));
        let (demo, copy) = (mounted.join("demo-server"), home.join(PROGRAM_COPIES_PATH_IN_HOME).join("demo-server"));
        fs::create_dir_all(&mounted).unwrap();
        fs::write(&demo, "version 2").unwrap();
        let update = || replace_outdated_demo_server_copy(&demo, &mounted, &home).unwrap();
        assert!(!update() && !copy.exists(), "without a copy nothing is created");
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        for other in ["version 1", "a version of another size"] {
            fs::write(&copy, other).unwrap();
            assert!(update(), "{other} is replaced");
            assert_eq!(fs::read(&copy).unwrap(), b"version 2");
            assert_eq!(fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "no unfinished copy should remain");
            assert!(!update(), "the same version is not copied again");
        }
        fs::write(&demo, "version 3").unwrap();
        let elsewhere = replace_outdated_demo_server_copy(&demo, &root.path().join(".mount_y"), &home).unwrap();
        assert!(!elsewhere, "a demo server outside of the AppImage is not copied");
        assert_eq!(fs::read(&copy).unwrap(), b"version 2");
    }

    #[test]
    fn disk_images_and_translocated_apps_are_temporary_on_macos() {
        let app = "Drawbridge.app/Contents/MacOS/demo-server";
        for folder in ["/Volumes/Drawbridge", "/private/var/folders/x/T/AppTranslocation/1-2/d"] {
            assert!(is_temporary_macos_path(&Path::new(folder).join(app)), "{folder}");
        }
        for folder in ["/Applications", "/Users/ann/Applications"] {
            assert!(!is_temporary_macos_path(&Path::new(folder).join(app)), "{folder}");
        }
    }

    #[test]
    fn demo_server_is_found_installed_and_next_to_a_build() {
        let root = tempfile::tempdir().unwrap();
        let usr = root.path().canonicalize().unwrap().join("usr");
        let (bin, lib) = (usr.join("bin"), usr.join("lib/drawbridge"));
        for folder in [&bin, &lib] {
            fs::create_dir_all(folder).unwrap();
        }
        let name = format!("demo-server{}", env::consts::EXE_SUFFIX);
        let app = bin.join("drawbridge");
        assert_eq!(demo_server_next_to(&app), None, "a missing file should not be returned");
        fs::write(bin.join(&name), "").unwrap();
        assert_eq!(demo_server_next_to(&app), Some(bin.join(&name)), "the demo server next to the app should be found");
        fs::write(lib.join(&name), "").unwrap();
        assert_eq!(
            demo_server_next_to(&app),
            Some(lib.join(&name)),
            "the installed demo server should take precedence"
        );
    }
}
