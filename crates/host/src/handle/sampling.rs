//! How much of the user's models a server may use, by the handle to the host.

use server_requests::sampling::{SamplingReport, SamplingSettings};

use super::Host;
use crate::owner::{SamplingError, ServerError};

impl Host {
    /// How much of the user's models a server may use, and has used.
    ///
    /// # Errors
    /// If the host has ended, or there is no such server.
    pub async fn sampling(&self, server: String) -> Result<SamplingReport, ServerError> {
        self.with(move |owner| owner.sampling_report(&server)).await?
    }

    /// Sets how much of the user's models a server may use.
    ///
    /// # Errors
    /// If the host has ended, there is no such server, or it can't be written.
    pub async fn set_sampling(&self, server: String, settings: SamplingSettings) -> Result<(), SamplingError> {
        self.with_reply(move |owner, reply| owner.set_sampling(&server, settings, reply)).await?
    }
}
