//! Launches an approved server: reads its secrets and environment, and starts its connection. Used by
//! `start_decision.rs` and `decisions/approvals.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use credentials::settings::SignInSettingsError;
use host_state::unresolved_secret_failure;
use launches::approvals::command_hash;
use launches::current_files::read_current_launch_files;
use mcp_proto::session::{HandshakeMode, SessionConfig};
use mcp_proto::types::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
use ports::Secrets;
use ports::secrets::{ResolvedValues, UnresolvedSecret};
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig, address_hash};
use process::{LaunchFiles, SearchPath, ServerCommand};
use serde_json::{Map, Value, json};

use super::command_lookup::verify_bundle;
use crate::connection::{self, ConnectionStart, ConnectionTarget, HttpStart, RunId};
use crate::owner::Owner;
use crate::owner::gate::SendPermit;
use crate::owner::sign_in::ServerSignIn;
use crate::view::ServerState;

impl Owner {
    /// Launches a server whose command was resolved or whose address is known, as `permit` allows.
    pub(in crate::owner) fn launch(&mut self, name: &str, permit: SendPermit) {
        if self.lifetime.is_closing {
            return;
        }
        self.pin_command_or_address(name, permit.payload_hash());
        self.store_approved_package(name);
        self.record_start_use(permit.source(), name);
        let Some(record) = self.servers.records.get_mut(name) else { return };
        record.set_state(ServerState::Starting);
        record.supervision.on_launched(permit.payload_hash().clone());
        let config = Arc::clone(&record.config);
        match &config.transport {
            ServerTransport::Stdio(stdio) => {
                let Some((program, path)) = record.launch.found.take() else { return };
                let (approved, files) = (record.launch.plan.clone(), record.launch.files.take());
                let stdio = &record.launch.command.clone().unwrap_or_else(|| stdio.clone());
                let command = ServerCommand { approved, files, ..self.server_command(name, stdio) };
                if !ports::secrets::environment_refers_to_secrets(stdio) {
                    return self.connect_process(name, ConnectionTarget::Process { command, program, path }, permit);
                }
                let (name, stdio, secrets) = (name.to_owned(), stdio.clone(), Arc::clone(&self.ports.secrets));
                self.emit_server_change(&name);
                self.run_concurrently(read_environment(stdio, secrets), move |owner, read| {
                    owner.on_environment_read(&name, &config, permit, command, (program, path), read);
                });
            }
            ServerTransport::Http(http) => {
                let (name, http, secrets) = (name.to_owned(), http.clone(), Arc::clone(&self.ports.secrets));
                let Some(factory) = self.sign_in_factory(&name) else { return };
                self.emit_server_change(&name);
                let prepared = async move {
                    let sign_in = factory.create_from_vault(http.clone()).await?;
                    Ok((read_secrets(http, secrets).await?, sign_in))
                };
                self.run_concurrently(prepared, move |owner, prepared| {
                    owner.on_remote_prepared(&name, &config, permit, prepared)
                });
            }
        }
    }

    fn on_remote_prepared(
        &mut self,
        name: &str,
        config: &ServerConfig,
        permit: SendPermit,
        prepared: Result<PreparedRemoteStart, SignInSettingsError>,
    ) {
        if self.lifetime.is_closing {
            return;
        }
        let Some(record) = self.servers.starting_server(name, config) else { return };
        match prepared {
            Ok((mut start, sign_in)) => {
                let secrets = std::mem::take(&mut start.secrets);
                // The server may repeat the secrets in its messages, so the activity log redacts them.
                record.activity.redact_settings_secrets(secrets);
                start.authorizer = sign_in.map(|made| record.sign_in.get_or_store(made).authorizer());
                start.known = self.last_known_connection(name);
                self.connect(name, ConnectionTarget::Url(start), None, permit);
            }
            Err(cause) => self.fail_server(name, unresolved_secret_failure(&cause)),
        }
    }

    fn on_environment_read(
        &mut self,
        name: &str,
        config: &ServerConfig,
        permit: SendPermit,
        command: ServerCommand,
        (program, path): (PathBuf, SearchPath),
        read: Result<ResolvedValues, UnresolvedSecret>,
    ) {
        if self.lifetime.is_closing {
            return;
        }
        let Some(record) = self.servers.starting_server(name, config) else { return };
        match read {
            Ok((environment, secrets)) => {
                // The server may repeat the secrets in its messages, so the activity log redacts them.
                record.activity.redact_settings_secrets(secrets);
                let command = ServerCommand { environment, ..command };
                self.connect_process(name, ConnectionTarget::Process { command, program, path }, permit);
            }
            Err(cause) => self.fail_server(name, unresolved_secret_failure(&cause)),
        }
    }

