//! Records the processes of running servers on disk (`host_state::with_running_servers`).

use host_state::with_running_servers;
use ports::Document;

use super::Owner;

impl Owner {
    /// Writes the processes of running servers to `running.json`. The next start ends those left by a killed host.
    pub(super) fn write_running_server_records(&mut self) {
        let own: Vec<String> = self.servers.running.values().map(ToString::to_string).collect();
        self.write_later(Document::Running, "the list of running servers could not be written", move |stored| {
            with_running_servers(stored, &own)
        });
    }
}
