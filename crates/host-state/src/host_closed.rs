//! The error of a host that has shut down, and its conversions into the errors of the handle.

use credentials::providers::ProviderError;
use credentials::sign_in::SignInError;
use domain::call::CallFailure;
use launches::sandbox::SandboxPlanError;

/// Error returned after the host has shut down.
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
