//! The servers and their runs.

use indexmap::IndexMap;
use process::orphans::RunningRecord;
use rustc_hash::{FxBuildHasher, FxHashMap};
use supervision::activity::Together;

use super::ServerRecord;
use crate::connection::RunId;

/// All servers of the settings file, and what runs of them.
#[derive(Default)]
pub(in crate::owner) struct ServerRegistry {
    /// The servers, in the order of the file.
    pub(in crate::owner) records: IndexMap<String, ServerRecord, FxBuildHasher>,
    /// The server of each run.
    pub(in crate::owner) runs: FxHashMap<RunId, String>,
    /// The processes that run, as they are written down.
    pub(in crate::owner) running: FxHashMap<RunId, RunningRecord>,
    /// The size of the activity of all servers.
    pub(in crate::owner) activity_size: Together,
}
