//! The documents that grant rights: their writer, the confirmed settings, and why one of them is not used.

mod confirmed;
mod writer;

pub(in crate::owner) use confirmed::{
    AuditRetentionSetting, ConfirmedFile, ConfirmedRead, ConfirmedSettings, ProviderAddress,
};
pub(in crate::owner) use writer::{DocumentWriter, ReadDocument, entries, with_entry};

use ports::server_config::ConfigProblem;

/// Documents and their writer.
pub(in crate::owner) struct GrantDocuments {
    pub(in crate::owner) writer: DocumentWriter,
    pub(in crate::owner) confirmed: ConfirmedSettings,
    /// Set while the approvals wait for the keychain.
    pub(in crate::owner) awaits_seal: bool,
    /// The problem of a document that grants rights and is not used.
    pub(in crate::owner) problem: Option<ConfigProblem>,
}
