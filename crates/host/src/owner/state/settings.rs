//! The app's settings as they hold, and their changes under way. Caller: `owner/settings.rs`.

use std::collections::VecDeque;

use domain::StoreError;
use ports::server_config::ConfigProblem;
use tokio::sync::oneshot;

use crate::view::AppSettings;

/// The most changes that wait for another one.
const MAX_LATER: usize = 16;

/// Settings and their changes under way.
#[derive(Default)]
pub(in crate::owner) struct SettingsState {
    pub(in crate::owner) current: AppSettings,
    pub(in crate::owner) changes: SettingsChanges,
    /// The problem of the servers' settings file, if it can't be used.
    pub(in crate::owner) config_problem: Option<ConfigProblem>,
}

/// Told when a change holds, or why it does not.
pub(in crate::owner) type SettingsReply = oneshot::Sender<Result<(), StoreError>>;

/// Changes of the settings under way.
#[derive(Debug, Default)]
pub(in crate::owner) struct SettingsChanges {
    /// Set while what the audit log keeps is being changed.
    pub(in crate::owner) under_way: bool,
    /// Changes that wait for that.
    later: VecDeque<(AppSettings, SettingsReply)>,
}

impl SettingsChanges {
    /// Has a change wait for the one under way. Gives the reply back if too many wait already.
    pub(in crate::owner) fn queue(&mut self, settings: AppSettings, reply: SettingsReply) -> Result<(), SettingsReply> {
        if self.later.len() >= MAX_LATER {
            return Err(reply);
        }
        self.later.push_back((settings, reply));
        Ok(())
    }

    /// The next change that waits, unless one is under way.
    pub(in crate::owner) fn next(&mut self) -> Option<(AppSettings, SettingsReply)> {
        if self.under_way { None } else { self.later.pop_front() }
    }
}

/// The retention of the audit log in the settings, in words that can be compared.
pub(in crate::owner) fn keeping(settings: &AppSettings) -> String {
    let AppSettings { audit_days, audit_megabytes, audit_contents, .. } = settings;
    let contents = if *audit_contents { "what crosses" } else { "only hashes" };
    format!("audit log: {audit_days} days, {audit_megabytes} MB, {contents}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_wait_in_order_and_not_without_end() {
        let mut changes = SettingsChanges { under_way: true, ..SettingsChanges::default() };
        let days = |audit_days| AppSettings { audit_days, ..AppSettings::default() };
        for n in 0..MAX_LATER {
            assert!(changes.queue(days(n as u32), oneshot::channel().0).is_ok(), "there is room for change {n}");
        }
        assert!(changes.queue(days(99), oneshot::channel().0).is_err(), "one more is refused");
        assert!(changes.next().is_none(), "one is under way");
        changes.under_way = false;
        assert_eq!(changes.next().map(|(settings, _)| settings.audit_days), Some(0), "the oldest goes first");
    }
}
