//! Determines the package that a command line loads, without running anything. Used for starts and for homes of
//! sandboxes.

use std::path::Path;

use super::reference::{Launcher, PackageReference};
use super::{UnknownPackage, container, npm, nuget, python};

/// Programs that load packages that can't be looked up. Each entry consists of the program, and the first argument with
/// which it does so (or `None` if it always does).
const LAUNCHERS_WITHOUT_PACKAGE_LOOKUP: &[(&str, Option<&str>)] = &[
    ("bunx", None),
    ("bun", Some("x")),
    ("pnpx", None),
    ("pnpm", Some("dlx")),
    ("yarn", Some("dlx")),
    ("pipx", Some("run")),
    ("nerdctl", Some("run")),
];

/// Programs that start another program named by their arguments, each with the options that precede the name.
const WRAPPER_PROGRAMS: &[(&str, &[&str])] =
    &[("cmd", &["/c"]), ("env", &["-S"]), ("sh", &["-c", "-lc"]), ("bash", &["-c", "-lc"]), ("zsh", &["-c", "-lc"])];

/// The package that was found in the command line of a launcher, such as `npx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LauncherPackage {
    /// The package that the launcher loads.
    Package(PackageReference),
    /// The command runs a launcher, but its package is unknown. Contains the name of the launcher and the reason.
    Unknown(String, UnknownPackage),
}

/// Returns the package that a command loads, or `None` if the command runs no program that loads packages.
pub fn launched_package(command: &str, args: &[String]) -> Option<LauncherPackage> {
    let program = program_base_name(command);
    let first = args.first().map(String::as_str);
    let (launcher, from) = match (program.as_str(), first) {
        ("npx", _) => (Launcher::Npx, 0),
        ("npm", Some("exec" | "x")) => (Launcher::NpmExec, 1),
        ("uvx", _) => (Launcher::Uvx, 0),
        ("uv", Some("tool")) if args.get(1).is_some_and(|second| second == "run") => (Launcher::UvToolRun, 2),
        ("docker" | "podman", Some(_)) => {
            let launcher = if program == "docker" { Launcher::Docker } else { Launcher::Podman };
            return container::index_after_run_subcommand(args)
                .map(|from| launcher_package_from_parsed(launcher, from.and_then(|from| parse(launcher, args, from))));
        }
        ("dnx", _) => (Launcher::Dnx, 0),
        _ => return detect_unsupported_launcher(&program, args),
    };
    Some(launcher_package_from_parsed(launcher, parse(launcher, args, from)))
}

fn launcher_package_from_parsed(
    launcher: Launcher,
    parsed: Result<PackageReference, UnknownPackage>,
) -> LauncherPackage {
    match parsed {
        Ok(reference) => LauncherPackage::Package(reference),
        Err(cause) => LauncherPackage::Unknown(launcher.name().to_owned(), cause),
    }
}

fn parse(launcher: Launcher, args: &[String], from: usize) -> Result<PackageReference, UnknownPackage> {
    match launcher {
        Launcher::Npx | Launcher::NpmExec => npm::parse(launcher, args, from),
        Launcher::Uvx | Launcher::UvToolRun => python::parse(launcher, args, from),
        Launcher::Docker | Launcher::Podman => container::parse(launcher, args, from),
        Launcher::Dnx => nuget::parse(args),
    }
}

/// Recognizes programs that load packages that can't be looked up, and wrappers (such as `env`) that start a launcher.
fn detect_unsupported_launcher(program: &str, args: &[String]) -> Option<LauncherPackage> {
    let first = args.first().map(String::as_str);
    if let Some((program, word)) = LAUNCHERS_WITHOUT_PACKAGE_LOOKUP
        .iter()
        .find(|(name, word)| *name == program && (word.is_none() || *word == first))
    {
        let name = word.map_or_else(|| (*program).to_owned(), |word| format!("{program} {word}"));
        return Some(LauncherPackage::Unknown(name.clone(), UnknownPackage::Launcher(name)));
    }
    let (_, options) = WRAPPER_PROGRAMS.iter().find(|(name, _)| *name == program)?;
    let rest = args.iter().skip_while(|arg| options.iter().any(|option| option.eq_ignore_ascii_case(arg)));
    let line: Vec<String> = rest.flat_map(|arg| arg.split_whitespace().map(str::to_owned)).collect();
    let (command, args) = line.split_first()?;
    // Wrappers inside wrappers are not analyzed.
    if WRAPPER_PROGRAMS.iter().any(|(name, _)| *name == program_base_name(command)) {
        return None;
    }
    let name = match launched_package(command, args)? {
        LauncherPackage::Package(reference) => reference.launcher.name().to_owned(),
        LauncherPackage::Unknown(name, _) => name,
    };
    Some(LauncherPackage::Unknown(name, UnknownPackage::Wrapped(program.to_owned())))
}

/// Returns the name of a program in lower case, without its folder and without the extensions of Windows executables.
pub(crate) fn program_base_name(command: &str) -> String {
    let name = Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or(command).to_ascii_lowercase();
    let ending = [".exe", ".cmd", ".bat", ".ps1"].into_iter().find_map(|ending| name.strip_suffix(ending));
    ending.map_or_else(|| name.clone(), str::to_owned)
}

#[cfg(test)]
#[path = "launcher_tests.rs"]
mod tests;
