//! Stores the latest sequence number of each document with a MAC in the keychain, so that an older copy of a document's
//! file is detected. Callers: `documents.rs` for each write, and `document_mac.rs` once the key is available.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use ports::Document;

use super::{AuthenticatorState, DOCUMENTS_KEYCHAIN_MARK_NAME, DocumentAuthenticator, DocumentMacKey};

/// State of the thread that stores the latest sequence numbers of documents in the keychain. At most one such thread
/// runs at a time.
#[derive(Default)]
pub(super) struct KeychainMarkState {
    is_running: bool,
    /// Set if there are newer sequence numbers than those that the thread is storing.
    has_newer_numbers: bool,
    /// Set after a document write has waited for the thread until its deadline. Later writes then do not wait for the
    /// thread.
    has_timed_out: bool,
}

impl DocumentAuthenticator {
    /// Stores the sequence number of a document in the keychain before its file is written: from then on an older copy
    /// is refused, even if the process is killed immediately afterwards. Waits for the keychain until `deadline`. If
    /// the keychain has not responded by then, later calls do not wait, and the number is stored once the keychain
    /// responds.
    pub(crate) fn store_number_before_write(self: &Arc<Self>, name: Document, number: u64, deadline: Instant) {
        match &mut *self.lock_state() {
            AuthenticatorState::Ready(ready) => {
                raise_document_number(&mut ready.keychain_numbers, name.file_name(), number)
            }
            _ => return,
        };
        let mut marking_state = self.lock_keychain_marks();
        marking_state.has_newer_numbers = true;
        if !std::mem::replace(&mut marking_state.is_running, true) {
            let authenticator = Arc::clone(self);
            let thread = std::thread::Builder::new()
                .name("document mark".into())
                .spawn(move || authenticator.store_all_keychain_marks());
            if let Err(error) = thread {
                marking_state.is_running = false;
                tracing::warn!(%error, "the latest document numbers could not be stored in the keychain");
                return;
            }
        }
        if marking_state.has_timed_out {
            return;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.marked.wait_timeout_while(marking_state, left, |marking_state| marking_state.is_running);
        let (mut marking_state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        marking_state.has_timed_out = marking_state.is_running;
    }

    /// Returns `true` if the keychain contains a higher sequence number of this document, so that this one is outdated.
    pub(crate) fn is_superseded(&self, name: Document, number: u64) -> bool {
        match &*self.lock_state() {
            AuthenticatorState::Ready(ready) => {
                ready.keychain_numbers.get(name.file_name()).is_some_and(|known| *known > number)
            }
            _ => false,
        }
    }

    /// Records that the file of a document was written with this sequence number.
    pub(crate) fn record_written_number(&self, name: Document, number: u64) {
        let AuthenticatorState::Ready(ready) = &mut *self.lock_state() else { return };
        raise_document_number(&mut ready.numbers, name.file_name(), number);
    }

    pub(super) fn lock_keychain_marks(&self) -> MutexGuard<'_, KeychainMarkState> {
        self.marking_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the latest sequence numbers of documents in the keychain, and repeats this while newer numbers have been
    /// added in the meantime.
    fn store_all_keychain_marks(&self) {
        loop {
            let mut marking_state = self.lock_keychain_marks();
            if !std::mem::take(&mut marking_state.has_newer_numbers) {
                (marking_state.is_running, marking_state.has_timed_out) = (false, false);
                self.marked.notify_all();
                return;
            }
            drop(marking_state);
            self.store_keychain_marks();
        }
    }

    /// Stores the latest sequence numbers of documents in the keychain. Newer numbers that are added in the meantime
    /// are not stored.
    pub(super) fn store_keychain_marks(&self) {
        let _one = self.mark_lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have stored higher numbers.
        let _held = self.secrets.lock_name(DOCUMENTS_KEYCHAIN_MARK_NAME);
        let own = match &*self.lock_state() {
            AuthenticatorState::Ready(ready) => ready.highest_known_numbers(),
            _ => return,
        };
        let marked = self.secrets.read_rollback_mark(DOCUMENTS_KEYCHAIN_MARK_NAME).and_then(|mark| {
            let stored = mark.as_deref().map(parse_document_numbers);
            let mut numbers = stored.clone().unwrap_or_default();
            if let AuthenticatorState::Ready(ready) = &mut *self.lock_state() {
                for (name, number) in &numbers {
                    raise_document_number(&mut ready.keychain_numbers, name, *number);
                }
            }
            for (name, number) in &own {
                raise_document_number(&mut numbers, name, *number);
            }
            if stored.as_ref() == Some(&numbers) {
                return Ok(());
            }
            let lines: Vec<String> = numbers.iter().map(|(name, number)| format!("{name} {number}")).collect();
            self.secrets.set_rollback_mark(DOCUMENTS_KEYCHAIN_MARK_NAME, &format!("sealed\n{}", lines.join("\n")))
        });
        if let Err(error) = marked {
            tracing::warn!(%error, "the latest document numbers could not be stored in the keychain");
        }
    }
}

impl DocumentMacKey {
    /// Returns for each document the highest sequence number that was written to its file or stored in the keychain.
    fn highest_known_numbers(&self) -> BTreeMap<String, u64> {
        let mut numbers = self.numbers.clone();
        for (name, number) in &self.keychain_numbers {
            raise_document_number(&mut numbers, name, *number);
        }
        numbers
    }
}

/// Replaces the sequence number of a document in `numbers` if `number` is higher.
fn raise_document_number(numbers: &mut BTreeMap<String, u64>, name: &str, number: u64) {
    let latest = numbers.entry(name.to_owned()).or_default();
    *latest = (*latest).max(number);
}

pub(super) fn parse_document_numbers(mark: &str) -> BTreeMap<String, u64> {
    let number = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    mark.lines().filter_map(number).collect()
}
