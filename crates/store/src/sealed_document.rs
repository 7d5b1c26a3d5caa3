//! The seal of documents that grant rights: an HMAC over the document's name, a sequence number that increases with
//! each write, and the content. The key of the HMAC is derived from the seal key in the keychain. The keychain also
//! stores the latest sequence numbers, so that an older copy of a file is detected.

mod keychain_marks;

use keychain_marks::{KeychainMarkState, parse_document_numbers};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use ports::{Document, DocumentSealState, Secrets};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::audit::SealKeyHolder;
use crate::hex::{from_hex, hex};

/// Name of the keychain entry (mark) with the latest sequence numbers of all sealed documents.
pub(crate) const DOCUMENTS_KEYCHAIN_MARK_NAME: &str = "sealed documents";
/// Label from which, together with the seal key in the keychain, the key of document seals is derived.
const SEAL_KEY_LABEL: &[u8] = b"drawbridge document seal 1";
/// Name under which the document sealer registers its listener at the [`SealKeyHolder`].
const KEY_LISTENER_NAME: &str = "documents";
/// Reason for rejecting a document whose sequence number is lower than the one in the keychain.
pub(crate) const OLDER_COPY_REASON: &str = "it is older than the copy that Drawbridge wrote last";

/// Documents that grant rights, so that each of their files contains a seal (a MAC). `policy.json` and `models.json`
/// have none, because users edit them: their changes are reported, and a change that would send a conversation to
/// another provider requires the user's consent.
pub(crate) const SEALED_DOCUMENTS: [Document; 6] =
    [Document::Grants, Document::Pins, Document::Roots, Document::Flow, Document::Sampling, Document::Confirmed];

/// The JSON in a sealed document's file: the seal (a MAC), and the document itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedDocument<'a> {
    seal: SealFields,
    #[serde(borrow)]
    document: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SealFields {
    number: u64,
    key: String,
    mac: String,
}

/// The key of document seals, and the latest sequence number of each document that this process knows.
struct SealingKey {
    id: String,
    key: hmac::Key,
    numbers: BTreeMap<String, u64>,
    /// The highest sequence number of each document that this or another process has stored in the keychain. A number
    /// is stored before the document's file is written, so the file may not exist yet.
    announced: BTreeMap<String, u64>,
}

/// The text to write into a document's file, with the sequence number in its seal.
pub(crate) struct DocumentText {
    pub(crate) text: String,
    /// Sequence number in the seal of the text, or `None` if the text has no seal.
    pub(crate) number: Option<u64>,
}

enum SealerState {
    NotRequested,
    Requesting,
    /// Documents have no seals, because no seal key was ever created. Contains the reason.
    Without(String),
    /// Seals can't be checked, because the seal key exists but can't be read. Contains the reason.
    Unavailable(String),
    Ready(SealingKey),
}

