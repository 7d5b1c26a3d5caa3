//! TCP proxy that delays, truncates or discards the output of a server, for tests of how a client reacts.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Fault that the proxy applies to the output of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyFault {
    /// Output is passed on unchanged.
    #[default]
    None,
    /// Output is passed on one byte at a time.
    Bytewise,
    /// Output is delayed by this duration.
    Late(Duration),
    /// Each connection is closed after this number of output bytes.
    CutAfter(usize),
    /// Output is discarded, and connections stay open.
    Swallowed,
    /// New connections are closed immediately.
    Refused,
}

/// TCP proxy on loopback that applies a [`ProxyFault`] to the output of a server. It stops when this is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    /// Address on which the proxy listens.
    pub address: SocketAddr,
    server: Arc<Mutex<SocketAddr>>,
    fault: Arc<Mutex<ProxyFault>>,
    cut: watch::Sender<u64>,
    accepting: JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy that forwards connections to `server`.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn in_front_of(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap_or_else(|e| panic!("no free port: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("a listener has no address: {e}"));
        let (server, fault) = (Arc::new(Mutex::new(server)), Arc::new(Mutex::new(ProxyFault::None)));
        let (cut, cuts) = watch::channel(0);
        let (leads_to, happens) = (Arc::clone(&server), Arc::clone(&fault));
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let (server, fault, mut cuts) = (copy_locked_value(&leads_to), Arc::clone(&happens), cuts.clone());
                cuts.mark_unchanged();
                connections.spawn(async move {
                    tokio::select! {
                        _ = relay_connection(client, server, fault) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Self { address, server, fault, cut, accepting }
    }

    /// Sets the fault, which also applies to open connections from now on.
    pub fn set_fault(&self, fault: ProxyFault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Sets the server that new connections are forwarded to.
    pub fn set_server(&self, server: SocketAddr) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }

    /// Closes all open connections.
    pub fn cut_connections(&self) {
        self.cut.send_modify(|count| *count += 1);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn relay_connection(client: TcpStream, server: SocketAddr, fault: Arc<Mutex<ProxyFault>>) -> io::Result<()> {
    if copy_locked_value(&fault) == ProxyFault::Refused {
        return Ok(());
    }
    let server = TcpStream::connect(server).await?;
    // Disables Nagle's algorithm, so that single bytes are sent immediately.
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    tokio::select! {
        result = tokio::io::copy(&mut from_client, &mut to_server) => result.map(|_| ()),
        result = relay_with_faults(from_server, to_client, fault) => result,
    }
}

fn copy_locked_value<T: Copy>(set: &Mutex<T>) -> T {
    *set.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn relay_with_faults(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    fault: Arc<Mutex<ProxyFault>>,
) -> io::Result<()> {
    let (mut buffer, mut passed) = (vec![0; 64 * 1024], 0);
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 && copy_locked_value(&fault) == ProxyFault::Swallowed {
            // The end of the stream is not passed on either.
            std::future::pending::<()>().await;
        }
        if count == 0 {
            return to.shutdown().await;
        }
        let bytes = &buffer[..count];
        match copy_locked_value(&fault) {
            ProxyFault::None => to.write_all(bytes).await?,
            ProxyFault::Late(pause) => {
                tokio::time::sleep(pause).await;
                to.write_all(bytes).await?;
            }
            ProxyFault::Bytewise => {
                for byte in bytes {
                    to.write_all(&[*byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            ProxyFault::CutAfter(most) => {
                let rest = most.saturating_sub(passed);
                to.write_all(&bytes[..rest.min(count)]).await?;
                if rest <= count {
                    return Ok(());
                }
            }
            ProxyFault::Swallowed => {}
            ProxyFault::Refused => return Ok(()),
        }
        passed += count;
    }
}
