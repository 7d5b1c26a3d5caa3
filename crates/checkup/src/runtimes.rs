//! Checks the runtimes and launchers that servers use: their location and version, the servers that need them, and how
//! to install them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use process::{OutputLimits, ProgramOutput, SearchPath, ServerCommand, run_and_capture};

use crate::finding::{CheckId, CheckOutcome};
use crate::required_programs::RequiredProgram;
use crate::text::{FindingText, NumericVersion};

/// Limits for running a program with `--version`: maximum time, and maximum size of its output.
const VERSION_QUERY_LIMITS: OutputLimits = OutputLimits { time: Duration::from_secs(10), bytes: 16 * 1024 };

/// A runtime that runs servers, or a launcher that downloads and runs them.
pub(crate) struct LanguageRuntime {
    pub(crate) id: CheckId,
    name: &'static str,
    /// Names of the programs of this runtime that commands of servers run.
    pub(crate) programs: &'static [&'static str],
    /// Names of the programs to run with `--version`, of which the first one found is used. None of them downloads or
    /// writes anything, unlike `npx` and `dnx`, which may.
    version_programs: &'static [&'static str],
    /// Oldest version that the official MCP SDKs support, and a clause about it for the user, or `None` if they support
    /// any version.
    oldest: Option<(&'static [u32], &'static str)>,
    install: &'static str,
}

/// All runtimes and launchers that the checkup searches for.
pub(crate) const LANGUAGE_RUNTIMES: &[LanguageRuntime] = &[
    LanguageRuntime {
        id: CheckId::Node,
        name: "Node.js",
        programs: &["npx", "npm", "node"],
        version_programs: &["node"],
        // From `engines` in package.json of @modelcontextprotocol/sdk.
        oldest: Some((&[18], "most servers need Node.js 18 or later")),
        install: "Install Node.js 22 or later with npm from nodejs.org or with a version manager such as nvm. Some distributions have npx in a separate package npm.",
    },
    LanguageRuntime {
        id: CheckId::Python,
        name: "Python",
        programs: &["python3", "python"],
        version_programs: &["python3", "python"],
        // From `requires-python` of the package mcp.
        oldest: Some((&[3, 10], "most servers need Python 3.10 or later")),
        install: "Install Python 3 (package python3, or python.org). If only \"python3\" exists, enter it as the server's command.",
    },
    LanguageRuntime {
        id: CheckId::Uv,
        name: "uv",
        programs: &["uvx", "uv"],
        version_programs: &["uv", "uvx"],
        oldest: None,
        install: "Install uv, which includes uvx and installs Python automatically: docs.astral.sh/uv.",
    },
    LanguageRuntime {
        id: CheckId::Docker,
        name: "Docker",
        programs: &["docker"],
        version_programs: &["docker"],
        oldest: None,
        install: "Install Docker (docs.docker.com/engine/install), or run the server with Podman.",
    },
    LanguageRuntime {
        id: CheckId::Podman,
        name: "Podman",
        programs: &["podman"],
        version_programs: &["podman"],
        oldest: None,
        install: "Install Podman (package podman, or podman.io).",
    },
    LanguageRuntime {
        id: CheckId::Dotnet,
        name: ".NET",
        programs: &["dnx", "dotnet"],
        version_programs: &["dotnet"],
        oldest: None,
        install: "Install the .NET SDK 10 or later, which brings dnx (dot.net).",
    },
];

