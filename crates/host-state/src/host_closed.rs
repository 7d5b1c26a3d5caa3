//! The error after the host has shut down, and its conversions to the errors of the handle's functions.

use credentials::providers::ProviderError;
use credentials::sign_in::SignInError;
use domain::call::CallFailure;
use launches::sandbox::SandboxPlanError;

/// Error of an operation on the host after the host has shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Drawbridge is closing")]
pub struct HostClosed;

impl From<HostClosed> for SandboxPlanError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}

impl From<HostClosed> for ProviderError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}

impl From<HostClosed> for SignInError {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}

impl From<HostClosed> for CallFailure {
    fn from(_: HostClosed) -> Self {
        Self::Closing
    }
}
