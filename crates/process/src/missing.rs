//! Files that a program in a sandbox needs and does not reach, as far as that can be told before it is started: the folder of a script, the
//! programs behind a version manager's shim.

use std::path::{Path, PathBuf};

use crate::code::{LaunchFiles, has_code_name};
use crate::command::ServerCommand;
use crate::programs::SearchPath;
use crate::sandbox::Plan;

/// The folder in which version managers (pyenv, rbenv, nodenv, asdf, mise) put small programs that run the real ones.
const SHIMS: &str = "shims";

/// Something that a program needs and its sandbox does not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The program is a shim, and what it runs lies in this folder.
    Shim {
        /// The shim.
        program: PathBuf,
        /// The folder of the version manager.
        folder: PathBuf,
    },
    /// A file that the command names.
    File {
        /// The file.
        file: PathBuf,
        /// The folder that it lies in.
        folder: PathBuf,
    },
    /// A script that is named without a folder, and is looked for where the server starts.
    Relative {
        /// The argument.
        argument: String,
        /// Where the server starts.
        directory: PathBuf,
    },
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Missing::Shim { program, folder } => {
                write!(
                    f,
                    "{} runs a program of a version manager that the sandbox does not reach; add the folder {}",
                    program.display(),
                    folder.display()
                )
            }
            Missing::File { file, folder } => {
                write!(f, "the sandbox does not reach {}; add the folder {}", file.display(), folder.display())
            }
            Missing::Relative { argument, directory } => write!(
                f,
                "{argument} is looked for in {}, where the server starts, and is not there; choose the folder of {argument} as the working \
                 folder, and add it to the sandbox",
                directory.display()
            ),
        }
    }
}

/// Files that the command needs and does not reach in this plan. Reads from the disk.
#[must_use]
pub fn missing(command: &ServerCommand, program: &Path, path: &SearchPath, plan: &Plan) -> Vec<Missing> {
    let reach = &plan.reach;
    let is_hidden =
        |file: &Path| !file.starts_with(&reach.home) && reach.hidden.iter().any(|hidden| file.starts_with(hidden));
    let is_reached = |file: &Path| reach.covering(file).is_some() && !is_hidden(file);
    let mut found = Vec::new();
    let of_shims = program.parent().filter(|folder| folder.ends_with(SHIMS)).and_then(Path::parent);
    if let Some(folder) = of_shims.filter(|folder| !is_reached(folder)) {
        found.push(Missing::Shim { program: program.to_owned(), folder: folder.to_owned() });
    }
    for file in LaunchFiles::of(command, program, path).iter().skip(1) {
        // A link is reached if it and what it leads to are.
        let out_of_reach = [&file.path, &file.real].into_iter().find(|path| !is_reached(path));
        if let Some((file, folder)) = out_of_reach.and_then(|file| Some((file, file.parent()?))) {
            found.push(Missing::File { file: file.clone(), folder: folder.to_owned() });
        }
    }
    let directory = command.directory();
    for argument in command.arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let named = Path::new(argument);
        let is_there = || named.is_absolute() || directory.join(named).exists();
        // An address or a package is no file, whatever it ends with.
        if has_code_name(named) && !argument.contains("://") && !argument.contains('@') && !is_there() {
            found.push(Missing::Relative { argument: argument.clone(), directory: directory.clone() });
        }
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::programs::PathSource;
    use crate::sandbox::{Mechanism, Network, Reach, ResourceLimits, Sandbox};

    fn missing_of(command: &ServerCommand, program: &Path) -> Vec<Missing> {
        let path = SearchPath { directories: vec!["/usr/bin".into(), "/bin".into()], source: PathSource::LoginShell };
        let reach = Reach::of(command.sandbox.as_ref().unwrap(), program, &[], &path);
        let plan =
            Plan { mechanism: Mechanism::Landlock, reach, network: Network::None, limits: ResourceLimits::DEFAULT };
        missing(command, program, &path, &plan)
    }

    #[test]
    fn s36_what_a_sandbox_does_not_reach_is_told_beforehand() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["own", "project", "manager/shims"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("project/server.py"), "print(1)").unwrap();
        let shim = base.join("manager/shims/python");
        std::fs::write(&shim, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
        let sandbox = Sandbox {
            folders: Vec::new(),
            network: Network::None,
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
        let found = missing_of(&command(&script), Path::new("/bin/sh"));
        let file = Missing::File { file: base.join("project/server.py"), folder: base.join("project") };
        assert_eq!(found, [file], "a script outside of what is reached");
        let found = missing_of(&command("server.py"), Path::new("/bin/sh"));
        let relative = Missing::Relative { argument: "server.py".to_owned(), directory: base.join("own") };
        assert_eq!(found, [relative], "a script that is not where the server starts");
        let found = missing_of(&command("--version"), &shim);
        let of_shim = Missing::Shim { program: shim.clone(), folder: base.join("manager") };
        assert_eq!(found, [of_shim], "what a shim runs");
        let mut reached = command(&script);
        let folder = crate::sandbox::Folder { path: base.clone(), access: crate::sandbox::Access::Read };
        reached.sandbox.as_mut().unwrap().folders.push(folder);
        assert_eq!(missing_of(&reached, &shim), [], "nothing is missing once the folder is named");
    }
}
