//! Reads the tool lists of servers that reported a change again: before the model receives the tools, and before it
//! calls one of them.

use std::time::Duration;

use futures_util::future::join_all;
use host::Host;
use mcp_proto::session::ListKind;

use super::ReplyRun;

/// Timeout of reading a server's changed tool list.
const TOOL_LIST_REFRESH_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of times that a server's tool list is read per request to the model, since a server may report
/// changes continuously.
const MAX_TOOL_LIST_REFRESHES: usize = 3;

impl ReplyRun {
    /// Reads the tool lists again of all servers that reported a change, for at most [`TOOL_LIST_REFRESH_TIMEOUT`].
    /// Returns `true` if there was such a server.
    pub(super) async fn refresh_changed_tool_lists(&self) -> bool {
        let outdated = self.servers.iter().filter(|(_, server)| server.is_outdated());
        let names: Vec<String> = outdated.map(|(_, server)| server.server.clone()).collect();
        if names.is_empty() {
            return false;
        }
        let readings = names.iter().map(|name| refresh_tool_list_until_current(&self.host, name));
        tokio::select! {
            _ = join_all(readings) => {}
            () = self.answering.running.stop.cancelled() => {}
        }
        true
    }

    /// Reads the tool list of a server again if the server reported a change. Called before a call of one of the
    /// server's tools.
    pub(super) async fn refresh_tool_list_if_changed(&self, server: &str) {
        let catalog = self.host.catalog(server.to_owned()).await;
        if catalog.is_ok_and(|catalog| catalog.has_outdated_tools()) {
            tokio::select! {
                () = refresh_tool_list_until_current(&self.host, server) => {}
                () = self.answering.running.stop.cancelled() => {}
            }
        }
    }

    /// Returns the servers whose tools are not sent to the model, because their changed lists could not be read in
    /// time.
    pub(super) fn servers_with_outdated_tools(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().filter(|(_, server)| server.is_outdated()).map(|(_, server)| server.server.as_str())
    }
}

/// Reads a server's tool list again until it is up to date, at most [`MAX_TOOL_LIST_REFRESHES`] times and for at most
/// [`TOOL_LIST_REFRESH_TIMEOUT`].
async fn refresh_tool_list_until_current(host: &Host, server: &str) {
    let read = async {
        for _ in 0..MAX_TOOL_LIST_REFRESHES {
            // A server that has stopped meanwhile has no list to wait for.
            let Ok(catalog) = host.refresh_list(server.to_owned(), ListKind::Tools).await else { return };
            if !catalog.has_outdated_tools() {
                return;
            }
        }
    };
    // Tools of a list that was not read in time are omitted from the request, with a notice.
    let _ = tokio::time::timeout(TOOL_LIST_REFRESH_TIMEOUT, read).await;
}
