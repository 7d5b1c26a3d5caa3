//! Collects the log entries that the host writes during an attack, so that tests can search them.

use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};

use tracing_subscriber::EnvFilter;

/// Log levels of the tests. They are more detailed than the defaults for Drawbridge's crates, because messages of every
/// level must be safe to print.
const LOG_LEVELS: &str = "warn,api=debug,chat=debug,domain=debug,foreign=debug,host=debug,mcp_auth=debug,mcp_proto=debug,\
mcp_transport=debug,models=debug,policy=debug,ports=debug,process=debug,store=debug";

static RECORDED_LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct LogRecorder;

impl Write for LogRecorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        RECORDED_LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to record the log messages of this process. Later calls have no effect.
pub(crate) fn start_log_recording() {
    static RECORDING_STARTED: Once = Once::new();
    RECORDING_STARTED.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(LOG_LEVELS))
            .with_ansi(false)
            .with_writer(|| LogRecorder)
            .init();
    });
}

/// Returns all log messages that were recorded so far.
pub(crate) fn recorded_log_text() -> String {
    String::from_utf8_lossy(&RECORDED_LOG.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

#[tokio::test]
async fn host_log_is_written() {
    start_log_recording();
    let folder = tempfile::tempdir().unwrap();
    // A conversation in the format of older versions, truncated after its first byte.
    std::fs::create_dir_all(folder.path().join("data/conversations")).unwrap();
    std::fs::write(folder.path().join("data/conversations/0.json"), "{").unwrap();
    let app = testkit::app::TestApp::start_in_folder(folder, Vec::new(), host::HostOptions::default()).await;
    app.host.ports().history.list().unwrap();
    assert!(
        recorded_log_text().contains("it is not a conversation"),
        "a file that is not a conversation is reported: {}",
        recorded_log_text()
    );
    app.host.close().await;
}
