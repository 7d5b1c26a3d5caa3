//! Everything that a decision rests on, beside the definitions of tools.

use policy::{Grants, Policy};

use super::{FlowTable, FolderShares};
use crate::owner::rules::RuleFiles;

/// Rules, grants, data flow and shared folders.
pub(in crate::owner) struct Permissions {
    pub(in crate::owner) policy: Policy,
    /// Grows whenever something changes that calls are judged by: rules, approvals, definitions, what was seen of them.
    pub(in crate::owner) judgement: u64,
    pub(in crate::owner) rule_files: RuleFiles,
    pub(in crate::owner) data_flow: FlowTable,
    pub(in crate::owner) folders: FolderShares,
}

impl Permissions {
    pub(in crate::owner) fn new(grants: Grants, data_flow: FlowTable, folders: FolderShares) -> Self {
        Self { policy: Policy::new(grants), judgement: 0, rule_files: RuleFiles::default(), data_flow, folders }
    }
}
