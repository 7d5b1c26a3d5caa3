//! State of the server: notes, the board, added tools, pending visits, and subscribers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::task_manager::TaskManager;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::board::Board;

/// Maximum number of notes that the server stores.
pub(crate) const MAX_NOTES: usize = 100;
/// Maximum number of tools that can be added while the server runs.
pub(crate) const MAX_ADDED_TOOLS: usize = 20;
const MAX_STORED_VISITS: usize = 32;
const CHANGE_QUEUE_CAPACITY: usize = 256;

/// A change of the server's state that is reported to subscribed hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerChange {
    /// The list of tools changed (`notifications/tools/list_changed`).
    Tools,
    /// The list of prompts changed (`notifications/prompts/list_changed`).
    Prompts,
    /// The list of resources changed (`notifications/resources/list_changed`).
    Resources,
    /// The resource with this URI changed (`notifications/resources/updated`).
    Resource(String),
}

/// A tool that was added while the server runs.
#[derive(Debug, Clone)]
pub(crate) struct AddedTool {
    pub(crate) name: String,
    pub(crate) description: String,
    /// Number of times that the definition was changed. Each change adds one argument.
    pub(crate) edition: u32,
    /// `true` if there is also a prompt with this name.
    pub(crate) with_prompt: bool,
}

/// State of the demo server that all sessions and stateless requests share.
pub(crate) struct DemoServerState {
    notes: Mutex<BTreeMap<String, String>>,
    board: Mutex<Board>,
    added_tools: Mutex<Vec<AddedTool>>,
    visits: Mutex<StoredVisitResponses>,
    tasks: TaskManager,
    changes: broadcast::Sender<ServerChange>,
}

#[derive(Debug, Default)]
struct StoredVisitResponses {
    count: u64,
    open: VecDeque<(String, Vec<Value>)>,
}

impl DemoServerState {
    /// Creates a state with two notes, a board with cards, and the tool `lighthouse`.
    pub(crate) fn new() -> Self {
        let notes = [("shopping", "Rope, tar, two lemons."), ("weather", "Fair, wind from the west.")];
        Self {
            notes: Mutex::new(notes.map(|(name, text)| (name.to_owned(), text.to_owned())).into()),
            board: Mutex::new(Board::new()),
            added_tools: Mutex::new(vec![AddedTool {
                name: "lighthouse".to_owned(),
                description: "Flashes a message from the lighthouse.".to_owned(),
                edition: 0,
                with_prompt: false,
            }]),
            visits: Mutex::default(),
            tasks: TaskManager::new(),
            changes: broadcast::channel(CHANGE_QUEUE_CAPACITY).0,
        }
    }

    /// Locks the notes, and returns their texts by name.
    pub(crate) fn notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        lock(&self.notes)
    }

    /// Locks the board of tasks, and returns it.
    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        lock(&self.board)
    }

    /// Locks the tools that were added while the server runs, and returns them, oldest first.
    pub(crate) fn added_tools(&self) -> MutexGuard<'_, Vec<AddedTool>> {
        lock(&self.added_tools)
    }

    /// Stores the host's responses to the requests of the tool `check_in`, and returns a handle for them. Discards the
    /// oldest stored responses if there are too many.
    pub(crate) fn store_visit_responses(&self, answers: Vec<Value>) -> String {
        let mut visits = lock(&self.visits);
        visits.count += 1;
        let handle = format!("visit-{}", visits.count);
        if visits.open.len() == MAX_STORED_VISITS {
            visits.open.pop_front();
        }
        visits.open.push_back((handle.clone(), answers));
        handle
    }

    /// Returns the responses that were stored with this handle, or `None` if the handle is unknown or the responses
    /// were discarded.
    pub(crate) fn visit_responses(&self, handle: &str) -> Option<Vec<Value>> {
        lock(&self.visits).open.iter().find(|(known, _)| known == handle).map(|(_, answers)| answers.clone())
    }

    /// Returns the manager of the tasks that are running or have ended recently.
    pub(crate) fn tasks(&self) -> &TaskManager {
        &self.tasks
    }

    /// Reports a change to all subscribed hosts.
    pub(crate) fn notify_subscribers(&self, change: ServerChange) {
        // Sending fails only if there are no subscribers.
        let _ = self.changes.send(change);
    }

    /// Subscribes to all changes of the server's state from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<ServerChange> {
        self.changes.subscribe()
    }
}

/// Locks a mutex, even if it is poisoned. This is safe, because the data is consistent after each statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_visit_responses_are_bounded() {
        let state = DemoServerState::new();
        let first = state.store_visit_responses(vec![]);
        for _ in 0..MAX_STORED_VISITS {
            state.store_visit_responses(vec![]);
        }
        assert_eq!(state.visit_responses(&first), None, "the oldest visit should be dropped");
        assert_eq!(lock(&state.visits).open.len(), MAX_STORED_VISITS, "the number of visits should be bounded");
    }
}
