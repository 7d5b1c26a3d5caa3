//! Starts and stops servers: resolves the command, decides about the start, and launches the server. The command or
//! address must be approved before the launch.

mod command_lookup;
mod contained_start;
mod launch;
mod start_decision;

pub(super) use command_lookup::{ResolvedCommand, read_launch_files};
use command_lookup::{ResolvedLaunch, resolve_and_plan_command};
use host_state::command_not_found_failure;

use std::sync::Arc;

use launches::packages::{LauncherPackage, LoadedPackage};
use launches::sandbox::SandboxPlanError;
use ports::server_config::{ServerConfig, ServerTransport, StdioConfig, address_hash};
use process::SearchPath;
use supervision::activity::ActivityKind;

use super::packages::PackageStart;
use super::state::RequestPurpose;
use super::{Owner, ServerError};
use crate::connection::ConnectionCommand;
use crate::view::{ConsentRequestBody, FailureReason, ServerFailure, ServerState};

impl Owner {
    /// Starts a server: resolves its command or parses its address, requests consent if required, and launches or
    /// connects to it.
    pub(crate) fn start(&mut self, name: &str) -> Result<(), ServerError> {
        if self.lifetime.is_closing {
            return Ok(());
        }
        let record = self.servers.records.get_mut(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
        match record.state {
            ServerState::Stopping => {
                record.start_again = true;
                return Ok(());
            }
            ServerState::Stopped
            | ServerState::Failed(_)
            | ServerState::Reconnecting(_)
            | ServerState::NeedsSignIn(_) => {}
            ServerState::AwaitingApproval | ServerState::Starting | ServerState::Ready => return Ok(()),
        }
        record.set_state(ServerState::Starting);
        let (name, config) = (name.to_owned(), Arc::clone(&record.config));
        if let Some(problem) = config.problem() {
            self.fail_start(&name, &problem);
            return Ok(());
        }
        match &config.transport {
            ServerTransport::Stdio(stdio) => self.find_command(name, &config, stdio),
            ServerTransport::Http(http) => {
                let body = ConsentRequestBody::ConnectServer { config: http.clone(), earlier_approval: None };
                self.emit_server_change(&name);
                self.decide_start(&name, &address_hash(http), body);
            }
        }
        Ok(())
    }

    fn find_command(&mut self, name: String, config: &Arc<ServerConfig>, stdio: &StdioConfig) {
        if stdio.cwd.as_ref().is_some_and(|cwd| cwd.is_relative()) {
            self.fail_start(&name, "its working folder must be an absolute path");
            return;
        }
        let (config, known) = (Arc::clone(config), self.launches.search_path.clone());
        self.emit_server_change(&name);
        let (command, own) = (self.server_command(&name, stdio), self.launches.own_files.clone());
        let bundle = self.launches.bundle_files(&name, &config);
        let looking = resolve_and_plan_command(name.clone(), command, known, stdio.clone(), own, bundle);
        self.run_concurrently(looking, move |owner, (path, found)| {
            owner.on_command_found(&name, &config, path, found);
        });
    }

    fn fail_start(&mut self, name: &str, message: &str) {
        self.fail_server(name, ServerFailure::new(FailureReason::CouldNotStart, message));
    }

    fn on_command_found(
        &mut self,
        name: &str,
        config: &ServerConfig,
        path: SearchPath,
        found: Result<ResolvedLaunch, SandboxPlanError>,
    ) {
        let Some(record) = self.servers.starting_server(name, config) else { return };
        let (found, launched) = match found {
            Ok(found) => found,
            Err(SandboxPlanError::NotFound(error)) => return self.fail_server(name, command_not_found_failure(error)),
            Err(error) => {
                let failure = ServerFailure::new(FailureReason::CouldNotStart, error.to_string());
                return self.fail_server(name, ServerFailure { sandbox: error.problem(), ..failure });
            }
        };
        record.launch.found = Some((found.program.clone(), path.clone()));
        record.launch.plan.clone_from(&found.plan);
        self.set_server_identity_for_rules(name, Some((&found.program, found.real.as_deref())));
        let Some(stdio) = config.as_stdio().cloned() else { return };
        match launched {
            Some(LauncherPackage::Package(reference)) => {
                let config = config.clone();
                let name = name.to_owned();
                self.decide_package_start(PackageStart { name, config, stdio, reference, found, path });
            }
            Some(LauncherPackage::Unknown(launcher, cause)) => {
                let package = LoadedPackage::unknown(launcher, cause);
                self.decide_command(name, stdio, found, Some(package));
            }
            None => self.decide_command(name, stdio, found, None),
        }
    }

    pub(super) fn fail_server(&mut self, name: &str, failure: ServerFailure) {
        if let Some(record) = self.servers.records.get(name) {
            record.log_activity_line(ActivityKind::State, &failure.message);
            self.on_unexpected_end(name, failure);
        }
        self.emit_server_change(name);
    }

    /// Stops a server in any state: ends its process or connection, or cancels its start.
    pub(crate) fn stop(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.start_again = false;
        record.launch.must_ask = false;
        record.launch.requested_by = None;
        record.supervision.give_up_restarting();
        record.sign_in.cancel_in_progress();
        record.session.to_restore = Default::default();
        if let Some(connection) = &record.session.connection {
            if record.state != ServerState::Stopping {
                let sender = connection.sender.clone();
                record.set_state(ServerState::Stopping);
                // The connection's channel may be full, and the owner must not wait for it.
                tokio::spawn(async move { sender.send(Box::new(ConnectionCommand::Stop)).await });
            }
        } else {
            record.set_state(ServerState::Stopped);
        }
        // Approvals for this process must not apply to the next one. Requests that the server sent end with its
        // session. Results under review remain, since the server has already returned them.
        self.withdraw_requests_if(|p| {
            p.view.server == name && !matches!(p.purpose, RequestPurpose::Request { .. } | RequestPurpose::Result(_))
        });
        self.emit_server_change(name);
    }

    /// Handles the revocation of a server's start grant. If the server is running, it keeps running, but is not
    /// restarted automatically unless the grant is restored.
    pub(super) fn on_approval_revoked(&mut self, name: &str) {
        let Some(record) = self.servers.records.get_mut(name) else { return };
        if matches!(record.state, ServerState::Reconnecting(_)) {
            self.stop(name);
        } else {
            record.supervision.on_approval_revoked();
        }
    }

    /// Stops a server and starts it again.
    pub(crate) fn restart(&mut self, name: &str) -> Result<(), ServerError> {
        self.stop(name);
        self.start_for_user(name)
    }
}
