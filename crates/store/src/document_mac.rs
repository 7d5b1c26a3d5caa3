//! The MAC in documents that store permissions: an HMAC over the document's name, a sequence number that increases
//! with each write, and the content. The key of the HMAC is derived from the MAC key in the keychain. The keychain also
//! stores the latest sequence numbers, so that an older copy of a file is detected.

mod keychain_marks;

use keychain_marks::{KeychainMarkState, parse_document_numbers};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use ports::{Document, DocumentMacState, Secrets};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::audit::MacKeyHolder;
use crate::hex::{from_hex, hex};

/// Name of the keychain entry (mark) with the latest sequence numbers of all documents with a MAC.
pub(crate) const DOCUMENTS_KEYCHAIN_MARK_NAME: &str = "sealed documents";
/// Label from which, together with the MAC key in the keychain, the key of the documents' MACs is derived.
const DOCUMENT_MAC_KEY_LABEL: &[u8] = b"drawbridge document seal 1";
/// Name under which the document authenticator registers its listener at the [`MacKeyHolder`].
const KEY_LISTENER_NAME: &str = "documents";
/// Reason for rejecting a document whose sequence number is lower than the one in the keychain.
pub(crate) const OLDER_COPY_REASON: &str = "it is older than the copy that Drawbridge wrote last";

/// Documents that store permissions. Each of their files contains a MAC (the *seal*). `policy.json` and `models.json`
/// have none, because users edit them: their changes are reported, and a change that would send a conversation to
/// another provider requires the user's consent.
pub(crate) const AUTHENTICATED_DOCUMENTS: [Document; 6] =
    [Document::Grants, Document::Pins, Document::Roots, Document::Flow, Document::Sampling, Document::Confirmed];

/// The JSON in the file of a document with a MAC: the MAC (`seal`), and the document itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentWithMac<'a> {
    seal: MacFields,
    #[serde(borrow)]
    document: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MacFields {
    number: u64,
    key: String,
    mac: String,
}

/// The key of the documents' MACs, and the latest sequence number of each document that this process knows.
struct DocumentMacKey {
    id: String,
    key: hmac::Key,
    numbers: BTreeMap<String, u64>,
    /// The highest sequence number of each document that this or another process has stored in the keychain. A number
    /// is stored before the document's file is written, so the file may not exist yet.
    keychain_numbers: BTreeMap<String, u64>,
}

/// The text to write into a document's file, with the sequence number that its MAC covers.
pub(crate) struct DocumentText {
    pub(crate) text: String,
    /// Sequence number that the MAC of the text covers, or `None` if the text has no MAC.
    pub(crate) number: Option<u64>,
}

enum AuthenticatorState {
    NotRequested,
    Requesting,
    /// Documents have no MACs, because no MAC key was ever created. Contains the reason.
    WithoutKey(String),
    /// MACs can't be checked, because the MAC key exists but can't be read. Contains the reason.
    Unavailable(String),
    Ready(DocumentMacKey),
}