/// The result of checking the seal (a MAC) in the bytes of a document's file.
pub(crate) enum SealVerdict<'a> {
    /// The document may be used: Drawbridge wrote it, or there is no keychain and therefore no seal. Contains the
    /// document's bytes without the seal.
    Good(&'a [u8]),
    /// The seal can't be checked at present, so the document must not be used. Contains the reason.
    Withheld(String),
    /// The document must not be used: another program wrote it, or it is an older copy. Contains the reason.
    Forged(&'static str),
}

/// Creates and verifies the seals (MACs) of documents, and keeps their latest sequence numbers in the keychain.
pub(crate) struct DocumentSealer {
    keys: Arc<SealKeyHolder>,
    secrets: Arc<dyn Secrets>,
    state: Mutex<SealerState>,
    changed: Condvar,
    resolution_listeners: Mutex<Vec<mpsc::Sender<()>>>,
    /// Function that seals the existing documents, if the keychain contains no sequence numbers when the key becomes
    /// available.
    adopter: Mutex<Option<Box<UnsealedDocumentAdopter>>>,
    adopted: Mutex<Option<Vec<String>>>,
    /// Function that searches the data folder for document seals.
    seal_finder: Mutex<Option<Box<SealFinder>>>,
    /// Lock that [`Self::update_state`] holds, so that only one thread updates the state.
    update_lock: Mutex<()>,
    /// Set while a separate thread runs [`Self::update_state`], so that no second thread is started.
    is_updating: AtomicBool,
    /// State of the thread that stores the latest sequence numbers in the keychain.
    marking_state: Mutex<KeychainMarkState>,
    /// Notified when the thread that stores the latest sequence numbers in the keychain ends.
    marked: Condvar,
    /// Lock that [`Self::store_keychain_marks`] holds, so that only one thread writes to the keychain.
    mark_lock: Mutex<()>,
}

/// Function that seals existing documents that have no seal, and returns their names. It receives a function that
/// returns the sealed text of a document for the document's name and bytes, or `None` if the document is sealed
/// already.
type UnsealedDocumentAdopter = dyn Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send;

/// Function that returns `true` if the data folder contains a sealed document, whichever key sealed it.
type SealFinder = dyn Fn() -> bool + Send;

/// Reason for not using documents if the data folder contains seals but the keychain contains no key to check them.
const KEY_MISSING_REASON: &str = "the key that sealed these files is no longer in the keychain, so they can't be checked; \
                                  unlock the keychain, or restore its entries from a backup";

impl DocumentSealer {
    pub(crate) fn new(keys: Arc<SealKeyHolder>, secrets: Arc<dyn Secrets>) -> Arc<Self> {
        let sealer = Arc::new(Self {
            keys,
            secrets,
            state: Mutex::new(SealerState::NotRequested),
            changed: Condvar::new(),
            resolution_listeners: Mutex::default(),
            adopter: Mutex::default(),
            adopted: Mutex::default(),
            seal_finder: Mutex::default(),
            update_lock: Mutex::default(),
            is_updating: AtomicBool::new(false),
            marking_state: Mutex::default(),
            marked: Condvar::new(),
            mark_lock: Mutex::default(),
        });
        let own: Weak<Self> = Arc::downgrade(&sealer);
        sealer.keys.listen(
            KEY_LISTENER_NAME,
            Arc::new(move || {
                if let Some(sealer) = own.upgrade() {
                    sealer.update_state();
                }
            }),
        );
        sealer
    }

    fn lock_state(&self) -> MutexGuard<'_, SealerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the function that seals the existing documents. It is called if the keychain contains no sequence numbers
    /// when the key becomes available, because then no document was ever sealed with this key.
    pub(crate) fn set_adopter(
        &self,
        adopter: impl Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send + 'static,
    ) {
        *self.adopter.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(adopter));
    }

    /// Sets the function that looks for sealed documents on disk. If there are any, no document is used while the key
    /// is missing. Otherwise a program could grant rights by removing the key from the keychain.
    pub(crate) fn set_seal_finder(&self, seal_finder: impl Fn() -> bool + Send + 'static) {
        *self.seal_finder.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(seal_finder));
    }

    fn has_seals_on_disk(&self) -> bool {
        self.seal_finder.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|found| found())
    }

    /// Registers a channel that receives a message when the request for the seal key has succeeded or failed.
    pub(crate) fn notify_when_resolved(&self, changed: mpsc::Sender<()>) {
        self.resolution_listeners.lock().unwrap_or_else(PoisonError::into_inner).push(changed);
    }

    /// Returns the names of the documents that were sealed when the first key was created. Returns `None` after the
    /// first call.
    pub(crate) fn take_newly_sealed(&self) -> Option<Vec<String>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Requests the seal key from the keychain, and waits at most `patience` until the request has succeeded or failed.
    pub(crate) fn request_key_and_wait(self: &Arc<Self>, patience: Duration) {
        let start = Instant::now();
        {
            let mut state = self.lock_state();
            if matches!(*state, SealerState::NotRequested) {
                *state = SealerState::Requesting;
            }
        }
        self.keys.request_key(false);
        if self.keys.is_resolved() {
            // The request may have succeeded before this listener was registered.
            self.spawn_state_update();
        }
        let waits = |state: &mut SealerState| matches!(state, SealerState::Requesting);
        let left = patience.saturating_sub(start.elapsed());
        drop(self.changed.wait_timeout_while(self.lock_state(), left, waits));
    }

    /// Calls [`Self::update_state`] in a separate thread, because reading the sequence numbers from the keychain may
    /// hang. At most one such thread runs.
    fn spawn_state_update(self: &Arc<Self>) {
        if self.is_updating.swap(true, Ordering::AcqRel) {
            return;
        }
        let sealer = Arc::clone(self);
        let thread = std::thread::Builder::new().name("document seal".into()).spawn(move || {
            sealer.update_state();
            sealer.is_updating.store(false, Ordering::Release);
        });
        if let Err(error) = thread {
            self.is_updating.store(false, Ordering::Release);
            *self.lock_state() = SealerState::Unavailable(error.to_string());
        }
    }

    /// Requests the seal key again after a user action if it was unavailable, for instance because a prompt was
    /// dismissed. Does not wait. Once the key is available, sealed documents can be used again.
    pub(crate) fn request_key_for_user(self: &Arc<Self>) {
        if !matches!(*self.lock_state(), SealerState::Unavailable(_)) {
            return;
        }
        if self.keys.resolved_key().is_ok() {
            // The key is available, so only the mark could not be read.
            self.spawn_state_update();
        } else {
            self.keys.request_key_for_user();
        }
    }

    /// Returns `true` if the seal key was already requested from the keychain.
    pub(crate) fn was_key_requested(&self) -> bool {
        !matches!(*self.lock_state(), SealerState::NotRequested)
    }

    /// Returns whether documents are sealed, in the form in which the host receives it.
    pub(crate) fn seal_status(&self) -> DocumentSealState {
        match &*self.lock_state() {
            SealerState::NotRequested | SealerState::Requesting => DocumentSealState::Waiting,
            SealerState::Without(cause) => DocumentSealState::None { cause: cause.clone() },
            SealerState::Unavailable(cause) => DocumentSealState::Unavailable { cause: cause.clone() },
            SealerState::Ready(_) => DocumentSealState::Sealed,
        }
    }

    /// Updates the sealing state. Called when the request for the seal key has succeeded or failed.
    fn update_state(&self) {
        let _one = self.update_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*self.lock_state(), SealerState::Ready(_)) {
            return;
        }
        let (next, is_first) = match self.keys.resolved_key() {
            Ok(key) => self.state_with_key(key.derive_key(SEAL_KEY_LABEL)),
            Err(missing) if missing.may_exist => (SealerState::Unavailable(missing.cause), false),
            Err(missing) if self.has_seals_on_disk() => {
                (SealerState::Unavailable(format!("{KEY_MISSING_REASON} ({})", missing.cause)), false)
            }
            Err(missing) => (SealerState::Without(missing.cause), false),
        };
        *self.lock_state() = next;
        if is_first {
            self.store_keychain_marks();
        }
        self.changed.notify_all();
        for changed in self.resolution_listeners.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A full channel already contains a message.
            let _ = changed.try_send(());
        }
    }

    /// Reads the sequence numbers from the keychain, and returns the sealing state for this key. If the keychain
    /// contains none, seals the existing documents and also returns `true`.
    fn state_with_key(&self, (id, key): (String, hmac::Key)) -> (SealerState, bool) {
        let numbers = match self.secrets.read_rollback_mark(DOCUMENTS_KEYCHAIN_MARK_NAME) {
            Ok(mark) => mark.map(|mark| parse_document_numbers(&mark)),
            Err(error) => return (SealerState::Unavailable(error.to_string()), false),
        };
        if let Some(numbers) = numbers {
            return (SealerState::Ready(SealingKey { id, key, numbers, announced: BTreeMap::new() }), false);
        }
        let mut ready = SealingKey { id, key, numbers: BTreeMap::new(), announced: BTreeMap::new() };
        let text = |name: Document, bytes: &[u8]| match ready.verify_document(name, bytes) {
            Some((number, _)) => {
                tracing::debug!(number, "a document is sealed already");
                None
            }
            None => {
                // A document sealed with another key, for instance on another computer, is sealed again with this one.
                let inner = serde_json::from_slice::<SealedDocument<'_>>(bytes).ok();
                let own = inner.map_or(bytes, |sealed| sealed.document.get().as_bytes());
                serde_json::from_slice(own).ok().and_then(|value| ready.text(name, 1, &value).ok())
            }
        };
        let adopter = self.adopter.lock().unwrap_or_else(PoisonError::into_inner);
        let adopted = adopter.as_ref().map(|adopter| adopter(&text)).unwrap_or_default();
        drop(adopter);
        for name in &adopted {
            ready.numbers.insert(name.file_name().to_owned(), 1);
        }
        let names = adopted.into_iter().map(|name| name.file_name().to_owned()).collect();
        *self.adopted.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
        (SealerState::Ready(ready), true)
    }

    /// Returns `true` if these bytes of a document's file contain a seal, whichever key made it.
    pub(crate) fn has_seal(bytes: &[u8]) -> bool {
        serde_json::from_slice::<SealedDocument<'_>>(bytes).is_ok()
    }

    /// Checks the seal and the sequence number in the bytes of a document's file.
    pub(crate) fn verify_document<'a>(&self, name: Document, bytes: &'a [u8]) -> SealVerdict<'a> {
        let read = serde_json::from_slice::<SealedDocument<'_>>(bytes).ok();
        let mut state = self.lock_state();
        let ready = match &mut *state {
            SealerState::Without(_) => {
                return SealVerdict::Good(read.map_or(bytes, |read| read.document.get().as_bytes()));
            }
            SealerState::NotRequested | SealerState::Requesting => {
                return SealVerdict::Withheld(
                    "the keychain has not responded yet, so the seal can't be checked".to_owned(),
                );
            }
            SealerState::Unavailable(cause) => return SealVerdict::Withheld(cause.clone()),
            SealerState::Ready(ready) => ready,
        };
        if read.is_none() {
            return SealVerdict::Forged("it has no seal, so another program may have written it");
        }
        let Some((number, text)) = ready.verify_document(name, bytes) else {
            return SealVerdict::Forged("its seal was not made with the key in the keychain");
        };
        let latest = ready.numbers.entry(name.file_name().to_owned()).or_default();
        if number < *latest {
            return SealVerdict::Forged(OLDER_COPY_REASON);
        }
        *latest = number;
        SealVerdict::Good(text)
    }

    /// Returns `true` if Drawbridge wrote the document's file before. If the file does not exist any more, another
    /// program has therefore removed it.
    pub(crate) fn was_written(&self, name: Document) -> bool {
        match &*self.lock_state() {
            SealerState::Ready(ready) => ready.numbers.get(name.file_name()).is_some_and(|number| *number > 0),
            _ => false,
        }
    }

    /// Returns the text to write to the document's file. The text has no seal if there is no keychain. `pending_file`
    /// is the present content of the document's pending file. The keychain may contain the sequence number of the
    /// pending file, so this text gets a higher number.
    ///
    /// # Errors
    /// Returns a message if there is a key that is unavailable.
    pub(crate) fn text(
        &self,
        name: Document,
        value: &Value,
        pending_file: Option<&[u8]>,
    ) -> Result<DocumentText, String> {
        let state = self.lock_state();
        match &*state {
            SealerState::Without(_) => Ok(DocumentText { text: format!("{value:#}\n"), number: None }),
            SealerState::NotRequested | SealerState::Requesting => {
                Err("the keychain does not respond; unlock it and try again".to_owned())
            }
            SealerState::Unavailable(cause) => Err(cause.clone()),
            SealerState::Ready(ready) => {
                let known = [&ready.numbers, &ready.announced].map(|numbers| numbers.get(name.file_name()).copied());
                let pending_file =
                    pending_file.and_then(|bytes| ready.verify_document(name, bytes)).map(|(number, _)| number);
                let number = known.into_iter().flatten().chain(pending_file).max().unwrap_or_default() + 1;
                let text = ready.text(name, number, value).map_err(|error| error.to_string())?;
                Ok(DocumentText { text, number: Some(number) })
            }
        }
    }
}

impl SealingKey {
    /// Returns the sequence number and the content of a document, or `None` if its seal was not made with this key.
    fn verify_document<'a>(&self, name: Document, bytes: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let SealedDocument { seal, document } = serde_json::from_slice(bytes).ok()?;
        let (text, mac) = (document.get().as_bytes(), from_hex(&seal.mac)?);
        let holds = hmac::verify(&self.key, &sealed_message(name, seal.number, text), &mac).is_ok();
        (seal.key == self.id && holds).then_some((seal.number, text))
    }

    fn text(&self, name: Document, number: u64, value: &Value) -> serde_json::Result<String> {
        let document = format!("{value:#}");
        let mac = hmac::sign(&self.key, &sealed_message(name, number, document.as_bytes()));
        let seal = SealFields { number, key: self.id.clone(), mac: hex(mac.as_ref()) };
        let seal = serde_json::to_string(&seal)?;
        Ok(format!("{{\n\"seal\": {seal},\n\"document\": {document}\n}}\n"))
    }
}

fn sealed_message(name: Document, number: u64, text: &[u8]) -> Vec<u8> {
    let mut message = format!("drawbridge document 1\n{}\n{number}\n", name.file_name()).into_bytes();
    message.extend_from_slice(text);
    message
}
