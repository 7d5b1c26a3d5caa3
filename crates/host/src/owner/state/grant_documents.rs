//! Documents that store permissions: the thread that writes them, the confirmed settings, and a rejected document.

use host_state::{ConfirmedSettings, DocumentWriter};
use ports::server_config::ConfigProblem;

use crate::owner::DeferredTurn;

/// The thread that writes documents, the confirmed settings, and whether the documents that store permissions can be
/// used.
pub(in crate::owner) struct GrantDocuments {
    pub(in crate::owner) writer: DocumentWriter<DeferredTurn>,
    pub(in crate::owner) confirmed: ConfirmedSettings,
    /// Set while the grants can't be verified because the keychain is not available yet.
    pub(in crate::owner) awaits_key: bool,
    /// Problem of a rejected document, to be displayed to the user.
    pub(in crate::owner) problem: Option<ConfigProblem>,
}
