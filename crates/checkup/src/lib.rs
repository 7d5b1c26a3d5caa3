//! Diagnoses problems of this computer that keep servers from working, suggests remedies, and creates a report that can
//! be published.
//!
//! This is a separate crate because it must work even if the app doesn't start: if the settings can't be read or the
//! data folder is not writable, no `host` can be created. Therefore it depends only on the ports, on starting programs
//! (`process`), and on the analysis of command lines (`launches`). Used by `drawbridge-cli doctor`, and by the commands
//! of `api` for the page.
//!
//! Nothing is changed, and nothing is sent to another computer. The only programs run are the login shell for its
//! search path, runtimes with `--version`, bubblewrap with a shell that does nothing, and `gsettings get`. Each check
//! has a time limit, and a failed check doesn't stop the others (`run.rs`).
//!
//! - `computer`: the inputs of the checks
//! - `finding`: the result of a check
//! - `text`: the text of a finding, for the user and for a public report
//! - `required_programs`: the programs that servers need
//! - `runtimes`, `containers`, `programs`: checks that these programs are available
//! - `server_command`: the check of one command before it is saved
//! - `report`, `system`: the report

mod certificates;
mod clock;
mod computer;
mod containers;
mod finding;
mod folders;
mod keychain;
mod programs;
mod proxy;
mod report;
mod required_programs;
mod run;
mod runtimes;
mod sandbox;
mod search_path;
mod server_command;
mod settings;
mod system;
mod text;
mod web_view;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ports::server_config::{ConfigProblem, ServerEntry};
use process::SearchPath;
use tokio::time::timeout;

pub use computer::{CheckInputs, ProcessEnvironment, WebView};
pub use finding::{CheckId, Finding, FindingState};
pub use report::{ReportedServer, ReportingProgram, report_markdown};
pub use server_command::{CheckedCommand, ServerCommandCheck, check_server_command};
pub use text::{FindingText, NumericVersion};

use finding::CheckOutcome;
use run::Check;
use runtimes::LANGUAGE_RUNTIMES;

/// The results of all checks of this computer.
#[derive(Debug, Clone)]
pub struct Checkup {
    /// Results of the checks, always in the same order.
    pub findings: Vec<Finding>,
    /// Configured servers; empty if the settings can't be read.
    pub servers: Vec<ServerEntry>,
}

/// Maximum age of the search path in a check. The user may have installed a program since it was read.
const SEARCH_PATH_MAX_AGE: Duration = Duration::from_secs(30);

/// Runs all checks of this computer. This takes some seconds, and at most about a minute, since each step has a time
/// limit: reading the settings, reading the search path from the login shell, searching for programs, and each check.
pub async fn run_checkup(inputs: CheckInputs) -> Checkup {
    let settings = read_configured_servers(&inputs).await;
    let path = inputs.search_path.get(Some(SEARCH_PATH_MAX_AGE)).await;
    let servers = settings.clone().unwrap_or_default();
    let needed = match &settings {
        Ok(servers) => find_required_programs(servers.clone(), path.clone()).await,
        Err(_) => None,
    };
    let checks = list_checks(inputs, settings, &servers, &path, needed);
    Checkup { findings: run::run_checks(checks).await, servers }
}

fn list_checks(
    inputs: CheckInputs,
    settings: Result<Vec<ServerEntry>, ConfigProblem>,
    servers: &[ServerEntry],
    path: &SearchPath,
    needed: Option<Vec<required_programs::RequiredProgram>>,
) -> Vec<Check> {
    let CheckInputs { settings: port, secrets, data_folder, cache_folder, environment, web_view, clock, .. } = inputs;
    let home = environment.home.clone();
    let config_file = port.path();
    let config_folder = config_file.parent().map_or_else(|| PathBuf::from("."), PathBuf::from);
    let own: Arc<[ServerEntry]> = servers.into();
    let mut checks = vec![Check::new(CheckId::Settings, async move { settings::check_settings(&settings) })];
    let entries = Arc::clone(&own);
    checks.push(Check::blocking(CheckId::Keychain, move || keychain::check_keychain(secrets.as_ref(), &entries)));
    let searched = path.clone();
    checks
        .push(Check::blocking(CheckId::SearchPath, move || search_path::check_search_path(&searched, home.as_deref())));
    for runtime in LANGUAGE_RUNTIMES {
        let (path, needed, sockets) =
            (path.clone(), needed.clone(), containers::container_daemon_sockets(&environment));
        checks.push(Check::new(runtime.id, async move {
            let outcome = runtimes::check_language_runtime(runtime, path, needed).await;
            if runtime.id != CheckId::Docker {
                return outcome;
            }
            let known = outcome.clone();
            let tried =
                tokio::task::spawn_blocking(move || containers::with_container_daemon_status(outcome, &sockets));
            tried.await.unwrap_or(known)
        }));
    }
    checks.push(Check::new(CheckId::Programs, async move { programs::check_required_programs(needed.as_deref()) }));
    checks.push(Check::new(CheckId::Sandbox, sandbox::check_sandbox_support(path.clone(), own.to_vec())));
    checks.push(Check::new(CheckId::Proxy, proxy::check_proxy(environment.clone(), path.clone(), own.to_vec())));
    let entries = Arc::clone(&own);
    checks
        .push(Check::blocking(CheckId::Certificates, move || certificates::check_certificates(&environment, &entries)));
    checks.push(Check::new(CheckId::WebView, async move { web_view::check_web_view(web_view.as_ref()) }));
    let mut files = vec![config_file, data_folder.clone()];
    let folders = [
        (CheckId::DataFolder, Some(data_folder)),
        (CheckId::ConfigFolder, Some(config_folder)),
        (CheckId::CacheFolder, cache_folder),
    ];
    for (id, folder) in folders {
        checks.push(Check::blocking(id, move || match folder {
            Some(folder) => folders::check_folder(&folder),
            None => CheckOutcome::unknown(
                FindingText::new("The system names no such folder."),
                FindingText::new("Set HOME for your session."),
            ),
        }));
    }
    files.extend(std::env::current_exe());
    checks.push(Check::blocking(CheckId::Clock, move || clock::check_clock(clock.time(), &files)));
    checks
}

/// Reads the configured servers in a blocking task, since the disk may be slow. Fails if that takes too long.
async fn read_configured_servers(computer: &CheckInputs) -> Result<Vec<ServerEntry>, ConfigProblem> {
    let port = Arc::clone(&computer.settings);
    let reading = tokio::task::spawn_blocking(move || port.load());
    let failed =
        |message: &str| Err(ConfigProblem { file: None, line: None, column: None, message: message.to_owned() });
    match timeout(run::CHECK_TIMEOUT, reading).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => failed("reading it failed"),
        Err(_) => failed("reading it took too long"),
    }
}

/// Searches for the programs that the servers need, in a blocking task. Returns `None` if that takes too long.
async fn find_required_programs(
    servers: Vec<ServerEntry>,
    path: SearchPath,
) -> Option<Vec<required_programs::RequiredProgram>> {
    let looking = tokio::task::spawn_blocking(move || required_programs::find_programs_of_servers(&servers, &path));
    timeout(run::CHECK_TIMEOUT, looking).await.ok()?.ok()
}