/// The result of checking the MAC in the bytes of a document's file.
pub(crate) enum MacVerdict<'a> {
    /// The document may be used: Drawbridge wrote it, or there is no keychain and therefore no MAC. Contains the
    /// document's bytes without the MAC.
    Good(&'a [u8]),
    /// The MAC can't be checked at present, so the document must not be used. Contains the reason.
    Withheld(String),
    /// The document must not be used: another program wrote it, or it is an older copy. Contains the reason.
    Forged(&'static str),
}

/// Creates and verifies the MACs of documents, and keeps their latest sequence numbers in the keychain.
pub(crate) struct DocumentAuthenticator {
    keys: Arc<MacKeyHolder>,
    secrets: Arc<dyn Secrets>,
    state: Mutex<AuthenticatorState>,
    changed: Condvar,
    resolution_listeners: Mutex<Vec<mpsc::Sender<()>>>,
    /// Function that adds MACs to the existing documents, if the keychain contains no sequence numbers when the key
    /// becomes available.
    existing_documents_upgrade: Mutex<Option<Box<ExistingDocumentsUpgrade>>>,
    newly_authenticated: Mutex<Option<Vec<String>>>,
    /// Function that searches the data folder for MACs.
    mac_finder: Mutex<Option<Box<MacFinder>>>,
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

/// Function that adds MACs to existing documents that have none, and returns their names. It receives a function that
/// returns the text of a document with a MAC for the document's name and bytes, or `None` if the document has a MAC
/// already.
type ExistingDocumentsUpgrade = dyn Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send;

/// Function that returns `true` if the data folder contains a document with a MAC, whichever key made it.
type MacFinder = dyn Fn() -> bool + Send;

/// Reason for not using documents if the data folder contains MACs but the keychain contains no key to check them.
const KEY_MISSING_REASON: &str = "the key that sealed these files is no longer in the keychain, so they can't be checked; \
                                  unlock the keychain, or restore its entries from a backup";

impl DocumentAuthenticator {
    pub(crate) fn new(keys: Arc<MacKeyHolder>, secrets: Arc<dyn Secrets>) -> Arc<Self> {
        let authenticator = Arc::new(Self {
            keys,
            secrets,
            state: Mutex::new(AuthenticatorState::NotRequested),
            changed: Condvar::new(),
            resolution_listeners: Mutex::default(),
            existing_documents_upgrade: Mutex::default(),
            newly_authenticated: Mutex::default(),
            mac_finder: Mutex::default(),
            update_lock: Mutex::default(),
            is_updating: AtomicBool::new(false),
            marking_state: Mutex::default(),
            marked: Condvar::new(),
            mark_lock: Mutex::default(),
        });
        let own: Weak<Self> = Arc::downgrade(&authenticator);
        authenticator.keys.listen(
            KEY_LISTENER_NAME,
            Arc::new(move || {
                if let Some(authenticator) = own.upgrade() {
                    authenticator.update_state();
                }
            }),
        );
        authenticator
    }

    fn lock_state(&self) -> MutexGuard<'_, AuthenticatorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the function that adds MACs to the existing documents. It is called if the keychain contains no sequence
    /// numbers when the key becomes available, because then no MAC was ever made with this key.
    pub(crate) fn set_existing_documents_upgrade(
        &self,
        upgrade: impl Fn(&dyn Fn(Document, &[u8]) -> Option<String>) -> Vec<Document> + Send + 'static,
    ) {
        *self.existing_documents_upgrade.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(upgrade));
    }

    /// Sets the function that looks for documents with a MAC on disk. If there are any, no document is used while the
    /// key is missing. Otherwise a program could grant rights by removing the key from the keychain.
    pub(crate) fn set_mac_finder(&self, mac_finder: impl Fn() -> bool + Send + 'static) {
        *self.mac_finder.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(mac_finder));
    }

    fn has_macs_on_disk(&self) -> bool {
        self.mac_finder.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|found| found())
    }

    /// Registers a channel that receives a message when the request for the MAC key has succeeded or failed.
    pub(crate) fn notify_when_resolved(&self, changed: mpsc::Sender<()>) {
        self.resolution_listeners.lock().unwrap_or_else(PoisonError::into_inner).push(changed);
    }

    /// Returns the names of the documents that got a MAC when the first key was created. Returns `None` after the
    /// first call.
    pub(crate) fn take_newly_authenticated(&self) -> Option<Vec<String>> {
        self.newly_authenticated.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Requests the MAC key from the keychain, and waits at most `patience` until the request has succeeded or failed.
    pub(crate) fn request_key_and_wait(self: &Arc<Self>, patience: Duration) {
        let start = Instant::now();
        {
            let mut state = self.lock_state();
            if matches!(*state, AuthenticatorState::NotRequested) {
                *state = AuthenticatorState::Requesting;
            }
        }
        self.keys.request_key(false);
        if self.keys.is_request_finished() {
            // The request may have succeeded before this listener was registered.
            self.spawn_state_update();
        }
        let waits = |state: &mut AuthenticatorState| matches!(state, AuthenticatorState::Requesting);
        let left = patience.saturating_sub(start.elapsed());
        drop(self.changed.wait_timeout_while(self.lock_state(), left, waits));
    }

    /// Calls [`Self::update_state`] in a separate thread, because reading the sequence numbers from the keychain may
    /// hang. At most one such thread runs.
    fn spawn_state_update(self: &Arc<Self>) {
        if self.is_updating.swap(true, Ordering::AcqRel) {
            return;
        }
        let authenticator = Arc::clone(self);
        let thread = std::thread::Builder::new().name("document key".into()).spawn(move || {
            authenticator.update_state();
            authenticator.is_updating.store(false, Ordering::Release);
        });
        if let Err(error) = thread {
            self.is_updating.store(false, Ordering::Release);
            *self.lock_state() = AuthenticatorState::Unavailable(error.to_string());
        }
    }

    /// Requests the MAC key again after a user action if it was unavailable, for instance because a prompt was
    /// dismissed. Does not wait. Once the key is available, documents with a MAC can be used again.
    pub(crate) fn request_key_for_user(self: &Arc<Self>) {
        if !matches!(*self.lock_state(), AuthenticatorState::Unavailable(_)) {
            return;
        }
        if self.keys.resolved_key().is_ok() {
            // The key is available, so only the mark could not be read.
            self.spawn_state_update();
        } else {
            self.keys.request_key_for_user();
        }
    }

    /// Returns `true` if the MAC key was already requested from the keychain.
    pub(crate) fn was_key_requested(&self) -> bool {
        !matches!(*self.lock_state(), AuthenticatorState::NotRequested)
    }

    /// Returns whether documents have MACs that can be verified, in the form in which the host receives it.
    pub(crate) fn mac_state(&self) -> DocumentMacState {
        match &*self.lock_state() {
            AuthenticatorState::NotRequested | AuthenticatorState::Requesting => DocumentMacState::Waiting,
            AuthenticatorState::WithoutKey(cause) => DocumentMacState::None { cause: cause.clone() },
            AuthenticatorState::Unavailable(cause) => DocumentMacState::Unavailable { cause: cause.clone() },
            AuthenticatorState::Ready(_) => DocumentMacState::Ready,
        }
    }

    /// Updates the state of the key. Called when the request for the MAC key has succeeded or failed.
    fn update_state(&self) {
        let _one = self.update_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*self.lock_state(), AuthenticatorState::Ready(_)) {
            return;
        }
        let (next, is_first) = match self.keys.resolved_key() {
            Ok(key) => self.state_with_key(key.derive_key(DOCUMENT_MAC_KEY_LABEL)),
            Err(missing) if missing.may_exist => (AuthenticatorState::Unavailable(missing.cause), false),
            Err(missing) if self.has_macs_on_disk() => {
                (AuthenticatorState::Unavailable(format!("{KEY_MISSING_REASON} ({})", missing.cause)), false)
            }
            Err(missing) => (AuthenticatorState::WithoutKey(missing.cause), false),
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

    /// Reads the sequence numbers from the keychain, and returns the state for this key. If the keychain contains
    /// none, adds MACs to the existing documents and also returns `true`.
    fn state_with_key(&self, (id, key): (String, hmac::Key)) -> (AuthenticatorState, bool) {
        let numbers = match self.secrets.read_rollback_mark(DOCUMENTS_KEYCHAIN_MARK_NAME) {
            Ok(mark) => mark.map(|mark| parse_document_numbers(&mark)),
            Err(error) => return (AuthenticatorState::Unavailable(error.to_string()), false),
        };
        if let Some(numbers) = numbers {
            return (
                AuthenticatorState::Ready(DocumentMacKey { id, key, numbers, keychain_numbers: BTreeMap::new() }),
                false,
            );
        }
        let mut ready = DocumentMacKey { id, key, numbers: BTreeMap::new(), keychain_numbers: BTreeMap::new() };
        let text = |name: Document, bytes: &[u8]| match ready.verify_document(name, bytes) {
            Some((number, _)) => {
                tracing::debug!(number, "a document has a MAC already");
                None
            }
            None => {
                // A document with a MAC of another key, for instance from another computer, gets a MAC of this one.
                let inner = serde_json::from_slice::<DocumentWithMac<'_>>(bytes).ok();
                let own = inner.map_or(bytes, |inner| inner.document.get().as_bytes());
                serde_json::from_slice(own).ok().and_then(|value| ready.text_with_mac(name, 1, &value).ok())
            }
        };
        let upgrade = self.existing_documents_upgrade.lock().unwrap_or_else(PoisonError::into_inner);
        let upgraded = upgrade.as_ref().map(|upgrade| upgrade(&text)).unwrap_or_default();
        drop(upgrade);
        for name in &upgraded {
            ready.numbers.insert(name.file_name().to_owned(), 1);
        }
        let names = upgraded.into_iter().map(|name| name.file_name().to_owned()).collect();
        *self.newly_authenticated.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
        (AuthenticatorState::Ready(ready), true)
    }

    /// Returns `true` if these bytes of a document's file contain a MAC, whichever key made it.
    pub(crate) fn has_mac(bytes: &[u8]) -> bool {
        serde_json::from_slice::<DocumentWithMac<'_>>(bytes).is_ok()
    }

    /// Checks the MAC and the sequence number in the bytes of a document's file.
    pub(crate) fn verify_document<'a>(&self, name: Document, bytes: &'a [u8]) -> MacVerdict<'a> {
        let read = serde_json::from_slice::<DocumentWithMac<'_>>(bytes).ok();
        let mut state = self.lock_state();
        let ready = match &mut *state {
            AuthenticatorState::WithoutKey(_) => {
                return MacVerdict::Good(read.map_or(bytes, |read| read.document.get().as_bytes()));
            }
            AuthenticatorState::NotRequested | AuthenticatorState::Requesting => {
                return MacVerdict::Withheld(
                    "the keychain has not responded yet, so the seal can't be checked".to_owned(),
                );
            }
            AuthenticatorState::Unavailable(cause) => return MacVerdict::Withheld(cause.clone()),
            AuthenticatorState::Ready(ready) => ready,
        };
        if read.is_none() {
            return MacVerdict::Forged("it has no seal, so another program may have written it");
        }
        let Some((number, text)) = ready.verify_document(name, bytes) else {
            return MacVerdict::Forged("its seal was not made with the key in the keychain");
        };
        let latest = ready.numbers.entry(name.file_name().to_owned()).or_default();
        if number < *latest {
            return MacVerdict::Forged(OLDER_COPY_REASON);
        }
        *latest = number;
        MacVerdict::Good(text)
    }

    /// Returns `true` if Drawbridge wrote the document's file before. If the file does not exist any more, another
    /// program has therefore removed it.
    pub(crate) fn was_written(&self, name: Document) -> bool {
        match &*self.lock_state() {
            AuthenticatorState::Ready(ready) => ready.numbers.get(name.file_name()).is_some_and(|number| *number > 0),
            _ => false,
        }
    }

    /// Returns the text to write to the document's file. The text has no MAC if there is no keychain. `pending_file`
    /// is the present content of the document's pending file. The keychain may contain the sequence number of the
    /// pending file, so this text gets a higher number.
    ///
    /// # Errors
    /// Returns a message if there is a key that is unavailable.
    pub(crate) fn text_with_mac(
        &self,
        name: Document,
        value: &Value,
        pending_file: Option<&[u8]>,
    ) -> Result<DocumentText, String> {
        let state = self.lock_state();
        match &*state {
            AuthenticatorState::WithoutKey(_) => Ok(DocumentText { text: format!("{value:#}\n"), number: None }),
            AuthenticatorState::NotRequested | AuthenticatorState::Requesting => {
                Err("the keychain does not respond; unlock it and try again".to_owned())
            }
            AuthenticatorState::Unavailable(cause) => Err(cause.clone()),
            AuthenticatorState::Ready(ready) => {
                let known =
                    [&ready.numbers, &ready.keychain_numbers].map(|numbers| numbers.get(name.file_name()).copied());
                let pending_file =
                    pending_file.and_then(|bytes| ready.verify_document(name, bytes)).map(|(number, _)| number);
                let number = known.into_iter().flatten().chain(pending_file).max().unwrap_or_default() + 1;
                let text = ready.text_with_mac(name, number, value).map_err(|error| error.to_string())?;
                Ok(DocumentText { text, number: Some(number) })
            }
        }
    }
}

