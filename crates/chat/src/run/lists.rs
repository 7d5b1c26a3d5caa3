//! Tools of servers that said that their list changed: read again before a model gets them, or is said to have called one.

use std::time::Duration;

use futures_util::future::join_all;
use host::Host;
use mcp_proto::session::ListKind;

use super::Run;

/// How long a model waits at most for lists of tools that are read again.
const READING: Duration = Duration::from_secs(10);
/// How often a list is read at most for one request: a server may say all the time that it changed.
const READINGS: usize = 3;

impl Run {
    /// Waits until the lists of tools are read that are being changed, for as long as that may take. Gives whether there were any.
    pub(super) async fn wait_for_lists(&self) -> bool {
        let outdated = self.servers.iter().filter(|(_, server)| server.is_outdated());
        let names: Vec<String> = outdated.map(|(_, server)| server.server.clone()).collect();
        if names.is_empty() {
            return false;
        }
        let readings = names.iter().map(|name| read_again(&self.host, name));
        tokio::select! {
            _ = join_all(readings) => {}
            () = self.answering.running.stop.cancelled() => {}
        }
        true
    }

    /// Waits likewise for the list of a server whose tool a model calls.
    pub(super) async fn wait_for_list_of(&self, server: &str) {
        let catalog = self.host.catalog(server.to_owned()).await;
        if catalog.is_ok_and(|catalog| catalog.has_outdated_tools()) {
            tokio::select! {
                () = read_again(&self.host, server) => {}
                () = self.answering.running.stop.cancelled() => {}
            }
        }
    }

    /// The servers whose tools are left out since their lists could not be read again in time.
    pub(super) fn left_out(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().filter(|(_, server)| server.is_outdated()).map(|(_, server)| server.server.as_str())
    }
}

/// Has a server's tools read until they are as it says now, within bounds.
async fn read_again(host: &Host, server: &str) {
    let read = async {
        for _ in 0..READINGS {
            // A server that has ended meanwhile has no tools to wait for.
            let Ok(catalog) = host.refresh_list(server.to_owned(), ListKind::Tools).await else { return };
            if !catalog.has_outdated_tools() {
                return;
            }
        }
    };
    // What was not read in time is left out, and said to be.
    let _ = tokio::time::timeout(READING, read).await;
}
