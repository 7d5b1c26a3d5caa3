//! The `doctor` command: checks this computer for problems that prevent servers from working. Starts no host, since the
//! start itself may fail.

use std::sync::Arc;

use api::ErrorCode;
use checkup::{CheckInputs, Checkup, Finding, FindingState, ProcessEnvironment, ReportedServer, ReportingProgram};
use ports::time::SystemClock;
use process::SharedSearchPath;
use serde_json::{Value, json};
use store::{FileLocations, ReadOnlyStore};

use crate::arguments::{Arguments, DoctorArguments};
use crate::failure::CommandFailure;
use crate::output::Output;
use crate::published_names::{DOCTOR_FIELD_NAMES, with_published_field_names};
use crate::session::{file_locations, storage_failure};
use crate::terminal_escape;

/// Prints the results of the checks of this computer, or a report without private data. Returns a failure if a check
/// found a problem.
pub(crate) async fn run(
    arguments: &Arguments,
    what: &DoctorArguments,
    output: &Output,
) -> Result<Value, CommandFailure> {
    let FileLocations { config_file, data_dir } = file_locations(arguments)?;
    let ReadOnlyStore { servers: settings, secrets, .. } =
        store::open_read_only(&config_file, &data_dir).map_err(storage_failure)?;
    let environment = ProcessEnvironment::current();
    let computer = CheckInputs {
        settings,
        secrets,
        data_folder: data_dir,
        cache_folder: store::cache_folder(),
        environment: environment.clone(),
        search_path: SharedSearchPath::default(),
        web_view: None,
        clock: Arc::new(SystemClock),
    };
    let checkup = checkup::run_checkup(computer).await;
    let mut value = with_published_field_names(json!({ "findings": checkup.findings }), DOCTOR_FIELD_NAMES);
    if what.report {
        let report = redacted_report(&checkup, &environment);
        output.print_text(&report);
        value["report"] = report.into();
    } else {
        output.print_text(&findings_text(&checkup.findings));
    }
    match checkup.findings.iter().filter(|finding| finding.state == FindingState::Problem).count() {
        0 => Ok(value),
        problems => {
            let noun = if problems == 1 { "problem was" } else { "problems were" };
            let failure = CommandFailure::new(ErrorCode::System, format!("{problems} {noun} found on this computer"));
            Err(CommandFailure { value: Some(Box::new(value)), ..failure })
        }
    }
}

fn redacted_report(checkup: &Checkup, environment: &ProcessEnvironment) -> String {
    let program = ReportingProgram { name: "drawbridge-cli", version: env!("CARGO_PKG_VERSION"), web_view: None };
    let servers: Vec<_> =
        checkup.servers.iter().map(|server| ReportedServer { config: &server.config, state: None }).collect();
    checkup::report_markdown(&checkup.findings, program, &servers, environment)
}

/// Formats the results of the checks as text for the user, each followed by the suggested fix.
fn findings_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let Finding { title, state, observation, remedy, servers, .. } = finding;
        text.push_str(&format!(
            "{:<8} {title}: {}\n",
            state.word(),
            terminal_escape::escape_line(&observation.to_string())
        ));
        if *state == FindingState::Ok {
            continue;
        }
        if let Some(remedy) = remedy {
            text.push_str(&format!("         {}\n", terminal_escape::escape_line(&remedy.to_string())));
        }
        if !servers.is_empty() {
            let names: Vec<String> = servers.iter().map(|server| terminal_escape::escape_value(server)).collect();
            text.push_str(&format!("         Servers: {}\n", names.join(", ")));
        }
    }
    text
}
