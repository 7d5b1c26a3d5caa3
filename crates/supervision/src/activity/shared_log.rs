//! The activity log of one server behind its lock, with the server's secrets outside of that lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use super::hidden_secrets::RedactedSecrets;
use super::{ActivityEntry, ActivityLog};

/// The activity log of one server, shared by its connection and the host. Clones share the log and the secrets.
///
/// Texts are redacted without the lock of the log. They don't wait while a message is appended or entries are read.
#[derive(Debug, Clone)]
pub struct SharedActivityLog {
    log: Arc<Mutex<ActivityLog>>,
    secrets: RedactedSecrets,
}

/// Entries of an activity log, copied out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityPage {
    /// The entries, oldest first.
    pub entries: Vec<ActivityEntry>,
    /// Number of entries that are missing in the log, as [`ActivityLog::missing_count`] returns it.
    pub missing: u64,
}

impl SharedActivityLog {
    /// Creates the shared form of a log.
    #[must_use]
    pub fn new(log: ActivityLog) -> Self {
        let secrets = log.hidden.clone();
        Self { log: Arc::new(Mutex::new(log)), secrets }
    }

    /// Locks the log. The connection and the host also lock it, so hold the lock only briefly.
    pub fn lock(&self) -> MutexGuard<'_, ActivityLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the latest entries with a sequence number above `after`, at most `limit`. The bodies are shared with the
    /// log, so the log is locked only briefly.
    #[must_use]
    pub fn page(&self, after: u64, limit: usize) -> ActivityPage {
        let log = self.lock();
        ActivityPage { entries: log.entries_after(after, limit).cloned().collect(), missing: log.missing_count() }
    }

    /// Returns the entry with this sequence number, or `None` if it was dropped.
    #[must_use]
    pub fn entry(&self, seq: u64) -> Option<ActivityEntry> {
        self.lock().entry(seq).cloned()
    }

    /// Redacts these tokens in all future entries, by replacing them with [`REDACTED`](domain::REDACTED).
    pub fn redact_tokens(&self, tokens: Vec<SecretString>) {
        self.secrets.add_tokens(tokens);
    }

    /// Redacts these secrets, to which the server's settings refer by name, in all future entries. They are stored
    /// separately from tokens, so that short-lived tokens don't displace them.
    pub fn redact_settings_secrets(&self, secrets: Vec<SecretString>) {
        self.secrets.add_settings_secrets(secrets);
    }

    /// Returns the text with all secrets redacted.
    #[must_use]
    pub fn redact_text(&self, text: String) -> String {
        self.secrets.redact_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ActivityKind;
    use super::*;

    const TOKEN: &str = "t0ken-of-this-server";

    #[test]
    fn text_is_redacted_while_the_log_is_locked() {
        let activity = SharedActivityLog::new(ActivityLog::default());
        let locked = activity.lock();
        activity.redact_tokens(vec![TOKEN.into()]);
        activity.redact_settings_secrets(vec!["named-in-settings".into()]);
        let shown = activity.redact_text(format!("{TOKEN} and named-in-settings"));
        assert_eq!(shown, "[redacted] and [redacted]", "the lock of the log is not needed");
        drop(locked);
        activity.lock().append_line(ActivityKind::Stderr, TOKEN);
        let entry = activity.entry(1).expect("the line is stored");
        assert_eq!((&*entry.body(), entry.redacted), ("[redacted]", true), "the log has the same secrets");
    }

    #[test]
    fn page_contains_the_latest_entries_and_shares_their_bodies() {
        let activity = SharedActivityLog::new(ActivityLog::default());
        for line in ["one", "two", "three"] {
            activity.lock().append_line(ActivityKind::Stderr, line);
        }
        let page = activity.page(1, 1);
        let bodies: Vec<_> = page.entries.iter().map(ActivityEntry::body).collect();
        assert_eq!(bodies, ["three"], "the latest entry is returned");
        assert_eq!(page.missing, 0, "no entry was dropped");
        let log = activity.lock();
        let stored = log.entry(3).expect("the entry is stored");
        assert!(
            std::ptr::eq(stored.body().as_ptr(), page.entries[0].body().as_ptr()),
            "the body is not copied while the log is locked"
        );
    }
}