    /// Starts the process of a local server, after checking the program, its scripts and the files of the server's
    /// bundle again, since they may have changed while the start waited for the user or for secrets.
    fn connect_process(&mut self, name: &str, target: ConnectionTarget, permit: SendPermit) {
        let ConnectionTarget::Process { command: ServerCommand { files: Some(files), .. }, .. } = &target else {
            return self.connect(name, target, None, permit);
        };
        let Some(config) = self.servers.records.get(name).map(|record| Arc::clone(&record.config)) else { return };
        let (name, files) = (name.to_owned(), files.clone());
        let (bundle, own) = (self.launches.bundle_files(&name, &config), self.launches.own_files.clone());
        let files = read_current_launch_files(files, self.options.reread_launch_files);
        let looking = async move { (verify_bundle(&own, bundle).await, files.await) };
        self.run_concurrently(looking, move |owner, (verified, files)| {
            if owner.lifetime.is_closing || owner.servers.starting_server(&name, &config).is_none() {
                return;
            }
            if let Err(changed) = verified {
                return owner.fail_start(&name, &changed.to_string());
            }
            match files {
                Some(files) => owner.connect(&name, target, Some(&files), permit),
                None => owner.fail_start(&name, "its program's files could not be read in time; start it again"),
            }
        });
    }

    fn connect(&mut self, name: &str, target: ConnectionTarget, files: Option<&LaunchFiles>, permit: SendPermit) {
        let run = RunId(self.events.next_unique_id());
        let known = self.last_known_revision(name);
        let sampling = self.models.sampling.offered_capability(name);
        let Some(record) = self.servers.records.get_mut(name) else { return };
        let now = match (&target, &record.config.transport) {
            (ConnectionTarget::Process { program, .. }, ServerTransport::Stdio(stdio)) => {
                let stdio = record.launch.command.as_ref().unwrap_or(stdio);
                files.map(|files| {
                    command_hash(stdio, program, record.launch.plan.as_ref(), files, record.launch.package.as_ref())
                })
            }
            (ConnectionTarget::Url(_), ServerTransport::Http(http)) => Some(address_hash(http)),
            _ => None,
        };
        let mut timeouts = self.options.timeouts.clone();
        timeouts.ping_interval.get_or_insert(target.ping_interval());
        let Some(target) = now.and_then(|now| permit.authorize_server_start(name, target, &now).ok()) else {
            return self.fail_start(name, "its command or address changed after it was approved; start it again");
        };
        record.session.sampling_offered.clone_from(&sampling);
        let mut session = SessionConfig {
            client: self.options.client.clone(),
            capabilities: client_capabilities(&record.config, sampling, self.options.shows_apps),
            handshake: record.config.revision.map_or(HandshakeMode::Probe, HandshakeMode::Pinned),
            known,
            trace: self.options.trace.clone(),
            timeouts,
            ..SessionConfig::default()
        };
        let limits = self.settings.current.limits.clamped_to_bounds();
        record.activity.lock().set_max_bytes(limits.activity_log_bytes);
        session.limits.in_flight_calls = limits.calls as usize;
        let (times, activity) = (self.options.call_timeouts, record.activity.clone());
        let (clock, used) = (Arc::clone(&self.ports.clock), Arc::clone(&record.used));
        let start = ConnectionStart { run, target, session, times, activity, limits, used, clock };
        record.session.connection = Some(connection::connect(start, self.lifetime.back.clone()));
        self.servers.runs.insert(run, name.to_owned());
        self.audit_tool_filter_at_start(name);
        self.emit_server_change(name);
    }
}

/// A remote server's address and headers with the secrets inserted, and the sign-in to the server if it supports one.
type PreparedRemoteStart = (HttpStart, Option<ServerSignIn>);

/// Returns a remote server's address and headers with secrets inserted. May wait for the user to unlock the keychain.
async fn read_secrets(config: HttpConfig, secrets: Arc<dyn Secrets>) -> Result<HttpStart, UnresolvedSecret> {
    let read = tokio::task::spawn_blocking(move || {
        let (headers, secrets) = ports::secrets::resolve_headers(&config, secrets.as_ref())?;
        Ok(HttpStart { url: config.url, headers, secrets, kind: config.kind, known: None, authorizer: None })
    });
    read.await.unwrap_or_else(|error| Err(UnresolvedSecret::Interrupted(error.to_string())))
}

/// Returns the environment variables of a local server, with the secrets inserted that the settings refer to.
async fn read_environment(config: StdioConfig, secrets: Arc<dyn Secrets>) -> Result<ResolvedValues, UnresolvedSecret> {
    let read = tokio::task::spawn_blocking(move || ports::secrets::resolve_environment(&config, secrets.as_ref()));
    read.await.unwrap_or_else(|error| Err(UnresolvedSecret::Interrupted(error.to_string())))
}

/// Returns the client capabilities to declare to a server. The session omits those that the revision lacks.
fn client_capabilities(
    config: &ServerConfig,
    sampling: Option<SamplingCapability>,
    shows_apps: bool,
) -> ClientCapabilities {
    let auth = config.as_http().and_then(|http| http.auth.as_ref());
    let sign_in = auth.and_then(|auth| auth.grant.extension()).map(|name| (name.to_owned(), json!({})));
    let apps = shows_apps.then(|| (mcp_apps::EXTENSION_ID.to_owned(), mcp_apps::extension_settings()));
    let extensions: Map<String, Value> = sign_in.into_iter().chain(apps).collect();
    ClientCapabilities {
        extensions: (!extensions.is_empty()).then_some(extensions),
        roots: Some(RootsCapability { list_changed: Some(true) }),
        sampling,
        elicitation: Some(ElicitationCapability { form: Some(Default::default()), url: Some(Default::default()) }),
        ..ClientCapabilities::default()
    }
}
