//! A user's home folder for tests, with a sandbox that can access part of it, and helpers to run scripts in that
//! sandbox.
#![allow(clippy::print_stderr, reason = "prints which tests are skipped, and why")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::sandbox::{AccessMode, AllowedFolder, NetworkAccess, ResolvedSandbox, ResourceLimits, SandboxSettings};
use process::{SearchPath, SearchPathSource, ServerCommand, spawn};

use crate::finished::{FinishedServer, wait_until_finished};

/// Time limit for a script in the sandbox to end or be stopped, long enough for a slow computer.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(120);

/// Folders of a user in a temporary folder. One of them contains secrets.
pub struct TestUserHome {
    _kept: tempfile::TempDir,
    pub root: PathBuf,
}

impl TestUserHome {
    pub fn new() -> TestUserHome {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        for folder in ["secret", "read", "write"] {
            fs::create_dir(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("file"), "canary").unwrap();
        }
        std::os::unix::fs::symlink(root.join("secret/file"), root.join("write/link")).unwrap();
        TestUserHome { _kept: temporary, root }
    }

    pub fn sandbox(&self, network: bool) -> SandboxSettings {
        let folder = |name: &str, access| AllowedFolder { path: self.root.join(name), access };
        let folders = vec![folder("read", AccessMode::Read), folder("write", AccessMode::Write)];
        let network = if network { NetworkAccess::Full } else { NetworkAccess::None };
        SandboxSettings {
            folders,
            network,
            home: self.root.join("own"),
            hidden: Vec::new(),
            limits: ResourceLimits::DEFAULT,
        }
    }
}

/// Returns the name of each sandbox mechanism that works on this computer, with a search path that leads to its use:
/// one that contains bubblewrap for bubblewrap, and one without it for Landlock.
pub async fn search_path_per_sandbox_mechanism() -> Vec<(&'static str, SearchPath)> {
    let ground = TestUserHome::new();
    let command = shell_command(":", ground.sandbox(false));
    let with = SearchPath::from_process("a test".to_owned());
    let without = SearchPath { directories: vec![ground.root.clone()], source: SearchPathSource::LoginShell };
    let mut found = Vec::new();
    for (mechanism, path) in [("bubblewrap", with), ("Landlock", without)] {
        match ResolvedSandbox::for_command(&command, Path::new("/bin/sh"), &path).await {
            Ok(Some(plan)) if plan.mechanism.name() == mechanism => found.push((mechanism, path)),
            other => eprintln!("skipped: {mechanism} can't be tested here: {other:?}"),
        }
    }
    found
}

pub fn shell_command(script: &str, sandbox: SandboxSettings) -> ServerCommand {
    ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        sandbox: Some(sandbox),
        ..ServerCommand::default()
    }
}

/// Runs a script in a sandbox, and returns the lines of its standard error.
pub async fn errors_of_sandboxed_script(script: &str, sandbox: SandboxSettings, path: &SearchPath) -> Vec<String> {
    run_server_to_end(&shell_command(script, sandbox), path).await.stderr
}

/// Runs a command until it ends. Its program must be an absolute path.
pub async fn run_server_to_end(command: &ServerCommand, path: &SearchPath) -> FinishedServer {
    let server = spawn(command, Path::new(&command.program), path).await.expect("the server starts");
    tokio::time::timeout(SCRIPT_TIMEOUT, wait_until_finished(server)).await.expect("the server ends in time")
}

/// Runs a Python script in a sandbox. Returns `None` if Python is not installed.
pub async fn run_python(script: &str, sandbox: SandboxSettings, path: &SearchPath) -> Option<FinishedServer> {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        eprintln!("skipped: {} is not installed", python.display());
        return None;
    }
    let command = ServerCommand {
        program: python.display().to_string(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        ..shell_command("", sandbox)
    };
    Some(run_server_to_end(&command, path).await)
}

/// Returns a shell script that runs each of these commands, given by name and text. It prints `NAME: yes` if the
/// command succeeds and `NAME: no` if it fails.
pub fn script_printing_success_of_commands(commands: &[(&str, &str)]) -> String {
    let mut script = String::new();
    for (name, command) in commands {
        writeln!(
            script,
            "if ( {command} ) >/dev/null 2>&1; then echo '{name}: yes' >&2; else echo '{name}: no' >&2; fi"
        )
        .unwrap();
    }
    script
}
