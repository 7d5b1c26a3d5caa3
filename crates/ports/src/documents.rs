//! The small documents that the host keeps, and the rules that whoever runs the computer sets. `store` implements both.

use std::path::PathBuf;

use domain::StoreError;
use tokio::sync::mpsc;

/// Small documents the host keeps: app settings, grants, roots, what runs, what was found out of servers. Each is one readable JSON file.
pub trait Documents: Send + Sync {
    /// The folder, to show.
    fn path(&self) -> PathBuf;
    /// Reads a document; none if it was never written, or is JSON's `null`.
    ///
    /// # Errors
    /// If the file can't be read or is not JSON.
    fn read(&self, name: Document) -> Result<Option<serde_json::Value>, StoreError>;
    /// Moves a document that can't be used out of the way, so that nothing of it is lost. Gives its new place.
    ///
    /// # Errors
    /// If it can't be moved.
    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError>;
    /// Writes a document atomically. JSON's `null` stands for no document.
    ///
    /// # Errors
    /// If the file can't be written. The former document holds then, also after a restart, unless the error says otherwise.
    fn write(&self, name: Document, value: &serde_json::Value) -> Result<(), StoreError>;
    /// Reads a document, lets `change` make it anew, and writes it. Where other programs may use the documents at the same
    /// moment (the app and a terminal), none of them may come between.
    ///
    /// # Errors
    /// If the file can't be read or written; it is then unchanged.
    fn update(
        &self,
        name: Document,
        change: &mut dyn FnMut(Option<serde_json::Value>) -> serde_json::Value,
    ) -> Result<(), StoreError> {
        let value = change(self.read(name)?);
        self.write(name, &value)
    }
    /// Starts watching a document; each change from outside sends one message (own writes may, too). Documents that nobody
    /// else can change send none.
    fn watch(&self, _name: Document, _changed: mpsc::Sender<()>) {}
    /// Asks the keychain for the key with which documents that grant rights are sealed, and waits for it, for a while. Watchers of
    /// those documents are told when the answer comes later.
    fn settle(&self, _patience: std::time::Duration) {}
    /// How documents that grant rights are told from those that another program wrote.
    fn seal(&self) -> DocumentSeal {
        DocumentSeal::None { cause: String::new() }
    }
    /// The names of documents that stood there when the first key was made, and were sealed as they were. Told once, by the
    /// program that did it.
    fn adopted(&self) -> Option<Vec<String>> {
        None
    }
    /// Why a document that grants rights was not used when it was read last; told once.
    fn refused(&self, _name: Document) -> Option<RefusedDocument> {
        None
    }
}

/// How documents that grant rights are told from those that another program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentSeal {
    /// The keychain has not answered yet. Until then none is used.
    Waiting,
    /// They are not: there is no keychain.
    None {
        /// Why not.
        cause: String,
    },
    /// They are sealed, and the key can't be had. None is used.
    Unavailable {
        /// Why not.
        cause: String,
    },
    /// They are sealed.
    Sealed,
}

/// A document that was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDocument {
    /// Why, in words.
    pub cause: String,
    /// What is wrong with it.
    pub why: Refusal,
    /// Where it was moved.
    pub moved_to: Option<PathBuf>,
}

/// What is wrong with a document that was not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Its seal could not be checked.
    Unchecked,
    /// Another program wrote it.
    Forged,
    /// There was one, and it is gone.
    Removed,
}

/// The rules that whoever runs this computer sets for all its users. They are only read here.
pub trait ManagedPolicy: Send + Sync {
    /// The file's path, to show.
    fn path(&self) -> PathBuf;
    /// Reads the file; none if there is none.
    ///
    /// # Errors
    /// If there is one, or may be, that can't be read or is not JSON.
    fn read(&self) -> Result<Option<serde_json::Value>, StoreError>;
    /// Starts watching the file; each change sends one message.
    fn watch(&self, changed: mpsc::Sender<()>);
}

/// The documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// `settings.json`: the app's settings.
    Settings,
    /// `grants.json`: standing approvals.
    Grants,
    /// `roots.json`: the folders each server may know of.
    Roots,
    /// `flow.json`: how content of each server flows on.
    Flow,
    /// `running.json`: the processes of this run, for the sweep at the next start.
    Running,
    /// `servers.json`: the transport and revision that were found for each server.
    Servers,
    /// `policy.json`: the user's rules.
    Policy,
    /// `sampling.json`: how each server may use the user's models, and what it used.
    Sampling,
    /// `models.json`: the providers of models.
    Models,
    /// `model-lists.json`: the models that each provider listed.
    ModelLists,
    /// `pins.json`: what each server is, and how its tools and prompts were defined, as the user saw it.
    Pins,
    /// `confirmed.json`: what the user confirmed of settings that are edited by hand as well.
    Confirmed,
    /// `answered.json`: the hashes of the definitions of tools that files of answers allowed last, by server and tool.
    Answered,
    /// `packages.json`: the version of the package that each server's launcher loads, as it was approved last.
    Packages,
    /// `origins.json`: the registry or the bundle that each server was installed from.
    Origins,
    /// `registry.json`: the registry that servers are installed from, in place of the official one.
    Registry,
}

impl Document {
    /// Its file name.
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
        }
    }
}
