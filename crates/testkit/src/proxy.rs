//! TCP proxy that delays, cuts or swallows the server's output, for tests of the client's reaction.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Fault that is applied to the output of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyFault {
    /// Output of the server passes unchanged.
    #[default]
    None,
    /// Output is written one byte at a time.
    Bytewise,
    /// Output is delayed by this time.
    Late(Duration),
    /// Each connection is cut after this number of bytes.
    CutAfter(usize),
    /// Output is discarded, and the connection stays open.
    Swallowed,
    /// Every connection is closed at once.
    Refused,
}

/// TCP proxy on loopback; it ends when this is dropped.
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
    /// Starts a proxy in front of a server.
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
                let (server, fault, mut cuts) = (current_value(&leads_to), Arc::clone(&happens), cuts.clone());
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

    /// Sets the fault from now on, including for open connections.
    pub fn set(&self, fault: ProxyFault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Sets the server for new connections.
    pub fn set_server(&self, server: SocketAddr) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }

    /// Cuts all open connections.
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
    if current_value(&fault) == ProxyFault::Refused {
        return Ok(());
    }
    let server = TcpStream::connect(server).await?;
    // Bytes are sent as soon as they are written.
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    tokio::select! {
        result = tokio::io::copy(&mut from_client, &mut to_server) => result.map(|_| ()),
        result = relay_with_faults(from_server, to_client, fault) => result,
    }
}

fn current_value<T: Copy>(set: &Mutex<T>) -> T {
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
        if count == 0 && current_value(&fault) == ProxyFault::Swallowed {
            // The end of the stream is swallowed, too.
            std::future::pending::<()>().await;
        }
        if count == 0 {
            return to.shutdown().await;
        }
        let bytes = &buffer[..count];
        match current_value(&fault) {
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
