//! A place that nobody may connect to. It counts who does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A port on every address of this computer that no user named.
pub(crate) struct Collector {
    pub(crate) port: u16,
    hits: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        // All of 127/8 leads to this computer.
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&hits);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                drop(stream);
            }
        });
        Self { port, hits, accepting }
    }

    /// An address there, for texts that would have it fetched.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/collect", self.port)
    }

    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
