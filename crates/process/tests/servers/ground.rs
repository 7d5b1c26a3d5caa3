//! A user's folders with a sandbox over them, and the scripts that try what it lets through.
#![allow(clippy::print_stderr, reason = "it is told what is left out, and why")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::sandbox::{Access, Folder, Network, Plan, ResourceLimits, Sandbox};
use process::{PathSource, SearchPath, ServerCommand, spawn};

use crate::finished::{Finished, finished};

/// How long a script may take until it ends or is stopped, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Folders of a user, with a secret among them.
pub struct Ground {
    _kept: tempfile::TempDir,
    pub root: PathBuf,
}

impl Ground {
    pub fn new() -> Ground {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for folder in ["secret", "read", "write"] {
            fs::create_dir(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("file"), "canary").unwrap();
        }
        std::os::unix::fs::symlink(root.join("secret/file"), root.join("write/link")).unwrap();
        Ground { _kept: kept, root }
    }

    pub fn sandbox(&self, network: bool) -> Sandbox {
        let folder = |name: &str, access| Folder { path: self.root.join(name), access };
        let folders = vec![folder("read", Access::Read), folder("write", Access::Write)];
        let network = if network { Network::Full } else { Network::None };
        Sandbox { folders, network, home: self.root.join("own"), hidden: Vec::new(), limits: ResourceLimits::DEFAULT }
    }
}

/// The search paths that lead to bubblewrap and to Landlock, as far as this system has them.
pub async fn paths() -> Vec<(&'static str, SearchPath)> {
    let ground = Ground::new();
    let command = shell(":", ground.sandbox(false));
    let with = SearchPath::of_process("a test".to_owned());
    let without = SearchPath { directories: vec![ground.root.clone()], source: PathSource::LoginShell };
    let mut found = Vec::new();
    for (wanted, path) in [("bubblewrap", with), ("Landlock", without)] {
        match Plan::make(&command, Path::new("/bin/sh"), &path).await {
            Ok(Some(plan)) if plan.mechanism.name() == wanted => found.push((wanted, path)),
            other => eprintln!("left out: {wanted} can't be tried here, as it is {other:?}"),
        }
    }
    found
}

pub fn shell(script: &str, sandbox: Sandbox) -> ServerCommand {
    ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        sandbox: Some(sandbox),
        ..ServerCommand::default()
    }
}

/// What a script in a sandbox prints on standard error.
pub async fn said(script: &str, sandbox: Sandbox, path: &SearchPath) -> Vec<String> {
    run(&shell(script, sandbox), path).await.stderr
}

/// Runs a command whose program is an absolute path until it ends.
pub async fn run(command: &ServerCommand, path: &SearchPath) -> Finished {
    let server = spawn(command, Path::new(&command.program), path).await.expect("it starts");
    tokio::time::timeout(PATIENCE, finished(server)).await.expect("it ends in time")
}

/// Runs a script of Python's in a sandbox. None if there is no Python here.
pub async fn python(script: &str, sandbox: Sandbox, path: &SearchPath) -> Option<Finished> {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        eprintln!("left out: {} is not here", python.display());
        return None;
    }
    let command = ServerCommand {
        program: python.display().to_string(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        ..shell("", sandbox)
    };
    Some(run(&command, path).await)
}

/// A script that says of each command whether it worked.
pub fn each(commands: &[(&str, &str)]) -> String {
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
