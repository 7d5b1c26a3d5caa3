//! Paths of programs in this workspace that tests start. They are built first if necessary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Returns the path of the scripted server. Builds it if it is missing or older than its sources, so that a single
/// crate can be tested.
///
/// # Panics
/// Panics if it can't be built.
pub fn scripted_server() -> PathBuf {
    static PROGRAM_PATH: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM_PATH
        .get_or_init(|| build_if_outdated("testkit", "scripted-server", Path::new(env!("CARGO_MANIFEST_DIR"))))
        .clone()
}

/// Returns the path of the program `authorization-server`, which is built first if necessary.
///
/// # Panics
/// Panics if it can't be built.
pub fn authorization_server() -> PathBuf {
    static PROGRAM_PATH: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM_PATH
        .get_or_init(|| build_if_outdated("testkit", "authorization-server", Path::new(env!("CARGO_MANIFEST_DIR"))))
        .clone()
}

/// Returns the path of the demo server, which is built first if necessary.
///
/// # Panics
/// Panics if it can't be built.
pub fn demo_server() -> PathBuf {
    static PROGRAM_PATH: OnceLock<PathBuf> = OnceLock::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo-server");
    PROGRAM_PATH.get_or_init(|| build_if_outdated("demo-server", "demo-server", &source)).clone()
}

/// Returns the path of a workspace program in the Cargo profile of the running test.
///
/// # Panics
/// Panics if the path of the running test is unknown.
pub fn program_path(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|error| panic!("a test has no path: {error}"));
    // Test programs are in the subfolder `deps` of the folder with other programs.
    let folder = own.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap_or(Path::new("."));
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[allow(clippy::disallowed_methods, reason = "starts cargo, not a server")]
fn build_if_outdated(package: &str, name: &str, source: &Path) -> PathBuf {
    let program = program_path(name);
    // The sources are the program's folder in `src/bin`, or else the whole crate.
    let own = source.join("src/bin").join(name);
    let own = if own.is_dir() { own } else { source.join("src") };
    let beside = [
        modification_time(&source.join("src/processes.rs")),
        newest_modification_time(&source.join("src/authorization")),
    ];
    let sources = [newest_modification_time(&own), beside[0], beside[1]];
    let is_fresh = match (modification_time(&program), sources.into_iter().flatten().max()) {
        (Some(built), Some(written)) => built >= written,
        _ => false,
    };
    if !is_fresh {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--package", package, "--bin", name])
            .current_dir(source)
            .status();
        assert!(
            status.as_ref().is_ok_and(std::process::ExitStatus::success) && program.is_file(),
            "{name} could not be built: {status:?}"
        );
    }
    program
}

fn modification_time(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn newest_modification_time(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            if path.is_dir() { newest_modification_time(&path) } else { modification_time(&path) }
        })
        .max()
}
