//! The key of MACs, which is stored only in the keychain, and the seal of the audit log: a MAC over the chain's last
//! hash. A program that rewrites the file can create a valid chain but no valid seal.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use ports::{SecretPersistence, Secrets, SecretsStatus};

use super::chain::{ChainLink, from_hex, hex};
use super::sync::SyncProgress;
use crate::content_key::ContentKey;

/// Name of the keychain entry that contains the MAC key.
const MAC_KEY_NAME: &str = "seal of the audit log";
/// Name of the keychain entry with the mark: number and hash of the last sealed log entry.
pub(crate) const AUDIT_KEYCHAIN_MARK_NAME: &str = "end of the audit log";
/// Labels from which the content keys are derived: one for encryption, one for keyed hashes.
const CONTENT_KEY_LABELS: [&[u8]; 2] = [b"drawbridge content cipher 1", b"drawbridge content names 1"];
/// Length of the MAC key, in bytes.
const MAC_KEY_BYTES: usize = 32;
/// Maximum age of a MAC key that counts as new. While the key is new, a log without a seal is not reported, because
/// the other process that created the key may not have sealed the log yet.
const MAX_NEW_MAC_KEY_AGE: Duration = Duration::from_secs(60);
/// Initial pause before the key is requested from the keychain again. The pause doubles with each failure, because the
/// keychain may prompt its user.
const RETRY_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Maximum pause between two requests for the MAC key from the keychain.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Minimum time after a failed request to the keychain before a user action causes another one. The user may have
/// closed the keychain's prompt by mistake.
const USER_RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// The kind of entry whose number and hash a seal (a MAC) covers. The kind is part of the authenticated message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SealedEntryKind {
    /// The last entry of the log.
    LastEntry,
    /// The last entry that was removed from the log, which a checkpoint records.
    LastRemovedEntry,
}

/// The key with which the seals (MACs) of the audit log are made, as loaded from the keychain. Other keys of the store
/// are derived from it.
pub(crate) struct MacKey {
    /// Identifier of the MAC key, which does not disclose the key.
    pub(crate) id: String,
    key: hmac::Key,
    /// Key that encrypts contents at rest, derived from the MAC key.
    pub(crate) content: Arc<ContentKey>,
    /// Set if the MAC key is older than [`MAX_NEW_MAC_KEY_AGE`]. A log that has no seal then is reported, because its
    /// seal must have been removed.
    pub(super) is_old: bool,
    /// Number and hash of a sealed log entry, from the keychain (the mark). If the log does not contain this entry, the
    /// log was replaced or truncated.
    pub(super) mark: Option<(u64, ChainLink)>,
}

impl MacKey {
    fn parse(secret: &str, mark: Option<(u64, ChainLink)>) -> Option<Self> {
        let (bytes, made) = secret.split_once(' ')?;
        let bytes = from_hex(bytes)?;
        let made = Duration::from_millis(made.parse().ok()?);
        let id = digest(&SHA256, &[b"drawbridge audit key id ".as_slice(), &bytes].concat());
        let id = hex(id.as_ref().get(..8)?);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let [cipher, names] = CONTENT_KEY_LABELS.map(|label| hmac::sign(&key, label));
        let content = ContentKey::new(id.clone(), cipher.as_ref(), names.as_ref()).ok()?;
        Some(Self {
            id,
            key,
            content: Arc::new(content),
            is_old: time_since_epoch().saturating_sub(made) > MAX_NEW_MAC_KEY_AGE,
            mark,
        })
    }

    fn generate_secret() -> Result<String, String> {
        let mut bytes = [0; MAC_KEY_BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| "this system provides no random numbers".to_owned())?;
        Ok(format!("{} {}", hex(&bytes), time_since_epoch().as_millis()))
    }

    /// Derives a key from the MAC key for the purpose that the label names. Also returns the ID of the MAC key.
    pub(crate) fn derive_key(&self, label: &[u8]) -> (String, hmac::Key) {
        let bytes = hmac::sign(&self.key, label);
        (self.id.clone(), hmac::Key::new(hmac::HMAC_SHA256, bytes.as_ref()))
    }

