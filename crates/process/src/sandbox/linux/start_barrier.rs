//! Delays the start of a server's program: bubblewrap creates the server's network namespace, and waits to run the
//! program until the egress proxy listens in that namespace.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::net::unix::pipe::Receiver;
use tokio::time::timeout;

use super::bubblewrap::wait_for_end;
use crate::platform;
use crate::sandbox::egress::{EgressProxy, HostPattern, PROXY_PORT};
use crate::sandbox::{CHOOSE_ANOTHER_NETWORK_SENTENCE, SandboxError};

/// Time limit for bubblewrap to create the network namespace.
const NETWORK_NAMESPACE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes that are read of bubblewrap's report on the namespaces.
const MAX_BUBBLEWRAP_REPORT_BYTES: usize = 4096;

/// Prevents a server's program from running. Dropping the barrier lets the program run, so bubblewrap must be killed
/// first.
pub(crate) struct StartBarrier {
    hosts: Vec<HostPattern>,
    report: PipeReader,
    open: PipeWriter,
}

/// The ends of the barrier's pipes that bubblewrap inherits.
pub(super) struct StartBarrierDescriptors {
    /// Descriptor to which bubblewrap writes its report on the namespaces (`--info-fd`).
    pub(super) info: OwnedFd,
    /// Descriptor that must become readable before bubblewrap runs the program (`--block-fd`).
    pub(super) block: OwnedFd,
}

/// Bubblewrap's report on the created sandbox, in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct BubblewrapStatusReport {
    child_pid: u32,
    net_namespace: Option<u64>,
}

impl StartBarrier {
    /// Creates a barrier for a server that may contact only these hosts.
    ///
    /// # Errors
    /// Returns the system's error if no pipe can be created.
    pub(super) fn new(hosts: Vec<HostPattern>) -> std::io::Result<(StartBarrier, StartBarrierDescriptors)> {
        let ((report, info), (block, open)) = (pipe()?, pipe()?);
        Ok((StartBarrier { hosts, report, open }, StartBarrierDescriptors { info: info.into(), block: block.into() }))
    }

    /// Starts the proxy in the server's network namespace, then lets bubblewrap run the server's program.
    ///
    /// # Errors
    /// Returns [`SandboxError::NoMechanism`] if the proxy can't listen in that namespace. The program does not run, and
    /// `bubblewrap` is killed.
    pub(crate) async fn open(self, bubblewrap: &mut dyn ChildWrapper) -> Result<EgressProxy, SandboxError> {
        let StartBarrier { hosts, report, mut open } = self;
        // Declared last so that it is dropped before the pipe, because closing the pipe would let the program run.
        let mut held = BubblewrapBeforeRelease { bubblewrap, is_released: false };
        let listening = timeout(NETWORK_NAMESPACE_TIMEOUT, listen_in_sandbox(report, &mut *held.bubblewrap)).await;
        let listening = listening.unwrap_or_else(|_| Err("bubblewrap took too long".to_owned()));
        let started = listening.and_then(|listener| {
            let egress = EgressProxy::start(listener, hosts);
            open.write_all(&[0]).map_err(|error| error.to_string())?;
            Ok(egress)
        });
        held.is_released = started.is_ok();
        started.map_err(|cause| {
            let cause = format!("the network of named hosts can't be set up ({cause})");
            SandboxError::NoMechanism { cause, next: CHOOSE_ANOTHER_NETWORK_SENTENCE }
        })
    }
}

/// A bubblewrap process that waits and must not run its program yet. Dropping this value kills the process.
struct BubblewrapBeforeRelease<'c> {
    bubblewrap: &'c mut dyn ChildWrapper,
    is_released: bool,
}

impl Drop for BubblewrapBeforeRelease<'_> {
    fn drop(&mut self) {
        if !self.is_released {
            // Fails only if the process has ended.
            let _ = self.bubblewrap.start_kill();
        }
    }
}

async fn listen_in_sandbox(report: PipeReader, bubblewrap: &mut dyn ChildWrapper) -> Result<TcpListener, String> {
    let to_text = |error: std::io::Error| error.to_string();
    let mut report = Receiver::from_owned_fd(report.into()).map_err(to_text)?;
    let mut text = Vec::new();
    let BubblewrapStatusReport { child_pid, net_namespace } = loop {
        if report.read_buf(&mut text).await.map_err(to_text)? == 0 || text.len() > MAX_BUBBLEWRAP_REPORT_BYTES {
            let (status, words) = wait_for_end(bubblewrap).await.map_err(to_text)?;
            return Err(if words.is_empty() { status.to_string() } else { words });
        }
        if let Ok(report) = serde_json::from_slice(&text) {
            break report;
        }
    };
    let listening = move || platform::listen_in_network_namespace_of(child_pid, net_namespace, PROXY_PORT);
    let listener = tokio::task::spawn_blocking(listening).await.map_err(|error| error.to_string())?.map_err(to_text)?;
    TcpListener::from_std(listener).map_err(to_text)
}
