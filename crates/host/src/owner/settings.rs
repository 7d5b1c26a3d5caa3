//! The app's settings. Changes of the audit log's retention are also recorded in that log, so that a reduction is
//! visible there.

use std::sync::{Arc, PoisonError};

use domain::StoreError;
use host_state::AuditedDecision;
use ports::{AuditQuery, Document};
use supervision::limits::LimitsUsage;

use super::Owner;
use super::state::{SettingsReply, audit_retention_text};
use crate::view::{AppSettings, HostEvent};

/// Value of the field `kind` in audit entries about the retention settings.
const SETTINGS_AUDIT_KIND: &str = "settings";
/// Separator between the new and the previous retention settings in an audit entry.
const PREVIOUS_RETENTION_SEPARATOR: &str = "; before: ";

/// Reason in an audit entry which records that a change of the retention was reverted.
const SETTINGS_NOT_WRITTEN_REASON: &str = "the settings could not be written";

impl Owner {
    /// Returns the resource usage of a server and its limits, or `None` if no server has this name.
    pub(crate) fn limits_usage(&self, name: &str) -> Option<LimitsUsage> {
        let counted = self.servers.records.get(name)?.used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(counted.current_usage(&self.settings.current.limits.clamped_to_bounds()))
    }

    /// Changes the zoom and the menu bar. All other settings keep the values that are in effect, so the change is
    /// refused while another change of the settings waits for its audit entry.
    pub(crate) fn set_window_settings(&mut self, zoom: u16, menu_bar: bool, reply: SettingsReply) {
        if self.settings.changes.under_way {
            let path = Document::Settings.file_name().to_owned();
            let cause = "another change is being written; try again".to_owned();
            // The caller may have stopped waiting.
            let _ = reply.send(Err(StoreError { path, cause }));
            return;
        }
        let settings = AppSettings { zoom, menu_bar, ..self.settings.current.clone() };
        self.set_settings(settings, reply);
    }

    /// Changes the app's settings, which take effect once they are written. A change of the audit log's retention is
    /// recorded in that log first. Until the changed retention is written, other changes wait in a queue.
    pub(crate) fn set_settings(&mut self, settings: AppSettings, reply: SettingsReply) {
        if self.settings.changes.under_way {
            if let Err(reply) = self.settings.changes.queue(settings, reply) {
                let path = Document::Settings.file_name().to_owned();
                let cause = "too many changes are waiting to be written; try again".to_owned();
                // The caller may have stopped waiting, here and below.
                let _ = reply.send(Err(StoreError { path, cause }));
            }
            return;
        }
        let (before, now) = (audit_retention_text(&self.settings.current), audit_retention_text(&settings));
        if now == before {
            return self.write_settings(settings, |_, stored| drop(reply.send(stored)));
        }
        self.settings.changes.under_way = true;
        // From now on the log may contain a newer change than the settings, so they can't be compared at startup.
        self.audits.is_retention_set = true;
        let entry = AuditedDecision {
            kind: SETTINGS_AUDIT_KIND,
            subject: &format!("{now}{PREVIOUS_RETENTION_SEPARATOR}{before}"),
            decision: "allowed",
            by: self.options.decider_name,
            ..AuditedDecision::default()
        };
        self.audit_then(entry, move |owner, written| {
            if let Err(error) = written {
                return owner.end_settings_change(reply, Err(error));
            }
            owner.confirm_audit_retention(&settings.clone(), move |owner, confirmed| match confirmed {
                Ok(()) => owner.write_confirmed_settings(settings, (before, now), reply),
                Err(error) => {
                    owner.audit_retention_change(&before, Some(&now), SETTINGS_NOT_WRITTEN_REASON);
                    owner.end_settings_change(reply, Err(error));
                }
            });
        });
    }

