//! Reports the sandbox mechanisms of this computer. The caller is the crate `checkup`, which shows the user what is
//! missing.

use super::{Mechanism, SandboxError, system};
use crate::programs::SearchPath;

/// The sandbox mechanisms of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Means {
    /// Mechanism that would be used, or the reason why none is available.
    pub mechanism: Result<Mechanism, SandboxError>,
    /// Parts that were checked, by name, each with the reason if it can't be used.
    pub parts: Vec<(&'static str, Result<(), String>)>,
}

impl Means {
    /// Checks each part. bubblewrap, which is looked up on `path`, is run once with a shell that does nothing. Changes
    /// nothing.
    pub async fn find(path: &SearchPath) -> Means {
        Means { parts: system::parts(path).await, mechanism: system::mechanism(path).await }
    }
}
