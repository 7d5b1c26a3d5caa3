//! The models of the user: their providers, how these are set up, and how servers use them.

use crate::owner::providers::Providers;
use crate::owner::sampling::Sampling;

/// Models, and who uses them.
#[derive(Default)]
pub(crate) struct ModelAccess {
    /// The providers that can be asked.
    pub(crate) registry: models::Registry,
    /// How they are set up, and what they list.
    pub(in crate::owner) providers: Providers,
    pub(in crate::owner) sampling: Sampling,
}
