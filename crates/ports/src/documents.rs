//! The documents that the host persists, and the system-wide policy file of the administrator. The crate `store`
//! implements both ports.

use std::path::PathBuf;

use domain::StoreError;
use tokio::sync::mpsc;

/// Documents that the host persists: app settings, grants, roots, running processes, detected properties of servers.
/// Each is a JSON file that users can read.
pub trait Documents: Send + Sync {
    /// Returns the path of the folder with the documents, for display.
    fn path(&self) -> PathBuf;
    /// Reads a document, or returns `None` if it was never written or is JSON `null`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be read or is not JSON.
    fn read(&self, name: Document) -> Result<Option<serde_json::Value>, StoreError>;
    /// Renames the file of a document whose content is unusable, so that the content is preserved and the document
    /// counts as missing. Returns the new path.
    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError>;
    /// Writes a document atomically. JSON `null` stands for a missing document.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the file can't be written. Unless the error message says otherwise, the previous
    /// document still applies, also after a restart.
    fn write(&self, name: Document, value: &serde_json::Value) -> Result<(), StoreError>;
    /// Reads a document, computes the new content with `change`, and writes it. Implementations that share documents
    /// between processes (the app and `drawbridge-cli`) must prevent concurrent updates.
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
    /// Starts watching a document, and sends a message to `_changed` for each change by another process. A change by
    /// this process may send one as well. Does nothing for documents that no other process can change.
    fn watch(&self, _name: Document, _changed: mpsc::Sender<()>) {}
    /// Requests the key of the MACs in documents that store permissions, and waits for the key for at most `patience`.
    /// If it arrives later, watchers of these documents are notified.
    fn request_mac_key(&self, _patience: std::time::Duration) {}
    /// Returns whether the MACs in documents that store permissions can be verified.
    fn mac_state(&self) -> DocumentMacState {
        DocumentMacState::None { cause: String::new() }
    }
    /// Returns the names of the documents that existed before the first MAC key. The process that created the key
    /// added MACs to them as they were, without a check. Returns a value only once, and only in that process.
    fn take_newly_authenticated(&self) -> Option<Vec<String>> {
        None
    }
    /// Returns the reason why a document that stores permissions was rejected at the last read. Each rejection is
    /// returned only once.
    fn take_refusal(&self, _name: Document) -> Option<RefusedDocument> {
        None
    }
}

/// The state of the MACs in documents that store permissions. A MAC (the *seal*) shows that Drawbridge wrote the
/// document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentMacState {
    /// The keychain has not responded yet. Documents that store permissions are not used until it does.
    Waiting,
    /// Documents have no MACs, because there is no keychain.
    None {
        /// The reason why there is no keychain.
        cause: String,
    },
    /// Documents have MACs, but the key that verifies them is unavailable. Documents that store permissions are not
    /// used.
    Unavailable {
        /// The reason why the key of the MACs is unavailable.
        cause: String,
    },
    /// Documents have MACs, which are verified at each read.
    Ready,
}

/// A document that was rejected because of its MAC, or that another program removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDocument {
    /// The reason why the document was rejected, as a message for the user.
    pub cause: String,
    /// Kind of the reason, such as a forged or removed document.
    pub why: DocumentRefusal,
    /// Path to which the document was moved, or `None` if it was not moved.
    pub moved_to: Option<PathBuf>,
}

/// The kind of reason for which a document is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentRefusal {
    /// The MAC could not be verified, for instance because the keychain is locked.
    Unchecked,
    /// The document was written by another program, or is an older copy.
    Forged,
    /// The document was removed by another program.
    Removed,
}

/// The policy of the computer's administrator, which applies to all users. Read-only.
pub trait ManagedPolicy: Send + Sync {
    /// Returns the path of the policy file, for display.
    fn path(&self) -> PathBuf;
    /// Reads the policy file, or returns `None` if it doesn't exist.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the file exists, or may exist, but can't be read or is not JSON.
    fn read(&self) -> Result<Option<serde_json::Value>, StoreError>;
    /// Starts watching the policy file. Each change sends one message.
    fn watch(&self, changed: mpsc::Sender<()>);
}

/// Names of the documents that the host persists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// `settings.json`: settings of Drawbridge that the user has changed.
    Settings,
    /// `grants.json`: approvals that the user gave with the scope `always`.
    Grants,
    /// `roots.json`: folders whose paths each server receives as its roots.
    Roots,
    /// `flow.json`: data flow settings of each server, which determine which of its content requires consent or a
    /// review.
    Flow,
    /// `running.json`: processes of local servers in the current run, for cleanup at the next start.
    Running,
    /// `servers.json`: transport and revision that were detected for each server.
    Servers,
    /// `policy.json`: rules that the user has written.
    Policy,
    /// `sampling.json`: permission of each server to use models, and its usage.
    Sampling,
    /// `models.json`: providers of language models, without their keys.
    Models,
    /// `model-lists.json`: models that each provider of language models listed.
    ModelLists,
    /// `pins.json`: identity of each server, and definitions of its tools and prompts as reviewed by the user.
    Pins,
    /// `confirmed.json`: values that the user confirmed for settings that other programs can also edit.
    Confirmed,
    /// `answered.json`: for each server and tool, hash of the definition for which a file of prepared decisions (an
    /// answers file of `drawbridge-cli`) last allowed a call.
    Answered,
    /// `packages.json`: for each server with a launcher such as `npx`, the last approved version of the package that
    /// the launcher loads.
    Packages,
    /// `origins.json`: registry or bundle that each server was installed from.
    Origins,
    /// `registry.json`: registry that servers are installed from instead of the official one.
    Registry,
    /// `system-prompts.json`: system prompts that the user saved for any conversation.
    SystemPrompts,
    /// `projects.json`: for each shared folder that contains settings files of other apps, hash of these files as the
    /// user last saw them.
    Projects,
    /// `uses.json`: last uses of rules and shared folders, which are displayed to the user. No decision depends on it.
    Uses,
}

impl Document {
    /// Returns the name of the document's file in the data folder.
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
            Self::Projects => "projects.json",
            Self::Uses => "uses.json",
        }
    }
}
