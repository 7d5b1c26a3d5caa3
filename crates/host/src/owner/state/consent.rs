//! The one queue of consent requests, and how servers ask.

use std::collections::BTreeMap;

use domain::question::QuestionId;
use rustc_hash::FxHashMap;

use crate::owner::answers::Reply;
use crate::owner::cool_down::Asking;
use crate::owner::questions::Pending;

/// Consent requests that wait for the user.
#[derive(Default)]
pub(in crate::owner) struct ConsentQueue {
    /// The requests, the oldest first.
    pub(in crate::owner) pending: Vec<Pending>,
    /// The receiver of the outcome of each approval that is being carried out.
    pub(in crate::owner) answering: FxHashMap<QuestionId, Reply>,
    /// How servers ask, by name; only of those that were refused something.
    pub(in crate::owner) asking: BTreeMap<String, Asking>,
}
