//! Sampling budgets, which limit how much of the user's models each server may use.

use server_requests::sampling::{SamplingReport, SamplingSettings};

use super::Host;
use crate::owner::{SamplingError, ServerError};

impl Host {
    /// Returns the sampling budget of a server, and how much of it is used.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::NotFound`] if no server has this name, and [`ServerError::Closed`] if the host is closed.
    pub async fn sampling(&self, server: String) -> Result<SamplingReport, ServerError> {
        self.with_owner_result(move |owner| owner.sampling_report(&server)).await
    }

    /// Sets the sampling budget of a server.
    ///
    /// # Errors
    ///
    /// Returns [`SamplingError::Server`] if no server has this name, [`SamplingError::Store`] if the budget can't be
    /// written, and [`SamplingError::Closed`] if the host has shut down.
    pub async fn set_sampling(&self, server: String, settings: SamplingSettings) -> Result<(), SamplingError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_sampling(&server, settings, reply)).await
    }
}
