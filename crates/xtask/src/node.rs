//! Node.js: checks its version, installs packages from lockfiles, and builds the page.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::workspace;

/// Minimum version of Node.js that the page's build tool (Vite) supports, as major and minor number.
const MIN_NODE_VERSION: (u32, u32) = (20, 19);

/// Returns a command that runs npm in a folder with a `package.json`.
pub(crate) fn npm(folder: &Path) -> Program {
    Program::new(if cfg!(windows) { "npm.cmd" } else { "npm" }).dir(folder)
}

/// Returns a command that runs a program from the `node_modules` of a folder. Nothing is downloaded.
pub(crate) fn npx(folder: &Path) -> Program {
    Program::new(if cfg!(windows) { "npx.cmd" } else { "npx" }).arg("--no-install").dir(folder)
}

/// Returns an error with a suggested remedy if Node.js is missing or too old.
pub(crate) fn check_node_version() -> Result<(), Problem> {
    let expected = format!(
        "Node.js {}.{} or newer is needed (https://nodejs.org, or `nvm install --lts`)",
        MIN_NODE_VERSION.0, MIN_NODE_VERSION.1
    );
    let answer = Program::new("node").arg("--version").output();
    let Ok(answer) = answer else {
        return Err(Problem::Machine(format!("node was not found on the PATH. {expected}")));
    };
    if parse_node_version(&answer).is_none_or(|found| found < MIN_NODE_VERSION) {
        return Err(Problem::Machine(format!("node is {}. {expected}", answer.trim())));
    }
    match npm(&workspace::root_folder()).arg("--version").output() {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::Machine(format!("node is here, but npm is not. {expected}, with npm"))),
    }
}

