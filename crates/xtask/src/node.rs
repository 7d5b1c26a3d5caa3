//! Node.js: checks its version, installs packages from lockfiles, and builds the page.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::workspace;

/// Minimum version of Node.js that the user interface's build tool supports: major, minor.
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

/// Callback that runs a program. Its output is written to the terminal or to the log of a test part.
pub(crate) type ProgramRunner<'a> = &'a mut dyn FnMut(Program) -> Result<(), Problem>;

/// Lock for installing npm packages and building the user interface, since test parts that run in parallel require the
/// same files.
static INSTALL_LOCK: Mutex<()> = Mutex::new(());

/// Installs the packages of a folder's lockfile, unless they are already installed from the same lockfile.
pub(crate) fn install_packages(folder: &Path, run: ProgramRunner) -> Result<(), Problem> {
    let _alone = INSTALL_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let lockfile = folder.join("package-lock.json");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = workspace::target_folder("stamps")?.join(format!("{name}-package-lock.json"));
    run_once_per_content(&lockfile, &stamp, folder.join("node_modules").exists(), || {
        print_step(&format!("installing the packages of {name}/package-lock.json"));
        run(npm(folder).args(["ci", "--no-audit", "--no-fund"]))
    })
}

/// Runs an action, such as an installation, unless it has already succeeded for the current content of `file`. A copy
/// of that content is stored in `stamp`.
pub(crate) fn run_once_per_content(
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

/// Builds the user interface into `ui/dist`, unless its sources are unchanged since the last build.
pub(crate) fn build_ui(run: ProgramRunner) -> Result<(), Problem> {
    let _alone = INSTALL_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = workspace::ui_folder();
    let built = modification_time(&folder.join("dist/index.html"));
    if built.is_some() && newest_modification(&folder)? <= built {
        return Ok(());
    }
    print_step("building the page");
    run(npm(&folder).args(["run", "build"]))
}

fn modification_time(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Returns the latest modification time of the user interface's sources, or `None` if there are none. Folders are
/// included, since removing a file changes their time.
fn newest_modification(folder: &Path) -> Result<Option<SystemTime>, Problem> {
    let mut newest = None;
    for entry in fs::read_dir(folder).map_err(Problem::file_error(folder))? {
        let path = entry.map_err(Problem::file_error(folder))?.path();
        if path.ends_with("node_modules") || path.ends_with("dist") {
            continue;
        }
        newest = newest.max(modification_time(&path));
        if path.is_dir() {
            newest = newest.max(self::newest_modification(&path)?);
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
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
    fn lockfile_is_installed_once_and_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (lockfile, stamp) = (folder.path().join("package-lock.json"), folder.path().join("stamp"));
        let installs = std::cell::Cell::new(0);
        let install = |there| {
            run_once_per_content(&lockfile, &stamp, there, || {
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
    fn failed_installation_is_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let (lockfile, stamp) = (folder.path().join("package-lock.json"), folder.path().join("stamp"));
        fs::write(&lockfile, "one").unwrap();
        let failed = run_once_per_content(&lockfile, &stamp, true, || Err(Problem::Interrupted));
        assert!(failed.is_err(), "the failure should be returned");
        let mut again = false;
        run_once_per_content(&lockfile, &stamp, true, || {
            again = true;
            Ok(())
        })
        .unwrap();
        assert!(again, "a failure should leave no stamp");
    }

    #[test]
    fn newest_change_is_found_outside_of_node_modules() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, seconds: u64| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(path).unwrap();
            let time = SystemTime::now() + std::time::Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
            time
        };
        let page = put("src/shell/App.svelte", 100);
        put("node_modules/a/index.js", 200);
        put("dist/index.html", 300);
        assert_eq!(
            newest_modification(folder.path()).unwrap(),
            Some(page),
            "only sources should be considered, not results and packages"
        );
    }
}
