//! The documents that grant rights: their writer, the confirmed settings, and why one of them is not used.

use ports::server_config::ConfigProblem;

use crate::owner::confirmed::Confirmed;
use crate::owner::document_writer::DocumentWriter;

/// Documents and their writer.
pub(in crate::owner) struct GrantDocuments {
    pub(in crate::owner) writer: DocumentWriter,
    pub(in crate::owner) confirmed: Confirmed,
    /// Set while the approvals wait for the keychain.
    pub(in crate::owner) awaits_seal: bool,
    /// Why a document that grants rights is not used.
    pub(in crate::owner) problem: Option<ConfigProblem>,
}
