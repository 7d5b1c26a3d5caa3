//! bubblewrap: a file system of its own made of what the server may reach, and namespaces of its own for processes, for what they
//! share, and for the network unless it is allowed. When its first process ends, so does every other in it.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::{Restriction, local_sockets};
use crate::sandbox::Plan;
use crate::stdio::{Launch, SearchPath, ServerCommand};
use crate::visible::visible;

/// How long the trial may take.
const TRIAL: Duration = Duration::from_secs(5);
/// How much of what it says is kept, in bytes.
const SAID: u64 = 1024;

/// The one that was tried and works. What was not there may be installed meanwhile, so that is not kept.
static WORKS: OnceLock<PathBuf> = OnceLock::new();

/// bubblewrap, if it is on the search path and does its work here: not every system lets it.
///
/// # Errors
/// Why it can't be used, in words.
pub(super) async fn find(path: &SearchPath) -> Result<PathBuf, String> {
    let command = ServerCommand { program: "bwrap".to_owned(), ..ServerCommand::default() };
    let program = path.resolve(&command).map_err(|_| "bubblewrap is not installed".to_owned())?;
    if WORKS.get() == Some(&program) {
        return Ok(program);
    }
    if !is_of_system(&program) {
        return Err(format!("{} may be changed by others than the system", program.display()));
    }
    trial(&program).await.map_err(|cause| format!("bubblewrap does not work here ({cause})"))?;
    // If another one was kept before, this one is tried each time.
    let _ = WORKS.set(program.clone());
    Ok(program)
}

/// Whether only root can have put it there: a server that may write to a folder of programs must not bring the one that holds it.
fn is_of_system(program: &Path) -> bool {
    let facts = program.canonicalize().and_then(|program| program.metadata());
    facts.is_ok_and(|facts| facts.uid() == 0 && facts.mode() & 0o022 == 0)
}

/// Runs the shell, to do nothing, in a sandbox without a network.
async fn trial(program: &Path) -> Result<(), String> {
    let mut arguments = namespaces(false);
    for folder in ["/usr", "/bin", "/lib", "/lib64", "/nix/store", "/gnu/store"] {
        bind(&mut arguments, "--ro-bind-try", Path::new(folder));
    }
    arguments.extend(["--", "/bin/sh", "-c", ":"].map(OsString::from));
    let launch = Launch {
        program: program.to_owned(),
        arguments,
        environment: Vec::new(),
        directory: PathBuf::from("/"),
        conversation: true,
        restriction: Some(Restriction { rules: None, filter: local_sockets::filter(true)? }),
    };
    let mut child = launch.start().await.map_err(|error| error.to_string())?;
    let ended = timeout(TRIAL, ended(child.as_mut())).await;
    // Fails only when there is nobody left to kill.
    let _ = child.start_kill();
    match ended {
        Ok(Ok((status, _))) if status.success() => Ok(()),
        Ok(Ok((status, words))) if words.is_empty() => Err(status.to_string()),
        Ok(Ok((_, words))) => Err(words),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it does not come to an end".to_owned()),
    }
}

/// How the trial ended, and what it said.
async fn ended(child: &mut dyn ChildWrapper) -> io::Result<(ExitStatus, String)> {
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr().take() {
        stderr.take(SAID).read_to_end(&mut words).await?;
    }
    let status = child.inner_mut().wait().await?;
    Ok((status, visible(String::from_utf8_lossy(&words).trim()).into_owned()))
}

/// All arguments up to the program. `variables` are set for it and not for bubblewrap.
pub(super) fn arguments(plan: &Plan, directory: &Path, variables: Vec<(OsString, OsString)>) -> Vec<OsString> {
    let mut arguments = namespaces(plan.network);
    for (name, value) in variables {
        arguments.extend(["--setenv".into(), name, value]);
    }
    // Each before what lies in it, so that what is named more exactly holds.
    let mut binds: Vec<(&Path, &str)> = plan.reach.read_only().into_iter().map(|path| (path, "--ro-bind")).collect();
    binds.extend(plan.reach.writable().into_iter().map(|path| (path, "--bind")));
    binds.sort_by_key(|(path, _)| *path);
    for (path, how) in binds {
        bind(&mut arguments, how, path);
    }
    arguments.push("--chdir".into());
    arguments.push(directory.into());
    arguments.push("--".into());
    arguments
}

fn namespaces(network: bool) -> Vec<OsString> {
    let mut arguments = vec!["--unshare-all"];
    if network {
        arguments.push("--share-net");
    }
    arguments.extend(["--die-with-parent", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    arguments.into_iter().map(OsString::from).collect()
}

fn bind(arguments: &mut Vec<OsString>, how: &str, path: &Path) {
    arguments.extend([how.into(), path.into(), path.into()]);
}
