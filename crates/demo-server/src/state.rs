//! What the server remembers: notes, added tools, half-finished visits, and who wants to know.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::task_manager::TaskManager;
use serde_json::Value;
use tokio::sync::broadcast;

/// The most notes that are kept.
pub(crate) const MAX_NOTES: usize = 100;
/// The most tools that can be added.
pub(crate) const MAX_ADDED_TOOLS: usize = 20;
const MAX_VISITS: usize = 32;
const MAX_WAITING_CHANGES: usize = 256;

/// Something that a host may want to hear about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The resource with this URI.
    Resource(String),
}

/// A tool that was added while the server runs.
#[derive(Debug, Clone)]
pub(crate) struct AddedTool {
    pub(crate) name: String,
    pub(crate) description: String,
    /// How often its definition was changed. Every change adds one argument.
    pub(crate) edition: u32,
    /// Whether a prompt of the same name exists beside it.
    pub(crate) with_prompt: bool,
}

/// Everything the server remembers.
pub(crate) struct State {
    notes: Mutex<BTreeMap<String, String>>,
    added_tools: Mutex<Vec<AddedTool>>,
    visits: Mutex<Visits>,
    tasks: TaskManager,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Default)]
struct Visits {
    count: u64,
    open: VecDeque<(String, Vec<Value>)>,
}

impl State {
    /// A harbour with two notes and the lighthouse.
    pub(crate) fn new() -> Self {
        let notes = [("shopping", "Rope, tar, two lemons."), ("weather", "Fair, wind from the west.")];
        Self {
            notes: Mutex::new(notes.map(|(name, text)| (name.to_owned(), text.to_owned())).into()),
            added_tools: Mutex::new(vec![AddedTool {
                name: "lighthouse".to_owned(),
                description: "Flashes a message from the lighthouse.".to_owned(),
                edition: 0,
                with_prompt: false,
            }]),
            visits: Mutex::default(),
            tasks: TaskManager::new(),
            changes: broadcast::channel(MAX_WAITING_CHANGES).0,
        }
    }

    /// The notes by name.
    pub(crate) fn notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        lock(&self.notes)
    }

    /// The tools that were added, oldest first.
    pub(crate) fn added_tools(&self) -> MutexGuard<'_, Vec<AddedTool>> {
        lock(&self.added_tools)
    }

    /// Keeps what a visitor has answered so far and returns the handle under which to find it.
    /// The oldest visit is forgotten when there are too many.
    pub(crate) fn keep_visit(&self, answers: Vec<Value>) -> String {
        let mut visits = lock(&self.visits);
        visits.count += 1;
        let handle = format!("visit-{}", visits.count);
        if visits.open.len() == MAX_VISITS {
            visits.open.pop_front();
        }
        visits.open.push_back((handle.clone(), answers));
        handle
    }

    /// What was answered under that handle.
    pub(crate) fn visit(&self, handle: &str) -> Option<Vec<Value>> {
        lock(&self.visits).open.iter().find(|(known, _)| known == handle).map(|(_, answers)| answers.clone())
    }

    /// The tasks that run or have ended not long ago.
    pub(crate) fn tasks(&self) -> &TaskManager {
        &self.tasks
    }

    /// Tells everyone who listens.
    pub(crate) fn announce(&self, change: Change) {
        // An error only says that nobody listens.
        let _ = self.changes.send(change);
    }

    /// What is announced from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

/// Locks, also after a panic elsewhere: everything here is valid after each single statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_bounded() {
        let state = State::new();
        let first = state.keep_visit(vec![]);
        for _ in 0..MAX_VISITS {
            state.keep_visit(vec![]);
        }
        assert_eq!(state.visit(&first), None, "the oldest visit makes room for the newest");
        assert_eq!(lock(&state.visits).open.len(), MAX_VISITS, "no more visits are kept than the bound");
    }
}