    /// Writes settings with a changed retention of the audit log. On failure, resets the confirmed retention as well.
    fn write_confirmed_settings(
        &mut self,
        settings: AppSettings,
        (before, now): (String, String),
        reply: SettingsReply,
    ) {
        self.write_settings(settings, move |owner, written| {
            let Err(error) = written else { return owner.end_settings_change(reply, Ok(())) };
            owner.audit_retention_change(&before, Some(&now), SETTINGS_NOT_WRITTEN_REASON);
            let former = owner.settings.current.clone();
            owner.confirm_audit_retention(&former, move |owner, undone| {
                let StoreError { path, mut cause } = error;
                if undone.is_err() {
                    cause.push_str(
                        "; the retention of the audit log may change nevertheless when Drawbridge starts again",
                    );
                }
                owner.end_settings_change(reply, Err(StoreError { path, cause }));
            });
        });
    }

    /// Sends the result of a change of the app's settings to its caller, and starts the next queued change.
    fn end_settings_change(&mut self, reply: SettingsReply, result: Result<(), StoreError>) {
        self.settings.changes.under_way = false;
        let _ = reply.send(result);
        while let Some((settings, reply)) = self.settings.changes.take_next() {
            self.set_settings(settings, reply);
        }
    }

    fn write_settings(
        &mut self,
        settings: AppSettings,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let value = match serde_json::to_value(&settings) {
            Ok(value) => value,
            Err(error) => {
                let path = Document::Settings.file_name().to_owned();
                return then(self, Err(StoreError { path, cause: error.to_string() }));
            }
        };
        self.change_document(
            Document::Settings,
            move |_| (value.clone(), ()),
            move |owner, written| {
                if written.is_ok() {
                    owner.settings.current = settings.clone();
                    owner.apply_audit_retention();
                    owner.events.emit(HostEvent::SettingsChanged(settings));
                }
                then(owner, written);
            },
        );
    }

    /// Compares the retention settings with the latest audit entry about them. The log may delete entries only after
    /// this check.
    pub(super) fn check_audit_retention(&mut self) {
        let log = Arc::clone(&self.ports.audit);
        let query = AuditQuery { kind: Some(SETTINGS_AUDIT_KIND.to_owned()), ..AuditQuery::latest(1) };
        let read = async move { tokio::task::spawn_blocking(move || log.read(&query)).await };
        let at_start = audit_retention_text(&self.settings.current);
        self.enforce_confirmed_retention();
        self.run_concurrently(read, move |owner, found| {
            let known = match found {
                Ok(Ok(entries)) => entries.into_iter().next().map(|entry| entry.subject),
                Ok(Err(error)) => return tracing::error!(%error, "nothing is removed from the audit log"),
                Err(error) => return tracing::error!(%error, "nothing is removed from the audit log"),
            };
            let known = known.as_deref().map(|known| known.split(PREVIOUS_RETENTION_SEPARATOR).next().unwrap_or(known));
            let holds = audit_retention_text(&owner.settings.current);
            if owner.audits.is_retention_set {
                // The user changed the retention in this run, so a difference is not a change by another program.
            } else if holds != at_start && known == Some(holds.as_str()) {
                let why = "they were changed outside of Drawbridge, and the previous ones apply until they are changed in Drawbridge";
                owner.audit_retention_change(&holds, Some(&at_start), why);
            } else if holds == at_start {
                match known {
                    Some(known) if known != at_start => {
                        owner.audit_retention_change(&at_start, Some(known), "they were changed outside of Drawbridge");
                    }
                    None if at_start != audit_retention_text(&AppSettings::default()) => {
                        owner.audit_retention_change(&at_start, None, "")
                    }
                    Some(_) | None => {}
                }
            }
            // Nothing may be deleted before the retention that the user confirmed is known.
            if owner.documents.confirmed.is_known() {
                owner.apply_audit_retention();
            }
        });
    }

    fn audit_retention_change(&mut self, now: &str, before: Option<&str>, why: &'static str) {
        let before = before.map(|before| format!("{PREVIOUS_RETENTION_SEPARATOR}{before}")).unwrap_or_default();
        self.audit_without_waiting(AuditedDecision {
            kind: SETTINGS_AUDIT_KIND,
            subject: &format!("{now}{before}"),
            decision: "noted",
            by: "policy",
            asker: "host",
            rule: why.into(),
            ..AuditedDecision::default()
        });
    }
}
