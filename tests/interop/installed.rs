//! Paths of the installed servers, and the commands that start them.

use std::path::{Path, PathBuf};
use std::process::Command;

use ports::server_config::ServerConfig;
use testkit::app::local_config;

use crate::matrix::process::LaunchCommand;

/// Returns the folder in which the servers from npm are installed.
pub(crate) fn node_modules_folder() -> PathBuf {
    installed_path("INTEROP_NODE_MODULES", "../node_modules")
}

fn venv_programs_folder() -> PathBuf {
    python_environment_programs_folder("INTEROP_VENV", "../../target/venv")
}

fn python_environment_programs_folder(variable: &str, usual: &str) -> PathBuf {
    installed_path(variable, usual).join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// Returns the command that starts a script in `servers/` that uses the TypeScript SDK.
pub(crate) fn node_server_command(script: &str) -> LaunchCommand {
    LaunchCommand::new(node_path(), &[&test_script_path(script)])
}

/// Returns the command that starts a script in `servers/` that uses the current Python SDK.
pub(crate) fn python_server_command(script: &str) -> LaunchCommand {
    LaunchCommand::new(
        require_existing_file(venv_programs_folder().join(python_executable_name())),
        &[&test_script_path(script)],
    )
}

/// Returns the command that starts a script in `servers/` that uses an old version of the Python SDK.
pub(crate) fn old_python_server_command(script: &str) -> LaunchCommand {
    let programs = python_environment_programs_folder("INTEROP_VENV_OLD", "../../target/venv-old");
    LaunchCommand::new(require_existing_file(programs.join(python_executable_name())), &[&test_script_path(script)])
}

fn test_script_path(script: &str) -> String {
    require_existing_file(Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(script)).display().to_string()
}

fn python_executable_name() -> String {
    format!("python{}", std::env::consts::EXE_SUFFIX)
}

fn installed_path(variable: &str, usual: &str) -> PathBuf {
    let folder =
        std::env::var_os(variable).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(usual), PathBuf::from);
    std::fs::canonicalize(&folder).unwrap_or_else(|error| panic_not_installed(&folder, &error))
}

fn panic_not_installed(what: &Path, error: &std::io::Error) -> ! {
    panic!("{}: {error}. Run `cargo xtask test interop`: it installs the real servers first.", what.display())
}

fn require_existing_file(path: PathBuf) -> PathBuf {
    if let Err(error) = path.metadata() {
        panic_not_installed(&path, &error);
    }
    path
}

/// Returns the path of the script with which a server package from npm is started.
pub(crate) fn npm_package_script_path(package: &str) -> String {
    let path = node_modules_folder().join("@modelcontextprotocol").join(package).join("dist/index.js");
    require_existing_file(path).display().to_string()
}

/// Returns the path of the Node.js executable in the search path.
pub(crate) fn node_path() -> PathBuf {
    which::which("node").unwrap_or_else(|error| panic!("node: {error}. Install Node.js 20 or newer."))
}

/// Returns the path of uvx, which is installed from PyPI.
#[cfg(unix)]
pub(crate) fn uvx_path() -> PathBuf {
    require_existing_file(venv_programs_folder().join(format!("uvx{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the path of the script of the official bundle tool (`mcpb`).
#[cfg(unix)]
pub(crate) fn mcpb_script() -> PathBuf {
    require_existing_file(node_modules_folder().join("@anthropic-ai/mcpb/dist/cli/cli.js"))
}

/// Returns the folder that the tests pack as a bundle. It contains a server with all of its dependencies.
#[cfg(unix)]
pub(crate) fn unpacked_bundle_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bundle");
    require_existing_file(folder.join("node_modules"));
    folder
}

/// Returns the path of the `drawbridge-cli` that was built last.
#[cfg(unix)]
pub(crate) fn drawbridge_cli_path() -> PathBuf {
    require_existing_file(testkit::binaries::program_path("drawbridge-cli"))
}

fn npm_server(package: &str, args: &[&str]) -> ServerConfig {
    let script = npm_package_script_path(package);
    local_config(node_path(), &[&[script.as_str()], args].concat())
}

fn pypi_server(program: &str, args: &[&str]) -> ServerConfig {
    let program = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    local_config(require_existing_file(venv_programs_folder().join(program)), args)
}

pub(crate) fn everything_server() -> ServerConfig {
    npm_server("server-everything", &[])
}

/// Returns the configuration of the reference server `memory`, which stores its knowledge graph in a file in `folder`.
pub(crate) fn memory_server(folder: &Path) -> ServerConfig {
    let mut config = npm_server("server-memory", &[]);
    let file = folder.join("memory.jsonl").display().to_string();
    config.as_stdio_mut().unwrap().env.insert("MEMORY_FILE_PATH".into(), file);
    config
}

/// Returns the configuration of the reference server `filesystem`, which may access only `folder`.
pub(crate) fn filesystem_server(folder: &Path) -> ServerConfig {
    npm_server("server-filesystem", &[&folder.display().to_string()])
}

pub(crate) fn time_server() -> ServerConfig {
    pypi_server("mcp-server-time", &["--local-timezone", "UTC"])
}

/// Returns the configuration of the reference server `git`, which may access only `repository`.
pub(crate) fn git_server(repository: &Path) -> ServerConfig {
    pypi_server("mcp-server-git", &["--repository", &repository.display().to_string()])
}

/// Creates a Git repository in `folder` with one untracked file.
#[allow(clippy::disallowed_methods, reason = "starts git, not a server")]
pub(crate) fn create_git_repository(folder: &Path) {
    let made = Command::new("git").args(["init", "--quiet"]).arg(folder).output();
    let made = made.unwrap_or_else(|error| panic!("git: {error}. Install git."));
    assert!(made.status.success(), "git should create the repository: {}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(folder.join("new.txt"), "new\n").unwrap();
}
