//! What could hold a server on this computer. Caller: the crate `checkup`, which tells the user what is missing.

use super::{Mechanism, SandboxError, system};
use crate::programs::SearchPath;

/// What this computer has for sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Means {
    /// What would hold a server, or why none can be held.
    pub mechanism: Result<Mechanism, SandboxError>,
    /// Each part that was tried, by its name, with why it can't be used.
    pub parts: Vec<(&'static str, Result<(), String>)>,
}

impl Means {
    /// Tries each part. bubblewrap, which is looked for on `path`, is run once with a shell that does nothing. Changes nothing.
    pub async fn find(path: &SearchPath) -> Means {
        Means { parts: system::parts(path).await, mechanism: system::mechanism(path).await }
    }
}
