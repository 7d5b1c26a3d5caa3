//! TCP listener that no server or app may connect to. Counts its connections.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// TCP listener on all addresses of this computer. The user has named none of these addresses, so every connection to
/// it is a failure.
pub(crate) struct ForbiddenUrlListener {
    pub(crate) port: u16,
    hits: Arc<AtomicUsize>,
}

/// Returns the listener that all tests of this process share. Hostile servers use its URL wherever they can name one.
pub(crate) fn forbidden_url_listener() -> &'static ForbiddenUrlListener {
    static SHARED: OnceLock<ForbiddenUrlListener> = OnceLock::new();
    SHARED.get_or_init(ForbiddenUrlListener::start)
}

impl ForbiddenUrlListener {
    fn start() -> Self {
        // The IPv6 listener accepts both address families if the system supports that. All addresses in 127/8 are
        // local.
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

    /// Returns a URL of the listener, for use in texts that try to make the app send a request.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/collect", self.port)
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn every_connection_to_the_forbidden_url_is_counted() {
    let collector = ForbiddenUrlListener::start();
    let mut visits = 0;
    for host in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.2"] {
        // The machine may support only one address family.
        let connected = std::net::TcpStream::connect((host, collector.port));
        visits += usize::from(connected.is_ok());
        let is_counted = || collector.connection_count() == visits;
        let counted = testkit::deadline::poll_until(testkit::app::EVENT_TIMEOUT, is_counted).await;
        assert!(counted, "{host}: {visits} connections were made, but {} are counted", collector.connection_count());
        assert!(connected.is_ok() || host.contains(':'), "{host}: the listener is reachable: {connected:?}");
    }
}
