//! The seal over the chain's last hash, with a key that only the keychain has: whoever rewrites the file can make a chain, but no seal.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use host::ports::{SecretKept, Secrets};

use super::chain::{Link, hex};

/// What the key is kept under.
const NAME: &str = "seal of the audit log";
/// The length of a key, in bytes.
const KEY_BYTES: usize = 32;
/// A key that is younger may have been made by another program that has not sealed yet.
const YOUNG: Duration = Duration::from_secs(60);

/// What a seal is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sealed {
    /// The last entry.
    Head,
    /// The last entry that was removed for its age, or for want of room.
    Checkpoint,
}

/// The key of seals.
pub(super) struct SealKey {
    /// Tells it from other keys, and does not give it away.
    pub(super) id: String,
    key: hmac::Key,
    /// Whether it is so old that a log without its seal has lost it.
    pub(super) is_old: bool,
}

impl SealKey {
    fn of(secret: &str) -> Option<Self> {
        let (bytes, made) = secret.split_once(' ')?;
        let bytes = super::chain::from_hex(bytes)?;
        let made = Duration::from_millis(made.parse().ok()?);
        let id = digest(&SHA256, &[b"drawbridge audit key id ".as_slice(), &bytes].concat());
        Some(Self {
            id: hex(id.as_ref().get(..8)?),
            key: hmac::Key::new(hmac::HMAC_SHA256, &bytes),
            is_old: now().saturating_sub(made) > YOUNG,
        })
    }

    fn make() -> Result<String, String> {
        let mut bytes = [0; KEY_BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| "this system gives no random numbers".to_owned())?;
        Ok(format!("{} {}", hex(&bytes), now().as_millis()))
    }

    /// The seal over an entry's number and hash.
    pub(super) fn seal(&self, what: Sealed, number: u64, link: &Link) -> Vec<u8> {
        hmac::sign(&self.key, &message(what, number, link)).as_ref().to_vec()
    }

    /// Whether this is the seal over an entry's number and hash.
    pub(super) fn holds(&self, what: Sealed, number: u64, link: &Link, seal: &[u8]) -> bool {
        hmac::verify(&self.key, &message(what, number, link), seal).is_ok()
    }
}

fn message(what: Sealed, number: u64, link: &Link) -> Vec<u8> {
    let name = match what {
        Sealed::Head => "head",
        Sealed::Checkpoint => "checkpoint",
    };
    format!("drawbridge audit log 1\n{name}\n{number}\n{}", hex(link)).into_bytes()
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A seal as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) number: u64,
    pub(super) link: Link,
    /// The key's id.
    pub(super) key: String,
    pub(super) mac: Vec<u8>,
}

/// Asks the keychain for the key, in a thread of its own: it may wait for its user.
pub(super) struct KeyHolder {
    secrets: Arc<dyn Secrets>,
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    NotAsked,
    Asking,
    Known(Arc<SealKey>),
    /// It can't be had; why.
    Missing(String),
}

impl KeyHolder {
    pub(super) fn new(secrets: Arc<dyn Secrets>) -> Arc<Self> {
        Arc::new(Self { secrets, state: Mutex::new(State::NotAsked), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to ask, unless that was done; `then` is called when there is a key.
    pub(super) fn ask(self: &Arc<Self>, then: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        if !matches!(*state, State::NotAsked) {
            return;
        }
        *state = State::Asking;
        drop(state);
        let holder = Arc::clone(self);
        let asking = std::thread::Builder::new().name("audit key".into()).spawn(move || {
            let found = holder.find();
            let is_there = found.is_ok();
            *holder.state() = match found {
                Ok(key) => State::Known(Arc::new(key)),
                Err(cause) => {
                    tracing::warn!(cause, "the audit log is chained, but not sealed");
                    State::Missing(cause)
                }
            };
            holder.changed.notify_all();
            if is_there {
                then();
            }
        });
        if let Err(error) = asking {
            *self.state() = State::Missing(error.to_string());
        }
    }

    fn find(&self) -> Result<SealKey, String> {
        let broken = || "the key of the seal is damaged".to_owned();
        let read = || self.secrets.get(NAME).map_err(|error| error.to_string());
        if let Some(secret) = read()? {
            return SealKey::of(&secret).ok_or_else(broken);
        }
        // Two programs that begin at once must not have two keys.
        let _held = self.secrets.hold(NAME);
        if let Some(secret) = read()? {
            return SealKey::of(&secret).ok_or_else(broken);
        }
        let secret = SealKey::make()?;
        match self.secrets.set(NAME, &secret).map_err(|error| error.to_string())? {
            SecretKept::Keychain => {
                let kept = read()?.ok_or_else(|| "the keychain does not give back what it was given".to_owned())?;
                SealKey::of(&kept).ok_or_else(broken)
            }
            SecretKept::ThisRun { cause } => {
                // A seal that nobody could check tomorrow would only look like a broken one.
                self.secrets.delete(NAME).map_err(|error| error.to_string())?;
                Err(cause)
            }
        }
    }

    /// The key, if it is known by now.
    pub(super) fn known(&self) -> Option<Arc<SealKey>> {
        match &*self.state() {
            State::Known(key) => Some(Arc::clone(key)),
            _ => None,
        }
    }

    /// Whether it is known if there is a key.
    pub(super) fn is_settled(&self) -> bool {
        matches!(*self.state(), State::Known(_) | State::Missing(_))
    }

    /// The key, once it is known whether there is one; asked for must it be.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) fn wait(&self, patience: Duration) -> Result<Arc<SealKey>, String> {
        let waits = |state: &mut State| matches!(state, State::Asking);
        let (state, _) =
            self.changed.wait_timeout_while(self.state(), patience, waits).unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Known(key) => Ok(Arc::clone(key)),
            State::Missing(cause) => Err(cause.clone()),
            State::NotAsked | State::Asking => Err("the keychain does not answer; unlock it and try again".to_owned()),
        }
    }
}
