//! The documents that the host persists, and the system-wide policy file of the administrator. `store` implements both
//! ports.

use std::path::PathBuf;

use domain::StoreError;
use tokio::sync::mpsc;

/// Documents that the host persists: app settings, grants, roots, running processes, detected properties of servers.
/// Each is a readable JSON file.
pub trait Documents: Send + Sync {
    /// Returns the path of the folder, for display.
    fn path(&self) -> PathBuf;
    /// Reads a document, or returns `None` if it was never written or is JSON `null`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read or is not JSON.
    fn read(&self, name: Document) -> Result<Option<serde_json::Value>, StoreError>;
    /// Moves an unusable document out of the way, so that its content is preserved. Returns the new path.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be moved.
    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError>;
    /// Writes a document atomically. JSON `null` stands for a missing document.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be written. Unless the error says otherwise, the previous document
    /// still applies, also after a restart.
    fn write(&self, name: Document, value: &serde_json::Value) -> Result<(), StoreError>;
    /// Reads a document, computes the new content by `change`, and writes it. Implementations that share documents
    /// between processes (the app and a terminal) must prevent concurrent updates.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read or written. It is then unchanged.
    fn update(
        &self,
        name: Document,
        change: &mut dyn FnMut(Option<serde_json::Value>) -> serde_json::Value,
    ) -> Result<(), StoreError> {
        let value = change(self.read(name)?);
        self.write(name, &value)
    }
    /// Starts watching a document. Each external change sends one message, and own writes may send one as well. Does
    /// nothing for documents that no other process can change.
    fn watch(&self, _name: Document, _changed: mpsc::Sender<()>) {}
    /// Requests the key that seals documents which grant rights, and waits for it up to `patience`. If the key arrives
    /// later, watchers of these documents are notified.
    fn request_seal_key(&self, _patience: std::time::Duration) {}
    /// Returns the state of sealing for documents that grant rights.
    fn seal(&self) -> DocumentSeal {
        DocumentSeal::None { cause: String::new() }
    }
    /// Returns the names of existing documents that were sealed unchanged when the first key was created. Reported
    /// once, by the process that did it.
    fn take_adopted(&self) -> Option<Vec<String>> {
        None
    }
    /// Returns the reason why a document that grants rights was rejected at the last read. Reported once.
    fn take_refusal(&self, _name: Document) -> Option<RefusedDocument> {
        None
    }
}

/// The state of sealing for documents that grant rights, which detects changes by other programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentSeal {
    /// The keychain has not responded yet. Until then, no such document is used.
    Waiting,
    /// Documents are not sealed, because there is no keychain.
    None {
        /// Reason why there is no keychain.
        cause: String,
    },
    /// Documents are sealed, but the key is unavailable. No such document is used.
    Unavailable {
        /// Reason why the key is unavailable.
        cause: String,
    },
    /// Documents are sealed and verified.
    Sealed,
}

/// A document that was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDocument {
    /// Reason for the user.
    pub cause: String,
    /// Kind of the problem.
    pub why: DocumentRefusal,
    /// Path that the document was moved to, if it was moved.
    pub moved_to: Option<PathBuf>,
}

/// The reason why a document was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentRefusal {
    /// The seal could not be verified.
    Unchecked,
    /// The document was written by another program.
    Forged,
    /// The document existed before and was removed.
    Removed,
}

/// The policy of the computer's administrator, which applies to all users. Read-only.
pub trait ManagedPolicy: Send + Sync {
    /// Returns the path of the file, for display.
    fn path(&self) -> PathBuf;
    /// Reads the file, or returns `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file exists, or may exist, but can't be read or is not JSON.
    fn read(&self) -> Result<Option<serde_json::Value>, StoreError>;
    /// Starts watching the file. Each change sends one message.
    fn watch(&self, changed: mpsc::Sender<()>);
}

/// The documents that the host persists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// `settings.json`: settings of the app.
    Settings,
    /// `grants.json`: grants of the user.
    Grants,
    /// `roots.json`: folders that each server may see.
    Roots,
    /// `flow.json`: use of each server's content by models and other servers.
    Flow,
    /// `running.json`: processes of the current run, for cleanup at the next start.
    Running,
    /// `servers.json`: transport and revision that were detected for each server.
    Servers,
    /// `policy.json`: rules of the user.
    Policy,
    /// `sampling.json`: each server's permission to use models, and its usage.
    Sampling,
    /// `models.json`: providers of models.
    Models,
    /// `model-lists.json`: models that each provider listed.
    ModelLists,
    /// `pins.json`: identity of each server, and definitions of its tools and prompts as reviewed by the user.
    Pins,
    /// `confirmed.json`: values that the user confirmed in settings that can also be edited by hand.
    Confirmed,
    /// `answered.json`: hashes of the tool definitions that answers files allowed last, by server and tool.
    Answered,
    /// `packages.json`: package version that each server's launcher loads, as approved last.
    Packages,
    /// `origins.json`: registry or bundle that each server was installed from.
    Origins,
    /// `registry.json`: registry that replaces the official one.
    Registry,
    /// `system-prompts.json`: system prompts that the user saved for any conversation.
    SystemPrompts,
}

impl Document {
    /// Returns the file name of the document.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Settings => "settings.json",
            Self::Grants => "grants.json",
            Self::Roots => "roots.json",
            Self::Flow => "flow.json",
            Self::Running => "running.json",
            Self::Servers => "servers.json",
            Self::Policy => "policy.json",
            Self::Sampling => "sampling.json",
            Self::Models => "models.json",
            Self::ModelLists => "model-lists.json",
            Self::Pins => "pins.json",
            Self::Confirmed => "confirmed.json",
            Self::Answered => "answered.json",
            Self::Packages => "packages.json",
            Self::Origins => "origins.json",
            Self::Registry => "registry.json",
            Self::SystemPrompts => "system-prompts.json",
        }
    }
}
