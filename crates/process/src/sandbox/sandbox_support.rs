//! Reports the sandbox mechanisms of this computer. The caller is the crate `checkup`, which shows the user what is
//! missing.

use super::{SandboxError, SandboxMechanism, system};
use crate::programs::SearchPath;

/// The sandbox mechanisms of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSupport {
    /// Mechanism with which servers are sandboxed, or the reason why none is available.
    pub mechanism: Result<SandboxMechanism, SandboxError>,
    /// Name of each feature that a sandbox mechanism needs, with `Ok` if the feature can be used or the reason why not.
    pub features: Vec<(&'static str, Result<(), String>)>,
}

impl SandboxSupport {
    /// Checks each sandbox mechanism of this computer without changing anything. bubblewrap is looked up on `path` and
    /// run once, with a shell that does nothing.
    pub async fn find(path: &SearchPath) -> SandboxSupport {
        SandboxSupport {
            features: system::check_sandbox_features(path).await,
            mechanism: system::find_sandbox_mechanism(path).await,
        }
    }
}