/// Searches for a runtime, and runs it to determine its version. `needs` are the programs that servers need, or `None`
/// if these are unknown.
pub(crate) async fn check_language_runtime(
    runtime: &'static LanguageRuntime,
    path: SearchPath,
    needs: Option<Vec<RequiredProgram>>,
) -> CheckOutcome {
    let is_known = needs.is_some();
    let needs = needs.unwrap_or_default();
    let is_of_runtime =
        |need: &&RequiredProgram| need.runtime_program.is_some_and(|known| runtime.programs.contains(&known));
    let needs: Vec<&RequiredProgram> = needs.iter().filter(is_of_runtime).collect();
    let needed_by = || needs.iter().map(|need| need.server.clone()).collect::<Vec<_>>();
    let missing: Vec<&&RequiredProgram> = needs.iter().filter(|need| need.found.is_err()).collect();
    let found = runtime.version_programs.iter().find_map(|name| Some((*name, find_runtime_program(name, &path)?)));
    let install = || FindingText::new(runtime.install);
    let Some((name, program)) = found else {
        return match (needs.is_empty(), missing.is_empty()) {
            (true, _) if !is_known => CheckOutcome::unknown(
                FindingText::new("Not installed. It is unknown if a server requires it."),
                install(),
            ),
            (true, _) => CheckOutcome::ok(FindingText::new("Not installed; no server needs it.")),
            // The runtime is not in the search path, but each server that needs it specifies its full path.
            (false, true) => CheckOutcome::ok(
                FindingText::new(runtime.name)
                    .and(" is not on the search path; the servers that require it specify its full path."),
            )
            .affecting_servers(needed_by()),
            (false, false) => {
                let servers = missing.iter().map(|need| need.server.clone()).collect();
                CheckOutcome::problem(
                    append_missing_programs(FindingText::new(runtime.name).and(" was not found. "), &missing),
                    install(),
                )
                .affecting_servers(servers)
            }
        };
    };
    let at = |text: FindingText| text.and(", ").program(program.clone(), name);
    let version = match query_version(&program, &path, VERSION_QUERY_LIMITS).await {
        Ok(version) => version,
        Err(cause) => {
            let observation = at(FindingText::new(runtime.name)).and(", did not report its version: ").foreign(cause);
            let remedy =
                FindingText::new("Run it with --version in a terminal. If that fails, too, install it again. ")
                    .and(runtime.install);
            let outcome = if needs.is_empty() {
                CheckOutcome::warning(observation, remedy)
            } else {
                CheckOutcome::problem(observation, remedy)
            };
            return outcome.affecting_servers(needed_by());
        }
    };
    let observation = at(FindingText::new(runtime.name).and(" ").version(&version));
    if !missing.is_empty() {
        let servers = missing.iter().map(|need| need.server.clone()).collect();
        return CheckOutcome::problem(append_missing_programs(observation.and(". "), &missing), install())
            .affecting_servers(servers);
    }
    if let Some((oldest, words)) = runtime.oldest
        && version.is_before(oldest)
    {
        return CheckOutcome::warning(observation.and("; ").and(words).and("."), install())
            .affecting_servers(needed_by());
    }
    CheckOutcome::ok(observation.and(".")).affecting_servers(needed_by())
}

/// Appends the names of the missing programs to a finding's text, each once.
fn append_missing_programs(observation: FindingText, missing: &[&&RequiredProgram]) -> FindingText {
    let mut names: Vec<&'static str> = missing.iter().filter_map(|need| need.runtime_program).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = observation.and("Not found where a server's command looks for it: ");
    for (index, name) in names.iter().enumerate() {
        text = text.and(if index == 0 { "" } else { ", " }).and(name);
    }
    text.and(".")
}

fn find_runtime_program(name: &str, path: &SearchPath) -> Option<PathBuf> {
    let program = path.resolve(&ServerCommand { program: name.to_owned(), ..ServerCommand::default() }).ok()?;
    // Without Apple's command line tools, macOS contains placeholders of these programs that only offer to install
    // them.
    let is_stand_in = cfg!(target_os = "macos")
        && program.starts_with("/usr/bin")
        && name.starts_with("python")
        && !Path::new("/Library/Developer/CommandLineTools/usr/bin/python3").exists()
        && !Path::new("/Applications/Xcode.app").exists();
    (!is_stand_in).then_some(program)
}

/// Runs a program with `--version`, and returns the version in its output. Fails with a message if the program fails,
/// exceeds `limits`, or prints no version.
async fn query_version(program: &Path, path: &SearchPath, limits: OutputLimits) -> Result<NumericVersion, String> {
    let quiet = ["DOTNET_NOLOGO", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE"];
    let command = ServerCommand {
        program: program.display().to_string(),
        arguments: vec!["--version".to_owned()],
        // A version manager's shim may read a configuration file in its working directory. The home folder may not
        // exist.
        working_directory: program.ancestors().last().map(Path::to_owned),
        environment: quiet.map(|name| (name.to_owned(), "1".to_owned())).into(),
        ..ServerCommand::default()
    };
    let ProgramOutput { exit, stdout, stderr } =
        run_and_capture(&command, program, path, &[], limits).await.map_err(|error| error.to_string())?;
    if exit.status != Some(0) {
        let message = String::from_utf8_lossy(&stderr).lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        return Err(message.unwrap_or_else(|| "it failed".to_owned()));
    }
    NumericVersion::find(&String::from_utf8_lossy(&stdout)).ok_or_else(|| "it printed no version".to_owned())
}

#[cfg(all(test, unix))]
#[path = "runtimes_tests.rs"]
mod tests;