    /// Returns the seal (a MAC) over a log entry's number and hash.
    pub(super) fn compute_mac(&self, what: SealedEntryKind, number: u64, link: &ChainLink) -> Vec<u8> {
        hmac::sign(&self.key, &mac_input(what, number, link)).as_ref().to_vec()
    }

    /// Returns `true` if this is the seal over a log entry's number and hash.
    pub(super) fn verify_mac(&self, what: SealedEntryKind, number: u64, link: &ChainLink, mac: &[u8]) -> bool {
        hmac::verify(&self.key, &mac_input(what, number, link), mac).is_ok()
    }
}

fn mac_input(what: SealedEntryKind, number: u64, link: &ChainLink) -> Vec<u8> {
    let name = match what {
        SealedEntryKind::LastEntry => "head",
        SealedEntryKind::LastRemovedEntry => "checkpoint",
    };
    format!("drawbridge audit log 1\n{name}\n{number}\n{}", hex(link)).into_bytes()
}

fn time_since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A seal (a MAC) that is stored in the audit database, with the number and the hash of the entry that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogSeal {
    pub(super) number: u64,
    pub(super) link: ChainLink,
    /// Identifier of the MAC key that made the seal.
    pub(super) key: String,
    pub(super) mac: Vec<u8>,
}

/// Loads the MAC key from the keychain in a separate thread, because the keychain may prompt its user. Shared by all
/// parts of the store that need the key.
pub(crate) struct MacKeyHolder {
    secrets: Arc<dyn Secrets>,
    state: Mutex<MacKeyState>,
    changed: Condvar,
    /// Listeners with their names, called when the request for the MAC key has succeeded or failed.
    listeners: Mutex<Vec<(&'static str, MacKeyListener)>>,
    /// Number of the last log entry whose number and hash were stored in the keychain.
    last_stored_mark: Mutex<u64>,
    retry_interval: Duration,
}

/// Function that is called when the request for the MAC key has succeeded or failed.
type MacKeyListener = Arc<dyn Fn() + Send + Sync>;

/// The reason why the MAC key is unavailable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingMacKey {
    pub(crate) cause: String,
    /// Set if the keychain may contain the key although the key could not be read.
    pub(crate) may_exist: bool,
}

impl MissingMacKey {
    fn unavailable(cause: String) -> Self {
        Self { cause, may_exist: true }
    }

    fn absent(cause: String) -> Self {
        Self { cause, may_exist: false }
    }
}

enum MacKeyState {
    NotRequested,
    Requesting,
    Known(Arc<MacKey>),
    /// The MAC key is unavailable: the reason, the time of the last attempt, and the pause before the next one.
    Missing {
        cause: MissingMacKey,
        since: Instant,
        pause: Duration,
    },
}

impl MacKeyHolder {
    pub(crate) fn new(secrets: Arc<dyn Secrets>) -> Arc<Self> {
        Self::with_retry_interval(secrets, RETRY_INTERVAL)
    }

    fn with_retry_interval(secrets: Arc<dyn Secrets>, retry_interval: Duration) -> Arc<Self> {
        let state = Mutex::new(MacKeyState::NotRequested);
        let (changed, listeners, last_stored_mark) = (Condvar::new(), Mutex::default(), Mutex::default());
        Arc::new(Self { secrets, state, changed, listeners, last_stored_mark, retry_interval })
    }

    fn lock_state(&self) -> MutexGuard<'_, MacKeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a listener. It replaces a listener that was registered with the same name.
    pub(crate) fn listen(&self, name: &'static str, listener: MacKeyListener) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|(own, _)| *own != name);
        listeners.push((name, listener));
    }

