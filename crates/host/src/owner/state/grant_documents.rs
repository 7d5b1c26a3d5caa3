//! Documents that grant rights: their writer, the confirmed settings, and the problem of a rejected one.

mod writer;

pub(in crate::owner) use writer::DocumentWriter;

use host_state::ConfirmedSettings;
use ports::server_config::ConfigProblem;

/// The documents that grant rights, and their writer.
pub(in crate::owner) struct GrantDocuments {
    pub(in crate::owner) writer: DocumentWriter,
    pub(in crate::owner) confirmed: ConfirmedSettings,
    /// Set while the grants wait for the keychain.
    pub(in crate::owner) awaits_seal: bool,
    /// Problem of a document that is rejected.
    pub(in crate::owner) problem: Option<ConfigProblem>,
}
