//! Between the start of bubblewrap and that of the server's program: bubblewrap has made the server's network by then and waits, and
//! the proxy begins to listen in it.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::net::unix::pipe::Receiver;
use tokio::time::timeout;

use super::bubblewrap::ended;
use crate::platform;
use crate::sandbox::egress::{Egress, HostPattern, PORT};
use crate::sandbox::{NEXT_WITHOUT_HOSTS, SandboxError};

/// How long bubblewrap may take until the network is made.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes that it says of it.
const MAX_SAID: usize = 4096;

/// Holds back a server's program. Dropping it lets the program run, so whoever drops it has ended bubblewrap before.
pub(crate) struct Gate {
    hosts: Vec<HostPattern>,
    made: PipeReader,
    open: PipeWriter,
}

/// The descriptors that bubblewrap gets.
pub(super) struct GateEnds {
    /// It writes here what it has made (`--info-fd`).
    pub(super) info: OwnedFd,
    /// It waits until something can be read here (`--block-fd`).
    pub(super) block: OwnedFd,
}

/// What bubblewrap says of what it has made.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Made {
    child_pid: u32,
    net_namespace: Option<u64>,
}

impl Gate {
    /// A gate that lets a server through to these hosts only.
    ///
    /// # Errors
    /// If the system has no pipes left.
    pub(super) fn new(hosts: Vec<HostPattern>) -> std::io::Result<(Gate, GateEnds)> {
        let ((made, info), (block, open)) = (pipe()?, pipe()?);
        Ok((Gate { hosts, made, open }, GateEnds { info: info.into(), block: block.into() }))
    }

    /// Starts the proxy in the server's network, and then lets its program run.
    ///
    /// # Errors
    /// [`SandboxError`], if the proxy can't listen there. The program does not run; `bubblewrap` was ended.
    pub(crate) async fn open(self, bubblewrap: &mut dyn ChildWrapper) -> Result<Egress, SandboxError> {
        let Gate { hosts, made, mut open } = self;
        // Dropped before the pipe, whose end would let the program run.
        let mut held = Held { bubblewrap, is_released: false };
        let listening = timeout(PATIENCE, listen(made, &mut *held.bubblewrap)).await;
        let listening = listening.unwrap_or_else(|_| Err("bubblewrap took too long".to_owned()));
        let started = listening.and_then(|listener| {
            let egress = Egress::start(listener, hosts);
            open.write_all(&[0]).map_err(|error| error.to_string())?;
            Ok(egress)
        });
        held.is_released = started.is_ok();
        started.map_err(|cause| {
            let cause = format!("the network of named hosts can't be set up ({cause})");
            SandboxError::NotHere { cause, next: NEXT_WITHOUT_HOSTS }
        })
    }
}

/// A bubblewrap whose program must not run yet. Dropping it ends it.
struct Held<'c> {
    bubblewrap: &'c mut dyn ChildWrapper,
    is_released: bool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.is_released {
            // Fails only when there is nobody left to kill.
            let _ = self.bubblewrap.start_kill();
        }
    }
}

async fn listen(made: PipeReader, bubblewrap: &mut dyn ChildWrapper) -> Result<TcpListener, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut made = Receiver::from_owned_fd(made.into()).map_err(said)?;
    let mut text = Vec::new();
    let Made { child_pid, net_namespace } = loop {
        if made.read_buf(&mut text).await.map_err(said)? == 0 || text.len() > MAX_SAID {
            let (status, words) = ended(bubblewrap).await.map_err(said)?;
            return Err(if words.is_empty() { status.to_string() } else { words });
        }
        if let Ok(made) = serde_json::from_slice(&text) {
            break made;
        }
    };
    let listening = move || platform::listen_in_network_of(child_pid, net_namespace, PORT);
    let listener = tokio::task::spawn_blocking(listening).await.map_err(|error| error.to_string())?.map_err(said)?;
    TcpListener::from_std(listener).map_err(said)
}
