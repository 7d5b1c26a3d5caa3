//! Tests that each settings file in the table of apps is found: on each operating system, in the usual folder and in
//! the one that an environment variable names. The expected folders are listed here, independently of the code that
//! finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use other_apps::apps::{APPS, BaseFolder, FileLayout, SettingsPath, SourceApp};
use other_apps::{AppEnvironment, LOCATION_VARIABLES, OperatingSystem, ScanScope, scan_settings};
use serde_json::{Value, json};

/// Returns the folder below the home folder in which an app's settings are on an operating system, or `None` if the app
/// has none there.
fn usual_folder(base: BaseFolder, system: OperatingSystem) -> Option<&'static str> {
    use OperatingSystem::{Linux, MacOs, Windows};
    match (base, system) {
        (BaseFolder::Home, _) => Some(""),
        (BaseFolder::HomeOn(only), _) => (only == system).then_some(""),
        (BaseFolder::Config, _)
        | (BaseFolder::ConfigOffWindows, Linux | MacOs)
        | (BaseFolder::ConfigOnLinux, Linux) => Some(".config"),
        (BaseFolder::ApplicationSupport, MacOs) => Some("Library/Application Support"),
        (BaseFolder::AppData, Windows) => Some("AppData/Roaming"),
        (BaseFolder::LocalAppData, Windows) => Some("AppData/Local"),
        (BaseFolder::Variable(_, folder), _) => Some(folder),
        _ => None,
    }
}

/// Returns the environment variable that relocates a folder.
fn location_variable(base: BaseFolder) -> Option<&'static str> {
    match base {
        BaseFolder::Config | BaseFolder::ConfigOffWindows | BaseFolder::ConfigOnLinux => Some("XDG_CONFIG_HOME"),
        BaseFolder::AppData => Some("APPDATA"),
        BaseFolder::LocalAppData => Some("LOCALAPPDATA"),
        BaseFolder::Variable(name, _) => Some(name),
        BaseFolder::Home | BaseFolder::HomeOn(_) | BaseFolder::ApplicationSupport | BaseFolder::Project => None,
    }
}

/// Returns minimal texts of a settings file with the server "one", one for each place where the layout has servers.
fn minimal_files(place: &SettingsPath) -> Vec<String> {
    let servers = || json!({ "one": { "command": "run-one" } });
    let below = |key: &str| match key.split_once('/') {
        Some((folder, last)) => json!({ folder: { last: servers() } }),
        None => json!({ key: servers() }),
    };
    let is_json = Path::new(place.path).extension().is_some_and(|end| end == "json");
    let objects: Vec<Value> = match place.layout {
        FileLayout::Keys(keys) | FileLayout::Settings(keys) => keys.iter().map(|key| below(key)).collect(),
        FileLayout::KeysOrBare(keys) => keys.iter().map(|key| below(key)).chain([servers()]).collect(),
        FileLayout::ClaudeState => {
            vec![below("mcpServers"), json!({ "projects": { "/work": { "mcpServers": servers() } } })]
        }
        FileLayout::OpenCode => {
            let local = json!({ "one": { "type": "local", "command": ["run-one"] } });
            vec![json!({ "mcp": local }), json!({ "mcp": { "servers": local } })]
        }
        FileLayout::Continue if is_json => vec![below("mcpServers")],
        FileLayout::Continue => return vec!["mcpServers:\n  - name: one\n    command: run-one\n".to_owned()],
        FileLayout::Goose => return vec!["extensions:\n  one:\n    type: stdio\n    cmd: run-one\n".to_owned()],
        FileLayout::Toml(keys) => {
            return keys.iter().map(|key| format!("[{key}.one]\ncommand = \"run-one\"\n")).collect();
        }
    };
    objects.into_iter().map(|object| object.to_string()).collect()
}

/// Writes each minimal file in turn to the app's path in `folder`, and expects that `scan` finds its server, with the
/// app as the only origin.
fn expect_server(
    app: &SourceApp,
    place: &SettingsPath,
    folder: &Path,
    case: &str,
    scope: &ScanScope,
    environment: &AppEnvironment,
) {
    let mut path = folder.to_owned();
    path.extend(place.path.replace('*', "some").split('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for text in minimal_files(place) {
        fs::write(&path, &text).unwrap();
        let report = scan_settings(scope, environment, &[]).unwrap();
        let case = format!("{} {} {case}: {text}", app.id, place.path);
        assert_eq!(report.problems, [], "{case}");
        let [server] = &report.servers[..] else { panic!("one server is expected for {case}: {report:?}") };
        let origins: Vec<(&str, &str)> =
            server.origins.iter().map(|origin| (origin.app.as_str(), origin.name.as_str())).collect();
        assert_eq!(origins, [(app.id, "one")], "{case}");
        assert_eq!(server.config.command_line(), "run-one", "{case}");
    }
}

fn environment(home: &Path, system: OperatingSystem, variables: BTreeMap<String, PathBuf>) -> AppEnvironment {
    AppEnvironment { home: home.to_owned(), systems: vec![system], runs_on: system, variables, workspace: None }
}

#[test]
fn every_settings_file_of_a_user_is_found() {
    for app in APPS {
        for place in app.user_paths {
            let mut systems = 0;
            for system in OperatingSystem::ALL {
                let Some(folder) = usual_folder(place.base, system) else { continue };
                systems += 1;
                let home = tempfile::tempdir().unwrap();
                let environment = environment(home.path(), system, BTreeMap::new());
                let case = format!("on {system:?}");
                expect_server(app, place, &home.path().join(folder), &case, &ScanScope::All, &environment);
            }
            assert_ne!(systems, 0, "{} has {} on no operating system", app.id, place.path);
        }
    }
}

#[test]
fn every_location_variable_relocates_the_files_of_its_apps() {
    let mut used = BTreeSet::new();
    for app in APPS {
        for place in app.user_paths {
            let Some(variable) = location_variable(place.base) else { continue };
            used.insert(variable);
            for system in OperatingSystem::ALL {
                if usual_folder(place.base, system).is_none() {
                    continue;
                }
                let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
                let variables = BTreeMap::from([(variable.to_owned(), elsewhere.path().to_owned())]);
                let environment = environment(home.path(), system, variables);
                let case = format!("in {variable} on {system:?}");
                expect_server(app, place, elsewhere.path(), &case, &ScanScope::All, &environment);
            }
        }
    }
    assert_eq!(used, BTreeSet::from(LOCATION_VARIABLES), "each variable relocates a file");
}

#[test]
fn every_settings_file_of_a_project_is_found() {
    for app in APPS {
        for place in app.project_paths {
            let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let environment = environment(home.path(), OperatingSystem::Linux, BTreeMap::new());
            let scope = ScanScope::Path(project.path().to_owned());
            expect_server(app, place, project.path(), "in a project", &scope, &environment);
        }
    }
}
