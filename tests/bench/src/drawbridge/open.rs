//! Starts a host whose user allows everything, and adds and starts its servers like a user.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use futures_util::future::try_join_all;
use host::view::{AppSettings, ConsentRequestBody, HostEvent, ServerState, UserDecision};
use host::{Host, HostOptions};
use policy::ApprovalScope;
use ports::Ports;
use ports::server_config::{HttpConfig, ServerConfig, ServerEntry, StdioConfig};
use tokio::task::JoinHandle;

use super::{Outcome, memory};

/// Name of the server whose tools are called.
pub const BENCH_SERVER_NAME: &str = "bench";
/// Maximum time until a server is ready and its lists are read.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// A running host for measurements.
#[allow(missing_debug_implementations, reason = "the host has none")]
pub struct BenchHost {
    /// The host whose client is measured.
    pub host: Host,
}

/// Returns the configuration of a local server, started as `PROGRAM stdio --tools N`.
///
/// # Errors
/// Returns an error if the path can't be made absolute.
pub fn local_server_config(program: &Path, tools: usize) -> Outcome<ServerConfig> {
    Ok(StdioConfig {
        command: std::path::absolute(program)?.display().to_string(),
        args: vec!["stdio".to_owned(), "--tools".to_owned(), tools.to_string()],
        ..StdioConfig::default()
    }
    .into())
}

/// Returns the configuration of a server that is already running at this URL.
#[must_use]
pub fn remote_server_config(url: &str) -> ServerConfig {
    HttpConfig { url: url.to_owned(), ..HttpConfig::default() }.into()
}

impl BenchHost {
    /// Starts a host whose external dependencies, such as storage, are implemented in memory.
    pub async fn start() -> Self {
        Self::start_with_ports(memory::in_memory_ports()).await
    }

    /// Starts a host with `ports` as the implementations of its external dependencies.
    pub async fn start_with_ports(ports: Ports) -> Self {
        Self { host: Host::start(ports, HostOptions::default()).await }
    }

    /// Spawns a task that approves every start of a server and every tool call, until the task is aborted.
    pub fn spawn_approving_user(&self) -> JoinHandle<()> {
        let host = self.host.clone();
        let mut events = host.events();
        tokio::spawn(async move {
            // Notifications about consent requests are disabled, because they are not measured.
            let quiet = AppSettings { announce: false, ..AppSettings::default() };
            let _ = host.set_settings(quiet).await;
            while let Some(event) = events.next().await {
                let HostEvent::ConsentRequestChanged(request) = &event.event else { continue };
                let scope = match request.body {
                    ConsentRequestBody::Tool { .. } => ApprovalScope::Session,
                    _ => ApprovalScope::Once,
                };
                // The consent request may already be closed, because its call or its server has ended.
                let _ = host.decide(request.id, request.hash.to_string(), UserDecision::Allow(scope)).await;
            }
        })
    }

    /// Adds a server, starts it, and waits until it is ready and its tools are known.
    ///
    /// # Errors
    /// Returns an error if the server fails or is not ready in time.
    pub async fn add_and_start_server(&self, name: &str, config: &ServerConfig) -> Outcome<()> {
        self.add_server(name, config).await?;
        self.start_all_servers(&[name.to_owned()]).await
    }

    /// Adds a server to the host.
    ///
    /// # Errors
    /// Returns an error if the host refuses it.
    pub async fn add_server(&self, name: &str, config: &ServerConfig) -> Outcome<()> {
        Ok(self.host.add_server(ServerEntry { name: name.to_owned(), config: config.clone() }).await?)
    }

    /// Starts servers concurrently, and waits until all of them are ready and their tools are known.
    ///
    /// # Errors
    /// Returns an error if a server fails or is not ready in time.
    pub async fn start_all_servers(&self, names: &[String]) -> Outcome<()> {
        let mut events = self.host.events();
        try_join_all(names.iter().map(|name| self.host.start_server(name.clone()))).await?;
        let mut missing: HashSet<&str> = names.iter().map(String::as_str).collect();
        let deadline = tokio::time::Instant::now() + READY_TIMEOUT;
        while !missing.is_empty() {
            let event = tokio::time::timeout_at(deadline, events.next()).await?.ok_or("the host has ended")?;
            let HostEvent::ServerChanged(view) = &event.event else { continue };
            match &view.state {
                ServerState::Ready if view.counts[0] > 0 => {
                    missing.remove(&*view.name);
                }
                ServerState::Failed(failure) if missing.contains(&*view.name) => {
                    return Err(format!("{}: {}", view.name, failure.message).into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}
