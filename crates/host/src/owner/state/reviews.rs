//! The definitions that the user has seen, as they are in memory and in their file.

use std::sync::Arc;

use offers::review::{Kind, KindNames, Pins};

use crate::owner::ServerRecord;

/// Pins of all servers.
#[derive(Default)]
pub(in crate::owner) struct Reviews {
    pub(in crate::owner) pins: Pins,
    /// The same as they are in the file.
    pub(in crate::owner) in_file: Pins,
}

impl Reviews {
    /// The names of what a server offers; while that is not known, of what the user saw of it.
    pub(in crate::owner) fn names_of(&self, server: &str, record: &ServerRecord) -> KindNames {
        if record.session.connection.is_some() && record.offer.catalog.is_read {
            return record.offer.catalog.names.clone();
        }
        let Some(pins) = self.pins.get(server) else { return KindNames::default() };
        let names = || [Kind::Tool, Kind::Prompt].map(|kind| Arc::new(pins.names(kind)));
        record.offer.pinned_names.get_or_init(names).clone()
    }
}
