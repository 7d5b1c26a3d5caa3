//! A listener that must never be connected to. Counts connections.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A port on every address of this computer that no user named.
pub(crate) struct Collector {
    pub(crate) port: u16,
    hits: Arc<AtomicUsize>,
}

/// Returns the collector of this process, whose address the bad servers name wherever possible.
pub(crate) fn collector() -> &'static Collector {
    static SHARED: OnceLock<Collector> = OnceLock::new();
    SHARED.get_or_init(Collector::start)
}

impl Collector {
    fn start() -> Self {
        // Both address families reach the first listener if the system supports both. All of 127/8 leads to this
        // computer.
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&hits);
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { port, hits }
    }

    /// An address there, for texts that would have it fetched.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/collect", self.port)
    }

    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn every_connection_is_counted() {
    let collector = Collector::start();
    let mut visits = 0;
    for host in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.2"] {
        // A machine may have only one of the two families.
        let connected = std::net::TcpStream::connect((host, collector.port));
        visits += usize::from(connected.is_ok());
        let is_counted = || collector.hits() == visits;
        let counted = testkit::deadline::poll_until(testkit::app::EVENT_TIMEOUT, is_counted).await;
        assert!(counted, "{host}: {visits} came, but {} are counted", collector.hits());
        assert!(connected.is_ok() || host.contains(':'), "{host}: it can be reached: {connected:?}");
    }
}
