//! Finds files that a sandboxed program needs and can't access, as far as this is known before the start: the folder of
//! a script, and the programs behind a version manager's shim.

use std::path::{Path, PathBuf};

use crate::code::{LaunchFiles, has_code_name};
use crate::command::ServerCommand;
use crate::programs::SearchPath;
use crate::sandbox::ResolvedSandbox;

/// Folder in which version managers (pyenv, rbenv, nodenv, asdf, mise) put small programs that run the real ones.
const VERSION_MANAGER_SHIM_FOLDER: &str = "shims";

/// A file that a program needs and its sandbox does not make accessible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingDependency {
    /// The program is a shim of a version manager, and the programs that the shim runs are inaccessible.
    VersionManagerShim {
        /// Path of the shim that the command runs.
        program: PathBuf,
        /// Folder of the version manager, which the user can add to the sandbox.
        folder: PathBuf,
    },
    /// The command names a file that the sandbox does not make accessible.
    File {
        /// Path of the file that the sandbox does not make accessible.
        file: PathBuf,
        /// Folder of the file, which the user can add to the sandbox.
        folder: PathBuf,
    },
    /// The command names a script by a relative path, and the script does not exist in the working directory.
    Relative {
        /// Argument that contains the relative path of the script.
        argument: String,
        /// Working directory of the server, which does not contain the script.
        directory: PathBuf,
    },
}

impl std::fmt::Display for MissingDependency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MissingDependency::VersionManagerShim { program, folder } => {
                write!(
                    f,
                    "{} runs a program of a version manager that the sandbox does not reach; add the folder {}",
                    program.display(),
                    folder.display()
                )
            }
            MissingDependency::File { file, folder } => {
                write!(f, "the sandbox does not reach {}; add the folder {}", file.display(), folder.display())
            }
            MissingDependency::Relative { argument, directory } => write!(
                f,
                "{argument} is looked for in {}, where the server starts, and is not there; choose the folder of {argument} as the working \
                 folder, and add it to the sandbox",
                directory.display()
            ),
        }
    }
}

/// Returns the files that a command needs and that this resolved sandbox does not make accessible, as far as they are
/// known before the start. Reads the disk.
#[must_use]
pub fn missing_dependencies(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    plan: &ResolvedSandbox,
) -> Vec<MissingDependency> {
    let reach = &plan.reach;
    let is_hidden =
        |file: &Path| !file.starts_with(&reach.home) && reach.hidden.iter().any(|hidden| file.starts_with(hidden));
    let is_reached = |file: &Path| reach.containing_path(file).is_some() && !is_hidden(file);
    let mut found = Vec::new();
    let of_shims =
        program.parent().filter(|folder| folder.ends_with(VERSION_MANAGER_SHIM_FOLDER)).and_then(Path::parent);
    if let Some(folder) = of_shims.filter(|folder| !is_reached(folder)) {
        found.push(MissingDependency::VersionManagerShim { program: program.to_owned(), folder: folder.to_owned() });
    }
    for file in LaunchFiles::for_command(command, program, path).iter().skip(1) {
        // A link is accessible only if both the link and its target are.
        let out_of_reach = [&file.path, &file.real].into_iter().find(|path| !is_reached(path));
        if let Some((file, folder)) = out_of_reach.and_then(|file| Some((file, file.parent()?))) {
            found.push(MissingDependency::File { file: file.clone(), folder: folder.to_owned() });
        }
    }
    let directory = command.directory();
    for argument in command.arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let named = Path::new(argument);
        let is_there = || named.is_absolute() || directory.join(named).exists();
        // A URL or a package specifier is not a file, whatever its extension is.
        if has_code_name(named) && !argument.contains("://") && !argument.contains('@') && !is_there() {
            found.push(MissingDependency::Relative { argument: argument.clone(), directory: directory.clone() });
        }
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::programs::SearchPathSource;
    use crate::sandbox::{NetworkAccess, ReachablePaths, ResourceLimits, SandboxMechanism, SandboxSettings};

    fn find_dependencies_outside_sandbox(command: &ServerCommand, program: &Path) -> Vec<MissingDependency> {
        let path =
            SearchPath { directories: vec!["/usr/bin".into(), "/bin".into()], source: SearchPathSource::LoginShell };
        let reach = ReachablePaths::resolve(command.sandbox.as_ref().unwrap(), program, &[], &path);
        let plan = ResolvedSandbox {
            mechanism: SandboxMechanism::Landlock,
            reach,
            network: NetworkAccess::None,
            limits: ResourceLimits::DEFAULT,
        };
        missing_dependencies(command, program, &path, &plan)
    }

    #[test]
    fn s36_dependencies_outside_the_sandbox_are_reported_before_the_start() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["own", "project", "manager/shims"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("project/server.py"), "print(1)").unwrap();
        let shim = base.join("manager/shims/python");
        std::fs::write(&shim, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
        let sandbox = SandboxSettings {
            folders: Vec::new(),
            network: NetworkAccess::None,
            home: base.join("own"),
            hidden: Vec::new(),
            limits: ResourceLimits::DEFAULT,
        };
        let script = base.join("project/server.py").display().to_string();
        let command = |argument: &str| ServerCommand {
            program: "python3".to_owned(),
            arguments: vec![argument.to_owned()],
            sandbox: Some(sandbox.clone()),
            ..ServerCommand::default()
        };
        let found = find_dependencies_outside_sandbox(&command(&script), Path::new("/bin/sh"));
        let file = MissingDependency::File { file: base.join("project/server.py"), folder: base.join("project") };
        assert_eq!(found, [file], "a script outside of the sandbox must be reported");
        let found = find_dependencies_outside_sandbox(&command("server.py"), Path::new("/bin/sh"));
        let relative = MissingDependency::Relative { argument: "server.py".to_owned(), directory: base.join("own") };
        assert_eq!(found, [relative], "a script that is not in the working directory must be reported");
        let found = find_dependencies_outside_sandbox(&command("--version"), &shim);
        let of_shim = MissingDependency::VersionManagerShim { program: shim.clone(), folder: base.join("manager") };
        assert_eq!(found, [of_shim], "the targets of a shim must be reported");
        let mut reached = command(&script);
        let folder = crate::sandbox::AllowedFolder { path: base.clone(), access: crate::sandbox::AccessMode::Read };
        reached.sandbox.as_mut().unwrap().folders.push(folder);
        assert_eq!(
            find_dependencies_outside_sandbox(&reached, &shim),
            [],
            "nothing is missing once the folder is named"
        );
    }
}