    fn notify_listeners(&self) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (_, listener) in listeners {
            listener();
        }
    }

    /// Requests the MAC key from the keychain, unless it is known, is being requested, or was requested recently. With
    /// `now`, a recent failure does not delay the request.
    pub(crate) fn request_key(self: &Arc<Self>, now: bool) {
        let mut state = self.lock_state();
        let next = match &*state {
            MacKeyState::NotRequested => self.retry_interval,
            MacKeyState::Missing { pause, .. } if now => *pause,
            MacKeyState::Missing { since, pause, .. } if since.elapsed() >= *pause => {
                (*pause * 2).min(MAX_RETRY_INTERVAL)
            }
            MacKeyState::Missing { .. } | MacKeyState::Requesting | MacKeyState::Known(_) => return,
        };
        *state = MacKeyState::Requesting;
        drop(state);
        let holder = Arc::clone(self);
        let requesting = std::thread::Builder::new().name("audit key".into()).spawn(move || {
            let found = holder.load_key();
            *holder.lock_state() = match found {
                Ok(key) => MacKeyState::Known(Arc::new(key)),
                Err(cause) => {
                    tracing::warn!(cause = cause.cause, "the audit log can't be sealed: the key is unavailable");
                    MacKeyState::Missing { cause, since: Instant::now(), pause: next }
                }
            };
            holder.changed.notify_all();
            holder.notify_listeners();
        });
        if let Err(error) = requesting {
            let cause = MissingMacKey::unavailable(error.to_string());
            *self.lock_state() = MacKeyState::Missing { cause, since: Instant::now(), pause: next };
            self.changed.notify_all();
        }
    }

    /// Requests the MAC key again after a user action, if a key may exist but could not be read.
    pub(crate) fn request_key_for_user(self: &Arc<Self>) {
        let state = self.lock_state();
        let is_due = |since: &Instant| since.elapsed() >= USER_RETRY_INTERVAL;
        if matches!(&*state, MacKeyState::Missing { cause, since, .. } if cause.may_exist && is_due(since)) {
            drop(state);
            self.request_key(true);
        }
    }

    fn load_key(&self) -> Result<MacKey, MissingMacKey> {
        let key_of = |secret: &str| {
            let mark = self.read_keychain_mark().map_err(MissingMacKey::unavailable)?;
            MacKey::parse(secret, mark)
                .ok_or_else(|| MissingMacKey::unavailable("the key of the seal is damaged".to_owned()))
        };
        let read = || self.secrets.get(MAC_KEY_NAME).map_err(|error| MissingMacKey::unavailable(error.to_string()));
        if let Some(secret) = read()? {
            return key_of(&secret);
        }
        // Two processes that start simultaneously must not create two keys.
        let _held = self.secrets.lock_name(MAC_KEY_NAME);
        if let Some(secret) = read()? {
            return key_of(&secret);
        }
        let secret = MacKey::generate_secret().map_err(MissingMacKey::absent)?;
        match self.secrets.set(MAC_KEY_NAME, &secret).map_err(|error| MissingMacKey::absent(error.to_string()))? {
            SecretPersistence::Keychain => {
                let stored = read()?;
                let lost = || MissingMacKey::absent("the keychain does not return the stored value".to_owned());
                key_of(&stored.ok_or_else(lost)?)
            }
            SecretPersistence::ThisRun { cause } => {
                // A seal with a key that is only in memory would look broken at the next start.
                self.secrets.delete(MAC_KEY_NAME).map_err(|error| MissingMacKey::absent(error.to_string()))?;
                // A locked keychain may contain a key.
                let is_locked = matches!(self.secrets.status(), SecretsStatus::Locked { .. });
                Err(if is_locked { MissingMacKey::unavailable(cause) } else { MissingMacKey::absent(cause) })
            }
        }
    }

    fn read_keychain_mark(&self) -> Result<Option<(u64, ChainLink)>, String> {
        let mark = self.secrets.read_rollback_mark(AUDIT_KEYCHAIN_MARK_NAME).map_err(|error| error.to_string())?;
        let read = |mark: String| {
            let (number, link) = mark.split_once(' ')?;
            Some((number.parse().ok()?, from_hex(link)?))
        };
        mark.map(|mark| read(mark).ok_or_else(|| "the record of the log in the keychain is damaged".to_owned()))
            .transpose()
    }

    /// Stores number and hash of this log entry in the keychain (the mark). This happens in a separate thread, and only
    /// after the entry is durable. The returned channel receives a message when the mark is stored or the attempt
    /// failed.
    pub(super) fn store_mark_once_durable(
        self: &Arc<Self>,
        (number, link): (u64, ChainLink),
        durable: &Arc<SyncProgress>,
    ) -> Receiver<()> {
        let (done, finished) = sync_channel(1);
        let (holder, durable) = (Arc::clone(self), Arc::clone(durable));
        let marking_state = std::thread::Builder::new().name("audit mark".into()).spawn(move || {
            let marking_state = durable
                .wait()
                .map_err(|error| error.to_string())
                .and_then(|()| holder.store_keychain_mark_if_later(number, &link));
            if let Err(cause) = marking_state {
                tracing::warn!(cause, "the end of the audit log could not be stored in the keychain");
            }
            // The receiver may have been dropped.
            let _ = done.send(());
        });
        if let Err(error) = marking_state {
            tracing::warn!(%error, "the end of the audit log could not be stored in the keychain");
        }
        finished
    }

    fn store_keychain_mark_if_later(&self, number: u64, link: &ChainLink) -> Result<(), String> {
        let mut last_stored_mark = self.last_stored_mark.lock().unwrap_or_else(PoisonError::into_inner);
        if *last_stored_mark >= number {
            return Ok(());
        }
        // Another process may have stored a later entry.
        let _held = self.secrets.lock_name(AUDIT_KEYCHAIN_MARK_NAME);
        if self.read_keychain_mark()?.is_none_or(|(known, _)| known < number) {
            let mark = format!("{number} {}", hex(link));
            self.secrets.set_rollback_mark(AUDIT_KEYCHAIN_MARK_NAME, &mark).map_err(|error| error.to_string())?;
        }
        *last_stored_mark = number;
        Ok(())
    }

    /// Reads the number and hash of a sealed entry (the mark) from the keychain, even if the MAC key is unavailable.
    pub(super) fn read_latest_keychain_mark(&self) -> Option<(u64, ChainLink)> {
        let known = self.cached_key().and_then(|key| key.mark);
        if !self.is_request_finished() {
            return known;
        }
        let found = self.read_keychain_mark().unwrap_or_else(|cause| {
            tracing::warn!(cause, "the end of the audit log could not be read from the keychain");
            None
        });
        found.into_iter().chain(known).max_by_key(|(number, _)| *number)
    }

    /// Returns the MAC key if it was already loaded from the keychain.
    pub(crate) fn cached_key(&self) -> Option<Arc<MacKey>> {
        match &*self.lock_state() {
            MacKeyState::Known(key) => Some(Arc::clone(key)),
            _ => None,
        }
    }

    /// Returns `true` if the MAC key was requested from the keychain and that request has succeeded or failed.
    pub(crate) fn is_request_finished(&self) -> bool {
        matches!(*self.lock_state(), MacKeyState::Known(_) | MacKeyState::Missing { .. })
    }

    /// Waits for the MAC key for at most `patience`. The key must have been requested before.
    ///
    /// # Errors
    /// Returns a message with the reason why the key is unavailable.
    pub(crate) fn wait_for_key(&self, patience: Duration) -> Result<Arc<MacKey>, String> {
        let waits = |state: &mut MacKeyState| matches!(state, MacKeyState::Requesting);
        let (state, _) =
            self.changed.wait_timeout_while(self.lock_state(), patience, waits).unwrap_or_else(PoisonError::into_inner);
        match &*state {
            MacKeyState::Known(key) => Ok(Arc::clone(key)),
            MacKeyState::Missing { cause, .. } => Err(cause.cause.clone()),
            MacKeyState::NotRequested | MacKeyState::Requesting => {
                Err("the keychain does not respond; unlock it and try again".to_owned())
            }
        }
    }

    /// Returns the MAC key, or the reason why it is unavailable. Must be called only after the request has succeeded
    /// or failed.
    pub(crate) fn resolved_key(&self) -> Result<Arc<MacKey>, MissingMacKey> {
        match &*self.lock_state() {
            MacKeyState::Known(key) => Ok(Arc::clone(key)),
            MacKeyState::Missing { cause, .. } => Err(cause.clone()),
            MacKeyState::NotRequested | MacKeyState::Requesting => {
                Err(MissingMacKey::unavailable("the keychain does not respond".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
