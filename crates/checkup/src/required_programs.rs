//! Determines the programs that the configured servers need, and which of them are missing.

use std::path::PathBuf;

use launches::packages::{LauncherPackage, launched_package};
use ports::server_config::{ServerEntry, StdioConfig};
use process::{CommandNotFound, SearchPath, ServerCommand};

use crate::runtimes::LANGUAGE_RUNTIMES;

/// A program that a local server needs, and the result of searching for it.
#[derive(Debug, Clone)]
pub(crate) struct RequiredProgram {
    pub(crate) server: String,
    /// Name of the program if it belongs to a runtime in [`LANGUAGE_RUNTIMES`], or `None` if it is another program.
    pub(crate) runtime_program: Option<&'static str>,
    pub(crate) found: Result<PathBuf, CommandNotFound>,
}

/// Determines the programs that local servers need, and searches for them in the search path without running them.
pub(crate) fn find_programs_of_servers(servers: &[ServerEntry], path: &SearchPath) -> Vec<RequiredProgram> {
    let local = servers.iter().filter_map(|server| Some((server, server.config.as_stdio()?)));
    local
        .map(|(server, stdio)| {
            let known = known_runtime_program(stdio);
            let found = path.resolve(&server_command(stdio, stdio.command.clone())).and_then(|program| match known {
                // The shell or `env` was found, but the program that it starts may be missing.
                Some(known) if runs_through_shell(stdio) => path.resolve(&server_command(stdio, known.to_owned())),
                _ => Ok(program),
            });
            RequiredProgram { server: server.name.clone(), runtime_program: known, found }
        })
        .collect()
}

fn server_command(stdio: &StdioConfig, program: String) -> ServerCommand {
    ServerCommand {
        program,
        environment: stdio.env.clone(),
        working_directory: stdio.cwd.clone(),
        ..ServerCommand::default()
    }
}

/// Returns the name of the program that a server's command runs, directly or through a shell, if it belongs to a
/// runtime in [`LANGUAGE_RUNTIMES`]. Returns `None` for other programs.
pub(crate) fn known_runtime_program(stdio: &StdioConfig) -> Option<&'static str> {
    let named = match launched_package(&stdio.command, &stdio.args) {
        Some(LauncherPackage::Package(reference)) => reference.launcher.name().to_owned(),
        Some(LauncherPackage::Unknown(launcher, _)) => launcher,
        None => program_base_name(&stdio.command),
    };
    let program = named.split(' ').next().unwrap_or_default();
    let mut known = LANGUAGE_RUNTIMES.iter().flat_map(|runtime| runtime.programs);
    known.find(|name| **name == program).copied()
}

fn runs_through_shell(stdio: &StdioConfig) -> bool {
    known_runtime_program(stdio).is_some_and(|known| program_base_name(&stdio.command) != known)
}

/// Returns the name of a program in lower case, without its folder and without the extensions of Windows executables.
fn program_base_name(command: &str) -> String {
    let name = command.rsplit(std::path::is_separator).next().unwrap_or(command).to_ascii_lowercase();
    let ending = [".exe", ".cmd", ".bat"].into_iter().find_map(|ending| name.strip_suffix(ending));
    ending.map_or_else(|| name.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_runtime_is_derived_from_the_server_command() {
        let of = |command: &str, args: &[&str]| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            known_runtime_program(&StdioConfig { command: command.to_owned(), args, ..StdioConfig::default() })
        };
        let cases: [(&str, &[&str], Option<&str>); 9] = [
            ("npx", &["-y", "server"], Some("npx")),
            ("/home/ann/.nvm/versions/node/v20.1.0/bin/node", &["index.js"], Some("node")),
            ("npm", &["exec", "server"], Some("npm")),
            ("uvx", &["server"], Some("uvx")),
            ("docker", &["run", "-i", "image"], Some("docker")),
            ("sh", &["-c", "npx -y server"], Some("npx")),
            ("cmd", &["/c", "npx", "server"], Some("npx")),
            ("python3", &["-m", "server"], Some("python3")),
            ("/opt/server/bin/server", &[], None),
        ];
        for (command, args, expected) in cases {
            assert_eq!(of(command, args), expected, "the runtime that {command} {args:?} needs");
        }
    }
}
