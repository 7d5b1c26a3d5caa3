//! Commands that check this computer and what a server's command needs of it, implemented by the crate `checkup`.

use std::path::PathBuf;
use std::sync::Arc;

use checkup::{CheckInputs, CheckedCommand, Checkup, ReportedServer, ReportingProgram};

use super::{Api, errors};
use crate::ApiError;
use crate::data::*;

impl Api {
    /// Enables the commands `check_computer` and `check_server_command`, which otherwise fail.
    #[must_use]
    pub fn with_computer_checks(self, computer: CheckInputs) -> Self {
        Self { computer: Some(Arc::new(computer)), ..self }
    }
}

pub(super) async fn check_computer(api: &Api) -> Result<CheckedComputer, ApiError> {
    let Some(computer) = api.computer.as_deref().cloned() else {
        return Err(errors::not_found_error("a computer to check"));
    };
    let (environment, web_view) = (computer.environment.clone(), computer.web_view.clone());
    let Checkup { findings, servers } = checkup::run_checkup(computer).await;
    let program =
        ReportingProgram { name: "Drawbridge", version: env!("CARGO_PKG_VERSION"), web_view: web_view.as_ref() };
    let servers: Vec<ReportedServer<'_>> =
        servers.iter().map(|server| ReportedServer { config: &server.config, state: None }).collect();
    let report = checkup::report_markdown(&findings, program, &servers, &environment);
    Ok(CheckedComputer { findings, report })
}

pub(super) async fn check_server_command(api: &Api, r: CheckServerCommand) -> Result<ServerCommandCheck, ApiError> {
    let Some(computer) = api.computer.as_deref() else {
        return Err(errors::not_found_error("a computer to check"));
    };
    let CheckServerCommand { command, path, cwd } = r;
    let command = CheckedCommand { program: command, path_variable: path, working_directory: cwd.map(PathBuf::from) };
    Ok(checkup::check_server_command(computer, command).await)
}
