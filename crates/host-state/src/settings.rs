//! The app's settings and their pending changes. Used by `host/src/owner/settings.rs`.

use std::collections::VecDeque;

use domain::StoreError;
use ports::server_config::ConfigProblem;
use tokio::sync::oneshot;

use crate::view::AppSettings;

/// Maximum number of changes of Drawbridge's settings that wait for a change in progress.
const MAX_QUEUED_SETTINGS_CHANGES: usize = 16;

/// Drawbridge's own settings and their pending changes.
#[derive(Default)]
pub struct SettingsState {
    /// Drawbridge's settings that are in effect.
    pub current: AppSettings,
    /// Changes of Drawbridge's settings that are not in effect yet.
    pub changes: SettingsChanges,
    /// Error in the settings file that lists the servers, or `None` if the file is valid.
    pub config_problem: Option<ConfigProblem>,
}

/// Sender for the outcome of a change of Drawbridge's settings, used once the change takes effect or fails.
pub type SettingsReply = oneshot::Sender<Result<(), StoreError>>;

/// The changes of Drawbridge's settings that are not in effect yet.
#[derive(Debug, Default)]
pub struct SettingsChanges {
    /// Set while a change of the audit log's retention is in progress.
    pub under_way: bool,
    /// Changes that wait for the change in progress, each with the sender for its outcome.
    later: VecDeque<(AppSettings, SettingsReply)>,
}

impl SettingsChanges {
    /// Adds a change of Drawbridge's settings to the queue behind the change in progress.
    ///
    /// # Errors
    ///
    /// Returns the sender `reply` if the queue is full.
    pub fn queue(&mut self, settings: AppSettings, reply: SettingsReply) -> Result<(), SettingsReply> {
        if self.later.len() >= MAX_QUEUED_SETTINGS_CHANGES {
            return Err(reply);
        }
        self.later.push_back((settings, reply));
        Ok(())
    }

    /// Removes and returns the next queued change, unless a change is in progress.
    pub fn take_next(&mut self) -> Option<(AppSettings, SettingsReply)> {
        if self.under_way { None } else { self.later.pop_front() }
    }
}

/// Returns the retention settings of the audit log as text, so that two settings can be compared.
pub fn audit_retention_text(settings: &AppSettings) -> String {
    let AppSettings { audit_days, audit_megabytes, audit_contents, .. } = settings;
    let contents = if *audit_contents { "payloads" } else { "only hashes" };
    format!("audit log: {audit_days} days, {audit_megabytes} MB, {contents}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_changes_are_queued_in_order_and_bounded() {
        let mut changes = SettingsChanges { under_way: true, ..SettingsChanges::default() };
        let days = |audit_days| AppSettings { audit_days, ..AppSettings::default() };
        for n in 0..MAX_QUEUED_SETTINGS_CHANGES {
            assert!(changes.queue(days(n as u32), oneshot::channel().0).is_ok(), "there is room for change {n}");
        }
        assert!(changes.queue(days(99), oneshot::channel().0).is_err(), "the queue is bounded");
        assert!(changes.take_next().is_none(), "queued changes wait for the one in progress");
        changes.under_way = false;
        assert_eq!(
            changes.take_next().map(|(settings, _)| settings.audit_days),
            Some(0),
            "changes are applied in order"
        );
    }
}