impl DocumentMacKey {
    /// Returns the sequence number and the content of a document, or `None` if its MAC was not made with this key.
    fn verify_document<'a>(&self, name: Document, bytes: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let DocumentWithMac { seal, document } = serde_json::from_slice(bytes).ok()?;
        let (text, mac) = (document.get().as_bytes(), from_hex(&seal.mac)?);
        let holds = hmac::verify(&self.key, &mac_input(name, seal.number, text), &mac).is_ok();
        (seal.key == self.id && holds).then_some((seal.number, text))
    }

    fn text_with_mac(&self, name: Document, number: u64, value: &Value) -> serde_json::Result<String> {
        let document = format!("{value:#}");
        let mac = hmac::sign(&self.key, &mac_input(name, number, document.as_bytes()));
        let seal = MacFields { number, key: self.id.clone(), mac: hex(mac.as_ref()) };
        let seal = serde_json::to_string(&seal)?;
        Ok(format!("{{\n\"seal\": {seal},\n\"document\": {document}\n}}\n"))
    }
}

fn mac_input(name: Document, number: u64, text: &[u8]) -> Vec<u8> {
    let mut message = format!("drawbridge document 1\n{}\n{number}\n", name.file_name()).into_bytes();
    message.extend_from_slice(text);
    message
}
