//! The definitions that the user has seen, as they are in memory and in their file.

use offers::review::Pins;

/// Pins of all servers.
#[derive(Default)]
pub(in crate::owner) struct Reviews {
    pub(in crate::owner) pins: Pins,
    /// The same as they are in the file.
    pub(in crate::owner) in_file: Pins,
}
