//! The documents that grant rights: their writer, the confirmed settings, and why one of them is not used.

use credentials::providers::ProvidersFile;
use models::{ModelRef, ProviderSettings};
use ports::Document;
use ports::server_config::ConfigProblem;

use crate::owner::confirmed::{Address, Confirmed};
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

impl GrantDocuments {
    /// Returns true while changes of this document wait for the disk.
    pub(in crate::owner) fn is_written_later(&self, document: Document) -> bool {
        self.writer.is_written_later(document)
    }

    /// Whether it can be said what was confirmed.
    pub(in crate::owner) const fn knows_confirmed(&self) -> bool {
        self.confirmed.file.is_some()
    }

    /// Where a provider was when the user confirmed it; an error if it is not there any more, or never was.
    pub(in crate::owner) fn confirmed_address(&self, settings: &ProviderSettings) -> Result<(), Option<String>> {
        let known = self.confirmed.file.as_ref().and_then(|file| file.providers.get(&settings.id));
        match known {
            Some(known) if *known == Address::of(settings) => Ok(()),
            known => Err(known.map(|known| known.url.to_string())),
        }
    }

    /// The model that the user chose for new conversations; the file's, if nothing was confirmed.
    pub(in crate::owner) fn confirmed_default(&self, file: &ProvidersFile) -> Option<ModelRef> {
        self.confirmed.file.as_ref().and_then(|kept| kept.default.clone()).filter(|_| file.default.is_some())
    }
}