fn parse_node_version(answer: &str) -> Option<(u32, u32)> {
    let mut parts = answer.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Callback that runs a program, and writes the program's output to the terminal or to the log of a test part.
pub(crate) type ProgramRunner<'a> = &'a mut dyn FnMut(Program) -> Result<(), Problem>;

/// Lock for installing npm packages and building the page. Test parts that run in parallel use the same folders.
static PACKAGE_INSTALLATION_AND_BUILD_LOCK: Mutex<()> = Mutex::new(());

/// Installs the npm packages in the lockfile of `folder`, unless they are already installed from an identical lockfile.
pub(crate) fn install_packages(folder: &Path, run: ProgramRunner) -> Result<(), Problem> {
    let _alone = PACKAGE_INSTALLATION_AND_BUILD_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let lockfile = folder.join("package-lock.json");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = workspace::create_folder_in_target("stamps")?.join(format!("{name}-package-lock.json"));
    run_unless_file_is_unchanged(&lockfile, &stamp, folder.join("node_modules").exists(), || {
        print_step(&format!("installing the packages of {name}/package-lock.json"));
        run(npm(folder).args(["ci", "--no-audit", "--no-fund"]))
    })
}

/// Runs the action `act`, such as an installation, unless it has already succeeded for the current content of `file`.
/// After a success, `stamp` contains a copy of that content.
pub(crate) fn run_unless_file_is_unchanged(
    file: &Path,
    stamp: &Path,
    result_is_there: bool,
    act: impl FnOnce() -> Result<(), Problem>,
) -> Result<(), Problem> {
    let content = fs::read(file).map_err(Problem::file_error(file))?;
    if result_is_there && fs::read(stamp).is_ok_and(|done| done == content) {
        return Ok(());
    }
    act()?;
    fs::write(stamp, content).map_err(Problem::file_error(stamp))
}

/// Builds the page into `ui/dist`, unless its sources are unchanged since the last build.
pub(crate) fn build_ui(run: ProgramRunner) -> Result<(), Problem> {
    let _alone = PACKAGE_INSTALLATION_AND_BUILD_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = workspace::ui_folder();
    let stamp = workspace::create_folder_in_target("stamps")?.join("ui-sources");
    let sources = list_ui_sources(&folder)?;
    let is_built = folder.join("dist/index.html").is_file();
    if is_built && fs::read_to_string(&stamp).is_ok_and(|built| built == sources) {
        return Ok(());
    }
    print_step("building the page");
    run(npm(&folder).args(["run", "build"]))?;
    fs::write(&stamp, sources).map_err(Problem::file_error(&stamp))
}

/// Returns one line with path, size and modification time for each source file of the page. Build results, npm packages
/// and compiled translations are omitted, because other tasks also write them.
fn list_ui_sources(folder: &Path) -> Result<String, Problem> {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Problem::file_error(&folder))? {
            let path = entry.map_err(Problem::file_error(&folder))?.path();
            let is_generated = ["node_modules", "dist", "paraglide"].iter().any(|name| path.ends_with(name));
            let data = fs::metadata(&path).map_err(Problem::file_error(&path))?;
            if data.is_dir() && !is_generated {
                folders.push(path);
            } else if data.is_file() {
                let modified = data.modified().map_err(Problem::file_error(&path))?;
                lines.push(format!("{} {} {modified:?}", path.display(), data.len()));
            }
        }
    }
    lines.sort_unstable();
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn node_versions_are_compared_as_numbers() {
        assert_eq!(parse_node_version("v20.20.2\n"), Some((20, 20)), "the version should be parsed");
        assert!(
            parse_node_version("v20.9.0").is_some_and(|found| found < MIN_NODE_VERSION),
            "20.9 should be older than 20.19"
        );
        assert!(
            parse_node_version("v9.99.0").is_some_and(|found| found < MIN_NODE_VERSION),
            "9 should be older than 20"
        );
        assert!(
            parse_node_version("v22.0.0").is_some_and(|found| found >= MIN_NODE_VERSION),
            "22 should be new enough"
        );
        assert_eq!(parse_node_version("20"), None, "other output should not be a version");
    }

    #[test]
    fn packages_are_installed_once_and_again_when_the_lockfile_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (lockfile, stamp) = (folder.path().join("package-lock.json"), folder.path().join("stamp"));
        let installs = std::cell::Cell::new(0);
        let install = |there| {
            run_unless_file_is_unchanged(&lockfile, &stamp, there, || {
                installs.set(installs.get() + 1);
                Ok(())
            })
        };
        fs::write(&lockfile, "one").unwrap();
        install(false).unwrap();
        install(true).unwrap();
        assert_eq!(installs.get(), 1, "the same lockfile should not be installed twice");
        install(false).unwrap();
        assert_eq!(installs.get(), 2, "removed packages should be installed again");
        fs::write(&lockfile, "two").unwrap();
        install(true).unwrap();
        assert_eq!(installs.get(), 3, "a changed lockfile should be installed");
    }

    #[test]
    fn failed_package_installation_is_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let (lockfile, stamp) = (folder.path().join("package-lock.json"), folder.path().join("stamp"));
        fs::write(&lockfile, "one").unwrap();
        let failed = run_unless_file_is_unchanged(&lockfile, &stamp, true, || Err(Problem::Interrupted));
        assert!(failed.is_err(), "the failure should be returned");
        let mut again = false;
        run_unless_file_is_unchanged(&lockfile, &stamp, true, || {
            again = true;
            Ok(())
        })
        .unwrap();
        assert!(again, "a failure should leave no stamp");
    }

    #[test]
    fn ui_source_list_changes_with_changed_added_and_removed_files() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, seconds: u64| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        let list = || list_ui_sources(folder.path()).unwrap();
        put("src/shell/App.svelte", 100);
        let first = list();
        for generated in ["node_modules/a/index.js", "dist/index.html", "src/paraglide/messages.js"] {
            put(generated, 200);
        }
        assert_eq!(list(), first, "packages, results and compiled messages should not be considered");
        put("src/shell/App.svelte", 101);
        let changed = list();
        assert_ne!(changed, first, "a changed file should be noticed");
        put("messages/en/app.json", 100);
        assert_ne!(list(), changed, "a new file should be noticed");
        fs::remove_file(folder.path().join("messages/en/app.json")).unwrap();
        assert_eq!(list(), changed, "the sources are again those before");
    }
}
